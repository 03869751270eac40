"""The list of misbehaving bots, checked against the bots themselves.

What a match makes of them is tested with the runner.
"""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from warpleague.games import game_ids
from warpleague.match.spec import POLICIES, TimeControl
from warpline.limits import FaultKind

FOLDER = Path(__file__).parent
MANIFEST = tomllib.loads((FOLDER / "manifest.toml").read_text("utf-8"))
BOTS: list[dict[str, Any]] = MANIFEST["bot"]
REQUIRED = {"file", "language", "does", "verdicts"}
OPTIONAL = set(MANIFEST["defaults"])


def first_sentence(path: Path) -> str:
    """What the source says it does: the first line of its docstring or comment."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    found = re.match(r"/\* (.*?)(?: \*/)?\n", text)
    return found[1] if found else ""


def test_lists_every_bot_once() -> None:
    """Each program in the folder is in the manifest exactly once, and nothing else is."""
    programs = [path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".c")]
    ours = ("test_", "conftest.py", "hostile.py")
    assert sorted(bot["file"] for bot in BOTS) == sorted(
        name for name in programs if not name.startswith(ours)
    )


@pytest.mark.parametrize("bot", BOTS, ids=[Path(bot["file"]).stem for bot in BOTS])
def test_entry_fits(bot: dict[str, Any]) -> None:
    """An entry has the keys it must have, values that a match accepts, and the words of its source."""
    assert set(bot) >= REQUIRED
    assert set(bot) <= REQUIRED | OPTIONAL
    assert bot["language"] in MANIFEST["run"]
    assert bot["verdicts"]
    assert set(bot["verdicts"]) <= {"ok", *get_args(FaultKind)}
    assert set(bot.get("games", {})) <= set(game_ids())
    for other in (bot.get("sandbox", {}), *bot.get("games", {}).values()):
        assert set(other) <= {"verdicts", "evidence"}
        assert set(other.get("verdicts", ())) <= {"ok", *get_args(FaultKind)}
    assert bot.get("faults", "forfeit") in POLICIES
    TimeControl(**bot.get("clock", {}))
    assert first_sentence(FOLDER / bot["file"]) == bot["does"]
    assert type(bot.get("needs_sandbox", False)) is bool
    assert type(bot.get("only_writes", False)) is bool
