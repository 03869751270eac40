"""Writes the bracket of a knockout and the rounds of a Swiss as text, and gives their parts for a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput
from warpleague.league.results.standings import rounds_of, ties_of
from warpleague.league.schedule.formats.knockout import Knockout, Tie
from warpleague.league.schedule.formats.swiss import Meeting, Swiss
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.results.league import League

_DECIDED: Final = {"seed": "level: better seed goes on", "absent": "the other bot was disqualified"}


@attrs.frozen
class Side:
    """A bot in a box: its points as text, empty before the first deal, and whether it advances."""

    bot: str
    points: str
    won: bool


@attrs.frozen
class Box:
    """A tie or a table of a round: who meets, the best first where it has no seats in the tree, and a remark."""

    sides: tuple[Side, ...]
    remark: str = ""


@attrs.frozen
class Part:
    """A picture: its title, and its rounds from left to right; a `tree` leads from each round to the next.

    Places of a tree where nobody meets are boxes without sides.
    """

    title: str
    rounds: tuple[tuple[str, tuple[Box, ...]], ...]
    tree: bool = True


def has_bracket(league: League) -> bool:
    """Whether a league is a knockout, a double elimination or a Swiss."""
    return isinstance(league.schedule.format, Knockout | Swiss)


def bracket_json(league: League) -> list[dict[str, Any]]:
    """Ties or tables, in the order in which they are played. Raises `BadInput` if the league has none."""
    _check(league)
    names = league.season.names
    if isinstance(league.schedule.format, Swiss):
        return [
            {
                "round": _round(meeting),
                "bots": [names[bot] for bot in meeting.bots],
                "points": [meeting.points.get(bot, 0) for bot in meeting.bots],
                "deals": meeting.deals,
                "winner": None,
                "decided": "bye" if len(meeting.bots) == 1 else None,
                "faulted": [meeting.faulted[bot] for bot in meeting.bots],
            }
            for meeting in rounds_of(league.schedule)[1]
        ]
    return [
        {
            "round": tie.round,
            "bots": [None if bot is None else names[bot] for bot in tie.bots],
            "points": tie.points,
            "deals": tie.deals,
            "winner": None if tie.winner is None else names[tie.winner],
            "decided": tie.decided or None,
            "faulted": tie.faulted,
        }
        for tie in ties_of(league.schedule)
    ]


def bracket_text(league: League) -> str:
    """The bracket or the rounds as far as they are known. Raises `BadInput` if the league has none."""
    _check(league)
    names = [safe(name, keep="") for name in league.season.names]
    if league.season.format.kind == "knockout":
        ties = ties_of(league.schedule)
        lines = _tree(list(_by_round(ties).values()), names)
        if any(tie.decided == "seed" for tie in ties):
            lines += ["", f"*: {_DECIDED['seed']}"]
        return "\n".join(lines)
    lines = []
    for part in bracket_parts(league):
        for name, boxes in part.rounds:
            texts = [f"  {_line(box)}" for box in boxes if box.sides]
            lines += [name, *texts] if texts else []
    return "\n".join(lines)


def latest_lines(league: League, width: int, rows: int) -> list[str]:
    """The bracket or the rounds in at most `rows` rows: all of them if they fit, else the latest rounds.

    `BadInput` if the league has none.
    """
    whole = bracket_text(league).split("\n")
    if len(whole) <= rows and max(map(len, whole)) <= width:
        return whole
    lines: list[str] = []
    for name, boxes in reversed(_in_order(league)):
        texts = [f"  {_line(box)}" for box in boxes if box.sides]
        if lines and len(lines) + len(texts) + 1 > rows:
            break
        if len(texts) + 1 > rows:
            shown = max(rows - 2, 0)
            texts = [*texts[:shown], f"  and {len(texts) - shown} more"]
        lines = [name, *texts, *lines]
    return lines


def _in_order(league: League) -> list[tuple[str, tuple[Box, ...]]]:
    """The rounds in the order in which they are played, those of both halves of a double elimination in turn."""
    if isinstance(league.schedule.format, Swiss):
        (part,) = bracket_parts(league)
        return list(part.rounds)
    rounds, names = _by_round(ties_of(league.schedule)), league.season.names
    return [(name, tuple(_tie_box(tie, names) for tie in ties)) for name, ties in rounds.items()]


def bracket_parts(league: League) -> list[Part]:
    """The pictures that show the bracket or the rounds. Raises `BadInput` if the league has none."""
    _check(league)
    names = league.season.names
    if isinstance(league.schedule.format, Swiss):
        unit = 2 * (league.season.players - 1)
        rounds: dict[str, list[Box]] = {}
        for meeting in rounds_of(league.schedule)[1]:
            rounds.setdefault(_round(meeting), []).append(_meeting_box(meeting, names, unit))
        return [Part("", tuple((name, tuple(boxes)) for name, boxes in rounds.items()), tree=False)]
    parts: dict[str, list[tuple[str, tuple[Box, ...]]]] = {}
    for name, ties in _by_round(ties_of(league.schedule)).items():
        title = next((word for word in ("Winners", "Losers") if name.startswith(word)), "Final")
        boxes = tuple(_tie_box(tie, names) for tie in ties)
        parts.setdefault(title if league.season.format.kind != "knockout" else "", []).append((name, boxes))
    return [Part(title, tuple(rounds)) for title, rounds in parts.items()]


def _check(league: League) -> None:
    if not has_bracket(league):
        raise BadInput(
            f"{league.config.name} has no bracket: its format is {league.season.format.kind}; "
            "`league crosstable` shows who played whom"
        )


def _by_round(ties: Iterable[Tie]) -> dict[str, list[Tie]]:
    rounds: dict[str, list[Tie]] = {}
    for tie in ties:
        rounds.setdefault(tie.round, []).append(tie)
    return rounds


def _round(meeting: Meeting) -> str:
    return f"Round {meeting.round + 1}"


def _tie_box(tie: Tie, names: Sequence[str]) -> Box:
    met = [(bot, points) for bot, points in zip(tie.bots, tie.points, strict=True) if bot is not None]
    if len(met) < 2:
        return Box(tuple(Side(names[bot], "", won=True) for bot, _ in met), "bye")
    texts = [f"{points / 2:g}" if tie.deals else "" for _, points in met]
    sides = (Side(names[bot], text, bot == tie.winner) for (bot, _), text in zip(met, texts, strict=True))
    faulted = _faulted(zip(tie.bots, tie.faulted, strict=True), names)
    return Box(tuple(sides), "; ".join(filter(None, (_DECIDED.get(tie.decided, ""), faulted))))


def _faulted(counts: Iterable[tuple[int | None, int]], names: Sequence[str]) -> str:
    """Which bots faulted in a tie or at a table: what decided it was perhaps no move."""
    bots = [names[bot] for bot, count in counts if bot is not None and count]
    return f"{' and '.join(bots)} faulted" if bots else ""


def _meeting_box(meeting: Meeting, names: Sequence[str], unit: int) -> Box:
    points, most = meeting.points, max(meeting.points.values(), default=0)
    level = list(points.values()).count(most) > 1
    if len(meeting.bots) == 1:
        return Box((Side(names[meeting.bots[0]], f"{most / unit:g}", won=False),), "bye")
    return Box(
        tuple(
            Side(
                names[bot],
                f"{points[bot] / unit:g}" if meeting.deals else "",
                bool(meeting.deals) and not level and points[bot] == most,
            )
            for bot in meeting.bots
        ),
        _faulted(meeting.faulted.items(), names),
    )


def _line(box: Box) -> str:
    """A box in one line; the points of two stand between their names."""
    sides = [attrs.evolve(side, bot=safe(side.bot, keep="")) for side in box.sides]
    if len(sides) == 1:
        return f"{sides[0].bot}: {box.remark}"
    remark = f" ({safe(box.remark, keep='')})" if box.remark else ""
    if len(sides) > 2:
        return ", ".join(f"{side.bot} {side.points}".strip() for side in sides) + remark
    one, two = sides
    won = "".join(f": {side.bot}" for side in sides if side.won)
    return " ".join(filter(None, (one.bot, one.points, "–", two.points, two.bot))) + won + remark


def _tree(rounds: list[list[Tie]], names: Sequence[str]) -> list[str]:
    """The lines of a knockout, the first round on the left."""
    blocks: list[tuple[list[str], int]] = []
    for tie in rounds[0] if rounds else ():
        for side, bot in enumerate(tie.bots):
            blocks.append(([] if bot is None else [_leaf(tie, side, names[bot])], 0))
    for number, ties in enumerate(rounds):
        width = max((len(line) for lines, _ in blocks for line in lines), default=0)
        joined = []
        for place, tie in enumerate(ties):
            (top, up), (bottom, down) = blocks[2 * place], blocks[2 * place + 1]
            following = rounds[number + 1][place // 2] if number + 1 < len(rounds) else None
            name = "..." if tie.winner is None else names[tie.winner] + "*" * (tie.decided == "seed")
            label = name if following is None else _leaf(following, place % 2, name)
            if None in tie.bots:
                # Only in the first round: the only bot advances without a match.
                joined.append(([f"{(top or bottom)[0]}bye ".ljust(width, "─") + f"───── {label}"], 0))
                continue
            lines = [*top, "", *bottom]
            low = len(top) + 1 + down
            middle = (up + low) // 2
            drawn = []
            for row, line in enumerate(lines):
                fill = "─" if row in (up, low) else " "
                mark = "┐" if row == up else "┘" if row == low else "│" if up < row < low else " "
                drawn.append(line.ljust(width, fill) + fill + mark)
            drawn[middle] = drawn[middle][:-1] + f"├─ {label}"
            joined.append((drawn, middle))
        blocks = joined
    return [line.rstrip() for lines, _ in blocks for line in lines]


def _leaf(tie: Tie, side: int, name: str) -> str:
    return f"{name} {tie.points[side] / 2:g} " if tie.deals else f"{name} "
