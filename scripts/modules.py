#!/usr/bin/env python3
"""Write the list of modules in docs/architecture.md from the first sentences of their docstrings.

python scripts/modules.py            bring the list up to date
python scripts/modules.py --check    exit code 1 if it is not
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
HEAD = "## The modules\n"
ROOMS = {
    "games": "harness/warpleague/games",
    "match": "harness/warpleague/match",
    "sim": "harness/warpleague/sim",
    "opponents": "harness/warpleague/opponents",
    "bridges": "harness/warpleague/bridges",
    "runner": "harness/warpleague/runner",
    "league": "harness/warpleague/league",
    "study": "harness/warpleague/study",
    "rounds": "harness/warpleague/rounds",
    "report": "harness/warpleague/report",
    "arena": "harness/warpleague/arena",
    "cli": "harness/warpleague/cli",
    "warpline": "protocol/warpline",
}
BELOW_ALL = "harness/warpleague"
WHOLE = ("aliens", "captains", "coasters", "sheets")  # the games: docs/add-a-game.md tells their modules


def first_line(path: Path) -> str:
    """The first line of a module's docstring, without its full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".").replace("|", "\\|")


def rows(folder: Path, prefix: str = "") -> list[str]:
    """A row for each module in `folder`, and for those in the folders below it."""
    found = []
    files = sorted(path for path in folder.glob("*.py") if path.name not in ("__init__.py", "__main__.py"))
    inner = sorted(path for path in folder.iterdir() if (path / "__init__.py").is_file())
    if prefix == "" and folder.name != "warpleague":
        found.append(row("`__init__`", folder / "__init__.py"))
    found += [row(prefix + path.stem, path) for path in files]
    for path in inner:
        found.append(row(f"{prefix}{path.name}/", path / "__init__.py"))
        if path.name not in WHOLE:
            found += rows(path, f"{prefix}{path.name}/")
    return found


def row(name: str, path: Path) -> str:
    """One module, with a link to its file."""
    return f"| [{name}](../{path.relative_to(ROOT).as_posix()}) | {first_line(path)} |"


def section() -> str:
    """The whole section, its heading included."""
    parts = [HEAD, "\n", "Made from the modules' own first lines by `python scripts/modules.py`.\n"]
    for room, place in ROOMS.items():
        parts += [f"\n**{room}**\n\n| module | |\n|---|---|\n", *(f"{line}\n" for line in rows(ROOT / place))]
    below = [
        row(path.stem, path) for path in sorted((ROOT / BELOW_ALL).glob("*.py")) if path.stem[:2] != "__"
    ]
    parts += ["\n**below all**\n\n| module | |\n|---|---|\n", *(f"{line}\n" for line in below)]
    return "".join(parts)


def main() -> int:
    """Exit code 1 if the list is not up to date and must not be written."""
    text = PAGE.read_text(encoding="utf-8")
    before, head, _ = text.partition(HEAD)
    if not head:
        raise SystemExit(f"{PAGE}: has no heading {HEAD.strip()!r}")
    made = before + section()
    if made == text:
        return 0
    if "--check" in sys.argv[1:]:
        print("docs/architecture.md: the list of modules has changed: python scripts/modules.py writes it")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
