"""Decides how a position is written as JSON, and refuses what is no position, naming the field.

Leaves the JSON of views to `view`. Hand-made positions may leave out most fields: see docs/games/captains.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.errors import OptionsError, PositionError
from warpleague.games.captains.boards import CLOSED, SIDE_NAMES
from warpleague.games.captains.dealing import Dealing, Plan, first_deal
from warpleague.games.captains.fields import Fields, distinct, number, rows, whole
from warpleague.games.captains.flow import DECK_EMPTY, EXPLORED, MAX_ROUNDS, WHYS
from warpleague.games.captains.galaxy import Layout, misfit
from warpleague.games.captains.guess import known_of, laid_of, plan_of
from warpleague.games.captains.memory import Known
from warpleague.games.captains.options import MOST_ROUNDS
from warpleague.games.captains.score import RETIRED
from warpleague.games.captains.sound import check
from warpleague.games.captains.state import (
    ENERGY,
    HAND,
    STAGES,
    STATION,
    TOKENS,
    TURN_ACTIONS,
    Cards,
    State,
    Table,
    Tokens,
    add_token,
    may_place,
    table,
    tokens_of,
)
from warpleague.games.captains.view import common_json, dealing_json

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject

_MOST_POINTS = 1_000_000


def to_json(state: State | Dealing) -> JsonObject:
    """The whole position."""
    if isinstance(state, Dealing):
        return dealing_json(state)
    return {**common_json(state), "hands": [list(hand) for hand in state.cards.hands]}


def from_json(data: object) -> State | Dealing:
    """The position `to_json` wrote, or a hand-made one; `PositionError` names what is wrong."""
    fields = Fields(
        data,
        "",
        (
            "match", "stage", "seat", "round", "last_round", "why", "energy", "steps", "warped", "picked", "focus",
            "taken", "ships", "tokens", "hands", "known", "delivered", "docks", "points", "explorers", "retired",
        ),
    )  # fmt: skip
    stage = fields.word("stage", ("galaxy", *STAGES), "turn")
    plan, rotation, laid = _match(fields.need("match"), complete=stage != "galaxy")
    retired = fields.rows("retired", None, number(0, plan.players - 1), [])
    distinct(retired, "retired")
    if stage == "galaxy":
        for key in fields.data:
            if key not in ("match", "stage", "retired"):
                fields.fail(key, "does not belong to stage galaxy")
        return Dealing(plan, rotation, laid, retired)
    layout = Layout(rotation, laid)
    place = misfit(plan.station, plan.boards, plan.pattern, layout)
    if place is not None:
        raise PositionError(
            f"match.boards[{place}]: so turned, a planet is less than 3 spaces from another, or out of reach"
        )
    return _State(fields, table(plan, layout), STAGES.index(stage), retired).read()


def _match(data: object, *, complete: bool) -> tuple[Plan, int, tuple[tuple[int, int, int], ...]]:
    """The plan, the station board's rotation, and the boards laid (all of them if `complete`)."""
    fields = Fields(
        data,
        "match",
        ("players", "galaxy", "pattern", "galaxy_file", "ai", "max_rounds", "station", "boards"),
    )
    players = fields.whole("players", 1, 5)
    defaults = {"galaxy": "full", "pattern": None, "galaxy_file": None, "ai": None, "max_rounds": 200}
    fields.whole("max_rounds", 1, MOST_ROUNDS, 200)
    try:
        plan = plan_of({"players": players, **defaults, **fields.data})
    except (OptionsError, TypeError, ValueError) as error:
        raise PositionError(f"match: {error.args[0] if error.args else error}") from None
    dealt = first_deal(plan).rotation
    rotation = fields.whole("station", dealt, 5 if dealt < 0 else 0, 0 if complete else dealt)
    numbers = [board.number for board in plan.boards]

    def board(value: object, path: str) -> list[Any]:
        if not isinstance(value, list) or len(value) != 3:
            raise PositionError(f"{path}: must be [board number, side, rotation], not {value!r:.60}")
        if type(value[0]) is not int or value[0] not in numbers:
            raise PositionError(f"{path}[0]: must be a board in play ({numbers}), not {value[0]!r:.60}")
        if not isinstance(value[1], str) or value[1] not in SIDE_NAMES:
            raise PositionError(f'{path}[1]: must be "A" or "B", not {value[1]!r:.60}')
        whole(value[2], f"{path}[2]", 0, 5)
        return value

    boards = fields.rows("boards", len(numbers) if complete else None, board, None if complete else [])
    distinct(tuple(value[0] for value in boards), "match.boards")
    if not complete and len(boards) >= len(numbers):
        fields.fail("boards", "all boards are laid: the stage can no longer be galaxy")
    if rotation < 0 and (complete or boards):
        fields.fail("station", "must be drawn (0 to 5) before boards are laid")
    return plan, rotation, laid_of(plan, list(boards))


class _State:
    """Reads a position on a galaxy that is laid."""

    def __init__(self, fields: Fields, board: Table, stage: int, retired: tuple[int, ...]) -> None:
        self.fields = fields
        self.table = board
        self.stage = stage
        self.retired = retired
        self.spaces = len(board.galaxy.hexes)

    def read(self) -> State:
        fields, board, stage = self.fields, self.table, self.stage
        seat = fields.whole("seat", 0, board.players - 1, 0)
        ships = self.ships()
        tokens = self.tokens(ships)
        cards = self.cards()
        explorers = fields.rows("explorers", None, number(0, board.owners - 1), [])
        if len(explorers) != tokens.reached.bit_count():
            fields.fail(
                "explorers",
                f"names {len(explorers)} owners, but {tokens.reached.bit_count()} planets have a token beside them",
            )
        why, round_, last = self.ending(explorers, cards)
        state = State(
            table=board,
            stage=stage,
            seat=seat,
            round=round_,
            energy=fields.whole("energy", 0, ENERGY, ENERGY),
            steps=fields.whole("steps", 0, TURN_ACTIONS + HAND, 0),
            warped=fields.flag("warped"),
            picked=fields.flag("picked"),
            ships=ships,
            tokens=tokens,
            cards=cards,
            points=fields.rows("points", board.owners, number(0, _MOST_POINTS), [0] * board.owners),
            explorers=explorers,
            retired=self.retired,
            last_round=last,
            why=why,
            focus=fields.whole("focus", -1, max(board.planets, 3), STATION),
            taken=sum(
                1 << planet
                for planet in distinct(fields.rows("taken", None, number(0, board.planets - 1), []), "taken")
            ),
        )
        check(fields, state)
        return state

    def ships(self) -> tuple[int, ...]:
        galaxy = self.table.galaxy

        def ship(value: object, path: str) -> int:
            space = whole(value, path, -1, self.spaces - 1)
            if space >= 0 and galaxy.kinds[space] in CLOSED:
                raise PositionError(f"{path}: no ship can be on space {space} ({galaxy.kinds[space]})")
            return space

        players = self.table.players
        found: tuple[int, ...] = self.fields.rows("ships", players, ship, [-1] * players)
        return found

    def tokens(self, ships: tuple[int, ...]) -> Tokens:
        """The tokens, each checked as if it were being placed (captains G3, T3)."""
        board, fields = self.table, self.fields
        read = number(0, self.spaces - 1)
        stacks = fields.rows(
            "tokens", board.owners, lambda row, path: rows(row, path, None, read), [[]] * board.owners
        )
        tokens = tokens_of(board, ((),) * board.owners)
        for owner, stack in enumerate(stacks):
            for i, space in enumerate(stack):
                if not may_place(board, tokens, owner, space):
                    reason = (
                        f"an owner has only {TOKENS} tokens"
                        if i >= TOKENS
                        else f"{board.galaxy.kinds[space]} takes no token"
                        if not board.galaxy.takes_token[space]
                        else "there is a token already"
                        if space in tokens.at
                        else "the owner has a token beside that planet or the station already"
                    )
                    fields.fail(f"tokens[{owner}][{i}]", f"no token can be on space {space}: {reason}")
                tokens = add_token(board, tokens, owner, space)
            if stack and not board.galaxy.beside_station[stack[0]]:
                fields.fail(f"tokens[{owner}][0]", "the first token must be beside the station")
            if owner < board.players and (ships[owner] < 0) != (not stack):
                fields.fail(f"ships[{owner}]", "is -1 exactly as long as the seat has no token")
        return tokens

    def cards(self) -> Cards:
        board, fields = self.table, self.fields
        planets, players = board.planets, board.players
        each = board.plan.copies
        counts = number(0, each)

        def row(value: object, path: str) -> tuple[int, ...]:
            return rows(value, path, planets, counts)

        none = [0] * planets
        hands = fields.rows("hands", players, row, [none] * players)
        piles = fields.rows("delivered", board.owners, row, [none] * board.owners)
        docks = fields.rows("docks", planets, counts, none)
        deck = [each - sum(column) for column in zip(docks, *hands, *piles, strict=True)]
        for planet, left in enumerate(deck):
            if left < 0:
                fields.fail(
                    "hands", f"with docks and delivered, there are {each - left} cards of planet {planet}"
                )
        for seat, hand in enumerate(hands):
            if sum(hand) > HAND:
                fields.fail(f"hands[{seat}]", f"{sum(hand)} cards; a hand holds at most {HAND}")
        known = self.known(hands)
        return Cards(tuple(deck), sum(deck), docks, hands, piles, known)

    def known(self, hands: tuple[tuple[int, ...], ...]) -> tuple[Known, ...]:
        """What is known of the hands, nothing if it is not given; it must be true."""
        fields, planets = self.fields, self.table.planets
        if "known" not in fields.data:
            return tuple(Known((0,) * planets, (0,) * sum(hand)) for hand in hands)
        planet = number(0, planets - 1)

        def slot(value: object, path: str) -> tuple[int, ...]:
            found = distinct(rows(value, path, None, planet), path)
            if list(found) != sorted(found):
                raise PositionError(f"{path}: must ascend")
            return found

        def one(value: object, path: str) -> Known:
            parts = Fields(value, path, ("sure", "slots", "spent"))
            sure = parts.rows("sure", planets, number(0, HAND))
            slots = parts.rows("slots", None, slot)

            def spent(item: object, where: str) -> JsonObject:
                card = Fields(item, where, ("planet", "slots"))
                where_it_was = card.rows("slots", None, number(0, len(slots) - 1))
                return {"planet": card.whole("planet", 0, planets - 1), "slots": where_it_was}

            gone = parts.rows("spent", None, spent, [])
            for i, card in enumerate(gone):
                distinct(card["slots"], f"{path}.spent[{i}].slots")
                if list(card["slots"]) != sorted(card["slots"]):
                    raise PositionError(f"{path}.spent[{i}].slots: must ascend")
            return known_of({"sure": sure, "slots": slots, "spent": gone})

        known: tuple[Known, ...] = fields.rows("known", len(hands), one)
        for seat, (knowledge, hand) in enumerate(zip(known, hands, strict=True)):
            hidden = [
                of
                for of, (cards, sure) in enumerate(zip(hand, knowledge.sure, strict=True))
                for _ in range(cards - sure)
            ]
            short = any(cards < sure for cards, sure in zip(hand, knowledge.sure, strict=True))
            if short or len(hidden) != knowledge.hidden or not knowledge.allows(hidden):
                fields.fail(f"known[{seat}]", f"does not fit the hand {list(hand)}")
            if knowledge.spent and not knowledge.hidden:
                fields.fail(f"known[{seat}].spent", "must be empty when no card is hidden")
        return known

    def ending(self, explorers: tuple[int, ...], cards: Cards) -> tuple[str, int, int]:
        """Why and when the game ends (captains E1, E4), and the round."""
        fields, most = self.fields, self.table.plan.options.max_rounds
        round_ = fields.whole("round", 1, most, 1)
        ends = []
        if not cards.left:
            ends.append((round_ + 1, DECK_EMPTY))
        if len(explorers) == self.table.planets:
            ends.append((round_ + 3, EXPLORED))
        ends.append((most, MAX_ROUNDS))
        latest, reason = min(ends, key=lambda end: end[0])  # of equals not the cap, as in play
        last = fields.whole("last_round", round_, latest, latest)
        why = fields.word("why", WHYS, reason)
        if (why == RETIRED) != (len(self.retired) == self.table.players):
            fields.fail("why", "is 'retired' exactly when every seat is")
        if why == MAX_ROUNDS and reason != MAX_ROUNDS:
            fields.fail("why", f"is {reason!r}, which ends the game no later than max_rounds does")
        if why == MAX_ROUNDS and last != most:
            fields.fail("last_round", f"must be {most}, max_rounds, with why {MAX_ROUNDS!r}")
        if why == EXPLORED and len(explorers) < self.table.planets:
            fields.fail("why", "not every planet is explored")
        if why == DECK_EMPTY and cards.left:
            fields.fail("why", "the deck is not empty")
        return why, round_, last
