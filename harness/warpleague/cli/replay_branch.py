"""Plays on from a position of a recorded match, with other bots, another action or other dice.

`warpleague.match.branch` finds the position; `warpleague.runner.play` plays it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import (
    add_examples,
    add_force,
    add_level,
    add_verb,
    check_new,
    check_writable,
    count,
    parse_key,
    print_json,
    sandbox_paths,
    say,
    seconds,
    write_file,
)
from warpleague.errors import BadInput, BotError

if TYPE_CHECKING:
    import argparse

    from warpleague.match.spec import SeatSpec


def configure_branch(verbs: argparse._SubParsersAction[Any]) -> None:
    """Add the arguments of `warpleague replay branch`."""
    branch = add_verb(
        verbs, "branch", "play on from a position of the match, with another action, other bots or other dice"
    )
    branch.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    branch.add_argument(
        "--at", type=count(0), required=True, metavar="N", help="play on after line N (0: the start)"
    )
    branch.add_argument(
        "--seat",
        type=count(0),
        metavar="S",
        help="the seat for --action and --redeal (default: the seat to act)",
    )
    branch.add_argument(
        "--action",
        metavar="A",
        help="play this action first: its JSON object, or its number in the list of legal actions, counted from 0",
    )
    branch.add_argument(
        "--redeal",
        action="store_true",
        help="draw facts that the seat does not know again at random (default: they stay)",
    )
    branch.add_argument(
        "--bots",
        nargs="+",
        default=[],
        metavar="BOT",
        help="the folders of the bots, one for each seat (default: the bots of the record, if the cache has them)",
    )
    branch.add_argument(
        "--move-s",
        type=seconds,
        metavar="TIME",
        help="time limit of all bots for each decision, such as 500ms or 2s (default: the clock of the record)",
    )
    branch.add_argument(
        "--seed",
        metavar="TEXT",
        help="a text from which other dice follow (default: the dice continue as in the record)",
    )
    branch.add_argument(
        "--key",
        metavar="HEX",
        help="the key of the match, which decides its dice, if the record does not contain it",
    )
    branch.add_argument(
        "-o",
        "--out",
        "--record",
        dest="record",
        type=Path,
        metavar="FILE",
        help="write the new record to this file (default: in this folder, named after the record and N)",
    )
    add_force(branch)
    add_level(branch)
    branch.add_argument("--json", action="store_true", help="print the result as JSON")
    add_examples(
        branch,
        "replay branch results/one.jsonl --at 30 --action 2",
        "replay branch results/one.jsonl --at 30 --seed other --redeal",
    )
    branch.set_defaults(handler=run_branch)


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


def _seats(args: argparse.Namespace, recorded: list[dict[str, Any]]) -> tuple[SeatSpec, ...]:
    from warpleague.runner.bundle.bundle import find, prepare
    from warpleague.runner.bundle.shipped import located

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


def run_branch(args: argparse.Namespace) -> int:
    """Play the branch, and write its record."""
    import attrs

    from warpleague.cli.match import result_json
    from warpleague.match.branch import branch_off
    from warpleague.match.chance import match_key
    from warpleague.match.record import bare_name, pack, read_record
    from warpleague.match.replay import Replay
    from warpleague.match.setup import match_id, recorded_spec
    from warpleague.report.terminal.replay import print_result
    from warpleague.runner.play import play_match

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
        recorded_spec(header, _seats(args, header["seats"]), key, args.level, str(args.file)),
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
    print_result(spec, result)
    say(f"record written to {out}; it branches off after line {args.at} of {args.file}")
    return 0
