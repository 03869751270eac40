"""What visitors wait for: it goes before what is made ahead, says that it is being made, and is never dropped."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import trio
import trio.abc
from tests.arena.harness import Answer, ApiHarness, Client
from tests.waiting import PATIENCE_S

from warpleague.arena.submissions import conditions
from warpleague.arena.web.making import Making
from warpleague.arena.web.renderer import Renderer


@pytest.fixture
def league(tmp_path: Path) -> Iterator[ApiHarness]:
    """A server of a league that was played, whose pages take a while to make."""
    found = ApiHarness(tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("kind", "made", "status"),
    [("bots/mine", "bot_page", 200), ("matches/{}.html", "match_page", 500)],  # no real match, so no replay
)
def test_a_page_that_takes_long_says_so(
    kind: str, made: str, status: int, league: ApiHarness, autojump_clock: trio.abc.Clock
) -> None:
    """It loads itself again until it is there or cannot be; it is made once, though the league has a newer page."""
    path = f"/l/played/{kind.format(league.matches[0])}"
    client, answers = Client(league.api), list[Answer]()
    renderer: Any = league.feeds[1].renderer
    renderer.made.clear()
    renderer.seconds = 5.0

    async def visit() -> None:
        for _ in range(3):
            answers.append(await client.ask_app(client.scope("GET", path)))
            await trio.sleep(0.8)
            league.render()

    trio.run(visit, clock=autojump_clock)
    assert [answer.status for answer in answers] == [202, 202, status]
    assert all(answer.headers["refresh"] == "1" for answer in answers[:2])
    assert "It has been made for 2 s" in answers[0].text
    assert "It has been made for 5 s" in answers[1].text
    assert "refresh" not in answers[-1].headers
    assert renderer.made == [made]


def test_the_conditions_say_that_the_machine_is_asked(
    league: ApiHarness, autojump_clock: trio.abc.Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is the first to look at them sees so until the machine has answered."""
    client, answered, statuses = Client(league.api), Event(), list[int]()

    def slow(*_: Any) -> None:
        assert answered.wait(PATIENCE_S)

    monkeypatch.setattr(conditions, "offered_machine", slow)

    async def visit() -> None:
        while 200 not in statuses:
            answer = await client.ask_app(client.scope("GET", "/l/played/conditions"))
            assert ("The machine is being asked" in answer.text) == (answer.status == 202)
            statuses.append(answer.status)
            answered.set()

    trio.run(visit, clock=autojump_clock)
    assert statuses[0] == 202


def test_who_leaves_stops_nothing(autojump_clock: trio.abc.Clock) -> None:
    """Who comes later waits for the same; an error reaches all who wait, and the next one tries again."""
    making, begun, ended = Making(), list[str](), list[str]()

    async def make() -> str:
        begun.append("x")
        await trio.sleep(10)
        ended.append("x")
        if len(ended) == 2:
            raise OSError("full")
        return f"page {len(ended)}"

    async def main() -> None:
        with trio.move_on_after(1):
            await making.result("a", make)
        assert making.age_s("a") == pytest.approx(1)
        assert await making.result("a", make) == "page 1"
        assert (len(begun), len(ended)) == (1, 1)
        await trio.sleep(11)  # for as long as it took, it is kept
        for _ in range(2):
            with trio.move_on_after(1):
                await making.result("a", make)
        with pytest.raises(OSError, match="full"):
            await making.result("a", make)
        await trio.sleep(11)
        assert await making.result("a", make) == "page 3"
        assert len(begun) == 3

    trio.run(main, clock=autojump_clock)


def test_what_is_made_ahead_keeps_nobody_waiting(tmp_path: Path) -> None:
    """While it is made, visitors get their pages: at the priority of matches, which is higher."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    renderer = Renderer()
    found: list[int] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:

            async def ahead() -> None:
                found.append(len(await renderer.make(Path.read_bytes, fifo, ahead=True)))
                found.append(await renderer.make(os.nice, 0, ahead=True))

            nursery.start_soon(ahead)
            found.append(await renderer.make(os.nice, 0))
            await trio.to_thread.run_sync(fifo.write_bytes, b"on")

    try:
        trio.run(main)
    finally:
        renderer.close()
    assert found == [os.nice(0), 2, min(os.nice(0) + 10, 19)]
