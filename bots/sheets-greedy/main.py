"""A good greedy player of sheets: keeps, marks and takes what its model of a sheet's worth gains most from.

It looks ahead over its own rolls of the turn. For every unit and value it works out the gain of the best use;
the hope of a hand is the mean, over sampled rolls, of the best choice to keep and discard, taken down to the
last two units exactly. From others' turns it takes the die with the largest gain, and what it discards counts
against it by what the next seat could make of it. Free lines wait for the end, where they are planned.
The same questions and seed give the same answers, unless a bound on processor time ends the sampling; then its note
says so.
"""

from functools import lru_cache
from itertools import product
from random import Random

from warpline.budget import Budget
from warpline.client import Reply, run

SAMPLES = 40
SPITE = 0.3  # how much of a gain for the next seat counts as a loss
REROLLED = 0.2  # alone: how much of a discarded die's mean gain counts, since one of three is used
PRICE = 0.35  # the gain for which a reroll is spent

# Worths in points; the hopes count while rounds are left. Found by playing solos with other numbers.
PARTIAL = (1.0, 0.55, 0.25, 0.08, 0.0)  # of a box by its missing edges, in filled boxes
FREE_LINE = 0.55
REROLL = 0.35
PAIR = 3.0  # of two adjacent wormholes: the rule
HOLE = 2.0  # of a wormhole, for the neighbours it may get and the box that may be filled
YELLOW_HOPE = 0.9  # how much of the reward of a begun yellow line counts
RED_HOPE = 0.25  # how much of the box that an unmarked red value may complete counts
BLUE_PER_ROUND = (0, 1.0, 1.0, 1.0, 1.0, 2.2, 2.2, 2.2)  # dice for blue one can hope for, by round
RED_PER_ROUND = (0, 0.7, 0.7, 0.9, 0.9, 0.7, 0.7, 0.7)
YELLOW_PER_ROUND = (0, 1.5, 1.5, 1.0, 1.0, 0.6, 0.6, 0.6)


class Sheet:
    """A seat's marks: sets of edges, wormholes, yellow cells and red values as integers, circles as values."""

    __slots__ = ("blue", "edges", "free_lines", "holes", "open", "red", "rerolls", "yellow")

    def __init__(self, data):
        self.edges = bits(data["edges"])
        self.holes = bits(data["wormholes"])
        self.yellow = bits(data["yellow"])
        self.red = bits(data["red"])
        self.open = bits(circle["value"] for circle in data["blue"] if not circle["crossed"])
        self.blue = len(data["blue"])
        self.free_lines = data["free_lines"]
        self.rerolls = data["rerolls"]


def bits(numbers):
    """A set of numbers as an integer."""
    total = 0
    for number in numbers:
        total |= 1 << number
    return total


def at_least_one(tries):
    """The chance that a given value comes up in so many rolls of one die."""
    return 1 - (5 / 6) ** tries


def at_least_two(tries):
    """The chance that it comes up twice."""
    return max(0.0, at_least_one(tries) - tries / 6 * (5 / 6) ** max(0.0, tries - 1))


class Model:
    """What sheets are worth, for one match; `setup` is the one of the start message."""

    def __init__(self, setup, players):
        self.players = players
        self.rounds = setup["rounds"]
        self.circles = setup["circles"]
        self.box_edges = [bits(edges) for edges in setup["boxes"]]
        self.values = setup["yellow_values"]
        self.yellow_cells = [
            [cell for cell, own in enumerate(self.values) if own == value] for value in range(7)
        ]
        self.lines = [
            (bits(line["cells"]), len(line["cells"]), line["reward"]) for line in setup["yellow_lines"]
        ]
        self.black_uses = setup["black_uses"]
        self.cross = [
            [box for box in range(36) if value in (box // 6 + 1, box % 6 + 1)] for value in range(7)
        ]
        self.beside = [
            bits(other for other in range(36) if abs(other // 6 - box // 6) + abs(other % 6 - box % 6) == 1)
            for box in range(36)
        ]
        # More players mean more dice to take from: one a turn of the others, against one reroll alone.
        takes = 0.6 if players == 1 else 0.8 * (players - 1)
        self.pace = (2.0 + takes) / 2.6
        self.box_part = lru_cache(50_000)(self._box_part)
        self.blue_part = lru_cache(50_000)(self._blue_part)
        self.yellow_part = lru_cache(50_000)(self._yellow_part)
        self.last_lines = lru_cache(50_000)(self._last_lines)

    def hope(self, per_round, round_):
        """The uses still to be hoped for after the turn of this round."""
        return self.pace * sum(per_round[round_ + 1 :])

    def worth(self, sheet, round_):
        """Points, and points hoped for in the rounds after `round_`."""
        return (
            self.box_part(sheet.edges, sheet.holes, sheet.red, round_)
            + self.blue_part(sheet.holes, sheet.open, sheet.blue, round_)
            + self.yellow_part(sheet.yellow, round_)
            + sheet.free_lines * FREE_LINE
            + (sheet.rerolls * REROLL if round_ < self.rounds else 0.0)
        )

    def _box_part(self, edges, holes, red, round_):
        left = self.rounds - round_
        fade = min(1.0, 0.25 + left / 4)
        gains = []
        total = 0.0
        for box, own in enumerate(self.box_edges):
            missing = 4 - (edges & own).bit_count()
            worth = 2 if holes >> box & 1 else 1
            total += worth * PARTIAL[missing] * (fade if missing else 1.0)
            gains.append(worth * (1 - PARTIAL[missing]) if missing else 0.0)
        chance = at_least_one(self.hope(RED_PER_ROUND, round_))
        for value in range(1, 7):
            if not red >> value & 1:
                total += RED_HOPE * chance * max(gains[box] for box in self.cross[value])
        return total

    def _blue_part(self, holes, open_values, written, round_):
        linked = [(self.beside[box] & holes).bit_count() for box in range(36)]
        total = HOLE * holes.bit_count() if round_ < self.rounds else 0.0
        total += PAIR * sum(linked[box] for box in range(36) if holes >> box & 1) / 2
        tries = self.hope(BLUE_PER_ROUND, round_)
        once, twice = at_least_one(tries), at_least_two(tries)
        room = min(1.0, (self.circles - written) / 3)
        for value in range(1, 7):
            best = max((linked[box] for box in self.cross[value] if not holes >> box & 1), default=0)
            gain = HOLE + PAIR * best
            total += gain * (once if open_values >> value & 1 else twice * room)
        return total

    def _yellow_part(self, yellow, round_):
        left = self.hope(YELLOW_PER_ROUND, round_)
        total = 0.0
        for cells, length, reward in self.lines:
            marked = (yellow & cells).bit_count()
            missing = length - marked
            if missing and missing <= left:
                worth = REROLL if reward == "reroll" else FREE_LINE
                total += YELLOW_HOPE * worth * (1 - missing / (left + 1)) * (marked + 1) / (length + 1)
        return total

    # What a die brings.

    def gain(self, sheet, action, round_):
        """How much more `sheet` is worth after a marking action."""
        do = action["do"]
        if do in ("line", "free-line"):
            return self._gain_boxes(sheet, sheet.edges | 1 << action["edge"], sheet.red, round_)
        if do == "red":
            edges = sheet.edges if action["box"] is None else sheet.edges | self.box_edges[action["box"]]
            return self._gain_boxes(sheet, edges, sheet.red | 1 << action["value"], round_)
        if do == "yellow":
            return self._gain_yellow(sheet, action["cell"], round_)
        return self._gain_blue(sheet, action["value"], action["box"], round_)

    def _gain_boxes(self, sheet, edges, red, round_):
        before = self.box_part(sheet.edges, sheet.holes, sheet.red, round_)
        return self.box_part(edges, sheet.holes, red, round_) - before

    def _gain_yellow(self, sheet, cell, round_):
        marks = sheet.yellow | 1 << cell
        total = self.yellow_part(marks, round_) - self.yellow_part(sheet.yellow, round_)
        for cells, _, reward in self.lines:
            if marks & cells == cells and cells >> cell & 1:
                if reward == "free-line":
                    total += FREE_LINE
                elif round_ < self.rounds:
                    total += REROLL
        return total

    def _gain_blue(self, sheet, value, box, round_):
        before = self.blue_part(sheet.holes, sheet.open, sheet.blue, round_)
        if box is None:
            return self.blue_part(sheet.holes, sheet.open | 1 << value, sheet.blue + 1, round_) - before
        holes = sheet.holes | 1 << box
        after = self.blue_part(holes, sheet.open & ~(1 << value), sheet.blue, round_)
        boxes = self.box_part(sheet.edges, holes, sheet.red, round_)
        return after - before + boxes - self.box_part(sheet.edges, sheet.holes, sheet.red, round_)

    def best_use(self, sheet, section, value, round_):
        """The most a value brings in a section; 0 where it has no use."""
        if section == "white":
            a, b = value
            edges = self.box_edges[a * 6 + b - 7] | self.box_edges[b * 6 + a - 7]
            gains = [
                self._gain_boxes(sheet, sheet.edges | 1 << edge, sheet.red, round_)
                for edge in range(84)
                if (edges & ~sheet.edges) >> edge & 1
            ]
        elif section == "yellow":
            gains = [
                self._gain_yellow(sheet, cell, round_)
                for cell in self.yellow_cells[value]
                if not sheet.yellow >> cell & 1
            ]
        elif section == "red":
            if sheet.red >> value & 1:
                return 0.0
            gains = [
                self._gain_boxes(sheet, sheet.edges | self.box_edges[box], sheet.red | 1 << value, round_)
                for box in self.cross[value]
            ]
        elif sheet.open >> value & 1:
            gains = [
                self._gain_blue(sheet, value, box, round_)
                for box in self.cross[value]
                if not sheet.holes >> box & 1
            ]
        else:
            gains = [self._gain_blue(sheet, value, None, round_)] if sheet.blue < self.circles else []
        return max(gains, default=0.0)

    def gains(self, sheet, round_):
        """For each unit a table: the most that each of its values brings in this round."""
        tables = {
            section: {value: self.best_use(sheet, section, value, round_) for value in range(1, 7)}
            for section in ("yellow", "red", "blue")
        }
        uses = self.black_uses[round_ - 1]
        black = {value: max(tables[section][value] for section in uses) for value in range(1, 7)}
        white = {}
        for a in range(1, 7):
            for b in range(a, 7):
                white[a, b] = white[b, a] = self.best_use(sheet, "white", (a, b), round_)
        return {"white": white, "black-1": black, "black-2": black, **tables}

    def _last_lines(self, edges, holes, lines):
        """The most points that so many free lines bring at the end, and the first edge to draw (or None)."""
        candidates = []
        for box, own in enumerate(self.box_edges):
            missing = own & ~edges
            if 0 < missing.bit_count() <= lines:
                candidates.append((self.points(box, holes) / missing.bit_count(), missing))
        candidates.sort(reverse=True)
        best, first = 0, None
        for _, missing in candidates[:4]:
            then = edges | missing
            points = sum(
                self.points(box, holes)
                for box, own in enumerate(self.box_edges)
                if then & own == own and edges & own != own
            )
            points += self.last_lines(then, holes, lines - missing.bit_count())[0]
            if points > best:
                best, first = points, (missing & -missing).bit_length() - 1
        return best, first

    @staticmethod
    def points(box, holes):
        """What a box counts when filled."""
        return 2 if holes >> box & 1 else 1


class Player:
    """The bot in one match."""

    def __init__(self, match):
        self.seat = match.seat
        self.players = len(match.players)
        self.model = Model(match.setup, self.players)

    def choose(self, question):
        """The index of the action to play."""
        state, legal = question.state, question.legal
        sheet = Sheet(state["sheets"][self.seat])
        if question.ask == "keep":
            rng = Random(f"{question.seed} {question.id}")
            budget = Budget.of(question)
            return Reply(self.keep(state, legal, sheet, rng, budget), note=budget.note)
        if question.ask == "take":
            return self.take(state, legal, sheet)
        if question.ask == "lines":
            edge = self.model.last_lines(sheet.edges, sheet.holes, sheet.free_lines)[1]
            wanted = {"do": "pass"} if edge is None else {"do": "free-line", "edge": edge}
            return legal.index(wanted)
        # Uses of dice; free lines are better kept for the end.
        marks = [number for number, action in enumerate(legal) if action["do"] != "free-line"]
        round_ = state["round"]
        return max(marks, key=lambda number: self.model.gain(sheet, legal[number], round_))

    def take(self, state, legal, sheet):
        """The discarded die with the largest gain; a reroll if the dice are poor (solo)."""
        gains = self.model.gains(sheet, state["round"])
        worth = {}
        for number, action in enumerate(legal):
            if action["do"] == "take":
                worth[number] = gains[action["unit"]][state["dice"][action["unit"]]]
        best = max(worth, key=worth.get, default=None)
        now = 0.0 if best is None else worth[best]
        if {"do": "reroll"} in legal:
            hope = mean_best([gains[unit] for unit in state["offered"]])
            if hope - now > self.reroll_price(state, sheet):
                return legal.index({"do": "reroll"})
        return legal.index({"do": "pass"}) if best is None or now <= 0 else best

    def reroll_price(self, state, sheet):
        """What a reroll must bring: little when there are more than turns to use them in."""
        left = self.model.rounds - state["round"]
        return 0.02 if sheet.rerolls > 2 * left else PRICE

    def keep(self, state, legal, sheet, rng, budget):
        """The pair to keep and discard with the largest gain and hope; a reroll if it lags behind the hope."""
        round_ = state["round"]
        hopes = Hopes(self.model.gains(sheet, round_), self.discard_value(state, sheet), rng, budget)
        hand = state["hand"]
        worth = {}
        for number, action in enumerate(legal):
            if action["do"] == "keep":
                worth[number] = hopes.of_choice(hand, state["dice"], action["unit"], action["discard"])
        best = max(worth, key=worth.get)
        if {"do": "reroll"} in legal:
            hope = hopes.of_hand(tuple(hand))
            if hope - worth[best] > self.reroll_price(state, sheet):
                return legal.index({"do": "reroll"})
        return best

    def discard_value(self, state, sheet):
        """A function of discarded units and values: what they are worth to this seat (less than 0 if to others)."""
        if self.players == 1:
            gains = self.model.gains(sheet, state["round"])
            means = {unit: sum(gains[unit].values()) / 6 for unit in gains if unit != "white"}
            return lambda unit, _value: REROLLED * means[unit]
        other = Sheet(state["sheets"][(self.seat + 1) % self.players])
        gains = self.model.gains(other, state["round"])
        return lambda unit, value: -SPITE * gains[unit][value]


class Hopes:
    """The expected gain of hands in one turn."""

    def __init__(self, gains, discard_value, rng, budget):
        self.gains = gains
        self.discard_value = discard_value
        self.rng = rng
        self.budget = budget
        self.known = {}

    def of_choice(self, hand, dice, keep, discard):
        """The gain of keeping and discarding units of a rolled hand, and the hope of what stays in hand."""
        value = dice[keep]
        now = self.gains[keep][tuple(value) if keep == "white" else value]
        now += self.discard_value(discard, dice[discard])
        rest = tuple(unit for unit in hand if unit not in (keep, discard))
        return now + (self.of_hand(rest) if rest else 0.0)

    def of_hand(self, hand):
        """The mean over rolls of the best choice."""
        if hand not in self.known:
            rolls = self.rolls(hand)
            total = 0
            for done, dice in enumerate(rolls):
                if done and self.budget.over():
                    rolls = rolls[:done]
                    break
                total += self.best(hand, dice)
            self.known[hand] = total / len(rolls)
        return self.known[hand]

    def best(self, hand, dice):
        return max(
            self.of_choice(hand, dice, keep, discard)
            for keep in hand
            for discard in hand
            if keep != discard != "white"
        )

    def rolls(self, hand):
        """All rolls of two dice; a sample for more."""
        if len(hand) == 2 and "white" not in hand:
            return [dict(zip(hand, values, strict=True)) for values in product(range(1, 7), repeat=2)]
        die = self.rng.randint
        return [
            {unit: (die(1, 6), die(1, 6)) if unit == "white" else die(1, 6) for unit in hand}
            for _ in range(SAMPLES)
        ]


def mean_best(tables):
    """The expected largest gain of dice rolled together."""
    rolls = list(product(*(table.values() for table in tables)))
    return sum(map(max, rolls)) / len(rolls)


def main():
    player = None

    def start(match):
        nonlocal player
        player = Player(match)

    run(
        lambda question: player.choose(question),
        name="sheets-greedy",
        version="1.0",
        wants=("state", "legal"),
        reusable=True,
        on_start=start,
    )


if __name__ == "__main__":
    main()
