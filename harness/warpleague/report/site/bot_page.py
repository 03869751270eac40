"""The content of a bot's page: rating over time, results against each opponent, versions, matches, faults, times."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import attrs
import numpy as np

from warpleague.games import load_game
from warpleague.league.results import details
from warpleague.league.results.standings import MAX_BOTS, RatingCourse, Standings, rating_course, standings
from warpleague.report.site import charts
from warpleague.report.site.league_page import Pick, cards, pick
from warpleague.report.wording.columns import FAULTS, TIMES, TableView, help_lines, shown_columns
from warpleague.report.wording.league_words import FaultTallies, decision_lines, percent
from warpleague.report.wording.match_words import number, one_line
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warpleague.games.api import Game
    from warpleague.league.results.details import FaultLine, TimeLine
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import StoredVersion
    from warpleague.league.store.columns import Array, Columns
    from warpleague.match.spec import SeatSpec

FOLDER: Final = "bots"
"""The folder of a site with the pages of its bots."""

_LAST: Final = 10  # matches in the list of the last ones
_FIRST: Final = 6  # matches linked for each kind of fault
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_COURSES: Final = {
    "fit": ("Fitted rating", "Elo"),
    "elo": ("Elo", ""),
    "score": ("Mean score", ""),
    "wins": ("Share of wins", "%"),
}


def file_name(bot: str) -> str:
    """The name of the file with a bot's page: the bot's name, as far as file systems take it, and a hash of it."""
    digest = blake2b(bot.encode(), digest_size=4).hexdigest()
    return f"{_UNSAFE.sub('-', bot)[:40]}-{digest}.html"


@attrs.frozen
class Against:
    """What a bot did against one opponent: in each match, each seat of theirs that met counts once."""

    bot: str
    met: int
    won: int
    drawn: int
    lost: int
    share: str
    chart: str
    likelihood: str


@attrs.frozen
class BotTables:
    """What the pages of all bots of a league are made of, read once; `columns` are the matches that count.

    With `only_totals`, because others still play the same deals, pages show nothing of single matches.
    """

    league: str
    game: Game[Any, Any]
    columns: Columns
    table: Standings
    faults: tuple[FaultLine, ...]
    times: tuple[TimeLine, ...]
    kind: str
    course: RatingCourse
    cards: dict[str, dict[str, Any]]
    playing: dict[str, SeatSpec]
    versions: dict[str, list[StoredVersion]]
    only_totals: bool

    @classmethod
    def read(
        cls,
        league: League,
        columns: Columns | None = None,
        table: Standings | None = None,
        faults: Iterable[FaultLine] | None = None,
        times: Iterable[TimeLine] | None = None,
        *,
        only_totals: bool = False,
    ) -> BotTables:
        """Read a league. What is given has been read already: `columns` with the parts "results" and "matches"."""
        columns = league.columns("matches") if columns is None else columns
        table = standings(league, columns) if table is None else table
        kind = "wins" if table.rival else "score" if table.solo or table.by_score else "fit"
        if kind == "fit" and len(table.names) > MAX_BOTS:
            kind = "elo"
        nothing = RatingCourse((), ())
        return cls(
            league=league.config.name,
            game=load_game(league.season.game),
            columns=columns,
            table=table,
            faults=tuple(details.faults(league, columns) if faults is None else faults),
            times=tuple(details.times(league) if times is None else times),
            kind=kind,
            course=nothing if only_totals else rating_course(league, columns, kind),
            cards={card["bot"]: card for card in cards(league, table, columns, None)},
            playing={seat.bot: seat for seat in league.season.bots},
            versions=league.store.versions(),
            only_totals=only_totals,
        )

    def page(self, name: str, versions: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The values of the page of a bot; `versions` has names of versions by the digest of their content."""
        bot = self.table.names.index(name)
        (line,) = (line for line in self.table.lines if line.bot == name)
        record, card = line.record, self.cards[name]
        mine = self.columns.of_bot(bot)
        times = [one for one in self.times if one.bot == name and one.decisions and not self.only_totals]
        faults = FaultTallies(0 if self.only_totals else _FIRST)
        faults.add(fault for fault in self.faults if fault.bot == name)
        tallies = faults.tallies()
        fault_view, time_view = TableView(tallies, page=True), TableView(times, page=True)
        return {
            "bot": name,
            "league": self.league,
            "title": self.game.title,
            "card": card,
            "rank": "" if line.rank is None else f"{line.rank} of {len(self.table.lines)}",
            "record": record,
            "share": "" if self.table.solo or not record.played else percent(record.points / record.played),
            "disqualified": decision_lines(filter(None, (line.disqualified,))),
            "course_title": _COURSES[self.kind][0],
            "course": self._course(bot),
            "against": [] if self.table.solo else self._against(bot, mine),
            "chances": self.kind in ("fit", "elo"),
            "band": self.kind != "elo",
            "versions": self._versions(name, versions or {}),
            "picks": [] if self.only_totals else self._picks(bot, mine),
            "last": [] if self.only_totals else self._last(bot, mine),
            "hidden": self.only_totals,
            "faults": tallies,
            "fault_columns": [one for one in shown_columns(FAULTS, fault_view) if one.name != "bot"],
            "times": times,
            "time_columns": [
                one for one in shown_columns(TIMES, time_view) if one.name not in ("bot", "chart")
            ],
            "time_help": help_lines(TIMES, time_view),
        }

    def _course(self, bot: int) -> str:
        title, unit = _COURSES[self.kind]
        digits = 2 if self.kind == "score" else 0
        points = []
        for mark, one in self.course.of(bot):
            half = "" if one.low is None else f" ± {one.value - one.low:.{digits}f}"
            if self.kind == "wins" and one.low is not None and one.high is not None:
                half = f" (95 %: {one.low:.0f} to {one.high:.0f})"
            text = f"after {counted(mark, 'match')}: {one.value:.{digits}f}{half} {unit}".rstrip()
            points.append(charts.Point(mark, one.value, one.low, one.high, text))
        intervals = "" if self.kind == "elo" else ", with 95 % intervals"
        return charts.course(points, f"{title} over the matches{intervals}")

    def _against(self, bot: int, mine: Array) -> list[Against]:
        """The results against each opponent, the strongest first."""
        table, bots = self.table, len(self.table.names)
        won, drawn, lost = (np.zeros(bots, np.int64) for _ in range(3))
        some = self.columns.only(mine)
        for seat in range(some.players):
            own = some.seats[:, seat] == bot
            rank = some.ranks[:, [seat]]
            kinds = ((won, some.ranks > rank), (drawn, some.ranks == rank), (lost, some.ranks < rank))
            for counts, hit in kinds:
                counts += np.bincount(some.seats[hit & own[:, None]], minlength=bots)
        rows = []
        for other in table.order:
            met = int(won[other] + drawn[other] + lost[other])
            if other == bot or not met:
                continue
            share = float(won[other] + drawn[other] / 2) / met
            chance = table.fit.superiority(bot, other) if table.fit and self.kind in ("fit", "elo") else None
            results = (met, int(won[other]), int(drawn[other]), int(lost[other]))
            bar = charts.small_bar(share, 1.0)
            likelihood = "" if chance is None else f"{100 * chance:.0f} %"
            rows.append(Against(table.names[other], *results, percent(share), bar, likelihood))
        return rows

    def _versions(self, name: str, names: Mapping[str, str]) -> list[dict[str, Any]]:
        """The versions of a bot, the newest first, and which of them plays now."""
        now, rows = self.playing[name], []
        for one in reversed(self.versions.get(name, [])):
            current = one.identity == now.identity
            digest = one.identity.partition(" ")[0]
            label = names.get(digest) or (now.version if current else "") or ""
            rows.append(
                {
                    "version": one_line(label) or digest[:10],
                    "plays": current,
                    "matches": one.matches,
                    "first": percent(one.first / one.matches) if self.columns.players > 1 else "",
                    "faults": one.faults,
                    "since": "" if self.only_totals else one.since,
                    "until": "" if self.only_totals else one.until,
                }
            )
        return rows

    def _picks(self, bot: int, mine: Array) -> list[Pick]:
        """The best and the worst match: a win against the strongest, a loss against the weakest; or by the score."""
        columns, table, at = self.columns, self.table, mine
        if not len(at):
            return []
        seats, ranks, scores = (columns.values[name][at] for name in ("seats", "ranks", "scores"))
        own = seats == bot
        score = np.where(own, scores, -np.inf).max(axis=1)
        if table.solo or table.by_score or table.fit is None:
            best, worst = int(np.argmax(score)), int(np.argmin(score))
            found = {"Best match": best, "Worst match": worst} if score[best] > score[worst] else {}
            return [pick(title, columns, table, int(at[place]), self.game) for title, place in found.items()]
        ratings = np.array([-np.inf if one is None else one for one in table.fit.ratings], dtype=float)
        rank = np.where(own, ranks, np.iinfo(ranks.dtype).max).min(axis=1)
        rivals = np.where(own, np.nan, scores)
        margin = score - np.nanmax(np.where(own.all(axis=1)[:, None], score[:, None], rivals), axis=1)
        first = ranks == 1
        won = (rank == 1) & (first.sum(axis=1) == 1)
        lost = rank > 1
        strongest = np.where(own, -np.inf, ratings[seats]).max(axis=1)
        winner = np.where(first & ~own, ratings[seats], np.inf).min(axis=1)
        picks = []
        # Of equal matches the one with the largest difference in score counts, then the first one.
        if won.any():
            place = min(np.flatnonzero(won).tolist(), key=lambda one: (-strongest[one], -margin[one]))
            picks.append(pick("Best match", columns, table, int(at[place]), self.game))
        if lost.any():
            place = min(np.flatnonzero(lost).tolist(), key=lambda one: (winner[one], margin[one]))
            picks.append(pick("Worst match", columns, table, int(at[place]), self.game))
        return picks

    def _last(self, bot: int, mine: Array) -> list[tuple[dict[str, Any], Pick, str]]:
        """The last matches, the newest first: won or lost, how they ended, and how long they took."""
        at = mine[-_LAST:][::-1].tolist()
        form = self.cards[self.table.names[bot]]["form"][::-1]
        return [
            (
                result,
                pick("", self.columns, self.table, place, self.game),
                f"{number(float(self.columns.elapsed_s[place]))} s",
            )
            for result, place in zip(form, at, strict=True)
        ]


def pages_on_disk(bots: Iterable[str], folder: str = "") -> dict[str, str]:
    """The addresses of the pages of bots in a site on the disk; `folder` leads to the folder that they are in."""
    return {bot: f"{folder}{file_name(bot)}" for bot in bots}


def pages_on_server(bots: Iterable[str], folder: str = "") -> dict[str, str]:
    """The addresses of the pages of bots on a server; `folder` leads to the folder that they are in."""
    return {bot: f"{folder}{quote(bot, safe='')}" for bot in bots}
