"""Checks whether a bot is ready for a league: builds it, greets it, and plays every game and table it names.

A bot is checked against itself, so nothing else is needed. The awkward questions are in `warpleague.runner.trial`.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import attrs
import msgspec

from warpleague.errors import BotError
from warpleague.games import FAMILIES, GAMES, game_ids, load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options, match_id, options_json
from warpleague.match.spec import LEVEL, MatchSpec, TimeControl
from warpleague.runner.bundle.bundle import Bundle, prepare
from warpleague.runner.bundle.content import left_out
from warpleague.runner.bundle.manifest import ANY, games_named, plays, require_folder
from warpleague.runner.hints import fault_text
from warpleague.runner.play import play_within
from warpleague.runner.playing import start_bot
from warpleague.runner.trial import (
    GRACE_S,
    LONG_BYTES,
    AwkwardBot,
    crowded,
    in_pieces,
    padded,
    try_out,
    whole,
)
from warpleague.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpleague.games.api import Game
    from warpleague.match.referee import Referee
    from warpleague.match.spec import Level, MatchResult
    from warpleague.runner.bot.logs import LogFolder
    from warpleague.runner.bot.process import BotProcess
    from warpleague.runner.playing import Starter
    from warpleague.runner.trial import Way

T = TypeVar("T")

QUICK_S: Final = 55.0
"""When a quick check stops, in seconds from its start, so that it is over within a minute."""

Verdict = Literal["ok", "warning", "failed"]

_QUESTIONS: Final = 2
"""So many are put in each awkward way."""

_AWKWARD: Final = 2 * _QUESTIONS
"""So many questions of the first match come in awkward ways."""

_ABOUT: Final = 0.9
"""A list of legal actions that has this part of the longest one's length is as good a test."""

_WAYS: Final[tuple[tuple[str, Way, str], ...]] = (
    ("lines in pieces", in_pieces, "lines that came in three pieces, some milliseconds apart"),
    ("long lines", padded, f"lines of more than {LONG_BYTES // 1024} KiB"),
)
"""Awkward ways in which a wire may bring a line: the name, the way, and what was done."""


@attrs.frozen
class Finding:
    """One thing that was looked at: what, how it is, and what to do about it in plain words."""

    what: str
    verdict: Verdict
    text: str


@attrs.frozen
class Checkup:
    """How to check: matches a game and table size, seconds a decision and to start, the level, the games (none: all).

    `quick` plays one match at the smallest and the largest table of each game, and ends within `QUICK_S`. Unless
    `again`, it is not looked whether a match comes out the same the second time: each start of a bot takes time.
    What the bot said goes into `logs`, if that is given. `paths` of this machine are shown to the bot in the sandbox,
    and `hidden` ones are not, though its manifest ask for them. Its build may take `build_s` seconds, if given.
    """

    matches: int = 2
    move_s: float = 1.0
    level: Level = LEVEL
    games: tuple[str, ...] = ()
    start_s: float = 10.0
    quick: bool = False
    logs: LogFolder | None = None
    paths: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    build_s: float | None = None
    again: bool = True

    def tables(self, game: Game[Any, Any]) -> tuple[int, ...]:
        """The numbers of players with which a game is played in the check."""
        return tuple(sorted({game.players[0], game.players[-1]})) if self.quick else game.players


def check_bot(
    folder: Path, how: Checkup = Checkup(), tell: Callable[[Finding], None] = lambda _: None
) -> bool:
    """Check the bot in `folder`; `tell` is called with each finding as it is made. True if nothing failed.

    Raises `BotError` only if there is no such folder: everything else about the bot is a finding.
    """
    require_folder(folder)
    good = True
    for finding in _findings(folder, how):
        good = good and finding.verdict != "failed"
        tell(finding)
    return good


def _findings(folder: Path, how: Checkup) -> Iterator[Finding]:
    deadline = time.monotonic() + (QUICK_S if how.quick else math.inf)
    try:
        bundle = prepare(folder, how.level, how.paths, how.hidden, how.build_s)
    except BotError as error:
        yield Finding("bundle", "failed", str(error))
        return
    gone = left_out(folder)
    without = f"; left out: {', '.join(gone[:5])}" if gone else ""
    yield Finding("bundle", "ok", f"{bundle.name} {bundle.version}, content {bundle.digest[:12]}{without}")
    for name in how.games:
        if not plays(bundle.games, name):
            text = f"the bot does not claim it; bot.toml says {games_named(bundle.games)}"
            yield Finding(name, "failed", text)
    names = _wanted(bundle.games, how.games)
    known = (*game_ids(), *(name for name in names if name.partition(":")[0] in FAMILIES))
    for name in names:
        if name not in known:
            # Beside others it may be a game of somebody else's; a bot without any cannot play at all.
            verdict: Verdict = "warning" if set(known) & set(bundle.games) else "failed"
            yield Finding(name, verdict, f"no such game is installed; {nearest(name, known)}")
    names = [name for name in names if name in known]
    if names:
        yield Finding("plan", "ok", _plan(names, how))
    before = _files_of(bundle)
    try:
        yield from _played(bundle, names, how, deadline)
    except _OutOfTime as over:
        text = f"{QUICK_S:.0f} s were over before {over} was done; what should follow was not looked at"
        yield Finding("time", "warning", f"{text}: check without --quick, or with --game")
    if changed := [name for name, stamp in _files_of(bundle).items() if before.get(name) != stamp]:
        text = f"it wrote {', '.join(changed[:5])} into its own folder: not possible at level sandbox"
        yield Finding("files", "warning", f"{text}; elsewhere matches come to depend on those before them")


def _wanted(claimed: tuple[str, ...], asked: tuple[str, ...]) -> list[str]:
    """The ids of the games to be played: those claimed, or of these the ones asked for.

    A bot that claims any game plays those that come with Warp League, or else the ones asked for.
    """
    if ANY not in claimed:
        return [name for name in claimed if name in asked or not asked]
    return list(asked or GAMES)


def _plan(names: list[str], how: Checkup) -> str:
    """What will be played, in words."""
    games = [load_game(name) for name in names]
    tables = [f"{game.id} with {_numbers(how.tables(game))}" for game in games]
    many = "1 match" if how.quick or how.matches == 1 else f"{how.matches} matches"
    text = f"{many} against itself at each table: {', '.join(tables)} players"
    text += "; the first of each game with some lines in awkward ways"
    if not how.again:
        return text
    return f"{text}, and once more as usual" if how.quick else f"{text}; the first at each table once more"


def _numbers(numbers: tuple[int, ...]) -> str:
    if len(numbers) > 2 and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return " and ".join(map(str, numbers))


def _played(bundle: Bundle, names: list[str], how: Checkup, deadline: float) -> Iterator[Finding]:
    """Whole matches, then questions in awkward ways: game by game, or all matches first if the time may run out."""
    first: dict[str, _First] = {}  # of each game that had no fault so far

    def matches(name: str) -> Iterator[Finding]:
        for players in how.tables(load_game(name)):
            for finding in _game_findings(bundle, name, players, how, deadline, first):
                if finding.verdict == "failed":
                    first.pop(name, None)
                yield finding

    def more(name: str) -> Iterator[Finding]:
        if name in first:  # else the same would be told again
            found, players = first[name], load_game(name).players[0]
            yield from _wire_findings(bundle, name, found, how, deadline)
            if how.again and how.quick:
                yield from _repeat_findings(bundle, name, players, how, deadline, found.match, found.awkward)

    steps = [(name, step) for name in names for step in (matches, more)]
    if how.quick:
        steps = [(name, step) for step in (matches, more) for name in names]
    for name, step in steps:
        yield from step(name)


class _OutOfTime(Exception):
    """The time of a quick check was over; the text is what was going on."""


def _in_time(result: T | None, what: str) -> T:
    if result is None:
        raise _OutOfTime(what)
    return result


def _files_of(bundle: Bundle) -> dict[str, tuple[int, int]]:
    """Each file of the copy that plays, with what changes when it is written: size and time."""
    found = {}
    for path in Path(bundle.cwd).rglob("*"):
        if path.is_file():
            status = path.stat()
            found[path.relative_to(bundle.cwd).as_posix()] = (status.st_size, status.st_mtime_ns)
    return found


@attrs.frozen
class _First:
    """The first match of a game, at its smallest table: some lines to its first seat came in awkward ways.

    `trouble` is the fault that this led to; then the match is the one that was played as usual instead. `most` is the
    largest number of legal actions in it, and `lingers` says whether a bot stayed after its end.
    """

    match: MatchResult
    trouble: str | None
    most: int
    lingers: bool

    @property
    def awkward(self) -> int:
        """How many questions of the match came in awkward ways."""
        return _AWKWARD if self.trouble is None else 0


def _first_match(bundle: Bundle, name: str, players: int, how: Checkup, deadline: float) -> _First:
    awkward: list[AwkwardBot] = []

    def start(referee: Referee, seat: int) -> BotProcess:
        if seat:
            return start_bot(referee, seat)
        # Hello and start come before the questions.
        awkward.append(AwkwardBot(referee, seat, [in_pieces, padded] * (1 + _QUESTIONS)))
        return awkward[0]

    match, trouble = _play(bundle, name, players, 0, how, deadline, start), None
    if (found := _failure(bundle, match)) is not None:
        match = _play(bundle, name, players, 0, how, deadline)
        trouble = found if _failure(bundle, match) is None else None
    most = max((bot.most for bot in awkward), default=0)
    return _First(match, trouble, most, any(bot.lingers for bot in awkward))


def _wire_findings(
    bundle: Bundle, name: str, first: _First, how: Checkup, deadline: float
) -> Iterator[Finding]:
    """What the first match of a game shows of how the bot reads, and more where it does not show enough."""
    players = load_game(name).players[0]
    spec = _spec(bundle, name, players, "check 0", how)
    lingers = first.lingers

    def trouble_of(way: Way, match: MatchSpec = spec, seat: int = 0) -> str | None:
        nonlocal lingers
        found = try_out(match, seat, way, _QUESTIONS, deadline - time.monotonic())
        trial = _in_time(found, f"{name}, awkward questions,")
        lingers = lingers or trial.lingers
        if trial.trouble is None:
            return None
        return fault_text(bundle.seat(), trial.trouble.kind, trial.trouble.message, trial.trouble.detail)

    def told(way: str, text: str, trouble: str | None) -> Finding:
        if trouble is None:
            return Finding(f"{name}, {way}", "ok", text)
        return Finding(f"{name}, {way}", "failed", f"{text}: {trouble}")

    advice = "\n  one read may bring a part of a line, or the end of one and more: read until the newline"
    unexplained = first.trouble
    for what, way, text in _WAYS:
        # Only where something is wrong each way is tried alone, to tell which one it is.
        trouble = None if first.trouble is None else trouble_of(way)
        if trouble is not None:
            unexplained, trouble = None, trouble + advice
        yield told(what, text, trouble)
    if unexplained is not None:
        yield told("awkward lines", "lines in pieces and long lines, in turns", unexplained + advice)
    found = crowded(spec)
    if found is not None:
        crowd, seat, actions = found
        # A list about as long says as much: each start of a bot takes time.
        trouble = None
        if first.most >= _ABOUT * actions:
            actions = first.most
        else:
            trouble = trouble_of(whole, crowd, seat)
        yield told("long lists", f"a position with {actions} legal actions", trouble)
    if lingers:
        text = f"it was still there {GRACE_S:g} s after quit and the end of its input; a match does not wait so long"
        yield Finding(f"{name}, end", "warning", f"{text}, it kills what lingers: exit at once")


def _spec(bundle: Bundle, name: str, players: int, seed: str, how: Checkup) -> MatchSpec:
    game = load_game(name)
    spec = MatchSpec(
        id="",
        game=name,
        options=options_json(load_options(game, players, {})),
        seats=(bundle.seat(),) * players,
        key=match_key(seed),
        seed=seed,
        clock=TimeControl(move_s=how.move_s, start_s=how.start_s),
        level=how.level,
    )
    return attrs.evolve(spec, id=match_id(game, spec))


def _game_findings(
    bundle: Bundle, name: str, players: int, how: Checkup, deadline: float, first: dict[str, _First]
) -> Iterator[Finding]:
    """Play the bot against itself, and keep the first match of the game in `first`.

    Unless the check is quick, the first match is played twice, to see whether it comes out the same.
    """
    what = _table(name, players)
    results: list[MatchResult] = []
    awkward = 0
    for number in range(1 if how.quick else how.matches):
        if number or players != load_game(name).players[0]:
            result = _play(bundle, name, players, number, how, deadline)
        else:
            first[name] = found = _first_match(bundle, name, players, how, deadline)
            result, awkward = found.match, found.awkward
        failure = _failure(bundle, result)
        if failure is not None:
            yield Finding(what, "failed", failure)
            return
        results.append(result)
    yield from _time_findings(what, results, how, awkward)
    if how.again and not how.quick:
        yield from _repeat_findings(bundle, name, players, how, deadline, results[0], awkward)


def _time_findings(what: str, results: list[MatchResult], how: Checkup, awkward: int) -> Iterator[Finding]:
    """How many matches and decisions, and how long these took, but for the `awkward` first ones of one seat."""
    decisions = sum(times.decisions for result in results for times in result.times)
    times_ms = [
        act["ms"][0]
        for number, result in enumerate(results)
        for act in map(msgspec.json.decode, result.record.splitlines()[1:])
        if act["type"] == "act" and act.get("ms")
        if number or act["seat"] or (awkward := awkward - 1) < 0
    ]
    played = "1 match" if len(results) == 1 else f"{len(results)} matches"
    mean_ms, longest_ms = sum(times_ms) / max(1, len(times_ms)), max(times_ms, default=0.0)
    text = f"{played}, {decisions} decisions, {mean_ms:.2f} ms on average, longest {longest_ms:.1f} ms"
    yield Finding(what, "ok", text)
    if longest_ms > 500 * how.move_s:
        text = f"one decision took {longest_ms:.0f} ms of the {1000 * how.move_s:.0f} ms allowed: on a busy machine"
        yield Finding(what, "warning", f"{text} that is a timeout")


def _repeat_findings(
    bundle: Bundle, name: str, players: int, how: Checkup, deadline: float, first: MatchResult, awkward: int
) -> Iterator[Finding]:
    """Play the first match of a table once more: a warning if it comes out otherwise.

    If `awkward` questions of it came in awkward ways, a third match tells these from chance.
    """

    def again() -> str:
        return _play(bundle, name, players, 0, how, deadline).digest

    if (found := again()) == first.digest:
        return
    if awkward and again() == found:
        text = "it decided otherwise when lines came in pieces, or were long: look at how it reads them"
        yield Finding(f"{name}, awkward lines", "warning", text)
        return
    why = "the bot looks at a clock, or its random numbers do not come from the start message's seed"
    text = f"the same match came out differently the second time: {why}"
    yield Finding(_table(name, players), "warning", text)


def _play(
    bundle: Bundle,
    name: str,
    players: int,
    number: int,
    how: Checkup,
    deadline: float,
    starter: Starter = start_bot,
) -> MatchResult:
    """The match with this number of a table, if there is time for it; the log is of matches played as usual."""
    spec = _spec(bundle, name, players, f"check {number}", how)
    logs = how.logs if starter is start_bot else None
    played = play_within(spec, deadline - time.monotonic(), logs is not None, starter)
    result = _in_time(played, _table(name, players))
    if logs is not None:
        logs.keep(spec.id, [seat.bot for seat in spec.seats], result.logs)
    return result


def _table(name: str, players: int) -> str:
    return f"{name}, {players} player{'s' if players > 1 else ''}"


def _failure(bundle: Bundle, result: MatchResult) -> str | None:
    """The first fault of a match in plain words, or None."""
    for seat, faults in enumerate(result.faults):
        for fault in faults:
            detail = msgspec.json.decode(result.record.splitlines()[fault.n])["detail"]
            return fault_text(bundle.seat(), fault.kind, f"in seat {seat}: {fault.message}", detail)
    return None
