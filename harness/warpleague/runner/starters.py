"""Where the bots that come with Warp League are, in an installation as in a checkout.

Leaves reading and building them to `warpleague.runner.bundle`.
"""

from __future__ import annotations

from pathlib import Path

import warpleague
from warpleague.errors import BotError


def starters_root() -> Path:
    """The folder that holds the starter bots, one folder a bot."""
    package = Path(warpleague.__file__).parent
    shipped = package / "starters"
    return shipped if shipped.is_dir() else package.parent.parent / "bots"


def starter_folder(name: str) -> Path:
    """The folder of the starter bot `name`; `BotError` if this installation has none."""
    folder = starters_root() / name
    if not folder.is_dir():
        raise BotError(f"the starter bot {name!r} is not part of this installation")
    return folder
