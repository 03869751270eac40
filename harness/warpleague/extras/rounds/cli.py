"""Let programs edit bots in rounds of edit, check and play, and compare the versions."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from warpleague.cli.common import RESULTS, print_json, program, say, write_file
from warpleague.cli.league_run import play_season
from warpleague.errors import BadInput
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.playing import RunFolder
from warpleague.extras.rounds.replicates import Replicated, replicated
from warpleague.extras.rounds.report import replicates_page, replicates_view, rounds_page, rounds_view
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
    from warpleague.league.play.running import RunReport
    from warpleague.league.results.league import League
    from warpleague.runner.bot.logs import LogFolder

    _Runs: TypeAlias = list[tuple[RunFolder, Results]]

VERBS: Final = ("run", "results", "page", "tables", "verify")
DEMO: Final = "rounds/demo.toml"
OUTPUTS: Final = {"rounds": Results | Replicated | list[str] | Verification}
"""What the command prints with `--json`."""


def run_rounds_command(args: Namespace) -> int:
    """Exit code 0: done; 1: a match is void, or a check failed; 130: stopped by the user."""
    if args.demo and not set(args.words) <= set(VERBS):
        raise BadInput("--demo takes no FILE; leave out one of the two")
    verb, file = _parse_words([*args.words, DEMO] if args.demo else args.words)

    config = load_rounds(file)
    if args.replicate is not None and args.replicate > config.replicates:
        raise BadInput(f"--replicate: {file} has {counted(config.replicates, 'replicate')}")
    if verb == "run":
        return _run(args, config)
    if verb == "verify":
        return _verify(args, config)
    runs = _begun(args, config)
    if verb == "results":
        _print(args, _summary(args, config, runs))
        return 0
    files = _write_pages(config, args, runs) if verb == "page" else []
    for run_folder, results in runs if verb == "tables" else []:
        files += write_tables(results, run_folder.path / "tables", args.format)
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
    for run in _chosen(args, config):
        if len(config.runs) > 1 and not args.quiet:
            say(f"replicate {run.replicate} of {config.replicates}")
        with open_run(run, args.results) as (run_folder, state):
            try:
                run_rounds(run, run_folder, state, context)
            except Stopped as stopped:
                code = 1 if str(stopped) else 130
                say(f"{str(stopped) or 'stopped'}; the same command continues")
                state.save(run_folder.state)  # what has begun can be read
                break
    runs = _begun(args, config)
    page = _write_pages(config, args, runs)[-1]
    _print(args, _summary(args, config, runs))
    if not args.json and not code:
        _print_next_steps(args, config, page)
    return code


def _chosen(args: Namespace, config: RoundsConfig) -> tuple[RoundsConfig, ...]:
    """The runs that a command is for."""
    return config.runs if args.replicate is None else (config.runs[args.replicate - 1],)


def _with_state(args: Namespace, runs: tuple[RoundsConfig, ...]) -> tuple[RoundsConfig, ...]:
    """Those of the runs that have begun; the first one if none has, for the error that says so."""
    return tuple(run for run in runs if RunFolder.of(run, args.results).state.is_file()) or runs[:1]


def _begun(args: Namespace, config: RoundsConfig) -> _Runs:
    """All runs that have begun, with their results. Raises `BadInput` if none has."""
    read = []
    for run in _with_state(args, config.runs):
        run_folder, state = begun_run(run, args.results)
        read.append((run_folder, results_of(run, state, run_folder)))
    return read


def _summary(args: Namespace, config: RoundsConfig, runs: _Runs) -> Results | Replicated:
    """The means over all runs, or the results of the only one, or of the one that was asked for."""
    if args.replicate is None and config.replicates > 1:
        return replicated([results for _, results in runs], config.replicates)
    number = args.replicate or 1
    chosen = next((results for run_folder, results in runs if run_folder.replicate == number), None)
    if chosen is None:
        raise BadInput(f"--replicate: replicate {number} of {config.path} has not begun")
    return chosen


def _write_pages(config: RoundsConfig, args: Namespace, runs: _Runs) -> list[Path]:
    """Write the page of each run, and at last, if there are several, the one of all."""
    several = config.replicates > 1
    files = []
    for run_folder, results in runs:
        page = run_folder.report
        if several and run_folder.replicate == 1:
            page = page.with_name("replicate-1.html")
        write_file(page, rounds_page(results))
        files.append(page)
    if several:
        target = RunFolder.of(config, args.results).report
        summary = replicated([results for _, results in runs], config.replicates)
        write_file(target, replicates_page(summary, [os.path.relpath(page, target.parent) for page in files]))
        files.append(target)
    return files


def _print(args: Namespace, results: Results | Replicated) -> None:
    if args.json:
        print_json(results.to_json())
        return

    console = make_console()
    if isinstance(results, Replicated):
        console.print(replicates_view(results, console.width))
    else:
        console.print(rounds_view(results, console.width))


def _print_next_steps(args: Namespace, config: RoundsConfig, page: Path) -> None:
    results = () if args.results == RESULTS else ("--results", str(args.results))
    print(f"\nVerify: {shlex.join((*program(), 'rounds', 'verify', str(config.path), *results))}")
    print(f"open {short_name(page)}")


def _verify(args: Namespace, config: RoundsConfig) -> int:
    runs = _with_state(args, _chosen(args, config))
    checked = verify_rounds(runs, args.results, jobs=args.jobs or 0)
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
