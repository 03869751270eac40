"""Writes the record of a match: each line in canonical form as it happens, then the digest and the seal."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague import __version__
from warpleague.games.values import Kept
from warpleague.match.lines import digest_form, digest_of, number, outcome_form, seal
from warpline.codec import canonical, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.api import Game, JsonObject, Outcome, Rolled, Weights
    from warpleague.match.confinement import Confinement
    from warpleague.match.spec import Mark, MatchSpec, SeatSpec, TimeControl

_MARKED: Final[dict[Mark | None, tuple[bytes, bytes]]] = {
    None: (b"", b""),
    "auto": (b',"auto":true', b""),
    "substituted": (b"", b',"substituted":true'),
    "then": (b"", b',"then":true'),
}
"""The member of an act line that each mark is, by its place: after `ask`, or after `seat`."""

_MS: Final = Kept[int, bytes](lambda us: to_bytes(number(us / 1000)), 20_000)
"""Microseconds as JSON milliseconds."""


class ActionCache:
    """The JSON bytes of a game's actions: `wire` in wire order, `heads` as a record's act line begins, up to its ask.

    Engines keep one object for each action, so a look-up replaces encoding. Bounded, since an action of free
    text must not fill it.
    """

    __slots__ = ("heads", "wire")
    _most: Final = 50_000

    def __init__(self, game: Game[Any, Any]) -> None:
        self.wire: Kept[Any, bytes] = Kept(lambda action: to_bytes(game.action_json(action)), self._most)
        self.heads: Kept[Any, bytes] = Kept(
            lambda action: b'{"action":' + canonical(game.action_json(action)) + b',"ask":"', self._most
        )

    def listed(self, actions: Iterable[Any]) -> bytes:
        """The JSON list of `actions`, as the wire shows it."""
        return b"[" + b",".join(map(self.wire.__getitem__, actions)) + b"]"


_CACHES: dict[Game[Any, Any], ActionCache] = {}


def action_cache(game: Game[Any, Any]) -> ActionCache:
    """The one cache of `game` in this process."""
    return _CACHES.get(game) or _CACHES.setdefault(game, ActionCache(game))


@lru_cache(maxsize=1024)
def _asked(ask: str, mark: Mark | None) -> bytes:
    """The end of `ask` in an act line, and the member that may follow it."""
    return b'%b"%b' % (ask.encode(), _MARKED[mark][0])


@lru_cache(maxsize=1024)
def _seated(seat: int, mark: Mark | None) -> bytes:
    """The end of an act line, from `seat` on."""
    return b',"seat":%d%b,"type":"act"}\n' % (seat, _MARKED[mark][1])


@lru_cache(maxsize=8192)
def _numbers(values: tuple[Weights, ...]) -> bytes:
    """Draws or outcomes as JSON: the same few come again and again."""
    return canonical(values)


def _share(value: float) -> bytes:
    """A value from 0 to 1 as a record keeps it: with four decimals at most, more than any estimate is worth."""
    return to_bytes(number(round(value, 4)))


def chance_line(n: int, at: str | None, of: tuple[Weights, ...], outcome: Rolled) -> bytes:
    """The canonical line number `n` of a record, a roll; what the digest takes is the same."""
    where = b"" if at is None else b'"at":%b,' % canonical(at)
    return b'{%b"n":%d,"of":%b,"outcome":%b,"type":"chance"}\n' % (where, n, _numbers(of), _numbers(outcome))


class Scribe:
    """The record of one match in the making; `count` lines have been written after the header."""

    __slots__ = ("_digested", "_heads", "_lines", "count")

    def __init__(
        self, game: Game[Any, Any], spec: MatchSpec, started: str, confinement: Confinement | None = None
    ) -> None:
        header = _header(game, spec, started)
        if confinement is not None:
            header["detail"] = confinement.to_json()
        self.count = 0
        self._lines = [canonical(header) + b"\n"]
        self._digested = [digest_form(header)]
        self._heads = action_cache(game).heads

    def since(self, line: int) -> list[bytes]:
        """The lines from number `line` on that are written so far; the header is number 0."""
        return self._lines[line:]

    def chance(self, at: str | None, of: tuple[Weights, ...], outcome: Rolled) -> None:
        """Write what the dice showed, and the address of the roll, which records of format 1 do not have."""
        self.count += 1
        line = chance_line(self.count, at, of, outcome)
        self._lines.append(line)
        self._digested.append(line)

    def act(
        self,
        seat: int,
        ask: str,
        action: Any,
        mark: Mark | None = None,
        times_ns: tuple[int, int | None, int | None] | None = None,
        note: str | None = None,
        bank_ns: int | None = None,
        value: float | None = None,
        detail: JsonObject | None = None,
    ) -> None:
        """Write an action of `seat`, the bot's `note` on it, and the `value` it gave, the share it expects.

        `times_ns` are wall, processor and waiting time in nanoseconds, None where the system cannot tell; an action
        with a `mark` has none. `bank_ns` is what the decision left in the seat's bank, if it has one. `detail` tells
        of illegal answers and failures after which the decision was asked again, and of what a service took.
        """
        self.count += 1
        remark = b"" if note is None else b',"note":' + canonical(note)
        # The keys stand in canonical order. The digest takes the line without bank and times.
        head = self._heads[action] + _asked(ask, mark)
        end = (
            _seated(seat, mark)
            if value is None
            else b'%b,"value":%b}\n' % (_seated(seat, mark)[:-2], _share(value))
        )
        rest = b',"n":%d%b%b' % (self.count, remark, end)
        self._digested.append(head + rest)
        if bank_ns is not None:
            left_ms = bank_ns // 1_000_000
            head += b',"bank_s":' + to_bytes(left_ms / 1000 if left_ms % 1000 else left_ms // 1000)
        if detail:
            head += b',"detail":' + canonical(detail)
        if times_ns is not None:
            wall, cpu, wait = times_ns
            rest = b',"ms":[%b,%b,%b]%b' % (
                _MS[wall // 1000],
                b"null" if cpu is None else _MS[cpu // 1000],
                b"null" if wait is None else _MS[wait // 1000],
                rest,
            )
        self._lines.append(head + rest)

    def fault(self, seat: int, kind: str, retired: bool, detail: JsonObject) -> None:
        """Write a fault."""
        self.count += 1
        data = {
            "type": "fault",
            "n": self.count,
            "seat": seat,
            "kind": kind,
            "retired": retired,
            "detail": detail,
        }
        self._lines.append(canonical(data) + b"\n")
        self._digested.append(digest_form(data))

    def end(self, outcome: Outcome, detail: JsonObject | None = None) -> tuple[str, bytes]:
        """The digest, and the whole sealed record with its end line; `detail`, if given, is undigested."""
        end = outcome_form(outcome)
        if detail is not None:
            end["detail"] = detail
        digest = digest_of([*self._digested, digest_form(end)])
        lines = [*self._lines, canonical({**end, "digest": digest}) + b"\n"]
        return digest, b"".join([*lines, seal(lines)])


def _seat(seat: SeatSpec) -> JsonObject:
    told: JsonObject = {"bot": seat.bot, "version": seat.version, "digest": seat.digest}
    if seat.kind != "bot":
        told["kind"] = seat.kind
    if seat.clock is not None:
        told["clock"] = _clock(seat.clock)
    return told


def _clock(clock: TimeControl) -> JsonObject:
    return {name: number(value) for name, value in attrs.asdict(clock).items() if value is not None}


def _header(game: Game[Any, Any], spec: MatchSpec, started: str) -> JsonObject:
    header: JsonObject = {
        "type": "match",
        "format": spec.format,
        "id": spec.id,
        "game": spec.game,
        "rules": game.rules_version,
        "options": spec.options,
        "players": len(spec.seats),
        "seats": [_seat(seat) for seat in spec.seats],
        "clock": _clock(spec.clock),
        "level": spec.level,
        "faults": spec.faults,
        "strikes": spec.strikes,
        "position": spec.position,
        "seed": spec.seed if spec.publish_key else None,
        "key": spec.key.hex() if spec.publish_key else None,
        "harness": f"warpleague {__version__}",
        "started": started,
    }
    if spec.again:
        header["again"] = spec.again
    if spec.failures:
        header["failures"] = spec.failures
    return header if spec.parent is None else {**header, "parent": spec.parent}
