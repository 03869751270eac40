"""Play a league, with what is seen meanwhile and told at the end."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import print_json, program, say, write_file
from warpleague.cli.league_common import in_arena, league_command
from warpleague.cli.match_options import log_folder
from warpleague.errors import BadInput, EntrantsError
from warpleague.games import load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.hooks import run_event, run_hook
from warpleague.league.play.running import MatchFault, RunReport, RunWatcher, StopWhen, run_league
from warpleague.league.play.verifying import published_record
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.faulted import bot_faults, confined_matches
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.league.store.events import commitment_to
from warpleague.report.wording.league_words import (
    MAX_FAULTED,
    decision_lines,
    dice_line,
    duration,
    fault_lines,
    waited_words,
)
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpleague.league.results.league import League
    from warpleague.league.season.season import Entry
    from warpleague.runner.bot.logs import LogFolder

_DIGITS: Final = 12  # of a digest, which are enough to know it


def run_matches(args: Namespace) -> int:
    """Exit code 0: all played, or stopped by the user between matches; 1: a match is void, or stopped at a fault."""
    config = load_config(args.config, from_folders=args.from_folders)
    _check_no_arena(config, args.results)
    try:
        opened = open_to_run(config, args.results, args.tools.prepare, args.beacon, **args.tools.pool)
    except EntrantsError as error:
        return _print_problems(args, config, error)
    with opened as league:
        _announce(league, args)
        logs = log_folder(args.log or (args.results / config.name / "logs" if config.run.logs else None))
        over = league.store.published() is not None
        report = play_season(league, args, logs)
        if logs is not None and logs.problem is not None:
            say(f"note: the bots' logs are not complete: {logs.problem}")
        if args.json:
            print_json(_run_json(league, report))
        else:
            if not args.quiet and league.store.count():
                _print_tables(league)
            _conclude(args, league, report)
        event = _end_event(league, report, over=over)
    _run_on_end(config, event)
    if report.stopped:
        return 130
    return 1 if report.void or report.failure or report.fault else 0


def _print_tables(league: League) -> None:
    from warpleague.report.terminal.console import make_console  # draws; a quiet run need not load it
    from warpleague.report.terminal.tables import all_tables

    console = make_console()
    console.print(all_tables(league, console.width), "")


def _end_event(league: League, report: RunReport, *, over: bool) -> dict[str, Any]:
    """The event for the command `on_end`, if the file has one; `over`: the season was over before this run."""
    if not league.config.on_end:
        return {}
    from warpleague.report.wording.columns import standing_json  # loads numpy, for this event only

    ended = not over and league.store.published() is not None
    return run_event(league, report, standing_json, over=ended)


def _run_on_end(config: LeagueConfig, event: dict[str, Any]) -> None:
    """Run the command of the file, once the store is closed; it changes nothing about how the run ended."""
    if not config.on_end:
        return

    if problem := run_hook(config.on_end, config.path.parent, event):
        say(f"note: on_end: {problem}")


def _check_no_arena(config: LeagueConfig, results: Path) -> None:
    """Raise `BadInput` if an arena plays the league: played as its file says, it would lose the submitted bots."""
    if in_arena(config, results) is not None:
        raise BadInput(
            f"{results}: the arena in this folder plays {config.name}, with the bots that were submitted: "
            f"warpleague arena play {config.path}; to play it without them, name another folder with --results"
        )


def _print_problems(args: Namespace, config: LeagueConfig, error: EntrantsError) -> int:
    """Several bots cannot take part: all of them at once, and how to play without them."""
    from warpleague.cli.bot import problems_table  # draws, as does the console
    from warpleague.report.terminal.console import make_console

    if args.json:
        print_json({"league": config.name, "problems": [problem.to_json() for problem in error.problems]})
    make_console(stderr=True).print(problems_table(error.problems, len(config.bots)))
    say(f'Mend them; or play without them: write  missing = "skip"  above bots in {args.config}')
    return 2


def _announce(league: League, args: Namespace) -> None:
    """Warnings before a match is played; without `--quiet` also what is going to be played."""
    season = league.season
    for line in (*league.skipped, *decision_lines(league.disqualified)):
        say(f"note: {line}")
    if league.config.on_end:
        say(f"note: when the run has ended, {args.config} has this run: {shlex.join(league.config.on_end)}")
    if season.format.dice == "shared" and (line := dice_line(season)):
        say(f"note: {line}")
    if not args.quiet:
        say(
            f"{league.config.name}: {season.game}, {counted(len(season.bots), 'bot')}; {league.schedule.describe()}"
        )
        if season.players == 1 and len(load_game(season.game).players) > 1:
            say("note: each bot plays alone; for tables of more, write  players = 2  under [game]")
        _print_commitments(league)
    if len(entered := league.store.entered()) > 1 and league.store.count():
        say(
            f"note: the entrants or the format have changed since {entered[0].since}; status lists all commitments"
        )
        if changed := _changed_bots(league.store.history()):
            words = (
                f"{name} ({old[:_DIGITS]} before, {new[:_DIGITS]} now)"
                for name, (old, new) in changed.items()
            )
            say(
                f"note: other content than before: {', '.join(words)}; matches of before do not count. To keep a bot "
                f"as it was, name a folder with its old content in {args.config}: of a bot that comes with Warp "
                "League, the folder of the version before"
            )
    published = league.store.published()
    if published is not None and league.store.count_of(league.due) != league.due.total:
        say(
            f"note: the secret of this season is public since {published}: anyone who made a bot after that "
            "could know its dice. A league file with another name starts a new season"
        )


def _changed_bots(history: Sequence[Entry]) -> dict[str, tuple[str, str]]:
    """The digests of each bot of the last entry whose content or clock was another one in its entry before."""
    *before, now = [entry for entry in history if not entry.merged]
    old = {name: digest for entry in before for name, digest in entry.bots}
    return {name: (old[name], digest) for name, digest in now.bots if old.get(name, digest) != digest}


def _print_commitments(league: League) -> None:
    """Tell what lets others check later that nothing was changed; with a seed in the file nothing is secret."""
    if league.config.seed is not None and league.config.season.beacon is None:
        return

    say(f"commitment to the season's secret (SHA-256): {league.season.commitment}")
    say(f"commitment to the entrants (SHA-256): {commitment_to(league.season)}")
    if not league.store.count():
        say("note: who publishes both now can prove later that dice, bots and rules stayed as they are")


def _run_json(league: League, report: RunReport) -> dict[str, Any]:
    from warpleague.report.terminal.tables import standings_json

    return {
        "league": league.config.name,
        "matches": report.total,
        "played": report.played,
        "stored": report.stored,
        "complete": report.complete,
        "stopped": report.stopped,
        "failure": report.failure,
        "void": [{"number": v.fixture.number, "match": v.fixture.id, "error": v.error} for v in report.void],
        "elapsed_s": round(report.elapsed_s, 3),
        "cpu_ms": round(report.cpu_ms, 3),
        "wait_ms": round(report.wait_ms, 3),
        "commitment": league.season.commitment,
        "secret": league.season.secret.hex() if league.store.published() else None,
        "entrants": commitment_to(league.season),
        "beacon": league.season.beacon,
        "head": str(league.store.head()),
        "skipped": list(league.skipped),
        "level": league.season.level,
        "held": [way.to_json() for way in confined_matches(league)],
        "standings": standings_json(league)["standings"],
        "faults": [fault.to_json() for fault in bot_faults(league)],
        "stopped_at_fault": None if report.fault is None else report.fault.to_json(),
        "disqualified": [decision.to_json() for decision in league.disqualified],
    }


def _conclude(args: Namespace, league: League, report: RunReport) -> None:
    """The rest, and the commands to check and reproduce a match, whose record is written for them."""
    stored = (
        f"{report.stored:,} stored"
        if report.total is None
        else f"{report.stored:,} of {report.total:,} stored"
    )
    print(f"{counted(report.played, 'match')} played in {duration(report.elapsed_s)}; {stored}.")
    for line in waited_words(report):
        print(line)
    if args.quiet:  # else they stand below the table
        print(*(f"{line}\n" for line in fault_lines(bot_faults(league), MAX_FAULTED)), sep="", end="")
    print_troubles(report)
    if not report.complete:
        print(f"Go on:           {league_command(args, 'run')}")
    if league.skipped:
        print(f"Left out: {len(league.skipped)} of {counted(len(league.config.bots), 'bot')}:")
        print(*(f"  {line}" for line in league.skipped), sep="\n")
    if report.stored == 0:
        return
    first = next(fixture for fixture, _ in league.stored())
    file = args.results / league.config.name / "records" / f"{first.id}.jsonl"
    write_file(file, published_record(league, first.id, first.deal))
    if report.complete:
        print(f"The season is over; its secret: {league.season.secret.hex()}")
    print(f"Receipt:         {league.store.head()}")
    print(f"Look at it:      {league_command(args, 'report')}")
    print(f"Verify all:      {league_command(args, 'verify')}")
    print(f"Export all:      {league_command(args, 'export')}")
    print(f"Verify one:      {shlex.join((*program(), 'replay', 'verify', str(file)))}")
    if report.complete:
        print(f"Reproduce it:    {shlex.join((*program(), 'reproduce', str(file)))}")


# -- playing the matches, for other commands, too --------------------------------------------------------


def play_season(league: League, args: Namespace, logs: LogFolder | None) -> RunReport:
    """Play the missing matches of a league, as the arguments `jobs`, `quiet`, `stop_on_fault` and `cluster` say.

    With the arguments `matches` and `for_s` it stops after this number of matches or this time.
    """
    stop_when = StopWhen(
        matches=getattr(args, "matches", None),
        after_s=getattr(args, "for_s", None),
        bot_faults=getattr(args, "stop_on_fault", False),
        bots_are_killed=True,
    )
    cluster = getattr(args, "cluster", None)
    if cluster is None:
        with _watcher(args) as watcher:
            return run_league(
                league,
                jobs=args.jobs,
                play=args.tools.play,
                watcher=watcher,
                logs=logs,
                stop_when=stop_when,
                executor=args.tools.new_pool or RefereePool,
            )
    season = league.season
    with (
        cluster.open(season.level, season.bots, limit_s=season.longest_match_s) as executor,
        _watcher(args) as watcher,
    ):
        return run_league(
            league,
            executor=executor,
            jobs=args.jobs,
            play=executor.player(log=logs is not None),
            watcher=watcher,
            logs=logs,
            stop_when=stop_when,
        )


class _Quiet(RunWatcher):
    def note(self, text: str) -> None:
        say(f"note: {text}")


@contextmanager
def _watcher(args: Namespace) -> Iterator[RunWatcher]:
    if args.quiet:
        yield _Quiet()
        return
    from warpleague.report.terminal.console import make_console
    from warpleague.report.terminal.live import LiveWatcher, PlainWatcher

    console = make_console(stderr=True)
    if not console.is_terminal:
        yield PlainWatcher(console)
    else:
        with LiveWatcher(console) as watcher:
            yield watcher


def print_troubles(report: RunReport) -> None:
    """Print what stopped a run before its end, and what of it is void."""
    if report.fault is not None:
        print(f"{fault_line(report.fault)}; played matches stay.")
    if report.void:
        print(f"{len(report.void)} void (the harness or its host failed); the next run tries them again.")
    if report.failure is not None:
        print(f"Given up: {report.failure}")


def fault_line(fault: MatchFault) -> str:
    """At which match and fault a run stopped."""
    where = f"match {fault.fixture.number:,} ({fault.fixture.id}), seat {fault.seat}"
    return f"Stopped at a fault: {where}, {fault.bot}: {fault.fault.kind}: {fault.fault.message}"
