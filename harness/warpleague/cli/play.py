"""Play against bots, in the browser or in the terminal; several persons share one device.

This module seats the players; `warpleague.arena` serves the page, and asks the persons.
"""

from __future__ import annotations

import os
import shlex
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import trio

from warpleague.arena.play.page import PlayPage, serving
from warpleague.arena.play.sitting import Kept, Sitting, strongest
from warpleague.arena.play.terminal import play_here
from warpleague.cli.common import check_new, check_writable, print_json, say, write_file
from warpleague.cli.match import build_spec, result_json, show_result
from warpleague.cli.match_options import clock_of, sandbox_paths
from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.record import pack
from warpleague.match.setup import match_id, players_text
from warpleague.match.spec import Conditions, MatchResult, MatchSpec, SeatSpec
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.shipped import located

if TYPE_CHECKING:
    from argparse import Namespace


RECORDS: Final = Path("results/play")
"""Where records go that are given no name."""
_MOST_KEPT: Final = 20
"""So many matches of a sitting are looked for."""


def run_play(args: Namespace) -> int:
    """Seat the players and let them play until nobody wants another match."""
    if args.record is not None:
        check_new(args.record, args.force)
        check_writable(args.record)
    matches = _Matches(args)
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


def _seats(args: Namespace) -> tuple[SeatSpec, ...]:
    """Persons and bots in seat order, the bots prepared."""
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


def _record_path(args: Namespace, spec: MatchSpec, number: int) -> Path:
    """Where the record of the match with this number goes, which counts from 0."""
    if args.record is None:
        return RECORDS / f"{spec.id}.jsonl"
    path: Path = args.record
    name, dot, rest = path.name.partition(".")
    return path.with_name(f"{name}-{number + 1}{dot}{rest}") if number else path


class _Matches:
    """The matches of a sitting: each with the seats moved on by one and other dice, its record written at its end."""

    def __init__(self, args: Namespace) -> None:
        self._args = args
        conditions = Conditions(clock=clock_of(args), level=args.level)
        self._first = build_spec(args, conditions, _seats(args))
        self._before = 0
        self.played = 0
        # A match that was not played to its end, of some sitting with these players and this seed, goes on.
        self._before = next((n for n in range(_MOST_KEPT) if self.kept(self.spec(n)).path.is_file()), 0)
        self.sitting: Sitting | None = None

    @property
    def going_on(self) -> bool:
        """Whether a match was begun and has not ended."""
        return self.sitting is not None and bool(self.sitting.matches) and self.sitting.now.result is None

    @property
    def again(self) -> str:
        """What is said before the first match about stops."""
        if self.kept(self.spec(0)).path.is_file():
            return "the match goes on where it was stopped"
        seed = shlex.quote(str(self._first.seed))
        return f"if it is stopped, the same command with --seed {seed} goes on with the match"

    def kept(self, spec: MatchSpec) -> Kept:
        """Where a match is kept while it is played."""
        return Kept(RECORDS / f"{spec.id}.begun")

    def spec(self, number: int) -> MatchSpec:
        """The match with this number, from 0."""
        number += self._before
        if number == 0:
            return self._first
        turn = number % len(self._first.seats)
        seats = self._first.seats[-turn:] + self._first.seats[:-turn] if turn else self._first.seats
        seed = f"{self._first.seed} {number + 1}"
        spec = attrs.evolve(self._first, seats=seats, seed=seed, key=match_key(seed))
        return attrs.evolve(spec, id=match_id(load_game(spec.game), spec))

    def ended(self, spec: MatchSpec, result: MatchResult) -> None:
        """Write the record, and print the result."""
        path = _record_path(self._args, spec, self.played)
        if self.played:
            check_new(path, self._args.force)
        self.played += 1
        write_file(path, pack(result.record, path.name))
        if self._args.json:
            print_json(result_json(spec, result, str(path)))
            return
        show_result(spec, result)
        say(f"record written to {path}")


async def _sit_down(args: Namespace, matches: _Matches, bot: str) -> None:
    sitting = matches.sitting = Sitting(matches.spec, matches.ended, timed=args.timed, kept=matches.kept)
    await (_in_terminal if args.terminal else _in_browser)(args, sitting, bot, matches.again)


async def _in_terminal(args: Namespace, sitting: Sitting, bot: str, again: str) -> None:  # noqa: ARG001 - as below
    say(again)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sitting.run)
        await play_here(sitting, bot)
        nursery.cancel_scope.cancel()


async def _in_browser(args: Namespace, sitting: Sitting, bot: str, again: str) -> None:
    async with serving(PlayPage(sitting, bot).app(), port=args.port) as address:
        say(f"open {address}\nCtrl-C ends it; only this machine can reach the page\n{again}")
        if not args.no_browser and _has_browser():
            await trio.to_thread.run_sync(webbrowser.open, address)
        await sitting.run()
        await trio.sleep(0.2)  # the page gets the message that it is over


def _has_browser() -> bool:
    """Whether there is a desktop: elsewhere a browser in the terminal would be opened."""
    return sys.platform == "darwin" or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
