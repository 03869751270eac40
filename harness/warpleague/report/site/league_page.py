"""The content of a league's page: the figures of its tables and charts, and its matches.

`warpleague.league.results.standings` computes them, and the templates lay them out.
"""

from __future__ import annotations

import json
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Generic

import attrs
import numpy as np
from markupsafe import Markup

from warpleague.errors import BadInput, RecordError, StoreError
from warpleague.games import load_game
from warpleague.languages import of_program
from warpleague.league.play.verifying import published_record
from warpleague.league.ratings.statistics import rounded, wilson_interval
from warpleague.league.results.details import FaultLine, SeatLine, TimeLine, faults, times_and_busy
from warpleague.league.results.faulted import bot_faults
from warpleague.league.results.standings import Standing, Standings, standings
from warpleague.league.results.status import Status, status, strength_test
from warpleague.league.schedule.formats.ladder import CHOOSES
from warpleague.league.season.entry import folder_of
from warpleague.match.replay import Replay
from warpleague.report.site import charts
from warpleague.report.site.delta import diff
from warpleague.report.site.match_page import compressed_json
from warpleague.report.wording.bracket import bracket_parts, has_bracket
from warpleague.report.wording.columns import (
    COLUMNS,
    FAULTS,
    SEATS,
    TIMES,
    Column,
    Layout,
    LineT,
    TableView,
    help_lines,
    read_tables,
    shown_columns,
)
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    besides_lines,
    changes_line,
    confinement_lines,
    decided,
    dice_line,
    disqualified_lines,
    estimate_line,
    fault_lines,
    fit_words,
    league_sentence,
    luck_lines,
    mean_words,
    numbers_line,
    one_way_lines,
    percent,
    placing_words,
    seats_remark,
    slowest_first,
    verdict,
)
from warpleague.report.wording.match_words import (
    BUSY_SHARE,
    Rows,
    conditions,
    ending,
    number,
    one_line,
    outcome,
)
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.text import counted, isolated, listed, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from warpleague.games.api import Game
    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns


# -- front -----------------------------------------------------------------------------------------------
# The head of a league's page: a sentence, a picture, the bots as cards, and the matches to look at first.

CARDS: Final = 24
"""Bots that have a card; all have a line in the table."""

_FORM: Final = 10  # matches that a card shows
_UPSET: Final = 25.0  # in Elo: a win against a bot that is stronger by less surprises nobody


@attrs.frozen
class Pick:
    """A match to look at: why, its number and id, and how it ended in one sentence."""

    title: str
    number: int
    match: str
    deal: int
    text: str


# Matches to look at


def picks(columns: Columns, table: Standings, game: Game[Any, Any]) -> list[Pick]:
    """The best match, the closest, the longest and the greatest upset: each once, as far as there are any."""
    if not len(columns):
        return []
    places = {
        "Best against second": _of_the_best(columns, table),
        "Closest": _closest(columns),
        "Longest": int(np.argmax(columns.values["lines"])),
        "Greatest upset": _upset(columns, table),
    }
    chosen, seen = [], set[int]()
    for title, at in places.items():
        if at is not None and at not in seen:
            seen.add(at)
            chosen.append(pick(title, columns, table, at, game))
    if chosen[0].title != "Best against second":
        chosen.insert(0, pick("Last", columns, table, len(columns) - 1, game))
    return chosen


def pick(title: str, columns: Columns, table: Standings, at: int, game: Game[Any, Any]) -> Pick:
    """The match in row `at` of the columns, which have the parts "results" and "matches"."""
    values = columns.values
    names = [isolated(one_line(table.names[bot])) for bot in columns.seats[at].tolist()]
    rival = float(columns.rival[at])
    why = ending(game, columns.texts[int(values["why"][at])])
    scores = columns.scores[at].tolist()
    ranks = columns.ranks[at].tolist()
    if ranks.count(1) == 1 and len(ranks) > 1:
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        others = listed([names[seat] for seat in order[1:]])
        points = " : ".join(number(scores[seat]) for seat in order)
        text = f"{names[order[0]]} beats {others}, {points} ({why})"
    else:
        text = outcome(names, ranks, scores, None if rival != rival else rival, why)
    if title == "Longest":
        text += f", {int(values['lines'][at]):,} lines"
    return Pick(title, int(values["number"][at]), values["id"][at].decode(), int(values["deal"][at]), text)


def _of_the_best(columns: Columns, table: Standings) -> int | None:
    """The last match in which the first two of the table met."""
    if table.solo or len(table.order) < 2:
        return None
    one, two = table.order[:2]
    met = np.intersect1d(columns.of_bot(one), columns.of_bot(two))
    return int(met[-1]) if len(met) else None


def _closest(columns: Columns) -> int | None:
    """The decided match with the least difference in score, the longest of them; None if all differ alike."""
    place, best, widest = None, (np.inf, 0), 0.0
    begin = 0
    for some in columns.blocks():
        if some.players == 1:
            gaps = np.abs(some.scores[:, 0] - some.rival)
        else:
            scores = np.sort(some.scores, axis=1)
            gaps = scores[:, -1] - scores[:, -2]
        decided = np.flatnonzero(np.isfinite(gaps) & (gaps > 0))
        if len(decided):
            of_decided = gaps[decided]
            least = decided[of_decided == of_decided.min()]
            at = int(least[np.argmax(some.lines[least])])
            widest = max(widest, float(of_decided.max()))
            if (key := (float(gaps[at]), -int(some.lines[at]))) < best:
                place, best = begin + at, key
        begin += len(some)
    return place if best[0] < widest else None


def _upset(columns: Columns, table: Standings) -> int | None:
    """The match whose winner was weaker than the strongest loser by most, by the fit."""
    if table.fit is None or columns.players < 2:
        return None
    ratings = np.array([np.nan if rating is None else rating for rating in table.fit.ratings], dtype=float)
    place, most = None, -np.inf
    begin = 0
    for some in columns.blocks():
        seated, first = ratings[some.seats], some.ranks == 1
        winner = np.where(first, seated, -np.inf).max(axis=1)
        beaten = np.where(first, -np.inf, seated).max(axis=1)
        gaps = np.where(first.sum(axis=1) == 1, beaten - winner, -np.inf)
        gaps = np.where(np.isfinite(gaps), gaps, -np.inf)
        at = int(np.argmax(gaps))
        if gaps[at] > most:
            place, most = begin + at, float(gaps[at])
        begin += len(some)
    return place if most >= _UPSET else None


def picture(league: League, game: Game[Any, Any], pick: Pick) -> dict[str, Any] | None:
    """The last position of a match for the board, with the names of its seats; None if its record does not hold."""
    try:
        replay = Replay(published_record(league, pick.match, pick.deal))
        state = replay.first
        for step in replay:
            state = step.state
    except (RecordError, StoreError):
        return None
    names = [one_line(seat["bot"]) for seat in replay.header["seats"]]
    return {"names": names, "frames": [{"scene": [diff(None, game.scene(state, None))]}]}


# Cards


def cards(
    league: League, table: Standings, columns: Columns, most: int | None = CARDS
) -> list[dict[str, Any]]:
    """The first bots of the table: who wrote them in which language, how they stand, and their last matches."""
    changed = {change.bot for change in league.changed}
    seats = {seat.bot: seat for seat in league.season.bots}
    about = {} if len(seats) > CARDS * 4 else _manifests(league)
    rows = []
    for line in table.lines[:most]:
        bot = table.names.index(line.bot)
        manifest = about.get(line.bot, {}) if line.bot not in changed else {}
        rows.append(
            {
                "bot": line.bot,
                "rank": line.rank,
                "rating": rounded(line.fit),
                "rating_half": rounded(line.error),
                "strength": _strength(line, table),
                "version": one_line(seats[line.bot].version or ""),
                "form": _form(columns, bot),
                "language": manifest.get("language", ""),
                "authors": manifest.get("authors", ""),
                "description": manifest.get("description", ""),
            }
        )
    return rows


def _strength(line: Standing, table: Standings) -> str:
    if line.placing is not None:
        words = placing_words(line)
        return words[0] if line.placing.reached is not None else f"{words[0]} points"
    if table.rival:
        return f"{percent(line.record.won / line.record.played)} won" if line.record.played else ""
    if table.solo or table.by_score:
        return f"score {number(line.record.scores.mean)}" if line.record.played else ""
    fit, error = fit_words(line)
    return fit + (f" ± {error}" if error and not line.guessed else "")


def _form(columns: Columns, bot: int) -> list[dict[str, Any]]:
    """The last matches of a bot, the last one at the end; of several seats it has the best counts."""
    at = columns.of_bot(bot)[-_FORM:]
    rows = []
    for place in at.tolist():
        ranks = columns.ranks[place]
        own = int(ranks[columns.seats[place] == bot].min())
        shared = int((ranks == 1).sum()) > 1
        word = "lost" if own != 1 else "drawn" if shared and columns.players > 1 else "won"
        if columns.players == 1 and columns.rival[place] != columns.rival[place]:
            word = "played"
        match = columns.values["id"][place].decode()
        rows.append({"word": word, "match": match, "number": int(columns.values["number"][place])})
    return rows


def _manifests(league: League) -> dict[str, dict[str, str]]:
    """The descriptions in the bots' manifests, by name, where their folders exist."""
    manifests: dict[str, dict[str, str]] = {}
    for entry in league.config.entries:
        try:
            manifest = read_manifest(folder_of(league.config, entry))
        except BadInput:
            continue
        manifests[entry.name or manifest.name] = {
            "language": language_of([*(manifest.build or ()), *manifest.run]),
            "authors": one_line(", ".join(manifest.authors)),
            "description": one_line(manifest.description),
        }
    return manifests


def language_of(words: Sequence[str]) -> str:
    """The language that a manifest's commands are of; empty if they do not tell."""
    known = (of_program(word) for word in words)
    return next((language.name for language in known if language is not None), "")


# -- listing ---------------------------------------------------------------------------------------------
# The list of matches on a league's page, and the choice of matches that get a replay.
#
# `assets/matches.js` shows the list. A long one is cut into parts, each a script that the page loads when it
# is wanted: pages that are opened from a disk may load scripts, but no other files.

_LEVEL: Final = 5  # of compression: the highest one takes three times as long, and saves a twentieth
PART: Final = 5_000
"""Matches in one part of a list; the list of fewer matches is in the page itself."""


@attrs.frozen
class ListedMatch:
    """A match that gets a page: its number, id and deal."""

    number: int
    id: str
    deal: int


@attrs.frozen(slots=False)
class Listing:
    """All matches of the list in schedule order, as columns, with all faults, and whether the host was busy."""

    columns: Columns
    fault_lines: tuple[FaultLine, ...]
    busy: Array

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def faults(self) -> dict[int, list[tuple[int, str, int]]]:
        """Seat, kind and line of the faults of each match that has some, by its number."""
        by_match: dict[int, list[tuple[int, str, int]]] = {}
        for line in self.fault_lines:
            by_match.setdefault(line.number, []).append((line.seat, str(line.fault.kind), line.fault.n))
        return by_match

    @property
    def kinds(self) -> list[str]:
        """The kinds of faults that there are."""
        return sorted({str(line.fault.kind) for line in self.fault_lines})

    def chosen(self, most: int | None, wanted: Iterable[int] = ()) -> list[ListedMatch]:
        """The matches that get a replay, `most` at most (None: all), those whose numbers are `wanted` if they fit."""
        columns = self.columns
        places = np.searchsorted(columns.number, list(self.faults)).tolist()
        faulty = {
            place: frozenset((int(columns.seats[place, seat]), kind) for seat, kind, _ in of)
            for place, of in zip(places, self.faults.values(), strict=True)
        }
        at = choose(faulty, len(self), most)
        asked = set(np.searchsorted(columns.number, list(wanted)).tolist())
        spare = [place for place in at if place not in faulty and place not in asked][::-1]
        missing = sorted(asked - set(at))
        at = sorted({*at, *missing[: len(spare)]} - set(spare[: len(missing)]))
        parts = (columns.number[at].tolist(), columns.id[at].tolist(), columns.deal[at].tolist())
        return [ListedMatch(number, name.decode(), deal) for number, name, deal in zip(*parts, strict=True)]

    def block(
        self,
        bots: Iterable[str],
        pages: set[str],
        write: Callable[[str, bytes], None],
        picture: dict[str, Any] | None = None,
        part: int = PART,
    ) -> tuple[str, set[str]]:
        """The page's part of the list, as a block, and the names of its parts, each of which is given to `write`.

        `pages` are the ids of the matches that have a page; `picture` is for the board that the page begins with. A
        list of more than `part` matches is cut into parts of so many.
        """
        names = [one_line(name) for name in bots]
        if len(self) <= part:
            rows = list(self._rows(0, len(self), pages))
            return compressed_json({"bots": names, "rows": rows, "picture": picture}, _LEVEL), set()
        parts = []
        replays: dict[str, int] = {}
        for place, begin in enumerate(range(0, len(self), part)):
            end = min(begin + part, len(self))
            rows = list(self._rows(begin, end, pages))
            text = compressed_json(rows, _LEVEL)
            name = f"part-{blake2b(text.encode(), digest_size=6).hexdigest()}.js"
            write(name, f"globalThis.warpleague.parts[{place}] = {json.dumps(text)};\n".encode())
            parts.append([name, rows[0][0], rows[-1][0]])
            replays |= {row[1]: place for row in rows if row[-1]}
        data = {
            "bots": names,
            "rows": [],
            "parts": parts,
            "total": len(self),
            "replays": replays,
            "ends": sorted({one_line(text) for text in self.columns.texts}),
            "busy": bool(self.busy.any()),
            "picture": picture,
        }
        return compressed_json(data, _LEVEL), {name for name, *_ in parts}

    def _rows(self, begin: int, end: int, pages: set[str]) -> Iterator[list[Any]]:
        """A row for each match; what is in it says `assets/matches.js`."""
        some = self.columns.only(slice(begin, end))
        ends = [one_line(text) for text in some.texts]
        names = ("number", "id", "seats", "ranks", "scores", "why", "lines", "elapsed_s", "rival")
        rounded = {"scores": 4, "elapsed_s": 3}
        lists = (
            (np.round(some.values[name], rounded[name]) if name in rounded else some.values[name]).tolist()
            for name in names
        )
        busy = self.busy[begin:end].tolist()
        for (at, match, seats, ranks, scores, why, lines, elapsed_s, rival), waited in zip(
            zip(*lists, strict=True), busy, strict=True
        ):
            name = match.decode()
            yield [
                *(at, name, seats, ranks, scores, ends[why], lines),
                *(elapsed_s, self.faults.get(at, []), int(waited)),
                None if rival != rival else rival,
                int(name in pages),
            ]


def choose(faulty: Mapping[int, frozenset[tuple[int, str]]], count: int, most: int | None) -> list[int]:
    """Which of `count` matches get a replay, `most` at most (None: all), in schedule order.

    `faulty` has bot and kind of the faults of each match that has some. The first one of each bot's kinds of fault
    comes first, then the other faulty matches, then all others; of those that do not fit, a spread over the season.
    """
    if most is None or count <= most:
        return list(range(count))
    seen: set[tuple[int, str]] = set()
    first: list[int] = []
    other: list[int] = []
    for at in sorted(faulty):
        (first if faulty[at] - seen else other).append(at)
        seen |= faulty[at]
    clean = np.ones(count, bool)
    clean[[*first, *other]] = False
    chosen: list[int] = []
    for group in (first, other, np.flatnonzero(clean)):
        room = min(most - len(chosen), len(group))
        chosen += [int(group[place * len(group) // room]) for place in range(room)]
    return sorted(chosen)


# -- index page ------------------------------------------------------------------------------------------

_POINTS: Final = 160  # of a line of Elo
_GRID_BOTS: Final = 60  # more bots than this make no readable grid
_FIRST: Final = 6  # matches linked for each kind of fault


@attrs.frozen
class IndexContent:
    """The values of the page, all matches played, in schedule order, and the board it begins with."""

    values: dict[str, Any]
    listing: Listing
    picture: dict[str, Any] | None


@attrs.frozen
class _PageTable(Generic[LineT]):
    """The columns of a table that a page has, its lines, and the help below it."""

    columns: Sequence[Column[LineT, TableView[LineT]]]
    lines: Sequence[LineT]
    help: Sequence[str]


def _page_table(
    columns: Sequence[Column[LineT, TableView[LineT]]], lines: Sequence[LineT]
) -> _PageTable[LineT]:
    view = TableView(lines, page=True)
    return _PageTable(shown_columns(columns, view), lines, help_lines(columns, view))


def index_content(
    league: League, *, only_totals: bool = False, step: Callable[[str], None] = lambda _: None
) -> IndexContent:
    """Read the league and compute all that its page shows but the replays.

    With `only_totals` it has nothing of a single match: neither its result, nor the faults and times in it. `step`
    is told what comes next: of a large league each part takes seconds.
    """
    now, season = status(league), league.season
    step("reading the results")
    columns = league.columns("matches")
    marks = course_marks(len(columns))
    step("computing the standings")
    table = standings(league, columns, marks)
    step("reading the times")
    used, waited = times_and_busy(league, BUSY_SHARE)
    listing = Listing(columns, tuple(faults(league, columns)), waited)
    read = read_tables(league, columns, _FIRST, table, used)
    game = load_game(season.game)
    matches, layout = picks(columns, table, game), Layout(table)
    values = {
        "sentence": league_sentence(league, game.title, now, table),
        "picks": matches,
        "cards": cards(league, table, columns),
        "card_limit": CARDS,
        "status": now,
        "title": game.title,
        "facts": _condition_rows(league, now),
        "test": _test(league),
        "table": table,
        "columns": shown_columns(COLUMNS, layout),
        "disqualified": disqualified_lines(table),
        "faulted": fault_lines(bot_faults(league, columns), MAX_FAULTED),
        "changed": changes_line(league),
        "bracket": bracket_parts(league) if has_bracket(league) else [],
        "bracket_title": "Rounds" if season.format.kind == "swiss" else "Bracket",
        "remarks": help_lines(COLUMNS, layout),
        "ratings_chart": _ratings_chart(table),
        "elo_chart": _course(table, marks, league.config.rating.start),
        "cross": None if table.solo or len(table.names) > _GRID_BOTS else _cross(table),
        "seats": _page_table(SEATS, read.seats),
        "shares_chart": _shares_chart,
        "seats_remark": seats_remark(read.seats),
        "times": _page_table(TIMES, slowest_first(read.times)),
        "time_chart": _time_chart(read.times),
        # Whether the bot waited for a processor for much of its time.
        "is_busy": lambda line: line.wait_ms > BUSY_SHARE * line.wall_ms,
        "busy": int(listing.busy.sum()),
        "faults": _page_table(FAULTS, read.faults),
        "fault_kinds": listing.kinds,
    }
    if only_totals:
        return IndexContent(
            values | _only_totals(values), Listing(columns.only(slice(0)), (), listing.busy[:0]), None
        )
    return IndexContent(values, listing, picture(league, game, matches[0]) if matches else None)


def _only_totals(values: dict[str, Any]) -> dict[str, Any]:
    """The values of the page that tell of single matches, without what they tell of these."""
    return {
        "picks": [],
        "cards": [{**card, "form": []} for card in values["cards"]],
        "faulted": [],
        "times": _page_table(TIMES, []),
        "busy": 0,
        "faults": _page_table(FAULTS, [attrs.evolve(kind, first=[]) for kind in values["faults"].lines]),
        "fault_kinds": [],
    }


# The head


def _condition_rows(league: League, now: Status) -> Rows:
    season = league.season
    how = conditions(season.conditions, season.conditions["clock"])
    secret = "until the last match is played"
    if now.secret:
        secret = f"{now.secret}, public since {now.published}"
    rows = [
        ("game", how["game"]),
        ("options", how["options"]),
        ("format", now.format),
        ("clock", how["clock"]),
        ("faults", how["faults"]),
        ("confined", "\n".join(confinement_lines(now.level, now.confined)) or f"level {how['level']}"),
        *([("dice", line)] if (line := dice_line(season)) else []),
        ("store", f"since {now.created}, warpleague {now.harness}"),
        ("commitment", f"{now.commitment}, since {now.committed}"),
        *(("entrants", f"{entry.commitment}, since {entry.since}") for entry in now.entered),
        *([("beacon", now.beacon or f"not known yet: {now.awaits}")] if now.awaits else []),
        ("secret", secret),
        ("receipt", now.head),
    ]
    if now.taken_out:
        rows.insert(3, ("taken out", f"{counted(now.taken_out, 'match')} of disqualified bots, not counted"))
    if now.other:
        rows.insert(3, ("besides", "\n".join(besides_lines(now))))
    if season.format.kind == "ladder":
        rows.insert(3, ("opponents", CHOOSES))
    return [(name, safe(value)) for name, value in rows]


def _test(league: League) -> dict[str, Any] | None:
    """The verdict of a test of strength, and its way there; None for other formats."""
    if league.season.format.kind != "test":
        return None
    state = strength_test(league)
    below, above = state.test.bounds
    path = [*state.path[:-1], (state.counts.deals, state.ratio)] if state.path else []
    names = [one_line(name) for name in league.season.names[:2]]
    return {
        "verdict": verdict(state, *names),
        "decision": decided(state),
        "estimate": estimate_line(state),
        "lines": [*one_way_lines(state, *names), numbers_line(state), *luck_lines(state)],
        "chart": "" if state.fixed else charts.ratio(path, below, above),
    }


# Standings


def _ratings_chart(table: Standings) -> Markup:
    """The ranked figure, with its 95 % interval: the fit, the score, or in a solo league the share of wins."""
    if table.rival:
        return charts.intervals(
            [_wins_row(line) for line in table.lines], "share of wins against the game, in percent"
        )
    if table.solo or table.by_score:
        return charts.intervals([_score_row(line) for line in table.lines], "mean score")
    return charts.intervals([_fit_row(line) for line in table.lines], "fitted rating, in Elo points")


def _fit_row(line: Standing) -> charts.Row:
    fit, error = fit_words(line)
    if line.guessed:
        return charts.Row(
            line.bot, line.fit, above=line.above, below=line.below, text=f"{fit} {error}".strip()
        )
    if line.fit is None or line.error is None:
        return charts.Row(line.bot, line.fit, text=fit)
    return charts.Row(
        line.bot, line.fit, line.fit - line.error, line.fit + line.error, text=f"{fit} ± {error}"
    )


def _wins_row(line: Standing) -> charts.Row:
    record = line.record
    if not record.played:
        return charts.Row(line.bot, None, text="-")
    share = record.won / record.played
    low, high = wilson_interval(record.won, record.played)
    return charts.Row(line.bot, 100 * share, 100 * low, 100 * high, text=percent(share))


def _score_row(line: Standing) -> charts.Row:
    scores = line.record.scores
    mean, error = mean_words(scores)
    if scores.half is None:
        return charts.Row(line.bot, scores.mean if scores.count else None, text=mean)
    low, high = scores.mean - scores.half, scores.mean + scores.half
    return charts.Row(line.bot, scores.mean, low, high, text=f"{mean} ± {error}")


def course_marks(matches: int) -> list[int]:
    """After which matches the chart of Elo has a point; the last match is among them."""
    every = max(1, -(-matches // _POINTS))
    return [*range(every, matches, every), *([matches] if matches else [])]


def _course(table: Standings, marks: Sequence[int], start: float) -> Markup:
    """Elo over the matches; empty for a solo league."""
    if table.solo:
        return Markup()
    points = [[start] * len(table.names), *table.course]
    shown = [bot for bot in table.order if table.records[bot].played or not table.matches]
    lines = [(table.names[bot], [ratings[bot] for ratings in points]) for bot in shown]
    return charts.history(lines, [0, *marks])


# The other tables


def _cross(table: Standings) -> list[dict[str, Any]]:
    """Rows of cells: share of points in percent, the shade from 0 to 20, and the words."""
    rows = []
    for bot in table.order:
        cells: list[dict[str, Any] | None] = []
        for other in table.order:
            meetings = table.totals.games[bot][other]
            if bot == other or not meetings:
                cells.append(None)
                continue
            points = table.totals.points[bot][other]
            likelihood = table.fit.superiority(bot, other) if table.fit else None
            text = (
                f"{table.names[bot]} against {table.names[other]}: "
                f"{points:g} {'point' if points == 1 else 'points'} in {counted(meetings, 'meeting')}"
            )
            if likelihood is not None:
                text += f", stronger with a likelihood of {100 * likelihood:.0f} %"
            share = points / meetings
            cells.append(
                {
                    "share": f"{100 * share:.0f}",
                    "shade": round(20 * share),
                    "text": text,
                    "other": table.names[other],
                }
            )
        rows.append({"bot": table.names[bot], "cells": cells})
    return rows


def _shares_chart(line: SeatLine) -> Markup:
    return (
        charts.small_interval(line.share.mean, line.share.share_interval())
        if line.record.played
        else Markup()
    )


def _time_chart(lines: Sequence[TimeLine]) -> Callable[[TimeLine], Markup]:
    most = max((line.mean(line.wall_ms) or 0.0 for line in lines), default=0.0)
    return lambda line: charts.small_bar(line.mean(line.wall_ms) or 0.0, most)
