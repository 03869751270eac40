"""How results, boards and replays are shown to people.

`wording` puts figures into words, `terminal` shows them in a terminal, and `site` writes them as pages for a browser.
"""
