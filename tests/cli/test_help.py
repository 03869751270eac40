"""The help of every command: each argument is explained, and the examples are commands that are understood.

What the commands do is tested with each of them.
"""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from warpleague.cli.commands import COMMANDS, GROUPS, overview, parser_of
from warpleague.cli.parser import below

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.mark.parametrize("family", COMMANDS)
def test_help_explains_every_argument_and_gives_an_example(family: str) -> None:
    """Each option and argument has a text of its own; each command ends its help with examples that parse."""
    whole = parser_of(family)
    for parser in below(whole):
        assert [a.dest for a in parser.arguments if not a.help] == []
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
    """`warpleague --help` lists every command in its group, and what the exit codes mean."""
    text = run("--help").out
    for word in (*COMMANDS, *(f"{title}:" for title in GROUPS), "exit codes", "130"):
        assert word in text


@pytest.mark.parametrize("family", COMMANDS)
def test_every_command_is_in_a_group(family: str) -> None:
    """Where a family's help lists its commands in groups, each stands in one of them."""
    parser = parser_of(family)
    if parser.groups:
        assert parser.verbs is not None
        listed = [name for names in parser.groups.values() for name in names]
        assert sorted(listed) == sorted(parser.verbs.choices)


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


@pytest.mark.parametrize("words", [(), ("league",), ("arena", "author")])
def test_without_a_command_help_is_shown(run: Run, words: tuple[str, ...]) -> None:
    """What is missing is a command: the help that lists them is shown, as for any bad input with exit code 2."""
    done = run(*words)
    assert (done.code, done.out, done.err) == (2, "", run(*words, "--help").out)


def test_options_are_not_shortened(run: Run) -> None:
    """A shortened option is refused, so that a new option changes no command; a whole one is suggested."""
    for parser in (overview(), *(parser_of(family) for family in COMMANDS)):
        for leaf in (parser, *below(parser)):
            assert leaf.allow_abbrev is False
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
