"""How far a league is, in a terminal: who leads and what is missing first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from warpleague.games import load_game
from warpleague.league.results.status import status, strength_test
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    besides_lines,
    confinement_lines,
    decision_lines,
    dice_line,
    fault_lines,
    league_sentence,
    missing_words,
    played_so_far,
    verdict,
    void_line,
)
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from warpleague.league.results.league import League


def status_json(league: League) -> dict[str, Any]:
    """The status as JSON."""
    return status(league).to_json()


def status_table(league: League, *, proofs: bool = False) -> RenderableType:
    """The status as sentences, and a table of names and values; with the hashes that prove it, if wanted."""
    now = status(league)
    table = None
    if now.stored and league.season.format.kind != "test":
        from warpleague.league.results.standings import standings  # loads numpy

        table = standings(league, other_ratings=False)
    answer = [league_sentence(league, load_game(now.game).title, now, table), missing_words(now)]
    if league.season.format.kind == "test":
        answer.insert(1, verdict(strength_test(league), *league.season.names[:2]))
    secret = f"public since {now.published}" if now.published else "until the end"
    rows = [
        ("league", now.league),
        ("game", f"{now.game}, rules version {now.rules}"),
        ("bots", ", ".join(now.bots)),
        ("format", now.format),
        ("matches", played_so_far(now)),
        ("store", f"{now.store}, since {now.created}"),
        *([("beacon", now.beacon or f"not known yet: {now.awaits}")] if now.awaits else []),
        ("secret", secret),
        ("level", "\n".join(confinement_lines(now.level, now.confined)) or now.level),
        *([("dice", line)] if (line := dice_line(league.season)) else []),
    ]
    if now.faulted:
        rows.insert(5, ("faults", "\n".join(fault_lines(now.faulted, MAX_FAULTED))))
    if now.void:
        rows.insert(5, ("void", void_line(now.void)))
    if now.other:
        rows.insert(5, ("besides", "\n".join(besides_lines(now))))
    if now.taken_out:
        rows.insert(5, ("taken out", f"{counted(now.taken_out, 'match')} of disqualified bots, not counted"))
    if now.skipped:
        rows.insert(3, ("left out", "\n".join(now.skipped)))
    if now.disqualified:
        rows.insert(3, ("disqualified", "\n".join(decision_lines(now.disqualified))))
    if proofs:
        rows += [
            ("commitment", f"{now.commitment}, since {now.committed}"),
            ("entrants", "\n".join(f"{entry.commitment}, since {entry.since}" for entry in now.entered)),
            ("the secret", now.secret or "not public yet"),
            ("receipt", now.head),
        ]
    return Group(Text(" ".join(answer)), "", pairs_table(rows))


def pairs_table(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Names and values, one pair a line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, Text(value))
    return grid
