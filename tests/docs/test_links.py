"""Checks that links between the project's own pages lead somewhere, headings included.

What the pages say and whether their examples run is test_examples.py's; other hosts are not asked.
"""

import re
from pathlib import Path

import attrs
import pytest

from warpleague.errors import BotError
from warpleague.runner.bundle.manifest import Limits, Manifest, ManifestSandbox, read_manifest

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


# Checks that docs/write-a-bot.md tells all that a bot's manifest may say.


PAGE = Path(__file__).resolve().parents[2] / "docs" / "write-a-bot.md"
KEYS = [
    *(field for field in attrs.fields(Manifest) if field.name not in ("limits", "sandbox")),
    *attrs.fields(Limits),
    *attrs.fields(ManifestSandbox),
]


def name_of(field: attrs.Attribute) -> str:
    if field in attrs.fields(ManifestSandbox):
        return f"sandbox.{field.name}"
    return f"limits.{field.name}" if field in attrs.fields(Limits) else field.name


def table() -> dict[str, tuple[str, str]]:
    """Each key of the page's table, with what its row says beside it."""
    section = PAGE.read_text(encoding="utf-8").split("\n## bot.toml\n")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (`.+?`) \|([^|]*)\| (.+) \|$", section)
    return {key: (need.strip(), text) for keys, need, text in rows for key in re.findall(r"`([\w.]+)`", keys)}


def test_every_key_of_a_manifest_is_on_the_page() -> None:
    """The table names all keys that are read, and none that is not."""
    assert sorted(table()) == sorted(map(name_of, KEYS))


@pytest.mark.parametrize("field", KEYS, ids=name_of)
def test_what_the_page_says_of_a_key_is_so(tmp_path: Path, field: attrs.Attribute) -> None:
    """What is required is said to be; of a limit its bounds and its default are told."""
    need, text = table()[name_of(field)]
    assert (need == "required") == (field.default is attrs.NOTHING)
    if field in attrs.fields(Limits):
        told = re.search(r"(\d+) to (\d+): (\d+)", text)
        assert told is not None
        least, most, default = map(int, told.groups())
        assert default == field.default
        for value in (least, most):
            assert getattr(with_limit(tmp_path, field.name, value).limits, field.name) == value
        for value in (least - 1, most + 1):
            with pytest.raises(BotError, match=field.name):
                with_limit(tmp_path, field.name, value)


def with_limit(folder: Path, name: str, value: int) -> Manifest:
    """A manifest with one limit, as it is read from its file."""
    text = f'name = "x"\ngames = ["*"]\nrun = ["python3", "bot.py"]\n[limits]\n{name} = {value}\n'
    (folder / "bot.toml").write_text(text, encoding="utf-8")
    return read_manifest(folder)
