"""Positions of aliens as JSON, and what is wrong with one that somebody wrote by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games.aliens import rules as legal
from warpleague.games.aliens.geometry import COINS, COUNT, HOME, INDEX, ORDERS, SHIPS, SQUARES
from warpleague.games.aliens.state import (
    DICE,
    END,
    JUMP,
    NO_HOLES,
    NOBODY,
    OPENING_ROLL,
    ORDER,
    PHASES,
    PLACE,
    ROLL,
    SEATS,
    SEND,
    TURN,
    WHYS,
    Cascade,
    Options,
    Result,
    Rules,
    State,
    rules_for,
)
from warpleague.games.reading import Given
from warpleague.games.values import Cache, Parts, decoded, encoded, part

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject

KEYS: Final = (
    "options",
    "phase",
    "to_move",
    "turn",
    "ships",
    "dice",
    "lost",
    "wormholes",
    "pending",
    "result",
)

# -- writing -----------------------------------------------------------------------------------------------


_OPTIONS: Final[Parts[Rules]] = Parts(lambda rules: attrs.asdict(rules.options))
_LOST: Final = [[ship for number, ship in enumerate(SHIPS) if mask >> number & 1] for mask in range(16)]


def _wormhole(key: int) -> JsonObject:
    rest, flags = divmod(key, 8)
    number, coin = divmod(rest, COINS)
    suit, value = divmod(coin, 6)
    return {
        "at": SQUARES[number],
        "suit": SHIPS[suit],
        "value": value if flags & 4 else None,
        "public": bool(flags & 2),
        "up": "value" if flags & 1 else "suit",
    }


_WORMHOLE: Final[Parts[int]] = Parts(_wormhole, 1 << 16)


def _lying(holes: tuple[int, ...]) -> tuple[list[tuple[int, int]], tuple[JsonObject, JsonObject]]:
    """The coins on the board, each with the key of its wormhole without flags, and the hands."""
    placed = [((number * COINS + coin) * 8, coin) for number, coin in enumerate(holes) if coin >= 0]
    rest = set(range(COINS)).difference(holes)
    hands: tuple[JsonObject, JsonObject] = {}, {}
    for suit, ship in enumerate(SHIPS):
        hands[suit >> 1][ship] = [value for value in range(6) if suit * 6 + value in rest] if rest else []
    return placed, hands


_LYING: Final = Cache(_lying, 1024)


def _coins(key: tuple[tuple[int, ...], int, int, int]) -> tuple[Any, tuple[JsonObject, JsonObject]]:
    holes, seen, known, faces = key
    placed, hands = _LYING[holes]
    shown = [
        _WORMHOLE[at + (seen >> coin & 1) * 4 + (known >> coin & 1) * 2 + (faces >> coin & 1)]
        for at, coin in placed
    ]
    return part(shown), hands


_COINS: Final = Cache(_coins, 1024)
"""The coins on the board and those in each hand; in play the hands are empty."""
_OWN: Final = (0x000FFF, 0xFFF000)
"""The coins of each seat, as bits."""


def render(state: State, seat: int | None) -> JsonObject:
    """The position as JSON, made of cached parts: the whole (`seat` None), or what `seat` knows."""
    s = state
    known = s.known
    seen = -1 if seat is None else known | _OWN[seat]
    pending: JsonObject | None = None
    if s.cascade is not None:
        ship, sends, after, at = s.cascade
        then = {"ship": SHIPS[after], "at": SQUARES[at]} if after >= 0 else None
        pending = {"ship": SHIPS[ship], "sends": sends, "then": then}
    result: JsonObject | None = None
    if s.result is not None:
        winner, why = s.result
        result = {"winner": None if winner < 0 else winner, "why": why}
    suns, moons, crowns, arms = s.ships
    one, two = s.dice
    dice = {}
    if one >= 0:
        dice[SHIPS[2 * s.seat]] = one
    if two >= 0:
        dice[SHIPS[2 * s.seat + 1]] = two
    wormholes, hands = _COINS[s.holes, seen, known, s.faces]
    data: JsonObject = {
        "options": _OPTIONS[s.rules],
        "phase": PHASES[s.phase],
        "to_move": None if s.phase == OPENING_ROLL else s.seat,
        "turn": s.turn,
        "ships": {
            "suns": SQUARES[suns], "moons": SQUARES[moons], "crowns": SQUARES[crowns], "arms": SQUARES[arms]
        },
        "dice": dice,
        "lost": _LOST[s.lost],
        "wormholes": wormholes,
        "pending": pending,
        "result": result,
    }  # fmt: skip
    if seat is not None:
        data["seat"] = seat
        data["actor"] = s.actors[0] if s.actors and s.actors[0] >= 0 else None
        data["hand"] = hands[seat]
    return data


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(encoded(render(state, None)))
    return data


# -- reading -----------------------------------------------------------------------------------------------


def from_json(data: object) -> State:
    """The position written as `data`; `PositionError` names the place that is wrong."""
    top = Given(data).fields(*KEYS)
    rules = rules_for(top["options"].options(Options))
    phase = top["phase"].index(PHASES)
    if phase != OPENING_ROLL:
        seat = top["to_move"].whole(0, 1)
    elif top["to_move"].value is None:
        seat = 0
    else:
        top["to_move"].fail("must be null before the opening roll")
    playing = phase in (ROLL, TURN, JUMP, SEND)
    turn = top["turn"].whole(0, rules.max_turns - (phase != END) if playing or phase == END else 0)
    ships = _ships(top["ships"])
    dice = _dice(top["dice"], phase, seat)
    lost = 0
    for item in top["lost"].items():
        bit = 1 << item.index(SHIPS)
        if lost & bit:
            item.fail(f"{item.value} is named twice")
        lost |= bit
    holes, known, faces = _read_wormholes(top["wormholes"])
    cascade = _pending(top["pending"], phase, seat, dice, holes)
    result = _result(top["result"], phase, turn == rules.max_turns)
    if turn == rules.max_turns and (result is None or result[1] != "max-turns"):
        top["turn"].fail(f"all {rules.max_turns} turns are over, so the game has ended by max-turns")
    _check_ships(ships, phase, cascade)
    state = State(
        rules, phase, seat, turn, ships, dice, lost, holes, known, faces, cascade, result, NOBODY, ()
    )  # fmt: skip
    _set_decision(state)
    return state


def _bad(path: str, text: str) -> None:
    Given(None, path).fail(text)


def _square(given: Given) -> int:
    value = given.value
    number = None
    if type(value) is list and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
        number = INDEX.get((value[0], value[1]))
    if number is None:
        given.wrong("a square [x, y] of the board")
    return number


def _ships(given: Given) -> tuple[int, ...]:
    ships = given.fields(*SHIPS)
    return tuple([_square(ships[ship]) for ship in SHIPS])


def _check_ships(ships: tuple[int, ...], phase: int, cascade: Cascade | None) -> None:
    """No two ships share a square, but where one is about to be sent, or has won."""
    sent = cascade[0] if phase == SEND and cascade else -1
    for ship, number in enumerate(ships):
        others = [other for other in range(4) if other != ship and ships[other] == number]
        if any(other >> 1 == ship >> 1 for other in others):
            _bad(f"ships.{SHIPS[ship]}", "shares its square with the other ship of its side")
        if phase == SEND and ship == sent and not others:
            _bad("pending.ship", f"{SHIPS[ship]} must share its square with the ship that landed on it")
        if others and phase != END and sent not in (ship, *others):
            _bad(f"ships.{SHIPS[ship]}", f"shares its square with {SHIPS[others[0]]}")


def _dice(given: Given, phase: int, seat: int) -> tuple[int, int]:
    own = SHIPS[2 * seat : 2 * seat + 2]
    dice = given.fields(*own)
    one, two = (dice[ship].whole(0, 5) if ship in dice else -1 for ship in own)
    allowed = {TURN: 2, JUMP: 1, SEND: 1, END: 2}.get(phase, 0)
    if (one >= 0) + (two >= 0) > allowed:
        given.fail(f"at most {allowed} can be unused in the phase {PHASES[phase]!r}")
    return one, two


def _read_wormholes(given: Given) -> tuple[tuple[int, ...], int, int]:
    """The coin on each square, and the masks of public and flipped coins."""
    holes = list(NO_HOLES)
    known = faces = 0
    for item in given.items():
        at, suit_given, value_given, public_given, up = item.parts("at", "suit", "value", "public", "up")
        number = _square(at)
        suit, value = suit_given.index(SHIPS), value_given.whole(0, 5)
        coin = 6 * suit + value
        if HOME[number] >= 0:
            at.fail("a base cannot hold a wormhole")
        if holes[number] >= 0:
            at.fail(f"a second wormhole on {list(SQUARES[number])}")
        if coin in holes:
            item.fail(f"{SHIPS[suit]} {value} is there twice")
        public = public_given.flag()
        flipped = up.index(("suit", "value"))
        if flipped and not public:
            up.fail("a coin that shows its value is public")
        holes[number] = coin
        known |= public << coin
        faces |= flipped << coin
    return tuple(holes), known, faces


def _pending(
    given: Given, phase: int, seat: int, dice: tuple[int, int], holes: tuple[int, ...]
) -> Cascade | None:
    if phase not in (JUMP, SEND):
        if given.value is not None:
            given.fail(f"must be null in the phase {PHASES[phase]!r}")
        return None
    pending = given.fields("ship", "sends", "then")
    ship = pending["ship"].index(SHIPS)
    sends = pending["sends"].whole(0, legal.SENDS_WITH_HOLES)
    if pending["then"].value is None:
        return ship, sends, -1, -1
    then = pending["then"].fields("ship", "at")
    after = then["ship"].index(SHIPS)
    at = _square(then["at"])
    if after >> 1 != seat or dice[after & 1] >= 0:
        then["ship"].fail("must be the ship whose die is being used")
    if holes[at] < 0:
        then["at"].fail("must hold a wormhole")
    return ship, sends, after, at


def _result(given: Given, phase: int, all_played: bool) -> Result | None:
    if phase != END:
        if given.value is not None:
            given.fail(f"must be null in the phase {PHASES[phase]!r}")
        return None
    result = given.fields("winner", "why")
    why = WHYS[result["why"].index(WHYS)]
    if why != "max-turns":
        return result["winner"].whole(0, 1), why
    if result["winner"].value is not None or not all_played:
        given.fail("max-turns is a draw, winner null, when max_turns turns are over")
    return -1, why


def _set_decision(state: State) -> None:
    """Fill in who acts and what is legal in a state just read, or say why it is no position."""
    s = state
    placed = COUNT - s.holes.count(-1)
    if s.phase == END:
        return
    if s.phase in (OPENING_ROLL, ROLL):
        if s.phase == ROLL and s.lost >> 2 * s.seat & 3 == 3:
            _bad("lost", "both ships of the side to move lose this turn, so it does not roll")
        s.actors = DICE
    if s.phase in (OPENING_ROLL, ORDER) and placed:
        _bad("wormholes", "there are none before the order is chosen")
    if s.phase == ORDER:
        s.actors, s.legal = SEATS[s.seat], tuple(ORDERS.values())
    elif s.phase == PLACE:
        owned = sum(1 for coin in s.holes if coin >= 0 and coin // 12 == s.seat)
        if placed >= COINS or placed - owned - owned not in (0, 1):
            _bad(
                "wormholes",
                f"seat {s.seat} has placed {owned}, the other {placed - owned}: it is not its turn",
            )
        s.actors, s.legal = SEATS[s.seat], legal.placements(s.holes, s.seat)
    elif s.phase == TURN:
        s.actors, s.legal = SEATS[s.seat], legal.turn_actions(s.rules, s.seat, s.ships, s.dice)
        if not s.legal:
            _bad("dice", "none of them can be used, so the turn is over")
    elif s.cascade is not None:
        ship, sends, _, _ = s.cascade
        if s.phase == SEND:
            s.actors, s.legal = SEATS[1 - (ship >> 1)], legal.send_actions(s.ships, s.holes, sends)
        else:
            number = s.ships[ship]
            coin = s.holes[number]
            if coin < 0 or not s.known >> coin & 1 or coin % 6 == 0:
                _bad("pending.ship", f"{SHIPS[ship]} must stand on a public wormhole that is no black hole")
            reach = s.rules.jumps[coin][number]
            s.actors, s.legal = SEATS[ship >> 1], legal.jump_actions(reach, number, coin, s.ships[ship ^ 1])
            if not s.legal:
                _bad("pending.ship", f"{SHIPS[ship]} has no legal jump")
