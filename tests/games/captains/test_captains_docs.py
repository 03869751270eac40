"""What docs/games/captains.md shows is what the engine takes and tells."""

import json
import re
from pathlib import Path
from typing import Any

import attrs

from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import AIS, GALAXIES, PATTERNS, WHYS, Options
from warpleague.games.captains.events import _LINES
from warpleague.games.captains.position import View

PAGE = (Path(__file__).parents[3] / "docs" / "games" / "captains.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def lines(number: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in blocks("jsonl")[number].splitlines()]


def test_every_action_and_event_is_shown() -> None:
    """Each kind is listed in its JSON form, and what is listed of events can be told."""
    shown = {(line["do"], *sorted(line)) for line in lines(0)}
    actions: tuple[Any, ...] = GAME.Actions
    kinds = {(cls.do, *sorted(["do", *(f.name for f in attrs.fields(cls))])) for cls in actions}
    assert shown == kinds
    assert {line["event"] for line in lines(1)} == set(_LINES)
    assert all(GAME.tell(line) for line in lines(1))


def test_the_examples_are_what_they_are_called(tools: Any) -> None:
    """The view and the space have all their fields, which the text names; the position can be loaded."""
    view = json.loads(blocks("json")[1])
    names = [field.name for field in attrs.fields(View)]
    assert sorted(view) == sorted(names)
    assert [name for name in names if f"`{name}`" not in PAGE] == []
    spaces = GAME.setup(tools.at("first", stage="start"))["spaces"]
    assert sorted(json.loads(blocks("json")[0])) == sorted(spaces[0])
    state: Any = GAME.from_json(json.loads(blocks("json")[2]))
    assert (GAME.actors(state), state.cards.left) == ((0,), 59)


def test_every_option_and_its_values_are_named() -> None:
    """Options, patterns, AIs, galaxies and ways to end are all on the page."""
    names = [field.name for field in attrs.fields(Options)]
    assert [name for name in (*names, *PATTERNS, *AIS, *GALAXIES, *WHYS) if f"`{name}`" not in PAGE] == []


def test_every_rule_is_on_the_page() -> None:
    """Each rule number that the engine's sources cite is explained."""
    package = Path(__file__).parents[3] / "harness" / "warpleague" / "games" / "captains"
    cited = set()
    for path in package.glob("*.py"):
        for group in re.findall(
            r"captains ((?:[GSTEAC]\d+(?: [ab])?(?:, |-| and )?)+)", path.read_text(encoding="utf-8")
        ):
            cited |= set(re.findall(r"[GSTEAC]\d+", group))
    assert len(cited) > 25
    assert [rule for rule in sorted(cited) if f"**{rule}**" not in PAGE] == []
