"""Searches in any game: plays its actions out at random in positions that fit what it has seen, and takes the best.

A bot to start from: `playout` is where the strength comes from. Let it choose better than at random, or end it early
and value the position.
"""

import sys
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(
    0, str(Path(__file__).parent / "engine")
)  # the rules, where `bot new --with-engine` has put them

import warpleague.sim as sim
from warpline.client import Reply, run

SHARE = 0.3  # of the time for a decision that it takes
ROUNDS = 64  # at most; after every four the worse half of the actions is dropped


def choose(question):
    """The index of the action that did best, and the share of the points that it got."""
    start = monotonic()
    limit = SHARE * min(question.time_s or 1.0, 1.0)
    rng = Random(f"{question.seed} {question.id}")
    table = sim.Simulator(question.game, len(question.players), question.options)
    found = {}  # by action: the worth of each of its playouts
    for number in range(ROUNDS):
        world = table.determinize(question.state, question.seat, rng)
        legal = table.legal(world)
        left = list(found) or rng.sample(range(len(legal)), len(legal))
        if number and number % 4 == 0 and len(left) > 2:
            left = sorted(left, key=lambda action: -mean(found[action]))[: len(left) // 2]
            found = {action: found[action] for action in left}
        luck = f"{question.seed} {question.id} {number}"  # the same for all actions: so they compare better
        for action in left:
            after = table.step(world, legal[action])
            worth = table.playout(after, Random(luck), dice=sim.common_dice(luck))
            found.setdefault(action, []).append(worth[question.seat])
            if monotonic() - start > limit:
                return best(found)
    return best(found)


def mean(numbers):
    return sum(numbers) / len(numbers)


def best(found):
    """The action with the best mean; where a game has no opponent to beat, its worth is a score, not a share."""
    action = max(found, key=lambda action: mean(found[action]))
    value = mean(found[action])
    return Reply(action, value=value if 0 <= value <= 1 else None)


if __name__ == "__main__":
    run(choose, wants=("state",), reusable=True)
