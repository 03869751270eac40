"""The static site of a league and the page of a match: files for any browser, without server or network.

The figures come from `warpleague.league`, the pictures from the games' scenes.
"""
