"""The commands `analyse`, which finds the mistakes of a recorded match, and `bot rerun`, which asks a bot again."""

from __future__ import annotations

import json
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import WorkProgress, print_json, say
from warpleague.cli.match_options import sandbox_paths
from warpleague.errors import BadInput
from warpleague.extras.study.analyse import (
    AnalysisFile,
    Plan,
    Setting,
    about,
    analyse,
    are_shares,
    chosen,
    concluded,
    load,
    places,
)
from warpleague.extras.study.rerun import (
    Bot,
    Rerun,
    RerunSeat,
    Summary,
    Task,
    TimeIsUp,
    print_fault,
    print_summary,
    rerun,
)
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.match.record import attempt_of, read_compressed, read_record, unreadable
from warpleague.match.replay import Replay
from warpleague.match.spec import TimeControl
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.cache import cache_folder
from warpleague.runner.bundle.manifest import games_named, plays
from warpleague.runner.bundle.shipped import located
from warpleague.strict import structure
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from warpleague.extras.study.analyse import Book, Place
    from warpleague.match.spec import SeatSpec

_SECONDS: Final = 60.0
_ACTIONS: Final = {False: 16, True: 4}
"""The most actions to examine, without bots and with them: bots choose themselves which are worth it."""


# -- analyse ---------------------------------------------------------------------------------------------


def run_analyse(args: Namespace) -> int:
    """Analyse the record as far as the budget goes, and print the findings."""
    # These load pages, and numpy for them.
    from warpleague.extras.study.report import Analysed, print_analysis

    begun = time.monotonic()
    replay = Replay(read_record(args.file), where=str(args.file))
    if args.seat is not None and args.seat >= replay.header["players"]:
        raise BadInput(f"--seat {args.seat}: the match has seats 0 to {replay.header['players'] - 1}")
    positions = places(replay)  # all, as the file may have samples of all
    setting = _setting(args, replay)
    actions = args.actions or _ACTIONS[bool(setting.bots)]
    heading = about(setting, actions)
    path = args.out or _default_file(heading)
    shares = are_shares(replay)
    if args.estimates and not shares:
        raise BadInput("--estimates: in this solo game a match is worth its score, which no bot says")
    most, least = 256 if args.playouts is None else args.playouts, args.blunder if shares else 0.0
    plan = Plan(most, actions, least, args.seed, bool(setting.bots), shares)
    wanted = chosen(positions, args.seat, args.line)
    limit_s = args.seconds or (_SECONDS if args.playouts is None else None)
    interrupted = False
    with AnalysisFile(path, heading) as file:
        _, book = load(path, [place.decision for place in positions])
        try:
            stopped = _play(args, setting, wanted, book, plan, file, limit_s)
        except KeyboardInterrupt:
            stopped = interrupted = True
    analysis = concluded(heading, replay.game, wanted, book, plan)
    if setting.estimates and book.playouts and not book.valued:
        raise BadInput(f"--estimates: {_names(setting)} gave no value in any answer: leave out --estimates")
    elapsed_s = time.monotonic() - begun
    if args.json:
        print_json(attrs.asdict(Analysed.of(analysis, replay, elapsed_s, path, stopped=stopped)))
    else:
        print_analysis(analysis, replay, elapsed_s, args.list, every=args.all)
    if stopped:
        say(f"stopped {'by Ctrl-C' if interrupted else f'after {limit_s:g} s'}: the same command goes on")
    if args.out is not None:
        say(f"stored in {path}; a page with it: warpleague replay page {args.file} --analysis {path}")
    return 130 if interrupted else 0


def _play(
    args: Namespace,
    setting: Setting,
    wanted: list[Place],
    book: Book,
    plan: Plan,
    file: AnalysisFile,
    limit_s: float | None,
) -> bool:
    """Play until all is known or the time is up; return whether the time is up."""
    end_s = None if limit_s is None else time.monotonic() + limit_s
    try:
        with (
            WorkProgress() as progress,
            closing(analyse(setting, wanted, book, plan, args.jobs, end_s)) as work,
        ):
            for sample in work:
                file.add(sample)
                progress.show(counted(book.playouts, "playout"))
    except TimeIsUp:
        return True
    return False


def _names(setting: Setting) -> str:
    return ", ".join(dict.fromkeys(seat.bot for seat in setting.bots))


def _setting(args: Namespace, replay: Replay) -> Setting:
    header, summary = replay.header, replay.summary
    assert summary is not None
    if not args.bots and (args.estimates or args.move_s is not None):
        raise BadInput("--estimates and --move-s are about the bots that --with names")
    clock = structure(header["clock"], TimeControl, f"{args.file}: clock")
    if args.move_s is not None:
        clock = attrs.evolve(clock, move_s=args.move_s, bank_s=None, increment_s=None)
    return Setting(
        record=summary.digest,
        game=header["game"],
        players=header["players"],
        options=header["options"],
        seed=args.seed,
        bots=_bots_of(args, header["game"], header["players"]),
        clock=clock,
        level=args.level,
        estimates=args.estimates,
        all_known=args.all_known,
    )


def _bots_of(args: Namespace, game: str, players: int) -> tuple[SeatSpec, ...]:
    if not args.bots:
        return ()
    if len(args.bots) not in (1, players):
        raise BadInput(
            f"--with: the match has {players} seats; name one bot, or {players}, not {len(args.bots)}"
        )
    paths = sandbox_paths(args)
    bundles = [prepare(located(Path(bot)), args.level, paths) for bot in args.bots]
    for bundle in bundles:
        if not plays(bundle.games, game):
            raise BadInput(
                f"--with: {bundle.name} does not play {game} (its games: {games_named(bundle.games)})"
            )
    seats = [bundle.seat() for bundle in bundles]
    return tuple(seats if len(seats) == players else seats * players)


def _default_file(heading: dict[str, Any]) -> Path:
    """The default file of an analysis."""
    name = sha256(json.dumps(heading, sort_keys=True).encode()).hexdigest()[:32]
    return cache_folder() / "analyses" / f"{name}.jsonl"


# -- bot rerun -------------------------------------------------------------------------------------------

_SUFFIXES: Final = (".jsonl", ".jsonl.zst", ".jsonl.gz")


def run_rerun(args: Namespace) -> int:
    """Put all records to the bot; 0 if it decided as recorded everywhere, 1 if not or at a fault.

    130 after Ctrl-C.
    """
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
    rows: list[RerunSeat] = []
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
                        rows.append(RerunSeat.of(seen))
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
        print_json(attrs.asdict(Rerun.of(bundle.name, summary, rows, stopped=bool(stopped))))
    else:
        print_summary(bundle.name, summary)
    if stopped:
        say(f"stopped {stopped}: the records after that were not put to the bot")
    if stopped == "by Ctrl-C":
        return 130
    return 1 if summary.different or summary.faults else 0


def _tasks(args: Namespace) -> Iterator[Task]:
    """The records that the arguments name, read one by one."""
    for path in args.records:
        if path.suffix == ".toml":
            yield from _league_tasks(args, path)
            continue
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIXES))
            if not files:
                raise BadInput(
                    f"{path}: no records in this folder: their names end in {', '.join(_SUFFIXES)}"
                )
        for file in files:
            try:
                data = read_compressed(file)
            except OSError as error:
                raise unreadable(file, error) from None
            yield Task(str(file), data, args.seat)


def _league_tasks(args: Namespace, path: Path) -> Iterator[Task]:
    with open_to_read(load_config(path), args.results) as league:
        for fixture, _ in league.stored():
            record = league.store.record(fixture.id)
            key = league.season.key_of(fixture.deal, attempt_of(record))
            yield Task(f"{path}: match {fixture.id}", record, args.seat, key)
