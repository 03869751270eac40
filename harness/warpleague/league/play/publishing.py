"""Leagues as files for everyone: what is published of a league whose season is over, and what of it holds.

Whoever has the files needs neither bots nor this machine: all results are computed again from the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import tomli_w

from warpleague.errors import BadInput, BotError, RecordError, StoreError
from warpleague.games import load_game
from warpleague.league.play.verifying import altered, mispaired, place_of, read_recorded, verify_league
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.league import open_to_read
from warpleague.league.results.status import status
from warpleague.league.season.config import load_config
from warpleague.league.season.entry import folder_of
from warpleague.league.store.events import commitment_to
from warpleague.league.store.plain import restore
from warpleague.runner.bundle.content import files_of, folder_digest, read_content
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from warpleague.league.referees.pool import NewPool
    from warpleague.league.results.league import League
    from warpleague.league.store.journal import Head

LEAGUE: Final = "league.toml"
"""The file of the league as it was last run, all defaults included."""


@attrs.frozen
class Checked:
    """What was checked, whether it holds, and the words for it; `unchecked` if that could not be found out here."""

    what: str
    verdict: Literal["holds", "wrong", "unchecked"]
    text: str


# -- publishing ------------------------------------------------------------------------------------------


def check_finished(league: League) -> None:
    """Raise `StoreError` unless the season is over and its secret is public, or if the store was altered."""
    now = status(league)
    if now.published is None or not now.complete:
        left = "" if now.matches is None else f", {counted(now.matches - now.stored, 'match')} to play"
        raise StoreError(
            f"{league.store.path}: the season is not over, or its secret is not public yet{left}; league run plays "
            "the rest, and in an arena arena close ends the season"
        )
    if not _is_as_entered(league):
        raise StoreError(
            f"{league.store.path}: the format in {league.config.path} is not the one that was played: undo that, or "
            "run the league"
        )
    if wrong := altered(league):
        raise StoreError(
            f"{league.store.path}: {wrong[0][2]}; league verify tells everything that is wrong, and league mend "
            "removes it"
        )


def league_files(league: League) -> Iterator[tuple[str, bytes]]:
    """The files that are published of a league, each with its path and content."""
    yield LEAGUE, tomli_w.dumps(league.config.to_toml()).encode()
    yield from league.store.plain()


def about(league: League) -> dict[str, Any]:
    """What a published league is, as JSON: its commitments, its secret and its receipt among it."""
    now = status(league)
    return {
        "name": now.league,
        "game": now.game,
        "rules": now.rules,
        "matches": now.stored,
        "committed": now.committed,
        "commitment": now.commitment,
        "published": now.published,
        "secret": now.secret,
        "beacon": now.beacon,
        "entrants": [attrs.asdict(entry) for entry in now.entered],
        "head": now.head,
    }


def bots_of(league: League) -> list[tuple[str, str]]:
    """Name and digest of each version of a bot that was ever entered, in order."""
    entered = [bot for entry in league.store.history() for bot in entry.bots]
    now = [(bot.bot, bot.identity) for bot in league.season.bots]
    # Behind the digest a bot's own clock may follow.
    return list(dict.fromkeys((name, (identity.split() or [""])[0]) for name, identity in (*entered, *now)))


def sources_of(league: League) -> dict[str, Path]:
    """The folders that hold the source of a bot of the league, by digest."""
    found: dict[str, Path] = {}
    for folder in (folder_of(league.config, entry) for entry in league.config.entries):
        try:
            found.setdefault(source_digest(folder), folder)
        except BotError:
            continue  # it is not there any more, or no bot
    return {digest: found[digest] for _, digest in bots_of(league) if digest in found}


def source_digest(folder: Path) -> str:
    """The digest of the bot in a folder, whose large files need not be there; `BotError` if there is no bot."""
    return folder_digest(folder, read_manifest(folder).files)


def source_files(folder: Path) -> Iterator[tuple[str, bytes, bool]]:
    """The files of a bot's source but for large ones: path, content, and whether it may be run."""
    for file in files_of(folder, read_manifest(folder).files):
        yield file.name, read_content(file), file.executable


# -- verifying -------------------------------------------------------------------------------------------


def open_published(folder: Path, results: Path, name: str) -> League:
    """The league `name` whose published files are in `folder`; its store is made in `results`.

    Raises `BadInput` for files that are none of a league, or do not fit together.
    """
    config = load_config(folder / LEAGUE, without_bots=True)
    if config.name != name:
        raise BadInput(f"{folder / LEAGUE}: is of the league {config.name!r}, not {name!r}")
    restore(folder, results / name / "league.sqlite")
    # Where the file was does not matter here, and there is nothing to see of what it names.
    return open_to_read(attrs.evolve(config, path=results / f"{name}.toml"), results)


def check_rules(game: str, rules: object) -> None:
    """Raise `BadInput` if records by these rules cannot be executed here."""
    here = load_game(game).rules_version
    if here != rules:
        raise BadInput(
            f"its records are by version {rules} of the rules of {game}, and this program plays version {here}: take "
            "the version of warpleague that the manifest names"
        )


def check_league(
    league: League, heads: Sequence[Head], jobs: int, *, new_pool: NewPool = RefereePool
) -> Iterator[Checked]:
    """Execute a whole league again, as `league verify` does; one line for each thing that holds, or does not."""
    now = status(league)
    yield Checked("commitment", "holds", f"{now.commitment}, of {now.committed}, to the secret")
    for entry in now.entered:
        yield Checked("commitment", "holds", f"{entry.commitment}, of {entry.since}, to the entrants")
    fits = _is_as_entered(league)
    text = "bots, conditions and format of the league's file are the last ones that were committed to"
    yield _checked(
        "entrants", fits, text if fits else "the league's file has another format than was committed to"
    )
    wrong = altered(league, heads)
    yield from (
        Checked("journal", "wrong", f"{place_of(number, match)}: {text}") for number, match, text in wrong
    )
    if not wrong:
        given = ", it goes back to each receipt that was given" if heads else ""
        entries = counted(league.store.journal(), "entry", "entries")
        yield Checked("journal", "holds", f"{entries}, nothing was deleted{given}; receipt {now.head}")
    yield from _records(league, jobs, new_pool)
    total = "an unknown number" if now.matches is None else f"{now.matches:,}"
    yield _checked("matches", now.complete, f"{now.stored:,} of {total} that the schedule has")
    if league.schedule.format.ahead is not None:
        strangers = mispaired(league)
        yield from (
            Checked("pairings", "wrong", f"{place_of(None, match)}: {text}") for _, match, text in strangers
        )
        if not strangers:
            yield Checked("pairings", "holds", "all follow from the results before them")
    for stage in league.season.stages:
        names = ", ".join(name for name, _ in stage.bots)
        yield Checked(
            "entry", "unchecked", f"that {names} came through in {stage.league}: it is another league"
        )
    yield Checked(
        "times", "unchecked", "they were measured where the matches were played, as tokens and costs were"
    )


def _is_as_entered(league: League) -> bool:
    entered = league.store.entered()
    return bool(entered) and entered[-1].commitment == commitment_to(league.season)


def _records(league: League, jobs: int, new_pool: NewPool) -> Iterator[Checked]:
    good, ids = 0, dict.fromkeys(league.store.ids())
    for fixture, problem in verify_league(league, jobs, new_pool):
        good += problem is None
        ids.pop(fixture.id, None)
        if problem is not None:
            yield Checked("records", "wrong", f"{place_of(fixture.number, fixture.id)}: {problem}")
    for match_id in ids:  # of earlier versions of bots, or of an earlier format
        try:
            _check_earlier(league, match_id)
            good += 1
        except (RecordError, StoreError) as error:
            yield Checked("records", "wrong", f"{place_of(None, match_id)}: {error}")
    stored = league.store.count()
    text = f"{good:,} of {stored:,} executed again: dice, moves, faults, results"
    yield _checked("records", good == stored, text)


def _check_earlier(league: League, match_id: str) -> None:
    """Execute a match that the schedule does not have any more; raises `RecordError` or `StoreError`."""
    season, stored = league.season, league.store.match(match_id)
    if stored is None or season.id_of(stored.deal, stored.bots) != match_id:
        raise StoreError("its id is not that of its bots and its deal")
    record = league.store.record(match_id)
    played = read_recorded(record, match_id, season.conditions, (season.dealt, stored.deal))
    result = played.result
    if (played.seats, result.ranks, result.scores) != (stored.bots, stored.ranks, stored.scores):
        raise StoreError("the result in the store is not the one of its record")


def check_sources(bots: Mapping[str, Sequence[str]], folder: Path) -> Iterator[Checked]:
    """Compare the sources in `folder` with the `bots`, the names that each digest has."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    for digest, names in bots.items():
        of = f"{', '.join(names)} {digest}"
        if digest not in there:
            yield Checked("source", "unchecked", f"{of}: is not in the archive, only its digest")
            continue
        try:
            fits = source_digest(folder / digest) == digest
            yield _checked("source", fits, of if fits else f"{of}: its files have another digest")
        except BotError as error:
            yield Checked("source", "wrong", f"{of}: {error}")
    for digest in sorted(there - bots.keys()):
        yield Checked("source", "wrong", f"{digest}: no bot that was entered has this digest")


def _checked(what: str, holds: bool, text: str) -> Checked:
    return Checked(what, "holds" if holds else "wrong", text)
