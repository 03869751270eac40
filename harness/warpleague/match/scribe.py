"""Writes the record of a match: each line in canonical form, then the digest and the seal."""

from __future__ import annotations

import binascii
import struct
from base64 import b64decode, b64encode
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import attrs
import msgspec

from warpleague import __version__
from warpleague.games.values import Cache
from warpleague.match.spec import (
    FORMAT,
    Confinement,
    Mark,
    MatchSpec,
    SeatSpec,
    SeatTimes,
    Taken,
    TimeControl,
)
from warpline.codec import canonical, to_bytes
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.games.api import Game, JsonObject, Outcome, Rolled, Weights

    Times = tuple[int, int | None, int | None]
    """Wall, processor and waiting time in nanoseconds, None where the system cannot tell."""
    Played = tuple[Any, str, int, Mark | None]
    """An action, what was asked, the seat, and the mark."""
    Remarks = tuple[str | None, int | None, float | None]
    """What few actions have: the bot's note, the rest of the seat's bank, and the value, the share the bot expects."""
    _Noted = bytes | tuple[int, Played, Times | None, Remarks | None, JsonObject | None]
    """A line, or its number and what it is made from."""


_MARKED: Final[dict[Mark | None, tuple[bytes, bytes]]] = {
    None: (b"", b""),
    "auto": (b',"auto":true', b""),
    "substituted": (b"", b',"substituted":true'),
    "then": (b"", b',"then":true'),
}
"""The member of an act line that each mark is, by its place: after `ask`, or after `seat`."""

_MAX_NOTED: Final = 256
"""So many decisions at most are noted before they are written."""

_HEAD: Final = b'{"action":'
_ASK: Final = b',"ask":"'
"""The text before the action in an act line, and the text after it."""

_MS: Final = Cache[int, bytes](lambda us: to_bytes(number(us / 1000)), 20_000)
"""Microseconds as JSON milliseconds."""


class ActionCache:
    """The JSON bytes of a game's actions: `wire` in wire order, `heads` as a record's act line begins, up to its ask.

    `ends` are both ends of an act line, by action, ask, seat and mark. Engines keep one object for each action,
    so a look-up replaces encoding. Bounded, since an action of free text must not fill it.
    """

    __slots__ = ("ends", "heads", "wire")
    _most: Final = 50_000

    def __init__(self, game: Game[Any, Any]) -> None:
        self.wire: Cache[Any, bytes] = Cache(lambda action: to_bytes(game.action_json(action)), self._most)
        self.heads: Cache[Any, bytes] = Cache(
            lambda action: _HEAD + canonical(game.action_json(action)) + _ASK, self._most
        )
        self.ends: Cache[Played, tuple[bytes, bytes]] = Cache(self._ends, self._most)

    def _ends(self, played: Played) -> tuple[bytes, bytes]:
        """An act line up to its ask and what may follow it, and from its seat on."""
        action, ask, seat, mark = played
        after_ask, after_seat = _MARKED[mark]
        head = b'%b%b"%b' % (self.heads[action], ask.encode(), after_ask)
        return head, b',"seat":%d%b,"type":"act"}\n' % (seat, after_seat)

    def canonical(self, action: Any) -> bytes:
        """The canonical JSON of `action`, as a record has it."""
        return self.heads[action][len(_HEAD) : -len(_ASK)]

    def listed(self, actions: Iterable[Any]) -> bytes:
        """The JSON list of `actions`, as the wire shows it."""
        return b"[" + b",".join(map(self.wire.__getitem__, actions)) + b"]"


_CACHES: dict[Game[Any, Any], ActionCache] = {}


def action_cache(game: Game[Any, Any]) -> ActionCache:
    """The one cache of `game` in this process."""
    return _CACHES.get(game) or _CACHES.setdefault(game, ActionCache(game))


@lru_cache(maxsize=8192)
def _numbers(values: tuple[Weights, ...]) -> bytes:
    """Draws as JSON: the same few come again and again."""
    return canonical(values)


def _share(value: float) -> bytes:
    """A value from 0 to 1 as a record keeps it: with four decimals at most, more than any estimate is worth."""
    return to_bytes(number(round(value, 4)))


def chance_line(n: int, at: str, of: tuple[Weights, ...], outcome: Rolled) -> bytes:
    """The canonical line number `n` of a record, a roll; what the digest takes is the same."""
    # A text and whole numbers: these msgspec writes in canonical form.
    parts = to_bytes(at), n, _numbers(of), to_bytes(outcome)
    return b'{"at":%b,"n":%d,"of":%b,"outcome":%b,"type":"chance"}\n' % parts


class Scribe:
    """The record of one match in the making; `count` lines come after the header so far.

    Decisions are only noted while bots play, and written some hundred at a time: between two switches to other
    processes each step takes about twice as long as in a row. `spent` sums up the times of those that are written.
    """

    __slots__ = ("_digested", "_ends", "_lines", "_noted", "count", "spent")

    def __init__(
        self, game: Game[Any, Any], spec: MatchSpec, started: str, confinement: Confinement | None = None
    ) -> None:
        parts = _header(game, spec, started)
        if confinement is not None:
            parts["detail"] = _detail(confinement)
        members = [(name, b'"%b":%b' % (name.encode(), parts[name])) for name in sorted(parts)]
        self.count = 0
        self.spent = Spent(len(spec.seats))
        self._noted: list[_Noted] = []
        self._lines = [_line([member for _, member in members])]
        self._digested = [_line([member for name, member in members if name not in UNDIGESTED])]
        self._ends = action_cache(game).ends

    def since(self, line: int) -> list[bytes]:
        """The lines from number `line` on, as far as the match has come; the header is number 0."""
        self._write()
        return self._lines[line:]

    def chance(self, at: str, of: tuple[Weights, ...], outcome: Rolled) -> None:
        """Write what the dice showed, and the address of the roll."""
        self.count += 1
        self._noted.append(chance_line(self.count, at, of, outcome))

    def act(
        self,
        played: Played,
        times_ns: Times | None = None,
        remarks: Remarks | None = None,
        detail: JsonObject | None = None,
    ) -> None:
        """Write an action; one with a mark has no times.

        `detail` tells of illegal answers and failures after which the decision was asked again, and of what a service
        took.
        """
        self.count += 1
        # An empty detail may be filled for the next decision, before this one is written.
        self._noted.append((self.count, played, times_ns, remarks, detail or None))
        if len(self._noted) >= _MAX_NOTED:
            self._write()

    def _write(self) -> None:
        """Write what is noted."""
        noted = self._noted
        for each in noted:
            self._write_one(each)
        noted.clear()

    def _write_one(self, noted: _Noted) -> None:
        """Write one line; its keys stand in canonical order."""
        if isinstance(noted, bytes):
            self._lines.append(noted)
            self._digested.append(noted)
            return
        n, played, times_ns, remarks, detail = noted
        head, end = self._ends[played]
        if remarks is None and detail is None:
            self._digested.append(b'%b,"n":%d%b' % (head, n, end))
        else:
            note, bank_ns, value = remarks or (None, None, None)
            if note is not None:
                end = b',"note":%b%b' % (canonical(note), end)
            if value is not None:
                end = b'%b,"value":%b}\n' % (end[:-2], _share(value))
            self._digested.append(b'%b,"n":%d%b' % (head, n, end))
            # The digest takes the line without these and the times.
            if bank_ns is not None:
                left_ms = bank_ns // 1_000_000
                head += b',"bank_s":' + to_bytes(left_ms / 1000 if left_ms % 1000 else left_ms // 1000)
            if detail:
                head += b',"detail":' + canonical(detail)
        if times_ns is None:
            self._lines.append(b'%b,"n":%d%b' % (head, n, end))
            return
        wall, cpu, wait = times_ns
        self.spent.add(played[2], wall, cpu or 0, wait or 0)
        self._lines.append(
            b'%b,"ms":[%b,%b,%b],"n":%d%b'
            % (
                head,
                _MS[wall // 1000],
                b"null" if cpu is None else _MS[cpu // 1000],
                b"null" if wait is None else _MS[wait // 1000],
                n,
                end,
            )
        )

    def fault(self, seat: int, kind: str, retired: bool, detail: JsonObject, *, tied: bool = False) -> None:
        """Write a fault; `tied`: the seat is out at the same stage as the one that went out before it."""
        self._write()
        self.count += 1
        data = {
            "type": "fault",
            "n": self.count,
            "seat": seat,
            "kind": kind,
            "retired": retired,
            "detail": detail,
            **({"tied": True} if tied else {}),
        }
        self._lines.append(canonical(data) + b"\n")
        self._digested.append(digest_form(data))

    def end(self, outcome: Outcome, detail: JsonObject | None = None) -> tuple[str, bytes]:
        """The digest, and the whole sealed record with its end line; `detail`, if given, is undigested."""
        self._write()
        end = outcome_form(outcome)
        if detail is not None:
            end["detail"] = detail
        digest = digest_of([*self._digested, digest_form(end)])
        lines = [*self._lines, canonical({**end, "digest": digest}) + b"\n"]
        return digest, b"".join([*lines, seal(lines)])


@lru_cache(maxsize=16)
def _detail(confinement: Confinement) -> bytes:
    """How the bots are confined, as canonical JSON: the same for many matches."""
    return canonical(confinement.to_json())


def _line(members: list[bytes]) -> bytes:
    return b"{%b}\n" % b",".join(members)


def _seat(seat: SeatSpec) -> JsonObject:
    entry: JsonObject = {"bot": seat.bot, "version": seat.version, "digest": seat.digest}
    if seat.kind != "bot":
        entry["kind"] = seat.kind
    if seat.clock is not None:
        entry["clock"] = _clock(seat.clock)
    return entry


def _clock(clock: TimeControl) -> JsonObject:
    fields = ((field.name, getattr(clock, field.name)) for field in attrs.fields(type(clock)))
    return {name: number(value) for name, value in fields if value is not None}


def _header(game: Game[Any, Any], spec: MatchSpec, started: str) -> dict[str, bytes]:
    """The members of the header, as canonical JSON."""
    header = _common_members(game, _common(spec)).copy()
    header["id"] = canonical(spec.id)
    header["options"] = canonical(spec.options)
    header["position"] = canonical(spec.position)
    header["seed"] = canonical(spec.seed if spec.publish_key else None)
    header["key"] = canonical(spec.key.hex() if spec.publish_key else None)
    header["started"] = canonical(started)
    if spec.attempt:
        header["attempt"] = canonical(spec.attempt)
    if spec.parent is not None:
        header["parent"] = canonical(spec.parent)
    return header


_common: Final = attrgetter(
    "game", "seats", "clock", "level", "faults", "strikes", "again", "failures", "note_bytes"
)
"""What is the same in the headers of many matches."""


@lru_cache(maxsize=64)
def _common_members(game: Game[Any, Any], common: tuple[Any, ...]) -> dict[str, bytes]:
    """The members of a header that follow from what is `_common`; nobody changes them."""
    name, seats, clock, level, faults, strikes, again, failures, note_bytes = common
    header: JsonObject = {
        "type": "match",
        "format": FORMAT,
        "game": name,
        "rules": game.rules_version,
        "players": len(seats),
        "seats": [_seat(seat) for seat in seats],
        "clock": _clock(clock),
        "level": level,
        "faults": faults,
        "strikes": strikes,
        "harness": f"warpleague {__version__}",
    }
    if again:
        header["again"] = again
    if failures:
        header["failures"] = failures
    if note_bytes != NOTE_BYTES:
        header["note_bytes"] = note_bytes
    return {key: canonical(value) for key, value in header.items()}


# -- lines -----------------------------------------------------------------------------------------------
# Canonical JSON, the parts that the digest covers, and the seal.


UNDIGESTED: Final = frozenset({"ms", "bank_s", "started", "harness", "seed", "key", "detail"})
"""Top-level keys the digest leaves out: they differ between two runs of the same match."""


def number(value: float) -> float:
    """`value` as an int when it is whole, so that 1.0 and 1 are spelled alike in every record."""
    return int(value) if value == int(value) else value


def outcome_form(outcome: Outcome) -> dict[str, Any]:
    """The end line of `outcome`, without its digest; `rival` is in it only where the game has one."""
    form: dict[str, Any] = {
        "type": "end",
        "ranks": list(outcome.ranks),
        "scores": [number(score) for score in outcome.scores],
        "breakdown": {part: [number(v) for v in values] for part, values in outcome.breakdown.items()},
        "why": outcome.why,
    }
    if outcome.rival is not None:
        form["rival"] = number(outcome.rival)
    return form


def digest_form(data: dict[str, Any]) -> bytes:
    """The bytes the digest takes from a line: canonical, without the undigested keys, with its newline."""
    return canonical({key: value for key, value in data.items() if key not in UNDIGESTED}) + b"\n"


def digest_of(parts: Iterable[bytes]) -> str:
    """The hexadecimal SHA-256 over the digest forms of all lines, the end line's without its digest."""
    return sha256(b"".join(parts)).hexdigest()


def end_digest(record: bytes) -> str | None:
    """The digest in the end line of an unpacked record; None if there is none. Nothing is checked."""
    for line in reversed(record.splitlines()[-2:]):
        try:
            data = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("type") == "end":
            return data.get("digest")
    return None


def seal(lines: Sequence[bytes]) -> bytes:
    """The seal line for `lines` (header to end, each with its newline).

    It holds, in base64, the big-endian CRC-32 of every line, and last the CRC-32 of those bytes: so that damage
    to any byte is detected and located, also in parts that the digest leaves out.
    """
    checksums = struct.pack(f">{len(lines)}I", *map(crc32, lines))
    checksums += crc32(checksums).to_bytes(4, "big")
    return b'{"crc":"' + b64encode(checksums) + b'","type":"seal"}\n'


def unseal(data: dict[str, Any]) -> list[int] | None:
    """The checksums in a parsed seal line, one a line of the record; None if the seal itself is damaged."""
    text = data.get("crc")
    if not isinstance(text, str) or data.keys() != {"type", "crc"}:
        return None
    try:
        raw = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) < 4 or len(raw) % 4 or crc32(raw[:-4]).to_bytes(4, "big") != raw[-4:]:
        return None
    return [int.from_bytes(raw[at : at + 4], "big") for at in range(0, len(raw) - 4, 4)]


def publish(record: bytes, key: bytes, seed: str | None) -> bytes:
    """The same record with its key (32 bytes) and seed text written into the header, and a new seal.

    Neither is covered by the digest, so a season's records can be completed once its secret is out.
    """
    header, *rest = record.splitlines(keepends=True)
    data = msgspec.json.decode(header)
    data["key"], data["seed"] = key.hex(), seed
    body = [line for line in rest if not line.startswith(b'{"crc":')]
    lines = [canonical(data) + b"\n", *body]
    return b"".join([*lines, seal(lines)])


# -- time and services ------------------------------------------------------------------------------------


class Spent:
    """The times of all decisions so far, summed for each seat."""

    __slots__ = ("_seats", "_taken")

    def __init__(self, seats: int) -> None:
        # Decisions, their wall, processor and waiting time, and the longest wall time, in nanoseconds.
        self._seats = [[0, 0, 0, 0, 0] for _ in range(seats)]
        self._taken: dict[int, Taken] = {}

    def add(
        self,
        seat: int,
        wall_ns: int,
        cpu_ns: int,
        wait_ns: int,
        longest_ns: int | None = None,
        count: int = 1,
    ) -> None:
        """Count one decision of `seat`, or `count` of them and the longest one."""
        spent = self._seats[seat]
        spent[0] += count
        spent[1] += wall_ns
        spent[2] += cpu_ns
        spent[3] += wait_ns
        if longest_ns is None:
            longest_ns = wall_ns
        if longest_ns > spent[4]:
            spent[4] = longest_ns

    def take(self, seat: int, taken: Taken) -> None:
        """Count what the service of `seat` did and took for one decision."""
        self._taken[seat] = self._taken.get(seat, Taken()).plus(taken)

    def failures(self, seat: int) -> int:
        """How often the service of `seat` has failed."""
        return self._taken.get(seat, Taken()).failures

    def times(self) -> tuple[SeatTimes, ...]:
        """The sums, by seat."""
        return tuple(
            SeatTimes(
                count,
                wall_ns / 1e6,
                cpu_ns / 1e6,
                wait_ns / 1e6,
                longest_ns / 1e6,
                *self._taken.get(seat, Taken()),
            )
            for seat, (count, wall_ns, cpu_ns, wait_ns, longest_ns) in enumerate(self._seats)
        )
