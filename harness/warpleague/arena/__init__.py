"""What Warp League offers over the network: the page on which a person plays, and leagues to watch and to enter.

For a person who plays, on this machine only:

play  the page on which a person plays, and the same in a terminal

For everybody, by `warpleague serve`:

web          the pages that everybody may see
live         matches while they are played, as a spectator sees them
submissions  bots that authors send, and what organisers decide
scheduler    the process that plays a league

process      what the processes of an arena share: log, retention, end_with_parent

"""
