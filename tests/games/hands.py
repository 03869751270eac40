# ruff: noqa: ARG002 - the methods of a toy game use few of their arguments
"""A game for tests, in which several seats decide at once: rock, paper, scissors of some rounds, for two or three."""

from random import Random
from typing import Annotated, Any, ClassVar, Literal

import attrs

from warpleague.games.api import Event, Game, Outcome, ranked
from warpleague.games.reading import ActionReader, Whole, distinct, read, refuse, within
from warpleague.games.scene import Cell, Scene
from warpleague.games.values import Interned


@attrs.frozen(eq=False)
class Show(Interned):
    """Show a hand; all seats do it at once."""

    do: ClassVar[str] = "show"
    hand: Literal["rock", "paper", "scissors"]


@attrs.frozen
class Options:
    """The options of the game."""

    rounds: int = attrs.field(default=3, metadata={"help": "rounds until the end"})


@attrs.frozen
class State:
    """A position, which everybody sees in full."""

    rounds: Annotated[int, Whole(1, 99)]
    left: int
    points: list[Annotated[int, Whole(0, 999)]]
    retired: Annotated[list[int], distinct]


HANDS: tuple[Any, ...] = ("rock", "paper", "scissors")
SHOWS = tuple(Show(hand) for hand in HANDS)
READER = ActionReader([Show])


class Hands(Game[State, Any]):
    """Rock, paper, scissors: a point for each seat that a hand beats."""

    id = "hands"
    simultaneous = True
    by_score = True
    title = "Hands"
    players = (2, 3)
    Options = Options
    Actions = (Show,)
    View = State
    Setup = Options

    def initial(self, players: int, options: Any) -> State:
        return State(options.rounds, options.rounds, [0] * players, [])

    def match_of(self, state: State) -> tuple[int, Any]:
        return len(state.points), Options(state.rounds)

    def actors(self, state: State) -> tuple[int, ...]:
        seats = [seat for seat in range(len(state.points)) if seat not in state.retired]
        return tuple(seats) if state.left and len(seats) > 1 else ()

    def chance(self, state: State) -> Any:
        raise AssertionError("there are no dice")

    def legal(self, state: State, seat: int) -> Any:
        return SHOWS if seat in self.actors(state) else ()

    def parse(self, state: State, seat: int, data: object) -> Any:
        return READER.parse(data, self.legal(state, seat))

    def apply(self, state: State, move: Any) -> tuple[State, list[Event]]:
        hands = {seat: HANDS.index(action.hand) for seat, action in move.items()}
        won = [
            sum((hands[seat] - other) % 3 == 1 for other in hands.values()) if seat in hands else 0
            for seat in range(len(state.points))
        ]
        points = [had + now for had, now in zip(state.points, won, strict=True)]
        shown = Event({"event": "shown", "hands": {str(seat): HANDS[hand] for seat, hand in hands.items()}})
        return attrs.evolve(state, left=state.left - 1, points=points), [shown]

    def ask(self, state: State, seat: int) -> str:
        return "show"

    def setup(self, state: State) -> dict[str, Any]:
        return {"rounds": state.rounds}

    def view(self, state: State, seat: int) -> dict[str, Any]:
        return self.to_json(state)

    def retire(self, state: State, seat: int) -> tuple[State, list[Event]]:
        retired = [*state.retired, seat]
        return attrs.evolve(state, retired=retired), [Event({"event": "retired", "seat": seat})]

    def outcome(self, state: State) -> Outcome:
        scores = tuple(map(float, state.points))
        return Outcome(ranked(state.points, state.retired), scores, {"won": scores}, "completed")

    def determinize(self, view: Any, seat: int, rng: Random) -> State:
        return self.from_json(view)

    def to_json(self, state: State) -> dict[str, Any]:
        return attrs.asdict(state)

    def from_json(self, data: object) -> State:
        state = read(State, data)
        refuse(len(state.points) not in self.players, "points", "must be those of 2 or 3 seats")
        within("left", state.left, 0, state.rounds)
        within("retired", state.retired, 0, len(state.points) - 1)
        return state

    def scene(self, state: State, viewer: int | None) -> Scene:
        return Scene("square", (Cell(0, 0, "table", str(state.points)),))

    def tell(self, event: Any) -> str:
        return str(dict(event))


GAME = Hands()
