"""Plays matches: one, one after the other, or several beside each other on one event loop.

`playing` plays one match. The functions here say how its bots are confined, keep them for the next match, and end what
a match left.
"""

from __future__ import annotations

import contextlib
import math
import resource
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import trio

from warpleague.errors import BadInput, HarnessFault
from warpleague.games import load_game
from warpleague.match.referee import Referee
from warpleague.runner.bot.inside import PythonSeat
from warpleague.runner.bot.process import IdleBots
from warpleague.runner.doctor import check_level, first_cause
from warpleague.runner.host import become_subreaper, children, started, sweep
from warpleague.runner.playing import Match, start_bot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from warpleague.match.spec import Confinement, Level, MatchResult, MatchSpec
    from warpleague.runner.playing import Attendant, FaultObserver, Observer, Present, Starter


T = TypeVar("T")

_IDLE: Final = IdleBots(16)
_PLAYOUT_IDLE: Final = IdleBots(16, same_dice=True)
_checked: Final[set[Level]] = set()
_checking: Final = trio.Lock()
_before: Final[list[set[int]]] = []  # for each match of `play_beside`, the children there were when it began


def play_match(
    spec: MatchSpec,
    *,
    observer: Observer | None = None,
    log: bool = False,
    present: Present | None = None,
) -> MatchResult:
    """Play `spec` to its end and return the result with its record; with `log`, also with the output of each bot.

    Raises `BadInput` for a spec that cannot be played here, `HarnessFault` when the host failed; whatever else
    is raised is a bug. What a bot does never raises: it is in the result.
    """
    return _done(_play(_referee(spec, observer), log=log, present=present))


def play_inside(spec: MatchSpec) -> MatchResult:
    """Like `play_match`, but all bots, which are in Python, play in this process, without a clock."""
    # Reusable bots wait here for their next match, whatever dice they have seen: nothing is at stake.
    return play_match(spec, present={number: PythonSeat(seat) for number, seat in enumerate(spec.seats)})


def play_within(
    spec: MatchSpec, seconds: float, log: bool = False, starter: Starter = start_bot, *, reuse: bool = False
) -> MatchResult | None:
    """Like `play_match`, but the match is broken off, and its bots are ended, if it takes longer than that.

    The `starter` starts the bots. With `reuse`, reusable bots wait for their next match, as in `play_in_series`.
    """
    return _play(_referee(spec), seconds, idle=_IDLE if reuse else None, log=log, starter=starter)


def play_in_series(spec: MatchSpec, log: bool = False) -> MatchResult:
    """Like `play_match`, for a process that plays many: reusable bots wait here for their next match."""
    # They end with this process, and before a match with dice that one of them may know.
    return _done(_play(_referee(spec), idle=_IDLE, log=log))


def play_out(referee: Referee) -> MatchResult:
    """Like `play_in_series`, with a referee of the caller's, for playouts that compare moves with the same dice."""
    # Reusable bots stay, whatever dice they have seen: nothing is at stake.
    confinement_of(referee.spec)  # raises if the level cannot be had here
    return _done(_play(referee, idle=_PLAYOUT_IDLE))


async def play_beside(
    spec: MatchSpec,
    log: bool = False,
    *,
    private: bool = False,
    observer: Observer | None = None,
    fault_observer: FaultObserver | None = None,
    present: Present | None = None,
    attendant: Attendant | None = None,
) -> MatchResult:
    """Like `play_in_series`, for a process that also plays several matches at a time, on one event loop.

    The `attendant`, if there is one, runs beside the match, and is cancelled at its end. If it is `private`, what bots
    printed stays out of the record.
    """
    if private:
        spec = attrs.evolve(spec, private=True)
    if spec.level not in _checked:
        async with _checking:
            # It runs a trio of its own, so in a thread.
            await trio.to_thread.run_sync(check_level, spec.level)
            _checked.add(spec.level)
    become_subreaper()
    if spec.level != "none":
        _open_more_files()
    with _ending_what_it_leaves() as before:
        try:
            match = Match(
                _referee(spec, observer, fault_observer),
                idle=_IDLE,
                log=log,
                present=present,
                before=before,
                attendant=attendant,
            )
            return await match.play()
        except BaseExceptionGroup as group:
            raise _unwrapped(group) from group


def end_idle() -> None:
    """End the bots that wait in this process for their next match."""
    _IDLE.end_all()


def idle_bots() -> int:
    """How many bots wait in this process for their next match."""
    return len(_IDLE)


def _referee(
    spec: MatchSpec, observer: Observer | None = None, fault_observer: FaultObserver | None = None
) -> Referee:
    """The referee of a match that begins now, whose record says how its bots are confined."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    confinement = confinement_of(spec)
    return Referee(
        load_game(spec.game),
        spec,
        started=started,
        confinement=confinement,
        observer=observer,
        fault_observer=fault_observer,
    )


def _play(
    referee: Referee, within_s: float = math.inf, *, idle: IdleBots | None = None, **more: Any
) -> MatchResult | None:
    """Play a match as the only one of this process; None if it is broken off after `within_s` seconds.

    `idle` and `more` are as in `Match`.
    """
    become_subreaper()
    before = children()

    async def play() -> MatchResult:
        return await Match(referee, idle=idle, before=before, **more).play()

    try:
        result: MatchResult | None = trio.run(within, within_s, play)
    except BaseExceptionGroup as group:
        raise _unwrapped(group) from group
    finally:
        sweep(before if idle is None else before | idle.pids())
    return result


def _done(result: MatchResult | None) -> MatchResult:
    """The result of a match that cannot have been broken off."""
    assert result is not None
    return result


def confinement_of(spec: MatchSpec) -> Confinement:
    """How the bots of a match are confined here; `BadInput` if that cannot be."""
    paths = {path for seat in spec.seats for path in seat.paths} if spec.level == "sandbox" else ()
    network = {address for seat in spec.seats for address in seat.network}
    if network and spec.level != "sandbox":
        raise BadInput(
            "only at level sandbox can bots be let reach single addresses: at others they reach all"
        )
    checked = check_level(spec.level)
    return attrs.evolve(
        checked.confinement(spec.pondering, tuple(sorted(paths)) or None, tuple(sorted(network)) or None),
        machine=spec.machine,
    )


def _unwrapped(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Unwrap trio's exception group: its nurseries put even a single error into one."""
    fault, bugs = group.split((HarnessFault, BadInput))
    return group if fault is None or bugs is not None else first_cause(fault)


@cache
def _open_more_files() -> None:
    """Let this process open as many files as it may: each bot needs some. Bots have a limit of their own."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextlib.contextmanager
def _ending_what_it_leaves() -> Iterator[set[int]]:
    """In this block one of several matches is played: what it leaves is killed. Gives the children of before."""
    # Which match a process belongs to that has left its group cannot be known. So it is ended with the last match
    # that was played when it came here.
    before = children()
    _before.append(before)
    try:
        yield before
    finally:
        _before.remove(before)
        ours = before | started() | _IDLE.pids()
        if _before:
            ours |= {pid for pid in children() if any(pid not in other for other in _before)}
            sweep(ours, rounds=1)
        else:
            sweep(ours)


async def within(seconds: float, call: Callable[..., Awaitable[T]], *arguments: Any) -> T | None:
    """The result of `call`, or None if it took more than `seconds` and was cancelled."""
    with trio.move_on_after(seconds):
        return await call(*arguments)
    return None
