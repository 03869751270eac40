"""How a command is declared as data: its words, help, arguments, examples and the function that runs it.

Here are also the arguments that several commands share, and what reads their values. Declarations are named tuples,
since attrs takes as long to import as `warpleague --help` to run. So neither this module nor a table of commands
imports more than constants.
"""

from __future__ import annotations

import re
from argparse import SUPPRESS, ArgumentTypeError
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from warpleague.languages import LANGUAGES
from warpleague.text import nearest
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


class Argument(NamedTuple):
    """An argument, or an option with a value, in the words of `argparse.add_argument`.

    `words` are its name or its options, and then how the help calls its value: `file RECORD`, `-o --out FILE`. Where
    there are `choices`, they stand for the value.
    """

    words: str
    help: str
    type: Callable[[str], Any] | None = None
    default: Any = None
    nargs: str | None = None
    choices: tuple[str, ...] | None = None
    many: bool = False
    """Whether it can be given several times."""
    required: bool = False
    dest: str | None = None
    """The name of the value, where it is not that of the first long option."""

    @property
    def names(self) -> list[str]:
        """Its name or its options."""
        return self._split[0]

    @property
    def value(self) -> str:
        """The name under which the parsed arguments have its value."""
        return self.dest or _value_name(self.names)

    @property
    def how(self) -> dict[str, Any]:
        """What `argparse.add_argument` takes besides the names."""
        given = {name: getattr(self, name) for name in ("type", "default", "nargs", "choices", "dest")}
        how = {name: value for name, value in given.items() if value is not None}
        if self.many:
            how |= {"action": "append", "default": []}
        if self.required:
            how["required"] = True
        return {"help": self.help, "metavar": self._split[1], **how}

    @property
    def _split(self) -> tuple[list[str], str | None]:
        *names, last = self.words.split()
        return (names, last) if names and not last.startswith("-") else ([*names, last], None)


class Flag(NamedTuple):
    """An option without a value; one without help is not listed."""

    words: str
    help: str | None

    @property
    def names(self) -> list[str]:
        """Its options."""
        return self.words.split()

    @property
    def value(self) -> str:
        """The name under which the parsed arguments have its value."""
        return _value_name(self.names)

    @property
    def how(self) -> dict[str, Any]:
        """What `argparse.add_argument` takes besides the names."""
        return {
            "action": "store_true",
            "help": SUPPRESS if self.help is None else self.help,
        }


def _value_name(names: list[str]) -> str:
    long = next((name for name in names if name.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


class OneOf:
    """Options that exclude each other."""

    def __init__(self, *arguments: Argument | Flag) -> None:
        self.arguments = arguments


class Section:
    """Options that the help lists apart, under a title and a text."""

    def __init__(self, title: str, text: str | None, *arguments: Argument | Flag) -> None:
        self.title, self.text = title, text
        self.arguments = arguments


class Command(NamedTuple):
    """A command: the words that call it, such as `league run`, and what it is for.

    The list of commands shows `help` under the title `group`; the help of the command begins with `about`, or with the
    same as a sentence. `run` is the function that runs it, as `module:function`: it takes the arguments and returns
    the exit code. A command without one has commands below it.
    """

    name: str
    help: str
    run: str = ""
    arguments: tuple[Argument | Flag | Section | OneOf, ...] = ()
    examples: tuple[str, ...] = ()
    group: str = ""
    about: str = ""
    usage: str | None = None
    after: str = ""
    """What stands before the examples at the end of the help."""
    codes: Mapping[int, str] = {}
    """What exit codes mean here, besides 0, 2 and 130, which mean the same everywhere."""
    prints: bool = False
    """Whether it only prints, so that nothing is left to do when nobody reads the output any more."""

    @property
    def word(self) -> str:
        """The last word of its name."""
        return self.name.rpartition(" ")[2]

    @property
    def above(self) -> str:
        """The name of the command that it is below."""
        return self.name.rpartition(" ")[0]

    def each_argument(self) -> Iterator[Argument | Flag]:
        """All its arguments, those in sections, too."""
        for entry in self.arguments:
            if isinstance(entry, (Section, OneOf)):
                yield from entry.arguments
            else:
                yield entry


def load(run: str) -> Callable[[Namespace], int]:
    """The function that `module:function` names; its module is imported now."""
    module, _, name = run.partition(":")
    function: Callable[[Namespace], int] = getattr(import_module(module), name)
    return function


class Extra:
    """What a removable part adds to the table: commands, and arguments and examples of commands of the core.

    `publisher` names the module that publishes results of a kind, as `warpleague.cli.publish.Publisher` describes it,
    and `outputs` the module whose `OUTPUTS` has what the commands print with `--json`, as `warpleague.cli.outputs`.
    """

    def __init__(
        self,
        commands: tuple[Command, ...] = (),
        arguments: Mapping[str, tuple[Argument | Flag | Section | OneOf, ...]] | None = None,
        examples: Mapping[str, tuple[str, ...]] | None = None,
        publisher: Mapping[str, str] | None = None,
        outputs: str | None = None,
    ) -> None:
        self.commands = commands
        self.publisher = publisher or {}
        self.outputs = outputs
        self.arguments = arguments or {}
        self.examples = examples or {}


# -- readers: what makes a value of the text of an argument, as its `type` ------------------------------------------

_UNITS_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_TIME: Final = r"(\d+(?:\.\d+)?) ?(ms|[smhd])"


def path(text: str) -> Path:
    """A file or a folder."""
    from pathlib import Path  # takes longer to import than all declarations, and help needs none

    return Path(text)


def count(least: int) -> Callable[[str], int]:
    """A reader of a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise ArgumentTypeError(f"must be a whole number, at least {least}, not {text!r}")
        return value

    return read


def port(text: str) -> int:
    """The number of a port; 0 for any free one."""
    value = count(0)(text)
    if value > 65_535:
        raise ArgumentTypeError(f"must be from 1 to 65535, or 0 for any free port, not {text!r}")
    return value


def site_path(text: str) -> str:
    """The path of a site, which begins and ends with a slash: `arena` is `/arena/`."""
    parts = [part for part in text.split("/") if part]
    if not all(part.isascii() and part.replace("-", "").replace("_", "").isalnum() for part in parts):
        raise ArgumentTypeError(f"must be a path of letters, digits, - and _, such as /arena/, not {text!r}")
    return "/".join(["", *parts, ""])


def share(text: str) -> float:
    """A share from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"must be a share from 0 to 1, not {text!r}")
    return value


def count_or_all(text: str) -> int | None:
    """How many; None for `all`, 0 for `none`."""
    if text in ("all", "none"):
        return None if text == "all" else 0
    try:
        return count(0)(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"must be a number, all or none, not {text!r}") from None


def listed(text: str) -> tuple[str, ...]:
    """Words with commas between them."""
    words = tuple(word.strip() for word in text.split(","))
    if not all(words):
        raise ArgumentTypeError(f"must be names with commas between them, as in A,B,C, not {text!r}")
    return words


def duration(
    least_s: float, most_s: float, unit: str = "s", *, above: bool = False
) -> Callable[[str], float]:
    """A reader of a time from `least_s` to `most_s` (or `above` the least), in seconds.

    It is a number of the `unit`, or a number with a unit of its own, such as `500ms`, `90s`, `10m`, `2h` or `1d`;
    several of these are added (`1h30m`).
    """
    alone = {"s": "seconds", "d": "days"}[unit]

    def read(text: str) -> float:
        value = _time_s(text.strip(), unit)
        if value is not None and value > most_s:
            raise ArgumentTypeError(f"must be at most {most_s:,.0f} seconds, not {text!r}")
        if value is None or not value >= least_s or (above and value == least_s):
            limit = "above" if above else "of at least"
            raise ArgumentTypeError(
                f"must be a time {limit} {least_s:g}, such as 500ms, 1.5s, 10m, 2h or 1d, not {text!r}; a number "
                f"alone is in {alone}"
            )
        return value

    return read


def _time_s(text: str, unit: str) -> float | None:
    """A time in seconds, or None if `text` is not a time."""
    with suppress(ValueError):
        return float(text) * _UNITS_S[unit]
    if not re.fullmatch(rf"(?:{_TIME} ?)+", text.lower()):
        return None
    return sum(float(number) * _UNITS_S[of] for number, of in re.findall(_TIME, text.lower()))


seconds: Final = duration(0, 1e6, above=True)
"""Reads a time limit."""
wait: Final = duration(0, 1e6)
"""Reads a time that may be 0."""


def language(text: str) -> str:
    """A language that there is a starter in, by its word or its name."""
    words = {name: one.word for one in LANGUAGES for name in (one.name.lower(), one.word)}
    if text.lower() in words:
        return words[text.lower()]
    raise ArgumentTypeError(
        f"there is no starter in {text!r} ({nearest(text, [one.word for one in LANGUAGES])}), but any language works: "
        "a bot is a program that reads and writes lines of JSON. Write a bot.toml with name, games and run, and start "
        "from the bot of fifteen lines under 'In any language' that `warpleague docs write-a-bot` prints"
    )


# -- arguments that several commands share --------------------------------------------------------------------------
# Here and in the tables of commands, an argument takes as few lines as it needs.
# fmt: off

LEVELS: Final = ("none", "limits", "sandbox")
TIMES: Final = "A TIME is a number of seconds, or has a unit, as in 500ms, 2s, 10m, 1h."

GAME = Argument("game GAME", "the game (`warpleague games` lists them)")
GAME_INSTEAD = Argument("--game GAME", "the game, if it is not named before the bots", dest="game_option")
SEED = Argument("--seed TEXT", "a text from which all dice follow: the same text gives the same dice "
                "(default: a random text)")
GAME_OPTION = Argument("--option KEY=VALUE", "an option of the game (`warpleague games GAME` lists them); "
                       "can be given several times", many=True)
DEAL = (SEED, GAME_OPTION)
POSITION = Argument("--position FILE", "start from the position in this JSON file (`warpleague replay "
                    "position` takes one from a record)", type=path)

FOLDER = Argument("folder BOT", "the folder of the bot", type=path)
RECORD = Argument("file RECORD", "the record of a match", type=path)
KEY = Argument("--key HEX", "the key of the match, which decides its dice, if the record does not contain it")

CLOCK = Section(
    "clock", TIMES,
    Argument("--move-s TIME", "time limit for each decision (default 1s, unless another limit is given)",
             type=seconds),
    Argument("--bank-s TIME", "time limit for all decisions of a match together (default: none)",
             type=seconds),
    Argument("--increment-s TIME", "with --bank-s: time added before each decision", type=seconds),
    Argument("--start-s TIME", "time limit for a bot to start and say that it is ready (default 10s)",
             type=seconds, default=10.0),
)
LEVEL = Argument("--level", "how strictly bots are confined (default limits): sandbox for bots that you do "
                 "not trust, none to debug", choices=LEVELS, default="limits")
SANDBOX_PATH = Argument("--sandbox-path PATH", "a folder or file of this machine that bots at level sandbox "
                        "may read, too; can be given several times", many=True)
CONFINED = (LEVEL, SANDBOX_PATH)
FAULT_RULES = (
    Argument("--faults", "the effect of a fault: the bot loses the match (forfeit, default), or gets a strike, "
             "and its first legal action is played (substitute)", choices=("forfeit", "substitute"),
             default="forfeit"),
    Argument("--strikes N", "with --faults substitute: a bot with more than N strikes loses the match "
             "(default 3)", type=count(0)),
    Argument("--ask-again N", "after an illegal action, ask the bot again up to N times before it is a fault "
             "(default 0)", type=count(0), default=0),
    Argument("--failures N", "if a bot reports that its service failed, ask it again; after N times in a "
             "match that is a fault (default 0)", type=count(0), default=0),
    Argument("--note-bytes N", f"the most bytes of the note of an answer (default {NOTE_BYTES})",
             type=count(NOTE_BYTES), default=NOTE_BYTES),
)
PONDERING = Argument("--pondering", "whether a bot may compute while others decide: off (default): a bot "
                     "that does so is paused until its turn; always-stop: each bot is paused; on: it may",
                     choices=("off", "always-stop", "on"), default="off")

LEAGUE = Argument("config LEAGUE", "the file of the league", type=path)
RESULTS = Argument("--results DIR", "the folder of all results (default: results)", type=path,
                   default="results")
LEAGUE_JOBS = Argument("--jobs N", "the number of matches at the same time (default: as the file says; 0: "
                       "one for each core)", type=count(0))
CORES = Argument("--jobs N", "the number of processes at the same time (default: one for each core)",
                 type=count(1))
STOP_ON_FAULT = Flag("--stop-on-fault", "stop once a bot has faulted, with exit code 1; played matches stay")

FORCE = Flag("--force", "overwrite an existing file")
LOG = Argument("--log DIR", "write the output of each bot, and all messages to and from it, to files in this "
               "folder", type=path)
QUIET = Flag("--quiet", "print no progress")
JSON = Flag("--json", "print the result as JSON")
