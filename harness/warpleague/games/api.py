"""The contract every game keeps: what an engine offers, and the values that cross its border.

A game knows its rules and nothing else: `warpleague.match` rolls the dice, and the layers above read and write.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

import attrs

from warpleague.errors import BadInput
from warpleague.games.values import Cache, encoded
from warpleague.games.words import Guide, action_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from random import Random

    from warpleague.games.scene import Scene

CHANCE: Final = -1
"""The actor that stands for the dice and the deck in `Game.actors`."""

SPECTATOR: Final = -1
"""The viewer who sits on no seat: it sees what all seats know, as the public of a match that is being played does."""

_MAX_EVENTS: Final = 10_000
"""The most events of a kind in the cache."""

JsonObject: TypeAlias = dict[str, Any]

Weights: TypeAlias = "int | tuple[int, ...]"
"""One draw: a number n (uniform below n) or a tuple of integer weights, not all zero."""

Rolled: TypeAlias = tuple[int, ...]
"""The outcome of the dice: one index for each draw of `Game.chance`, in its order."""

S = TypeVar("S")
A = TypeVar("A")


@attrs.define
class Event:
    """Something that happened, sent to the seats that may know it.

    `data` is the full form, a JSON object whose key `event` names its kind. `seats` are those who see it in
    full (None: all); the others see `redacted`, or nothing if that is None. `reveals` is true when the event
    tells the seat that acted something it could not have worked out beforehand. Nobody changes an event once it
    was handed out, so a game may keep those that it tells often.
    """

    data: JsonObject
    seats: tuple[int, ...] | None = None
    redacted: JsonObject | None = None
    reveals: bool = False
    _json: bytes | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def seen_by(self, seat: int) -> JsonObject | None:
        """The form that `seat` sees (`SPECTATOR`: who sits on none), or None."""
        if self.seats is None or seat in self.seats:
            return self.data
        return self.redacted

    @property
    def json(self) -> bytes:
        """The full form as JSON, made only once."""
        if self._json is None:
            self._json = encoded(self.data)
        return self._json

    def json_for(self, seat: int) -> bytes | None:
        """The form that `seat` sees as JSON, or None."""
        if self.seats is None or seat in self.seats:
            return self.json
        return None if self.redacted is None else encoded(self.redacted)


Events: TypeAlias = "list[Event] | None"
"""What happens, in order; None where nobody wants to know, so that none need be made."""


def cached_events(
    kind: str, *names: str, read: Mapping[str, Callable[[Any], Any]] | None = None
) -> Cache[tuple[Any, ...], Event]:
    """The public events of a kind, each made once, by the values of their fields in order.

    A tuple stands for a list. `read` makes other values of those that can be looked up, by the name of the field.
    """
    readers = [(read or {}).get(name, _listed) for name in names]

    def make(values: tuple[Any, ...]) -> Event:
        fields = zip(names, readers, values, strict=True)
        return Event({"event": kind, **{name: reader(value) for name, reader, value in fields}})

    return Cache(make, _MAX_EVENTS)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@attrs.frozen
class Outcome:
    """How a finished game stands.

    `ranks` holds a rank for every seat, 1 the best; ties share and leave a gap (1, 1, 3); retired seats rank
    below all others, the later retired above the earlier. `scores` are in the game's own unit. `breakdown`
    tells the score by rule: a name for each part, with one number for each seat. `why` is the termination in
    one word or two (`completed`, `max-turns`, ...): it never tells who won. `rival` is the score of the game's
    own opponent, where a solo game has one; rank 1 is then to have beaten it.
    """

    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    breakdown: Mapping[str, tuple[float, ...]]
    why: str
    rival: float | None = None


def ranked(standings: Sequence[Any], retired: Sequence[int]) -> tuple[int, ...]:
    """The ranks of the seats by their `standings`, of which the greater is better; equal ones share a rank.

    The seats `retired`, in that order, rank below all others, the later retired above the earlier.
    """
    keys = [
        (0, retired.index(seat)) if seat in retired else (1, standing)
        for seat, standing in enumerate(standings)
    ]
    return tuple([1 + sum(other > key for other in keys) for key in keys])


class Game(ABC, Generic[S, A]):
    """A game: stateless, deterministic, without input, output, clock or random numbers.

    States (`S`) are immutable values: `apply` builds a new one and never touches the old. Only a copy by `copied` may
    be changed, by `push`. Actions (`A`) are hashable values, equal exactly when their JSON forms are equal; engines
    keep one object for each where they can, since the referee caches by action. Methods trust their caller, except
    `parse`, `check_options` and `from_json`, which validate and name what is wrong.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    players: ClassVar[tuple[int, ...]]
    """The allowed numbers of players, ascending."""
    rules_version: ClassVar[int] = 1
    Options: ClassVar[type]
    """An attrs class: the game's options with types, defaults, validators; each field's metadata has `help`."""
    Actions: ClassVar[tuple[type, ...]]
    """The attrs classes of all actions; each has a class variable `do`, and fields that are its JSON form."""
    View: ClassVar[type]
    """The attrs class that describes what `view` returns (used for the schema and the docs)."""
    Setup: ClassVar[type]
    """The attrs class that describes what `setup` returns."""
    file_options: ClassVar[frozenset[str]] = frozenset()
    """Options given as the path of a TOML file; the edge replaces the path by the parsed table."""
    simultaneous: ClassVar[bool] = False
    """Whether several seats may decide at once, so that `actors` may give more than one seat."""
    by_score: ClassVar[bool] = False
    """Whether what counts is how much a seat scores, as in poker, and not whom it beats: scores rank in a league."""
    worth: ClassVar[str] = ""
    """The module of the game's worth function, for results without the dice: `shares(state)`, `VERSION`, `FILES`."""
    endings: ClassVar[Mapping[str, str]] = {}
    """What the reasons why a game ended (`Outcome.why`) are in words: `all rounds are played`."""

    def check_options(self, players: int, options: Any) -> None:
        """Raise `OptionsError` when `options`, each fine by itself, do not fit together or `players`."""

    @abstractmethod
    def initial(self, players: int, options: Any) -> S:
        """The first state for `players` seats; `options` is an `Options` that `check_options` accepted."""

    @abstractmethod
    def match_of(self, state: S) -> tuple[int, Any]:
        """The number of players and the `Options` of the match that `state` belongs to, its defaults filled in."""

    @abstractmethod
    def actors(self, state: S) -> tuple[int, ...]:
        """Who must act: `()` at the end of the game, `(CHANCE,)`, or seats, ascending.

        Several seats decide at once: none of them knows yet what the others choose. A game with such states says so
        by `simultaneous`. The harness then plays it by `games.together`, which wraps it.
        """

    def together(self, state: S) -> tuple[int, ...]:  # noqa: ARG002 - mostly one seat decides
        """The seats that may be asked at once now, ascending, where each sees nothing of what the others choose.

        The first of them is the one that `actors` gives, and they act in this order; `()` where it is asked alone.
        Games with `simultaneous` get this from `games.together`: it is not for them to write.
        """
        return ()

    @abstractmethod
    def chance(self, state: S) -> tuple[Weights, ...]:
        """The independent draws to make now; only when `actors` is `(CHANCE,)`. Never empty."""

    def address(self, state: S) -> str:  # noqa: ARG002 - the default is the same for every roll
        """The purpose of the draws of `chance`, in a few words of printable ASCII, such as `seat 1 turn 7`.

        Equal matches with equal addresses have equal luck, whatever was played and rolled before: a roll's numbers
        follow from the match's key, its address, and how many rolls had this address before. So name what should be
        the same for whoever sits there: the seat, its turn, the part of the turn. The default says nothing: then the
        n-th roll of a match gets the n-th numbers.
        """
        return ""

    @abstractmethod
    def legal(self, state: S, seat: int) -> Sequence[A]:
        """Every enumerable action of `seat`, in the canonical order; never empty for an actor, else not asked for.

        May be a lazy sequence: `len` and indexing must be cheap.
        """

    def legal_json(self, state: S, seat: int, legal: Sequence[A]) -> bytes | None:  # noqa: ARG002 - see below
        """The JSON list of `legal`, as a question carries it, for games with a quick way to make it.

        None: it is put together from the JSON of each action, which is cached.
        """
        return None

    @abstractmethod
    def parse(self, state: S, seat: int, data: object) -> A:
        """The action that the JSON value `data` names, if it is legal now; else `ActionError` says why not.

        Accepts exactly the JSON forms of `legal`, and free-text actions where the game has them. Unknown keys
        are errors; a value of the wrong JSON type (true for 1, 2.0 for 2) is an error.
        """

    @abstractmethod
    def apply(self, state: S, move: A | Rolled) -> tuple[S, Sequence[Event]]:
        """The state after `move`, and what happened; `state` stays as it is.

        `move` is an action of the acting seat, or what the dice showed when chance is to act; where several
        seats act at once, a dict with the action of each by seat. Trusts its caller that it is legal.
        """

    def copied(self, state: S, /) -> S:
        """A copy of `state` for `push`: `state` itself where `push` changes none."""
        return state

    def push(self, state: S, move: A | Rolled, events: Events) -> S:
        """Play `move` as `apply` does, but on `state` itself if the game can: see `InPlaceGame`.

        `state` is the caller's own, from `copied` or an earlier `push`; go on with what is returned. What happened is
        added to `events`; None: nobody wants to know.
        """
        after, happened = self.apply(state, move)
        if events is not None:
            events += happened
        return after

    def key(self, state: S) -> Hashable:
        """A value that is equal for equal states of this process, and no others; hidden parts and history count.

        The default makes JSON of the state; a game may have a quicker one.
        """
        return encoded(self.to_json(state))

    @abstractmethod
    def ask(self, state: S, seat: int) -> str:
        """The kind of decision that `seat` has to make, in one word (`turn`, `send`, ...); the `ask` of the wire."""

    @abstractmethod
    def setup(self, state: S) -> JsonObject:
        """Static, public facts for the start message: board, numbering; as described by `Setup`.

        Called on the first state in which a seat must act.
        """

    @abstractmethod
    def view(self, state: S, seat: int) -> JsonObject:
        """Everything `seat` may know (a perfect memory included), never more; as described by `View`."""

    def view_json(self, state: S, seat: int) -> bytes:
        """The JSON of `view`, as a question carries it.

        A game that keeps the JSON of the parts that stay the same (`warpleague.games.values.Cache`) makes it faster.
        """
        return encoded(self.view(state, seat))

    @abstractmethod
    def retire(self, state: S, seat: int) -> tuple[S, Sequence[Event]]:
        """The state after the bot of `seat` is out, at any moment, and what happened. Never twice for a seat."""

    @abstractmethod
    def outcome(self, state: S) -> Outcome:
        """The result; only when `actors` is empty."""

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> S:  # noqa: ARG002 - see `guesses`
        """A full state, drawn with `rng`, that is consistent with all that `view` tells `seat`.

        A game may leave it out: then no bot can search it with `warpleague.sim`, no recorded position can be dealt
        again, and no person can play it in a browser or terminal. `BadInput` says so.
        """
        raise BadInput(f"{self.id} cannot make a position from what a seat knows: it has no determinize")

    @property
    def guesses(self) -> bool:
        """Whether the game has `determinize`."""
        return type(self).determinize is not Game.determinize

    @abstractmethod
    def to_json(self, state: S) -> JsonObject:
        """The whole state, hidden parts included, as JSON that `from_json` reads back."""

    @abstractmethod
    def from_json(self, data: object) -> S:
        """The state that `to_json` wrote, or a hand-made one; `PositionError` names what is wrong."""

    def scene(self, state: S, viewer: int | None) -> Scene:
        """The picture for `viewer`: a seat, `SPECTATOR` (only what every seat knows), or None (all is shown).

        A game may leave it out: then what `viewer` knows is shown as text, nothing to a spectator, and nothing can be
        clicked.
        """
        from warpleague.games.scene import plain_scene

        if viewer == SPECTATOR:
            return plain_scene({})
        return plain_scene(self.to_json(state) if viewer is None else self.view(state, viewer))

    def tell(self, event: Mapping[str, Any]) -> str:
        """One readable line for an event's JSON form, full or redacted.

        A game may leave it out: then the line is the event's kind and its fields, as JSON.
        """
        facts = [f"{key} {encoded(value).decode()}" for key, value in event.items() if key != "event"]
        return ", ".join((str(event["event"]), *facts))

    def phrase(self, state: S, action: A) -> str:  # noqa: ARG002 - the default says what the action alone tells
        """`action`, which is legal at `state`, as a sentence that asks for it: `Keep red 5 and give away black 2`.

        No two legal actions have the same one. It may say what follows from the action, as far as the seat that acts
        knows it. A game may leave it out: then it is the action's name and its fields.
        """
        return action_in_words(self.action_json(action))

    def heading(self, state: S, seat: int) -> str:
        """What `seat` has to decide, as the heading of its list of actions: `Choose a die to keep`.

        A game may leave it out: then it is the word of `ask`.
        """
        return self.ask(state, seat).replace("-", " ").capitalize()

    def guide(self) -> Guide | None:
        """The goal, the rules in a minute and a first turn, for persons; None where a game has no such words."""
        return None

    def galaxy(self, state: S) -> Scene | None:  # noqa: ARG002 - most boards are always the same
        """The picture of the board alone, as it was dealt; None where no two deals differ in it.

        Called on the first state in which a seat must act.
        """
        return None

    def targets(self, state: S, action: A) -> Sequence[str]:  # noqa: ARG002 - most games may leave it out
        """The ids of the things of the scene that a person clicks to take `action`, in this order.

        The ship, then the square it goes to; the die, then the box. Each is the `id` of something that the scene of
        the seat that acts shows at `state`. A person chooses an action without targets from a list.
        """
        return ()

    def talk(self, state: S, seat: int) -> int:  # noqa: ARG002 - most games are silent
        """How many more messages `seat` may send now; 0 where the game has no talk.

        Where it is not 0 the seat is asked even with one legal action, and the question carries the number.
        """
        return 0

    def action_json(self, action: A) -> JsonObject:
        """The JSON form of `action`: its class's `do`, then its fields in order."""
        data: JsonObject = {"do": type(action).do}  # type: ignore[attr-defined]
        for name in type(action).__attrs_attrs__:  # type: ignore[attr-defined]
            value = getattr(action, name.name)
            data[name.name] = list(value) if isinstance(value, tuple) else value
        return data


class InPlaceGame(Game[S, A]):
    """A game that plays in place, for speed, as all games of this package do: its rules stand in `push`."""

    @abstractmethod
    def copied(self, state: S, /) -> S:
        """A copy of `state` that `push` may change; what moves do not change in place may be shared."""

    @abstractmethod
    def push(self, state: S, move: A | Rolled, events: Events) -> S:
        """Play `move` on `state`, and return it: another object only where a position of another class follows.

        Without a list of `events`, make none.
        """

    def apply(self, state: S, move: A | Rolled) -> tuple[S, list[Event]]:
        """`push` on a copy."""
        events: list[Event] = []
        return self.push(self.copied(state), move, events), events
