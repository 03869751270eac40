"""Play a recorded match again with the same bots, and report the first difference.

`warpleague.runner.play` plays it; `warpleague.match.replay` compares the records.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import (
    add_examples,
    add_force,
    add_sandbox_paths,
    check_new,
    check_writable,
    parse_key,
    print_json,
    sandbox_paths,
    say,
    write_file,
)
from warpleague.errors import BotError, RecordError

if TYPE_CHECKING:
    import argparse

    from warpleague.match.replay import Difference
    from warpleague.match.spec import Level, MatchSpec, SeatSpec
    from warpleague.runner.bot.inside import InsideSeat


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague reproduce`."""
    from warpleague.match.spec import LEVEL, LEVELS

    parser.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    parser.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help="the folder of a bot; one for each seat of a bot (default: the bots of the record, if "
        "the cache has them)",
    )
    parser.add_argument(
        "--level",
        choices=LEVELS,
        help=f"how strictly bots are confined (default: as in the record, but at least {LEVEL})",
    )
    add_sandbox_paths(parser)
    parser.add_argument(
        "--key",
        metavar="HEX",
        help="the key of the match, which decides its dice, if the record does not contain it",
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the new record to this file")
    add_force(parser)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="compare everything; otherwise the notes, values and talk of bots may differ",
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    add_examples(
        parser,
        "reproduce results/one.jsonl",
        "reproduce results/one.jsonl my-new-bot bots/aliens-greedy",
    )
    parser.set_defaults(handler=run)


def _level(args: argparse.Namespace, recorded: Level) -> Level:
    """The level to play at: the one asked for, else the record's, but no less than that of any match."""
    from warpleague.match.spec import LEVEL, LEVELS

    level: Level = args.level or max(recorded, LEVEL, key=LEVELS.index)
    if level != recorded:
        text = f"note: it was recorded at level {recorded}, and is played at level {level}"
        say(text if args.level else f"{text}; --level {recorded} plays it as it was")
    return level


def _seats(args: argparse.Namespace, header: dict[str, Any], level: Level) -> tuple[SeatSpec, ...]:
    """The bots of the record, given or from the cache; a given one with other content is named, but taken."""
    import attrs

    from warpleague.match.spec import SeatSpec
    from warpleague.runner.bundle.bundle import find, prepare
    from warpleague.runner.bundle.shipped import located

    recorded = header["seats"]
    persons = [number for number, seat in enumerate(recorded) if seat.get("kind") == "person"]
    if persons:
        say(f"note: a person cannot be asked again: {_seat_list(persons)} gives the recorded answers")
    wanted = len(recorded) - len(persons)
    if args.bots and len(args.bots) != wanted:
        apart = f", {len(persons)} of a person" if persons else ""
        raise BotError(
            f"{args.file}: its match has {len(recorded)} seats{apart}; name {wanted} bots, not {len(args.bots)}"
        )
    seats = []
    paths = sandbox_paths(args)
    given = iter(args.bots)
    for number, seat in enumerate(recorded):
        if number in persons:
            seats.append(SeatSpec(seat["bot"], seat["version"], seat["digest"], kind="person"))
            continue
        folder = next(given, None)
        bundle = (
            prepare(located(Path(folder)), level, paths) if folder else find(seat["digest"], paths, level)
        )
        if bundle is None:
            text = f"{args.file}: the bot of seat {number}, {seat['bot']} ({seat['digest'][:12]}), was never used here"
            raise BotError(f"{text}; give the folders of all bots after the file")
        if bundle.digest != seat["digest"]:
            say(f"note: {folder} is not the {seat['bot']} of the record: its content differs")
        seat_bot = bundle.seat(seat["bot"])
        # The record compares the names and digests it knows; a difference in play must not hide behind them.
        seats.append(attrs.evolve(seat_bot, version=seat["version"], digest=seat["digest"]))
    return tuple(seats)


def _seat_list(seats: list[int]) -> str:
    return f"{'seats' if len(seats) > 1 else 'seat'} {', '.join(map(str, seats))}"


def _present(spec: MatchSpec, record: bytes) -> dict[int, InsideSeat]:
    """The seats of persons, who answer as they did."""
    import json

    from warpleague.runner.bot.inside import RecordedSeat

    persons = [number for number, seat in enumerate(spec.seats) if seat.kind == "person"]
    lines = [json.loads(line) for line in record.splitlines()] if persons else []
    return {number: RecordedSeat(spec.seats[number], number, lines) for number in persons}


def _spec(args: argparse.Namespace, header: dict[str, Any], key: bytes) -> MatchSpec:
    from warpleague.match.setup import recorded_spec

    level = _level(args, header["level"])
    return recorded_spec(header, _seats(args, header, level), key, level, str(args.file))


def run(args: argparse.Namespace) -> int:
    """Reproduce the match; 0 if it came out the same, 1 at a difference."""
    from warpleague.match.record import pack, read_record
    from warpleague.match.replay import Replay, first_difference
    from warpleague.runner.play import play_match

    record = read_record(args.file)
    replay = Replay(record, key=parse_key(args.key), where=str(args.file))
    if replay.key is None:
        raise RecordError(
            f"{args.file}: its key is a secret of its season; export it again after the season's end, "
            "or give it with --key"
        )
    for _ in replay:
        pass
    spec = _spec(args, replay.header, replay.key)
    if args.record is not None:
        check_new(args.record, args.force)
        check_writable(args.record)
    result = play_match(spec, present=_present(spec, record))
    if args.record is not None:
        write_file(args.record, pack(result.record, args.record.name))
    # Another level is another match's digest, but must not change what is played.
    ignored = {"level"} if spec.level != replay.header["level"] else set()
    anywhere = first_difference(record, result.record, ignored)
    difference = anywhere
    if anywhere is not None and not args.strict:
        difference = first_difference(record, result.record, ignored, actions_only=True)
    assert replay.summary is not None
    if args.json:
        print_json(
            {
                "match": spec.id,
                "same": difference is None,
                "level": spec.level,
                "digest": result.digest,
                "recorded_digest": replay.summary.digest,
                "strict": args.strict,
                "difference": None if difference is None else _difference_json(difference),
            }
        )
    elif difference is None:
        outcome = "the same but for the level" if ignored else f"the same digest {result.digest}"
        if anywhere is not None:
            outcome = (
                f"the same actions; what they say differs, first in line {anywhere.line} (--strict shows it)"
            )
        print(f"reproduced  {args.file}: {result.lines} lines, {outcome}")
    else:
        whose = "" if difference.seat is None else f", seat {difference.seat} decides otherwise"
        print(f"DIFFERENT  {args.file}: line {difference.line}{whose}")
        print(f"  recorded: {_text(difference.recorded) or '(nothing)'}")
        print(f"  played:   {_text(difference.played) or '(nothing)'}")
    return 0 if difference is None else 1


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "line": difference.line,
        "recorded": _text(difference.recorded),
        "played": _text(difference.played),
        "played_line": difference.played_line,
        "seat": difference.seat,
    }


def _text(line: bytes) -> str:
    return line.decode().rstrip()
