"""Wormhole, the roll & write for 1 to 4 players: `GAME` is its engine.

Leaves everything else to the modules of this package.
"""

from warpleague.games.sheets.game import GAME

__all__ = ["GAME"]
