"""Plays a match between bots, each named by its folder; plays a recorded match again, or on from a position of it.

`warpleague.runner.play` plays; `warpleague.match.replay` compares records.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import check_new, check_writable, parse_key, print_json, say, write_file
from warpleague.cli.match_options import (
    conditions_of,
    log_folder,
    parse_options,
    read_position,
    sandbox_paths,
)
from warpleague.errors import BadInput, BotError, PositionError, RecordError
from warpleague.games import load_game
from warpleague.match.branch import branch_off
from warpleague.match.chance import match_key
from warpleague.match.record import bare_name, pack, read_record
from warpleague.match.replay import Difference, Replay, first_difference
from warpleague.match.setup import (
    first_state,
    load_options,
    match_id,
    options_json,
    players_and_options,
    players_text,
    recorded_spec,
)
from warpleague.match.spec import (
    LEVEL,
    LEVELS,
    Conditions,
    Level,
    MatchResult,
    MatchSpec,
    SeatSpec,
    TimeControl,
)
from warpleague.runner.bot.inside import InsideSeat, RecordedSeat
from warpleague.runner.bundle.bundle import find_bundle, prepare
from warpleague.runner.bundle.manifest import bots_in, games_named, plays
from warpleague.runner.bundle.shipped import located
from warpleague.runner.play import play_match

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.games.api import Game, JsonObject


DONE: Final = 0
NOT_STARTED: Final = 4
"""The exit code of a match in which a bot did not get ready: it was played and recorded all the same."""


def run_match(args: Namespace) -> int:
    """Play the match and show its result."""
    if args.game_option is not None:
        args.game, args.bots = args.game_option, [args.game, *args.bots] if args.game else args.bots
    if args.game is None:
        raise BadInput(f"GAME missing; for example: warpleague {args.command.examples[0]}")
    if args.from_folders is not None:
        args.bots = [*args.bots, *map(str, bots_in(args.from_folders))]
    if args.record is not None:
        check_new(args.record, args.force)
    spec = build_spec(args, conditions_of(args))
    if args.record is not None:
        check_writable(args.record)
    logs = log_folder(args.log)
    result = _play(args, spec, log=logs is not None)
    if args.record is not None:
        write_file(args.record, pack(result.record, args.record.name))
    if logs is not None:
        logs.keep(spec.id, [seat.bot for seat in spec.seats], result.logs)
        if logs.problem is not None:
            raise BadInput(logs.problem)
    if args.json:
        print_json(result_json(spec, result, None if args.record is None else str(args.record)))
    else:
        show_result(spec, result)
        if args.record is not None:
            say(f"record written to {args.record}")
        if args.log is not None:
            say(f"logs written to {args.log}: a folder for each bot")
    return NOT_STARTED if any(fault.kind == "startup" for seat in result.faults for fault in seat) else DONE


def _play(args: Namespace, spec: MatchSpec, *, log: bool) -> MatchResult:
    if not args.watch or args.json:
        return play_match(spec, log=log)
    from warpleague.report.terminal.watch import (  # draws, which other matches need not wait for
        PACE_S,
        MatchWatcher,
    )

    with MatchWatcher(spec, pace_s=PACE_S if args.pace is None else args.pace) as watcher:
        return play_match(spec, observer=watcher.observe, log=log)


def build_spec(
    args: Namespace, conditions: Conditions, seats: tuple[SeatSpec, ...] | None = None
) -> MatchSpec:
    """The match that the arguments describe, its bots prepared unless the seats are given."""
    game = _game(args)
    players = len(args.bots if seats is None else seats)
    if players not in game.players:
        raise BadInput(f"{game.id} is for {players_text(game)}; name as many bots, not {players}")
    options, position = _options_and_position(args, game, players)
    seed = secrets.token_hex(4) if args.seed is None else args.seed
    paths = sandbox_paths(args)
    spec = conditions.match(
        id="",
        game=game.id,
        options=options_json(options),
        seats=_prepared(args, game, paths) if seats is None else seats,
        key=match_key(seed),
        seed=seed,
        position=position,
    )
    return attrs.evolve(spec, id=match_id(game, spec))


def _game(args: Namespace) -> Game[Any, Any]:
    try:
        return load_game(args.game)
    except BadInput as error:
        if Path(args.game).is_dir():
            raise BadInput(f"{error}; the game comes first: warpleague match GAME BOT BOT") from None
        raise


def _options_and_position(
    args: Namespace, game: Game[Any, Any], players: int
) -> tuple[Any, JsonObject | None]:
    """The options of the match, and the position that it starts from, if one is given."""
    raw = parse_options(game, args.option)
    position = None if args.position is None else read_position(args.position)
    try:
        if position is not None:
            # The position has options of its own. They hold unless others are given.
            raw = {**players_and_options(game, position)[1], **raw}
        options = load_options(game, players, raw, "--option")
        first_state(game, players, options, position)
    except PositionError as error:
        raise PositionError(f"{args.position}: {error}") from None
    return options, position


def _prepared(args: Namespace, game: Game[Any, Any], paths: tuple[str, ...]) -> tuple[SeatSpec, ...]:
    seats = []
    for bot in args.bots:
        folder, own = Path(bot), None
        if "@" in bot:
            from warpleague.cli.compare import entrant_of  # the parts of leagues, which few matches need

            folder, own = entrant_of(bot)
        bundle = prepare(located(folder), args.level, paths)
        seat = bundle.seat()
        if own is not None:
            clock = TimeControl(**attrs.asdict(own), start_s=args.start_s)
            seat = attrs.evolve(seat, bot=f"{seat.bot}@{own.text}", clock=clock)
        seats.append(seat)
        if not plays(bundle.games, game.id):
            say(
                f"note: {bundle.name} does not claim to play {game.id}; bot.toml says {games_named(bundle.games)}"
            )
    return tuple(seats)


def show_result(spec: MatchSpec, result: MatchResult) -> None:
    """Print the result for a person."""
    from warpleague.report.terminal.replay import print_result  # loads rich, which --json need not wait for

    print_result(spec, result)


def result_json(spec: MatchSpec, result: MatchResult, record: str | None) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        "match": result.id,
        "game": spec.game,
        "seed": spec.seed,
        "seats": [seat.bot for seat in spec.seats],
        "ranks": list(result.ranks),
        "scores": list(result.scores),
        **({} if result.rival is None else {"rival": result.rival}),
        "why": result.why,
        "faults": [
            {
                "kind": faults[-1].kind,
                "line": faults[-1].n,
                "retired": faults[-1].retired,
                "count": len(faults),
            }
            if faults
            else None
            for faults in result.faults
        ],
        "digest": result.digest,
        "record": record,
    }


# -- reproduce -------------------------------------------------------------------------------------------


def run_reproduce(args: Namespace) -> int:
    """Reproduce the match; 0 if it came out the same, 1 at a difference."""
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


def _level(args: Namespace, recorded: Level) -> Level:
    """The level to play at: the one asked for, else the record's, but no less than that of any match."""
    level: Level = args.level or max(recorded, LEVEL, key=LEVELS.index)
    if level != recorded:
        text = f"note: it was recorded at level {recorded}, and is played at level {level}"
        say(text if args.level else f"{text}; --level {recorded} plays it as it was")
    return level


def _seats(args: Namespace, header: dict[str, Any], level: Level) -> tuple[SeatSpec, ...]:
    """The bots of the record, given or from the cache; a given one with other content is named, but taken."""
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
            prepare(located(Path(folder)), level, paths)
            if folder
            else find_bundle(seat["digest"], paths, level)
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
    persons = [number for number, seat in enumerate(spec.seats) if seat.kind == "person"]
    lines = [json.loads(line) for line in record.splitlines()] if persons else []
    return {number: RecordedSeat(spec.seats[number], number, lines) for number in persons}


def _spec(args: Namespace, header: dict[str, Any], key: bytes) -> MatchSpec:
    level = _level(args, header["level"])
    return recorded_spec(header, _seats(args, header, level), key, level, str(args.file))


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
        bundle = find_bundle(seat["digest"], paths, args.level)
        if bundle is None:
            raise BotError(
                f"{args.file}: the bot of seat {number}, {seat['bot']}, was never used here; name all with --bots"
            )
        seats.append(bundle.seat(seat["bot"]))
    return tuple(seats)
