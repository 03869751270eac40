"""The solo game (captains A1-A4)."""

from typing import Any

from tests.games.captains.conftest import Tools

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME


def solo(tools: Tools, ai: str = "echabod-z", **fields: Any) -> Any:
    given = {"ships": [119], "tokens": [[119], [134]], **fields}
    return tools.at(players=1, options={"ai": ai}, **given)


def test_a1_set_up_as_for_two(tools: Tools) -> None:
    """Eight planets, 64 cards, one dealt to the player, none to the AI, which has no ship; echabod-z by default."""
    state = tools.deal(1, 1)
    view = GAME.view(state, 0)
    assert view["match"]["ai"] == "echabod-z"
    assert view["hands"] == [1]
    assert view["deck"] == 63
    assert len(view["tokens"]) == len(view["delivered"]) == len(view["points"]) == 2
    assert view["ships"] == [-1], "the AI has no ship"


def test_a2_the_ais_first_token_is_placed_beside_the_station(tools: Tools) -> None:
    """After the player's first turn the player places it, on any free space beside the station."""
    state = solo(tools, tokens=[[119], []])
    state = tools.play(state, "end")
    assert GAME.ask(state, 0) == "ai-place"
    assert tools.legal(state) == [f"ai-place {at}" for at in (120, 134, 136, 143, 144)]
    elsewhere = tools.play(solo(tools, tokens=[[119], []], ships=[134]), "end")
    assert "ai-place 134" not in tools.legal(elsewhere), "the space must be empty of ships, too"
    state = tools.play(state, "ai-place 136")
    assert tools.told[0] == {"event": "place", "owner": 1, "at": 136, "number": 1, "active": False}
    assert GAME.actors(state) == (CHANCE,), "then the turn goes on with its cards"


def test_a3_cards_to_the_docks_by_ai(tools: Tools) -> None:
    """echabod-z discards 2 cards, brood 3, azimuth one at a time until two planets have two."""
    state = tools.play(solo(tools), "end", "roll 0", "roll 1")
    assert (state.round, state.cards.docks) == (2, tuple(tools.counts(p0=1, p1=1)))
    state = tools.play(solo(tools, "brood"), "end", "roll 0", "roll 1", "roll 2")
    assert (state.round, state.cards.docks) == (2, tuple(tools.counts(p0=1, p1=1, p2=1)))
    state = solo(tools, "azimuth", tokens=[[119], [134, 7, 112, 116]], explorers=[1, 1, 1])
    state = tools.play(state, "end", "roll 4", "roll 7", "roll 4", "roll 0", "roll 0")
    assert {"event": "ai-delivered", "planet": 4, "cards": 2} in tools.told
    assert state.round == 2
    state = solo(
        tools,
        "azimuth",
        tokens=[[119], [134, 7, 112, 116]],
        explorers=[1, 1, 1],
        docks=tools.counts(p0=2, p4=3),
    )
    state = tools.play(state, "end")
    assert (state.round, state.cards.left) == (2, 59)


def test_a3_what_the_ai_delivers(tools: Tools) -> None:
    """With an active token beside the planet all its cards, else one. Single cards stay; one token is enough."""
    docks = tools.counts(p0=3, p4=3, p7=1)
    state = solo(tools, docks=docks, tokens=[[119], [134, 7, 116]], explorers=[1, 1])
    state = tools.play(state, "end", "roll 6", "roll 5")
    assert state.cards.piles[1] == tuple(tools.counts(p0=1, p4=3))
    assert state.cards.docks == tuple(tools.counts(p0=2, p5=1, p6=1, p7=1))
    state = solo(tools, docks=tools.counts(p6=3), tokens=[[119], [134, 7, 35]], explorers=[1, 1])
    state = tools.play(state, "end", "roll 5", "roll 4")
    assert (state.round, state.cards.piles[1]) == (2, tuple(tools.counts(p6=1)))
    assert len(state.tokens.stacks[1]) == 3


def test_a3_without_a_token_there_one_is_placed(tools: Tools) -> None:
    """One card is delivered, the player places a token beside the planet, and the next planet has its turn."""
    state = solo(tools, docks=tools.counts(p3=2))
    state = tools.play(state, "end", "roll 6", "roll 5")
    assert state.cards.piles[1] == tuple(tools.counts(p3=1))
    assert tools.legal(state) == [f"ai-place {at}" for at in (91, 92, 106, 108, 122, 123)]
    state = tools.play(state, "ai-place 92")
    assert {"event": "explore", "owner": 1, "planet": 3, "token": 1, "worth": 1} in tools.told
    assert (state.round, GAME.actors(state)) == (2, (0,))
    state = tools.play(solo(tools, docks=tools.counts(p3=2, p4=3)), "end", "roll 6", "roll 5", "ai-place 92")
    assert tools.legal(state) == [f"ai-place {at}" for at in (0, 7, 14)]
    state = tools.play(state, "ai-place 7")
    assert (state.round, state.cards.piles[1]) == (2, tuple(tools.counts(p3=1, p4=1)))
    assert state.tokens.stacks[1] == (134, 92, 7)
    state = solo(tools, docks=tools.counts(p0=2, p7=3), tokens=[[119], [134, 7, 112]], explorers=[1, 1])
    state = tools.play(state, "end", "roll 6", "roll 5", "ai-place 116")
    assert state.cards.piles[1] == tuple(tools.counts(p0=1, p7=3))


def test_a3_where_no_token_can_be_placed_a_card_is_delivered(tools: Tools) -> None:
    """With all ten tokens placed, and where the one space beside the planet has a token."""
    mine = [119, 7]
    ten = [134, 116, 23, 28, 35, 36, 50, 52, 65, 68]
    state = solo(tools, docks=tools.counts(p3=2), tokens=[mine, ten], ships=[119], explorers=[0, 1, 1, 1, 1])
    state = tools.play(state, "end", "roll 5", "roll 4")
    assert (state.round, state.cards.piles[1]) == (2, tuple(tools.counts(p3=1)))
    state = tools.at("pair", players=1, options={"ai": "echabod-z"}, ships=[17], tokens=[[36, 17], [46]],
                     explorers=[0], docks=[2, 0])  # fmt: skip
    state = tools.play(state, "end", "roll 0", "roll 1")
    assert (state.round, state.cards.piles[1], state.cards.docks) == (2, (1, 0), (2, 1))
    assert len(state.tokens.stacks[1]) == 1


def test_a4_what_pays_the_ai(tools: Tools) -> None:
    """One point for a pick-up at the station, cards taken or not, and for each use of its wormholes by the player."""
    state = tools.play(solo(tools), "pickup station")
    assert state.points == (0, 1)
    assert tools.play(state, "done").points == (0, 1)
    assert tools.play(solo(tools, ships=[106]), "pickup planet").points == (0, 0)
    state = solo(tools, ships=[7], tokens=[[119], [134, 7]], explorers=[1])
    assert tools.play(state, "warp 134").points == (0, 1)


def test_a4_the_player_needs_more_points_than_the_ai(tools: Tools) -> None:
    """Which scores like a player; with as many or fewer, or retired, the player has lost."""
    for points, rank in (([3, 2], 1), ([2, 2], 2), ([1, 2], 2)):
        state = tools.play(solo(tools, round=200, points=points), "end", "roll 0", "roll 1")
        assert tools.told[-1] == {"event": "over", "why": "max-rounds", "scores": points}
        assert GAME.outcome(state).ranks == (rank,)
        assert GAME.outcome(state).scores == (points[0],)
        assert GAME.outcome(state).rival == points[1]
    state = solo(tools, round=200, points=[30, 2], tokens=[[119], [134, 7]], explorers=[1],
                 delivered=[tools.counts(), [1, 1, 1, 1, 1, 2, 1, 0]])  # fmt: skip
    state = tools.play(state, "end", "roll 0", "roll 1")
    assert GAME.outcome(state).rival == 1 + 2 + 2 * 8 + 3 * 2
    assert tools.told[-1]["scores"] == [30, 25]
    assert GAME.outcome(state).ranks == (1,)
    state, _ = GAME.retire(solo(tools, points=[9, 0]), 0)
    assert GAME.actors(state) == ()
    assert GAME.outcome(state).ranks == (2,)


def test_e1_the_deck_may_run_out_in_the_ais_turn(tools: Tools) -> None:
    """The AI discards what there is; the round counts as the current one."""
    docks = [8] * 7 + [7]
    tokens = [[119], [134]]
    state = solo(tools, round=3, docks=docks, tokens=tokens)
    state = tools.play(state, "end", "roll 7")
    assert {"event": "ending", "why": "deck-empty", "last_round": 4} in tools.told
    while GAME.actors(state):
        state = tools.play(state, tools.legal(state)[-1])
    assert state.round == 4
