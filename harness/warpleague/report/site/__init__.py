"""The static site of a league and the page of a match: files that any browser opens, without server or network.

Decides what they hold and how they are written; leaves the figures to `warpleague.league` and the pictures to the
games' scenes.
"""
