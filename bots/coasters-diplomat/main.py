"""A bot for coasters that lives by alliances: it shows how to propose, confirm, use, keep and break them.

How it talks, in words that any bot can read: `alliance?` proposes, `alliance!` accepts, `alliance over` ends it. It
proposes to one seat at a time, in private, at its own turns. Allies are not fired at, their invocations
are confirmed, and once only allies are left it claims the victory with them. About one match in four (by its
seed) it is false: it talks the same way, but splits at the claim and fires at its ally when it is the stronger.
Talk binds nobody, so it also judges by deeds: who hits its ship is no ally any more.

Its way of fighting is plain: by the fewest moves to a square from which an enemy is in the line of fire.
"""

from __future__ import annotations

from random import Random

from warpline.client import Reply, run, say

OFFSET = {"U": (0, -1), "R": (1, 0), "D": (0, 1), "L": (-1, 0)}
WAYS = list(OFFSET)
PROPOSE, ACCEPT, OVER = "alliance?", "alliance!", "alliance over"


class Diplomat:
    """One match: who was asked, who is an ally, and how true this bot is."""

    def __init__(self, seat, seed):
        self.seat = seat
        self.random = Random(seed)
        self.true = self.random.random() < 0.75
        self.asked = set()
        self.proposed = None  # the turn of the last proposal, and to whom
        self.allies = set()
        self.foes = set()  # who once hit this bot
        self.outbox = []

    # -- talk ----------------------------------------------------------------------------------------------

    def hear(self, question):
        """Read what was said and done since the last decision, and think of answers."""
        players = question.state["players"]
        for event in question.events:
            kind, other = event["event"], event.get("seat")
            if kind == "said" and other != self.seat:
                self.listen(other, event["text"])
            elif kind == "fired" and event["how"] == "hit" and event["hit"] % players == self.seat:
                self.foes.add(other)  # deeds count
                self.leave(other)
            elif kind in ("eliminated", "retired"):
                self.allies.discard(other)

    def listen(self, other, text):
        if text == PROPOSE:
            if len(self.allies) < 2 and other not in self.allies | self.foes:
                self.allies.add(other)
                self.outbox.append((other, ACCEPT))
        elif text == ACCEPT and other in self.asked - self.foes:
            self.allies.add(other)
        elif text == OVER:
            self.allies.discard(other)

    def leave(self, other):
        self.outbox = [(to, text) for to, text in self.outbox if to != other]
        if other in self.allies:
            self.allies.discard(other)
            self.outbox.append((other, OVER))

    def propose(self, turn, alive):
        """In each own turn ask one seat that was never asked, while there is no ally and more than two are left."""
        if self.allies or len(alive) < 3 or (self.proposed and self.proposed[0] == turn):
            return
        self.proposed = None
        for seat in alive:
            if seat != self.seat and seat not in self.asked | self.foes:
                self.asked.add(seat)
                self.proposed = turn, seat
                self.outbox.append((seat, PROPOSE))
                return

    # -- decisions -----------------------------------------------------------------------------------------

    def decide(self, question):
        """An answer to any question; a message that waits goes first, since `say` leaves the decision open."""
        view = question.state
        alive = [seat for seat in range(view["players"]) if seat not in view["eliminated"] + view["retired"]]
        self.hear(question)
        if question.ask == "turn" and question.talk:
            self.propose(view["turn"], alive)
        if self.outbox and question.talk:
            other, text = self.outbox.pop(0)
            return say(other, text)
        if question.ask == "ally":
            return {"do": "agree" if view["seat"] in self.allies else "refuse"}
        if question.ask == "claim":
            return {"do": "agree" if self.would_share(view, alive) else "split"}
        if question.ask == "turn":
            return self.turn(question, alive)
        return self.random.randrange(len(question.legal))

    def would_share(self, view, alive):
        """True diplomats share with allies; false ones, and all with others, while they are not the strongest."""
        strength = [0] * view["players"]
        for colour, ship in enumerate(view["ships"]):
            strength[colour % view["players"]] += ship["hits"] if ship else 0
        strongest = strength[self.seat] == max(strength)
        if not all(seat in self.allies for seat in alive if seat != self.seat):
            return not strongest
        return self.true or not strongest

    def turn(self, question, alive):
        view, legal = question.state, question.legal
        friends = set(self.allies)
        only_allies = all(seat in friends for seat in alive if seat != self.seat)
        if only_allies and self.would_share(view, alive) and {"do": "claim"} in legal:
            return Reply({"do": "claim"}, note="only allies are left")
        if only_allies and not self.true:
            friends = set()  # nobody else is left to fight: a false diplomat turns on its allies
        for ally in sorted(friends):
            if {"do": "invoke", "ally": ally} in legal and ally not in view["agreed"]:
                return {"do": "invoke", "ally": ally}
        spared = friends | {self.seat} | ({self.proposed[1]} if self.proposed else set())
        return Fight(view, question.setup, spared).best(legal)


class Fight:
    """One turn's plain tactics."""

    def __init__(self, view, setup, friends):
        self.view, self.friends = view, friends
        self.arrows = {}
        self.centres = {}
        for colour, system in enumerate(view["systems"]):
            if system:
                x, y = 3 * system["at"][0], 3 * system["at"][1]
                letters = setup["arrows"][system["rotation"]]
                self.arrows.update({(x + i, y + j): letters[j][i] for i in range(3) for j in range(3)})
                self.centres[x + 1, y + 1] = colour
        self.ships = {tuple(ship["at"]): colour for colour, ship in enumerate(view["ships"]) if ship}
        me = view["ships"][view["colour"]]
        self.here, self.way = tuple(me["at"]), me["facing"]

    def foe_ahead(self, at, way):
        """Whether the first ship in the line of fire is an enemy's."""
        while way in self.arrows[at]:
            at = at[0] + OFFSET[way][0], at[1] + OFFSET[way][1]
            if at not in self.arrows:
                return False
            if at in self.ships and at != self.here:
                return self.ships[at] % self.view["players"] not in self.friends
        return False

    def after(self, at, way):
        """Where each plain move leads: (action, square, facing)."""
        side = WAYS.index(way)
        yield {"do": "turn", "way": "right"}, at, WAYS[(side + 1) % 4]
        yield {"do": "turn", "way": "left"}, at, WAYS[(side + 3) % 4]
        onward = at[0] + OFFSET[way][0], at[1] + OFFSET[way][1]
        if way in self.arrows[at] and onward in self.arrows and onward not in self.ships:
            yield {"do": "step"}, onward, way

    def first_move(self):
        """The first action of the fewest that lead to a firing position, or None."""
        queue, been = [(self.here, self.way, None)], {(self.here, self.way)}
        for at, way, first in queue:
            if self.foe_ahead(at, way):
                return first
            for action, onward, facing in self.after(at, way):
                if (onward, facing) not in been:
                    been.add((onward, facing))
                    queue.append((onward, facing, first or action))
        return None

    def best(self, legal):
        """Fire at a foe; else aim, hop or dig to where that is possible; else move; else end the turn."""
        if self.foe_ahead(self.here, self.way):
            return {"do": "fire"}
        for action in legal:
            at, way = self.here, self.way
            if action["do"] == "aim":
                way = action["facing"]
            elif action["do"] == "hop":
                at = at[0] + OFFSET[action["way"]][0], at[1] + OFFSET[action["way"]][1]
            elif action["do"] == "dig":
                at = at[0] + OFFSET[way][0], at[1] + OFFSET[way][1]
            elif action["do"] == "warp":
                at = next(square for square, colour in self.centres.items() if colour == action["to"])
            else:
                continue
            if self.foe_ahead(at, way):
                return action
        move = self.first_move()
        return move if move in legal else {"do": "end"}


def main():
    diplomat = None

    def start(match):
        nonlocal diplomat
        diplomat = Diplomat(match.seat, match.seed)

    run(
        lambda question: diplomat.decide(question),
        name="coasters-diplomat",
        version="1.0",
        reusable=True,
        on_start=start,
    )


if __name__ == "__main__":
    main()
