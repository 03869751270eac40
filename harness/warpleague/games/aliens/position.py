"""Positions of aliens as JSON: how they are written, and what is wrong with one that somebody wrote by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import attrs

from warpleague.games.aliens import legal
from warpleague.games.aliens import state as st
from warpleague.games.aliens.actions import ORDERS, Ship
from warpleague.games.aliens.geometry import COINS, COUNT, HOME, INDEX, SHIPS, SQUARES
from warpleague.games.aliens.options import Options
from warpleague.games.reading import Misfit, Whole, by_hand, distinct, fail, read, refuse, shown, within
from warpleague.games.values import Cache, decoded, encoded, mask, template

if TYPE_CHECKING:
    from warpleague.games.aliens.state import State
    from warpleague.games.api import JsonObject


def _on_board(square: list[int]) -> None:
    if tuple(square) not in INDEX:
        raise Misfit(f"must be a square [x, y] of the board, not {shown(square)}")


Square: TypeAlias = Annotated[list[int], _on_board]
Value: TypeAlias = Annotated[int, Whole(0, 5)]
Seat: TypeAlias = Annotated[int, Whole(0, 1)]


@attrs.frozen(kw_only=True)
class OptionsView:
    """The options of the game, as in the start message."""

    max_turns: int = by_hand(Options().max_turns)
    both_ships: bool = by_hand(Options().both_ships)
    diagonals: Literal["normal", "swapped"] = by_hand(Options().diagonals)


@attrs.frozen
class Wormhole:
    """A coin on the board."""

    at: Square
    """Its square, [x, y]."""
    suit: Ship
    value: Value | None
    """How far it leads, 0 (null, a black hole) to 5; None: an enemy coin never activated."""
    public: bool
    """Whether it has been activated, so that both sides know its value."""
    up: Literal["suit", "value"]
    """Which of its sides is up: each activation flips it."""


@attrs.frozen
class Then:
    """A ship that landed by die on an enemy in a wormhole, which it activates if it still stands there."""

    ship: Ship
    at: Square


@attrs.frozen
class Pending:
    """The decision in the midst of a move."""

    ship: Ship
    """The ship that must jump, or that must be sent."""
    sends: Annotated[int, Whole(0, legal.SENDS_WITH_HOLES)]
    """How many sends the use of this die has seen; from 16 on no wormhole may be chosen."""
    then: Then | None
    """The next step when no ship is in flight any more."""


@attrs.frozen
class Result:
    """How the game ended."""

    winner: Seat | None
    """The winning seat; None: a draw."""
    why: st.Why


@attrs.frozen
class Position:
    """A whole position, in which every wormhole has its value."""

    options: OptionsView
    phase: Literal["opening-roll", "order", "place", "roll", "turn", "jump", "send", "end"]
    to_move: Seat | None
    """The seat whose turn it is (or that chooses, or places a coin); None before the opening roll."""
    turn: int
    """How many turns of both sides are over, skipped ones included."""
    ships: dict[str, Square]
    """The square [x, y] of each ship. A ship about to be sent shares its square with the one that landed on it."""
    dice: dict[str, Value]
    """The dice still to be used in this turn, by ship; null is 0. At the end, those that were left."""
    lost: Annotated[list[Ship], distinct]
    """The ships that lose their next turn."""
    wormholes: list[Wormhole]
    """The coins on the board, by y, then x."""
    pending: Pending | None
    """None except while a ship must jump or be sent."""
    result: Result | None
    """None until the end."""


# -- writing -----------------------------------------------------------------------------------------------

_POSITION: Final = template(Position).removesuffix(b"}") + b"%b}"
_OPTIONS: Final = Cache[st.Rules, bytes](lambda rules: encoded(attrs.asdict(rules.options)))
_PHASES: Final = tuple(map(encoded, st.PHASES))
_SQUARES: Final = tuple(map(encoded, SQUARES))
_SEATS: Final = (b"0", b"1", b"null")
"""Of index -1: nobody."""
_LOST: Final = [encoded([ship for i, ship in enumerate(SHIPS) if lost >> i & 1]) for lost in range(16)]
_DICE: Final = Cache[tuple[int, tuple[int, int]], bytes](
    lambda key: encoded({SHIPS[2 * key[0] + i]: die for i, die in enumerate(key[1]) if die >= 0})
)


def _pending(cascade: st.Cascade | None) -> JsonObject | None:
    if cascade is None:
        return None
    ship, sends, after, at = cascade
    then = {"ship": SHIPS[after], "at": SQUARES[at]} if after >= 0 else None
    return {"ship": SHIPS[ship], "sends": sends, "then": then}


def _wormhole(key: tuple[int, int, int]) -> bytes:
    number, coin, flags = key
    return encoded(
        {
            "at": SQUARES[number],
            "suit": SHIPS[coin // 6],
            "value": coin % 6 if flags & 4 else None,
            "public": bool(flags & 2),
            "up": "value" if flags & 1 else "suit",
        }
    )


def _coins(key: tuple[tuple[int, ...], int, int, int]) -> tuple[bytes, list[bytes]]:
    """The coins on the board, and those in each hand."""
    holes, seen, known, faces = key
    placed = [
        _WORMHOLE[number, coin, (seen >> coin & 1) * 4 + (known >> coin & 1) * 2 + (faces >> coin & 1)]
        for number, coin in enumerate(holes)
        if coin >= 0
    ]
    rest = set(range(COINS)).difference(holes)
    hands = [
        encoded({SHIPS[suit]: [value for value in range(6) if 6 * suit + value in rest] for suit in suits})
        for suits in ((0, 1), (2, 3))
    ]
    return b"[%b]" % b",".join(placed), hands


_PENDING: Final = Cache[Any, bytes](lambda cascade: encoded(_pending(cascade)))
_WORMHOLE: Final = Cache(_wormhole)
_COINS: Final = Cache(_coins, 1024)
_OWN: Final = (0x000FFF, 0xFFF000)
"""The coins of each seat, as bits."""


def position_json(state: State, seat: int | None) -> bytes:
    """The position as JSON: the whole (`seat` None), or the view of `seat`."""
    s = state
    wormholes, hands = _COINS[s.holes, -1 if seat is None else s.known | _OWN[seat], s.known, s.faces]
    suns, moons, crowns, arms = s.ships
    more = result = b""
    if seat is not None:
        actor = s.actors[0] if s.actors else -1
        more = b',"seat":%d,"actor":%b,"hand":%b' % (seat, _SEATS[actor], hands[seat])
    if s.result is not None:
        winner, why = s.result
        result = b'{"winner":%b,"why":"%b"}' % (_SEATS[winner], why.encode())
    return _POSITION % (
        _OPTIONS[s.rules],
        _PHASES[s.phase],
        b"null" if s.phase == st.OPENING_ROLL else _SEATS[s.seat],
        s.turn,
        b'{"suns":%b,"moons":%b,"crowns":%b,"arms":%b}'
        % (_SQUARES[suns], _SQUARES[moons], _SQUARES[crowns], _SQUARES[arms]),
        _DICE[s.seat, s.dice],
        _LOST[s.lost],
        wormholes,
        _PENDING[s.cascade],
        result or b"null",
        more,
    )


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(position_json(state, None))
    return data


# -- reading -----------------------------------------------------------------------------------------------


def from_json(data: object) -> State:
    """The position written as `data`; `PositionError` names the place that is wrong."""
    form = read(Position, data)
    rules = st.rules_for(read(Options, attrs.asdict(form.options), "options"))
    phase, turn, seat = st.PHASES.index(form.phase), form.turn, form.to_move or 0
    before = phase == st.OPENING_ROLL
    refuse((form.to_move is None) != before, "to_move", "must be null before the opening roll, then a seat")
    within("turn", turn, 0, rules.max_turns - (phase != st.END) if phase >= st.ROLL else 0)
    others = form.ships.keys() ^ set(SHIPS)
    refuse(others, "ships", f"must have exactly the keys {', '.join(SHIPS)}")
    ships = tuple([_number(form.ships[ship]) for ship in SHIPS])
    dice = _dice(form.dice, phase, seat)
    holes, known, faces = _holes(form.wormholes)
    cascade = _cascade(form.pending, form.phase, seat, dice, holes)
    result = _result(form.result, form.phase, all_played=turn == rules.max_turns)
    over = turn < rules.max_turns or (result is not None and result[1] == "max-turns")
    refuse(not over, "turn", f"all {rules.max_turns} turns are over, so the game has ended by max-turns")
    _check_ships(ships, phase, cascade)
    lost = mask(map(SHIPS.index, form.lost))
    state = st.State(
        rules, phase, seat, turn, ships, dice, lost, holes, known, faces, cascade, result, st.NOBODY, ()
    )  # fmt: skip
    _set_decision(state)
    return state


def _number(square: list[int]) -> int:
    x, y = square
    return INDEX[x, y]


def _dice(given: dict[str, int], phase: int, seat: int) -> tuple[int, int]:
    own = SHIPS[2 * seat : 2 * seat + 2]
    for ship in given:
        refuse(ship not in own, "dice", f"unknown key {shown(ship)}; the keys are {', '.join(own)}")
    most = {st.TURN: 2, st.JUMP: 1, st.SEND: 1, st.END: 2}.get(phase, 0)
    refuse(len(given) > most, "dice", f"at most {most} can be unused in the phase {st.PHASES[phase]!r}")
    return given.get(own[0], -1), given.get(own[1], -1)


def _holes(wormholes: list[Wormhole]) -> tuple[tuple[int, ...], int, int]:
    """The coin on each square, and the masks of public and flipped coins."""
    holes = list(st.NO_HOLES)
    known = faces = 0
    for i, hole in enumerate(wormholes):
        path, number = f"wormholes[{i}]", _number(hole.at)
        within(f"{path}.value", hole.value, 0, 5)
        coin = 6 * SHIPS.index(hole.suit) + (hole.value or 0)
        flipped = hole.up == "value"
        refuse(HOME[number] >= 0, f"{path}.at", "a base cannot hold a wormhole")
        refuse(holes[number] >= 0, f"{path}.at", f"a second wormhole on {hole.at}")
        refuse(coin in holes, path, f"{hole.suit} {hole.value} is there twice")
        refuse(flipped and not hole.public, f"{path}.up", "a coin that shows its value is public")
        holes[number] = coin
        known |= hole.public << coin
        faces |= flipped << coin
    return tuple(holes), known, faces


def _cascade(
    pending: Pending | None, phase: str, seat: int, dice: tuple[int, int], holes: tuple[int, ...]
) -> st.Cascade | None:
    due = phase in ("jump", "send")
    refuse((pending is not None) != due, "pending", f"must {'not ' * due}be null in the phase {phase!r}")
    if pending is None:
        return None
    after, at = -1, -1
    if then := pending.then:
        after, at = SHIPS.index(then.ship), _number(then.at)
        other = after >> 1 != seat or dice[after & 1] >= 0
        refuse(other, "pending.then.ship", "must be the ship whose die is being used")
        refuse(holes[at] < 0, "pending.then.at", "must hold a wormhole")
    return SHIPS.index(pending.ship), pending.sends, after, at


def _result(result: Result | None, phase: str, *, all_played: bool) -> st.Result | None:
    due = phase == "end"
    refuse((result is not None) != due, "result", f"must {'not ' * due}be null in the phase {phase!r}")
    if result is None:
        return None
    drawn = result.why == "max-turns"
    refuse((result.winner is None) != drawn, "result.winner", f"must {'' if drawn else 'not '}be null")
    refuse(
        drawn and not all_played, "result", "max-turns is a draw, winner null, when max_turns turns are over"
    )
    return -1 if result.winner is None else result.winner, result.why


def _check_ships(ships: tuple[int, ...], phase: int, cascade: st.Cascade | None) -> None:
    """No two ships share a square, but where one is about to be sent, or has won."""
    sent = cascade[0] if phase == st.SEND and cascade else -1
    for ship, number in enumerate(ships):
        path, others = f"ships.{SHIPS[ship]}", [i for i in range(4) if i != ship and ships[i] == number]
        sister = (ship ^ 1) in others
        refuse(sister, path, "shares its square with the other ship of its side")
        alone = ship == sent and not others
        refuse(alone, "pending.ship", f"{SHIPS[ship]} must share its square with the ship that landed on it")
        if others and phase != st.END and sent not in (ship, *others):
            fail(path, f"shares its square with {SHIPS[others[0]]}")


def _set_decision(state: State) -> None:
    """Fill in who acts and what is legal in a state just read, or say why it is no position."""
    s = state
    placed = COUNT - s.holes.count(-1)
    setup = s.phase in (st.OPENING_ROLL, st.ORDER)
    refuse(setup and placed, "wormholes", "there are none before the order is chosen")
    if s.phase in (st.OPENING_ROLL, st.ROLL):
        both = s.phase == st.ROLL and s.lost >> 2 * s.seat & 3 == 3
        refuse(both, "lost", "both ships of the side to move lose this turn, so it does not roll")
        s.actors = st.DICE
    elif s.phase == st.ORDER:
        s.actors, s.legal = st.SEATS[s.seat], tuple(ORDERS.values())
    elif s.phase == st.PLACE:
        owned = sum(1 for coin in s.holes if coin >= 0 and coin // 12 == s.seat)
        turn = placed < COINS and placed - owned - owned in (0, 1)
        text = f"seat {s.seat} has placed {owned}, the other {placed - owned}: it is not its turn"
        refuse(not turn, "wormholes", text)
        s.actors, s.legal = st.SEATS[s.seat], legal.placements(s.holes, s.seat)
    elif s.phase == st.TURN:
        s.actors, s.legal = st.SEATS[s.seat], legal.turn_actions(s.rules, s.seat, s.ships, s.dice)
        refuse(not s.legal, "dice", "none of them can be used, so the turn is over")
    elif s.cascade is not None:
        ship, sends, _, _ = s.cascade
        number = s.ships[ship]
        coin = s.holes[number]
        if s.phase == st.SEND:
            s.actors, s.legal = st.SEATS[1 - (ship >> 1)], legal.send_actions(s.ships, s.holes, sends)
            return
        off = coin < 0 or not s.known >> coin & 1 or coin % 6 == 0
        text = f"{SHIPS[ship]} must stand on a public wormhole that is no black hole"
        refuse(off, "pending.ship", text)
        reach = s.rules.jumps[coin][number]
        s.actors, s.legal = st.SEATS[ship >> 1], legal.jump_actions(reach, number, coin, s.ships[ship ^ 1])
        refuse(not s.legal, "pending.ship", f"{SHIPS[ship]} has no legal jump")
