"""Let programs edit bots in rounds of edit, check and play, and compare the versions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.cli.common import RESULTS, print_json, program, say, write_file
from warpleague.cli.league_run import play_season
from warpleague.errors import BadInput
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.report import rounds_page, rounds_view
from warpleague.extras.rounds.results import Results, results_of, write_tables
from warpleague.extras.rounds.run import RunContext, Stopped, begun_run, open_run, run_rounds
from warpleague.extras.rounds.verify import Verification, verify_rounds
from warpleague.extras.rounds.workspace import task_documents, task_text
from warpleague.report.terminal.console import make_console
from warpleague.runner.bundle.shipped import short_name
from warpleague.text import counted, nearest

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.extras.rounds.file import RoundsConfig
    from warpleague.extras.rounds.playing import RunFolder
    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League
    from warpleague.runner.bot.logs import LogFolder

VERBS: Final = ("run", "results", "page", "tables", "verify")
DEMO: Final = "rounds/demo.toml"
OUTPUTS: Final = {"rounds": Results | list[str] | Verification}
"""What the command prints with `--json`."""


def run_rounds_command(args: Namespace) -> int:
    """Exit code 0: done; 1: a match is void, or a check failed; 130: stopped by the user."""
    if args.demo and not set(args.words) <= set(VERBS):
        raise BadInput("--demo takes no FILE; leave out one of the two")
    verb, file = _parse_words([*args.words, DEMO] if args.demo else args.words)

    config = load_rounds(file)
    if verb == "verify":
        return _verify(args, config)
    if verb == "run":
        return _run(args, config)
    run_folder, state = begun_run(config, args.results)
    results = results_of(config, state, run_folder)
    if verb == "results":
        _print(args, results)
        return 0
    if verb == "page":
        files = [_write_page(run_folder, results)]
    else:
        files = write_tables(results, run_folder.path / "tables", args.format)
    if args.json:
        print_json([str(file) for file in files])
    else:
        print(*files, sep="\n")
    return 0


def _parse_words(words: list[str]) -> tuple[str, Path]:
    match words:
        case [str(file)]:
            if file in VERBS and not Path(file).is_file():
                raise BadInput(f"FILE missing; for example: warpleague rounds {file} rounds/mine.toml")
            return "run", Path(file)
        case [str(verb), str(file)] if verb in VERBS:
            return verb, Path(file)
        case []:
            raise BadInput("FILE missing; for example: warpleague rounds rounds/mine.toml")

    raise BadInput(f"{words[0]!r} is not one of {', '.join(VERBS)}; {nearest(words[0], VERBS)}")


def _run(args: Namespace, config: RoundsConfig) -> int:
    if args.jobs is not None:
        config = attrs.evolve(config, run=attrs.evolve(config.run, jobs=args.jobs))
    args.cluster = None

    def play(league: League, logs: LogFolder) -> RunReport:
        return play_season(league, args, logs)

    context = RunContext(
        play=play,
        task=task_text,
        documents=task_documents(config),
        say=(lambda _: None) if args.quiet else say,
    )
    code = 0
    with open_run(config, args.results) as (run_folder, state):
        try:
            run_rounds(config, run_folder, state, context)
        except Stopped as stopped:
            code = 1 if str(stopped) else 130
            say(f"{str(stopped) or 'stopped'}; the same command continues")
        results = results_of(config, state, run_folder)
        page = _write_page(run_folder, results)
    _print(args, results)
    if not args.json and not code:
        _print_next_steps(args, config, page)
    return code


def _write_page(run_folder: RunFolder, results: Results) -> Path:
    write_file(run_folder.report, rounds_page(results))
    return run_folder.report


def _print(args: Namespace, results: Results) -> None:
    if args.json:
        print_json(results.to_json())
        return

    console = make_console()
    console.print(rounds_view(results, console.width))


def _print_next_steps(args: Namespace, config: RoundsConfig, page: Path) -> None:
    results = () if args.results == RESULTS else ("--results", str(args.results))
    print(f"\nVerify: {shlex.join((*program(), 'rounds', 'verify', str(config.path), *results))}")
    print(f"open {short_name(page)}")


def _verify(args: Namespace, config: RoundsConfig) -> int:
    checked = verify_rounds(config, args.results, jobs=args.jobs or 0)
    if args.json:
        print_json(attrs.asdict(checked))
        return 0 if checked.holds else 1
    for problem in checked.problems:
        print(f"WRONG  {problem}")
    others = f"{counted(checked.versions, 'version')}, {counted(checked.commits, 'commit')}"
    print(
        f"{checked.records_hold:,} of {counted(checked.records, 'record')} hold; "
        f"{others} and {counted(checked.rounds, 'round')} checked."
    )
    return 0 if checked.holds else 1
