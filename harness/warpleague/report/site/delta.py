"""Writes scenes as plain JSON, and as deltas: what differs from the scene before.

`assets/codec.js` applies the same deltas in a browser; both are tested against the scenes themselves.

The plain form of a scene is an object of seven lists, and of values:

    {"cells": [[x, y, kind, label, owner, id, glyph, corner, ways], ...],
     "pieces": [[x, y, kind, text, owner, facing, id, glyph, corner, layers], ...],
     "links": [[x1, y1, x2, y2, kind, owner, id], ...],
     "panels": [[title, owner, drawn], ...], "lines": [[text, ...], ...],
     "trays": [[title, owner], ...], "items": [[[[kind, text, id, glyph, crossed], ... of a row], ... of a tray], ...],
     "shape": "square", "caption": "...", "legend": [[name, meaning], ...], "columns": [...], "rows": [...],
     "scores": [...], "measure": "points", "roles": [...], "seat_lines": [...], "turn": [3, 0], "apart": false,
     "focus": null}

where `lines` holds those lines of the panel at the same place that are not drawn otherwise, and `items` the rows of
the tray at the same place. What an entry of a list has nothing of at its end is left out there.

A delta is an object with the keys that changed. Values stand as they are now. Each list has splices
`[at, drop, item, ...]`, to be applied in order: remove `drop` items at `at`, and insert the given items there. The
first scene is a delta against `EMPTY`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


T = TypeVar("T")
Plain = dict[str, Any]
Delta = dict[str, Any]

LISTS: Final = ("cells", "pieces", "links", "panels", "lines", "trays", "items")
_NOTHING: Final = Scene("square", ())
EMPTY: Final[Plain] = {
    "shape": "",
    "caption": "",
    **{name: [] for name in ("legend", "columns", "rows", "scores", "roles", "seat_lines", *LISTS)},
    "measure": "points",
    "turn": None,
    "apart": False,
    "focus": None,
}


def plain(scene: Scene) -> Plain:
    """The plain form of a scene, its texts without anything that could steer a terminal or a page."""
    return {
        "shape": scene.shape,
        "caption": _text(scene.caption),
        **{name: write(getattr(scene, name)) for name, write in _VALUES.items()},
        "cells": [_cell(cell) for cell in scene.cells],
        "pieces": [_piece(piece) for piece in scene.pieces],
        "links": [_link(link) for link in scene.links],
        "panels": [_head(head) for head in _heads(scene.panels)],
        "lines": [_lines(lines) for lines in _bodies(scene.panels)],
        "trays": [_title(head) for head in _titles(scene.trays)],
        "items": [_items(tray.rows) for tray in scene.trays],
    }


def _texts(texts: Iterable[str]) -> list[str]:
    return [_text(text) for text in texts]


def _scores(scores: Iterable[float]) -> list[float]:
    return [_number(round(score, 3)) for score in scores]


def _as_it_is(value: T) -> T:
    return value


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


def _head(head: tuple[str, int | None, int]) -> list[Any]:
    title, owner, drawn = head
    return _cut([_text(title), owner, drawn], 2)


def _title(head: tuple[str, int | None]) -> list[Any]:
    title, owner = head
    return [_text(title), owner]


def _items(rows: tuple[tuple[Item, ...], ...]) -> list[Any]:
    return [
        [_cut([item.kind, _text(item.text), item.id, item.glyph, item.crossed], 2) for item in row]
        for row in rows
    ]


def _lines(lines: tuple[str, ...]) -> list[str]:
    return [_text(line) for text in lines for line in text.split("\n")]


_VALUES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "legend": lambda legend: [[_text(name), _text(meaning)] for name, meaning in legend],
    "columns": _texts,
    "rows": _texts,
    "scores": _scores,
    "measure": _text,
    "roles": _texts,
    "seat_lines": _texts,
    "turn": lambda turn: None if turn is None else list(turn),
    "apart": _as_it_is,
    "focus": _as_it_is,
}
"""How each of the values that seldom change is written."""


def diff(old: Scene | None, new: Scene, like: tuple[Scene | None, Scene, Delta] | None = None) -> Delta:
    """The delta that turns `old`, or `EMPTY`, into `new`; empty if they are the same.

    Scenes are compared as values, and only what changed is written. `like` is the same step as another viewer sees it,
    as two scenes and their delta: what both see alike is taken from there.
    """
    if like is not None and old is like[0] and new is like[1]:
        return like[2]
    delta: Delta = {}
    if old is None:
        old = _NOTHING
        delta["shape"] = new.shape
    other_old, other_new, other = like or (None, new, {})
    for (field, (keys, changes)), was, now in zip(
        _FIELDS.items(), _values_of(old), _values_of(new), strict=True
    ):
        if now is was or now == was:  # most games keep what did not change: it is the same object
            continue
        if other_old is not None and getattr(other_new, field) == now and getattr(other_old, field) == was:
            delta |= {key: other[key] for key in keys if key in other}
        else:
            delta |= changes(was, now)
    return delta


Changes = Callable[[Any, Any], Delta]


def _value(name: str, write: Callable[[Any], Any]) -> Changes:
    def changes(old: Any, new: Any) -> Delta:
        value = write(new)
        return {} if value == write(old) else {name: value}

    return changes


def _list(name: str, write: Callable[[Any], Any]) -> Changes:
    return lambda old, new: {name: splices(old, new, write)}


def _panels(old: Sequence[Panel], new: Sequence[Panel]) -> Delta:
    heads = splices(_heads(old), _heads(new), _head)
    lines = splices(_bodies(old), _bodies(new), _lines)
    return ({"panels": heads} if heads else {}) | ({"lines": lines} if lines else {})


def _trays(old: Sequence[Tray], new: Sequence[Tray]) -> Delta:
    titles = splices(_titles(old), _titles(new), _title)
    items = splices([tray.rows for tray in old], [tray.rows for tray in new], _items)
    return ({"trays": titles} if titles else {}) | ({"items": items} if items else {})


_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], Changes]]] = {
    "shape": (("shape",), _value("shape", _as_it_is)),
    "caption": (("caption",), _value("caption", _text)),
    **{name: ((name,), _value(name, write)) for name, write in _VALUES.items()},
    "cells": (("cells",), _list("cells", _cell)),
    "pieces": (("pieces",), _list("pieces", _piece)),
    "links": (("links",), _list("links", _link)),
    "panels": (("panels", "lines"), _panels),
    "trays": (("trays", "items"), _trays),
}
"""For each field of a scene: the keys of a delta that tell it, and what they are where the field is not the same."""

_values_of: Final = attrgetter(*_FIELDS)


def _heads(panels: Iterable[Panel]) -> list[tuple[str, int | None, int]]:
    return [(panel.title, panel.owner, panel.drawn) for panel in panels]


def _titles(trays: Iterable[Tray]) -> list[tuple[str, int | None]]:
    return [(tray.title, tray.owner) for tray in trays]


def _bodies(panels: Iterable[Panel]) -> list[tuple[str, ...]]:
    return [panel.lines[: len(panel.lines) - panel.drawn] for panel in panels]


def splices(old: Sequence[T], new: Sequence[T], spell: Callable[[T], Any]) -> list[list[Any]]:
    """The splices that turn the list `old` into the list `new`; `spell` gives the JSON of an item.

    Where fewer items are written so, the splices replace the items that differ in place, and the end of the longer
    list. Otherwise one splice replaces everything between the common beginning and the common end.
    """
    if old == new:
        return []
    most = min(len(old), len(new))
    pairs = enumerate(zip(old, new, strict=False))
    differ = [at for at, (one, other) in pairs if not (one is other or one == other)]
    if len(old) != len(new):
        head = differ[0] if differ else most
        tail = _same(zip(reversed(old), reversed(new), strict=False), most - head)
        if len(new) - head - tail <= len(differ) + len(new) - most:
            return [[head, len(old) - head - tail, *map(spell, new[head : len(new) - tail])]]
    changes: list[list[Any]] = []
    for at in differ:
        if changes and changes[-1][0] + changes[-1][1] == at:
            changes[-1][1] += 1
            changes[-1].append(spell(new[at]))
        else:
            changes.append([at, 1, spell(new[at])])
    if len(old) != len(new):
        changes.append([most, len(old) - most, *map(spell, new[most:])])
    return changes


def _same(pairs: Iterable[tuple[Any, Any]], most: int) -> int:
    """How many pairs, `most` at most, are of equals before the first that is not."""
    count = 0
    for one, other in pairs:
        if count == most or one != other:
            break
        count += 1
    return count
