"""Test whether a bot is better than another, on the same deals, with as few matches as possible."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from warpleague.cli.common import print_json, say, write_file
from warpleague.cli.declaration import seconds, wait
from warpleague.cli.league_common import command_on
from warpleague.cli.league_run import fault_line, play_season
from warpleague.cli.match_options import log_folder, parse_options
from warpleague.errors import BadInput
from warpleague.games import game_ids, load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.ratings.sprt import Estimate
from warpleague.league.results.details import times
from warpleague.league.results.faulted import bot_faults
from warpleague.league.results.standings import standings
from warpleague.league.results.status import strength_test
from warpleague.league.schedule.formats.strength_test import NEW, OLD, StrengthFormat
from warpleague.league.season.config import EntrantClock, config_of, toml_of
from warpleague.league.season.entry import first_alike
from warpleague.report.wording.league_words import (
    duration,
    elo_by_fit_line,
    estimate_line,
    exit_code,
    fault_lines,
    luck_lines,
    one_way_lines,
    state_lines,
    verdict,
    waited_words,
)
from warpleague.runner.bot.inside import python_command
from warpleague.runner.bundle.shipped import located
from warpleague.runner.play import play_inside
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from warpleague.league.play.running import RunReport
    from warpleague.league.results.details import TimeLine
    from warpleague.league.results.league import League
    from warpleague.league.schedule.formats.strength_test import StrengthTest

    _Entrant = tuple[Path, EntrantClock | None]


_LARGE = 100.0
"""A difference in Elo for which a test is short."""


def run_compare(args: Namespace) -> int:
    """Exit code 0: accepted; 1: rejected, or stopped at a fault; 3: undecided; 130: stopped by the user."""
    _choose_game(args)
    if args.in_process and (getattr(args, "cluster", None) is not None or args.log is not None):
        raise BadInput("--in-process goes neither with --cluster nor with --log")
    data = _file_data(args, inside=args.in_process)
    deals_of = _file_data(args, inside=False) if args.in_process else None
    with written_league(args, "compare", data, ("NEW", "OLD", "--field"), deals_of=deals_of) as league:
        file, config = league.config.path, league.config
        if args.fixed is not None:
            _check_fixed(args.fixed, StrengthFormat(league.season).matches_a_deal)
        if same := _same_bot(league):
            say(f"note: {same}")
        if not args.quiet:
            say(f"{config.name}: {league.season.game}; {league.schedule.describe()}")
            say(f"commitment to the season's secret (SHA-256): {league.season.commitment}")
        logs = log_folder(args.log)
        report = play_season(league, args, logs)
        if logs is not None and logs.problem is not None:
            say(f"note: the bots' logs are not complete: {logs.problem}")
        state = strength_test(league)
        fit = standings(league, other_ratings=False).fit if state.beside else None
        difference = None if fit is None else fit.difference(NEW, OLD)
        if args.json:
            found = {**_result_json(league, state, report), **_elo_json(difference, beside=state.beside)}
            print_json({**found, "same_bot": bool(same), "file": str(file)})
        else:
            remarks = [] if difference is None else [elo_by_fit_line(*difference, fixed=state.fixed)]
            remarks += [*fault_lines(bot_faults(league)), *([same] if same else ())]
            if args.in_process:
                remarks += [_time_words(line) for line in times(league)]
            _print_result(league, state, report, file, remarks)
        if report.stopped:
            return 130
        if report.void or report.failure:
            say(report.failure or f"{counted(len(report.void), 'match')} void; run the same command again")
        return exit_code(state) if report.fault is None else 1


def _check_fixed(matches: int, a_deal: int) -> None:
    """Say how many matches are played in whole deals; `BadInput` if that is none."""
    whole, deal = matches // a_deal * a_deal, counted(a_deal, "match")
    if not whole:
        raise BadInput(f"--fixed: must be {a_deal} at least, since deals are played whole: here {deal} each")
    if whole != matches:
        say(f"note: --fixed {matches}: plays {whole}, since deals are played whole: here {deal} each")


def _result_json(league: League, state: StrengthTest, report: RunReport) -> dict[str, Any]:
    new, old, *field = league.season.names
    return {
        "league": league.config.name,
        "new": new,
        "old": old,
        "field": field,
        "played": report.played,
        "complete": report.complete,
        "stopped": report.stopped,
        "cpu_ms": round(report.cpu_ms, 3),
        "wait_ms": round(report.wait_ms, 3),
        "times": [_time_json(line) for line in times(league)],
        **state.to_json(),
        **({"left": None} if report.complete else {}),
        "faults": [fault.to_json() for fault in bot_faults(league)],
        "stopped_at_fault": None if report.fault is None else report.fault.to_json(),
        "path": [[deals, round(ratio, 4)] for deals, ratio in state.path],
    }


def _elo_json(difference: tuple[float, float | None] | None, *, beside: bool) -> dict[str, Any]:
    """The difference in Elo beside a field, by the fit of all bots; in a duel only that it is no guess."""
    elo, half = difference or (None, None)
    guess = {"elo_is_a_guess": elo is not None and half is None}
    if not beside:
        return guess
    low, high = (None if elo is None or half is None else elo + side * half for side in (-1, 1))
    return {**Estimate(elo, low, high).to_json(), **guess}


@contextmanager
def written_league(
    args: Namespace,
    command: str,
    data: dict[str, Any],
    bots: Sequence[str],
    *,
    deals_of: dict[str, Any] | None = None,
) -> Iterator[League]:
    """The league whose file has this `data`, to play it; the file is written for other commands.

    `deals_of` is what the file says whose deals it has. `BadInput` names the option or, of `bots`, the argument that
    is wrong; what is refused before a match was played leaves neither file nor store.
    """
    file: Path = args.results / f"{data['name']}.toml"
    try:
        config, deals = (None if one is None else config_of(one, file) for one in (data, deals_of))
        assert config is not None
        league = open_to_run(config, args.results, args.tools.prepare, deals_of=deals)
    except BadInput as error:
        raise BadInput(_said_of_arguments(str(error), file, bots)) from None
    with league:
        how = " --in-process: league run would play it in other conditions" if args.in_process else ""
        try:
            if args.in_process:
                play_in_referees(league, args)
            write_file(file, f"# Written by warpleague {command}{how}.\n{tomli_w.dumps(data)}".encode())
            yield league
        except BadInput:
            if not league.store.count():
                file.unlink(missing_ok=True)
            league.store.discard()
            raise


def _said_of_arguments(text: str, file: Path, bots: Sequence[str]) -> str:
    """An error of a league file for somebody who gave options and bots, and knows of no file."""
    where = re.escape(str(file))
    text = re.sub(rf"{where}: bots\[(\d+)\]", lambda at: bots[min(int(at[1]), len(bots) - 1)], text)
    text = re.sub(rf"{where}: bots: ", "", text)
    text = re.sub(rf"{where}: sandbox\.paths", "--sandbox-path", text)
    return re.sub(rf"{where}: (?:format\.)?(\w+)", lambda key: f"--{key[1].replace('_', '-')}", text)


def _choose_game(args: Namespace) -> None:
    """Take the first word for the game, if no option names one."""
    args.game = args.game_option
    words = [args.new, args.old, *args.last]
    if more := words[2 if args.game else 3 :]:
        field = ",".join([*args.field, *more])
        raise BadInput(f"{more[0]}: a third bot; bots of the field are named by --field {field}")
    if args.game is not None:
        return
    if len(words) == 2 and args.new in game_ids() and not Path(args.new).is_dir():
        raise BadInput(
            f"{args.new}: the game is there, but name two bots: warpleague compare {args.new} NEW OLD"
        )
    if len(words) < 3 or Path(args.new).is_dir():
        raise BadInput(
            "which game? Say --game GAME, or write it first: warpleague compare GAME NEW OLD "
            "(`warpleague games` lists the games)"
        )
    args.game, args.new, args.old = words


def _time_json(line: TimeLine) -> dict[str, Any]:
    """The decisions of a bot in all matches, and the milliseconds of processor time that they took."""
    return {"bot": line.bot, "decisions": line.decisions, "cpu_ms": round(line.cpu_ms, 3)}


def _time_words(line: TimeLine) -> str:
    return (
        f"{line.bot}: {counted(line.decisions, 'decision')}, {line.mean(line.cpu_ms) or 0:.3g} ms of processor time "
        f"each, at most {line.longest_ms:.3g} ms"
    )


def play_in_referees(league: League, args: Namespace) -> None:
    """Have the matches played in the processes of the referees; `BadInput` if a bot is not in Python."""
    for bot in league.season.bots:
        if python_command(bot.run) is None:
            raise BadInput(
                f"--in-process: {bot.bot} runs {' '.join(bot.run)[:100]}, but only bots in Python can be called"
            )
    if args.tools.play is None:
        args.tools = args.tools._replace(play=play_inside)


def _same_bot(league: League) -> str:
    """A sentence that says that both bots are the same one; empty if they are not."""
    new, old = league.season.bots[:2]
    if new.identity != old.identity:
        return ""
    names = " and ".join(league.season.names[:2])
    return (
        f"{names} are the same bot (content {new.digest[:12]}), so neither can be stronger: this shows what the test "
        "says of equals"
    )


def _print_result(
    league: League, state: StrengthTest, report: RunReport, file: Path, remarks: list[str]
) -> None:
    new, old = league.season.names[:2]
    for line in (*state_lines(state, over=report.complete), *luck_lines(state)):
        print(line)
    corrected = "" if state.fixed else ", corrected for when the test stopped"
    print(f"Estimate: {estimate_line(state)}{corrected}.")
    for line in (verdict(state, new, old), *one_way_lines(state, new, old)):
        print(line)
    if not (state.fixed or state.judged or state.always_faulted) and state.test.elo1 < _LARGE:
        print(
            f"A test for a larger difference (--elo1 {_LARGE:g}), or of a fixed size (--fixed N), takes far fewer "
            "matches."
        )
    print(*(f"{line}.\n" for line in remarks), sep="", end="")
    if report.fault is not None:
        print(f"{fault_line(report.fault)}; played matches stay.")
    print(f"{counted(report.played, 'match')} played in {duration(report.elapsed_s)}.")
    for line in waited_words(report):
        print(line)
    print(f"Verify: {command_on(file, 'verify')}")
    if league.season.worth is not None and league.season.players == 2:
        print(f"Without the luck of the dice: {command_on(file, 'standings', '--without-luck')}")


def _file_data(args: Namespace, *, inside: bool) -> dict[str, Any]:
    """The league file that this test is, so that every other command can be used on it."""
    entrants, names = _entrants(args)
    data: dict[str, Any] = {**played_keys(args, entrants, names, inside=inside)}
    # What a store cannot change gives it its name; the hypotheses may change, and the deals played count again.
    what = blake2b(repr(sorted(data.items())).encode(), digest_size=4).hexdigest()
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:20] for name in names[:2]]
    data["name"] = f"compare-{plain[0]}-{plain[1]}-{what}" + ("-inside" if inside else "")
    data["format"] = {
        "kind": "test",
        "seats": args.seats,
        "elo0": args.elo0,
        "elo1": args.elo1,
        "alpha": args.alpha,
        "beta": args.beta,
        "unit": "normalized" if args.normalized else "elo",
        **({} if args.max_matches is None else {"max_matches": args.max_matches}),
        **({} if args.fixed is None else {"fixed": args.fixed}),
    }
    return data


def played_keys(
    args: Namespace, entrants: list[_Entrant], names: list[str], *, inside: bool
) -> dict[str, Any]:
    """The keys of the league file about what is played: bots, game, clock and rules."""
    game = load_game(args.game)
    clock = {
        key: value
        for key in ("move_s", "bank_s", "increment_s", "start_s")
        if (value := getattr(args, key)) is not None
    }
    if "move_s" not in clock and "bank_s" not in clock:
        clock["move_s"] = 1.0
    bots = [
        {
            "path": str(located(folder).resolve()),
            "name": name,
            **({} if own is None else {"clock": toml_of(own)}),
        }
        for (folder, own), name in zip(entrants, names, strict=True)
    ]
    return {
        "bots": bots,
        "game": {"id": game.id, "players": _players(args), "options": parse_options(game, args.option)},
        "clock": clock,
        "rules": {"level": "none" if inside else args.level},
        "sandbox": {"paths": list(args.sandbox_path)},
        **({} if args.seed is None else {"seed": args.seed}),
    }


def _players(args: Namespace) -> int:
    return args.players or 2


def _entrants(args: Namespace) -> tuple[list[_Entrant], list[str]]:
    """The bots with their clocks, and a name for each; `BadInput` if they do not fill a table of the game."""
    game, players = load_game(args.game), _players(args)
    if players not in game.players:
        allowed = ", ".join(map(str, game.players))
        raise BadInput(f"--players: {game.id} is for {allowed} players, not {players}")
    if args.field and players == 1:
        raise BadInput("--field: alone at a table there are no other bots; leave out --field or --players 1")
    if len(args.field) < players - 1 and (args.field or players > 2):
        raise BadInput(
            f"--field: beside NEW or OLD, a table of {players} needs at least {players - 1} more bots, not "
            f"{len(args.field)}"
        )
    entrants = [entrant_of(text) for text in (args.new, args.old, *args.field)]
    return entrants, _names(entrants)


def entrant_of(text: str) -> _Entrant:
    """The folder of a bot, and the clock that stands behind it: `bots/mine@0.1s`, `bots/mine@60s+0.5s/2s`."""
    folder, at, clock = text.rpartition("@")
    if not at or located(Path(text)).is_dir():
        return Path(text), None
    # The time for a decision, a bank and what is added to it before that or not; or only the bank and what is added.
    total, slash, each = clock.rpartition("/")
    bank, plus, added = (total if slash else clock).partition("+")
    parts = (each if slash else "1s", added if plus else "1s", bank)
    try:
        if any(part[-1:].isdigit() for part in parts):
            raise ArgumentTypeError("without a unit it may be a part of the name")
        if not plus and not slash:
            return Path(folder), EntrantClock(move_s=seconds(clock))
        return Path(folder), EntrantClock(
            move_s=seconds(each) if slash else None,
            bank_s=seconds(bank),
            increment_s=wait(added) if plus else None,
        )
    except ArgumentTypeError:
        raise BadInput(
            f"{text}: there is no such folder, and {clock!r} is not a clock; write @0.1s for each decision, or "
            "@60s+0.5s for a bank of 60 s with 0.5 s before each decision"
        ) from None


def _names(entrants: list[_Entrant]) -> list[str]:
    """A name for each bot: its folder's and its clock, made different where two are alike."""
    plain = [
        (folder.name or folder.resolve().name)[:50] + ("" if own is None else f"@{own.text}")
        for folder, own in entrants
    ]
    return [
        name
        if first_alike(name, others) is None
        else f"{name}-{('new', 'old')[place] if place < 2 else place}"
        for place, name in enumerate(plain)
        for others in [[*plain[:place], *plain[place + 1 :]]]
    ]
