"""The part of a store about its league as a whole: secret, commitments, conditions, bots and decisions."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import msgspec

from warpleague import __version__
from warpleague.errors import StoreError
from warpleague.games import load_game
from warpleague.league.season.config_file import write_config
from warpleague.league.season.season import differences
from warpleague.league.season.text import is_text, utc_now
from warpleague.league.store import entrants_commitment, journal
from warpleague.league.store.database import SPARE, clear_errors, json_object, transaction
from warpleague.league.store.facts import Fact, add_fact, facts_in, settle_meta
from warpleague.league.store.schema import set_meta
from warpleague.match.chance import season_commitment
from warpleague.match.spec import FORMAT, FORMATS, SeatSpec, TimeControl
from warpleague.strict import structure

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from warpleague.league.season.config import Dice, LeagueConfig
    from warpleague.league.season.season import Begun, Entry, Season, Stage
    from warpleague.league.store.journal import Head
    from warpleague.league.store.lock import StoreFiles

T = TypeVar("T")


def _bots(text: str) -> tuple[SeatSpec, ...]:
    """The bots of the last run; a bot with a clock of its own has that as a fourth value."""
    entries = []
    for row in msgspec.json.decode(text, type=list[tuple[Any, ...]]):
        name, version, digest = msgspec.convert(row[:3], tuple[str, str, str])
        clock = structure(row[3], TimeControl, "clock") if len(row) == 4 else None
        entries.append(SeatSpec(name, version, digest, clock=clock))
    return tuple(entries)


class About:
    """The part of a store that is about its league, not about single matches."""

    path: Path
    files: StoreFiles
    _db: sqlite3.Connection

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, all at once; `StoreError` where SQLite objects."""
        with clear_errors(self.path):
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is committed, or nothing."""
        with clear_errors(self.path), transaction(self._db):
            self.files.check()  # within the transaction: who takes another lock meanwhile waits for its end
            yield self._db
        self.files.check()

    # What the league is

    def meta(self, key: str) -> str | None:
        """A fact about the league, or None."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        if rows and not is_text(rows[0][0]):
            raise StoreError(f"{self.path}: is damaged: its {key} is no text; {SPARE}")
        return rows[0][0] if rows else None

    def _fact(self, key: str, read: Callable[[str], T]) -> T | None:
        """The value of a fact about the league, or None; `StoreError` if it cannot be read."""
        text = self.meta(key)
        try:
            return None if text is None else read(text)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreError(f"{self.path}: is damaged: its {key}: {error}; {SPARE}") from None

    def secret(self) -> bytes | None:
        """The season's 32-byte secret; None before it is settled."""
        return self._fact("secret", bytes.fromhex)

    def record_format(self) -> int:
        """The format of the season's records: a season keeps the one that it began with."""
        stored = self._fact("conditions", json_object)
        version = FORMAT if stored is None else stored.get("record", 1)
        if version not in FORMATS:
            raise StoreError(
                f"{self.path}: its records are of format {version!r}; this version reads {FORMATS}"
            )
        return version

    def rules(self, game: str) -> int | None:
        """The version of the rules that the season began with, if `game` is its game and knows it; else None."""
        stored = self._fact("conditions", json_object) or {}
        noted = stored.get("rules")
        known = (
            stored.get("game") == game and type(noted) is int and load_game(game).by_rules(noted) is not None
        )
        return noted if known else None

    def bots(self) -> tuple[SeatSpec, ...] | None:
        """The bots of the last run, in order, without a way to run them; None before the first run."""
        return self._fact("bots", _bots)

    def skipped(self) -> tuple[str, ...]:
        """One line for each bot that was left out of the last run."""
        return self._fact("skipped", lambda text: tuple(map(str, json.loads(text)))) or ()

    def published(self) -> str | None:
        """When the season first ended, so that its secret became public (ISO time), or None."""
        return self.meta("published")

    def check_same_league(self, season: Season, config: LeagueConfig) -> None:
        """Raise `StoreError`, saying what differs, if the store belongs to a league of other conditions.

        Bots, format, rating and jobs may change: each match's id covers what determined it.
        """
        stored = self._fact("conditions", json_object)
        if stored is None:
            return
        old = {**stored, "seed": self._fact("seed", json.loads)}
        new = {**season.conditions, "seed": config.seed}
        lines = [f"  {line}" for line in differences(old, json.loads(json.dumps(new)))]
        if lines:
            raise StoreError(
                f"{self.path}: holds the results of another league; since then these have changed:\n"
                + "\n".join(lines)
                + "\nGive the new league its own name in the league file, or another --results folder."
            )

    def check_commitment(self) -> None:
        """Raise `StoreError` if the secret in the store is not the one that was committed to."""
        secret = self.secret()
        if secret is not None and season_commitment(secret) != self.meta("commitment"):
            raise StoreError(
                f"{self.path}: its secret does not fit its commitment; the file has been altered"
            )

    def committed(self) -> str | None:
        """When the secret was chosen and the commitment was printed (ISO time), or None."""
        return self.meta("committed") or (None if self.meta("commitment") is None else self.meta("created"))

    def commit(self, config: LeagueConfig, season: Season) -> None:
        """Write down the secret, its commitment and the conditions of a league before anyone has to be entered."""
        self.check_same_league(season, config)
        with self.writing():
            self._note_season(config, season)
            settle_meta(self._db, self.path)

    def _note_season(self, config: LeagueConfig, season: Season) -> None:
        committed = self.committed() or utc_now()
        for key, value in {
            "name": config.name,
            "secret": season.secret.hex(),
            "commitment": season.commitment,
            "committed": committed,
            "seed": json.dumps(config.seed),
            "conditions": json.dumps(season.conditions, sort_keys=True),
            "harness": __version__,
        }.items():
            set_meta(self._db, key, value)

    def enter(self, config: LeagueConfig, season: Season, skipped: Sequence[str] = ()) -> None:
        """Write down the league about to be run: secret, conditions, bots; and `league.toml` for people."""
        self.check_same_league(season, config)
        bots = [
            [bot.bot, bot.version, bot.digest, *([] if bot.clock is None else [attrs.asdict(bot.clock)])]
            for bot in season.bots
        ]
        beacon = {} if season.beacon is None else {"beacon": season.beacon}
        with self.writing():
            self._note_season(config, season)
            for key, value in {
                "config": json.dumps(config.to_toml(), sort_keys=True),
                "bots": json.dumps(bots),
                "skipped": json.dumps(list(skipped)),
                **beacon,
            }.items():
                set_meta(self._db, key, value)
            entrants_commitment.settle(self._db, self.path, season)
            settle_meta(self._db, self.path)
        write_config(
            config,
            self.path.with_name("league.toml"),
            f"Written by warpleague {__version__}: the league as it was last run, defaults included.",
            f"Commitment to the season's secret (SHA-256): {season.commitment}",
        )

    def publish_secret(self) -> None:
        """Note that the season has ended, which makes its secret public. What is public stays so."""
        with self.writing():
            if self.published() is None:
                set_meta(self._db, "published", utc_now())
                settle_meta(self._db, self.path)

    # Facts

    def note(self, kind: str, content: dict[str, Any]) -> None:
        """Store a fact of the kind `kind`, with its entry in the journal; durable when this returns."""
        with self.writing():
            add_fact(self._db, kind, content)

    def facts(self, *kinds: str) -> list[Fact]:
        """The decisions about the league, in order; of some kinds, or all of it."""
        return facts_in(self._db, self.path, kinds)

    def entered(self) -> list[entrants_commitment.Entered]:
        """Every commitment to the entrants, in order."""
        return entrants_commitment.entered(self._db, self.path)

    def history(self) -> tuple[Entry, ...]:
        """Who took part in what, at each entry in order."""
        return entrants_commitment.history(self._db, self.path)

    def seeds(self) -> tuple[str, ...]:
        """The order in which bots were seeded by rating when they were last entered; empty if they were not."""
        return entrants_commitment.seeds(self._db, self.path)

    def seating(self) -> int:
        """The version by which seat orders are chosen."""
        return entrants_commitment.seating(self._db, self.path)

    def dice(self) -> Dice | None:
        """Whether the seat orders of a deal shared its dice when the league was last run; None before that."""
        config = self._fact("config", json_object)
        # Until there was a choice, they did.
        return (
            None if config is None else "own" if config.get("format", {}).get("dice") == "own" else "shared"
        )

    def stages(self) -> tuple[Stage, ...]:
        """The leagues from which bots came when they were last entered; empty if all were in the file."""
        return entrants_commitment.stages(self._db, self.path)

    def taken_over(self, season: Season) -> tuple[Begun, ...]:
        """Which deals of a ladder had begun when these bots came.

        Those that have begun by now if other bots were entered last, or the ladder chose in an earlier way who meets.
        """
        from warpleague.league.store import ladder_log  # which only ladders need

        entered, entry = self.entered(), entrants_commitment.commitment_to(season)
        if not entered or entered[-1].commitment != entry:
            return self.begun(season)
        return self._fact(ladder_log.KEY, lambda text: ladder_log.read(text, entry)) or ()

    def begun(self, season: Season, before: int | None = None) -> tuple[Begun, ...]:
        """Which deals of a ladder have begun, or had begun `before` this entry of the journal."""
        from warpleague.league.store import ladder_log  # which only ladders need

        with clear_errors(self.path):
            return ladder_log.begun(self._db, season, before)

    def ended(self, season: Season) -> bool:
        """Whether it is recorded that this season is over, and no bot, match or decision has changed since."""
        if self.published() is None:
            return False
        return entrants_commitment.ended(self._db, self.path, season)

    def places(self) -> dict[str, int]:
        """The ids of all matches and facts ever stored, in order, each with its first entry in the journal."""
        return {
            str(one): seq
            for one, seq in self._rows("SELECT id, min(seq) FROM journal GROUP BY id ORDER BY 2")
        }

    def listed(self) -> list[dict[str, Any]]:
        """The bots as the league file listed them at the last run, with those that came from other leagues."""
        bots = (self._fact("config", json_object) or {}).get("bots", ())
        return [{"path": bot} if isinstance(bot, str) else bot for bot in bots]

    def head(self) -> Head:
        """The head of the journal."""
        with clear_errors(self.path):
            return journal.head(self._db)

    def goes_back_to(self, head: Head) -> bool:
        """Whether the journal had this head once: nothing that was stored then was exchanged with its entry."""
        with clear_errors(self.path):
            return journal.goes_back_to(self._db, head)
