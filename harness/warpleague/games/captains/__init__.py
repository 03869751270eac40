"""Captains: the passenger-ship game about wormholes, for two to five players and solo.

The rules are in docs/games/captains.md; a rule cited as `captains T5` is the one with that number there.
"""

from __future__ import annotations

from warpleague.games.captains.dealing import deal_galaxy
from warpleague.games.captains.game import GAME
from warpleague.games.captains.scene import galaxy_scene, galaxy_text

__all__ = ["GAME", "deal_galaxy", "galaxy_scene", "galaxy_text"]
