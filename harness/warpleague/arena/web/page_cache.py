"""The cache of match pages on the disk: a page is made on its first request, and the oldest pages are removed."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

import trio

from warpleague.arena.process.log import log
from warpleague.arena.process.retention import prune
from warpleague.arena.web.renderer import match_page
from warpleague.report.site.write import maker

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.arena.web.renderer import Renderer

FOLDER: Final = "pages"
MAX_WAITING: Final = 64
"""So many pages may wait to be made."""
_PRUNE_EVERY: Final = 50
"""The number of new pages after which the cache is pruned."""


class Busy(Exception):
    """Too many pages are being made: one more would take too long."""


class PageCache:
    """The pages of the matches of one league, at most `max_bytes` of them."""

    def __init__(self, path: Path, results: Path, folder: Path, renderer: Renderer, max_bytes: int) -> None:
        self._path, self._results, self._folder = path, results, folder
        self._renderer = renderer
        self._max_bytes = max_bytes
        self._made = 0
        self._making: dict[str, trio.Event] = {}

    async def page(
        self, match_id: str, game: str, *, published: bool, suffix: str = ".html"
    ) -> bytes | str | None:
        """The page of a match, a text if its record is invalid, or None if the match is not visible.

        With the suffix `.js` it is the script beside the page, which is made and loaded only when it is wanted.
        A page from before the season's secret was published does not have the match's key, so it is made again.
        """
        # What makes pages is part of the name, so that a newer version of this program makes its own.
        name = f"{maker(game)[:6].hex()}-{'open' if published else 'secret'}-{match_id}"
        place = self._folder / f"{name}{suffix}"
        while True:
            with contextlib.suppress(OSError):
                data = place.read_bytes()
                os.utime(place)  # seen lately
                return data
            if name not in self._making:
                break
            await self._making[name].wait()
        if self._renderer.waiting >= MAX_WAITING:
            raise Busy
        done = self._making[name] = trio.Event()
        try:
            with_script = suffix == ".js"
            content = await self._renderer.make(match_page, self._path, self._results, match_id, with_script)
            if not isinstance(content, tuple):
                return content
            made = {end: data for end, data in zip((".html", ".js"), content, strict=True) if data}
            await trio.to_thread.run_sync(self._store, self._folder / name, made)
            return made[suffix]
        finally:
            del self._making[name]
            done.set()

    def _store(self, place: Path, files: dict[str, bytes]) -> None:
        """Write a page and its script to the disk; if the disk is full, the next request makes them again."""
        draft = place.with_suffix(".draft")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for suffix, data in files.items():
                draft.write_bytes(data)
                draft.replace(place.with_suffix(suffix))
        except OSError as error:
            log("page not kept", why=str(error))
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        self._made += 1
        if self._made % _PRUNE_EVERY == 1:
            prune(self._folder, self._max_bytes)
