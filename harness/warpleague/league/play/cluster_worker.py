"""Runs on a worker of a cluster: describes the worker, takes bots, and plays matches in referee processes.

`warpleague.league.play.cluster` calls every function here on the worker, by name. A Dask worker may run several tasks
at once, in threads of one process. A referee starts and ends processes, so it needs a process of its own: each worker
keeps a pool of them, like a league on one machine. Where a worker has more threads than cores, each referee plays
several matches at a time.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import warpleague
import warpline
from warpleague.errors import HarnessFault, WarpLeagueError
from warpleague.league.referees.pool import RefereePool, usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.match.spec import Level, MatchResult, MatchSpec

_pool: RefereePool | None = None
_pool_lock = threading.Lock()


@attrs.frozen
class Fitness:
    """The result of checking a worker: `unfit` says why it cannot play, or is None.

    `lacks` are the digests of the bots that are not in its cache. `threads` is how many matches it plays at once.
    """

    unfit: str | None
    lacks: tuple[str, ...] = ()
    threads: int = 1


@attrs.frozen
class Program:
    """The program that plays: its version, the SHA-256 of its source files, and what runs it."""

    version: str
    source: str
    python: str
    machine: str


@cache
def this_program() -> Program:
    """The program in this process."""
    digest = hashlib.sha256()
    for package in (warpleague, warpline):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            # Bots and pages come along in a wheel only, and do not play.
            if path.suffix in (".py", ".toml", ".json") and name.parts[0] != "shipped":
                digest.update(f"{name.as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    python = f"{platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}"
    machine = f"{platform.system()} {platform.machine()}"
    return Program(warpleague.__version__, digest.hexdigest(), python, machine)


def inspect_worker(wanted: Program, level: Level, digests: Sequence[str], dask_worker: Any) -> Fitness:
    """Whether this worker can play at `level` what the program `wanted` would, and which bots it lacks.

    Dask gives its own object for the worker in the parameter of that name.
    """
    here = this_program()
    for what, ours, theirs in (
        ("warpleague", here.version, wanted.version),
        ("Python", here.python, wanted.python),
        ("the machine", here.machine, wanted.machine),
    ):
        if ours != theirs:
            return Fitness(f"{what} is {ours} there, not {theirs}")
    if here.source != wanted.source:
        return Fitness(
            "the source of warpleague was changed there, or is from another commit: its digest is "
            f"{here.source[:12]}, not {wanted.source[:12]}"
        )
    from warpleague.runner.bundle.bundle import find
    from warpleague.runner.doctor.promises import check_level

    try:
        # In a referee process, since there bots are started.
        _referees(int(dask_worker.state.nthreads)).submit(check_level, level).result()
        lacks = tuple(digest for digest in digests if find(digest, level=level) is None)
    except WarpLeagueError as error:
        return Fitness(str(error))
    return Fitness(None, lacks, int(dask_worker.state.nthreads))


def take_bot(digest: str, archive: bytes) -> str | None:
    """Put a built bot into the cache of this worker; returns why that is not possible, or None."""
    from warpleague.runner.bundle.bundle import find
    from warpleague.runner.bundle.transfer import receive

    try:
        receive(digest, archive)
        find(digest)  # its interpreter must be here, too
    except (WarpLeagueError, OSError) as error:
        return str(error)
    return None


def play_here(spec: MatchSpec, log: bool = False) -> MatchResult:
    """Play `spec` in a referee process of this worker, with the bots of its own cache; raises what playing raised.

    With `log`, the result holds what the bots printed and were sent.
    """
    from warpleague.runner.bundle.bundle import find
    from warpleague.runner.play import play_beside

    seats = []
    for seat in spec.seats:
        bundle = find(seat.digest, level=spec.level)
        if bundle is None:
            raise HarnessFault(f"{seat.bot} ({seat.digest[:12]}) is missing from the cache of this worker")
        seats.append(attrs.evolve(seat, run=bundle.run, cwd=bundle.cwd))
    if _pool is None:
        raise HarnessFault("this worker was not looked over before its first match")
    return _pool.submit(play_beside, attrs.evolve(spec, seats=tuple(seats)), log).result()  # type: ignore[return-value]


def call_everywhere(fn: Callable[[], object]) -> None:
    """Call `fn` in each referee process of this worker."""
    if _pool is not None:
        _pool.everywhere(fn)


def _referees(threads: int) -> RefereePool:
    """The referees of this worker, with a place for each of its threads; started when needed, end with the worker."""
    global _pool
    with _pool_lock:
        if _pool is None:
            # No core of their own: which ones the other workers of this machine have, nobody knows.
            jobs = min(threads, len(usable_cores()))
            _pool = RefereePool(jobs, "none", tasks=-(-threads // jobs))
        return _pool
