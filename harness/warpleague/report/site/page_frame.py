"""The frame of every page: templates, style and scripts, and the security policy that blocks everything else.

Pages must also work from a disk, where a browser trusts no other file. So the policy of a page that links its style
and scripts names them by a nonce, which works on a disk and on a server. A page that must stand alone contains its
style and scripts, and its policy names them by their hashes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import blake2b, sha256
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from warpleague.report.wording.docs import Page, page_name, page_text, pages
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.resources.abc import Traversable

    from markdown_it.token import Token


ASSETS: Final = "assets"
"""The folder of a site with what its pages share."""

_COMMON: Final = ("variables.css", "base.css")
STYLES: Final = {
    "match": (*_COMMON, "match.css", "board.css", "kinds.css"),
    "index": (*_COMMON, "index.css", "board.css", "kinds.css"),
    "bot": (*_COMMON, "index.css", "server.css"),
    "play": (*_COMMON, "match.css", "board.css", "kinds.css", "play.css"),
    "home": (*_COMMON, "index.css", "board.css", "kinds.css", "server.css"),
    "league": (*_COMMON, "index.css", "board.css", "kinds.css", "server.css"),
    "watch": (*_COMMON, "match.css", "board.css", "kinds.css", "server.css"),
    "server": (*_COMMON, "index.css", "server.css"),
}
_BOARD: Final = ("codec.js", "glyphs.js", "board.js", "painter.js", "beside.js")
_MATCH: Final = ("zoom.js", "course.js", "timeline.js", "match.js")
SCRIPTS: Final = {
    "match": (*_BOARD, "analysis.js", *_MATCH, "details.js", "replay.js"),
    "index": (*_BOARD, "tabs.js", "matches.js"),
    "bot": ("times.js",),
    "play": (*_BOARD, *_MATCH, "marks.js", "lesson.js", "play.js"),
    "league": (*_BOARD, "tabs.js", "matches.js", "news.js", "times.js", "league.js"),
    "home": (*_BOARD, "news.js", "times.js", "home.js"),
    "watch": (*_BOARD, *_MATCH, "news.js", "watch.js"),
    "server": ("times.js",),
}
_ONLY_READ: Final = re.compile(
    r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/)[ \t]*\n|^[ \t]+|^\n", re.MULTILINE | re.DOTALL
)
"""Of style and scripts, what only who reads them needs: comments of whole lines, indentation and empty lines."""
_NOTHING: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:"


@attrs.frozen
class PagePart:
    """A style sheet or script: linked as `href`, or within the page as `text`."""

    href: str = ""
    text: Any = ""


@attrs.frozen
class PageFrame:
    """The policy of a page, and its parts."""

    policy: str
    styles: tuple[PagePart, ...]
    scripts: tuple[PagePart, ...]
    nonce: str = ""


def folder() -> Traversable:
    """Where templates and assets are, in an installation as in a checkout."""
    return files("warpleague.report.site")


@cache
def asset(name: str) -> str:
    """The text of a style sheet or script."""
    return (folder() / ASSETS / name).read_text("utf-8")


@cache
def bundle(names: tuple[str, ...]) -> tuple[str, bytes]:
    """The file, named by its content, that holds these assets one after the other."""
    data = _ONLY_READ.sub("", "\n".join(map(asset, names))).encode()
    stem = "page" if names[-1].endswith(".css") else "script"
    kind = names[-1].rpartition(".")[2]
    return f"{stem}-{blake2b(data, digest_size=6).hexdigest()}.{kind}", data


def shared(kinds: Iterable[str] = ("match", "index", "bot")) -> dict[str, bytes]:
    """All files that the pages of these kinds share, by name."""
    return dict(bundle(names[kind]) for names in (STYLES, SCRIPTS) for kind in kinds if names[kind])


def served(kind: str, root: str = "", forms: str = "none") -> PageFrame:
    """The frame of a page that a server of ours sends, which may ask this server for more.

    `root` leads to the folder of the assets; `forms` is "self" where forms may be sent to this server.
    """
    nothing = _NOTHING.replace("form-action 'none'", f"form-action '{forms}'")
    policy = f"{nothing}; script-src 'self'; style-src 'self'; connect-src 'self'"
    styles, scripts = (
        tuple(PagePart(f"{root}{ASSETS}/{bundle(names[kind])[0]}") for _ in names[kind][:1])
        for names in (STYLES, SCRIPTS)
    )
    return PageFrame(policy, styles, scripts)


def linked(kind: str, root: str, seal: str) -> PageFrame:
    """The frame of a page of a site; `root` leads to the site's folder, `seal` names the page's content.

    The nonce follows from the content, so that it is no constant that a bot's words could name.
    """
    nonce = blake2b(seal.encode(), digest_size=15, person=b"warpleague nonce").hexdigest()
    policy = f"{_NOTHING}; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'"
    style = PagePart(f"{root}{ASSETS}/{bundle(STYLES[kind])[0]}")
    script = PagePart(f"{root}{ASSETS}/{bundle(SCRIPTS[kind])[0]}")
    return PageFrame(policy, (style,), (script,), nonce)


def alone(kind: str) -> PageFrame:
    """The frame of a page that needs no other file."""
    style, script = (bundle(names[kind])[1].decode() for names in (STYLES, SCRIPTS))
    if "</" in style or "</script" in script.lower() or "<!--" in script:
        raise AssertionError("a style or script that ends its own element")
    policy = f"{_NOTHING}; script-src {_hash(script)}; style-src {_hash(style)}"
    return PageFrame(policy, (PagePart(text=Markup(style)),), (PagePart(text=Markup(script)),))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("warpleague.report.site"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.filters["moment"] = moment
    environment.filters["ago"] = partial(moment, short=True)
    return environment


def moment(at: str, *, short: bool = False) -> Markup:
    """An ISO time as an element: a script shows it as a local time, and without scripts it is shown in UTC.

    If it is `short`, the script only shows how long ago it was.
    """
    try:
        text = datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError):
        text = at
    name = Markup(' class="ago"') if short else ""
    return Markup('<time{2} datetime="{0}" title="{0}">{1}</time>').format(safe(at), safe(text), name)


def _shown(value: Any) -> Any:
    """The text that a template prints of a value: nothing that steers a terminal or reorders letters."""
    return safe(value) if type(value) is str else value


def render(template: str, **values: Any) -> bytes:
    """A page made of a template; all values are escaped but those that are marked as safe."""
    return _environment().get_template(template).render(**values).encode()


def prepare(*beginnings: str) -> None:
    """Read the templates whose names begin so, for the first one who asks not to wait for it."""
    for name in _environment().list_templates(filter_func=lambda name: name.startswith(beginnings)):
        _environment().get_template(name)


# -- docs pages ------------------------------------------------------------------------------------------
# Turns the documentation and the rules of the games into HTML, for the pages of a server.

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
            # The name of a heading in links, as the sites for code make it.
            token.attrSet("id", _SLUG.sub("", after.content.lower()).replace(" ", "-"))
    for token in tokens:
        if token.children:
            token.children = _with_links(token.children, known, root)
    text = reader.renderer.render(tokens, reader.options, {})
    # A screen reader would read out a header cell without words.
    return page.title, Markup(_EMPTY_HEADER.sub("<td></td>", text))


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
