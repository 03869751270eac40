"""The frames of a replay: for each line of a record, what happened and the picture as each seat saw it.

`warpleague.match.replay` executes the record, `delta` writes the pictures, and the viewer (`assets/viewer.js`)
shows the frames. A record is read once, line by line, and its frames are compressed at once, to save memory.

Frame n is the position after line n of the record; frame 0 is the start. What a frame holds, beside the pictures:

    kind, seat, ask, marks                       of the line; marks are auto, then, substituted
    action, outcome, note                        for the viewer of everything; action and note also for who acted
    ms, bank                                     [wall, cpu, wait] of the decision, seconds left on the bank after it
    fault                                        its kind, whether it retired the seat, its evidence as names and texts
    told                                         what happened in words, one list for all that saw the same
    scene                                        deltas against the frame before, likewise

`told` and `scene` are lists: first the one for the viewer of everything, then, for each seat, its own, or null
where it is the same.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import msgspec

from warpleague.report.site.delta import diff
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.games.api import Game
    from warpleague.games.scene import Scene
    from warpleague.match.replay import Replay, Step
    from warpleague.report.site.delta import Delta

_EVIDENCE_CHARS: Final = 8_000
"""What a page keeps of one text of a fault's evidence; all of it is in the record."""

_MARKS: Final = ("auto", "then", "substituted")
_encode = msgspec.json.Encoder().encode


class Packer:
    """JSON written piece by piece into one deflated block; `text` is that block in base64."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(9)
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Add a piece."""
        self._parts.append(self._packer.compress(data))

    def text(self) -> str:
        """The whole block; nothing can be added afterwards."""
        self._parts.append(self._packer.flush())
        return b64encode(b"".join(self._parts)).decode()


def packed(data: object) -> str:
    """Any JSON value as such a block."""
    packer = Packer()
    packer.write(_encode(data))
    return packer.text()


def pack_replay(
    replay: Replay, head: dict[str, Any], faults: list[list[dict[str, Any]]]
) -> tuple[str, dict[str, Any]]:
    """All frames of a record as one block, and its end line; the record is verified on the way.

    The block is the JSON object of `head` with the key `frames` besides. Every fault met goes into the list of its
    seat, as its kind and its line `n`.
    """
    packer = Packer()
    packer.write(_encode(head)[:-1] + b',"frames":[')
    for number, frame in enumerate(frames(replay)):
        packer.write((b"," if number else b"") + _encode(frame))
        if "fault" in frame:
            faults[frame["seat"]].append({"kind": frame["fault"][0], "n": number})
    packer.write(b"]}")
    end: dict[str, Any] = msgspec.json.decode(replay.lines[-1])
    return packer.text(), end


def frames(replay: Replay) -> Iterator[dict[str, Any]]:
    """The frames of a record, the start first; `RecordError` at the first line that does not hold."""
    game, viewers = replay.game, (None, *range(replay.header["players"]))
    shown: list[Scene | None] = [None] * len(viewers)
    clock = _Banks(replay.header)

    def pictures(state: Any) -> list[Delta | None]:
        deltas: list[Delta | None] = []
        for number, viewer in enumerate(viewers):
            scene = game.scene(state, viewer)
            delta = diff(shown[number], scene)
            shown[number] = scene
            deltas.append(None if number and delta == deltas[0] else delta)
        return deltas

    yield {"kind": "start", "told": [[]] + [None] * (len(viewers) - 1), "scene": pictures(replay.first)}
    before = replay.first
    for step in replay:
        frame = _line(step.data)
        bank = clock.after(step.data, message=clock.kept and _is_message(game, before, step.data))
        before = step.state
        if bank is not None:
            frame["bank"] = bank
        frame["told"] = _told(replay, step, viewers)
        frame["scene"] = pictures(step.state)
        yield frame


def _is_message(game: Game[Any, Any], state: Any, data: dict[str, Any]) -> bool:
    """Whether a line, played in `state`, is a message: what may be said is in no list of legal actions."""
    if data["type"] != "act" or not game.talk(state, data["seat"]):
        return False
    return data["action"] not in map(game.action_json, game.legal(state, data["seat"]))


def _line(data: dict[str, Any]) -> dict[str, Any]:
    """What a frame keeps of its line, in texts that are safe to show."""
    frame: dict[str, Any] = {"kind": data["type"]}
    for name in ("seat", "ask", "ms"):
        if name in data:
            frame[name] = data[name]
    if marks := [mark for mark in _MARKS if data.get(mark)]:
        frame["marks"] = marks
    if data["type"] == "act":
        frame["action"] = safe(_encode(data["action"]).decode(), keep="")
    elif data["type"] == "chance":
        frame["outcome"] = safe(_encode([data["of"], data["outcome"]]).decode(), keep="")
    else:
        frame["fault"] = [str(data["kind"]), bool(data["retired"]), evidence(data.get("detail"))]
    if data.get("note"):
        frame["note"] = safe(str(data["note"]))
    return frame


def evidence(detail: object) -> list[list[str]]:
    """A fault's evidence as names and texts, the message first."""
    if not isinstance(detail, dict):
        return []
    names = sorted(detail, key=lambda name: (name != "message", name))
    return [[safe(name.replace("_", " "), keep=""), _evidence_text(detail[name])] for name in names]


def _evidence_text(value: object) -> str:
    text = safe(value if isinstance(value, str) else _encode(value).decode())
    if len(text) <= _EVIDENCE_CHARS:
        return text
    half = _EVIDENCE_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters more in the record]\n{text[-half:]}"


def _told(replay: Replay, step: Step, viewers: tuple[int | None, ...]) -> list[list[str] | None]:
    told: list[list[str] | None] = []
    for viewer in viewers:
        seen = [event.data if viewer is None else event.seen_by(viewer) for event in step.events]
        lines = [safe(replay.game.tell(data), keep="") for data in seen if data is not None]
        told.append(None if viewer is not None and lines == told[0] else lines)
    return told


class _Banks:
    """The seconds left on each seat's bank, as far as a record shows them.

    A substituted decision tells how long its bot took only after a timeout, so that after another fault the bank
    is not known to the end of the match.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        clock = header["clock"] if isinstance(header["clock"], dict) else {}
        self._increment = float(clock.get("increment_s") or 0.0)
        has_bank = "bank_s" in clock or "increment_s" in clock
        bank = float(clock.get("bank_s") or 0.0) if has_bank else None
        self.kept = has_bank
        self._left: list[float | None] = [bank] * header["players"]
        self._limit: dict[int, float] = {}
        self._talked = False  # whether a message came last, so that the decision goes on without an increment

    def after(self, data: dict[str, Any], *, message: bool) -> float | None:
        """The seconds left on the bank of this line's seat after it; None if it has no bank, or they are not known.

        `message` is whether the line is one; without banks (`kept`) it does not matter.
        """
        seat = data.get("seat")
        if seat is None:
            return None
        left = self._left[seat]
        talked = self._talked
        if data["type"] == "fault":
            self._talked = talked and not data["retired"]
            limit = data["detail"].get("limit_ms") if isinstance(data.get("detail"), dict) else None
            if data["kind"] == "timeout" and isinstance(limit, int | float):
                self._limit[seat] = limit
            return self._rounded(seat)
        self._talked = message and (talked or not data.get("then"))
        if left is None or data.get("auto") or data.get("then"):
            return self._rounded(seat)
        limit = self._limit.pop(seat, None)
        spent: float | None = limit if data.get("substituted") else (data.get("ms") or [None])[0]
        if spent is None:
            self._left[seat] = None
            return None
        increment = 0.0 if talked else self._increment
        self._left[seat] = max(0.0, left + increment - spent / 1000)
        return self._rounded(seat)

    def _rounded(self, seat: int) -> float | None:
        left = self._left[seat]
        return None if left is None else round(left, 3)
