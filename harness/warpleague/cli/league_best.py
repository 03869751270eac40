"""Play a league only until it is known which of its bots is the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import tomli_w

from warpleague.cli.common import print_json, say, write_file
from warpleague.cli.league_common import command_on
from warpleague.cli.league_run import play_season, print_troubles
from warpleague.errors import BadInput, ConfigError
from warpleague.league.play.entering import open_to_run
from warpleague.league.results.best import best_of
from warpleague.league.results.faulted import bot_faults
from warpleague.league.season.config import load_config
from warpleague.league.season.entry import folder_of
from warpleague.report.wording.league_words import MAX_FAULTED, duration, fault_lines, waited_words
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from warpleague.league.play.running import RunReport
    from warpleague.league.results.best import Best
    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig, UntilTable

_KEPT = ("bots", "game", "clock", "rules", "service", "sandbox", "run", "seed", "missing")


def run_best(args: Namespace) -> int:
    """Exit code 0: the best is known; 1: a match is void, or stopped at a fault; 3: not known yet; 130: stopped."""
    file = _league_file(args, load_config(args.config))
    try:
        config = load_config(file)
    except ConfigError as error:
        # Whoever gave an option knows nothing of this file.
        text = str(error).replace(f"{file}: format.until.", "--")
        raise BadInput(text.replace(str(file), str(args.config))) from None
    until = config.format.until
    assert until is not None
    with open_to_run(config, args.results, args.tools.prepare, **args.tools.pool) as league:
        if not args.quiet:
            say(f"{config.name}: {league.season.game}; {league.schedule.describe()}")
        report = play_season(league, args, None)
        best = best_of(league, until, complete=report.complete)
        if args.json:
            print_json({**_best_json(league, until, best, report), "file": str(file)})
        else:
            _print_best(league, until, best, report, file)
    if report.stopped:
        return 130
    if report.void or report.failure or report.fault:
        return 1
    return 0 if best is not None and best.settled else 3


def _league_file(args: Namespace, config: LeagueConfig) -> Path:
    """Write the league that is played, so that every other command can be used on it."""
    where = str(args.config)
    if config.entry is not None:
        raise BadInput(
            f"{where}: entry: its bots come from other leagues; name a file with these bots under `bots`"
        )
    if config.game.players == 1:
        raise BadInput(f"{where}: game.players: needs tables of two or more; `league run` ranks solo leagues")
    bots = [attrs.evolve(entry, path=str(folder_of(config, entry).resolve())) for entry in config.entries]
    if any(bot.key_file for bot in bots):
        folder = config.path.parent.resolve()
        bots = [attrs.evolve(bot, key_file=bot.key_file and str(folder / bot.key_file)) for bot in bots]
    form = {
        "kind": "ladder",
        "seats": config.format.seats,
        **({} if config.format.dice is None else {"dice": config.format.dice}),
        **({} if args.max_matches is None else {"max_matches": args.max_matches}),
        "until": {"confidence": args.confidence, "top": 1, "within": args.within},
    }
    data = {
        key: value for key, value in attrs.evolve(config, bots=tuple(bots)).to_toml().items() if key in _KEPT
    }
    name = f"{config.name[:59]}-best"
    file: Path = args.results / f"{name}.toml"
    text = tomli_w.dumps({"name": name, **data, "format": form})
    write_file(file, f"# Written by warpleague league best.\n{text}".encode())
    return file


def _best_json(league: League, until: UntilTable, best: Best | None, report: RunReport) -> dict[str, Any]:
    return {
        "league": league.config.name,
        "bots": list(league.season.names),
        "confidence": until.confidence,
        "within": until.within,
        "known": best is not None and best.settled,
        "best": None if best is None or not best.settled else best.bot,
        "leader": None if best is None else best.bot,
        "error": None if best is None else round(best.error, 6),
        "matches": 0 if best is None else best.matches,
        "round_robin_matches": None if best is None else best.round_robin,
        "played": report.played,
        "complete": report.complete,
        "stopped": report.stopped,
        "failure": report.failure,
        "elapsed_s": round(report.elapsed_s, 3),
        "cpu_ms": round(report.cpu_ms, 3),
        "wait_ms": round(report.wait_ms, 3),
        "faults": [fault.to_json() for fault in bot_faults(league)],
        "stopped_at_fault": None if report.fault is None else report.fault.to_json(),
    }


def _print_best(league: League, until: UntilTable, best: Best | None, report: RunReport, file: Path) -> None:
    print(best_words(best, until, len(league.season.bots)))
    for line in fault_lines(bot_faults(league), MAX_FAULTED):
        print(f"{line}.")
    print_troubles(report)
    print(f"{counted(report.played, 'match')} played in {duration(report.elapsed_s)}.")
    for line in waited_words(report):
        print(line)
    for word in ("standings", "verify"):
        print(f"{word.capitalize() + ':':10} {command_on(file, word)}")


def best_words(best: Best | None, until: UntilTable, bots: int) -> str:
    """Who is the best, with what error, and what a round-robin would have taken; or who leads so far."""
    if best is None:
        return "No deal was played to its end."
    equal = f" (bots within {until.within:g} Elo are equal)" if until.within else ""
    size = counted(best.matches, "match")
    if not best.settled:
        return (
            f"Not known with {100 * until.confidence:g} % confidence after {size}: {best.bot} leads {bots} bots, with "
            f"an error of {100 * best.error:.0f} %{equal}."
        )
    error = f"{100 * (1 - until.confidence):.3g} %"
    text = f"{best.bot} is the best of {bots}, with an error below {error}{equal}: {size}."
    if best.round_robin is not None and best.round_robin > best.matches:
        text += f" A round-robin would have taken about {best.round_robin:,}."
    return text
