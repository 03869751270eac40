"""The interface of executors, which play the matches of a league."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future


class MatchExecutor(Executor):
    """An executor that plays matches in `jobs` processes (0: unknown)."""

    jobs: int = 0
    is_local = False
    """Whether these are processes of this machine, which keep its processors busy."""

    @property
    def places(self) -> int:
        """How many matches are played at a time, as far as is known now; 0 if unknown."""
        return self.jobs

    @property
    def ahead(self) -> int:
        """How many matches to submit for each place: enough for the time in which results are synced to the disk."""
        return 8

    def submit_alone(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Like `submit`, but nothing else runs beside it in the same process: if that dies, this did it."""
        return self.submit(fn, *args, **kwargs)

    def flush(self) -> None:
        """Begin what was submitted: nothing more comes for now."""

    def everywhere(self, fn: Callable[[], object]) -> None:
        """Have `fn` called in each process, and wait until all have done so that may play matches later."""

    def new_notes(self) -> Sequence[str]:
        """Lines for the user about what happened to the processes since the last call."""
        return ()

    def when_room(self, call: Callable[[], None]) -> None:
        """Have `call` called, in any thread, when there may be room for more matches than before."""


class Adapter(MatchExecutor):
    """Any `executor` as one for matches: nothing more is known of it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As the executor does."""
        return self._executor.submit(fn, *args, **kwargs)
