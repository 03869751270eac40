"""Rounds: programs edit bots, the bots are checked, and a season of all versions is played."""
