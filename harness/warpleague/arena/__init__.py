"""What Warp League offers over the network: the page on which a person plays, and leagues to watch and to enter.

For a person who plays, on this machine only:

guard     who may ask the server for what: the token, the origin, sizes
server    an application on a port of the loopback address
draft     what a person has chosen and not sent yet
seat      a person's seat in a match
sitting   several matches of the same players, one after the other, and what each person sees of them
hint      what a bot would do in a person's place
page      the page on which a person plays, and what it may ask for
terminal  the same in a terminal

For everybody, by `warpleague serve`:

hall         the pages that everybody may see
live         matches while they are played, as a spectator sees them
submissions  bots that authors send, and what organisers decide
keeping      the process that keeps a league played

process      what the processes of an arena share: log, retention, end_with_parent

"""
