"""The page of one match: its replay, result, conditions, and how to check it."""

from __future__ import annotations

import json
import shlex
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from warpleague.match.faults import evidence_lines
from warpleague.match.record import confinement_of
from warpleague.report.site.delta import Delta, diff
from warpleague.report.site.page_frame import alone, linked, render
from warpleague.report.wording.match_words import (
    Rows,
    conditions,
    ending,
    labels,
    number,
    one_line,
    outcome,
    placing,
    seat_lucks,
)
from warpleague.text import isolated, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene
    from warpleague.match.replay import Replay, ReplayStep


# -- frames ----------------------------------------------------------------------------------------------
# The frames of a replay: for each line of a record, what happened and the picture as each seat saw it.
#
# `warpleague.match.replay` executes the record, `delta` writes the pictures, and the viewer
# (`assets/replay.js`) shows the frames. A record is read once, line by line, and its frames are compressed at
# once, to save memory.
#
# Frame n is the position after line n of the record; frame 0 is the start. What a frame holds, beside the
# pictures:
#
#     kind, seat, ask, marks                       of the line; marks are auto, then, substituted
#     action, outcome, note                        for the viewer of everything; action and note also for who acted
#     ms, bank                                     [wall, cpu, wait] of the decision, seconds it left in the bank
#     value                                        the share that the bot expected, 0 to 1, where it gave one
#     judged, turn                                 what an analysis found, where there is one (`judged` of the study)
#     fault                                        its kind, if it retired the seat, its evidence as names and texts
#     told                                         what happened in words, one list for all that saw the same
#     scene                                        deltas against the frame before, likewise
#
# `told` and `scene` are lists: first the one for the viewer of everything, then, for each seat, its own, or
# null where it is the same.

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
    for n, frame in enumerate(frames(replay, seats_see=seats_see)):
        frame |= (more or {}).get(n, {})
        for name in seen:
            views = frame.pop(name)
            seen[name].append(_encode(views if apart is None else views[:1]))
            seats[name].append(_encode(views[1:]))
        block.write((b"," if n else b"") + _encode(frame))
        if "fault" in frame:
            faults[frame["seat"]].append({"kind": frame["fault"][0], "n": n})
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
        for place, viewer in enumerate(viewers):
            scene = game.scene(state, viewer)
            delta = diff(shown[place], scene, whole)
            whole = whole or (shown[place], scene, delta)
            shown[place] = scene
            deltas.append(None if place and delta == deltas[0] else delta)
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
    first = _event_texts(replay, whole)
    texts: list[list[str] | None] = [first]
    for viewer in viewers:
        if viewer is not None:
            seen = [event.seen_by(viewer) for event in step.events]
            lines = first if seen == whole else _event_texts(replay, seen)
            texts.append(None if lines == first else lines)
    return texts


def _event_texts(replay: Replay, events: list[JsonObject | None]) -> list[str]:
    return [safe(replay.game.tell(data), keep="") for data in events if data is not None]


# -- match -----------------------------------------------------------------------------------------------


@attrs.frozen
class Notes:
    """What was found out about a match after it was played: further keys of its frames, by line, and the method."""

    frames: Mapping[int, dict[str, Any]]
    method: str


@attrs.frozen
class Place:
    """The place of a match's page in a site.

    `league` is the league's name, and `export` the command that writes the record. `stamp` is a hash of what the page
    is made from. `root` is the address of the site's folder as seen from the page.
    """

    league: str
    export: str
    stamp: str
    root: str = "../"


ORDER: Final = "order.js"
"""The file beside the pages of a site's matches that lists them in order."""


def page_alone(replay: Replay, name: str, record: bytes = b"", notes: Notes | None = None) -> bytes:
    """One page that needs no other file, of the record in the file `name`; `RecordError` if that does not hold.

    The page offers `record`, its text, for download, if it is given, and shows the `notes`. It tells the luck of each
    seat, which the many pages of a site do not: that takes several times as long as all the rest.
    """
    checks = [
        ("Execute the record again, dice included:", _command("replay", "verify", name)),
        ("Play the match again, with the same bots:", _command("reproduce", name)),
    ]
    block, match = _content(replay, checks, notes)
    match |= _offered(record) | {"lucks": [attrs.asdict(luck) for luck in seat_lucks(replay)]}
    return render("replay.html.j2", frame=alone("match"), match=match, block=block, stamp="")


def page_linked(
    replay: Replay, place: Place, record: bytes = b"", notes: Notes | None = None, *, with_script: bool = True
) -> tuple[bytes, bytes]:
    """The page of a match as a part of a site, and the script beside it, `ID.js`.

    The script has what the page loads only when it is wanted: what each seat saw, and the record. Where seats see
    different things, it takes a good part of the time. Unless the page comes `with_script`, that is empty.

    The page offers `record` for download, if it is given, and shows the `notes`. Which matches are before and after
    it, it learns from the file `ORDER` beside it.
    """
    name = f"{replay.header['id']}.jsonl"
    checks = [
        ("Write the record to a file:", place.export),
        ("Execute it again, dice included:", _command("replay", "verify", name)),
    ]
    views = CompressedJson() if with_script else None
    block, match = _content(replay, checks, notes, views, seats_see=with_script)
    beside = b""
    if views is not None:
        text = json.dumps({"views": views.text(), "record": _offered(record).get("record", "")})
        beside = b"globalThis.warpleagueMore = " + text.encode() + b";\n"
    more = f"{replay.header['id']}.js"
    home = f"{place.root}index.html#match={replay.header['id']}"
    match |= {"league": one_line(place.league), "home": home, "order": ORDER, "more": more}
    frame = linked("match", place.root, place.stamp)
    page = render("replay.html.j2", frame=frame, match=match, block=block, stamp=place.stamp)
    return page, beside


def _content(
    replay: Replay,
    checks: list[tuple[str, str]],
    notes: Notes | None,
    views: CompressedJson | None = None,
    *,
    seats_see: bool = True,
) -> tuple[str, dict[str, Any]]:
    """The compressed replay, and what the template says of the match; executes the record."""
    header = replay.header
    names = [one_line(seat["bot"]) for seat in header["seats"]]
    called = list(map(isolated, labels(names)))
    head = {"seats": [{"bot": name, "label": label} for name, label in zip(names, called, strict=True)]}
    faults: list[list[dict[str, Any]]] = [[] for _ in names]
    more = None if notes is None else notes.frames
    block, end = compress_replay(replay, head, faults, more, views, seats_see=seats_see)
    ranks, scores = end["ranks"], end["scores"]
    seats = [
        {
            "seat": seat,
            "label": called[seat],
            "rank": ranks[seat],
            "place": placing(ranks, seat),
            "score": number(scores[seat]),
            "faults": faults[seat],
        }
        for seat in range(len(names))
    ]
    rival = end.get("rival")
    match = {
        "game": header["game"],
        "title": replay.game.title,
        "labels": called,
        "seats": seats,
        "parts": [
            {"name": one_line(part).replace("_", " "), "of": [number(value) for value in values]}
            for part, values in end["breakdown"].items()
        ],
        "rival": None if rival is None else {"score": number(rival), "rank": 2 if ranks[0] == 1 else 1},
        "lucks": [],
        "outcome": outcome(called, ranks, scores, rival, ending(replay.game, end["why"])),
        "ends": json.dumps([{"score": seat["score"], "place": seat["place"]} for seat in seats]),
        "facts": _condition_rows(header, end)
        + ([] if notes is None else [("analysed", one_line(notes.method))]),
        "checks": checks,
        "home": "",
        "order": "",
        "file": one_line(f"{header['id']}.jsonl"),
        "record": "",
        "more": "",
    }
    return block, match


def _offered(record: bytes) -> dict[str, str]:
    """The record as a page keeps it for download."""
    block = CompressedJson()
    block.write(record)
    return {"record": block.text()} if record else {}


def _command(*words: str) -> str:
    return one_line(shlex.join(("warpleague", *words)))


def _condition_rows(header: dict[str, Any], end: dict[str, Any]) -> Rows:
    """The conditions as rows for a reader."""
    words = conditions(header, header["clock"] if isinstance(header["clock"], dict) else {})
    bots = [f"{seat['bot']} {seat.get('version', '')}".strip() for seat in header["seats"]]
    rows = [
        ("match", header["id"]),
        ("played", header["started"] or "not noted"),
        ("game", words["game"]),
        ("options", words["options"]),
        ("clock", words["clock"]),
        *[
            ("its own clock", f"{seat['bot']}: {conditions(header, seat['clock'])['clock']}")
            for seat in header["seats"]
            if isinstance(seat.get("clock"), dict)
        ],
        ("faults", words["faults"]),
        ("confined", _level(header, words["level"])),
        ("bots", "; ".join(bots)),
        ("harness", header["harness"]),
        ("digest", end["digest"]),
    ]
    if header["position"] is not None:
        parent = header.get("parent")
        since = (
            f"line {parent['n']} of the match with digest {parent['digest']}"
            if parent
            else "a given position"
        )
        rows.insert(4, ("start", f"from {since}"))
    if header["seed"] is not None:
        rows.append(("seed", header["seed"]))
    rows.append(("key", header["key"] or "secret until the season ends"))
    return [(name, one_line(value)) for name, value in rows]


def _level(header: dict[str, Any], level: str) -> str:
    """The level, and the means that enforced it, where the record has them."""
    confinement = confinement_of(header)
    means = confinement.short_text() if confinement is not None else ""
    return f"level {level}: {means}" if means else f"level {level}"
