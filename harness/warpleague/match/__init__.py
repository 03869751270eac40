"""One match as pure code: referee, dice, record and replay.

Nothing here reads a clock or opens a file, except `warpleague.match.record.read_record`. Processes and pipes are
in `warpleague.runner`.
"""
