"""Submissions: authors with tokens send bots, each is checked in the sandbox, and its version enters a league.

ledger     the one SQLite file of it: authors, submissions, decisions, an audit journal
tokens     who asks: authors, their tokens and sessions
limits     what a submission may be: sizes, quotas, what its manifest may ask for
upload     from the bytes of an upload to a folder
versions   the states of a submission, each a row, and the versions of a bot
checking   the process that checks what was submitted
entering   how versions and an organiser's decisions reach a league that is being played
pages      what authors see and send
organise   what organisers see and decide
"""
