"""Positions of captains as JSON, read and written, what is wrong with a hand-made one, and what each seat sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import attrs

from warpleague.errors import OptionsError
from warpleague.games.captains import dealing as deal
from warpleague.games.captains import state as st
from warpleague.games.captains.boards import CLOSED, SIDE_NAMES
from warpleague.games.captains.dealing import MAX_ROUNDS, Dealing, Options, Why
from warpleague.games.captains.geometry import Laid, Layout, misfit
from warpleague.games.captains.rules import AI_DISCARDS, UNTIL_PAIRS, ai_places, totals
from warpleague.games.captains.state import Cards, Known, State, table
from warpleague.games.reading import (
    Misfit,
    Whole,
    by_hand,
    distinct,
    fail,
    json_fields,
    read,
    refuse,
    shown,
    sized,
    within,
)
from warpleague.games.values import Cache, CacheByIdentity, decoded, encoded, mask, members, template

if TYPE_CHECKING:
    from random import Random

    from warpleague.games.api import JsonObject


def _ascending(numbers: list[int]) -> None:
    distinct(numbers)
    if numbers != sorted(numbers):
        raise Misfit("must ascend")


Stage: TypeAlias = Literal[
    "galaxy", "start", "turn", "pickup-planet", "pickup-station", "emerge", "ai-place", "deal", "draw",
    "blackhole", "ai-cards", "over",
]  # fmt: skip
_Ascending: TypeAlias = Annotated[list[int], _ascending]
_Distinct: TypeAlias = Annotated[list[int], distinct]
_MAX_POINTS: Final = 1_000_000


@attrs.frozen(kw_only=True)
class MatchFacts:
    """The setting of a position: options and the galaxy's layout."""

    players: Annotated[int, Whole(1, 5)]
    galaxy: str = by_hand(Options().galaxy)
    pattern: str = by_hand(None)
    galaxy_file: dict[str, Any] | None = by_hand(None)
    ai: str | None = by_hand(None)
    max_rounds: int = by_hand(Options().max_rounds)
    station: int = by_hand(None)
    """The station board's rotation in steps of 60 degrees, -1 before it is drawn."""
    boards: list[tuple[int, str, int]] = by_hand([])
    """For each place of the pattern, in order: board number, side A or B, rotation."""


@attrs.frozen
class Spent:
    """A hidden card that has left a hand, where it is not clear as which of several it had been drawn."""

    planet: int
    slots: _Ascending
    """Indexes into `Memory.slots`: it filled one of these."""


@attrs.frozen(kw_only=True)
class Memory:
    """Public knowledge of a hand."""

    sure: list[int]
    """By planet: cards taken from the Docks and still in hand."""
    slots: list[_Ascending]
    """For each card drawn from the deck: the planets it cannot be."""
    spent: list[Spent] = by_hand([])
    """Cards that have left the hand; as many of the slots are empty."""


@attrs.frozen(kw_only=True)
class Laying:
    """A position while the galaxy is laid: nothing of it is hidden."""

    match: MatchFacts
    stage: Stage = by_hand("turn")
    retired: _Distinct = by_hand([])


@attrs.frozen(kw_only=True)
class Position(Laying):
    """A whole position once it is laid; `View` explains the keys.

    A `last_round` of 0, and null as `why` and `known`, stand for what follows from the rest.
    """

    seat: int
    round: int
    last_round: int
    why: deal.Why | None
    energy: Annotated[int, Whole(0, st.ENERGY)]
    steps: Annotated[int, Whole(0, st.TURN_ACTIONS + st.HAND)]
    warped: bool
    picked: bool
    focus: int
    taken: _Distinct
    ships: list[int]
    tokens: list[list[int]]
    known: list[Memory] | None
    delivered: list[list[int]]
    docks: list[int]
    points: list[int]
    explorers: list[int]
    hands: list[list[int]]


# -- writing ---------------------------------------------------------------------------------------------

_POSITION: Final = (
    template(Position)
    .replace(b'"known":%b,"delivered":%b,"docks":%b', b"%b")  # one part, see `_CARDS`
    .replace(b'"hands":%b', b"%b")
)


def match_json(plan: deal.Plan, station: int, laid: tuple[Laid, ...]) -> JsonObject:
    """The JSON form of `MatchFacts`."""
    options = attrs.asdict(plan.options)
    boards = [[plan.boards[board].number, SIDE_NAMES[side], turn] for board, side, turn in laid]
    return {"players": plan.players, **options, "station": station, "boards": boards}


def _known(key: tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]) -> bytes:
    sure, slots, spent = key
    gone = [{"planet": planet, "slots": members(could)} for planet, could in spent]
    return encoded({"sure": sure, "slots": list(map(members, slots)), "spent": gone})


def _cards(cards: st.Cards) -> bytes:
    known = b",".join([_KNOWN[one.sure, one.slots, one.spent] for one in cards.known])
    return b'"known":[%b],"delivered":%b,"docks":%b' % (known, encoded(cards.piles), encoded(cards.docks))


_MATCH: Final = CacheByIdentity[st.Table, bytes](
    lambda table: encoded(match_json(table.plan, table.galaxy.layout.station, table.galaxy.layout.laid)), 64
)
_KNOWN: Final = Cache(_known)
"""Public knowledge of a hand, from the fields of `Known`."""
_CARDS: Final = CacheByIdentity(_cards)
"""Public knowledge of the cards: these stay while ships move."""
_LISTS: Final = Cache[tuple[Any, ...], bytes](encoded)
_TAKEN: Final = Cache[int, bytes](lambda taken: encoded(members(taken)))
_STAGES: Final = tuple(map(encoded, st.STAGES))
_BOOL: Final = (b"false", b"true")


def position_json(state: st.State, more: bytes) -> bytes:
    """The common part of the JSON of views and whole positions, with `more` fields after it."""
    return _POSITION % (
        _MATCH[state.table], _STAGES[state.stage], _LISTS[state.retired], state.seat, state.round,
        state.last_round, encoded(state.why), state.energy, state.steps, _BOOL[state.warped],
        _BOOL[state.picked], state.focus, _TAKEN[state.taken], _LISTS[state.ships],
        _LISTS[state.tokens.stacks], _CARDS[state.cards], _LISTS[state.points], _LISTS[state.explorers], more,
    )  # fmt: skip


def dealing_json(dealing: deal.Dealing) -> JsonObject:
    """The same while the galaxy is laid."""
    match = match_json(dealing.plan, dealing.rotation, dealing.laid)
    return {"match": match, "stage": "galaxy", "retired": list(dealing.retired)}


def to_json(state: st.Position) -> JsonObject:
    """The whole position."""
    if isinstance(state, deal.Dealing):
        return dealing_json(state)
    data: JsonObject = decoded(position_json(state, b'"hands":' + encoded(state.cards.hands)))
    return data


# -- reading ---------------------------------------------------------------------------------------------


def plan_of(match: JsonObject) -> deal.Plan:
    """The plan of a position's `match`; `OptionsError` if its options do not fit."""
    return deal.plan(match["players"], Options(**{key: match[key] for key in json_fields(Options)}))


def laid_of(plan: deal.Plan, boards: list[Any]) -> tuple[Laid, ...]:
    """The boards of a `match`, each an index among those in play, side and rotation."""
    numbers = [board.number for board in plan.boards]
    return tuple((numbers.index(number), SIDE_NAMES.index(side), turn) for number, side, turn in boards)


def known_of(data: JsonObject) -> st.Known:
    """The knowledge that a `Memory` describes."""
    return st.Known(
        tuple(data["sure"]),
        tuple(map(mask, data["slots"])),
        tuple((one["planet"], mask(one["slots"])) for one in data["spent"]),
    )


def state_of(board: st.Table, data: JsonObject, cards: st.Cards) -> st.State:
    """The state that a position describes, or a view; all of it is there and fits."""
    tokens = st.tokens_of(board, tuple(map(tuple, data["tokens"])))
    return st.State(
        board, st.STAGES.index(data["stage"]), data["seat"], data["round"], data["energy"], data["steps"],
        data["warped"], data["picked"], tuple(data["ships"]), tokens, cards, tuple(data["points"]),
        tuple(data["explorers"]), tuple(data["retired"]), data["last_round"], data["why"], data["focus"],
        mask(data["taken"]),
    )  # fmt: skip


def from_json(data: object) -> st.Position:
    """The position `to_json` wrote, or a hand-made one; `PositionError` names what is wrong."""
    keys = json_fields(Laying)
    given: JsonObject = data if type(data) is dict else {}
    head = read(Laying, {key: given[key] for key in given if key in keys} if given else data)
    dealing = _dealing(head)
    plan = dealing.plan
    within("retired", head.retired, 0, plan.players - 1)
    if head.stage == "galaxy":
        for key in given:
            refuse(key not in keys, str(key), "does not belong to stage galaxy")
        return dealing
    layout = Layout(dealing.rotation, dealing.laid)
    place = misfit(plan.station, plan.boards, plan.pattern, layout)
    turned = "so turned, a planet is less than 3 spaces from another, or out of reach"
    refuse(place is not None, f"match.boards[{place}]", turned)
    board = st.table(plan, layout)
    none = [0] * plan.planets
    defaults: JsonObject = {
        "stage": head.stage, "retired": head.retired, "seat": 0, "round": 1, "last_round": 0, "why": None,
        "energy": st.ENERGY, "steps": 0, "warped": False, "picked": False, "focus": st.STATION, "taken": [],
        "ships": [-1] * plan.players, "tokens": [[]] * plan.owners, "known": None, "docks": none,
        "delivered": [none] * plan.owners, "points": [0] * plan.owners, "explorers": [],
        "hands": [none] * plan.players,
    }  # fmt: skip
    whole = {**defaults, **given}
    form = read(Position, whole)
    check_bounds(form, board)
    check_tokens(form, board)
    cards = cards_of(form, board)
    why, last = ending(form, plan, cards)
    state = state_of(board, {**whole, "why": why, "last_round": last}, cards)
    explored = state.tokens.reached.bit_count()
    text = f"names {len(form.explorers)} owners, but {explored} planets have a token beside them"
    refuse(len(form.explorers) != explored, "explorers", text)
    check_stage(state)
    check_focus(state)
    return state


def _dealing(head: Laying) -> deal.Dealing:
    """The galaxy as far as it is laid: the whole of it, except in its own stage."""
    match, complete = head.match, head.stage != "galaxy"
    named = {key: getattr(match, key) for key in json_fields(Options) if getattr(match, key) is not None}
    options = read(Options, named, "match")
    try:
        plan = deal.plan(match.players, options)
    except (OptionsError, TypeError, ValueError) as error:
        fail("match", str(error.args[0]))
    drawn = deal.first_deal(plan).rotation
    station = max(drawn, 0 if complete else -1) if match.station is None else match.station
    within("match.station", station, drawn, 5 if drawn < 0 else 0)
    numbers = [board.number for board in plan.boards]
    laid: list[int] = []
    for i, (number, side, turn) in enumerate(match.boards):
        path = f"match.boards[{i}]"
        refuse(number not in numbers, f"{path}[0]", f"must be a board in play ({numbers}), not {number}")
        refuse(number in laid, f"{path}[0]", f"board {number} is laid already")
        refuse(
            side not in SIDE_NAMES, f"{path}[1]", f"must be one of {', '.join(SIDE_NAMES)}, not {shown(side)}"
        )
        within(f"{path}[2]", turn, 0, 5)
        laid.append(number)
    if complete:
        sized("match.boards", laid, len(numbers))
    full = not complete and len(laid) == len(numbers)
    refuse(full, "match.boards", "all boards are laid: the stage can no longer be galaxy")
    early = station < 0 and (complete or laid)
    refuse(early, "match.station", "must be drawn (0 to 5) before boards are laid")
    return deal.Dealing(plan, station, laid_of(plan, match.boards), tuple(head.retired))


def check_bounds(form: Position, board: st.Table) -> None:
    """Whether numbers and lists fit the match."""
    players, owners, planets = board.players, board.owners, board.planets
    galaxy, copies = board.galaxy, board.plan.copies
    within("seat", form.seat, 0, players - 1)
    within("round", form.round, 1, board.plan.options.max_rounds)
    within("focus", form.focus, -1, max(planets, 3))
    within("taken", form.taken, 0, planets - 1)
    within("ships", form.ships, -1, len(galaxy.hexes) - 1, players)
    within("tokens", form.tokens, 0, len(galaxy.hexes) - 1, owners)
    within("delivered", form.delivered, 0, copies, owners, planets)
    within("docks", form.docks, 0, copies, planets)
    within("hands", form.hands, 0, copies, players, planets)
    within("points", form.points, 0, _MAX_POINTS, owners)
    within("explorers", form.explorers, 0, owners - 1)
    for seat, space in enumerate(form.ships):
        closed = space >= 0 and galaxy.kinds[space] in CLOSED
        refuse(closed, f"ships[{seat}]", f"no ship can be on space {space} ({galaxy.kinds[space]})")
        started = space >= 0
        refuse(
            started != bool(form.tokens[seat]),
            f"ships[{seat}]",
            "is -1 exactly as long as the seat has no token",
        )


def check_tokens(form: Position, board: st.Table) -> None:
    """Each token is checked as if it were being placed (captains G3, T3)."""
    galaxy = board.galaxy
    tokens = st.tokens_of(board, ((),) * board.owners)
    for owner, stack in enumerate(form.tokens):
        for i, space in enumerate(stack):
            if not tokens.open[owner] >> space & 1:
                why = "the owner has a token beside that planet or the station already"
                if i >= st.TOKENS:
                    why = f"an owner has only {st.TOKENS} tokens"
                elif not galaxy.takes_token[space]:
                    why = f"{galaxy.kinds[space]} takes no token"
                elif space in tokens.at:
                    why = "there is a token already"
                fail(f"tokens[{owner}][{i}]", f"no token can be on space {space}: {why}")
            tokens = st.add_token(board, tokens, owner, space)
        first = stack and not galaxy.beside_station[stack[0]]
        refuse(first, f"tokens[{owner}][0]", "the first token must be beside the station")


def cards_of(form: Position, board: st.Table) -> st.Cards:
    """The cards: those that are nowhere else are in the deck."""
    rows = zip(form.docks, *form.hands, *form.delivered, strict=True)
    deck = [board.plan.copies - sum(column) for column in rows]
    for planet, left in enumerate(deck):
        text = f"with docks and delivered, there are {board.plan.copies - left} cards of planet {planet}"
        refuse(left < 0, "hands", text)
    for seat, hand in enumerate(form.hands):
        many = f"{sum(hand)} cards; a hand holds at most {st.HAND}"
        refuse(sum(hand) > st.HAND, f"hands[{seat}]", many)
    hands, piles = tuple(map(tuple, form.hands)), tuple(map(tuple, form.delivered))
    return st.Cards(tuple(deck), sum(deck), tuple(form.docks), hands, piles, known(form, board))


def known(form: Position, board: st.Table) -> tuple[st.Known, ...]:
    """The knowledge of the hands, nothing if it is not given; it must be true."""
    planets, made = board.planets, []
    if form.known is None:
        return tuple(st.Known((0,) * planets, (0,) * sum(hand)) for hand in form.hands)
    sized("known", form.known, board.players)
    for seat, (memory, hand) in enumerate(zip(form.known, form.hands, strict=True)):
        path, slots = f"known[{seat}]", len(memory.slots)
        within(f"{path}.sure", memory.sure, 0, st.HAND, planets)
        within(f"{path}.slots", memory.slots, 0, planets - 1)
        for i, spent in enumerate(memory.spent):
            within(f"{path}.spent[{i}].planet", spent.planet, 0, planets - 1)
            within(f"{path}.spent[{i}].slots", spent.slots, 0, slots - 1)
        one = known_of(attrs.asdict(memory))
        counts = [cards - open_ for cards, open_ in zip(hand, memory.sure, strict=True)]
        hidden = [planet for planet, cards in enumerate(counts) for _ in range(cards)]
        fits = min(counts) >= 0 and len(hidden) == one.hidden and one.allows(hidden)
        refuse(not fits, path, f"does not fit the hand {hand}")
        refuse(memory.spent and not hidden, f"{path}.spent", "must be empty when no card is hidden")
        made.append(one)
    return tuple(made)


def ending(form: Position, plan: deal.Plan, cards: st.Cards) -> tuple[deal.Why, int]:
    """Why and when the game ends (captains E1, E4)."""
    most, explored = plan.options.max_rounds, len(form.explorers) == plan.planets
    ends: list[tuple[int, deal.Why]] = [(most, deal.MAX_ROUNDS)]
    if explored:
        ends.append((form.round + 3, deal.EXPLORED))
    if not cards.left:
        ends.append((form.round + 1, deal.DECK_EMPTY))
    latest, reason = min(reversed(ends), key=lambda end: end[0])  # of equals not the cap, as in play
    last = form.last_round or latest
    within("last_round", last, form.round, latest)
    why = form.why or reason
    gone = len(form.retired) == plan.players
    refuse((why == deal.RETIRED) != gone, "why", "is 'retired' exactly when every seat is")
    capped = why == deal.MAX_ROUNDS
    late = capped and reason != why
    refuse(late, "why", f"is {reason!r}, which ends the game no later than max_rounds does")
    refuse(capped and last != most, "last_round", f"must be {most}, max_rounds, with why {why!r}")
    refuse(why == deal.EXPLORED and not explored, "why", "not every planet is explored")
    refuse(why == deal.DECK_EMPTY and cards.left, "why", "the deck is not empty")
    return why, last


def check_stage(state: st.State) -> None:
    """Whether stage and turn fit the rest."""
    board, stage, seat = state.table, state.stage, state.seat
    galaxy, ship, name = board.galaxy, state.ships[state.seat], st.STAGES[state.stage]
    over, everyone = stage == st.OVER, len(state.retired) == board.players
    gone = over and state.why == deal.RETIRED
    refuse(everyone != gone, "retired", "every seat is retired exactly when the game is over because of it")
    out = stage not in (st.DEAL, st.OVER) and seat in state.retired
    refuse(out, "seat", f"seat {seat} is retired and cannot have the turn")
    early = over and not everyone and state.round != state.last_round
    refuse(early, "stage", "the game is not over before the last round is")
    solo = stage in (st.AI_PLACE, st.AI_CARDS)
    refuse(solo and board.players > 1, "stage", f"{name!r} is of the solo game only")
    refuse(stage == st.START and ship >= 0, "stage", f"seat {seat} has started already")
    in_turn = stage in (st.TURN, st.PICKUP_PLANET, st.PICKUP_STATION, st.EMERGE, st.DRAW, st.BLACKHOLE)
    refuse(in_turn and ship < 0, "stage", f"seat {seat} has not started: the stage must be 'start'")
    in_hole = stage in (st.BLACKHOLE, st.EMERGE)
    refuse(in_hole and not galaxy.blackhole[ship], "stage", "the ship is not in a black hole")
    for other, space in enumerate(state.ships):
        stays = space >= 0 and galaxy.blackhole[space] and other not in state.retired
        stuck = stays and not (in_hole and other == seat)
        refuse(stuck, f"ships[{other}]", "a ship leaves the black hole before anything else happens")
    at_station = stage == st.PICKUP_STATION
    refuse(state.taken and not at_station, "taken", "is of the stage 'pickup-station' only")
    refuse(state.taken.bit_count() > 2, "taken", "names more than two planets")
    draws = stage in (st.PICKUP_PLANET, st.DRAW, st.BLACKHOLE, st.AI_CARDS)
    refuse(draws and not state.cards.left, "stage", f"{name!r} needs a card in the deck")
    full = stage == st.DRAW and sum(state.cards.hands[seat]) >= st.HAND
    refuse(full, "stage", f"'draw' needs a hand of less than {st.HAND} cards")
    refuse(at_station and not galaxy.beside_station[ship], "stage", "the ship is not beside the station")
    picking = stage in (st.PICKUP_PLANET, st.PICKUP_STATION, st.DRAW)
    refuse(picking and not state.picked, "picked", f"must be true in stage {name!r}: the pick-up is on")
    if stage == st.DEAL:
        check_deal(state)


def check_focus(state: st.State) -> None:
    """Whether `focus` is what the stage is about."""
    board, stage, focus = state.table, state.stage, state.focus
    galaxy, ship, ai_stack = board.galaxy, state.ships[state.seat], state.tokens.stacks[-1]
    unplaced = stage == st.AI_CARDS or (stage == st.AI_PLACE and focus >= 0)
    refuse(
        unplaced and not ai_stack,
        "tokens",
        "the AI places its first token beside the station before anything else",
    )
    if stage == st.AI_CARDS:
        most = AI_DISCARDS.get(board.plan.options.ai or "", UNTIL_PAIRS)
        wrong = focus != most and not 1 <= focus <= most
        refuse(wrong, "focus", "must be how many cards the AI discards yet (azimuth: -1)")
    elif stage in (st.PICKUP_PLANET, st.DRAW):
        other = focus < 0 or galaxy.beside_planet[ship] != focus
        refuse(other, "focus", "must be the planet beside the ship")
        station = galaxy.beside_station[ship]
        refuse(station, "stage", "beside the station nothing is drawn from the deck")
    elif stage == st.EMERGE:
        refuse(not 0 <= focus < board.planets, "focus", "must be the planet revealed")
    elif stage == st.AI_PLACE:  # captains A2, A3
        refuse(focus >= board.planets, "focus", "must be a planet, or -1 for the station")
        there = any(galaxy.beside_planet[at] == focus >= 0 for at in ai_stack) or (focus < 0 and ai_stack)
        refuse(there, "focus", "the AI has a token there already")
        refuse(not ai_places(state), "focus", "there is no room for a token of the AI")
    else:
        refuse(focus != st.STATION, "focus", f"must be {st.STATION} in stage {st.STAGES[stage]!r}")


def check_deal(state: st.State) -> None:
    """While hands are dealt nothing else has happened, and hands are dealt in order (captains C2)."""
    seat, cards = state.seat, state.cards
    for other, hand in enumerate(cards.hands):
        held, due = sum(hand), st.DEALT[other]
        fits = held == due if other < seat else held < due if other == seat else not held
        text = f"{held} cards cannot be while seat {seat} is dealt its {st.DEALT[seat]}"
        refuse(not fits, f"hands[{other}]", text)
    begun = any(state.tokens.stacks) or any(cards.docks) or any(map(any, cards.piles)) or state.round != 1
    refuse(begun, "stage", "'deal' is before the first turn")


# -- view ------------------------------------------------------------------------------------------------
# The view of a seat in captains, the data of the start message, and positions drawn to fit a view.


@attrs.frozen
class SpaceFacts:
    """A space of the galaxy, as told in `Setup`."""

    q: int
    r: int
    kind: str
    """blank, orbit, nebula, wild, cannon, blackhole, planet, station or obstacle."""
    number: int
    """Of a wild wormhole: 3, 4 or 5; else 0."""
    orbit: int
    """The orbit it belongs to, or -1; spaces of one orbit share the number."""
    moves: list[int]
    """Where a ship may move from here (adjacent spaces, and the rest of the orbit); black holes included."""
    shots: list[int]
    """Where the cannon on this space shoots."""
    planet: int
    """The planet beside this enterable space, or -1."""
    station: bool
    """Whether this enterable space is beside the station."""
    token: bool
    """Whether this kind of space takes a token."""


@attrs.frozen
class PlanetFacts:
    """A planet, as told in `Setup`."""

    board: int
    """The number of its board."""
    spaces: list[int]
    big: bool
    """The big ring planet, where tokens of one owner are not limited."""
    beside: list[int]
    """The enterable spaces beside it."""


@attrs.frozen
class Setup:
    """The static facts of the start message: the galaxy."""

    pattern: str
    station: list[int]
    """The spaces of the station."""
    spaces: list[SpaceFacts]
    """By space number."""
    planets: list[PlanetFacts]
    """By planet number."""


@attrs.frozen
class View:
    """All that a seat may know. In stage `galaxy` only `match`, `stage`, `you` and `retired` are there.

    Owners are the seats and, in solo, the AI after them.
    """

    match: MatchFacts
    stage: Stage
    you: int
    retired: list[int]
    """Seats whose bots are out, in that order."""
    seat: int = 0
    """Whose turn it is."""
    round: int = 1
    last_round: int = 1
    """The game ends after this round, as it stands."""
    why: Why = MAX_ROUNDS
    """The reason that set `last_round`, or "retired" if all are out."""
    energy: int = 0
    steps: int = 0
    """Actions done in this turn; after 100 it can only be ended."""
    warped: bool = False
    """Whether the last action of this turn was a warp."""
    picked: bool = False
    """Whether the pick-up of this turn was begun."""
    focus: int = -1
    """The planet that a pick-up, black hole or AI token is about; -1: none, or the station. In stage ai-cards:
    how many cards the AI discards yet, -1: until two planets have two."""
    taken: list[int] = attrs.Factory(list)
    """Planets whose cards were taken from the Docks in this pick-up."""
    ships: list[int] = attrs.Factory(list)
    """The space of each seat's ship, -1 before its start."""
    tokens: list[list[int]] = attrs.Factory(list)
    """By owner: the spaces of its tokens, in order placed: numbers 1, 1, 2, 2, ... 5, 5."""
    hand: list[int] = attrs.Factory(list)
    """Your own cards by planet."""
    hands: list[int] = attrs.Factory(list)
    """How many cards each seat holds."""
    known: list[Memory] = attrs.Factory(list)
    """By seat: what everybody can deduce about its hand, yours included."""
    delivered: list[list[int]] = attrs.Factory(list)
    """By owner: delivered cards by planet."""
    docks: list[int] = attrs.Factory(list)
    """Cards in the Docks by planet."""
    deck: int = 0
    """How many cards the deck has left."""
    unseen: list[int] = attrs.Factory(list)
    """By planet: cards you cannot see: the deck and the others' hands together, less what is sure of those."""
    points: list[int] = attrs.Factory(list)
    """By owner: point tokens."""
    explorers: list[int] = attrs.Factory(list)
    """The owners of the exploration tokens taken, in order: tokens 1 to 6 are worth 1, from 7 on 3."""
    scores: list[int] = attrs.Factory(list)
    """By owner: the score if the game ended now."""


def view(state: st.Position, seat: int) -> JsonObject:
    """The view of `seat`, as described by `View`."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: st.Position, seat: int) -> bytes:
    """The same in its bytes."""
    if isinstance(state, Dealing):
        return encoded({**dealing_json(state), "you": seat})
    scores = _SCORES[state.explorers, state.points, state.cards.piles]
    return position_json(state, b'"you":%d,%b,"scores":%b' % (seat, _OWN[state.cards][seat], scores))


def _own(cards: Cards) -> list[bytes]:
    """Further knowledge of each seat about the cards."""
    hands = encoded(list(map(sum, cards.hands)))
    rows = []
    for seat, hand in enumerate(cards.hands):
        others = cards.hands[:seat] + cards.hands[seat + 1 :]
        sure = tuple([known.sure for known in cards.known[:seat] + cards.known[seat + 1 :]])
        unseen = encoded(_unseen(cards.deck, others, sure))
        rows.append(
            b'"hand":%b,"hands":%b,"deck":%d,"unseen":%b' % (encoded(hand), hands, cards.left, unseen)
        )
    return rows


def _unseen(
    deck: tuple[int, ...], hands: tuple[tuple[int, ...], ...], sure: tuple[tuple[int, ...], ...]
) -> list[int]:
    cards = map(sum, zip(deck, *hands, strict=True))
    return [count - sum([one[planet] for one in sure]) for planet, count in enumerate(cards)]


_OWN: Final = CacheByIdentity(_own)
_SCORES: Final = Cache[Any, bytes](lambda key: encoded(totals(*key)))
"""From explorers, points and piles."""


def setup(state: st.Position) -> JsonObject:
    """The facts of the galaxy, as described by `Setup`."""
    assert isinstance(state, State)
    galaxy = state.table.galaxy
    spaces = [
        {
            "q": q,
            "r": r,
            "kind": galaxy.kinds[space],
            "number": galaxy.wild[space],
            "orbit": galaxy.orbit[space],
            "moves": [action.to for action in galaxy.moves[space]],
            "shots": [action.to for action in galaxy.shots[space]],
            "planet": galaxy.beside_planet[space],
            "station": galaxy.beside_station[space],
            "token": galaxy.takes_token[space],
        }
        for space, (q, r) in enumerate(galaxy.hexes)
    ]
    planets = [
        {
            "board": planet.board,
            "spaces": list(planet.spaces),
            "big": planet.big,
            "beside": [space for space, at in enumerate(galaxy.beside_planet) if at == number],
        }
        for number, planet in enumerate(galaxy.planets)
    ]
    station = [space for space, kind in enumerate(galaxy.kinds) if kind == "station"]
    return {"pattern": galaxy.pattern.name, "station": station, "spaces": spaces, "planets": planets}


# -- positions that fit a view ---------------------------------------------------------------------------

_SHUFFLES: Final = 40
"""Fair tries, each consistent deal equally likely, before hands are built card by card."""


def determinize(view: JsonObject, seat: int, rng: Random) -> st.Position:
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
    return state_of(board, view, cards)


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
