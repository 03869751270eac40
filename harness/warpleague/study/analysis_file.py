"""Stores an analysis in a file of JSON lines: its subject, then one line for each sample.

Lines are only added, each written at once. So an analysis that was stopped, or killed, continues where it stopped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from warpleague.errors import BadInput, ConfigError
from warpleague.match.replay import Replay
from warpleague.strict import structure
from warpleague.study.verdicts import FREE, LEAST, Book, Plan, Sample, Verdict, turns, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

    from warpleague.games.api import Game, JsonObject
    from warpleague.study.analyse import Place, Setting
    from warpleague.study.verdicts import Decision, Turn

_FORMAT: Final = 1
_MAX_BYTES: Final = 1 << 28
_ALL: Final = 1 << 30
_MANY: Final = 1 << 53  # beyond this no count of an analysis goes, and no float is exact


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
    return Analysis(
        heading,
        plan,
        actions,
        verdicts,
        tuple(turns(verdicts, plan)),
        len(each) - len(verdicts),
        book.playouts,
        dict(sorted(book.faults.items())),
    )


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
    from warpleague.study.analyse import places

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
        """Begin the file, or continue it: `read` returns its samples.

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
    legal = (
        known[line.n].legal if line.n in known else None
    )  # of another seat or line: it was analysed before
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
