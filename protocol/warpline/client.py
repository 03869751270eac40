"""A client for bots in Python: it reads and writes the messages, and the bot only has to choose.

It needs only the standard library and runs on Python 3.8 and later, so this one file can be copied into the folder
of a bot that must work without `warpline`.

    from warpline.client import run

    def choose(question):
        return 0  # an index into question.legal, or an action object, or a Reply

    run(choose, name="first", wants=("legal",))

While `run` runs, the bot cannot disturb the wire: what `print` or a C library writes to standard output goes to
standard error, and standard input is empty. Do not print anything before `run`.
"""

from __future__ import annotations

import json
import os
import sys
from operator import index

TYPE_CHECKING = False  # importing `typing` for it would be a quarter of this module's start-up
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

# The same numbers as in `warpline.limits`, repeated here so that this file stands alone.
PROTOCOL = 1
MAX_LINE = 64 * 1024
NOTE_BYTES = 1024
WANTED = ("events", "state", "legal", "text")


class Match:
    """The fields of the `start` message; the specification of the protocol explains them."""

    __slots__ = ("clock", "game", "id", "note_bytes", "options", "players", "rules", "seat", "seed", "setup")

    def __init__(self, start: dict[str, Any]) -> None:
        self.id: str = start["match"]
        self.game: str = start["game"]
        self.rules: int = start["rules"]
        self.options: dict[str, Any] = start["options"]
        self.seat: int = start["seat"]
        self.players: list[str] = start["players"]
        self.seed: str = start["seed"]
        self.clock: dict[str, float] = start["clock"]
        self.setup: dict[str, Any] = start["setup"]
        self.note_bytes: int = start.get("note_bytes", NOTE_BYTES)


class Question:
    """One decision to make, with the match it belongs to.

    `events`, `state`, `legal` and `text` are there if the bot wants them; `clock` holds the seconds left (`bank_s`,
    `move_s`; one that is absent does not limit); `talk` is the number of messages that may still be sent now.
    """

    __slots__ = ("ask", "clock", "events", "id", "legal", "of", "state", "talk", "text")

    def __init__(self, act: dict[str, Any], of: Match) -> None:
        self.of = of
        self.id: int = act["id"]
        self.ask: str = act["ask"]
        self.clock: dict[str, float] = act.get("clock", {})
        self.talk: int = act.get("talk", 0)
        for name in WANTED:
            if name in act:
                setattr(self, name, act[name])

    def __getattr__(self, name: str) -> Any:
        # Called only for what the question does not have. A None here would fail far from its cause.
        text = f"question.{name} was not asked for: name it in run(choose, wants=({name!r}, ...))"
        raise AttributeError(text if name in WANTED else f"a question has no {name!r}", name=name, obj=None)

    @property
    def match(self) -> str:
        """The id of the match."""
        return self.of.id

    @property
    def game(self) -> str:
        """The id of the game."""
        return self.of.game

    @property
    def options(self) -> dict[str, Any]:
        """The game's options, complete with their defaults."""
        return self.of.options

    @property
    def setup(self) -> dict[str, Any]:
        """The static facts of the game."""
        return self.of.setup

    @property
    def seat(self) -> int:
        """The bot's own seat, counted from 0."""
        return self.of.seat

    @property
    def players(self) -> list[str]:
        """The names of the bots by seat."""
        return self.of.players

    @property
    def seed(self) -> str:
        """The bot's own seed in this match: a bot that draws from it alone plays reproducibly."""
        return self.of.seed

    @property
    def time_s(self) -> float | None:
        """The seconds left for this decision, the lesser of cap and bank; None without a limit."""
        limits = [self.clock[name] for name in ("bank_s", "move_s") if self.clock.get(name) is not None]
        return min(limits) if limits else None

    @property
    def heard(self) -> list[tuple[int, str]]:
        """The messages of others to this seat since the last question, as (seat, text), in a game with talk."""
        talk = [event for event in getattr(self, "events", ()) if event["event"] == "said"]
        return [(event["seat"], event["text"]) for event in talk if event["seat"] != self.seat]

    def options_to(self, do: str) -> list[int]:
        """The indices of the legal actions whose `do` is the one given."""
        return [number for number, action in enumerate(self.legal) if action["do"] == do]


class End:
    """How a match ended: its `result` (`ranks`, `scores`, `breakdown`, `why`) and the last `events`."""

    __slots__ = ("events", "of", "result")

    def __init__(self, end: dict[str, Any], of: Match | None) -> None:
        self.of = of
        self.result: dict[str, Any] = end.get("result", {})
        self.events: Any = end.get("events")


class Reply:
    """An action with more to it: `then`, action objects that follow at once, and remarks for the record.

    `note` is a text, cut to the `note_bytes` of the match. `value` is the share of the points that the bot expects for
    its seat, from 0 (last) to 1 (first). `usage` says what a service took: `input_tokens`, `output_tokens`, `cost`,
    `retries`.
    """

    __slots__ = ("action", "note", "then", "usage", "value")

    def __init__(
        self,
        action: int | dict[str, Any],
        then: Iterable[dict[str, Any]] = (),
        note: str | None = None,
        value: float | None = None,
        usage: Mapping[str, float] | None = None,
    ) -> None:
        self.action = action
        self.then = then
        self.note = note
        self.value = value
        self.usage = usage


class Failed:
    """Instead of an action: a service that the bot uses failed, and `why`; what it took all the same is `usage`."""

    __slots__ = ("usage", "why")

    def __init__(self, why: str, usage: Mapping[str, float] | None = None) -> None:
        self.why = why
        self.usage = usage


def say(to: int | Iterable[int], text: str) -> dict[str, Any]:
    """The action of sending `text` to a seat or several, in a game with talk."""
    seats = [to] if isinstance(to, int) else list(to)
    return {"do": "say", "to": seats, "text": text}


class Program:
    """The functions of a bot, and what they answer to the lines of a referee; `run` makes it, and explains them."""

    __slots__ = ("_choose", "_hello", "_match", "_on_end", "_on_start")

    def __init__(
        self,
        choose: Callable[[Question], int | dict[str, Any] | Reply | Failed],
        hello: dict[str, Any],
        on_start: Callable[[Match], object] | None,
        on_end: Callable[[End], object] | None,
    ) -> None:
        self._choose = choose
        self._hello = hello
        self._on_start = on_start
        self._on_end = on_end
        self._match: Match | None = None

    @property
    def reusable(self) -> bool:
        """Whether it can play another match afterwards."""
        return bool(self._hello["reusable"])

    def answer(self, message: dict[str, Any]) -> bytes | None:
        """The line that answers a message, None where the referee expects none; raises what the bot raises."""
        kind = message["type"]
        if kind == "act":
            match = self._match
            if match is None:
                raise ValueError("the referee asked before it started a match")
            return _answer(message["id"], self._choose(Question(message, match)), match.note_bytes)
        if kind == "start":
            self._match = Match(message)
            if self._on_start is not None:
                self._on_start(self._match)
            return b'{"type":"ready"}\n'
        if kind == "end":
            if self._on_end is not None:
                self._on_end(End(message, self._match))
        elif kind == "hello":
            return _dump(self._hello)
        elif kind == "fault":
            print("fault: {kind}: {message}".format_map(message), file=sys.stderr)
        return None


taken_by: Callable[[Program], None] | None = None
"""Who plays bots in its own process sets this while it loads one: `run` then gives it the bot, and reads no wire."""


def run(
    choose: Callable[[Question], int | dict[str, Any] | Reply | Failed],
    *,
    name: str | None = None,
    version: str | None = None,
    wants: Sequence[str] = ("state", "legal", "events"),
    reusable: bool = False,
    on_start: Callable[[Match], object] | None = None,
    on_end: Callable[[End], object] | None = None,
) -> None:
    """Play until the referee says `quit` or closes the input; `choose` is called for each question.

    `on_start` is called before the bot says it is ready, within the time to get ready; `on_end` after each
    match. `reusable` bots may get several matches in turn. An exception in any of the three ends the bot with
    its traceback and exit code 1. To be called once, by the main program. `TypeError` if `choose` is no function,
    `ValueError` if `wants` names what there is not.
    """
    if not callable(choose):
        raise TypeError(f"choose must be a function of a question, not {choose!r}")
    wants = list(wants)
    for want in wants:
        if want not in WANTED:
            raise ValueError(f"wants: {want!r} is not one of {', '.join(WANTED)}: write wants=('legal', ...)")
    hello: dict[str, Any] = {
        "type": "hello",
        "protocol": PROTOCOL,
        "wants": wants,
        "reusable": reusable,
    }
    if name is not None:
        hello["name"] = name
    if version is not None:
        hello["version"] = version
    program = Program(choose, hello, on_start, on_end)
    if taken_by is not None:
        taken_by(program)
        return
    source, sink = _take_wire()
    try:
        with open(source, "rb") as lines:  # noqa: PTH123 - a descriptor
            for line in lines:
                message = json.loads(line)
                if message["type"] == "quit":
                    return
                answer = program.answer(message)
                if answer is not None:
                    _write(sink, answer)
    except BrokenPipeError:
        return  # the referee has ended: nobody reads this
    finally:
        os.close(sink)


def _take_wire() -> tuple[int, int]:
    """Move the wire to private descriptors (source, sink) that no child inherits; see the module's docstring."""
    nothing = os.open(os.devnull, os.O_RDWR)  # takes the place of a standard error that is closed
    source = os.dup(0)
    sink = os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if nothing > 2:
        os.close(nothing)
    if sys.stdout is not None:
        sys.stdout.flush()  # earlier output was still in the buffer
    sys.stdout = sys.stderr
    return source, sink


def _answer(number: int, choice: Any, note_bytes: int = NOTE_BYTES) -> bytes:
    """The line that answers question `number`; TypeError or ValueError if `choice` is not an answer."""
    if isinstance(choice, Failed):
        more = {"usage": dict(choice.usage)} if choice.usage else {}
        return _dump({"type": "act", "id": number, "failed": _cut(choice.why), **more})
    action, further, note, value, usage = choice, None, None, None, None
    if isinstance(choice, Reply):
        action, further, note, value = choice.action, list(choice.then), choice.note, choice.value
        usage = choice.usage
    if not isinstance(action, dict):
        try:
            action = index(action)  # numpy's integers too
        except TypeError:
            raise TypeError(f"a choice is an index, an action object or a Reply, not {action!r}") from None
        if action < 0:
            raise ValueError(f"an index counts from 0; this one is {action}")
    answer: dict[str, Any] = {"type": "act", "id": number, "action": action}
    if further:
        answer["then"] = further
    if note is not None:
        answer["note"] = _cut(note, note_bytes)
    if value is not None:
        answer["value"] = float(value)  # numpy's floats too
        if not 0 <= answer["value"] <= 1:
            raise ValueError(f"a value is a share from 0 to 1; this one is {value}")
    if usage:
        answer["usage"] = dict(usage)
    line = _dump(answer)
    if len(line) > MAX_LINE + 1:
        raise ValueError(f"an answer has at most {MAX_LINE} bytes; this one has {len(line) - 1}")
    return line


def _cut(text: str, most: int = NOTE_BYTES) -> str:
    """The first `most` bytes of `text`."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _dump(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _write(sink: int, line: bytes) -> None:
    while line:
        line = line[os.write(sink, line) :]
