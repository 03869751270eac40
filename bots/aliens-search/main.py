"""A searching player of aliens: Monte Carlo on the engine, over positions that agree with what it has seen.

For each playout it deals the coins it does not know anew (`GAME.determinize`), plays one of its actions, and goes on
for some turns with a quick policy for both sides. Where that ends is valued by its `Outlook`: the turns a lone ship
needs to an enemy base, wormholes counted in. Actions that do well get more playouts. Wormholes are laid by a rule of
thumb: where they shorten its way and, for the OrthogonAliens, where the enemy would like to lay its own.

The number of playouts is fixed, so the same questions and seed give the same answers and a match can be reproduced,
unless a search meets its bound on processor time; then its note says so. `main.py --timed` searches until that bound
instead, which makes it better on a fast machine; its matches cannot be reproduced.
"""

import sys
from itertools import count
from math import sqrt
from random import Random

from warpleague.games.aliens import GAME
from warpleague.games.aliens.geometry import (
    COUNT,
    DECLINING,
    HOME,
    INDEX,
    JUMP_REACH,
    JUMP_WAYS,
    SEND_TARGETS,
    SHIPS,
    TARGET,
    USES,
)
from warpleague.games.aliens.state import ROLL, SEND, TURN
from warpline.budget import Budget
from warpline.client import Reply, run

ROUNDS = ((99, 36), (4, 72), (2, 72))  # how many actions are left, and how many playouts each of them gets
CANDIDATES = 12  # sendings that get more than a glance
GLANCING = 0.5  # the part of the time for a decision that is over once all have got one
HORIZON = 2  # turns played out after this one before the position is valued
SENDING = 4.0  # turns that the policy believes an enemy sent away loses
GLANCES = 8  # squares the policy looks at to send an enemy to
WORLDS = 40  # positions dealt for one decision
DEALING = 0.3  # the part of the time for a decision that dealing them may take
AGAIN = 3.0  # turns for a ship that was sent to an enemy base: it has to leave and come back
ENEMY_USE = 0.6  # what an enemy gains by our wormhole counts less: it does not know where it leads
# By seat: the DiagonAliens have the longer lines onto a base, so the others had better deny them.
DENIAL = (1.0, 0.0)
SWEEPS = 12  # of value iteration, from the outlook before

ENDS = [
    [
        [end for way in range(8) if (end := TARGET[(square * 6 + die) * 8 + way]) >= 0] or [square]
        for die in range(1, 6)
    ]
    for square in range(COUNT)
]
"""For each square and die from 1 to 5: where a ship can end, the square itself if nowhere else."""


class Outlook:
    """How far ships are from winning, for each side, given what is known of the wormholes.

    `turns[side][square]` are the turns a lone ship needs that stands there, `landing` those when it lands there by
    its die. `holes` are (square, coins that may lie there).
    """

    def __init__(self, diagonals, holes=(), before=None, sweeps=SWEEPS):
        self.diagonals = diagonals
        reach = JUMP_REACH[diagonals]
        self.leads = {
            square: [(coin % 6, tuple(reach[coin][square][1])) for coin in coins] for square, coins in holes
        }
        goal = [[0.0 if HOME[square] == 1 - side else 10.0 for square in range(COUNT)] for side in (0, 1)]
        self.turns = [list(turns) for turns in (before.turns if before else goal)]
        self.landing = [list(turns) for turns in self.turns]
        for side in (0, 1):
            self.sweep(side, sweeps)

    def sweep(self, side, sweeps):
        """Value iteration: a turn, and then the mean over the die of the best square it leads to."""
        turns, landing = self.turns[side], self.landing[side]
        for square in self.leads:
            landing[square] = self.drawn_in(turns, square)
        for _ in range(sweeps):
            for square in range(COUNT):
                if HOME[square] != 1 - side:
                    total = landing[square]
                    for ends in ENDS[square]:
                        total += min([landing[end] for end in ends])
                    turns[square] = 1 + total / 6
                    landing[square] = self.drawn_in(turns, square) if square in self.leads else turns[square]

    def drawn_in(self, turns, square):
        """The turns after activating the wormhole there: the mean over what it may be, the best way chosen."""
        total = 0.0
        leads = self.leads[square]
        for value, ends in leads:
            total += min([turns[end] for end in ends]) if ends else turns[square] + (value == 0)
        return total / len(leads)


def worth(outlook, state, seat):
    """The chance of `seat` to be first: 1, 0 or a half at the end, else by the rates at which ships arrive."""
    if state.result is not None:
        winner = state.result[0]
        return 0.5 if winner < 0 else float(winner == seat)
    rates = []
    for side in (0, 1):
        needs = []
        for ship in (2 * side, 2 * side + 1):
            need = outlook.turns[side][state.ships[ship]] + (state.lost >> ship & 1)
            needs.append(need or (1.0 if state.rules.both_ships else AGAIN))
        rates.append(1 / sum(needs) if state.rules.both_ships else 1 / needs[0] + 1 / needs[1])
    rates[state.seat] *= 1.2  # the side to move is half a turn ahead
    return rates[seat] / (rates[0] + rates[1])


def policy(outlook, state, legal, rng):
    """A quick and mostly sensible action: the one that leaves the ship it moves nearest to its goal."""
    if len(legal) == 1:
        return legal[0]
    ships = state.ships
    if state.phase == TURN:
        seat, best, choice = state.seat, 1e9, legal[0]
        turns, landing = outlook.turns[seat], outlook.landing[seat]
        for action in legal:
            ship, way = USES[action]
            start = ships[ship]
            if way >= 0:
                end = TARGET[(start * 6 + state.dice[ship & 1]) * 8 + way]
                if HOME[end] == 1 - seat:
                    return action
                cost = landing[end] - turns[start] - (SENDING if end in ships else 0)
            else:
                cost = 0.0 if way == DECLINING else landing[start] - turns[start]
            if cost < best:
                best, choice = cost, action
        return choice
    seat = state.actors[0]
    if state.phase == SEND:
        landing = outlook.landing[1 - seat]
        picks = [legal[rng.randrange(len(legal))] for _ in range(GLANCES)]
        return max(picks, key=lambda action: landing[SEND_TARGETS[action]])
    start = ships[state.cascade[0]]
    row, turns = (start * 6 + state.holes[start] % 6) * 8, outlook.turns[seat]
    return min(legal, key=lambda action: turns[TARGET[row + JUMP_WAYS[action]]])


def playout(outlook, state, seat, rng, first, until):
    """The worth for `seat` of where the policy leads from `state`.

    It plays while fewer than `until` turns are over; `first` are the first dice to be rolled.
    """
    actors, chance, legal, apply = GAME.actors, GAME.chance, GAME.legal, GAME.apply
    while True:
        if state.phase == ROLL:
            if state.turn >= until:
                break
            dice = chance(state)
            move = tuple([int(rng.random() * 6) for _ in dice]) if first is None else first[: len(dice)]
            first = None
        elif who := actors(state):
            move = policy(outlook, state, legal(state, who[0]), rng)
        else:
            break
        state = apply(state, move)[0]
    return worth(outlook, state, seat)


def possible(view):
    """What may lie where: (square, coins) for every wormhole of a view."""
    known = {(hole["suit"], hole["value"]) for hole in view["wormholes"]}
    holes = []
    for hole in view["wormholes"]:
        values = range(6) if hole["value"] is None else [hole["value"]]
        free = [value for value in values if hole["value"] is not None or (hole["suit"], value) not in known]
        holes.append(
            (INDEX[tuple(hole["at"])], tuple(SHIPS.index(hole["suit"]) * 6 + value for value in free))
        )
    return tuple(holes)


class Player:
    """One match: every decision draws from one generator, so the order of questions decides all."""

    def __init__(self, match, timed=False):
        self.seat = match.seat
        self.rng = Random(match.seed)
        self.timed = timed
        self.holes = ()
        self.outlook = self.plain = Outlook(match.options["diagonals"], sweeps=60)
        own = range(12 * match.seat, 12 * match.seat + 12)
        free = [square for square in range(COUNT) if HOME[square] < 0]
        # Before the bot is ready: what takes long and needs no question costs no decision its time.
        self.promises = {(coin, square): self.promise(coin, square) for coin in own for square in free}

    def choose(self, question):
        """The index of the action to play."""
        budget = Budget.of(question)
        if question.ask == "order":
            return 1  # to move first
        if question.ask == "place":
            return self.place(GAME.legal(GAME.determinize(question.state, self.seat, self.rng), self.seat))
        holes = possible(question.state)
        if holes != self.holes:
            self.holes = holes
            self.outlook = Outlook(self.outlook.diagonals, holes, self.outlook)
        worlds = []
        while len(worlds) < WORLDS and not (worlds and budget.over(DEALING)):
            worlds.append(GAME.determinize(question.state, self.seat, self.rng))
        legal = GAME.legal(worlds[0], self.seat)  # the same in all worlds
        numbers = list(range(len(legal)))
        if question.ask == "send":
            glance = []
            for action in legal:
                glance.append(sum(self.glance(world, action) for world in worlds[:2]))
                if budget.over(GLANCING):
                    break
            numbers = sorted(range(len(glance)), key=glance.__getitem__)[-CANDIDATES:]
        return Reply(self.search(worlds, legal, numbers, budget), note=budget.note)

    def glance(self, world, action):
        """What an action is worth at the end of this turn."""
        return playout(self.outlook, GAME.apply(world, action)[0], self.seat, self.rng, None, world.turn + 1)

    def search(self, worlds, legal, numbers, budget):
        """Rounds of playouts: each gives all actions left the same worlds and dice, and drops the worse of them.

        A round goes through every first roll evenly, so that luck weighs little in the comparison.
        """
        total = dict.fromkeys(numbers, 0.0)
        draw = Random()
        done = 0
        for round_, (left, playouts) in enumerate(ROUNDS, 1):
            numbers = sorted(numbers, key=total.__getitem__)[-left:]
            if len(numbers) == 1:
                break
            part = 1.0
            if self.timed and budget.limit_s is not None:
                part, playouts = round_ / len(ROUNDS), None
            for _ in count() if playouts is None else range(playouts):
                if done and budget.over(part):
                    break
                world, seed = worlds[done % len(worlds)], self.rng.getrandbits(32)
                first = divmod(done % 36, 6)
                told = {}
                for number in numbers:
                    if told and budget.over():
                        break
                    draw.seed(seed)
                    state = GAME.apply(world, legal[number])[0]
                    until_turn = world.turn + 1 + HORIZON
                    told[number] = playout(self.outlook, state, self.seat, draw, first, until_turn)
                if len(told) < len(numbers):
                    if not done:
                        return max(told, key=told.__getitem__)
                    break  # only playouts that all actions have had compare them
                for number in numbers:
                    total[number] += told[number]
                done += 1
        return max(numbers, key=total.__getitem__)

    def place(self, legal):
        """The placement of the greatest promise, ties broken at random."""
        coins = [SHIPS.index(action.suit) * 6 + action.value for action in legal]
        scores = [self.promises[coin, INDEX[action.at]] for coin, action in zip(coins, legal, strict=True)]
        best = max(scores)
        return self.rng.choice([number for number, score in enumerate(scores) if score == best])

    def promise(self, coin, square):
        """What a wormhole does for us, less what it does for the enemy, and what it denies the enemy there."""
        enemy = 1 - self.seat
        denied = max(
            self.gain(enemy, square, coin_there) for coin_there in range(12 * enemy, 12 * enemy + 12)
        )
        ours, theirs = self.gain(self.seat, square, coin), self.gain(enemy, square, coin)
        return ours - ENEMY_USE * theirs + DENIAL[self.seat] * denied

    def gain(self, side, square, coin):
        """The turns that a ship of `side` saves by a wormhole, weighed between turns and parts of the way."""
        turns = self.plain.turns[side]
        if coin % 6 == 0:
            return -1 / turns[square]
        ends = JUMP_REACH[self.plain.diagonals][coin][square][1]
        best = min([turns[end] for end in ends], default=turns[square])
        return (turns[square] - best) / sqrt(turns[square])


def main():
    """Play over standard input and output."""
    player = None

    def start(match):
        nonlocal player
        player = Player(match, timed="--timed" in sys.argv[1:])

    run(
        lambda question: player.choose(question),
        name="aliens-search",
        version="1.0",
        wants=("state",),
        reusable=True,
        on_start=start,
    )


if __name__ == "__main__":
    main()
