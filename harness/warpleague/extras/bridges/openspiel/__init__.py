"""OpenSpiel's games as games of Warp League: `openspiel:backgammon`, `openspiel:go(board_size=9)`.

rules   one game with its parameters, as options; its actions and their names; what chance draws; which games fit
game    a position, its picture, and the `Game`
ours    our games as games of OpenSpiel
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.extras.bridges import needed

if TYPE_CHECKING:
    from warpleague.extras.bridges.openspiel.game import SpielGame


def load(name: str) -> SpielGame:
    """The game that OpenSpiel knows as `name`, perhaps with some of its parameters in brackets.

    `BadInput` says why there is none, why it does not fit, or that OpenSpiel is not installed.
    """
    needed("pyspiel", "openspiel")
    from warpleague.extras.bridges.openspiel.game import make

    return make(name)
