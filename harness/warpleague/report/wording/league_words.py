"""Puts the figures of a league into words, the same for the terminal and for pages.

`warpleague.league` computes the figures; `terminal.tables` and `site.league_page` lay them out.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.league.ratings.placement import level_of
from warpleague.league.ratings.statistics import Mean, expected, wilson_interval
from warpleague.match.faults import shortened
from warpleague.report.wording.match_words import one_line
from warpleague.text import counted, listed, safe

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from warpleague.league.play.running import RunReport
    from warpleague.league.ratings.placement import Placement
    from warpleague.league.ratings.sprt import Estimate
    from warpleague.league.results.details import FaultLine, SeatLine, TimeLine
    from warpleague.league.results.faulted import BotFaults, ConfinedMatches
    from warpleague.league.results.league import League
    from warpleague.league.results.standings import Standing, Standings
    from warpleague.league.results.status import Status
    from warpleague.league.schedule.formats.strength_test import StrengthTest
    from warpleague.league.season.season import Season
    from warpleague.league.store.disqualifications import Disqualification
    from warpleague.match.spec import Confinement


_KINDS: Final = {
    "round-robin": "a round-robin",
    "gauntlet": "a gauntlet",
    "swiss": "a Swiss",
    "knockout": "a knockout",
    "double-elimination": "a double elimination",
    "ladder": "a ladder",
    "test": "a test of strength",
    "placement": "a placement",
}
_CYCLES: Final = 0.005  # the probability below which chance does not explain the cycles
_MAX_CHANGES: Final = 8  # listed in one line
_MIN_WAIT_MS: Final = 1000.0  # a shorter wait is not reported
_MAX_CAUSE: Final = 160  # characters of a fault's message in a sentence
MAX_FAULTED: Final = 8
"""The most lines about bots that faulted, below another table."""


def duration(seconds: float) -> str:
    """A time a person can read: `12 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def share_words(share: float, half: float | None) -> str:
    """A share in percent with half its 95 % interval, if there is one."""
    return percent(share) if half is None else f"{100 * share:.1f} ± {percent(half)}"


def interval_words(low: float, high: float) -> str:
    """The ends of the 95 % interval of a share, in percent: `41.2 to 58.0`."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def waited_words(report: RunReport) -> list[str]:
    """A sentence on a run whose bots waited for longer than they computed; empty if that does not matter."""
    if report.wait_ms < max(report.cpu_ms, _MIN_WAIT_MS):
        return []
    got = 100 * report.cpu_ms / (report.cpu_ms + report.wait_ms)
    return [
        f"The bots got {got:.0f} % of their time: they computed for {duration(report.cpu_ms / 1000)}, and waited for "
        f"a processor for {duration(report.wait_ms / 1000)}. Nobody was charged for that, but it takes long: play "
        "fewer matches at once (--jobs), or end other programs on this machine."
    ]


def played_so_far(now: Status) -> str:
    """How many matches are played, of how many if that is known."""
    if now.matches is None or now.percent is None:
        return f"{now.stored:,} played so far"
    return f"{now.stored:,} of {now.matches:,} played ({now.percent:.0f} %)"


def league_sentence(league: League, title: str, now: Status, table: Standings | None) -> str:
    """How far a league is, and who leads, in a sentence or two; `title` is that of its game."""
    kind = _KINDS.get(league.season.format.kind, "a league")
    size = f"{counted(now.stored, 'match')} played so far"
    if now.matches is not None:
        size = (
            counted(now.matches, "match")
            if now.complete
            else f"{now.stored:,} of {counted(now.matches, 'match')} played ({now.percent:.0f} %)"
        )
    text = f"{counted(len(now.bots), 'bot')} in {kind} of {title}: {size}."
    if table is None or not table.matches or league.season.format.kind == "test":
        return text
    ranked = [line for line in table.lines if line.rank is not None]
    first = [one_line(line.bot) for line in ranked if line.rank == 1]
    if len(first) > 3 or not first:
        return text
    if len(first) > 1:
        return f"{text} {listed(first)} {'share the first place' if now.complete else 'lead'}."
    best, verb, but = ranked[0], "won it" if now.complete else "leads", ""
    if now.complete and best.placing is None and best.rank_set is not None and best.rank_set[1] > 1:
        verb, but = "came first", f", but by strength it may have any rank from 1 to {best.rank_set[1]}"
    return f"{text} {first[0]} {verb}{_by(table, ranked)}{but}."


def _by(table: Standings, ranked: Sequence[Standing]) -> str:
    """How far the first one is ahead of the second."""
    if len(ranked) < 2 or ranked[0].placing is not None:
        return ""
    one, two = ranked[:2]
    if one.fit is None or two.fit is None or one.guessed or two.guessed:
        return ""
    sure = (
        "" if one.likelihood is None else f", likelihood to be the stronger one {100 * one.likelihood:.0f} %"
    )
    return f", {one.fit - two.fit:.0f} Elo before {one_line(two.bot)}{sure}" if table.fit else ""


def missing_words(now: Status) -> str:
    """What a league still waits for, in a sentence."""
    if now.awaits is not None and now.beacon is None:
        return f"Its beacon is missing: {now.awaits}."
    if now.matches is None:
        return "Results decide how many matches are missing."
    left = now.matches - now.stored
    return (
        f"{counted(left, 'match')} {'is' if left == 1 else 'are'} missing."
        if left
        else "No match is missing."
    )


def besides_lines(now: Status) -> list[str]:
    """Lines on the matches that are stored and do not count; none if all count."""
    if not now.other:
        return []
    lines = [f"{counted(now.other, 'match')} of earlier bots or formats, not counted"]
    return lines + [
        f"{name}: {counted(many, 'match')} of earlier versions left the count" for name, many in now.earlier
    ]


def fit_words(line: Standing) -> tuple[str, str]:
    """The fitted rating and half its 95 % interval; for a bot without a finite one, an estimate and why."""
    if line.fit is None:
        return "-", ""
    if line.guessed:
        drew = line.record.drawn > 0
        if line.above is not None:
            why = "never lost" if drew else "won all"
        elif line.below is not None:
            why = "never won" if drew else "lost all"
        else:
            why = ""
        return f"≈ {line.fit:.0f}", why
    fit = f"{'? ' if line.provisional else ''}{line.fit:.0f}"
    return fit, "" if line.error is None else f"{line.error:.0f}"


def share_span(won: int, played: int) -> str:
    """The 95 % interval of a share of matches, in percent; empty where none was played."""
    if not played:
        return ""
    return interval_words(*wilson_interval(won, played))


def mean_words(mean: Mean, *, signed: bool = False) -> tuple[str, str]:
    """A mean and half its 95 % interval; empty where there is none."""
    if not mean.count:
        return "-", ""
    half = "" if mean.half is None else f"{mean.half:.2f}"
    return f"{mean.mean:{'+' if signed else ''}.2f}", half


@attrs.define
class FaultTally:
    """All faults of one kind by one bot: how many, how many cost the match, the first in each of the first matches."""

    bot: str
    kind: str
    count: int = 0
    retired: int = 0
    first: list[FaultLine] = attrs.field(factory=list)

    def what(self, most: int) -> str:
        """The first line of the first message, at most `most` characters of it."""
        return (self.first[0].fault.message.splitlines() or [""])[0][:most]


def fault_lines(
    bots: Sequence[BotFaults], most: int | None = None, told: Container[tuple[str, str | None]] = ()
) -> list[str]:
    """A sentence for each bot that faulted, those that did most often first; `most` lines at most.

    By what it faulted most often is left out for the bots and kinds of fault that were `told`.
    """
    lines = [fault_sentence(bot, why=(bot.bot, bot.kind) not in told) for bot in bots]
    if most is not None and len(lines) > most:
        lines[most - 1 :] = [f"{len(lines) - most + 1:,} more bots faulted"]
    return lines


def void_line(void: Mapping[str, int]) -> str:
    """How many matches of each bot were begun in vain; a bot that has many more than others may cause them."""
    bots = ", ".join(f"{bot} {many:,}" for bot, many in void.items())
    return safe(f"begun in vain, and played again with other dice: {bots}", keep="")


def fault_sentence(bot: BotFaults, unit: str = "match", *, why: bool = True) -> str:
    """In how many of its matches (or seats) a bot faulted, and by what: the one sentence that all summaries say."""
    of = counted(bot.played, unit, "matches" if unit == "match" else "")
    text = f"{bot.bot} faulted in {bot.matches:,} of {of}"
    kind = bot.kind
    if kind is None or not why:
        return safe(text, keep="")
    others = [other for other, _ in bot.kinds.most_common() if other != kind]
    also = f"; also {', '.join(others)}" if others else ""
    what = shortened(bot.messages[kind], _MAX_CAUSE)
    return safe(f"{text} ({kind}: {what}{also})", keep="")


class FaultTallies:
    """Faults by bot and kind, each with its `first` matches. Counts a stream of matches in schedule order."""

    def __init__(self, first: int = 1) -> None:
        self._first = first
        self._tallies: dict[tuple[str, str], FaultTally] = {}

    def add(self, lines: Iterable[FaultLine]) -> None:
        """Count faults."""
        for line in lines:
            key = (line.bot, str(line.fault.kind))
            kind = self._tallies.setdefault(key, FaultTally(*key))
            kind.count += 1
            kind.retired += line.fault.retired
            if len(kind.first) < self._first and line.match not in {before.match for before in kind.first}:
                kind.first.append(line)

    def tallies(self) -> list[FaultTally]:
        """The most frequent kinds first."""
        return sorted(self._tallies.values(), key=lambda kind: (-kind.count, kind.bot, kind.kind))


def by_kind(lines: Iterable[FaultLine]) -> list[FaultTally]:
    """Faults by bot and kind, the most frequent first, each with its first match."""
    tallies = FaultTallies()
    tallies.add(lines)
    return tallies.tallies()


def seats_remark(lines: Sequence[SeatLine]) -> str:
    """The conclusion from the results by seat."""
    if len(lines) < 2 or not any(line.record.played for line in lines):
        return ""
    if all(line.even for line in lines):
        return "Every bot sat in all seats equally often, so shares differ only if the seats do."
    return "Not every bot sat in all seats equally often, so shares also differ by who sat there."


def slowest_first(lines: Iterable[TimeLine]) -> list[TimeLine]:
    """By the mean time of a decision."""
    return sorted(lines, key=lambda line: -(line.mean(line.wall_ms) or 0.0))


def rank_words(line: Standing) -> str:
    """The place in the table; a disqualified bot has none."""
    return "–" if line.rank is None else str(line.rank)


def rank_set_words(line: Standing) -> str:
    """The ranks that a bot may have: `2-4`; empty where they are not known."""
    if line.rank_set is None:
        return ""
    first, last = line.rank_set
    return str(first) if first == last else f"{first}-{last}"


def changes_line(league: League) -> str:
    """The changes since the last run, in one line; empty if nothing has."""
    texts = [change.text for change in league.changed]
    if len(texts) > _MAX_CHANGES:
        texts[_MAX_CHANGES - 1 :] = [f"{len(texts) - _MAX_CHANGES + 1} more changes"]
    return f"{league.config.path} has changed since the last run: {'; '.join(texts)}." if texts else ""


def decision_lines(decisions: Iterable[Disqualification]) -> list[str]:
    """One line for each disqualified bot: why, since when, and what becomes of its results."""
    rules = {"stay": "Its results stay.", "out": "Its results are taken out."}
    return [
        safe(
            f"{line.bot} is disqualified since {line.since[:10]}: {_sentence(line.reason)} {rules[line.results]}",
            keep="",
        )
        for line in decisions
    ]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def disqualified_lines(standings: Standings) -> list[str]:
    """One line for each disqualified bot of the table."""
    return decision_lines(line.disqualified for line in standings.lines if line.disqualified)


def placing_words(line: Standing) -> tuple[str, ...]:
    """The figures by which a format ranks a bot: the round it reached, or its points and Buchholz; else none."""
    placing = line.placing
    if placing is None:
        return ()
    if placing.reached is not None:
        return (placing.reached,)
    return (f"{placing.points:g}", f"{placing.buchholz:g}")


def fit_notes(standings: Standings) -> list[str]:
    """Notes on fitted ratings: how they were computed, and what must not be compared."""
    lines: list[str] = []
    fit = standings.fit
    if fit is not None and fit.spread is not None and fit.spread_interval is not None:
        low, high = fit.spread_interval
        lines.append(
            "Results chose the matches, so each fit is drawn towards the mean, the more the less is known of the bot"
            f" (bots differ by about {fit.spread:.0f} Elo, 95 %: {low:.0f} to {high:.0f})."
        )
        if not any(line.placing for line in standings.lines) and not standings.by_score:
            lines[-1] += " Bots are ranked by the lower end of ±."
    if any(line.provisional for line in standings.lines):
        lines.append("?: provisional, on less than half as many deals as bots have on average.")
    if any(line.guessed for line in standings.lines):
        lines.append(
            "≈: the bot, or a group it is in, won or lost every decided match against the rest; a guess, so without ±."
        )
    if fit is not None and not fit.converged:
        lines.append("The fit has not converged: do not rely on it.")
    if fit is not None and fit.seats:
        values = [f"{value:+.0f}" for value in fit.seats]
        halves = [fit.seat_half(seat) for seat in range(len(values))]
        seats = [
            f"seat {seat} {value}" + ("" if half is None else f" ± {half:.0f}")
            for seat, (value, half) in enumerate(zip(values, halves, strict=True))
        ]
        lines.append(f"Seats in Elo: {', '.join(seats)}.")
    if fit is not None and fit.draws is not None:
        lines.append(f"Two equal bots draw {percent(fit.draws / (2 + fit.draws))} of their matches.")
    if has_cycles(standings):
        lines.append(
            "The ratings hide something: there are more cycles (A beats B beats C beats A) than chance makes."
            " See the crosstable."
        )
    islands = {line.island for line in standings.lines if line.island is not None}
    if len(islands) > 1:
        lines.append(f"{len(islands)} groups of bots never met each other: do not compare their fits.")
    return lines + without_faults_lines(standings)


def rank_set_notes(standings: Standings) -> list[str]:
    """The meaning of the sets of ranks, and how small differences the season can tell."""
    lines = [
        "ranks: by strength each bot has one of these, with 95 % confidence for all bots at once; bots with the same"
        " ones count as tied."
    ]
    difference, more = difference_told(standings)
    if standings.rank_sets is not None and standings.rank_sets.least is not None:
        least = _matches(standings.rank_sets.least, standings)
        lines.append(
            f"This season has too few matches to tell most bots apart: at least {least:,} more are needed."
        )
    elif difference is not None:
        if standings.rival:
            size = f"{100 * difference:.1f} points of 100 in their share of wins"
        elif standings.solo or standings.by_score:
            size = f"{difference:.2f} in their mean score"
        else:
            size = f"{difference:.0f} Elo"
        text = f"This season cannot tell bots apart that differ by less than about {size}"
        if more is not None:
            text += f"; about {more:,} more matches would halve that"
        lines.append(f"{text}.")
    return lines


def difference_told(standings: Standings) -> tuple[float | None, int | None]:
    """How much bots must differ for the season to tell them apart, and how many more matches would halve that.

    The difference is in Elo, or in the unit that ranks: the share of wins, the mean score. The number of matches has
    two digits.
    """
    sets = standings.rank_sets
    if sets is None or sets.difference is None:
        return None, None
    return sets.difference, None if sets.more is None else _matches(sets.more, standings)


def _matches(times: float, standings: Standings) -> int:
    """So many `times` the matches of a season, with two digits."""
    return max(1, int(float(f"{times * standings.matches:.2g}")))


def without_faults_lines(standings: Standings) -> list[str]:
    """A sentence for each bot whose rating is another one without the matches that a fault decided."""
    lines = []
    for line in standings.lines:
        rest = line.without_faults
        if rest is None or not rest.differs or rest.fit is None or line.fit is None or line.error is None:
            continue
        rating = f"{rest.fit:.0f}" if rest.error is None else f"{rest.fit:.0f} ± {rest.error:.0f}"
        if rest.above is not None:
            rating = f"more than {rest.above:.0f}"
        elif rest.below is not None:
            rating = f"less than {rest.below:.0f}"
        lines.append(
            safe(
                f"{line.bot}: {line.fit:.0f} ± {line.error:.0f} by all matches, {rating} without the"
                f" {rest.matches:,} that a fault decided.",
                keep="",
            )
        )
    return lines[:MAX_FAULTED]


def has_cycles(standings: Standings) -> bool:
    """Whether bots beat each other in circles more often than chance makes it."""
    return standings.transitivity is not None and standings.transitivity < _CYCLES


def confinement_lines(level: str, ways: Sequence[ConfinedMatches], *, promises: bool = True) -> list[str]:
    """How bots were confined: one line if it was the same in all matches, else one line for each way.

    With `promises` another line says which of the level's promises were tried before the matches.
    """
    total = sum(way.matches for way in ways)
    known = [(way.confinement, way.matches) for way in ways if way.confinement is not None]
    if not known:
        return [f"Level {level}: the records do not say how bots were confined."] if total else []
    noted = sum(matches for _, matches in known)
    where = f"{total:,} {'match' if total == 1 else 'matches'}"
    head = f"Level {level} in {where}" if noted == total else f"Level {level}, noted for {noted:,} of {where}"
    texts = Counter[str]()
    for confinement, matches in known:
        texts[confinement.long_text()] += matches
    if len(texts) == 1:
        text = next(iter(texts))
        lines = [f"{head}: {text}." if text else f"{head}."]
    else:
        hosts = {confinement.host for confinement, _ in known if confinement.host}
        kinds = f", on {len(hosts)} kinds of host" if len(hosts) > 1 else ""
        lines = [f"{head}, by different means{kinds}:"]
        lines += [f"  in {matches:,}: {text or 'nothing noted'}" for text, matches in texts.most_common()]
    return lines + (_promise_lines(known) if promises else [])


def dice_line(season: Season) -> str:
    """A note on the dice of a season at level sandbox; empty at other levels."""
    if season.level != "sandbox" or season.format.kind == "test":
        return ""
    if season.format.dice == "own":
        return "Each match has dice of its own: nothing that a bot saw in one match is of use in another."
    return (
        "Matches share dice: a bot can pass on some of what it saw to its next match on the same deal, "
        'by what the kernel caches and counts. dice = "own" under [format] prevents it.'
    )


def _promise_lines(known: Sequence[tuple[Confinement, int]]) -> list[str]:
    """How many promises passed their test, and which were not tried, or only in some matches."""
    promises = [set(confinement.kept or ()) for confinement, _ in known]
    always, ever = set.intersection(*promises), set.union(*promises)
    missing: Counter[str] = Counter()
    for confinement, matches in known:
        for promise in sorted((ever | set(confinement.untried or ())) - set(confinement.kept or ())):
            missing[promise] += matches
    if not ever and not missing:
        return []
    text = f"Promises of the level that were tested before the matches, and hold: {len(always)}"
    total = sum(matches for _, matches in known)
    parts = [
        promise if count == total else f"{promise} (in {counted(count, 'match')})"
        for promise, count in sorted(missing.items())
    ]
    return [
        f"{text}; not tried: {', '.join(parts)} (`warpleague doctor` tries all)." if parts else f"{text}."
    ]


# -- strength words --------------------------------------------------------------------------------------
# Puts a test of strength into words: its state while it runs, and its verdict in a sentence.

_WIDTH, _SHORTEST = 41, 9
_NO_DEAL: Final = "no whole deal yet"


def gauge(state: StrengthTest, width: int = _WIDTH) -> str:
    """The log likelihood ratio as a mark on a line between its bounds."""
    below, above = state.test.bounds
    share = (min(max(state.ratio, below), above) - below) / (above - below)
    line = ["─"] * width
    line[round(-below / (above - below) * (width - 1))] = "┼"
    line[round(share * (width - 1))] = "●"
    return f"{below:+.2f} ├{''.join(line)}┤ {above:+.2f}"


def numbers_line(state: StrengthTest) -> str:
    """Share, likelihood and deals of the new bot."""
    if not state.counts.deals:
        return _NO_DEAL
    deals = f"deals won {state.won:,}, level {state.level:,}, lost {state.lost:,}"
    return ", ".join([*_share_words(state), deals])


def decided(state: StrengthTest) -> str:
    """The decision of the test, in one word."""
    return {1: "accepted", -1: "rejected", 0: "undecided"}[state.judged]


def state_lines(state: StrengthTest, *, over: bool = False, width: int = 100) -> list[str]:
    """The state in a few lines: ratio, share, likelihood, deals, and how much is left unless it is `over`.

    The line with the ratio keeps to `width` columns, as far as the line between the bounds can be shorter.
    """
    lines = []
    if not state.fixed:
        low, high, unit = _claims(state)
        ends = f"LLR {state.ratio:+.2f}  ", f"  ({low} or {high} {unit})"
        room = width - len(ends[0]) - len(ends[1]) - len(gauge(state, 1)) + 1
        lines.append(ends[0] + gauge(state, min(max(room, _SHORTEST), _WIDTH)) + ends[1])
    lines.append(numbers_line(state))
    if not over and state.left is not None and _is_informative(state):
        lines.append(f"likely left: about {counted(state.left, 'match')}")
    return lines


def _is_informative(state: StrengthTest) -> bool:
    """Whether there are enough deals for an interval that rules anything out."""
    return state.half is not None and state.half < 0.5


def _share_words(state: StrengthTest) -> list[str]:
    """The shares with their interval and the likelihood of superiority, as far as the deals tell them."""
    half, likelihood = state.half, state.superiority
    share = f"share {100 * state.new.mean:.1f} %"
    if state.beside:
        share = (
            f"share of the new bot {100 * state.new.mean:.1f} %, of the old one {100 * state.old.mean:.1f} %, "
            f"difference {100 * state.difference:+.1f}"
        )
    if half is None or likelihood is None:
        return [share]
    if not _is_informative(state):
        return [f"{share} (too few deals yet for an interval)"]
    return [f"{share} ± {100 * half:.1f}", f"LOS {100 * likelihood:.1f} %"]


def brief(state: StrengthTest) -> str:
    """The state in one line."""
    below, above = state.test.bounds
    parts = [] if state.fixed else [f"LLR {state.ratio:+.2f} of {below:+.2f} to {above:+.2f}"]
    if not state.counts.deals:
        return ", ".join([*parts, _NO_DEAL])
    parts += [*_share_words(state), f"deals {state.won:,} won {state.level:,} level {state.lost:,} lost"]
    if state.left is not None and _is_informative(state):
        parts.append(f"about {counted(state.left, 'match')} left")
    return ", ".join(parts)


def placement_brief(known: Placement, within: float) -> str:
    """What is known of a bot's strength in one line, and how much is left."""
    left = known.left(within)
    words = _placed_words(known)
    return words if left is None else f"{words}, about {counted(left, 'deal')} left"


def placement_lines(known: Placement, name: str, *, random_is_a_guess: bool) -> list[str]:
    """How strong a bot is on the scale of the opponents, and whom it played.

    `random_is_a_guess`: random play lost every match, so that how far it is below the others is not known.
    """
    lines = [f"{name}: {_placed_words(known)}."]
    if random_is_a_guess:
        lines.append(
            "On this scale a level won every match against those below: Elo over random play is a guess."
        )
    alone = known.matches == known.deals  # at tables of one a deal is won or lost as a whole
    for level in range(len(known.levels)):
        points, matches = known.against(level)
        if matches:
            number = counted(matches, "deal" if alone else "match")
            lines.append(f"  {points:g} points of {number} against level {level + 1}")
    return lines


def _placed_words(known: Placement) -> str:
    """The level with its interval, then the Elo over random play; a bound after wins or losses only."""
    estimate, levels = known.estimate(), known.levels

    def place(elo: float) -> str:
        level = level_of(levels, elo)
        return (
            f"{level:.1f}" if level is not None else "below 1" if elo < levels[0] else f"above {len(levels)}"
        )

    low, high = estimate.low, estimate.high
    if estimate.elo is not None and low is not None and high is not None:
        elo = estimate.elo
        half = (high - low) / 2
        return f"level {place(elo)} ({place(low)} to {place(high)}), {elo:+.0f} ± {half:.0f} over random play"
    if low is not None:
        where = f"above level {len(levels)}" if low > levels[-1] else f"level {place(low)} or more"
        return f"{where} (it won every match), {low:+.0f} or more over random play"
    if high is not None:
        where = "below level 1" if high < levels[0] else f"below level {place(high)}"
        return f"{where} (it lost every match), {high:+.0f} or less over random play"
    return "no deal has been played"


def estimate_words(estimate: Estimate) -> str:
    """An estimate with its interval."""
    if estimate.elo is None:
        if estimate.low is not None:
            return f"more than {estimate.low:+.0f} Elo (with 95 % confidence)"
        if estimate.high is not None:
            return f"less than {estimate.high:+.0f} Elo (with 95 % confidence)"
        return "no finite estimate"
    low, high = (
        sign if value is None else f"{value:+.0f}"
        for value, sign in ((estimate.low, "-∞"), (estimate.high, "+∞"))
    )
    return f"{estimate.elo:+.0f} Elo ({low} to {high} with 95 % confidence)"


def estimate_line(state: StrengthTest) -> str:
    """The estimate of a test: in Elo, or beside a field the difference of the shares of points."""
    if not state.beside:
        return estimate_words(state.estimate())
    known = state.estimated_difference()
    if known is None:
        return "no interval yet"
    mean, low, high = (f"{100 * part:+.1f}" for part in known)
    return f"difference {mean} points of 100 ({low} to {high} with 95 % confidence)"


def elo_by_fit_line(elo: float, half: float | None, *, fixed: bool) -> str:
    """The difference in Elo of two bots beside a field, without a full stop: that of their ratings in standings."""
    if half is None:
        return f"Elo by the fit of all bots: ≈ {elo:+.0f}, a guess: a bot or a group won or lost every match"
    return f"Elo by the fit of all bots: {elo:+.0f} ± {half:.0f}" + (
        "" if fixed else ", not corrected for when the test stopped"
    )


def verdict(state: StrengthTest, new: str, old: str) -> str:
    """The decision of the test and the open part, in a sentence or two."""
    if not state.counts.deals:
        return "Nothing was played." if state.fixed else "Undecided: no deal was played to its end."
    size = f"after {counted(state.matches, 'match', 'matches')} on {counted(state.counts.deals, 'deal')}"
    if state.always_faulted:
        who = listed([(new, old)[bot] for bot in sorted(state.always_faulted)])
        return (
            f"No verdict {size}: {who} faulted in every match, so nothing is known of which bot is stronger."
        )
    if state.fixed:
        if state.by_chance is not None:
            return f"{decided(state).capitalize()} {size}: {_alike(state, state.by_chance, new, old)}"
        likelihood = state.superiority
        assert likelihood is not None  # the deals are not all alike
        if state.judged > 0:
            return f"Accepted {size}: {new} is stronger than {old}, with a likelihood of {100 * likelihood:.1f} %."
        if state.judged < 0:
            doubt = 100 * (1 - likelihood)
            return f"Rejected {size}: {old} is stronger than {new}, with a likelihood of {doubt:.1f} %."
        return (
            f"Undecided {size}: equal bots are within the 95 % interval; {new} is stronger than {old} with a "
            f"likelihood of {100 * likelihood:.1f} %."
        )
    elo0, elo1, unit = _claims(state)
    if state.decision:
        near, far = (elo1, elo0) if state.decision > 0 else (elo0, elo1)
        lead = f"the lead of {new} over {old} is nearer to {near} than to {far} {unit}"
        text = f"{decided(state).capitalize()} {size}: {lead}.{_against_equal(state, new)}"
    else:
        below, above = state.test.bounds
        ratio = f"its LLR of {state.ratio:+.2f} is between {below:+.2f} and {above:+.2f}"
        text = f"Undecided {size}: the test has chosen neither {elo0} nor {elo1} {unit}, since {ratio}."
        text += _against_equal(state, new) + _beside(state)
    return text


def _claims(state: StrengthTest) -> tuple[str, str, str]:
    """Both hypotheses and their unit: beside a field the difference of shares, since no league has such Elo."""
    test = state.test
    if test.unit == "normalized":
        return f"{test.elo0:g}", f"{test.elo1:g}", "normalised Elo"
    if not state.beside:
        return f"{test.elo0:g}", f"{test.elo1:g}", "Elo"
    low, high = (f"{100 * (expected(elo) - 0.5):.3g}" for elo in (test.elo0, test.elo1))
    return low, high, "points of 100"


def one_way_lines(state: StrengthTest, new: str, old: str) -> list[str]:
    """A line if all of several deals went alike, unless the verdict says so."""
    if state.one_way is None or state.counts.deals < 2 or state.fixed:
        return []
    if not state.one_way:
        return ["Every deal was level."]
    return [f"Every deal went one way: {new if state.one_way > 0 else old} won them all."]


def _against_equal(state: StrengthTest, new: str) -> str:
    """What the estimate of a test says of equal bots, where its interval excludes them.

    A test decides between its hypotheses only: also a rejected bot may be clearly better.
    """
    if state.beside:
        known, unit = state.estimated_difference(), "points of 100"
        mean, low, high = (100 * part for part in known) if known else (None, -inf, inf)
    else:
        estimate, unit = state.estimate(), "Elo"
        mean = estimate.elo
        low = -inf if estimate.low is None else estimate.low
        high = inf if estimate.high is None else estimate.high
    if low <= 0 <= high:
        return ""
    size = "" if mean is None else f", by about {abs(mean):.{1 if state.beside else 0}f} {unit}"
    less = ", but by less than was asked" if state.decision < 0 < low else ""
    return f" By the estimate {new} is {'better' if low > 0 else 'worse'}{size}{less}."


def _beside(state: StrengthTest) -> str:
    """The estimate beside the hypotheses between which a test has not decided, and what may be left."""
    estimate, test = state.estimate(), state.test
    if test.unit == "normalized" or (estimate.low is None and estimate.high is None):
        return ""
    low = -inf if estimate.low is None else estimate.low
    high = inf if estimate.high is None else estimate.high
    inside = [elo for elo in (test.elo0, test.elo1) if low <= elo <= high]
    if len(inside) == 2:
        place = "holds both"
    elif inside:
        claims = _claims(state)[:2]
        place = f"holds {claims[inside[0] == test.elo1]} and not {claims[inside[0] == test.elo0]}"
    elif low > max(test.elo0, test.elo1):
        place = "lies above both"
    elif high < min(test.elo0, test.elo1):
        place = "lies below both"
    else:
        place = "lies between them"
    text = f" The 95 % interval of the estimate {place}"
    if state.left and len(inside) < 2:
        text += f"; if the deals go on like this, the test decides after about {state.left:,} more matches"
    return f"{text}."


def _alike(state: StrengthTest, chance: float, new: str, old: str) -> str:
    """The conclusion where all deals went alike, which has this probability at most if the bots are equal."""
    if not state.won and not state.lost:
        return "every deal was level."
    winner, loser = (new, old) if state.won else (old, new)
    percent = "less than 0.1 %" if chance < 0.001 else f"at most {100 * chance:.1f} %"
    return (
        f"{winner} won every deal; if it is not stronger than {loser}, the probability of that is {percent}."
    )


def exit_code(state: StrengthTest) -> int:
    """0: accepted, 1: rejected, or a bot faulted in every match, 3: undecided."""
    return 1 if state.always_faulted else {1: 0, -1: 1, 0: 3}[state.judged]


def luck_lines(state: StrengthTest) -> list[str]:
    """The saving by shared deals, where it is known: first of what decides, then of the score."""
    part = "of what it is if each match has dice of its own."
    lines = []
    if state.beside and state.saved_share:
        lines.append(
            "Decided by the difference of shares in the same seats of the same deals: "
            f"its variance is {state.saved_share:.2f} {part}"
        )
    if state.saved:
        mean = f"{state.scores.mean:+.2f}"
        mean += "" if state.scores.half is None else f" ± {state.scores.half:.2f}"
        lines.append(
            f"Difference in score on the same seats of the same deals: {mean}; "
            f"its variance is {state.saved:.2f} {part}"
        )
    return lines
