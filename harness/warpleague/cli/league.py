"""Run a league, and look at its tables.

These are the arguments and outputs of `warpleague league`. The work is done in `warpleague.league`; the tables are
made in `warpleague.report`.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.backup import configure_backup, run_backup
from warpleague.cli.common import (
    ARENA,
    RESULTS,
    add_examples,
    add_from_folders,
    add_verb,
    count,
    duration_s,
    league_command,
    log_folder,
    open_league,
    print_json,
    program,
    say,
    write_file,
)
from warpleague.cli.disqualify import DECISIONS, configure_decision, run_decision
from warpleague.cli.export import configure_export, run_export
from warpleague.cli.matches import list_matches
from warpleague.cli.prepare import configure_prepare, run_prepare
from warpleague.cli.report import configure_report, run_report
from warpleague.cli.season import add_cluster, add_stop_on_fault, fault_line, play_season
from warpleague.cli.store import configure_store
from warpleague.errors import BadInput, EntrantsError
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig

    Handler = Callable[[argparse.Namespace], int]


_EXAMPLES: Final = {
    "run": ("leagues/mine.toml", "leagues/mine.toml --jobs 4 --quiet"),
    "standings": ("leagues/mine.toml", "leagues/mine.toml --json"),
    "matches": ("leagues/mine.toml --bot my-bot",),
    "export": ("leagues/mine.toml --match 1", "leagues/mine.toml --format parquet --decisions"),
    "report": ("leagues/mine.toml --replays all",),
    "merge": ("leagues/mine.toml other-machine/results/mine",),
    "commit": ("leagues/mine.toml", "leagues/mine.toml --entrants"),
    "verify": ("leagues/mine.toml", "leagues/mine.toml --head HEAD", "leagues/mine.toml --sample 100"),
    "disqualify": ('leagues/mine.toml my-bot --reason "it is a copy"',),
    "backup": ("leagues/mine.toml --out /mnt/backup/results",),
    "reinstate": ('leagues/mine.toml my-bot --reason "not a copy"',),
}
"""The words after the name of a command in the examples of its help, where that is more than the league file."""

GROUPS: Final = {
    "play the matches": ("run", "prepare", "commit"),
    "look at the tables": (
        *("status", "standings", "crosstable", "bracket", "seats", "faults", "times", "services", "matches"),
    ),
    "use the results elsewhere": ("report", "export", "backup"),
    "check the results": ("verify", "mend", "merge"),
    "decide about bots": ("disqualify", "reinstate"),
}
"""The commands by the titles under which the help lists them."""

_THREADS: Final = "OPENBLAS_NUM_THREADS"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the commands of `warpleague league`."""
    actions = parser.add_subparsers(required=True)

    def action(name: str, help_: str, handler: Handler) -> argparse.ArgumentParser:
        sub = add_verb(actions, name, help_)
        sub.add_argument("config", type=Path, metavar="LEAGUE", help="the file of the league")
        sub.add_argument(
            "--results",
            type=Path,
            default=RESULTS,
            metavar="DIR",
            help="the folder of all results (default: results)",
        )
        sub.add_argument("--json", action="store_true", help="print the result as JSON")
        add_examples(
            sub, *(f"league {name} {words}" for words in _EXAMPLES.get(name, ("leagues/mine.toml",)))
        )
        sub.set_defaults(handler=handler, action=name)
        return sub

    run = action("run", "play all matches that are not played yet, then print the tables", _run)
    run.add_argument(
        "--jobs",
        type=count(0),
        metavar="N",
        help="the number of matches at the same time (default: as the file says; 0: one for each core)",
    )
    add_from_folders(run, "the league, in addition to those of the file, each under the name of its folder")
    add_cluster(run)
    run.add_argument(
        "--matches", type=count(1), metavar="N", help="stop after N matches; the next run continues"
    )
    run.add_argument(
        "--for",
        dest="for_s",
        type=duration_s,
        metavar="TIME",
        help="stop after this time, such as 90s, 10m or 2h, as soon as the matches that have begun are over",
    )
    run.add_argument(
        "--quiet",
        action="store_true",
        help="print only left-out bots and the end of the run, no progress and no tables",
    )
    run.add_argument(
        "--log",
        type=Path,
        metavar="DIR",
        help="write the output of each bot, and all messages to and from it, to files in this folder (default: none; "
        "with `logs = true` in the file, RESULTS/NAME/logs)",
    )
    add_stop_on_fault(run)
    run.add_argument(
        "--beacon",
        metavar="VALUE",
        help="the public value that the dice also depend on, if the file names one under [season]",
    )
    configure_prepare(action("prepare", "build all bots of the league, but play nothing", run_prepare))
    commit = action(
        "commit",
        "fix the secret of the dice before the first match, and print a hash of it to publish",
        _commit,
    )
    commit.add_argument(
        "--entrants",
        action="store_true",
        help="also fix bots, rules and format, and print a hash of them to publish",
    )
    action("status", "print the number of played matches, and the commitments", _show)
    action("standings", "print the standings: the bots from first to last", _show)
    action("crosstable", "print the points of each bot against each other bot", _show)
    action("bracket", "print the bracket of a knockout, or the rounds of a Swiss", _show)
    action("seats", "print the results by seat", _show)
    action("faults", "print the faults by bot and kind", _show)
    action("times", "print how much time the bots used", _show)
    action(
        "services",
        "print failures, tokens and costs of the services (such as language models) that bots use",
        _show,
    )
    matches = action("matches", "list all matches, in the order of the schedule", list_matches)
    matches.add_argument("--bot", metavar="NAME", help="only the matches of this bot")
    configure_export(
        action(
            "export",
            "write the records of matches to files, or tables of all matches for data tools",
            run_export,
        )
    )
    configure_report(
        action("report", "write pages with tables, charts and replays, which any browser opens", run_report)
    )
    configure_store(action)
    configure_backup(
        action("backup", "copy all results to another folder, also while matches are played", run_backup)
    )
    for name, what in DECISIONS.items():
        configure_decision(action(name, what, run_decision))


def _console() -> Console:
    from warpleague.report.terminal.console import make_console

    return make_console()


# Running


def _commit(args: argparse.Namespace) -> int:
    """Settle the secret; a file without bots will do."""
    import attrs

    from warpleague.league.play.entering import commit
    from warpleague.league.season.config import load_config

    config = load_config(args.config, without_bots=not args.entrants)
    fixed = commit(config, args.results, with_entrants=args.entrants, prepare=args.tools.prepare)
    if args.json:
        print_json({"league": config.name, **attrs.asdict(fixed), "store": str(fixed.store)})
        return 0
    print(f"commitment to the season's secret (SHA-256): {fixed.commitment}")
    if args.entrants:
        print(f"commitment to the entrants (SHA-256): {fixed.entrants}")
    say(
        f"{config.name}: fixed {fixed.committed}, stored in {fixed.store}; "
        f"{counted(fixed.played, 'match')} played since"
    )
    if config.seed is not None:
        say(
            f"note: the secret follows from the seed in {args.config}: anyone who sees the file knows the dice"
        )
    return 0


def _run(args: argparse.Namespace) -> int:
    """Exit code 0: all played, or stopped by the user between matches; 1: a match is void, or stopped at a fault."""
    from warpleague.league.play.entering import open_to_run
    from warpleague.league.season.config import load_config

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
                from warpleague.report.terminal.tables import all_tables

                console = _console()
                console.print(all_tables(league, console.width), "")
            _conclude(args, league, report)
        event = _end_event(league, report, over=over)
    _run_on_end(config, event)
    if report.stopped:
        return 130
    return 1 if report.void or report.failure or report.fault else 0


def _end_event(league: League, report: RunReport, *, over: bool) -> dict[str, Any]:
    """The event for the command `on_end`, if the file has one; `over`: the season was over before this run."""
    if not league.config.on_end:
        return {}
    from warpleague.league.play.hooks import run_event
    from warpleague.report.wording.columns import standing_json

    ended = not over and league.store.published() is not None
    return run_event(league, report, standing_json, over=ended)


def _run_on_end(config: LeagueConfig, event: dict[str, Any]) -> None:
    """Run the command of the file, once the store is closed; it changes nothing about how the run ended."""
    if not config.on_end:
        return
    from warpleague.league.play.hooks import run_hook

    if problem := run_hook(config.on_end, config.path.parent, event):
        say(f"note: on_end: {problem}")


def _check_no_arena(config: LeagueConfig, results: Path) -> None:
    """Raise `BadInput` if an arena plays the league: played as its file says, it would lose the submitted bots."""
    if not (results / ARENA).is_file():
        return
    from warpleague.arena.submissions.entering import league_in_arena

    if league_in_arena(config, results) is not None:
        raise BadInput(
            f"{results}: the arena in this folder plays {config.name}, with the bots that were submitted: "
            f"warpleague arena play {config.path}; to play it without them, name another folder with --results"
        )


def _print_problems(args: argparse.Namespace, config: LeagueConfig, error: EntrantsError) -> int:
    """Several bots cannot take part: all of them at once, and how to play without them."""
    from warpleague.report.terminal.bots import problems_table
    from warpleague.report.terminal.console import make_console

    if args.json:
        print_json({"league": config.name, "problems": [problem.to_json() for problem in error.problems]})
    make_console(stderr=True).print(problems_table(error.problems, len(config.bots)))
    say(f'Mend them; or play without them: write  missing = "skip"  above bots in {args.config}')
    return 2


def _announce(league: League, args: argparse.Namespace) -> None:
    """Warnings before a match is played; without `--quiet` also what is going to be played."""
    from warpleague.report.wording.league_words import decision_lines, dice_line

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
        _print_commitments(league)
    if len(entered := league.store.entered()) > 1 and league.store.count():
        say(
            f"note: the entrants or the format have changed since {entered[0].since}; status lists all commitments"
        )
    published = league.store.published()
    if published is not None and league.store.count_of(league.due) != league.due.total:
        say(
            f"note: the secret of this season is public since {published}: anyone who made a bot after that "
            "could know its dice. A league file with another name starts a new season"
        )


def _print_commitments(league: League) -> None:
    """Tell what lets others check later that nothing was changed; with a seed in the file nothing is secret."""
    if league.config.seed is not None and league.config.season.beacon is None:
        return
    from warpleague.league.store.events import commitment_to

    say(f"commitment to the season's secret (SHA-256): {league.season.commitment}")
    say(f"commitment to the entrants (SHA-256): {commitment_to(league.season)}")
    if not league.store.count():
        say("note: who publishes both now can prove later that dice, bots and rules stayed as they are")


def _run_json(league: League, report: RunReport) -> dict[str, Any]:
    from warpleague.league.results.faulted import bot_faults, confined_matches
    from warpleague.league.store.events import commitment_to
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
        "standings": standings_json(league),
        "faults": [fault.to_json() for fault in bot_faults(league)],
        "stopped_at_fault": None if report.fault is None else report.fault.to_json(),
        "disqualified": [decision.to_json() for decision in league.disqualified],
    }


def _conclude(args: argparse.Namespace, league: League, report: RunReport) -> None:
    """The rest, and the commands to check and reproduce a match, whose record is written for them."""
    from warpleague.league.results.faulted import bot_faults
    from warpleague.league.upkeep.verifying import published_record
    from warpleague.report.wording.league_words import MAX_FAULTED, duration, fault_lines, waited_words

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
    if report.fault is not None:
        print(f"{fault_line(report.fault)}; played matches stay.")
    if report.void:
        print(f"{len(report.void)} void (the harness or its host failed); the next run tries them again.")
    if report.failure is not None:
        print(f"Given up: {report.failure}")
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


# Looking


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let numpy, if it is loaded now, start no threads for linear algebra: that takes longer than what they do."""
    known = os.environ.get(_THREADS)
    os.environ[_THREADS] = known or "1"
    try:
        yield
    finally:
        if known is None:
            del os.environ[_THREADS]


def _show(args: argparse.Namespace) -> int:
    """Every look at a league: the action names it."""
    from warpleague.report.terminal.tables import VIEWS

    view = VIEWS[args.action]
    with _one_thread(), open_league(args) as league:
        if args.json:
            print_json(view.data(league))
        else:
            console = _console()
            console.print(view.table(league, console.width))
    return 0
