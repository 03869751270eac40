"""Submissions: authors with tokens send bots, each is checked in the sandbox, and its version enters a league.

A submission comes through `requests` and `receiving`, from `pages` or `author_api`; `jobs` and `versions` write it into
the `ledger`; `workers` check it; and `entering` brings its version into the league.
"""
