"""The edge to the operating system: builds bots, starts them, asks them against the clock, and ends them.

`warpleague.match` decides the meaning of an answer.
"""
