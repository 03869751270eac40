"""The view of a seat in captains, the data of the start message, and positions drawn to fit a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games.captains.dealing import MAX_ROUNDS, Dealing, Why
from warpleague.games.captains.geometry import Layout
from warpleague.games.captains.position import (
    MatchFacts,
    Memory,
    Stage,
    dealing_json,
    known_of,
    laid_of,
    plan_of,
    position_json,
    state_of,
)
from warpleague.games.captains.rules import totals
from warpleague.games.captains.state import Cards, State, table
from warpleague.games.values import Cache, CacheByIdentity, decoded, encoded

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject
    from warpleague.games.captains.state import Known, Position


@attrs.frozen
class SpaceFacts:
    """A space of the galaxy, as told in `Setup`."""

    q: int
    r: int
    kind: str
    """blank, orbit, nebula, wild, cannon, blackhole, planet, station or obstacle."""
    number: int
    """Of a wild wormhole: 3, 4 or 5; else 0."""
    orbit: int
    """The orbit it belongs to, or -1; spaces of one orbit share the number."""
    moves: list[int]
    """Where a ship may move from here (adjacent spaces, and the rest of the orbit); black holes included."""
    shots: list[int]
    """Where the cannon on this space shoots."""
    planet: int
    """The planet beside this enterable space, or -1."""
    station: bool
    """Whether this enterable space is beside the station."""
    token: bool
    """Whether this kind of space takes a token."""


@attrs.frozen
class PlanetFacts:
    """A planet, as told in `Setup`."""

    board: int
    """The number of its board."""
    spaces: list[int]
    big: bool
    """The big ring planet, where tokens of one owner are not limited."""
    beside: list[int]
    """The enterable spaces beside it."""


@attrs.frozen
class Setup:
    """The static facts of the start message: the galaxy."""

    pattern: str
    station: list[int]
    """The spaces of the station."""
    spaces: list[SpaceFacts]
    """By space number."""
    planets: list[PlanetFacts]
    """By planet number."""


@attrs.frozen
class View:
    """All that a seat may know. In stage `galaxy` only `match`, `stage`, `you` and `retired` are there.

    Owners are the seats and, in solo, the AI after them.
    """

    match: MatchFacts
    stage: Stage
    you: int
    retired: list[int]
    """Seats whose bots are out, in that order."""
    seat: int = 0
    """Whose turn it is."""
    round: int = 1
    last_round: int = 1
    """The game ends after this round, as it stands."""
    why: Why = MAX_ROUNDS
    """The reason that set `last_round`, or "retired" if all are out."""
    energy: int = 0
    steps: int = 0
    """Actions done in this turn; after 100 it can only be ended."""
    warped: bool = False
    """Whether the last action of this turn was a warp."""
    picked: bool = False
    """Whether the pick-up of this turn was begun."""
    focus: int = -1
    """The planet that a pick-up, black hole or AI token is about; -1: none, or the station. In stage ai-cards:
    how many cards the AI discards yet, -1: until two planets have two."""
    taken: list[int] = attrs.Factory(list)
    """Planets whose cards were taken from the Docks in this pick-up."""
    ships: list[int] = attrs.Factory(list)
    """The space of each seat's ship, -1 before its start."""
    tokens: list[list[int]] = attrs.Factory(list)
    """By owner: the spaces of its tokens, in order placed: numbers 1, 1, 2, 2, ... 5, 5."""
    hand: list[int] = attrs.Factory(list)
    """Your own cards by planet."""
    hands: list[int] = attrs.Factory(list)
    """How many cards each seat holds."""
    known: list[Memory] = attrs.Factory(list)
    """By seat: what everybody can deduce about its hand, yours included."""
    delivered: list[list[int]] = attrs.Factory(list)
    """By owner: delivered cards by planet."""
    docks: list[int] = attrs.Factory(list)
    """Cards in the Docks by planet."""
    deck: int = 0
    """How many cards the deck has left."""
    unseen: list[int] = attrs.Factory(list)
    """By planet: cards you cannot see: the deck and the others' hands together, less what is sure of those."""
    points: list[int] = attrs.Factory(list)
    """By owner: point tokens."""
    explorers: list[int] = attrs.Factory(list)
    """The owners of the exploration tokens taken, in order: tokens 1 to 6 are worth 1, from 7 on 3."""
    scores: list[int] = attrs.Factory(list)
    """By owner: the score if the game ended now."""


def view(state: Position, seat: int) -> JsonObject:
    """The view of `seat`, as described by `View`."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: Position, seat: int) -> bytes:
    """The same in its bytes."""
    if isinstance(state, Dealing):
        return encoded({**dealing_json(state), "you": seat})
    scores = _SCORES[state.explorers, state.points, state.cards.piles]
    return position_json(state, b'"you":%d,%b,"scores":%b' % (seat, _OWN[state.cards][seat], scores))


def _own(cards: Cards) -> list[bytes]:
    """Further knowledge of each seat about the cards."""
    hands = encoded(list(map(sum, cards.hands)))
    rows = []
    for seat, hand in enumerate(cards.hands):
        others = cards.hands[:seat] + cards.hands[seat + 1 :]
        sure = tuple([known.sure for known in cards.known[:seat] + cards.known[seat + 1 :]])
        unseen = encoded(_unseen(cards.deck, others, sure))
        rows.append(
            b'"hand":%b,"hands":%b,"deck":%d,"unseen":%b' % (encoded(hand), hands, cards.left, unseen)
        )
    return rows


def _unseen(
    deck: tuple[int, ...], hands: tuple[tuple[int, ...], ...], sure: tuple[tuple[int, ...], ...]
) -> list[int]:
    cards = map(sum, zip(deck, *hands, strict=True))
    return [count - sum([one[planet] for one in sure]) for planet, count in enumerate(cards)]


_OWN: Final = CacheByIdentity(_own)
_SCORES: Final = Cache[Any, bytes](lambda key: encoded(totals(*key)))
"""From explorers, points and piles."""


def setup(state: Position) -> JsonObject:
    """The facts of the galaxy, as described by `Setup`."""
    assert isinstance(state, State)
    galaxy = state.table.galaxy
    spaces = [
        {
            "q": q,
            "r": r,
            "kind": galaxy.kinds[space],
            "number": galaxy.wild[space],
            "orbit": galaxy.orbit[space],
            "moves": [action.to for action in galaxy.moves[space]],
            "shots": [action.to for action in galaxy.shots[space]],
            "planet": galaxy.beside_planet[space],
            "station": galaxy.beside_station[space],
            "token": galaxy.takes_token[space],
        }
        for space, (q, r) in enumerate(galaxy.hexes)
    ]
    planets = [
        {
            "board": planet.board,
            "spaces": list(planet.spaces),
            "big": planet.big,
            "beside": [space for space, at in enumerate(galaxy.beside_planet) if at == number],
        }
        for number, planet in enumerate(galaxy.planets)
    ]
    station = [space for space, kind in enumerate(galaxy.kinds) if kind == "station"]
    return {"pattern": galaxy.pattern.name, "station": station, "spaces": spaces, "planets": planets}


# -- positions that fit a view ---------------------------------------------------------------------------

_SHUFFLES: Final = 40
"""Fair tries, each consistent deal equally likely, before hands are built card by card."""


def determinize(view: JsonObject, seat: int, rng: Random) -> Position:
    """A position drawn with `rng` that looks to `seat` exactly like `view`.

    Each way to share the cards it cannot see between hands and deck that agrees with its memory is equally
    likely, in however many orders they may have been drawn; only where 40 shuffles find none are hands built
    card by card, which is not quite even.
    """
    match = view["match"]
    made = plan_of(match)
    laid = laid_of(made, match["boards"])
    retired = tuple(view["retired"])
    if view["stage"] == "galaxy":
        return Dealing(made, match["station"], laid, retired)
    board = table(made, Layout(match["station"], laid))
    known = tuple(map(known_of, view["known"]))
    others = [other for other in range(made.players) if other != seat and known[other].hidden]
    hidden = _deal(view["unseen"], [known[other] for other in others], rng)
    hands = [list(one.sure) for one in known]
    hands[seat] = list(view["hand"])
    deck = list(view["unseen"])
    for other, planets in zip(others, hidden, strict=True):
        for planet in planets:
            hands[other][planet] += 1
            deck[planet] -= 1
    cards = Cards(
        tuple(deck),
        view["deck"],
        tuple(view["docks"]),
        tuple(map(tuple, hands)),
        tuple(map(tuple, view["delivered"])),
        known,
    )
    return state_of(board, view, cards)


def _deal(unseen: list[int], known: list[Known], rng: Random) -> list[list[int]]:
    """Hidden cards for each of several hands, together no more than `unseen` has of any planet."""
    sizes = [one.hidden for one in known]
    pool = [planet for planet, cards in enumerate(unseen) for _ in range(cards)]
    for _ in range(_SHUFFLES):
        drawn = rng.sample(pool, sum(sizes))
        hands = []
        for one, size in zip(known, sizes, strict=True):
            hand, drawn = drawn[:size], drawn[size:]
            if not one.allows(hand):
                break
            hands.append(hand)
        else:
            return hands
    left = list(unseen)
    hands = [[] for _ in known]
    if not _build(left, known, hands, rng):
        raise ValueError("no hands fit this view")
    return hands


def _build(left: list[int], known: list[Known], hands: list[list[int]], rng: Random) -> bool:
    """Fill `hands` one card at a time out of `left`, going back where no card fits."""
    seat = next((i for i, one in enumerate(known) if len(hands[i]) < one.hidden), None)
    if seat is None:
        return True
    hand = hands[seat]
    weights = list(left)
    while any(weights):
        planet = rng.choices(range(len(weights)), weights)[0]
        weights[planet] = 0
        if known[seat].allows([*hand, planet]):
            left[planet] -= 1
            hand.append(planet)
            if _build(left, known, hands, rng):
                return True
            hand.pop()
            left[planet] += 1
    return False
