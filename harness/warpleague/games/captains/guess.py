"""Decides how to draw a full position that fits a view: hands that the seat's perfect memory allows, and the deck.

Leaves what the memory holds to `memory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.captains.boards import SIDE_NAMES
from warpleague.games.captains.dealing import Dealing, Plan, plan
from warpleague.games.captains.galaxy import Laid, Layout
from warpleague.games.captains.memory import Known
from warpleague.games.captains.options import Options
from warpleague.games.captains.state import STAGES, Cards, State, table, tokens_of

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject

_SHUFFLES: Final = 40
"""Fair tries, each consistent deal equally likely, before hands are built card by card."""


def plan_of(match: JsonObject) -> Plan:
    """The plan of a position's `match`; `OptionsError` if its options do not fit."""
    names = ("galaxy", "pattern", "galaxy_file", "ai", "max_rounds")
    return plan(match["players"], Options(**{name: match[name] for name in names}))


def laid_of(plan: Plan, boards: list[Any]) -> tuple[Laid, ...]:
    """The boards of a `match`, each an index among those in play, side and rotation."""
    numbers = {board.number: i for i, board in enumerate(plan.boards)}
    return tuple((numbers[number], SIDE_NAMES.index(side), turn) for number, side, turn in boards)


def known_of(data: JsonObject) -> Known:
    """The knowledge that a `Memory` describes."""
    return Known(
        tuple(data["sure"]),
        tuple(sum(1 << planet for planet in slot) for slot in data["slots"]),
        tuple((one["planet"], sum(1 << slot for slot in one["slots"])) for one in data["spent"]),
    )


def determinize(view: JsonObject, seat: int, rng: Random) -> State | Dealing:
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
    return State(
        table=board,
        stage=STAGES.index(view["stage"]),
        seat=view["seat"],
        round=view["round"],
        energy=view["energy"],
        steps=view["steps"],
        warped=view["warped"],
        picked=view["picked"],
        ships=tuple(view["ships"]),
        tokens=tokens_of(board, tuple(map(tuple, view["tokens"]))),
        cards=cards,
        points=tuple(view["points"]),
        explorers=tuple(view["explorers"]),
        retired=retired,
        last_round=view["last_round"],
        why=view["why"],
        focus=view["focus"],
        taken=sum(1 << planet for planet in view["taken"]),
    )


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
