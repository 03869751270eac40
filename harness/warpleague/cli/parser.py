"""The parsers of the commands, made of the table; their errors say what was meant."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

from warpleague import __version__
from warpleague.cli.commands import ROOT, commands
from warpleague.cli.declaration import OneOf, Section
from warpleague.games import GAMES
from warpleague.text import SafeStream, closest, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import SupportsWrite

    from warpleague.cli.declaration import Argument, Command, Flag

BAD_INPUT: Final = 2
EXAMPLES: Final = "examples:"
HELP: Final = ("-h", "--help")
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212"
"""Dashes that word processors and web pages put in place of hyphens."""
_OF_LEAGUES: Final = ("league", "serve", "arena")
"""Commands whose matches are played as league files say."""
_INSTEAD: Final = {
    ("match", "--players"): "there are as many players as you name bots",
    ("play", "--players"): "there are as many players as you name bots and persons",
}
"""What to do where a command lacks an option that others have."""
_NUMBER: Final = re.compile(r"-\d*\.?\d+")


def _width() -> int:
    """The columns of a help text: those of the terminal, but two."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0:
        with suppress(OSError):
            columns = os.get_terminal_size(1).columns  # standard output
    return (columns if columns > 0 else 80) - 2


class HelpFormatter(argparse.HelpFormatter):
    """Wraps all texts except those that have lines: examples, which users copy, and exit codes.

    argparse makes one for each argument, and asks `shutil` for the width, which takes longer to import than the table.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """The parser of a command, or of the program itself.

    It takes no shortened options, and its errors say what was meant and where to find help. The parser of a command
    with others below it only explains these: `parser_for` finds the parser of a command at once.
    """

    def __init__(self, command: Command = ROOT, **given: Any) -> None:
        self.command = command
        self.below = [other for other in commands().values() if other.above == command.name]
        prog = f"warpleague {command.name}".rstrip()
        sentence = f"{command.help[:1].upper()}{command.help[1:]}."
        epilog = command.after
        if command.codes:
            epilog += "\n".join(
                ["exit codes:", *(f"  {code}  {what}" for code, what in command.codes.items()), "\n"]
            )
        if command.examples:
            epilog += "\n".join([EXAMPLES, *(f"  warpleague {line}" for line in command.examples)])
        super().__init__(
            **{"prog": prog, "description": command.about or sentence, **given},
            usage=command.usage or (f"{prog} [-h] COMMAND ..." if self.below else None),
            epilog=epilog
            or (f"{prog} COMMAND --help explains a command, with examples" if self.below else None),
            formatter_class=HelpFormatter,
            allow_abbrev=False,
        )
        self._positionals.title = "arguments"
        for entry in command.arguments:
            if isinstance(entry, Section):
                _add(self.add_argument_group(entry.title, entry.text), entry.arguments)
            elif isinstance(entry, OneOf):
                _add(self.add_mutually_exclusive_group(), entry.arguments)
            else:
                _add(self, (entry,))
        if command is ROOT:
            self.add_argument("--version", action="version", version=f"warpleague {__version__}")
        self.set_defaults(command=command)

    # What the help looks like

    def format_help(self) -> str:
        """The help; commands are listed in their groups."""
        if not self.below:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        groups: dict[str, list[argparse.Action]] = {}
        for command in self.below:
            line = argparse.Action([], command.word, metavar=command.word, help=command.help)
            groups.setdefault(command.group or "commands", []).append(line)
        for title, lines in (*groups.items(), ("options", [a for a in self._actions if a.option_strings])):
            formatter.start_section(title)
            formatter.add_arguments(lines)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help, with colours in a terminal."""
        stream = sys.stdout.inner if isinstance(sys.stdout, SafeStream) else sys.stdout
        if file is not None or stream is None or not stream.isatty() or os.environ.get("NO_COLOR"):
            super().print_help(file)
            return
        from rich_argparse import RawDescriptionRichHelpFormatter

        class Coloured(RawDescriptionRichHelpFormatter):
            text_markup = help_markup = False
            group_name_formatter = str

        self.formatter_class = Coloured
        stream.write(self.format_help())  # past what would escape the colours

    # What is wrong with the words

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read the words; ends the program for those that fit no option, command or argument."""
        words = list(sys.argv[1:] if args is None else args)
        if self.below:
            self._check_command(words)
        else:
            self._check_options(words)
        parsed, left = super().parse_known_args(words, namespace)
        if left:
            self.refuse(self._too_many(left))
        return parsed, left

    def _check_command(self, words: Sequence[str]) -> None:
        """Refuse what is no command, and no option of this parser before one."""
        for place, word in enumerate(words):
            if not word.startswith("-"):
                self.refuse(self._unknown_command(word, words[place + 1 :]))
            if word not in self._option_string_actions:
                self.refuse(self._too_early(word))
            if word in (*HELP, "--version"):
                return
        if not self.command.run:
            self.print_help(sys.stderr)
            self.exit(BAD_INPUT)

    def error(self, message: str) -> NoReturn:
        """End the program with the error of argparse."""
        self.refuse(self._plainly(message))

    def refuse(self, problem: str) -> NoReturn:
        """End the program for bad input."""
        self.exit(BAD_INPUT, f"{self.prog}: {problem}\n{self.prog} --help explains the command\n")

    def _plainly(self, message: str) -> str:
        """The message of argparse, in plainer words and with a way out."""
        text = re.sub(r"^argument ", "", message)
        if match := re.fullmatch(r"the following arguments are required: (.*)", text):
            example = (self.epilog or "").partition(f"{EXAMPLES}\n")[2].partition("\n")[0].strip()
            optional = {str(action.metavar) for action in self._actions if action.nargs == "*"}
            names = ", ".join(name for name in match[1].split(", ") if name not in optional)
            return f"{names} missing" + (f"; for example: {example}" if example else "")
        if match := re.fullmatch(r"(\S+): expected (?:one|at least one) argument", text):
            action = self._option_string_actions.get(match[1].split("/")[-1])
            value = (action.metavar if action else None) or "VALUE"
            return f"{match[1]}: its value is missing; write {match[1].split('/')[-1]} {value}"
        if match := re.fullmatch(r"(\S+): ignored explicit argument .*", text):
            return f"{match[1]}: takes no value; write it alone"
        if match := re.fullmatch(r"(\S+): not allowed with argument (\S+)", text):
            return f"{match[1]} and {match[2]} exclude each other: give one of them"
        if match := re.search(r"invalid choice: '(.*?)'.* \(choose from (.*)\)$", text):
            choices = re.findall(r"[\w-]+", match[2])
            place = text[: match.start()]
            near = closest(match[1].lower(), choices)
            meant = f"; did you mean {near!r}?" if near else ""
            return f"{place}{match[1]!r} is none of {', '.join(choices)}{meant}"
        if match := re.fullmatch(r"(\S+): invalid (float|int) value: (.*)", text):
            return f"{match[1]}: must be a {'whole ' if match[2] == 'int' else ''}number, not {match[3]}"
        return text

    def _options(self) -> list[str]:
        """The long options of this parser that its help lists."""
        return [
            option
            for option, action in self._option_string_actions.items()
            if option.startswith("--") and action.help is not argparse.SUPPRESS
        ]

    def _check_options(self, words: Sequence[str]) -> None:
        """Refuse what looks like an option and is none, before argparse complains of what is missing for it."""
        if any(word in HELP for word in words):
            return
        known = self._option_string_actions
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            if word[:1] in _DASHES and word[:1]:
                meant = "--" + name.lstrip(_DASHES + "-")
                if meant in known:
                    self.refuse(f"{name!r} begins with a dash instead of a hyphen; write {meant}")
            elif not word.startswith("-") or len(word) == 1 or name in known or word[:2] in known:
                continue
            elif not _NUMBER.fullmatch(word) and " " not in word:
                self.refuse(self._unknown_option(name))

    def _unknown_option(self, name: str) -> str:
        head = f"there is no option {name}"
        known = self._options()
        long = "--" + name.strip("-").lower().replace("_", "-")
        if long in known:
            return f"{head}; did you mean {long}?"
        if instead := _INSTEAD.get((self.command.name, long)):
            return f"{head} here; {instead}"
        if len(long) > 2 and (begun := [option for option in known if option.startswith(long)]):
            return f"{head}, and options are not shortened; did you mean {' or '.join(begun[:4])}?"
        if near := closest(long, known, 0.8):
            return f"{head}; did you mean {near}?"
        if (
            (family := self.prog.split()[1:2])
            and family[0] in _OF_LEAGUES
            and (place := _in_league_file(long[2:].replace("-", "_")))
        ):
            return f"{head}; in the league file, {place}"
        if owners := _with_option(long, self.prog):
            return f"{head} here; it belongs to {', '.join(owners[:3])}"
        return f"{head}; {nearest(long, known)}"

    def _too_early(self, word: str) -> str:
        """The error for an option in front of the command."""
        name = word.partition("=")[0]
        if _with_option(name, self.prog):
            return f"write {name} behind the command, as in: {self.prog} COMMAND ... {name}"
        return self._unknown_option(name)

    def _too_many(self, left: Sequence[str]) -> str:
        text = f"does not know what to do with {shlex.join(left)}"
        if any(not action.option_strings and action.nargs in ("*", "+") for action in self._actions):
            return f"{text}; write what belongs together side by side, and options before or after it"
        names = [str(action.metavar or action.dest) for action in self._actions if not action.option_strings]
        if len(names) == 1:
            return f"{text}; it takes one {names[0]} at a time, and options"
        return f"{text}; it takes {' '.join(names) or 'no arguments'}, and options"

    def _unknown_command(self, word: str, rest: Sequence[str]) -> str:
        """The error for a word that is not a command."""
        names = [command.word for command in self.below]
        later = [other for other in rest if other in names]
        if word.lower() not in names and later and not closest(word, names, 0.8):
            others = [other for other in rest if other != later[0]]
            return f"the command comes first: {self.prog} {shlex.join([later[0], word, *others])}"
        if (os.path.lexists(word) or "/" in word or "." in word) and (verb := self._for_file(word)):
            return f"a command is missing before {word}; did you mean: {self.prog} {verb} {shlex.join([word, *rest])}"
        if word.lower() in names:
            return f"there is no command {word!r}; did you mean {word.lower()!r}?"
        if self.command is ROOT and (meant := self._meant(word, rest)):
            return meant
        return f"there is no command {word!r}; {nearest(word, names)}"

    def _meant(self, word: str, rest: Sequence[str]) -> str:
        """The error for the name of a game or of a command below another in place of a command, or empty."""
        if word in GAMES:
            return (
                f"{word} is a game, and a command is missing before it: {self.prog} play {word}, or "
                f"{self.prog} games {word}"
            )
        inner = [command for command in commands().values() if command.run]
        likely = [command for command in inner if command.word == word][:3]
        if not likely and not closest(word, [command.word for command in self.below]):
            near = closest(word, [command.word for command in inner])
            likely = [command for command in inner if command.word == near][:1]
        meant = [shlex.join([self.prog, *command.name.split(), *rest]) for command in likely]
        return f"there is no command {word!r}; did you mean: {' or '.join(meant)}" if meant else ""

    def _for_file(self, path: str) -> str | None:
        """The command that is most likely meant where a file or folder stands in its place."""
        if self.command is ROOT:
            if os.path.isdir(path):  # noqa: PTH112 - as the user wrote it
                return "bot check"
            return "replay show" if ".jsonl" in path else "league run" if path.endswith(".toml") else None
        first = self.below[0]
        takes_file = any(not argument.names[0].startswith("-") for argument in first.each_argument())
        return first.word if takes_file else None


def parser_for(words: Sequence[str]) -> tuple[Parser, list[str]]:
    """The parser of the command that the first words name, as far as they name one, and the words left for it.

    `help` in front of a name stands for `--help` behind it. Options of a command that runs by itself, but has others
    below it, may come before their names.
    """
    command = ROOT
    before, after = [], []
    for place, word in enumerate(words):
        below = commands().get(f"{command.name} {word}".lstrip())
        if below is not None:
            command = below
        elif word == "help" and not command.run:
            after = [HELP[1]]
        elif word.startswith("-") and any(word in argument.names for argument in command.each_argument()):
            before.append(word)
        else:
            return Parser(command), [*before, *words[place:], *after]
    return Parser(command), [*before, *after]


def _add(parser: argparse._ActionsContainer, arguments: Iterable[Argument | Flag]) -> None:
    for argument in arguments:
        parser.add_argument(*argument.names, **argument.how)


def _in_league_file(key: str) -> str:
    """Where a key belongs in a league file, as a sentence; empty if there is no such key."""
    from warpleague.league.season.config import LeagueConfig  # for this error only
    from warpleague.strict import place_of

    return place_of(key, LeagueConfig)


def _with_option(option: str, prog: str) -> list[str]:
    """The commands that have an option; those of the same family first."""
    having = [
        f"warpleague {command.name}"
        for command in commands().values()
        if command.run
        and any(argument.help and option in argument.names for argument in command.each_argument())
    ]
    family = prog.split()[:2]
    return sorted(having, key=lambda name: name.split()[:2] != family)
