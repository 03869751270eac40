"""Finds the mistakes of a match: plays its decisions on with every action that may be better, and compares."""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter
from contextlib import closing
from functools import partial
from math import ceil, sqrt
from random import Random
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from warpleague.errors import BadInput, BotError, ConfigError, RecordError
from warpleague.extras.study.rerun import spread
from warpleague.games import load_game
from warpleague.games.api import JsonObject  # noqa: TC001 - read from the classes at run time
from warpleague.games.values import decoded, encoded
from warpleague.league.ratings.statistics import t95
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import Replay
from warpleague.match.spec import Level, Mark, MatchSpec, SeatSpec, TimeControl
from warpleague.runner.doctor import check_level
from warpleague.runner.play import play_out
from warpleague.sim import Simulator, common_dice
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Sequence
    from pathlib import Path

    from warpleague.games.api import Game
    from warpleague.match.scribe import Remarks, Times


# -- verdicts --------------------------------------------------------------------------------------------
# Evaluates the playouts of a match: which to play next, the value of each decision, the blunders.
#
# Nothing here plays. A *way* to continue from a decision is one of its legal
# actions, by index, or `FREE`: nothing is prescribed, and the bots that play on decide themselves. Playout
# number `k` of a decision plays all ways from one and the same world with the same dice, so ways are compared
# playout by playout.

FREE: Final = -1
"""The way to continue without a prescribed action."""
FIRST: Final = 8
"""How many playouts each action gets at first; after that they double, and the worse half of the actions drops out."""
LEAST: Final = 0.1
"""The default for the least share of the points that a blunder loses."""
_CLEAR: Final = 3.0
"""How many standard errors a loss must exceed: in a match of a hundred decisions, one in seven matches errs once."""
_SURE: Final = 2.0
"""How many standard errors make it unlikely enough that an action is better, to look at it no further."""


@attrs.frozen
class Decision:
    """A decision of a record."""

    n: int
    """the line of the record"""
    seat: int
    ask: str
    """the kind of decision"""
    action: JsonObject
    played: int
    """the place of `action` in the legal ones, from 0"""
    legal: int
    """the number of legal actions"""


@attrs.frozen
class Sample:
    """Playout number `k` of the decision on line `n`: the worth of each way to continue, for the seat that decided.

    `chose` is the choice of the bots without a prescribed action. `faults` counts theirs by kind. `valued` says how
    many of the worths are a bot's own estimates.
    """

    n: int
    k: int
    worth: dict[int, float]
    chose: int | None = None
    faults: dict[str, int] = attrs.field(factory=dict)
    valued: int = 0


@attrs.frozen
class Plan:
    """How far to go: `playouts` of an action at most, of `actions` of a decision at most.

    A loss below `least` is not a blunder. `shares` is false if a worth is a score instead of a share from 0 to 1.
    """

    playouts: int
    actions: int
    least: float
    seed: str
    bots: bool
    shares: bool = True

    def rounds(self) -> list[int]:
        """How many playouts an action has had after each round."""
        sizes = [FIRST]
        while sizes[-1] * 2 <= self.playouts:
            sizes.append(sizes[-1] * 2)
        return sizes


@attrs.frozen
class Mean:
    """A mean of playouts, its standard error (None: too few to say), and how many they were."""

    value: float
    error: float | None
    playouts: int

    @property
    def interval(self) -> float | None:
        """Half the width of the 95 % interval, by Student's t."""
        return None if self.error is None else t95(max(self.playouts - 1, 1)) * self.error


@attrs.frozen
class Option:
    """An action that was examined, by its index, and its value."""

    index: int
    mean: Mean


@attrs.frozen
class Verdict:
    """The findings about a decision.

    `before` is the value of the position, `after` that of the action played. `others` are the best alternatives that
    were left, the best first. `loss` says how much better the best action was than the one played (None: not known
    yet); it comes from playouts that had no part in choosing `best`.
    """

    decision: Decision
    before: Mean
    after: Mean
    gain: Mean
    others: tuple[Option, ...]
    looked_at: int
    best: int | None
    loss: Mean | None
    blunder: bool
    playouts: int


@attrs.frozen
class Turn:
    """A change of a seat's value, from line `since` to line `n`: by its own decision, or (`own` false) by the rest."""

    n: int
    since: int
    seat: int
    own: bool
    before: float
    after: float
    change: Mean


class Book:
    """All playouts of the decisions of one match."""

    def __init__(self) -> None:
        self._worth: dict[int, dict[int, dict[int, float]]] = {}
        self._chose: dict[int, dict[int, int]] = {}
        self.playouts = 0
        self.valued = 0
        self.faults: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Add a sample, unless it is known already."""
        ways = self._worth.setdefault(sample.n, {})
        for way, worth in sample.worth.items():
            samples = ways.setdefault(way, {})
            self.playouts += sample.k not in samples
            samples.setdefault(sample.k, worth)
        if sample.chose is not None:
            self._chose.setdefault(sample.n, {}).setdefault(sample.k, sample.chose)
        self.faults.update(sample.faults)
        self.valued += sample.valued

    def worths(self, n: int, way: int, ks: Iterable[int]) -> list[float]:
        """The worth of the playouts `ks` of a way; only those that there are."""
        samples = self._worth.get(n, {}).get(way, {})
        return [samples[k] for k in ks if k in samples]

    def missing(self, n: int, ways: Sequence[int], ks: Iterable[int]) -> list[tuple[int, tuple[int, ...]]]:
        """The missing playouts: each `k` with its ways."""
        known = self._worth.get(n, {})
        every = [(k, tuple(way for way in ways if k not in known.get(way, {}))) for k in ks]
        return [(k, left) for k, left in every if left]

    def total(self, n: int) -> int:
        """How many playouts a decision has had."""
        return sum(map(len, self._worth.get(n, {}).values()))

    def chosen(self, n: int) -> list[int]:
        """The choices of the bots in the first playouts, the most frequent first."""
        chose = self._chose.get(n, {})
        counts = Counter(chose[k] for k in range(FIRST) if k in chose)
        return sorted(counts, key=lambda action: (-counts[action], action))


def mean_of(values: Sequence[float], shares: bool, low: float = 0.0) -> Mean:
    """The mean of `values`, which lie from `low` to 1 if they are `shares`.

    Then one value at either end is added to the spread, so that a few equal results do not look certain.
    """
    count = len(values)
    mean = sum(values) / count if count else 0.0
    squares = sum((value - mean) ** 2 for value in values)
    if shares and count:
        return Mean(mean, sqrt((squares + (mean - low) ** 2 + (1 - mean) ** 2) / (count + 1) / count), count)
    return Mean(mean, sqrt(squares / (count - 1) / count) if count > 1 else None, count)


def candidates(decision: Decision, book: Book, plan: Plan) -> list[int]:
    """The actions to examine: the recorded one, the choices of the bots, and others drawn by the seed."""
    if decision.legal <= plan.actions:
        return list(range(decision.legal))
    wanted = dict.fromkeys([decision.played, *book.chosen(decision.n)])
    for action in Random(f"{plan.seed} {decision.n}").sample(range(decision.legal), plan.actions):
        wanted.setdefault(action)
    return sorted(list(wanted)[: plan.actions])


@attrs.frozen
class _Round:
    """A round: the playouts from `low` to `high` of `ways`."""

    low: int
    high: int
    ways: tuple[int, ...]


def _rounds(decision: Decision, book: Book, plan: Plan) -> tuple[list[_Round], _Round | None]:
    """The rounds that are complete, and the one to play next (None: no more is needed).

    They follow from the samples of earlier rounds alone, so they do not depend on where an analysis was stopped.
    """
    done: list[_Round] = []
    if plan.bots:
        first = _Round(0, FIRST, (FREE,))  # the actions that the bots choose must be examined
        if book.missing(decision.n, first.ways, range(FIRST)):
            return done, first
    left = candidates(decision, book, plan)
    low = 0
    for high in plan.rounds():
        if done:
            left = _better_half(decision, book, plan, left, low)
        turn = _Round(low, high, tuple(dict.fromkeys((FREE, decision.played, *left))))
        if done and not _may_be_blunder(decision, book, plan, turn.ways, low):
            return done, None
        if book.missing(decision.n, turn.ways, range(low, high)):
            return done, turn
        done.append(turn)
        low = high
    return done, None


def _better_half(decision: Decision, book: Book, plan: Plan, left: list[int], high: int) -> list[int]:
    worth = {way: sum(book.worths(decision.n, way, range(high))) for way in left}
    if not plan.bots and high == FIRST:
        return left  # too few to drop one
    ranked = sorted(left, key=lambda way: (-worth[way], way))
    return sorted(ranked[: max(2, ceil(len(ranked) / 2))])


def _may_be_blunder(decision: Decision, book: Book, plan: Plan, ways: Sequence[int], high: int) -> bool:
    """Whether one of the ways may yet be better than the action played, by as much as matters.

    Always true before each has had twice the first number of playouts.
    """
    if high < 2 * FIRST:
        return True
    for way in ways:
        if way not in (FREE, decision.played):
            better = _paired(decision, book, plan, way, range(high))
            if better.error is None or better.value + _SURE * better.error >= max(plan.least, 1e-9):
                return True
    return False


def _paired(decision: Decision, book: Book, plan: Plan, way: int, ks: range, than: int | None = None) -> Mean:
    """By how much a way was better than the action played, or than another way, playout by playout."""
    ours = book.worths(decision.n, way, ks)
    theirs = book.worths(decision.n, decision.played if than is None else than, ks)
    return mean_of([a - b for a, b in zip(ours, theirs, strict=True)], plan.shares, low=-1.0)


def next_playouts(decision: Decision, book: Book, plan: Plan) -> list[tuple[int, tuple[int, ...]]]:
    """The playouts that a decision needs next: numbers, each with its ways; none if all is known."""
    due = _rounds(decision, book, plan)[1]
    return [] if due is None else book.missing(decision.n, due.ways, range(due.low, due.high))


def verdict(decision: Decision, book: Book, plan: Plan) -> Verdict | None:
    """The verdict of the complete rounds on a decision, or None if none is complete."""
    done = _rounds(decision, book, plan)[0]
    if not done:
        return None
    n, played, last = decision.n, decision.played, done[-1]
    ks = range(last.high)
    others = [
        Option(way, mean_of(book.worths(n, way, ks), plan.shares))
        for way in last.ways
        if way not in (FREE, played)
    ]
    others.sort(key=lambda option: (-option.mean.value, option.index))
    best, loss = None, None
    if len(done) > 1:  # chosen by the playouts before the last round, judged by those of the last round
        worth = {way: sum(book.worths(n, way, range(last.low))) for way in last.ways if way != FREE}
        best = max(worth, key=lambda way: (worth[way], way == played, -way))
        loss = Mean(0.0, 0.0, last.high - last.low)
        if best != played:
            loss = _paired(decision, book, plan, best, range(last.low, last.high))
    return Verdict(
        decision,
        before=mean_of(book.worths(n, FREE, ks), plan.shares),
        after=mean_of(book.worths(n, played, ks), plan.shares),
        gain=_paired(decision, book, plan, played, ks, than=FREE),
        others=tuple(others[:3]),
        looked_at=len([way for way in done[0].ways if way != FREE]),
        best=best,
        loss=loss,
        blunder=loss is not None and _is_clear(loss, plan),
        playouts=book.total(n),
    )


def _is_clear(change: Mean, plan: Plan) -> bool:
    return (
        change.error is not None
        and abs(change.value) >= max(plan.least, 1e-9)
        and (change.value > _CLEAR * change.error or change.value < -_CLEAR * change.error)
    )


def turns(verdicts: Sequence[Verdict], plan: Plan) -> list[Turn]:
    """The changes of a seat's value that matter and are clear of their errors, the largest first."""
    turns: list[Turn] = []
    last: dict[int, Verdict] = {}
    for now in verdicts:
        n, seat = now.decision.n, now.decision.seat
        if (then := last.get(seat)) is not None:
            errors = (now.before.error, then.after.error)
            error = None if None in errors else sqrt(sum(each**2 for each in errors if each is not None))
            change = Mean(now.before.value - then.after.value, error, now.before.playouts)
            if _is_clear(change, plan):
                since = then.decision.n
                turns.append(Turn(n, since, seat, False, then.after.value, now.before.value, change))
        if _is_clear(now.gain, plan):
            turns.append(Turn(n, n, seat, True, now.before.value, now.after.value, now.gain))
        last[seat] = now
    return sorted(turns, key=lambda turn: -abs(turn.change.value))


# -- analyse ---------------------------------------------------------------------------------------------

_STRIKES: Final = 1_000_000
"""A bot that is too slow once plays on, since the analysis asks for its next choices."""


@attrs.frozen
class Setting:
    """How playouts are played: by `bots`, one for each seat, or at random if there are none.

    With `estimates` a playout ends as soon as the bot of the seat that decides says a `value`. With `all_known` it
    starts from the position as it was; otherwise facts that the seat does not know are drawn again for each. `record`
    is the digest of the record; all that is random follows from it and from `seed`.
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


def places(replay: Replay) -> list[Place]:
    """The decisions of a record that can be analysed.

    That leaves out forced moves, messages, and actions that the referee played for a bot. `RecordError` for a record
    that does not hold, or without such a decision.
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
            if played is not None and len(legal) > 1:
                decision = Decision(n, acts, data["ask"], data["action"], played, len(legal))
                position = decoded(encoded(game.to_json(state)))
                collected.append(Place(decision, position))
        state = step.state
    if not collected:
        raise RecordError(f"{replay.where}: there is no decision to analyse in it")
    return collected


def chosen(every: list[Place], seat: int | None, lines: Collection[int]) -> list[Place]:
    """Those of `seat` (None: of all), on `lines` (none: on all). `BadInput` where there is none, with the nearest."""
    of_seat = [place for place in every if seat in (None, place.decision.seat)]
    whose = "" if seat is None else f" of seat {seat}"
    if not of_seat:
        raise BadInput(f"--seat {seat}: there is no decision{whose} to analyse: see `replay show`")
    numbers = [place.decision.n for place in of_seat]
    for line in sorted(set(lines) - set(numbers)):
        place = bisect(numbers, line)
        nearest = ", ".join(map(str, numbers[max(place - 1, 0) : place + 1]))
        raise BadInput(
            f"--line {line}: there is no decision{whose} on this line; nearest: {nearest}; see `replay show`"
        )
    return [place for place in of_seat if not lines or place.decision.n in lines]


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
        tasks.sort(key=lambda task: (task.k, task.n))  # all decisions advance together
        with closing(spread(partial(play, setting), tasks, jobs, end_s, least)) as samples:
            for sample in samples:
                book.add(sample)
                least = 0
                yield sample


def play(setting: Setting, task: Task) -> Sample:
    """One playout of each way to continue from a decision, all from the same world and with the same dice."""
    table = Simulator(setting.game, setting.players, setting.options)
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
    )
    played = Playout(load_game(spec.game), spec, asks=task.seat, estimates=setting.estimates)
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
        """As of any referee; once there is an estimate, all seats retire, so that bots get the end of the match."""
        if self.value is not None:
            for seat in range(len(self.spec.seats)):
                if not self.is_retired(seat) and self.game.actors(self._state):
                    self._became(*self.game.retire(self._state, seat))
        return super().advance()

    def _play(
        self,
        action: Any,
        mark: Mark | None = None,
        times_ns: Times | None = None,
        remarks: Remarks | None = None,
    ) -> None:
        if self.seat == self._asks and mark != "auto":
            if self._estimates and self.value is None and mark is None:
                _, _, self.value = remarks or (None, None, None)
            if not self._decided:
                place = next((place for place, each in enumerate(self.legal) if each == action), None)
                self._decided = place is not None  # not by a message
                self.chose = place if mark is None else None
        super()._play(action, mark, times_ns, remarks)


# -- analysis file ---------------------------------------------------------------------------------------
# Stores an analysis in a file of JSON lines: its subject, then one line for each sample.
#
# Lines are only added, each written at once. So an analysis that was stopped, or killed, continues where it
# stopped.

_FORMAT: Final = 1
_MAX_BYTES: Final = 1 << 28
_ALL: Final = 1 << 30
_MANY: Final = 1 << 53  # no count of an analysis is larger, and beyond it floats are not exact


@attrs.frozen
class _About:
    """The first line of a file: what all samples depend on, as `about` makes it."""

    type: str
    format: int
    record: str
    game: str
    seed: str
    bots: tuple[tuple[str, str, str], ...]
    clock: dict[str, Any] | None
    level: str | None
    estimates: bool
    all_known: bool
    actions: int = attrs.field(validator=attrs.validators.ge(1))


@attrs.frozen
class _Sample:
    """One of the other lines; the ways in `worth` are whole numbers as text, as JSON has its keys."""

    n: int
    k: int
    worth: dict[str, float]
    chose: int | None = None
    faults: dict[str, int] = attrs.field(factory=dict)
    valued: int = 0


@attrs.frozen
class Analysis:
    """The results so far of an analysis of one match.

    `actions` are those that are named, by line and index. `left` counts the decisions of which nothing is known yet.
    """

    about: JsonObject
    plan: Plan
    actions: dict[tuple[int, int], JsonObject]
    verdicts: tuple[Verdict, ...]
    turns: tuple[Turn, ...]
    left: int
    playouts: int
    faults: dict[str, int]

    @property
    def blunders(self) -> list[Verdict]:
        """The decisions that cost the most, the worst first."""
        blunders = [each for each in self.verdicts if each.blunder]
        return sorted(blunders, key=lambda each: -_loss(each))


def _loss(verdict: Verdict) -> float:
    return 0.0 if verdict.loss is None else verdict.loss.value


def concluded(
    heading: JsonObject, game: Game[Any, Any], places: Sequence[Place], book: Book, plan: Plan
) -> Analysis:
    """The verdicts of the samples of `book` on the decisions of these places."""
    each = [(place, verdict(place.decision, book, plan)) for place in places]
    verdicts = tuple(one for _, one in each if one is not None)
    actions: dict[tuple[int, int], JsonObject] = {}
    for place, one in each:
        if one is not None:
            n, seat = place.decision.n, place.decision.seat
            legal = game.legal(game.from_json(place.position), seat)
            best = [] if one.best is None else [one.best]
            for index in {one.decision.played, *best, *(other.index for other in one.others)}:
                actions[n, index] = game.action_json(legal[index])
    left, changes, faults = (
        len(each) - len(verdicts),
        tuple(turns(verdicts, plan)),
        dict(sorted(book.faults.items())),
    )
    return Analysis(heading, plan, actions, verdicts, changes, left, book.playouts, faults)


def about(setting: Setting, actions: int) -> JsonObject:
    """The first line of the file: all that the samples depend on."""
    return {
        "type": "analysis",
        "format": _FORMAT,
        "record": setting.record,
        "game": setting.game,
        "seed": setting.seed,
        "bots": [[seat.bot, seat.version, seat.digest] for seat in setting.bots],
        "clock": attrs.asdict(setting.clock) if setting.bots else None,
        "level": setting.level if setting.bots else None,
        "estimates": setting.estimates,
        "all_known": setting.all_known,
        "actions": actions,
    }


def record_of(path: Path) -> tuple[str, bytes]:
    """The digest of the record that the analysis in this file is about, and the file's bytes."""
    text = _read(path)
    return str(_about(path, text)["record"]), text


def read_analysis(path: Path, record: bytes) -> Analysis:
    """The analysis of a record in its file. Raises `BadInput` if the file belongs to another record."""
    replay = Replay(record)
    positions = places(replay)
    assert replay.summary is not None
    heading, book = load(path, [place.decision for place in positions])
    if heading["record"] != replay.summary.digest:
        raise BadInput(f"{path}: it is the analysis of another record, with digest {heading['record']}")
    shares = are_shares(replay)
    plan = Plan(
        _ALL, heading["actions"], LEAST if shares else 0.0, heading["seed"], bool(heading["bots"]), shares
    )
    return concluded(heading, replay.game, positions, book, plan)


def are_shares(replay: Replay) -> bool:
    """Whether a match is worth a share of the points; in a solo game without an opponent it is the score."""
    summary = replay.summary
    return replay.header["players"] > 1 or (summary is not None and summary.rival is not None)


class AnalysisFile:
    """The file of an analysis, open to add samples."""

    def __init__(self, path: Path, heading: JsonObject) -> None:
        """Begin the file, or continue it: `load` returns its samples.

        Raises `BadInput` for a file of another analysis.
        """
        self.path = path
        text = b""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                text = _read(path)
            if text:
                _compare(path, _about(path, text), heading)
            whole = text[: text.rfind(b"\n") + 1]
            self._file = path.open("r+b" if text else "wb")
            self._file.seek(len(whole))
            self._file.truncate()  # a line that was cut off when the analysis was killed
            if not whole:
                self._file.write(_line(heading))
                self._file.flush()
        except OSError as error:
            raise BadInput(f"{path}: cannot write the analysis: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def add(self, sample: Sample) -> None:
        """Write a sample."""
        line: JsonObject = {"n": sample.n, "k": sample.k, "worth": sample.worth}
        if sample.chose is not None:
            line["chose"] = sample.chose
        if sample.faults:
            line["faults"] = sample.faults
        if sample.valued:
            line["valued"] = sample.valued
        self._file.write(_line(line))
        self._file.flush()


def load(path: Path, decisions: Iterable[Decision]) -> tuple[JsonObject, Book]:
    """The subject of a file, and its samples; `BadInput` for a line that does not fit the record's decisions."""
    known = {decision.n: decision for decision in decisions}
    book = Book()
    text = _read(path)
    heading = _about(path, text)
    whole = text[: text.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines()[1:], 2):
        try:
            book.add(_sample(structure(_parsed(line), _Sample, f"{path}: line {number}"), known))
        except (ConfigError, ValueError, RecursionError):
            raise BadInput(
                f"{path}: line {number} is not a sample of this match: remove the file, and analyse again"
            ) from None
    return heading, book


def _parsed(line: bytes) -> Any:
    """The JSON of a line.

    Raises `ValueError` or `RecursionError` if it is invalid, or has texts that cannot be written.
    """
    data = json.loads(line)
    if b"\\u" in line:
        json.dumps(data, ensure_ascii=False).encode()
    return data


def _sample(line: _Sample, known: dict[int, Decision]) -> Sample:
    # None: of another seat or line, which was analysed before.
    legal = known[line.n].legal if line.n in known else None
    worth = {int(way): value for way, value in line.worth.items()}
    ways = [*worth] + ([] if line.chose is None else [line.chose])
    if legal is not None and not all(FREE <= way < legal for way in ways):
        raise ValueError
    counts = (line.n, line.k, line.valued, *line.faults.values())
    if not all(0 <= count < _MANY for count in counts) or any(abs(value) > _MANY for value in worth.values()):
        raise ValueError
    return Sample(line.n, line.k, worth, line.chose, line.faults, line.valued)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot read it: {error.strerror}") from None
    if len(text) > _MAX_BYTES:
        raise BadInput(f"{path}: larger than any analysis")
    return text


def _about(path: Path, text: bytes) -> JsonObject:
    try:
        heading = _parsed(text.partition(b"\n")[0])
    except (ValueError, RecursionError):
        heading = None
    if not isinstance(heading, dict) or heading.get("type") != "analysis":
        raise BadInput(f"{path}: this is no analysis; warpleague analyse makes one")
    if heading.get("format") != _FORMAT:
        shown = str(heading.get("format"))[:20]
        raise BadInput(f"{path}: an analysis of format {shown!r}; this version reads {_FORMAT}")
    try:
        structure(heading, _About, f"{path}: line 1")
    except ConfigError as error:
        first = str(error).partition("\n")[0]
        raise BadInput(f"{first}; this is no analysis: warpleague analyse makes one") from None
    return heading


def _compare(path: Path, stored: JsonObject, wanted: JsonObject) -> None:
    wanted = json.loads(_line(wanted))
    for name, value in wanted.items():
        if stored.get(name) != value:
            what = {"record": "of another record", "bots": "with other bots"}.get(
                name, f"with another {name}"
            )
            raise BadInput(
                f"{path}: the analysis in it was made {what}: name another file, or remove this one"
            )


def _line(data: JsonObject) -> bytes:
    return json.dumps(data, separators=(",", ":"), sort_keys=True).encode() + b"\n"
