"""Rounds as a published archive: their file, state and results beside the leagues of all rounds that are over."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Final

import attrs
import tomli_w

from warpleague.cli.publish import Publication, has
from warpleague.errors import BadInput, StoreError
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.playing import RunFolder
from warpleague.extras.rounds.results import results_of
from warpleague.extras.rounds.run import begun_run, check_conditions
from warpleague.extras.rounds.state import load_state
from warpleague.extras.rounds.verify import round_problems
from warpleague.league.play.publishing import LEAGUE, Checked
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config, toml_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROUNDS: Final = "rounds.toml"
STATE: Final = "state.json"
RESULTS: Final = "results.json"


def publication(file: Path, results: Path) -> Publication:
    """All rounds of a file that are over. Raises `BadInput` if there is none."""
    config = load_rounds(file)
    run_folder, state = begun_run(config, results)
    over = [round_.number for round_ in state.rounds if round_.phase == "over"]
    if not over:
        raise BadInput(f"{run_folder.path}: no round is over yet: warpleague rounds {config.path}")
    files = {
        ROUNDS: tomli_w.dumps(toml_of(config)).encode(),
        STATE: run_folder.state.read_bytes(),
        RESULTS: (json.dumps(results_of(config, state, run_folder).to_json(), indent=1) + "\n").encode(),
    }
    leagues = tuple((load_config(run_folder.league(number)), run_folder.leagues) for number in over)
    return Publication("rounds", config.name, leagues, files)


def check(folder: Path, leagues: Path) -> Iterator[Checked]:
    """Compare state and results in an unpacked archive with the leagues, whose stores are in `leagues`."""
    run_folder = RunFolder(leagues.parent)
    try:
        config = load_rounds(folder / ROUNDS, elsewhere=True)
        state = load_state(folder / STATE)
        if state is None:
            raise StoreError(f"{folder / STATE}: is missing")
        check_conditions(config, state, run_folder)
        over = [round_ for round_ in state.rounds if round_.phase == "over"]
        for round_ in over:
            file = run_folder.league(round_.number)
            if (there := folder / "leagues" / file.stem / LEAGUE).is_file():
                shutil.copyfile(there, file)
            with open_to_read(load_config(file), leagues) as league:
                problems = list(round_problems(config, state, round_, league))
            what = f"round {round_.number}"
            yield from (Checked(what, "wrong", problem) for problem in problems)
            if not problems:
                yield Checked(what, "holds", "field, versions and commitment are those of the state")
        now = results_of(attrs.evolve(config, path=folder / ROUNDS), state, run_folder).to_json()
        if has(folder / RESULTS, now):
            yield Checked("results", "holds", "computed again from all rounds")
        else:
            yield Checked("results", "wrong", f"{RESULTS}: the leagues give others")
    except (OSError, ValueError) as error:
        yield Checked("results", "wrong", f"{RESULTS}: cannot be read: {error}")
    except BadInput as error:
        yield Checked("rounds", "wrong", str(error))
    yield Checked(
        "edits", "unchecked", "the archive has the versions, not the workspaces, commits and commands"
    )
