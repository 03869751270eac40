"""Turns the documentation and the rules of the games into HTML, for the pages of a server."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from warpleague.report.wording.docs import page_name, page_text, pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from warpleague.report.wording.docs import Page

_EMPTY_HEADER: Final = re.compile(r"<th[^>]*></th>")
_SLUG: Final = re.compile(r"[^\w\- ]")


@cache
def _known() -> dict[str, Page]:
    """All pages; read once, since they do not change while a server runs."""
    return pages()


def text_of(name: str, root: str = "/docs/") -> tuple[str, Markup] | None:
    """The title of a page of the documentation, and its text as HTML; None if there is none of that name.

    Links to other pages begin with `root`.
    """
    return _rendered(name, root) if name in _known() else None


@cache
def _rendered(name: str, root: str) -> tuple[str, Markup]:
    known = _known()
    page = known[name]
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(page_text(page))
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _slug(after.content))
    for token in tokens:
        if token.children:
            token.children = _with_links(token.children, known, root)
    text = reader.renderer.render(tokens, reader.options, {})
    # A header cell without words is none for who hears the page.
    return page.title, Markup(_EMPTY_HEADER.sub("<td></td>", text))


def _slug(heading: str) -> str:
    """The name of a heading in links, as the sites for code make it."""
    return _SLUG.sub("", heading.lower()).replace(" ", "-")


def _with_links(children: Sequence[Token], known: Any, root: str) -> list[Token]:
    """Links to other pages lead to their addresses here; those to files that only a checkout has become plain text."""
    made, dead = [], 0
    for child in children:
        if child.type == "link_open":
            target = str(child.attrGet("href") or "")
            path, hash_, place = target.partition("#")
            if "://" not in target and path:
                if page_name(path) not in known:
                    dead += 1
                    continue
                child.attrSet("href", f"{root}{page_name(path)}{hash_}{place}")
        elif child.type == "link_close" and dead:
            dead -= 1
            continue
        made.append(child)
    return made
