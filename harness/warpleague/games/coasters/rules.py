"""The rules of coasters: which actions a seat has, what a move does to a position, and who stands where at the end.

`push` carries a move out on the position itself; its caller made the copy. The table and all other parts of a position
are replaced, not changed: a copy shares them. What happened is added to `events`, unless that is None. Everything but
`parse` trusts its caller that a move is legal.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, assert_never

from warpleague.errors import ActionError
from warpleague.games.api import Event, Events, Outcome, Rolled, Weights
from warpleague.games.coasters import events as make
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import (
    ACTIONS,
    AGREE,
    AIMS,
    CENTRE,
    CHOICES,
    CLAIM,
    DIG,
    END,
    FACINGS,
    FIRE,
    HOPS,
    INVOKES,
    NOWHERE,
    REFUSE,
    SPLIT,
    STEP,
    SWAPS,
    SYSTEM_SWAPS,
    TURN_LEFT,
    TURN_RIGHT,
    WARPS,
    Action,
    Agree,
    Aim,
    Choose,
    Claim,
    Deploy,
    Dig,
    End,
    Fire,
    Galaxy,
    Hop,
    Invoke,
    Lay,
    Refuse,
    Say,
    Split,
    Step,
    Swap,
    SwapSystems,
    Systems,
    Turn,
    Warp,
    deploy,
    free_places,
    galaxy,
    lay,
    square_at,
)
from warpleague.games.coasters.state import FLUX, Config, State, Table, copied, fresh_table
from warpleague.games.reading import ActionReader, shown
from warpleague.games.values import members, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# -- legal actions ---------------------------------------------------------------------------------------
#
# The canonical order: lay by place (row by row) and rotation; deploy by square (row by row) and facing; colours
# ascending; in a turn `end`, `fire`, `step`, `turn` left and right, `warp` by colour, `swap` by colour or
# `swap-systems` by pair, `hop`, `aim` (U, R, D, L), `dig`, `invoke` by seat, `claim`. Answers: first the one that
# grants nothing (`refuse`, `split`): so `end`, `refuse` and `split` are what is done for a bot that cannot choose.

Actions = tuple[Action, ...]

_TURNS: Actions = (TURN_LEFT, TURN_RIGHT)
_MOVES: Final = tuple(
    (END, FIRE, *((STEP,) if step else ()), *(_TURNS if turn else ()))
    for turn in (False, True)
    for step in (False, True)
)
"""The start of a turn's list, by 2 x (may turn) + (may step)."""

_ALLY: Actions = (REFUSE, AGREE)
_CLAIM: Actions = (SPLIT, AGREE)
_DIG: Actions = (DIG,)
_CLAIMS: Actions = (CLAIM,)


@lru_cache(maxsize=1024)
def lays(systems: Systems) -> Actions:
    """Every way to lay the next coaster (G3)."""
    return tuple(lay(x, y, rotation) for x, y in free_places(systems) for rotation in range(4))


@lru_cache(maxsize=1024)
def deploys(galaxy: Galaxy, colour: int) -> Actions:
    """Every way to put the ship on its own coaster (G3)."""
    return tuple(
        deploy(*galaxy.xy[square], facing)
        for square in range(9 * colour, 9 * colour + 9)
        for facing in range(4)
    )


@lru_cache(maxsize=1024)
def _invokes(seats: int) -> Actions:
    return tuple(INVOKES[seat] for seat in members(seats))


@lru_cache(maxsize=1024)
def _system_swaps(laid: int) -> Actions:
    return tuple(SYSTEM_SWAPS[pair] for pair in combinations(members(laid), 2))


def legal(state: State, seat: int) -> Actions:
    """Everything `seat` may do now but talk; nothing unless it must act."""
    phase = state.phase
    if phase == st.TURN:
        return _turn_actions(state) if seat == state.seat else ()
    if seat != (state.asked[0] if state.asked else state.seat):
        return ()
    if phase == st.LAY:
        return lays(state.table.systems)
    if phase == st.DEPLOY:
        return deploys(state.table.galaxy, state.colour)
    if phase == st.CHOOSE:
        config = state.table.config
        own = range(seat, config.ships, config.players)
        return tuple([CHOICES[colour] for colour in own if state.ships[colour] >= 0])
    return {st.ALLY: _ALLY, st.CLAIMED: _CLAIM}.get(phase, ())


def warp_systems(state: State) -> int:
    """The warp systems (T4) as a set of colours: own and confirmed homes, and those of seats that are out."""
    table = state.table
    homes = table.config.homes
    return (homes[1 << state.seat | state.agreed] | homes[~table.alive & len(homes) - 1]) & table.galaxy.laid


def _turn_actions(state: State) -> Actions:
    """The actions of a turn (T2 to T7, A2, A3)."""
    table = state.table
    config = table.config
    galaxy = table.galaxy
    occupied = state.occupied
    pose = state.ships[state.colour]
    halves = state.halves
    flux = state.flux
    moves = 0
    actions: Actions = ()
    if halves:
        square = pose >> 2
        # T3: where each half point counts double
        double = config.homes[1 << state.seat | state.agreed]
        if halves > 1 or double >> square // 9 & 1:
            moves = 2
        if flux != st.TIP:
            onward = galaxy.step[pose] >> 2
            if onward >= 0 and not occupied >> onward & 1 and (halves > 1 or double >> onward // 9 & 1):
                moves += 1
            if square % 9 == CENTRE and (systems := warp_systems(state)) >> square // 9 & 1:
                free = [colour for colour in members(systems) if not occupied >> 9 * colour + CENTRE & 1]
                actions = tuple([WARPS[colour] for colour in free])
    actions = _MOVES[moves] + actions
    if not state.fluxed and flux != st.TIP:
        actions += _flux_actions(state)
    if config.talks:
        others = table.alive & ~(1 << state.seat | state.agreed | state.refused)
        if others:
            actions += _invokes(others)
        if not state.claimed and st.NONE in state.ships:
            actions += _CLAIMS
    return actions


def _flux_actions(state: State) -> Actions:
    """The actions that the flux allows now (T6, V2, V3), in the order swap, hop, aim, dig."""
    table = state.table
    config = table.config
    options = config.options
    flux = state.flux
    wild = flux == st.WILD
    if wild and options.wild_shot:  # V3
        return ()
    pose = state.ships[state.colour]
    actions: Actions = ()
    if wild or flux == st.SWAP:
        if options.system_swap:  # V2
            actions = _system_swaps(table.galaxy.laid)
        else:
            players, seat = config.players, state.seat
            actions = tuple(
                [
                    SWAPS[colour]
                    for colour, other in enumerate(state.ships)
                    if other >= 0 and colour % players != seat
                ]
            )
    if wild or flux == st.HOP:
        occupied = state.occupied
        actions += tuple(
            [HOPS[way] for way, target in table.galaxy.hops[pose >> 2] if not occupied >> target & 1]
        )
    if wild or flux == st.AIM:
        actions += AIMS
    if wild or flux == st.DIG:
        onward = table.galaxy.ahead[pose] >> 2
        if onward >= 0 and not state.occupied >> onward & 1:
            actions += _DIG
    return actions


def ask(state: State, seat: int) -> str:
    """One of lay, deploy, colour, turn, ally, claim."""
    return st.PHASES[state.phase]


# -- reading actions -------------------------------------------------------------------------------------

MAX_TEXT: Final = 280
"""A message's length in code points (A1)."""

_READER: Final = ActionReader(ACTIONS)


def parse(state: State, seat: int, data: object) -> Action:
    """The action of `seat` that `data` describes, a message perhaps; `ActionError` if it is none, or not possible."""
    now = legal(state, seat)
    left = st.messages_left(state.table, seat)
    if now and left > 0 and type(data) is dict and data.get("do") == "say":
        message: Say = _READER.read(data, now)
        misfit = to_misfit(message.to, seat, state.table.config.players) or text_misfit(message.text)
        if misfit:
            raise ActionError(f"say: {misfit}")
        return message
    also = ("say",) if left > 0 else ()
    return _READER.parse(data, now, lambda action: _why_not(state, action), also)


def text_misfit(text: str) -> str | None:
    """The error in a message's text (A1), or None."""
    if not 1 <= len(text) <= MAX_TEXT:
        return f"text must have 1 to {MAX_TEXT} code points"
    for character in text:
        kind = unicodedata.category(character)
        if kind in ("Cc", "Cs"):
            what = "control character" if kind == "Cc" else "lone surrogate"
            return f"text must be without the {what} U+{ord(character):04X}"
    return None


def to_misfit(to: Sequence[int], seat: int, players: int) -> str | None:
    """The error in a message's addressees (A1), or None."""
    if not to:
        return "to must be a list of at least one seat"
    if len(set(to)) != len(to) or any(not 0 <= other < players or other == seat for other in to):
        return f"to must name distinct other seats from 0 to {players - 1}, not {shown(list(to))}"
    return None


_FACES: Final[dict[type, int]] = {
    Swap: st.SWAP, SwapSystems: st.SWAP, Hop: st.HOP, Aim: st.AIM, Dig: st.DIG
}  # fmt: skip
"""The face of the flux die that allows an action (T6); WILD allows them all."""


def _why_not(state: State, action: Action) -> str:
    """The reason, with its rule, where there is one to name; else empty."""
    kind = type(action)
    if kind is Say:
        talks = state.table.config.talks
        return (
            f"only {st.MESSAGES_A_TURN} messages a turn (A1)"
            if talks
            else "there is no talk in this game (A)"
        )
    if kind is SwapSystems and action.systems[0] >= action.systems[1]:
        return "name two colours, the smaller first (V2)"
    if state.phase != st.TURN:
        return ""
    if kind in (Step, Warp, Turn):
        return _why_no_move(state, kind)
    if kind in _FACES:
        return _why_no_flux(state, kind)
    if not state.table.config.talks and kind in (Claim, Invoke):
        return "there are no alliances in this game (A)"
    if kind is Claim:
        return "at most once a turn, and once a ship is gone (A3)"
    if kind is Invoke:
        return "only another survivor that has not answered in this turn (A2)"
    return ""


def _why_no_move(state: State, kind: type[Action]) -> str:
    """The reason against a step, a warp or a turn of the ship."""
    board = state.table.galaxy
    pose = state.ships[state.colour]
    double = state.table.config.homes[1 << state.seat | state.agreed]
    if kind is not Turn and state.flux == st.TIP:
        return "after TIP the ship only turns (T6)"
    if kind is Warp:
        if not state.halves:
            return "no movement is left (T4)"
        if (pose >> 2) % 9 != CENTRE:
            return "the ship is not on the centre of a system (T4)"
        return "no warp leads there from here, or the centre is occupied (T4)"
    if kind is Step:
        if not board.arrow(pose):
            return "no arrow leads forward (G2)"
        if reason := _why_not_ahead(state, board.ahead[pose]):
            return reason
    entered = board.step[pose] if kind is Step else pose
    cost = 1 if double >> (entered >> 2) // 9 & 1 else 2
    return f"it costs {cost} halves and {state.halves} are left (T2)"


def _why_no_flux(state: State, kind: type[Action]) -> str:
    """The reason against an action of the flux."""
    options = state.table.config.options
    if kind is SwapSystems and not options.system_swap:
        return "only the option system_swap lets systems change places (V2)"
    if kind is Swap and options.system_swap:
        return "with the option system_swap systems change places, not ships (V2)"
    if state.fluxed:
        return "the flux was used in this turn (T6)"
    if state.flux not in (_FACES[kind], st.WILD):
        return f"the flux is {st.FLUX[state.flux]} (T6)"
    if state.flux == st.WILD and options.wild_shot:
        return "WILD makes the shot wild and gives no flux action (V3)"
    if kind is Dig:
        return _why_not_ahead(state, state.table.galaxy.ahead[state.ships[state.colour]])
    if kind is Hop:
        return "no empty square lies there (T6)"
    return "only with a ship of another seat (T6)" if kind is Swap else "no such system is laid (V2)"


def _why_not_ahead(state: State, onward: int) -> str:
    """The reason against the square ahead; empty if there is none."""
    if onward < 0:
        return "no square lies ahead (T5)"
    if state.occupied >> (onward >> 2) & 1:
        return "the square ahead is occupied (S1)"
    return ""


# -- moves -----------------------------------------------------------------------------------------------

_DICE: Final = (6, 6)


def chance(state: State) -> tuple[Weights, ...]:
    """C1: the d6, then the flux die."""
    return _DICE


def address(state: State) -> str:
    """C3: a seat's turn of a round."""
    return f"seat {state.seat} round {state.table.round}"


def push(state: State, move: Action | Rolled, events: Events) -> State:
    """Play `move` on `state`."""
    _PUSH[type(move)](state, move, events)
    return state


def retire(state: State, seat: int) -> tuple[State, list[Event]]:
    """E5: the bot of `seat` is out: its ships leave, its coasters stay, its turn and its word end."""
    new = copied(state)
    new.table = table = fresh_table(state.table)
    ships, hits = list(state.ships), list(table.hits)
    for own in range(seat, table.config.ships, table.config.players):
        if ships[own] >= 0:
            new.occupied ^= 1 << (ships[own] >> 2)
        ships[own], hits[own] = st.NONE, 0
    new.ships, table.hits = tuple(ships), tuple(hits)
    table.alive &= ~(1 << seat)
    table.eliminated = tuple(other for other in table.eliminated if other != seat)
    table.retired = (*table.retired, seat)
    events = [Event({"event": "retired", "seat": seat})]
    _go_on_without(new, seat, events)
    return new, events


def _go_on_without(state: State, seat: int, events: Events) -> None:
    """The next step once `seat` is out."""
    phase, alive = state.phase, state.table.alive
    if phase != st.OVER and not alive & alive - 1:
        _over(state, st.LAST_SHIP, events)
    elif phase != st.OVER and seat == state.seat:
        follow = {st.LAY: _next_lay, st.DEPLOY: _next_deploy}.get(phase, _next_turn)
        follow(state, events)
    else:
        state.agreed &= ~(1 << seat)
        state.refused &= ~(1 << seat)
        if phase == st.ALLY and state.asked == (seat,):
            state.phase, state.asked = st.TURN, ()
        elif phase == st.CLAIMED and seat in state.asked:
            _without_answer(state, seat, events)


def _roll(state: State, rolled: Rolled, events: Events) -> None:
    """T1: the d6 counts two halves a pip."""
    d6, flux = rolled[0] + 1, rolled[1]
    state.phase, state.d6, state.flux, state.halves = st.TURN, d6, flux, 2 * d6
    if events is not None:
        events.append(make.rolled[state.seat, state.colour, d6, FLUX[flux]])


def _lay(state: State, action: Lay, events: Events) -> None:
    colour = state.colour
    state.table = table = fresh_table(state.table)
    table.systems = replaced(table.systems, colour, (*action.at, action.rotation))
    if events is not None:
        events.append(make.of_ship(state, "laid", at=list(action.at), rotation=action.rotation))
    _next_lay(state, events)


def _deploy(state: State, action: Deploy, events: Events) -> None:
    square = square_at(state.table.systems, *action.at)
    state.ships = replaced(state.ships, state.colour, 4 * square + FACINGS.index(action.facing))
    state.occupied |= 1 << square
    if events is not None:
        events.append(make.of_ship(state, "deployed", at=list(action.at), facing=action.facing))
    _next_deploy(state, events)


def _choose(state: State, action: Choose, events: Events) -> None:
    state.phase, state.colour = st.ROLL, action.colour
    if events is not None:
        events.append(make.of_ship(state, "chose"))


# -- movement and flux -----------------------------------------------------------------------------------


def _step(state: State, _: Step, events: Events) -> None:
    """T2: forward, 1 half into a double-movement system, else 2."""
    galaxy = state.table.galaxy
    pose = galaxy.step[state.ships[state.colour]]
    state.halves -= _cost(state, pose >> 2)
    _put(state, pose)
    if events is not None:
        events.append(make.of_ship(state, "stepped", to=list(galaxy.xy[pose >> 2]), halves=state.halves))


def _cost(state: State, square: int) -> int:
    """T2, T3: the halves that entering `square`, or turning on it, costs."""
    return 1 if state.table.config.homes[1 << state.seat | state.agreed] >> square // 9 & 1 else 2


def _turn(state: State, action: Turn, events: Events) -> None:
    """T2: 90 degrees, 1 half in a double-movement system, else 2."""
    old = state.ships[state.colour]
    facing = old + (1 if action.way == "right" else 3) & 3
    state.halves -= _cost(state, old >> 2)
    state.ships = replaced(state.ships, state.colour, old & ~3 | facing)
    if events is not None:
        events.append(make.of_ship(state, "turned", facing=FACINGS[facing], halves=state.halves))


def _warp(state: State, action: Warp, events: Events) -> None:
    """T4: from centre to centre, always 1 half."""
    square = 9 * action.to + CENTRE
    state.halves -= 1
    _put(state, 4 * square + (state.ships[state.colour] & 3))
    if events is not None:
        xy = list(state.table.galaxy.xy[square])
        events.append(make.of_ship(state, "warped", home=action.to, to=xy, halves=state.halves))


def _swap(state: State, action: Any, events: Events) -> None:
    """T6: the two ships change places, each keeps its facing."""
    mine, other = state.colour, getattr(action, "with")
    ships = list(state.ships)
    a, b = ships[mine], ships[other]
    ships[mine], ships[other] = b & ~3 | a & 3, a & ~3 | b & 3
    state.ships, state.fluxed = tuple(ships), True
    if events is not None:
        xy = state.table.galaxy.xy
        places = {"to": list(xy[b >> 2]), "from": list(xy[a >> 2])}
        events.append(make.of_ship(state, "swapped", **{"with": other, **places}))


def _swap_systems(state: State, action: SwapSystems, events: Events) -> None:
    """V2: two coasters change places, rotations kept; ships keep their squares, which move along."""
    a, b = action.systems
    state.table = table = fresh_table(state.table)
    systems = list(table.systems)
    one, two = systems[a], systems[b]
    if one is not None and two is not None:
        systems[a], systems[b] = (*two[:2], one[2]), (*one[:2], two[2])
    table.systems = tuple(systems)
    table.galaxy = galaxy(table.systems)
    state.fluxed = True
    if events is not None:
        events.append(Event({"event": "systems-swapped", "seat": state.seat, "systems": [a, b]}))


def _hop(state: State, action: Hop, events: Events) -> None:
    """T6: to a neighbouring square, facing kept."""
    old = state.ships[state.colour]
    way = FACINGS.index(action.way)
    _fly(state, state.table.galaxy.ahead[old & ~3 | way] & ~3 | old & 3, "hopped", events)


def _dig(state: State, _: Dig, events: Events) -> None:
    """T6: forward, whatever the arrows."""
    _fly(state, state.table.galaxy.ahead[state.ships[state.colour]], "dug", events)


def _fly(state: State, pose: int, kind: str, events: Events) -> None:
    _put(state, pose)
    state.fluxed = True
    if events is not None:
        events.append(make.of_ship(state, kind, to=list(state.table.galaxy.xy[pose >> 2])))


def _put(state: State, pose: int) -> None:
    """The ship whose turn it is comes to an empty square."""
    state.occupied = state.occupied ^ 1 << (state.ships[state.colour] >> 2) | 1 << (pose >> 2)
    state.ships = replaced(state.ships, state.colour, pose)


def _aim(state: State, action: Aim, events: Events) -> None:
    """T6: any facing."""
    pose = state.ships[state.colour] & ~3 | FACINGS.index(action.facing)
    state.ships, state.fluxed = replaced(state.ships, state.colour, pose), True
    if events is not None:
        events.append(make.of_ship(state, "aimed", facing=action.facing))


# -- the end of a turn -----------------------------------------------------------------------------------


def _end(state: State, _: End, events: Events) -> None:
    if events is not None:
        events.append(make.ended[(state.seat,)])
    _next_turn(state, events)


def torpedo(state: State) -> tuple[tuple[int, ...], str, int]:
    """The way of a torpedo that the ship of the turn fires now: its squares, how it ends, the colour hit, or -1.

    The first ship on its way is hit (T7, V3).
    """
    table = state.table
    pose = state.ships[state.colour]
    wild = state.flux == st.WILD and table.config.options.wild_shot
    mask, squares, how = table.galaxy.wild_line(pose) if wild else table.galaxy.line(pose)
    if not mask & state.occupied:
        return squares, how, NOWHERE
    met = [state.occupied >> square & 1 for square in squares].index(1)
    target = [other >> 2 for other in state.ships].index(squares[met])
    return squares[: met + 1], "hit", target


def _fire(state: State, _: Fire, events: Events) -> None:
    """T7: the torpedo goes its way, perhaps into a ship, and the turn ends."""
    squares, how, target = torpedo(state)
    table = state.table
    if events is not None:
        xy = table.galaxy.xy
        wild = state.flux == st.WILD and table.config.options.wild_shot
        hit = {"hit": target, "hits_left": table.hits[target] - 1} if target >= 0 else {}
        path = [list(xy[square]) for square in squares]
        events.append(make.of_ship(state, "fired", wild=wild, path=path, how=how, **hit))
    if target >= 0:
        left = table.hits[target] - 1
        state.table = table = fresh_table(table)
        table.hits = replaced(table.hits, target, left)
        if not left:
            _destroy(state, target, events)
    _next_turn(state, events)


def _destroy(state: State, target: int, events: Events) -> None:
    """The ship `target` is no more, and perhaps its seat (S1, E4); the table is a copy already."""
    table, ships = state.table, state.ships
    state.occupied ^= 1 << (ships[target] >> 2)
    state.ships = ships = replaced(ships, target, st.NONE)
    players = table.config.players
    seat = target % players
    if events is not None:
        events.append(Event({"event": "destroyed", "seat": seat, "colour": target}))
    if all(ships[own] < 0 for own in range(seat, table.config.ships, players)):
        if events is not None:
            events.append(Event({"event": "eliminated", "seat": seat}))
        table.alive &= ~(1 << seat)
        table.eliminated = (*table.eliminated, seat)


# -- alliances, talk and claims --------------------------------------------------------------------------


def _invoke(state: State, action: Invoke, events: Events) -> None:
    """A2: the other seat is asked at once."""
    state.phase, state.asked = st.ALLY, (action.ally,)
    if events is not None:
        events.append(Event({"event": "invoked", "seat": state.seat, "ally": action.ally}))


def _claim(state: State, _: Claim, events: Events) -> None:
    """A3: the other survivors are asked, from the seat after the claimant."""
    players, alive = state.table.config.players, state.table.alive
    after_me = ((state.seat + step) % players for step in range(1, players))
    state.phase, state.claimed = st.CLAIMED, True
    state.asked = tuple([seat for seat in after_me if alive >> seat & 1])
    if events is not None:
        events.append(Event({"event": "claimed", "seat": state.seat}))


def _agree(state: State, _: Agree, events: Events) -> None:
    """A2, A3: the asked seat gives its word, or agrees to share the victory."""
    asked = state.asked[0]
    if events is not None:
        events.append(Event({"event": "answered", "seat": asked, "answer": "agree"}))
    if state.phase == st.ALLY:
        state.phase, state.asked = st.TURN, ()
        state.agreed |= 1 << asked
    else:
        _without_answer(state, asked, events)


def _without_answer(state: State, seat: int, events: Events) -> None:
    """A3: `seat` need not answer any more; when nobody need, all have agreed, and the game ends."""
    state.asked = tuple([other for other in state.asked if other != seat])
    if not state.asked:
        _over(state, st.CLAIM_CONFIRMED, events)


def _refuse(state: State, _: Refuse, events: Events) -> None:
    """A2: the asked seat does not confirm; it is not asked again in this turn."""
    asked = state.asked[0]
    state.phase, state.asked = st.TURN, ()
    state.refused |= 1 << asked
    if events is not None:
        events.append(Event({"event": "answered", "seat": asked, "answer": "refuse"}))


def _split(state: State, _: Split, events: Events) -> None:
    """A3: nobody further is asked."""
    if events is not None:
        events.append(Event({"event": "answered", "seat": state.asked[0], "answer": "split"}))
    state.phase, state.asked = st.TURN, ()


def _say(state: State, action: Say, events: Events) -> None:
    """A1: only the addressed seats get it; the others do not even learn of it. It binds nobody (A4)."""
    seat = state.asked[0] if state.asked else state.seat
    state.table = table = fresh_table(state.table)
    table.messages = (*table.messages, st.Message(table.turn, seat, action.to, action.text))
    if events is not None:
        message = {"event": "said", "seat": seat, "to": list(action.to), "text": action.text}
        events.append(Event(message, (seat, *action.to)))


_PUSH: Final[dict[type, Callable[[State, Any, Events], None]]] = {
    tuple: _roll,
    Lay: _lay,
    Deploy: _deploy,
    Choose: _choose,
    Step: _step,
    Turn: _turn,
    Warp: _warp,
    Swap: _swap,
    SwapSystems: _swap_systems,
    Hop: _hop,
    Aim: _aim,
    Dig: _dig,
    Invoke: _invoke,
    Claim: _claim,
    Agree: _agree,
    Refuse: _refuse,
    Split: _split,
    Say: _say,
    Fire: _fire,
    End: _end,
}


# -- who comes next --------------------------------------------------------------------------------------


def _next_colour(table: Table, colour: int) -> int:
    """The first colour after `colour` in id order whose seat is in the game, -1 if there is none."""
    config = table.config
    return next(
        (later for later in range(colour + 1, config.ships) if table.alive >> later % config.players & 1),
        st.NONE,
    )


def _next_lay(state: State, events: Events) -> None:
    """The set-up goes on after a coaster was laid, or its seat is out (G3, V1: all first colours first)."""
    state.table = _next_turn_number(state.table)
    later = _next_colour(state.table, state.colour)
    if later >= 0:
        _go(state, st.LAY, later % state.table.config.players, later)
        return
    state.table.galaxy = galaxy(state.table.systems)
    state.colour = st.NONE
    _next_deploy(state, events)


def _next_deploy(state: State, events: Events) -> None:
    """The set-up goes on after a ship was put down, or its seat is out; colour -1: all coasters lie."""
    later = _next_colour(state.table, state.colour)
    if later < 0:
        alive = state.table.alive
        _begin(state, (alive & -alive).bit_length() - 1, state.table.round, events)
        return
    if state.colour >= 0:
        state.table = _next_turn_number(state.table)
    _go(state, st.DEPLOY, later % state.table.config.players, later)


def _next_turn(state: State, events: Events) -> None:
    """The turn of `state.seat` is over: the next survivor's begins, or the game ends (E1, E3)."""
    table = state.table
    alive = table.alive
    if not alive & alive - 1:
        _over(state, st.LAST_SHIP, events)
        return
    later = alive >> state.seat + 1 << state.seat + 1
    rounds = table.round
    if not later:
        rounds += 1
        if rounds > table.config.options.max_rounds:
            _over(state, st.MAX_ROUNDS, events)
            return
        later = alive
    _begin(state, (later & -later).bit_length() - 1, rounds, events)


def _next_turn_number(table: Table) -> Table:
    """The table at the next turn or set-up decision: messages older than one round are forgotten."""
    table = fresh_table(table)
    table.turn += 1
    if table.messages:
        oldest = table.turn - table.config.players
        table.messages = tuple(message for message in table.messages if message.turn >= oldest)
    return table


def next_of(config: Config, last: int, ships: Sequence[int], seat: int) -> int:
    """The colour that `seat` uses after `last`: the first living one after it, in id order (V1)."""
    own = range(seat, config.ships, config.players)
    return min((colour for colour in own if ships[colour] >= 0), key=lambda colour: (colour <= last, colour))


def _go(state: State, phase: int, seat: int, colour: int) -> None:
    """Another decision comes; what belongs to a turn is put back."""
    state.phase, state.seat, state.colour = phase, seat, colour
    state.d6, state.flux, state.halves, state.fluxed = 0, st.NONE, 0, False
    state.agreed, state.refused, state.claimed, state.asked = 0, 0, False, ()


def _begin(state: State, seat: int, rounds: int, events: Events) -> None:
    """The turn of `seat` begins: the dice are rolled, or the colour chosen first (V1)."""
    state.table = table = _next_turn_number(state.table)
    config, last = table.config, table.last
    colour = st.NONE
    if not config.options.free_colour:
        colour = seat if config.ships == config.players else next_of(config, last[seat], state.ships, seat)
        if last[seat] != colour:
            table.last = replaced(last, seat, colour)
    table.round = rounds
    _go(state, st.CHOOSE if colour < 0 else st.ROLL, seat, colour)
    if events is not None:
        events.append(make.turn[seat, rounds, table.turn])


def _over(state: State, why: st.Why, events: Events) -> None:
    """The game has ended: the survivors share the first place (E1 to E3)."""
    state.table = table = fresh_table(state.table)
    table.hits = tuple([hit if pose >= 0 else 0 for hit, pose in zip(table.hits, state.ships, strict=True)])
    table.why = why
    _go(state, st.OVER, st.NONE, st.NONE)
    if events is not None:
        events.append(Event({"event": "over", "why": why, "winners": members(table.alive)}))


def outcome(state: State) -> Outcome:
    """Survivors first, then the eliminated from the last to the first, then the retired likewise (E4, E5)."""
    table = state.table
    assert table.why is not None, "the game is over"
    winners = members(table.alive)
    ranks = [1] * table.config.players
    for behind, seat in enumerate((*reversed(table.eliminated), *reversed(table.retired))):
        ranks[seat] = len(winners) + behind + 1
    share = 1 / max(1, len(winners))
    scores = tuple(share if rank == 1 and table.alive >> seat & 1 else 0.0 for seat, rank in enumerate(ranks))
    return Outcome(tuple(ranks), scores, {_rule(table.why): scores}, table.why)


def _rule(why: st.Why) -> str:
    match why:
        case "last-ship":
            return "E1 last ship"
        case "claim":
            return "E2 claim confirmed"
        case "max-rounds":
            return "E3 last round played"
        case _:
            assert_never(why)
