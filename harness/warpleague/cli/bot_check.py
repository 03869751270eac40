"""Check whether a bot is ready for a league, of which a file or an arena says the conditions.

The check itself is in `warpleague.runner.checkup`.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.bot import print_finding
from warpleague.cli.common import RESULTS, print_json, say
from warpleague.cli.match_options import conditions_of, log_folder, parse_options, sandbox_paths
from warpleague.errors import BadInput, BotError
from warpleague.games import GAMES, load_game
from warpleague.league.season.bot_check import check_for
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.match.setup import load_options, options_json, players_text
from warpleague.runner.bundle.cache import cache_folder
from warpleague.runner.bundle.manifest import ANY, read_manifest
from warpleague.runner.bundle.offered import Machine, ask_machine
from warpleague.runner.bundle.shipped import located
from warpleague.runner.checkup import Checkup, Table, check_bot
from warpleague.runner.confine.mounts import check_granted
from warpleague.runner.findings import MACHINE, TIME, Finding

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.runner.bot.logs import LogFolder

_OF_LEAGUE: Final = (
    *("game", "players", "option", "move_s", "bank_s", "increment_s", "start_s", "faults", "strikes"),
    *("ask_again", "failures", "note_bytes", "pondering", "sandbox_path"),
)
"""Options in place of which a league file has keys."""


def run_check(args: Namespace) -> int:
    """Check one bot; 1 if it is not ready."""
    folder = located(args.folder)
    logs = log_folder(args.log)
    how = checkup_of(args, folder, logs)
    findings: list[Finding] = []

    def tell(finding: Finding) -> None:
        findings.append(finding)
        if not args.json:
            print_finding(finding)

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


def checkup_of(args: Namespace, folder: Path, logs: LogFolder | None = None) -> Checkup:
    """How to check, as the options say, or the league's file that they name."""
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


def _tables(args: Namespace, folder: Path) -> tuple[Table, ...]:
    """The tables that `--players` and `--option` choose; none if it is left to the bot."""
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
    if not games:
        return ()  # none that it names is installed: the check says so
    fitting = [game for game in games if args.players is None or args.players in game.players]
    if not fitting:
        sizes = "; ".join(f"{game.id} is for {players_text(game)}" for game in games)
        raise BadInput(f"--players: {sizes}, not {args.players}")
    tables = []
    for game in fitting:
        raw = parse_options(game, args.option)
        for players in game.players if args.players is None else (args.players,):
            options = options_json(load_options(game, players, raw, "--option"))
            tables.append(Table(game.id, players, options))
    return tuple(tables)


def _league_checkup(args: Namespace, folder: Path, more: dict[str, Any]) -> Checkup:
    """The check for the league whose file `--league` names."""
    defaults = {one.value: one.how.get("default") for one in args.command.each_argument()}
    given = [f"--{name.replace('_', '-')}" for name in _OF_LEAGUE if getattr(args, name) != defaults[name]]
    if given:
        raise BadInput(f"{', '.join(given)}: the file of --league says this; leave out one of both")
    names: tuple[str, ...] = ()
    machine: Machine | None
    if args.league.startswith(("http://", "https://")):
        config, names, machine = _league_at(args.league)
    else:
        config = load_config(Path(args.league), without_bots=True)
        machine = ask_machine(args.level or config.rules.level, config.sandbox.paths)
    if config.sandbox.paths and (args.level or config.rules.level) == "sandbox":
        where = f"{config.path}: sandbox.paths"
        check_granted(config.sandbox.paths, where, (cache_folder(), RESULTS, config.path))
    said = "it does not say what bots find on its machine" if machine is None else machine.in_words()
    say(f"{args.league}: {said}")
    return check_for(config, folder, names=names, level=args.level, **more)


def _league_at(address: str) -> tuple[LeagueConfig, tuple[str, ...], Machine | None]:
    """The league whose page in an arena has this address, without its bots; the names of these; the machine there."""
    # Only such an address needs the server's part, which takes long to import.
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
    with contextlib.suppress(KeyError, TypeError):  # an arena may not know, or tell more
        return config, tuple(conditions.names), Machine.from_json(answer["machine"])
    return config, tuple(conditions.names), None


def _print_logs(logs: LogFolder | None) -> None:
    if logs is not None:
        say(
            logs.problem
            or f"logs written to {logs.folder}: a folder for the bot, two files for each match and seat"
        )
