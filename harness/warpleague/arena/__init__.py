"""The network side of Warp League: a page to play on, leagues to watch, and bots to submit.

web          the server: pages that everybody may see
scheduler    the process that plays a league
play         a person plays, on this machine only
live         matches while they are played, as spectators see them
submissions  bots that authors send, and decisions of organisers
process      parts that all processes of an arena use: log, retention, end_with_parent

Each imports only those below it; live and play know nothing of submissions.
"""
