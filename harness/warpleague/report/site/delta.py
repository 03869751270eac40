"""Writes scenes as plain JSON, and as deltas: what differs from the scene before.

`assets/codec.js` applies the same deltas in a browser; both are tested against the scenes themselves.

The plain form of a scene is an object of seven lists, and of values:

    {"cells": [[x, y, kind, label, owner, id, glyph, corner, ways], ...],
     "pieces": [[x, y, kind, text, owner, facing, id, glyph, corner, layers], ...],
     "links": [[x1, y1, x2, y2, kind, owner, id], ...],
     "panels": [[title, owner, drawn], ...], "lines": [[text, ...], ...],
     "trays": [[title, owner], ...], "items": [[[[kind, text, id, glyph, crossed], ... of a row], ... of a tray], ...],
     "shape": "square", "caption": "...", "legend": [[name, meaning], ...], "columns": [...], "rows": [...],
     "scores": [...], "measure": "points", "roles": [...], "apart": false, "focus": null}

where `lines` holds those lines of the panel at the same place that are not drawn otherwise, and `items` the rows of
the tray at the same place. What an entry of a list has nothing of at its end is left out there.

A delta is an object with the keys that changed. Values stand as they are now. Each list has splices
`[at, drop, item, ...]`, to be applied in order: remove `drop` items at `at`, and insert the given items there. The
first scene is a delta against `EMPTY`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from warpleague.games.scene import Scene
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.games.scene import Cell, Item, Link, Panel, Piece

T = TypeVar("T")
Plain = dict[str, Any]
Delta = dict[str, Any]

LISTS: Final = ("cells", "pieces", "links", "panels", "lines", "trays", "items")
_VALUES: Final = ("legend", "columns", "rows", "scores", "measure", "roles", "apart", "focus")
_NOTHING: Final = Scene("square", ())
EMPTY: Final[Plain] = {
    "shape": "",
    "caption": "",
    **{name: [] for name in ("legend", "columns", "rows", "scores", "roles", *LISTS)},
    "measure": "points",
    "apart": False,
    "focus": None,
}


def plain(scene: Scene) -> Plain:
    """The plain form of a scene, its texts without anything that could steer a terminal or a page."""
    return {
        "shape": scene.shape,
        "caption": _text(scene.caption),
        **_values(scene),
        "cells": [_cell(cell) for cell in scene.cells],
        "pieces": [_piece(piece) for piece in scene.pieces],
        "links": [_link(link) for link in scene.links],
        "panels": [_head(panel) for panel in scene.panels],
        "lines": [_lines(lines) for lines in _bodies(scene)],
        "trays": [[_text(tray.title), tray.owner] for tray in scene.trays],
        "items": [_items(tray.rows) for tray in scene.trays],
    }


def _values(scene: Scene) -> Plain:
    """The values that seldom change."""
    return {
        "legend": [[_text(name), _text(meaning)] for name, meaning in scene.legend],
        "columns": [_text(name) for name in scene.columns],
        "rows": [_text(name) for name in scene.rows],
        "scores": [_number(round(score, 3)) for score in scene.scores],
        "measure": _text(scene.measure),
        "roles": [_text(role) for role in scene.roles],
        "apart": scene.apart,
        "focus": scene.focus,
    }


def _text(text: str) -> str:
    return safe(text, keep="")


def _number(value: float) -> float:
    """Whole numbers as such: shorter, and most are."""
    return int(value) if value == int(value) else value


def _cut(entry: list[Any], least: int) -> list[Any]:
    """`entry` without what is empty at its end, but never shorter than `least`."""
    while len(entry) > least and not entry[-1]:
        entry.pop()
    return entry


def _cell(cell: Cell) -> list[Any]:
    place = [_number(cell.x), _number(cell.y)]
    more = [cell.id, cell.glyph, _text(cell.corner), cell.ways]
    return _cut([*place, cell.kind, _text(cell.label), cell.owner, *more], 5)


def _piece(piece: Piece) -> list[Any]:
    place = [_number(piece.x), _number(piece.y)]
    more = [piece.id, piece.glyph, _text(piece.corner), piece.layers]
    return _cut([*place, piece.kind, _text(piece.text), piece.owner, piece.facing, *more], 6)


def _link(link: Link) -> list[Any]:
    ends = [_number(value) for value in (link.x1, link.y1, link.x2, link.y2)]
    return _cut([*ends, link.kind, link.owner, link.id], 6)


def _head(panel: Panel) -> list[Any]:
    return _cut([_text(panel.title), panel.owner, panel.drawn], 2)


def _item(item: Item) -> list[Any]:
    return _cut([item.kind, _text(item.text), item.id, item.glyph, item.crossed], 2)


def _items(rows: tuple[tuple[Item, ...], ...]) -> list[Any]:
    return [[_item(item) for item in row] for row in rows]


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
    delta |= _new_values(old, new)
    if cells := splices(old.cells, new.cells, _cell):
        delta["cells"] = cells
    if pieces := splices(old.pieces, new.pieces, _piece):
        delta["pieces"] = pieces
    if links := splices(old.links, new.links, _link):
        delta["links"] = links
    if old.panels != new.panels:
        heads, new_heads = ([_head(panel) for panel in scene.panels] for scene in (old, new))
        if found := splices(heads, new_heads, list):
            delta["panels"] = found
        if found := splices(_bodies(old), _bodies(new), _lines):
            delta["lines"] = found
    if old.trays != new.trays:
        titles, new_titles = (
            [[_text(tray.title), tray.owner] for tray in scene.trays] for scene in (old, new)
        )
        if found := splices(titles, new_titles, list):
            delta["trays"] = found
        rows, new_rows = ([tray.rows for tray in scene.trays] for scene in (old, new))
        if found := splices(rows, new_rows, _items):
            delta["items"] = found
    return delta


def _new_values(old: Scene, new: Scene) -> Delta:
    """Those of the values that differ."""
    if all(getattr(old, name) is getattr(new, name) for name in _VALUES):  # as most are
        return {}
    was = _values(old)
    return {name: value for name, value in _values(new).items() if value != was[name]}


def _bodies(scene: Scene) -> list[tuple[str, ...]]:
    return [panel.lines[: len(panel.lines) - panel.drawn] for panel in scene.panels]


def splices(old: Sequence[T], new: Sequence[T], spell: Callable[[T], Any]) -> list[list[Any]]:
    """The splices that turn the list `old` into the list `new`; `spell` gives the JSON of an item.

    Where fewer items are written so, the splices replace the items that differ in place, and the end of the longer
    list. Otherwise one splice replaces everything between the common beginning and the common end.
    """
    if old is new:  # most games keep the cells that did not change
        return []
    most = min(len(old), len(new))
    differ = [at for at in range(most) if new[at] is not old[at] and new[at] != old[at]]
    if len(old) != len(new):
        head = differ[0] if differ else most
        tail = _same(zip(reversed(old), reversed(new), strict=False), most - head)
        if len(new) - head - tail <= len(differ) + len(new) - most:
            return [[head, len(old) - head - tail, *map(spell, new[head : len(new) - tail])]]
    found: list[list[Any]] = []
    for at in differ:
        if found and found[-1][0] + found[-1][1] == at:
            found[-1][1] += 1
            found[-1].append(spell(new[at]))
        else:
            found.append([at, 1, spell(new[at])])
    if len(old) != len(new):
        found.append([most, len(old) - most, *map(spell, new[most:])])
    return found


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
