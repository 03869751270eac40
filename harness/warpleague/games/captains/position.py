"""Positions of captains as JSON, and what is wrong with one that somebody wrote by hand.

A position made by hand may leave out most fields: see docs/games/captains.md. Whether its parts fit each other is
checked in `checks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import OptionsError
from warpleague.games.captains.boards import CLOSED, SIDE_NAMES
from warpleague.games.captains.checks import check
from warpleague.games.captains.dealing import (
    DECK_EMPTY,
    EXPLORED,
    MAX_ROUNDS,
    RETIRED,
    WHYS,
    Dealing,
    Options,
    Plan,
    first_deal,
    plan,
)
from warpleague.games.captains.geometry import Laid, Layout, misfit
from warpleague.games.captains.state import (
    ENERGY,
    HAND,
    STAGES,
    STATION,
    TOKENS,
    TURN_ACTIONS,
    Cards,
    Known,
    State,
    Table,
    Tokens,
    add_token,
    table,
    tokens_of,
)
from warpleague.games.reading import Given
from warpleague.games.values import Cache, CacheByIdentity, decoded, encoded, mask, members

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject
    from warpleague.games.captains.dealing import Why
    from warpleague.games.captains.state import Position
    from warpleague.games.reading import Fields

_KEYS: Final = (
    "match", "stage", "seat", "round", "last_round", "why", "energy", "steps", "warped", "picked", "focus",
    "taken", "ships", "tokens", "hands", "known", "delivered", "docks", "points", "explorers", "retired",
)  # fmt: skip
_OPTIONS: Final = ("galaxy", "pattern", "galaxy_file", "ai", "max_rounds")
_MATCH_KEYS: Final = ("players", *_OPTIONS, "station", "boards")
_MAX_POINTS: Final = 1_000_000

# -- writing ---------------------------------------------------------------------------------------------


def match_json(plan: Plan, station: int, laid: tuple[tuple[int, int, int], ...]) -> JsonObject:
    """The JSON form of `MatchFacts`."""
    options = plan.options
    return {
        "players": plan.players,
        "galaxy": options.galaxy,
        "pattern": plan.pattern.name,
        "galaxy_file": options.galaxy_file,
        "ai": options.ai,
        "max_rounds": options.max_rounds,
        "station": station,
        "boards": [[plan.boards[board].number, SIDE_NAMES[side], turn] for board, side, turn in laid],
    }


def _known(key: tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]) -> bytes:
    sure, slots, spent = key
    return encoded(
        {
            "sure": sure,
            "slots": [members(mask) for mask in slots],
            "spent": [{"planet": planet, "slots": members(could)} for planet, could in spent],
        }
    )


def _cards(cards: Cards) -> bytes:
    known = b",".join([_KNOWN[one.sure, one.slots, one.spent] for one in cards.known])
    return b'"known":[%b],"delivered":%b,"docks":%b' % (known, encoded(cards.piles), encoded(cards.docks))


_MATCH: Final = CacheByIdentity[Table, bytes](
    lambda table: encoded(match_json(table.plan, table.galaxy.layout.station, table.galaxy.layout.laid)), 64
)
_KNOWN: Final = Cache(_known)
"""Public knowledge of a hand, from the fields of `Known`."""
_CARDS: Final = CacheByIdentity(_cards)
"""Public knowledge of the cards: these stay while ships move."""
_LISTS: Final = Cache[tuple[Any, ...], bytes](encoded)
_TAKEN: Final = Cache[int, bytes](lambda taken: encoded(members(taken)))
_STAGES: Final = tuple(map(encoded, STAGES))
_BOOL: Final = (b"false", b"true")


def position_json(state: State, more: bytes) -> bytes:
    """The common part of the JSON of views and whole positions, with `more` fields after it."""
    return (
        b'{"match":%b,"stage":%b,"retired":%b,"seat":%d,"round":%d,"last_round":%d,"why":%b,"energy":%d,'
        b'"steps":%d,"warped":%b,"picked":%b,"focus":%d,"taken":%b,"ships":%b,"tokens":%b,%b,"points":%b,'
        b'"explorers":%b,%b}'
    ) % (
        _MATCH[state.table],
        _STAGES[state.stage],
        _LISTS[state.retired],
        state.seat,
        state.round,
        state.last_round,
        encoded(state.why),
        state.energy,
        state.steps,
        _BOOL[state.warped],
        _BOOL[state.picked],
        state.focus,
        _TAKEN[state.taken],
        _LISTS[state.ships],
        _LISTS[state.tokens.stacks],
        _CARDS[state.cards],
        _LISTS[state.points],
        _LISTS[state.explorers],
        more,
    )


def dealing_json(dealing: Dealing) -> JsonObject:
    """The same while the galaxy is laid: nothing of it is hidden."""
    return {
        "match": match_json(dealing.plan, dealing.rotation, dealing.laid),
        "stage": "galaxy",
        "retired": list(dealing.retired),
    }


def to_json(state: Position) -> JsonObject:
    """The whole position."""
    if isinstance(state, Dealing):
        return dealing_json(state)
    data: JsonObject = decoded(position_json(state, b'"hands":' + encoded(state.cards.hands)))
    return data


# -- reading ---------------------------------------------------------------------------------------------


def plan_of(match: JsonObject) -> Plan:
    """The plan of a position's `match`; `OptionsError` if its options do not fit."""
    return plan(match["players"], Options(**{name: match[name] for name in _OPTIONS}))


def laid_of(plan: Plan, boards: list[Any]) -> tuple[Laid, ...]:
    """The boards of a `match`, each an index among those in play, side and rotation."""
    numbers = {board.number: i for i, board in enumerate(plan.boards)}
    return tuple((numbers[number], SIDE_NAMES.index(side), turn) for number, side, turn in boards)


def known_of(data: JsonObject) -> Known:
    """The knowledge that a `Memory` describes."""
    return Known(
        tuple(data["sure"]),
        tuple(map(mask, data["slots"])),
        tuple((one["planet"], mask(one["slots"])) for one in data["spent"]),
    )


def from_json(data: object) -> Position:
    """The position `to_json` wrote, or a hand-made one; `PositionError` names what is wrong."""
    fields = Given(data).fields(*_KEYS)
    stage = fields.get("stage", "turn").index(("galaxy", *STAGES)) - 1
    plan, rotation, laid = _match(fields["match"], complete=stage >= 0)
    retired = fields.get("retired", []).distinct(0, plan.players - 1)
    if stage < 0:
        for key in fields:
            if key not in ("match", "stage", "retired"):
                fields[key].fail("does not belong to stage galaxy")
        return Dealing(plan, rotation, laid, retired)
    layout = Layout(rotation, laid)
    place = misfit(plan.station, plan.boards, plan.pattern, layout)
    if place is not None:
        boards = fields["match"].fields(*_MATCH_KEYS)["boards"].items()
        boards[place].fail("so turned, a planet is less than 3 spaces from another, or out of reach")
    return _Reader(fields, table(plan, layout), stage, retired).read()


def _match(given: Given, *, complete: bool) -> tuple[Plan, int, tuple[Laid, ...]]:
    """The plan, the station board's rotation, and the boards laid (all of them if `complete`)."""
    match = given.fields(*_MATCH_KEYS)
    players = match["players"].whole(1, 5)
    names = [name for name in _OPTIONS if name in match]
    options = Given({name: match[name].value for name in names}, "match").options(Options)
    try:
        made = plan(players, options)
    except (OptionsError, TypeError, ValueError) as error:
        given.fail(str(error.args[0]))
    dealt = first_deal(made).rotation
    station = match.get("station", 0 if complete else dealt)
    rotation = station.whole(dealt, 5 if dealt < 0 else 0)
    numbers = [board.number for board in made.boards]
    boards = match["boards"] if complete else match.get("boards", [])
    laid: list[Laid] = []
    for item in boards.items(len(numbers) if complete else None):
        number, side, turn = item.items(3)
        if number.whole(1, 999) not in numbers:
            number.fail(f"must be a board in play ({numbers}), not {number.value}")
        board = numbers.index(number.whole(1, 999))
        if board in [other for other, _, _ in laid]:
            number.fail(f"board {number.value} is laid already")
        laid.append((board, side.index(SIDE_NAMES), turn.whole(0, 5)))
    if not complete and len(laid) >= len(numbers):
        boards.fail("all boards are laid: the stage can no longer be galaxy")
    if rotation < 0 and (complete or laid):
        station.fail("must be drawn (0 to 5) before boards are laid")
    return made, rotation, tuple(laid)


class _Reader:
    """Reads a position on a galaxy that is laid."""

    def __init__(self, fields: Fields, board: Table, stage: int, retired: tuple[int, ...]) -> None:
        self.fields = fields
        self.get = fields.get
        self.table = board
        self.stage = stage
        self.retired = retired
        self.spaces = len(board.galaxy.hexes)

    def read(self) -> State:
        """The position, all parts checked one by one and against each other."""
        get, board = self.get, self.table
        seat = get("seat", 0).whole(0, board.players - 1)
        ships = self.ships()
        tokens = self.tokens(ships)
        cards = self.cards()
        explorers = get("explorers", []).wholes(0, board.owners - 1)
        explored = tokens.reached.bit_count()
        if len(explorers) != explored:
            text = f"names {len(explorers)} owners, but {explored} planets have a token beside them"
            get("explorers").fail(text)
        why, round_, last = self.ending(explorers, cards)
        state = State(
            table=board,
            stage=self.stage,
            seat=seat,
            round=round_,
            energy=get("energy", ENERGY).whole(0, ENERGY),
            steps=get("steps", 0).whole(0, TURN_ACTIONS + HAND),
            warped=get("warped", False).flag(),
            picked=get("picked", False).flag(),
            ships=ships,
            tokens=tokens,
            cards=cards,
            points=get("points", [0] * board.owners).wholes(0, _MAX_POINTS, board.owners),
            explorers=explorers,
            retired=self.retired,
            last_round=last,
            why=why,
            focus=get("focus", STATION).whole(-1, max(board.planets, 3)),
            taken=mask(get("taken", []).distinct(0, board.planets - 1)),
        )
        check(self.fields, state)
        return state

    def ships(self) -> tuple[int, ...]:
        galaxy, players = self.table.galaxy, self.table.players
        items = self.get("ships", [-1] * players).items(players)
        spaces = [item.whole(-1, self.spaces - 1) for item in items]
        for item, space in zip(items, spaces, strict=True):
            if space >= 0 and galaxy.kinds[space] in CLOSED:
                item.fail(f"no ship can be on space {space} ({galaxy.kinds[space]})")
        return tuple(spaces)

    def tokens(self, ships: tuple[int, ...]) -> Tokens:
        """The tokens, each checked as if it were being placed (captains G3, T3)."""
        board = self.table
        tokens = tokens_of(board, ((),) * board.owners)
        for owner, stack in enumerate(self.get("tokens", [[]] * board.owners).items(board.owners)):
            spaces = stack.items()
            for item in spaces:
                space = item.whole(0, self.spaces - 1)
                if not tokens.open[owner] >> space & 1:
                    item.fail(f"no token can be on space {space}: {self.why_no_token(tokens, owner, space)}")
                tokens = add_token(board, tokens, owner, space)
            if spaces and not board.galaxy.beside_station[tokens.stacks[owner][0]]:
                spaces[0].fail("the first token must be beside the station")
            if owner < board.players and (ships[owner] < 0) != (not spaces):
                self.fields.fail(f"ships[{owner}]", "is -1 exactly as long as the seat has no token")
        return tokens

    def why_no_token(self, tokens: Tokens, owner: int, space: int) -> str:
        galaxy = self.table.galaxy
        if len(tokens.stacks[owner]) >= TOKENS:
            return f"an owner has only {TOKENS} tokens"
        if not galaxy.takes_token[space]:
            return f"{galaxy.kinds[space]} takes no token"
        if space in tokens.at:
            return "there is a token already"
        return "the owner has a token beside that planet or the station already"

    def cards(self) -> Cards:
        board = self.table
        planets, players, each = board.planets, board.players, board.plan.copies
        none = [0] * planets

        def rows(key: str, owners: int) -> tuple[tuple[int, ...], ...]:
            items = self.get(key, [none] * owners).items(owners)
            return tuple([item.wholes(0, each, planets) for item in items])

        hands, piles = rows("hands", players), rows("delivered", board.owners)
        docks = self.get("docks", none).wholes(0, each, planets)
        deck = [each - sum(column) for column in zip(docks, *hands, *piles, strict=True)]
        for planet, left in enumerate(deck):
            if left < 0:
                text = f"with docks and delivered, there are {each - left} cards of planet {planet}"
                self.fields.fail("hands", text)
        for seat, hand in enumerate(hands):
            if sum(hand) > HAND:
                self.fields.fail(f"hands[{seat}]", f"{sum(hand)} cards; a hand holds at most {HAND}")
        return Cards(tuple(deck), sum(deck), docks, hands, piles, self.known(hands))

    def known(self, hands: tuple[tuple[int, ...], ...]) -> tuple[Known, ...]:
        """The knowledge of the hands, nothing if it is not given; it must be true."""
        planets = self.table.planets
        if "known" not in self.fields:
            return tuple(Known((0,) * planets, (0,) * sum(hand)) for hand in hands)
        cards = []
        for item, hand in zip(self.fields["known"].items(len(hands)), hands, strict=True):
            parts = item.fields("sure", "slots", "spent")
            sure = parts["sure"].wholes(0, HAND, planets)
            slots = tuple([_ascending(slot, planets) for slot in parts["slots"].items()])
            gone = [card.fields("planet", "slots") for card in parts.get("spent", []).items()]
            spent = tuple(
                [
                    (card["planet"].whole(0, planets - 1), _ascending(card["slots"], len(slots)))
                    for card in gone
                ]
            )
            known = Known(sure, slots, spent)
            counts = list(zip(hand, sure, strict=True))
            hidden = [of for of, (cards, open_) in enumerate(counts) for _ in range(cards - open_)]
            short = any(cards < open_ for cards, open_ in counts)
            if short or len(hidden) != known.hidden or not known.allows(hidden):
                item.fail(f"does not fit the hand {list(hand)}")
            if spent and not known.hidden:
                parts["spent"].fail("must be empty when no card is hidden")
            cards.append(known)
        return tuple(cards)

    def ending(self, explorers: tuple[int, ...], cards: Cards) -> tuple[Why, int, int]:
        """Why and when the game ends (captains E1, E4), and the round."""
        get, most = self.get, self.table.plan.options.max_rounds
        round_ = get("round", 1).whole(1, most)
        ends = []
        if not cards.left:
            ends.append((round_ + 1, DECK_EMPTY))
        if len(explorers) == self.table.planets:
            ends.append((round_ + 3, EXPLORED))
        ends.append((most, MAX_ROUNDS))
        latest, reason = min(ends, key=lambda end: end[0])  # of equals not the cap, as in play
        last = get("last_round", latest).whole(round_, latest)
        given = get("why", reason)
        why = WHYS[given.index(WHYS)]
        if (why == RETIRED) != (len(self.retired) == self.table.players):
            given.fail("is 'retired' exactly when every seat is")
        if why == MAX_ROUNDS and reason != MAX_ROUNDS:
            given.fail(f"is {reason!r}, which ends the game no later than max_rounds does")
        if why == MAX_ROUNDS and last != most:
            get("last_round").fail(f"must be {most}, max_rounds, with why {MAX_ROUNDS!r}")
        if why == EXPLORED and len(explorers) < self.table.planets:
            given.fail("not every planet is explored")
        if why == DECK_EMPTY and cards.left:
            given.fail("the deck is not empty")
        return why, round_, last


def _ascending(given: Given, below: int) -> int:
    """A list of ascending numbers below `below`, as a set."""
    numbers = given.distinct(0, below - 1)
    if list(numbers) != sorted(numbers):
        given.fail("must ascend")
    return mask(numbers)
