"""A greedy player of aliens: looks one move ahead, at how near each side is to an enemy base.

Before the match it works out, for each side and square, how many turns a lone ship needs on average to land on an
enemy base when it moves as well as it can and there are no wormholes. A position is worth the chance that its own
side is the first, as if both sides needed a turn like any other: rate against rate. Wormholes count one jump far: a
coin it does not know stands for the mean of the values it may have.
"""

from operator import itemgetter
from random import Random

from warpline.client import run

LOST_TURN = 1.0  # a black hole costs one turn
ENEMY_USE = 0.6  # what an enemy gains by our wormhole counts less: it does not know where it leads


class Galaxy:
    """The board of a match, and the turns a lone ship needs: `turns[seat][square]`."""

    def __init__(self, setup, both_ships):
        self.squares = {tuple(square) for square in setup["squares"]}
        self.bases = [{tuple(base) for base in bases} for bases in setup["bases"]]
        self.owner = setup["ships"]
        self.axes = setup["axes"]
        self.ways = setup["ways"]
        self.both_ships = both_ships
        self.lines = dict(self.straight())
        self.turns = [self.lone_ship(seat) for seat in (0, 1)]
        # A ship that has been sent to an enemy base has not won: it must leave and come back.
        self.again = 1 if both_ships else 3

    def straight(self):
        """Where each straight line leads, or None if it leaves the board."""
        for square in self.squares:
            for way, (dx, dy) in self.ways.items():
                end = square
                for length in range(1, 6):
                    if end is not None:
                        end = end[0] + dx, end[1] + dy
                        end = end if end in self.squares else None
                    yield (square, way, length), end

    def ends(self, square, ways, length):
        """All that lines of this length lead to."""
        return [end for way in ways if (end := self.lines[square, way, length])]

    def lone_ship(self, seat):
        """Value iteration: a turn, and then the mean over the die of the best square it leads to."""
        goals = self.bases[1 - seat]
        turns = {square: 0.0 if square in goals else 10.0 for square in self.squares}
        # With squares numbered, and all ends of a roll looked up in one call, it takes a third of the time.
        number = {square: at for at, square in enumerate(turns)}
        found = list(turns.values())
        rolls = []
        for square in turns:
            if square not in goals:
                where = [self.ends(square, self.ways, die) or [square] for die in range(1, 6)]
                # One end is named twice: `itemgetter` gives a tuple only for two and more.
                looks = [itemgetter(number[ends[0]], *(number[end] for end in ends)) for ends in where]
                rolls.append((number[square], looks))
        for _ in range(40):
            for at, looks in rolls:
                best = found[at] + sum([min(look(found)) for look in looks])
                found[at] = 1 + best / 6
        return dict(zip(turns, found, strict=True))


class Player:
    """One match: for each kind of action a method that tells what it is worth."""

    def __init__(self, match):
        self.galaxy = Galaxy(match.setup, match.options["both_ships"])
        self.seat = match.seat
        self.rng = Random(match.seed)
        self.places = {}  # what each placement is worth

    def choose(self, question):
        """The index of the best action, ties broken at random."""
        self.view = question.state
        self.ships = {ship: tuple(square) for ship, square in self.view["ships"].items()}
        self.holes = {tuple(hole["at"]): hole for hole in self.view["wormholes"]}
        scores = [getattr(self, action["do"])(action) for action in question.legal]
        best = max(scores)
        return self.rng.choice([number for number, score in enumerate(scores) if score == best])

    def order(self, action):
        return action["first"] == "move"

    def place(self, action):
        """How much nearer the wormhole brings us, less what it does for the enemy."""
        square, suit, value = tuple(action["at"]), action["suit"], action["value"]
        key = square, suit, value
        if key not in self.places:
            ours, theirs = (self.gain(seat, *key) for seat in (self.seat, 1 - self.seat))
            self.places[key] = ours - ENEMY_USE * theirs
        return self.places[key]

    def gain(self, seat, square, suit, value):
        """The part of its way that a ship of `seat` on `square` saves by the wormhole."""
        turns = self.galaxy.turns[seat]
        if value == 0:
            return -LOST_TURN / turns[square]
        ends = self.galaxy.ends(square, self.galaxy.axes[suit], value)
        return 1 - min((turns[end] for end in ends), default=turns[square]) / turns[square]

    def move(self, action):
        ship = action["ship"]
        return self.use_die(ship, self.galaxy.lines[self.ships[ship], action["way"], self.view["dice"][ship]])

    def stay(self, action):
        return self.use_die(action["ship"], self.ships[action["ship"]])

    def decline(self, _):
        return self.worth(self.ships)

    def jump(self, action):
        ship = self.view["pending"]["ship"]
        square = self.ships[ship]
        end = self.galaxy.lines[square, action["way"], self.holes[square]["value"]]
        return self.landed({**self.ships, ship: end}, ship)

    def send(self, action):
        ship = self.view["pending"]["ship"]
        ships = {**self.ships, ship: tuple(action["to"])}
        return self.activated(ships, ship) if ships[ship] in self.holes else self.worth(ships)

    # What follows from it. `ships` is where all ships stand now.

    def use_die(self, ship, square):
        ships = {**self.ships, ship: square}
        if square not in self.holes:
            return self.landed(ships, ship)
        return self.activated(self.send_home(ships, ship), ship)

    def activated(self, ships, ship):
        """The worth when the wormhole under a ship is activated: the mean, if it may have several values."""
        hole = self.holes[ships[ship]]
        values = [hole["value"]] if hole["value"] is not None else self.unknown(hole["suit"])
        return sum(self.drawn_in(ships, ship, hole["suit"], value) for value in values) / len(values)

    def drawn_in(self, ships, ship, suit, value):
        """The worth when the wormhole under a ship has this value: the ship's owner chooses the way."""
        if value == 0:
            return self.worth(ships, waits=ship)
        own = [ships[other] for other in self.crew(self.galaxy.owner[ship]) if other != ship]
        ends = [end for end in self.galaxy.ends(ships[ship], self.galaxy.axes[suit], value) if end not in own]
        worths = [self.landed({**ships, ship: end}, ship) for end in ends] or [self.worth(ships)]
        return max(worths) if self.galaxy.owner[ship] == self.seat else min(worths)

    def landed(self, ships, ship):
        """The worth when a ship has landed where it stands, by die or by jump."""
        seat = self.galaxy.owner[ship]
        goals = self.galaxy.bases[1 - seat]
        arrived = [ships[own] in goals for own in self.crew(seat)]
        if ships[ship] in goals and (all(arrived) or not self.galaxy.both_ships):
            return 1 if seat == self.seat else 0
        return self.worth(self.send_home(ships, ship))

    def send_home(self, ships, lander):
        """An enemy that a ship has landed on will be sent far away: say, to its own base."""
        enemy = 1 - self.galaxy.owner[lander]
        home = min(self.galaxy.bases[enemy])
        return {
            ship: home if at == ships[lander] and ship in self.crew(enemy) else at
            for ship, at in ships.items()
        }

    def crew(self, seat):
        return [ship for ship, owner in self.galaxy.owner.items() if owner == seat]

    def unknown(self, suit):
        """The values that a hidden coin of an enemy suit may have."""
        known = {hole["value"] for hole in self.holes.values() if hole["suit"] == suit}
        return [value for value in range(6) if value not in known]

    def worth(self, ships, waits=None):
        """Our chance to be first, by the rates at which the sides arrive."""
        rates = [self.rate(seat, ships, waits) for seat in (0, 1)]
        return rates[self.seat] / (rates[0] + rates[1])

    def rate(self, seat, ships, waits):
        turns, again = self.galaxy.turns[seat], self.galaxy.again
        lost = [*self.view["lost"], waits]
        needs = [(turns[ships[ship]] or again) + LOST_TURN * (ship in lost) for ship in self.crew(seat)]
        return 1 / sum(needs) if self.galaxy.both_ships else sum(1 / need for need in needs)


def main():
    """Play over standard input and output."""
    player = None

    def start(match):
        nonlocal player
        player = Player(match)

    run(
        lambda question: player.choose(question),
        name="aliens-greedy",
        version="1.0",
        wants=("state", "legal"),
        reusable=True,
        on_start=start,
    )


if __name__ == "__main__":
    main()
