"""Events: what was decided or fixed about a league, entered into its journal: entrants, merges, decisions.

The modules that store an event know what it means.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import StoreError
from warpleague.league.season import utc_now
from warpleague.league.season.season import Entry, Season, Stage
from warpleague.league.store import journal
from warpleague.league.store.database import SPARE, clear_errors, json_object
from warpleague.league.store.journal import VOIDED
from warpleague.league.store.schema import CHOICES, CHOSE_ALL, NUMBERING, Reading
from warpleague.match.luck import worth_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

META: Final = "settled"
"""The kind of the event that has the SHA-256 of everything in `meta`, what the store says of the league as a whole."""

PASSING: Final = (META, journal.REMOVED, VOIDED)
"""The kinds of events that do not change who plays."""

_EVENTS: Final = (
    "SELECT f.kind, f.said, f.stored, j.seq FROM journal j JOIN fact f ON f.id = j.id ORDER BY j.seq"
)


@attrs.frozen
class Event:
    """One event: its kind, its details as JSON, when it was stored (ISO time), its entry in the journal."""

    kind: str
    details: dict[str, Any]
    stored: str
    seq: int


def add_event(db: sqlite3.Connection, kind: str, details: dict[str, Any]) -> None:
    """Store an event, with its entry in the journal; in a transaction."""
    text = json.dumps(details, separators=(",", ":"), ensure_ascii=False)
    row = (journal.EVENT + secrets.token_hex(8), kind, text, utc_now())
    db.execute("INSERT INTO fact VALUES (?, ?, ?, ?)", row)
    journal.append_entry(db, row[0], journal.row_hash(row))


def events_in(db: sqlite3.Connection, path: Path, kinds: Sequence[str] = ()) -> list[Event]:
    """All events of the store at `path` that its journal names, in that order, or those of some kinds.

    `StoreError` if they cannot be read.
    """
    with clear_errors(path):
        rows = _rows(db)
    try:
        return [
            Event(kind, json_object(details), str(stored), seq)
            for kind, details, stored, seq in rows
            if not kinds or kind in kinds
        ]
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{path}: is damaged: its events: {error}; {SPARE}") from None


def _rows(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """The rows of all events; finding them reads the whole journal, so a reader does it only once."""
    if not isinstance(db, Reading):
        return db.execute(_EVENTS).fetchall()
    version = int(db.execute("PRAGMA data_version").fetchone()[0])
    if db.events_read is None or db.events_read[0] != version:
        db.events_read = version, db.execute(_EVENTS).fetchall()
    return db.events_read[1]


_UNHASHED_KEYS: Final = ("format", "journal", NUMBERING, CHOICES, CHOSE_ALL)
"""Keys of `meta` that change without a decision: the file's format, the journal's head, how far the schedule is."""


def record_meta_hashes(db: sqlite3.Connection, path: Path) -> None:
    """Enter the hashes of what `meta` says of the league, if that has changed; in a transaction."""
    now, before = _meta_hashes(db), events_in(db, path, [META])
    if not before or before[-1].details != now:
        add_event(db, META, now)


def meta_alterations(db: sqlite3.Connection, path: Path) -> list[str]:
    """Which values of `meta` are not those that were stored."""
    before = events_in(db, path, [META])
    now, was = _meta_hashes(db), before[-1].details if before else {}
    changed = sorted(key for key in now.keys() | was.keys() if now.get(key) != was.get(key))
    return [
        f"its {key} is not the one that was stored"
        for key in changed
        if key not in _UNHASHED_KEYS
        and (before or key != "created")  # which is there before anything is entered
    ]


def _meta_hashes(db: sqlite3.Connection) -> dict[str, str]:
    rows = db.execute("SELECT key, value FROM meta").fetchall()
    return {
        str(key): sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
        for key, value in rows
        if key not in _UNHASHED_KEYS
    }


def attempts_in(db: sqlite3.Connection, path: Path) -> Counter[str]:
    """How often each match was begun in vain, so that its next attempt, or the one stored, has other dice."""
    attempts = Counter[str]()
    for event in events_in(db, path, [VOIDED, journal.REMOVED, MERGED]):
        if event.kind == MERGED:
            with suppress(
                TypeError, ValueError, AttributeError
            ):  # `alterations` tells of what was tampered with
                for one, many in event.details.get("attempts", {}).items():
                    attempts[str(one)] = int(many)
        else:
            attempts[str(event.details.get("match"))] += 1
    return attempts


# -- entrants --------------------------------------------------------------------------------------------
# The commitment to the entrants: a hash of all bots and conditions, published before any match is played.
#
# It is the second commitment of a season; the first one, to the secret, is in `season`. The dice of a deal
# follow from the secret and from names, so anyone who knows the secret could choose names for their dice.
# This commitment covers everything that is still open when the secret is fixed: names, contents, conditions
# and format. It is an entry of the journal. When something changes, a new entry follows; `verify` reports
# matches of bots that no earlier entry has.


ENTRANTS: Final = "entrants"
"""The kind of the event that says who takes part, in what."""

MERGED: Final = "merged"
"""The kind of the event that matches were taken over from another store, and of which bots."""

_ORDER: Final = (
    "SELECT j.seq, j.id, f.kind, f.said, (SELECT group_concat(s.bot) FROM seat s WHERE s.match = m.key) "
    "FROM journal j LEFT JOIN fact f ON f.id = j.id LEFT JOIN match m ON m.id = j.id ORDER BY j.seq"
)


PAIRING: Final = 5
"""The version of how a ladder chooses who meets, as an entry says it: the first that a release has."""
SEATING: Final = 2
"""The version of how seat orders are chosen, as an entry says it: the first that a release has."""


def commitment_to(season: Season) -> str:
    """The hexadecimal SHA-256 of names and digests of a season's bots, its conditions and its format."""
    return sha256(entrants_text(season).encode()).hexdigest()


LADDER: Final = "ladder "
"""How the numbering of a ladder begins."""


def numbering_of(season: Season) -> str:
    """What the numbers of matches are of: these entrants' schedule, or what a ladder chose among its bots."""
    if season.format.kind != "ladder":
        return commitment_to(season)
    bots = sorted([bot.bot, bot.identity, season.returns.get(bot.bot, 0)] for bot in season.bots)
    return LADDER + _hashed(bots, season.format.dice, season.format.seats)


def entrants_text(season: Season) -> str:
    """What `commitment_to` is the hash of: a JSON object in canonical form, as docs/reproduce.md explains it."""
    return _text([[bot.bot, bot.identity] for bot in season.bots], season.conditions, _format(season))


def _format(season: Season) -> dict[str, Any]:
    """The format as it is stored, with the versions of how the program chooses."""
    stored_format = attrs.asdict(
        season.format, filter=lambda field, value: "if_set" not in field.metadata or value != field.default
    )
    stored_format["seeding"] = season.format.seeding or "order"
    if season.format.kind == "ladder":
        stored_format["pairing"] = PAIRING
    stored_format["seating"] = SEATING
    if season.worth is not None:
        stored_format["worth"] = season.worth
    if season.returns:
        stored_format["returns"] = season.returns
    if season.seeds:
        stored_format["seeds"] = list(season.seeds)
    if season.stages:
        stored_format["stages"] = [
            {"league": stage.league, "head": stage.head, "bots": [list(bot) for bot in stage.bots]}
            for stage in season.stages
        ]
    return stored_format


def _hashed(bots: object, conditions: object, form: object) -> str:
    return sha256(_text(bots, conditions, form).encode()).hexdigest()


def _text(bots: object, conditions: object, form: object) -> str:
    what = {"bots": bots, "conditions": conditions, "format": form}
    return json.dumps(what, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@attrs.frozen
class EntrantsCommitment:
    """A commitment to the entrants, and since when it is (ISO time)."""

    commitment: str
    since: str


def commitments_in(db: sqlite3.Connection, path: Path) -> list[EntrantsCommitment]:
    """Every commitment to entrants in the store at `path`, in order."""
    return [
        EntrantsCommitment(str(event.details.get("commitment")), event.stored)
        for event in events_in(db, path, [ENTRANTS])
    ]


def entries_in(db: sqlite3.Connection, path: Path) -> tuple[Entry, ...]:
    """Who took part in what, entry by entry, here and in stores whose matches were taken over.

    Unreadable entries are left out (`entrant_alterations` reports them).
    """
    entries = []
    for event in events_in(db, path, [ENTRANTS, MERGED]):
        with suppress(TypeError, ValueError, KeyError, AttributeError):
            bots = tuple((str(name), str(digest)) for name, digest in event.details["bots"])
            if event.kind == MERGED:
                entries.append(Entry(bots, merged=True))
                continue
            form = event.details["format"]
            tables, challengers = form["tables"], tuple(map(str, form.get("challengers", ())))
            if form.get("kind") == "gauntlet":
                challengers = challengers or (bots[0][0],)
            returns = {str(name): int(times) for name, times in form.get("returns", {}).items()}
            entries.append(Entry(bots, tables if type(tables) is int else None, challengers, returns=returns))
    return tuple(entries)


def _last_format(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    events = events_in(db, path, [ENTRANTS])
    form = events[-1].details.get("format") if events else None
    return form if isinstance(form, dict) else {}


def seeds_in(db: sqlite3.Connection, path: Path) -> tuple[str, ...]:
    """The order in which bots were seeded by rating when they were last entered; empty if they were not."""
    seeds = _last_format(db, path).get("seeds")
    return tuple(map(str, seeds)) if isinstance(seeds, list) else ()


def worth_in(db: sqlite3.Connection, path: Path, game: str) -> str | None:
    """The digest of the worth function that the first entry of bots names; before it, of the one that `game` has.

    It stays the same in later entries: matches of before are known when a later version brings another function.
    """
    if events := events_in(db, path, [ENTRANTS]):
        form = events[0].details.get("format")
        digest = form.get("worth") if isinstance(form, dict) else None
        return digest if isinstance(digest, str) else None
    worth = worth_of(game)
    return None if worth is None else worth.digest


def stages_in(db: sqlite3.Connection, path: Path) -> tuple[Stage, ...]:
    """The leagues from which bots came when they were last entered; empty if all were in the file."""
    try:
        return tuple(
            Stage(
                str(stage["league"]),
                str(stage["head"]),
                tuple((str(name), str(digest)) for name, digest in stage["bots"]),
            )
            for stage in _last_format(db, path).get("stages", ())
        )
    except (TypeError, ValueError, KeyError):
        return ()  # `entrant_alterations` tells


def has_ended(db: sqlite3.Connection, path: Path, season: Season) -> bool:
    """Whether the end of this season is the last event."""
    events = events_in(db, path)
    end = next((event.seq for event in events if event.kind == META and "published" in event.details), None)
    last = None
    for event in events:
        if event.kind == ENTRANTS:
            before, last = last, [event.details.get("bots"), event.details.get("format")]
            changed = before != last
        else:
            changed = event.kind not in (META, VOIDED)
        if end is not None and changed and event.seq > end:
            return False
    now = [[[bot.bot, bot.identity] for bot in season.bots], _format(season)]
    return end is not None and last == json.loads(json.dumps(now))


def record_entrants(db: sqlite3.Connection, path: Path, season: Season) -> None:
    """Enter the entrants of `season`, unless they are those of the last entry; in a transaction."""
    before, now = commitments_in(db, path), commitment_to(season)
    if not before or before[-1].commitment != now:
        details = {
            "commitment": now,
            "bots": [[bot.bot, bot.identity] for bot in season.bots],
            "conditions": season.conditions,
            "format": _format(season),
        }
        add_event(db, ENTRANTS, details)


def record_merge(
    db: sqlite3.Connection, head: str, bots: Sequence[tuple[str, str]], attempts: dict[str, int]
) -> None:
    """Enter that matches of these bots come from a store whose journal has this head; in a transaction.

    `attempts` are those of the matches that were begun more or less often in vain there than here.
    """
    more = {"attempts": attempts} if attempts else {}
    add_event(db, MERGED, {"head": head, "bots": [list(bot) for bot in bots], **more})


def entrant_alterations(db: sqlite3.Connection) -> Iterator[tuple[str | None, str]]:
    """Commitments that do not fit what was entered, and matches stored before their bots had been entered."""
    entrants = {
        str(number): (name, identity)
        for number, name, identity in db.execute("SELECT id, name, identity FROM bot")
    }
    known: set[tuple[str, str]] = set()
    good: dict[str, bool] = {}
    for seq, match_id, kind, text, bots in db.execute(_ORDER):
        if kind in (ENTRANTS, MERGED):
            good.clear()
            try:
                content = json.loads(text)
                known |= {(name, digest) for name, digest in content["bots"]}
                fits = kind == MERGED or content["commitment"] == _hashed(
                    content["bots"], content["conditions"], content["format"]
                )
            except (ValueError, TypeError, KeyError, RecursionError):
                fits = False
            if not fits:
                yield None, f"entry {seq} of the journal, {kind}: the commitment does not fit what it says"
        elif bots is not None and not str(match_id).startswith(journal.EVENT):
            if bots not in good:
                good[bots] = all(entrants.get(number) in known for number in bots.split(","))
            if not good[bots]:
                yield str(match_id), "was stored before its bots had been entered"
