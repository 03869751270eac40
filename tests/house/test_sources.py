"""Checks what every source file of the house must keep: its docstring, its purity, no private places.

Style and types are ruff's and mypy's, imports between layers import-linter's.
"""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from warpleague.cli import main

PROGRAM = ("harness/", "protocol/", "scripts/")
# Put together here, so that this file does not name them either.
HOSTS = [
    "pypi" + r"\.org",
    "python" + "hosted",
    "registry" + r"\.npmjs",
    r"(?<!// )crates" + r"\.io",
    "proxy" + r"\.golang",
    "artifact" + "ory",
]
MACHINE_PATHS = [r"(?<![\w.-])/" + place + "/" for place in ("root", r"home/\w+", "work", r"Users/\w+")]


@pytest.fixture(scope="module")
def program(tracked: list[Path], root: Path) -> dict[str, str]:
    """The program's Python files: path in the repository -> text."""
    names = {path.relative_to(root).as_posix(): path for path in tracked if path.suffix == ".py"}
    return {name: path.read_text("utf-8") for name, path in names.items() if name.startswith(PROGRAM)}


@pytest.fixture(scope="module")
def trees(program: dict[str, str]) -> dict[str, ast.Module]:
    """The same, parsed."""
    return {name: ast.parse(text) for name, text in program.items()}


def test_every_module_says_what_it_is_for(trees: dict[str, ast.Module]) -> None:
    """Each module of the program opens with a docstring of at least one whole sentence."""
    told = {name: ast.get_docstring(tree) or "" for name, tree in trees.items()}
    assert not [name for name, text in told.items() if not re.search(r"\w+ .*[.:](?=\s|$)", text)]


def test_the_program_imports_only_what_is_installed_with_it(trees: dict[str, ast.Module], root: Path) -> None:
    """What only tests need is not there where Warp League is installed; extras are named with it, too."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [one for extra in table["optional-dependencies"].values() for one in extra]
    listed += re.findall(
        r"(?m)^[\w.-]+(?===)", (root / "requirements" / "runtime.lock").read_text(encoding="utf-8")
    )
    there = {re.split(r"[^\w.-]", one)[0].lower().replace("_", "-").replace(".", "-") for one in listed}
    homes = packages_distributions()
    missing = []
    for name, tree in trees.items():
        for node in ast.walk(tree) if name.startswith(("harness/", "protocol/")) else ():
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for module in {module.partition(".")[0] for module in modules} - sys.stdlib_module_names:
                homes_of = {
                    home.lower().replace("_", "-").replace(".", "-") for home in homes.get(module, [])
                }
                if homes_of and "warpleague" not in homes_of and not homes_of & there:
                    missing.append(f"{name}: {module}")
    assert not missing


UNCOUNTED = re.compile(
    r"f[\"'].*[{](?!counted)[^{}]+[}] (matches|deals|records|replays|decisions|submissions|playouts|coins)\b"
)
"""A number before what it counts, written without `counted`."""

NO_COUNTS = (
    "records a second",
    "deals no galaxy",  # a verb
    "{_MAX_VOID}",
    "{TRIAL_DEALS}",
    "{even} deals",
    "a multiple of {k} deals",  # more than two
    "{2 * deals} matches",
)


def test_no_sentence_says_one_matches(program: dict[str, str]) -> None:
    """A number stands before what it counts by `counted` only, so that one match is never `1 matches`."""
    found = [
        f"{name}: {line.strip()}"
        for name, text in program.items()
        if name.startswith("harness/")
        for line in text.splitlines()
        if UNCOUNTED.search(line) and not any(part in line for part in NO_COUNTS)
    ]
    assert not found


WAYS_OUT = {
    r"\bConsole\(": {"harness/warpleague/report/terminal/console.py"},
    r"\b(stdout|stderr)\.buffer\b": set(),
    r"\bos\.write\([12],": set(),
    r"\b__std(out|err)__\b": set(),
    r"\bfrom rich import .*print|\brich\.print\b": set(),
}


def test_all_output_passes_the_makers_of_safe_text(program: dict[str, str]) -> None:
    """No module of the command line prints past `SafeStream` and the one console: text of others stays harmless."""
    found = [
        f"{name}: {pattern}"
        for name, text in program.items()
        if name.startswith(
            tuple(f"harness/warpleague/{room}/" for room in ("cli", "extras", "report", "league"))
        )
        for pattern, allowed in WAYS_OUT.items()
        if name not in allowed and re.search(pattern, text)
    ]
    assert not found


def test_games_take_their_randomness_from_the_caller(program: dict[str, str]) -> None:
    """Inside a game's package, `random` is imported for annotations only: no engine draws by itself."""
    drawing = []
    for name, text in program.items():
        if not re.match(r"harness/warpleague/games/(?!contract/)\w+/", name):
            continue
        # What stands at module or function level; `if TYPE_CHECKING:` bodies are not.
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = []
        imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        if imported & {"random", "secrets", "numpy"}:
            drawing.append(name)
    assert not drawing


def test_no_file_names_a_registry_or_a_machines_paths(tracked: list[Path], root: Path) -> None:
    """Where packages come from and where the repository lies is every machine's own business."""
    forbidden = re.compile("|".join(HOSTS + MACHINE_PATHS))
    found = []
    for path in tracked:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(root)}: {match.group()}" for match in forbidden.finditer(text)]
    assert not found


def test_scripts_are_executable(root: Path) -> None:
    """What the Makefile and continuous integration call directly has the permission and an interpreter line."""
    for script in (root / ".ci/run", *sorted((root / "scripts").glob("*.sh"))):
        assert script.stat().st_mode & 0o111 == 0o111, script
        assert script.read_text(encoding="utf-8").startswith("#!/"), script


# Checks that asking the program what it is costs little more than starting Python.


# Each costs tens of milliseconds, and none has a part in printing a help text.
HEAVY = {
    *("asyncio", "backports.zstd", "cattrs", "concurrent.futures", "jinja2", "msgspec", "rich.live"),
    *("rich.markdown", "sqlite3", "trio"),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No output is kept from before."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))


def loaded_by(*arguments: str, before: str = "") -> set[str]:
    """The modules loaded when the program ends after being called with these arguments, code `before` it."""
    code = (
        f"{before}"
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from warpleague.cli import main\n"
        f"sys.argv = ['warpleague', *{arguments!r}]\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    return set(done.stderr.split())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_start_up_is_cheap(argument: str) -> None:
    """Help and version load neither the event loop nor the converters, the database or the drawing."""
    assert loaded_by(argument) & HEAVY == set()


def test_listing_the_games_is_cheap() -> None:
    """The list of games loads no engine, and neither the event loop nor the converters, the database or the arrays."""
    heavy = {*HEAVY, "attr", "importlib.metadata", "numpy", "warpleague.games.api", "warpline.messages"}
    assert loaded_by("games") & heavy == set()


def test_the_status_of_a_league_is_cheap(tmp_path: Path) -> None:
    """Looking how far a league is loads neither the event loop nor the arrays that tables are counted with."""
    config = ("leagues/demo-sheets.toml", "--results", str(tmp_path))
    assert main(["league", "commit", *config, "--entrants"]) == 0
    heavy = {"asyncio", "concurrent.futures", "jinja2", "numpy", "trio", "warpline.messages"}
    assert loaded_by("league", "status", *config) & heavy == set()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux lists the threads of a process")
def test_a_ladder_starts_no_threads_for_linear_algebra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait longer than they work; but what bots start with stays as it was."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    code = (
        "import os, sys\n"
        "from warpleague.cli import main\n"
        f"main(['league', 'status', 'leagues/aliens-season.toml', '--results', {str(tmp_path)!r}])\n"
        "threads = len(os.listdir('/proc/self/task'))\n"
        "print('numpy' in sys.modules, threads, 'OPENBLAS_NUM_THREADS' in os.environ, file=sys.stderr)\n"
    )
    assert (
        main(["league", "commit", "leagues/aliens-season.toml", "--results", str(tmp_path), "--entrants"])
        == 0
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["True", "1", "False"]


def test_a_quiet_run_draws_nothing(tmp_path: Path) -> None:
    """A run without progress and tables does not load what draws them: all cores would wait for it at the end."""
    config = ("leagues/demo-sheets.toml", "--results", str(tmp_path))
    loaded = loaded_by("league", "run", *config, "--quiet", "--jobs", "1", "--matches", "1")
    assert "warpleague.league.play.running" in loaded
    assert {name for name in loaded if name.split(".")[0] == "rich"} == set()


def test_importing_the_wire_loads_no_harness() -> None:
    """A bot that imports the client pays for nothing of the harness."""
    code = "import sys, warpline; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name for name in done.stdout.split() if name.split(".")[0] in ("warpleague", "trio", "rich")}
