"""Whether random play, the contract suite and the harness know games in which several seats decide at once."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from tests.games.hands import GAME, Hands, Options, Show, State

from warpleague.errors import ActionError, PositionError
from warpleague.games.contract import check_game
from warpleague.games.playout import perft, random_playout
from warpleague.games.together import in_turn


def test_a_game_of_simultaneous_moves_keeps_the_contract() -> None:
    """A move has an action of each actor, of which perft counts all combinations; who is out is not asked."""
    check_game(Hands(), matches=5, hidden=False)
    game = Hands()
    playout = random_playout(game, 3, Options(), Random(1))
    assert [sorted(move) for move in playout.moves] == [[0, 1, 2]] * 3
    assert [perft(game, game.initial(2, Options(rounds=2)), depth) for depth in range(4)] == [1, 9, 81, 0]
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
        return super().legal(state, seat) if seat == 0 else ()


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


ROCK, PAPER = Show("rock"), Show("paper")


def played(*moves: Any, players: int = 3) -> Any:
    """The position of the wrapped game after these moves, -N meaning that seat N - 1 retires."""
    state = TURNED.initial(players, Options())
    for move in moves:
        state, _ = TURNED.retire(state, -1 - move) if isinstance(move, int) else TURNED.apply(state, move)
    return state


TURNED = in_turn(GAME)


def test_in_turn_it_is_the_same_game() -> None:
    """One choice after the other leads where all at once lead; nobody sees a choice before the last one."""
    moves = random_playout(TURNED, 3, Options(), Random(1)).moves
    state, in_order = GAME.initial(3, Options()), played(*moves)
    for begin in range(0, len(moves), 3):
        state, _ = GAME.apply(state, dict(enumerate(moves[begin : begin + 3])))
    assert (len(moves), state) == (9, in_order)
    state = played()
    for seat, hand in enumerate((ROCK, PAPER)):
        assert TURNED.together(state) == tuple(range(seat, 3))
        state, events = TURNED.apply(state, hand)
        assert not events
        assert TURNED.view(state, 2) == TURNED.view(played(), 2)
        assert TURNED.legal(state, seat) == ()
    state, events = TURNED.apply(state, ROCK)
    assert [event.data["hands"] for event in events] == [{"0": "rock", "1": "paper", "2": "rock"}]
    assert state.points == [0, 2, 0]


@pytest.mark.parametrize("moves", [(-2, PAPER, ROCK), (PAPER, -2, ROCK)])
def test_who_goes_out_meanwhile_takes_its_first_action_and_is_out_afterwards(moves: Sequence[Any]) -> None:
    """Seat 1 shows rock, wherever it goes out in the round."""
    state = played(*moves)
    assert (state.points, state.retired) == ([2, 0, 0], [1])


def test_all_may_go_out_in_one_common_decision() -> None:
    """The round is played, and the match is over."""
    state = played(-2, -1, players=2)
    assert (state.left, state.retired, TURNED.actors(state)) == (2, [1, 0], ())


@pytest.mark.parametrize("moves", [(PAPER,), (PAPER, -2), (-1,)])
def test_a_position_amid_a_common_decision_can_be_read_back(moves: Sequence[Any]) -> None:
    """With the choices and with who is about to be out."""
    state = played(*moves)
    assert TURNED.from_json(TURNED.to_json(state)) == state


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"chosen": [[1, {"do": "show", "hand": "rock"}]]}, "in the order of the seats"),
        ({"chosen": [[0, {"do": "show", "hand": "fist"}]]}, "chosen: seat 0: "),
        ({"chosen": [], "leaving": [0, 1, 2]}, "some seat must still be to choose"),
    ],
)
def test_a_position_that_cannot_be_is_refused(broken: Any, message: str) -> None:
    """The error names what is wrong with the choices."""
    with pytest.raises(PositionError, match=message):
        TURNED.from_json(TURNED.to_json(played(PAPER)) | broken)


def test_a_guess_for_a_later_seat_has_choices_of_the_earlier_ones() -> None:
    """So a bot that searches finds itself to act."""
    guess = TURNED.determinize(TURNED.view(played(), 2), 2, Random(1))
    assert TURNED.actors(guess) == (2,)


class Undeclared(Hands):
    """It does not say that several seats may decide at once."""

    simultaneous = False


def test_several_actors_must_be_declared() -> None:
    """Else the harness would play it as a game with one actor."""
    with pytest.raises(AssertionError, match="simultaneous"):
        check_game(Undeclared())
