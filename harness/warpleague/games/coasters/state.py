"""What the players of coasters may settle before the game, and the position."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import attrs

from warpleague.errors import OptionsError
from warpleague.games.api import CHANCE
from warpleague.games.coasters.geometry import MAX_COLOURS, Galaxy, Systems, galaxy
from warpleague.games.values import copier, each, encoded, keyer, switch, whole

if TYPE_CHECKING:
    from collections.abc import Hashable

_MAX = 1_000_000


@attrs.frozen
class Options:
    """The options of a game of coasters; all variations are off by default."""

    alliances: bool = switch(
        default=True, text="talk, confirmed alliances and shared victory; always off with 2 players"
    )
    max_rounds: int = whole(200, 1, _MAX, "after this many rounds the survivors share first place")
    colours: int = whole(
        1, 1, _MAX, "tag team: ships and home systems of each seat (at most 10 in the whole game)"
    )
    free_colour: bool = switch(
        default=False, text="tag team: the seat chooses before its roll which of its ships plays"
    )
    system_swap: bool = switch(default=False, text="SWAP lets two home systems change places")
    wild_shot: bool = switch(
        default=False,
        text="WILD gives no flux action but a torpedo that turns right where it cannot go on",
    )


def check(players: int, options: Options) -> None:
    """Raise `OptionsError` when `players` seats of `options.colours` colours need more than ten coasters."""
    if options.colours * players > MAX_COLOURS:
        raise OptionsError(
            f"option colours={options.colours} with {players} players needs {options.colours * players} coasters,"
            f" but there are {MAX_COLOURS}: use at most {MAX_COLOURS // players}"
        )


# -- the position ----------------------------------------------------------------------------------------

LAY, DEPLOY, CHOOSE, ROLL, TURN, ALLY, CLAIMED, OVER = range(8)
"""The kind of the next step: set-up (G3), the colour (V1), the dice (T1), the turn, an answer (A2, A3), nothing."""

PHASES: Final = ("lay", "deploy", "colour", "roll", "turn", "ally", "claim", "over")
"""The phases' names in JSON; those in which a seat must act are its `ask` labels."""

FLUX: Final = ("TIP", "SWAP", "HOP", "AIM", "DIG", "WILD")
TIP, SWAP, HOP, AIM, DIG, WILD = range(6)

NONE: Final = -1
HITS: Final = 3
"""A ship's hit points: large shield, medium shield, hull (S1)."""

MESSAGES_A_TURN: Final = 8
"""How many messages a seat may send in each turn of anyone and in each set-up decision (A1)."""

Why: TypeAlias = Literal["last-ship", "claim", "max-rounds"]
"""Why a game ends (E1, E2, E3)."""
WHYS: Final[tuple[Why, ...]] = get_args(Why)
LAST_SHIP: Final = "last-ship"
CLAIM_CONFIRMED: Final = "claim"
MAX_ROUNDS: Final = "max-rounds"


@attrs.frozen
class Config:
    """The fixed part of a whole game; one object for each combination."""

    players: int
    options: Options
    ships: int = attrs.field(eq=False)
    """How many colours there are: `players` times `options.colours`; colour c belongs to seat c % players."""
    talks: bool = attrs.field(eq=False)
    """Whether there are alliances and talk (A: 3 or more players)."""
    homes: tuple[int, ...] = attrs.field(eq=False)
    """For each set of seats, as a bit mask, the set of their colours."""
    options_json: bytes = attrs.field(eq=False)
    """The options as JSON."""

    def __reduce__(self) -> tuple[Any, ...]:
        return config, (self.players, self.options)


@lru_cache(maxsize=256)
def config(players: int, options: Options) -> Config:
    """The shared `Config` of `players` and `options`."""
    ships = players * options.colours
    homes = tuple(
        sum(1 << colour for colour in range(ships) if seats >> colour % players & 1)
        for seats in range(1 << players)
    )
    talks = options.alliances and players >= 3
    return Config(players, options, ships, talks, homes, encoded(attrs.asdict(options)))


@attrs.define
class Message:
    """Something said (A1): in which turn (counted by `Table.turn`), by whom, to whom, and what."""

    turn: int
    seat: int
    to: tuple[int, ...]
    text: str


@attrs.define
class Table:
    """The part of a position that changes rarely.

    `hits` are the hit points left by colour, 0 for a ship that is no more; `alive` is the set of surviving
    seats as a bit mask; `eliminated` and `retired` list the others in order. `turn` counts turns and set-up
    decisions from 1, `round` the rounds from 1. `last` holds for each seat the colour it used last, -1 before
    its first turn and with `free_colour`, where no order needs it. `why` is None until the game is over.
    """

    config: Config
    systems: Systems
    galaxy: Galaxy = attrs.field(eq=False)
    hits: tuple[int, ...]
    alive: int
    eliminated: tuple[int, ...]
    retired: tuple[int, ...]
    round: int
    turn: int
    last: tuple[int, ...]
    messages: tuple[Message, ...]
    why: Why | None


@attrs.define
class State:
    """A position.

    `ships` holds each colour's pose, -1 where there is no ship; `occupied` is the set of their squares as a
    bit mask. `seat` has the turn (or the set-up decision), -1 when the game is over, with `colour`, -1 while it
    must choose one. `halves`
    is the movement left, `fluxed` whether the flux was used, `agreed` and `refused` the seats that answered in
    this turn (bit masks), `claimed` whether the claim was made, and `asked` the seats that have yet to answer, in
    order.
    """

    table: Table
    ships: tuple[int, ...]
    occupied: int
    phase: int
    seat: int
    colour: int
    d6: int = 0
    flux: int = NONE
    halves: int = 0
    fluxed: bool = False
    agreed: int = 0
    refused: int = 0
    claimed: bool = False
    asked: tuple[int, ...] = ()


fresh_table: Final = copier(Table)
copied: Final = copier(State)
"""Copies of a table and of a position, whose fields a move may change; their values are never changed."""
_key: Final = keyer(State, table=keyer(Table, messages=each(keyer(Message))))

UNBUILT: Final = galaxy(())
"""Stands for the galaxy until all coasters are laid."""


def key(state: State) -> Hashable:
    """The key of a position."""
    return _key(state)


def initial(players: int, options: Options) -> State:
    """The empty table, seat 0 about to lay its coaster."""
    facts = config(players, options)
    table = Table(
        facts,
        (None,) * facts.ships,
        UNBUILT,
        (HITS,) * facts.ships,
        (1 << players) - 1,
        (),
        (),
        1,
        1,
        (NONE,) * players,
        (),
        None,
    )
    return State(table, (NONE,) * facts.ships, 0, LAY, 0, 0)


def messages_left(table: Table, seat: int) -> int:
    """How many more messages `seat` may send in this turn (A1)."""
    if not table.config.talks:
        return 0
    sent = sum(1 for message in table.messages if message.turn == table.turn and message.seat == seat)
    return MESSAGES_A_TURN - sent


def match_of(state: State) -> tuple[int, Options]:
    """Both are parts of the position."""
    config = state.table.config
    return config.players, config.options


_DICE_ACT: Final = (CHANCE,)
_SEATS: Final = tuple((seat,) for seat in range(MAX_COLOURS))


def actors(state: State) -> tuple[int, ...]:
    """The dice before a turn, the asked seat while a question is open, else the seat whose turn it is."""
    phase = state.phase
    if phase == TURN:
        return _SEATS[state.seat]
    if phase == ROLL:
        return _DICE_ACT
    if phase == OVER:
        return ()
    return _SEATS[state.asked[0] if state.asked else state.seat]


def talk(state: State, seat: int) -> int:
    """A1: eight messages in each turn and set-up decision, where there is talk."""
    return messages_left(state.table, seat) if state.table.config.talks else 0
