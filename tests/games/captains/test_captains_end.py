"""End, score, ranks and retirement (captains E1-E4)."""

from typing import Any

import pytest
from tests.games.captains.conftest import Tools

from warpleague.errors import PositionError
from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import Options

# One token beside each planet but 3; the owners are irrelevant here.
SEVEN = [[119, 116, 23, 28, 7, 17], [134, 35, 112]]
EXPLORERS = [0, 0, 0, 0, 1, 0, 1]


def ends(tools: Tools, state: Any, most: int = 60) -> tuple[Any, int]:
    """The finished game when every seat only starts and ends its turns, and the turns ended."""
    turns = 0
    while GAME.actors(state):
        assert turns < most
        state = tools.play(state, "end")
        turns += 1
    return state, turns


def test_e1_ends_leave_equal_turns_for_all(tools: Tools) -> None:
    """The last exploration token leaves three rounds after the current one, an empty deck leaves one."""
    state = tools.at(round=4, seat=1, ships=[119, 106], tokens=SEVEN, explorers=EXPLORERS)
    state = tools.play(state, "place 106")
    assert {"event": "ending", "why": "explored", "last_round": 7} in tools.told
    state, turns = ends(tools, state)
    assert (state.round, state.why, turns) == (7, "explored", 1 + 3 * 2)
    state = tools.at(round=4, seat=0, ships=[106, 134], tokens=SEVEN, explorers=EXPLORERS)
    state, turns = ends(tools, tools.play(state, "place 106"))
    assert (state.round, turns) == (7, 2 + 3 * 2)
    docks = [8] * 7 + [7]
    state = tools.at(round=9, ships=[106, 134], tokens=[[119], [134]], docks=docks)
    state = tools.play(state, "pickup planet", "draw", "roll 7")
    assert {"event": "ending", "why": "deck-empty", "last_round": 10} in tools.told
    assert state.cards.hands[0] == tuple(tools.counts(p7=1))
    state, turns = ends(tools, state)
    assert (state.round, state.why, turns) == (10, "deck-empty", 4)


def test_e1_a_position_ends_as_play_would_have_it(tools: Tools) -> None:
    """The earlier end counts: an empty deck brings it nearer, never further away; in one round E1 is the reason."""
    options = {"max_rounds": 5}
    state = tools.at(round=2, ships=[106, 134], tokens=SEVEN, explorers=EXPLORERS, options=options)
    state = tools.play(state, "place 106")
    assert (state.last_round, state.why) == (5, "explored")
    fields = tools.fields(state)
    del fields["last_round"], fields["why"]
    assert GAME.from_json(fields) == state
    with pytest.raises(PositionError, match="why: is 'explored'"):
        GAME.from_json({**fields, "why": "max-rounds"})
    state = tools.at(
        round=4, ships=[106, 134], tokens=SEVEN, explorers=EXPLORERS, docks=[8] * 8, options=options
    )
    assert (state.last_round, state.why) == (5, "deck-empty")
    docks = [8] * 7 + [7]
    state = tools.at(round=4, ships=[106, 134], tokens=SEVEN, explorers=EXPLORERS, docks=docks)
    state = tools.play(state, "place 106")
    assert state.last_round == 7
    state = tools.play(state, "pickup planet", "draw", "roll 7")
    assert (state.last_round, state.why) == (5, "deck-empty")
    late = tools.at(
        round=6, last_round=7, why="explored", ships=[106, 134], docks=docks, explorers=[*EXPLORERS, 0],
        tokens=[[*SEVEN[0], 106], SEVEN[1]],
    )  # fmt: skip
    late = tools.play(late, "pickup planet", "draw", "roll 7")
    assert (late.last_round, late.why) == (7, "explored")


def test_e2_the_parts_of_a_score(tools: Tools) -> None:
    """Exploration and point tokens, 2 a delivered card, 3 for each planet beyond the fifth; hands are nothing."""
    state = tools.at(
        round=200,
        seat=1,
        ships=[119, 134],
        tokens=SEVEN,
        explorers=EXPLORERS,
        points=[4, 0],
        delivered=[[2, 1, 1, 1, 1, 1, 1, 0], [3, 1, 1, 1, 1, 0, 0, 0]],
        hands=[[0, 0, 0, 0, 0, 0, 0, 4], [0] * 8],
    )
    outcome = GAME.outcome(tools.play(state, "end"))
    assert outcome.breakdown == {
        "exploration": (5, 1 + 3),
        "wormholes": (4, 0),
        "passengers": (16, 14),
        "tour": (6, 0),
    }
    assert outcome.scores == (31, 18)
    assert outcome.ranks == (1, 2)


@pytest.mark.parametrize(
    ("piles", "points", "ranks"),
    [([4, 3], [0, 2], (1, 2)), ([3, 4], [2, 0], (2, 1)), ([3, 3], [2, 2], (1, 1)), ([3, 3], [2, 3], (2, 1))],
)
def test_e3_ties(tools: Tools, piles: list[int], points: list[int], ranks: tuple[int, ...]) -> None:
    """Of equal scores more delivered cards win, then more point tokens; else the rank is shared."""
    state = tools.at(
        round=200, seat=1, ships=[119, 134], tokens=[[119], [134]], points=points,
        delivered=[tools.counts(p0=count) for count in piles],
    )  # fmt: skip
    assert GAME.outcome(tools.play(state, "end")).ranks == ranks


def test_e3_a_shared_rank_leaves_a_gap(tools: Tools) -> None:
    """Two winners share rank 1, the third has rank 3."""
    state = tools.at(
        players=3, round=200, seat=2, ships=[119, 134, 136], tokens=[[119], [134], [136]], points=[2, 1, 2]
    )
    assert GAME.outcome(tools.play(state, "end")).ranks == (1, 3, 1)


def test_e4_most_rounds_end_the_game(tools: Tools) -> None:
    """Seats that only pass play exactly `max_rounds` rounds."""
    state = tools.play(
        tools.deal(3, 1, max_rounds=4), "start 119", "end", "start 120", "end", "start 134", "end"
    )
    state, turns = ends(tools, state)
    assert (state.round, state.why, turns) == (4, "max-rounds", 9)
    assert GAME.outcome(state).why == "max-rounds"


def test_retired_seat_passes_and_its_tokens_still_earn(tools: Tools) -> None:
    """Its turn ends at once, later ones are skipped; nothing more is drawn or revealed for it."""
    state = tools.at(
        players=3, ships=[104, 103, 136], tokens=[[119], [134, 90, 104, 106], [136]], explorers=[1]
    )
    state, events = GAME.retire(state, 1)
    assert [event.data for event in events] == [{"event": "retired", "seat": 1}]
    state = tools.play(state, "warp 106")
    assert state.points == (0, 1, 0)
    assert GAME.actors(tools.play(state, "end")) == (2,)
    state, _ = GAME.retire(state, 0)
    assert GAME.actors(state) == (2,)
    state = tools.at(ships=[106, 134], tokens=[[119], [134]])
    state = tools.play(state, "pickup planet", "draw", "roll 0")
    assert GAME.actors(state) == (CHANCE,)
    after, _ = GAME.retire(state, 0)
    assert GAME.actors(after) == (1,)
    assert after.cards == state.cards
    hole = tools.play(tools.at("second", ships=[58, 134], tokens=[[119], [134]]), "move 73")
    assert GAME.actors(hole) == (CHANCE,)
    assert GAME.actors(GAME.retire(hole, 0)[0]) == (1,)
    assert GAME.actors(GAME.retire(tools.play(hole, "roll 1"), 0)[0]) == (1,)


def test_retired_before_its_start_never_starts(tools: Tools) -> None:
    """A seat retired before its first turn is dealt its cards, but has no ship and no token; the others play on."""
    state = GAME.retire(GAME.initial(2, Options(max_rounds=2)), 0)[0]
    while GAME.actors(state) == (CHANCE,):
        draws = GAME.chance(state)
        rolled = tuple(0 if isinstance(d, int) else next(i for i, w in enumerate(d) if w) for d in draws)
        state = GAME.apply(state, rolled)[0]
    assert GAME.actors(state) == (1,)
    assert GAME.view(state, 1)["hands"] == [1, 2]
    state = tools.play(state, tools.legal(state)[0], "end", "end")
    outcome = GAME.outcome(state)
    assert (outcome.ranks, state.ships[0]) == ((2, 1), -1)


def test_retired_seats_rank_below_all_others(tools: Tools) -> None:
    """A retired seat ranks below the others whatever its score; the later retired above the earlier."""
    state = tools.at(
        players=3, ships=[119, 134, 136], tokens=[[119], [134], [136]], points=[50, 20, 0], round=200
    )
    state, _ = GAME.retire(state, 0)
    state, _ = GAME.retire(state, 1)
    assert GAME.outcome(tools.play(state, "end")).ranks == (3, 2, 1)
    state, events = GAME.retire(state, 2)
    assert GAME.actors(state) == ()
    assert events[-1].data["event"] == "over"
    assert GAME.outcome(state).ranks == (3, 2, 1)
    assert GAME.outcome(state).why == "retired"


def test_the_end_is_told_once(tools: Tools) -> None:
    """Without the last bot the game is over, also while the galaxy is laid; who goes later ends no second time."""
    for players in (1, 3):
        state = GAME.initial(players, Options())
        for seat in range(players):
            assert GAME.actors(state)
            state, events = GAME.retire(state, seat)
        scores = [0] * max(2, players)
        assert [event.data for event in events] == [
            {"event": "retired", "seat": players - 1},
            {"event": "over", "why": "retired", "scores": scores},
        ]
        assert GAME.outcome(state).why == "retired"
        assert GAME.scene(state, None).caption == "Over before the galaxy was laid: everybody left the match"
    over = tools.play(tools.at(round=200, seat=1, ships=[119, 134], tokens=[[119], [134]]), "end")
    for seat in (1, 0):
        over, events = GAME.retire(over, seat)
        assert [event.data for event in events] == [{"event": "retired", "seat": seat}]


@pytest.mark.parametrize("end", ["play", "retire"])
def test_a_solo_game_that_ends_while_the_ai_places_is_told_like_any_other(tools: Tools, end: str) -> None:
    """The last event is `over`, and the position is that of an end: nobody acts, nothing is about to be done."""
    state = tools.at(players=1, ships=[119], tokens=[[119], [134]], docks=tools.counts(p3=2), round=200)
    state = tools.play(state, "end", "roll 6", "roll 5")
    assert GAME.ask(state, 0) == "ai-place"
    state, events = GAME.retire(state, 0) if end == "retire" else GAME.apply(state, GAME.legal(state, 0)[0])
    told = [event.data for event in events]
    assert [event["event"] for event in told].count("over") == 1
    assert told[-1] == {
        "event": "over",
        "why": GAME.outcome(state).why,
        "scores": GAME.view(state, 0)["scores"],
    }
    view = GAME.view(state, 0)
    assert (GAME.actors(state), view["stage"], view["focus"], view["taken"]) == ((), "over", -1, [])
