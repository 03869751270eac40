"""Determines the matches of a league: its file, its bots, its season; nothing here plays or stores."""
