"""What is hidden, what a perfect memory knows of hidden cards, and drawing states that fit it."""

from collections import Counter
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.captains.conftest import Tools

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.state import Known
from warpleague.games.playout import random_roll

PLANETS = 5


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_memory_is_exact(data: st.DataObject) -> None:
    """A hand is allowed exactly when some course of hidden draws explains everything seen."""
    known = Known((0,) * PLANETS)
    possible: set[tuple[int, ...]] = {()}  # every multiset of hidden cards that explains the events
    for _ in range(data.draw(st.integers(1, 12))):
        hidden, sure = known.hidden, sum(known.sure)
        act = data.draw(st.sampled_from(("draw", "deal", "take", "deliver", "discard")))
        planet = data.draw(st.integers(0, PLANETS - 1))
        if act in ("draw", "deal") and hidden + sure < 4:
            barred = planet if act == "draw" else -1
            known = known.drawn(barred)
            possible = {tuple(sorted((*h, p))) for h in possible for p in range(PLANETS) if p != barred}
        elif act == "take" and hidden + sure < 4:
            known = known.taken(planet)
        elif act == "deliver":
            truth = data.draw(st.sampled_from(sorted(possible)))
            cards = truth.count(planet) + known.sure[planet]
            if cards:
                possible = {
                    tuple(p for p in h if p != planet)
                    for h in possible
                    if h.count(planet) == truth.count(planet)
                }
                known = known.left(planet, cards, none_remain=True)
        elif act == "discard":
            if known.sure[planet]:
                known = known.left(planet, 1, none_remain=False)
            elif any(planet in h for h in possible):
                known = known.left(planet, 1, none_remain=False)
                rest = set()
                for h in possible:
                    if planet in h:
                        at = h.index(planet)
                        rest.add(h[:at] + h[at + 1 :])
                possible = rest
    hands = combinations_with_replacement(range(PLANETS), known.hidden)
    assert {hand for hand in hands if known.allows(hand)} == possible
    assert len(known.slots) <= 12


def test_memory_of_a_hand_on_view(tools: Tools) -> None:
    """Taken cards are sure, drawn ones are not of the planet they were drawn at nor of one delivered to since."""
    hands = [tools.counts(p3=1, p1=1), tools.counts()]
    state = tools.at(ships=[106, 134], tokens=[[119, 106], [134]], explorers=[0], hands=hands,
                     docks=tools.counts(p5=2))  # fmt: skip
    assert GAME.view(state, 1)["known"][0] == {"sure": [0] * 8, "slots": [[], []], "spent": []}
    state = tools.play(state, "deliver 3", "pickup planet", "draw", "roll 0", "roll 3", "roll 0", "roll 2")
    assert GAME.view(state, 1)["known"][0]["slots"] == [[3], [3], [3], [3]]
    state = tools.play(
        state, "warp 119", "end", "end", "pickup station", "discard 0", "discard 2", "take 5", "done"
    )
    assert GAME.view(state, 1)["known"][0] == {
        "sure": tools.counts(p5=1), "slots": [[3], [3]], "spent": [],
    }  # fmt: skip


def test_hidden_cards_are_told_to_their_owner_only(tools: Tools) -> None:
    """Others see that a card was drawn, and how many are in a hand; delivered piles are remembered."""
    state = tools.play(tools.at(ships=[106, 134], tokens=[[119], [134]]), "pickup planet", "draw")
    _, events = GAME.apply(state, (2,))
    assert events[0].seen_by(0) == {"event": "drawn", "seat": 0, "to": "hand", "planet": 2}
    assert events[0].seen_by(1) == {"event": "drawn", "seat": 0, "to": "hand"}
    assert events[0].reveals
    _, events = GAME.apply(state, (3,))
    assert events[0].seen_by(1) == {"event": "drawn", "seat": 0, "planet": 3, "to": "docks"}
    hands = [tools.counts(p1=2), tools.counts(p2=1)]
    state = tools.at(ships=[106, 134], tokens=[[119], [134]], hands=hands, delivered=[tools.counts(p0=3)] * 2)
    for seat in (0, 1):
        view = GAME.view(state, seat)
        assert view["hand"] == hands[seat]
        assert view["hands"] == [2, 1]
        assert view["delivered"] == [tools.counts(p0=3)] * 2
        assert sum(view["unseen"]) == view["deck"] + [2, 1][1 - seat]
    swapped = tools.at(ships=[106, 134], tokens=[[119], [134]], hands=[hands[0], tools.counts(p7=1)],
                       delivered=[tools.counts(p0=3)] * 2)  # fmt: skip
    assert GAME.view(swapped, 0) == GAME.view(state, 0)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_determinized_states_respect_the_memory(tools: Tools, players: int) -> None:
    """All along random matches: own cards and sure cards are kept, excluded ones never drawn, counts agree."""
    rng = Random(players)
    state = tools.deal(players, players)
    differs = 0
    for step in range(900):
        actors = GAME.actors(state)
        if not actors:
            break
        if step % 30 == 0:
            for seat in range(players):
                view = GAME.view(state, seat)
                guess: Any = GAME.determinize(view, seat, rng)
                assert GAME.view(guess, seat) == view
                assert guess.cards.hands[seat] == state.cards.hands[seat]
                total = [sum(c) for c in zip(guess.cards.deck, *guess.cards.hands, strict=True)]
                truth = [sum(c) for c in zip(state.cards.deck, *state.cards.hands, strict=True)]
                assert total == truth
                for hand, known in zip(guess.cards.hands, state.cards.known, strict=True):
                    hidden = [p for p in range(len(hand)) for _ in range(hand[p] - known.sure[p])]
                    assert len(hidden) == known.hidden
                    assert known.allows(hidden)
                differs += guess != state
        if actors == (CHANCE,):
            state = GAME.apply(state, random_roll(GAME.chance(state), rng))[0]
        else:
            legal = GAME.legal(state, actors[0])
            state = GAME.apply(state, legal[rng.randrange(len(legal))])[0]
    assert differs


def test_determinized_hands_are_even(tools: Tools) -> None:
    """A hidden card is of each planet as often as the unseen cards are; where one hand alone fits, it is found."""
    state = tools.at(
        ships=[106, 134], tokens=[[119], [134]], hands=[tools.counts(), tools.counts(p2=1)],
        docks=[8, 8, 4, 8, 8, 8, 6, 8],
    )  # fmt: skip
    rng = Random(5)
    drawn = Counter(
        next(p for p, n in enumerate(GAME.determinize(GAME.view(state, 0), 0, rng).cards.hands[1]) if n)
        for _ in range(1200)
    )
    assert set(drawn) == {2, 6}
    assert 700 < drawn[2] < 900, "4 of the 6 unseen cards are of planet 2"
    most = list(range(7))
    known = [{"sure": [0] * 8, "slots": [], "spent": []}, {"sure": [0] * 8, "slots": [most] * 4, "spent": []}]
    state = tools.at(
        ships=[106, 134], tokens=[[119], [134]], hands=[tools.counts(), tools.counts(p7=4)], known=known
    )
    for seed in range(5):
        guess: Any = GAME.determinize(GAME.view(state, 0), 0, Random(seed))
        assert guess.cards.hands[1] == tuple(tools.counts(p7=4))
