"""Submissions: authors with tokens send bots, each is checked in the sandbox, and its version enters a league.

A submission comes from `pages` or `author_api` through `receiving`; `versions` writes it into the `ledger`, as one of
the `jobs`; `workers` check it; and `entering` brings its version into the league.
"""
