"""Whether the contract suite passes an honest game and catches one that breaks a promise."""

# ruff: noqa: ARG002, ARG005 - the methods of a toy game use few of their arguments

import json
import random
from collections.abc import Callable
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Literal

import attrs
import pytest

from warpleague.errors import ActionError
from warpleague.games.api import CHANCE, Event, Game, Outcome
from warpleague.games.contract import check_game
from warpleague.games.playout import perft, random_playout
from warpleague.games.reading import Whole, distinct, read, refuse, within
from warpleague.games.scene import Cell, Panel, Piece, Scene


@attrs.frozen
class Hide:
    """Lay a card of one's own face down."""

    do: ClassVar[str] = "hide"
    card: int


@attrs.frozen
class Peek:
    """Turn up the oldest hidden card of another seat."""

    do: ClassVar[str] = "peek"
    seat: int


@attrs.frozen
class HushOptions:
    """The options of hush."""

    turns: int = attrs.field(default=12, metadata={"help": "turns until the end"})


@attrs.frozen
class HushView:
    """What a seat knows."""

    seat: int
    turn: int
    turns: int
    die: int | None
    piles: list[list[tuple[int | None, Literal["up", "down"]]]]
    hand: list[int]
    retired: list[int]


@attrs.frozen
class HushSetup:
    """Static facts."""

    cards: list[int]


Pile = Annotated[
    tuple[tuple[Annotated[int, Whole(0, 4)], bool], ...], lambda pile: distinct(map(itemgetter(0), pile))
]


@attrs.define
class Hush:
    """A state: `piles` hold (card, whether it is up) for each seat; `die` is None before the roll."""

    turns: Annotated[int, Whole(1, 99)]
    turn: Annotated[int, Whole(0, 99)]
    die: Annotated[int, Whole(0, 2)] | None
    piles: tuple[Pile, ...]
    retired: Annotated[tuple[int, ...], distinct]


class HushGame(Game[Hush, Any]):
    """Every seat has the cards 0 to 4; a turn is a roll, then hiding a card or peeking at another's pile."""

    id: ClassVar[str] = "hush"
    title: ClassVar[str] = "Hush"
    players: ClassVar[tuple[int, ...]] = (2, 3)
    Options: ClassVar[type] = HushOptions
    Actions: ClassVar[tuple[type, ...]] = (Hide, Peek)
    View: ClassVar[type] = HushView
    Setup: ClassVar[type] = HushSetup

    def initial(self, players: int, options: Any) -> Hush:
        return Hush(options.turns, 0, None, ((),) * players, ())

    def match_of(self, state: Hush) -> tuple[int, HushOptions]:
        return len(state.piles), HushOptions(state.turns)

    def mover(self, state: Hush) -> int:
        return state.turn % len(state.piles)

    def settled(self, state: Hush) -> Hush:
        """Turns of retired seats, and of those that can do nothing, pass."""
        while state.turn < state.turns and state.die is None:
            hand, others = self.hand(state, self.mover(state)), self.others(state)
            if self.mover(state) not in state.retired and (hand or others):
                break
            state = attrs.evolve(state, turn=state.turn + 1)
        return state

    def hand(self, state: Hush, seat: int) -> list[int]:
        return [card for card in range(5) if card not in [laid for laid, _ in state.piles[seat]]]

    def others(self, state: Hush) -> list[int]:
        return [
            s
            for s, pile in enumerate(state.piles)
            if s != self.mover(state) and any(not up for _, up in pile)
        ]

    def actors(self, state: Hush) -> tuple[int, ...]:
        if state.turn >= state.turns or len(state.retired) == len(state.piles):
            return ()
        return (CHANCE,) if state.die is None else (self.mover(state),)

    def chance(self, state: Hush) -> tuple[Any, ...]:
        return ((1, 0, 2),)

    def legal(self, state: Hush, seat: int) -> Any:
        return [Hide(card) for card in self.hand(state, seat)] + [Peek(other) for other in self.others(state)]

    def parse(self, state: Hush, seat: int, data: Any) -> Any:
        for action in self.legal(state, seat):
            if json.dumps(data, sort_keys=True) == json.dumps(self.action_json(action), sort_keys=True):
                return action
        raise ActionError("no such action")

    def apply(self, state: Hush, move: Any) -> tuple[Hush, list[Event]]:
        if isinstance(move, tuple):
            return attrs.evolve(state, die=move[0]), [Event({"event": "roll", "die": move[0]})]
        seat, piles = self.mover(state), list(state.piles)
        if isinstance(move, Hide):
            piles[seat] = (*piles[seat], (move.card, False))
            told = {"event": "hide", "seat": seat}
            event = Event({**told, "card": move.card}, (seat,), told)
        else:
            at = next(i for i, (_, up) in enumerate(piles[move.seat]) if not up)
            card = piles[move.seat][at][0]
            piles[move.seat] = (*piles[move.seat][:at], (card, True), *piles[move.seat][at + 1 :])
            event = Event({"event": "peek", "seat": move.seat, "card": card}, reveals=True)
        return self.settled(Hush(state.turns, state.turn + 1, None, tuple(piles), state.retired)), [event]

    def ask(self, state: Hush, seat: int) -> str:
        return "turn"

    def setup(self, state: Hush) -> dict[str, Any]:
        return {"cards": list(range(5))}

    def view(self, state: Hush, seat: int) -> dict[str, Any]:
        return {
            "seat": seat,
            "turn": state.turn,
            "turns": state.turns,
            "die": state.die,
            "piles": [
                [[card if up or owner == seat else None, "up" if up else "down"] for card, up in pile]
                for owner, pile in enumerate(state.piles)
            ],
            "hand": self.hand(state, seat),
            "retired": list(state.retired),
        }

    def retire(self, state: Hush, seat: int) -> tuple[Hush, list[Event]]:
        state = attrs.evolve(state, retired=(*state.retired, seat))
        if self.mover(state) == seat:
            state = attrs.evolve(state, die=None, turn=state.turn + 1)
        return self.settled(state), [Event({"event": "retired", "seat": seat})]

    def outcome(self, state: Hush) -> Outcome:
        points = [sum(card for card, _ in pile) for pile in state.piles]
        keys = [
            (state.retired.index(s), 0) if s in state.retired else (9, points[s]) for s in range(len(points))
        ]
        ranks = tuple(1 + sum(other > key for other in keys) for key in keys)
        return Outcome(ranks, tuple(map(float, points)), {"cards": tuple(map(float, points))}, "completed")

    def determinize(self, view: dict[str, Any], seat: int, rng: random.Random) -> Hush:
        piles = []
        for pile in view["piles"]:
            free = [card for card in range(5) if card not in [laid for laid, _ in pile]]
            rng.shuffle(free)
            piles.append(tuple((free.pop() if card is None else card, up == "up") for card, up in pile))
        return Hush(view["turns"], view["turn"], view["die"], tuple(piles), tuple(view["retired"]))

    def to_json(self, state: Hush) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(json.dumps(attrs.asdict(state)))
        return data

    def from_json(self, data: Any) -> Hush:
        state = read(Hush, data)
        refuse(len(state.piles) not in self.players, "piles", "must be those of 2 or 3 seats")
        within("retired", state.retired, 0, len(state.piles) - 1)
        stuck = self.mover(state) in state.retired or not self.legal(state, self.mover(state))
        refuse(self.actors(state) and (stuck or self.settled(state) != state), "turn", "this seat cannot act")
        return state

    def scene(self, state: Hush, viewer: int | None) -> Scene:
        pieces = [
            Piece(at, seat, "card", str(card) if up or viewer in (None, seat) else "?", seat)
            for seat, pile in enumerate(state.piles)
            for at, (card, up) in enumerate(pile)
        ]
        return Scene(
            "square", (Cell(0, 0, "table"),), tuple(pieces), panels=(Panel("turn", (str(state.turn),)),)
        )

    def tell(self, event: Any) -> str:
        return str(dict(event))


def test_an_honest_game_passes() -> None:
    """A game that keeps the contract passes, for every number of players."""
    check_game(HushGame(), matches=8, hidden=True)


class Wavering(HushGame):
    def legal(self, state: Hush, seat: int) -> Any:
        self.turned = not getattr(self, "turned", False)
        return super().legal(state, seat)[:: -1 if self.turned else 1]


class Deaf(HushGame):
    def parse(self, state: Hush, seat: int, data: Any) -> Any:
        raise ActionError("no")


class Lenient(HushGame):
    def parse(self, state: Hush, seat: int, data: Any) -> Any:
        for action in self.legal(state, seat):
            if data == self.action_json(action):
                return action  # true passes for 1
        raise ActionError("no")


class Careless(HushGame):
    def parse(self, state: Hush, seat: int, data: Any) -> Any:
        data["do"]
        return super().parse(state, seat, data)


class Mutating(HushGame):
    def apply(self, state: Hush, move: Any) -> tuple[Hush, list[Event]]:
        result = super().apply(state, move)
        state.turn = result[0].turn
        return result


class Sharing(HushGame):
    """Plays in place, but on no copy."""

    def push(self, state: Hush, move: Any, events: Any) -> Hush:
        after = super().push(state, move, events)
        for field in attrs.fields(Hush):
            setattr(state, field.name, getattr(after, field.name))
        return state


class Curt(HushGame):
    """Forgets the die where nobody wants events."""

    def push(self, state: Hush, move: Any, events: Any) -> Hush:
        after = super().push(state, move, events)
        return after if events is not None else attrs.evolve(after, die=None)


class Drawn(HushGame):
    """Plays in place, and keeps the scene of a position that it changes."""

    scenes: ClassVar[dict[int, tuple[Hush, Scene]]] = {}

    def copied(self, state: Hush, /) -> Hush:
        return attrs.evolve(state)

    def push(self, state: Hush, move: Any, events: Any) -> Hush:
        after = super().push(state, move, events)
        for field in attrs.fields(Hush):
            setattr(state, field.name, getattr(after, field.name))
        return state

    def scene(self, state: Hush, viewer: int | None) -> Scene:
        if viewer is not None:
            return super().scene(state, viewer)
        return self.scenes.setdefault(id(state), (state, super().scene(state, None)))[1]


class Leaking(HushGame):
    """The view tells every card, and what determinizes it takes all for granted."""

    def view(self, state: Hush, seat: int) -> dict[str, Any]:
        view = super().view(state, seat)
        view["piles"] = [[[card, "up" if up else "down"] for card, up in pile] for pile in state.piles]
        return view


class LeakingLegal(HushGame):
    def legal(self, state: Hush, seat: int) -> Any:
        legal = super().legal(state, seat)
        if state.piles[seat - 1] and state.piles[seat - 1][0] == (0, False):
            return legal[::-1]
        return legal


class LeakingPhrase(HushGame):
    def phrase(self, state: Hush, action: Any) -> str:
        said = super().phrase(state, action)
        return f"{said}: {state.piles[action.seat]}" if isinstance(action, Peek) else said


class Quiet(HushGame):
    """A peek is not marked as news."""

    def apply(self, state: Hush, move: Any) -> tuple[Hush, list[Event]]:
        state, events = super().apply(state, move)
        return state, [attrs.evolve(event, reveals=False) for event in events]


class Tolerant(HushGame):
    def from_json(self, data: Any) -> Hush:
        if isinstance(data, dict):
            data = {key: value for key, value in data.items() if key != "no-such-key"}
        return super().from_json(data)


class Trusting(HushGame):
    def from_json(self, data: Any) -> Hush:
        piles = tuple(tuple((card, up) for card, up in pile) for pile in data["piles"])
        return (
            super().from_json(data) if not piles else super().from_json({**data, "piles": data["piles"] + []})
        )


class Gapless(HushGame):
    def outcome(self, state: Hush) -> Outcome:
        outcome = super().outcome(state)
        order = sorted(set(outcome.ranks))
        return attrs.evolve(outcome, ranks=tuple(2 + order.index(rank) for rank in outcome.ranks))


class Undead(HushGame):
    def retire(self, state: Hush, seat: int) -> tuple[Hush, list[Event]]:
        return attrs.evolve(state, retired=(*state.retired, seat)), super().retire(state, seat)[1]


class Dazed(Undead):
    def from_json(self, data: Any) -> Hush:
        if isinstance(data, dict) and data.get("retired") and isinstance(data["retired"], list):
            return attrs.evolve(super().from_json({**data, "retired": []}), retired=tuple(data["retired"]))
        return super().from_json(data)


class Reviving(HushGame):
    def retire(self, state: Hush, seat: int) -> tuple[Hush, list[Event]]:
        after, events = super().retire(state, seat)
        over = state.turn >= state.turns and len(after.retired) < len(state.piles)
        return self.settled(attrs.evolve(after, turn=0, die=None)) if over else after, events


class Endless(HushGame):
    def apply(self, state: Hush, move: Any) -> tuple[Hush, list[Event]]:
        state, events = super().apply(state, move)
        return (
            (attrs.evolve(state, turn=0, piles=((),) * len(state.piles)), events)
            if state.turn > 5
            else (state, events)
        )


class Guessing(HushGame):
    def determinize(self, view: dict[str, Any], seat: int, rng: random.Random) -> Hush:
        state = super().determinize(view, seat, rng)
        return attrs.evolve(
            state, piles=tuple(tuple((card, True) for card, _ in pile) for pile in state.piles)
        )


@attrs.frozen(eq=False)
class Card:
    """An action that is equal to itself alone."""

    do: ClassVar[str] = "hide"
    card: int


class Unequal(HushGame):
    """Legal actions are always the same objects, but their copies are others."""

    Actions: ClassVar[tuple[type, ...]] = (Card, Peek)
    cards = tuple(map(Card, range(5)))

    def legal(self, state: Hush, seat: int) -> Any:
        return [
            self.cards[move.card] if isinstance(move, Hide) else move for move in super().legal(state, seat)
        ]

    def apply(self, state: Hush, move: Any) -> tuple[Hush, list[Event]]:
        return super().apply(state, Hide(self.cards.index(move)) if isinstance(move, Card) else move)


@attrs.define
class Sealed(Hush):
    """A state with a part that a copy loses."""

    seal: Any = None

    def __reduce__(self) -> Any:
        return Sealed, (self.turns, self.turn, self.die, self.piles, self.retired)


class Sealing(HushGame):
    def initial(self, players: int, options: Any) -> Hush:
        return Sealed(options.turns, 0, None, ((),) * players, (), "red")

    def from_json(self, data: Any) -> Hush:
        found = super().from_json(data)
        return Sealed(found.turns, found.turn, found.die, found.piles, found.retired, "red")

    def determinize(self, view: dict[str, Any], seat: int, rng: random.Random) -> Hush:
        return self.from_json(self.to_json(super().determinize(view, seat, rng)))

    def to_json(self, state: Hush) -> dict[str, Any]:
        return {key: value for key, value in super().to_json(state).items() if key != "seal"}


class Stale(HushGame):
    """Keeps the JSON of its first view."""

    def view_json(self, state: Hush, seat: int) -> bytes:
        self.kept = getattr(self, "kept", None) or super().view_json(state, seat)
        return self.kept


class Backwards(tuple[Any, ...]):
    """Counts from its end by index."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index if isinstance(index, slice) else -1 - index)


class Stray(HushGame):
    Actions: ClassVar[tuple[type, ...]] = (Hide,)


HONEST = HushGame()
BROKEN: dict[str, tuple[str, dict[str, Callable[..., Any]]]] = {
    "doubled": ("one JSON form", {"legal": lambda game, state, seat: HONEST.legal(state, seat) * 2}),
    "empty": (
        "no legal action",
        {"legal": lambda game, state, seat: [] if state.turn > 5 else HONEST.legal(state, seat)},
    ),
    "leaking scene": ("scenes differ", {"scene": lambda game, state, viewer: HONEST.scene(state, None)}),
    "mumbling": ("has the phrase of", {"phrase": lambda game, state, action: "do it"}),
    "headless": ("the heading is no line of text", {"heading": lambda game, state, seat: ""}),
    "forgetful": (
        "from_json",
        {"from_json": lambda game, data: attrs.evolve(HONEST.from_json(data), die=None)},
    ),
    "forgiving": (
        "must be above retired",
        {"outcome": lambda game, state: HONEST.outcome(attrs.evolve(state, retired=()))},
    ),
    "discreet": ("no event", {"retire": lambda game, state, seat: (HONEST.retire(state, seat)[0], [])}),
    "moody": (
        "not repeatable",
        {"determinize": lambda game, view, seat, rng: HONEST.determinize(view, seat, random.Random())},
    ),
    "undocumented": (
        "extra: unknown key",
        {"view": lambda game, state, seat: {**HONEST.view(state, seat), "extra": 1}},
    ),
    "pythonic": (
        "not plain JSON",
        {"view": lambda game, state, seat: {**HONEST.view(state, seat), "retired": state.retired}},
    ),
    "loaded": ("weights", {"chance": lambda game, state: ((0, 0, 0),)}),
    "nameless": ("address must be", {"address": lambda game, state: state.turn}),
    "verbose": ("several lines", {"tell": lambda game, event: "two\nlines"}),
    "silent": ("not the JSON of legal", {"legal_json": lambda game, state, seat, legal: b"[]"}),
    "shuffled": (
        "another order by index",
        {"legal": lambda game, state, seat: Backwards(HONEST.legal(state, seat))},
    ),
    "blank": ("nothing to draw", {"scene": lambda game, state, viewer: Scene("square", ())}),
    "lonely": (
        "only a solo game has an opponent",
        {"outcome": lambda game, state: attrs.evolve(HONEST.outcome(state), rival=1.0)},
    ),
}
"""What each breaks, and the method that does it in place of the honest one."""
BROKEN_CLASSES: list[tuple[type[HushGame], str]] = [
    (Wavering, "not the same when asked again|legal after loading"),
    (Deaf, "refuses the legal action"),
    (Lenient, "parse changes what it was given"),
    (Mutating, "replaying the moves|changed after|another future|asked again|is not the state"),
    (Sharing, "a copy was pushed, and the original changed|leads to another position|tells other events"),
    (Curt, "push without events leads to another position"),
    (Drawn, "a pushed position has another scene"),
    (LeakingLegal, "legal actions differ"),
    (LeakingPhrase, "a phrase tells what the seat does not know"),
    (Quiet, "no event `reveals`"),
    (Tolerant, "unknown key"),
    (Gapless, "share and leave gaps"),
    (Undead, "from_json refuses what to_json wrote"),
    (Dazed, "retired seat among the actors"),
    (Reviving, "brought a finished game back"),
    (Endless, "no end after"),
    (Guessing, "looks different"),
    (Unequal, "is not equal to its copy"),
    (Sealing, "the copied state is another"),
    (Stale, "not the JSON of its view"),
    (Stray, "not one of game.Actions"),
    *((type(name, (HushGame,), methods), message) for name, (message, methods) in BROKEN.items()),
]


@pytest.mark.parametrize(
    ("broken", "message"), BROKEN_CLASSES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_broken_promise_is_named(broken: type[HushGame], message: str) -> None:
    """Each way to break the contract is reported as such, with the match it was found in."""
    with pytest.raises(AssertionError, match=message) as caught:
        check_game(broken(), matches=20, max_steps=500)
    assert "hush with" in str(caught.value)
    assert "seed 0/" in str(caught.value)


def test_a_view_that_leaks_is_found_without_help_of_determinize() -> None:
    """Moves of others that look the same to a seat must not change its view, even if it determinizes to itself."""
    with pytest.raises(AssertionError, match="two views of one information"):
        check_game(Leaking(), matches=20)


def test_hidden_information_must_be_as_declared() -> None:
    """A game declared open fails if determinized states differ from the truth."""
    with pytest.raises(AssertionError, match="hidden=False"):
        check_game(HushGame(), hidden=False)


@pytest.mark.parametrize("broken", [Careless, Trusting], ids=lambda cls: cls.__name__)
def test_an_exception_that_is_let_out_says_where(broken: type[HushGame]) -> None:
    """An exception other than the agreed ones passes through, with notes on the match and on the damaged input."""
    with pytest.raises((TypeError, KeyError, ValueError)) as caught:
        check_game(broken(), matches=20)
    assert any("hush with" in note for note in caught.value.__notes__)
    assert any("let this out for" in note for note in caught.value.__notes__)


def test_a_playout_is_repeatable_and_keeps_what_was_asked_for() -> None:
    """It may start anywhere, and gives up on a game that does not end; perft counts rolls that can happen."""
    game = HushGame()
    one, two = (random_playout(game, 3, HushOptions(), random.Random(5), keep=True) for _ in range(2))
    assert one == two
    assert len(one.states) == len(one.moves) + 1
    assert len(random_playout(game, 3, HushOptions(), random.Random(5)).states) == 2
    game = HushGame()
    first = random_playout(game, 2, HushOptions(), random.Random(1), keep=True)
    rest = random_playout(game, 2, HushOptions(), random.Random(2), start=first.states[3])
    assert rest.states[0] is first.states[3]
    with pytest.raises(RuntimeError, match="no end after 5 steps"):
        random_playout(game, 2, HushOptions(), random.Random(1), max_steps=5)
    game = HushGame()
    start = game.initial(2, HushOptions(turns=2))
    assert [perft(game, start, depth) for depth in range(6)] == [1, 2, 10, 20, 120, 0]
