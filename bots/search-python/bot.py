"""Searches in any game: plays its actions out at random in positions that fit what it has seen, and takes the best.

A bot to start from: `playout` is where the strength comes from. Let it choose better than at random, or end it early
and value the position.
"""

import sys
from contextlib import suppress
from pathlib import Path
from random import Random

sys.path.insert(
    0, str(Path(__file__).parent / "engine")
)  # the rules, where `bot new --with-engine` has put them

import warpleague.sim as sim
from warpline.budget import Budget, OverBudget
from warpline.client import Reply, run

ROUNDS = 64  # at most; after every four the worse half of the actions is dropped


def prepare(match):
    """Plays a little before the match: what is loaded and worked out the first time costs no decision its time."""
    table = sim.Simulator(match.game, len(match.players), match.options)
    table.finish(table.start(), Random(0), most=100)


def choose(question):
    """The index of the action that did best, and the share of the points that it got."""
    budget = Budget.of(question)  # a fifth of the clock; ROUNDS end the search before, where time is plenty
    rng = Random(f"{question.seed} {question.id}")
    table = sim.Simulator(question.game, len(question.players), question.options)
    found = {}  # by action: the worth of each of its playouts

    def policy(_state, _seat, legal, rng):
        budget.check()
        return legal[int(rng.random() * len(legal))]

    with suppress(OverBudget):  # then what is known so far decides
        search(question, table, policy, rng, found)
    if not found:
        return Reply(0, note=budget.note)
    action = max(found, key=lambda action: mean(found[action]))
    value = mean(found[action])  # where a game has no opponent to beat, it is a score, not a share
    return Reply(action, value=value if 0 <= value <= 1 else None, note=budget.note)


def search(question, table, policy, rng, found):
    """Play actions out, and keep what it is worth in `found`."""
    for number in range(ROUNDS):
        world = table.determinize(question.state, question.seat, rng)
        legal = table.legal(world)
        left = list(found) or rng.sample(range(len(legal)), len(legal))
        if number and number % 4 == 0 and len(left) > 2:
            left = sorted(left, key=lambda action: -mean(found[action]))[: len(left) // 2]
            kept = [(action, found[action]) for action in left]
            found.clear()
            found.update(kept)
        luck = f"{question.seed} {question.id} {number}"  # the same for all actions: so they compare better
        for action in left:
            after = table.step(world, legal[action])
            worth = table.playout(after, Random(luck), policy=policy, dice=sim.common_dice(luck))
            found.setdefault(action, []).append(worth[question.seat])


def mean(numbers):
    return sum(numbers) / len(numbers)


if __name__ == "__main__":
    run(choose, wants=("state",), reusable=True, on_start=prepare)
