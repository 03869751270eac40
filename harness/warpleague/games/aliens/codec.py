"""How positions and actions come in from outside: validated, with errors that say where and what would be right.

Leaves the way out to `view`, and what positions mean to `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from warpleague.errors import ActionError, PositionError
from warpleague.games.aliens import actions, rules
from warpleague.games.aliens.board import COINS, COUNT, HOME, INDEX, SHIPS, WAYS
from warpleague.games.aliens.options import Options
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
    Cascade,
    Result,
    State,
    rules_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from warpleague.games.aliens.actions import Action
    from warpleague.games.api import JsonObject

# -- positions -------------------------------------------------------------------------------------------

_KEYS = ("options", "phase", "to_move", "turn", "ships", "dice", "lost", "wormholes", "pending", "result")


def _bad(path: str, text: str) -> NoReturn:
    raise PositionError(f"{path}: {text}")


def _object(data: Any, path: str, keys: Sequence[str]) -> JsonObject:
    if not isinstance(data, dict):
        _bad(path, f"must be an object with {', '.join(keys)}, not {data!r}")
    for key in data:
        if key not in keys:
            _bad(path, f"unknown key {key!r}; the keys are {', '.join(keys)}")
    for key in keys:
        if key not in data:
            _bad(path, f"{key!r} is missing")
    return data


def _number(data: Any, path: str, low: int, high: int) -> int:
    if type(data) is not int or not low <= data <= high:
        _bad(path, f"must be a whole number from {low} to {high}, not {data!r}")
    return data


def _one_of(data: Any, path: str, names: Sequence[str]) -> int:
    """The index of a name."""
    if not isinstance(data, str) or data not in names:
        _bad(path, f"must be one of {', '.join(names)}, not {data!r}")
    return names.index(data)


def _square(data: Any, path: str) -> int:
    number = _square_number(data)
    if number is None:
        _bad(path, f"must be a square [x, y] of the board, not {data!r}")
    return number


def _square_number(data: Any) -> int | None:
    if type(data) is not list or len(data) != 2 or type(data[0]) is not int or type(data[1]) is not int:
        return None
    return INDEX.get((data[0], data[1]))


def state_from_json(data: object) -> State:
    """The position written as `data`; `PositionError` names the place that is wrong."""
    top = _object(data, "position", _KEYS)
    game = rules_for(_read_options(top["options"]))
    phase = _one_of(top["phase"], "phase", PHASES)
    if phase == OPENING_ROLL:
        if top["to_move"] is not None:
            _bad("to_move", "must be null before the opening roll")
        seat = 0
    else:
        seat = _number(top["to_move"], "to_move", 0, 1)
    playing = phase in (ROLL, TURN, JUMP, SEND)
    turn = _number(top["turn"], "turn", 0, game.max_turns - (phase != END) if playing or phase == END else 0)
    ships = _read_ships(top["ships"])
    dice = _read_dice(top["dice"], phase, seat)
    lost = 0
    if not isinstance(top["lost"], list):
        _bad("lost", "must be a list of ships")
    for i, name in enumerate(top["lost"]):
        bit = 1 << _one_of(name, f"lost[{i}]", SHIPS)
        if lost & bit:
            _bad(f"lost[{i}]", f"{name} is named twice")
        lost |= bit
    holes, known, faces = _read_wormholes(top["wormholes"])
    cascade = _read_pending(top["pending"], phase, seat, dice, holes)
    result = _read_result(top["result"], phase, turn == game.max_turns)
    if turn == game.max_turns and (result is None or result[1] != "max-turns"):
        _bad("turn", f"all {game.max_turns} turns are over, so the game has ended by max-turns")
    _check_ships(ships, phase, cascade)
    state = State(
        game, phase, seat, turn, ships, dice, lost, holes, known, faces, cascade, result, NOBODY, ()
    )  # fmt: skip
    _set_decision(state)
    return state


def _read_options(data: Any) -> Options:
    fields = [field.name for field in attrs.fields(Options)]
    try:
        return Options(**_object(data, "options", fields))
    except (TypeError, ValueError) as error:
        # attrs tells name, attribute, allowed and given values; the first argument is the text.
        raise PositionError(f"options: {error.args[0]}") from None


def _read_ships(data: Any) -> tuple[int, ...]:
    table = _object(data, "ships", SHIPS)
    return tuple(_square(table[ship], f"ships.{ship}") for ship in SHIPS)


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


def _read_dice(data: Any, phase: int, seat: int) -> tuple[int, int]:
    own = SHIPS[2 * seat : 2 * seat + 2]
    if not isinstance(data, dict):
        _bad("dice", "must be an object with the unused dice by ship")
    dice = [-1, -1]
    for ship, die in data.items():
        dice[_one_of(ship, "dice", own)] = _number(die, f"dice.{ship}", 0, 5)
    allowed = {TURN: 2, JUMP: 1, SEND: 1, END: 2}.get(phase, 0)
    if len(data) > allowed:
        _bad("dice", f"at most {allowed} can be unused in the phase {PHASES[phase]!r}")
    return dice[0], dice[1]


def _read_wormholes(data: Any) -> tuple[tuple[int, ...], int, int]:
    """The coin on each square, and the masks of public and flipped coins."""
    if not isinstance(data, list):
        _bad("wormholes", "must be a list")
    holes = list(NO_HOLES)
    known = faces = 0
    for i, item in enumerate(data):
        path = f"wormholes[{i}]"
        hole = _object(item, path, ("at", "suit", "value", "public", "up"))
        number = _square(hole["at"], f"{path}.at")
        coin = _one_of(hole["suit"], f"{path}.suit", SHIPS) * 6 + _number(
            hole["value"], f"{path}.value", 0, 5
        )
        if HOME[number] >= 0:
            _bad(f"{path}.at", "a base cannot hold a wormhole")
        if holes[number] >= 0:
            _bad(f"{path}.at", f"a second wormhole on {hole['at']}")
        if coin in holes:
            _bad(path, f"{hole['suit']} {hole['value']} is there twice")
        if type(hole["public"]) is not bool:
            _bad(f"{path}.public", f"must be true or false, not {hole['public']!r}")
        flipped = _one_of(hole["up"], f"{path}.up", ("suit", "value"))
        if flipped and not hole["public"]:
            _bad(f"{path}.up", "a coin that shows its value is public")
        holes[number] = coin
        known |= hole["public"] << coin
        faces |= flipped << coin
    return tuple(holes), known, faces


def _read_pending(
    data: Any, phase: int, seat: int, dice: tuple[int, int], holes: tuple[int, ...]
) -> Cascade | None:
    if phase not in (JUMP, SEND):
        if data is not None:
            _bad("pending", f"must be null in the phase {PHASES[phase]!r}")
        return None
    table = _object(data, "pending", ("ship", "sends", "then"))
    ship = _one_of(table["ship"], "pending.ship", SHIPS)
    sends = _number(table["sends"], "pending.sends", 0, 99)
    if table["then"] is None:
        return ship, sends, -1, -1
    then = _object(table["then"], "pending.then", ("ship", "at"))
    after = _one_of(then["ship"], "pending.then.ship", SHIPS)
    at = _square(then["at"], "pending.then.at")
    if after >> 1 != seat or dice[after & 1] >= 0:
        _bad("pending.then.ship", "must be the ship whose die is being used")
    if holes[at] < 0:
        _bad("pending.then.at", "must hold a wormhole")
    return ship, sends, after, at


def _read_result(data: Any, phase: int, all_played: bool) -> Result | None:
    if phase != END:
        if data is not None:
            _bad("result", f"must be null in the phase {PHASES[phase]!r}")
        return None
    table = _object(data, "result", ("winner", "why"))
    whys = ("base", "max-turns", "retired")
    why = whys[_one_of(table["why"], "result.why", whys)]
    if why == "max-turns":
        if table["winner"] is not None or not all_played:
            _bad("result", "max-turns is a draw, winner null, when max_turns turns are over")
        return -1, why
    return _number(table["winner"], "result.winner", 0, 1), why


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
        s.actors, s.legal = SEATS[s.seat], tuple(actions.ORDERS.values())
    elif s.phase == PLACE:
        owned = sum(1 for coin in s.holes if coin >= 0 and coin // 12 == s.seat)
        if placed >= COINS or placed - owned - owned not in (0, 1):
            _bad(
                "wormholes",
                f"seat {s.seat} has placed {owned}, the other {placed - owned}: it is not its turn",
            )
        s.actors, s.legal = SEATS[s.seat], rules.placements(s.holes, s.seat)
    elif s.phase == TURN:
        s.actors, s.legal = SEATS[s.seat], rules.turn_actions(s.rules, s.seat, s.ships, s.dice)
        if not s.legal:
            _bad("dice", "none of them can be used, so the turn is over")
    elif s.cascade is not None:
        ship, sends, _, _ = s.cascade
        if s.phase == SEND:
            s.actors, s.legal = SEATS[1 - (ship >> 1)], rules.send_actions(s.ships, s.holes, sends)
        else:
            number = s.ships[ship]
            coin = s.holes[number]
            if coin < 0 or not s.known >> coin & 1 or coin % 6 == 0:
                _bad("pending.ship", f"{SHIPS[ship]} must stand on a public wormhole that is no black hole")
            reach = s.rules.jumps[coin][number]
            s.actors, s.legal = SEATS[ship >> 1], rules.jump_actions(reach, number, coin, s.ships[ship ^ 1])
            if not s.legal:
                _bad("pending.ship", f"{SHIPS[ship]} has no legal jump")


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """A state that looks like `view` to `seat`: the values it does not know are dealt anew."""
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
    return state_from_json({key: view[key] for key in _KEYS} | {"wormholes": filled})


# -- actions ---------------------------------------------------------------------------------------------

_FORMS = {
    "order": ("first",),
    "place": ("suit", "value", "at"),
    "move": ("ship", "way"),
    "stay": ("ship",),
    "jump": ("way",),
    "send": ("to",),
    "decline": ("ship",),
}
_EXPECTED = {
    ORDER: ("order",),
    PLACE: ("place",),
    TURN: ("move", "stay", "decline"),
    JUMP: ("jump",),
    SEND: ("send",),
}


def parse(state: State, seat: int, data: object) -> Action:
    """The legal action that `data` names; `ActionError` says why it names none."""
    if state.actors != SEATS[seat]:
        raise ActionError(f"seat {seat} is not to act")
    if not isinstance(data, dict):
        raise ActionError(f"an action is an object, not {_short(data)}")
    expected = _EXPECTED[state.phase]
    do = data.get("do")
    if not isinstance(do, str) or do not in expected:
        raise ActionError(f'"do" must be {_either(expected)} now, not {_short(do)}')
    form = _FORMS[do]
    if data.keys() != {"do", *form}:
        raise ActionError(f'"{do}" has exactly the keys "do", {_listed(form)}; got {_listed(data)}')
    if state.phase == TURN:
        return _parse_use(state, seat, do, data)
    if state.phase == JUMP:
        ways = [action.way for action in state.legal if isinstance(action, actions.Jump)]
        if not isinstance(data["way"], str) or data["way"] not in ways:
            raise ActionError(f'"way" must be {_either(ways)}, not {_short(data["way"])}')
        return actions.JUMPS[WAYS.index(data["way"])]
    if state.phase == SEND:
        return _parse_send(state, data["to"])
    if state.phase == ORDER:
        if not isinstance(data["first"], str) or data["first"] not in actions.ORDERS:
            raise ActionError(f'"first" must be "place" or "move", not {_short(data["first"])}')
        return actions.ORDERS[data["first"]]
    return _parse_place(state, seat, data)


def _parse_use(state: State, seat: int, do: str, data: JsonObject) -> Action:
    own = SHIPS[2 * seat : 2 * seat + 2]
    if not isinstance(data["ship"], str) or data["ship"] not in own:
        raise ActionError(f'"ship" must be {_either(own)}, not {_short(data["ship"])}')
    ship = SHIPS.index(data["ship"])
    die = state.dice[ship & 1]
    if die < 0:
        raise ActionError(f"{data['ship']} has no die to use")
    action: Action
    if do == "stay":
        action = actions.STAYS[ship]
    elif do == "decline":
        action = actions.DECLINES[ship]
    else:
        if not isinstance(data["way"], str) or data["way"] not in WAYS:
            raise ActionError(f'"way" must be {_either(WAYS)}, not {_short(data["way"])}')
        action = actions.MOVES[ship][WAYS.index(data["way"])]
    if action not in state.legal:
        uses = [use for use in state.legal if actions.USES[use][0] == ship]
        ways = [use.way for use in uses if isinstance(use, actions.Move)]
        kinds = dict.fromkeys(type(use).do for use in uses)
        can = f"can {_either(kinds)}" if kinds else "cannot use it now"
        where = f", the ways {', '.join(ways)}" if ways else ""
        raise ActionError(f"{data['ship']} with die {die or 'null'} {can}{where}")
    return action


def _parse_send(state: State, data: object) -> Action:
    number = _square_number(data)
    if number is None:
        raise ActionError(f'"to" must be a square [x, y] of the board, not {_short(data)}')
    if number in state.ships:
        raise ActionError(f'"to" must be a square with no ship on it; there is one on {data}')
    assert state.cascade is not None
    if state.cascade[1] >= rules.SENDS_WITH_HOLES and state.holes[number] >= 0:
        raise ActionError(
            f"after {rules.SENDS_WITH_HOLES} sends of one die no wormhole may be chosen: {data} is one"
        )
    return actions.SENDS[number]


def _parse_place(state: State, seat: int, data: JsonObject) -> Action:
    own = SHIPS[2 * seat : 2 * seat + 2]
    suit, value = data["suit"], data["value"]
    if not isinstance(suit, str) or suit not in own:
        raise ActionError(f'"suit" must be {_either(own)}, not {_short(suit)}')
    hand = [
        coin % 6
        for coin in range(SHIPS.index(suit) * 6, SHIPS.index(suit) * 6 + 6)
        if coin not in state.holes
    ]
    if type(value) is not int or value not in hand:
        raise ActionError(f'"value" must be one of {hand} for {suit}, not {_short(value)}')
    number = _square_number(data["at"])
    if number is None:
        raise ActionError(f'"at" must be a square [x, y] of the board, not {_short(data["at"])}')
    if HOME[number] >= 0 or state.holes[number] >= 0:
        raise ActionError(f'"at" must be a square without base or wormhole; {data["at"]} has one')
    return actions.place(SHIPS.index(suit) * 6 + value, number)


def _either(names: Iterable[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _listed(names: Iterable[object]) -> str:
    return _short(", ".join(f'"{name}"' for name in names), 200, bare=True)


def _short(value: object, limit: int = 60, *, bare: bool = False) -> str:
    """A value from a bot, cut to a length fit for a message."""
    text = str(value) if bare else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
