"""The database of a league: matches, journal, entries and decisions of the organiser."""
