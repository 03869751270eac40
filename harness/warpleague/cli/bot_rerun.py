"""Puts recorded matches to a bot again, and lists where it decides differently, faults, or is slower.

`warpleague.extras.study.rerun` asks the bot; `warpleague.extras.study.rerun` prints what came of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import (
    add_examples,
    add_level,
    add_verb,
    count,
    print_json,
    sandbox_paths,
    say,
    seconds,
)
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from warpleague.extras.study.rerun import Task

SUFFIXES = (".jsonl", ".jsonl.zst", ".jsonl.gz")


def configure_rerun(verbs: argparse._SubParsersAction[Any]) -> None:
    """Add the arguments of `warpleague bot rerun`."""
    rerun = add_verb(
        verbs,
        "rerun",
        "ask a bot the questions of recorded matches again, and list its different decisions",
    )
    rerun.add_argument("folder", type=Path, metavar="BOT", help="the folder of the bot")
    rerun.add_argument(
        "records",
        type=Path,
        nargs="+",
        metavar="RECORD",
        help="the record of a match, a folder of records, or a league file: then all its played matches",
    )
    rerun.add_argument(
        "--seat",
        type=count(0),
        metavar="N",
        help="ask the questions of this seat, counted from 0 (default: of the seats whose bot had the same name)",
    )
    rerun.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="ask the questions of the bot with this name instead; can be given several times",
    )
    rerun.add_argument(
        "--jobs",
        type=count(1),
        metavar="N",
        help="the number of processes at the same time (default: one for each core)",
    )
    rerun.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="the folder of all results (default: %(default)s)",
    )
    rerun.add_argument(
        "--list",
        type=count(0),
        default=20,
        metavar="N",
        help="list at most N decisions (default %(default)s)",
    )
    rerun.add_argument(
        "--seconds",
        type=seconds,
        metavar="TIME",
        help="stop after this time, but not before the first record is done, and print the results so far",
    )
    add_level(rerun)
    rerun.add_argument("--json", action="store_true", help="print all results as JSON")
    add_examples(
        rerun,
        "bot rerun my-bot results/one.jsonl --seat 0",
        "bot rerun my-bot leagues/mine.toml",
        "bot rerun my-bot results/mine/records --name old-bot --json",
    )
    rerun.set_defaults(handler=run_rerun)


def _tasks(args: argparse.Namespace) -> Iterator[Task]:
    """The records that the arguments name, read one by one."""
    from warpleague.extras.study.rerun import Task
    from warpleague.match.record import read_compressed, unreadable

    for path in args.records:
        if path.suffix == ".toml":
            yield from _league_tasks(args, path)
            continue
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES))
            if not files:
                raise BadInput(f"{path}: no records in this folder: their names end in {', '.join(SUFFIXES)}")
        for file in files:
            try:
                data = read_compressed(file)
            except OSError as error:
                raise unreadable(file, error) from None
            yield Task(str(file), data, args.seat)


def _league_tasks(args: argparse.Namespace, path: Path) -> Iterator[Task]:
    from warpleague.extras.study.rerun import Task
    from warpleague.league.results.league import open_to_read
    from warpleague.league.season.config import load_config

    with open_to_read(load_config(path), args.results) as league:
        for fixture, _ in league.stored():
            key = league.season.key_of(fixture.deal)
            yield Task(f"{path}: match {fixture.id}", league.store.record(fixture.id), args.seat, key)


def run_rerun(args: argparse.Namespace) -> int:
    """Put all records to the bot; 0 if it decided as recorded everywhere, 1 if not or at a fault.

    130 after Ctrl-C.
    """
    import time
    from contextlib import closing

    from warpleague.cli.work_progress import WorkProgress
    from warpleague.extras.study.rerun import (
        Bot,
        Summary,
        TimeIsUp,
        print_fault,
        print_summary,
        rerun,
        seen_json,
        summary_json,
    )
    from warpleague.runner.bundle.bundle import prepare
    from warpleague.runner.bundle.shipped import located

    if ".jsonl" in args.folder.name:
        raise BadInput(
            f"{args.folder}: is a record; the bot comes first: warpleague bot rerun BOT {args.folder}"
        )
    bundle = prepare(located(args.folder), args.level, sandbox_paths(args))
    if args.seat is not None and args.name:
        raise BadInput("--seat and --name both say which seats: give one of them")
    names = frozenset(args.name or [bundle.name])
    bot = Bot(bundle.seat(), args.level, names)
    begun = time.perf_counter()
    summary = Summary(most=args.list)
    rows: list[dict[str, Any]] = []
    unseeded = False
    stopped = ""
    end_s = None if args.seconds is None else time.monotonic() + args.seconds
    try:
        with WorkProgress() as progress, closing(rerun(bot, _tasks(args), args.jobs, end_s)) as rerun_seats:
            for seats in rerun_seats:
                summary.records += 1
                for seen in seats:
                    summary.add(seen)
                    unseeded |= not seen.seeded
                    if args.json:
                        rows.append(seen_json(seen))
                    elif seen.fault is not None:
                        print_fault(seen)
                progress.show(
                    f"{counted(summary.records, 'record')}, {counted(summary.decisions, 'decision')}, "
                    f"{summary.different:,} different"
                )
    except TimeIsUp:
        stopped = f"after {args.seconds:g} s"
    except KeyboardInterrupt:
        stopped = "by Ctrl-C"
    summary.elapsed_s = time.perf_counter() - begun
    if not summary.seats and not stopped:
        raise BadInput(
            f"none of {counted(summary.records, 'record')} has a seat of {', '.join(sorted(names))}: "
            "--name says whose seats to take, --seat which"
        )
    if unseeded:
        say("note: the keys of some records are secret, so the bot got another seed there than in its match")
    if args.json:
        print_json({"bot": bundle.name, **summary_json(summary), "stopped": bool(stopped), "seats": rows})
    else:
        print_summary(bundle.name, summary)
    if stopped:
        say(f"stopped {stopped}: the records after that were not put to the bot")
    if stopped == "by Ctrl-C":
        return 130
    return 1 if summary.different or summary.faults else 0
