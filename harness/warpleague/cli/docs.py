"""List the pages of the documentation, print one of them, or search all of them for a word.

`warpleague.report.wording.docs` finds the pages, `warpleague.report.terminal.docs` prints them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, print_json, say
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague docs`."""
    parser.add_argument(
        "page",
        nargs="?",
        metavar="PAGE or WORD",
        help="the page to print, or a word to search for in headings and text (default: list all pages)",
    )
    parser.add_argument(
        "--path",
        action="store_true",
        help="print where the file of the page is; without PAGE, where the folder of all pages is",
    )
    parser.add_argument("--json", action="store_true", help="list the pages, or where the word is, as JSON")
    add_examples(parser, "docs", "docs write-a-bot", "docs move_s", "docs write-a-bot --path")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """List pages, print one, or print the path of its file."""
    from warpleague.report.terminal.docs import print_hits, print_list, print_page
    from warpleague.report.wording.docs import dead_ends, indexed, page_name, pages, search
    from warpleague.runner.bundle.shipped import shipped_root
    from warpleague.text import nearest

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
