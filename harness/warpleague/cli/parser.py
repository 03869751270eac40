"""The parser of the command line: argparse, with commands listed in groups, and errors that say what was meant."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from warpleague.text import SafeStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from _typeshed import SupportsWrite

BAD_INPUT: Final = 2
EXAMPLES: Final = "examples:"
HELP: Final = ("-h", "--help")
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212"
"""Dashes that word processors and web pages put in place of hyphens."""
_OF_LEAGUES: Final = ("league", "serve", "arena")
"""Commands whose matches are played as league files say."""
_NUMBER: Final = re.compile(r"-\d*\.?\d+")


class HelpFormatter(argparse.HelpFormatter):
    """Wraps all texts except examples, which users copy."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if EXAMPLES in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that takes no shortened options, and whose errors say what was meant and where to find help.

    `groups` are the titles under which the help lists the commands below this one, and their names. `leaves` gives the
    parsers of all commands that take arguments, for errors that suggest one; the list of commands sets it.
    """

    leaves: ClassVar[Callable[[], Iterable[Parser]]] = staticmethod(tuple)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.groups: Mapping[str, Sequence[str]] = {}
        self.verbs: argparse._SubParsersAction[Any] | None = None
        super().__init__(*args, **{"formatter_class": HelpFormatter, **kwargs, "allow_abbrev": False})
        self._positionals.title = "arguments"

    def add_subparsers(self, **kwargs: Any) -> argparse._SubParsersAction[Any]:
        """Let the parser have commands below it."""
        self.verbs = super().add_subparsers(**{"metavar": "COMMAND", **kwargs})
        return self.verbs

    @property
    def arguments(self) -> list[argparse.Action]:
        """The arguments and options of this command."""
        return list(self._actions)

    # What the help looks like

    def format_help(self) -> str:
        """The help; commands are listed in their groups."""
        if self.verbs is None:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        listed = {action.dest: action for action in self.verbs._get_subactions()}
        for title, names in (self.groups or {"commands": tuple(listed)}).items():
            formatter.start_section(title)
            formatter.add_arguments([listed[name] for name in names])
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments([action for action in self._actions if action.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog or f"{self.prog} COMMAND --help explains a command, with examples")
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
        if self.verbs is not None:
            words = self.ordered(words)
        else:
            self._check_options(words)
        parsed, left = super().parse_known_args(words, namespace)
        if left:
            self.refuse(self._too_many(left))
        return parsed, left

    def ordered(self, words: Sequence[str]) -> list[str]:
        """The words, `help NAME` in them as `NAME --help`; ends the program unless a command comes first."""
        assert self.verbs is not None
        for place, word in enumerate(words):
            if not word.startswith("-"):
                if word == "help":
                    return [*words[:place], *words[place + 1 :], HELP[1]]
                if word not in self.verbs.choices:
                    self.refuse(self._unknown_command(word, words[place + 1 :]))
                return list(words)
            if word not in self._option_string_actions:
                self.refuse(self._too_early(word))
            if word in (*HELP, "--version"):
                return list(words)
        if self.verbs.required:
            self.print_help(sys.stderr)
            self.exit(BAD_INPUT)
        return list(words)

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
            from difflib import get_close_matches

            choices = re.findall(r"[\w-]+", match[2])
            place = text[: match.start()]
            near = get_close_matches(match[1].lower(), choices, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
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
        from difflib import get_close_matches

        from warpleague.text import nearest

        head = f"there is no option {name}"
        known = self._options()
        long = "--" + name.strip("-").lower().replace("_", "-")
        if long in known:
            return f"{head}; did you mean {long}?"
        if len(long) > 2 and (begun := [option for option in known if option.startswith(long)]):
            return f"{head}, and options are not shortened; did you mean {' or '.join(begun[:4])}?"
        if near := get_close_matches(long, known, n=1, cutoff=0.8):
            return f"{head}; did you mean {near[0]}?"
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
        return f"{text}; it takes {' '.join(names) or 'no arguments'}, and options"

    def _unknown_command(self, word: str, rest: Sequence[str]) -> str:
        """The error for a word that is not a command."""
        from difflib import get_close_matches

        from warpleague.text import nearest

        assert self.verbs is not None
        names = list(self.verbs.choices)
        later = [other for other in rest if other in names]
        if word.lower() not in names and later and not get_close_matches(word, names, n=1, cutoff=0.8):
            others = [other for other in rest if other != later[0]]
            return f"the command comes first: {self.prog} {shlex.join([later[0], word, *others])}"
        if (os.path.lexists(word) or "/" in word or "." in word) and (verb := self._for_file(word)):
            return f"a command is missing before {word}; did you mean: {self.prog} {verb} {shlex.join([word, *rest])}"
        if word.lower() in names:
            return f"there is no command {word!r}; did you mean {word.lower()!r}?"
        if len(self.prog.split()) == 1:
            from warpleague.games import GAMES

            if word in GAMES:
                return (
                    f"{word} is a game, and a command is missing before it: {self.prog} play {word}, or "
                    f"{self.prog} games {word}"
                )
            below = [leaf.prog for leaf in Parser.leaves()]
            if exact := [prog for prog in below if prog.split()[-1] == word]:
                meant = " or ".join(shlex.join([*prog.split(), *rest]) for prog in exact[:3])
                return f"there is no command {word!r}; did you mean: {meant}"
            if not get_close_matches(word, names, n=1):
                for near in get_close_matches(word, [prog.split()[-1] for prog in below], n=1):
                    prog = next(prog for prog in below if prog.split()[-1] == near)
                    return f"there is no command {word!r}; did you mean: {shlex.join([*prog.split(), *rest])}"
        return f"there is no command {word!r}; {nearest(word, names)}"

    def _for_file(self, path: str) -> str | None:
        """The command that is most likely meant where a file or folder stands in its place."""
        assert self.verbs is not None
        if len(self.prog.split()) == 1:
            if os.path.isdir(path):  # noqa: PTH112 - as the user wrote it
                return "bot check"
            return "replay show" if ".jsonl" in path else "league run" if path.endswith(".toml") else None
        name, first = next(iter(self.verbs.choices.items()))
        return name if any(not action.option_strings for action in first._actions) else None


def _in_league_file(key: str) -> str:
    """Where a key belongs in a league file, as a sentence; empty if there is no such key."""
    from warpleague.league.season.config import LeagueConfig
    from warpleague.strict import place_of

    return place_of(key, LeagueConfig)


def _with_option(option: str, prog: str) -> list[str]:
    """The commands that have an option; those of the same family first."""
    commands = [leaf.prog for leaf in Parser.leaves() if option in leaf._options()]
    family = prog.split()[:2]
    return sorted(commands, key=lambda name: name.split()[:2] != family)


def below(parser: argparse.ArgumentParser) -> Iterator[Parser]:
    """The parsers that take the arguments: this one, or those of its commands and theirs."""
    assert isinstance(parser, Parser)
    if parser.verbs is None:
        yield parser
        return
    for inner in {id(inner): inner for inner in parser.verbs.choices.values()}.values():
        yield from below(inner)
