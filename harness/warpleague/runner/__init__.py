"""The edge to the operating system: bundles built, bots started, asked against the clock and ended.

Leaves what any of it means for a match to `warpleague.match`.
"""
