"""Submissions: authors with tokens send bots, each is checked in the sandbox, and its version enters a league.

ledger            the one SQLite file of it: authors, submissions, decisions, an audit journal
tokens            authors, their tokens and their sessions
invitations       links with which people make themselves authors
limits            limits of a submission: sizes, quotas, and what its manifest may ask for
upload            from the bytes of an upload to a folder
versions          the states of a submission, each a row, and the versions of a bot
unpacked          the folders with the source of accepted versions
entering          how versions and an organiser's decisions reach a league that is being played
checking          the process that checks submissions
challenges        matches on demand: who asked for which, and how they ended
challenge_player  the process that plays them
own_records       the records that authors may download
conditions        all that an author must know of a league
api               describes the operations of the JSON API
receiving         receives submissions, from forms and from commands
requests          finds out who sends a request, reads its form, answers errors
author_api        the part of the JSON API that needs a token
author_pages      the pages and forms of authors
organiser_pages   the pages and forms of organisers
routes            which address reaches which page
"""
