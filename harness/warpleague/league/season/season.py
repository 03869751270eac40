"""A season: its conditions, its secret, its bots, and the id of each of its matches."""

from __future__ import annotations

import json
import re
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.games import load_game
from warpleague.league.season.config import FormatTable, LeagueConfig, with_dice
from warpleague.league.season.seat_plan import SeatPlan
from warpleague.match.chance import beacon_secret, deal_key, season_commitment
from warpleague.match.spec import FORMAT, Conditions, MatchSpec, SeatSpec
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.league.season.fixture import Group, Table

ID = re.compile(r"[0-9a-f]{20}")
"""The form of a match's id."""
_ID_BYTES = 10  # a million matches collide with a chance of 4e-13
_DECISIONS = 1000  # more than a seat has in any match of the games here
_DEAL_BITS = 53  # exact in every JSON reader; two of a million deals are alike with a chance of 6e-5


@attrs.frozen
class Entry:
    """Who took part when the league was run before, as names with digests, and in how many sampled tables.

    `challengers` are those of a gauntlet. Where the entry is `merged`, these bots played in another store, and their
    matches were taken over. `returns` are those of `Season`.
    """

    bots: tuple[tuple[str, str], ...]
    tables: int | None = None
    challengers: tuple[str, ...] = ()
    merged: bool = False
    returns: dict[str, int] = attrs.Factory(dict)


@attrs.frozen
class Stage:
    """A league whose best bots take part: its name, the head of its journal when they were entered, and these bots.

    They are names with digests, the best first.
    """

    league: str
    head: str
    bots: tuple[tuple[str, str], ...]


@attrs.frozen(kw_only=True, slots=False)
class Season(Conditions):
    """Everything that determines a season's matches; `bots` are numbered in this order everywhere.

    `secret` are the 32 bytes all deals come from. Where the season `awaits` a beacon, a public value that nobody knew
    when secret and entrants were committed to, they come from both; `beacon` is that value. For reading results the
    bots need no way to be run. `history` are the entries of earlier runs, in order: what was scheduled then stays.
    `seeds` are the names of the bots, the best first, where they are seeded by rating. `stages` are the leagues from
    which bots come.
    `ended`: it is recorded that the order was settled (`until`), and nothing has changed since; so it stays settled,
    even if a later version of the program would ask for more matches. `worth` is the digest of the worth function that
    the season committed to.
    """

    game: str
    rules: int
    options: dict[str, Any]
    players: int
    format: FormatTable
    secret: bytes
    bots: tuple[SeatSpec, ...]
    awaits: str | None = None
    beacon: str | None = None
    void: int = 0
    history: tuple[Entry, ...] = ()
    seeds: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    ended: bool = False
    worth: str | None = None

    @classmethod
    def of(
        cls, config: LeagueConfig, bots: Sequence[SeatSpec], secret: bytes, beacon: str | None = None
    ) -> Season:
        """The season that `config` describes, with these `bots`, and its beacon's value once it is known."""
        return cls(
            game=config.game.id,
            rules=load_game(config.game.id).rules_version,
            options=config.game.options,
            players=config.game.players,
            format=with_dice(config).format,
            void=config.service.void,
            secret=secret,
            bots=tuple(bots),
            awaits=config.season.beacon,
            beacon=beacon,
            **attrs.asdict(config.conditions, recurse=False),
        )

    @cached_property
    def commitment(self) -> str:
        """The hexadecimal SHA-256 of the secret."""
        return season_commitment(self.secret)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the bots."""
        return tuple(bot.bot for bot in self.bots)

    @property
    def challengers(self) -> tuple[str, ...]:
        """The names of a gauntlet's challengers: the first bot if the file names none."""
        return self.format.challengers or self.names[:1]

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The earlier entries in this store and that of these bots."""
        return tuple(entry for entry in self._lineups if not entry.merged)

    @cached_property
    def _lineups(self) -> tuple[Entry, ...]:
        tables = self.format.tables
        now = Entry(
            tuple((bot.bot, bot.identity) for bot in self.bots),
            None if isinstance(tables, str) else tables,
            self.challengers,
        )
        return (*self.history, now)

    @cached_property
    def seat_plan(self) -> SeatPlan:
        """The seat orders of all tables, for all bots that were entered together; of a gauntlet, those of the field.

        In a gauntlet an empty name stands for the challenger, whose place is the same whoever it is.
        """
        gauntlet = self.format.kind == "gauntlet"
        lineups = []
        for entry in self._lineups:
            out = (entry.challengers or self.challengers) if gauntlet else ()
            lineups.append(tuple(name for name, _ in entry.bots if name not in out))
        # What is drawn follows from the secret, so that no author can choose a name for the seats that it gets.
        key = blake2b(b"seats", key=self.dealt, digest_size=32).digest()
        return SeatPlan(
            self.format.seats, self.players, key, dict.fromkeys(lineups), "" if gauntlet else None
        )

    @cached_property
    def arrivals(self) -> tuple[str, ...]:
        """All names ever entered, in order of arrival; those that came together in an order that is drawn."""
        names: dict[str, None] = {}
        for entry in self.entries:
            together = (name for name, _ in entry.bots)
            names |= dict.fromkeys(sorted(together, key=lambda name: (self._hashed([name]), name)))
        return tuple(names)

    @property
    def longest_match_s(self) -> float:
        """How long a match may take by its clocks, in seconds, with 1,000 decisions of each seat; maybe infinite."""
        decisions = _DECISIONS * (1 + self.again)
        clocks = [bot.clock or self.clock for bot in self.bots]
        seat_s = max(clock.most_s(decisions) for clock in clocks)
        return 2 * max(clock.start_s for clock in clocks) + self.players * seat_s

    @property
    def deals_come_to_others(self) -> bool:
        """Whether bots that never meet play the same deals: all of a solo league, or the challengers of a gauntlet."""
        if self.format.dice == "own":
            return False
        return self.players == 1 or (self.format.kind == "gauntlet" and len(self.challengers) > 1)

    @cached_property
    def by_score(self) -> bool:
        """Whether the game says that its score is what counts."""
        return load_game(self.game).by_score

    @cached_property
    def arrived(self) -> tuple[int, ...]:
        """The place of each bot in `arrivals`."""
        places = {name: place for place, name in enumerate(self.arrivals)}
        return tuple(places[name] for name in self.names)

    @cached_property
    def by_name(self) -> tuple[int, ...]:
        """The bots in an order that does not depend on the league file."""
        return tuple(sorted(range(len(self.bots)), key=lambda bot: self.bots[bot].bot))

    @cached_property
    def seeded(self) -> tuple[int, ...]:
        """The bots, the best seed first: as rated, in the order of the league file, or drawn from their names."""
        seeding = self.format.seeding or ("draw" if self.format.kind == "swiss" else "order")
        if seeding == "draw":
            return tuple(sorted(self.by_name, key=lambda bot: self.shuffled([bot])))
        places = {name: place for place, name in enumerate(self.seeds)}
        return tuple(sorted(range(len(self.bots)), key=lambda bot: places.get(self.names[bot], len(places))))

    @cached_property
    def renewed(self) -> frozenset[int]:
        """The bots that were entered under the same name with another content before, or that came back."""
        first: dict[str, str] = {}
        for entry in self.entries:
            for name, digest in entry.bots:
                first.setdefault(name, digest)
        return frozenset(
            i for i, bot in enumerate(self.bots) if first[bot.bot] != bot.identity or bot.bot in self.returns
        )

    @cached_property
    def returns(self) -> dict[str, int]:
        """How often the version of a bot that plays has come back after another one; without those that have not.

        In a ladder, and at level sandbox wherever bots may come at any time, a version that is activated once more is
        another entry, with deals of its own: so nobody can go back to the results of a lucky time.
        """
        kind = self.format.kind
        counted = kind == "ladder" or (self.level == "sandbox" and kind in ("round-robin", "gauntlet"))
        counts: dict[str, int] = {}
        if not counted:
            return counts
        entries = [(dict(entry.bots), entry.returns) for entry in self.history if not entry.merged]
        for bot in self.bots:
            last, times = None, -1
            for bots, returns in entries:
                last = bots.get(bot.bot, last)
                if bots.get(bot.bot) == bot.identity:
                    times = max(times, returns.get(bot.bot, 0))
            number = times if last == bot.identity else times + 1
            if number > 0:
                counts[bot.bot] = number
        return counts

    @cached_property
    def conditions(self) -> dict[str, Any]:
        """The common conditions of all matches of the season, as JSON; `rules` is the version of the game's rules.

        A condition that not every league has, such as a policy on pondering or a beacon, is there only if the league
        has it.
        """
        return {
            "clock": attrs.asdict(self.clock),
            "faults": self.faults,
            "game": self.game,
            "level": self.level,
            "options": self.options,
            "players": self.players,
            "rules": self.rules,
            "strikes": self.strikes,
            **({"again": self.again} if self.again else {}),
            **({"failures": self.failures} if self.failures else {}),
            **({} if self.note_bytes == NOTE_BYTES else {"note_bytes": self.note_bytes}),
            **({"void": self.void} if self.void else {}),
            **({} if self.pondering == "off" else {"pondering": self.pondering}),
            **({} if self.awaits is None else {"beacon": self.awaits}),
            "record": FORMAT,
        }

    @cached_property
    def _hasher(self) -> blake2b:
        # All ids of a season begin with the same: it is hashed once, and the state copied for each match.
        what = {**self.conditions, "commitment": self.commitment}
        if self.beacon is not None:
            what["beacon value"] = self.beacon
        return blake2b(canonical(what), digest_size=_ID_BYTES)

    @cached_property
    def _seated(self) -> tuple[bytes, ...]:
        return tuple(b"\n" + canonical([bot.bot, bot.identity]) for bot in self.bots)

    def match_id(self, deal: int, seats: Sequence[int]) -> str:
        """The id of a match: a hash of all that determines it, the bots' content in seat order included.

        The name belongs to it because one bundle may play under two names.
        """
        hasher = self._hasher.copy()
        hasher.update(b"\n%d" % deal + b"".join([self._seated[bot] for bot in seats]))
        return hasher.hexdigest()

    def id_of(self, deal: int, bots: Sequence[tuple[str, str]]) -> str:
        """The same for any bots, given by name and digest."""
        hasher = self._hasher.copy()
        hasher.update(b"\n%d" % deal + b"".join([b"\n" + canonical(list(bot)) for bot in bots]))
        return hasher.hexdigest()

    # A match that was begun in vain is played again with the dice of its next attempt: what a bot has seen of the ones
    # before is worth nothing, so nobody gains by a void match. The attempt is the match's, not the deal's: to play the
    # others of the deal again, too, would let a bot that lost one of them have it taken back. So they are on other
    # dice then, unless these are void as often; such a deal still is one group. Its luck cancels less, and favours
    # nobody.

    def key_of(self, deal: int, attempt: int = 0) -> bytes:
        """The 32-byte key of a deal, for a match begun `attempt` times in vain; all its dice follow from it."""
        return deal_key(self.dealt, deal, attempt)

    @cached_property
    def dealt(self) -> bytes:
        """The source of all draws: the secret, and the beacon once it is known."""
        return self.secret if self.beacon is None else beacon_secret(self.secret, self.beacon)

    def deal(self, bots: Sequence[int], turn: int, round_: int, *, own: bool = False) -> int:
        """The deal number (53 bits) that these bots play in a round; `turn` tells apart deals of the same round.

        It depends on names and contents, not on places in the league file: bots can come and go, and all others keep
        their deals; a bot whose content changes gets new ones, and so does a version that `returns`. Bots that are not
        among `bots` may share the deal.
        With `own`, where each match has dice of its own, `bots` are in seat order.
        """
        # Without the order of the seats, so that all seat orders of a table share the deal; with it where dice are
        # `own`.
        names = [self._deal_names[bot] for bot in bots]
        what = ["own" if own else "shared", names if own else sorted(names), turn, round_]
        digest = blake2b(canonical(what), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> (64 - _DEAL_BITS)

    @cached_property
    def _deal_names(self) -> tuple[list[Any], ...]:
        """The part of each bot on which deals depend."""
        return tuple(
            [bot.bot, bot.identity, *([self.returns[bot.bot]] if bot.bot in self.returns else [])]
            for bot in self.bots
        )

    def shuffled(self, bots: Sequence[int]) -> int:
        """A number that follows from the secret and the names of `bots`, in any order: it decides what is drawn."""
        known, table = self._shuffles, tuple(bots)
        if table not in known:
            known[table] = self._hashed(sorted(self.bots[bot].bot for bot in bots))
        return known[table]

    def drawn_order(self, bots: Sequence[int], turn: int) -> list[int]:
        """The `bots` in an order that is drawn anew for each `turn`; it follows from the secret and their names."""
        names = {bot: self.bots[bot].bot for bot in bots}
        return sorted(bots, key=lambda bot: (self._hashed([names[bot], str(turn)]), names[bot]))

    def _hashed(self, names: Sequence[str]) -> int:
        return int.from_bytes(blake2b(canonical(names), key=self.dealt, digest_size=8).digest(), "big")

    @cached_property
    def _shuffles(self) -> dict[tuple[int, ...], int]:
        return {}

    def spec(self, match_id: str, deal: int, seats: Sequence[int], attempt: int = 0) -> MatchSpec:
        """The match to play, begun `attempt` times in vain; its key stays out of the record while the season lasts."""
        return self.match(
            id=match_id,
            game=self.game,
            options=self.options,
            seats=tuple(self.bots[bot] for bot in seats),
            key=self.key_of(deal, attempt),
            attempt=attempt,
            publish_key=False,
        )


def deal_of(season: Season, group: Group, seats: Table) -> int:
    """The number of the deal on which these seats of a group play: all share it, unless each match has own dice."""
    own = season.format.dice == "own"
    return season.deal(seats if own else group.bots, group.turn, group.round, own=own)


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """One line for each value that differs between two JSON values: its path, what it was, what it is now."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            line
            for key in sorted(old.keys() | new.keys())
            for line in differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        ]
    return [] if old == new else [f"{path}: was {_shown(old)}, is now {_shown(new)}"]


def _shown(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def canonical(data: object) -> bytes:
    """JSON as it is hashed: keys sorted, no blanks, UTF-8."""
    return _canonical(data).encode()


_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
