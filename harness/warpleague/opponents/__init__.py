"""Opponents of graded strength for every game: the programs of the bots in `bots/ladder`, from weak to strong."""
