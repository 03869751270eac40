"""Play against bots, in the browser or in the terminal; several persons share one device.

This module seats the players; `warpleague.arena` serves the page, and asks the persons.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.cli.common import (
    add_clock,
    add_deal,
    add_examples,
    add_force,
    add_level,
    check_new,
    check_writable,
    count,
    port,
    print_json,
    sandbox_paths,
    say,
    write_file,
)
from warpleague.cli.match import build_spec, result_json
from warpleague.errors import BadInput
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    import argparse

    from warpleague.arena.play.sitting import Sitting
    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec

RECORDS: Final = Path("results/play")
"""Where records go that are given no name."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague play`."""
    parser.add_argument("game", metavar="GAME", help="the game (`warpleague games` lists them)")
    parser.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help="the folder of a bot to play against (default: the strongest one that comes with Warp League)",
    )
    parser.add_argument(
        "--person",
        action="append",
        default=[],
        metavar="NAME",
        help="the name of a person who plays; give it once for each person at this device (default: one person)",
    )
    parser.add_argument(
        "--seat",
        action="append",
        type=count(0),
        default=[],
        metavar="S",
        help="the seat of a person, counted from 0; once for each --person, in their order "
        "(default: the first free seats)",
    )
    parser.add_argument("--terminal", action="store_true", help="play in the terminal, not in the browser")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address of the page, but do not open it"
    )
    parser.add_argument(
        "--port", type=port, default=0, metavar="N", help="the port of the page (default: any free one)"
    )
    parser.add_argument(
        "--hint",
        metavar="BOT",
        help="the bot that gives hints (default: the strongest one that comes with Warp League)",
    )
    add_deal(parser)
    parser.add_argument(
        "--position",
        type=Path,
        metavar="FILE",
        help="start from the position in this JSON file (`warpleague replay position` takes one from a record)",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="RECORD",
        help=f"write the record of the match to this file, and those of rematches beside it (default: in {RECORDS})",
    )
    add_force(parser)
    add_clock(parser)
    parser.add_argument(
        "--timed",
        action="store_true",
        help="the time limits hold for persons, too (default: persons have no time limit)",
    )
    add_level(parser)
    parser.add_argument("--json", action="store_true", help="print the result of each match as JSON")
    add_examples(
        parser,
        "play aliens",
        "play captains bots/captains-planner bots/random-python --seat 1",
        "play sheets --person Ada --person Ben --terminal",
    )
    parser.set_defaults(
        handler=run,
        faults="forfeit",
        strikes=None,
        ask_again=0,
        failures=0,
        note_bytes=NOTE_BYTES,
        pondering="off",
    )


def _seats(args: argparse.Namespace) -> tuple[SeatSpec, ...]:
    """Persons and bots in seat order, the bots prepared."""
    from warpleague.arena.play.sitting import strongest
    from warpleague.games import load_game
    from warpleague.match.setup import players_text
    from warpleague.match.spec import SeatSpec
    from warpleague.runner.bundle.bundle import prepare
    from warpleague.runner.bundle.shipped import located

    game = load_game(args.game)
    if not game.guesses:
        raise BadInput(f"{game.id}: persons cannot play it: it cannot make a position from what a seat knows")
    names = args.person or ["person"]
    bots = args.bots
    if not bots:
        wanted = max(2, len(names)) if 2 in game.players else game.players[0]
        bots = [strongest(game.id)] * max(0, wanted - len(names))
    players = len(names) + len(bots)
    if players not in game.players:
        others = "a person" if len(names) == 1 else f"{len(names)} persons"
        raise BadInput(
            f"{game.id} is for {players_text(game)}: {others} and {len(bots)} bots are {players}; "
            "name more or fewer bots"
        )
    if len(args.seat) > len(names):
        raise BadInput("--seat: there are more seats than persons; name each person with --person")
    if len(set(args.seat)) < len(args.seat):
        raise BadInput("--seat: two persons cannot sit on the same seat")
    for seat in args.seat:
        if seat >= players:
            raise BadInput(f"--seat {seat}: with {players} players there are seats 0 to {players - 1}")
    free = [seat for seat in range(players) if seat not in args.seat]
    taken = [*args.seat, *free][: len(names)]
    seats: dict[int, SeatSpec] = {
        seat: SeatSpec(name, kind="person") for seat, name in zip(taken, names, strict=True)
    }
    paths = sandbox_paths(args)
    left = [seat for seat in range(players) if seat not in seats]
    for seat, bot in zip(left, bots, strict=True):
        seats[seat] = prepare(located(Path(bot)), args.level, paths).seat()
    return tuple(seats[seat] for seat in range(players))


def _record_path(args: argparse.Namespace, spec: MatchSpec, number: int) -> Path:
    """Where the record of the match with this number goes, which counts from 0."""
    if args.record is None:
        return RECORDS / f"{spec.id}.jsonl"
    path: Path = args.record
    name, dot, rest = path.name.partition(".")
    return path.with_name(f"{name}-{number + 1}{dot}{rest}") if number else path


class _Matches:
    """The matches of a sitting: each with the seats moved on by one and other dice, its record written at its end."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._first = build_spec(args, _seats(args))
        self.played = 0
        self.sitting: Sitting | None = None

    @property
    def going_on(self) -> bool:
        """Whether a match was begun and has not ended."""
        return self.sitting is not None and bool(self.sitting.matches) and self.sitting.now.result is None

    def spec(self, number: int) -> MatchSpec:
        """The match with this number, from 0."""
        import attrs

        from warpleague.games import load_game
        from warpleague.match.chance import match_key
        from warpleague.match.setup import match_id

        if number == 0:
            return self._first
        turn = number % len(self._first.seats)
        seats = self._first.seats[-turn:] + self._first.seats[:-turn] if turn else self._first.seats
        seed = f"{self._first.seed} {number + 1}"
        spec = attrs.evolve(self._first, seats=seats, seed=seed, key=match_key(seed))
        return attrs.evolve(spec, id=match_id(load_game(spec.game), spec))

    def ended(self, spec: MatchSpec, result: MatchResult) -> None:
        """Write the record, and print the result."""
        from warpleague.match.record import pack

        path = _record_path(self._args, spec, self.played)
        if self.played:
            check_new(path, self._args.force)
        self.played += 1
        write_file(path, pack(result.record, path.name))
        if self._args.json:
            print_json(result_json(spec, result, str(path)))
            return
        from warpleague.report.terminal.replay import print_result

        print_result(spec, result)
        say(f"record written to {path}")


def run(args: argparse.Namespace) -> int:
    """Seat the players and let them play until nobody wants another match."""
    if args.record is not None:
        check_new(args.record, args.force)
        check_writable(args.record)
    matches = _Matches(args)

    import trio

    from warpleague.arena.play.sitting import strongest

    try:
        trio.run(_sit_down, args, matches, args.hint or strongest(args.game))
    except BaseExceptionGroup as group:
        # Ctrl-C is how a sitting ends; only a match is broken off by it.
        if matches.going_on or group.split(KeyboardInterrupt)[1] is not None:
            raise
    except KeyboardInterrupt:
        if matches.going_on:
            raise
    return 0


async def _sit_down(args: argparse.Namespace, matches: _Matches, bot: str) -> None:
    from warpleague.arena.play.sitting import Sitting

    sitting = matches.sitting = Sitting(matches.spec, matches.ended, timed=args.timed)
    await (_in_terminal if args.terminal else _in_browser)(args, sitting, bot)


async def _in_terminal(args: argparse.Namespace, sitting: Sitting, bot: str) -> None:  # noqa: ARG001 - as below
    import trio

    from warpleague.arena.play.terminal import play_here

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sitting.run)
        await play_here(sitting, bot)
        nursery.cancel_scope.cancel()


async def _in_browser(args: argparse.Namespace, sitting: Sitting, bot: str) -> None:
    import trio

    from warpleague.arena.play.page import PlayPage, serving

    async with serving(PlayPage(sitting, bot).app(), port=args.port) as address:
        say(f"open {address}\nCtrl-C ends it; only this machine can reach the page")
        if not args.no_browser and _has_browser():
            import webbrowser

            await trio.to_thread.run_sync(webbrowser.open, address)
        await sitting.run()
        await trio.sleep(0.2)  # the page gets the message that it is over


def _has_browser() -> bool:
    """Whether there is a desktop: elsewhere a browser in the terminal would be opened."""
    import os
    import sys

    return sys.platform == "darwin" or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
