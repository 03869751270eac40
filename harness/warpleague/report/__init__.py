"""What people get to see: tables, live views, boards and replays in the terminal.

Leaves what is true to the layers below, and which of it is printed when to the command line.
"""
