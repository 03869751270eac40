"""Runs a league: takes its bots, plays the missing matches, and stores the results."""
