"""Live matches: the referee writes each match into a file while it is played, and the server reads the file.

feed       the referee's side: writes the lines of a match that takes long into a file of its own
follow     the server's side: executes these lines, and makes pictures of what all seats know
frames     the data of a running match for a page
broadcast  a counter of changes, for tasks that wait for the next one

The file holds everything that happened, hidden things too, as the record in the store does. The reader decides what a
spectator may see.
"""
