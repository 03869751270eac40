"""What the players of captains may settle before the game, and how a galaxy is dealt: boards are drawn and turned."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

import attrs

from warpleague.errors import OptionsError
from warpleague.games.api import Event, Rolled, Weights
from warpleague.games.captains.boards import (
    SIDE_NAMES,
    Board,
    BoardSet,
    Pattern,
    Side,
    board_set,
    check_boards,
)
from warpleague.games.captains.geometry import Galaxy, Laid, Layout, galaxy, misfit
from warpleague.games.values import choice, free, whole

GALAXIES: tuple[str, ...] = ("full", "basic")
AIS: tuple[str, ...] = ("echabod-z", "brood", "azimuth")
PATTERNS: tuple[str, ...] = (
    "standard",
    "asteroida-1",
    "decapoda-2",
    "standard-large",
    "geotria-7",
    "chaetodon-3",
)
MOST_ROUNDS = 10_000


@attrs.frozen
class Options:
    """The options of captains (captains G4-G8, A1, E4)."""

    galaxy: Literal["full", "basic"] = choice(
        "full", GALAXIES, "full: each board's side and rotation are drawn; basic: all side A, rotation 0"
    )
    pattern: str | None = free(
        str,
        "how boards are laid; 1-3 players: standard, asteroida-1, decapoda-2; "
        "4-5 players: standard-large, geotria-7, chaetodon-3; "
        "default: standard or standard-large, else the first by name that fits the players",
    )
    galaxy_file: dict[str, Any] | None = free(
        dict, "boards of your own: a TOML file in the format of the built-in boards"
    )
    ai: Literal["echabod-z", "brood", "azimuth"] | None = choice(
        None,
        (None, *AIS),
        "solo only, the opponent: echabod-z (normal, the default), brood (hard), azimuth (expert)",
    )
    max_rounds: int = whole(
        200, 1, MOST_ROUNDS, f"the game ends as it stands after this many rounds (1 to {MOST_ROUNDS})"
    )


# -- the galaxy ------------------------------------------------------------------------------------------

Why: TypeAlias = Literal["max-rounds", "explored", "deck-empty", "retired"]
"""Why a game ends: after its last round, or since every seat has left it."""
WHYS: Final[tuple[Why, ...]] = get_args(Why)
MAX_ROUNDS: Final = "max-rounds"
EXPLORED: Final = "explored"
DECK_EMPTY: Final = "deck-empty"
RETIRED: Final = "retired"
MAX_TURNS: Final = 30
"""Turns of boards after which a deal is given up (captains G7)."""
TRIAL_DEALS: Final = 50
"""Deals in which a galaxy file must succeed at least once (captains G8)."""
STATION_DRAW: Final[tuple[Weights, ...]] = (6,)


@attrs.frozen(eq=False)
class Plan:
    """The fixed part before a board is drawn: the players, the options, and the boards and places in play.

    In `options` pattern and AI are filled in. Plans are equal when their `key` is, which spells all this out.
    """

    players: int
    options: Options
    board_set: BoardSet
    pattern: Pattern
    boards: tuple[Board, ...]
    station: Side
    planets: int
    """Planets in play: as many exploration tokens and kinds of card."""
    key: str

    @property
    def owners(self) -> int:
        """Who has tokens: the seats, and in solo the AI after them (captains A1)."""
        return 2 if self.players == 1 else self.players

    @property
    def copies(self) -> int:
        """Cards of each planet (captains S2)."""
        return 8 if self.players <= 3 else 10

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Plan) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _plan, (self.key,)

    def galaxy(self, layout: Layout) -> Galaxy:
        """The galaxy of `layout`, computed once and shared."""
        return galaxy(self.board_set, self.players, self.pattern, layout)


def plan(players: int, options: Options) -> Plan:
    """The plan of a match; `OptionsError` if the options do not fit together or the players.

    The cache has one object for each set of options, as long as few are in use.
    """
    data = attrs.asdict(options)
    try:
        key = json.dumps([players, data], sort_keys=True)
    except (TypeError, ValueError):
        board_set(options.galaxy_file)  # names the value that is no JSON
        raise
    return _plan(key)


@lru_cache(maxsize=64)
def _plan(key: str) -> Plan:
    players, data = json.loads(key)
    options = Options(**data)
    if options.ai is not None and players != 1:
        raise OptionsError(f"ai: {options.ai!r} is for one player; with {players} players there is no AI")
    boards = board_set(options.galaxy_file)
    pattern = boards.pattern(players, options.pattern)
    check_boards(boards, pattern, players)
    in_play = boards.in_play(players)
    ai: Any = (options.ai or AIS[0]) if players == 1 else None
    options = attrs.evolve(options, pattern=pattern.name, ai=ai)
    key = json.dumps([players, attrs.asdict(options)], sort_keys=True)
    planets = sum(len(board.sides[0].planets) for board in in_play)
    made = Plan(players, options, boards, pattern, in_play, boards.station(players), planets, key)
    if options.galaxy_file is not None:
        check_deals(made)
    return made


@attrs.define
class Dealing:
    """A galaxy being laid: the station board's rotation (-1: not drawn yet) and the boards drawn so far.

    `retired` are the seats whose bots are out already, in that order.
    """

    plan: Plan
    rotation: int
    laid: tuple[Laid, ...] = ()
    retired: tuple[int, ...] = ()


def first_deal(plan: Plan) -> Dealing:
    """Before the first draw: with up to three players the station board is not turned (captains G7)."""
    return Dealing(plan, 0 if plan.players <= 3 else -1)


def draws(dealing: Dealing) -> tuple[Weights, ...]:
    """The draws to make now, in the shape of captains C1."""
    if dealing.rotation < 0:
        return STATION_DRAW
    used = {board for board, _, _ in dealing.laid}
    weights = tuple(0 if board in used else 1 for board in range(len(dealing.plan.boards)))
    return (weights,) if dealing.plan.options.galaxy == "basic" else (weights, 2, 6)


def address(dealing: Dealing) -> str:
    """The next draw: captains C4. A deal that is drawn anew has the same addresses again."""
    return "station" if dealing.rotation < 0 else f"place {len(dealing.laid)}"


def lay(dealing: Dealing, rolled: Rolled) -> tuple[Dealing | Layout, list[Event]]:
    """The result of a draw: the next state of the deal, or the layout once it keeps captains G7."""
    plan = dealing.plan
    if dealing.rotation < 0:
        turned = Event({"event": "station", "rotation": rolled[0]})
        return Dealing(plan, rolled[0], dealing.laid, dealing.retired), [turned]
    board, side, rotation = rolled if len(rolled) == 3 else (rolled[0], 0, 0)
    laid = (*dealing.laid, (board, side, rotation))
    facts = {
        "event": "board",
        "place": len(dealing.laid),
        "board": plan.boards[board].number,
        "side": SIDE_NAMES[side],
        "rotation": rotation,
    }
    events = [Event(facts)]
    if len(laid) < len(plan.pattern.centres):
        return Dealing(plan, dealing.rotation, laid, dealing.retired), events
    layout, turns = settle(plan, Layout(dealing.rotation, laid))
    events += turns
    if layout is None:
        events.append(Event({"event": "redeal"}))
        return attrs.evolve(first_deal(plan), retired=dealing.retired), events
    return layout, events


def settle(plan: Plan, layout: Layout) -> tuple[Layout | None, list[Event]]:
    """Turn boards until captains G7 holds; None after 30 turns in vain."""
    events: list[Event] = []
    for turns in range(MAX_TURNS + 1):
        place = misfit(plan.station, plan.boards, plan.pattern, layout)
        if place is None:
            return layout, events
        if turns == MAX_TURNS:
            break
        board, side, rotation = layout.laid[place]
        rotation = (rotation + 1) % 6
        turned = (board, side, rotation)
        layout = Layout(layout.station, (*layout.laid[:place], turned, *layout.laid[place + 1 :]))
        number = plan.boards[board].number
        events.append(Event({"event": "turned", "place": place, "board": number, "rotation": rotation}))
    return None, events


def check_deals(plan: Plan) -> None:
    """Raise `OptionsError` if none of 50 trial deals keeps captains G7 (captains G8).

    The trials are the same every time: their numbers are BLAKE2b (key "captains galaxy file", digest size 8)
    of a counter from 0, as 8 bytes big-endian, modulo what is asked for.
    """
    counter = 0

    def roll(asked: tuple[Weights, ...]) -> Rolled:
        nonlocal counter
        rolled = []
        for draw in asked:
            hashed = hashlib.blake2b(counter.to_bytes(8, "big"), key=b"captains galaxy file", digest_size=8)
            number = int.from_bytes(hashed.digest(), "big")
            counter += 1
            choices = range(draw) if isinstance(draw, int) else [i for i, w in enumerate(draw) if w]
            rolled.append(choices[number % len(choices)])
        return tuple(rolled)

    dealing: Any = first_deal(plan)
    deals = 0
    while deals < TRIAL_DEALS:
        dealing, events = lay(dealing, roll(draws(dealing)))
        if isinstance(dealing, Layout):
            return
        deals += any(event.data["event"] == "redeal" for event in events)
    raise OptionsError(
        f"galaxy_file: none of {TRIAL_DEALS} deals with {plan.players} players and pattern "
        f"{plan.pattern.name!r} has all planets at least 3 apart and within reach of the station; "
        "give the boards fewer obstacles, or move planets away from their edges"
    )


def retire(dealing: Dealing, seat: int) -> tuple[Dealing, list[Event]]:
    """After the bot of `seat` is out before the galaxy is laid; without the last one the game is over."""
    plan = dealing.plan
    after = Dealing(plan, dealing.rotation, dealing.laid, (*dealing.retired, seat))
    events = [Event({"event": "retired", "seat": seat})]
    if len(after.retired) == plan.players:
        events.append(Event({"event": "over", "why": RETIRED, "scores": [0] * plan.owners}))
    return after, events
