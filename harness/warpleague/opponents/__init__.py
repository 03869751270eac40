"""Opponents of graded strength for every game: the programs of the bots in `bots/opponents`, from weak to strong."""
