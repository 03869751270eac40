"""The web server of an arena: leagues as they are played, their matches, bots and authors, rules and help.

middleware       refuses requests by host, origin, size and rate; adds headers to every answer
renderer         makes pages of leagues and matches, in a process of its own
page_cache       the pages of matches, made on request and bounded on the disk
gzip_stream      compresses streams of events, each piece once for all clients
league_feed      one league: its page, and messages about its changes
conditions_page  all that an author must know of a league
league_api       the part of the JSON API that is for everybody
openapi          the description of the JSON API
routes           which request reaches which page of authors, or the API
freeze           what everybody sees of a league whose standings are frozen
app              the application: which address shows what
subprocesses     the processes that a server starts, and starts again
server           runs all of it
"""
