"""Compiles random playouts of the games with mypyc: a wheel that a bot's author unpacks in the folder of a bot.

    make compile-games            builds dist/warpleague_engine-*.whl, for this version of Python and this system
    make test-compiled-games      builds it, and runs the tests of games and simulator with the compiled modules
    python scripts/compile_games.py --measure 5     playouts, compiled and pure, by so many rounds in turn

Nothing in the checkout changes: compiled modules lie beside copies of their sources in dist/compiled, and Python takes
a compiled module before its source if it fits the interpreter. Exit code 2: this machine cannot compile.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TREE = DIST / "compiled"
"""The whole program with compiled modules, for tests and measurements: `PYTHONPATH=dist/compiled`."""
MODULES = (
    "aliens/rollout",
    "captains/rollout",
    "captains/score",
    "coasters/rollout",
    "sheets/legal",
    "sheets/rollout",
    "sheets/rules",
    "sheets/score",
)
"""Where playouts spend their time. Not all modules of games can be compiled as they are."""
GROUP = "warpleague_games"
SEATS = {"aliens": 2, "captains": 3, "coasters": 4, "sheets": 2}
"""The tables that are measured."""
SECONDS = 0.4
"""Of processor time, for each game and way to play."""
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))


def obstacle() -> str | None:
    """Why this machine cannot compile, or None."""
    compiler = shlex.split(os.environ.get("CC") or str(sysconfig.get_config_var("CC") or "cc"))[0]
    if shutil.which(compiler) is None:
        return (
            f"there is no C compiler {compiler!r}: install one (on Debian or Ubuntu: gcc), or name it: CC=..."
        )
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        package = "python{}.{}-dev".format(*sys.version_info[:2])
        return (
            f"there is no {header}: install {package}, or build on another Python: make distclean, PYTHON=..."
        )
    if (
        find_spec("setuptools") is None
    ):  # mypyc needs it; environments of Python 3.11 have it, later ones do not
        return f"there is no setuptools: {sys.executable} -m pip install setuptools"
    return None


def compile_tree() -> list[Path]:
    """Copy the program to `TREE` and compile there; the compiled files, relative to it."""
    from mypyc.build import mypycify
    from setuptools import setup

    shutil.rmtree(TREE, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.bin")
    for package in ("harness/warpleague", "protocol/warpline"):
        shutil.copytree(ROOT / package, TREE / Path(package).name, ignore=ignored)
    os.chdir(TREE)
    os.environ["MYPYPATH"] = str(TREE)
    sources = [f"warpleague/games/{module}.py" for module in MODULES]
    options = ["--config-file=", "--cache-dir=/dev/null", f"--python-executable={sys.executable}"]
    extensions = mypycify([*options, "--ignore-missing-imports", *sources], debug_level="0", group_name=GROUP)
    setup(name=GROUP, ext_modules=extensions, script_args=["--quiet", "build_ext", "--inplace"])
    shutil.rmtree(TREE / "build")
    return [path.relative_to(TREE) for path in sorted(TREE.rglob(f"*{SUFFIX}"))]


def check() -> None:
    """Exit unless an interpreter that is told of `TREE` loads each module compiled."""
    names = [f"warpleague.games.{module.replace('/', '.')}" for module in MODULES]
    code = (
        f"from importlib import import_module as load; print(*(load(n).__file__ for n in {names}), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=compiled(), stdout=subprocess.PIPE, text=True, check=True
    )
    if pure := [path for path in done.stdout.split() if not path.endswith(SUFFIX)]:
        sys.exit(f"compiled, but not used: {', '.join(pure)}")


def compiled() -> dict[str, str]:
    """The environment of a program that is to use the compiled modules."""
    return {**os.environ, "PYTHONPATH": str(TREE)}


def pack(made: list[Path]) -> Path:
    """Write the engine of `bot engine` with the compiled modules as a wheel; its path."""
    import warpleague
    from warpleague.runner.bundle.shipped import write_engine

    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    python = "cp{}{}".format(*sys.version_info[:2])
    name, tag = f"warpleague_engine-{warpleague.__version__}", f"{python}-{python}-{system}"
    wheel = DIST / f"{name}-{tag}.whl"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        write_engine(Path(folder))
        engine = Path(folder) / "engine"
        for path in made:
            shutil.copyfile(TREE / path, engine / path)
        about = engine / f"{name}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: warpleague-engine\nVersion: {warpleague.__version__}\n"
            "Summary: The rules and the simulator of Warp League for the folder of a bot, compiled\n"
        )
        (about / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: warpleague\nRoot-Is-Purelib: false\nTag: {tag}\n"
        )
        record = [f"{name}.dist-info/RECORD,,"]
        for path in sorted(engine.rglob("*")):
            if path.is_file():
                digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=")
                record.append(f"{path.relative_to(engine)},sha256={digest.decode()},{path.stat().st_size}")
        (about / "RECORD").write_text("\n".join(record) + "\n")
        for path in sorted(engine.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(engine))
    return wheel


def playouts(seconds: float) -> dict[str, tuple[float, float]]:
    """By game: playouts in a second of processor time from the first decision, by lists and by `rollout`.

    By lists: with a list of legal actions and a position for each decision, as all playouts once were.
    """
    from warpleague.games.playout import EngineRollout, rollout
    from warpleague.sim import Simulator

    figures = {}
    for name, players in SEATS.items():
        table, rng, speeds = Simulator(name, players), Random(1), []
        state = table.roll_all(table.start(), rng)
        for begin in (EngineRollout, rollout):
            begin(table.game, state).play(rng.random)  # what is cached is there
            played, begun = 0, time.process_time()
            while (spent := time.process_time() - begun) < seconds:
                one = begin(table.game, state)
                one.play(rng.random)
                one.outcome()
                played += 1
            speeds.append(played / spent)
        figures[name] = (speeds[0], speeds[1])
    return figures


def measure(rounds: int) -> None:
    """Print medians of so many rounds in which two processes, pure and compiled, take turns."""
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SEATS}
    for _ in range(rounds):
        both = []
        for environment in (dict(os.environ), compiled()):
            command = [sys.executable, __file__, "--once"]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            both.append(json.loads(done.stdout))
        for name, row in rows.items():
            row.append((*both[0][name], both[1][name][1]))
    print("random playouts in a second of processor time, and how many times those by lists")
    print(f"{'game':9} {'by lists':>9} {'pure':>14} {'compiled':>15}")
    for name, row in rows.items():
        lists, pure, quick = (statistics.median(column) for column in zip(*row, strict=True))
        print(f"{name:9} {lists:9.0f} {pure:7.0f} {pure / lists:6.1f} {quick:8.0f} {quick / lists:6.1f}")


def main() -> None:
    """Build, or measure what was built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", type=int, metavar="ROUNDS", help="measure playouts, compiled and pure")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        print(json.dumps(playouts(SECONDS)))
        return
    if arguments.measure:
        if not TREE.is_dir():
            sys.exit("nothing is compiled yet: first run make compile-games")
        measure(arguments.measure)
        return
    if (why := obstacle()) is not None:
        print(f"the games are not compiled: {why}\nAll works the same without.", file=sys.stderr)
        sys.exit(2)
    made = compile_tree()
    check()
    print(pack(made).relative_to(ROOT))


if __name__ == "__main__":
    main()
