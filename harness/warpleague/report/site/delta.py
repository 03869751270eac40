"""Writes scenes as plain JSON, and as deltas: what differs from the scene before.

`assets/codec.js` applies the same deltas in a browser; both are tested against the scenes themselves.

The plain form of a scene is an object of five lists, a text and a shape:

    {"shape": "square", "caption": "...", "cells": [[x, y, kind, label, owner], ...],
     "pieces": [[x, y, kind, text, owner, facing], ...], "links": [[x1, y1, x2, y2, kind, owner], ...],
     "panels": [[title, owner], ...], "lines": [[text, ...], ...]}

where `lines` holds the lines of the panel at the same place. A delta is an object with the keys that changed. The
shape and the caption have their new values. Each list has splices `[at, drop, item, ...]`, to be applied in order:
remove `drop` items at `at`, and insert the given items there. The first scene is a delta against `EMPTY`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from warpleague.games.scene import Scene
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.games.scene import Cell, Link, Piece

T = TypeVar("T")
Plain = dict[str, Any]
Delta = dict[str, Any]

LISTS: Final = ("cells", "pieces", "links", "panels", "lines")
EMPTY: Final[Plain] = {"shape": "", "caption": "", **{name: [] for name in LISTS}}
_NOTHING: Final = Scene("square", ())


def plain(scene: Scene) -> Plain:
    """The plain form of a scene, its texts without anything that could steer a terminal or a page."""
    return {
        "shape": scene.shape,
        "caption": _text(scene.caption),
        "cells": [_cell(cell) for cell in scene.cells],
        "pieces": [_piece(piece) for piece in scene.pieces],
        "links": [_link(link) for link in scene.links],
        "panels": [[_text(panel.title), panel.owner] for panel in scene.panels],
        "lines": [_lines(panel.lines) for panel in scene.panels],
    }


def _text(text: str) -> str:
    return safe(text, keep="")


def _number(value: float) -> float:
    """Whole numbers as such: shorter, and most are."""
    return int(value) if value == int(value) else value


def _cell(cell: Cell) -> list[Any]:
    return [_number(cell.x), _number(cell.y), cell.kind, _text(cell.label), cell.owner]


def _piece(piece: Piece) -> list[Any]:
    place = [_number(piece.x), _number(piece.y)]
    return [*place, piece.kind, _text(piece.text), piece.owner, piece.facing]


def _link(link: Link) -> list[Any]:
    ends = [_number(value) for value in (link.x1, link.y1, link.x2, link.y2)]
    return [*ends, link.kind, link.owner]


def _lines(lines: tuple[str, ...]) -> list[str]:
    return [_text(line) for text in lines for line in text.split("\n")]


def diff(old: Scene | None, new: Scene) -> Delta:
    """The delta that turns `old`, or `EMPTY`, into `new`; empty if they are the same.

    Scenes are compared as values, and only what changed is written.
    """
    delta: Delta = {}
    if old is None:
        old = _NOTHING
        delta["shape"] = new.shape
    elif new.shape != old.shape:
        delta["shape"] = new.shape
    if new.caption != old.caption:
        delta["caption"] = _text(new.caption)
    if cells := splices(old.cells, new.cells, _cell):
        delta["cells"] = cells
    if pieces := splices(old.pieces, new.pieces, _piece):
        delta["pieces"] = pieces
    if links := splices(old.links, new.links, _link):
        delta["links"] = links
    if old.panels != new.panels:
        if found := splices(_heads(old), _heads(new), lambda head: [_text(head[0]), head[1]]):
            delta["panels"] = found
        if found := splices(_bodies(old), _bodies(new), _lines):
            delta["lines"] = found
    return delta


def _heads(scene: Scene) -> list[tuple[str, int | None]]:
    return [(panel.title, panel.owner) for panel in scene.panels]


def _bodies(scene: Scene) -> list[tuple[str, ...]]:
    return [panel.lines for panel in scene.panels]


def splices(old: Sequence[T], new: Sequence[T], spell: Callable[[T], Any]) -> list[list[Any]]:
    """The splices that turn the list `old` into the list `new`; `spell` gives the JSON of an item.

    If the lists have the same length, the splices replace the items that differ, as on boards whose cells stay the
    same. Otherwise one splice replaces everything between the common beginning and the common end.
    """
    if old is new:  # most games keep the cells that did not change
        return []
    if len(old) == len(new):
        found: list[list[Any]] = []
        for at, item in enumerate(new):
            if item is old[at] or item == old[at]:
                continue
            if found and found[-1][0] + found[-1][1] == at:
                found[-1][1] += 1
                found[-1].append(spell(item))
            else:
                found.append([at, 1, spell(item)])
        return found
    most = min(len(old), len(new))
    head = _same(zip(old, new, strict=False), most)
    tail = _same(zip(reversed(old), reversed(new), strict=False), most - head)
    return [[head, len(old) - head - tail, *map(spell, new[head : len(new) - tail])]]


def _same(pairs: Iterable[tuple[Any, Any]], most: int) -> int:
    """How many pairs, `most` at most, are of equals before the first that is not."""
    count = 0
    for one, other in pairs:
        if count == most or one != other:
            break
        count += 1
    return count


def patch(old: Plain, delta: Delta) -> Plain:
    """The scene that `delta` makes of `old`, which stays as it is."""
    new = {**old, **delta}
    for name in LISTS:
        if name in delta:
            items = list(old[name])
            for at, drop, *put in delta[name]:
                items[at : at + drop] = put
            new[name] = items
    return new
