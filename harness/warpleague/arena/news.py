"""Tells all who wait that something has changed."""

from __future__ import annotations

import trio


class News:
    """Counts changes, and wakes those who wait for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self._event = trio.Event()

    def tell(self) -> None:
        """Something has changed."""
        self.count += 1
        self._event.set()
        self._event = trio.Event()

    async def after(self, count: int) -> int:
        """Wait until more than `count` changes were told; their number."""
        while self.count <= count:
            await self._event.wait()
        return self.count

    async def comes_within(self, seconds: float, count: int) -> bool:
        """Whether more than `count` changes were told before that time was over."""
        with trio.move_on_after(seconds):
            await self.after(count)
            return True
        return False
