"""The process that checks submissions one after the other: it unpacks, builds and plays each in the sandbox.

A lock makes sure that there is one checker for a folder of results. It may be killed at any moment: the submission
that it was checking is checked again. If it hangs, an alarm ends it, and its parent starts it again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shlex
import shutil
import signal
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.processes import log, log_error
from warpleague.arena.submissions import challenges, trials, versions
from warpleague.arena.submissions.entering import settled
from warpleague.arena.submissions.limits import SubmissionLimits, check_manifest, limits_of
from warpleague.arena.submissions.upload import FOLDER, source_folder, unpack_upload
from warpleague.errors import BadInput, BotError, HarnessFault, StoreError
from warpleague.league.play.hooks import check_event, run_hook
from warpleague.league.season.bot_check import REPEAT, check_for, home_command
from warpleague.league.season.config import BotEntry, LeagueConfig
from warpleague.league.season.entry import first_alike, folder_of, name_of, seat_in
from warpleague.league.store.database import take_lock
from warpleague.match.chance import match_key
from warpleague.match.zstd import ZstdCompressor
from warpleague.runner.bundle.build import WALL
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.cache import cache_folder, remove
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import Manifest, read_manifest
from warpleague.runner.checkup import MACHINE, Checkup, Finding, check_bot, one_core
from warpleague.runner.doctor import Report, examine
from warpleague.runner.host import be_nice
from warpleague.runner.play import play_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from warpleague.arena.submissions.challenges import Challenge, ChallengeSeat
    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.trials import Trial
    from warpleague.arena.submissions.versions import Submission
    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec

    CheckBot = Callable[[Path, Checkup, Callable[[Finding], None]], bool]
    Play = Callable[[MatchSpec, float, bool], MatchResult | None]


# -- checking --------------------------------------------------------------------------------------------


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
SANDBOX: Final = "sandbox"
"""The setting that says whether the sandbox holds here: "holds", or why not."""
_TEMPORARY: Final = (
    *(
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOMEM,
        errno.EAGAIN,
        errno.EMFILE,
        errno.ENFILE,
        errno.EIO,
        errno.EROFS,
    ),
)
"""Errors of a machine that is short of something for a while: the check is made later."""
_MIN_FREE_BYTES: Final = 256 << 20
_POLL_S: Final = 0.2
_WAIT_S: Final = 5.0
_MAX_REASON: Final = 2000
"""Characters of the reason of a refusal that the command of a league gets."""
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
    lock = take_lock(ledger.path.with_name("arena.checker.lock"))
    try:
        for number in versions.recover(ledger):
            _run_hook(ledger, number, leagues)
        _sweep(ledger)
        if not (probe(ledger, tests.machine) or once):
            while not stop(_WAIT_S):  # refuse new submissions, and say why
                _refuse_all(ledger, leagues)
        _refuse_all(ledger, leagues)
        while not stop(0.0):
            submission = versions.claim(ledger)
            if submission is not None:
                if not _check(ledger, submission, leagues, tests.bot):
                    stop(_WAIT_S)
                else:
                    _run_hook(ledger, submission.id, leagues)
            elif once or stop(_POLL_S):
                break
    finally:
        os.close(lock)


def _sweep(ledger: Ledger) -> None:
    """Remove files of a killed checker."""
    remove(ledger.results / FOLDER / "check")
    known = {str(row[0]) for row in ledger.rows("SELECT id FROM submission WHERE state = 'accepted'")}
    for folder in (ledger.results / FOLDER / "bots").glob("*"):
        if folder.name.partition("-")[0] not in known or folder.suffix == ".draft":
            remove(folder)


def probe(ledger: Ledger, examine: Callable[..., Report]) -> bool:
    """Whether this machine keeps every promise of the sandbox, tried now; the ledger stores the answer."""
    try:
        report = examine("sandbox", thorough=True)
        answer = "holds" if report.holds else report.complaint()
    except HarnessFault as error:
        answer = str(error)
    ledger.set(SANDBOX, answer, "checker")
    return answer == "holds"


def sandbox_refusal(ledger: Ledger) -> str | None:
    """Why this machine can take no submission, or None if it can or the checker has not tested it yet."""
    answer = ledger.setting(SANDBOX)
    if answer in (None, "holds"):
        return None
    return f"no submissions are taken, since the sandbox does not hold on this machine: {answer}"


def _refuse_all(ledger: Ledger, leagues: Mapping[str, LeagueConfig]) -> None:
    why = sandbox_refusal(ledger)
    while why and (submission := versions.claim(ledger)) is not None:
        versions.refuse(ledger, submission.id, why, what="sandbox", state="failed")
        _run_hook(ledger, submission.id, leagues)


@attrs.frozen
class _Refused(Exception):
    what: str
    text: str
    code: str


class _MachineBusy(HarnessFault):
    """The machine was too busy for a check."""


def _check(
    ledger: Ledger, submission: Submission, leagues: Mapping[str, LeagueConfig], check_bot: CheckBot
) -> bool:
    """Check one submission and store the result. Returns false if this machine could not check it now."""
    config = leagues.get(submission.league)
    if config is None:
        versions.refuse(
            ledger, submission.id, f"there is no longer a league {submission.league} here", what="league"
        )
        return True
    limits = limits_of(ledger)
    with _alarm(WALL * limits.build_s + limits.check_s + _SPARE_S):
        folder = ledger.results / FOLDER / "check" / str(submission.id)
        try:
            _check_space(ledger)
            manifest = _unpacked(ledger, submission, config, folder)
            ready = _build_and_play(ledger, submission, config, folder, limits, check_bot)
            _check_space(ledger)  # otherwise a full disk would count as the bot's fault
            if ready and (why := settled(ledger, config)) is not None:
                text = f"came too late for {config.name}: {why}"
                versions.refuse(ledger, submission.id, text, what="league")
            elif ready:
                source_folder(ledger, submission, folder)
                versions.accept(ledger, submission.id, manifest.name, manifest.version, folder_digest(folder))
            else:
                versions.refuse(ledger, submission.id, "")
        except _Refused as error:
            versions.refuse(ledger, submission.id, error.text, what=error.what, code=error.code)
        except (HarnessFault, BadInput, OSError, MemoryError) as error:
            return _postpone(ledger, submission, error)
        finally:
            remove(folder.parent)
    return True


def _run_hook(ledger: Ledger, number: int, leagues: Mapping[str, LeagueConfig]) -> None:
    """Run the command that the league's file names for the end of a check."""
    submission = versions.submission(ledger, number)
    config = leagues.get(submission.league)
    if config is None or not config.arena.on_event:
        return
    reasons = [finding["text"] for finding in submission.found if finding["verdict"] == "failed"]
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


def _check_space(ledger: Ledger) -> None:
    """Raise `OSError` if there is too little space to unpack and build a bot."""
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    for place in (ledger.results, cache):
        if shutil.disk_usage(place).free < _MIN_FREE_BYTES:
            raise OSError(errno.ENOSPC, "too little space is left", str(place))


def _postpone(ledger: Ledger, submission: Submission, error: BaseException) -> bool:
    """Handle a failure of this machine, not of the bot. Returns false if the check must be repeated later."""
    with contextlib.suppress(StoreError):
        if isinstance(error, _MachineBusy) and versions.begin_again(ledger, submission.id):
            return False
        if isinstance(error, (StoreError, MemoryError)) or getattr(error, "errno", None) in _TEMPORARY:
            versions.put_back(ledger, submission.id)
            return False
        text = "the check failed, but not because of the bot; please send it again"
        text = f"{text}: {_without(str(error), ledger.results)}"
        versions.refuse(ledger, submission.id, text, what="harness", state="failed")
        return True
    return False


def _unpacked(ledger: Ledger, submission: Submission, config: LeagueConfig, folder: Path) -> Manifest:
    """Unpack the archive into `folder`, and check the manifest before any of its code runs."""
    data = versions.archive(ledger, submission.id)
    assert data is not None
    folder.parent.mkdir(parents=True, exist_ok=True)
    (ledger.results / FOLDER).chmod(0o700)
    with _refusing("archive", folder):
        beside = unpack_upload(data, folder, limits_of(ledger))
    if beside:
        text = f"no part of the bot, so left out: {', '.join(beside[:5])}"
        versions.add_finding(ledger, submission.id, Finding("archive", "ok", text, "archive"))
    with _refusing("manifest", folder):
        manifest = read_manifest(folder)
    versions.name(ledger, submission.id, manifest.name, manifest.version)
    with _refusing("limits", folder):
        check_manifest(manifest, config, limits_of(ledger))
    theirs = first_alike(manifest.name, (name_of(config, entry) for entry in config.entries))
    if theirs is not None:
        like = "is" if theirs == manifest.name else f"looks like {theirs}, which is"
        raise _Refused(
            "name",
            f"bot.toml: name: {manifest.name} {like} a bot of the organiser; choose another name",
            "name",
        )
    if problem := versions.name_refusal(ledger, submission.id, manifest.name):
        raise _Refused("name", problem, "name")
    return manifest


def _build_and_play(
    ledger: Ledger,
    submission: Submission,
    config: LeagueConfig,
    folder: Path,
    limits: SubmissionLimits,
    check_bot: CheckBot,
) -> bool:
    """Build it, and play it as its matches in the league will be; each finding is written down at once.

    Whether it is ready. Raises `HarnessFault` if this machine was too busy for the check.
    """
    last: Finding | None = None

    def tell(finding: Finding) -> None:
        nonlocal last
        last = attrs.evolve(finding, text=_without(finding.text, folder))
        versions.add_finding(ledger, submission.id, last)

    how = check_for(
        config,
        folder,
        names=tuple(one.bot for one in versions.active(ledger, config.name) if one.bot),
        level="sandbox",  # even if the file has changed since the bot was sent
        quick=True,
        within_s=limits.check_s,
        again=False,
        build_s=limits.build_s,
        hidden=(ledger.results,),
    )
    command = shlex.join(home_command(config, how.seed, limits.check_s))
    versions.add_finding(ledger, submission.id, Finding(REPEAT, "ok", command, "repeat"))
    with _refusing("manifest", folder):
        ready = check_bot(folder, how, tell)
    if not ready and last is not None and last.what == MACHINE:
        raise _MachineBusy(last.text)
    return ready


@contextlib.contextmanager
def _refusing(code: str, folder: Path) -> Iterator[None]:
    """Turn an error about a bot into a refusal, with the code of the finding."""
    try:
        yield
    except BotError as error:
        raise _Refused("bundle", _without(str(error), folder), code) from None


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


# -- challenge player ------------------------------------------------------------------------------------
# The process that plays challenges and trials, match by match, at a lower priority than the matches of
# leagues.
#
# It may be killed at any moment: an interrupted match is played again.


NICE: Final = 15
"""Added to the niceness of this process, and so of the bots that it starts."""
_CHALLENGE_PLAYER_POLL_S: Final = 0.5
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
    """Play challenges and trials in these leagues (by name) until `stop(seconds)`, which waits, returns true.

    A match of a trial follows each challenge, so that neither waits for all of the other. With `once` it returns when
    none waits. Raises `StoreError` if another process does this here.
    """
    lock = take_lock(ledger.path.with_name("arena.challenges.lock"))
    try:
        challenges.recover(ledger)
        trials.recover(ledger)
        while not stop(0.0):
            challenge = challenges.claim(ledger)
            if challenge is not None:
                _play_challenge(ledger, leagues.get(challenge.league), challenge, play)
            trial = trials.claim(ledger)
            if trial is not None:
                _play_trial(ledger, leagues.get(trial.league), trial, play)
            elif challenge is None and (once or stop(_CHALLENGE_PLAYER_POLL_S)):
                break
    finally:
        os.close(lock)


def lower_priority() -> None:
    """Let the matches of leagues come first: lower the CPU priority of this process and of all that it starts."""
    be_nice(NICE)


def _play_challenge(ledger: Ledger, config: LeagueConfig | None, challenge: Challenge, play: Play) -> None:
    """Play a challenge and store how it ended; a failure of this machine ends it, too, and does not count."""
    if config is None:
        challenges.settle(ledger, challenge.id, why=f"there is no longer a league {challenge.league} here")
        return
    try:
        seats = [_seat(ledger, config, seat) for seat in challenge.seats]
        order = list(range(len(seats)))
        secrets.SystemRandom().shuffle(order)
        limit_s = limits_of(ledger).challenge_s
        spec = _spec(config, tuple(seats[place] for place in order), f"challenge {secrets.token_hex(16)}")
        with one_core(config.run.affinity == "core"):
            result = play(spec, float(limit_s), True)
        if result is None:
            challenges.settle(ledger, challenge.id, why=f"it was not over within {limit_s} s")
            return
    except (BadInput, HarnessFault, OSError) as error:
        log_error("match on demand failed", error, number=challenge.id)
        challenges.settle(ledger, challenge.id, why=_reason(ledger, error))
        return
    own = order.index(0)
    challenges.settle(
        ledger,
        challenge.id,
        result=_result(result, order),
        record=ZstdCompressor(level=_PACKED).compress(result.record, ZstdCompressor.FLUSH_FRAME),
        log={"stderr": result.logs[own].stderr[:_MAX_LOG], "wire": result.logs[own].wire[:_MAX_LOG]},
    )
    log("match on demand", league=config.name, number=challenge.id, ranks=list(result.ranks))


def _play_trial(ledger: Ledger, config: LeagueConfig | None, trial: Trial, play: Play) -> None:
    """Play the next match of a trial; if that cannot be, the trial has failed."""
    if config is None:
        trials.fail(ledger, trial.id, f"there is no longer a league {trial.league} here")
        return
    try:
        trial = trials.line_up(ledger, config, trial)
        deal, order = trials.next_match(config, trial)
        seats = tuple(_seat(ledger, config, trial.seats[bot]) for bot in order)
        limit_s = limits_of(ledger).challenge_s
        spec = _spec(config, seats, f"trial {trial.seed} {deal}", f"{len(trial.played)}")
        with one_core(config.run.affinity == "core"):
            result = play(spec, float(limit_s), True)
    except (BadInput, HarnessFault, OSError) as error:
        log_error("match of a trial failed", error, number=trial.id)
        trials.fail(ledger, trial.id, _reason(ledger, error))
        return
    if result is None:
        trials.fail(ledger, trial.id, f"match {len(trial.played) + 1} was not over within {limit_s} s")
        return
    faults = [[fault.kind for fault in seat] for seat in result.faults]
    line = [deal, list(order), list(result.ranks), list(result.scores), result.rival, faults]
    trials.add(ledger, config, trial, line)


def _reason(ledger: Ledger, error: Exception) -> str:
    """The text of an error without the folder of the results."""
    return str(error).replace(f"{ledger.results.resolve()}/", "").replace(f"{ledger.results}/", "")[:500]


def _seat(ledger: Ledger, config: LeagueConfig, seat: ChallengeSeat) -> SeatSpec:
    """The seat of a bot as the league has it, built if need be."""
    if seat.submission is not None:
        version = versions.submission(ledger, seat.submission)
        folder = source_folder(ledger, version)
        entry = BotEntry(path=str(folder.resolve()), name=seat.bot)
    else:
        entry = next(one for one in config.entries if name_of(config, one) == seat.bot)
        folder = folder_of(config, entry)
    bundle = prepare(folder, "sandbox", config.sandbox.paths, (ledger.results,), limits_of(ledger).build_s)
    return seat_in(config, entry, bundle, f"{config.path}: bots")


def _spec(config: LeagueConfig, seats: tuple[SeatSpec, ...], seed: str, which: str = "") -> MatchSpec:
    """The match, with dice that have nothing to do with those of the season; `which` tells those of one seed apart."""
    key = match_key(seed)
    return attrs.evolve(config.conditions, level="sandbox").match(
        id=blake2b(key + which.encode(), digest_size=10).hexdigest(),
        game=config.game.id,
        options=config.game.options,
        seats=seats,
        key=key,
        seed=seed,
        private=True,
    )


def _result(result: MatchResult, order: list[int]) -> dict[str, Any]:
    return {
        "match": result.id,
        "order": order,
        "ranks": list(result.ranks),
        "scores": list(result.scores),
        "rival": result.rival,
        "why": result.why,
        "faults": [[attrs.asdict(fault) for fault in seat] for seat in result.faults],
        "lines": result.lines,
    }
