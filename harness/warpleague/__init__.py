"""Warp League: a tournament harness for bots that play board games about wormholes."""

__version__ = "0.1.0"
