"""Runs a league: takes its bots, plays what is left, and stores the results."""
