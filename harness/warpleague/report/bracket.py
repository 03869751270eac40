"""Draws the bracket of a knockout in characters: a tree, or the rounds of a double elimination one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.errors import BadInput
from warpleague.league.formats.knockout import Knockout, ties_of
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.formats.knockout import Tie
    from warpleague.league.league import League


def has_bracket(league: League) -> bool:
    """Whether a league is a knockout or a double elimination."""
    return isinstance(league.schedule.format, Knockout)


def bracket_json(league: League) -> list[dict[str, Any]]:
    """The ties of a bracket, in the order in which they are played; `BadInput` if the league has none."""
    _check(league)
    names = league.season.names
    return [
        {
            "round": tie.round,
            "bots": [None if bot is None else names[bot] for bot in tie.bots],
            "points": tie.points,
            "deals": tie.deals,
            "winner": None if tie.winner is None else names[tie.winner],
        }
        for tie in ties_of(league.schedule)
    ]


def bracket_text(league: League) -> str:
    """The bracket as far as it is known; `BadInput` if the league has none."""
    _check(league)
    ties, names = ties_of(league.schedule), [safe(name) for name in league.season.names]
    rounds: dict[str, list[Tie]] = {}
    for tie in ties:
        rounds.setdefault(tie.round, []).append(tie)
    told = list(rounds.values())
    if league.season.format.kind == "knockout":
        return "\n".join(_tree(told, names))
    return "\n".join(
        line
        for name, found in rounds.items()
        for line in (name, *(f"  {_line(tie, names)}" for tie in found))
    )


def _check(league: League) -> None:
    if not has_bracket(league):
        raise BadInput(f"{league.config.name} has no bracket: its format is {league.season.format.kind}")


def _line(tie: Tie, names: Sequence[str]) -> str:
    one, two = ("nobody" if bot is None else names[bot] for bot in tie.bots)
    if not tie.deals:
        return f"{one} – {two}" + ("" if tie.winner is None else f": {names[tie.winner]} goes on")
    won = "" if tie.winner is None else f": {names[tie.winner]}"
    return f"{one} {tie.points[0]} – {tie.points[1]} {two}{won}"


def _tree(rounds: list[list[Tie]], names: Sequence[str]) -> list[str]:
    """The lines of a knockout, the first round on the left."""
    blocks: list[tuple[list[str], int]] = []
    for tie in rounds[0] if rounds else ():
        for side, bot in enumerate(tie.bots):
            blocks.append(([_leaf(tie, side, "-" if bot is None else names[bot])], 0))
    for number, found in enumerate(rounds):
        width = max((len(line) for lines, _ in blocks for line in lines), default=0)
        joined = []
        for place, tie in enumerate(found):
            (top, up), (bottom, down) = blocks[2 * place], blocks[2 * place + 1]
            lines = [*top, "", *bottom]
            low = len(top) + 1 + down
            middle = (up + low) // 2
            following = rounds[number + 1][place // 2] if number + 1 < len(rounds) else None
            name = "..." if tie.winner is None else names[tie.winner]
            told = name if following is None else _leaf(following, place % 2, name)
            drawn = []
            for row, line in enumerate(lines):
                fill = "─" if row in (up, low) else " "
                mark = "┐" if row == up else "┘" if row == low else "│" if up < row < low else " "
                drawn.append(line.ljust(width, fill) + fill + mark)
            drawn[middle] = drawn[middle][:-1] + f"├─ {told}"
            joined.append((drawn, middle))
        blocks = joined
    return [line.rstrip() for lines, _ in blocks for line in lines]


def _leaf(tie: Tie, side: int, name: str) -> str:
    return f"{name} {tie.points[side]} " if tie.deals else f"{name} "
