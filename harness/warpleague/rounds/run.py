"""Runs rounds: in each a secret is fixed, the authors edit, their bots are checked, and all versions play.

Each step is written down when it is done (`state`), so that a run goes on after any kill, and nobody edits twice.
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
from warpleague.rounds.editing import Order, edit, end_leftovers, variables_of
from warpleague.rounds.history import BOT, IN_WORKSPACE, GitError, require_git
from warpleague.rounds.playing import (
    CheckOrder,
    Place,
    check,
    commit_secret,
    field_of,
    league_of,
    take_out_bots,
)
from warpleague.rounds.state import Check, Finding, Part, Round, State, Version, load_state
from warpleague.rounds.telling import tell
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
    """Plays the matches of a league that are left, as `run_league` does."""

_TRIES: Final = 2  # of an edit or a check whose process dies


@attrs.frozen(kw_only=True)
class Means:
    """What a run needs from outside: how matches are played, and the texts for authors.

    `task` makes the text of TASK.md for an author in a round; `documents` are the texts of `docs/`, by file name.
    `say` takes lines about the progress.
    """

    play: Play
    task: Callable[[RoundsConfig, Author, int], str]
    documents: Mapping[str, str]
    say: Callable[[str], None] = lambda _: None


class Stopped(Exception):
    """The user stopped the run, or matches are void; the same command goes on. The text says why, for the latter."""


@contextmanager
def opened(config: RoundsConfig, results: Path) -> Iterator[tuple[Place, State]]:
    """The run of a file in `results`, for this process alone: a new one, or the one that was begun.

    Raises `StoreError` if it is running already, or was begun under other conditions.
    """
    place = Place((results / config.name).absolute())
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        lock = take_lock(place.lock)
    except OSError as error:
        raise BadInput(f"{place.folder}: cannot write there: {error.strerror}") from None
    try:
        state = load_state(place.state)
        if state is None:
            state = State(conditions=_plain(config.conditions))
        check_conditions(config, state, place)
        yield place, state
    finally:
        os.close(lock)


def check_conditions(config: RoundsConfig, state: State, place: Place) -> None:
    """Raise `StoreError` if a run was begun under other conditions than those of the file."""
    now = _plain(config.conditions)
    changed = sorted(key for key in {*now, *state.conditions} if now.get(key) != state.conditions.get(key))
    if changed:
        raise StoreError(
            f"{place.state}: this run was begun with another {', '.join(changed)} than {config.path} has now; only "
            "rounds, records, limits and [run] may change. Give the file another name for a new run"
        )


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def run_rounds(config: RoundsConfig, place: Place, state: State, means: Means) -> None:
    """Run all rounds that are not over. Raises `Stopped` if the user stops it between matches, or a match is void."""
    _Run(config, place, state, means).go()


class _Run:
    """One run; see `run_rounds`."""

    def __init__(self, config: RoundsConfig, place: Place, state: State, means: Means) -> None:
        self._config, self._place, self._state, self._means = config, place, state, means
        self._jobs = config.run.jobs or len(usable_cores())
        self._pool: RefereePool | None = None

    def go(self) -> None:
        """Run what is left; no process is left at its end."""
        try:
            self._go()
        except BaseException:
            if self._pool is not None:
                self._pool.kill()
            for author in self._config.editors:
                end_leftovers(self._place.desk(author.name))
            raise
        if self._pool is not None:
            self._pool.shutdown()

    def _go(self) -> None:
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
        self._state.save(self._place.state)

    @contextmanager
    def _spending(self, round_: Round, phase: str) -> Iterator[None]:
        begun_s = time.monotonic()
        try:
            yield
        finally:
            round_.spend(phase, time.monotonic() - begun_s)

    # -- before the first round

    def _start(self) -> None:
        """Make the desks of the authors, and check the bots that they start with."""
        missing = [author for author in self._config.editors if not self._state.versions_of(author.name)]
        if not missing:
            return
        commit_secret(self._config, self._place, 1)  # makes the league file of the first round, for the check
        orders: dict[str, CheckOrder] = {}
        commits: dict[str, str] = {}
        for author in missing:
            desk = self._place.desk(author.name)
            try:
                commits[author.name] = desk.begin(self._config.start_of(author))
            except GitError as error:
                raise BadInput(f"{self._config.start_of(author)}: git refuses it: {error}") from None
            desk.history.take_out(commits[author.name], desk.bot(0), BOT)
            orders[author.name] = self._check_order(author.name, 1, 0)
        checks = self._side_by_side(check, orders)
        failed = [name for name in orders if not checks[name].ready]
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
                    digest=folder_digest(self._place.desk(author.name).bot(0)),
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
        fixed = commit_secret(self._config, self._place, round_.number)
        if round_.commitment and round_.commitment != fixed.commitment:
            raise StoreError(
                f"{fixed.store}: has another secret than round {round_.number} was begun with; restore the store"
            )
        if not round_.commitment:
            round_.commitment, round_.committed = fixed.commitment, fixed.committed
            self._save()
        self._means.say(
            f"round {round_.number} of {self._config.rounds}: commitment to the secret (SHA-256): {fixed.commitment}"
        )

    def _edit(self, round_: Round) -> None:
        """Run the edits that are left, side by side; each is written down when it ends."""
        due = {name: part for name, part in round_.parts.items() if part.edit is None}
        if due:
            for part in due.values():
                part.begun += 1
            self._save()
            orders = {name: self._order(self._config.author(name), round_.number) for name in due}

            def ended(name: str, made: Edit) -> None:
                round_.parts[name].edit = made
                longest = max(round_.seconds.get("longest edit", 0.0), made.wall_s)
                round_.seconds["longest edit"] = longest
                self._save()
                self._means.say(f"round {round_.number}: {name}: {edit_words(made)}")

            self._side_by_side(edit, orders, ended)
        round_.phase = "check"

    def _order(self, author: Author, number: int) -> Order:
        config = self._config
        level = config.rules.level
        paths = (*config.shown_to(author), *program_paths()) if level == "sandbox" else ()
        return Order(
            author=author.name,
            number=number,
            folder=self._place.desk(author.name).folder,
            commit=self._last_commit(author.name, number),
            task=self._means.task(config, author, number),
            documents=self._means.documents,
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
            made = round_.parts[author].edit
            if round_.number < number and made is not None:
                return made.commit
        return self._state.versions_of(author)[0].commit

    def _check(self, round_: Round) -> None:
        """Check the bots that were changed, and decide which version of each author plays."""
        orders: dict[str, CheckOrder] = {}
        for name, part in round_.parts.items():
            if part.check is None and part.edit is not None and self._take_out(round_, name, part):
                orders[name] = self._check_order(name, round_.number, round_.number)

        def ended(name: str, made: Check) -> None:
            round_.parts[name].check = made
            self._save()
            words = "ready" if made.ready else f"not ready: {_first_failure(made)}"
            self._means.say(f"round {round_.number}: {name}: check: {words}")

        self._side_by_side(check, orders, ended)
        for name, part in round_.parts.items():
            part.version = self._version(round_, name, part)
        round_.field = field_of(self._config, self._state, round_)
        round_.phase = "play"

    def _take_out(self, round_: Round, name: str, part: Part) -> bool:
        """Take out the bot of this round for its check; whether there is one to check."""
        assert part.edit is not None
        desk = self._place.desk(name)
        last = self._state.versions_of(name)[-1]
        try:
            if desk.history.tree(part.edit.commit) == desk.history.tree(last.commit):
                return False  # it is the version that played last
            desk.history.take_out(part.edit.commit, desk.bot(round_.number), BOT)
            if folder_digest(desk.bot(round_.number)) == last.digest:
                return False
        except (GitError, BotError) as error:
            text = f"{BOT}/ cannot be a bot: {error}"
            finding = Finding(what="bundle", verdict="failed", text=text, code="manifest")
            part.check = Check(ready=False, findings=(finding,))
            self._save()
            return False
        return True

    def _check_order(self, author: str, league: int, number: int) -> CheckOrder:
        return CheckOrder(
            league=self._place.league(league),
            bot=self._place.desk(author).bot(number),
            seed=f"{author} {number}",
        )

    def _version(self, round_: Round, name: str, part: Part) -> str | None:
        """The version of an author that plays in a round, which may be new."""
        versions = self._state.versions_of(name)
        if versions[-1].round == round_.number:
            return versions[-1].name  # it was noted before a kill
        if part.check is None:
            return versions[-1].name
        if not part.check.ready:
            return versions[-1].name if self._config.on_fail == "last" else None
        assert part.edit is not None
        desk = self._place.desk(name)
        added, removed = desk.history.lines(versions[-1].commit, part.edit.commit)
        self._state.versions.append(
            Version(
                name=f"{name}.{round_.number}",
                author=name,
                round=round_.number,
                commit=part.edit.commit,
                digest=folder_digest(desk.bot(round_.number)),
                lines_added=added,
                lines_removed=removed,
            )
        )
        return f"{name}.{round_.number}"

    def _play(self, round_: Round) -> None:
        """Play the season of a round, and put into the authors' folders what they are told of it."""
        state, place = self._state, self._place
        versions = tuple(version for version in state.versions if version.name in round_.field)
        take_out_bots(place, versions)
        config = league_of(self._config, state, place, round_)
        logs = LogFolder(place.logs(round_.number))
        with open_to_run(config, place.leagues) as league:
            if not league.store.published():
                self._means.say(
                    f"round {round_.number}: {counted(len(round_.field), 'bot')} play: {league.schedule.describe()}"
                )
            report = self._means.play(league, logs)
            round_.spend("matches", report.elapsed_s)
            self._save()
            if not report.complete:
                void = "" if report.stopped else f"{counted(len(report.void), 'match')} void"
                raise Stopped(report.failure or void)
            round_.phase = "over"
            results = results_of(self._config, state, place)
            for author in self._config.editors:
                tell(self._config, state, place, round_, author, league, results)

    # -- processes

    def _side_by_side(
        self,
        work: Callable[[Any], Any],
        orders: Mapping[str, Any],
        ended: Callable[[str, Any], None] = lambda _name, _made: None,
    ) -> dict[str, Any]:
        """What `work` makes of each order, each in a process of its own; `ended` is called as each ends.

        The processes end with this one, however that ends, and what they started with them.
        """
        made: dict[str, Any] = {}
        if not orders:
            return made
        if self._pool is None:
            # It is kept for the rounds to come: a new process would test the level anew.
            self._pool = RefereePool(min(self._jobs, len(self._config.editors)), "none")
        pool, deaths = self._pool, dict[str, int]()
        running: dict[Future[Any], str] = {pool.submit(work, order): name for name, order in orders.items()}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                try:
                    made[name] = future.result()
                except RefereeDied:
                    deaths[name] = deaths.get(name, 0) + 1
                    if deaths[name] >= _TRIES:
                        raise
                    running[pool.submit(work, orders[name])] = name
                    continue
                ended(name, made[name])
        return made


def edit_words(made: Edit) -> str:
    """An edit in words."""
    words = f"edited in {made.wall_s:.1f} s"
    if made.problem:
        return f"{words}, dropped: {made.problem}"
    if not made.changed:
        return f"{words}: the bot is as it was"
    return f"{words}: +{made.lines_added} -{made.lines_removed} lines"


def _first_failure(made: Check) -> str:
    failed = made.failure
    return "no match was finished" if failed is None else f"{failed.what}: {failed.text}"
