"""Plays recorded decisions on, with every action that may be better, on all cores; `verdicts` says what that shows."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput, BotError, RecordError
from warpleague.games import load_game
from warpleague.games.values import decoded, encoded
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpleague.runner.doctor.promises import check_level
from warpleague.runner.play import play_out
from warpleague.sim import Simulator, common_dice
from warpleague.study.verdicts import FREE, Decision, Sample, next_playouts
from warpleague.study.workers import spread

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from warpleague.games.api import Game, JsonObject
    from warpleague.match.replay import Replay
    from warpleague.match.spec import Level, Mark
    from warpleague.study.verdicts import Book, Plan

_STRIKES: Final = 1_000_000
"""A bot that is too slow once plays on, since the analysis asks for its next choices."""


@attrs.frozen
class Setting:
    """How playouts are played: by `bots`, one for each seat, or at random if there are none.

    With `estimates` a playout ends as soon as the bot of the seat that decides says a `value`. With `all_known` it
    starts from the position as it was; otherwise facts that the seat does not know are drawn again for each. `record`
    is the digest of the record; all that is random follows from it and from `seed`. `rules` is the version of the
    rules.
    """

    record: str
    game: str
    players: int
    options: JsonObject
    seed: str
    bots: tuple[SeatSpec, ...] = ()
    clock: TimeControl = attrs.field(factory=TimeControl)
    level: Level = "limits"
    estimates: bool = False
    all_known: bool = False
    rules: int | None = None


@attrs.frozen
class Place:
    """A decision and the position that it was made in."""

    decision: Decision
    position: JsonObject


@attrs.frozen
class Task:
    """Playout `k` of the decision on line `n` of a record: from the `position` in which `seat` had to decide.

    There is one playout for each of the `ways`: the number of a legal action, or `FREE`.
    """

    n: int
    k: int
    seat: int
    position: JsonObject
    ways: tuple[int, ...]


def places(replay: Replay, seat: int | None = None, lines: Collection[int] = ()) -> list[Place]:
    """The decisions of a record that can be analysed: those of `seat`, on `lines` (default: all).

    That leaves out forced moves, messages, and actions that the referee played for a bot. `RecordError` for a record
    that does not hold, `BadInput` for a line without such a decision.
    """
    collected: list[Place] = []
    game, state = replay.game, replay.first
    for step in replay:
        data = step.data
        if data["type"] == "act" and not data.keys() & {"auto", "substituted"}:
            n, acts = data["n"], data["seat"]
            legal = game.legal(state, acts)
            action = game.parse(state, acts, data["action"])
            played = next((place for place, each in enumerate(legal) if each == action), None)
            if played is not None and len(legal) > 1 and seat in (None, acts) and (not lines or n in lines):
                decision = Decision(n, acts, data["ask"], data["action"], played, len(legal))
                position = decoded(encoded(game.to_json(state)))
                collected.append(Place(decision, position))
        state = step.state
    for line in sorted(set(lines) - {place.decision.n for place in collected}):
        whose = "" if seat is None else f" of seat {seat}"
        raise BadInput(f"--line {line}: there is no decision{whose} on this line: see `replay show`")
    if not collected:
        raise RecordError(f"{replay.where}: there is no decision to analyse in it")
    return collected


def analyse(
    setting: Setting,
    positions: list[Place],
    book: Book,
    plan: Plan,
    jobs: int | None = None,
    end_s: float | None = None,
) -> Generator[Sample, None, None]:
    """Play the missing samples, add them to `book`, and yield each so that the caller can store it.

    You may stop at any time: finished playouts count. Raises `TimeIsUp` once `time.monotonic()` is `end_s`, but not
    before the first sample. `BotError` for a bot that does not start.
    """
    if setting.bots:
        check_level(setting.level)
    least = 1
    while tasks := [
        Task(place.decision.n, k, place.decision.seat, place.position, ways)
        for place in positions
        for k, ways in next_playouts(place.decision, book, plan)
    ]:
        tasks.sort(key=lambda task: (task.k, task.n))  # all decisions come on alike
        with closing(spread(partial(play, setting), tasks, jobs, end_s, least)) as samples:
            for sample in samples:
                book.add(sample)
                least = 0
                yield sample


def play(setting: Setting, task: Task) -> Sample:
    """One playout of each way to continue from a decision, all from the same world and with the same dice."""
    table = Simulator(setting.game, setting.players, setting.options, setting.rules)
    world, luck = start(setting, table, task)
    legal = table.legal(world)
    sample = Sample(task.n, task.k, {})
    for way in task.ways:
        after = world if way == FREE else table.step(world, legal[way])
        if setting.bots and table.actor(after) is not None:
            sample = _by_bots(setting, table, after, task, luck, way, sample)
        else:
            sample.worth[way] = table.playout(after, Random(luck), dice=common_dice(luck))[task.seat]
    return sample


def start(setting: Setting, table: Simulator, task: Task) -> tuple[Any, str]:
    """The world from which all ways of a task continue, and the text from which all their chance follows."""
    world = table.load(task.position)
    luck = f"{setting.seed} {setting.record} {task.n} {task.k}"
    if not setting.all_known:
        world = table.determinize(table.view(world, task.seat), task.seat, Random(luck))
    return world, luck


def _by_bots(
    setting: Setting, table: Simulator, state: Any, task: Task, luck: str, way: int, sample: Sample
) -> Sample:
    key = match_key(luck)
    spec = MatchSpec(
        id=key.hex()[:16],
        game=setting.game,
        options=setting.options,
        seats=setting.bots,
        key=key,
        clock=setting.clock,
        level=setting.level,
        faults="substitute",
        strikes=_STRIKES,
        position=decoded(encoded(table.dump(state))),
        rules=setting.rules,
    )
    played = Playout(load_game(spec.game, spec.rules), spec, asks=task.seat, estimates=setting.estimates)
    result = play_out(played)
    faults = dict(sample.faults)
    for seat, those in zip(setting.bots, result.faults, strict=True):
        for fault in those:
            if fault.kind == "startup":
                raise BotError(f"{seat.bot} did not start: {fault.message}")
            faults[fault.kind] = faults.get(fault.kind, 0) + 1
    value = played.value
    sample.worth[way] = table.worth(played.state)[task.seat] if value is None else value
    chose = played.chose if way == FREE else sample.chose
    return attrs.evolve(sample, chose=chose, faults=faults, valued=sample.valued + (value is not None))


class Playout(Referee):
    """The referee of a playout: it sees the first decision of the seat `asks`, and may end with its expected value."""

    def __init__(self, game: Game[Any, Any], spec: MatchSpec, *, asks: int, estimates: bool) -> None:
        super().__init__(game, spec)
        self.chose: int | None = None
        self.value: float | None = None
        self._asks = asks
        self._estimates = estimates
        self._decided = False

    @property
    def state(self) -> Any:
        """The position that was reached."""
        return self._state

    def advance(self) -> Situation:
        """As of any referee; once there is an estimate, all seats leave, so that the bots hear of an end."""
        if self.value is not None:
            for seat in range(len(self.spec.seats)):
                if not self.is_retired(seat) and self.game.actors(self._state):
                    self._became(*self.game.retire(self._state, seat))
        return super().advance()

    def _play(
        self,
        action: Any,
        mark: Mark | None = None,
        times_ns: tuple[int, int | None, int | None] | None = None,
        note: str | None = None,
        bank_ns: int | None = None,
        value: float | None = None,
    ) -> None:
        if self.seat == self._asks and mark != "auto":
            if self._estimates and self.value is None and mark is None:
                self.value = value
            if not self._decided:
                place = next((place for place, each in enumerate(self.legal) if each == action), None)
                self._decided = place is not None  # not by a message
                self.chose = place if mark is None else None
        super()._play(action, mark, times_ns, note, bank_ns, value)
