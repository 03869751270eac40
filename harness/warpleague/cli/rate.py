"""Find out how strong a bot is on the scale of the opponents, with as few matches as possible."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.cli.common import print_json, say
from warpleague.cli.compare import entrant_of, played_keys, written_league
from warpleague.cli.league_common import command_on
from warpleague.cli.league_run import play_season
from warpleague.cli.match_options import log_folder
from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.results.faulted import bot_faults
from warpleague.league.results.status import placement
from warpleague.opponents.scale import SHOWN, Scale, scale_of
from warpleague.report.wording.league_words import duration, fault_lines, placement_lines, waited_words
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League


def run_rate(args: Namespace) -> int:
    """Exit code 0: rated; 1: it faulted in every match, a match is void, or a fault stopped it; 130: Ctrl-C."""
    game = load_game(args.game)
    if args.players not in game.players:
        allowed = ", ".join(map(str, game.players))
        raise BadInput(f"--players: {game.id} is for {allowed} players, not {args.players}")
    scale = scale_of(game.id, args.players)
    if args.in_process and args.log is not None:
        raise BadInput("--in-process does not go with --log")
    with written_league(args, "rate", _file_data(args, scale), ("BOT", "an opponent")) as league:
        file = league.config.path
        scale.check(bot.digest for bot in league.season.bots[1:])
        if not args.quiet:
            say(
                f"{league.config.name}: {game.id}; {league.schedule.describe()}; scale {scale.digest[:SHOWN]}"
            )
        for line in _same_lines(league, scale):
            say(f"note: {line}")
        report = play_season(league, args, log_folder(args.log))
        faults = bot_faults(league)
        bad = any(fault.bot == league.season.names[0] and fault.matches == fault.played for fault in faults)
        if args.json:
            print_json({**_json(league, scale, report), "faulted_in_every_match": bad, "file": str(file)})
        else:
            _print(league, scale, report, bad=bad)
            print(f"Verify: {command_on(file, 'verify')}")
        if report.stopped:
            return 130
        if report.void or report.failure:
            say(report.failure or f"{counted(len(report.void), 'match')} void; run the same command again")
        return 1 if bad or report.void or report.failure or report.fault else 0


def _print(league: League, scale: Scale, report: RunReport, *, bad: bool) -> None:
    known, name = placement(league), league.season.names[0]
    if bad:
        print(f"{name} faulted in every match, so nothing is known of its strength.")
    else:
        for line in placement_lines(known, name, random_is_a_guess=scale.random_is_a_guess):
            print(line)
    for line in _same_lines(league, scale):
        print(f"{line}.")
    beside = "" if scale.field_level is None else f", bots of level {scale.field_level} in all other seats"
    print(f"Scale {scale.digest[:SHOWN]}: {scale.game}, {counted(scale.players, 'player')}{beside}.")
    for line in fault_lines(bot_faults(league)):
        print(f"{line}.")
    print(f"{counted(report.played, 'match')} played in {duration(report.elapsed_s)}.")
    for line in waited_words(report):
        print(line)


def _same_levels(league: League, scale: Scale) -> list[int]:
    """The levels that are the same program as the bot."""
    digest = league.season.bots[0].digest
    return [number for number, level in enumerate(scale.levels, start=1) if level.digest == digest]


def _same_lines(league: League, scale: Scale) -> list[str]:
    return [
        f"{league.season.names[0]} is the same program as level {number}, {scale.levels[number - 1].bot}: a match "
        "between them is decided by chance and time alone"
        for number in _same_levels(league, scale)
    ]


def _json(league: League, scale: Scale, report: RunReport) -> dict[str, Any]:
    """What is known of the bot, the scale that says so, and what was played."""
    known = placement(league)
    names = league.season.names
    against = [(level, *known.against(level)) for level in range(len(scale.levels))]
    return {
        "league": league.config.name,
        "bot": names[0],
        "game": scale.game,
        "players": scale.players,
        "field_level": scale.field_level,
        "scale": scale.digest,
        "random_distance_is_a_guess": scale.random_is_a_guess,
        **attrs.asdict(known.place()),
        "same_as_levels": _same_levels(league, scale),
        "won_every_match": known.one_way == 1,
        "lost_every_match": known.one_way == -1,
        "deals": known.deals,
        "matches": known.matches,
        "against": [
            {
                "bot": names[1 + level],
                "level": 1 + level,
                "elo_over_random": scale.elo[level],
                "matches": n,
                "points": won,
            }
            for level, won, n in against
            if n
        ],
        "played": report.played,
        "complete": report.complete,
        "stopped": report.stopped,
        "elapsed_s": round(report.elapsed_s, 3),
        "cpu_ms": round(report.cpu_ms, 3),
        "faults": [fault.to_json() for fault in bot_faults(league)],
        "stopped_at_fault": None if report.fault is None else report.fault.to_json(),
    }


def _file_data(args: Namespace, scale: Scale) -> dict[str, Any]:
    """The league file that this rating is, so that every other command can be used on it."""
    bot = entrant_of(args.bot)
    others = scale.opponents
    name = (bot[0].name or bot[0].resolve().name)[:50]
    args.option = []  # the scale holds for the default options
    names = [f"{name}-rated" if name.casefold() in others else name, *others]
    entrants = [bot, *((Path(level.bot), None) for level in others.values())]
    data = played_keys(args, entrants, names, inside=args.in_process)
    what = blake2b(repr((sorted(data.items()), scale.digest)).encode(), digest_size=4).hexdigest()
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)[:20]
    data["name"] = f"rate-{plain}-{scale.game}-{what}" + ("-inside" if args.in_process else "")
    data["format"] = {
        "kind": "placement",
        "levels": list(scale.elo),
        "within": float(args.within),
        **({} if args.max_matches is None else {"max_matches": args.max_matches}),
    }
    return data
