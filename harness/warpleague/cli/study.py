"""Finds the mistakes of recorded matches, and plays on from their positions.

`warpleague.extras.study` does the work; `warpleague.report.terminal` prints.
"""

from __future__ import annotations

import contextlib
import json
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import (
    WorkProgress,
    check_new,
    check_writable,
    parse_key,
    print_json,
    say,
    write_file,
)
from warpleague.cli.match import result_json, show_result
from warpleague.cli.match_options import sandbox_paths
from warpleague.errors import BadInput, BotError
from warpleague.match.chance import match_key
from warpleague.match.record import bare_name, pack, read_record
from warpleague.match.replay import Replay
from warpleague.match.setup import match_id, recorded_spec
from warpleague.match.spec import TimeControl
from warpleague.extras.study.report import analysis_json, print_analysis
from warpleague.runner.bundle.bundle import find, prepare
from warpleague.runner.bundle.cache import cache_folder
from warpleague.runner.bundle.shipped import located
from warpleague.runner.play import play_match
from warpleague.strict import structure
from warpleague.extras.study.analyse import (
    AnalysisFile,
    Plan,
    Setting,
    about,
    analyse,
    are_shares,
    concluded,
    load,
    places,
)
from warpleague.match.branch import branch_off
from warpleague.extras.study.rerun import TimeIsUp
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.match.spec import SeatSpec
    from warpleague.extras.study.analyse import Book, Place

_SECONDS: Final = 60.0
_ACTIONS: Final = {False: 16, True: 4}
"""The most actions to examine, without bots and with them: bots choose themselves which are worth it."""


# -- analyse ---------------------------------------------------------------------------------------------


def run_analyse(args: Namespace) -> int:
    """Analyse the record as far as the budget goes, and print the findings."""
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
        bots=_seats(args, header["players"]),
        clock=clock,
        level=args.level,
        estimates=args.estimates,
        all_known=args.all_known,
    )


def _seats(args: Namespace, players: int) -> tuple[SeatSpec, ...]:
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
    name = sha256(json.dumps(heading, sort_keys=True).encode()).hexdigest()[:32]
    return cache_folder() / "analyses" / f"{name}.jsonl"


# -- replay branch ---------------------------------------------------------------------------------------


def run_branch(args: Namespace) -> int:
    """Play the branch, and write its record."""
    action = _action(args.action)
    replay = Replay(read_record(args.file), key=parse_key(args.key), where=str(args.file))
    header = replay.header
    same_dice = args.seed is None
    seed, key = header["seed"], replay.key
    if args.seed is not None:
        seed, key = args.seed, match_key(args.seed)
    if key is None:
        raise BadInput(f"{args.file}: its key is a secret of its season: say --key, or --seed for other dice")
    redeal = f"{key.hex()} {args.at}" if args.redeal else None
    branch = branch_off(replay, args.at, seat=args.seat, action=action, redeal=redeal, same_dice=same_dice)
    name = bare_name(args.file)
    out: Path = args.record or Path(f"{name}-at-{args.at}.jsonl")
    check_new(out, args.force)
    check_writable(out)
    spec = attrs.evolve(
        recorded_spec(header, _branch_seats(args, header["seats"]), key, args.level, str(args.file)),
        seed=seed,
        options=branch.options,
        position=branch.position,
        parent=branch.parent,
    )
    if args.move_s is not None:
        clock = attrs.evolve(spec.clock, move_s=args.move_s, bank_s=None, increment_s=None)
        seats = tuple(attrs.evolve(seat, clock=None) for seat in spec.seats)
        spec = attrs.evolve(spec, clock=clock, seats=seats)
    spec = attrs.evolve(spec, id=match_id(replay.game, spec))
    result = play_match(spec)
    write_file(out, pack(result.record, out.name))
    if args.json:
        print_json({**result_json(spec, result, str(out)), "parent": branch.parent})
        return 0
    show_result(spec, result)
    say(f"record written to {out}; it branches off after line {args.at} of {args.file}")
    return 0


def _action(text: str | None) -> dict[str, Any] | int | None:
    if text is None:
        return None
    try:
        action = json.loads(text)
    except (ValueError, RecursionError):
        action = None
    if isinstance(action, dict) or type(action) is int:
        return action
    raise BadInput(
        f"--action {text}: must be an index, or the JSON object of an action such as "
        '\'{"do": "end"}\' in quotes of the shell'
    )


def _branch_seats(args: Namespace, recorded: list[dict[str, Any]]) -> tuple[SeatSpec, ...]:
    paths = sandbox_paths(args)
    if args.bots:
        if len(args.bots) != len(recorded):
            raise BotError(
                f"--bots: the match has {len(recorded)} seats; name as many bots, not {len(args.bots)}"
            )
        return tuple(prepare(located(Path(bot)), args.level, paths).seat() for bot in args.bots)
    seats = []
    for number, seat in enumerate(recorded):
        bundle = find(seat["digest"], paths, args.level)
        if bundle is None:
            raise BotError(
                f"{args.file}: the bot of seat {number}, {seat['bot']}, was never used here; name all with --bots"
            )
        seats.append(bundle.seat(seat["bot"]))
    return tuple(seats)
