"""Everything that people see: tables, live views, boards and replays in the terminal, and the site.

The figures come from the layers below.
"""
