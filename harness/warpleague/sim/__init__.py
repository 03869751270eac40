"""Positions to play with, for bots that search: the rules of every game without bots, clocks or records.

    import warpleague.sim as sim

    table = sim.Simulator(question.game, len(question.players), question.options)
    state = table.determinize(question.state, question.seat, rng)
    for action in table.legal(state):
        worth = table.playout(table.step(state, action), rng)[question.seat]

`docs/simulator.md` explains it. It needs nothing but `attrs`, and `bot new --with-engine` puts it into a bot's folder.
"""

from warpleague.games.api import CHANCE
from warpleague.match.chance import Dice
from warpleague.sim.simulator import Simulator, common_dice, cores, over_cores

__all__ = ["CHANCE", "Dice", "Simulator", "common_dice", "cores", "over_cores"]
