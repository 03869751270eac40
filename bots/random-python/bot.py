"""Plays a random legal action in any game: the shortest bot that uses the `warpline` client."""

from random import Random

from warpline.client import run


def choose(question):
    """The index of a legal action, drawn from the seed and the question's number alone."""
    return Random(f"{question.seed} {question.id}").randrange(len(question.legal))


if __name__ == "__main__":
    run(choose, wants=("legal",))
