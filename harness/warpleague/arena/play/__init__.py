"""A person plays, on this machine only: in the browser or in the terminal, against bots and other persons.

server       runs the page's application on a port of the loopback address
token_guard  decides which requests may reach the application: the token, the origin, sizes
draft        the actions that a person has chosen and not sent yet
seat         a person's seat in a match
sitting      several matches of the same players, and the view of each person
hint         which move a bot would choose for the person
page         the page on which a person plays
terminal     the same in a terminal
"""
