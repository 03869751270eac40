"""One match as pure code: referee, chance stream, record, replay; nothing here reads a clock or opens a file
descriptor, except `warpleague.match.packing.read_record`.

Leaves processes and pipes to `warpleague.runner`.
"""
