"""Results without the dice: the luck of each match, and the mean share of points that is left when it is taken away.

The luck of a match follows from its record and the game's worth function (`match.luck`), to which a season commits. It
is computed when somebody asks for it, so that matches take no longer, and kept in a file beside the store.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from math import fsum
from typing import TYPE_CHECKING, Final

import attrs
import msgspec
import numpy as np

from warpleague.errors import BadInput, RecordError
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.tallies import means, shares
from warpleague.league.store.store import LUCK
from warpleague.match.luck import Worth, luck_of, worth_of
from warpleague.match.replay import Replay
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from warpleague.league.ratings.statistics import Mean
    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns

FOLDS: Final = 5
MIN_DEALS: Final = 60
"""Of fewer deals intervals are too short, since little is left of most results and much of a few."""
_DIGITS: Final = 9
_ROUNDING: Final = 1e-6

Luck = tuple[float, ...]
"""How much each seat of a match gained by the dice, in shares of points."""


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    match: str
    digest: str
    luck: tuple[float, ...]


class _Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    worth: str


@attrs.frozen
class WithoutLuck:
    """The mean share of points of a bot without luck, and how many times fewer matches its error takes than before."""

    mean: Mean
    gain: float | None


# -- the luck of matches ---------------------------------------------------------------------------------


def committed_worth(league: League) -> Worth:
    """The worth function that the season committed to; `BadInput` if there is none, or this version has another."""
    season, worth = league.season, worth_of(league.season.game)
    if worth is None:
        raise BadInput(f"{season.game} has no worth function, so the luck of its dice is not known")
    if season.worth is None:
        raise BadInput(
            f"{league.config.name}: its commitment to the entrants names no worth function, so one could be "
            "chosen after the results; a league that is begun with this version commits to one"
        )
    if season.worth != worth.digest:
        raise BadInput(
            f"{league.config.name}: it committed to another worth function ({season.worth[:12]}) than {worth.module} "
            f"of this version of Warp League ({worth.digest[:12]}); use the version with which it was begun"
        )
    return worth


def lucks_of(
    league: League,
    new_pool: NewPool = RefereePool,
    jobs: int = 0,
    computed: Callable[[int, int], object] = lambda _done, _of: None,
) -> dict[str, Luck]:
    """The luck of all stored matches that count, by id: from the file, or computed now and then kept there.

    `computed` is told after each match how many are done, and of how many.
    Raises `BadInput` if the season committed to no worth function, or it fails, and `RecordError` for a record that
    does not hold.
    """
    worth, path = committed_worth(league), _path(league)
    known, digests = {}, {match.id: match.digest for _, match in league.results()}
    with suppress(OSError, msgspec.MsgspecError):  # `verify` tells of what was tampered with
        known = {
            line.match: line
            for line in _read(path, worth)
            if digests.get(line.match) == line.digest and len(line.luck) == league.season.players
        }
    missing = [one for one in digests if one not in known]
    for done, (match, luck) in enumerate(_computed(league, missing, new_pool, jobs), start=1):
        known[match] = _Line(match, digests[match], luck)
        computed(done, len(missing))
    if missing:
        with suppress(OSError):  # who may only read computes it again
            _write(path, worth, known.values())
    return {match: line.luck for match, line in known.items()}


def _computed(league: League, ids: Iterable[str], new_pool: NewPool, jobs: int) -> Iterator[tuple[str, Luck]]:
    ids = list(ids)
    if not ids:
        return
    waiting: deque[tuple[str, Future[Luck]]] = deque()
    with new_pool(jobs, "none") as pool:
        for match in ids:
            where = f"match {match} of {league.config.name}"
            waiting.append(
                (match, pool.submit(match_luck, league.store.record(match), league.season.game, where))
            )
            if len(waiting) > 4 * pool.jobs:  # records wait in memory
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def match_luck(record: bytes, game: str, where: str) -> Luck:
    """The luck of each seat in an unpacked record, all its rolls together."""
    worth = worth_of(game)
    assert worth is not None, "the caller has asked for it"
    gains = [roll.gains for roll in luck_of(Replay(record, where=where), worth)]
    if not gains:
        players: int = msgspec.json.decode(record.partition(b"\n")[0])["players"]
        return (0.0,) * players
    return tuple(round(fsum(of_seat), _DIGITS) for of_seat in zip(*gains, strict=True))


def _path(league: League) -> Path:
    return league.store.path.with_name(LUCK)


def _read(path: Path, worth: Worth) -> list[_Line]:
    """The lines of the file; none if it is not there or of another worth function."""
    try:
        head, *lines = path.read_bytes().splitlines()
    except (FileNotFoundError, ValueError):
        return []
    if msgspec.json.decode(head, type=_Head).worth != worth.digest:
        return []
    return [msgspec.json.decode(line, type=_Line) for line in lines]


def _write(path: Path, worth: Worth, lines: Iterable[_Line]) -> None:
    """Write the file anew; it is there as a whole or not at all."""
    encode = msgspec.json.encode
    draft = path.with_suffix(".part")
    draft.write_bytes(b"".join(encode(line) + b"\n" for line in (_Head(worth.digest), *lines)))
    draft.replace(path)


def wrong_lucks(
    league: League, jobs: int = 0, new_pool: NewPool = RefereePool, ids: Iterable[str] | None = None
) -> list[tuple[str | None, str]]:
    """Which of the lucks that are kept are not what record and function give: the match's id, and what is wrong.

    With `ids`, only those of these matches are computed again.
    """
    try:
        worth = committed_worth(league)
    except BadInput:
        return []  # then nothing is shown of what the file says
    try:
        kept = {line.match: line for line in _read(_path(league), worth)}
    except (OSError, msgspec.MsgspecError) as error:
        return [(None, f"{LUCK} cannot be read: {error}; delete it, and it is computed again")]
    wanted = kept.keys() & (league.store.ids() if ids is None else ids)
    fresh = [one for one in sorted(wanted) if league.store.digest_of(one) == kept[one].digest]
    try:
        return [
            (match, f"its luck in {LUCK} is {_words(kept[match].luck)}, but its record gives {_words(luck)}")
            for match, luck in _computed(league, fresh, new_pool, jobs)
            if len(luck) != len(kept[match].luck)
            or any(abs(one - other) > _ROUNDING for one, other in zip(luck, kept[match].luck, strict=True))
        ]
    except RecordError:
        return []  # a record that does not hold was reported already


def _words(luck: Luck) -> str:
    return ", ".join(f"{one:+.6f}" for one in luck)


# -- what is left without it -----------------------------------------------------------------------------


def without_luck(columns: Columns, lucks: Mapping[str, Luck], bots: int) -> list[WithoutLuck]:
    """For each bot the mean of its share of points less b times its luck; clustered by deal.

    The coefficient b of a deal, from 0 to 1, is fitted on the deals of the other folds (cross-fitting), so it does not
    depend on the deal's own result, and the mean stays unbiased. Parts "results" and "matches" of the `columns`.
    Raises `BadInput` for fewer than `MIN_DEALS` deals, or where dice change no worth.
    """
    points = shares(columns)
    luck = np.array([lucks[one.decode()] for one in columns.id.tolist()]).reshape(points.shape)
    coefficients = _coefficients(columns, points, luck, bots)
    group = columns.group
    raw = means(points, columns.seats, group, bots, columns.block)
    left = means(points - coefficients[:, None] * luck, columns.seats, group, bots, columns.block)
    return [WithoutLuck(after, _gain(before, after)) for before, after in zip(raw, left, strict=True)]


def _gain(before: Mean, after: Mean) -> float | None:
    return (before.error / after.error) ** 2 if before.error and after.error else None


def _coefficients(columns: Columns, points: Array, luck: Array, bots: int) -> Array:
    """The coefficient for each match: that by which sums over a deal vary least, in all deals of other folds."""
    if columns.players == 1 and np.isnan(columns.rival).all():
        raise BadInput(
            "results without luck are shares of points: alone at the table, without an opponent, are none"
        )
    deals, of_match = np.unique(columns.deal, return_inverse=True)
    if len(deals) < MIN_DEALS:
        raise BadInput(
            f"results without luck need {counted(MIN_DEALS, 'deal')}, since how much of it counts is estimated from "
            f"other deals; so far there {'is' if len(deals) == 1 else 'are'} {len(deals):,}"
        )
    if not luck.any():
        raise BadInput(
            f"the worth function says nothing of the dice at tables of {columns.players}, so there is no luck to "
            "take away"
        )
    seats = columns.seats.ravel().astype(np.int64)
    played = np.maximum(np.bincount(seats, minlength=bots), 1)
    usual = np.bincount(seats, points.ravel(), bots) / played
    cluster = np.repeat(of_match, columns.players) * bots + seats
    more = np.bincount(cluster, points.ravel() - usual[seats], len(deals) * bots)
    gained = np.bincount(cluster, luck.ravel(), len(deals) * bots)
    fold = np.repeat(deals % FOLDS, bots)
    products, squares = (np.bincount(fold, values, FOLDS) for values in (more * gained, gained * gained))
    others = squares.sum() - squares
    fitted = np.divide(products.sum() - products, others, out=np.zeros(FOLDS), where=others > 0)
    coefficients: Array = np.clip(fitted, 0.0, 1.0)[columns.deal % FOLDS]
    return coefficients
