"""The scheduler: plays a league for weeks, with new bots as they come, and carries out the organiser's decisions.

One process plays one league; the lock of the store makes sure of that. It may be killed at any moment: committed
matches are stored, and the next process plays the rest. Without submissions (no `arena.db` beside the league) it plays
the league of the file, and starts again when the file changes.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena import live as feed
from warpleague.arena.processes import log, log_error, prune, working
from warpleague.arena.submissions import entering
from warpleague.arena.submissions.ledger import FILE, Ledger
from warpleague.errors import BadInput, StoreError
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.hooks import run_event, run_hook
from warpleague.league.play.running import (
    RunReport,
    RunWatcher,
    StopWhen,
    Void,
    fitting_jobs,
    referee_pool,
    run_league,
)
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.report.wording.columns import standing_json
from warpleague.runner.bot.logs import LogFolder
from warpleague.runner.host import check_own_limits
from warpleague.runner.play import play_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from warpleague.league.referees.pool import Pool
    from warpleague.league.results.league import League

_POLL_S: Final = 0.5
"""How often the scheduler checks for changes while nothing is played."""
_PREPARE_S: Final = 1800.0
"""How long building the bots and starting a run may take."""
_FIRST_PAUSE_S: Final = 1.0
_MAX_PAUSE_S: Final = 60.0
"""The pause after a run that failed doubles each time, up to this."""
_MAX_RESTART_SHARE: Final = 0.01
"""The share of time that restarts with other bots may cost; new bots wait until a restart keeps to it."""


@attrs.frozen
class SchedulerSettings:
    """How a league is played: on `jobs` processes (None: as its file says), and open to spectators if `live`.

    At most `logs_mb` MB of the bots' output is stored; 0 stores none.
    """

    path: Path
    results: Path
    jobs: int | None = None
    live: bool = False
    logs_mb: int = 200


class Restarts:
    """When a run may be stopped to continue with other bots; `clock_s` gives the time in seconds."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._begun_s = 0.0  # when the last run began
        self._changed_s: float | None = None  # when it was stopped, for other bots
        self._lost_s = 0.0  # how long it took until the next one began

    def due(self, before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
        """Whether to stop a run that began with the state `before`: the bots, and all that an organiser can change.

        At once where the organiser wants it; for other bots only if that costs little.
        """
        if now == before:
            return False
        if now[1:] == before[1:]:  # nothing but the bots
            now_s = self._clock_s()
            if now_s - self._begun_s < min(self._lost_s / _MAX_RESTART_SHARE, entering.MAX_GATHERING_S):
                return False
            self._changed_s = now_s
        return True

    def began(self) -> None:
        """The first match of a run begins now."""
        self._begun_s = self._clock_s()
        self._lost_s = 0.0 if self._changed_s is None else self._begun_s - self._changed_s
        self._changed_s = None


class Scheduler:
    """Plays one league until it is stopped; `play` plays the missing matches, as `run_league` does."""

    def __init__(self, settings: SchedulerSettings, play: Callable[..., RunReport] = run_league) -> None:
        self._settings = settings
        self._run_league = play
        self._stop = threading.Event()
        self._ledger: Ledger | None = None
        self._restarts = Restarts()
        self._pool: Pool | None = None
        self._pool_key: tuple[Any, ...] = ()  # the settings that the pool was made for
        self._logs: LogFolder | None = None
        self._last_failure: tuple[str | None, int] = (None, 0)  # of the run before

    def run(self) -> int:
        """Play until SIGTERM or SIGINT; the exit code."""
        with self._signals(), contextlib.ExitStack() as open_files:
            open_files.callback(self._end_pool)
            pause_s = _FIRST_PAUSE_S
            while not self._stop.is_set():
                config = load_config(self._settings.path, without_bots=True)
                if self._ledger is None and (self._settings.results / FILE).exists():
                    self._ledger = open_files.enter_context(Ledger.open(self._settings.results))
                before = self._state(config)
                try:
                    report = self._play(config, before)
                except BadInput as error:  # too few bots, the store is in use, or a file that does not fit
                    missing = self._what_is_missing(config)
                    log("waits", league=config.name, why=missing or str(error))
                    max_s = pause_s if isinstance(error, StoreError) else None
                    self._wait(config, before, max_s, why="" if missing else str(error))
                    pause_s = min(2 * pause_s, _MAX_PAUSE_S) if isinstance(error, StoreError) else pause_s
                    continue
                if report is None:  # it is paused
                    self._wait(config, before)
                elif report.stopped:
                    break
                elif report.failure is not None or report.void:
                    log("void", league=config.name, failure=report.failure, matches=len(report.void))
                    why = report.failure or f"a match is void: {report.void[-1].error}"
                    self._wait(config, before, pause_s, why=why)
                    pause_s = min(2 * pause_s, _MAX_PAUSE_S)
                else:
                    pause_s = _FIRST_PAUSE_S
                    if report.complete:
                        log("complete", league=config.name, matches=report.stored)
                        self._wait(config, before)
        log("ended", process="scheduler")
        return 0

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Handle signals between runs; a run has its own handlers, which let its matches end."""
        old = {number: signal.signal(number, self.stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, before in old.items():
                signal.signal(number, before)

    def stop(self, *_: Any) -> None:
        """Let `run` return when the matches that are being played have ended."""
        self._stop.set()

    def _state(self, config: LeagueConfig) -> tuple[Any, ...]:
        """A value that changes whenever the league has to be opened again."""
        with contextlib.suppress(OSError):
            stat = self._settings.path.stat()
            asked = () if self._ledger is None else entering.league_settings(self._ledger, config.name)
            begun = self._ledger is not None or (self._settings.results / FILE).exists()
            bots = () if self._ledger is None else entering.active_versions(self._ledger, config.name)
            ends = self._ledger is not None and entering.may_end(self._ledger, config)
            return (bots, stat.st_mtime_ns, stat.st_size, stat.st_ino, begun, ends, *asked)
        return ()

    def _what_is_missing(self, config: LeagueConfig) -> str:
        with contextlib.suppress(BadInput):
            return entering.waits_for_bots(
                config if self._ledger is None else entering.entered(self._ledger, config)
            )
        return ""

    def _wait(
        self, config: LeagueConfig, before: tuple[Any, ...], max_s: float | None = None, why: str = ""
    ) -> None:
        """Wait until something has changed, or until `max_s` is over; `why` no match can be played, if one should."""
        end_s = float("inf") if max_s is None else time.monotonic() + max_s
        while not self._stop.is_set() and self._state(config) == before and time.monotonic() < end_s:
            working("waits until something changes", why=why)
            self._stop.wait(_POLL_S)

    def _play(self, config: LeagueConfig, before: tuple[Any, ...]) -> RunReport | None:
        """Play until nothing is left or something has changed. Returns None if the league is paused."""
        ledger, results, name = self._ledger, self._settings.results, config.name
        more_may_come = False
        if ledger is not None:
            for decision in entering.decide(ledger, config, results):
                log("decided", league=name, what=decision.what, answer=decision.answer)
            if entering.is_paused(ledger, name):
                log("paused", league=name)
                return None
            more_may_come = not entering.may_end(ledger, config)
            config = entering.entered(ledger, config)
        working("prepares bots", _PREPARE_S)
        logs = self.log_folder(results / name / "logs")  # before the disk is needed
        with open_to_run(config, results) as league:
            folder = results / name / feed.FOLDER
            feed.clear(folder)
            private = ledger is not None  # bots of others: their output is for their authors
            play: Any = partial(play_beside, log=logs is not None, private=private)
            if self._settings.live:
                play = partial(
                    feed.play_shown, folder=str(folder.absolute()), log=logs is not None, private=private
                )
            log("plays", league=name, bots=list(league.season.names), left_out=list(league.skipped))
            if self._stop.is_set():
                return None
            watcher = _Watcher(name, self._restarts.began)
            working("plays", _PREPARE_S)
            whole = False
            over = league.store.published() is not None
            try:
                report = self._run_league(
                    league,
                    executor=self._referees(league),
                    play=play,
                    watcher=watcher,
                    logs=logs,
                    stop_when=StopWhen(
                        asked=lambda: self._stop.is_set() or self._restarts.due(before, self._state(config)),
                        more_may_come=more_may_come,
                    ),
                )
                whole = report.failure is None
            finally:
                if not whole:
                    self._end_pool(at_once=True)
            feed.clear(folder)  # of referees that were killed
            event = None
            if config.arena.on_event and self._is_news(report):
                ended = not over and league.store.published() is not None
                event = run_event(league, report, standing_json, over=ended)
        log("played", league=name, played=report.played, stored=report.stored, total=report.total)
        if event is not None and (problem := run_hook(config.arena.on_event, config.path.parent, event)):
            log("on_event", league=name, failed=problem)
            if ledger is not None:
                with ledger.writing():
                    ledger.note("scheduler", "on_event failed", league=name, why=problem)
        return report

    def _is_news(self, report: RunReport) -> bool:
        """Whether to run the organiser's command: the last matches were played, or the run failed in a new way.

        A run that ended because a bot came, or because the server was stopped, is not reported.
        """
        failure, before = (report.failure, len(report.void)), self._last_failure
        self._last_failure = failure
        failed = failure != (None, 0) and failure != before
        return failed or (report.complete and report.played > 0)

    def log_folder(self, folder: Path) -> LogFolder | None:
        """The folder for the bots' output, within its bound; all runs share it, so it is measured once."""
        max_bytes = self._settings.logs_mb * 1_000_000
        if self._logs is None or self._logs.folder != folder or self._logs.problem is not None:
            prune(folder, max_bytes)
            self._logs = LogFolder(folder, in_all=max_bytes) if max_bytes else None
        return self._logs

    def _referees(self, league: League) -> Pool:
        """The processes that play; the next run reuses them if its settings are the same, since a start costs time."""
        jobs = fitting_jobs(league, self._settings.jobs)
        wanted = (jobs, league.config.run, league.config.rules.level, league.season.game)
        if self._pool is not None and wanted == self._pool_key:
            return self._pool
        self._end_pool()
        self._pool, self._pool_key = referee_pool(league, jobs), wanted
        return self._pool

    def _end_pool(self, *, at_once: bool = False) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.kill() if at_once else pool.shutdown(cancel_futures=True)


class _Watcher(RunWatcher):
    """Logs what goes wrong, and tells whether the run gets on; `begins` is called before the first match."""

    def __init__(self, league: str, begins: Callable[[], None]) -> None:
        self._league, self._begins = league, begins
        self._why: str | None = None  # the last match was void, or not; None: none has ended yet

    def started(self, *_: object) -> None:
        self._begins()

    def failed(self, void: Void) -> None:
        self._why = f"a match is void: {void.error}"
        log("match void", league=self._league, match=void.fixture.id, error=void.error, trace=void.trace)

    def finished(self, *_: object) -> None:
        self._why = ""

    def tick(self) -> None:
        working("plays", why=self._why)

    def note(self, text: str) -> None:
        log("note", league=self._league, text=text)


def run_scheduler(settings: SchedulerSettings) -> int:
    """Play a league until this process is stopped; the exit code."""
    try:
        check_own_limits("none")
        return Scheduler(settings).run()
    except BaseException as error:
        if not isinstance(error, BadInput):
            log_error("scheduler failed", error, league=str(settings.path))
        raise
