"""The web server of an arena: leagues as they are played, their matches, bots and authors, rules and help."""
