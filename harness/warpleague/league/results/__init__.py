"""What the stored matches say: tallies, standings, details and tables to export."""
