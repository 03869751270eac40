"""Random matches of every setting: whatever is played, the books balance and the end comes."""

import os
from random import Random
from typing import Any

import pytest

from warpleague.games.api import CHANCE
from warpleague.games.captains import GAME
from warpleague.games.captains.dealing import AIS, PATTERNS, Options
from warpleague.games.captains.rules import parts
from warpleague.games.playout import random_roll

MATCHES = 1000 if os.environ.get("WARPLEAGUE_LONG") else 2
"""WARPLEAGUE_LONG, set to any text, plays 1,000 matches of each setting: about half an hour."""
GALAXIES = ("full", "basic")
CASES: list[tuple[int, dict[str, Any]]] = [
    *((1, {"ai": ai, "galaxy": galaxy}) for ai in AIS for galaxy in GALAXIES),
    *((1, {"ai": "azimuth", "pattern": pattern}) for pattern in PATTERNS[1:3]),
    *((2, {"pattern": pattern, "galaxy": galaxy}) for pattern in PATTERNS[:3] for galaxy in GALAXIES),
    *((3, {"galaxy": galaxy}) for galaxy in GALAXIES),
    *((4, {"pattern": pattern, "galaxy": galaxy}) for pattern in PATTERNS[3:] for galaxy in GALAXIES),
    *((5, {"galaxy": galaxy}) for galaxy in GALAXIES),
]


@pytest.mark.parametrize(("players", "options"), CASES, ids=str)
def test_random_matches_are_consistent(players: int, options: dict[str, Any]) -> None:
    """After any legal action cards, tokens and points are conserved; scores add up; all have equal turns."""
    for seed in range(MATCHES):
        _Match(players, Options(**options), seed).play()


class _Match:
    """One random match with its own books, kept from the events alone."""

    def __init__(self, players: int, options: Options, seed: int) -> None:
        self.rng = Random(f"{players}/{options}/{seed}")
        self.players = players
        self.state: Any = GAME.initial(players, options)
        self.owners = 2 if players == 1 else players
        self.turns = [0] * players
        self.points = [0] * self.owners
        self.placed = [0] * self.owners
        self.delivered = [0] * self.owners
        self.explored: list[int] = []
        self.over: dict[str, Any] = {}

    def play(self) -> None:
        state = self.state
        while actors := GAME.actors(state):
            if actors == (CHANCE,):
                move: Any = random_roll(GAME.chance(state), self.rng)
            else:
                legal = GAME.legal(state, actors[0])
                move = legal[self.rng.randrange(len(legal))]
                if self.rng.random() < 0.05:
                    for action in legal:
                        self.conserve(GAME.apply(state, action)[0])
            state, events = GAME.apply(state, move)
            for event in events:
                self.note(event.data)
            if hasattr(state, "cards"):
                self.conserve(state)
                self.balance(state)
        self.settle(state)

    def note(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "end":
            self.turns[event["seat"]] += 1
        elif kind == "place":
            self.placed[event["owner"]] += 1
            assert event["number"] == (self.placed[event["owner"]] + 1) // 2
        elif kind == "explore":
            self.explored.append(event["owner"])
            assert event["token"] == len(self.explored)
        elif kind == "deliver":
            self.delivered[event["seat"]] += event["cards"]
        elif kind == "ai-delivered":
            self.delivered[1] += event["cards"]
        elif kind == "over":
            self.over = event
        if event.get("point_to") is not None:
            self.points[event["point_to"]] += 1

    def conserve(self, state: Any) -> None:
        cards = state.cards
        each = 8 if self.players <= 3 else 10
        columns = zip(cards.deck, cards.docks, *cards.hands, *cards.piles, strict=True)
        assert all(sum(column) == each for column in columns)
        assert cards.left == sum(cards.deck)
        assert min(cards.deck) >= 0
        assert all(sum(hand) <= 4 for hand in cards.hands)
        spaces = [space for stack in state.tokens.stacks for space in stack]
        assert len(set(spaces)) == len(spaces)
        assert all(len(stack) <= 10 for stack in state.tokens.stacks)
        assert len(state.explorers) == state.tokens.reached.bit_count()

    def balance(self, state: Any) -> None:
        assert list(state.points) == self.points
        assert [len(stack) for stack in state.tokens.stacks] == self.placed
        assert list(state.explorers) == self.explored

    def settle(self, state: Any) -> None:
        outcome = GAME.outcome(state)
        for seat in range(self.players):
            assert sum(part[seat] for part in outcome.breakdown.values()) == outcome.scores[seat]
        assert len(set(self.turns)) == 1, "all seats have had the same number of turns"
        assert self.turns[0] == state.round == state.last_round
        assert [sum(pile) for pile in state.cards.piles] == self.delivered
        assert self.over["scores"] == [sum(parts(state, owner)) for owner in range(self.owners)]
        if outcome.why == "explored":
            assert len(self.explored) == len(state.table.galaxy.planets)
        elif outcome.why == "deck-empty":
            assert not state.cards.left
        else:
            assert state.round == 200
