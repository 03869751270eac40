"""What the health page says of processes and leagues: whether each gets on, and why not."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.arena.harness import ApiHarness
from tests.waiting import PATIENCE_S

from warpleague.arena.processes import Subprocess
from warpleague.cli import main

PROCESS = """
import sys
from warpleague.arena.processes import end_with_parent, working
end_with_parent()
print("some other line", flush=True)
working("checks submission 1", {within_s}, why={why!r})
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("within_s", "why", "why_not"),
    [
        (60.0, "", None),
        (60.0, "it may open 12 files", "it may open 12 files"),
        (0.0, "", "it should have told more "),
    ],
)
def test_a_process_tells_whether_it_gets_on(
    within_s: float, why: str, why_not: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what it does, and what hinders it; one that is silent for longer than it announced is stuck."""
    process = Subprocess("checker", ())
    words = (sys.executable, "-c", PROCESS.format(within_s=within_s, why=why))
    monkeypatch.setattr(process, "_words", words)
    assert process.to_json()["why_not"] == "it has not been started yet"

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.keep_running)
            await until(lambda: process.doing == "checks submission 1")
            await until(lambda: process.to_json()["gets_on"] == (why_not is None))
            nursery.cancel_scope.cancel()
        found = process.to_json()
        assert (found["runs"], found["doing"]) == (True, "checks submission 1")
        assert (found["why_not"] or "").startswith(why_not or "")
        await process.stop(5.0)

    trio.run(main)
    assert process.to_json() == {
        "wanted": True,
        "runs": False,
        "starts": 1,
        "gets_on": False,
        "doing": None,
        "why_not": "it has ended, and will be started again",
    }


async def until(holds: Callable[[], Any]) -> None:
    """Return once that is true."""
    with trio.fail_after(PATIENCE_S):
        while not holds():
            await trio.sleep(0.01)


@pytest.mark.parametrize("what", ["not_read", "not_made"])
def test_a_league_that_cannot_be_shown_is_no_good_health(what: str, tmp_path: Path) -> None:
    """The page says which league, and why."""
    arena = ApiHarness(tmp_path)
    assert arena.ask("GET", "/health").status == 200
    setattr(arena.feeds[1], what, "the disk is gone")
    found = arena.ask("GET", "/health")
    arena.close()
    assert (found.status, found.json["status"]) == (503, "failing")
    assert {name: one["why_not_shown"] for name, one in found.json["leagues"].items()} == {
        "cup": None,
        "played": "the disk is gone",
    }


def test_too_few_open_files_are_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that could do nothing does not start, and names the setting."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (40, 40))
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    (tmp_path / "open.toml").write_text('bots = ["bots/loser"]\n[game]\nid = "aliens"\n')
    words = ["serve", str(tmp_path / "open.toml"), "--results", str(tmp_path / "results"), "--port", "0"]
    assert main(words) == 2
    assert "this process may open 40 files; Warp League needs 64: `ulimit -n 64`" in capsys.readouterr().err
