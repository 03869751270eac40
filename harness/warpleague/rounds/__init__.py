"""Rounds: authors that are programs edit their bots, a check follows, then a season in which all versions meet."""
