"""Shared parts of the commands: options given as text, files read, JSON printed."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.parser import EXAMPLES
from warpleague.errors import BadInput, ConfigError, OptionsError, PositionError
from warpleague.text import SafeStream, safe_json
from warpleague.toml_text import parse_toml, read_text
from warpline.limits import MAX_NOTE_BYTES, NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warpleague.games.api import Game, JsonObject
    from warpleague.league.results.league import League
    from warpleague.match.conditions import Conditions
    from warpleague.runner.bot.logs import LogFolder

_NO_OPTIONS: Final = {
    "players": "there are as many players as you name bots",
    **{
        name: f"write --{name.replace('_', '-')}"
        for name in (
            "seed",
            "level",
            "move_s",
            "bank_s",
            "increment_s",
            "start_s",
            "faults",
            "strikes",
            "record",
        )
    },
}
"""Keys that people mistake for options of a game, and the right place of each."""


RESULTS = Path("results")
_ROWS: Final = 400  # of a list, encoded at once
ARENA: Final = "arena.db"
"""The file of an arena in its folder of results, beside the leagues."""


def print_json(data: object) -> None:
    """Print `data` as indented JSON in UTF-8; in ASCII, escaped as JSON does it, where output has another encoding.

    Characters that could steer a terminal are escaped in both.
    """
    print(json_text(data))


def print_json_list(rows: Iterable[object]) -> None:
    """Print what `print_json` prints of a list; however long it is, memory holds some hundred rows."""
    import msgspec

    source = iter(rows)
    before = "["
    while some := list(islice(source, _ROWS)):
        # The encoder of the standard library is slow where it indents.
        text = msgspec.json.format(json_text(some, indent=None), indent=2)
        write_out(f"{before}{text[1:-2]}")
        before = ","
    print("[]" if before == "[" else "\n]")


def json_text(data: object, indent: int | None = 2) -> str:
    """The text that `print_json` prints of `data`, without the end of the last line; with no `indent` in one line."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(data, indent=indent, ensure_ascii=not utf8))


def write_out(text: str) -> None:
    """Print `text`, which a safe console has made or `json_text`, as it is: with its colours."""
    if sys.stdout is not None:
        stream = sys.stdout.inner if isinstance(sys.stdout, SafeStream) else sys.stdout
        stream.write(text)


def program() -> tuple[str, ...]:
    """The words that call this program again from the same folder: its name if it is on PATH, else its path."""
    from shutil import which

    if which("warpleague") is not None:
        return ("warpleague",)
    called = sys.argv[0]
    if Path(called).name == "warpleague":
        return (os.path.relpath(called),)
    return (sys.executable, "-m", "warpleague")


def say(text: str) -> None:
    """A remark for the person at the terminal: on standard error, after what was printed before it."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(text, file=sys.stderr)


def open_league(args: argparse.Namespace) -> League:
    """Open the league that the arguments name for reading, and print what has changed since its last run."""
    from warpleague.league.results.league import open_to_read
    from warpleague.league.season.config import load_config

    arena = (args.results / ARENA).is_file()
    config = load_config(args.config, without_bots=True)
    if arena:
        from warpleague.arena.submissions.entering import league_in_arena

        config = league_in_arena(config, args.results) or config
    league = open_to_read(config, args.results)
    if league.changed:
        from warpleague.report.wording.league_words import changes_line

        say(
            f"note: {changes_line(league)} Shown is the league as it was last run; "
            f"to play what is new: {league_command(args, 'run')}"
        )
    return league


def league_command(args: argparse.Namespace, *words: str, name: tuple[str, ...] | None = None) -> str:
    """A command of ours on the same league, to be copied; `name` calls the program (default: as it can be here)."""
    results = () if args.results == RESULTS else ("--results", str(args.results))
    return shlex.join((*(name or program()), "league", words[0], str(args.config), *results, *words[1:]))


def add_verb(verbs: argparse._SubParsersAction[Any], name: str, what: str) -> argparse.ArgumentParser:
    """A command below a command; `what` describes it in the list of commands, and as a sentence in its own help."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}."
    )
    return parser


def add_from_folders(parser: argparse.ArgumentParser, what: str) -> None:
    """The option by which all bots of a folder take part; `what` says in what, and under which names."""
    parser.add_argument(
        "--from-folders",
        type=Path,
        metavar="DIR",
        help=f"all bots in this folder take part in {what}",
    )


def add_examples(parser: argparse.ArgumentParser, *commands: str) -> None:
    """End the help of `parser` with examples of commands."""
    parser.epilog = "\n".join([EXAMPLES, *(f"  warpleague {command}" for command in commands)])


def add_level(parser: argparse.ArgumentParser, *, default: str | None = "limits") -> None:
    """The option of how bots are confined."""
    from warpleague.match.spec import LEVEL, LEVELS

    parser.add_argument(
        "--level",
        choices=LEVELS,
        default=default,
        help=f"how strictly bots are confined (default {LEVEL}): sandbox for bots that you do not trust, none to "
        "debug",
    )
    add_sandbox_paths(parser)


def add_sandbox_paths(parser: argparse.ArgumentParser) -> None:
    """The option of what bots see in the sandbox beside what all bots see."""
    parser.add_argument(
        "--sandbox-path",
        action="append",
        default=[],
        metavar="PATH",
        help="a folder or file of this machine that bots at level sandbox may read, too; can be given several times",
    )


def sandbox_paths(args: argparse.Namespace) -> tuple[str, ...]:
    """The paths of `--sandbox-path`; `BadInput` for one that no bot may see."""
    from warpleague.runner.bundle.cache import cache_folder
    from warpleague.runner.confine.mounts import check_granted

    if args.sandbox_path:
        check_granted(args.sandbox_path, "--sandbox-path", (cache_folder(), RESULTS))
    return tuple(args.sandbox_path)


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The options of the time limits."""
    clock = parser.add_argument_group("clock", TIMES)
    clock.add_argument(
        "--move-s",
        type=seconds,
        metavar="TIME",
        help="time limit for each decision (default 1s, unless another limit is given)",
    )
    clock.add_argument(
        "--bank-s",
        type=seconds,
        metavar="TIME",
        help="time limit for all decisions of a match together (default: none)",
    )
    clock.add_argument(
        "--increment-s", type=seconds, metavar="TIME", help="with --bank-s: time added before each decision"
    )
    clock.add_argument(
        "--start-s",
        type=seconds,
        metavar="TIME",
        default=10.0,
        help="time limit for a bot to start and say that it is ready (default 10s)",
    )


def add_conditions(parser: argparse.ArgumentParser, *, level: str | None = "limits") -> None:
    """The options of the conditions under which matches are played; `level` is the default of that option."""
    from warpleague.match.spec import STRIKES

    add_clock(parser)
    parser.add_argument(
        "--faults",
        choices=("forfeit", "substitute"),
        default="forfeit",
        help="the effect of a fault: the bot loses the match (forfeit, default), or gets a strike, and its first "
        "legal action is played (substitute)",
    )
    parser.add_argument(
        "--strikes",
        type=count(0),
        metavar="N",
        help=f"with --faults substitute: a bot with more than N strikes loses the match (default {STRIKES})",
    )
    parser.add_argument(
        "--ask-again",
        type=count(0),
        default=0,
        metavar="N",
        help="after an illegal action, ask the bot again up to N times before it is a fault (default 0)",
    )
    parser.add_argument(
        "--failures",
        type=count(0),
        default=0,
        metavar="N",
        help="if a bot reports that its service failed, ask it again; after N times in a match that is a "
        "fault (default 0)",
    )
    parser.add_argument(
        "--note-bytes",
        type=count(NOTE_BYTES),
        default=NOTE_BYTES,
        metavar="N",
        help=f"the most bytes of the note of an answer (default {NOTE_BYTES})",
    )
    add_level(parser, default=level)
    parser.add_argument(
        "--pondering",
        choices=("off", "always-stop", "on"),
        default="off",
        help="whether a bot may compute while others decide: off (default): a bot that does so is paused until its "
        "turn; always-stop: each bot is paused; on: it may",
    )


def conditions_of(args: argparse.Namespace) -> Conditions:
    """The conditions that the options of `add_conditions` say."""
    from warpleague.match.conditions import Conditions
    from warpleague.match.spec import LEVEL, STRIKES, TimeControl

    if args.strikes is not None and args.faults != "substitute":
        raise BadInput("--strikes needs --faults substitute: otherwise the first fault forfeits")
    if args.note_bytes > MAX_NOTE_BYTES:
        raise BadInput(f"--note-bytes: at most {MAX_NOTE_BYTES}, not {args.note_bytes}")
    unlimited = args.move_s is None and args.bank_s is None and args.increment_s is None
    strikes = STRIKES if args.strikes is None else args.strikes
    return Conditions(
        clock=TimeControl(1.0 if unlimited else args.move_s, args.bank_s, args.increment_s, args.start_s),
        level=args.level or LEVEL,
        faults=args.faults,
        strikes=strikes if args.faults == "substitute" else 0,
        pondering=args.pondering,
        again=args.ask_again,
        failures=args.failures,
        note_bytes=args.note_bytes,
    )


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
            raise argparse.ArgumentTypeError(f"must be at most {most_s:,.0f} seconds, not {text!r}")
        if value is None or not value >= least_s or (above and value == least_s):
            limit = "above" if above else "of at least"
            raise argparse.ArgumentTypeError(
                f"must be a time {limit} {least_s:g}, such as 500ms, 1.5s, 10m, 2h or 1d, not {text!r}; a number "
                f"alone is in {alone}"
            )
        return value

    return read


_UNITS_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[smhd])")
TIMES: Final = "A TIME is a number of seconds, or has a unit, as in 500ms, 2s, 10m, 1h."


def _time_s(text: str, unit: str) -> float | None:
    """A time in seconds, or None if `text` is not a time."""
    with suppress(ValueError):
        return float(text) * _UNITS_S[unit]
    if not re.fullmatch(rf"(?:{_TIME.pattern} ?)+", text.lower()):
        return None
    return sum(float(number) * _UNITS_S[of] for number, of in _TIME.findall(text.lower()))


seconds = duration(0, 1e6, above=True)
"""Reads a time limit."""

duration_s = duration(0, 1e9, above=True)
"""Reads how long something is to go on."""

pause = duration(0, 3_600)
"""Reads how long something is shown, which may be no time at all."""


def count(least: int) -> Callable[[str], int]:
    """A reader of a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, at least {least}, not {text!r}")
        return value

    return read


def port(text: str) -> int:
    """The number of a port; 0 for any free one."""
    value = count(0)(text)
    if value > 65_535:
        raise argparse.ArgumentTypeError(f"must be from 1 to 65535, or 0 for any free port, not {text!r}")
    return value


def parse_key(text: str | None) -> bytes | None:
    """The 32 bytes of a match key given in hexadecimal."""
    if text is None:
        return None
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise BadInput(f"--key {text}: must be 64 hexadecimal digits")
    return key


def parse_options(game: Game[Any, Any], pairs: Iterable[str]) -> JsonObject:
    """The raw options from `KEY=VALUE` texts.

    Values are read as TOML (`true`, `3`, `"text"`); any other value is a text. An option of
    `Game.file_options` names a TOML file whose content is taken.
    """
    import attrs

    raw: JsonObject = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise OptionsError(f"--option {pair}: must have the form KEY=VALUE")
        if key in raw:
            raise OptionsError(f"--option {key}: given twice")
        if key in _NO_OPTIONS and key not in {field.name for field in attrs.fields(game.Options)}:
            raise OptionsError(f"--option {key}: {game.id} has no such option; {_NO_OPTIONS[key]}")
        raw[key] = read_toml(Path(text)) if key in game.file_options else _value(text)
    return raw


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}", "--option")["value"]
    except (ConfigError, KeyError):
        return text


def read_toml(path: Path) -> JsonObject:
    """The content of a TOML file; `BadInput` names it and the place of the mistake."""
    try:
        return parse_toml(read_text(path, str(path)), str(path))
    except OSError as error:
        raise BadInput(f"{path}: cannot read it: {unreadable(path, error)}") from None


def unreadable(path: Path, error: OSError) -> str:
    """Why a file cannot be read, and the file that was probably meant."""
    from warpleague.text import nearest_path

    near = ""
    if isinstance(error, FileNotFoundError):
        with suppress(OSError):
            near = nearest_path(
                path.name, [str(other) for other in sorted(path.parent.iterdir()) if other.is_file()]
            )
    elif isinstance(error, IsADirectoryError):
        near = "name a file in it"
    return f"{error.strerror}{'; ' if near else ''}{near}"


def read_position(path: Path) -> JsonObject:
    """The JSON object in a position file. Raises `PositionError` if there is none."""
    try:
        data = json.loads(read_text(path, str(path)))
    except OSError as error:
        raise PositionError(f"{path}: cannot read it: {unreadable(path, error)}") from None
    except (ValueError, RecursionError) as error:
        if ".jsonl" in path.name:
            raise PositionError(
                f"{path}: this is the record of a match; take a position from it: warpleague replay position {path} "
                "--at N --out FILE"
            ) from None
        raise PositionError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise PositionError(f"{path}: a position is a JSON object")
    return data


def add_game(parser: argparse.ArgumentParser) -> None:
    """The option that says the game where no argument does."""
    parser.add_argument(
        "--game", dest="said", metavar="GAME", help="the game, if it is not named before the bots"
    )


def add_deal(parser: argparse.ArgumentParser) -> None:
    """The options that say which match of a game is played: its dice and the game's own options."""
    parser.add_argument(
        "--seed",
        metavar="TEXT",
        help="a text from which all dice follow: the same text gives the same dice (default: a random text)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the game (`warpleague games GAME` lists them); can be given several times",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option without which no command overwrites a file that the user named."""
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def check_new(path: Path, force: bool) -> None:
    """Raise `BadInput` if `path` is there already, unless `force` allows to overwrite it (a folder never is)."""
    if not force and not path.is_dir() and (path.exists() or path.is_symlink()):
        raise BadInput(f"{path}: exists already; choose another name, or overwrite it with --force")


def check_writable(path: Path) -> None:
    """Raise `BadInput` if `path` cannot be written. Call it before the work whose result goes there."""
    if path.is_dir():
        raise BadInput(
            f"{path}: cannot write it: it is a folder; name a file, such as {path / 'match.jsonl'}"
        )
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot write it: it is a device or a pipe, not a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _try_to_write(path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot write it: {_reason(error)}") from None


def log_folder(folder: Path | None) -> LogFolder | None:
    """The folder for logs, if one is named. It is made now; `BadInput` if that is not possible."""
    from warpleague.runner.bot.logs import LogFolder

    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _try_to_write(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot write there: {_reason(error)}") from None
    return LogFolder(folder)


def _try_to_write(folder: Path) -> None:
    from tempfile import TemporaryFile

    with TemporaryFile(dir=folder):
        pass


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; `BadInput` if that is not possible."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot write it: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    # mkdir of a folder that is a file says "File exists", which does not explain the problem.
    if isinstance(error, FileExistsError):
        return f"{error.filename} is a file, not a folder; name a folder"
    return error.strerror or str(error)
