"""List the pages of the documentation, print one, search all of them for a word; or print the brief about a game."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from rich.text import Text
from rich.theme import Theme

from warpleague.cli.common import print_json, say, write_out
from warpleague.errors import BadInput, WarpLeagueError
from warpleague.games import GAMES
from warpleague.match.spec import LEVEL
from warpleague.report.terminal.console import CODE, make_console, make_table
from warpleague.report.wording.docs import (
    Hit,
    Page,
    dead_ends,
    indexed,
    page_name,
    page_text,
    pages,
    search,
    without_links,
)
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.text import nearest

if TYPE_CHECKING:
    from argparse import Namespace


# -- printing --------------------------------------------------------------------------------------------


_WIDTH: Final = 100  # the pages are written for about as many columns


def print_list(pages: dict[str, Page]) -> None:
    """Print one line a page."""
    table = make_table()
    for column in ("page", "title", "read it to"):
        table.add_column(column)
    for page in pages.values():
        table.add_row(Text(page.name), Text(page.title), Text(page.purpose))
    make_console().print(table)


def print_hits(hits: list[Hit]) -> None:
    """Print one line a section."""
    table = make_table()
    for column in ("page", "heading", "text"):
        table.add_column(column, no_wrap=column == "page")
    for hit in hits:
        table.add_row(Text(hit.page), Text(hit.heading), Text(hit.text))
    make_console().print(table)


def print_page(page: Page, known: dict[str, Page]) -> None:
    """Print the page laid out for a terminal; as it is written where the output is none."""
    console = make_console()
    text = page_text(page)
    if console.color_system is None:
        print(text, end="")
        return
    from rich.markdown import Markdown  # takes longer to load than all else of this command

    # Colours of the terminal's own, so that all can be read on a dark ground as on a light one.
    console.push_theme(Theme({"markdown.code": CODE, "markdown.code_block": CODE}))
    laid_out = Markdown(without_links(text, known), code_theme="ansi_dark", hyperlinks=False)
    console.print(laid_out, width=min(console.width, _WIDTH))


# -- the command -----------------------------------------------------------------------------------------


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
    from warpleague.runner.bundle.offered import ask_machine

    if args.game not in GAMES:
        raise BadInput(f"there is no brief of a game called {args.game!r}; {nearest(args.game, GAMES)}")
    machine = ""
    with contextlib.suppress(WarpLeagueError):  # no bot can be started here
        machine = f"## This machine\n\nAt level {LEVEL} {ask_machine(LEVEL).in_words(versions=False)}.\n"
    write_out(brief_text(args.game, args.players, machine))
    return 0
