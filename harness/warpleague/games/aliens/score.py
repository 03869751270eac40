"""Who has won a game of aliens (aliens E1, E2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.api import Outcome

if TYPE_CHECKING:
    from warpleague.games.aliens.state import State, Why


def outcome(state: State) -> Outcome:
    """1 for the winner, 0 for the loser, a half each for a draw."""
    assert state.result is not None
    return result(*state.result)


def result(winner: int, why: Why) -> Outcome:
    """The same from the winner, -1 for a draw, and why the game ended."""
    scores = (0.5, 0.5) if winner < 0 else (1.0 - winner, 0.0 + winner)
    ranks = (1, 1) if winner < 0 else (1 + winner, 2 - winner)
    return Outcome(ranks, scores, {why: scores}, why)
