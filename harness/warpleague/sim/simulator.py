"""One table of a game: play its positions on, see them from a seat, guess hidden parts, play them out."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs

from warpleague.errors import ActionError, BadInput, OptionsError, PositionError
from warpleague.games import load_game
from warpleague.games.api import CHANCE, Game, JsonObject, Outcome, Rolled, Weights
from warpleague.games.playout import random_roll, rollout
from warpleague.match.chance import Dice, match_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence


State: TypeAlias = Any
"""A position of a game. It never changes: each move returns a new one, so there is nothing to copy."""
Action: TypeAlias = Any
"""An action as `Simulator.legal` lists it: it never changes, and equal ones are one object."""
Move: TypeAlias = "Action | int | JsonObject"
Policy: TypeAlias = "Callable[[State, int, Sequence[Action], Random], Action]"


def common_dice(text: str) -> Dice:
    """Dice that follow from `text` and from the purpose of each roll, like those of a match.

    Two ways to play on from a position are compared best with the dice of equal texts: where both come to the same
    roll, such as `seat 1 turn 7`, it shows the same. Each playout needs dice of its own, since they count the rolls.
    """
    return Dice(match_key(text))


class Simulator:
    """The rules of `game` for `players` seats and the given options, which are those of a question."""

    def __init__(
        self, game: str, players: int, options: Mapping[str, Any] | None = None, rules: int | None = None
    ) -> None:
        """`BadInput` if there is no such game, or if the number of players or an option does not fit.

        `rules` is the version of the game's rules, as a bot's start message tells it; None for the newest.
        """
        self.game: Game[Any, Any] = load_game(game, rules)
        self.players = players
        self.options = _options(self.game, players, options or {})
        self._seats = range(players)

    # ------------------------------------------------------------------ positions

    def start(self) -> State:
        """The first position: in most games the dice are rolled there, see `roll_all`."""
        return self.game.initial(self.players, self.options)

    def load(self, position: object) -> State:
        """The position in its JSON form, as `dump` and `replay position` write it.

        Raises `PositionError` if it is invalid.
        """
        return self.game.from_json(position)

    def dump(self, state: State) -> JsonObject:
        """The whole position as JSON, with all hidden facts."""
        return self.game.to_json(state)

    def key(self, state: State) -> Hashable:
        """A value that can be hashed, and is equal for equal positions of this table only.

        It covers the whole position: hidden facts, common knowledge about them, the turn and the dice. Keys hold
        within one process; to store a position elsewhere, use `dump`.
        """
        return self.game.key(state)

    def setup(self, state: State) -> JsonObject:
        """The `setup` of the start message of a match with this board: static facts that all seats know.

        Raises `PositionError` if dice must be rolled at `state`: the first ones deal the board of captains.
        """
        if self.actor(state) == CHANCE:
            raise PositionError("dice are to be rolled here: setup is for a position after roll_all")
        return self.game.setup(state)

    def view(self, state: State, seat: int) -> JsonObject:
        """The view of `seat`: the `state` of a question. Raises `BadInput` if the table has no such seat."""
        self.check_seat(seat)
        return self.game.view(state, seat)

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:
        """A position that agrees with the knowledge of `seat`: hidden facts are drawn with `rng`.

        `view` is a question's `state`, or what `view` gives. A bot that searches looks at many of these. Raises
        `PositionError` if it is none of this game, `BadInput` if the table has no such seat.
        """
        self.check_seat(seat)
        _check_rng(rng)
        try:
            return self.game.determinize(view, seat, rng)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # Engines trust the views that referees send them.
            raise no_view(self.game, error) from error

    def check_seat(self, seat: int) -> None:
        """Raise `BadInput` if the table has no such seat."""
        if seat not in self._seats:
            raise BadInput(f"seat {seat!r}: the seats are 0 to {self.players - 1}")

    # ------------------------------------------------------------------ playing on

    def actor(self, state: State) -> int | None:
        """The seat that must act, `CHANCE` (-1) if dice must be rolled, None if the game is over."""
        actors = self.game.actors(state)
        return actors[0] if actors else None

    def legal(self, state: State) -> Sequence[Action]:
        """The legal actions of the seat that must act, in the canonical order of the wire; `()` where no seat must."""
        actors = self.game.actors(state)
        return self.game.legal(state, actors[0]) if actors and actors[0] != CHANCE else ()

    def json(self, action: Action) -> JsonObject:
        """The action as a bot sends it: `{"do": ...}`."""
        return self.game.action_json(action)

    def action(self, state: State, move: Move) -> Action:
        """The action that `move` means: one of `legal`, an index into it, or its JSON form; else `ActionError`."""
        seat = self.actor(state)
        if seat is None or seat == CHANCE:
            raise ActionError(f"nobody acts here: {_whose(seat)}")
        if isinstance(move, dict):
            return self.game.parse(state, seat, move)
        legal = self.game.legal(state, seat)
        if isinstance(move, int):
            if not 0 <= move < len(legal):
                raise ActionError(f"action {move} is out of range: there are {len(legal)} legal actions")
            return legal[move]
        if move not in legal:
            raise ActionError(f"{move!r} is not legal here")
        return move

    def step(self, state: State, move: Action | Rolled) -> State:
        """The position after one action of `legal`, or after a roll. Trusts its caller that it is possible."""
        return self.game.apply(state, move)[0]

    def play(self, state: State, move: Move, rng: Random, dice: Dice | None = None) -> State:
        """The position after `move`, checked, and after all dice that are rolled before a seat must act again."""
        return self.roll_all(self.step(state, self.action(state, move)), rng, dice)

    def roll(self, state: State, rng: Random, dice: Dice | None = None) -> State:
        """The position after the one roll that is due, with `dice` (see `common_dice`) or else with `rng`.

        Raises `PositionError` if no dice are to be rolled at `state`.
        """
        if (actor := self.actor(state)) != CHANCE:
            raise PositionError(f"no dice are rolled here: {_whose(actor)}")
        return self._roll(state, rng, dice)

    def _roll(self, state: State, rng: Random, dice: Dice | None) -> State:
        if dice is None:
            _check_rng(rng)
        game = self.game
        draws = game.chance(state)
        shown = random_roll(draws, rng) if dice is None else dice.roll(dice.at(game.address(state)), draws)
        return game.apply(state, shown)[0]

    def roll_all(self, state: State, rng: Random, dice: Dice | None = None) -> State:
        """The position after all rolls that are due; the same one if a seat must act, or at the end."""
        while self.game.actors(state) == (CHANCE,):
            state = self._roll(state, rng, dice)
        return state

    # ------------------------------------------------------------------ the end

    def worth(self, state: State) -> tuple[float, ...]:
        """The result of a finished game for each seat: its share of the points, from 0 (last) to 1 (first).

        That is the share of the others that it beat, equal ones counting half. In a solo game it is 1 if the game's
        own opponent was beaten, else 0; where there is none, it is the score.

        Raises `PositionError` if the game is not over.
        """
        self._check_over(state)
        return worth_of(self.game.outcome(state))

    def scores(self, state: State) -> tuple[float, ...]:
        """The scores of a finished game, in the game's own unit. Raises `PositionError` if it is not over."""
        self._check_over(state)
        return self.game.outcome(state).scores

    def _check_over(self, state: State) -> None:
        if (actor := self.actor(state)) is not None:
            raise PositionError(
                f"the game is not over: {_whose(actor)}; `finish` or `playout` plays on to the end"
            )

    # ------------------------------------------------------------------ playouts

    def playout(
        self, state: State, rng: Random, *, policy: Policy | None = None, dice: Dice | None = None
    ) -> tuple[float, ...]:
        """Play to the end, and return the worth for each seat.

        Seats choose by `policy(state, seat, legal, rng)`, or else every legal action is equally likely. Dice come
        from `dice`, or else from `rng`.
        """
        return worth_of(self.game.outcome(self.finish(state, rng, policy=policy, dice=dice)))

    def finish(
        self,
        state: State,
        rng: Random,
        *,
        policy: Policy | None = None,
        dice: Dice | None = None,
        most: int | None = None,
    ) -> State:
        """The last position of a playout, or the one after `most` decisions that were no forced moves."""
        _check_rng(rng)
        game = self.game
        left = -1 if most is None else most
        if policy is None:
            return rollout(game, state, rng.random, left, _roll_with(dice))
        find_actors, find_legal, apply = game.actors, game.legal, game.apply
        while left and (actors := find_actors(state)):
            seat = actors[0]
            if seat == CHANCE:
                state = self._roll(state, rng, dice)
                continue
            legal = find_legal(state, seat)
            if len(legal) == 1:
                action = legal[0]
            else:
                left -= 1
                action = policy(state, seat, legal, rng)
            state = apply(state, action)[0]
        return state

    def playouts(
        self,
        states: Sequence[State],
        number: int,
        seed: str,
        *,
        jobs: int | None = None,
        policy: Policy | None = None,
    ) -> list[list[tuple[float, ...]]]:
        """For each of `states`, what `number` playouts were worth, on `jobs` cores (default: all there are).

        The n-th playout of every state has the same dice, which follow from `seed`, so that states can be compared
        playout by playout. The results do not depend on `jobs`. Raises `BadInput` if `number` is less than 1.
        """
        if number < 1:
            raise BadInput(f"number: must be at least 1, not {number}")

        def play_one(job: tuple[int, int]) -> tuple[float, ...]:
            which, turn = job
            text = f"{seed} {turn}"
            return self.playout(states[which], Random(text), policy=policy, dice=common_dice(text))

        tasks = [(which, turn) for turn in range(number) for which in range(len(states))]
        results = over_cores(play_one, tasks, jobs)
        return [results[which :: len(states)] for which in range(len(states))]


def worth_of(outcome: Outcome) -> tuple[float, ...]:
    """See `Simulator.worth`."""
    ranks = outcome.ranks
    if len(ranks) == 1:
        return outcome.scores if outcome.rival is None else (float(ranks[0] == 1),)
    others = 2 * (len(ranks) - 1)
    return tuple([sum((rank < o) + (rank <= o) for o in ranks) / others - 1 / others for rank in ranks])


def _whose(actor: int | None) -> str:
    """Who must act, in words."""
    return (
        "the game is over"
        if actor is None
        else "dice are rolled"
        if actor == CHANCE
        else f"seat {actor} must act"
    )


def _check_rng(rng: Random) -> None:
    """Raise `BadInput` for what gives no random numbers; the module `random` does, too."""
    if not hasattr(rng, "random"):
        raise BadInput(f"rng: must be a random.Random, not {rng!r}")


def no_view(game: Game[Any, Any], error: Exception) -> PositionError:
    """What to raise for a view that is none of this game: reading it led to this error."""
    return PositionError(
        f"view: this is none of {game.id}: {type(error).__name__}: {error}; give the `state` of a question, or what "
        "`view` gave"
    )


def _roll_with(dice: Dice | None) -> Callable[[str, tuple[Weights, ...]], Rolled] | None:
    if dice is None:
        return None
    return lambda address, draws: dice.roll(dice.at(address), draws)


def _options(game: Game[Any, Any], players: int, raw: Mapping[str, Any]) -> Any:
    """The game's options from their JSON form; the harness itself is stricter, and explains mistakes better."""
    if players not in game.players:
        allowed = ", ".join(map(str, game.players))
        raise OptionsError(f"{game.id} is for {allowed} players, not {players!r}")
    known = [field.name for field in attrs.fields(game.Options)]
    if unknown := sorted(raw.keys() - set(known)):
        raise OptionsError(f"{game.id} has no option {unknown[0]!r}; its options are {', '.join(known)}")
    try:
        options = game.Options(**raw)
    except (TypeError, ValueError) as error:
        raise OptionsError(f"{game.id}: {error.args[0]}") from None
    game.check_options(players, options)
    return options


# -- cores -----------------------------------------------------------------------------------------------
# Spreads work over the cores of the machine with nothing but `fork`, so that it also works in a sandbox.


T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_cores(call: Callable[[T], R], items: Sequence[T], jobs: int | None = None) -> list[R]:
    """`call` of each item, in order, computed by `jobs` processes (default: one for each core), this one included.

    The others are forked from this process, which must have no other threads, and know all that it knows. What
    `call` returns must be fit for `pickle`. If it raises an exception, so does this function.
    """
    jobs = min(cores() if jobs is None else jobs, len(items))
    if jobs <= 1:
        return [call(item) for item in items]
    children = [_fork(call, items[first::jobs]) for first in range(1, jobs)]
    shares: list[list[R]] = []
    parts: list[list[R] | None] = []
    try:
        shares.append([call(item) for item in items[::jobs]])
    finally:
        parts += [_collect(pid, source) for pid, source in children]
    for part in parts:
        if part is None:
            raise RuntimeError("a process that computed a part of the work has failed: see standard error")
        shares.append(part)
    return [shares[number % jobs][number // jobs] for number in range(len(items))]


def _fork(call: Callable[[T], R], items: Sequence[T]) -> tuple[int, int]:
    """A child that computes `items`: its process id, and the pipe that its results come from."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sink)
        return pid, source
    status = 1
    try:
        os.close(source)
        with open(sink, "wb") as pipe:  # noqa: PTH123 - a descriptor
            pipe.write(pickle.dumps([call(item) for item in items]))
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not continue its parent's work
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(status)


def _collect(pid: int, source: int) -> list[R] | None:
    """The result of a child, or None if it failed."""
    with open(source, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status:
        return None
    results: list[R] = pickle.loads(data)
    return results
