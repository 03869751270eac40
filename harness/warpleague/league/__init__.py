"""Leagues: the league file, the schedule, the store, ratings and tables, and running many matches."""
