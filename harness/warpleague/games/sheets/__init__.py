"""Sheets: Wormhole, the roll & write for 1 to 4 players. `GAME` is its engine."""

from warpleague.games.sheets.game import GAME

__all__ = ["GAME"]
