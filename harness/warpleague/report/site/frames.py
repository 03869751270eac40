"""The frames of a replay: for each line of a record, what happened and the picture as each seat saw it.

`warpleague.match.replay` executes the record, `delta` writes the pictures, and the viewer (`assets/viewer.js`)
shows the frames. A record is read once, line by line, and its frames are compressed at once, to save memory.

Frame n is the position after line n of the record; frame 0 is the start. What a frame holds, beside the pictures:

    kind, seat, ask, marks                       of the line; marks are auto, then, substituted
    action, outcome, note                        for the viewer of everything; action and note also for who acted
    ms, bank                                     [wall, cpu, wait] of the decision, seconds it left in the bank
    value                                        the share that the bot expected, 0 to 1, where it gave one
    judged, turn                                 what an analysis found, where there is one (`judged`)
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

from warpleague.match.evidence import evidence_lines
from warpleague.report.site.delta import diff
from warpleague.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene
    from warpleague.match.replay import Replay, ReplayStep
    from warpleague.report.site.delta import Delta

_EVIDENCE_CHARS: Final = 8_000
"""The bytes that a page keeps of one text of a fault's evidence; all of it is in the record."""

_MARKS: Final = ("auto", "then", "substituted")
_encode = msgspec.json.Encoder().encode


class CompressedJson:
    """JSON written piece by piece into one deflated block; `text` is that block in base64."""

    def __init__(self, level: int = 9) -> None:
        self._packer = zlib.compressobj(level)
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Add a piece."""
        self._parts.append(self._packer.compress(data))

    def text(self) -> str:
        """The whole block; nothing can be added afterwards."""
        self._parts.append(self._packer.flush())
        return b64encode(b"".join(self._parts)).decode()


def compressed_json(data: object, level: int = 9) -> str:
    """Any JSON value as such a block, compressed at a level from 1 to 9."""
    block = CompressedJson(level)
    block.write(_encode(data))
    return block.text()


def compress_replay(
    replay: Replay,
    head: dict[str, Any],
    faults: list[list[dict[str, Any]]],
    more: Mapping[int, dict[str, Any]] | None = None,
    apart: CompressedJson | None = None,
    *,
    seats_see: bool = True,
) -> tuple[str, dict[str, Any]]:
    """All frames of a record as one block, and its end line; the record is verified on the way.

    The block is the JSON object of `head` with three more keys. `frames` are the frames without `told` and `scene`;
    `told` and `scene` list these parts of all frames, which compresses better so. If `apart` is given, they list only
    the parts for the viewer of everything, and `apart` gets an object of two such lists for the seats. `faults` gets
    every fault that is met, in the list of its seat, as its kind and its line `n`. `more` has further keys of frames,
    by line. Unless `seats_see`, the parts for the seats are left out.
    """
    block = CompressedJson()
    block.write(_encode(head)[:-1] + b',"frames":[')
    seen: dict[str, list[bytes]] = {"told": [], "scene": []}
    seats: dict[str, list[bytes]] = {"told": [], "scene": []}
    for number, frame in enumerate(frames(replay, seats_see=seats_see)):
        frame |= (more or {}).get(number, {})
        for name in seen:
            views = frame.pop(name)
            seen[name].append(_encode(views if apart is None else views[:1]))
            seats[name].append(_encode(views[1:]))
        block.write((b"," if number else b"") + _encode(frame))
        if "fault" in frame:
            faults[frame["seat"]].append({"kind": frame["fault"][0], "n": number})
    block.write(b"]," + _lists(seen)[1:])
    if apart is not None:
        apart.write(_lists(seats))
    end: dict[str, Any] = msgspec.json.decode(replay.lines[-1])
    return block.text(), end


def _lists(named: Mapping[str, list[bytes]]) -> bytes:
    """The JSON of an object of lists, from that of their items."""
    return b"{" + b",".join(b'"%b":[%b]' % (name.encode(), b",".join(named[name])) for name in named) + b"}"


def frames(replay: Replay, *, seats_see: bool = True) -> Iterator[dict[str, Any]]:
    """The frames of a record, the start first; `RecordError` at the first line that does not hold.

    Unless `seats_see`, they have only what the viewer of everything sees.
    """
    game, viewers = replay.game, (None, *(range(replay.header["players"]) if seats_see else ()))
    shown: list[Scene | None] = [None] * len(viewers)

    def pictures(state: Any) -> list[Delta | None]:
        deltas: list[Delta | None] = []
        whole: tuple[Scene | None, Scene, Delta] | None = None  # what the viewer of everything sees
        for number, viewer in enumerate(viewers):
            scene = game.scene(state, viewer)
            delta = diff(shown[number], scene, whole)
            whole = whole or (shown[number], scene, delta)
            shown[number] = scene
            deltas.append(None if number and delta == deltas[0] else delta)
        return deltas

    yield {"kind": "start", "told": [[]] + [None] * (len(viewers) - 1), "scene": pictures(replay.first)}
    for step in replay:
        frame = _line(step.data)
        frame["told"] = _texts(replay, step, viewers)
        frame["scene"] = pictures(step.state)
        yield frame


def _line(data: dict[str, Any]) -> dict[str, Any]:
    """The part of its line that a frame keeps, in texts that are safe to show."""
    frame: dict[str, Any] = {"kind": data["type"]}
    for name in ("seat", "ask", "ms"):
        if name in data:
            frame[name] = data[name]
    if marks := [mark for mark in _MARKS if data.get(mark)]:
        frame["marks"] = marks
    if data["type"] == "act":
        if "bank_s" in data:
            frame["bank"] = data["bank_s"]
        if isinstance(data.get("value"), (int, float)):
            frame["value"] = data["value"]
        frame["action"] = safe(_encode(data["action"]).decode(), keep="")
        if "detail" in data:
            frame["note"] = safe("\n".join(map(str.strip, evidence_lines(data["detail"], 0))))
    elif data["type"] == "chance":
        frame["outcome"] = safe(_encode([data["of"], data["outcome"]]).decode(), keep="")
    else:
        frame["fault"] = [str(data["kind"]), bool(data["retired"]), evidence(data.get("detail"))]
    if data.get("note"):
        frame["note"] = "\n".join(filter(None, (frame.get("note"), safe(str(data["note"])))))
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


def _texts(replay: Replay, step: ReplayStep, viewers: tuple[int | None, ...]) -> list[list[str] | None]:
    whole: list[JsonObject | None] = [event.data for event in step.events]
    first = _told(replay, whole)
    texts: list[list[str] | None] = [first]
    for viewer in viewers:
        if viewer is not None:
            seen = [event.seen_by(viewer) for event in step.events]
            lines = first if seen == whole else _told(replay, seen)
            texts.append(None if lines == first else lines)
    return texts


def _told(replay: Replay, events: list[JsonObject | None]) -> list[str]:
    return [safe(replay.game.tell(data), keep="") for data in events if data is not None]
