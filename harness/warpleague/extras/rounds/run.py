"""Runs rounds. Each fixes a secret, lets the authors edit their bots, checks the bots, and plays all versions.

A finished step is saved at once (`state`), so a killed run can continue, and nobody edits twice.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import attrs

from warpleague.errors import BadInput, BotError, ConfigError, HarnessFault, StoreError
from warpleague.extras.rounds.climb import climb_league, climbers
from warpleague.extras.rounds.playing import (
    CheckRequest,
    RunFolder,
    check,
    commit_secret,
    extract_missing_bots,
    field_of,
    league_of,
    played_as,
)
from warpleague.extras.rounds.results import Results, results_of
from warpleague.extras.rounds.state import Check, Edit, Finding, Part, Round, State, Version, load_state
from warpleague.extras.rounds.workspace import (
    BOT,
    IN_WORKSPACE,
    AuthorFolder,
    GitError,
    program_paths,
    require_git,
)
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.verifying import published_record
from warpleague.league.referees.pool import RefereeDied, RefereePool
from warpleague.league.store.database import take_lock
from warpleague.runner.bot.logs import KINDS, LogFolder, log_file
from warpleague.runner.bundle.build import Command, CommandLimits, run_command
from warpleague.runner.bundle.content import copy_files, folder_digest
from warpleague.runner.host import end_started_with, usable_cores
from warpleague.runner.tree import new_folder, remove_tree
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.extras.rounds.file import Author, RoundsConfig
    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.match.spec import Level

    Play = Callable[[League, LogFolder], RunReport]
    """Plays the remaining matches of a league, as `run_league` does."""


# -- editing ---------------------------------------------------------------------------------------------
# Runs the edit command of an author in its workspace, confined as the level says, and commits the result.

WORKSPACE: Final = "WARPLEAGUE_WORKSPACE"
"""The variable that tells a command, at other levels than sandbox, where its workspace is."""


@attrs.frozen(kw_only=True)
class EditRequest:
    """An edit to run in another process.

    `commit` is the workspace before it. `task` and `documents` are the texts to write there.
    """

    author: str
    number: int
    folder: Path
    commit: str
    task: str
    documents: Mapping[str, str]
    argv: tuple[str, ...]
    level: Level
    limits: CommandLimits
    output_mb: int
    keep: bool
    paths: tuple[str, ...]
    network: tuple[str, ...]
    variables: Mapping[str, str]


class _Output:
    """Writes the first bytes of a command's output to a file, and at the end the number of bytes left out."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Write more output."""
        self._file.write(data[: max(self._most - self.total, 0)])
        self.total += len(data)

    def close(self) -> None:
        """Write how many bytes are missing."""
        if self.total > self._most:
            self._file.write(f"\n[... {counted(self.total - self._most, 'byte')} not stored ...]\n".encode())


def edit(request: EditRequest) -> Edit:
    """Run an edit from its beginning: prepare the workspace, run the command, commit.

    A command that exceeds a limit, or fails and does not `keep`, changes nothing: its commit is the one before it.
    Raises `BadInput` if the level does not hold here, and `HarnessFault` if the sandbox fails.
    """
    author_folder = AuthorFolder(request.folder)
    own = str(author_folder.workspace)
    end_leftover_processes(author_folder)
    author_folder.prepare(request.commit, request.task, request.documents)
    path = author_folder.output(request.number)
    path.parent.mkdir(exist_ok=True)
    command = Command(
        name=request.author,
        argv=request.argv,
        folder=author_folder.workspace,
        scratch=author_folder.scratch,
        limits=request.limits,
        paths=request.paths,
        network=request.network,
        keep=request.keep,
        variables=request.variables if request.level == "sandbox" else {**request.variables, WORKSPACE: own},
    )
    with path.open("wb") as file:
        output = _Output(file, request.output_mb << 20)
        end = run_command(command, request.level, output.feed)
        output.close()
    if end.fault:
        raise HarnessFault(f"the sandbox failed in the edit of {request.author}: {end.fault}")
    result = Edit(
        commit=request.commit,
        changed=False,
        problem=end.problem,
        wall_s=round(end.time.wall_s, 3),
        cpu_s=round(end.time.cpu_s, 3),
        output_bytes=output.total,
        # At level sandbox nothing comes out of an edit that is dropped.
        transcript=author_folder.keep_transcript(request.number, request.output_mb << 20),
    )
    if not end.left_by(command):
        author_folder.history.extract(request.commit, author_folder.workspace)  # below sandbox it has changed
    else:
        result = _committed(author_folder, request, result)
    remove_tree(author_folder.scratch)
    return result


def end_leftover_processes(author_folder: AuthorFolder) -> None:
    """End processes of an interrupted edit of this author at level limits: they would disturb the next edit."""
    end_started_with(WORKSPACE, str(author_folder.workspace))


def _committed(author_folder: AuthorFolder, request: EditRequest, result: Edit) -> Edit:
    usage, remark = author_folder.read_usage()
    author_folder.remove_harness_files()
    result = attrs.evolve(result, usage=usage, remark=remark)
    history = author_folder.history
    try:
        commit = history.commit(
            author_folder.workspace, request.number, f"Round {request.number}", request.commit
        )
    except GitError as error:
        return attrs.evolve(result, problem=f"left files that git refuses: {error}")
    result = attrs.evolve(result, kept=bool(result.problem))
    added, removed = history.lines(request.commit, commit)
    changed = history.tree(commit, BOT) != history.tree(request.commit, BOT)
    return attrs.evolve(result, commit=commit, changed=changed, lines_added=added, lines_removed=removed)


def variables_of(names: tuple[str, ...]) -> dict[str, str]:
    """The values of these environment variables, without those that are not set."""
    return {name: os.environ[name] for name in names if name in os.environ}


# -- feedback --------------------------------------------------------------------------------------------
# Writes an author's feedback on a round: the results, its edit and check, records, and logs of its own
# matches.


def write_feedback(
    config: RoundsConfig,
    state: State,
    run_folder: RunFolder,
    round_: Round,
    author: Author,
    league: League,
    results: Results,
) -> None:
    """Write the folder with an author's feedback on a round that is over, and replace an older one."""
    author_folder = run_folder.author(author.name)
    target = author_folder.feedback(round_.number)
    draft = target.with_name(f".{target.name}.draft")
    new_folder(draft)
    part = round_.parts[author.name]
    standing = {
        "round": round_.number,
        "you": part.version,
        "standings": [_public(line, _AUTHOR_KEYS) for line in results.curves if line.round == round_.number],
        "versions": [_public(line, _VERSION_KEYS) for line in results.versions if line.played],
    }
    own = [line for line in results.curve(author.name) if line.round == round_.number]
    _write(draft / "standings.json", standing)
    _write(draft / "own.json", attrs.asdict(own[0]))
    _write(draft / "edit.json", None if part.edit is None else attrs.asdict(part.edit))
    _write(draft / "check.json", None if part.check is None else attrs.asdict(part.check))
    output = author_folder.output(round_.number)
    if output.is_file():
        shutil.copyfile(output, draft / "output.txt")
    own_name = None if part.version is None else played_as(state, round_, part.version)
    _records(config, run_folder, own_name, league, draft)
    if config.shows == "sources":
        for name, other in round_.parts.items():
            if name != author.name and other.version is not None:
                version = state.version(other.version)
                copy_files(run_folder.author(name).bot(version.round), draft / "sources" / name)
    remove_tree(target)
    draft.rename(target)


# The values of a line that every author may see.
_SHARED_KEYS: Final = frozenset(
    {"author", "version", "rating", "rating_half", "anchor_share", "faults", "climb"}
)
_AUTHOR_KEYS: Final = _SHARED_KEYS | {"new", "rank", "won", "share"}
_VERSION_KEYS: Final = _SHARED_KEYS | {"fixed", "same_as", "played"}


def _public(line: Any, keys: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in attrs.asdict(line).items() if key in keys}


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _records(
    config: RoundsConfig,
    run_folder: RunFolder,
    own_name: str | None,
    league: League,
    folder: Path,
) -> None:
    """Write records of matches, spread evenly over the schedule, and the logs of the bot `own_name` in them."""
    own = None if own_name is None else league.season.names.index(own_name)
    (folder / "records").mkdir()
    (folder / "logs").mkdir()

    def visible() -> Iterator[Fixture]:
        for fixture, _ in league.results():
            if config.shows != "own" or own in fixture.seats:
                yield fixture

    # The author's own matches come first.
    matches = sorted(visible(), key=lambda fixture: own not in fixture.seats)
    ours = sum(own in fixture.seats for fixture in matches)
    chosen = _spread(matches[:ours], config.records) + _spread(matches[ours:], config.records)
    logs = run_folder.logs(league.config.name)
    for fixture in chosen:
        names = [league.season.names[bot] for bot in fixture.seats]
        stem = f"{fixture.number:05}-{'-'.join(names)}"[:150]
        record = published_record(league, fixture.id, fixture.deal)
        (folder / "records" / f"{stem}.jsonl").write_bytes(record)
        for seat, bot in enumerate(fixture.seats):
            for kind in KINDS if bot == own else ():
                log = log_file(logs, names[seat], fixture.id, seat, kind)
                if log.is_file():
                    shutil.copyfile(log, folder / "logs" / f"{stem}-seat-{seat}.{kind}.txt")


def _spread(matches: list[Fixture], most: int) -> list[Fixture]:
    """At most `most` of these matches, at equal distances."""
    if len(matches) <= most:
        return matches
    return [matches[place * len(matches) // most] for place in range(most)]


# -- run -------------------------------------------------------------------------------------------------

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
    run_folder = RunFolder.of(config, results)
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


def begun_run(config: RoundsConfig, results: Path) -> tuple[RunFolder, State]:
    """The run of a file in `results`, to read it. Raises `BadInput` if it has not begun."""
    run_folder = RunFolder.of(config, results)
    state = load_state(run_folder.state)
    if state is None:
        raise BadInput(f"{run_folder.path}: these rounds have not begun yet: warpleague rounds {config.path}")
    check_conditions(config, state, run_folder)
    return run_folder, state


def check_conditions(config: RoundsConfig, state: State, run_folder: RunFolder) -> None:
    """Raise `StoreError` if the run began under other conditions than those of the file."""
    now = _plain(config.conditions)
    changed = sorted(key for key in {*now, *state.conditions} if now.get(key) != state.conditions.get(key))
    if changed:
        raise StoreError(
            f"{run_folder.state}: this run began with other values of {', '.join(changed)} than {config.path} has; "
            "only rounds, replicates, records, limits and [run] may change. Give the file another name for a new run"
        )


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """The data as it is read back from JSON."""
    return json.loads(json.dumps(data))  # type: ignore[no-any-return]


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
        self._state.anchors = {
            anchor.name: folder_digest(self._config.start_of(anchor)) for anchor in self._config.anchors
        }
        commit_secret(self._config, self._folder, 1)  # makes the first round's league file, for the check
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
            keep=author.on_error == "keep",
            paths=paths,
            network=author.network if level == "sandbox" else (),
            variables={
                **IN_WORKSPACE,
                **variables_of(author.variables),
                "WARPLEAGUE_AUTHOR": author.name,
                "WARPLEAGUE_ROUND": str(number),
                "WARPLEAGUE_ROUNDS": str(config.rounds),
                "WARPLEAGUE_REPLICATE": str(config.replicate),
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
        for anchor in self._config.anchors:
            folder = self._config.start_of(anchor)
            if folder_digest(folder) != state.anchors[anchor.name]:
                raise BadInput(
                    f"{folder}: the bot of {anchor.name} has changed since round 1, but all ratings refer to it"
                )
        config = league_of(self._config, state, run_folder, round_)
        with open_to_run(config, run_folder.leagues) as league:
            self._play_league(round_, league, f"{counted(len(round_.field), 'bot')} play")
            for version in climbers(self._config, state, round_):
                climb = climb_league(self._config, state, run_folder, version, league)
                with open_to_run(climb, run_folder.leagues) as climbing:
                    self._config.scale.check(bot.digest for bot in climbing.season.bots[1:])
                    self._play_league(round_, climbing, f"{version} climbs")
            round_.phase = "over"
            results = results_of(self._config, state, run_folder)
            for author in self._config.editors:
                write_feedback(self._config, state, run_folder, round_, author, league, results)

    def _play_league(self, round_: Round, league: League, who: str) -> None:
        """Play the remaining matches of a league. Raises `Stopped` if some remain."""
        if not league.store.published():
            self._context.say(f"round {round_.number}: {who}: {league.schedule.describe()}")
        report = self._context.play(league, LogFolder(self._folder.logs(league.config.name)))
        round_.spend("matches", report.elapsed_s)
        self._save()
        if not report.complete:
            void = "" if report.stopped else f"{counted(len(report.void), 'match')} void"
            raise Stopped(report.failure or void)

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
        return f"{words}, {'kept' if result.kept else 'dropped'}: {result.problem}"
    if not result.changed:
        return f"{words}: the bot is unchanged"
    return f"{words}: +{result.lines_added} -{result.lines_removed} lines"


def _first_failure(result: Check) -> str:
    failed = result.failure
    return "no match was finished" if failed is None else f"{failed.what}: {failed.text}"
