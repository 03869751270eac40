"""Coasters: ships of pyramids hunt each other through a galaxy of coasters."""

from __future__ import annotations

from warpleague.games.coasters.game import Coasters

__all__ = ["GAME"]

GAME = Coasters()
