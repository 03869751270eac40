"""Which tasks of a cluster others have to play, as its scheduler sees it."""

import importlib.util
import time
from types import SimpleNamespace as Record
from typing import Any

import pytest

if importlib.util.find_spec("distributed") is None:
    pytest.skip("distributed is not installed", allow_module_level=True)

NAME = "warpleague-run"


def worker(address: str, silence_s: float, plays: list[str], results: list[str]) -> Any:
    """A worker as the scheduler knows it: `plays` are the keys of its tasks, `results` those of its results."""
    processing, has_what = ([Record(key=key) for key in keys] for keys in (plays, results))
    return Record(
        address=address,
        last_seen=time.time() - silence_s,
        processing=processing,
        has_what=has_what,
        executing={},
        nthreads=1,
        resources={NAME: 1},
    )


def test_what_a_silent_worker_plays_and_has_played_is_played_elsewhere() -> None:
    """A result that lies on a silent worker cannot be fetched; it counts as a match that was not played."""
    from warpleague.extras.cluster.worker import look

    offered: list[tuple[str, dict[str, int]]] = []
    workers = [
        worker("silent", 60.0, [f"{NAME}-1", "other-1"], [f"{NAME}-2", "other-2"]),
        worker("well", 0.0, [f"{NAME}-3"], [f"{NAME}-4"]),
    ]
    scheduler = Record(
        workers={one.address: one for one in workers},
        unrunnable={},
        get_events=lambda _: [],
        add_resources=lambda address, resources: offered.append((address, resources)),
    )
    state = look(NAME, 0, 5.0, 60.0, scheduler)
    assert state.keys == {f"{NAME}-1", f"{NAME}-2"}
    assert state.stalled.keys() == {"silent"}
    assert offered == [("silent", {NAME: 0})]
