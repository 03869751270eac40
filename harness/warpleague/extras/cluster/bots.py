"""Brings bots to the workers that lack them: from another worker, or else from the client.

A worker that lacks a bot asks the scheduler which workers hold its archive (`who_has`), and takes it from one of them
as Dask takes what a task needs. If none gives it, the worker asks the client by an event, and the client scatters the
archive to this worker, from which the others take it. So an archive leaves the client once, however many workers there
are. Once unpacked, the bot is in the bot cache of the worker's machine.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from distributed.utils import sync
from distributed.utils_comm import gather_from_workers

from warpleague.errors import BotError, HarnessFault
from warpleague.runner.bundle.bundle import find_bundle, pack_bundle, receive_bundle, resolve
from warpleague.runner.bundle.cache import trim_received
from warpleague.runner.bundle.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warpleague.match.spec import Level
    from warpleague.runner.bundle.bundle import Bundle

_PATIENCE_S: Final = 2.0
"""How long a match waits for a bot before it is sent to a worker anew: less than the grace."""
_GIVE_UP_S: Final = 60.0  # after this time a worker that cannot get a bot plays no more
_PEER_S: Final = 5.0  # how long another worker may take, besides the time for the bytes
_SLOWEST: Final = 1e6  # bytes a second
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0  # between two questions who has an archive
_JUST_GIVEN_S: Final = 1.0  # who asked before this time will find what was given
_HOLD_BYTES: Final = 256 << 20  # of archives in the memory of one worker
_KEEP_BYTES: Final = 10 << 30  # of bots that came for earlier runs, in the cache of a worker's machine


@attrs.frozen
class Archive:
    """The archive of a bot: its SHA-256, its size in bytes, and the program that must be installed to run it."""

    digest: str
    size: int
    program: str | None

    @classmethod
    def of(cls, bot: str, level: Level) -> Archive | None:
        """The archive of the bot with this digest as this machine packs it; None if the bot cannot travel."""
        with suppress(BotError):
            packed = pack_bundle(bot, level)
            bundle = find_bundle(bot, level=level)
            if bundle is not None:
                program = read_manifest(Path(bundle.cwd)).run[0]
                return cls(sha256(packed).hexdigest(), len(packed), None if "/" in program else program)
        return None


def _key(run: str, bot: str) -> str:
    """The key of an archive in Dask; not one of a batch, whose keys begin with the name of the run."""
    return f"bot-{run}-{bot}"


# -- on a worker -----------------------------------------------------------------------------------------


class BotOnItsWay(Exception):
    """A bot that a match needs is still being taken."""


class BotLacking(HarnessFault):
    """A worker cannot get a bot, or not run it; the text says why. It cannot play."""


class WorkerBots:
    """The bots of the run `run` on a worker: `archives` by the bots' digests, None for a bot that cannot travel."""

    _worker: Any

    def __init__(self, run: str, level: Level, archives: Mapping[str, Archive | None]) -> None:
        self._run, self._level, self._archives = run, level, archives
        self._taking: dict[str, asyncio.Task[None]] = {}

    def check(self, worker: Any) -> str | None:
        """Why this Dask worker cannot play with these bots, or None; makes room in the cache for those to come."""
        self._worker = worker
        trim_received(_KEEP_BYTES)
        for bot, archive in self._archives.items():
            # Its interpreter must be here, too: of a bot that is here, this finds that out.
            if find_bundle(bot, level=self._level) is not None:
                continue
            if archive is None:
                return f"it lacks the bot with digest {bot[:12]}, which cannot be sent"
            if archive.program is not None and resolve((archive.program,)) is None:
                return f"it lacks the program {archive.program!r} of the bot with digest {bot[:12]}"
        return None

    def find(self, bot: str) -> Bundle:
        """The bot with this digest in the cache of this machine, taken first if need be; called in a thread of a task.

        Raises `BotOnItsWay` if it has not come after some seconds, and `BotLacking` if it cannot be had.
        """
        try:
            bundle = find_bundle(bot, level=self._level)
            if bundle is None:
                sync(self._worker.loop, self.take, bot, callback_timeout=_PATIENCE_S)
                bundle = find_bundle(bot, level=self._level)
        except TimeoutError:
            raise BotOnItsWay from None
        except (BotError, OSError) as error:
            raise BotLacking(str(error)) from None
        if bundle is None:
            raise BotLacking(f"the bot with digest {bot[:12]} came, and is not in its cache")
        return bundle

    async def take(self, bot: str) -> None:
        """Take a bot into the cache, once for all who ask for it; `BotLacking` if it does not come."""
        task = self._taking.get(bot)
        if task is None or (task.done() and task.exception() is None):
            task = self._taking[bot] = asyncio.create_task(self._take(bot))
        await asyncio.shield(task)

    async def take_all(self) -> None:
        """Take all bots that the cache lacks; in an order of its own, so that workers take them from each other."""
        for bot in random.sample(list(self._archives), len(self._archives)):
            if self._archives[bot] is not None and find_bundle(bot, level=self._level) is None:
                await self.take(bot)

    async def _take(self, bot: str) -> None:
        archive, key = self._archives[bot], _key(self._run, bot)
        if archive is None:
            raise BotLacking(f"the bot with digest {bot[:12]} is gone from its cache, and cannot be sent")
        wait_s = archive.size / _SLOWEST
        until_s, pause_s = time.monotonic() + _GIVE_UP_S + wait_s, _FIRST_PAUSE_S
        refused: set[str] = set()
        while time.monotonic() < until_s:
            holders = set((await self._worker.scheduler.who_has(keys=[key]))[key]) - refused
            packed = self._worker.data.get(key)
            if packed is None and holders:
                packed = await self._from_others(key, holders, _PEER_S + wait_s)
                refused |= holders
            if packed is not None and sha256(packed).hexdigest() == archive.digest:
                await asyncio.to_thread(receive_bundle, bot, packed)
                return
            if not holders:
                self._worker.log_event(_key(self._run, ""), (self._worker.contact_address, bot))
            await asyncio.sleep(pause_s)
            pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)
        raise BotLacking(f"the bot with digest {bot[:12]} did not come within {_GIVE_UP_S + wait_s:.0f} s")

    async def _from_others(self, key: str, holders: Iterable[str], limit_s: float) -> bytes | None:
        """What one of the workers `holders` gives; None if none does so in time."""
        give = gather_from_workers({key: list(holders)}, self._worker.rpc, who=self._worker.address)
        with suppress(TimeoutError, OSError):
            data: dict[Any, Any] = (await asyncio.wait_for(give, limit_s))[0]
            return data.get(key)
        return None


# -- in the client ---------------------------------------------------------------------------------------


@attrs.frozen
class _Copy:
    """An archive in the memory of a worker for as long as `future` lives, and when it was given."""

    worker: str
    size: int
    future: Any
    given_s: float = attrs.field(factory=time.monotonic)


class BotSource:
    """Gives the archives of bots to workers that find them nowhere else."""

    def __init__(self, level: Level, bots: Iterable[str]) -> None:
        self._level = level
        self.archives: dict[str, Archive | None] = {bot: Archive.of(bot, level) for bot in bots}
        self._copies: dict[str, _Copy] = {}  # by bot, the last given at the end
        self._giving: dict[str, asyncio.Task[None]] = {}

    def serve(self, client: Any, run: str) -> None:
        """Answer the workers of a run from now on, in the event loop of a Dask client."""
        self._client, self._run = client, run
        client.subscribe_topic(_key(run, ""), self._asked)

    def _asked(self, event: tuple[float, Sequence[str]]) -> None:
        """A worker asks for a bot. Not awaited here: until then the client would hear nothing else."""
        worker, bot = event[1]
        copy = self._copies.get(bot)
        just_given = copy is not None and time.monotonic() - copy.given_s < _JUST_GIVEN_S
        if bot not in self._giving and not just_given:
            task = self._giving[bot] = asyncio.create_task(self._give(worker, bot))
            task.add_done_callback(lambda _: self._giving.pop(bot))

    async def _give(self, worker: str, bot: str) -> None:
        with suppress(Exception):  # whatever it is, perhaps the worker is gone: who lacks the bot asks again
            packed = await asyncio.to_thread(pack_bundle, bot, self._level)
            self._make_room(worker, len(packed))
            key = _key(self._run, bot)
            futures = await self._client.scatter({key: packed}, workers=[worker], asynchronous=True)
            self._copies.pop(bot, None)
            self._copies[bot] = _Copy(worker, len(packed), futures[key])

    def _make_room(self, worker: str, size: int) -> None:
        """Let the worker forget the archives that it was given first, if it holds too many bytes."""
        held = [(bot, copy) for bot, copy in self._copies.items() if copy.worker == worker]
        size += sum(copy.size for _, copy in held)
        for bot, copy in held:
            if size > _HOLD_BYTES:
                del self._copies[bot]
                size -= copy.size
