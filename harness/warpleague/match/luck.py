"""The luck of a match: of each roll, how much better or worse it was for a seat than what could have been rolled.

A game may name a *worth function*, which says what share of the points each seat may expect in a position. The luck
of a roll is the worth after it, less the mean worth after all that could have been rolled there: zero on average,
whatever the bots do. This is the control variate of AIVAT (Burch and others 2018, arXiv:1612.06915), for chance alone.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b, sha256
from importlib import import_module
from itertools import product
from math import fsum, isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.match.chance import Dice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpleague.games.api import Event, Game, Rolled, Weights
    from warpleague.match.replay import Replay

MAX_OUTCOMES: Final = 1_000
"""Of a roll with at most so many outcomes the mean is that of all of them."""
SAMPLED: Final = 100
"""Of a roll with more outcomes the mean is that of so many, drawn from the match's id and the roll's address."""
_ROUNDING: Final = 1e-9


@attrs.frozen
class Worth:
    """The worth function of a game; `digest` is the SHA-256 of all that it consists of, as reproduce.md tells."""

    module: str
    shares: Callable[[Any], tuple[float, ...]]
    digest: str


@attrs.frozen
class RollLuck:
    """The luck of one roll: its line's number n in the record, what happened, and how much each seat gained by it."""

    n: int
    events: Sequence[Event]
    gains: tuple[float, ...]


class WorthError(BadInput):
    """A worth function that fails, or gives what cannot be shares."""


@cache
def worth_of(game_id: str) -> Worth | None:
    """The worth function that a game names, or None; `BadInput` if it names one that cannot be loaded."""
    name = load_game(game_id).worth
    if not name:
        return None
    from warpline.codec import canonical  # loads all messages

    try:
        module = import_module(name)
        path = Path(str(module.__file__))
        sources = {
            file: sha256(path.with_name(file).read_bytes()).hexdigest()
            for file in {path.name, *getattr(module, "FILES", ())}
        }
        version, shares = module.VERSION, module.shares
    except Exception as error:
        raise BadInput(
            f"{game_id}: its worth function {name} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    return Worth(name, shares, sha256(canonical({"version": version, "files": sources})).hexdigest())


def luck_of(replay: Replay, worth: Worth) -> list[RollLuck]:
    """The luck of each roll of a record, in order, in shares of points; executes the record.

    `RecordError` names the first line that does not hold, `WorthError` the line at which the function fails.
    """
    game, before, lucks = replay.game, replay.first, []
    for step in replay:
        if not step.is_act and game.actors(before) == (CHANCE,) and step.data["type"] == "chance":
            line = step.data
            judged = _Judged(game, worth, f"{replay.where}: line {step.n}: {game.id}: {worth.module}")
            after = judged.shares(step.state)
            mean = judged.mean(before, replay.header["id"], line["at"])
            gains = tuple([one - usual for one, usual in zip(after, mean, strict=True)])
            lucks.append(RollLuck(line["n"], step.events, gains))
        before = step.state
    return lucks


def luckiest(lucks: Sequence[RollLuck], seat: int) -> tuple[float, RollLuck]:
    """The luck of a seat in all rolls, and the roll that did most for it, or against it if that is negative."""
    total = fsum(roll.gains[seat] for roll in lucks)
    return total, max(lucks, key=lambda roll: roll.gains[seat] if total >= 0 else -roll.gains[seat])


@attrs.frozen
class _Judged:
    """Calls a worth function, and checks what it gives; `where` opens the text of an error."""

    game: Game[Any, Any]
    worth: Worth
    where: str

    def shares(self, state: Any) -> tuple[float, ...]:
        """The worth of a position for each seat."""
        players = self.game.match_of(state)[0]
        try:
            shares = tuple(map(float, self.worth.shares(state)))
        except Exception as error:
            raise WorthError(f"{self.where} fails: {type(error).__name__}: {error}") from error
        if len(shares) != players or not all(map(isfinite, shares)):
            raise WorthError(f"{self.where}: gives {shares}, not {players} numbers")
        if players > 1 and not (
            all(-_ROUNDING <= share <= 1 + _ROUNDING for share in shares)
            and abs(sum(shares) - players / 2) < _ROUNDING * players
        ):
            raise WorthError(
                f"{self.where}: gives {shares}: shares lie in [0, 1], with a sum of {players / 2}"
            )
        return shares

    def mean(self, state: Any, match: str, at: str) -> tuple[float, ...]:
        """The mean worth for each seat after what can be rolled at `state`."""
        total: list[float] = [0.0] * self.game.match_of(state)[0]
        weights = 0
        for outcome, weight in outcomes(self.game.chance(state), match, at):
            weights += weight
            for seat, share in enumerate(self.shares(self.game.apply(state, outcome)[0])):
                total[seat] += weight * share
        return tuple([one / weights for one in total])


def outcomes(draws: tuple[Weights, ...], match: str, at: str) -> Iterator[tuple[Rolled, int]]:
    """What can be rolled, each with its weight: all of it, or a sample that does not depend on what was rolled."""
    if prod(draw if isinstance(draw, int) else sum(map(bool, draw)) for draw in draws) > MAX_OUTCOMES:
        dice = Dice(blake2b(f"luck {match}".encode(), digest_size=32).digest())
        for number in range(SAMPLED):
            yield dice.roll(f"{at} sample {number}", draws), 1
        return
    weighted = ([1] * draw if isinstance(draw, int) else draw for draw in draws)
    possible = [[(index, weight) for index, weight in enumerate(side) if weight] for side in weighted]
    for outcome in product(*possible):
        yield tuple([index for index, _ in outcome]), prod(weight for _, weight in outcome)
