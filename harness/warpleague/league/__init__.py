"""Leagues: config, schedule, store, ratings, standings, and running many matches.

Leaves playing one match to `warpleague.runner`, and showing results to `warpleague.report`.
"""
