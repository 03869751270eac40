"""Draws one position of a match as an SVG file that needs nothing else: the scores of the seats, and the board.

The elements have the classes that the scripts of a page give them (`assets/board.js`), so the same style sheets colour
them. These are within the file, in light colours. It has no text smaller than a page would show.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from math import atan2, cos, degrees, hypot, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.report.site.page_frame import asset
from warpleague.report.wording.match_words import number, one_line
from warpleague.report.wording.seat_names import SeatNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.scene import Cell, Item, Link, Piece, Scene, Tray

_SIDE: Final = 48.0
_RADIUS: Final = 30.0
_ITEM: Final = 29.0
_PAD: Final = 16.0
_SHEET: Final = 490.0
_HEAD: Final = 46.0
_BROAD: Final = 0.62
_LEAST_ROOM: Final = 38
"""The least width of a heading, by the size of its text."""
_SHIP: Final = "M0,-1.3 L.9,-.3 L.9,.95 L-.9,.95 L-.9,-.3Z"
_ANGLES: Final = {"": 0, "N": 0, "NE": 45, "E": 90, "SE": 135, "S": 180, "SW": 225, "W": 270, "NW": 315}
_ON: Final = {"rocket": (0.42, 0.08), "coin": (0.62, 0.0), "disc": (0.34, -0.58)}
"""How large a second glyph is on a first, and how far below its middle, as in `assets/glyphs.js`."""

_PIPS: Final = {1: "c", 2: "ad", 3: "acd", 4: "abde", 5: "abcde", 6: "abdefg"}
_PIP_PLACES: Final = {
    "a": (-1, -1), "b": (1, -1), "c": (0, 0), "d": (1, 1), "e": (-1, 1), "f": (-1, 0), "g": (1, 0),
}  # fmt: skip


Part = tuple[tuple[str, ...], str]
"""An element, and the opening tags of the groups around it, the outermost first. A group may be empty: `""`."""


@attrs.frozen
class Drawing:
    """A scene as parts, in the order in which they are painted, and its box: left, top, width and height."""

    parts: tuple[Part, ...]
    box: tuple[float, float, float, float]


def picture(scene: Scene, names: Sequence[str]) -> bytes:
    """The SVG of a scene; `names` are those of the bots by seat."""
    drawn = draw(scene, names)
    lines = heading(scene, names)
    size = text_size(drawn.box)
    box = around(drawn.box, len(lines))
    parts = [*heading_parts(lines, box, size), *drawn.parts]
    return svg(joined(parts), box, one_line(scene.caption))


def draw(scene: Scene, names: Sequence[str], before: Scene | None = None) -> Drawing:
    """The scene without its heading; what changed since the scene `before` is marked."""
    return _sheets(scene, names, before) if scene.apart else _board(scene, before)


def joined(parts: Sequence[Part]) -> str:
    """The text of parts; those that follow each other in the same group share it."""
    made: list[str] = []
    open_now: tuple[str, ...] = ()
    for path, element in [*parts, ((), "")]:
        same = 0
        while same < min(len(path), len(open_now)) and path[same] == open_now[same]:
            same += 1
        made += ["</g>"] * (len(open_now) - same)
        made += [*path[same:], element]
        open_now = path
    return "".join(made)


def text_size(box: tuple[float, float, float, float]) -> float:
    """The size of the heading's text above a drawing."""
    return max(13.0, box[2] / 62)


def around(box: tuple[float, float, float, float], lines: int) -> tuple[float, float, float, float]:
    """The box of a drawing with a heading of so many lines above it, and with room for these."""
    left, top, wide, high = box
    size = text_size(box)
    head = size * (1.6 * lines + 1)
    whole = max(wide, _LEAST_ROOM * size)
    return left - (whole - wide) / 2, top - head, whole, high + head + _PAD


def heading_parts(
    lines: Sequence[tuple[str, str]], box: tuple[float, float, float, float], size: float
) -> list[Part]:
    """The lines of the heading, each a text and a class, at the top of a box."""
    return [
        (
            (),
            f'<text class="said{style}" x="{_n(box[0] + _PAD)}" y="{_n(box[1] + size * (1.6 * at + 1.2))}"'
            f' font-size="{_n(size)}">{escape(text)}</text>',
        )
        for at, (text, style) in enumerate(lines)
    ]


def svg(inner: str, box: tuple[float, float, float, float], title: str) -> bytes:
    """The whole file around what is drawn."""
    view = " ".join(map(_n, box))
    across = min(1200.0, max(480.0, box[2]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="{view}" width="{_n(across)}"'
        f' height="{_n(across * box[3] / box[2])}"><title>{escape(title)}</title>'
        f"<style>{escape(_style(), quote=False)}</style>{rect('paper', *box)}{inner}</svg>\n"
    ).encode()


def rect(name: str, x: float, y: float, wide: float, high: float, more: str = "") -> str:
    """A rectangle of a class, with what is `more` within it."""
    place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}"'
    return f'<rect class="{name}" {place}>{more}</rect>' if more else f'<rect class="{name}" {place}/>'


@cache
def _style() -> str:
    """The style sheets of boards without what is for screens, scripts and the dark."""
    text = asset("variables.css") + asset("base.css") + asset("board.css") + asset("kinds.css")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"@(?:media|keyframes)[^{]*\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", text)
    own = r"seat-\d|:root|cell|piece|link|picture|sheet|kind-|item|cross|board|tray|way|disc|arrow|lost|fresh"
    kept = [f"{name.strip()}{{{' '.join(body.split())}}}" for name, body in rules if re.search(own, name)]
    more = (
        "svg>.paper{fill:var(--paper)}svg>.progress{fill:var(--soft)}",
        ".board text.said{font-weight:550;fill:var(--seat,var(--ink))}",
        "text{text-anchor:middle}text.said,text.start{text-anchor:start}",
    )
    return "\n".join([*kept, *more]).replace("color-scheme: light dark;", "")


@cache
def _glyphs() -> dict[str, list[list[Any]]]:
    """The parts of each glyph, from the script that draws them on pages."""
    found = re.search(r"const PARTS = (\{.*?\n  \});", asset("glyphs.js"), re.DOTALL)
    if found is None:
        raise AssertionError("glyphs.js has no parts")
    parts: dict[str, list[list[Any]]] = json.loads(found[1])
    return parts


def _n(value: float) -> str:
    return f"{round(value, 2):g}"


def heading(scene: Scene, names: Sequence[str]) -> list[tuple[str, str]]:
    """A line for each seat, with its score and what it has, in its colour, and the caption."""
    lines = []
    for seat, name in enumerate(names):
        score = number(scene.scores[seat]) if scene.scores else ""
        more = scene.seat_lines[seat] if scene.seat_lines else ""
        text = " · ".join(filter(None, (f"{name}  {score}".strip(), more)))
        lines.append((one_line(text), f" seat-{seat % 10}"))
    return [*lines, (one_line(SeatNames(names, scene.roles).say(scene.caption)), "")]


def _board(scene: Scene, before: Scene | None) -> Drawing:
    """The board, its kinds of things in groups one upon the other."""
    hexes = scene.shape == "hex"
    points = [_point(scene, cell.x, cell.y) for cell in scene.cells] or [(0.0, 0.0)]
    reach = (_RADIUS if hexes else _SIDE / 2) + 4
    left, top = min(x for x, _ in points) - reach, min(y for _, y in points) - reach
    right, bottom = max(x for x, _ in points) + reach, max(y for _, y in points) + reach
    crowd: dict[tuple[float, float], list[Piece]] = {}
    for piece in scene.pieces:
        crowd.setdefault((piece.x, piece.y), []).append(piece)
    old = before or scene
    layers: dict[str, list[str]] = {
        "cells": [],
        "discs": _discs(scene),
        "links": [],
        "trail": [],
        "pieces": [],
    }
    steady = len(old.cells) == len(scene.cells)
    for cell, was in zip(scene.cells, old.cells if steady else scene.cells, strict=True):
        layers["cells"].append(_cell(scene, cell, crowded=(cell.x, cell.y) in crowd, fresh=cell != was))
    layers["links"] += [_link(scene, link, fresh=link not in old.links) for link in scene.links]
    layers["trail"] += _trail(old, scene)
    for cell in scene.cells:
        here = crowd.pop((cell.x, cell.y), [])
        marked = bool(cell.corner or (cell.label and not cell.ways and not _filler(cell.label)))
        x, y = _point(scene, cell.x, cell.y)
        for at, piece in enumerate(here):
            dx, dy, radius = _place(len(here), at, raised=marked, hexes=hexes)
            name = "piece" if piece in old.pieces else "piece fresh"
            made = _group(name, piece.kind, piece.owner, x + dx, y + dy, _token(piece, radius))
            layers["pieces"].append(made)
    step, down = (1.5 * _RADIUS, sqrt(3) * _RADIUS) if hexes else (_SIDE, _SIDE)
    west, south = (32.0 if scene.rows else 0.0), (22.0 if scene.columns else 0.0)
    names = [(name, left + reach + at * step, bottom + 10) for at, name in enumerate(scene.columns)]
    names += [(name, left - west / 2, top + reach + at * down) for at, name in enumerate(scene.rows)]
    layers["names"] = [
        f'<g class="name" transform="translate({_n(x)} {_n(y)})">'
        f"{_glyph(name, 8) or _text('name', name, size=11.5)}</g>"
        for name, x, y in names
    ]
    parts: list[Part] = []
    for layer, elements in layers.items():
        parts += [((f'<g class="{layer}">',), element) for element in elements or [""]]
    return Drawing(tuple(parts), (left - west, top, right - left + west, bottom - top + south))


def _trail(before: Scene, scene: Scene) -> list[str]:
    """An arrow from where each piece was, and a cross over each that was lost."""
    now = {piece.id: piece for piece in scene.pieces if piece.id}
    made = []
    for old in before.pieces:
        x1, y1 = _point(scene, old.x, old.y)
        piece = now.get(old.id)
        if piece is None and old.id:
            far = _n(_SIDE * 0.38)
            cross = f'<path class="cross" d="M-{far} -{far}L{far} {far}M{far} -{far}L-{far} {far}"/>'
            made.append(_group("lost", old.kind, old.owner, x1, y1, _token(old, _SIDE * 0.35) + cross))
        elif piece is not None and (old.x, old.y) != (piece.x, piece.y):
            x2, y2 = _point(scene, piece.x, piece.y)
            far_off = hypot(x2 - x1, y2 - y1)
            ux, uy = (x2 - x1) / far_off, (y2 - y1) / far_off
            x2, y2 = x2 - ux * 16, y2 - uy * 16
            turn = _n(degrees(atan2(uy, ux)) + 90)
            head = f'<path d="M0 0L7 13L-7 13Z" transform="translate({_n(x2)} {_n(y2)}) rotate({turn})"/>'
            line = f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2 - ux * 6)}" y2="{_n(y2 - uy * 6)}"/>'
            made.append(f'<g class="arrow">{line}{head}</g>')
    return made


def _point(scene: Scene, x: float, y: float) -> tuple[float, float]:
    return (x * 1.5 * _RADIUS, y * sqrt(3) * _RADIUS) if scene.shape == "hex" else (x * _SIDE, y * _SIDE)


def _group(name: str, kind: str, owner: int | None, x: float, y: float, inner: str) -> str:
    """A group of a kind and of a seat about a place; a kind without a style gets a hue from its name."""
    hue = 2166136261
    for char in kind:
        hue = (hue ^ ord(char)) * 16777619 & 0xFFFFFFFF
    seat = f" owned seat-{owner % 10}" if owner is not None else ""
    kind = re.sub(r"[^\w-]", "_", kind)
    return (
        f'<g class="{name} kind-{kind}{seat}" style="--hue:{int(hue * 0.6180339887 % 360)}"'
        f' transform="translate({_n(x)} {_n(y)})">{inner}</g>'
    )


def _text(
    name: str,
    content: str,
    x: float = 0,
    y: float = 0,
    *,
    size: float,
    room: float = 1e9,
    start: bool = False,
) -> str:
    """A text, made smaller where it has too little room."""
    size = min(size, room / max(1, len(content)) / _BROAD)
    place = f' x="{_n(x)}" y="{_n(y)}"' if x or y else ""
    return f'<text class="{name}{" start" if start else ""}"{place} font-size="{_n(size)}">{escape(content)}</text>'


def _filler(label: str) -> bool:
    """Whether a label is only how a terminal fills a cell."""
    return bool(re.fullmatch("[\u2500-\u25ff]+", label))


def _cell(scene: Scene, cell: Cell, *, crowded: bool, fresh: bool) -> str:
    hexes = scene.shape == "hex"
    if hexes:
        turns = [at * pi / 3 for at in range(6)]
        corners = " ".join(
            f"{_n((_RADIUS - 1) * cos(turn))},{_n((_RADIUS - 1) * sin(turn))}" for turn in turns
        )
        inner = f'<polygon class="shape" points="{corners}"/>'
    else:
        inner = '<rect class="shape" x="-23" y="-23" width="46" height="46" rx="5"/>'
    disc = cell.glyph.startswith("disc")
    if cell.glyph and not disc:
        drawn = _glyph(cell.glyph, _RADIUS * 0.5 if hexes else _SIDE * 0.33)
        inner += f'<g transform="translate(0 6)">{drawn}</g>' if hexes and cell.corner else drawn
    for way in cell.ways.split():
        angle = _ANGLES[way]
        far = _RADIUS * 0.7 if hexes else _SIDE * (0.5 if angle % 90 else 0.385)
        x, y = far * sin(angle * pi / 180), -far * cos(angle * pi / 180)
        at = f"translate({_n(x)} {_n(y)}) rotate({angle})"
        inner += f'<path class="way" d="M0 -6 L6.5 4 L-6.5 4Z" transform="{at}"/>'
    if cell.corner and hexes:
        inner += _text("corner", cell.corner, 0, -_RADIUS * 0.56, size=10.5, room=36)
    elif cell.corner:
        inner += _text("corner", cell.corner, _SIDE * 0.33, _SIDE * 0.32, size=12.5, room=20)
    elif cell.label and not _filler(cell.label) and not cell.ways and not disc:
        y = -(_RADIUS * 0.62 if hexes else _SIDE * 0.36) if crowded else 0
        inner += _text("label", cell.label, 0, y, size=10 if crowded else 13, room=36)
    name = "cell fresh" if fresh else "cell"
    return _group(name, cell.kind, cell.owner, *_point(scene, cell.x, cell.y), inner)


def _discs(scene: Scene) -> list[str]:
    """Cells that touch and have the same label as one disc."""
    groups: dict[str, list[Cell]] = {}
    for cell in scene.cells:
        if cell.glyph.startswith("disc"):
            groups.setdefault(cell.label, []).append(cell)
    made = []
    for label, cells in groups.items():
        places = [_point(scene, cell.x, cell.y) for cell in cells]
        x, y = (sum(place[side] for place in places) / len(places) for side in (0, 1))
        far = max(hypot(px - x, py - y) for px, py in places)
        radius = far + (_RADIUS * 0.78 if scene.shape == "hex" else _SIDE * 0.42)
        low = radius * 0.22 if " " in cells[0].glyph else 0
        inner = _glyph(cells[0].glyph, radius)
        inner += _text("label", label, 0, low, size=min(20, radius * 0.66), room=radius * 1.8)
        made.append(_group("disc", cells[0].kind, cells[0].owner, x, y, inner))
    return made


def _link(scene: Scene, link: Link, *, fresh: bool) -> str:
    """Between the corners of squares it is a wall, else it leads from cell to cell."""
    (x1, y1), (x2, y2) = _point(scene, link.x1, link.y1), _point(scene, link.x2, link.y2)
    wall = abs(link.x1 % 1) == 0.5 and (link.x1 == link.x2 or link.y1 == link.y2)
    inner = f'<line class="stroke" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'
    if not wall:
        inner += f'<circle class="to" cx="{_n(x2)}" cy="{_n(y2)}" r="5"/>'
    name = f"link{' wall' if wall else ''}{' fresh' if fresh else ''}"
    return _group(name, link.kind, link.owner, 0, 0, inner)


def _place(count: int, at: int, *, raised: bool, hexes: bool) -> tuple[float, float, float]:
    """Where one of `count` pieces on a cell stands, and its radius."""
    unit = _RADIUS * 1.72 if hexes else _SIDE
    room = unit * (0.8 if raised else 0.9)
    shift = unit * 0.1 if raised else 0.0
    if count == 2:
        return (2 * at - 1) * room * 0.21, shift, room * 0.33
    columns = 1 if count == 1 else 2 if count <= 4 else 3
    rows = -(-count // columns)
    radius = room * 0.42 if count == 1 else room / columns / 2.02
    row, column = divmod(at, columns)
    dx = (column - (min(columns, count - row * columns) - 1) / 2) * (room / columns)
    dy = (row - (rows - 1) / 2) * min(room / rows, radius * 2.1) + shift
    return dx, dy, radius


def _token(piece: Piece, radius: float) -> str:
    """What stands for a piece."""
    turn = f'<g transform="rotate({_ANGLES[piece.facing]})">'
    drawn = _glyph(piece.glyph, radius, piece.layers)
    if drawn:
        size = radius * (0.62 if piece.layers else 0.85)
        mark = (
            _text("mark", piece.corner, 0, size * 0.1, size=size, room=radius * 1.6) if piece.corner else ""
        )
        return f"{turn}{drawn}</g>{mark}"
    if piece.facing:
        shape = f'{turn}<path class="shape" d="{_SHIP}" transform="scale({_n(radius)})"/></g>'
    else:
        shape = f'<circle class="shape" r="{_n(radius)}"/>'
    size = radius * (0.82 if len(piece.text) > 2 else 1.0 if len(piece.text) > 1 else 1.25)
    return shape + _text("mark", piece.text, size=size, room=radius * 2)


def _glyph(names: str, radius: float, layers: int = 0) -> str:
    """The glyphs that are named, each on the one before; empty if none is known."""
    made, size, shift, under = "", 1.0, 0.0, ""
    for name in names.split():
        parts = _parts(name, layers)
        if not parts:
            continue
        at = f' transform="translate(0 {_n(shift)}) scale({_n(size)})"' if under else ""
        made += f'<g class="picture {"upper " if under else ""}picture-{name}"{at}>{parts}</g>'
        size, shift = _ON.get(name, (0.5, 0.0))
        under = name
    return f'<g class="glyph" transform="scale({_n(radius)})">{made}</g>' if made else ""


def _parts(name: str, layers: int) -> str:
    if name == "pyramid":
        sizes = [(0.42, 0.74, 1.06)[at] if at < 3 else 1.06 + 0.2 * (at - 2) for at in range(max(1, layers))]
        return "".join(
            f'<path class="body" d="M0 {_n(-size)} L{_n(wide)} {_n(low)} L{_n(-wide)} {_n(low)}Z"/>'
            for size, wide, low in ((size, size * 0.8, size * 0.72) for size in reversed(sizes))
        )
    if name == "die" or re.fullmatch(r"die-[0-6]", name):
        made = '<rect class="body" x="-0.88" y="-0.88" width="1.76" height="1.76" rx="0.34"/>'
        if name == "die-0":
            return made + '<circle class="ink thin" r="0.36"/>'
        pips = _PIPS[int(name[4:])] if name != "die" else ""
        return made + "".join(
            f'<circle class="ink" r="0.17" cx="{0.48 * x:g}" cy="{0.48 * y:g}"/>'
            for x, y in map(_PIP_PLACES.__getitem__, pips)
        )
    made = ""
    for kind, shape, *middle in _glyphs().get(name, ()):
        if isinstance(shape, str):
            made += f'<path class="{kind}" d="{shape}"/>'
        elif isinstance(shape, dict):
            made += (
                f'<rect class="{kind}"' + "".join(f' {key}="{value}"' for key, value in shape.items()) + "/>"
            )
        else:
            x, y = middle or (0, 0)
            made += f'<circle class="{kind}" r="{shape}" cx="{x}" cy="{y}"/>'
    return made


def _sheets(scene: Scene, names: Sequence[str], before: Scene | None) -> Drawing:
    """The sheets of all owners side by side, the active one outlined, below what lies on the table."""
    owners = list(dict.fromkeys(cell.owner for cell in scene.cells))
    table, below = _trays([tray for tray in scene.trays if tray.owner is None], flat=True)
    parts = _within([_moved(_PAD, 0)], table)
    top, high = below + (_PAD if below else 0), 0.0
    sheets = []
    for owner in owners:
        board = _board(_own(scene, owner), before and _own(before, owner))
        left, upper, wide, tall = board.box
        scale = min(1.25, (_SHEET - 2 * _PAD) / wide)
        rest, low = _trays([tray for tray in scene.trays if tray.owner == owner], flat=False)
        x = (_SHEET - wide * scale) / 2 - left * scale
        title = names[owner] if owner is not None and owner < len(names) else ""
        sheets.append(
            [
                ((), _text("heading start", title, _PAD, 24, size=20, room=_SHEET - 2 * _PAD)),
                *_within([_moved(x, _HEAD - upper * scale, scale)], board.parts),
                *_within([_moved(_PAD, tall * scale + _HEAD + _PAD)], rest),
            ]
        )
        high = max(high, tall * scale + _HEAD + 2 * _PAD + low)
    for at, (owner, inner) in enumerate(zip(owners, sheets, strict=True)):
        name = "sheet active" if owner == scene.focus else "sheet"
        paper = (
            f'<g class="{name}"><rect class="paper" width="{_n(_SHEET)}" height="{_n(high)}" rx="14"/></g>'
        )
        seat = f" owned seat-{owner % 10}" if owner is not None else ""
        group = f'<g class="sheet{seat}" transform="translate({_n(at * (_SHEET + 14))} {_n(top)})">'
        parts += _within([group], [((), paper), *inner])
    return Drawing(tuple(parts), (-3.0, -3.0, len(owners) * (_SHEET + 14) - 8, top + high + 6))


def _own(scene: Scene, owner: int | None) -> Scene:
    """What of a scene is on the sheet of one owner."""
    return attrs.evolve(
        scene,
        cells=tuple(cell for cell in scene.cells if cell.owner == owner),
        pieces=tuple(piece for piece in scene.pieces if piece.owner == owner),
        links=tuple(link for link in scene.links if link.owner == owner),
    )


def _moved(x: float, y: float, scale: float = 1.0) -> str:
    """The opening tag of a group elsewhere."""
    more = "" if scale == 1.0 else f" scale({_n(scale)})"
    return f'<g transform="translate({_n(x)} {_n(y)}){more}">'


def _within(groups: Sequence[str], parts: Sequence[Part]) -> list[Part]:
    """The parts in more groups."""
    return [((*groups, *path), element) for path, element in parts]


def _trays(trays: Sequence[Tray], *, flat: bool) -> tuple[list[Part], float]:
    """Trays one beside the other, or in two columns; and their height."""
    made: list[Part] = []
    flat_x, flat_high = 0.0, 0.0
    heights, second = [0.0, 0.0], 0.0
    for place, tray in enumerate(trays):
        inner = [_text("title start", tray.title, 0, 8, size=13)]
        across = len(tray.title) * 8.0
        for down, row in enumerate(tray.rows):
            x = 0.0
            for item in row:
                wide = _wide(item)
                y = 20 + down * (_ITEM + 3) + _ITEM / 2
                name = "item crossed" if item.crossed else "item"
                inner.append(_group(name, item.kind, tray.owner, x + wide / 2, y, _item(item, wide)))
                x += wide + 3
            across = max(across, x)
        tall = 28 + len(tray.rows) * (_ITEM + 3)
        column = 0 if place == 0 else 1
        if flat:
            at = flat_x, 0.0
            flat_x += across + 18
            flat_high = max(flat_high, tall)
        else:
            second = second or across + 12
            at = second * column, heights[column]
            heights[column] += tall
        group = f'<g class="tray" transform="translate({_n(at[0])} {_n(at[1])})">'
        made += _within([group], [((), element) for element in inner])
    return made, flat_high if flat else max(heights)


def _wide(item: Item) -> float:
    text = len(item.text) * _BROAD * _ITEM * 0.46
    if not item.glyph:
        return text + 4
    return max(_ITEM * 0.84, text + 8) if item.glyph == "card" else _ITEM


def _item(item: Item, wide: float) -> str:
    if item.glyph == "card":
        made = (
            f'<rect class="body" x="{_n(-wide / 2 + 1)}" y="{_n(-_ITEM / 2 + 1)}" width="{_n(wide - 2)}"'
            f' height="{_n(_ITEM - 2)}" rx="4"/>'
        )
    else:
        made = _glyph(item.glyph, _ITEM * 0.46)
    if item.text and not item.glyph.startswith("die"):
        if item.glyph:
            made += _text("mark", item.text, size=_ITEM * 0.46, room=wide)
        else:
            made += _text("mark", item.text, -wide / 2, 0, size=_ITEM * 0.46, start=True)
    if item.crossed:
        far = _n(_ITEM * 0.36)
        made += f'<path class="cross" d="M-{far} -{far}L{far} {far}M{far} -{far}L-{far} {far}"/>'
    return made
