"""A Dask cluster as the place where matches are played: connected to, looked over, and used as an executor.

Leaves what is played there, and what becomes of it, to `running`.

A worker of Dask's may run several tasks at once, in threads of one process, while a referee ends all that its process
has started when its match is over, and needs one for itself. So each worker keeps referee processes of its own, as a
league on one machine does.
"""

from __future__ import annotations

import re
import threading
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from warpleague import __version__
from warpleague.errors import BadInput
from warpleague.league.pool import RefereePool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec

P = ParamSpec("P")
T = TypeVar("T")
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+")
_CONNECT_S = 10
_pool: RefereePool | None = None
_pool_lock = threading.Lock()


@contextmanager
def cluster(address: str, bots: Sequence[SeatSpec]) -> Iterator[tuple[Executor, int]]:
    """An executor on the Dask cluster whose scheduler is at `address`, and how many matches it plays at once.

    `play_there` is what to submit. Raises `BadInput` if there is no such cluster, or one of its workers could not
    play: has no warpleague, or another version, or lacks the built copy of one of the `bots`, or its interpreter.
    """
    try:
        from distributed import Client  # type: ignore[import-not-found]
    except ImportError:
        raise BadInput("--cluster: needs the package distributed (Dask) in this environment") from None
    if not _ADDRESS.fullmatch(address):
        raise BadInput(f"--cluster: must be HOST:PORT, or tcp://HOST:PORT, not {address!r}")
    try:
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"--cluster: no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        threads: dict[str, int] = client.ncores()
        if not threads:
            raise BadInput(f"--cluster: the cluster at {address} has no workers")
        needed = sorted(
            {path for bot in bots for path in (bot.cwd, *bot.run[:1]) if Path(path).is_absolute()}
        )
        for worker, found in client.run(lacking, __version__, needed, on_error="return").items():
            if found is not None:
                raise BadInput(f"--cluster: the worker at {worker} cannot play: {found}")
        yield _Workers(client), max(sum(threads.values()), 1)


class _Workers(Executor):
    """The workers of a cluster as an executor."""

    def __init__(self, client: Any) -> None:
        self._client = client
        # Not pure: a match that is submitted again is to be played again.
        self._executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have `fn` called by some worker."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def everywhere(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each referee process of all workers; one that does not answer has died, or is to."""
        self._client.run(_everywhere_there, fn, on_error="ignore")


def lacking(version: str, paths: Sequence[str]) -> str | None:
    """What this process lacks to play as asked, or None: the same version, and all files and folders of `paths`."""
    if __version__ != version:
        return f"it has warpleague {__version__}, not {version}"
    missing = next((path for path in paths if not Path(path).exists()), None)
    if missing is not None:
        return f"it has no {missing}; built bots and interpreters must be at the same paths"
    return None


def play_there(spec: MatchSpec, log: bool = False) -> MatchResult:
    """Play `spec` in a referee process of this worker's; raises what playing it raised."""
    from warpleague.runner.play import play_in_series

    return _referees().submit(play_in_series, spec, log).result()


def _everywhere_there(fn: Callable[[], object]) -> None:
    if _pool is not None:
        _pool.everywhere(fn)


def _referees() -> RefereePool:
    """The referees of this worker, as many as it runs tasks: started with its first match, and gone with it."""
    global _pool
    with _pool_lock:
        if _pool is None:
            # No core of their own: which ones the other workers of this machine have, nobody knows.
            _pool = RefereePool(_threads(), "none")
        return _pool


def _threads() -> int:
    from distributed import get_worker

    worker: Any = get_worker()
    return int(worker.state.nthreads)
