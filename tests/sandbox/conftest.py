"""What the tests of confinement share: a folder that the sandbox can show, and code run at a level."""

import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE_S

from warpleague.match.spec import Level, SeatSpec
from warpleague.runner.bot.child import Child
from warpleague.runner.confine import cgroups


@pytest.fixture(autouse=True)
def _granted(request: pytest.FixtureRequest) -> None:
    """A test whose parameter `level` is the sandbox needs one; it is tried before the test patches anything."""
    if hasattr(request.node, "callspec") and request.node.callspec.params.get("level") == "sandbox":
        request.getfixturevalue("sandboxed")


@pytest.fixture
def bot_folder(tmp_path: Path) -> Path:
    """An empty folder that every user can read."""
    folder = tmp_path / "bot"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


@pytest.fixture
def run_at(bot_folder: Path) -> Callable[..., str]:
    """Runs Python code as a bot at a level, to its end, and gives what it printed, errors included."""

    def run(level: Level, code: str, **limits: Any) -> str:
        run = (sys.executable, "-I", "-S", "-c", f"import sys; sys.stderr = sys.stdout\n{code}")
        child = Child(SeatSpec(bot="code", run=run, cwd=str(bot_folder), **limits), level)
        try:
            return read_all(child.stdout)
        finally:
            child.end()

    return run


def read_all(fd: int) -> str:
    """What is written into a pipe until its other end is closed."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    parts = []
    while True:
        assert poll.poll(PATIENCE_S * 1000), b"".join(parts)
        data = os.read(fd, 65536)
        if not data:
            return b"".join(parts).decode()
        parts.append(data)


@pytest.fixture
def no_freezer() -> Iterator[None]:
    """Bots are stopped by signals, as where control groups cannot be made any more."""
    cgroups.freezer_states.append(cgroups.FreezerSupport(reason="switched off"))
    yield
    cgroups.freezer_states.pop()
