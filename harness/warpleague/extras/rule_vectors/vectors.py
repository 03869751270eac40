"""Makes test vectors of a game's rules: positions, the legal actions there, a move, and its effects.

An implementation of the rules in another language can be checked with these. `protocol/conformance/README.md`
describes the lines, and `protocol/conformance/check_rules.py` puts them to a program.
"""

from __future__ import annotations

import lzma
import sys
from collections import defaultdict
from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.common import check_new, say, write_file
from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.games.api import CHANCE, Event, JsonObject
from warpleague.games.playout import random_roll
from warpleague.games.values import encoded
from warpleague.sim.serve import event_json, turn_json
from warpleague.sim.simulator import Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


FORMAT: Final = 1
"""The version of the form of the lines."""

_MATCHES: Final = 40  # random matches of each table, from which the vectors are chosen
_STEPS: Final = 60  # but no more steps than this for each vector of a table: all of them are in memory
_EVERY: Final = 4  # in each fourth match seats retire and messages are sent
_RETIRE: Final = 0.02
_SAY: Final = 0.1
_TEXTS: Final = ("Truce?", "ok", 'Grüße, 2 > 1, "quoted" \\ 😀')
_SMALL: Final = ("standard", "asteroida-1", "decapoda-2")
_LARGE: Final = ("standard-large", "geotria-7", "chaetodon-3")
_ALL_COASTERS: Final = {"free_colour": True, "system_swap": True, "wild_shot": True}

SETTINGS: Final[dict[str, tuple[tuple[int, JsonObject], ...]]] = {
    "aliens": (
        (2, {}),
        (2, {"max_turns": 60, "diagonals": "swapped"}),
        (2, {"max_turns": 120, "both_ships": True}),
        (2, {"max_turns": 12}),
    ),
    "captains": (
        (1, {"ai": "echabod-z"}),
        (1, {"ai": "brood", "pattern": "asteroida-1"}),
        (1, {"ai": "azimuth", "pattern": "decapoda-2", "galaxy": "basic"}),
        *((2, {"pattern": pattern}) for pattern in _SMALL),
        (2, {"galaxy": "basic"}),
        (3, {}),
        (3, {"galaxy": "basic", "max_rounds": 3}),
        *((4, {"pattern": pattern}) for pattern in _LARGE),
        (5, {}),
        (5, {"galaxy": "basic", "pattern": "geotria-7"}),
    ),
    "coasters": (
        (2, {}),
        (2, {"colours": 2, **_ALL_COASTERS}),
        (2, {"colours": 5, "free_colour": True, "max_rounds": 4}),
        (3, {}),
        (3, {"alliances": False, "max_rounds": 6}),
        (3, {"colours": 3, **_ALL_COASTERS}),
        (4, {"system_swap": True}),
        (4, {"colours": 2, "wild_shot": True}),
        (5, {"colours": 2, **_ALL_COASTERS}),
        *((players, {}) for players in (5, 6, 7, 8, 9, 10)),
    ),
    "sheets": tuple(
        (players, {"shared_discards": shared}) for players in (1, 2, 3, 4) for shared in (False, True)
    ),
}
"""For each of our games the tables of the vectors: numbers of players and options. Other games have their defaults."""


@attrs.frozen
class _Step:
    """One move of a random match: an action, a roll (a tuple), or the number of a seat that retires."""

    state: Any
    move: Any
    retires: bool
    after: Any
    events: Sequence[Event]
    features: tuple[str, ...]


def rule_vectors(game: str, count: int = 2400, seed: str = "vectors") -> Iterator[JsonObject]:
    """A title, then about `count` vectors of `game`; equal arguments and rules give equal lines.

    Each table of `SETTINGS` has the same number. They are chosen from random matches: first those with the rarest
    actions, events and reasons to end, so that each kind that occurs is there. `BadInput` if there is no such game.
    """
    defaults: list[tuple[int, JsonObject]] = [(players, {}) for players in load_game(game).players]
    tables = [Simulator(game, players, options) for players, options in SETTINGS.get(game) or defaults]
    if count < len(tables):
        raise BadInput(f"--count: {game} has {len(tables)} kinds of tables, so give at least {len(tables)}")
    engine = tables[0].game
    yield {"vectors": FORMAT, "game": engine.id, "rules": engine.rules_version, "seed": seed}
    for number, table in enumerate(tables):
        rng = Random(f"{seed} {game} {number}")
        share = count * (number + 1) // len(tables) - count * number // len(tables)
        matches = (_match(table, rng, mixed=match % _EVERY == 0) for match in range(_MATCHES))
        steps = list(islice(chain.from_iterable(matches), _STEPS * share))
        for step in _chosen(steps, share, rng):
            yield _vector(table, step)


def _match(table: Simulator, rng: Random, *, mixed: bool) -> Iterator[_Step]:
    """The steps of one random match; if `mixed`, with messages and seats that retire."""
    game, state = table.game, table.start()
    retired: set[int] = set()
    talks = any(getattr(action, "do", "") == "say" for action in game.Actions)
    while (seat := table.actor(state)) is not None:
        here = [seat for seat in range(table.players) if seat not in retired]
        retires = mixed and rng.random() < _RETIRE
        if retires:
            move: Any = rng.choice(here)
            retired.add(move)
            after, events = game.retire(state, move)
            kind = "retire"
        else:
            if seat == CHANCE:
                move, kind = random_roll(game.chance(state), rng), "roll"
            else:
                legal = table.legal(state)
                move = legal[rng.randrange(len(legal))]
                if mixed and talks and game.talk(state, seat) and rng.random() < _SAY:
                    others = [other for other in range(table.players) if other != seat]
                    to = sorted(rng.sample(others, rng.randint(1, len(others))))
                    move = game.parse(state, seat, {"do": "say", "to": to, "text": rng.choice(_TEXTS)})
                kind = f"{game.ask(state, seat)} {move.do}"
            after, events = game.apply(state, move)
        yield _Step(state, move, retires, after, events, tuple(_features(table, kind, after, events)))
        state = after


def _features(table: Simulator, kind: str, after: Any, events: Sequence[Event]) -> Iterator[str]:
    """The subjects of a step as an example: its move, its events with their words, the end."""
    yield kind
    for event in events:
        for name, value in event.data.items():
            if isinstance(value, (str, bool)) and name != "text":
                yield f"{event.data['event']} {name} {value}"
    if table.actor(after) is None:
        yield f"end {table.game.outcome(after).why}"


def _chosen(steps: list[_Step], share: int, rng: Random) -> list[_Step]:
    """`share` of the steps, in their order: turn by turn one more of each feature, the rarest first."""
    having: defaultdict[str, list[int]] = defaultdict(list)
    for place, step in enumerate(steps):
        for feature in set(step.features):
            having[feature].append(place)
    queues = [having[feature] for feature in sorted(having, key=lambda name: (len(having[name]), name))]
    for queue in queues:
        rng.shuffle(queue)
    places: set[int] = set()
    while len(places) < min(share, len(steps)):
        for queue in queues:
            while queue and (place := queue.pop()) in places:
                pass
            if len(places) < share and (queue or place not in places):
                places.add(place)
    return [steps[place] for place in sorted(places)]


def _vector(table: Simulator, step: _Step) -> JsonObject:
    """One line: the position and who must act, the legal actions, the move, the next position and the events."""
    vector: JsonObject = {
        "players": table.players,
        "options": _given(table),
        "position": table.dump(step.state),
        "turn": turn_json(table, step.state),
    }
    if legal := table.legal(step.state):
        vector["legal"] = [table.json(action) for action in legal]
    if step.retires:
        vector["retire"] = step.move
    elif isinstance(step.move, tuple):
        vector["outcome"] = list(step.move)
    else:
        vector["action"] = table.json(step.move)
    vector["next"] = table.dump(step.after)
    vector["next_turn"] = turn_json(table, step.after)
    vector["events"] = [event_json(event) for event in step.events]
    return vector


def _given(table: Simulator) -> JsonObject:
    """All options of a table with their values, so that a program need not know the defaults."""
    return {field.name: getattr(table.options, field.name) for field in attrs.fields(table.game.Options)}


def write_vectors(game: str, number: int, seed: str, out: Path | None, *, force: bool) -> None:
    """Write so many vectors of a game to the file `out`, or to standard output."""
    if out is not None:
        check_new(out, force)
    lines = [encoded(vector) + b"\n" for vector in rule_vectors(game, number, seed)]
    data = b"".join(lines)
    if out is None:
        sys.stdout.write(data.decode())
        return
    packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME) if out.suffix == ".xz" else data
    write_file(out, packed)
    say(f"{out}: {len(lines) - 1:,} vectors")
