"""What several command families share: options given as text, files read, JSON printed."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.parser import EXAMPLES
from warpleague.errors import BadInput, ConfigError, OptionsError, PositionError
from warpleague.safe_text import SafeStream, safe_json
from warpleague.toml_text import parse_toml, read_text
from warpline.limits import MOST_NOTE_BYTES, NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warpleague.games.api import Game, JsonObject
    from warpleague.league.league import League
    from warpleague.match.conditions import Conditions
    from warpleague.runner.bot.logs import LogFolder

RESULTS = Path("results")
ARENA: Final = "arena.db"
"""The file of an arena in its folder of results, beside the leagues."""


def print_json(data: object) -> None:
    """Print `data` as indented JSON in UTF-8; in ASCII, escaped as JSON does it, where output has another encoding.

    Characters that could steer a terminal are escaped in both.
    """
    print(json_text(data))


def print_json_list(rows: Iterable[object]) -> None:
    """Print what `print_json` prints of a list, row by row: however many there are, memory holds one."""
    before = "["
    for row in rows:
        print(before, json_text(row).replace("\n", "\n  "), sep="\n  ", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def json_text(data: object) -> str:
    """What `print_json` prints of `data`, without the end of the last line."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(data, indent=2, ensure_ascii=not utf8))


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
    from warpleague.league.config import load_config
    from warpleague.league.league import open_to_read

    arena = (args.results / ARENA).is_file()
    config = load_config(args.config, without_bots=arena)
    if arena:
        from warpleague.arena.submissions.entering import as_kept

        config = as_kept(config, args.results) or config
    league = open_to_read(config, args.results)
    if league.changed:
        from warpleague.report.figures import changes_line

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
        help=f"how bots are confined (default {LEVEL}): sandbox for bots of strangers, none to debug",
    )
    add_sandbox_paths(parser)


def add_sandbox_paths(parser: argparse.ArgumentParser) -> None:
    """The option of what bots see in the sandbox beside what all bots see."""
    parser.add_argument(
        "--sandbox-path",
        action="append",
        default=[],
        metavar="PATH",
        help="show bots at level sandbox this folder or file of the machine, too, read-only; repeatable",
    )


def sandbox_paths(args: argparse.Namespace) -> tuple[str, ...]:
    """The paths of `--sandbox-path`; `BadInput` for one that no bot may see."""
    from warpleague.runner.confine.visible_paths import check_granted
    from warpleague.user_cache import cache_folder

    if args.sandbox_path:
        check_granted(args.sandbox_path, "--sandbox-path", (cache_folder(), RESULTS))
    return tuple(args.sandbox_path)


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The options of the time limits."""
    clock = parser.add_argument_group("clock")
    clock.add_argument(
        "--move-s", type=seconds, metavar="S", help="most seconds for one decision (default 1)"
    )
    clock.add_argument("--bank-s", type=seconds, metavar="S", help="bank of seconds for the whole match")
    clock.add_argument(
        "--increment-s", type=seconds, metavar="S", help="added to the bank before each decision"
    )
    clock.add_argument(
        "--start-s", type=seconds, metavar="S", default=10.0, help="seconds to get ready (default 10)"
    )


def add_conditions(parser: argparse.ArgumentParser, *, level: str | None = "limits") -> None:
    """The options of the conditions under which matches are played; `level` is the default of that option."""
    from warpleague.match.spec import STRIKES

    add_clock(parser)
    parser.add_argument(
        "--faults",
        choices=("forfeit", "substitute"),
        default="forfeit",
        help="what a fault costs: the match (default), or a strike, and the first legal action is played",
    )
    parser.add_argument(
        "--strikes",
        type=count(0),
        metavar="N",
        help=f"with --faults substitute: faults allowed before forfeit (default {STRIKES})",
    )
    parser.add_argument(
        "--ask-again",
        type=count(0),
        default=0,
        metavar="N",
        help="ask a decision again after an illegal action, N times before that is a fault (default 0)",
    )
    parser.add_argument(
        "--failures",
        type=count(0),
        default=0,
        metavar="N",
        help="ask a bot again that says its service failed, N times in the match before that is a fault (default 0)",
    )
    parser.add_argument(
        "--note-bytes",
        type=count(NOTE_BYTES),
        default=NOTE_BYTES,
        metavar="N",
        help=f"how long the note of an answer may be (default {NOTE_BYTES})",
    )
    add_level(parser, default=level)
    parser.add_argument(
        "--pondering",
        choices=("off", "always-stop", "on"),
        default="off",
        help="which bots to stop between their decisions: those that compute then (off, default), all, or none (on)",
    )


def conditions_of(args: argparse.Namespace) -> Conditions:
    """The conditions that the options of `add_conditions` say."""
    from warpleague.match.conditions import Conditions
    from warpleague.match.spec import LEVEL, STRIKES, TimeControl

    if args.strikes is not None and args.faults != "substitute":
        raise BadInput("--strikes needs --faults substitute: otherwise the first fault forfeits")
    if args.note_bytes > MOST_NOTE_BYTES:
        raise BadInput(f"--note-bytes: at most {MOST_NOTE_BYTES}, not {args.note_bytes}")
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


def seconds(text: str) -> float:
    """A number of seconds above 0 and below a million."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(
            f"must be a number of seconds above 0, below a million, not {text!r}"
        )
    return value


def duration_s(text: str) -> float:
    """A time such as `90`, `90s`, `10m`, `2h` or `1d`, in seconds."""
    units = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
    try:
        value = float(text.rstrip("smhd")) * units[text[-1:] if text[-1:] in units else "s"]
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"must be a time such as 90s, 10m, 2h or 1d, not {text!r}")
    return value


def pause(text: str) -> float:
    """A number of seconds from 0 to an hour."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 to 3600, not {text!r}")
    return value


def count(least: int) -> Callable[[str], int]:
    """What reads a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, at least {least}, not {text!r}")
        return value

    return read


def parse_options(game: Game[Any, Any], pairs: Iterable[str]) -> JsonObject:
    """The raw options from `KEY=VALUE` texts.

    Values are read as TOML (`true`, `3`, `"text"`); what is no TOML value is a text as it stands. An option of
    `Game.file_options` names a TOML file whose content is taken.
    """
    raw: JsonObject = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise OptionsError(f"--option {pair}: must have the form KEY=VALUE")
        if key in raw:
            raise OptionsError(f"--option {key}: given twice")
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
        raise BadInput(f"{path}: cannot read it: {error.strerror}") from None


def read_position(path: Path) -> JsonObject:
    """The JSON object in a position file; `PositionError` if there is none."""
    try:
        data = json.loads(read_text(path, str(path)))
    except OSError as error:
        raise PositionError(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise PositionError(f"{path}: a position is a JSON object")
    return data


def add_deal(parser: argparse.ArgumentParser) -> None:
    """The options that say which match of a game is played: its dice and the game's own options."""
    parser.add_argument(
        "--seed", metavar="TEXT", help="the text that all dice come from (default: a random text)"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the game (warpleague games GAME lists them); repeatable",
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
        raise BadInput(f"{path}: cannot write it: it is a folder")
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
    # mkdir of a folder that is a file says "File exists", which is no reason to anyone else.
    if isinstance(error, FileExistsError):
        return f"{error.filename} is a file, not a folder"
    return error.strerror or str(error)
