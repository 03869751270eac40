"""Which actions a seat has, in the canonical order.

Leaves reading actions from JSON to `parse` and their effects to `rules`.

The order: lay by place (row by row) and rotation; deploy by square (row by row) and facing; colours ascending; in
a turn `end`, `fire`, `step`, `turn` left and right, `warp` by colour, `swap` by colour or `swap-systems` by pair,
`hop`, `aim` (U, R, D, L), `dig`, `invoke` by seat, `claim`. Answers: first the one that grants nothing (`refuse`,
`split`), so that `end`, `refuse` and `split` are what is done for a bot that cannot choose.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

from warpleague.games.coasters import actions as act
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, Galaxy, Systems, free_places

if TYPE_CHECKING:
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
    return tuple(act.INVOKES[seat] for seat in st.members(seats))


@lru_cache(maxsize=1024)
def _system_swaps(laid: int) -> Actions:
    return tuple(act.SYSTEM_SWAPS[pair] for pair in combinations(st.members(laid), 2))


def legal(state: State) -> Actions:
    """The actions of the seat that must act."""
    phase = state.phase
    if phase == st.TURN:
        return turn_actions(state)
    if phase == st.LAY:
        return lays(state.table.systems)
    if phase == st.DEPLOY:
        return deploys(state.table.galaxy, state.colour)
    if phase == st.CHOOSE:
        config = state.table.config
        own = range(state.seat, config.ships, config.players)
        return tuple(act.CHOICES[colour] for colour in own if state.ships[colour] >= 0)
    return _ALLY if phase == st.ALLY else _CLAIM


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
    found: Actions = _MOVES[moves] + warps
    if not state.fluxed and flux != st.TIP:
        found += flux_actions(state)
    if config.talks:
        others = table.alive & ~(1 << state.seat | state.agreed | state.refused)
        if others:
            found += _invokes(others)
        if not state.claimed and st.NONE in state.ships:
            found += _CLAIMS
    return found


def flux_actions(state: State) -> Actions:
    """What the flux allows now (T6, V2, V3), in the order swap, hop, aim, dig."""
    table = state.table
    config = table.config
    options = config.options
    flux = state.flux
    wild = flux == st.WILD
    if wild and options.wild_shot:  # V3
        return ()
    pose = state.ships[state.colour]
    found: Actions = ()
    if wild or flux == st.SWAP:
        if options.system_swap:  # V2
            found = _system_swaps(table.galaxy.laid)
        else:
            players, seat = config.players, state.seat
            found = tuple(
                act.SWAPS[colour]
                for colour, other in enumerate(state.ships)
                if other >= 0 and colour % players != seat
            )
    if wild or flux == st.HOP:
        occupied = state.occupied
        found += tuple(
            act.HOPS[way] for way, target in table.galaxy.hops[pose >> 2] if not occupied >> target & 1
        )
    if wild or flux == st.AIM:
        found += act.AIMS
    if wild or flux == st.DIG:
        onward = table.galaxy.ahead[pose] >> 2
        if onward >= 0 and not state.occupied >> onward & 1:
            found += _DIG
    return found
