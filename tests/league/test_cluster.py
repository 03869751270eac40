"""The rules of batches on a cluster hold in every order of events: workers stall, recover, die; messages come late."""

from concurrent.futures import Future
from itertools import count

import attrs
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from warpleague.extras.cluster.protocol import Batch, Call, Gate, Ledger, Silence
from warpleague.league.referees.pool import TakenAway, WorkerLost


@attrs.define(eq=False)
class Pool:
    """The referees of a process, and the calls whose dice their bots know."""

    known: set[Call] = attrs.Factory(set)
    ended: bool = False


@attrs.define(eq=False)
class Process:
    """A process of a worker; `renewing` has the numbers of the renewals that wait for the one under way."""

    name: str
    gate: Gate
    pool: Pool = attrs.Factory(Pool)
    renewing: list[tuple[int, set[str]]] = attrs.Factory(list)


@attrs.define(eq=False)
class Played:
    """A batch that a process has begun, with the pool that it got, and how many calls it has made."""

    batch: Batch
    process: Process
    pool: Pool
    made: int = 0


class Cluster(RuleBasedStateMachine):
    """A client and the workers at one address. Each message sent may arrive at any time, in any order, and again."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger, self.names = Ledger(), count()
        self.alive = self.started()
        self.batches: list[Batch] = []
        self.playing: list[Played] = []
        self.results: list[tuple[Batch, int | None]] = []  # how many calls were made; None: it was refused
        self.renewals: list[tuple[int, set[str]]] = []
        self.answers: list[int] = []
        self.begun: set[int] = set()
        self.taken: set[Call] = set()
        self.calls: list[Call] = []
        self.ledger.join("here", self.alive.name, 1)

    def started(self) -> Process:
        name = f"process {next(self.names)}"
        return Process(name, Gate(name))

    # The client

    @rule(alone=st.booleans())
    def submit(self, alone: bool) -> None:
        self.calls.append(Call(Future(), None, alone))
        self.ledger.waiting.append(self.calls[-1])

    @precondition(lambda self: self.ledger.waiting and self.ledger.well)
    @rule(size=st.integers(1, 3))
    def send(self, size: int) -> None:
        for batch in self.ledger.send(size):
            assert batch.worker in self.ledger.well
            assert len(batch.calls) == 1 or not any(call.alone for call in batch.calls)
            self.batches.append(batch)

    @precondition(lambda self: self.ledger.places["here"].process != self.alive.name)
    @rule()
    def look(self) -> None:
        """The client learns that another process is there."""
        self.drop(self.ledger.leave("here"), WorkerLost())
        self.ledger.join("here", self.alive.name, 1)

    @precondition(lambda self: self.ledger.batches)
    @rule()
    def stall(self) -> None:
        self.drop(self.ledger.stall("here"), TakenAway())

    @precondition(lambda self: self.ledger.stalled)
    @rule()
    def renew(self) -> None:
        self.renewals.append((self.ledger.renewal(["here"]), {self.ledger.places["here"].process}))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def hear_of_renewal(self, data: st.DataObject) -> None:
        self.ledger.renewed("here", data.draw(st.sampled_from(self.answers)))

    @precondition(lambda self: self.results)
    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        """A result comes, maybe for the second time. No call is resolved twice: a future would raise."""
        batch, made = data.draw(st.sampled_from(self.results))
        for call in self.ledger.end(batch, len(batch.calls) if made is None else made):
            assert call not in self.taken
            if made is None:
                call.future.set_exception(WorkerLost())
            else:
                call.future.set_result(None)

    def drop(self, batches: list[Batch], why: Exception) -> None:
        for call in (call for batch in batches for call in batch.calls):
            self.taken.add(call)
            call.future.set_exception(why)

    # The workers

    @precondition(lambda self: self.playing)
    @rule()
    def die(self) -> None:
        """The worker dies, and its supervisor starts another one at the same address."""
        self.playing = [played for played in self.playing if played.process is not self.alive]
        self.alive = self.started()

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """A batch arrives, maybe again: Dask makes a task another time whose result was lost."""
        batch = data.draw(st.sampled_from(self.batches))
        process = self.alive
        pool = process.pool
        if not process.gate.begin(batch.number, batch.process):
            self.results.append((batch, None))
            return
        assert batch.number not in self.begun
        if batch.number in self.ledger.batches:  # its results will count
            assert not pool.known & self.taken, "its bots know dice of matches that others play"
        self.begun.add(batch.number)
        self.playing.append(Played(batch, process, pool))

    @precondition(lambda self: self.playing)
    @rule(data=st.data())
    def call(self, data: st.DataObject) -> None:
        """A call is made; if its pool has ended, this fails, and nobody may hear of that."""
        played = data.draw(st.sampled_from(self.playing))
        call = played.batch.calls[played.made]
        played.made += 1
        if not played.pool.ended:
            played.pool.known.add(call)
        is_open = played.process.gate.is_open(played.batch.number)
        assert is_open or played.batch.number not in self.ledger.batches
        assert played.pool.ended <= (not is_open)
        if not is_open or played.made == len(played.batch.calls) or data.draw(st.booleans()):
            self.playing.remove(played)
            self.results.append((played.batch, played.made if is_open else None))

    @precondition(lambda self: self.renewals)
    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        """A renewal arrives at the process that is there now, and waits for the one under way."""
        self.alive.renewing.append(data.draw(st.sampled_from(self.renewals)))
        if len(self.alive.renewing) == 1:
            self.begin_renewal()

    @precondition(lambda self: self.alive.renewing)
    @rule()
    def end_renewal(self) -> None:
        if self.alive.pool.ended:
            self.alive.pool = Pool()
        self.answers.append(self.alive.renewing.pop(0)[0])
        if self.alive.renewing:
            self.begin_renewal()

    def begin_renewal(self) -> None:
        process = self.alive
        if process.gate.renew(*process.renewing[0]):
            process.pool.ended = True

    def teardown(self) -> None:
        """When the worker is replaced and answers, each call gets its one result."""
        self.die()
        self.look()
        for _ in range(2 * len(self.calls)):
            for batch in self.ledger.send(1):
                assert self.alive.gate.begin(batch.number, batch.process)
                for call in self.ledger.end(batch, 1):
                    call.future.set_result(None)
        assert all(call.future.done() for call in self.calls)
        assert not self.ledger.batches


TestCluster = Cluster.TestCase
TestCluster.settings = settings(max_examples=200, stateful_step_count=50, deadline=None)


def test_what_was_sent_between_a_stall_and_its_renewal_is_taken_back() -> None:
    """A batch that a worker gets after it stalled is not begun there, or its calls count for nothing."""
    ledger, gate = Ledger(), Gate("process")
    ledger.join("worker", "process", 1)
    ledger.waiting.extend(Call(Future(), None) for _ in range(2))
    under_way, late = ledger.send(1)
    assert gate.begin(under_way.number, "process")
    assert ledger.stall("worker") == [under_way, late]
    number = ledger.renewal(["worker"])
    assert gate.renew(number, {"process"})
    assert not gate.is_open(under_way.number)
    assert not gate.begin(late.number, "process")
    ledger.renewed("worker", number)
    ledger.waiting.append(Call(Future(), None))
    (again,) = ledger.send(1)
    assert gate.begin(again.number, "process")
    assert ledger.end(under_way, 1) == []


def test_old_answers_and_renewals_of_a_process_that_was_there_before_count_for_nothing() -> None:
    """Else bots that know dice would play on, or those that play what was sent since would be ended."""
    ledger, gate = Ledger(), Gate("second")
    ledger.join("worker", "second", 1)
    assert not gate.renew(ledger.renewal([]), {"first"})
    ledger.stall("worker")
    before = ledger.renewal(["worker"])
    after = ledger.renewal(["worker"])
    ledger.renewed("worker", before)
    assert ledger.stalled == {"worker"}
    assert gate.renew(after, {"second"})
    assert not gate.renew(before, {"second"})
    ledger.renewed("worker", after)
    assert ledger.well == {"worker": 1}
    ledger.stall("worker")
    ledger.renewed("worker", after)
    assert ledger.stalled == {"worker"}


def test_a_clock_that_is_set_makes_nobody_silent() -> None:
    """The times of heartbeats may jump; a pause of whoever looks is not the workers' silence; that of one is."""
    silence, step = Silence(), 3600.0
    silence.look({"a": 100.0, "b": 100.0}, 10.0)
    assert silence.look({"a": 101.0 + step, "b": 100.0}, 11.0) == {"a": 0.0, "b": 1.0}
    assert silence.look({"a": 102.0 - step, "b": 100.0}, 12.0) == {"a": 0.0, "b": 2.0}
    assert silence.look({"a": 102.0 - step, "b": 100.0}, 912.0) == {"a": 2.5, "b": 4.5}
    assert silence.look({"b": 101.0, "c": 1.0}, 913.0) == {"b": 0.0, "c": 0.0}
