"""Computes the results of rounds: who won each, a rating of every version on one scale, and whether each edit helped.

Nothing is stored: all results follow from the state and the stores of the rounds' leagues.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args, get_type_hints

import attrs
import msgspec
import numpy as np

from warpleague.extras.rounds.climb import Climb, climbers, read_climb
from warpleague.extras.rounds.state import Edit, Usage
from warpleague.extras.rounds.workspace import transcripts
from warpleague.league.ratings.outcomes import Earlier, Outcomes
from warpleague.league.ratings.posterior import EDIT_DRIFTS, shrunk_fit
from warpleague.league.ratings.sprt import Sprt, share_limits
from warpleague.league.ratings.statistics import Mean, pair_points, rounded
from warpleague.league.results.export import (
    Column,
    Kind,
    Row,
    Table,
    TableFormat,
    file_name,
    need,
    table_file,
)
from warpleague.league.results.standings import standings
from warpleague.league.results.tallies import WinLossRecord, outcomes, records
from warpleague.league.schedule.formats.api import seatings_count
from warpleague.league.schedule.formats.strength_test import NEW, OLD, Deal, StrengthTest
from warpleague.league.season.config import Seating  # noqa: TC001 - read from the classes at run time
from warpleague.match.spec import Level, TimeControl  # noqa: TC001 - read from the classes at run time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from warpleague.extras.rounds.file import Author, RoundsConfig
    from warpleague.extras.rounds.playing import RunFolder
    from warpleague.extras.rounds.state import Part, Round, State
    from warpleague.league.ratings.fit import Fit
    from warpleague.league.ratings.sprt import DealCounts
    from warpleague.league.results.standings import Standing
    from warpleague.league.store.columns import Columns


_Number = TypeVar("_Number", int, float)


# -- curves ----------------------------------------------------------------------------------------------


Verdict = Literal["better", "worse", "no difference seen", "too few deals to tell"]
TOO_FEW: Final[Verdict] = "too few deals to tell"


@attrs.frozen(kw_only=True)
class Conditions:
    """How rounds are played; `options` are those of the game."""

    players: int
    options: dict[str, Any]
    deals: int
    """of each table in each round"""
    seats: Seating
    previous: int
    """earlier versions of each author that play, too"""
    clock: TimeControl
    level: Level

    @classmethod
    def of(cls, config: RoundsConfig) -> Conditions:
        """Those of a file."""
        return cls(
            players=config.game.players or 0,
            options=dict(config.game.options),
            deals=config.deals,
            seats=config.seats,
            previous=config.previous,
            clock=config.clock,
            level=config.rules.level,
        )


@attrs.frozen(kw_only=True)
class Share:
    """A mean share of points in `matches`, with the ends of its 95 % interval, with the deal as the unit."""

    mean: float
    low: float
    high: float
    matches: int

    @classmethod
    def of(cls, mean: Mean) -> Share | None:
        """The share of a mean, or None without matches."""
        ends = mean.share_interval()
        if ends is None:
            return None
        low, high = ends
        return cls(mean=round(mean.mean, 6), low=round(low, 6), high=round(high, 6), matches=mean.count)


@attrs.frozen(kw_only=True)
class VersionLine:
    """A version over all rounds in which it played. A fixed author has one version.

    Versions with the same content are one program, and have its rating and results.
    """

    version: str
    author: str
    fixed: bool
    first_round: int
    """0: it was there before"""
    commit: str | None
    digest: str
    same_as: str | None
    """the first version with the same content; null: this is the first one"""
    lines_added: int
    lines_removed: int
    rating: float | None
    """in Elo, on one scale for all versions"""
    rating_half: float | None
    """half the 95 % interval of `rating`"""
    played: int
    share: Share | None
    faults: int
    anchor_share: Share | None
    """against the bots of fixed authors"""
    climb: Climb | None
    """null without `[climb]`"""


@attrs.frozen(kw_only=True)
class Helped:
    """An edit's new version against the one before it, on the same deals.

    The `verdict` is "better" or "worse" only where the interval excludes a half, that is, no change.
    """

    deals: int
    matches: int
    won: int
    """deals"""
    level: int
    lost: int
    score: float
    """the mean difference in score on the same seats of the same deals"""
    score_half: float | None
    share: float
    """of the points; at tables of three and more a half plus the difference of both shares"""
    share_low: float | None
    """the lower end of its two-sided 95 % interval"""
    share_high: float | None
    verdict: Verdict


@attrs.frozen(kw_only=True)
class AuthorLine:
    """An author in one round: the version that played, its results, and the effect of its edit.

    What an author has not told of its usage is null.
    """

    round: int
    author: str
    version: str | None
    new: bool
    """whether this round's edit made the version"""
    rank: int | None
    """in the round"""
    rank_set: tuple[int, int] | None
    """the first and the last rank that it may have by strength"""
    won: bool
    """whether no other author's version ranks higher"""
    share: Share | None
    rating: float | None
    """of the version"""
    rating_half: float | None
    """half the 95 % interval of `rating`"""
    anchor_share: Share | None
    climb: Climb | None
    helped: Helped | None
    """of a new version"""
    before: str | None
    """the version before a new one"""
    ready: bool | None
    """the result of the check; null: the bot did not change"""
    findings: tuple[str, ...]
    """the codes of the check's warnings and failures"""
    problem: str
    """why the edit was dropped, or failed and was kept, or the bot is not ready"""
    faults: int
    lines_added: int
    lines_removed: int
    edit_s: float
    check_s: float
    begun: int
    """how often the edit was started"""
    commit: str | None
    model: str | None
    effort: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    transcripts: tuple[str, ...]
    """files in the folder of the run: what the command printed, and the transcript that it left, if it did"""

    @property
    def told(self) -> bool:
        """Whether the author told tokens or cost of this round."""
        return self.input_tokens is not None or self.cost is not None


@attrs.frozen(kw_only=True)
class AuthorTotal:
    """An author over all rounds. Tokens and cost are sums over the rounds in which they were told, null if in none."""

    author: str
    fixed: bool
    rounds_won: int
    """alone"""
    rounds_shared: int
    version: str | None
    """the current one"""
    gain: float | None
    """by how much Elo it is ahead of the bot at the start"""
    gain_half: float | None
    models: tuple[str, ...]
    efforts: tuple[str, ...]
    told: int
    """the number of rounds with a report of its usage"""
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    edit_s: float


@attrs.frozen(kw_only=True)
class RoundLine:
    """A round."""

    round: int
    matches: int
    copies: int
    """matches between copies of one program, which do not count: a round has them if it has only one"""
    first_seat: Share | None
    """of the points in `copies`: a test of the method, since only the seat can matter"""
    commitment: str
    """to its secret"""
    committed: str
    """when"""
    secret: str | None
    """once it is public"""
    elapsed_s: float
    edit_s: float
    check_s: float
    play_s: float
    overhead_s: float
    """without the longest edit and the matches: this program's own time"""


@attrs.frozen(kw_only=True)
class AuthorDifference:
    """Two authors, by their current versions."""

    author: str
    other: str
    elo: float
    """by how much the author is ahead of the other one"""
    elo_half: float | None


@attrs.frozen(kw_only=True)
class Results:
    """All results of rounds so far."""

    name: str
    game: str
    rounds: int
    over: int
    """how many of them are"""
    anchor: str | None
    """the fixed author whose rating is 1500"""
    conditions: Conditions
    authors: tuple[AuthorTotal, ...]
    """in the order of the file"""
    differences: tuple[AuthorDifference, ...]
    versions: tuple[VersionLine, ...]
    curves: tuple[AuthorLine, ...]
    per_round: tuple[RoundLine, ...]
    proves_nothing: str
    """why the commitments to the secrets prove nothing, or empty"""
    comparisons: int
    """how many edits had enough deals to be called better or worse"""
    better_or_worse_by_chance: float
    """how many of them would be, on average, if no edit changed anything"""

    def to_json(self) -> dict[str, Any]:
        """The results as a JSON object."""
        return attrs.asdict(self)

    def curve(self, author: str) -> list[AuthorLine]:
        """The rounds of one author, in order."""
        return [line for line in self.curves if line.author == author]


@attrs.frozen
class _Played:
    """The league of one round: its matches, with bots numbered as programs of all rounds, and the ranks of these."""

    columns: Columns
    deals: tuple[int, ...]
    lines: dict[int, Standing]
    matches: int
    copies: int
    first_seat: Share | None
    secret: str | None


def results_of(config: RoundsConfig, state: State, run_folder: RunFolder) -> Results:
    """The results of all rounds that are over. Raises `StoreError` if a store cannot be read."""
    over = [round_ for round_ in state.rounds if round_.phase == "over"]
    names = [version.name for version in state.versions] + [anchor.name for anchor in config.anchors]
    numbers = _numbered(config, state)
    programs = len(set(numbers.values()))
    anchors = frozenset(numbers[anchor.name] for anchor in config.anchors)
    played = {round_.number: _read(run_folder, round_, numbers) for round_ in over}
    fit = _fit(state, played.values(), numbers, min(anchors) if anchors else None)
    of_all = _Counts.of(played.values(), programs, anchors)
    climbs = {
        numbers[name]: read_climb(config, run_folder, name)
        for round_ in over
        for name in climbers(config, state, round_)
    }
    versions = tuple(_version_line(state, name, numbers, climbs, fit, of_all) for name in names)
    rated = {line.version: line for line in versions}
    curves: list[AuthorLine] = []
    for round_ in over:
        counts = _Counts.of([played[round_.number]], programs, anchors)
        curves += _round_lines(config, state, round_, played[round_.number], counts, numbers, rated)
    compared = sum(line.helped is not None and line.helped.verdict != TOO_FEW for line in curves)
    return Results(
        name=config.name,
        game=config.game.id,
        rounds=config.rounds,
        over=len(over),
        anchor=config.anchors[0].name if config.anchors else None,
        conditions=Conditions.of(config),
        authors=tuple(_total(config, state, author.name, curves, numbers, fit) for author in config.authors),
        differences=tuple(_differences(config, state, numbers, fit)),
        versions=versions,
        curves=tuple(curves),
        per_round=tuple(_round_line(round_, played[round_.number]) for round_ in over),
        proves_nothing=config.proves_nothing,
        comparisons=compared,
        better_or_worse_by_chance=round(0.05 * compared, 2),
    )


def _numbered(config: RoundsConfig, state: State) -> dict[str, int]:
    """The number of the program of each anchor and version; anchors come first. One content has one number."""
    programs: dict[str, int] = {}
    names = [anchor.name for anchor in config.anchors] + [version.name for version in state.versions]
    return {name: programs.setdefault(state.digest(name), len(programs)) for name in names}


def _read(run_folder: RunFolder, round_: Round, numbers: dict[str, int]) -> _Played:
    with run_folder.read(run_folder.league(round_.number)) as league:
        columns = league.columns("matches")
        wanted = np.array([numbers[name] for name in league.season.names], dtype=columns.seats.dtype)
        columns = attrs.evolve(columns, values={**columns.values, "seats": wanted[columns.seats]})
        # A match of copies of one program tells nothing; only a round with too few programs has such matches.
        different = (columns.seats != columns.seats[:, :1]).any(axis=1)
        copies, columns = columns.only(~different), columns.only(different)
        return _Played(
            columns=columns,
            deals=tuple(columns.deal.tolist()),
            # Of copies the first counts.
            lines={numbers[line.bot]: line for line in reversed(standings(league).lines)},
            matches=len(columns),
            copies=len(copies),
            first_seat=_first_seat(copies),
            secret=league.season.secret.hex() if league.store.published() is not None else None,
        )


def _first_seat(copies: Columns) -> Share | None:
    mean = Mean()
    for ranks, deal in sorted(
        zip(copies.ranks.tolist(), copies.deal.tolist(), strict=True), key=itemgetter(1)
    ):
        mean.add(sum(pair_points(ranks[0], rank) for rank in ranks[1:]) / (len(ranks) - 1), deal)
    return Share.of(mean)


def _fit(state: State, played: Iterable[_Played], numbers: dict[str, int], anchor: int | None) -> Fit:
    """Rate all programs of all rounds on one scale, shrunk as in a ladder; each edit is linked to what it changed.

    Anchors, and programs that play in several rounds, link the rounds.
    """
    everything = Outcomes()
    for one in played:
        everything = everything.with_all(outcomes(one.columns))
    links: list[tuple[int, int]] = []
    known = {numbers[name] for name in state.anchors}
    now: dict[str, int] = {}
    for version in state.versions:
        number = numbers[version.name]
        if number not in known and version.author in now:
            links.append((now[version.author], number))
        known.add(number)
        now[version.author] = number
    earlier = Earlier(links=tuple(links))
    return shrunk_fit(everything, len(known), anchor=anchor, earlier=earlier, drifts=EDIT_DRIFTS)


@attrs.frozen
class _Counts:
    """For each program: wins and losses, share of points, and the same against anchors, with deals as clusters."""

    records: list[WinLossRecord]
    shares: list[Mean]
    against_anchors: list[Mean]

    @classmethod
    def of(cls, played: Iterable[_Played], programs: int, anchors: frozenset[int]) -> _Counts:
        """Count these rounds."""
        totals = [WinLossRecord() for _ in range(programs)]
        shares, against = ([Mean() for _ in range(programs)] for _ in range(2))
        groups = itertools.count()
        for one in played:
            more = records(one.columns, one.columns.seats, programs)
            totals = [total + new for total, new in zip(totals, more, strict=True)]
            of_all: dict[tuple[int, int], list[float]] = defaultdict(list)
            of_anchors: dict[tuple[int, int], list[float]] = defaultdict(list)
            rows = zip(one.columns.seats.tolist(), one.columns.ranks.tolist(), one.deals, strict=True)
            for seats, ranks, deal in rows:
                for seat, bot in enumerate(seats):
                    points = {
                        other: pair_points(ranks[seat], rank)
                        for other, rank in enumerate(ranks)
                        if seats[other] != bot
                    }
                    of_all[bot, deal].append(sum(points.values()) / len(points))
                    met = [points[other] for other in points if seats[other] in anchors]
                    if met:
                        of_anchors[bot, deal].append(sum(met) / len(met))
            for mean, values in ((shares, of_all), (against, of_anchors)):
                for (bot, _), some in sorted(values.items()):
                    group = next(groups)
                    for value in some:
                        mean[bot].add(value, group)
        return cls(totals, shares, against)


def _version_line(
    state: State, name: str, numbers: dict[str, int], climbs: dict[int, Climb], fit: Fit, counts: _Counts
) -> VersionLine:
    number = numbers[name]
    record = counts.records[number]
    version = state.find(name)
    first = next(other for other in numbers if numbers[other] == number)
    return VersionLine(
        version=name,
        author=name if version is None else version.author,
        fixed=version is None,
        first_round=0 if version is None else version.round,
        commit=None if version is None else version.commit,
        digest=state.digest(name),
        same_as=None if first == name else first,
        lines_added=0 if version is None else version.lines_added,
        lines_removed=0 if version is None else version.lines_removed,
        rating=rounded(fit.ratings[number], 3),
        rating_half=rounded(fit.half(number), 3),
        played=record.played,
        share=Share.of(counts.shares[number]),
        faults=record.faults,
        anchor_share=None if version is None else Share.of(counts.against_anchors[number]),
        climb=climbs.get(number),
    )


def _round_lines(
    config: RoundsConfig,
    state: State,
    round_: Round,
    played: _Played,
    counts: _Counts,
    numbers: dict[str, int],
    rated: dict[str, VersionLine],
) -> list[AuthorLine]:
    standing = {
        author: played.lines.get(numbers[part.version])
        for author, part in round_.parts.items()
        if part.version is not None
    }
    best = min((line.rank for line in standing.values() if line and line.rank is not None), default=None)
    field = {numbers[name] for name in round_.field}
    lines = []
    for author in config.editors:
        part = round_.parts[author.name]
        name = part.version
        new = name is not None and state.version(name).round == round_.number
        before = _before(state, author.name, name) if new and name is not None else None
        number = None if name is None else numbers[name]
        line = standing.get(author.name)
        rank = None if line is None else line.rank
        lines.append(
            AuthorLine(
                round=round_.number,
                author=author.name,
                version=name,
                new=new,
                rank=rank,
                rank_set=None if line is None else line.rank_set,
                won=best is not None and rank == best,
                share=None if number is None else Share.of(counts.shares[number]),
                rating=None if name is None else rated[name].rating,
                rating_half=None if name is None else rated[name].rating_half,
                anchor_share=None if number is None else Share.of(counts.against_anchors[number]),
                climb=None if name is None else rated[name].climb,
                helped=None
                if name is None or before is None or numbers[before] not in field
                else _paired(config, played, numbers[name], numbers[before]),
                before=before,
                faults=0 if number is None else counts.records[number].faults,
                **_of_edit(round_, author, part),
            )
        )
    return lines


def _of_edit(round_: Round, author: Author, part: Part) -> dict[str, Any]:
    """The keys of an author's line that tell of its edit and its check."""
    edit = Edit(commit="", changed=False) if part.edit is None else part.edit
    usage = edit.usage or Usage()
    return {
        "ready": None if part.check is None else part.check.ready,
        "findings": _codes(part),
        "problem": _problem(round_, author.name),
        "lines_added": edit.lines_added,
        "lines_removed": edit.lines_removed,
        "edit_s": edit.wall_s,
        "check_s": 0.0 if part.check is None else part.check.elapsed_s,
        "begun": part.begun,
        "commit": edit.commit or None,
        "model": usage.model or author.model,
        "effort": usage.effort or author.effort,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost": usage.cost,
        "transcripts": () if part.edit is None else transcripts(author.name, round_.number, edit.transcript),
    }


def _before(state: State, author: str, version: str) -> str | None:
    versions = [one.name for one in state.versions_of(author)]
    place = versions.index(version)
    return versions[place - 1] if place else None


def _codes(part: Part) -> tuple[str, ...]:
    if part.check is None:
        return ()
    return tuple(dict.fromkeys(one.code for one in part.check.findings if one.verdict != "ok"))


def _problem(round_: Round, author: str) -> str:
    part = round_.parts[author]
    if part.edit is not None and part.edit.problem:
        return f"edit {'kept' if part.edit.kept else 'dropped'}: {part.edit.problem}"
    if part.check is not None and not part.check.ready:
        failed = part.check.failure
        return "not ready" if failed is None else f"not ready: {failed.what}: {failed.text.splitlines()[0]}"
    return ""


_PAIRED_KEYS: Final = ("deals", "matches", "won", "level", "lost", "score", "score_half")


def _paired(config: RoundsConfig, played: _Played, new: int, old: int) -> Helped | None:
    """The difference of two versions on the deals that both played, computed as in a test of fixed size."""
    deals: dict[int, list[Any]] = defaultdict(list)
    columns = played.columns
    roles: Counter[int] = Counter({new: NEW, old: OLD})
    rows = zip(
        columns.seats.tolist(), columns.ranks.tolist(), columns.scores.tolist(), played.deals, strict=True
    )
    for seats, ranks, scores, deal in rows:
        if new in seats and old in seats:
            roles_of = [roles[bot] if bot in roles else OLD + 1 for bot in seats]
            deals[deal].append((roles_of, ranks, scores, None))
    if not deals:
        return None
    players = config.game.players
    test = Sprt(0.0, 20.0, 0.05, 0.05, "elo", seatings_count(config.seats, players))
    low, high = (0.0, 1.0) if players == 2 else (-0.5, 1.5)
    state = StrengthTest(test, low, high, fixed=True)
    for deal in sorted(deals):
        one = Deal.of(deals[deal])
        # At larger tables the share of all points says less than the difference of both shares.
        state.add(one if players == 2 else attrs.evolve(one, value=0.5 + one.new - one.old))
    data = state.to_json()
    share_low, share_high, verdict = judged(state.counts)
    return Helped(
        **{key: data[key] for key in _PAIRED_KEYS},
        share=round(state.counts.mean, 6),
        share_low=share_low,
        share_high=share_high,
        verdict=verdict,
    )


def judged(counts: DealCounts) -> tuple[float | None, float | None, Verdict]:
    """Whether an edit helped: the ends of the 95 % interval of the new version's share, and what it says of the edit.

    Fewer than six deals that all went alike are too few to tell: even if one version won them all, equal ones would do
    so by chance in more than one of twenty cases.
    """
    limits = share_limits(counts)
    if limits is None:
        return None, None, TOO_FEW
    # Rounded as tables print them, so that the word never contradicts the figures beside it.
    low, high = (round(limit, 3) for limit in limits)
    verdict: Verdict = "better" if low > 0.5 else "worse" if high < 0.5 else "no difference seen"
    if counts.half is None and 2 * 0.5**counts.deals > 0.05:
        verdict = TOO_FEW
    return low, high, verdict


def _differences(
    config: RoundsConfig, state: State, numbers: dict[str, int], fit: Fit
) -> Iterator[AuthorDifference]:
    last = {author.name: state.versions_of(author.name)[-1:] for author in config.editors}
    for one, other in itertools.combinations([author for author in last if last[author]], 2):
        ahead = fit.difference(*(numbers[last[author][0].name] for author in (one, other)))
        if ahead is not None:
            elo, half = ahead
            yield AuthorDifference(author=one, other=other, elo=round(elo, 3), elo_half=rounded(half, 3))


def _total(
    config: RoundsConfig,
    state: State,
    author: str,
    curves: Sequence[AuthorLine],
    numbers: dict[str, int],
    fit: Fit,
) -> AuthorTotal:
    lines = [line for line in curves if line.author == author]
    winners = Counter(line.round for line in curves if line.won)
    alone = sum(line.won and winners[line.round] == 1 for line in lines)
    versions = state.versions_of(author)
    ends = [numbers[version.name] for version in (versions[-1:] + versions[:1])]
    gain, half = (fit.difference(*ends) if len(set(ends)) > 1 else None) or (None, None)
    return AuthorTotal(
        author=author,
        fixed=config.author(author).fixed,
        rounds_won=alone,
        rounds_shared=sum(line.won for line in lines) - alone,
        version=versions[-1].name if versions else author if config.author(author).fixed else None,
        gain=rounded(gain, 3),
        gain_half=rounded(half, 3),
        models=tuple(dict.fromkeys(line.model for line in lines if line.model)),
        efforts=tuple(dict.fromkeys(line.effort for line in lines if line.effort)),
        told=sum(line.told for line in lines),
        input_tokens=_sum(line.input_tokens for line in lines),
        output_tokens=_sum(line.output_tokens for line in lines),
        cost=rounded(_sum(line.cost for line in lines), 9),
        edit_s=round(sum(line.edit_s for line in lines), 3),
    )


def _sum(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def _round_line(round_: Round, played: _Played) -> RoundLine:
    spent = round_.seconds
    elapsed = sum(spent.get(phase, 0.0) for phase in ("begin", "edit", "check", "play", "tell"))
    longest = spent.get("longest edit", 0.0)
    matches_s = spent.get("matches", 0.0)
    return RoundLine(
        round=round_.number,
        matches=played.matches,
        copies=played.copies,
        first_seat=played.first_seat,
        commitment=round_.commitment,
        committed=round_.committed,
        secret=played.secret,
        elapsed_s=round(elapsed, 3),
        edit_s=round(spent.get("edit", 0.0), 3),
        check_s=round(spent.get("check", 0.0), 3),
        play_s=round(matches_s, 3),
        overhead_s=round(max(elapsed - longest - matches_s, 0.0), 3),
    )


# -- tables ----------------------------------------------------------------------------------------------
# The results of rounds as plain tables for data tools; docs/rounds.md describes them.
#
# The matches of each round are tables of its league: `warpleague league export` writes them.

_KINDS: Final[dict[str, Kind]] = {
    "str": "text",
    "str | None": "text",
    "int": "whole",
    "int | None": "whole",
    "float": "number",
    "float | None": "number",
    "bool": "truth",
    "bool | None": "truth",
    "Verdict": "text",
}
"""The kind of a column, by the type of its field; of all other types it is JSON."""


def _table(name: str, cls: type[attrs.AttrsInstance]) -> Table:
    return Table(name, tuple(_columns(cls, "")))


def _columns(cls: type[attrs.AttrsInstance], prefix: str) -> Iterator[Column]:
    """A column for each field, and for each field of a part, such as `share_low`."""
    hints = get_type_hints(cls)
    for field in attrs.fields(cls):
        part = next((kind for kind in get_args(hints[field.name]) if attrs.has(kind)), None)
        if part is None:
            yield Column(f"{prefix}{field.name}", _KINDS.get(str(field.type), "json"))
        else:
            yield from _columns(part, f"{prefix}{field.name}_")


VERSIONS: Final = _table("versions", VersionLine)
CURVES: Final = _table("curves", AuthorLine)
ROUNDS: Final = _table("rounds", RoundLine)


def write_tables(results: Results, folder: Path, kind: TableFormat) -> list[Path]:
    """Write the tables to files in `folder`, and return their paths. Raises `BadInput` if that is not possible."""
    need(kind)
    written = []
    for table, lines in ((VERSIONS, results.versions), (CURVES, results.curves), (ROUNDS, results.per_round)):
        path = folder / file_name(table, kind)
        with table_file(path, table, kind) as writer:
            writer.write(_row(table, line) for line in lines)
        written.append(path)
    return written


def _flat(line: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in attrs.asdict(line, recurse=False).items():
        flat |= _flat(value, f"{prefix}{name}_") if attrs.has(type(value)) else {f"{prefix}{name}": value}
    return flat


def _row(table: Table, line: Any) -> Row:
    data = defaultdict(lambda: None, _flat(line))  # a part that is None has no columns of its own
    return tuple(
        msgspec.json.encode(data[column.name])
        if column.kind == "json" and data[column.name] is not None
        else data[column.name]
        for column in table.columns
    )
