"""A planner for captains: it searches its whole turn for the best mix of deliveries, wormholes and position.

Distances to the planets, wormholes included, tell what a hand is worth from a space. The search goes through
moves, warps, places and shots of one turn and values where it may end: points made, passengers on board by how
many turns away their planets are, and the network of wormholes built. Its own tokens go beside planets, one
each; others' wormholes are used only when they are worth the point they pay.
The same questions give the same answers, unless a search meets its bound on processor time; then its note says so.
"""

from collections import deque

from warpline.budget import Budget
from warpline.client import Reply, run

HAND = 4
FAR = 99

# Found by playing some hundred matches against random play and against itself with other numbers.
LATER = 0.66  # what a point is worth one turn later
SITE = 0.9  # worth of a token beside a planet, for trips to come
PAIR = 0.7  # ... and more when it completes a pair
NEW_PLANET = 0.5  # worth of a first delivery to a planet while the Tour bonus is still far
TOUR = 3.0
HOPE = 0.55  # what a card not drawn yet counts against one in hand
REPLACE = 0.25  # how much better than a card in hand a new one must promise to be, to discard it
SEARCHED = 3000  # positions looked at in one turn


class Board:
    """The galaxy of one match: where ships move, what is beside what."""

    def __init__(self, setup):
        spaces = setup["spaces"]
        self.size = len(spaces)
        holes = {at for at, space in enumerate(spaces) if space["kind"] == "blackhole"}
        self.moves = [[to for to in space["moves"] if to not in holes] for space in spaces]
        self.shots = [[to for to in space["shots"] if to not in holes] for space in spaces]
        self.planet = [space["planet"] for space in spaces]
        self.station = [space["station"] for space in spaces]
        self.token = [space["token"] for space in spaces]
        self.nebula = [space["kind"] == "nebula" for space in spaces]
        self.cannon = [space["kind"] == "cannon" for space in spaces]
        self.wild = [space["number"] for space in spaces]
        self.beside = [planet["beside"] for planet in setup["planets"]]
        self.big = [planet["big"] for planet in setup["planets"]]
        self.planets = len(self.beside)
        # Where a token may go from a space: it and the spaces next to it, without what only an orbit reaches.
        near = {(1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1), (0, 0)}
        place = [(space["q"], space["r"]) for space in spaces]
        self.around = [
            [to for to in sorted({at, *self.moves[at]})
             if self.token[to] and (place[to][0] - place[at][0], place[to][1] - place[at][1]) in near]
            for at in range(self.size)
        ]  # fmt: skip
        # Ways backward at a cost of 0 or 1 energy.
        self.back = [[] for _ in spaces]
        for at in range(self.size):
            for to in self.moves[at]:
                self.back[to].append((at, self.cost(at, to)))
            for to in self.shots[at]:
                self.back[to].append((at, 0))

    def cost(self, at, to):
        """The energy of a move: 0 from a nebula, but 1 onto the cannon."""
        return 0 if self.nebula[at] and not self.cannon[to] else 1


class Roads:
    """Energy to each planet from everywhere, with the wormholes of certain tokens; others' count as 1."""

    def __init__(self, board, warps, seat):
        self.warps = warps
        back = [[] for _ in range(board.size)]
        for at, ends in warps.items():
            for to, owner in ends:
                back[to].append((at, 0 if owner == seat else 1))
        self.to = []
        for beside in board.beside:
            away = [FAR] * board.size
            queue = deque()
            for at in beside:
                away[at] = 0
                queue.append(at)
            while queue:
                at = queue.popleft()
                for ways in (board.back[at], back[at]):
                    for before, cost in ways:
                        if away[at] + cost < away[before]:
                            away[before] = away[at] + cost
                            (queue.append if cost else queue.appendleft)(before)
            self.to.append(away)
        self.between = [
            [min((away[at] for at in beside), default=FAR) for away in self.to] for beside in board.beside
        ]


class Turn:
    """What one search knows: the view at its start, and memories of roads and values."""

    def __init__(self, board, view):
        self.board = board
        self.seat = view["you"]
        self.tokens = view["tokens"]
        self.mine = tuple(self.tokens[self.seat])
        self.explored = len(view["explorers"])
        self.touched = {board.planet[at] for stack in self.tokens for at in stack}
        self.taken = {at for stack in self.tokens for at in stack}
        self.delivered = view["delivered"][self.seat]
        self.docks = view["docks"]
        self.deck = view["deck"]
        self.unseen = view["unseen"]
        self.toll = 1.0 if len(self.tokens) == 2 else 0.6
        self.left = view["last_round"] - view["round"]  # turns after this one
        if view["why"] == "max-rounds":
            # The end is not in sight: it comes some rounds after the planets are explored.
            self.left = min(self.left, 4 + board.planets - self.explored)
        self.build = min(1.0, self.left / 6)
        self.roads = {}
        self.values = {}
        self.hopes = {}
        self.owned = {}

    def road(self, placed):
        """The roads once `placed` further tokens of one's own are on the board; only whole pairs count."""
        placed = placed[: max(0, len(placed) - (len(self.mine) + len(placed)) % 2)]
        if placed not in self.roads:
            warps = {}
            for owner, stack in enumerate(self.tokens):
                own = owner == self.seat
                spaces = (*stack, *placed) if own else stack
                for i in range(0, len(spaces) - 1, 2):
                    a, b = spaces[i], spaces[i + 1]
                    warps[a] = [(b, owner)]
                    warps[b] = [(a, owner)]
                    if own:
                        for at, number in enumerate(self.board.wild):
                            if number == i // 2 + 1:
                                warps[a].append((at, owner))
                                warps[b].append((at, owner))
                                warps.setdefault(at, []).extend(((a, owner), (b, owner)))
            self.roads[placed] = Roads(self.board, warps, self.seat)
        return self.roads[placed]

    def later(self, energy, spare=0):
        """What a point is worth that takes so much energy from the end of this turn, `spare` being left of it."""
        turns = max(1, -(-(energy - spare) // 3))
        return LATER**turns if turns <= self.left else 0.0

    def card(self, planet):
        """The points of a delivery to a planet: the first one counts for the Galactic Tour, too."""
        if self.delivered[planet]:
            return 2.0
        seen = sum(1 for cards in self.delivered if cards)
        return 2.0 + (TOUR if seen >= 5 else NEW_PLANET * min(1.0, self.left / 6))

    def hand_value(self, roads, at, hand):
        """What the passengers on board are worth from a space, visiting the nearest planet first."""
        total, way, here = 0.0, 0, None
        rest = [planet for planet, cards in enumerate(hand) if cards]
        while rest:
            away = [roads.to[planet][at] if here is None else roads.between[here][planet] for planet in rest]
            step = min(away)
            here = rest.pop(away.index(step))
            way += max(1, step)
            total += (self.card(here) + 2.0 * (hand[here] - 1)) * self.later(way)
        return total

    def hope(self, placed, at, planet):
        """The worth of a card still to be drawn at `planet`, seen from space `at`."""
        key = (placed, at, planet)
        if key not in self.hopes:
            roads = self.road(placed)
            total = weight = 0.0
            for other, cards in enumerate(self.unseen):
                if other != planet and cards:
                    weight += cards
                    total += cards * self.card(other) * self.later(max(1, roads.to[other][at]) + 2)
            self.hopes[key] = total / weight if weight else 0.0
        return self.hopes[key]

    def value(self, placed, at, hand, drawn, planet, picked):
        """The worth of ending the turn: with a hand, and `drawn` unknown cards picked up at `planet`."""
        key = (placed, at, hand, drawn, planet, picked)
        if key not in self.values:
            roads = self.road(placed)
            total = self.hand_value(roads, at, hand)
            if drawn:
                total += HOPE * drawn * self.hope(placed, at, planet)
            room = HAND - sum(hand) - drawn
            if room and self.deck:  # the next pick-up
                beside = self.board.planet[at]
                near = 0 if beside >= 0 or self.board.station[at] else 1
                total += 0.5 * HOPE * room * self.hope(placed, at, beside) * LATER ** (1 + near)
            # Planets still to be explored draw a little.
            own = self.own(placed)
            goals = [p for p in range(self.board.planets) if p not in own]
            if goals and len(self.mine) + len(placed) < 10:
                nearest = min(max(1, roads.to[p][at]) for p in goals)
                total += 1.2 * self.later(nearest)
            self.values[key] = total
        return self.values[key]

    def own(self, placed):
        """The planets that have one of one's own tokens beside them."""
        if placed not in self.owned:
            self.owned[placed] = {self.board.planet[at] for at in (*self.mine, *placed)}
        return self.owned[placed]

    def sites(self, placed, at):
        """Where to place now: for each planet in range without an own token the best space, the ship's first."""
        if len(self.mine) + len(placed) >= 10:
            return []
        board, found, own = self.board, {}, self.own(placed)
        for space in board.around[at]:
            planet = board.planet[space]
            if planet < 0 or space in self.taken or space in placed or board.station[space]:
                continue  # one's first token is beside the station: there can be no second
            if planet not in own and (planet not in found or space == at):
                found[planet] = space
        return list(found.values())

    def site_value(self, placed, space):
        """The worth of a token on `space`: the exploration token, the network."""
        total = SITE * self.build
        if (len(self.mine) + len(placed)) % 2:
            total += PAIR * self.build
        planet = self.board.planet[space]
        if planet not in self.touched and planet not in self.own(placed):
            before = self.explored + sum(1 for at in placed if self.board.planet[at] not in self.touched)
            total += 1.0 if before < 6 else 3.0
        return total

    def plan(self, view, budget):
        """The best sequence of actions from the position of `view` to the end of the turn that `budget` finds."""
        board = self.board
        start = (
            view["ships"][self.seat],
            view["energy"],
            view["warped"],
            view["picked"],
            (),
            tuple(view["hand"]),
            0,
            -1,
        )
        best, plan = None, None
        pending = [(start, 0.0, None)]
        gained = {start: 0.0}
        count = 0
        while pending and count < SEARCHED and not (count and budget.over()):
            node, gain, trail = pending.pop()
            if gain < gained[node]:
                continue
            count += 1
            at, energy, warped, picked, placed, hand, drawn, where = node
            total = gain + self.value(placed, at, hand, drawn, where, picked)
            if best is None or total > best + 1e-9:
                best, plan = total, trail

            def visit(action, worth, *, at=at, energy=energy, warped=False, picked=picked, placed=placed, hand=hand,
                      drawn=drawn, where=where, gain=gain, trail=trail):  # fmt: skip
                after = (at, energy, warped, picked, placed, hand, drawn, where)
                sum_ = gain + worth - 1e-4
                if sum_ > gained.get(after, -FAR):
                    gained[after] = sum_
                    pending.append((after, sum_, (trail, action)))

            planet = board.planet[at]
            if planet >= 0 and hand[planet]:
                worth = self.card(planet) + 2.0 * (hand[planet] - 1)
                rest = (*hand[:planet], 0, *hand[planet + 1 :])
                visit({"do": "deliver", "planet": planet}, worth, hand=rest)
                continue  # never worth putting off
            for space in self.sites(placed, at):
                worth = self.site_value(placed, space)
                visit({"do": "place", "at": space}, worth, placed=(*placed, space))
            if not picked:
                room = HAND - sum(hand)
                draws = planet >= 0 and self.deck and not board.station[at]  # beside both only the Docks give
                if draws and room:
                    visit({"do": "pickup", "at": "planet"}, 0.0, picked=True, drawn=room, where=planet)
                elif draws and self.worst(placed, at, hand, planet) is not None:
                    dropped = self.worst(placed, at, hand, planet)
                    rest = tuple(cards - (i == dropped) for i, cards in enumerate(hand))
                    visit(
                        {"do": "pickup", "at": "planet"}, 0.0, picked=True, hand=rest, drawn=1, where=planet
                    )
                if board.station[at] and room:
                    wanted = self.wanted(placed, at, hand)
                    if wanted:
                        new = tuple(cards + wanted.count(i) for i, cards in enumerate(hand))
                        price = 1.0 if view["match"]["players"] == 1 else 0.0
                        visit({"do": "pickup", "at": "station"}, -price, picked=True, hand=new)
            if not warped:
                for to, owner in self.road(placed).warps.get(at, ()):
                    toll = 0.0 if owner == self.seat else self.toll
                    visit({"do": "warp", "to": to}, -toll, at=to, warped=True)
            for to in board.shots[at]:
                visit({"do": "cannon", "to": to}, 0.0, at=to)
            for to in board.moves[at]:
                rest = energy - board.cost(at, to)
                if rest >= 0:
                    visit({"do": "move", "to": to}, 0.0, at=to, energy=rest)
        actions = []
        while plan:
            plan, action = plan
            actions.append(action)
        return actions[::-1]

    def worst(self, placed, at, hand, planet):
        """The planet of the card to discard when the hand is full, or None if a new one promises no more."""
        roads = self.road(placed)
        held = [p for p, cards in enumerate(hand) if cards]
        worth = {p: self.card(p) * self.later(max(1, roads.to[p][at])) for p in held}
        worst = min(held, key=worth.get, default=None)
        if worst is not None and worth[worst] + REPLACE < self.hope(placed, at, planet):
            return worst
        return None

    def wanted(self, placed, at, hand):
        """The cards to take from the Docks: of the two planets that are worth most with what is in hand."""
        room = HAND - sum(hand)
        roads = self.road(placed)
        worth = {
            p: min(cards, room) * 2.0 * self.later(max(1, roads.to[p][at])) + (self.card(p) - 2.0)
            for p, cards in enumerate(self.docks)
            if cards
        }
        best = sorted(worth, key=lambda p: -worth[p])[:2]
        taken = [p for p in best for _ in range(self.docks[p]) if worth[p] > 0.2]
        return taken[:room]


class Player:
    """The bot in one match."""

    def __init__(self, match):
        self.board = Board(match.setup)

    def choose(self, question):
        """The answer to a question: an index, or an action with what follows it."""
        budget = Budget.of(question)
        view, legal = question.state, question.legal
        turn = Turn(self.board, view)
        if question.ask == "turn":
            return self.turn(turn, view, legal, budget)
        if question.ask == "pickup":
            return self.pickup(turn, view, legal)
        if question.ask == "start":
            return self.best_space(turn, view, legal, explore=True)
        if question.ask == "emerge":
            return self.best_space(turn, view, legal)
        return 0

    def turn(self, turn, view, legal, budget):
        actions = turn.plan(view, budget)
        chained = []
        for action in actions:
            chained.append(action)
            if action["do"] == "pickup":
                break
        else:
            chained.append({"do": "end"})
        return Reply(chained[0], then=chained[1:], note=budget.note) if chained[0] in legal else 0

    def pickup(self, turn, view, legal):
        """At a planet: make room if the hand is full, then draw. At the station: take what is wanted."""
        at, hand = view["ships"][view["you"]], tuple(view["hand"])
        if view["stage"] == "pickup-planet":
            drop = turn.worst((), at, hand, view["focus"])
            if drop is None and sum(hand) == HAND:
                drop = max(range(len(hand)), key=lambda p: (hand[p] > 0, turn.road(()).to[p][at]))
            action = {"do": "draw"} if drop is None else {"do": "discard", "planet": drop}
            return legal.index(action) if action in legal else len(legal) - 1
        for planet in turn.wanted((), at, hand):
            if {"do": "take", "planet": planet} in legal:
                return legal.index({"do": "take", "planet": planet})
        return legal.index({"do": "done"})

    def best_space(self, turn, view, legal, explore=False):
        """The space with the best hand from there; at the start also near to the planets."""
        roads = turn.road(())
        hand = tuple(view["hand"])

        def worth(number):
            at = legal[number]["at"]
            near = sorted(away[at] for away in roads.to)
            return turn.hand_value(roads, at, hand) - (0.1 * sum(near[:3]) if explore else 0.0)

        return max(range(len(legal)), key=worth)


def main():
    player = None

    def start(match):
        nonlocal player
        player = Player(match)

    run(
        lambda question: player.choose(question),
        name="captains-planner",
        version="1.0",
        wants=("state", "legal"),
        reusable=True,
        on_start=start,
    )


if __name__ == "__main__":
    main()
