"""Coasters: ships of pyramids hunt each other through a galaxy of coasters."""

from warpleague.games.coasters.game import GAME

__all__ = ["GAME"]
