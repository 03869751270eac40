"""What is being made for visitors: made once for all who ask, and made to its end though they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import trio

from warpleague.errors import HarnessFault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

T = TypeVar("T")
PATIENCE_S: Final = 2.0
"""After so long a visitor sees that a page is being made."""


@attrs.define(eq=False)
class _Work:
    """Something that is being made: since when (trio's clock, in seconds), and in the end its value or an error."""

    begun_s: float = attrs.Factory(trio.current_time)
    done: trio.Event = attrs.Factory(trio.Event)
    value: Any = None
    error: Exception | None = None


class Making:
    """What is being made now, or was just made, each by its key."""

    def __init__(self) -> None:
        self._works: dict[Hashable, _Work] = {}

    async def result(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` returns or raises; if the same is being made already, that one's result.

        Who is cancelled leaves: it is made all the same. What took long is kept for as long.
        """
        work = self._works.get(key)
        if work is None:
            work = self._works[key] = _Work()
            trio.lowlevel.spawn_system_task(self._run, key, work, make)
        await work.done.wait()
        if work.error is not None:
            raise work.error
        value: T = work.value
        return value

    async def _run(self, key: Hashable, work: _Work, make: Callable[[], Awaitable[Any]]) -> None:
        try:
            work.value = await make()
        except Exception as error:  # noqa: BLE001 - for those who wait
            work.error = error
        except BaseException:
            work.error = HarnessFault("the server ends")
            raise
        finally:
            work.done.set()
            took_s = self.age_s(key)
            if took_s <= PATIENCE_S:
                del self._works[key]
        if took_s > PATIENCE_S:
            # Who was told that it is being made comes for it a little later, also for an error that nobody stores.
            await trio.sleep(took_s)
            del self._works[key]

    def age_s(self, key: Hashable) -> float:
        """How many seconds ago its making began; 0 if it is unknown."""
        work = self._works.get(key)
        return 0.0 if work is None else trio.current_time() - work.begun_s
