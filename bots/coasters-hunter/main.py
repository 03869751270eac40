"""A bot for coasters that goes the shortest way to where it can fire, and stands where it is hard to hit.

It plans a whole turn by a shortest-path search over (square, facing, flux used), values each pose that it can end
in, and sends the plan in one answer (`then`). It knows only the JSON view and the setup; it keeps no promises,
since it makes none, and plays its flux except for swapping whole systems.

It does not look at the clock: a turn takes it a few milliseconds, some twenty-five at a table of ten.
"""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random

from warpline.budget import Budget
from warpline.client import Reply, run

WAYS = "URDL"
STEP = {"U": (0, -1), "R": (1, 0), "D": (0, 1), "L": (-1, 0)}
MAX = 12  # halves: nobody moves further in a turn


def right_of(way):
    return WAYS[(WAYS.index(way) + 1) % 4]


def left_of(way):
    return WAYS[(WAYS.index(way) - 1) % 4]


class Map:
    """The galaxy as a bot needs it: arrows and owner of each square, and where each ship stands."""

    def __init__(self, view, setup):
        self.players = view["players"]
        self.arrows, self.home, self.centres = {}, {}, {}
        for colour, system in enumerate(view["systems"]):
            if system is None:
                continue
            left, top = 3 * system["at"][0], 3 * system["at"][1]
            for row, words in enumerate(setup["arrows"][system["rotation"]]):
                for column, letters in enumerate(words):
                    self.arrows[left + column, top + row] = letters
                    self.home[left + column, top + row] = colour
            self.centres[colour] = left + 1, top + 1
        self.ships = {tuple(ship["at"]): c for c, ship in enumerate(view["ships"]) if ship is not None}
        self.out = {*view["eliminated"], *view["retired"]}

    def cost(self, at, seats):
        """Half points to enter or turn in a square when the homes of `seats` count double."""
        return 1 if self.home[at] % self.players in seats else 2

    def ahead(self, at, way):
        onward = at[0] + STEP[way][0], at[1] + STEP[way][1]
        return onward if onward in self.arrows else None

    def moves(self, at, way, seats, ships):
        """What a ship can do from here with movement alone: (cost, action, square, facing)."""
        turn = self.cost(at, seats)
        yield turn, {"do": "turn", "way": "left"}, at, left_of(way)
        yield turn, {"do": "turn", "way": "right"}, at, right_of(way)
        onward = self.ahead(at, way)
        if onward is not None and way in self.arrows[at] and onward not in ships:
            yield self.cost(onward, seats), {"do": "step"}, onward, way
        open_homes = {c for c in self.centres if c % self.players in seats or c % self.players in self.out}
        if any(self.centres[c] == at for c in open_homes):
            for colour in open_homes:
                if self.centres[colour] not in ships:
                    yield 1, {"do": "warp", "to": colour}, self.centres[colour], way

    def shot(self, at, way, ships, wild=False):
        """The squares that a torpedo enters, the last of them with a ship if it meets one."""
        entered, been = [], {(at, way)}
        while True:
            if way in self.arrows[at]:
                at = self.ahead(at, way)
                if at is None:
                    return entered
                entered.append(at)
                if at in ships:
                    return entered
            elif wild:
                way = right_of(way)
            else:
                return entered
            if (at, way) in been:
                return entered
            been.add((at, way))

    def reach(self, at, way, seats, ships):
        """The cost of each pose that a ship can get to within a turn of six, all its movement free to use."""
        costs, heap = {}, [(0, at, way)]
        while heap:
            cost, at, way = heappop(heap)
            if (at, way) in costs or cost > MAX:
                continue
            costs[at, way] = cost
            for more, _, onward, facing in self.moves(at, way, seats, ships):
                heappush(heap, (cost + more, onward, facing))
        return costs


def chance(cost):
    """How likely a d6 gives at least `cost` halves."""
    return max(0, 6 - max(0, -(-cost // 2) - 1)) / 6


class Hunter:
    """The plans for one decision."""

    def __init__(self, question):
        self.budget = Budget.of(question)
        self.view, self.seat, self.legal = question.state, question.seat, question.legal
        self.map = Map(self.view, question.setup)
        self.players = self.view["players"]
        self.random = Random(f"{question.seed} {self.view['turn']}")
        # the dead among the own colours still count double for their seat
        self.own = {self.seat, *self.view["agreed"]} if self.view["seat"] == self.seat else {self.seat}
        self.hits = [0 if ship is None else ship["hits"] for ship in self.view["ships"]]

    def enemy(self, colour):
        return colour % self.players != self.seat

    def dangers(self, without):
        """For each square how likely enemies hit a ship there in their next turns, `without` one own ship."""
        ships = {at: colour for at, colour in self.map.ships.items() if at != without}
        danger = {}
        for at, colour in ships.items():
            if not self.enemy(colour):
                continue
            nearest = {}
            others = ships.keys() - {at}
            facing = self.view["ships"][colour]["facing"]
            for (start, way), cost in self.map.reach(at, facing, {colour % self.players}, others).items():
                for square in self.map.shot(start, way, others):
                    nearest[square] = min(cost, nearest.get(square, MAX + 1))
            for square, cost in nearest.items():
                danger[square] = danger.get(square, 0) + chance(cost)
        return danger

    def distances(self, without):
        """For each pose how many halves it is from one that has an enemy in its line of fire."""
        ships = {at: colour for at, colour in self.map.ships.items() if at != without}
        before = {}
        heap = []
        for at in self.map.arrows.keys() - ships.keys():
            for way in WAYS:
                for cost, _, onward, facing in self.map.moves(at, way, {self.seat}, ships):
                    before.setdefault((onward, facing), []).append((cost, at, way))
                path = self.map.shot(at, way, ships)
                if path and path[-1] in ships and self.enemy(ships[path[-1]]):
                    heap.append((0, at, way))
        heap.sort()
        found = {}
        while heap:
            cost, at, way = heappop(heap)
            if (at, way) not in found:
                found[at, way] = cost
                for more, back, facing in before.get((at, way), ()):
                    heappush(heap, (cost + more, back, facing))
        return found

    # -- the turn ------------------------------------------------------------------------------------------

    def turn(self):
        """The best plan: a list of actions that ends with `fire` or `end`."""
        me = self.view["ships"][self.view["colour"]]
        start = tuple(me["at"])
        danger, distance = self.dangers(start), self.distances(start)
        caution = max(
            0.1, 1 - self.view["round"] / 40
        )  # two patient hunters would circle each other for ever
        best = None
        for at, way, ships, plan in self.ends(start, me["facing"]):
            victim = self.victim(at, way, ships)
            worth = 0.0
            if victim is not None:
                worth = 4 + (6 if self.hits[victim] == 1 else 0) + (3 - self.hits[victim]) / 2
                if not self.enemy(victim):
                    worth = -9
            fire = worth > 0
            worth = max(worth, 0)
            worth -= caution * danger.get(at, 0) * (1 + 3 / me["hits"]) / 2
            worth += chance(distance.get((at, way), MAX)) / 2 - distance.get((at, way), 2 * MAX) / 100
            worth -= len(plan) / 1000
            if best is None or worth > best[0]:
                best = worth, [*plan, {"do": "fire" if fire else "end"}]
            if self.budget.over():
                break
        return best[1]

    def victim(self, at, way, ships):
        """The colour that a torpedo hits, or None."""
        wild = self.view["flux"] == "WILD" and self.view["options"]["wild_shot"]
        meets = {**ships, at: self.view["colour"]} if wild else ships
        path = self.map.shot(at, way, meets, wild)
        return meets.get(path[-1]) if path else None

    def ends(self, start, facing):
        """Every pose the turn can end in: square, facing, the other ships then, and the actions to get there."""
        others = {at: colour for at, colour in self.map.ships.items() if at != start}
        yield from self.walks(start, facing, others, self.view["halves"], [], self.view["flux_used"])
        if self.may("SWAP") and not self.view["options"]["system_swap"]:
            for at, colour in others.items():
                if self.enemy(colour):
                    after = {square: other for square, other in others.items() if square != at}
                    after[start] = colour
                    first = [{"do": "swap", "with": colour}]
                    yield from self.walks(at, facing, after, self.view["halves"], first, True)

    def may(self, face):
        """Whether the flux can be used as `face`."""
        view = self.view
        wild = view["flux"] == "WILD" and not view["options"]["wild_shot"]
        return not view["flux_used"] and (wild or view["flux"] == face)

    def walks(self, start, facing, others, halves, first, used):
        """The poses that movement and the other flux actions lead to, by the cheapest way."""
        heap = [(0, len(first), 0, start, facing, used, first)]
        done, count = set(), 0
        while heap:
            cost, _, _, at, way, used, plan = heappop(heap)
            if (at, way, used) in done:
                continue
            done.add((at, way, used))
            yield at, way, others, plan
            steps = [
                (cost + more, action, onward, new, used)
                for more, action, onward, new in self.map.moves(at, way, self.own, others)
                if cost + more <= halves and (action["do"] == "turn" or self.view["flux"] != "TIP")
            ]
            if not used:
                steps += [(cost, *step, True) for step in self.flux(at, way, others)]
            for price, action, onward, new, spent in steps:
                count += 1
                heappush(heap, (price, len(plan) + 1, count, onward, new, spent, [*plan, action]))

    def flux(self, at, way, others):
        """The flux actions but for swaps: (action, square, facing)."""
        if self.may("HOP"):
            for side in WAYS:
                onward = self.map.ahead(at, side)
                if onward is not None and onward not in others:
                    yield {"do": "hop", "way": side}, onward, way
        if self.may("AIM"):
            for side in WAYS:
                yield {"do": "aim", "facing": side}, at, side
        if self.may("DIG"):
            onward = self.map.ahead(at, way)
            if onward is not None and onward not in others:
                yield {"do": "dig"}, onward, way

    # -- the other decisions -------------------------------------------------------------------------------

    def deploy(self):
        """Where an enemy that already stands would need long to hit, and an own shot is near."""
        danger, distance = self.dangers(None), self.distances(None)

        def worth(action):
            at = tuple(action["at"])
            pose = at, action["facing"]
            return -danger.get(at, 0) - distance.get(pose, MAX) / 50, len(
                self.map.shot(*pose, self.map.ships)
            )

        return max(range(len(self.legal)), key=lambda index: (worth(self.legal[index]), -index))

    def colour(self):
        """The own ship that is nearest to a shot."""

        def halves(action):
            ship = self.view["ships"][action["colour"]]
            return self.distances(tuple(ship["at"])).get((tuple(ship["at"]), ship["facing"]), MAX)

        return min(range(len(self.legal)), key=lambda index: (halves(self.legal[index]), index))

    def claim(self):
        """Shares the victory when others have more hit points left."""
        strength = [sum(self.hits[seat :: self.players]) for seat in range(self.players)]
        return {"do": "split" if strength[self.seat] == max(strength) else "agree"}


def choose(question):
    hunter = Hunter(question)
    if question.ask == "turn":
        first, *rest = hunter.turn()
        return Reply(first, then=rest, note=hunter.budget.note)
    if question.ask == "deploy":
        return hunter.deploy()
    if question.ask == "colour":
        return hunter.colour()
    if question.ask == "claim":
        return hunter.claim()
    if question.ask == "ally":
        return {"do": "refuse"}
    return hunter.random.randrange(len(question.legal))


if __name__ == "__main__":
    run(choose, name="coasters-hunter", version="1.0", wants=("state", "legal"), reusable=True)
