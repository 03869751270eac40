"""The edge to the operating system: builds bots, starts them, asks them against the clock, and ends them.

What an answer means for a match is decided in `warpleague.match`.
"""
