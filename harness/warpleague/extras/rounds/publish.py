"""Rounds as a published archive: their file, state and results beside the leagues of all rounds that are over."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Final

import attrs
import tomli_w

from warpleague.cli.publish import Publication, has
from warpleague.errors import BadInput, StoreError
from warpleague.extras.rounds.climb import climb_problems, climbers, league_files
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.playing import RunFolder
from warpleague.extras.rounds.results import results_of
from warpleague.extras.rounds.run import begun_run, check_conditions
from warpleague.extras.rounds.state import load_state
from warpleague.extras.rounds.verify import round_problems
from warpleague.league.play.publishing import LEAGUE, Checked
from warpleague.league.season.config import load_config, toml_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpleague.extras.rounds.file import RoundsConfig
    from warpleague.league.season.config import LeagueConfig

ROUNDS: Final = "rounds.toml"
STATE: Final = "state.json"
RESULTS: Final = "results.json"


def publication(file: Path, results: Path) -> Publication:
    """All rounds of a file that are over, of each replicate. Raises `BadInput` if a run has none."""
    config = load_rounds(file)
    files = {ROUNDS: tomli_w.dumps(toml_of(config)).encode()}
    leagues: list[tuple[LeagueConfig, Path]] = []
    for run in config.runs:
        run_folder, state = begun_run(run, results)
        over = [round_ for round_ in state.rounds if round_.phase == "over"]
        if not over:
            raise BadInput(f"{run_folder.path}: no round is over yet: warpleague rounds {config.path}")
        now = results_of(run, state, run_folder).to_json()
        files[f"{run_folder.prefix}{STATE}"] = run_folder.state.read_bytes()
        files[f"{run_folder.prefix}{RESULTS}"] = (json.dumps(now, indent=1) + "\n").encode()
        for round_ in over:
            played = league_files(run, state, run_folder, round_)
            leagues += [(load_config(league), run_folder.leagues) for league in played]
    return Publication("rounds", config.name, tuple(leagues), config.seed is not None, files)


def check(folder: Path, leagues: Path) -> Iterator[Checked]:
    """Compare state and results in an unpacked archive with the leagues, whose stores are in `leagues`."""
    try:
        for file in folder.glob(f"leagues/*/{LEAGUE}"):
            shutil.copyfile(file, leagues / f"{file.parent.name}.toml")
        for run in load_rounds(folder / ROUNDS, elsewhere=True).runs:
            yield from _check_run(run, folder, RunFolder(leagues.parent, run.replicate))
    except (OSError, ValueError) as error:
        yield Checked("results", "wrong", f"{RESULTS}: cannot be read: {error}")
    except BadInput as error:
        yield Checked("rounds", "wrong", str(error))
    yield Checked(
        "edits", "unchecked", "the archive has the versions, not the workspaces, commits and commands"
    )
    yield Checked(
        "usage",
        "unchecked",
        "models, efforts, tokens, costs and times of edits are what the authors' machine told",
    )


def _check_run(config: RoundsConfig, folder: Path, run_folder: RunFolder) -> Iterator[Checked]:
    file = folder / f"{run_folder.prefix}{STATE}"
    state = load_state(file)
    if state is None:
        raise StoreError(f"{file}: is missing")
    check_conditions(config, state, run_folder)
    where = f"replicate {config.replicate}: " if config.replicate > 1 else ""
    for round_ in state.rounds:
        if round_.phase != "over":
            continue
        played = league_files(config, state, run_folder, round_)
        if lacks := [league.stem for league in played if not league.is_file()]:
            yield Checked(f"{where}round {round_.number}", "wrong", f"is missing: {', '.join(lacks)}")
            return
        with run_folder.read(run_folder.league(round_.number)) as league:
            problems = list(round_problems(config, state, round_, league))
            for version in climbers(config, state, round_):
                with run_folder.read(run_folder.climb(version)) as climb:
                    problems += climb_problems(config, state, version, climb, league)
        what = f"{where}round {round_.number}"
        yield from (Checked(what, "wrong", problem) for problem in problems)
        if not problems:
            yield Checked(what, "holds", "field, versions, climbs and commitment are those of the state")
    file = folder / f"{run_folder.prefix}{RESULTS}"
    now = results_of(attrs.evolve(config, path=folder / ROUNDS), state, run_folder).to_json()
    if has(file, now):
        yield Checked(f"{where}results", "holds", "computed again from all rounds")
    else:
        yield Checked(f"{where}results", "wrong", f"{file}: the leagues give others")
