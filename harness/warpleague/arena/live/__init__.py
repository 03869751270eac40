"""Matches that are being played, for spectators: a referee writes down what has happened, a server reads it.

feed       the referee's side: the lines of a match that takes long, in a file of its own
follow     the server's side: executes these lines, and makes pictures of what all seats know

The file holds all that happened, hidden things too, as the record in the store does. What of it a spectator may see
is decided by the reader.
"""
