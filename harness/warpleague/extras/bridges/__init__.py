"""How foreign games and bots take part, and how our games take part elsewhere: OpenSpiel, PettingZoo.

Nothing imports this room: `warpleague.games` finds its games by their names, and trainers import what they need. Each
bridge needs a package that is not installed with Warp League, and says so in one line where it is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from warpleague.errors import BadInput

if TYPE_CHECKING:
    from types import ModuleType


def needed(module: str, extra: str) -> ModuleType:
    """The module of an optional package; `BadInput` names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        text = f"this needs the package {module}, which cannot be imported ({error})"
        raise BadInput(f"{text}: pip install 'warpleague[{extra}]'") from error
