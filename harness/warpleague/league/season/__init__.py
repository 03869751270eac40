"""Determines the matches of a league: its file, its bots, its season; nothing here plays or stores."""

import time


def utc_now() -> str:
    """The time as stores write it: ISO 8601, UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
