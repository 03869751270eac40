"""Scores a position of captains for each owner, and ranks the owners at the end (captains E2, E3, A4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.api import Outcome, ranked
from warpleague.games.captains.dealing import RETIRED, Dealing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.captains.dealing import Why
    from warpleague.games.captains.state import Position, State

PARTS: Final = ("exploration", "wormholes", "passengers", "tour")
"""The parts of a score: exploration tokens, point tokens, delivered cards, Galactic Tour bonus."""
TOUR_FREE: Final = 5


def worth(token: int) -> int:
    """The points of exploration token number `token`, counted from 1 (captains S1)."""
    return 1 if token <= 6 else 3


def parts(state: State, owner: int) -> tuple[int, int, int, int]:
    """The score of an owner by `PARTS`."""
    return _parts(owner, state.explorers, state.points[owner], state.cards.piles[owner])


def _parts(
    owner: int, explorers: Sequence[int], points: int, pile: Sequence[int]
) -> tuple[int, int, int, int]:
    return (
        sum([worth(token) for token, explorer in enumerate(explorers, 1) if explorer == owner]),
        points,
        2 * sum(pile),
        3 * max(0, len(pile) - pile.count(0) - TOUR_FREE),
    )


def scores(state: State) -> list[int]:
    """The score of every owner, the solo AI's last."""
    return totals(state.explorers, state.points, state.cards.piles)


def totals(
    explorers: tuple[int, ...], points: tuple[int, ...], piles: tuple[tuple[int, ...], ...]
) -> list[int]:
    """The same from what it depends on."""
    return [sum(_parts(owner, explorers, points[owner], pile)) for owner, pile in enumerate(piles)]


def outcome(state: Position) -> Outcome:
    """The result of a finished game; in a solo game the AI is the rival (captains A4)."""
    if isinstance(state, Dealing):
        return _undealt_outcome(state)
    table = state.table
    return result(table.players, state.explorers, state.points, state.cards.piles, state.retired, state.why)


def result(
    players: int,
    explorers: Sequence[int],
    points: Sequence[int],
    piles: Sequence[Sequence[int]],
    retired: tuple[int, ...],
    why: Why,
) -> Outcome:
    """The same from what it depends on."""
    seats = range(players)
    by_owner = [_parts(owner, explorers, points[owner], pile) for owner, pile in enumerate(piles)]
    by_seat = by_owner[:players]
    totals = [sum(part) for part in by_seat]
    rival = sum(by_owner[1]) if players == 1 else None
    if rival is not None:
        won = not retired and totals[0] > rival
        ranks: tuple[int, ...] = (1 if won else 2,)
    else:
        ranks = ranked([(totals[seat], sum(piles[seat]), points[seat]) for seat in seats], retired)
    breakdown = {name: tuple(float(part[i]) for part in by_seat) for i, name in enumerate(PARTS)}
    return Outcome(ranks, tuple(map(float, totals)), breakdown, why, rival)


def _undealt_outcome(dealing: Dealing) -> Outcome:
    """The result when every seat retired before the galaxy was laid."""
    players = dealing.plan.players
    none = (0.0,) * players
    ranks = tuple(players - dealing.retired.index(seat) for seat in range(players))
    breakdown = dict.fromkeys(PARTS, none)
    if players == 1:
        return Outcome((2,), none, breakdown, RETIRED, rival=0.0)
    return Outcome(ranks, none, breakdown, RETIRED)
