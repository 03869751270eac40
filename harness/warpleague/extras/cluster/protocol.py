"""The rules of batches: which worker may play which, and what becomes of them when it stalls, recovers or is lost.

There is no Dask here, no thread and no clock, so tests can try the events in every order. `Ledger` is the half of the
client, `Gate` that of each worker. Messages between them may be late, lost or doubled, and may overtake each other.
What holds in every order:

- A call is resolved once: by what the worker returned, or by what happened to the worker.
- What comes from a batch that was taken from its worker does not count.
- A worker from which a batch was taken plays no other one before it has ended its bots, which may know the dice.
- No batch begins twice, or in another process than the one it was sent to.
"""

from __future__ import annotations

import itertools
from collections import deque
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from concurrent.futures import Future

TASKS: Final = 2
"""Batches for each thread of a worker: one is played, one waits."""
_GAP_S: Final = 2.5  # what counts of the time between two looks: in a longer one somebody else was stopped


@attrs.frozen(eq=False)
class Call:
    """A call, which is a batch of its own if it is `alone`."""

    future: Future[Any]
    work: Any
    alone: bool = False

    def begins(self) -> bool:
        """Whether it is to be made: from then on it cannot be cancelled, since bots may see the dice of its match."""
        future = self.future
        return not future.done() and (future.running() or future.set_running_or_notify_cancel())


@attrs.define(eq=False)
class Batch:
    """Calls that are one task of Dask's, for this `process` of the worker at this address."""

    number: int
    calls: list[Call]
    worker: str
    process: str
    task: Any = None


@attrs.define(eq=False)
class Place:
    """A fit worker: its process, its threads, how many batches it has, and whether it has stalled.

    `asked` is the number of its last renewal since then, or 0.
    """

    process: str
    threads: int
    batches: int = 0
    stalled: bool = False
    asked: int = 0

    @property
    def room(self) -> int:
        """How many batches to give it now."""
        return 0 if self.stalled else TASKS * self.threads - self.batches


class Ledger:
    """What the client knows: the fit workers, the calls that wait, and the batches that workers have."""

    def __init__(self) -> None:
        self.waiting: deque[Call] = deque()
        self.batches: dict[int, Batch] = {}
        self.places: dict[str, Place] = {}
        self._numbers = itertools.count(1)

    @property
    def well(self) -> dict[str, int]:
        """The threads of the fit workers that have not stalled, by address."""
        places = self.places.copy()
        return {worker: place.threads for worker, place in places.items() if not place.stalled}

    @property
    def stalled(self) -> set[str]:
        """The addresses of the workers that have stalled and were not renewed since."""
        return {worker for worker, place in self.places.copy().items() if place.stalled}

    def join(self, worker: str, process: str, threads: int) -> None:
        """A worker has been found fit."""
        self.places[worker] = Place(process, threads)

    def leave(self, worker: str) -> list[Batch]:
        """A worker is no longer there; its batches, which are forgotten."""
        del self.places[worker]
        return self.taken_from(worker)

    def stall(self, worker: str) -> list[Batch]:
        """Take from a worker all its batches, also those under way to it; it gets none until it is renewed."""
        place = self.places[worker]
        place.stalled, place.asked = True, 0
        return self.taken_from(worker)

    def retire(self, worker: str) -> None:
        """Give a worker, if it is known, no more batches; it keeps those that it has."""
        self.places.pop(worker, None)

    @property
    def retired(self) -> set[str]:
        """The addresses of the workers that get no more batches, but still have some."""
        return {batch.worker for batch in self.batches.values()} - self.places.keys()

    def taken_from(self, worker: str) -> list[Batch]:
        """Take from a worker all its batches, which are forgotten."""
        taken = [batch for batch in self.batches.values() if batch.worker == worker]
        for batch in taken:
            self._forget(batch)
        return taken

    def _forget(self, batch: Batch) -> None:
        del self.batches[batch.number]
        place = self.places.get(batch.worker)
        if place is not None and place.process == batch.process:
            place.batches -= 1

    def renewal(self, workers: Iterable[str]) -> int:
        """The number of a renewal for workers that have stalled; it is later than all batches that were sent."""
        number = next(self._numbers)
        for worker in workers:
            self.places[worker].asked = number
        return number

    def renewed(self, worker: str, number: int) -> None:
        """A worker has ended its bots, as asked last: it gets batches again. Older answers tell nothing.

        A later renewal may be under way then, and would end the bots of what is sent now.
        """
        place = self.places.get(worker)
        if place is not None and place.asked == number:
            place.stalled = False

    def send(self, size: int) -> Iterator[Batch]:
        """Batches to send, of at most `size` of the calls that wait, as far as workers have room for them."""
        free = sum(max(place.room, 0) for place in self.places.values())
        while self.waiting and free > 0:
            most = min(size, ceil(len(self.waiting) / free))
            calls = [self.waiting.popleft()]
            while len(calls) < most and not (calls[0].alone or self.waiting[0].alone):
                calls.append(self.waiting.popleft())
            if calls := [call for call in calls if call.begins()]:
                worker, place = max(self.places.items(), key=lambda one: one[1].room / one[1].threads)
                batch = Batch(next(self._numbers), calls, worker, place.process)
                self.batches[batch.number] = batch
                place.batches += 1
                free -= 1
                yield batch

    def end(self, batch: Batch, made: int) -> list[Call]:
        """The calls of a batch that were `made`, whose results have come: none if it was taken. Others wait again."""
        if batch.number not in self.batches:
            return []
        self._forget(batch)
        self.waiting.extendleft(reversed(batch.calls[made:]))
        return batch.calls[:made]


class Gate:
    """Which batches a process of a worker begins: each once, for itself, and none from before its last renewal."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._first: float = 0
        self._begun: set[int] = set()

    def begin(self, number: int, process: str) -> bool:
        """Whether to begin a batch, which was sent to this process."""
        if process != self._process or not self.is_open(number) or number in self._begun:
            return False
        self._begun.add(number)
        return True

    def is_open(self, number: int) -> bool:
        """Whether a batch was not taken from this worker, as far as it knows."""
        return number >= self._first

    def renew(self, number: float, processes: Collection[str]) -> bool:
        """Take back all batches sent before this renewal of processes; whether there are bots to end.

        There are none if it is older than another one, or was meant for a process that was here before.
        """
        if number <= self._first or self._process not in processes:
            return False
        self._first = number
        return True


class Silence:
    """How long workers have been silent: the time over which looks found one and the same last heartbeat of them.

    That goes by the clock of who looks, which is to be monotonic. Times of heartbeats are only compared with each
    other, so it does no harm if a clock is set.
    """

    def __init__(self) -> None:
        self._beats: dict[str, float] = {}
        self._silence_s: dict[str, float] = {}
        self._looked_s = 0.0

    def look(self, beats: Mapping[str, float], now_s: float) -> dict[str, float]:
        """The silence of workers in seconds, from their last heartbeats.

        Of a long time without a look little counts: meanwhile who looks, or the scheduler, could hear nobody.
        """
        passed_s = min(now_s - self._looked_s, _GAP_S)
        self._silence_s = {
            worker: self._silence_s[worker] + passed_s if self._beats.get(worker) == beat else 0.0
            for worker, beat in beats.items()
        }
        self._beats, self._looked_s = dict(beats), now_s
        return self._silence_s
