"""Plays as a bot: `python -m warpleague.opponents GAME LEVEL`, the level from 2 to 5."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from warpline.client import run

if TYPE_CHECKING:
    from typing import Any

    from warpleague.opponents.player import Player
    from warpline.client import Match, Question, Reply


def main(game: str, level: int) -> None:
    """Play `game` over standard input and output."""
    kind: type[Player] = import_module(f"warpleague.opponents.{game}").OPPONENT
    players: list[Player] = []

    def start(match: Match) -> None:
        players[:] = [kind(match, kind.skills[level - 2])]
        # A collection takes as long as a short clock allows: so only here, where no decision waits.
        gc.collect()
        gc.disable()

    def choose(question: Question) -> int | dict[str, Any] | Reply:
        return players[0].answer(question)

    run(choose, name=f"{game}-{level}", version="1.0", wants=("state",), reusable=True, on_start=start)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
