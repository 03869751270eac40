"""Serves the simulator to programs in other languages: lines of JSON in, one line of JSON out for each.

Positions stay here and go by numbers. `docs/simulator.md` lists the requests.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import WarpLeagueError
from warpleague.games.api import CHANCE, Event, JsonObject
from warpleague.games.playout import random_roll
from warpleague.games.values import encoded
from warpleague.sim.simulator import Simulator, common_dice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


MAX_STATES: Final = 200_000
"""The most positions in memory at once; `free` drops some."""
MAX_PLAYOUTS: Final = 1_000_000
MAX_REQUESTS: Final = 10_000
"""How many requests a list has at most."""

_MISSING: Final = object()
_WORDS: Final[dict[type, str]] = {
    int: "a whole number",
    str: "a text",
    dict: "an object",
    list: "a list",
    bool: "true or false",
}


class _Wrong(Exception):
    """A request that cannot be answered; the text names the problem."""


class Session:
    """The session of one program: its table, its positions, and its random numbers."""

    def __init__(self) -> None:
        self._table: Simulator | None = None
        self._states: dict[int, tuple[Simulator, Any]] = {}
        self._last = 0
        self._rng = Random()
        self._calls: dict[str, Callable[[JsonObject], JsonObject]] = {
            "new": self._new,
            "load": self._load,
            "dump": self._dump,
            "legal": self._legal,
            "setup": self._setup,
            "view": self._view,
            "determinize": self._determinize,
            "apply": self._apply,
            "roll": self._roll,
            "retire": self._retire,
            "playout": self._playout,
            "free": self._free,
        }

    def answer(self, line: bytes) -> Any:
        """The answer to one line, or to each request of a list; `{"error": text}` where there is none."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            return {"error": f"not JSON: {error}"}
        if not isinstance(request, list):
            return self._one(request)
        if len(request) > MAX_REQUESTS:
            return {"error": f"a list has at most {MAX_REQUESTS:,} requests, not {len(request):,}"}
        answers: list[JsonObject] = []
        for each in request:
            if answers and "error" in answers[-1]:
                # The next requests may need a position that was not made.
                refused = {"error": "not done: a request before it in the list failed"}
                answers.append(
                    {"id": each["id"], **refused} if isinstance(each, dict) and "id" in each else refused
                )
            else:
                answers.append(self._one(each))
        return answers

    def _one(self, request: object) -> JsonObject:
        if not isinstance(request, dict):
            return {"error": 'a request is an object such as {"do": "legal", "state": 1}'}
        result: JsonObject
        try:
            call = self._calls.get(_take(request, "do", str))
            if call is None:
                raise _Wrong(f"nothing is called {request['do']!r}; there are {', '.join(self._calls)}")
            result = call(request)
        except (_Wrong, WarpLeagueError) as error:
            result = {"error": str(error)}
        return {"id": request["id"], **result} if "id" in request else result

    # ------------------------------------------------------------------ requests

    def _new(self, request: JsonObject) -> JsonObject:
        table = Simulator(
            _take(request, "game", str), _take(request, "players", int), _take(request, "options", dict, {})
        )
        if (seed := _take(request, "seed", str, None)) is not None:
            self._rng = Random(seed)
        self._table = table
        return self._stored(table, table.start())

    def _load(self, request: JsonObject) -> JsonObject:
        table = self._of_now()
        return self._stored(table, table.load(_take(request, "position", dict)))

    def _dump(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        return {"position": table.dump(state)}

    def _legal(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        return {"legal": [table.json(action) for action in table.legal(state)]}

    def _setup(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        return {"setup": table.setup(state)}

    def _view(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        return {"view": table.view(state, _take(request, "seat", int))}

    def _determinize(self, request: JsonObject) -> JsonObject:
        table = self._of_now()
        view, seat = _take(request, "view", dict), _take(request, "seat", int)
        return self._stored(table, table.determinize(view, seat, self._random(request)))

    def _apply(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        moves = request.get("actions", [request.get("action", _MISSING)])
        if not isinstance(moves, list) or not moves or moves[0] is _MISSING:
            raise _Wrong("apply needs action, an index or an object, or actions, a list of them")
        rolls, happened = _take(request, "roll", bool, False), list[Event]()
        if rolls and _wants_events(request):
            raise _Wrong("apply gives no events of dice: leave out roll, and send a request to roll")
        for move in moves:
            if type(move) is not int and not isinstance(move, dict):
                raise _Wrong(f"an action is an index or an object, not {json.dumps(move)[:60]}")
            state, events = table.game.apply(state, table.action(state, move))
            happened += events
        if rolls:
            state = table.roll_all(state, self._random(request))
        return self._stored(table, state, happened if _wants_events(request) else None)

    def _roll(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        if table.actor(state) != CHANCE:
            raise _Wrong("no dice are rolled here")
        draws = table.game.chance(state)
        if (outcome := _take(request, "outcome", list, None)) is None:
            outcome = list(random_roll(draws, self._random(request)))
        sides = [draw if isinstance(draw, int) else len(draw) for draw in draws]
        if [type(shown) for shown in outcome] != [int] * len(sides) or not all(
            0 <= shown < most for shown, most in zip(outcome, sides, strict=True)
        ):
            raise _Wrong(f"outcome must have a whole number below each of {sides}")
        after, events = table.game.apply(state, tuple(outcome))
        return self._stored(table, after, events if _wants_events(request) else None)

    def _retire(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        table.check_seat(seat := _take(request, "seat", int))
        if table.actor(state) is None:
            raise _Wrong("the game is over: no seat can leave it")
        after, events = table.game.retire(state, seat)
        return self._stored(table, after, events if _wants_events(request) else None)

    def _playout(self, request: JsonObject) -> JsonObject:
        table, state = self._state(request)
        number = _take(request, "number", int, 1)
        if not 1 <= number <= MAX_PLAYOUTS:
            raise _Wrong(f"number must be from 1 to {MAX_PLAYOUTS:,}")
        seed = _take(request, "seed", str, None)
        totals = [0.0] * table.players
        for turn in range(number):
            rng = self._rng if seed is None else Random(f"{seed} {turn}")
            dice = None if seed is None else common_dice(f"{seed} {turn}")
            for seat, worth in enumerate(table.playout(state, rng, dice=dice)):
                totals[seat] += worth
        return {"number": number, "worth": [total / number for total in totals]}

    def _free(self, request: JsonObject) -> JsonObject:
        numbers = request.get("states")
        if numbers is None:
            self._states.clear()
        elif isinstance(numbers, list):
            for number in numbers:
                self._states.pop(number, None) if type(number) is int else None
        else:
            raise _Wrong("states must be a list of numbers; without it all are freed")
        return {"states": len(self._states)}

    # ------------------------------------------------------------------ shared functions

    def _of_now(self) -> Simulator:
        if self._table is None:
            raise _Wrong("there is no table yet: first send new with game, players and options")
        return self._table

    def _state(self, request: JsonObject) -> tuple[Simulator, Any]:
        number = _take(request, "state", int)
        state = self._states.get(number if number >= 0 else self._last + 1 + number)
        if state is None:
            raise _Wrong(f"there is no state {number}: it was never made, or freed")
        return state

    def _random(self, request: JsonObject) -> Random:
        seed = _take(request, "seed", str, None)
        return self._rng if seed is None else Random(seed)

    def _stored(self, table: Simulator, state: Any, events: Sequence[Event] | None = None) -> JsonObject:
        """Store a position, and give its number, who must act in it, and what happened, if that is asked for."""
        if len(self._states) >= MAX_STATES:
            raise _Wrong(f"there are {MAX_STATES:,} states: free some")
        self._last += 1
        self._states[self._last] = table, state
        answer = {"state": self._last, **turn_json(table, state)}
        return answer if events is None else answer | {"events": [event_json(event) for event in events]}


def turn_json(table: Simulator, state: Any) -> JsonObject:
    """Who must act at `state`, and what goes with that: the decision, the dice, or the result."""
    actor = table.actor(state)
    if actor is None:
        return {"actor": None, "worth": list(table.worth(state)), "scores": list(table.scores(state))}
    if actor == CHANCE:
        draws = table.game.chance(state)
        return {"actor": actor, "draws": [draw if isinstance(draw, int) else list(draw) for draw in draws]}
    return {"actor": actor, "ask": table.game.ask(state, actor), "actions": len(table.legal(state))}


def event_json(event: Event) -> JsonObject:
    """An event in `full`. If some seats see less: the `seats` that see it all, and the version for the `others`."""
    if event.seats is None:
        return {"full": event.data}
    return {"full": event.data, "seats": list(event.seats), "others": event.redacted}


def _wants_events(request: JsonObject) -> bool:
    """Whether a request asks for events."""
    wanted: bool = _take(request, "events", bool, False)
    return wanted


def _take(request: JsonObject, name: str, kind: type, default: Any = _MISSING) -> Any:
    """The value of a key, of the type it must have."""
    value = request.get(name, default)
    if value is _MISSING:
        raise _Wrong(f"{name} is missing: it must be {_WORDS[kind]}")
    if value is not default and type(value) is not kind:
        raise _Wrong(f"{name} must be {_WORDS[kind]}, not {json.dumps(value)[:60]}")
    return value


def serve(source: Iterable[bytes], say: Callable[[str], object]) -> None:
    """Answer each line of `source` by a line of JSON in ASCII, without its end, which `say` must write at once."""
    session = Session()
    for line in source:
        answer = session.answer(line)
        text = encoded(answer).decode()
        say(text if text.isascii() and text.isprintable() else json.dumps(answer))
