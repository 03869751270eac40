"""The two processes that do jobs: the checker of submissions, and the player of matches on demand and trials.

A lock makes sure that there is one of each for a folder of results. Each may be killed at any moment: the next one
takes its job up again. If a check hangs, an alarm ends the checker, and its parent starts it again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shlex
import shutil
import signal
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.processes import log, log_error, working
from warpleague.arena.submissions import jobs, on_demand, versions
from warpleague.arena.submissions.entering import entries_closed, sandbox_refusal
from warpleague.arena.submissions.jobs import (
    CHALLENGE,
    MAX_CLAIMS,
    SUBMISSION,
    TRIAL,
    ChallengeSeat,
    Kind,
    Submission,
    TrialMatch,
)
from warpleague.arena.submissions.ledger import SANDBOX, Ledger, SubmissionLimits
from warpleague.arena.submissions.upload import FOLDER, source_folder, unpack_upload
from warpleague.errors import BadInput, BotError, HarnessFault, StoreError
from warpleague.league.play.hooks import check_event, run_hook
from warpleague.league.season.bot_check import check_for, home_command
from warpleague.league.season.config import BotEntry, LeagueConfig
from warpleague.league.season.entry import first_alike, folder_of, name_of, seat_in
from warpleague.league.store.database import take_lock
from warpleague.match.chance import match_key
from warpleague.match.zstd import ZstdCompressor
from warpleague.runner.bundle.build import WALL
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.cache import cache_folder
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import Manifest, plays, read_manifest
from warpleague.runner.checkup import Checkup, check_bot, one_core
from warpleague.runner.doctor import Report, examine
from warpleague.runner.findings import MACHINE, REPEAT, Finding
from warpleague.runner.host import check_own_limits, shortage
from warpleague.runner.play import play_within
from warpleague.runner.tree import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec

    CheckBot = Callable[[Path, Checkup, Callable[[Finding], None]], bool]
    Play = Callable[[MatchSpec, float, bool], MatchResult | None]


# -- the checker -----------------------------------------------------------------------------------------

CODES: Final = {
    "archive": "the archive cannot be unpacked, or has more than the bot",
    "limits": "bot.toml asks for more than the organiser allows, or does not fit the league",
    "name": "another bot has this name, or one that looks like it, or the author has too many bots",
    "league": "the league takes no more bots",
    "sandbox": "the sandbox does not hold on this machine",
    "harness": "the check failed, but not because of the bot",
    "check": "the check ended the checker several times",
    "repeat": "the command that repeats the check at home",
}
"""The codes of findings that only a check of a submission makes, and their meanings."""
_TEMPORARY: Final = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOMEM,
        errno.EAGAIN,
        errno.EMFILE,
        errno.ENFILE,
        errno.EIO,
        errno.EROFS,
    )
)
"""Errors of a machine that is short of something for a while: the check is made later."""
_MIN_FREE_BYTES: Final = 256 << 20
_CHECKER_POLL_S: Final = 0.2
_WAIT_S: Final = 5.0
_MAX_REASON: Final = 2000
"""Characters of the reason of a refusal that the command of a league gets."""
_PROBE_S: Final = 300.0
_SPARE_S: Final = 60
"""A check hangs if it exceeds the limits of its build and matches by more than this, in seconds."""


@attrs.frozen
class CheckerTests:
    """The tests of the checker for the `machine` and each `bot`: the sandbox here, and a check as authors make it."""

    machine: Callable[..., Report] = examine
    bot: CheckBot = check_bot


def run_checker(
    ledger: Ledger,
    leagues: Mapping[str, LeagueConfig],
    stop: Callable[[float], bool],
    *,
    once: bool = False,
    tests: CheckerTests = CheckerTests(),
) -> None:
    """Check submissions to these leagues (by name) until `stop(seconds)`, which waits, returns true.

    With `once` it returns when nothing is left to check. Raises `StoreError` if another checker runs here.
    """
    check_own_limits("none")
    lock = take_lock(ledger.path.with_name("arena.checker.lock"))
    try:
        for number in jobs.recover(ledger, SUBMISSION):
            text = f"its check ended the checker {MAX_CLAIMS} times; tell the organiser if your bot runs elsewhere"
            versions.refuse(ledger, number, Finding("check", "failed", text, "check"))
            _run_hook(ledger, number, leagues)
        _sweep(ledger)
        working("tests the sandbox", _PROBE_S)
        if not (probe(ledger, tests.machine) or once):
            while not stop(_WAIT_S):  # refuse new submissions, and say why
                working("refuses submissions", why=sandbox_refusal(ledger) or "")
                _refuse_all(ledger, leagues)
        _refuse_all(ledger, leagues)
        while not stop(0.0):
            claimed = jobs.claim(ledger, SUBMISSION)
            if claimed is not None:
                if not _check(ledger, claimed, leagues, tests.bot):
                    stop(_WAIT_S)
                else:
                    _run_hook(ledger, claimed, leagues)
            elif once or stop(_CHECKER_POLL_S):
                break
            else:
                working("waits for submissions", why="")
    finally:
        os.close(lock)


def _sweep(ledger: Ledger) -> None:
    """Remove files of a killed checker."""
    remove_tree(ledger.results / FOLDER / "check")
    accepted = ledger.rows("SELECT id FROM job WHERE kind = 'submission' AND state = 'accepted'")
    known = {str(number) for (number,) in accepted}
    for folder in (ledger.results / FOLDER / "bots").glob("*"):
        if folder.name.partition("-")[0] not in known or folder.suffix == ".draft":
            remove_tree(folder)


def probe(ledger: Ledger, examine: Callable[..., Report]) -> bool:
    """Whether this machine keeps every promise of the sandbox, tried now; the ledger stores the answer."""
    try:
        report = examine("sandbox", thorough=True)
        answer = "holds" if report.holds else report.complaint()
    except HarnessFault as error:
        answer = str(error)
    ledger.set(SANDBOX, answer, "checker")
    return answer == "holds"


def _refuse_all(ledger: Ledger, leagues: Mapping[str, LeagueConfig]) -> None:
    why = sandbox_refusal(ledger)
    while why and (number := jobs.claim(ledger, SUBMISSION)) is not None:
        versions.refuse(ledger, number, Finding("sandbox", "failed", why, "sandbox"), state="failed")
        _run_hook(ledger, number, leagues)


def _run_hook(ledger: Ledger, number: int, leagues: Mapping[str, LeagueConfig]) -> None:
    """Run the command that the league's file names for the end of a check."""
    submission = versions.submission(ledger, number)
    config = leagues.get(submission.league)
    if config is None or not config.arena.on_event:
        return
    reasons = [finding.text for finding in submission.found if finding.verdict == "failed"]
    event = check_event(
        config,
        submission=number,
        author=submission.author,
        bot=submission.bot,
        version=submission.version,
        verdict=submission.state,
        reason="; ".join(reasons)[:_MAX_REASON] or None,
    )
    if problem := run_hook(config.arena.on_event, config.path.parent, event):
        log("on_event", league=config.name, failed=problem)
        with ledger.writing():
            ledger.note("checker", "on_event failed", league=config.name, submission=number, why=problem)


class _Refused(Exception):
    """A submission is refused for a finding."""

    def __init__(self, what: str, text: str, code: str) -> None:
        super().__init__(text)
        self.finding = Finding(what, "failed", text, code)


class _MachineBusy(HarnessFault):
    """The machine was too busy for a check."""


def _check(ledger: Ledger, number: int, leagues: Mapping[str, LeagueConfig], check_bot: CheckBot) -> bool:
    """Check one submission and store the result. Returns false if this machine could not check it now."""
    submission, limits = versions.submission(ledger, number), ledger.limits
    config = leagues.get(submission.league)
    if config is None:
        text = f"there is no longer a league {submission.league} here"
        versions.refuse(ledger, number, Finding("league", "failed", text, "league"))
        return True
    folder = ledger.results / FOLDER / "check" / str(number)
    check = _Check(ledger, submission, config, limits, folder, check_bot)
    within_s = WALL * limits.build_s + limits.check_s + _SPARE_S
    with _alarm(within_s):
        try:
            working(doing := f"checks submission {number}", within_s)
            check.run()
        except _Refused as error:
            versions.refuse(ledger, number, error.finding)
        except (HarnessFault, BadInput, OSError, MemoryError) as error:
            settled = _postpone(ledger, number, error)
            if settled:
                log_error("check failed", error, submission=number)
            else:
                why = shortage(error) if isinstance(error, (OSError, MemoryError)) else str(error)
                working(doing, why=f"the check is made again later: {why}")
            return settled
        finally:
            remove_tree(folder.parent)
    return True


def _postpone(ledger: Ledger, number: int, error: BaseException) -> bool:
    """Handle a failure of this machine, not of the bot. Returns false if the check must be repeated later."""
    with contextlib.suppress(StoreError):
        if isinstance(error, _MachineBusy) and jobs.put_back(ledger, SUBMISSION, number):
            return False
        if isinstance(error, (StoreError, MemoryError)) or getattr(error, "errno", None) in _TEMPORARY:
            jobs.put_back(ledger, SUBMISSION, number, uncounted=True)
            return False
        text = "the check failed, but not because of the bot; please send it again"
        text = f"{text}: {_without(str(error), ledger.results)}"
        versions.refuse(ledger, number, Finding("harness", "failed", text, "harness"), state="failed")
        return True
    return False


@attrs.frozen
class _Check:
    """A check of a submission: its league, the limits, and the folder into which it is unpacked."""

    ledger: Ledger
    submission: Submission
    config: LeagueConfig
    limits: SubmissionLimits
    folder: Path
    check_bot: CheckBot

    def run(self) -> None:
        """Unpack, build and play the bot, and accept or refuse it. Raises `_Refused`, or an error of this machine."""
        number = self.submission.id
        self._check_space()
        manifest = self._unpack()
        ready = self._play()
        self._check_space()  # otherwise a full disk would count as the bot's fault
        if not ready:
            versions.refuse(self.ledger, number, None)
            return
        if (why := entries_closed(self.ledger, self.config)) is not None:
            raise _Refused("league", f"came too late for {self.config.name}: {why}", "league")
        source_folder(self.ledger, self.submission, self.folder)
        digest = folder_digest(self.folder)
        versions.accept(self.ledger, number, manifest.name, manifest.version, digest)

    def _check_space(self) -> None:
        """Raise `OSError` if there is too little space to unpack and build a bot."""
        cache = cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        for place in (self.ledger.results, cache):
            if shutil.disk_usage(place).free < _MIN_FREE_BYTES:
                raise OSError(errno.ENOSPC, "too little space is left", str(place))

    def _unpack(self) -> Manifest:
        """Unpack the archive, and check the manifest before any of its code runs."""
        ledger, number = self.ledger, self.submission.id
        data = versions.stored_archive(ledger, number)
        assert data is not None
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        (ledger.results / FOLDER).chmod(0o700)
        with self._refusing("archive"):
            beside = unpack_upload(data, self.folder, self.limits)
        if beside:
            text = f"no part of the bot, so left out: {', '.join(beside[:5])}"
            versions.add_finding(ledger, number, Finding("archive", "ok", text, "archive"))
        with self._refusing("manifest"):
            manifest = read_manifest(self.folder)
        versions.name(ledger, number, manifest.name, manifest.version)
        with self._refusing("limits"):
            check_manifest(manifest, self.config, self.limits)
        theirs = first_alike(manifest.name, (name_of(self.config, entry) for entry in self.config.entries))
        if theirs is not None:
            like = "is" if theirs == manifest.name else f"looks like {theirs}, which is"
            text = f"bot.toml: name: {manifest.name} {like} a bot of the organiser; choose another name"
            raise _Refused("name", text, "name")
        if problem := versions.name_refusal(ledger, number, manifest.name):
            raise _Refused("name", problem, "name")
        return manifest

    def _play(self) -> bool:
        """Build it, and play it as its matches in the league will be; each finding is written down at once.

        Whether it is ready. Raises `HarnessFault` if this machine was too busy for the check.
        """
        ledger, number = self.ledger, self.submission.id
        last: Finding | None = None

        def tell(finding: Finding) -> None:
            nonlocal last
            last = attrs.evolve(finding, text=_without(finding.text, self.folder))
            versions.add_finding(ledger, number, last)

        how = check_for(
            self.config,
            self.folder,
            names=tuple(one.bot for one in versions.versions_in(ledger, self.config.name, active=True)),
            level="sandbox",  # even if the file has changed since the bot was sent
            quick=True,
            within_s=self.limits.check_s,
            again=False,
            build_s=self.limits.build_s,
            hidden=(ledger.results,),
        )
        command = shlex.join(home_command(self.config, how.seed, self.limits.check_s))
        versions.add_finding(ledger, number, Finding(REPEAT, "ok", command, "repeat"))
        with self._refusing("manifest"):
            ready = self.check_bot(self.folder, how, tell)
        if not ready and last is not None and last.what == MACHINE:
            raise _MachineBusy(last.text)
        return ready

    @contextlib.contextmanager
    def _refusing(self, code: str) -> Iterator[None]:
        """Turn an error about a bot into a refusal, with the code of the finding."""
        try:
            yield
        except BotError as error:
            raise _Refused("bundle", _without(str(error), self.folder), code) from None


def check_manifest(manifest: Manifest, config: LeagueConfig, limits: SubmissionLimits) -> None:
    """Raise `BotError` if a submitted bot needs permissions of an organiser, or does not fit the league."""
    if not plays(manifest.games, config.game.id):
        raise BotError(
            f"bot.toml: games: the league {config.name} plays {config.game.id}, which is not among them"
        )
    if manifest.files:
        raise BotError(
            "bot.toml: files: a submission cannot link files of this machine; put them into its folder"
        )
    if more := set(manifest.sandbox.paths) - set(config.sandbox.paths):
        raise BotError(
            f"bot.toml: sandbox.paths: the organiser has not granted {', '.join(sorted(more))}; "
            "ask for it, or leave it out"
        )
    for key in ("memory_mb", "processes", "tmp_mb"):
        asked, max_value = getattr(manifest.limits, key), getattr(limits, key)
        if asked > max_value:
            raise BotError(f"bot.toml: limits.{key}: at most {max_value} here, not {asked}")


def _without(text: str, folder: Path) -> str:
    """A text for authors: without the paths of this machine."""
    for place in (folder.resolve(), folder):
        text = text.replace(f"{place}/", "").replace(f"{place}: ", "").replace(str(place), "the folder")
    return text


@contextlib.contextmanager
def _alarm(after_s: float) -> Iterator[None]:
    """End this process if the block takes longer: its parent starts it again."""
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- the player of matches on demand and trials ----------------------------------------------------------

_PLAYER_POLL_S: Final = 0.5
_PACKED: Final = 3
_MAX_LOG: Final = 1 << 20
"""The most characters stored of each kind of log."""


def run_challenges(
    ledger: Ledger,
    leagues: Mapping[str, LeagueConfig],
    stop: Callable[[float], bool],
    *,
    once: bool = False,
    play: Play = play_within,
) -> None:
    """Play matches on demand and trials in these leagues (by name) until `stop(seconds)`, which waits, returns true.

    A match of a trial follows each match on demand, so that neither waits for all of the other. With `once` it returns
    when none waits. Raises `StoreError` if another process does this here.
    """
    check_own_limits("none")
    lock = take_lock(ledger.path.with_name("arena.challenges.lock"))
    try:
        for kind, what in ((CHALLENGE, "it"), (TRIAL, "a match")):
            for number in jobs.recover(ledger, kind):
                jobs.fail(ledger, kind, number, f"{what} ended the process that played it {MAX_CLAIMS} times")
        player = _Player(ledger, leagues, play)
        while not stop(0.0):
            working("waits for matches on demand and trials", why="")
            challenge = jobs.claim(ledger, CHALLENGE)
            if challenge is not None:
                player.play(CHALLENGE, challenge)
            trial = jobs.claim(ledger, TRIAL)
            if trial is not None:
                player.play(TRIAL, trial)
            elif challenge is None and (once or stop(_PLAYER_POLL_S)):
                break
    finally:
        os.close(lock)


@attrs.frozen
class _Player:
    """Plays single matches of jobs, and stores how they ended."""

    ledger: Ledger
    leagues: Mapping[str, LeagueConfig]
    play_match: Play

    def play(self, kind: Kind, number: int) -> None:
        """Play a match of a job; a failure of this machine ends the job, too, and does not count."""
        league = jobs.read_one(self.ledger, kind, number)["league"]
        config = self.leagues.get(league)
        if config is None:
            jobs.fail(self.ledger, kind, number, f"there is no longer a league {league} here")
            return
        working(
            f"plays {kind.noun} {number}",
            WALL * self.ledger.limits.build_s + self.ledger.limits.challenge_s + _SPARE_S,
        )
        play = self._play_trial if kind is TRIAL else self._play_challenge
        try:
            store = play(config, number)
        except (BadInput, HarnessFault, OSError) as error:
            log_error(f"{kind.noun} failed", error, number=number)
            results = self.ledger.results
            text = str(error).replace(f"{results.resolve()}/", "").replace(f"{results}/", "")
            jobs.fail(self.ledger, kind, number, text)
            return
        # An error here ends this process: the match was good, so it is played again.
        store()

    def _play_challenge(self, config: LeagueConfig, number: int) -> Callable[[], None]:
        """Play a match on demand. Returns what stores it."""
        challenge = on_demand.challenge(self.ledger, number)
        order = list(range(len(challenge.seats)))
        secrets.SystemRandom().shuffle(order)
        seats = [challenge.seats[place] for place in order]
        result = self._played(config, seats, f"challenge {secrets.token_hex(16)}", "", "it")
        own = order.index(0)
        log("match on demand", league=config.name, number=number, ranks=list(result.ranks))
        return partial(
            on_demand.finish_challenge,
            self.ledger,
            number,
            {"match": result.id, "order": order, **_outcome(result)},
            ZstdCompressor(level=_PACKED).compress(result.record, ZstdCompressor.FLUSH_FRAME),
            {"stderr": result.logs[own].stderr[:_MAX_LOG], "wire": result.logs[own].wire[:_MAX_LOG]},
        )

    def _play_trial(self, config: LeagueConfig, number: int) -> Callable[[], None]:
        """Play the next match of a trial. Returns what stores it."""
        trial = on_demand.played_trial(self.ledger, config, number)
        deal, order = on_demand.next_match(config, trial)
        seats = [trial.seats[bot] for bot in order]
        # As in a season: a match whose process died has other dice, since its bots have seen the ones before.
        vain = f" attempt {trial.claims - 1}" if trial.claims > 1 else ""
        seed, which = f"trial {trial.seed} {deal}{vain}", f"{trial.matches}"
        result = self._played(config, seats, seed, which, f"match {trial.matches + 1}")
        match = TrialMatch(
            deal=deal,
            seats=order,
            ranks=tuple(result.ranks),
            scores=tuple(result.scores),
            rival=result.rival,
            faults=tuple(tuple(fault.kind for fault in seat) for seat in result.faults),
        )
        return partial(on_demand.add_match, self.ledger, config, trial, match)

    def _played(
        self, config: LeagueConfig, bots: Sequence[ChallengeSeat], seed: str, which: str, what: str
    ) -> MatchResult:
        """The result of a match, with dice that have nothing to do with those of the season.

        `which` tells the matches of one seed apart, `what` names this one. Raises `HarnessFault` if it takes too long.
        """
        seats = tuple(self._seat(config, bot) for bot in bots)
        key = match_key(seed)
        spec = attrs.evolve(config.conditions, level="sandbox").match(
            id=blake2b(key + which.encode(), digest_size=10).hexdigest(),
            game=config.game.id,
            options=config.game.options,
            seats=seats,
            key=key,
            seed=seed,
            private=True,
        )
        limit_s = self.ledger.limits.challenge_s
        with one_core(config.run.affinity == "core"):
            result = self.play_match(spec, float(limit_s), True)
        if result is None:
            raise HarnessFault(f"{what} was not over within {limit_s} s")
        return result

    def _seat(self, config: LeagueConfig, seat: ChallengeSeat) -> SeatSpec:
        """The seat of a bot as the league has it, built if need be."""
        ledger = self.ledger
        if seat.submission is not None:
            folder = source_folder(ledger, versions.submission(ledger, seat.submission))
            entry = BotEntry(path=str(folder.resolve()), name=seat.bot)
        else:
            entry = next(one for one in config.entries if name_of(config, one) == seat.bot)
            folder = folder_of(config, entry)
        bundle = prepare(folder, "sandbox", config.sandbox.paths, (ledger.results,), ledger.limits.build_s)
        return seat_in(config, entry, bundle, f"{config.path}: bots")


def _outcome(result: MatchResult) -> dict[str, Any]:
    return {
        "ranks": list(result.ranks),
        "scores": list(result.scores),
        "rival": result.rival,
        "why": result.why,
        "faults": [[attrs.asdict(fault) for fault in seat] for seat in result.faults],
        "lines": result.lines,
    }
