"""The commitment to the entrants: a hash of all bots and conditions, published before any match is played.

It is the second commitment of a season; the first one, to the secret, is in `season`. The dice of a deal follow
from the secret and from names, so anyone who knows the secret could choose names for their dice. This commitment
covers everything that is still open when the secret is fixed: names, contents, conditions and format. It is
an entry of the journal. When something changes, a new entry follows; `verify` reports matches of bots that no
earlier entry has.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.league.season.config import FormatTable
from warpleague.league.season.season import SEATING, Entry, Stage
from warpleague.league.store.facts import META, add_fact, facts_in
from warpleague.league.store.journal import FACT, VOIDED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpleague.league.season.season import Season

ENTRANTS: Final = "entrants"
"""The kind of the fact that says who takes part, in what."""

MERGED: Final = "merged"
"""The kind of the fact that matches were taken over from another store, and of which bots."""

_VERSIONS: Final = frozenset({"pairing", "seating"})

_NEWER: Final = frozenset({"ratings", "until", "time_share"})

_ORDER: Final = (
    "SELECT j.seq, j.id, f.kind, f.said, (SELECT group_concat(s.bot) FROM seat s WHERE s.match = m.key) "
    "FROM journal j LEFT JOIN fact f ON f.id = j.id LEFT JOIN match m ON m.id = j.id ORDER BY j.seq"
)


PAIRING: Final = 5
"""The version of how a ladder chooses who meets. Of an earlier one, all that was played is taken over as it is.

5: by information per second, and slow bots have a share of the time. 4: equal bots are better known to be equal.
3: at an entry all deals that have begun go on. 2: no pair is dropped once luck has decided it.
"""


def commitment_to(season: Season) -> str:
    """The hexadecimal SHA-256 of names and digests of a season's bots, its conditions and its format."""
    return _hash([[bot.bot, bot.identity] for bot in season.bots], season.conditions, _format(season))


def _format(season: Season) -> dict[str, Any]:
    """The format as it is stored: without keys at their defaults that formats did not always have."""
    stored_format = attrs.asdict(season.format)
    stored_format["seeding"] = season.format.seeding or "order"
    for field in attrs.fields(FormatTable):
        if field.name in _NEWER and stored_format[field.name] == field.default:
            del stored_format[field.name]
    if season.format.until is not None and not season.format.until.within:
        del stored_format["until"]["within"]
    if season.format.kind == "ladder":
        stored_format["pairing"] = PAIRING
    if season.seating > 1:
        stored_format["seating"] = season.seating
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


def _hash(bots: object, conditions: object, form: object) -> str:
    what = {"bots": bots, "conditions": conditions, "format": form}
    text = json.dumps(what, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


@attrs.frozen
class Entered:
    """An entry of entrants: its commitment, since when (ISO time)."""

    commitment: str
    since: str


def entered(db: sqlite3.Connection, path: Path) -> list[Entered]:
    """Every commitment to entrants in the store at `path`, in order."""
    return [Entered(str(fact.said.get("commitment")), fact.stored) for fact in facts_in(db, path, [ENTRANTS])]


def history(db: sqlite3.Connection, path: Path) -> tuple[Entry, ...]:
    """Who took part in what, entry by entry, here and in stores whose matches were taken over.

    Unreadable entries are left out (`entrant_alterations` reports them).
    """
    entries = []
    for fact in facts_in(db, path, [ENTRANTS, MERGED]):
        with suppress(TypeError, ValueError, KeyError, AttributeError):
            bots = tuple((str(name), str(digest)) for name, digest in fact.said["bots"])
            if fact.kind == MERGED:
                entries.append(Entry(bots, merged=True))
                continue
            form = fact.said["format"]
            tables, challengers = form["tables"], tuple(map(str, form.get("challengers", ())))
            if form.get("kind") == "gauntlet":
                challengers = challengers or (bots[0][0],)
            returns = {str(name): int(times) for name, times in form.get("returns", {}).items()}
            entries.append(Entry(bots, tables if type(tables) is int else None, challengers, returns=returns))
    return tuple(entries)


def seating(db: sqlite3.Connection, path: Path) -> int:
    """The version by which seat orders are chosen: the one of the last entry, the newest one if there is none."""
    if not facts_in(db, path, [ENTRANTS]):
        return SEATING
    version = _last_format(db, path).get("seating", 1)
    return version if type(version) is int else 1


def _last_format(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    facts = facts_in(db, path, [ENTRANTS])
    form = facts[-1].said.get("format") if facts else None
    return form if isinstance(form, dict) else {}


def seeds(db: sqlite3.Connection, path: Path) -> tuple[str, ...]:
    """The order in which bots were seeded by rating when they were last entered; empty if they were not."""
    version = _last_format(db, path).get("seeds")
    return tuple(map(str, version)) if isinstance(version, list) else ()


def stages(db: sqlite3.Connection, path: Path) -> tuple[Stage, ...]:
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


def ended(db: sqlite3.Connection, path: Path, season: Season) -> bool:
    """Whether the end of this season, or of the same one of an earlier version of the program, is the last event."""
    facts = facts_in(db, path)
    end = next((fact.seq for fact in facts if fact.kind == META and "published" in fact.said), None)
    last = None
    for fact in facts:
        if fact.kind == ENTRANTS:
            before, last = last, _entry_of(fact.said)
            changed = before != last
        else:
            changed = fact.kind not in (META, VOIDED)
        if end is not None and changed and fact.seq > end:
            return False
    now = {"bots": [[bot.bot, bot.identity] for bot in season.bots], "format": _format(season)}
    return end is not None and last == _entry_of(json.loads(json.dumps(now)))


def _entry_of(content: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Bots and format of an entry, without the versions of how the program chooses."""
    form = content.get("format")
    known = form if isinstance(form, dict) else {}
    return content.get("bots"), {key: value for key, value in known.items() if key not in _VERSIONS}


def settle(db: sqlite3.Connection, path: Path, season: Season) -> None:
    """Enter the entrants of `season`, unless they are those of the last entry; in a transaction."""
    before, now = entered(db, path), commitment_to(season)
    if not before or before[-1].commitment != now:
        from warpleague.league.store import ladder_log  # which is about more than entrants

        content = {
            "commitment": now,
            "bots": [[bot.bot, bot.identity] for bot in season.bots],
            "conditions": season.conditions,
            "format": _format(season),
        }
        ladder_log.note(db, attrs.evolve(season, history=history(db, path)), now)
        add_fact(db, ENTRANTS, content)


def settle_merged(db: sqlite3.Connection, head: str, bots: Sequence[tuple[str, str]]) -> None:
    """Enter that matches of these bots come from a store whose journal has this head; in a transaction."""
    add_fact(db, MERGED, {"head": head, "bots": [list(bot) for bot in bots]})


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
                fits = kind == MERGED or content["commitment"] == _hash(
                    content["bots"], content["conditions"], content["format"]
                )
            except (ValueError, TypeError, KeyError, RecursionError):
                fits = False
            if not fits:
                yield None, f"entry {seq} of the journal, {kind}: the commitment does not fit what it says"
        elif bots is not None and not str(match_id).startswith(FACT):
            if bots not in good:
                good[bots] = all(entrants.get(number) in known for number in bots.split(","))
            if not good[bots]:
                yield str(match_id), "was stored before its bots had been entered"
