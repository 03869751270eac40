"""Find the mistakes and turning points of a recorded match: it plays every possible action to the end many times.

`warpleague.extras.study.analyse` plays and judges them, and `warpleague.extras.study.report` prints.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import (
    TIMES,
    add_examples,
    add_level,
    count,
    print_json,
    sandbox_paths,
    say,
    seconds,
)
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    from warpleague.extras.study.analyse import AnalysisFile, Book, Place, Plan, Setting
    from warpleague.match.replay import Replay
    from warpleague.match.spec import SeatSpec

_SECONDS: Final = 60.0
_ACTIONS: Final = {False: 16, True: 4}
"""The most actions to examine, without bots and with them: bots choose themselves which are worth it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague analyse`."""
    from warpleague.extras.study.analyse import FIRST, LEAST

    parser.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    parser.add_argument(
        "--with",
        dest="bots",
        nargs="+",
        default=[],
        metavar="BOT",
        help="the folders of the bots that play on: one for all seats, or one for each (default: random actions)",
    )
    parser.add_argument(
        "--estimates",
        action="store_true",
        help="do not play on to the end: use the value that the bot at the deciding seat expects",
    )
    parser.add_argument(
        "--all-known",
        action="store_true",
        help="keep the facts that the seat did not know (default: they are drawn again at random)",
    )
    parser.add_argument(
        "--seat", type=count(0), metavar="S", help="only the decisions of seat S, counted from 0"
    )
    parser.add_argument(
        "--line",
        type=count(1),
        action="append",
        default=[],
        metavar="N",
        help="only the decision on line N; can be given several times",
    )
    budget = parser.add_argument_group("effort", TIMES)
    budget.add_argument(
        "--seconds",
        type=seconds,
        metavar="TIME",
        help=f"stop after this time, but not before the first result; the same command continues later (default "
        f"{_SECONDS:g}s; with --playouts: no limit)",
    )
    budget.add_argument(
        "--playouts",
        type=count(FIRST),
        default=None,
        metavar="N",
        help="play on from one action at most N times (default 256): 8, 16, 32, 64 ...",
    )
    budget.add_argument(
        "--actions",
        type=count(2),
        metavar="N",
        help="examine at most N actions of a decision (default 16; 4 with bots)",
    )
    budget.add_argument(
        "--move-s",
        type=seconds,
        metavar="TIME",
        help="time limit of the bots for each decision (default: as in the record)",
    )
    budget.add_argument(
        "--jobs",
        type=count(1),
        metavar="N",
        help="the number of processes at the same time (default: one for each core)",
    )
    parser.add_argument(
        "--seed", default="analyse", metavar="TEXT", help="a text from which all random numbers follow"
    )
    parser.add_argument(
        "--blunder",
        type=_share,
        default=LEAST,
        metavar="X",
        help="the least share of the points that a mistake loses (default %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="FILE",
        help="write the analysis to this file, for `replay page --analysis FILE` (default: to your cache)",
    )
    parser.add_argument(
        "--list",
        type=count(0),
        default=10,
        metavar="N",
        help="list at most N mistakes and turning points (default %(default)s)",
    )
    parser.add_argument("--all", action="store_true", help="print a table of all decisions, too")
    add_level(parser)
    parser.add_argument("--json", action="store_true", help="print all results as JSON")
    add_examples(
        parser,
        "analyse results/one.jsonl",
        "analyse results/one.jsonl --with bots/aliens-greedy --seconds 300",
        "analyse results/one.jsonl --line 31 --playouts 1024 --with my-bot",
    )
    parser.set_defaults(handler=run)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a share from 0 to 1, not {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    """Analyse the record as far as the budget goes, and print the findings."""
    import contextlib
    import time

    from warpleague.extras.study.analyse import AnalysisFile, Plan, about, are_shares, concluded, load, places
    from warpleague.extras.study.report import analysis_json, print_analysis
    from warpleague.match.record import read_record
    from warpleague.match.replay import Replay

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
    plan = Plan(
        256 if args.playouts is None else args.playouts,
        actions,
        args.blunder if shares else 0.0,
        args.seed,
        bool(setting.bots),
        shares,
    )
    wanted = positions
    if args.seat is not None or args.line:
        wanted = places(replay, args.seat, args.line)
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
        print_json(analysis_json(analysis, replay, elapsed_s, path, stopped=stopped))
    else:
        with contextlib.suppress(BrokenPipeError):
            print_analysis(analysis, replay, elapsed_s, args.list, every=args.all)
    if stopped:
        say(f"stopped {'by Ctrl-C' if interrupted else f'after {limit_s:g} s'}: the same command goes on")
    if args.out is not None:
        say(f"stored in {path}; a page with it: warpleague replay page {args.file} --analysis {path}")
    return 130 if interrupted else 0


def _play(
    args: argparse.Namespace,
    setting: Setting,
    wanted: list[Place],
    book: Book,
    plan: Plan,
    file: AnalysisFile,
    limit_s: float | None,
) -> bool:
    """Play until all is known or the time is up; return whether the time is up."""
    import time
    from contextlib import closing

    from warpleague.cli.work_progress import WorkProgress
    from warpleague.extras.study.analyse import analyse
    from warpleague.extras.study.rerun import TimeIsUp

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


def _setting(args: argparse.Namespace, replay: Replay) -> Setting:
    import attrs

    from warpleague.extras.study.analyse import Setting
    from warpleague.match.spec import TimeControl
    from warpleague.strict import structure

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
        bots=_seats(args, header["players"]),
        clock=clock,
        level=args.level,
        estimates=args.estimates,
        all_known=args.all_known,
    )


def _seats(args: argparse.Namespace, players: int) -> tuple[SeatSpec, ...]:
    from warpleague.runner.bundle.bundle import prepare
    from warpleague.runner.bundle.shipped import located

    if not args.bots:
        return ()
    if len(args.bots) not in (1, players):
        raise BadInput(
            f"--with: the match has {players} seats; name one bot, or {players}, not {len(args.bots)}"
        )
    paths = sandbox_paths(args)
    seats = [prepare(located(Path(bot)), args.level, paths).seat() for bot in args.bots]
    return tuple(seats if len(seats) == players else seats * players)


def _default_file(heading: dict[str, Any]) -> Path:
    """The default file of an analysis."""
    import json
    from hashlib import sha256

    from warpleague.runner.bundle.cache import cache_folder

    name = sha256(json.dumps(heading, sort_keys=True).encode()).hexdigest()[:32]
    return cache_folder() / "analyses" / f"{name}.jsonl"
