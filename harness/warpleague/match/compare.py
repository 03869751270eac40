"""Finds the first difference between two records of the same match, in its play or in everything the digest covers."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from warpleague.errors import RecordError
from warpleague.match.lines import digest_form, end_digest
from warpleague.match.packing import read_record
from warpleague.match.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator
    from pathlib import Path

    from warpleague.games.api import JsonObject

_IGNORED_IN_ACTIONS: Final = frozenset({"note", "value", "then", "n", "digest"})
"""The fields that are ignored if only actions are compared. `n` is one of them because messages shift it."""


@attrs.frozen
class Difference:
    """The first line in which a match that was played again differs from its record.

    `line` and `played_line` are its numbers in the record and in the new one, the header being 1. `recorded` and
    `played` are the parts of it that the digest covers, empty if a record has no more lines. `seat` decided
    differently; it is None if the difference is not a decision of one seat.
    """

    line: int
    played_line: int
    recorded: bytes
    played: bytes
    seat: int | None


def first_difference(
    old: bytes, new: bytes, apart_from: Collection[str] = (), *, actions_only: bool = False
) -> Difference | None:
    """The first line in which two unpacked records differ, or None.

    Times, versions, seeds and details do not count, nor do the keys `apart_from` of any line; nor do digests then,
    which cover these. With `actions_only` notes, values and messages do not count either, nor whether an action came
    in a `then` list: only dice, actions, faults and the result. Both records must hold then: they are executed.
    """
    ignored = {*apart_from, "digest"} if apart_from else set()
    if actions_only:
        ignored |= _IGNORED_IN_ACTIONS
    lines = [list(_lines(record, messages(record) if actions_only else ())) for record in (old, new)]
    ends: list[tuple[int, JsonObject]] = [(len(record.splitlines()), {}) for record in (old, new)]
    for one, other in zip_longest(*lines):
        (line, recorded), (played_line, played) = one or ends[0], other or ends[1]
        if _without(recorded, ignored) != _without(played, ignored):
            return Difference(line, played_line, _form(recorded), _form(played), _same_seat(recorded, played))
    return None


def is_same_play(path: Path, record: bytes) -> bool:
    """Whether the file `path` is a record of the same play as `record`, with or without its key."""
    try:
        there = end_digest(read_record(path))
    except RecordError:
        return False
    return there is not None and there == end_digest(record)


def messages(record: bytes) -> set[int]:
    """The numbers n of the lines of a record that are messages between bots."""
    replay = Replay(record)
    game, before = replay.game, replay.first
    kinds = set()
    for step in replay:
        if step.data["type"] == "act" and game.talk(before, seat := step.data["seat"]):
            action = game.parse(before, seat, step.data["action"])
            if action not in game.legal(before, seat):
                kinds.add(step.data["n"])
        before = step.state
    return kinds


def _lines(record: bytes, left_out: Container[int]) -> Iterator[tuple[int, JsonObject]]:
    """The lines of a record with their numbers in the file, without the seal and the n's `left_out`."""
    for number, line in enumerate(record.splitlines(), start=1):
        data: JsonObject = msgspec.json.decode(line)
        if data.get("type") != "seal" and data.get("n") not in left_out:
            yield number, data


def _without(data: JsonObject, ignored: Container[str]) -> bytes:
    return digest_form({key: value for key, value in data.items() if key not in ignored})


def _form(data: JsonObject) -> bytes:
    return digest_form(data) if data else b""


def _same_seat(recorded: JsonObject, played: JsonObject) -> int | None:
    """The seat that decided otherwise, if both lines are decisions of the same kind of one seat."""
    expected: tuple[Any, ...] = (recorded.get("type"), recorded.get("seat"), recorded.get("ask"))
    same = expected == (played.get("type"), played.get("seat"), played.get("ask"))
    return expected[1] if same and expected[0] == "act" else None
