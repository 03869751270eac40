"""Which actions a seat has in coasters, in the canonical order, and why another is not possible.

The order: lay by place (row by row) and rotation; deploy by square (row by row) and facing; colours ascending; in
a turn `end`, `fire`, `step`, `turn` left and right, `warp` by colour, `swap` by colour or `swap-systems` by pair,
`hop`, `aim` (U, R, D, L), `dig`, `invoke` by seat, `claim`. Answers: first the one that grants nothing (`refuse`,
`split`), so that `end`, `refuse` and `split` are what is done for a bot that cannot choose.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

from warpleague.errors import ActionError
from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, Galaxy, Systems, free_places
from warpleague.games.reading import ActionReader, shown
from warpleague.games.values import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.coasters.state import State

Actions = tuple[act.Action, ...]

_TURNS: Actions = (act.TURN_LEFT, act.TURN_RIGHT)
_MOVES: Final = tuple(
    (act.END, act.FIRE, *((act.STEP,) if step else ()), *(_TURNS if turn else ()))
    for turn in (False, True)
    for step in (False, True)
)
"""The start of a turn's list, by 2 x (may turn) + (may step)."""

_ALLY: Actions = (act.REFUSE, act.AGREE)
_CLAIM: Actions = (act.SPLIT, act.AGREE)
_DIG: Actions = (act.DIG,)
_CLAIMS: Actions = (act.CLAIM,)


@lru_cache(maxsize=1024)
def lays(systems: Systems) -> Actions:
    """Every way to lay the next coaster (G3)."""
    return tuple(act.lay(x, y, rotation) for x, y in free_places(systems) for rotation in range(4))


@lru_cache(maxsize=1024)
def deploys(galaxy: Galaxy, colour: int) -> Actions:
    """Every way to put the ship on its own coaster (G3)."""
    return tuple(
        act.deploy(*galaxy.xy[square], facing)
        for square in range(9 * colour, 9 * colour + 9)
        for facing in range(4)
    )


@lru_cache(maxsize=1024)
def _invokes(seats: int) -> Actions:
    return tuple(act.INVOKES[seat] for seat in members(seats))


@lru_cache(maxsize=1024)
def _system_swaps(laid: int) -> Actions:
    return tuple(act.SYSTEM_SWAPS[pair] for pair in combinations(members(laid), 2))


def legal(state: State, seat: int) -> Actions:
    """Everything `seat` may do now but talk; nothing unless it must act."""
    phase = state.phase
    if seat != (state.asked[0] if state.asked else state.seat):
        return ()
    if phase == st.TURN:
        return turn_actions(state)
    if phase == st.LAY:
        return lays(state.table.systems)
    if phase == st.DEPLOY:
        return deploys(state.table.galaxy, state.colour)
    if phase == st.CHOOSE:
        config = state.table.config
        own = range(seat, config.ships, config.players)
        return tuple(act.CHOICES[colour] for colour in own if state.ships[colour] >= 0)
    return {st.ALLY: _ALLY, st.CLAIMED: _CLAIM}.get(phase, ())


def warp_systems(state: State) -> int:
    """The warp systems (T4) as a set of colours: own and confirmed homes, and those of seats that are out."""
    table = state.table
    homes = table.config.homes
    return (homes[1 << state.seat | state.agreed] | homes[~table.alive & len(homes) - 1]) & table.galaxy.laid


def turn_actions(state: State) -> Actions:
    """The actions of a turn (T2 to T7, A2, A3)."""
    table = state.table
    config = table.config
    galaxy = table.galaxy
    occupied = state.occupied
    pose = state.ships[state.colour]
    halves = state.halves
    flux = state.flux
    moves = 0
    warps: Actions = ()
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
                warps = tuple(
                    act.WARPS[colour]
                    for colour in range(config.ships)
                    if systems >> colour & 1 and not occupied >> 9 * colour + CENTRE & 1
                )
    actions: Actions = _MOVES[moves] + warps
    if not state.fluxed and flux != st.TIP:
        actions += flux_actions(state)
    if config.talks:
        others = table.alive & ~(1 << state.seat | state.agreed | state.refused)
        if others:
            actions += _invokes(others)
        if not state.claimed and st.NONE in state.ships:
            actions += _CLAIMS
    return actions


def flux_actions(state: State) -> Actions:
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
                    act.SWAPS[colour]
                    for colour, other in enumerate(state.ships)
                    if other >= 0 and colour % players != seat
                ]
            )
    if wild or flux == st.HOP:
        occupied = state.occupied
        actions += tuple(
            [act.HOPS[way] for way, target in table.galaxy.hops[pose >> 2] if not occupied >> target & 1]
        )
    if wild or flux == st.AIM:
        actions += act.AIMS
    if wild or flux == st.DIG:
        onward = table.galaxy.ahead[pose] >> 2
        if onward >= 0 and not state.occupied >> onward & 1:
            actions += _DIG
    return actions


def ask(state: State, seat: int) -> str:
    """One of lay, deploy, colour, turn, ally, claim."""
    return st.PHASES[state.phase]


# -- reading actions -----------------------------------------------------------------------------------------

MAX_TEXT: Final = 280
"""A message's length in code points (A1)."""

_READER: Final = ActionReader(act.ACTIONS)


def parse(state: State, seat: int, data: object) -> act.Action:
    """The action of `seat` that `data` describes, a message perhaps; `ActionError` if it is none, or not possible."""
    now = legal(state, seat)
    left = st.messages_left(state.table, seat)
    if now and left > 0 and type(data) is dict and data.get("do") == "say":
        message: act.Say = _READER.read(data, now)
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
    act.Swap: st.SWAP, act.SwapSystems: st.SWAP, act.Hop: st.HOP, act.Aim: st.AIM, act.Dig: st.DIG
}  # fmt: skip
"""The face of the flux die that allows an action (T6); WILD allows them all."""


def _why_not(state: State, action: act.Action) -> str:
    """The reason, with its rule, where there is one to name; else empty."""
    kind = type(action)
    if kind is act.Say:
        talks = state.table.config.talks
        return (
            f"only {st.MESSAGES_A_TURN} messages a turn (A1)"
            if talks
            else "there is no talk in this game (A)"
        )
    if kind is act.SwapSystems and action.systems[0] >= action.systems[1]:
        return "name two colours, the smaller first (V2)"
    if state.phase != st.TURN:
        return ""
    table = state.table
    board = table.galaxy
    pose = state.ships[state.colour]
    double = table.config.homes[1 << state.seat | state.agreed]

    def busy(onward: int) -> str:
        if onward < 0:
            return "no square lies ahead (T5)"
        if state.occupied >> (onward >> 2) & 1:
            return "the square ahead is occupied (S1)"
        return ""

    if kind in (act.Step, act.Warp, act.Turn):
        if kind is not act.Turn and state.flux == st.TIP:
            return "after TIP the ship only turns (T6)"
        if kind is act.Warp:
            if not state.halves:
                return "no movement is left (T4)"
            if (pose >> 2) % 9 != CENTRE:
                return "the ship is not on the centre of a system (T4)"
            return "no warp leads there from here, or the centre is occupied (T4)"
        if kind is act.Step:
            if not board.arrow(pose):
                return "no arrow leads forward (G2)"
            if reason := busy(board.ahead[pose]):
                return reason
        entered = board.step[pose] if kind is act.Step else pose
        cost = 1 if double >> (entered >> 2) // 9 & 1 else 2
        return f"it costs {cost} halves and {state.halves} are left (T2)"
    if kind in _FACES:
        options = table.config.options
        if kind is act.SwapSystems and not options.system_swap:
            return "only the option system_swap lets systems change places (V2)"
        if kind is act.Swap and options.system_swap:
            return "with the option system_swap systems change places, not ships (V2)"
        if state.fluxed:
            return "the flux was used in this turn (T6)"
        if state.flux not in (_FACES[kind], st.WILD):
            return f"the flux is {st.FLUX[state.flux]} (T6)"
        if state.flux == st.WILD and options.wild_shot:
            return "WILD makes the shot wild and gives no flux action (V3)"
        if kind is act.Dig:
            return busy(board.ahead[pose])
        if kind is act.Hop:
            return "no empty square lies there (T6)"
        return "only with a ship of another seat (T6)" if kind is act.Swap else "no such system is laid (V2)"
    if not table.config.talks and kind in (act.Claim, act.Invoke):
        return "there are no alliances in this game (A)"
    if kind is act.Claim:
        return "at most once a turn, and once a ship is gone (A3)"
    if kind is act.Invoke:
        return "only another survivor that has not answered in this turn (A2)"
    return ""
