#!/usr/bin/env python3
"""Measure what shared dice are worth: how much less two matches on one deal vary than two on separate deals.

python scripts/luck.py                                  every pair below, for some minutes each
python scripts/luck.py sheets --deals 1000              one game
python scripts/luck.py aliens --bots aliens-greedy aliens-search

Two bots play each deal in both seat orders, in this process, without a clock. The points of the first bot, which are
1 for a win and 0.5 for a draw, are x in one order and y in the other. Over many deals,

    ratio = Var(x + y) / (Var x + Var y)

is the variance of such pairs of matches over that of pairs with separate dice: with a ratio of 0.8, shared dice need
0.8 times as many matches for the same error. `margin` is the same for the difference of the scores. Alone at a table
the bots play the same deal one after the other, and it is their difference that counts. At tables of three each takes
every seat beside the same two bots of a field, as `warpleague compare NEW OLD --field A,B` does; x, y, ... are the
shares of the first bot in its seats, and those of the second one with a minus. A bot may be a version of a shipped
one, with other values of constants of its program: `sheets-greedy:SPITE=0.1`. A name that ends in `~` is a bot that
plays one of ten actions at random, by a seed of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from functools import partial
from math import nan, sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.league.ratings.statistics import pair_points
from warpleague.match.chance import Dice, bot_seed, match_key
from warpleague.match.setup import load_options, options_json
from warpline import client

if TYPE_CHECKING:
    from collections.abc import Sequence

BOTS = Path(__file__).resolve().parent.parent / "bots"
OPPONENTS = BOTS.parent / "harness" / "warpleague" / "opponents"
PAIRS = {
    "aliens": (
        ("aliens-greedy", "aliens-greedy:LOST_TURN=3:ENEMY_USE=0.2"),
        ("aliens-greedy~", "aliens-greedy~"),
        ("random", "random"),
    ),
    "captains": (("captains-planner:SEARCHED=500", "captains-planner:SEARCHED=500:SITE=0.6"),),
    "captains solo": (("captains-planner:SEARCHED=500", "captains-planner:SEARCHED=500:SITE=0.6"),),
    "coasters": (
        ("coasters-hunter", "coasters-hunter:MAX=8"),
        ("coasters-hunter~", "coasters-hunter~"),
        ("random", "random"),
    ),
    "sheets": (
        ("sheets-greedy:SAMPLES=8", "sheets-greedy:SAMPLES=8:SPITE=0:HOLE=1.5"),
        ("sheets-greedy:SAMPLES=8~", "sheets-greedy:SAMPLES=8~"),
        ("random", "random"),
    ),
    "sheets solo": (("sheets-greedy:SAMPLES=8", "sheets-greedy:SAMPLES=8:HOLE=1.5"),),
    "captains field": (("captains-planner:SEARCHED=200", "captains-planner:SEARCHED=200:SITE=0.6"),),
    "coasters field": (
        ("coasters-hunter", "coasters-hunter:MAX=8"),
        ("coasters-hunter~", "coasters-hunter~"),
    ),
    "sheets field": (("sheets-greedy:SAMPLES=2", "sheets-greedy:SAMPLES=2:SPITE=0:HOLE=1.5"),),
}
SLIPS = 0.1
GROUPS = 50  # of the jackknife

Game = Any
Deal = tuple[float, ...]


def load_bot(text: str) -> dict[str, Any]:
    """What the program of a bot in Python gives to `warpline.client.run`: `NAME[:CONSTANT=NUMBER]...`.

    The name is that of a shipped bot, or of an opponent of a level, such as `sheets-4`.
    """
    name, *changes = text.split(":")
    opponent = re.fullmatch("([a-z]+)-([2-5])", name)
    folder = BOTS / name
    path = folder / "main.py" if opponent is None else OPPONENTS / f"{opponent[1]}.py"
    given: dict[str, Any] = {}
    spec = importlib.util.spec_from_file_location(f"luck_{name.replace('-', '_')}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise SystemExit(f"there is no bot {name!r} in Python")
    module = importlib.util.module_from_spec(spec)
    real, client.run = client.run, lambda choose, **more: given.update(more, choose=choose)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
        for change in changes:
            constant, _, value = change.partition("=")
            if type(getattr(module, constant, None)) not in (int, float):
                raise SystemExit(f"{name} has no number {constant!r}")
            setattr(module, constant, type(getattr(module, constant))(value))
        if opponent is not None:
            given.update(_opponent(module.OPPONENT, int(opponent[2])))
        elif hasattr(module, "main"):
            module.main()
        else:
            client.run(module.choose, wants=("state", "legal"))
    finally:
        client.run = real
        sys.path.remove(str(folder))
    return given


def _opponent(kind: Any, level: int) -> dict[str, Any]:
    """What the program of the opponents gives to `warpline.client.run`."""
    players: list[Any] = []
    return {
        "on_start": lambda match: players.__setitem__(slice(None), [kind(match, kind.skills[level - 2])]),
        "choose": lambda question: players[0].answer(question),
    }


class Player:
    """One bot of a pair, the `number`-th, in this process."""

    def __init__(self, name: str, number: int) -> None:
        self.number = number
        self.slips = SLIPS if name.endswith("~") else 0.0
        self.bot = None if name == "random" else load_bot(name.rstrip("~"))
        self.then: list[Any] = []

    def start(self, game: Game, options: Any, state: Any, seat: int, key: bytes) -> None:
        """Begin a match."""
        players, _ = game.match_of(state)
        self.rng = Random(f"{bot_seed(key, seat)} {self.number}")
        self.then = []
        if self.bot is None:
            return
        start = {
            "match": "luck",
            "game": game.id,
            "rules": game.rules_version,
            "options": options_json(options),
        }
        start |= {"seat": seat, "players": ["abcdefghij"[other] for other in range(players)], "clock": {}}
        start |= {"seed": bot_seed(key, seat), "setup": plain(game.setup(state))}
        self.match = client.Match(start)
        if "on_start" in self.bot:
            self.bot["on_start"](self.match)

    def choose(self, game: Game, state: Any, seat: int) -> Any:
        """Its action."""
        legal = game.legal(state, seat)
        if len(legal) == 1 or self.bot is None or self.rng.random() < self.slips:
            self.then = []
            return legal[self.rng.randrange(len(legal))]
        if self.then:
            return game.parse(state, seat, self.then.pop(0))
        act = {"id": 1, "ask": game.ask(state, seat), "state": plain(game.view(state, seat)), "events": []}
        act["legal"] = [game.action_json(action) for action in legal]
        answer = self.bot["choose"](client.Question(act, self.match))
        if isinstance(answer, client.Reply):
            self.then, answer = list(answer.then), answer.action
        return game.parse(state, seat, answer) if isinstance(answer, dict) else legal[answer]


def plain(value: Any) -> Any:
    """`value` as a bot gets it."""
    return json.loads(json.dumps(value))


def play(game: Game, options: Any, players: Sequence[Player], key: bytes) -> Any:
    """The outcome of a match."""
    state = game.initial(len(players), options)
    dice = Dice(key)
    begun = False
    while actors := game.actors(state):
        if actors == (CHANCE,):
            move: Any = dice.roll(dice.at(game.address(state)), game.chance(state))
        else:
            if not begun:
                begun = True
                for seat, player in enumerate(players):
                    player.start(game, options, state, seat, key)
            move = players[actors[0]].choose(game, state, actors[0])
        before, seat = state, actors[0]
        state, events = game.apply(before, move)
        if seat == CHANCE or any(event.reveals for event in events):
            for player in players:
                player.then = []
    return game.outcome(state)


def played(game: Game, options: Any, pair: Sequence[Player], key: bytes) -> tuple[Deal, Deal]:
    """Points and margins of the first bot of a pair in the two matches of a deal."""
    one, two = pair
    results = [play(game, options, order, key) for order in ((one, two), (two, one))]
    points = [(3 - 2 * result.ranks[0] + (result.ranks == (1, 1))) / 2 for result in results]
    margins = [result.scores[0] - result.scores[1] for result in results]
    return (points[0], -points[1]), (margins[0], -margins[1])


def played_alone(game: Game, options: Any, pair: Sequence[Player], key: bytes) -> tuple[Deal, Deal]:
    """The same at tables of one, where the difference of the two bots counts."""
    one, two = (play(game, options, [player], key) for player in pair)
    margins = [result.scores[0] - (result.rival or 0) for result in (one, two)]
    return (float(one.ranks[0] == 1), -float(two.ranks[0] == 1)), (margins[0], -margins[1])


def played_beside(
    game: Game, options: Any, pair: Sequence[Player], key: bytes, field: Sequence[Player]
) -> tuple[Deal, Deal]:
    """The same beside two bots of a field: one value for each bot and seat."""
    points, margins = [], []
    for bot, sign in zip(pair, (1, -1), strict=True):
        for seat in range(3):
            table = [bot, *field]
            found = play(game, options, table[-seat:] + table[:-seat], key)
            others = [other for other in range(3) if other != seat]
            beaten = [pair_points(found.ranks[seat], found.ranks[other]) for other in others]
            points.append(sign * sum(beaten) / 2)
            margins.append(sign * found.scores[seat])
    return tuple(points), tuple(margins)


def ratio(deals: Sequence[Deal]) -> tuple[float, float]:
    """The ratio that the module's docstring defines, and its standard error by a jackknife over groups of deals."""

    def of(some: Sequence[Deal]) -> float:
        means = [sum(column) / len(some) for column in zip(*some, strict=True)]
        off = [[value - mean for value, mean in zip(deal, means, strict=True)] for deal in some]
        apart = sum(value**2 for deal in off for value in deal)
        return sum(sum(deal) ** 2 for deal in off) / apart if apart else nan

    groups = min(GROUPS, len(deals))
    parts = [of([deal for i, deal in enumerate(deals) if i % groups != group]) for group in range(groups)]
    mean = sum(parts) / groups
    return of(deals), sqrt((groups - 1) / groups * sum((part - mean) ** 2 for part in parts))


def measure(name: str, bots: Sequence[str], deals: int, field: Sequence[str] | None) -> str:
    """A row of the table; without a `field` the two others at a table of three are the first bot once more, twice."""
    game_id, _, how = name.partition(" ")
    game = load_game(game_id)
    options = load_options(game, {"solo": 1, "field": 3}.get(how, 2), {})
    pair = [Player(bot, number) for number, bot in enumerate(bots)]
    beside = [Player(bot, number) for number, bot in enumerate(field or bots[:1] * 2, start=2)]
    of_deal = {"solo": played_alone, "field": partial(played_beside, field=beside)}.get(how, played)
    found = [of_deal(game, options, pair, match_key(f"luck {deal}")) for deal in range(deals)]
    points, margins = zip(*found, strict=True)
    told = "   ".join("{:.2f} ± {:.2f}".format(*ratio(each)) for each in (points, margins))
    return f"{name:14} {' '.join(bots):78} {deals:6}   {told}"


def main() -> None:
    """Print a row for each pair asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", nargs="?", help=f"one of: {', '.join(PAIRS)}")
    parser.add_argument("--bots", nargs=2, metavar="BOT", help="two shipped bots in Python, or random")
    parser.add_argument(
        "--field",
        nargs=2,
        metavar="BOT",
        help="who else sits at a table of three (default: the first bot, twice)",
    )
    parser.add_argument("--deals", type=int, default=300)
    args = parser.parse_args()
    if args.game not in (None, *PAIRS) or (args.bots and not args.game) or args.deals < 2:
        parser.error("name a game of the list, also for --bots, and at least two deals")
    print(f"{'game':14} {'bots':78}  deals   points        margin", flush=True)
    for name, pairs in PAIRS.items():
        if args.game in (None, name):
            for bots in [args.bots] if args.bots else pairs:
                print(measure(name, bots, args.deals, args.field), flush=True)


if __name__ == "__main__":
    main()
