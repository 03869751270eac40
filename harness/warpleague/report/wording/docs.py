"""Finds and reads the pages of the documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.runner.bundle.shipped import shipped_root

if TYPE_CHECKING:
    from pathlib import Path

_FENCED: Final = re.compile(r"(?ms)^([ ]*)(`{3,}|~{3,}).*?^\1\2[ ]*$\n?")
_COMMENT: Final = re.compile(r"(?m)^[ ]*<!--.*?-->[ ]*\n")
_HEADING: Final = re.compile(r"(#+) (.+)")
LINK: Final = re.compile(r"(`[^`]*`)|\[([^\]]*)\]\(([^)\s]+)\)")
"""Code between backticks (group 1), or a link: its label (2) and its target (3)."""


@attrs.frozen
class Page:
    """A page of the documentation: its name in commands, its heading, its purpose, and its file."""

    name: str
    title: str
    purpose: str
    path: Path


def pages() -> dict[str, Page]:
    """All pages that are here by their names, in the order of `indexed`."""
    listed = [_page(path, purpose) for path, purpose in indexed() if path.is_file()]
    return {page.name: page for page in listed}


def indexed() -> list[tuple[Path, str]]:
    """The files of all pages and their purposes: the README, the index, and those that the index names.

    Pages for those who change Warp League may not be here: only a checkout has them.
    """
    root = shipped_root()
    index = root / "docs" / "index.md"
    files = [(root / "README.md", "see what Warp League is"), (index, "find a page")]
    for purpose, links in re.findall(r"(?m)^\| (.+?) \| (.+?) \|$", index.read_text(encoding="utf-8")):
        files += [(index.parent / match[3], purpose) for match in LINK.finditer(links)]
    return files


def page_name(text: str) -> str:
    """The name of the page that is meant by `text`, which may also be a file's name or a link's target."""
    return text.partition("#")[0].rpartition("/")[2].lower().removesuffix(".md")


def _page(path: Path, purpose: str) -> Page:
    with path.open(encoding="utf-8") as file:
        title = file.readline().lstrip("# ").strip()
    return Page(page_name(path.name), title, purpose, path.resolve())


def page_text(page: Page) -> str:
    """The page as it is written, without the comments that are for tests only."""
    return _COMMENT.sub("", page.path.read_text(encoding="utf-8"))


def sections(page: Page) -> dict[str, tuple[int, str]]:
    """By heading: its level, and the text below it up to the next heading; without the targets of links."""
    found: dict[str, tuple[int, str]] = {}
    heading, level, fenced, lines = "", 0, False, list[str]()
    for line in [*page_text(page).splitlines(keepends=True), "# "]:
        fenced ^= line.startswith("```")
        match = None if fenced else _HEADING.match(line)
        if match or line == "# ":
            if heading:
                text = LINK.sub(lambda link: link[1] or link[2], "".join(lines)).strip() + "\n"
                found[heading] = level, text
            heading, level, lines = (match[2].strip(), len(match[1]), []) if match else ("", 0, [])
        else:
            lines.append(line)
    return found


@attrs.frozen
class Hit:
    """A section of a page in which a word was found, and the text around it; empty if only the heading has it."""

    page: str
    heading: str
    text: str


def search(word: str, known: dict[str, Page]) -> list[Hit]:
    """The sections with the word in their heading, then those with it in their text; case does not matter."""
    wanted = re.compile(rf"\S*.{{0,50}}{re.escape(word)}.{{0,50}}\S*", re.IGNORECASE)
    in_headings, in_texts = list[Hit](), list[Hit]()
    for page in known.values():
        for heading, (_, text) in sections(page).items():
            match = wanted.search(text)
            hit = Hit(page.name, heading, match[0].strip() if match else "")
            if wanted.search(heading):
                in_headings.append(hit)
            elif match:
                in_texts.append(hit)
    return in_headings + in_texts


def dead_ends(page: Page) -> list[str]:
    """The files that the page links to and that are not here, since they are part of a checkout only; sorted."""
    text = _FENCED.sub("", page_text(page))
    targets = {
        match[3].partition("#")[0] for match in LINK.finditer(text) if match[3] and ":" not in match[3]
    }
    return sorted(target for target in targets if not (page.path.parent / target).exists())


def without_links(text: str, known: dict[str, Page]) -> str:
    """The text with links in words: a terminal cannot follow them."""

    def in_words(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]  # code, in which brackets mean other things
        name = page_name(match[3])
        if ":" in match[3] or not name:
            return match[0] if name else match[2]
        target = f"page {name}" if name in known else match[3].partition("#")[0].removeprefix("../")
        return f"{match[2]} ({target})"

    parts, at = [], 0
    for fence in _FENCED.finditer(text):
        parts += [LINK.sub(in_words, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, LINK.sub(in_words, text[at:])])
