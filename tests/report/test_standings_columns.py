"""Each column of the standings is declared once; terminal, page and JSON follow from that."""

from collections.abc import Sequence
from itertools import pairwise

import attrs
import pytest

from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.statistics import Mean
from warpleague.league.results.standings import Placing, Standings, ranked
from warpleague.league.results.tallies import Tally
from warpleague.report.wording.columns import COLUMNS, Layout, help_lines, shown_columns, standing_json

WIDTHS = (50, 76, 96, 116, 200)


def duels(kind: str = "fit", placed: Sequence[Placing] | None = None) -> Standings:
    """The standings of two bots that met six times, with their leads on shared deals."""
    tally = Tally(2, 16.0, 1500.0)
    for group in range(6):
        tally.add((0, 1), (1, 2) if group % 3 else (2, 1), (float(group), 1.0), (0, 0), group=group)
    fit = joint_fit(tally.outcomes, 2)
    table = ranked(("one", "two"), tally, fit, kind, solo=False, placed=placed)
    lead = Mean()
    lead.add(1.0)
    lead.add(2.0)
    return attrs.evolve(table, lines=tuple(attrs.evolve(line, lead=lead) for line in table.lines))


def solo(rival: float | None) -> Standings:
    """The standings of two bots that played alone, with and without an opponent of the game's own."""
    tally = Tally(2, 16.0, 1500.0)
    for score in (10.0, 12.0, 14.0):
        tally.add((0,), (1,), (score,), (0,), rival)
        tally.add((1,), (1,), (score / 2,), (1,), rival)
    table = ranked(("one", "two"), tally, None, "fit", solo=True)
    ahead = Mean()
    ahead.add(4.5)
    ahead.add(5.5)
    return attrs.evolve(table, lines=(attrs.evolve(table.lines[0], ahead=ahead), *table.lines[1:]))


KINDS = {
    "fit": duels(),
    "score": duels("score"),
    "cup": duels(placed=[Placing((2.0,), reached="Final"), Placing((1.0,), reached="Round 1")]),
    "swiss": duels(
        placed=[Placing((2.0, 1.0), points=2.0, buchholz=1.0), Placing((1.0, 2.0), None, 1.0, 2.0)]
    ),
    "solo": solo(None),
    "rival": solo(8.0),
}
"""One table for each set of columns."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_column_that_any_terminal_has(kind: str) -> None:
    """A wider terminal shows what a narrower one does, and more; a page shows all of it."""
    names = [
        {column.name for column in shown_columns(COLUMNS, Layout(KINDS[kind], width))} for width in WIDTHS
    ]
    names.append({column.name for column in shown_columns(COLUMNS, Layout(KINDS[kind]))})
    assert all(narrow <= wide for narrow, wide in pairwise(names))
    assert {"rank", "bot", "faults"} <= names[0]


def test_every_column_is_shown_on_some_page() -> None:
    """No column is declared that nobody sees, and no two have the same name."""
    shown = {column.name for table in KINDS.values() for column in shown_columns(COLUMNS, Layout(table))}
    assert sorted(shown) == sorted(column.name for column in COLUMNS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_key_comes_from_two_columns(kind: str) -> None:
    """Each key of a line's JSON belongs to one column, so none hides another's value."""
    line = KINDS[kind].lines[0]
    keys = [key for column in COLUMNS for key in column.json(line)]
    assert len(keys) == len(set(keys))
    assert set(standing_json(line)) == set(keys)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_a_help_explains_each_column_that_is_shown_with_one(kind: str, width: int | None) -> None:
    """Below the table stands what lead, margin, LOS and the like mean, where the table has them."""
    layout = Layout(KINDS[kind], width)
    text = "\n".join(help_lines(COLUMNS, layout))
    for name in ("fit", "LOS", "lead", "wins", "margin", "ahead"):
        if name in [column.heading for column in shown_columns(COLUMNS, layout)]:
            assert f"{name}: " in text


def test_elo_stands_late_on_a_page() -> None:
    """In a terminal Elo stands with the ratings; on a page it stands behind the share."""
    page = [column.heading for column in shown_columns(COLUMNS, Layout(KINDS["fit"]))]
    terminal = [column.heading for column in shown_columns(COLUMNS, Layout(KINDS["fit"], 200))]
    assert page[-3:] == ["share", "Elo", "faults"]
    assert terminal[2:6] == ["fit", "± 95 %", "LOS", "Elo"]


def test_keys_keep_their_order() -> None:
    """A line of `--json` begins as it always has."""
    keys = list(standing_json(KINDS["fit"].lines[0]))
    assert keys[:5] == ["rank", "bot", "elo", "error", "fit"]
    assert keys[-3:] == ["disqualified", "lead", "lead_error"]
