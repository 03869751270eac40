"""Runs rounds. Each fixes a secret, lets the authors edit their bots, checks the bots, and plays all versions.

A finished step is saved at once (`state`), so a killed run can continue, and nobody edits twice.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.counts import counted
from warpleague.errors import BadInput, BotError, ConfigError, StoreError
from warpleague.league.play.entering import open_to_run
from warpleague.league.referees.pool import RefereeDied, RefereePool, usable_cores
from warpleague.league.store.lock import take_lock
from warpleague.rounds.curves import results_of
from warpleague.rounds.editing import EditRequest, edit, end_leftover_processes, variables_of
from warpleague.rounds.feedback import write_feedback
from warpleague.rounds.history import BOT, IN_WORKSPACE, GitError, require_git
from warpleague.rounds.playing import (
    CheckRequest,
    RunFolder,
    check,
    commit_secret,
    extract_missing_bots,
    field_of,
    league_of,
)
from warpleague.rounds.state import Check, Finding, Part, Round, State, Version, load_state
from warpleague.rounds.workspace import program_paths
from warpleague.runner.bot.logs import LogFolder
from warpleague.runner.bundle.content import folder_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.league.play.progress import RunReport
    from warpleague.league.results.league import League
    from warpleague.rounds.file import Author, RoundsConfig
    from warpleague.rounds.state import Edit

    Play = Callable[[League, LogFolder], RunReport]
    """Plays the remaining matches of a league, as `run_league` does."""

_TRIES: Final = 2  # of an edit or a check whose process dies


@attrs.frozen(kw_only=True)
class RunContext:
    """Functions and texts that the caller gives to a run.

    `play` plays matches. `task` returns the text of TASK.md for an author in a round. `documents` are the texts of
    `docs/`, by file name. `say` prints a line about the progress.
    """

    play: Play
    task: Callable[[RoundsConfig, Author, int], str]
    documents: Mapping[str, str]
    say: Callable[[str], None] = lambda _: None


class Stopped(Exception):
    """The user stopped the run, or matches are void. The text names the cause of void matches."""


@contextmanager
def open_run(config: RoundsConfig, results: Path) -> Iterator[tuple[RunFolder, State]]:
    """Open the run of a file in `results`, new or begun earlier, and lock it for this process.

    Raises `StoreError` if another process runs it, or if it began under other conditions.
    """
    run_folder = RunFolder((results / config.name).absolute())
    try:
        run_folder.path.mkdir(parents=True, exist_ok=True)
        lock = take_lock(run_folder.lock)
    except OSError as error:
        raise BadInput(f"{run_folder.path}: cannot write there: {error.strerror}") from None
    try:
        state = load_state(run_folder.state)
        if state is None:
            state = State(conditions=_plain(config.conditions))
        check_conditions(config, state, run_folder)
        yield run_folder, state
    finally:
        os.close(lock)


def check_conditions(config: RoundsConfig, state: State, run_folder: RunFolder) -> None:
    """Raise `StoreError` if the run began under other conditions than those of the file."""
    now = _plain(config.conditions)
    changed = sorted(key for key in {*now, *state.conditions} if now.get(key) != state.conditions.get(key))
    if changed:
        raise StoreError(
            f"{run_folder.state}: this run began with another {', '.join(changed)} than {config.path} has now; only "
            "rounds, records, limits and [run] may change. Give the file another name for a new run"
        )


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def run_rounds(config: RoundsConfig, run_folder: RunFolder, state: State, context: RunContext) -> None:
    """Run all rounds that are not over. Raises `Stopped` if the user stops the run, or if a match is void."""
    _Run(config, run_folder, state, context).run()


class _Run:
    """One run; see `run_rounds`."""

    def __init__(
        self, config: RoundsConfig, run_folder: RunFolder, state: State, context: RunContext
    ) -> None:
        self._config, self._folder, self._state, self._context = config, run_folder, state, context
        self._jobs = config.run.jobs or len(usable_cores())
        self._pool: RefereePool | None = None

    def run(self) -> None:
        """Run all remaining rounds, and end all processes."""
        try:
            self._run_all()
        except BaseException:
            if self._pool is not None:
                self._pool.kill()
            for author in self._config.editors:
                end_leftover_processes(self._folder.author(author.name))
            raise
        if self._pool is not None:
            self._pool.shutdown()

    def _run_all(self) -> None:
        require_git()
        for author in self._config.editors:
            missing = [name for name in author.variables if name not in os.environ]
            if missing:
                raise BadInput(
                    f"{self._config.path}: authors: {author.name}: variables: {missing[0]} is not set; "
                    f"write export {missing[0]}=..., or leave it out"
                )
        self._start()
        for number in range(1, self._config.rounds + 1):
            round_ = self._round(number)
            if round_.phase == "over":
                continue
            with self._spending(round_, "begin"):
                self._begin(round_)
            steps: tuple[tuple[str, Callable[[Round], None]], ...] = (
                ("edit", self._edit),
                ("check", self._check),
                ("play", self._play),
            )
            for phase, step in steps:
                if round_.phase == phase:
                    with self._spending(round_, phase):
                        step(round_)
                    self._save()

    def _save(self) -> None:
        self._state.save(self._folder.state)

    @contextmanager
    def _spending(self, round_: Round, phase: str) -> Iterator[None]:
        begun_s = time.monotonic()
        try:
            yield
        finally:
            round_.spend(phase, time.monotonic() - begun_s)

    # -- before the first round

    def _start(self) -> None:
        """Create the folders of the authors, and check the bots that they start with."""
        missing = [author for author in self._config.editors if not self._state.versions_of(author.name)]
        if not missing:
            return
        commit_secret(
            self._config, self._folder, 1
        )  # makes the league file of the first round, for the check
        requests: dict[str, CheckRequest] = {}
        commits: dict[str, str] = {}
        for author in missing:
            author_folder = self._folder.author(author.name)
            try:
                commits[author.name] = author_folder.create(self._config.start_of(author))
            except GitError as error:
                raise BadInput(f"{self._config.start_of(author)}: git refuses it: {error}") from None
            author_folder.history.extract(commits[author.name], author_folder.bot(0), BOT)
            requests[author.name] = self._check_request(author.name, 1, 0)
        checks = self._side_by_side(check, requests)
        failed = [name for name in requests if not checks[name].ready]
        if failed:
            lines = "".join(f"\n  {name}: {_first_failure(checks[name])}" for name in failed)
            raise ConfigError(
                f"{self._config.path}: authors: these start with a bot that is not ready:{lines}"
            )
        for author in missing:
            self._state.versions.append(
                Version(
                    name=f"{author.name}.0",
                    author=author.name,
                    round=0,
                    commit=commits[author.name],
                    digest=folder_digest(self._folder.author(author.name).bot(0)),
                )
            )
        self._save()

    # -- the phases of a round

    def _round(self, number: int) -> Round:
        known = next((one for one in self._state.rounds if one.number == number), None)
        if known is None:
            parts = {author.name: Part() for author in self._config.editors}
            known = Round(number=number, parts=parts)
            self._state.rounds.append(known)
        return known

    def _begin(self, round_: Round) -> None:
        """Fix the secret, before anybody edits."""
        fixed = commit_secret(self._config, self._folder, round_.number)
        if round_.commitment and round_.commitment != fixed.commitment:
            raise StoreError(
                f"{fixed.store}: has another secret than round {round_.number} was begun with; restore the store"
            )
        if not round_.commitment:
            round_.commitment, round_.committed = fixed.commitment, fixed.committed
            self._save()
        self._context.say(
            f"round {round_.number} of {self._config.rounds}: commitment to the secret (SHA-256): {fixed.commitment}"
        )

    def _edit(self, round_: Round) -> None:
        """Run the remaining edits in parallel, and save each when it ends."""
        due = {name: part for name, part in round_.parts.items() if part.edit is None}
        if due:
            for part in due.values():
                part.begun += 1
            self._save()
            requests = {name: self._edit_request(self._config.author(name), round_.number) for name in due}

            def ended(name: str, result: Edit) -> None:
                round_.parts[name].edit = result
                longest = max(round_.seconds.get("longest edit", 0.0), result.wall_s)
                round_.seconds["longest edit"] = longest
                self._save()
                self._context.say(f"round {round_.number}: {name}: {edit_words(result)}")

            self._side_by_side(edit, requests, ended)
        round_.phase = "check"

    def _edit_request(self, author: Author, number: int) -> EditRequest:
        config = self._config
        level = config.rules.level
        paths = (*config.paths_of(author), *program_paths()) if level == "sandbox" else ()
        return EditRequest(
            author=author.name,
            number=number,
            folder=self._folder.author(author.name).path,
            commit=self._last_commit(author.name, number),
            task=self._context.task(config, author, number),
            documents=self._context.documents,
            argv=config.argv_of(author),
            level=level,
            limits=author.limits.of_command,
            output_mb=author.limits.output_mb,
            paths=paths,
            network=author.network if level == "sandbox" else (),
            variables={
                **IN_WORKSPACE,
                **variables_of(author.variables),
                "WARPLEAGUE_AUTHOR": author.name,
                "WARPLEAGUE_ROUND": str(number),
                "WARPLEAGUE_ROUNDS": str(config.rounds),
            },
        )

    def _last_commit(self, author: str, number: int) -> str:
        """The author's workspace before a round."""
        for round_ in reversed(self._state.rounds):
            result = round_.parts[author].edit
            if round_.number < number and result is not None:
                return result.commit
        return self._state.versions_of(author)[0].commit

    def _check(self, round_: Round) -> None:
        """Check the changed bots, and decide which version of each author plays."""
        requests: dict[str, CheckRequest] = {}
        for name, part in round_.parts.items():
            if part.check is None and part.edit is not None and self._extract_bot(round_, name, part):
                requests[name] = self._check_request(name, round_.number, round_.number)

        def ended(name: str, result: Check) -> None:
            round_.parts[name].check = result
            self._save()
            words = "ready" if result.ready else f"not ready: {_first_failure(result)}"
            self._context.say(f"round {round_.number}: {name}: check: {words}")

        self._side_by_side(check, requests, ended)
        for name, part in round_.parts.items():
            part.version = self._version(round_, name, part)
        round_.field = field_of(self._config, self._state, round_)
        round_.phase = "play"

    def _extract_bot(self, round_: Round, name: str, part: Part) -> bool:
        """Extract the bot of this round. Returns whether it needs a check."""
        assert part.edit is not None
        author_folder = self._folder.author(name)
        last = self._state.versions_of(name)[-1]
        try:
            if author_folder.history.tree(part.edit.commit) == author_folder.history.tree(last.commit):
                return False  # it is the version that played last
            author_folder.history.extract(part.edit.commit, author_folder.bot(round_.number), BOT)
            if folder_digest(author_folder.bot(round_.number)) == last.digest:
                return False
        except (GitError, BotError) as error:
            text = f"{BOT}/ cannot be a bot: {error}"
            finding = Finding(what="bundle", verdict="failed", text=text, code="manifest")
            part.check = Check(ready=False, findings=(finding,))
            self._save()
            return False
        return True

    def _check_request(self, author: str, league: int, number: int) -> CheckRequest:
        return CheckRequest(
            league=self._folder.league(league),
            bot=self._folder.author(author).bot(number),
            seed=f"{author} {number}",
        )

    def _version(self, round_: Round, name: str, part: Part) -> str | None:
        """The version of an author that plays in a round, which may be new."""
        versions = self._state.versions_of(name)
        if versions[-1].round == round_.number:
            return versions[-1].name  # saved before a kill
        if part.check is None:
            return versions[-1].name
        if not part.check.ready:
            return versions[-1].name if self._config.on_fail == "last" else None
        assert part.edit is not None
        author_folder = self._folder.author(name)
        added, removed = author_folder.history.lines(versions[-1].commit, part.edit.commit)
        self._state.versions.append(
            Version(
                name=f"{name}.{round_.number}",
                author=name,
                round=round_.number,
                commit=part.edit.commit,
                digest=folder_digest(author_folder.bot(round_.number)),
                lines_added=added,
                lines_removed=removed,
            )
        )
        return f"{name}.{round_.number}"

    def _play(self, round_: Round) -> None:
        """Play the season of a round, and write the feedback for each author."""
        state, run_folder = self._state, self._folder
        versions = tuple(version for version in state.versions if version.name in round_.field)
        extract_missing_bots(run_folder, versions)
        config = league_of(self._config, state, run_folder, round_)
        logs = LogFolder(run_folder.logs(round_.number))
        with open_to_run(config, run_folder.leagues) as league:
            if not league.store.published():
                self._context.say(
                    f"round {round_.number}: {counted(len(round_.field), 'bot')} play: {league.schedule.describe()}"
                )
            report = self._context.play(league, logs)
            round_.spend("matches", report.elapsed_s)
            self._save()
            if not report.complete:
                void = "" if report.stopped else f"{counted(len(report.void), 'match')} void"
                raise Stopped(report.failure or void)
            round_.phase = "over"
            results = results_of(self._config, state, run_folder)
            for author in self._config.editors:
                write_feedback(self._config, state, run_folder, round_, author, league, results)

    # -- processes

    def _side_by_side(
        self,
        work: Callable[[Any], Any],
        requests: Mapping[str, Any],
        ended: Callable[[str, Any], None] = lambda _name, _result: None,
    ) -> dict[str, Any]:
        """Call `work` for each request, each in a process of its own, and return the results.

        `ended` is called as each ends. The processes, and all that they started, end with this process.
        """
        result: dict[str, Any] = {}
        if not requests:
            return result
        if self._pool is None:
            # Reused in later rounds: a new process would test the level again.
            self._pool = RefereePool(min(self._jobs, len(self._config.editors)), "none")
        pool, deaths = self._pool, dict[str, int]()
        running: dict[Future[Any], str] = {
            pool.submit(work, request): name for name, request in requests.items()
        }
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                try:
                    result[name] = future.result()
                except RefereeDied:
                    deaths[name] = deaths.get(name, 0) + 1
                    if deaths[name] >= _TRIES:
                        raise
                    running[pool.submit(work, requests[name])] = name
                    continue
                ended(name, result[name])
        return result


def edit_words(result: Edit) -> str:
    """A line that describes an edit."""
    words = f"edited in {result.wall_s:.1f} s"
    if result.problem:
        return f"{words}, dropped: {result.problem}"
    if not result.changed:
        return f"{words}: the bot is unchanged"
    return f"{words}: +{result.lines_added} -{result.lines_removed} lines"


def _first_failure(result: Check) -> str:
    failed = result.failure
    return "no match was finished" if failed is None else f"{failed.what}: {failed.text}"
