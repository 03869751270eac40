"""Positions of aliens as JSON, read and written, what is wrong with a hand-made one, and what each seat sees."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import attrs

from warpleague.games.aliens import rules as legal
from warpleague.games.aliens import state as st
from warpleague.games.aliens.geometry import (
    AXES,
    COINS,
    HOME,
    INDEX,
    ORDERS,
    SHIPS,
    SQUARES,
    STARTS,
    STEPS,
    WAYS,
    Ship,
    Way,
)
from warpleague.games.aliens.state import Options, Rules, State
from warpleague.games.reading import Misfit, Whole, by_hand, distinct, read, refuse, shown, within
from warpleague.games.values import Cache, decoded, encoded, mask, template

if TYPE_CHECKING:
    from random import Random

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


# -- writing ---------------------------------------------------------------------------------------------

_SHIPS: Final = b'"ships":{"suns":%b,"moons":%b,"crowns":%b,"arms":%b}'
_POSITION: Final = template(Position).replace(b'"ships":%b', _SHIPS).removesuffix(b"}") + b"%b}"
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
    more, result = b"", b"null"
    if seat is not None:
        actor = s.actors[0] if s.actors else -1
        more = b',"seat":%d,"actor":%b,"hand":%b' % (seat, _SEATS[actor], hands[seat])
    if s.result is not None:
        winner, why = s.result
        result = b'{"winner":%b,"why":"%b"}' % (_SEATS[winner], why.encode())
    return _POSITION % (
        _OPTIONS[s.rules], _PHASES[s.phase], _SEATS[-1 if s.phase == st.OPENING_ROLL else s.seat], s.turn,
        _SQUARES[suns], _SQUARES[moons], _SQUARES[crowns], _SQUARES[arms], _DICE[s.seat, s.dice],
        _LOST[s.lost], wormholes, _PENDING[s.cascade], result, more,
    )  # fmt: skip


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(position_json(state, None))
    return data


# -- reading ---------------------------------------------------------------------------------------------


def state_of(data: JsonObject) -> State:
    """The state that a position describes, or a view with the values of all wormholes; all of it fits."""
    phase, seat = st.PHASES.index(data["phase"]), data["to_move"] or 0
    pending, result = data["pending"], data["result"]
    holes, known, faces = list(st.NO_HOLES), 0, 0
    for hole in data["wormholes"]:
        coin = 6 * SHIPS.index(hole["suit"]) + hole["value"]
        holes[_number(hole["at"])] = coin
        known |= hole["public"] << coin
        faces |= (hole["up"] == "value") << coin
    cascade = None
    if pending is not None:
        then = pending["then"]
        after = (SHIPS.index(then["ship"]), _number(then["at"])) if then else (-1, -1)
        cascade = SHIPS.index(pending["ship"]), pending["sends"], *after
    one, two = (data["dice"].get(ship, -1) for ship in SHIPS[2 * seat : 2 * seat + 2])
    state = st.State(
        st.rules_for(Options(**data["options"])), phase, seat, data["turn"],
        tuple([_number(data["ships"][ship]) for ship in SHIPS]), (one, two),
        mask(map(SHIPS.index, data["lost"])), tuple(holes), known, faces, cascade,
        result and (-1 if result["winner"] is None else result["winner"], result["why"]), st.NOBODY, (),
    )  # fmt: skip
    _decide(state)
    return state


def _number(square: list[int]) -> int:
    x, y = square
    return INDEX[x, y]


def _decide(s: State) -> None:
    """Fill in who acts, and what is legal."""
    seat = s.seat
    if s.phase in (st.OPENING_ROLL, st.ROLL):
        s.actors = st.DICE
    elif s.phase == st.ORDER:
        s.actors, s.legal = st.SEATS[seat], tuple(ORDERS.values())
    elif s.phase == st.PLACE:
        s.actors, s.legal = st.SEATS[seat], legal.placements(s.holes, seat)
    elif s.phase == st.TURN:
        s.actors, s.legal = st.SEATS[seat], legal.turn_actions(s.rules, seat, s.ships, s.dice)
    elif s.cascade is not None:
        ship, sends, _, _ = s.cascade
        number, owner = s.ships[ship], ship >> 1
        coin = s.holes[number]
        if s.phase == st.SEND:
            s.actors, s.legal = st.SEATS[1 - owner], legal.send_actions(s.ships, s.holes, sends)
        else:
            reach, sister = s.rules.jumps[coin][number], s.ships[ship ^ 1]
            s.actors, s.legal = st.SEATS[owner], legal.jump_actions(reach, number, coin, sister)


def from_json(data: Any) -> State:
    """The position written as `data`; `PositionError` names the place that is wrong."""
    form = read(Position, data)
    options = read(Options, attrs.asdict(form.options), "options")
    own = SHIPS[2 * (form.to_move or 0) :][:2]
    _check_turn(form, options.max_turns, own)
    _check_ships(form)
    _check_pending(form, own, _check_wormholes(form, own))
    state = state_of({**data, "options": attrs.asdict(options)})
    stuck = state.phase == st.TURN and not state.legal
    refuse(stuck, "dice", "none of them can be used, so the turn is over")
    stuck = state.phase == st.JUMP and not state.legal
    refuse(stuck, "pending.ship", "has no legal jump")
    return state


def _check_turn(form: Position, most: int, own: tuple[str, ...]) -> None:
    phase, turn, result = form.phase, form.turn, form.result
    ended, first = phase == "end", phase == "opening-roll"
    refuse((form.to_move is None) != first, "to_move", "must be null before the opening roll, then a seat")
    playing = st.PHASES.index(phase) >= st.ROLL
    within("turn", turn, 0, most - (not ended) if playing else 0)
    for ship in form.dice:
        refuse(ship not in own, "dice", f"unknown key {shown(ship)}; the keys are {', '.join(own)}")
    unused = {"turn": 2, "jump": 1, "send": 1, "end": 2}.get(phase, 0)
    refuse(len(form.dice) > unused, "dice", f"at most {unused} can be unused in the phase {phase!r}")
    none = phase == "roll" and set(own) <= {*form.lost}
    refuse(none, "lost", "both ships of the side to move lose this turn, so it does not roll")
    refuse((result is None) == ended, "result", f"must {'not ' * ended}be null in the phase {phase!r}")
    drawn = result is not None and result.why == "max-turns"
    winner = result is not None and result.winner is not None
    refuse(ended and winner == drawn, "result.winner", f"must {'not ' * (not drawn)}be null")
    refuse(drawn and turn < most, "result", "max-turns is a draw when max_turns turns are over")
    refuse(turn == most and not drawn, "turn", f"all {most} turns are over, so the game ended by max-turns")


def _check_ships(form: Position) -> None:
    """No two ships share a square, but where one is about to be sent, or has won."""
    refuse(form.ships.keys() ^ set(SHIPS), "ships", f"must have exactly the keys {', '.join(SHIPS)}")
    sent = form.pending.ship if form.phase == "send" and form.pending else None
    for i, ship in enumerate(SHIPS):
        others = [other for other in SHIPS if other != ship and form.ships[other] == form.ships[ship]]
        path, sister = f"ships.{ship}", SHIPS[i ^ 1]
        refuse(sister in others, path, "shares its square with the other ship of its side")
        alone = ship == sent and not others
        refuse(alone, "pending.ship", f"{ship} must share its square with the ship that landed on it")
        wrong = others and form.phase != "end" and sent not in (ship, *others)
        refuse(wrong, path, f"shares its square with {' and '.join(others)}")


def _check_wormholes(form: Position, own: tuple[str, ...]) -> dict[int, Wormhole]:
    """The wormholes by the numbers of their squares."""
    holes: dict[int, Wormhole] = {}
    coins = set()
    for i, hole in enumerate(form.wormholes):
        path, number, coin = f"wormholes[{i}]", _number(hole.at), (hole.suit, hole.value)
        within(f"{path}.value", hole.value, 0, 5)
        refuse(HOME[number] >= 0, f"{path}.at", "a base cannot hold a wormhole")
        refuse(number in holes, f"{path}.at", f"a second wormhole on {hole.at}")
        refuse(coin in coins, path, f"{hole.suit} {hole.value} is there twice")
        flipped = hole.up == "value" and not hole.public
        refuse(flipped, f"{path}.up", "a coin that shows its value is public")
        holes[number] = hole
        coins.add(coin)
    early = holes and form.phase in ("opening-roll", "order")
    refuse(early, "wormholes", "there are none before the order is chosen")
    placed = sum(hole.suit in own for hole in form.wormholes)
    others = len(holes) - placed
    turn = len(holes) < COINS and others - placed in (0, 1)
    text = f"seat {form.to_move} has placed {placed}, the other {others}: it is not its turn"
    refuse(form.phase == "place" and not turn, "wormholes", text)
    return holes


def _check_pending(form: Position, own: tuple[str, ...], holes: dict[int, Wormhole]) -> None:
    pending, phase = form.pending, form.phase
    due = phase in ("jump", "send")
    refuse((pending is None) == due, "pending", f"must {'not ' * due}be null in the phase {phase!r}")
    if pending is None:
        return
    if then := pending.then:
        wrong = then.ship not in own or then.ship in form.dice
        refuse(wrong, "pending.then.ship", "must be the ship whose die is being used")
        refuse(_number(then.at) not in holes, "pending.then.at", "must hold a wormhole")
    under = holes.get(_number(form.ships[pending.ship]))
    off = phase == "jump" and not (under and under.public and under.value)
    text = f"{pending.ship} must stand on a public wormhole that is no black hole"
    refuse(off, "pending.ship", text)


# -- view ------------------------------------------------------------------------------------------------
# The view of a seat in aliens, and positions drawn to fit a view.


@attrs.frozen(kw_only=True)
class View(Position):
    """All that a seat knows of a position; all of it is public but the values of coins never activated."""

    seat: int
    """Whose view this is."""
    actor: int | None
    """The seat that must act; None: the dice are rolled, or the game is over."""
    hand: dict[str, list[int]]
    """The values of this seat's own coins that are not on the board, by suit."""


@attrs.frozen
class Setup:
    """The fixed part: the same in every game, but for the option `diagonals`."""

    squares: list[list[int]]
    """Every square [x, y], by y, then x: the order of legal actions and of wormholes."""
    bases: list[list[list[int]]]
    """For each seat, its two bases."""
    ships: dict[str, int]
    """The seat of each ship (and suit)."""
    axes: dict[str, list[Way]]
    """For each suit, the two ways its wormholes lead."""
    ways: dict[str, list[int]]
    """For each way, what a step adds to x and y."""


def setup(state: State) -> JsonObject:
    """The start message's facts, as described by `Setup`."""
    return _setup(state.rules)


@cache
def _setup(rules: Rules) -> JsonObject:
    axes = AXES[rules.options.diagonals]
    return {
        "squares": [list(square) for square in SQUARES],
        "bases": [[list(SQUARES[number]) for number in STARTS if HOME[number] == seat] for seat in (0, 1)],
        "ships": {ship: number >> 1 for number, ship in enumerate(SHIPS)},
        "axes": {suit: [WAYS[way] for way in axes[number]] for number, suit in enumerate(SHIPS)},
        "ways": {way: list(step) for way, step in zip(WAYS, STEPS, strict=True)},
    }


def view(state: State, seat: int) -> JsonObject:
    """The view of `seat`, as `View` describes it."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: State, seat: int) -> bytes:
    """The same in its bytes."""
    return position_json(state, seat)


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """A position that looks like `view` to `seat`: the values it does not know are dealt anew."""
    holes = view["wormholes"]
    unknown: dict[str, list[int]] = {}
    for suit in SHIPS[2 - 2 * seat : 4 - 2 * seat]:
        values = set(range(6)) - {hole["value"] for hole in holes if hole["suit"] == suit}
        unknown[suit] = sorted(values)
        rng.shuffle(unknown[suit])
    filled = [
        hole if hole["value"] is not None else {**hole, "value": unknown[hole["suit"]].pop()}
        for hole in holes
    ]
    return state_of({**view, "wormholes": filled})
