# ruff: noqa: ARG002 - the game looks at nothing
"""Shares matches of real Python bots, each a few lines, and a game whose questions have any size.

What must come of them is told by the tests.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from nullgame import NullGame

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl

MakeSeat = Callable[..., SeatSpec]
MakeSpec = Callable[..., MatchSpec]


@attrs.frozen
class WideOptions:
    """How many decisions there are, how many in a row are one seat's, and how large a view is, in bytes."""

    moves: int = 12
    row: int = 1
    bytes: int = 0


class WideGame(NullGame):
    """The game without rules, with views of any size and seats that may act several times in a row.

    The state holds the options and the number of decisions made.
    """

    id = "wide"
    Options = WideOptions

    def initial(self, players: int, options: Any) -> Any:
        return options, 0

    def actors(self, state: Any) -> tuple[int, ...]:
        options, made = state
        return (made // options.row % 2,) if made < options.moves else ()

    def apply(self, state: Any, move: Any) -> Any:
        options, made = state
        return (options, made + 1), ()

    def view(self, state: Any, seat: int) -> dict[str, Any]:
        return {"made": state[1], "fill": "x" * state[0].bytes}

    def retire(self, state: Any, seat: int) -> Any:
        return (state[0], state[0].moves), ()


@pytest.fixture
def wide() -> WideGame:
    """The game of wide views."""
    return WideGame()


@pytest.fixture
def make_seat(tmp_path: Path) -> MakeSeat:
    """Writes a bot and gives the seat that runs it; its identity is its name."""

    def make_seat(name: str, source: str, **more: Any) -> SeatSpec:
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        run = (sys.executable, "-P", str(path))
        return SeatSpec(bot=name, version="1", digest=name * 2, run=run, cwd=str(tmp_path), **more)

    return make_seat


@pytest.fixture
def make_spec() -> MakeSpec:
    """A match of some seats: aliens of at most `max_turns` turns, unless another game's options are given."""

    def make_spec(*seats: SeatSpec, game: Any = None, options: Any = None, **more: Any) -> MatchSpec:
        options = options or load_game("aliens").Options(max_turns=more.pop("max_turns", 4))
        facts: dict[str, Any] = {
            "id": "test",
            "game": game or "aliens",
            "options": options_json(options),
            "seats": seats,
            "key": match_key("runner"),
            "seed": "runner",
            "clock": TimeControl(move_s=30.0, start_s=60.0),
            **more,
        }
        return MatchSpec(**facts)

    return make_spec
