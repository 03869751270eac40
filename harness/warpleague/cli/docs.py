"""List the pages of the documentation, print one, search all of them for a word; or print the brief about a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import print_json, say, write_out
from warpleague.errors import BadInput
from warpleague.games import GAMES
from warpleague.report.terminal.docs import print_hits, print_list, print_page
from warpleague.report.wording.docs import dead_ends, indexed, page_name, pages, search
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.text import nearest

if TYPE_CHECKING:
    from argparse import Namespace


def run_docs(args: Namespace) -> int:
    """List pages, print one or the path of its file, or search them."""
    known = pages()
    if args.page is None:
        if args.json:
            print_json([{"page": p.name, "title": p.title, "path": str(p.path)} for p in known.values()])
        elif args.path:
            print(shipped_root() / "docs")
        else:
            print_list(known)
            print("warpleague docs PAGE prints a page, warpleague docs WORD searches all pages.")
        return 0
    name = page_name(args.page)
    page = known.get(name)
    if page is None and name in {page_name(path.name) for path, _ in indexed()}:
        raise BadInput(
            f"the page {name!r} is not part of an installation: only a checkout of the project has it"
        )
    if page is None and (hits := [] if args.path else search(args.page, known)):
        if args.json:
            print_json([{"page": hit.page, "heading": hit.heading, "text": hit.text} for hit in hits])
        else:
            print_hits(hits)
        return 0
    if page is None:
        raise BadInput(f"no page is called or has {args.page!r}; {nearest(name, tuple(known))}")
    if args.json:
        print_json({"page": page.name, "title": page.title, "path": str(page.path)})
    elif args.path:
        print(page.path)
    else:
        print_page(page, known)
        if missing := len(dead_ends(page)):
            say(f"note: {missing} links of this page lead to files that only a checkout of the project has")
    return 0


def run_brief(args: Namespace) -> int:
    """Print the brief as Markdown."""
    from warpleague.report.wording.brief import brief_text  # loads the engines

    if args.game not in GAMES:
        raise BadInput(f"there is no brief of a game called {args.game!r}; {nearest(args.game, GAMES)}")
    write_out(brief_text(args.game))
    return 0
