"""A person plays, on this machine only: in the browser or in the terminal, against bots and other persons."""
