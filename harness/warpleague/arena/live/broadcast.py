"""A counter of changes: tasks wait for its next change."""

from __future__ import annotations

import trio


class Broadcast:
    """Counts changes, and wakes all tasks that wait for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._event = trio.Event()

    def notify(self) -> None:
        """Count one change, and wake all who wait."""
        self.count += 1
        self._event.set()
        self._event = trio.Event()

    async def after(self, count: int) -> int:
        """Wait until there were more than `count` changes; returns their number."""
        while self.count <= count:
            await self._event.wait()
        return self.count

    async def comes_within(self, seconds: float, count: int) -> bool:
        """Wait at most that many seconds; returns whether there were more than `count` changes by then."""
        with trio.move_on_after(seconds):
            await self.after(count)
            return True
        return False
