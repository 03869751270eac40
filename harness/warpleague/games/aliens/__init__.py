"""Aliens: Wormholes for the piecepack, OrthogonAliens against DiagonAliens, for two seats."""

from warpleague.games.aliens.game import GAME

__all__ = ["GAME"]
