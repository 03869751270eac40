"""Checks whether a bot is ready for a league: builds it, greets it, and plays whole matches as the league plays them.

A bot is checked against itself, so nothing else is needed. Nothing that it is sent in these matches, and nothing where
it runs, tells it that it is checked. What is unusual comes after them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import time
from functools import cache, partial
from hashlib import blake2b
from itertools import cycle
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec
import trio

from warpleague.errors import BotError, BuildError, MissingToolchain
from warpleague.games import FAMILIES, GAMES, game_ids, load_game
from warpleague.games.api import CHANCE, Game
from warpleague.games.playout import random_roll
from warpleague.match import greeting
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.setup import load_options, options_json, players_and_options
from warpleague.match.spec import (
    Conditions,
    Level,
    MatchResult,
    MatchSpec,
    SeatFault,
    SeatSpec,
    TimeControl,
    Violation,
)
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess, never_late
from warpleague.runner.bundle.bundle import Bundle, prepare
from warpleague.runner.bundle.content import left_out
from warpleague.runner.bundle.manifest import ANY, MANIFEST, games_named, plays, require_folder
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.runner.findings import FAULT, MACHINE, TIME, Finding, Verdict
from warpleague.runner.hints import fault_text
from warpleague.runner.host import ending_leftovers
from warpleague.runner.play import end_idle, play_within, within
from warpleague.runner.playing import GRACE_S as MATCH_GRACE_S
from warpleague.runner.playing import greet
from warpleague.runner.tree import walk
from warpleague.text import counted, nearest
from warpline.messages import BotHello

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from warpleague.runner.bot.logs import LogFolder
    from warpleague.runner.bot.pipe import IsLate

    # How a line is handed over: the pieces that it is sent in, one after the other.
    Way = Callable[[bytes], list[bytes]]

T = TypeVar("T")

# How many seconds a bot may take to exit after `quit` before a check calls it lingering: longer than in a match.
GRACE_S: Final = 2.0

# How long the matches of a quick check may take, in seconds, so that it is over within a minute.
QUICK_S: Final = 55.0

# The codes of errors that make a bot not ready; those of all others are "manifest".
_ERRORS: Final = {BuildError: "build", MissingToolchain: "toolchain"}
_QUESTIONS: Final = 2  # so many are put in each awkward way
# A match that takes too long is the bots' doing if they were charged for this part of the time.
_OWN_SHARE: Final = 0.5

_ID_BYTES: Final = 10  # as many as the id of a league's match has
_READ_LINES: Final = (
    "\n  one read may bring a part of a line, or the end of one and more: read until the newline"
)


@attrs.frozen
class Table:
    """A game, its options as complete JSON, and the number of players: what is played in a check."""

    game: str
    players: int
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """The table in words."""
        return f"{self.game}, {counted(self.players, 'player')}"


@attrs.frozen(kw_only=True)
class Checkup:
    """How to check: under which conditions, at which tables, and how much of it.

    Without `tables`, the bot plays `matches` matches at each table of the `games` (none: of all that it names).
    `enter` makes a bundle the seat that it takes in a league; `names` are what other bots of the league are called.
    With `quick` one match is played at the smallest and the largest table of each game, and after `within_s` seconds,
    the build aside, the check ends. Unless `again`, the check does not test whether a match comes out the same the
    second time: each start of a bot takes time. All dice, and the names of opponents, follow from the `seed`.

    The bot's output goes into `logs`, if that is given. `paths` of this machine are shown to the bot in the sandbox,
    and `hidden` ones are not, though its manifest ask for them. Its build may take `build_s` seconds, if given. On
    `one_core`, bots and referee share one, as in a league that does not say `affinity = "none"`. `now` is the clock
    that says how long the check has taken, in seconds. A bot lingers if it has not exited `grace_s` seconds after
    `quit`.
    """

    conditions: Conditions = attrs.Factory(Conditions)
    tables: tuple[Table, ...] = ()
    games: tuple[str, ...] = ()
    enter: Callable[[Bundle], SeatSpec] = Bundle.seat
    names: tuple[str, ...] = ()
    matches: int = 2
    quick: bool = False
    within_s: float | None = None
    again: bool = True
    seed: str = attrs.Factory(lambda: secrets.token_hex(4))
    logs: LogFolder | None = None
    paths: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    build_s: float | None = None
    one_core: bool = True
    grace_s: float = GRACE_S
    now: Callable[[], float] = time.monotonic

    def chosen(self, games: Sequence[str]) -> tuple[Table, ...]:
        """The tables that are played in the check: of these games, unless tables are given."""
        tables = self.tables or tuple(
            Table(name, players, options_json(load_options(load_game(name), players, {})))
            for name in games
            for players in load_game(name).players
        )
        if not self.quick:
            return tables
        sizes = {name: [table.players for table in tables if table.game == name] for name in games}
        ends = {name: (min(players), max(players)) for name, players in sizes.items() if players}
        return tuple(table for table in tables if table.players in ends[table.game])


def check_bot(
    folder: Path, how: Checkup | None = None, tell: Callable[[Finding], None] = lambda _: None
) -> bool:
    """Check the bot in `folder`; `tell` is called with each finding as it is made. True if nothing failed.

    It is ready only if it has finished a whole match at each table. Raises `BotError` only if there is no such
    folder: everything else about the bot is a finding.
    """
    require_folder(folder)
    good = True
    for finding in _findings(folder, Checkup() if how is None else how):
        good = good and finding.verdict != "failed"
        tell(finding)
    return good


def _findings(folder: Path, how: Checkup) -> Iterator[Finding]:
    try:
        bundle = prepare(folder, how.conditions.level, how.paths, how.hidden, how.build_s)
    except BotError as error:
        code = next((code for kind, code in _ERRORS.items() if isinstance(error, kind)), "manifest")
        yield Finding("bundle", "failed", str(error), code)
        return
    gone = left_out(folder)
    without = f"; left out: {', '.join(gone[:5])}" if gone else ""
    version = f" {bundle.version}" if bundle.version != "0" else " without a version"
    text = f"{bundle.name}{version}, content {bundle.digest[:12]}{without}"
    text += f"; {bundle.built}" if bundle.built else ""
    yield Finding("bundle", "ok", text, "bundle")
    asked = how.games or tuple(dict.fromkeys(table.game for table in how.tables))
    for name in asked:
        if not plays(bundle.games, name):
            text = f"the bot does not claim it; bot.toml says {games_named(bundle.games)}"
            yield Finding(name, "failed", text, "game-not-claimed")
    names = _wanted(bundle.games, asked)
    known = (*game_ids(), *(name for name in names if name.partition(":")[0] in FAMILIES))
    for name in names:
        if name not in known:
            # Beside others it may be a game of somebody else's; a bot without any cannot play at all.
            verdict: Verdict = "warning" if set(known) & set(bundle.games) else "failed"
            text = f"no such game is installed; {nearest(name, known)}"
            yield Finding(name, verdict, text, "game-unknown")
    names = [name for name in names if name in known]
    if names:
        check = _Check(bundle, how, how.chosen(names))
        yield Finding("plan", "ok", check.plan(), "plan")
        yield from check.findings()


def _wanted(claimed: tuple[str, ...], asked: tuple[str, ...]) -> list[str]:
    """The ids of the games to be played: those claimed, or of these the ones asked for.

    A bot that claims any game plays those that come with Warp League, or else the ones asked for.
    """
    if ANY not in claimed:
        return [name for name in claimed if name in asked or not asked]
    return list(asked or GAMES)


class _OutOfTime(Exception):
    """The time of a check was over; the text is what was going on."""


class _MeasuredBot(BotProcess):
    """The bot of a seat as any match starts it; it knows what it was charged so far, its start included."""

    def __init__(self, seat: SeatSpec, level: Level) -> None:
        super().__init__(seat, level)
        self.decisions = 0
        self.decisions_ns = self.longest_ns = 0
        self.start_ns = 0
        self._decides = self._is_asked = False

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate = never_late
    ) -> Answer | Violation:
        """As `BotProcess.ask`."""
        self._decides = line.startswith(b'{"type":"act"')
        self._is_asked = True  # it stays so if the match is broken off
        answer = await super().ask(line, budget_ns, is_late)
        self._is_asked = False
        if isinstance(answer, Answer):
            self._count(answer.wall_ns)
        return answer

    def _count(self, charged_ns: int) -> None:
        if self._decides:
            self.decisions += 1
            self.decisions_ns += charged_ns
            self.longest_ns = max(self.longest_ns, charged_ns)
        else:
            self.start_ns += charged_ns

    def stop(self) -> None:
        """Count what it has been charged for an answer that nobody waits for any more."""
        if self._is_asked:
            self._is_asked = False
            self._count(self.charged_ns)


class _Check:
    """The check of one bot: the matches at its tables, and the checks after them."""

    def __init__(self, bundle: Bundle, how: Checkup, tables: tuple[Table, ...]) -> None:
        self._bundle = bundle
        self._how = how
        self._tables = tables
        self._seat = how.enter(bundle)
        self._clock: TimeControl = self._seat.clock or how.conditions.clock
        self._bots: list[_MeasuredBot] = []
        self._finished = 0
        self._within_s = how.within_s or (QUICK_S if how.quick else math.inf)
        self._begun_s = how.now()

    def plan(self) -> str:
        """The plan of the matches, in words."""
        how, sizes = self._how, dict[str, list[int]]()
        for table in self._tables:
            sizes.setdefault(table.game, []).append(table.players)
        places = [f"{name} with {_numbers(players)}" for name, players in sizes.items()]
        many = counted(1 if how.quick else how.matches, "match")
        text = f"{many} against itself at each table: {', '.join(places)} players"
        text += f"; {self._clock.in_words()}, level {how.conditions.level}, seed {how.seed}"
        if how.conditions.faults == "substitute":
            text += f", a fault is substituted {counted(how.conditions.strikes, 'time')}"
        if self._seat.reusable and how.quick:
            text += "; one more at the first table, in the same process"
        text += "; then lines in awkward ways"
        if how.again:
            text += f", and the first match {'of each game' if how.quick else 'at each table'} once more"
        return text

    def findings(self) -> Iterator[Finding]:
        """All findings about matches, and about the files of the bot."""
        before = _files_of(self._bundle)
        try:
            with one_core(self._how.one_core):
                yield from self._played()
        except _OutOfTime as over:
            text = f"{self._within_s:.0f} s were over before {over} was done; the checks after it were left out: "
            text += (
                "check without --quick, or with --game" if self._how.within_s is None else "check it at home"
            )
            yield Finding(TIME, "warning", text, TIME)
        finally:
            end_idle()
        if changed := [name for name, stamp in _files_of(self._bundle).items() if before.get(name) != stamp]:
            text = f"it wrote {', '.join(changed[:5])} into its own folder: not possible at level sandbox"
            text += "; elsewhere matches come to depend on those before them"
            yield Finding("files", "warning", text, "files-written")

    def _played(self) -> Iterator[Finding]:
        """Whole matches at all tables first: without them the bot is not ready."""
        good: list[tuple[Table, list[MatchResult]]] = []
        failed: set[str] = set()  # games: a later check would only report the same problem again
        for place, table in enumerate(self._tables):
            try:
                results = yield from self._matches(table, more=not place)
            except _OutOfTime:
                yield self._unfinished(table)
                return
            if results:
                good.append((table, results))
            else:
                failed.add(table.game)
        end_idle()
        looked: set[str] = set()
        for table, (first, *more) in good:
            if table.game in failed or (table.game in looked and self._how.quick):
                continue
            same = not self._how.again or self._play(table, 0).digest == first.digest
            if not same:
                why = "the bot looks at a clock, or its random numbers do not come from the start message's seed"
                text = f"the same match came out differently the second time: {why}"
                yield Finding(table.words, "warning", text, "not-repeatable")
            elif more and self._how.again and self._seat.reusable and not looked:
                yield from self._reused(table, more[0])
            if table.game not in looked:
                looked.add(table.game)
                yield from self._reading(table, same=same)
        if (
            good
            and any(bot.hello is not None and bot.hello.reusable for bot in self._bots) != self._seat.reusable
        ):
            places = ("bot.toml", "the hello") if self._seat.reusable else ("the hello", "bot.toml")
            text = (
                f"{places[0]} says reusable, and {places[1]} does not, so each match has a process of its own"
            )
            yield Finding("reusable", "warning", f"{text}: say it in both, or in none", "reused")

    def _reused(self, table: Table, second: MatchResult) -> Iterator[Finding]:
        """Whether the second match of a process that is reused is the same as in a new one."""
        digests = set()
        for _ in range(2):  # the second one tells a bot that never plays the same from one that remembers
            end_idle()
            digests.add(self._play(table, 1).digest)
            if second.digest in digests:
                yield Finding(table.words, "ok", "a process that is reused plays as a new one does", "reused")
                return
        if len(digests) == 1:
            text = "after another match in the same process it plays a match otherwise than in a new process: at each "
            text += "start message, forget all of the match before; or leave reusable = true out of bot.toml"
            yield Finding(table.words, "failed", text, "reused")

    # ------------------------------------------------------------------ whole matches

    def _matches(self, table: Table, *, more: bool) -> Generator[Finding, None, list[MatchResult]]:
        """Play the bot against itself; the results, none if it is not ready. With `more`, a reusable bot plays on."""
        number = 1 if self._how.quick else self._how.matches
        if more and self._seat.reusable:
            number = max(number, 2)
        results: list[MatchResult] = []
        strike, struck = "", ""
        for match in range(number):
            result = self._play(table, match)
            for seat, fault in [
                (seat, fault) for seat, faults in enumerate(result.faults) for fault in faults
            ]:
                text = _fault_text(self._seat, result, seat, fault)
                if fault.retired:
                    yield Finding(table.words, "failed", text, FAULT + fault.kind)
                    return []
                strike, struck = strike or text, struck or FAULT + fault.kind
            self._finished += 1
            results.append(result)
        yield from self._times(table, results)
        if strike:
            text = f"a fault, for which the first legal action was played: {strike}"
            yield Finding(table.words, "warning", text, struck)
        return results

    def _times(self, table: Table, results: list[MatchResult]) -> Iterator[Finding]:
        """How many matches and decisions, and how long these took."""
        seats = [seat for result in results for seat in result.times]
        decisions = sum(seat.decisions for seat in seats)
        mean_ms = sum(seat.wall_ms for seat in seats) / max(1, decisions)
        longest_ms = max(seat.longest_ms for seat in seats)
        played = counted(len(results), "match")
        text = f"{played}, {counted(decisions, 'decision')}, {mean_ms:.2f} ms on average, longest {longest_ms:.1f} ms"
        if self._clock.bank_s is not None:
            used_s = max(seat.wall_ms for seat in seats) / 1000
            text += f"; in a match it took {used_s:.1f} s at most, from a bank of {self._clock.bank_s:g} s"
        yield Finding(table.words, "ok", text, "matches")
        move_s = self._clock.move_s
        if move_s is not None and longest_ms > 500 * move_s:
            text = f"one decision took {longest_ms:.0f} ms of the {1000 * move_s:.0f} ms allowed: on a busy machine"
            yield Finding(table.words, "warning", f"{text} that is a timeout", "slow-decision")

    def _unfinished(self, table: Table) -> Finding:
        """That the time was over in a match, and whether the bots took it, or others."""
        for bot in self._bots:
            bot.stop()
        own_s = sum(bot.decisions_ns + bot.start_ns for bot in self._bots) / 1e9
        where = f" at {table.words}" if self._finished else ""
        text = f"no match{where} was finished in {self._within_s:.0f} s"
        if own_s < _OWN_SHARE * (self._how.now() - self._begun_s):
            text += f", but this machine was busy: the bots were charged {own_s:.1f} s of it"
            return Finding(MACHINE, "failed", f"{text}; check again when it has less to do", MACHINE)
        decisions = sum(bot.decisions for bot in self._bots)
        mean_ms = sum(bot.decisions_ns for bot in self._bots) / max(1, decisions) / 1e6
        longest_ms = max((bot.longest_ns for bot in self._bots), default=0) / 1e6
        start_s = sum(bot.start_ns for bot in self._bots) / 1e9
        text += f", slow decisions: {decisions}, {mean_ms:.0f} ms on average, longest {longest_ms:.0f} ms"
        if start_s > own_s / 4:
            text += f"; {start_s:.1f} s to get ready"
        text += "; answer faster"
        if self._how.within_s is None:
            text += ", or check without --quick, which plays to the end"
        return Finding(TIME, "failed", text, TIME)

    def _play(self, table: Table, number: int) -> MatchResult:
        """The match with this number of a table, if there is time for it."""
        logs, spec = self._how.logs, self._spec(table, number)
        reuse = self._seat.reusable
        call = partial(play_within, spec, log=logs is not None, starter=self._start, reuse=reuse)
        result = self._in_time(call, table.words)
        if logs is not None:
            logs.keep(spec.id, [seat.bot for seat in spec.seats], result.logs)
        return result

    def _start(self, referee: Referee, seat: int) -> BotProcess:
        bot = _MeasuredBot(referee.spec.seats[seat], referee.spec.level)
        self._bots.append(bot)
        return bot

    def _spec(self, table: Table, number: int) -> MatchSpec:
        """A match as a league makes it; no bot can see that it plays against itself."""
        key = match_key(f"{self._how.seed} {table.game} {table.players} {number}")
        return self._how.conditions.match(
            id=blake2b(key, digest_size=_ID_BYTES).hexdigest(),
            game=table.game,
            options=table.options,
            seats=(self._seat,) * table.players,
            key=key,
            publish_key=False,
            names=self._named(table, key),
        )

    def _named(self, table: Table, key: bytes) -> tuple[tuple[str, ...], ...]:
        """The names of the players as the bot of each seat gets them: its own is true, the others are not."""
        own, others = self._seat.bot, table.players - 1
        known = [name for name in dict.fromkeys(self._how.names) if name.lower() != own.lower()]
        if len(known) < others:
            known += [name for name in _shipped(table.game) if name not in (*known, own)]
        shown = []
        for seat in range(table.players):
            names = Random(key + bytes([seat])).sample(known, others)
            shown.append((*names[:seat], own, *names[seat:]))
        return tuple(shown)

    # ------------------------------------------------------------------ after them

    def _reading(self, table: Table, *, same: bool) -> Iterator[Finding]:
        """How the bot reads lines that come in awkward ways; `same`: it decides the same again."""
        plain = self._spec(table, 0)
        crowd, crowded_seat, actions = crowded(plain) or (plain, 0, 0)
        both = [way for _, way, _ in _WAYS]
        # One start for all. Only where something is wrong each way is tried alone, to tell which one it is.
        trial = self._try(table, crowd, crowded_seat, both)
        trouble = self._trouble(trial)
        unexplained = trouble
        for what, way, text in _WAYS:
            alone = None if trouble is None else self._trouble(self._try(table, plain, 0, [way]))
            if alone is not None:
                unexplained, alone = None, alone + _READ_LINES
            yield _tried(f"{table.game}, {what}", text, alone)
        if actions:
            alone = None
            if trouble is not None:
                alone = self._trouble(self._try(table, crowd, crowded_seat, [whole]))
            unexplained = unexplained if alone is None else None
            yield _tried(f"{table.game}, long lists", f"a position with {actions} legal actions", alone)
        if unexplained is not None:
            text = "lines in pieces and long lines, in turns"
            yield _tried(f"{table.game}, awkward lines", text, unexplained + _READ_LINES)
        if trouble is None and same and self._how.again:
            usual = self._try(table, crowd, crowded_seat, [whole])
            if usual.actions != trial.actions:
                text = (
                    "it decided otherwise when lines came in pieces, or were long: look at how it reads them"
                )
                yield Finding(f"{table.game}, awkward lines", "warning", text, "reading")
        if trial.lingers:
            text = f"it was still there {self._how.grace_s:g} s after quit and the end of its input; "
            text += "a match does not wait so long, it kills what lingers: exit at once"
            yield Finding(f"{table.game}, end", "warning", text, "lingers")

    def _try(self, table: Table, spec: MatchSpec, seat: int, ways: Sequence[Way]) -> Trial:
        call = partial(try_out, spec, seat, ways, 2 * _QUESTIONS, grace_s=self._how.grace_s)
        return self._in_time(call, f"{table.game}, awkward questions,")

    def _in_time(self, call: Callable[[float], T | None], what: str) -> T:
        """The result of `call`, which takes the seconds that are left; `_OutOfTime` if these are not enough."""
        left_s = self._begun_s + self._within_s - self._how.now()
        result = call(left_s) if left_s > 0 else None
        if result is None:
            raise _OutOfTime(what)
        return result

    def _trouble(self, trial: Trial) -> str | None:
        if (trouble := trial.trouble) is None:
            return None
        return fault_text(self._seat, trouble.kind, trouble.message, trouble.detail)


def _tried(what: str, text: str, trouble: str | None) -> Finding:
    if trouble is None:
        return Finding(what, "ok", text, "reading")
    return Finding(what, "failed", f"{text}: {trouble}", "reading")


def _fault_text(bot: SeatSpec, result: MatchResult, seat: int, fault: SeatFault) -> str:
    """A fault of a match in plain words."""
    detail = msgspec.json.decode(result.record.splitlines()[fault.n])["detail"]
    return fault_text(bot, fault.kind, f"in seat {seat}: {fault.message}", detail)


def _shipped(game: str) -> list[str]:
    """Names of bots that come with Warp League, and could be met in a league of `game`."""
    names = sorted(path.parent.name for path in (shipped_root() / "bots").glob(f"*/{MANIFEST}"))
    ours = [name for name in names if name.startswith((f"{game}-", "random-"))]
    return [*ours, *(f"{game.partition(':')[0]}-{number}" for number in range(1, 100))]


def _files_of(bundle: Bundle) -> dict[str, tuple[int, int]]:
    """Each file of the copy that plays, with what changes when it is written: size and time."""
    files = (entry for entry in walk(bundle.cwd) if entry.is_file)
    return {entry.name: (entry.status.st_size, entry.status.st_mtime_ns) for entry in files}


def _numbers(numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return " and ".join(map(str, numbers))


@contextlib.contextmanager
def one_core(wanted: bool) -> Iterator[None]:
    """Keep this thread, and what it starts, on one core, as a job of a league does."""
    if not (wanted and hasattr(os, "sched_setaffinity")):
        yield
        return
    before = os.sched_getaffinity(0)
    with contextlib.suppress(PermissionError):  # in a sandbox it may be forbidden
        os.sched_setaffinity(0, {secrets.choice(sorted(before))})
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            os.sched_setaffinity(0, before)


# -- questions that arrive in awkward ways: in pieces, very long, or with very many legal actions --------


# Between the pieces of a line, in seconds: a reader that takes what is there for a line has long taken it.
PAUSE_S: Final = 0.02

LONG_BYTES: Final = 100 * 1024  # more than a pipe holds (64 KiB), so that no reader gets it at once
_PIECE: Final = 4096
_SEARCHED: Final = 3000


def whole(line: bytes) -> list[bytes]:
    """A line as any match sends it."""
    return [line]


def in_pieces(line: bytes) -> list[bytes]:
    """A line as its first byte, some more, and the rest."""
    middle = min(len(line) // 2, _PIECE)
    return [line[:1], line[1:middle], line[middle:]]


def padded(line: bytes) -> list[bytes]:
    """A line that an unknown field, which every bot must ignore, makes longer than `LONG_BYTES`."""
    end = line.rindex(b"}")
    return [line[:end] + b',"padding":"' + b" " * LONG_BYTES + b'"}\n']


# Awkward ways in which a wire may bring a line: the name, the way, and what was done.
_WAYS: Final[tuple[tuple[str, Way, str], ...]] = (
    ("lines in pieces", in_pieces, "lines that came in three pieces, some milliseconds apart"),
    ("long lines", padded, f"lines to the bot of more than {LONG_BYTES // 1024} KiB"),
)


class _AwkwardBot(BotProcess):
    """The bot of a seat, whose lines are handed over in these `ways`.

    Its time begins with the last piece. When it ends it may stay for `grace_s` seconds, to see whether it does.
    """

    def __init__(self, referee: Referee, seat: int, ways: Iterator[Way], grace_s: float) -> None:
        super().__init__(referee.spec.seats[seat], referee.spec.level)
        self.lingers = False  # whether it stayed after `quit` and the end of its input
        self._ways, self._grace_s = ways, grace_s

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate = never_late
    ) -> Answer | Violation:
        """As `BotProcess.ask`, with a line that is handed over in the next way."""
        *pieces, last = next(self._ways)(line)
        for piece in pieces:
            self.tell(piece)
            await trio.sleep(PAUSE_S)
        return await super().ask(last, budget_ns, is_late)

    async def close(self, grace_s: float) -> None:
        """As `BotProcess.close`."""
        begun_s = trio.current_time()
        patient = grace_s >= MATCH_GRACE_S  # no fault has ended it
        await super().close(self._grace_s if patient else grace_s)
        self.lingers = patient and trio.current_time() - begun_s >= self._grace_s


@cache
def _most_crowded(name: str, players: int, options_text: str) -> tuple[Any, int, int] | None:
    """The state, who acts there, and how many legal actions it has; searched once for many bots."""
    game = load_game(name)
    options = load_options(game, players, json.loads(options_text))
    rng = Random(name)
    best: tuple[Any, int] | None = None
    most = 0
    state = game.initial(players, options)
    for _ in range(_SEARCHED):
        actors = game.actors(state)
        if not actors:
            state = game.initial(players, options)
        elif actors == (CHANCE,):
            state, _ = game.apply(state, random_roll(game.chance(state), rng))
        else:
            legal = game.legal(state, actors[0])
            if len(legal) > most:
                best, most = (state, actors[0]), len(legal)
            state, _ = game.apply(state, legal[rng.randrange(len(legal))])
    return None if best is None else (*best, most)


def crowded(spec: MatchSpec) -> tuple[MatchSpec, int, int] | None:
    """The match from the position with the most legal actions that some random play comes by.

    Also the seat that is to act there, and how many actions it has. None if no seat is ever asked.
    """
    best = _most_crowded(spec.game, len(spec.seats), json.dumps(spec.options))
    if best is None:
        return None
    state, seat, most = best
    game = load_game(spec.game)
    position = game.to_json(state)
    # An option that follows from others is filled in, in a position.
    filled = {**spec.options, **players_and_options(game, position)[1]}
    return attrs.evolve(spec, position=position, options=filled), seat, most


@attrs.frozen
class Trial:
    """How a bot fared: the first thing it did wrong with its evidence, or None; whether it stayed after `quit`.

    `actions` are what it decided, as the record has it.
    """

    trouble: Violation | None
    lingers: bool
    actions: tuple[Any, ...]


def try_out(
    spec: MatchSpec,
    seat: int,
    ways: Sequence[Way],
    questions: int,
    seconds: float = math.inf,
    grace_s: float = GRACE_S,
) -> Trial | None:
    """Seat the bot of `seat` alone, and put `questions` questions to it; its lines come in these `ways`, in turn.

    The other seats take their first legal action. None if it took more than `seconds` and was cancelled. The
    bot lingers if it has not exited `grace_s` seconds after `quit`.
    """
    game = load_game(spec.game)
    with ending_leftovers():
        return trio.run(within, seconds, _try_out, game, spec, seat, ways, questions, grace_s)


async def _try_out(
    game: Game[Any, Any], spec: MatchSpec, seat: int, ways: Sequence[Way], questions: int, grace_s: float
) -> Trial:
    referee = Referee(game, spec)
    referee.begin()
    for other in range(len(spec.seats)):
        if other != seat:  # what a seat does not want is not collected for it, even if it says hello later
            referee.connect(other, BotHello(protocol=1, wants=()))
    bot = _AwkwardBot(referee, seat, cycle(ways), grace_s)
    trouble: Violation | None = None
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            trouble = await greet(referee, seat, bot)
            if trouble is None:
                trouble = await _question(referee, bot, seat, questions)
            bot.tell(greeting.quit_line())
        finally:
            await bot.close(MATCH_GRACE_S if trouble is None else 0)
            nursery.cancel_scope.cancel()
    if trouble is not None:
        trouble.detail["stderr"] = bot.stderr.text()
    acts = map(json.loads, referee.lines_since(1))
    actions = tuple(act["action"] for act in acts if act["type"] == "act" and act["seat"] == seat)
    return Trial(trouble, bot.lingers, actions)


async def _question(referee: Referee, bot: BotProcess, seat: int, questions: int) -> Violation | None:
    """The error, if any."""
    while (step := referee.advance()) is not Situation.OVER:
        if step is Situation.FAULT:
            return referee.violation
        if questions <= 0:
            break
        if referee.seat != seat:
            first = {"type": "act", "id": json.loads(referee.line)["id"], "action": 0}
            referee.answer(json.dumps(first).encode(), 0, None, None)
            continue
        questions -= 1
        answer = await bot.ask(referee.line, referee.budget_ns)
        if isinstance(answer, Violation):
            return answer
        trouble = referee.answer(answer.line, answer.wall_ns, answer.cpu_ns, answer.wait_ns)
        if trouble is not None:
            return trouble
    return None
