"""Computes tables from the stored matches: tallies, standings, details and tables to export."""
