"""Finds what has changed in a league file and its bots since the league was last run.

Tables show the league as it was last run. Bots are not built here: only their manifests and the content of their
folders are read. Changes of conditions, with which a store cannot be used, are detected in `store`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.season.config import FormatTable, RatingTable, without_none
from warpleague.league.season.entry import folder_of
from warpleague.league.season.season import differences
from warpleague.league.store.database import SPARE, json_object
from warpleague.match.spec import identity_of
from warpleague.strict import structure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.league.season.config import BotEntry, LeagueConfig
    from warpleague.league.store.store import Store

_TABLES: Final = {"format": FormatTable, "rating": RatingTable}


@attrs.frozen
class Change:
    """One thing that is not as it was: of which kind, the bot if it is about one, and the words."""

    what: Literal["added", "removed", "content", "broken", "format", "rating"]
    bot: str | None
    text: str

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return attrs.asdict(self)


def changes(config: LeagueConfig, store: Store) -> tuple[Change, ...]:
    """The differences between the league as `config` and its bots' folders have it now, and as it was last run."""
    try:
        last = json_object(store.meta("config") or "{}")
    except ValueError as error:
        raise StoreError(f"{store.path}: is damaged: its config: {error}; {SPARE}") from None
    return (*_of_bots(config, store, last), *_of_tables(config, last))


def _of_bots(config: LeagueConfig, store: Store, last: dict[str, Any]) -> Iterator[Change]:
    played = {bot.bot: bot.identity for bot in store.bots() or ()}
    listed = [{"path": bot} if isinstance(bot, str) else bot for bot in last.get("bots", ())]
    seen: set[str] = set()
    for entry in config.entries:
        name, digest, problem = _bot_now(config, entry)
        if name in seen:
            continue  # two of one name: one of them was left out, or will be refused
        seen.add(name)
        if name in played:
            if problem:
                yield Change("broken", name, f"{name} cannot take part any more ({problem})")
            elif digest != played[name]:
                other = "another clock" if digest.split()[0] == played[name].split()[0] else "other content"
                yield Change("content", name, f"{name} has {other}")
        elif without_none(attrs.asdict(entry)) not in listed:
            yield Change("added", name, f"{name} was added")
    for name in played:
        if name not in seen:
            yield Change("removed", name, f"{name} was removed")


def _bot_now(config: LeagueConfig, entry: BotEntry) -> tuple[str, str, str]:
    """A bot's name in the league, the digest of its content, and what is wrong with it, if anything is."""
    from warpleague.runner.bundle.content import folder_digest
    from warpleague.runner.bundle.manifest import read_manifest

    folder = folder_of(config, entry)
    name = entry.named(folder.name)
    try:
        manifest = read_manifest(folder)
        name = entry.named(manifest.name)
        clock = None
        if entry.clock is not None:
            clock = {**attrs.asdict(entry.clock), "start_s": config.clock.start_s}
        return name, identity_of(folder_digest(folder, manifest.files), clock), ""
    except BadInput as error:
        return name, "", str(error).splitlines()[0]


def _of_tables(config: LeagueConfig, last: dict[str, Any]) -> Iterator[Change]:
    now = config.to_toml()
    for key, kind in _TABLES.items():
        try:
            before: Any = structure(last.get(key, {}), kind, "")  # with defaults for keys that are new since
        except ConfigError:
            continue  # of another version of the program, whose words are not ours
        noted = _plain(without_none(attrs.asdict(before)))
        if noted.get("kind") == "swiss" and noted.get("seeding") == "order" and _noted_always(last):
            del noted["seeding"]
        for line in differences(noted, _plain(now[key]), key):
            yield Change("format" if key == "format" else "rating", None, line)


def _noted_always(last: dict[str, Any]) -> bool:
    """Whether a store is from when a Swiss had no seeds, but `seeding` was noted: it lacks a key that is newer."""
    rules = last.get("rules")
    return isinstance(rules, dict) and "illegal" not in rules


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """A table without a seeding that is the default anyway: older stores note it in every format."""
    if table.get("seeding") == "order" and table["kind"] != "swiss":
        return {key: value for key, value in table.items() if key != "seeding"}
    return table
