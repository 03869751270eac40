"""Plays honest bots beside every misbehaving one, in every game, on a machine that is under heavy load.

No honest bot may be charged with a fault. What the misbehaving bots of tests/bots deserve themselves is
tests/e2e/test_misbehaving.py's business.
"""

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from pathlib import Path
from typing import Any

import attrs

from warpleague.errors import BadInput, HarnessFault
from warpleague.games import game_ids, load_game
from warpleague.league.referees.pool import RefereePool
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import Level, MatchResult, MatchSpec, SeatSpec, TimeControl
from warpleague.runner.doctor import check_level
from warpleague.runner.host import usable_cores
from warpleague.runner.play import play_match

SOURCES = Path(__file__).parents[1] / "bots"
MANIFEST = tomllib.loads((SOURCES / "manifest.toml").read_text())
BOTS = [{**MANIFEST["defaults"], **bot} for bot in MANIFEST["bot"]]
SHORT = {"aliens": {"max_turns": 30}, "captains": {"max_rounds": 6}, "coasters": {"max_rounds": 6}}
HONEST = "thinks"
MOVE_S = 0.25
THINKS_S = 0.005
SOURCE = f"""
import time
from warpline.client import run

def choose(question):
    until = time.process_time() + {THINKS_S}
    while time.process_time() < until:
        pass
    return 0

run(choose, wants=())
"""
"""An honest bot: it needs a few milliseconds of processor time for each decision, and has fifty times as much."""


@attrs.frozen(eq=False)
class Case:
    """One match: the honest bot in seat 0, a misbehaving one in seat 1."""

    level: Level
    game: str
    players: int
    rival: dict[str, Any]


def burn() -> None:
    """Compute for ever."""
    while True:
        pass


def seats(case: Case, folder: Path) -> tuple[SeatSpec, ...]:
    """How to run the bots of `case`, whose files are in `folder`."""
    honest = SeatSpec(HONEST, "1", "", (sys.executable, "-P", f"{HONEST}.py"), str(folder))
    stem = Path(case.rival["file"]).stem
    program, *rest = (
        part.format(file=case.rival["file"], stem=stem) for part in MANIFEST["run"][case.rival["language"]]
    )
    argv = (sys.executable, "-P") if program == "python3" else (str((folder / program).absolute()),)
    rival = SeatSpec(stem, "1", "", (*argv, *rest), str(folder), memory_mb=case.rival["memory_mb"])
    return (honest, rival, *(honest,) * (case.players - 2))


def spec(case: Case, folder: Path, seed: str) -> MatchSpec:
    """The match of `case`; only the clock of a decision is as short as the honest bot's promise."""
    game = load_game(case.game)
    options = load_options(game, case.players, SHORT.get(case.game, {}))
    return MatchSpec(
        id=seed,
        game=case.game,
        options=options_json(options),
        seats=seats(case, folder),
        key=match_key(seed),
        seed=seed,
        clock=TimeControl(move_s=MOVE_S, start_s=60.0),
        level=case.level,
    )


def prepare(folder: Path, only: Sequence[str]) -> list[dict[str, Any]]:
    """Copy and build the bots, all or `only` some; those that can be run here."""
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / f"{HONEST}.py").write_text(SOURCE)
    (folder / "armed-for-the-sandbox").touch()
    for name in ("secret", "socket", "port"):
        (folder / name).write_text("1")
    for path in (folder.parent, folder, *folder.iterdir()):
        path.chmod(0o755)
    found = []
    for bot in BOTS:
        if only and Path(bot["file"]).stem not in only:
            continue
        build = MANIFEST["build"].get(bot["language"])
        names = {"file": bot["file"], "stem": Path(bot["file"]).stem}
        if build is None or shutil.which(build[0]) is not None:
            if build is not None:
                subprocess.run([part.format(**names) for part in build], cwd=folder, check=True)
            found.append(bot)
    return found


def cases(args: argparse.Namespace, bots: list[dict[str, Any]], levels: list[Level]) -> Iterator[Case]:
    """What is to be played: each bot that misbehaves, in each game, at the smallest table."""
    for level in levels:
        for game in args.games:
            players = min(size for size in load_game(game).players if size > 1)
            for bot in bots:
                if level == "sandbox" or not bot["needs_sandbox"]:
                    yield Case(level, game, players, bot)


def play(todo: list[Case], folder: Path) -> tuple[dict[Case, MatchResult], dict[Case, str]]:
    """Play all of `todo`, one match for each core at a time: the results, and what the harness failed to play."""
    done: dict[Case, MatchResult] = {}
    void: dict[Case, str] = {}
    with RefereePool() as pool:
        futures: dict[Future[MatchResult], Case] = {
            pool.submit(play_match, spec(case, folder, f"load {number}")): case
            for number, case in enumerate(todo)
        }
        for number, future in enumerate(as_completed(futures), 1):
            case = futures[future]
            try:
                done[case] = future.result()
            except HarnessFault as error:
                void[case] = str(error)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(todo)} matches", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return done, void


def report(results: dict[Case, MatchResult], void: dict[Case, str]) -> int:
    """Print what was found; how many faults honest bots were charged with."""
    charged = 0
    for case, result in results.items():
        for seat, faults in enumerate(result.faults):
            for fault in faults if seat != 1 else ():
                charged += 1
                told = f"{fault.kind}: {fault.message}"
                print(f"CHARGED  {case.level} {case.game} beside {case.rival['file']}: {told}")
    for case, error in void.items():
        print(f"void     {case.level} {case.game} beside {case.rival['file']}: {error}")
    print(f"{len(results)} matches, {len(void)} void, honest bots charged with {charged} faults")
    return charged


def main() -> int:
    """Exit code 0: no honest bot was charged with anything; 1: one was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--load", type=int, default=8, help="programs that compute, for each core (default 8)"
    )
    parser.add_argument("--games", nargs="+", default=game_ids(), choices=game_ids())
    parser.add_argument("--levels", nargs="+", default=["limits", "sandbox"], choices=["limits", "sandbox"])
    parser.add_argument("--only", nargs="+", default=[], metavar="BOT", help="only these bots of tests/bots")
    args = parser.parse_args()
    levels: list[Level] = []
    for level in args.levels:
        try:
            check_level(level)
            levels.append(level)
        except BadInput as error:
            print(f"left out: {error}")
    with tempfile.TemporaryDirectory(prefix="warpleague-adversary-") as scratch:
        folder = Path(scratch) / "bots"
        todo = list(cases(args, prepare(folder, args.only), levels))
        burners = [
            multiprocessing.Process(target=burn, daemon=True) for _ in range(args.load * len(usable_cores()))
        ]
        for burner in burners:
            burner.start()
        try:
            results, void = play(todo, folder)
        finally:
            for burner in burners:
                burner.kill()
    return 1 if report(results, void) else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
