"""Checks that the results of rounds hold: every match, every version, every commit, and the secrets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import BotError
from warpleague.extras.rounds.climb import climb_problems, climbers
from warpleague.extras.rounds.playing import field_of
from warpleague.extras.rounds.run import begun_run
from warpleague.extras.rounds.workspace import BOT, GitError
from warpleague.league.play.verifying import altered, mispaired, place_of, verify_league
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.tree import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpleague.extras.rounds.file import RoundsConfig
    from warpleague.extras.rounds.playing import RunFolder
    from warpleague.extras.rounds.state import Round, State
    from warpleague.league.results.league import League


@attrs.define(kw_only=True)
class Verification:
    """What was checked of rounds."""

    rounds: int
    versions: int
    commits: int
    records: int
    """of matches, each executed again"""
    records_hold: int
    problems: list[str]
    """in words"""
    holds: bool
    """whether there is no problem"""


def verify_rounds(runs: Iterable[RoundsConfig], results: Path, jobs: int = 0) -> Verification:
    """Check all rounds of these runs of a file that are over.

    Executes every record again. Extracts every version from its commit, and compares it with the bot in the stores of
    the leagues. Each edit must be one commit on the one before it, so nobody edited twice. Raises `BadInput` if the
    run has not begun, and `StoreError` if a store is unreadable.
    """
    checked = Verification(
        rounds=0, versions=0, commits=0, records=0, records_hold=0, problems=[], holds=True
    )
    for config in runs:
        run_folder, state = begun_run(config, results)
        before = len(checked.problems)
        for author in config.editors:
            _verify_author(state, run_folder, author.name, checked)
        for round_ in state.rounds:
            if round_.phase == "over":
                checked.rounds += 1
                _verify_round(config, state, run_folder, round_, jobs, checked)
        if config.replicate > 1:
            where = f"replicate {config.replicate}"
            checked.problems[before:] = [f"{where}: {problem}" for problem in checked.problems[before:]]
    checked.holds = not checked.problems
    return checked


def _verify_author(state: State, run_folder: RunFolder, author: str, checked: Verification) -> None:
    history = run_folder.author(author).history
    edits = [made for round_ in state.rounds if (made := round_.parts[author].edit) is not None]
    chain = [version.commit for version in state.versions_of(author)[:1]]
    chain += [made.commit for made in edits if made.commit != chain[-1]] if chain else []
    try:
        history.check()
        if chain and history.ancestors(chain[-1]) != list(dict.fromkeys(reversed(chain))):
            checked.problems.append(f"{author}: its commits are not one for each edit")
        checked.commits += len(chain)
    except GitError as error:
        checked.problems.append(f"{author}: the repository {history.folder} is damaged: {error}")
        return
    with scratch_folder() as scratch:
        for version in state.versions_of(author):
            checked.versions += 1
            bot = Path(scratch, "bot")
            try:
                history.extract(version.commit, bot, BOT)
                digest = folder_digest(bot)
            except (GitError, BotError) as error:
                checked.problems.append(f"{version.name}: cannot be extracted from its commit: {error}")
                continue
            if digest != version.digest:
                checked.problems.append(f"{version.name}: its commit has another content than the version")


def round_problems(config: RoundsConfig, state: State, round_: Round, league: League) -> Iterator[str]:
    """How the league of a round differs from the state: in its field, its commitment, its bots or its matches."""
    until_now = attrs.evolve(
        state, versions=[version for version in state.versions if version.round <= round_.number]
    )
    season = league.season
    if round_.field != field_of(config, until_now, round_):
        yield "its field is not the one that its versions give"
    if season.commitment != round_.commitment:
        yield "its secret is not the one that was committed to before the edits"
    bots = {bot.bot: bot.digest for bot in season.bots}
    known = state.anchors | {version.name: version.digest for version in state.versions}
    if tuple(bots) != round_.field:
        yield "its league has other bots than its field"
    for name, digest in bots.items():
        if known.get(name, digest) != digest:
            yield f"{name} played with another content than the version has"
    if league.due.total is not None and league.store.count_of(league.due) != league.due.total:
        yield "matches are missing"


def _verify_round(
    config: RoundsConfig, state: State, run_folder: RunFolder, round_: Round, jobs: int, checked: Verification
) -> None:
    where = f"round {round_.number}"
    with run_folder.read(run_folder.league(round_.number)) as league:
        checked.problems += [
            f"{where}: {problem}" for problem in round_problems(config, state, round_, league)
        ]
        _verify_league(league, where, jobs, checked)
        for version in climbers(config, state, round_):
            with run_folder.read(run_folder.climb(version)) as climb:
                checked.problems += climb_problems(config, state, version, climb, league)
                _verify_league(climb, f"climb of {version}", jobs, checked)


def _verify_league(league: League, where: str, jobs: int, checked: Verification) -> None:
    checked.problems += [
        f"{where}: {place_of(None, match)}: {problem}"
        for _, match, problem in (*altered(league), *mispaired(league))
    ]
    for fixture, problem in verify_league(league, jobs):
        checked.records += 1
        checked.records_hold += problem is None
        if problem is not None:
            checked.problems.append(f"{where}: {place_of(fixture.number, fixture.id)}: {problem}")
