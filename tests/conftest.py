"""Shares with all tests a cache of built bots of their own.

Leaves everything else to the conftest of each folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def bot_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Bundles are built in a folder of the test run's, shared by its workers, never in the user's cache."""
    base = tmp_path_factory.getbasetemp()
    # With several workers each has a folder below the run's.
    folder = (base.parent if base.name.startswith("popen-") else base) / "bot-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPLEAGUE_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def bots() -> Path:
    """The folder of the bots that come with the project."""
    return ROOT / "bots"
