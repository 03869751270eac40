"""Puts actions and positions into plain words, for people and for bots that read text, and shows a first turn."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.scene import Cell, Link, Piece, Scene


def action_in_words(action: Mapping[str, object]) -> str:
    """An action as a few words: what it does, then its values."""
    words = [str(action.get("do", "")).replace("-", " ")]
    for name, value in action.items():
        if name == "do" or value is None:
            continue
        values = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        # The first word says what it is about; what follows needs its name.
        words.append(values if isinstance(value, str) and len(words) == 1 else f"{name} {values}")
    return " ".join(words)


def scene_in_words(scene: Scene) -> list[str]:
    """A scene as lines of text: the caption, what stands where, the spaces and lines of each sort, and the panels.

    Spaces and lines that the legend has no words for are left out, unless they carry a text or arrowheads.
    """
    meanings = dict(scene.legend)
    places = _places(scene)
    lines = [scene.caption] if scene.caption else []
    lines += [_piece(piece, places) for piece in scene.pieces]
    sorts: dict[str, list[str]] = defaultdict(list)
    for cell in scene.cells:
        if (sort := _cell(cell, meanings)) is not None:
            sorts[sort].append(places[cell.x, cell.y])
    for link in scene.links:
        if meanings.get(link.kind) != "":
            sorts[_owned(link.kind, link.owner)].append(_link(link, places))
    lines += [f"{sort} at {', '.join(places)}" for sort, places in sorts.items()]
    for panel in scene.panels:
        lines += [f"{panel.title}:", *(f"  {line}" for line in panel.lines)]
    return lines


def _places(scene: Scene) -> dict[tuple[float, float], str]:
    """The name of each space in the game's texts: by column and row where these have names, else by its id."""
    places = {(cell.x, cell.y): (cell.id or cell.label).replace("-", " ") for cell in scene.cells}
    if not scene.columns or not scene.rows:
        return places
    sheets: dict[int | None, list[Cell]] = defaultdict(list)
    for cell in scene.cells:
        sheets[cell.owner if scene.apart else None].append(cell)
    for cells in sheets.values():
        left, top = min(cell.x for cell in cells), min(cell.y for cell in cells)
        for cell in cells:
            column, row = int(cell.x - left), int(cell.y - top)
            if column < len(scene.columns) and row < len(scene.rows):
                names = scene.columns[column], scene.rows[row]
                places[cell.x, cell.y] = f"({','.join(name.removeprefix('die-') for name in names)})"
    return places


def _piece(piece: Piece, places: dict[tuple[float, float], str]) -> str:
    place = places.get((piece.x, piece.y), f"({piece.x:g},{piece.y:g})")
    facing = f", faces {piece.facing}" if piece.facing else ""
    return f"{_owned(f'{piece.kind} {piece.text}'.strip(), piece.owner)} at {place}{facing}"


def _cell(cell: Cell, meanings: dict[str, str]) -> str | None:
    """A description of a space; None if there is nothing to say.

    A label that is its name, or draws its ways, is left out.
    """
    named = cell.id.endswith(f"-{cell.label}") or not any(map(str.isalnum, cell.label))
    words = meanings.get(cell.kind, cell.kind) or cell.kind
    if not named:
        words = f"{cell.label}, {words}"
    elif not cell.ways and meanings.get(cell.kind) == "":
        return None
    return _owned(words, cell.owner) + (f", ways {cell.ways}" if cell.ways else "")


def _link(link: Link, places: dict[tuple[float, float], str]) -> str:
    ends = [places.get(end) for end in ((link.x1, link.y1), (link.x2, link.y2))]
    return " to ".join(end for end in ends if end) if all(ends) else link.id.replace("-", " ")


def _owned(words: str, owner: int | None) -> str:
    return words if owner is None else f"{words} (seat {owner})"


# -- guide -----------------------------------------------------------------------------------------------
# What a person who does not know a game is told: the goal, the rules in a minute, and the moves of a first
# turn.


Step: TypeAlias = "tuple[dict[str, Any] | tuple[int, ...], str]"
"""A move of the first turn, an action as JSON or what the dice show, and why it is made."""


@attrs.frozen
class Guide:
    """The beginning of a game in words, and a first turn to show; `games.first_turn` plays it.

    `goal` is one sentence, `rules` are a few that can be read in a minute. The turn begins in `position`, JSON as
    `Game.from_json` reads it; without one, in the first position of two players with the option values `options`.
    Between the moves of `turn` come forced actions, and dice that nobody chose.
    """

    goal: str
    rules: tuple[str, ...]
    turn: tuple[Step, ...]
    position: dict[str, Any] | None = None
    options: dict[str, Any] = attrs.field(factory=dict)
