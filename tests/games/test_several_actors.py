"""Whether random play and the contract suite know games in which several seats decide at once."""

# ruff: noqa: ARG002 - the methods of a toy game use few of their arguments
from __future__ import annotations

from random import Random
from typing import Any, ClassVar, Literal

import attrs
import pytest

from warpleague.errors import ActionError, PositionError
from warpleague.games.api import Event, Game, Outcome, ranked
from warpleague.games.contract import check_game, perft, random_playout
from warpleague.games.reading import ActionReader, Given
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

    rounds: int
    left: int
    points: list[int]
    retired: list[int]


HANDS: tuple[Any, ...] = ("rock", "paper", "scissors")
SHOWS = tuple(Show(hand) for hand in HANDS)
READER = ActionReader([Show])


class Hands(Game[State, Any]):
    """Rock, paper, scissors: a point for each seat that a hand beats."""

    id = "hands"
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
        fields = Given(data).fields("rounds", "left", "points", "retired")
        rounds, points = fields["rounds"].whole(1, 99), list(fields["points"].wholes(0, 999))
        if len(points) not in self.players:
            fields.fail("points", "must be those of 2 or 3 seats")
        retired = list(fields["retired"].distinct(0, len(points) - 1))
        return State(rounds, fields["left"].whole(0, rounds), points, retired)

    def scene(self, state: State, viewer: int | None) -> Scene:
        return Scene("square", (Cell(0, 0, "table", str(state.points)),))

    def tell(self, event: Any) -> str:
        return str(dict(event))


def test_a_game_of_simultaneous_moves_keeps_the_contract() -> None:
    """All seats are asked, their actions make one move, and seats may drop out."""
    check_game(Hands(), matches=5, hidden=False)


def test_a_move_has_an_action_of_each_actor() -> None:
    """In random play it is a dict by seat, and perft counts all combinations."""
    game = Hands()
    playout = random_playout(game, 3, Options(), Random(1))
    assert [sorted(move) for move in playout.moves] == [[0, 1, 2]] * 3
    assert [perft(game, game.initial(2, Options(rounds=2)), depth) for depth in range(4)] == [1, 9, 81, 0]


def test_a_seat_that_is_out_is_not_asked() -> None:
    """The others go on; its actions are refused."""
    game = Hands()
    state, _ = game.retire(game.initial(3, Options()), 1)
    assert game.actors(state) == (0, 2)
    with pytest.raises(ActionError, match="another seat is to act"):
        game.parse(state, 1, {"do": "show", "hand": "rock"})


class Hasty(Hands):
    """The actors come in the wrong order."""

    def actors(self, state: State) -> tuple[int, ...]:
        return super().actors(state)[::-1]


class Partial(Hands):
    """Only the first actor's action can be read."""

    def legal(self, state: State, seat: int) -> Any:
        return SHOWS if seat == 0 else ()


@pytest.mark.parametrize(
    ("broken", "message"), [(Hasty, "no seats in ascending order"), (Partial, "has no legal action")]
)
def test_each_actor_is_looked_at(broken: type[Hands], message: str) -> None:
    """What is wrong with the second actor is found as well as with the first."""
    with pytest.raises(AssertionError, match=message):
        check_game(broken())


def test_a_position_is_read_by_its_paths() -> None:
    """Errors name the item that does not fit."""
    data = {"rounds": 3, "left": 1, "points": [0, 1.0], "retired": []}
    with pytest.raises(PositionError, match=r"points\[1\]: must be a whole number from 0 to 999, not 1.0"):
        Hands().from_json(data)
