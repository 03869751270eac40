"""The table of commands and the help made of it: each argument is explained and read, each example understood.

What the commands do is tested with each of them.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpleague.cli.commands import SUBMIT_WORDS, commands
from warpleague.cli.declaration import FAULT_RULES, LEVEL, LEVELS, load
from warpleague.cli.parser import parser_for
from warpleague.match import spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.conftest import Run

RUN = {name: command for name, command in commands().items() if command.run}
ROOT = Path(__file__).parents[2]
ABOVE = {name: command for name, command in commands().items() if not command.run}


@pytest.mark.parametrize("name", RUN)
def test_help_explains_every_argument_and_gives_an_example(run: Run, name: str) -> None:
    """Each option and argument has a text of its own; each command ends its help with examples that parse."""
    without = [argument.value for argument in RUN[name].each_argument() if not argument.help]
    assert set(without) <= {"end_with_parent"}  # which only the server gives
    head, *examples = run(*name.split(), "--help").out.partition("examples:\n")[2].splitlines()
    for line in (head, *examples):
        assert line.startswith(f"  warpleague {name}")
        assert len(line) <= 80
        inner, rest = parser_for(shlex.split(line)[1:])
        assert inner.parse_args(rest).command.name.startswith(name)


def parts(*functions: Callable[..., object]) -> Iterator[ast.AST]:
    """The syntax of functions and of all that they call, or name, in modules of commands."""
    todo, done = [*functions], set()
    while todo:
        part = todo.pop()
        if part in done:
            continue
        done.add(part)
        tree = ast.parse(inspect.getsource(part).lstrip())
        yield tree
        known = dict(vars(sys.modules[part.__module__]))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                known |= vars(import_module(node.module))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for value in map(known.get, names):
            ours = getattr(value, "__module__", None) or ""
            if inspect.isroutine(value) or inspect.isclass(value):
                if ours.startswith("warpleague.cli.") or ours.endswith((".cli", ".commands")):
                    todo.append(value)
            elif isinstance(value, (tuple, dict)) and all(isinstance(word, str) for word in value):
                yield ast.parse(repr(tuple(value)))


def read_by(*functions: Callable[..., object]) -> set[str]:
    """The names of the arguments that functions read: as attributes, or as texts where some are got by name."""
    names = set()
    for tree in parts(*functions):
        text = ast.unparse(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("args"):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and ("getattr(args" in text or text.startswith("(")):
                names.add(str(node.value))
    return names


@pytest.mark.parametrize("name", RUN)
def test_the_function_of_each_command_reads_its_arguments(name: str) -> None:
    """What a command declares, the function that it names uses; it exists, and can be imported."""
    arguments = list(RUN[name].each_argument())
    kinds = [kind for argument in arguments if inspect.isclass(kind := getattr(argument, "type", None))]
    words = [load(run) for _, _, run in SUBMIT_WORDS.values()] if name == "submit" else []
    read = read_by(load(RUN[name].run), *words, *(kind for kind in kinds if kind is not float))
    assert {argument.value for argument in arguments} - read == set()


def test_options_say_what_matches_take() -> None:
    """The table writes out levels and defaults of matches, whose module it does not import: they are the same."""
    strikes = next(rule for rule in FAULT_RULES if rule.value == "strikes")
    assert spec.LEVELS == LEVELS
    assert LEVEL.default == spec.LEVEL
    assert f"(default {spec.STRIKES})" in strikes.help


def test_the_overview_tells_the_exit_codes(run: Run) -> None:
    """`warpleague --help` lists every command in its group, and what the exit codes mean."""
    text = run("--help").out
    for command in commands().values():
        if not command.above:
            assert f"  {command.name} " in text
            assert f"\n{command.group}:\n" in text
    assert "exit codes" in text


@pytest.mark.parametrize("name", ABOVE)
def test_every_command_is_in_a_group(name: str) -> None:
    """Where the help of a command lists those below it in groups, each stands in one of them."""
    groups = [command.group for command in commands().values() if command.above == name]
    assert len(groups) > 1
    assert all(groups) or not any(groups)


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        (("help",), ("--help",)),
        (("help", "match"), ("match", "--help")),
        (("help", "league"), ("league", "--help")),
        (("help", "league", "run"), ("league", "run", "--help")),
        (("league", "help", "run"), ("league", "run", "--help")),
        (("help", "arena", "author", "add"), ("arena", "author", "add", "--help")),
    ],
)
def test_help_is_a_command_too(run: Run, asked: tuple[str, ...], same: tuple[str, ...]) -> None:
    """`help X Y` prints what `X Y --help` prints."""
    done = run(*asked)
    assert done == run(*same)
    assert (done.code, done.out[:6]) == (0, "usage:")


def test_the_docs_have_the_exit_codes_of_every_command() -> None:
    """The page has one row for each code that a command declares, in the words of its help."""
    rows = re.findall(
        r"^\| `(.+)` \| (\d+) \| (.+) \|$", (ROOT / "docs/exit-codes.md").read_text("utf-8"), re.MULTILINE
    )
    assert rows == [(c.name, str(code), what) for c in RUN.values() for code, what in c.codes.items()]


@pytest.mark.parametrize("words", [(), ("league",), ("arena", "author")])
def test_without_a_command_help_is_shown(run: Run, words: tuple[str, ...]) -> None:
    """What is missing is a command: the help that lists them is shown, as for any bad input with exit code 2."""
    done = run(*words)
    assert (done.code, done.out, done.err) == (2, "", run(*words, "--help").out)


def test_options_are_not_shortened(run: Run) -> None:
    """A shortened option is refused, so that a new option changes no command; a whole one is suggested."""
    done = run("match", "aliens", "a", "b", "--rec", "x")
    assert done.code == 2
    assert "options are not shortened; did you mean --record?" in done.err


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("leag", {"league"}),
        ("league stat", {"status"}),
        ("help leag", {"league"}),
        ("match --lev", {"--level"}),
        ("match --level s", {"sandbox"}),
        ("play al", {"aliens"}),
        ("league run demo.t", {"demo.toml"}),
    ],
)
def test_bash_completes_what_was_begun(run: Run, tmp_path: Path, typed: str, found: set[str]) -> None:
    """The printed text, loaded by bash, completes commands, options, their values, games and files."""
    script = tmp_path / "completion"
    script.write_text(run("completion", "bash").out)
    (tmp_path / "demo.toml").touch()
    words = shlex.split(f"warpleague {typed}")
    ask = (
        f"source {shlex.quote(str(script))}; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; "
        "$(complete -p warpleague | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == found
