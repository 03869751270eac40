"""The help of every command: each argument is explained, and the examples are commands that are understood.

What the commands do is tested with each of them.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from warpleague.cli import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run


def parser_of(family: str) -> argparse.ArgumentParser:
    """The parser of a family of commands."""
    parser = argparse.ArgumentParser(prog=f"warpleague {family}", exit_on_error=False)
    import_module(f"warpleague.cli.{family}").configure(parser)
    return parser


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers that take the arguments: the family's own, or those of its commands."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for group in groups:
        yield from group.choices.values()
    if not groups:
        yield parser


@pytest.mark.parametrize("family", COMMANDS)
def test_help_explains_every_argument_and_gives_an_example(family: str) -> None:
    """Each option and argument has a text of its own; each command ends its help with examples that parse."""
    whole = parser_of(family)
    for parser in commands(whole):
        assert [action.dest for action in parser._actions if not action.help] == []
        head, *examples = parser.format_help().partition("examples:\n")[2].splitlines()
        for line in (head, *examples):
            assert line.startswith(f"  {parser.prog}")
            assert len(line) <= 80
            words = shlex.split(line)[2:]
            assert callable(whole.parse_args(words).handler)


@pytest.mark.parametrize("arguments", [("leage",), ("league", "standing", "x"), ("bot", "chek")])
def test_a_mistyped_command_is_told_the_nearest(run: Run, arguments: tuple[str, ...]) -> None:
    """A command that does not exist is refused with the one that was probably meant."""
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "did you mean '" in done.err


def test_the_overview_tells_the_exit_codes(run: Run) -> None:
    """`warpleague --help` lists every command and what the exit codes mean."""
    text = run("--help").out
    for word in (*COMMANDS, "exit codes", "130"):
        assert word in text


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("leag", {"league"}),
        ("league stat", {"status"}),
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
