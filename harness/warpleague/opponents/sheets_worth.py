"""Estimates the worth of a sheet: the points to expect from it at the end, by features with fitted weights."""

from __future__ import annotations

from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from warpleague.games.sheets.geometry import (
    BOX_EDGES,
    BOXES,
    CELL_LINES,
    CIRCLES,
    CROSS,
    SIDE,
    WHITE,
    YELLOW,
    YELLOW_LINES,
)
from warpleague.games.values import mask, members
from warpleague.opponents.sheets_weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
