"""The engine against a slow reference written from the rules: legal actions, costs and shots in random games."""

from itertools import combinations
from random import Random
from typing import Any

import pytest

from warpleague.games.coasters import GAME
from warpleague.games.coasters.geometry import COASTER, FACINGS

OFFSETS = {"U": (0, -1), "R": (1, 0), "D": (0, 1), "L": (-1, 0)}


class Reference:
    """A turn as the rules tell it, read from the JSON view alone."""

    def __init__(self, view: Any) -> None:
        self.view = view
        self.players = view["players"]
        self.options = view["options"]
        self.squares = {}
        self.home = {}
        for colour, system in enumerate(view["systems"]):
            if system:
                for row in range(3):
                    for column in range(3):
                        r, c, letters = row, column, COASTER[row][column]
                        for _ in range(system["rotation"]):
                            r, c = c, 2 - r
                            letters = "".join(FACINGS[(FACINGS.index(way) + 1) % 4] for way in letters)
                        at = 3 * system["at"][0] + c, 3 * system["at"][1] + r
                        self.squares[at], self.home[at] = letters, colour
        self.centre = {
            colour: (3 * system["at"][0] + 1, 3 * system["at"][1] + 1)
            for colour, system in enumerate(view["systems"])
            if system
        }
        self.ships = {tuple(ship["at"]): colour for colour, ship in enumerate(view["ships"]) if ship}
        self.me = view["ships"][view["colour"]]
        self.out = {*view["eliminated"], *view["retired"]}
        self.alive = [seat for seat in range(self.players) if seat not in self.out]

    def seat_of(self, colour: int) -> Any:
        return colour % self.players

    def cost(self, at: Any) -> Any:
        return 1 if self.seat_of(self.home[at]) in {self.view["seat"], *self.view["agreed"]} else 2

    def ahead(self, way: str) -> Any:
        x, y = self.me["at"]
        at = x + OFFSETS[way][0], y + OFFSETS[way][1]
        return at if at in self.squares and at not in self.ships else None

    def legal(self) -> Any:
        view, me, here = self.view, self.me, tuple(self.me["at"])
        talks = self.options["alliances"] and self.players > 2
        found: list[dict[str, Any]] = [{"do": "end"}, {"do": "fire"}]
        target = self.ahead(me["facing"])
        moving = view["flux"] != "TIP"
        if moving and me["facing"] in self.squares[here] and target and view["halves"] >= self.cost(target):
            found.append({"do": "step"})
        if view["halves"] >= self.cost(here):
            found += [{"do": "turn", "way": "left"}, {"do": "turn", "way": "right"}]
        warps = {view["seat"], *view["agreed"], *self.out}
        systems = {colour for colour in self.centre if self.seat_of(colour) in warps}
        if moving and view["halves"] and any(self.centre[colour] == here for colour in systems):
            free = [colour for colour in sorted(systems) if self.centre[colour] not in self.ships]
            found += [{"do": "warp", "to": colour} for colour in free]
        if not view["flux_used"] and not (self.options["wild_shot"] and view["flux"] == "WILD"):
            found += self.flux()
        if talks:
            asked = {*view["agreed"], *view["refused"], view["seat"]}
            found += [{"do": "invoke", "ally": seat} for seat in self.alive if seat not in asked]
            if not view["claimed"] and any(ship is None for ship in view["ships"]):
                found.append({"do": "claim"})
        return found

    def flux(self) -> Any:
        faces = ("SWAP", "HOP", "AIM", "DIG") if self.view["flux"] == "WILD" else (self.view["flux"],)
        found: list[dict[str, Any]] = []
        if "SWAP" in faces and self.options["system_swap"]:
            found += [{"do": "swap-systems", "systems": list(pair)} for pair in combinations(self.centre, 2)]
        elif "SWAP" in faces:
            others = sorted(c for c in self.ships.values() if self.seat_of(c) != self.view["seat"])
            found += [{"do": "swap", "with": colour} for colour in others]
        if "HOP" in faces:
            found += [{"do": "hop", "way": way} for way in FACINGS if self.ahead(way)]
        if "AIM" in faces:
            found += [{"do": "aim", "facing": way} for way in FACINGS]
        if "DIG" in faces and self.ahead(self.me["facing"]):
            found.append({"do": "dig"})
        return found

    def shot(self) -> Any:
        """The colour that a torpedo fired now hits, or None."""
        at, way = tuple(self.me["at"]), self.me["facing"]
        wild = self.options["wild_shot"] and self.view["flux"] == "WILD"
        been = {(at, way)}
        while True:
            if way in self.squares[at]:
                at = at[0] + OFFSETS[way][0], at[1] + OFFSETS[way][1]
                if at not in self.squares:
                    return None
                if at in self.ships:
                    return self.ships[at]
            elif wild:
                way = FACINGS[(FACINGS.index(way) + 1) % 4]
            else:
                return None
            if (at, way) in been:
                return None
            been.add((at, way))


VARIATIONS = [
    (2, {}),
    (3, {}),
    (5, {}),
    (10, {}),
    (2, {"colours": 3, "system_swap": True, "wild_shot": True}),
    (3, {"colours": 2, "free_colour": True, "wild_shot": True}),
    (3, {"colours": 3, "system_swap": True}),
    (4, {"alliances": False, "colours": 2, "wild_shot": True}),
]


@pytest.mark.parametrize(("players", "options"), VARIATIONS)
def test_random_games_agree_with_the_reference(players: int, options: Any) -> None:
    """Same legal actions in the same order, same costs, same hits, in every turn of some games."""
    for seed in range(2):
        rng = Random(f"{players}{options}{seed}")
        state = GAME.initial(players, GAME.Options(**options, max_rounds=12))
        out_at = rng.randrange(300)
        step = 0
        while actors := GAME.actors(state):
            step += 1
            if step == out_at:
                state, _ = GAME.retire(state, rng.choice(range(players)))
                continue
            if actors == (-1,):
                state, _ = GAME.apply(state, (rng.randrange(6), rng.randrange(6)))
                continue
            legal = GAME.legal(state, actors[0])
            move = rng.choice(legal)
            if GAME.ask(state, actors[0]) != "turn":
                state, _ = GAME.apply(state, move)
                continue
            view = GAME.view(state, actors[0])
            reference = Reference(view)
            assert [GAME.action_json(action) for action in legal] == reference.legal()
            before, (state, events) = reference, GAME.apply(state, move)
            told = events[0].data
            if move.do == "fire":
                assert told.get("hit") == before.shot()
            elif move.do in ("step", "turn"):
                at = tuple(told["to"]) if move.do == "step" else tuple(before.me["at"])
                assert view["halves"] - told["halves"] == before.cost(at)
            elif move.do == "warp":
                assert view["halves"] - told["halves"] == 1
