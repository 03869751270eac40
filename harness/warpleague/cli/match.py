"""Play one match between bots, each named by its folder.

This module makes a match from the command line and shows it; `warpleague.runner.play` plays it.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import (
    add_conditions,
    add_deal,
    add_examples,
    add_force,
    add_from_folders,
    add_game,
    check_new,
    check_writable,
    conditions_of,
    log_folder,
    parse_options,
    pause,
    print_json,
    read_position,
    sandbox_paths,
    say,
    write_file,
)
from warpleague.errors import BadInput, PositionError

if TYPE_CHECKING:
    import argparse

    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec


DONE: Final = 0
NOT_STARTED: Final = 4
"""The exit code of a match in which a bot did not get ready: it was played and recorded all the same."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague match`."""
    parser.add_argument("game", metavar="GAME", help="the game (`warpleague games` lists them)")
    parser.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help="the folder of a bot; one for each seat, in the order of the seats",
    )
    add_from_folders(
        parser, "the match, in the order of the names of their folders, after those that are named"
    )
    add_game(parser)
    add_deal(parser)
    parser.add_argument(
        "--record",
        type=Path,
        metavar="RECORD",
        help="write the record of the match to this file: `replay` shows and verifies it, `reproduce` plays it again; "
        "a name that ends in .zst or .gz compresses it",
    )
    parser.add_argument(
        "--position",
        type=Path,
        metavar="FILE",
        help="start from the position in this JSON file (`warpleague replay position` takes one from a record)",
    )
    add_force(parser)
    parser.add_argument(
        "--log",
        type=Path,
        metavar="DIR",
        help="write the output of each bot, and all messages to and from it, to files in this folder",
    )
    add_conditions(parser)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="show the board and the events during the match; keys pause it, step through it, and change its speed",
    )
    parser.add_argument(
        "--pace",
        type=pause,
        metavar="TIME",
        help="with --watch: how long each step is shown (default 0.3s; 0: as fast as the bots play)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_examples(
        parser,
        "match aliens my-bot bots/aliens-greedy --seed 1 --record one.jsonl",
        "match captains bots/captains-planner --option max_rounds=20",
    )
    parser.set_defaults(handler=run)


def build_spec(args: argparse.Namespace, given: tuple[SeatSpec, ...] | None = None) -> MatchSpec:
    """The match that the arguments describe, its bots prepared unless the seats are `given`."""
    import attrs

    from warpleague.games import load_game
    from warpleague.match.chance import match_key
    from warpleague.match.setup import (
        first_state,
        load_options,
        match_id,
        options_json,
        players_and_options,
        players_text,
    )
    from warpleague.runner.bundle.bundle import prepare
    from warpleague.runner.bundle.manifest import games_named, plays
    from warpleague.runner.bundle.shipped import located

    try:
        game = load_game(args.game)
    except BadInput as error:
        if Path(args.game).is_dir():
            raise BadInput(f"{error}; the game comes first: warpleague match GAME BOT BOT") from None
        raise
    players = len(args.bots if given is None else given)
    if players not in game.players:
        raise BadInput(f"{game.id} is for {players_text(game)}; name as many bots, not {players}")
    conditions = conditions_of(args)
    raw = parse_options(game, args.option)
    position = None if args.position is None else read_position(args.position)
    if position is not None:
        try:
            # The position has options of its own. They hold unless others are given.
            raw = {**players_and_options(game, position)[1], **raw}
        except PositionError as error:
            raise PositionError(f"{args.position}: {error}") from None
    options = load_options(game, players, raw, "--option")
    try:
        first_state(game, players, options, position)
    except PositionError as error:
        raise PositionError(f"{args.position}: {error}") from None
    seed = secrets.token_hex(4) if args.seed is None else args.seed
    paths = sandbox_paths(args)
    bundles = [prepare(located(Path(bot)), args.level, paths) for bot in args.bots if given is None]
    for bundle in bundles:
        if not plays(bundle.games, game.id):
            say(
                f"note: {bundle.name} does not claim to play {game.id}; bot.toml says {games_named(bundle.games)}"
            )
    spec = conditions.match(
        id="",
        game=game.id,
        options=options_json(options),
        seats=tuple(bundle.seat() for bundle in bundles) if given is None else given,
        key=match_key(seed),
        seed=seed,
        position=position,
    )
    return attrs.evolve(spec, id=match_id(game, spec))


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


def run(args: argparse.Namespace) -> int:
    """Play the match and show its result."""
    from warpleague.match.record import pack
    from warpleague.runner.play import play_match

    if args.said is not None:
        args.game, args.bots = args.said, [args.game, *args.bots]
    if args.from_folders is not None:
        from warpleague.runner.bundle.manifest import bots_in

        args.bots = [*args.bots, *map(str, bots_in(args.from_folders))]
    if args.record is not None:
        check_new(args.record, args.force)
    spec = build_spec(args)
    if args.record is not None:
        check_writable(args.record)
    logs = log_folder(args.log)
    log = logs is not None
    if args.watch and not args.json:
        from warpleague.report.terminal.watch import PACE_S, MatchWatcher

        with MatchWatcher(spec, pace_s=PACE_S if args.pace is None else args.pace) as watcher:
            result = play_match(spec, observer=watcher.observe, log=log)
    else:
        result = play_match(spec, log=log)
    if args.record is not None:
        write_file(args.record, pack(result.record, args.record.name))
    if logs is not None:
        logs.keep(spec.id, [seat.bot for seat in spec.seats], result.logs)
        if logs.problem is not None:
            raise BadInput(logs.problem)
    code = NOT_STARTED if any(fault.kind == "startup" for seat in result.faults for fault in seat) else DONE
    if args.json:
        print_json(result_json(spec, result, None if args.record is None else str(args.record)))
        return code
    from warpleague.report.terminal.replay import print_result

    print_result(spec, result)
    if args.record is not None:
        say(f"record written to {args.record}")
    if args.log is not None:
        say(f"logs written to {args.log}: a folder for each bot")
    return code
