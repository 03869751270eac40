"""Where this user's built bots lie."""

from __future__ import annotations

import os
from pathlib import Path

from warpleague.errors import BadInput


def cache_folder() -> Path:
    """Where built bundles are: `WARPLEAGUE_CACHE`, or the user's cache folder."""
    folder = os.environ.get("WARPLEAGUE_CACHE")
    if folder:
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "warpleague"
    except RuntimeError:
        raise BadInput(
            "there is no folder to keep bots in: this user has no home folder; name one in WARPLEAGUE_CACHE"
        ) from None
