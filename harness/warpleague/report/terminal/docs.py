"""Prints pages of the documentation in a terminal."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from warpleague.report.terminal.console import CODE, make_console, make_table
from warpleague.report.wording.docs import Hit, Page, page_text, without_links

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
    if not console.is_terminal:
        print(text, end="")
        return
    from rich.markdown import Markdown  # takes longer to load than all else of this command
    from rich.theme import Theme

    # Colours of the terminal's own, so that all can be read on a dark ground as on a light one.
    console.push_theme(Theme({"markdown.code": CODE, "markdown.code_block": CODE}))
    laid_out = Markdown(without_links(text, known), code_theme="ansi_dark", hyperlinks=False)
    console.print(laid_out, width=min(console.width, _WIDTH))
