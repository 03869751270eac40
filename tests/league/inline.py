"""Executors that run each call in this process, at once: tests need no other processes to play and to verify."""

from concurrent.futures import Executor, Future
from typing import Any

from warpleague.league.play.verifying import problem_of
from warpleague.league.referees.pool import Pool


class Inline(Executor):
    """Runs a call when it is submitted."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


class InlinePool(Inline, Pool):
    """A referee pool without processes."""

    jobs = 2

    def __init__(self, *_: object) -> None:
        pass

    def kill(self) -> None:
        pass


class Trusting(InlinePool):
    """A pool that finds every record in order: for leagues whose matches were not really played."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit((lambda *_: None) if fn is problem_of else fn, *args, **kwargs)
