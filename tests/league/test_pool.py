"""The referee pool: one process for each job, which may die without taking the run with it."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.league.conftest import Cup
from tests.waiting import wait_until

import warpleague.league.referees.pool as pool_module
from warpleague.errors import HarnessFault
from warpleague.league.referees.pool import PoolFailed, RefereeDied, RefereePool, RemoteTraceback, WorkerLost
from warpleague.league.referees.process import ForkServer, write_frame
from warpleague.runner.host import usable_cores


@pytest.fixture
def pool() -> Iterator[RefereePool]:
    with RefereePool(2) as pool:
        yield pool
        pool.kill()


def test_calls_run_in_the_referee_processes(pool: RefereePool) -> None:
    """Calls return their values, from as many processes as there are jobs, kept from call to call.

    What a call raises is raised here, its remote traceback as the cause, and what cannot be pickled fails alone. A
    call may print: the frames travel on descriptors of their own.
    """
    before = sorted(pool.processes())
    found = {pool.submit(os.getpid).result(timeout=120) for _ in range(20)}
    assert found <= set(before)
    assert len(before) == 2
    assert os.getpid() not in found
    with pytest.raises(ValueError, match="invalid literal") as caught:
        pool.submit(int, "x").result(timeout=120)
    assert isinstance(caught.value.__cause__, RemoteTraceback)
    assert "in called" in str(caught.value.__cause__)
    with pytest.raises(SystemExit):
        pool.submit(sys.exit, 3).result(timeout=120)
    with pytest.raises(RuntimeError, match="the call cannot be pickled"):
        pool.submit(lambda: 1).result(timeout=120)
    with pytest.raises(RuntimeError, match="cannot be pickled"):
        pool.submit(open, os.devnull).result(timeout=120)
    assert pool.submit(print, "noise").result(timeout=120) is None
    assert pool.submit(os.write, 1, b"noise\n").result(timeout=120) == 6
    assert pool.submit(int, "7").result(timeout=120) == 7
    assert sorted(pool.processes()) == before


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no affinity")
def test_each_referee_keeps_to_its_core() -> None:
    """With affinity every referee has one of our cores; without, all of them."""
    with RefereePool(1) as pool:
        assert pool.submit(os.sched_getaffinity, 0).result(timeout=120) == {usable_cores()[0]}
    with RefereePool(1, "none") as pool:
        assert pool.submit(os.sched_getaffinity, 0).result(timeout=120) == set(usable_cores())


def test_a_dead_referee_is_replaced(pool: RefereePool) -> None:
    """The call of a killed referee raises `RefereeDied` with how it died; later calls run elsewhere."""
    before = pool.processes()
    doomed = [pool.submit(signal.pause) for _ in range(2)]
    for future in doomed:
        wait_until(future.running)
    for process in before:
        os.kill(process, signal.SIGKILL)
    for future in doomed:
        with pytest.raises(RefereeDied, match="was killed by SIGKILL"):
            future.result(timeout=120)
    assert pool.submit(os.getpid).result(timeout=120) not in before


def test_shutdown_finishes_or_cancels() -> None:
    """Shutdown lets submitted calls end, or cancels those not begun; then no referee is left."""
    pool = RefereePool(1)
    futures = [pool.submit(os.getpid) for _ in range(5)]
    processes = pool.processes()
    pool.shutdown()
    assert all(future.done() for future in futures)
    assert not any(Path("/proc", str(process)).exists() for process in processes)
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(os.getpid)


def test_broadcast_reaches_each_referee(pool: RefereePool, tmp_path: Path) -> None:
    """A call for all is made once in each referee, after what it does, and is waited for; the dead are passed over."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    busy = pool.submit(gate.read_text)
    wait_until(busy.running)
    opener = threading.Thread(target=gate.write_text, args=("open",))
    opener.start()
    pool.broadcast(os.getpid)
    assert busy.done()
    opener.join()
    old = pool.processes()
    pool.broadcast(os.abort)
    assert not set(old) & set(pool.processes())
    assert pool.submit(int, "7").result(timeout=120) == 7


def test_broadcast_ends_with_the_pool() -> None:
    """Who waits for a call in all referees is not left waiting when the pool is killed, nor lets it go on."""
    pool = RefereePool(2)
    busy = [pool.submit(signal.pause) for _ in range(2)]
    wait_until(lambda: all(future.running() for future in busy))
    waiting = threading.Thread(target=pool.broadcast, args=(os.getpid,), daemon=True)
    waiting.start()
    wait_until(lambda: any(referee.own for referee in pool._referees))
    pool.kill()
    waiting.join(timeout=120)
    assert not waiting.is_alive()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.broadcast(os.getpid)


@pytest.mark.parametrize("cancels", ["the caller", "shutdown"])
def test_cancelled_calls_do_not_keep_the_pool(tmp_path: Path, cancels: str) -> None:
    """A pool whose last calls were cancelled while all its referees were busy ends when these have answered."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    pool = RefereePool(1)
    busy, waiting = pool.submit(gate.read_text), pool.submit(os.getpid)
    wait_until(busy.running)
    if cancels == "the caller":
        assert waiting.cancel()
    # Once: a second shutdown would wake the pool.
    end = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    end.start()
    wait_until(waiting.cancelled)
    gate.write_text("open")
    assert busy.result(timeout=120) == "open"
    end.join(timeout=120)
    assert not end.is_alive()


def test_a_call_goes_to_the_successor_of_a_dead_referee(monkeypatch: pytest.MonkeyPatch) -> None:
    """A referee that died while it was idle costs the call that finds it so, and none of those behind it."""
    handed_out = []

    def write(calls: Any, work: Any) -> None:
        handed_out.append(work)
        if len(handed_out) == 1:
            # The pool has looked for dead referees, and found none.
            (referee,) = one_referee._referees
            referee.process.kill()
            referee.process.wait()
        write_frame(calls, work)

    monkeypatch.setattr(pool_module, "write_frame", write)
    one_referee = RefereePool(1)
    futures = [one_referee.submit(os.getpid) for _ in range(3)]
    one_referee.shutdown(wait=False)
    found = [future.exception(timeout=120) for future in futures]
    assert isinstance(found[0], RefereeDied)
    assert found[1:] == [None, None]
    one_referee.shutdown()


def test_kill_ends_at_once() -> None:
    """Killing the pool fails what runs and what waits, without waiting for it."""
    pool = RefereePool(1)
    futures = [pool.submit(signal.pause) for _ in range(3)]
    pool.kill()
    for future in futures:
        with pytest.raises(RefereeDied):
            future.result(timeout=120)


def test_a_pool_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Python, or with referees that all die before their first answer: an error, not an endless loop."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(HarnessFault, match="no referee process can be started"):
        RefereePool(1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(PoolFailed, match="has failed"):
        RefereePool(1).submit(os.getpid).result(timeout=120)


def test_a_pool_that_fails_tells_what_was_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call of the referee that died, those of the others, which are not to blame, and those that never began."""
    pool = RefereePool(2)
    begun = [pool.submit(signal.pause) for _ in range(2)]
    wait_until(lambda: all(future.running() for future in begun))
    futures: list[Future[Any]] = [*begun, pool.submit(os.getpid)]

    def start(*_: Any) -> None:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(ForkServer, "start", start)
    os.kill(pool.processes()[0], signal.SIGKILL)
    assert [type(future.exception(timeout=120)) for future in futures] in (
        [RefereeDied, WorkerLost, PoolFailed],
        [WorkerLost, RefereeDied, PoolFailed],
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
def test_referees_die_with_the_scheduler() -> None:
    """When the scheduler is killed, its referees die, even one in the midst of a long call."""
    code = (
        "import signal; from warpleague.league.referees.pool import RefereePool; p = RefereePool(2);"
        "p.submit(signal.pause); print(*p.processes(), flush=True); signal.pause()"
    )
    scheduler = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    processes = scheduler.stdout.readline().split()
    assert len(processes) == 2
    scheduler.kill()
    scheduler.wait()
    scheduler.stdout.close()
    wait_until(lambda: not any(_alive(process) for process in processes))


def _alive(process: str) -> bool:
    try:
        return Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_tasks_run_side_by_side(cup: Cup) -> None:
    """A referee runs as many async functions at a time as it may, and others follow when these end."""
    with RefereePool(1, tasks=3) as pool:
        met = [pool.submit(cup.fake.meet, 3) for _ in range(3)]
        assert {future.result(timeout=120) for future in met} == set(pool.processes())
        assert pool.places == 3
        assert pool.submit(os.getpid).result(timeout=120) in pool.processes()  # plain functions as before
        assert pool.submit(cup.fake.meet, 1).result(timeout=120) in pool.processes()


def test_a_task_that_is_to_be_alone_waits_for_the_others_and_keeps_out_the_next(cup: Cup) -> None:
    """What killed its referee is known if nothing ran beside it; a plain function is alone as well."""
    with RefereePool(1, tasks=3) as pool:
        first = [pool.submit(cup.fake.meet, 2) for _ in range(2)]
        doomed = pool.submit_alone(cup.fake.die)
        last = pool.submit(cup.fake.meet, 1)
        pool.broadcast(os.getpid)
        assert [future.exception(timeout=120) for future in first] == [None, None]
        assert isinstance(doomed.exception(timeout=120), RefereeDied)
        assert last.exception(timeout=120) is None


def test_all_tasks_of_a_dead_referee_are_told(cup: Cup) -> None:
    """Each of them raises `RefereeDied`, whichever of them did it, and what waited runs in the next referee."""
    with RefereePool(1, tasks=2) as pool:
        both = [pool.submit(cup.fake.meet, 99), pool.submit(cup.fake.die)]
        later = pool.submit(cup.fake.meet, 1)
        assert all(isinstance(future.exception(timeout=120), RefereeDied) for future in both)
        assert later.exception(timeout=120) is None


def test_a_dead_fork_server_is_replaced(cup: Cup) -> None:
    """It takes its referees with it; then there are new ones."""
    with RefereePool(1) as pool:
        before = pool.processes()
        stuck = pool.submit(cup.fake.meet, 99)
        wait_until(stuck.running)
        parent = Path(f"/proc/{before[0]}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(parent), signal.SIGKILL)
        assert isinstance(stuck.exception(timeout=120), RefereeDied)
        assert pool.submit(os.getpid).result(timeout=120) not in before


@pytest.mark.parametrize("task", [False, True])
def test_a_referee_that_nobody_listens_to_leaves_without_a_word(task: bool) -> None:
    """The scheduler was killed between a call and its answer: no traceback, and no wait for the kernel."""
    calls, to_referee = os.pipe()
    answers, from_referee = os.pipe()
    os.close(answers)
    function = trio.lowlevel.checkpoint if task else os.getpid
    write_frame(to_referee, (1, task, pickle.dumps((function, (), {}))))
    program = (
        "import sys; from warpleague.league.referees.process import serve; serve(*map(int, sys.argv[1:]), -1)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, str(calls), str(from_referee)],
            pass_fds=(calls, from_referee),
            capture_output=True,
            check=False,
        )
    finally:
        for end in (calls, to_referee, from_referee):
            os.close(end)
    assert (done.returncode, done.stderr) == (0, b"")
