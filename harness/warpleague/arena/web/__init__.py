"""The pages that everybody may see: leagues as they are played, their matches, bots and authors, rules and help.

gate      which requests are answered at all: host, origin, sizes, rates; what every answer carries
press     makes pages of leagues and matches, in a process of its own
replays   the pages of matches, made when they are asked for and kept within a bound
desk      one league for its visitors: its page, and the news of it
texts     the documentation as pages
hall      the application: which address shows what
children  the processes that a server starts, and starts again
run       the server as a whole
"""
