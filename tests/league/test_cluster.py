"""Leagues on a Dask cluster: what is asked of it before, and where its workers play. Dask itself is stood in for."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import warpleague.runner.play
from warpleague import __version__
from warpleague.errors import BadInput
from warpleague.league import cluster as dask
from warpleague.league.cluster import cluster, play_there
from warpleague.league.running import run_league
from warpleague.match.spec import SeatSpec
from warpleague.runner.play import end_idle

if TYPE_CHECKING:
    from pathlib import Path


class Client:
    """As much of Dask's client as is used: its workers are this process."""

    workers = {"tcp://w1": 2, "tcp://w2": 1}  # noqa: RUF012
    executor = None

    def __init__(self, address: str, **_: object) -> None:
        if address.endswith(":1"):
            raise TimeoutError("nobody there")
        self.closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def ncores(self) -> dict[str, int]:
        return self.workers

    def run(self, fn, *args, on_error: str):
        assert on_error == ("return" if fn is dask.lacking else "ignore")
        return {worker: fn(*args) for worker in self.workers}

    def get_executor(self, *, pure: bool):
        assert not pure
        return self.executor


@pytest.fixture
def distributed(monkeypatch: pytest.MonkeyPatch, inline) -> type[Client]:
    """The stand-in, importable as Dask would be."""
    monkeypatch.setattr(Client, "executor", inline)
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=2))
    module = SimpleNamespace(Client=Client, get_worker=lambda: worker)
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(dask, "_pool", None)
    return Client


def test_a_league_is_played_by_the_referees_of_the_workers(
    distributed, fake, write_league, open_league, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each match is handed on to a referee process of the worker, which has as many as it runs tasks."""
    made, told = [], []

    class Pool(distributed.executor.__class__):
        def __init__(self, jobs: int, affinity: str) -> None:
            made.append((jobs, affinity))

        def everywhere(self, fn) -> None:
            told.append(fn)

    monkeypatch.setattr(dask, "RefereePool", Pool)
    monkeypatch.setattr(warpleague.runner.play, "play_in_series", fake.play)
    with (
        open_league(write_league("a", "b")) as league,
        cluster("h:8786", league.season.bots) as (executor, jobs),
    ):
        report = run_league(league, executor=executor, jobs=jobs, play=play_there)
    assert (report.played, report.complete, jobs) == (6, True, 3)
    assert made == [(2, "none")]
    # Once for each of the two workers, between the first seat orders and the second ones.
    assert told == [end_idle] * 2


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("here", "must be HOST:PORT, or tcp://HOST:PORT, not 'here'"),
        ("tcp://h:1", "no Dask scheduler answers at 'tcp://h:1': nobody there"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(distributed, address: str, text: str) -> None:
    """What is no address, or where nobody answers, is told as such."""
    with pytest.raises(BadInput) as caught, cluster(address, ()):
        pass
    assert str(caught.value) == f"--cluster: {text}"


def test_workers_that_cannot_play_are_refused(
    distributed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No workers, another version, a bot that is not there, or no warpleague: told before a match, with the worker."""
    there, gone = SeatSpec("a", cwd=str(tmp_path)), SeatSpec("b", cwd=str(tmp_path / "b"))

    def refusal(*bots: SeatSpec) -> str:
        with pytest.raises(BadInput) as caught, cluster("h:8786", bots):
            pass
        return str(caught.value)

    assert refusal(there, gone).startswith(
        f"--cluster: the worker at tcp://w1 cannot play: it has no {tmp_path / 'b'};"
    )
    with cluster("h:8786", (there,)):
        pass
    other = {"tcp://w1": None, "tcp://w2": dask.lacking("0.0", ())}
    monkeypatch.setattr(distributed, "run", lambda *_, **__: other)
    assert (
        refusal()
        == f"--cluster: the worker at tcp://w2 cannot play: it has warpleague {__version__}, not 0.0"
    )
    other["tcp://w2"] = ModuleNotFoundError("No module named 'warpleague'")
    assert refusal().endswith("cannot play: No module named 'warpleague'")
    monkeypatch.setattr(distributed, "workers", {})
    assert refusal() == "--cluster: the cluster at h:8786 has no workers"


def test_without_dask_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is not installed, it is named."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInput, match="needs the package distributed"), cluster("h:8786", ()):
        pass
