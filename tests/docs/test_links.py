"""Checks that links between the project's own pages lead somewhere, headings included.

What the pages say and whether their examples run is test_examples.py's; other hosts are not asked.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
PAGES += sorted((ROOT / "protocol").rglob("*.md"))
LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")


def prose(page: Path) -> str:
    """A page without its fenced blocks and inline code, where brackets mean other things."""
    text = re.sub(r"(?ms)^\s*(`{3,}|~{3,}).*?^\s*\1\s*$", "", page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """The anchors a page's headings get: lower case, punctuation dropped, blanks to hyphens."""
    headings = re.findall(r"(?m)^#+\s+(.+?)\s*$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.exists()], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that exists, and its fragment a heading of that file."""
    broken = []
    for match in LINK.finditer(prose(page)):
        target, _, fragment = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        other = (page.parent / target).resolve() if target else page
        if not other.exists() or (fragment and other.suffix == ".md" and fragment not in anchors(other)):
            broken.append(match["target"])
    assert not broken
