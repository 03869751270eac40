"""Start a new bot, check whether a bot is ready for a league, list bots.

The check itself is in `warpleague.runner.checkup`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import (
    add_conditions,
    add_deal,
    add_examples,
    add_verb,
    conditions_of,
    count,
    log_folder,
    parse_options,
    print_json,
    sandbox_paths,
    say,
)
from warpleague.errors import BadInput, BotError
from warpleague.languages import LANGUAGES
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    import argparse

    from warpleague.league.season.config import LeagueConfig
    from warpleague.runner.bot.logs import LogFolder
    from warpleague.runner.checkup import Checkup, Finding, Table


_OF_LEAGUE: Final[dict[str, Any]] = {
    "game": [],
    "players": None,
    "option": [],
    "move_s": None,
    "bank_s": None,
    "increment_s": None,
    "start_s": 10.0,
    "faults": "forfeit",
    "strikes": None,
    "ask_again": 0,
    "failures": 0,
    "note_bytes": NOTE_BYTES,
    "pondering": "off",
    "sandbox_path": [],
}
"""The key of a league file in place of an option, with the default of the option."""

STARTERS = {language.word: language for language in LANGUAGES}
"""The languages that there is a starter in, by their words on the command line."""

SEARCHER = "search-python"
"""The starter of bots in Python that bring the engine."""
ENGINE_PAGE = "`warpleague docs simulator` explains how to use it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague bot`."""
    verbs = parser.add_subparsers(required=True)
    check = add_verb(
        verbs,
        "check",
        "play some matches of each game in bot.toml, and say whether the bot is ready for a league",
    )
    check.add_argument("folder", type=Path, metavar="BOT", help="the folder of the bot")
    check.add_argument(
        "--matches",
        type=count(1),
        default=2,
        metavar="N",
        help="play N matches at each table size of each game (default 2)",
    )
    check.add_argument(
        "--league",
        metavar="LEAGUE",
        help="check it for the league of this file, or of this page of an arena (https://...): with its time limits "
        "and rules, at its tables",
    )
    check.add_argument(
        "--quick",
        action="store_true",
        help="take at most a minute: first one match at the smallest and the largest table of each game, then more",
    )
    check.add_argument(
        "--game",
        action="append",
        default=[],
        metavar="GAME",
        help="only this game; can be given several times (default: all games in bot.toml)",
    )
    check.add_argument(
        "--players",
        type=count(1),
        metavar="N",
        help="only at tables of N players (default: at tables of every size)",
    )
    add_deal(check)
    add_conditions(check, level=None)
    check.add_argument(
        "--log",
        type=Path,
        metavar="DIR",
        help="write the output of the bot, and all messages to and from it, to files in this folder",
    )
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_examples(
        check,
        "bot check my-bot",
        "bot check my-bot --quick",
        "bot check my-bot --game aliens --level sandbox",
        "bot check my-bot --league leagues/my-league.toml",
        "bot check my-bot --league https://arena.example.org/l/open",
    )
    check.set_defaults(handler=run_check)
    new = add_verb(verbs, "new", "make a new folder with a bot that plays at random, to change as you like")
    new.add_argument("folder", type=Path, metavar="FOLDER", help="the new folder; the bot gets its name")
    new.add_argument(
        "--lang",
        type=_language,
        default="python",
        metavar="LANGUAGE",
        help=f"the programming language: {', '.join(STARTERS)} (default python)",
    )
    new.add_argument(
        "--with-engine",
        action="store_true",
        help="also copy the rules and a simulator into the folder, for a bot that tries out moves; in Python the new "
        "bot uses them at once",
    )
    add_examples(
        new, "bot new my-bot", "bot new my-rust-bot --lang rust", "bot new my-searcher --with-engine"
    )
    new.set_defaults(handler=run_new)
    engine = add_verb(
        verbs, "engine", "copy the rules and the simulator into the folder of a bot, or renew them there"
    )
    engine.add_argument("folder", type=Path, metavar="BOT", help="the folder of the bot")
    add_examples(engine, "bot engine my-bot")
    engine.set_defaults(handler=run_engine)
    from warpleague.cli.bot_rerun import configure_rerun

    configure_rerun(verbs)
    listing = add_verb(verbs, "list", "list the bots in a folder")
    listing.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="FOLDER",
        help="the folder in which the folders of bots are (default: the bots that come with Warp League)",
    )
    listing.add_argument("--json", action="store_true", help="print as JSON")
    add_examples(listing, "bot list", "bot list mybots --json")
    listing.set_defaults(handler=run_list)


def _language(text: str) -> str:
    """A language that there is a starter in, by its word or its name."""
    from argparse import ArgumentTypeError

    from warpleague.text import nearest

    words = {
        **{language.name.lower(): language.word for language in LANGUAGES},
        **{language.word: language.word for language in LANGUAGES},
    }
    if text.lower() in words:
        return words[text.lower()]
    raise ArgumentTypeError(
        f"there is no starter in {text!r} ({nearest(text, STARTERS)}), but any language works: a bot is a program "
        "that reads and writes lines of JSON. Write a bot.toml with name, games and run, and start from the bot of "
        "fifteen lines under 'In any language' that `warpleague docs write-a-bot` prints"
    )


def run_check(args: argparse.Namespace) -> int:
    """Check one bot; 1 if it is not ready."""
    from warpleague.runner.bundle.shipped import located
    from warpleague.runner.checkup import MACHINE, TIME, check_bot

    folder = located(args.folder)
    logs = log_folder(args.log)
    how = checkup_of(args, folder, logs)
    findings: list[Finding] = []

    def tell(finding: Finding) -> None:
        findings.append(finding)
        if not args.json:
            print_finding(finding)

    if not args.json:
        from warpleague.report.terminal.bots import print_finding
    ready = check_bot(folder, how, tell)
    _print_logs(logs)
    if args.json:
        listed = [attrs.asdict(one) for one in findings]
        print_json({"bot": str(args.folder), "ready": ready, "seed": how.seed, "findings": listed})
        return 0 if ready else 1
    failed = [one for one in findings if one.verdict == "failed"]
    text = "ready for a league" if args.league is None else f"ready for {args.league}"
    if failed:
        text = "not ready: mend what failed, then check again"
        if all(one.what in (TIME, MACHINE) for one in failed):
            text = f"not ready: {failed[-1].text}"
    print(f"{args.folder}: {text}")
    return 0 if ready else 1


def checkup_of(args: argparse.Namespace, folder: Path, logs: LogFolder | None = None) -> Checkup:
    """How to check, as the options say, or the league's file that they name."""
    from warpleague.runner.checkup import Checkup

    more: dict[str, Any] = {"matches": args.matches, "quick": args.quick, "logs": logs}
    if args.seed is not None:
        more["seed"] = args.seed
    if args.league is not None:
        return _league_checkup(args, folder, more)
    games = tuple(args.game)
    return Checkup(
        conditions=conditions_of(args),
        tables=_tables(args, folder),
        games=games,
        paths=sandbox_paths(args),
        **more,
    )


def _tables(args: argparse.Namespace, folder: Path) -> tuple[Table, ...]:
    """The tables that `--players` and `--option` choose; none if it is left to the bot."""
    from warpleague.errors import BotError
    from warpleague.games import GAMES, load_game
    from warpleague.match.setup import load_options, options_json, players_text
    from warpleague.runner.bundle.manifest import ANY, read_manifest
    from warpleague.runner.checkup import Table

    if args.players is None and not args.option:
        return ()
    names = tuple(args.game)
    if not names:
        try:
            names = read_manifest(folder).games
        except BotError:
            return ()  # the check says what is wrong with it
        if ANY in names:
            names = tuple(GAMES)
    if args.option and len(names) != 1:
        raise BadInput("--option is about one game: name it with --game")
    games = [load_game(name) for name in names if args.game or name in GAMES]
    fitting = [game for game in games if args.players is None or args.players in game.players]
    if not fitting:
        sizes = "; ".join(f"{game.id} is for {players_text(game)}" for game in games)
        raise BadInput(f"--players: {sizes or f'none of {folder}'}, not {args.players}")
    tables = []
    for game in fitting:
        raw = parse_options(game, args.option)
        for players in game.players if args.players is None else (args.players,):
            options = options_json(load_options(game, players, raw, "--option"))
            tables.append(Table(game.id, players, options))
    return tuple(tables)


def _league_checkup(args: argparse.Namespace, folder: Path, more: dict[str, Any]) -> Checkup:
    """The check for the league whose file `--league` names."""
    from warpleague.cli.common import RESULTS
    from warpleague.league.season.bot_check import check_for
    from warpleague.league.season.config import load_config
    from warpleague.runner.bundle.cache import cache_folder
    from warpleague.runner.confine.mounts import check_granted

    given = [
        f"--{name.replace('_', '-')}" for name, usual in _OF_LEAGUE.items() if getattr(args, name) != usual
    ]
    if given:
        raise BadInput(f"{', '.join(given)}: the file of --league says this; leave out one of both")
    names: tuple[str, ...] = ()
    if args.league.startswith(("http://", "https://")):
        config, names = _league_at(args.league)
    else:
        config = load_config(Path(args.league), without_bots=True)
    if config.sandbox.paths and (args.level or config.rules.level) == "sandbox":
        where = f"{config.path}: sandbox.paths"
        check_granted(config.sandbox.paths, where, (cache_folder(), RESULTS, config.path))
    return check_for(config, folder, names=names, level=args.level, **more)


def _league_at(address: str) -> tuple[LeagueConfig, tuple[str, ...]]:
    """The league whose page in an arena has this address, without its bots, and the names of these."""
    from warpleague.arena.submissions.conditions import Conditions, config_of
    from warpleague.cli.arena_client import Arena, NoArena, path_of

    arena = Arena(address, None, option="--league")
    name = arena.page_league
    try:
        if name is None:
            listed = arena.ask_any("GET", path_of("leagues"))
            names = [str(one.get("league")) for one in listed if isinstance(one, dict)]
            if len(names) != 1:
                raise BadInput(
                    f"--league {address}: name one of its leagues: {', '.join(names) or 'it has none'}"
                )
            name = names[0]
        answer = arena.ask("GET", path_of("leagues", name, "conditions"))
        conditions = arena.read({**answer, "machine": None}, Conditions)
        config = config_of(conditions)
    except NoArena as error:
        raise BadInput(str(error)) from None
    except (ValueError, TypeError) as error:
        raise BadInput(f"{address}: its conditions are those of no league: {error}") from None
    return config, tuple(conditions.names)


def _print_logs(logs: LogFolder | None) -> None:
    if logs is not None:
        say(
            logs.problem
            or f"logs written to {logs.folder}: a folder for the bot, two files for each match and seat"
        )


def run_new(args: argparse.Namespace) -> int:
    """Copy a starter under the new name."""
    import re
    import shlex

    from warpleague.runner.bundle.shipped import starter_folder

    folder: Path = args.folder
    if os.path.lexists(folder):
        raise BadInput(f"{folder}: exists already; choose another name")
    shown = Path(os.path.realpath(folder)).name
    name = re.sub(r"[^A-Za-z0-9._+-]", "-", shown).strip("-._+") or "my-bot"
    language = STARTERS[args.lang]
    searches = args.with_engine and args.lang == "python"
    copy_starter(starter_folder(SEARCHER if searches else language.starter), folder, name[:64])
    how = "searches" if searches else "plays at random"
    print(f"{folder}: a bot in {language.name} that {how}; make it yours, then:")
    shown = f"./{folder}" if str(folder).startswith("-") else str(folder)  # otherwise it looks like an option
    print(f"  warpleague bot check {shlex.quote(shown)}")
    if args.with_engine:
        _put_engine(folder)
    return 0


def copy_starter(source: Path, folder: Path, name: str) -> None:
    """Copy the starter bot in `source` to the new `folder`, with `name` in its manifest; not what a build left there.

    Raises `BadInput` if the folder cannot be written.
    """
    import re
    import shutil

    from warpleague.runner.bundle.content import LEFT_OUT
    from warpleague.runner.bundle.manifest import MANIFEST

    try:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    except OSError as error:
        raise BadInput(f"{folder}: cannot write there: {error.strerror or error}") from None
    manifest = (source / MANIFEST).read_text(encoding="utf-8")
    # Line by line, not through a parser: what the starter's author laid out to be read stays as it is.
    for key, value in (("name", f'"{name}"'), ("version", '"0.1"'), ("authors", "[]")):
        manifest = re.sub(rf"^{key} = .*$", f"{key} = {value}", manifest, flags=re.MULTILINE)
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")


def run_engine(args: argparse.Namespace) -> int:
    """Put the engine into the folder of a bot, or renew it there."""
    from warpleague.runner.bundle.manifest import read_manifest

    read_manifest(args.folder)
    _put_engine(args.folder)
    return 0


def _put_engine(folder: Path) -> None:
    from warpleague.runner.bundle.shipped import ENGINE, write_engine

    size = write_engine(folder)
    print(f"{folder / ENGINE}: the rules and the simulator, {size / 1024:.0f} KiB; {ENGINE_PAGE}")


def run_list(args: argparse.Namespace) -> int:
    """List bots by their manifests; 1 if one of them cannot be read."""
    from warpleague.report.terminal.bots import print_bots
    from warpleague.runner.bundle.manifest import MANIFEST, read_manifest
    from warpleague.runner.bundle.shipped import located, shipped_root

    root: Path = located(args.folder) if args.folder else shipped_root() / "bots"
    if not root.is_dir():
        raise BadInput(f"{root}: there is no such folder")
    folders = sorted(path.parent for path in root.glob(f"*/{MANIFEST}"))
    bots: list[dict[str, Any]] = []
    for folder in folders:
        try:
            manifest = read_manifest(folder)
        except BotError as error:
            bots.append({"folder": str(folder), "error": str(error)})
            continue
        bots.append(
            {
                "folder": str(folder),
                "name": manifest.name,
                "version": manifest.version,
                "games": list(manifest.games),
                "run": list(manifest.run),
            }
        )
    if args.json:
        print_json(bots)
    elif bots:
        print_bots(bots)
    else:
        itself = "; it is a bot itself: name the folder that it is in" if (root / MANIFEST).is_file() else ""
        print(f"{root}: no bots in the folders of this folder{itself}")
    return 1 if any("error" in bot for bot in bots) else 0
