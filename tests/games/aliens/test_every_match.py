"""What holds in every match of aliens, beside the contract of all games."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.games.aliens import GAME
from warpleague.games.aliens.state import Options
from warpleague.games.playout import random_playout


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["normal", "swapped"]))
@settings(max_examples=10, deadline=None)
def test_values_are_told_only_where_the_rules_make_them_public(seed: int, both: bool, diagonals: str) -> None:
    """A seat that keeps what its events tell knows exactly the values that its view shows."""
    options = Options(max_turns=80, both_ships=both, diagonals=diagonals)  # type: ignore[arg-type]
    playout = random_playout(GAME, 2, options, random.Random(seed), keep=True)
    notes: list[dict[tuple[int, ...], int]] = [{}, {}]
    for state, move, after in zip(playout.states[:-1], playout.moves, playout.states[1:], strict=True):
        for event in GAME.apply(state, move)[1]:
            for seat in (0, 1):
                told = event.seen_by(seat)
                if told is not None and told["event"] in ("place", "activate") and "value" in told:
                    assert notes[seat].setdefault(tuple(told["at"]), told["value"]) == told["value"]
        for seat in (0, 1):
            holes = GAME.view(after, seat)["wormholes"]
            shown = {tuple(hole["at"]): hole["value"] for hole in holes if hole["value"] is not None}
            assert shown == notes[seat]


@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_ships_never_share_a_square_for_long(seed: int) -> None:
    """Two ships stand on one square only while one of them is to be sent, or has just won."""
    for state in random_playout(GAME, 2, Options(max_turns=100), random.Random(seed), keep=True).states:
        position = GAME.to_json(state)
        squares = {tuple(square) for square in position["ships"].values()}
        assert (
            len(squares) == 3
            if position["phase"] == "send"
            else len(squares) == 4 or position["phase"] == "end"
        )
        coins = {(hole["suit"], hole["value"]) for hole in position["wormholes"]}
        assert len(coins) == len(position["wormholes"])
