"""Plays sheets: keeps and marks the dice that a fitted worth of sheets gains most from; looks ahead over its rolls.

The gain of a die is that of its best use on the sheet as it will be once the dice kept so far are marked together.
The hope of a hand is the mean over rolls of the best choice to keep and discard.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from warpleague.games.sheets.geometry import (
    BOX_EDGES,
    BOXES,
    CELL_LINES,
    CIRCLES,
    CROSS,
    ROUNDS,
    SIDE,
    UNIT_NUMBER,
    UNITS,
    WHITE,
    WHITE_UNIT,
    YELLOW,
    YELLOW_LINES,
)
from warpleague.games.sheets.rules import UNIT_SETS
from warpleague.games.values import mask, members
from warpleague.opponents.player import Player, Skill
from warpleague.opponents.sheets_weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from warpleague.games.sheets.state import State
    from warpline.budget import Budget
    from warpline.client import Question


# -- the worth of a sheet: the points to expect from it at the end, by features with fitted weights ------

BESIDE: Final = tuple(
    mask(
        [
            other
            for other in range(BOXES)
            if abs(other // SIDE - box // SIDE) + abs(other % SIDE - box % SIDE) == 1
        ]
    )
    for box in range(BOXES)
)
"""For each box those beside it."""
CROSS_BOXES: Final = tuple(tuple(members(boxes)) for boxes in CROSS)
LINES: Final = tuple((mask(line.cells), len(line.cells), line.reward == "reroll") for line in YELLOW_LINES)
STORED: Final = 0.35
"""The worth of a stored reroll, up to four."""


class Marks(NamedTuple):
    """The content of a sheet; `blue` holds the written values in order, those crossed out as negative numbers."""

    edges: int
    holes: int
    yellow: int
    red: int
    blue: tuple[int, ...]
    free_lines: int
    rerolls: int


def marks_of(sheet: Any) -> Marks:
    """The marks on a sheet of the engine."""
    return Marks(
        sheet.edges, sheet.wormholes, sheet.yellow, sheet.red, sheet.blue, sheet.free_lines, sheet.rerolls
    )


def uses(marks: Marks, section: str, value: Any) -> Iterator[tuple[int | None, Marks]]:
    """The uses of a die in a section: edge, cell or box of each use, and the marks after it."""
    if section == "white":
        for edge in members(WHITE[value[0]][value[1]] & ~marks.edges):
            yield edge, marks._replace(edges=marks.edges | 1 << edge)
    elif section == "yellow":
        for cell in members(YELLOW[value] & ~marks.yellow):
            yellow = marks.yellow | 1 << cell
            done = [line.reward for cells, line in CELL_LINES[cell] if yellow & cells == cells]
            rerolls = done.count("reroll")
            yield (
                cell,
                marks._replace(
                    yellow=yellow,
                    free_lines=marks.free_lines + len(done) - rerolls,
                    rerolls=marks.rerolls + rerolls,
                ),
            )
    elif section == "red":
        if not marks.red >> value & 1:
            red = marks.red | 1 << value
            boxes = [box for box in CROSS_BOXES[value] if BOX_EDGES[box] & ~marks.edges]
            for box in boxes:
                yield box, marks._replace(red=red, edges=marks.edges | BOX_EDGES[box])
            if not boxes:
                yield None, marks._replace(red=red)
    elif value in marks.blue:
        crossed = tuple([-own if own == value else own for own in marks.blue])
        for box in CROSS_BOXES[value]:
            if not marks.holes >> box & 1:
                yield box, marks._replace(blue=crossed, holes=marks.holes | 1 << box)
    elif len(marks.blue) < CIRCLES:
        yield None, marks._replace(blue=(*marks.blue, value))


def box_features(edges: int, holes: int, red: int) -> tuple[float, ...]:
    """Boxes by missing edges, without and with a wormhole; what unmarked red values would complete."""
    count = [0.0] * 10
    gain = []
    for box, own in enumerate(BOX_EDGES):
        missing = (own & ~edges).bit_count()
        hole = holes >> box & 1
        count[missing + 5 * hole] += 1
        gain.append(1 + hole + 0.1 * missing if missing else 0.0)
    best = [max([gain[box] for box in CROSS_BOXES[value]]) for value in range(1, 7) if not red >> value & 1]
    return (*count[:4], *count[5:], float(len(best)), sum(best))


def blue_features(holes: int, opened: int, used: int) -> tuple[float, ...]:
    """Adjacent wormholes, empty circles, open and other values by the neighbours they can give."""
    seen = [0.0] * 8
    room = CIRCLES - used
    for value in range(1, 7):
        is_open = opened >> value & 1
        if is_open or room:
            free = [box for box in CROSS_BOXES[value] if not holes >> box & 1]
            best = max([(BESIDE[box] & holes).bit_count() for box in free], default=0)
            seen[min(best, 3) + (0 if is_open else 4)] += 1
    return (float(pairs(holes)), float(room), *seen, float(min(room, 2)))


def pairs(holes: int) -> int:
    """The adjacent pairs among the wormholes."""
    return sum([(BESIDE[box] & holes).bit_count() for box in members(holes)]) // 2


def yellow_features(yellow: int) -> tuple[float, ...]:
    """Lines for free lines, and lines for rerolls, that miss one to three numbers; all numbers."""
    count = [0.0] * 6
    for cells, length, reroll in LINES:
        missing = length - (yellow & cells).bit_count()
        if 0 < missing < 4:
            count[missing - 1 + 3 * reroll] += 1
    return (*count, float(yellow.bit_count()))


def box_points(edges: int, holes: int, free_lines: int) -> float:
    """The points of boxes if the free lines were used at once, roughly."""
    points, wanted = 0, []
    for box, own in enumerate(BOX_EDGES):
        missing = (own & ~edges).bit_count()
        worth = 1 + (holes >> box & 1)
        if not missing:
            points += worth
        elif missing <= free_lines:
            wanted.append((missing / worth, missing, worth))
    wanted.sort()
    for _, missing, worth in wanted:
        if missing <= free_lines:
            free_lines -= missing
            points += worth
    return float(points)


def features(marks: Marks) -> tuple[float, ...]:
    """All features; the weights stand in this order."""
    opened = mask([value for value in marks.blue if value > 0])
    return (
        *box_features(marks.edges, marks.holes, marks.red),
        *blue_features(marks.holes, opened, len(marks.blue)),
        *yellow_features(marks.yellow),
        box_points(marks.edges, marks.holes, marks.free_lines),
        float(marks.free_lines),
        float(min(marks.free_lines, 4)),
        float(marks.rerolls),
    )


BOX_PART: Final = len(box_features(0, 0, 0))
BLUE_PART: Final = BOX_PART + len(blue_features(0, 0, 0))
YELLOW_PART: Final = BLUE_PART + len(yellow_features(0))


class Worth:
    """The worth of sheets with `left` own turns left. The parts are cached, since they repeat."""

    def __init__(self, left: int) -> None:
        self.weights = WEIGHTS[left]
        self.boxes = lru_cache(100_000)(self._boxes)
        self.blue = lru_cache(100_000)(self._blue)
        self.yellow = lru_cache(100_000)(self._yellow)

    def of(self, marks: Marks) -> float:
        """The points to expect, but for a constant."""
        opened = mask([value for value in marks.blue if value > 0])
        _, line, first_lines, _ = self.weights[YELLOW_PART:]
        return (
            self.boxes(marks.edges, marks.holes, marks.red, marks.free_lines)
            + self.blue(marks.holes, opened, len(marks.blue))
            + self.yellow(marks.yellow)
            + line * marks.free_lines
            + first_lines * min(marks.free_lines, 4)
            + STORED * min(marks.rerolls, 4)
        )

    def _boxes(self, edges: int, holes: int, red: int, free_lines: int) -> float:
        points = box_points(edges, holes, free_lines)
        weighed = weighted(self.weights[:BOX_PART], box_features(edges, holes, red))
        return points * (1 + self.weights[YELLOW_PART]) + weighed

    def _blue(self, holes: int, opened: int, used: int) -> float:
        found = blue_features(holes, opened, used)
        return 3 * found[0] + weighted(self.weights[BOX_PART:BLUE_PART], found)

    def _yellow(self, yellow: int) -> float:
        return weighted(self.weights[BLUE_PART:YELLOW_PART], yellow_features(yellow))


def weighted(weights: Sequence[float], found: Sequence[float]) -> float:
    """The sum of features times weights."""
    return float(sum(map(mul, weights, found)))


@lru_cache(maxsize=16)
def worth_with(left: int) -> Worth:
    """The one `Worth` with `left` own turns left."""
    return Worth(left)


# -- the player ------------------------------------------------------------------------------------------

PRICE: Final = 0.5
"""The gain for which a reroll is spent; with plenty of them a small one is enough."""
SPITE: Final = 0.5
"""How much of a gain for the next seat counts as a loss."""
KEPT: Final = 3
"""Units kept in a turn."""
WIDTH: Final = 5
"""Uses of a die that are tried together with those of the others."""
BLACK: Final = (("yellow",), ("yellow", "red"), ("yellow", "red", "blue"))
"""The uses of black dice: in rounds 1-2, 3-4, 5-7."""

Value = Any
"""The value of a unit: a number, or the two of the white pair."""
Gains = dict[int, dict[Value, float]]
"""By unit and value."""
Die = tuple[int, Value]


def sections(unit: int, round_: int) -> tuple[str, ...]:
    """Where a unit can be marked."""
    name = UNITS[unit]
    return BLACK[min((round_ - 1) // 2, 2)] if name.startswith("black") else (name,)


def shown(state: State, unit: int) -> Value:
    """The value that a unit shows."""
    return state.dice[:2] if unit == WHITE_UNIT else state.dice[unit + 1]


def gains_of(worth: Worth, marks: Marks, round_: int) -> Gains:
    """For each unit a table: the most that each of its values brings."""
    base = worth.of(marks)
    single = {
        section: {
            value: max([worth.of(after) - base for _, after in uses(marks, section, value)], default=0.0)
            for value in range(1, 7)
        }
        for section in ("yellow", "red", "blue")
    }
    lines = {
        edge: worth.of(marks._replace(edges=marks.edges | 1 << edge)) - base
        for edge in range(84)
        if not marks.edges >> edge & 1
    }
    white = {
        (a, b): max([lines[edge] for edge in members(WHITE[a][b] & ~marks.edges)], default=0.0)
        for a in range(1, 7)
        for b in range(1, 7)
    }
    gains: Gains = {WHITE_UNIT: white}
    for unit in range(1, 6):
        tables = [single[section] for section in sections(unit, round_)]
        gains[unit] = {value: max([table[value] for table in tables]) for value in range(1, 7)}
    return gains


class Together(NamedTuple):
    """The best worth of a sheet once some dice are marked, the marks then, and the first use: unit, section, place."""

    worth: float
    marks: Marks
    first: tuple[int, str, int | None] | None


def together(worth: Worth, marks: Marks, dice: list[Die], round_: int, budget: Budget) -> Together:
    """The best way to mark all `dice` that have a use; the best for each in turn once the `budget` is used up."""
    best = Together(worth.of(marks), marks, None)
    seen = set()
    for number, (unit, value) in enumerate(dice):
        kind = sections(unit, round_), value
        if kind in seen:  # two black dice with the same value
            continue
        seen.add(kind)
        rest = dice[:number] + dice[number + 1 :]
        found = [
            (worth.of(after), (unit, section, place), after)
            for section in sections(unit, round_)
            for place, after in uses(marks, section, value)
        ]
        found.sort(key=lambda one: -one[0])
        width = 1 if rest and budget.over() else WIDTH
        for alone, use, after in found[:width]:
            then = together(worth, after, rest, round_, budget) if rest else Together(alone, after, use)
            if best.first is None or then.worth > best.worth:
                best = Together(then.worth, then.marks, use)
    return best


class Sheets(Player):
    """A player of sheets; its `effort` is the number of rolls that it draws for a hand of four or six units."""

    skills = (Skill(0.5, 8), Skill(0.25, 8), Skill(0.08, 8), Skill(0.0, 60))

    def choose(self, question: Question, state: State, legal: Sequence[Any]) -> int:
        """The index of the action to play."""
        marks = marks_of(state.sheets[self.seat])
        ask = question.ask
        if ask == "lines":
            edge = last_lines(marks.edges, marks.holes, marks.free_lines)[1]
            return at(legal, "pass") if edge is None else at(legal, "free-line", edge=edge)
        worth = worth_with(self.left(state, self.seat))
        if ask == "mark":
            return self.mark(worth, marks, state, legal, UNIT_SETS[state.kept])
        if ask == "use":
            return self.mark(worth, marks, state, legal, [state.taken])
        if ask == "take":
            return self.take(gains_of(worth, marks, state.round), state, legal)
        return self.keep(worth, marks, state, legal)

    def left(self, state: State, seat: int) -> int:
        """How many turns of its own a seat has after this turn."""
        return ROUNDS - state.round + (seat > state.seat)

    def mark(
        self, worth: Worth, marks: Marks, state: State, legal: Sequence[Any], units: Sequence[int]
    ) -> int:
        """The first use of the best way to mark all units."""
        dice = [(unit, shown(state, unit)) for unit in units]
        use = together(worth, marks, dice, state.round, self.budget).first
        if use is None:
            return 0
        unit, section, place = use
        if section == "white":
            return at(legal, "line", edge=place)
        where = {"cell": place} if section == "yellow" else {"box": place}
        return at(legal, section, unit=UNITS[unit], **where)

    def take(self, gains: Gains, state: State, legal: Sequence[Any]) -> int:
        """The discarded die with the largest gain; a reroll if the dice are poor (solo)."""
        units = [UNIT_NUMBER[action.unit] for action in legal if action.do == "take"]
        best = max(units, key=lambda unit: gains[unit][shown(state, unit)], default=None)
        now = 0.0 if best is None else gains[best][shown(state, best)]
        if any(action.do == "reroll" for action in legal):
            tables = [gains[unit] for unit in UNIT_SETS[state.offered]]
            rolls = list(product(*[table.values() for table in tables]))
            if sum(map(max, rolls)) / len(rolls) - max(0.0, now) > self.price(state):
                return at(legal, "reroll")
        return at(legal, "pass") if best is None or now <= 0 else at(legal, "take", unit=UNITS[best])

    def price(self, state: State) -> float:
        """The least gain of a reroll: little when there are more than turns to use them in."""
        return 0.02 if state.sheets[self.seat].rerolls > 2 * self.left(state, self.seat) else PRICE

    def costs(self, state: State) -> Gains:
        """The cost of discarding each value of each unit: the next seat's gain from it."""
        other = (self.seat + 1) % len(state.sheets)
        marks = marks_of(state.sheets[other])
        gains = gains_of(worth_with(self.left(state, other)), marks, state.round)
        if other == self.seat:  # alone, one of the three discarded dice is rolled again and used
            return {unit: dict.fromkeys(gains[unit], -sum(gains[unit].values()) / 30) for unit in range(1, 6)}
        top = max([gains[unit][shown(state, unit)] for unit in UNIT_SETS[state.offered]], default=0.0)
        return {
            unit: {value: SPITE * max(0.0, gain - top) for value, gain in gains[unit].items()}
            for unit in range(1, 6)
        }

    def keep(self, worth: Worth, marks: Marks, state: State, legal: Sequence[Any]) -> int:
        """The choice with the most worth and hope; a reroll if it lags behind what the hand promises."""
        hand, round_ = UNIT_SETS[state.hand], state.round
        kept = [(unit, shown(state, unit)) for unit in UNIT_SETS[state.kept]]
        costs = self.costs(state)
        rough: list[Gains] = []

        def promises(dice: list[Die]) -> tuple[float, Hopes]:
            """The worth of the sheet with these dice marked, with the hope for more."""
            then = together(worth, marks, dice, round_, self.budget)
            gains: Gains = {}
            if len(dice) < KEPT and self.budget.over():  # roughly: as if these dice were not marked yet
                gains = rough[0] if rough else gains_of(worth, marks, round_)
                rough[:] = [gains]
            elif len(dice) < KEPT:
                gains = gains_of(worth, then.marks, round_)
            return then.worth, Hopes(gains, costs, self.rng, self.skill.effort, self.budget)

        found = []
        by_unit = {unit: promises([*kept, (unit, shown(state, unit))]) for unit in hand}
        for number, action in enumerate(legal):
            if action.do != "keep":
                continue
            unit, discard = UNIT_NUMBER[action.unit], UNIT_NUMBER[action.discard]
            rest = tuple([other for other in hand if other not in (unit, discard)])
            total, hopes = by_unit[unit]
            total -= costs[discard][shown(state, discard)]
            found.append((total + (hopes.of_hand(rest) if rest else 0.0), number))
        best, number = max(found, key=lambda one: one[0])
        rerolls = [other for other, action in enumerate(legal) if action.do == "reroll"]
        if rerolls:
            now, hopes = promises(kept)
            if now + hopes.of_hand(tuple(hand)) - best > self.price(state):
                return rerolls[0]
        return number


def at(legal: Sequence[Any], do: str, **fields: Any) -> int:
    """The index of the action with these fields."""
    return next(
        number
        for number, action in enumerate(legal)
        if action.do == do and all(getattr(action, name) == value for name, value in fields.items())
    )


def last_lines(edges: int, holes: int, lines: int) -> tuple[int, int | None]:
    """The most points that a number of free lines bring at the end, and the first edge to draw (or None)."""
    wanted = []
    for box, own in enumerate(BOX_EDGES):
        missing = own & ~edges
        if 0 < missing.bit_count() <= lines:
            wanted.append(((1 + (holes >> box & 1)) / missing.bit_count(), missing))
    wanted.sort(reverse=True)
    best: tuple[int, int | None] = (0, None)
    for _, missing in wanted[:5]:
        then = edges | missing
        points = sum(
            [1 + (holes >> box & 1) for box, own in enumerate(BOX_EDGES) if not own & ~then and own & ~edges]
        )
        points += last_lines(then, holes, lines - missing.bit_count())[0]
        if points > best[0]:
            best = points, (missing & -missing).bit_length() - 1
    return best


class Hopes:
    """The expected gain of hands in one turn, from `samples` rolls for each; from one once the `budget` is used up."""

    def __init__(self, gains: Gains, costs: Gains, rng: Random, samples: int, budget: Budget) -> None:
        self.gains = gains
        self.costs = costs
        self.rng = rng
        self.samples = samples
        self.budget = budget
        self.known: dict[tuple[int, ...], float] = {}

    def of_hand(self, hand: tuple[int, ...]) -> float:
        """The mean over rolls of the best choice; exact for the last two units."""
        if hand not in self.known:
            self.known[hand] = self.last_two(*hand) if len(hand) == 2 else self.sampled(hand)
        return self.known[hand]

    def last_two(self, one: int, two: int) -> float:
        """The same for two units in hand: one is kept, the other discarded."""
        gains, costs = self.gains, self.costs
        if one == WHITE_UNIT:
            return sum(gains[one].values()) / 36 - sum(costs[two].values()) / 6
        total = 0.0
        for a, b in product(range(1, 7), repeat=2):
            total += max(gains[one][a] - costs[two][b], gains[two][b] - costs[one][a])
        return total / 36

    def sampled(self, hand: tuple[int, ...]) -> float:
        """The same for a hand of four or six, over some rolls."""
        choices = [
            (keep, discard, self.of_hand(tuple([unit for unit in hand if unit not in (keep, discard)])))
            for keep in hand
            for discard in hand
            if keep != discard != WHITE_UNIT
        ]
        values = {unit: list(zip(table.values(), self.costs.get(unit, table).values(), strict=True))
                  for unit, table in self.gains.items()}  # fmt: skip
        total = 0.0
        for drawn in range(self.samples):
            if drawn and self.budget.over():
                return total / drawn
            rolled = {unit: self.rng.choice(values[unit]) for unit in hand}
            total += max([rolled[keep][0] - rolled[discard][1] + hope for keep, discard, hope in choices])
        return total / self.samples


OPPONENT = Sheets
