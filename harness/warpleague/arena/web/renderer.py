"""Renders the pages of leagues and matches, in processes of its own.

The functions that run in those processes open the league each time: they get nothing but paths. Pages of matches are
cached on the disk. Of a league whose standings are frozen, everything is made of a copy of its store.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec
import numpy as np
import trio

from warpleague.arena.processes import log, prune
from warpleague.arena.submissions.entering import entered, is_paused, waits_for_bots
from warpleague.arena.submissions.ledger import FILE, Ledger
from warpleague.arena.submissions.versions import versions_in
from warpleague.errors import StoreError
from warpleague.league.play.verifying import published_record
from warpleague.league.referees.pool import RefereePool
from warpleague.league.results.league import CourseCache, League, open_to_read
from warpleague.league.season import utc_now
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.league.store.database import back_up
from warpleague.league.store.store import Store
from warpleague.report.site.bot_page import FOLDER as BOTS
from warpleague.report.site.bot_page import BotTables, pages_on_server
from warpleague.report.site.league_page import Pick, cards, index_content
from warpleague.report.site.match_page import Place
from warpleague.report.site.page_frame import render, served
from warpleague.report.site.write import make_page, maker, order_script
from warpleague.report.terminal.tables import VIEWS
from warpleague.runner.host import be_nice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warpleague.league.season.fixture import PlayedMatch


# -- what everybody may see of a league ------------------------------------------------------------------
# From the time that the league's file names until the season is over, standings are frozen: pages and the JSON
# API read a copy of the store. It has the matches that were stored before that time, or none where the standings
# are hidden. So all that is made of the store keeps to it.

FOLDER: Final = "frozen"
_STORE: Final = "league.sqlite"


def freeze_time_s(config: LeagueConfig) -> float | None:
    """The time at which the public view of a league freezes, in seconds since 1970, or None."""
    at = config.arena.freeze_at
    return None if at is None else datetime.fromisoformat(at).timestamp()


def is_frozen(config: LeagueConfig, results: Path, now_s: float | None = None) -> bool:
    """Whether it is frozen now: the time has come, and the season's secret is not public yet."""
    at_s = freeze_time_s(config)
    if at_s is None or (time.time() if now_s is None else now_s) < at_s:
        return False
    with suppress(StoreError), Store.open_to_read(results / config.name) as store:
        return store.published() is None
    return False


def shown_results(config: LeagueConfig, results: Path) -> Path:
    """The folder of results of which everybody may see the league: the real one, or one with a copy.

    Waits for the disk. Raises `StoreError` if nothing has been played yet.
    """
    if not is_frozen(config, results):
        return results
    at_s = freeze_time_s(config)
    assert at_s is not None
    folder = results / config.name / FOLDER / f"{at_s:.0f}-{config.arena.freeze}"
    if not folder.is_dir():
        _make(config, results, folder, at_s)
    return folder


def stored_matches(
    config: LeagueConfig, results: Path, most: int, before: int | None = None, bot: str | None = None
) -> list[PlayedMatch]:
    """Matches that everybody may see, as `Store.last_played`. Waits for the disk."""
    with Store.open_to_read(shown_results(config, results) / config.name) as store:
        return store.last_played(most, before, bot)


def stored_match(config: LeagueConfig, results: Path, match: str) -> PlayedMatch | None:
    """A match that everybody may see, or None. Waits for the disk."""
    with Store.open_to_read(shown_results(config, results) / config.name) as store:
        return store.played_match(match)


def _make(config: LeagueConfig, results: Path, folder: Path, at_s: float) -> None:
    """Make the folder with the copy, whole or not at all; another process may do so at the same time."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.{time.monotonic_ns()}.draft")
    until = datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")
    try:
        back_up(results / config.name / _STORE, draft / config.name / _STORE)
        with Store.open_to_write(draft / config.name) as store:
            late = [
                match.match.id
                for match in store.last_played(1 << 60)
                if config.arena.freeze == "hidden" or match.match.stored >= until
            ]
            if late:
                with store.writing():
                    for match in late:
                        store.remove(match, f"not shown: what is seen of the league was frozen, {utc_now()}")
        with suppress(OSError):
            draft.rename(folder)  # if it is there meanwhile, it is the same
    finally:
        shutil.rmtree(draft, ignore_errors=True)


# -- pages -----------------------------------------------------------------------------------------------

T = TypeVar("T")

_NICE: Final = 10
_WANTED: Final = 2
"""Processes that make what visitors wait for."""
_courses: Final[dict[Path, CourseCache]] = {}
"""The intermediate results of each league's last page, from which the next one continues."""
_bot_tables: Final[dict[Path, tuple[int, float, BotTables]]] = {}
"""The data for the pages of each league's bots: the version of the league's page, the expiry, the tables."""
_MAX_CPU_SHARE: Final = 0.01
"""The share of a processor's time for reading the data for the pages of a league's bots again."""
MAX_ORDERED: Final = 20_000
"""Of a league with more matches, the page of a match does not say which are before and after it."""
_SECTION: Final = re.compile(r'(?s)<section id="(\w+)">.*?</section>')
_TOTALS: Final = ("status", "standings", "crosstable", "bracket", "seats")
"""The tables that have no values of single matches but the messages of faults."""
_NOT_SENT_AGAIN: Final = ("matches", "playing", "latest", "season", "opening")
"""Sections that an open page does not get again: the page updates them itself, or they are large."""


class _All:
    """Stands for the ids of all matches: each match has a page, made on request."""

    def __contains__(self, match: object) -> bool:
        return True

    def __len__(self) -> int:
        return 0


@attrs.frozen
class LeaguePage:
    """The page of a league with its parts, and the values that other pages need.

    `sections` are the parts of `page` that are sent again when they change, by their ids; `parts` the scripts with
    parts of a long list; `order` the script that tells which match is before and after another. `picture` is the board
    that the page begins with, at the end of the match `pick`. `cpu_s` is how long it took to make.
    """

    page: bytes
    sections: dict[str, str]
    parts: dict[str, bytes]
    order: bytes
    sentence: str
    played: int
    complete: bool
    published: bool
    open_matches: bool
    frozen: bool
    notice: str
    game: str
    picture: dict[str, Any] | None
    pick: Pick | None
    bots: tuple[dict[str, Any], ...]
    cpu_s: float


@attrs.frozen
class LeagueFiles:
    """Where a league is: its file, and the folder of results."""

    path: Path
    results: Path


_SERVED: Final = {
    "frame": served("league"),
    "stamp": "",
    "home": "",
    "folder": "matches",
    "problems": (),
    "missing": 0,
    "all_command": "",
    "serve_command": "",
    "run_command": "",
}
"""What is the same on the page of every league that is served."""


def league_page(files: LeagueFiles, server: dict[str, Any], version: int) -> LeaguePage | None:
    """The current page of a league, or None if there is nothing to show yet.

    `version` stands in the page, which sends it to the server when it asks for changes.
    """
    begun_s = time.process_time()
    try:
        with _opened(files) as opened, opened.store.snapshot():
            league = attrs.evolve(opened, course=_courses.setdefault(files.path, CourseCache()))
            shown = not league.hides_matches
            frozen = is_frozen(league.config, files.results)
            content = index_content(league, only_totals=not shown)
            bots = tuple(cards(league, content.values["table"], content.listing.columns, None))
            if frozen:  # the receipt of a copy is none of the league
                content.values["facts"] = [row for row in content.values["facts"] if row[0] != "receipt"]
    except StoreError as error:
        log("league not shown", file=str(files.path), why=str(error))
        return None
    parts: dict[str, bytes] = {}
    pages: Any = _All() if shown else set()
    block, _ = content.listing.block(league.season.names, pages, parts.__setitem__, content.picture)
    paused = _is_paused(files.results, league.config.name)
    notice = _notice(league.config, frozen=frozen, shown=shown, paused=paused)
    page = render(
        "index.html.j2",
        server=server,
        live={"version": version, "notice": notice},
        pages=pages,
        bot_pages=pages_on_server(league.season.names, f"{BOTS}/"),
        block=block,
        matches=len(content.listing),
        verify_command=f"warpleague league verify {files.path.name}",
        one_command=f"warpleague league export {files.path.name} --match ID",
        **_SERVED,
        **content.values,
    )
    sections = {
        match[1]: match[0] for match in _SECTION.finditer(page.decode()) if match[1] not in _NOT_SENT_AGAIN
    }
    ids = [match.decode() for match in content.listing.columns.id[: MAX_ORDERED + 1].tolist()]
    now = content.values["status"]
    return LeaguePage(
        page=page,
        sections=sections,
        parts=parts,
        order=order_script(ids if shown and len(ids) <= MAX_ORDERED else []),
        sentence=content.values["sentence"],
        played=now.stored,
        complete=now.complete,
        published=now.published is not None,
        game=now.game,
        open_matches=shown,
        frozen=frozen,
        notice=notice,
        picture=content.picture,
        pick=content.values["picks"][0] if content.values["picks"] else None,
        bots=bots,
        cpu_s=time.process_time() - begun_s,
    )


def bot_page(files: LeagueFiles, bot: str, server: dict[str, Any], version: int) -> bytes | None:
    """The page of a bot, or None if the bot is not visible.

    `version` is that of the league's page. Reading the league takes long where there are many matches, so for some
    time the data of an earlier version is used again.
    """
    cached = _bot_tables.get(files.path)
    if cached is None or (cached[0] != version and time.monotonic() >= cached[1]):
        begun_s = time.process_time()
        try:
            with _opened(files) as opened, opened.store.snapshot():
                league = attrs.evolve(opened, course=_courses.setdefault(files.path, CourseCache()))
                tables = BotTables.read(league, only_totals=league.hides_matches)
        except StoreError as error:
            log("bot not shown", file=str(files.path), bot=bot, why=str(error))
            return None
        until_s = time.monotonic() + (time.process_time() - begun_s) / _MAX_CPU_SHARE
        cached = _bot_tables[files.path] = version, until_s, tables
    tables = cached[2]
    names = tables.table.names
    if bot not in names:
        return None
    return render(
        "bot.html.j2",
        frame=served("bot", server["root"]),
        stamp="",
        server=server,
        home="../index.html",
        pages=set() if tables.only_totals else _All(),
        folder="../matches",
        bot_pages=pages_on_server(names),
        **tables.page(bot, _version_names(files.results, tables.league)),
    )


def _version_names(results: Path, league: str) -> dict[str, str]:
    """The authors' names for the versions that they submitted to a league, by the digest of their content."""
    if not (results / FILE).exists():
        return {}
    with Ledger.open(results) as ledger:
        return {one.digest: one.version for one in versions_in(ledger, league)}


def _is_paused(results: Path, league: str) -> bool:
    """Whether an organiser lets no more matches of the league begin."""
    if not (results / FILE).exists():
        return False
    with Ledger.open(results) as ledger:
        return is_paused(ledger, league)


def what_is_missing(files: LeagueFiles) -> str:
    """A sentence if a league has too few bots for a match; else an empty text."""
    return waits_for_bots(_config(files))


def _notice(config: LeagueConfig, *, frozen: bool, shown: bool, paused: bool) -> str:
    """A page's note on the parts that it does not show, and on a pause."""
    if frozen and config.arena.freeze == "hidden":
        return "Results are hidden until the season is over."
    text = (
        ""
        if shown
        else "Others still play the same deals, so only totals are shown until the season is over."
    )
    if frozen:
        text = f"Shown is how the league stood at {config.arena.freeze_at}, until the season is over. {text}"
    if paused:
        text = f"The league is paused: no match begins until an organiser resumes it. {text}"
    return text.strip()


def match_page(files: LeagueFiles, match_id: str, with_script: bool) -> tuple[bytes, bytes] | str | None:
    """The page of a match and its script, which is empty unless it comes `with_script`.

    A text if its record is invalid; None if no match is visible.
    """
    try:
        with _opened(files) as league:
            if match_id not in league.store or league.hides_matches:
                return None
            record = published_record(league, match_id, league.store.deal_of(match_id))
            name = league.config.name
    except StoreError:
        return None
    export = f"warpleague league export {files.path.name} --match {match_id[:12]}"
    stamp = blake2b(record, digest_size=16).hexdigest()
    return make_page(record, Place(name, export, stamp), with_script=with_script)


def league_table(files: LeagueFiles, name: str) -> bytes | None:
    """A table of a league as JSON, as `warpleague league NAME --json` prints it; or None if it is not visible.

    Where only totals may be shown, it has nothing of single matches.
    """
    try:
        with _opened(files) as league, league.store.snapshot():
            data = VIEWS[name].data(league)
            if name == "status" and is_frozen(league.config, files.results):
                data["head"] = ""  # the head of a copy is not a receipt of the league
            if league.hides_matches:
                data = _without_messages(data) if name in _TOTALS else None
            return None if data is None else table_json(data)
    except StoreError as error:
        log("table not made", file=str(files.path), table=name, why=str(error))
        return None


def table_json(data: Any) -> bytes:
    """A table as JSON; its numbers may be those of numpy."""
    return msgspec.json.encode(data, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"no JSON for {type(value)}")


def _without_messages(data: Any) -> Any:
    """A table as JSON, without the texts of bots in their faults."""
    if isinstance(data, dict):
        return {
            key: None if key in ("message", "fault_message") else _without_messages(value)
            for key, value in data.items()
        }
    return [_without_messages(value) for value in data] if isinstance(data, list) else data


def match_record(files: LeagueFiles, match_id: str) -> bytes | None:
    """The record of a match, or None if it is not visible."""
    try:
        with _opened(files) as league:
            if match_id not in league.store or league.hides_matches:
                return None
            return published_record(league, match_id, league.store.deal_of(match_id))
    except StoreError:
        return None


def _opened(files: LeagueFiles) -> League:
    """The league as it was last run, with the bots that were submitted."""
    config = _config(files)
    return open_to_read(config, shown_results(config, files.results))


def _config(files: LeagueFiles) -> LeagueConfig:
    config = load_config(files.path, without_bots=True)
    if not (files.results / FILE).exists():
        return config
    with Ledger.open(files.results) as ledger:
        return entered(ledger, config)


def _run(function: Callable[..., T], *arguments: Any) -> T:
    """Run a function in a process of the renderer."""
    return function(*arguments)


def _run_ahead(function: Callable[..., T], *arguments: Any) -> T:
    """The same at a lower CPU priority: matches and visitors come first."""
    _lower_priority()
    return function(*arguments)


@cache
def _lower_priority() -> None:
    be_nice(_NICE)


class Renderer:
    """Renders pages in processes of its own, while the server answers other requests.

    What a visitor waits for is made at the CPU priority of matches, and one long page lets short ones pass. What is
    made ahead has a process of a lower priority, so nobody waits for it.
    """

    def __init__(self) -> None:
        modules = (__name__,)  # loaded before the first visitor comes
        self._wanted = RefereePool(_WANTED, "none", modules=modules)
        self._ahead = RefereePool(1, "none", modules=modules)
        self._places = trio.CapacityLimiter(_WANTED), trio.CapacityLimiter(1)
        self.waiting = 0
        """How many pages visitors wait for."""

    async def make(self, function: Callable[..., T], *arguments: Any, ahead: bool = False) -> T:
        """Run a function of this module in a process; returns its result. `HarnessFault` if the process has died."""
        pool, run = (self._ahead, _run_ahead) if ahead else (self._wanted, _run)
        self.waiting += not ahead
        try:
            async with self._places[ahead]:
                future = pool.submit(run, function, *arguments)
                return await trio.to_thread.run_sync(future.result, abandon_on_cancel=True)
        finally:
            self.waiting -= not ahead

    def close(self) -> None:
        """End the processes."""
        self._wanted.kill()
        self._ahead.kill()


# -- the cache of match pages, made on request -----------------------------------------------------------

PAGES_FOLDER: Final = "pages"
MAX_WAITING: Final = 64
"""So many pages may wait to be made."""
_PRUNE_EVERY: Final = 50
"""The number of new pages after which the cache is pruned."""


class Busy(Exception):
    """Too many pages are being made: one more would take too long."""


class PageCache:
    """The pages of the matches of one league, at most `max_bytes` of them."""

    def __init__(self, files: LeagueFiles, folder: Path, renderer: Renderer, max_bytes: int) -> None:
        self._files, self._folder = files, folder
        self._renderer = renderer
        self._max_bytes = max_bytes
        self._made = 0
        self._making: dict[str, trio.Event] = {}

    async def page(
        self, match_id: str, game: str, *, published: bool, suffix: str = ".html"
    ) -> bytes | str | None:
        """The page of a match, a text if its record is invalid, or None if the match is not visible.

        With the suffix `.js` it is the script beside the page, which is made and loaded only when it is wanted.
        A page from before the season's secret was published does not have the match's key, so it is made again.
        """
        # What makes pages is part of the name, so that a newer version of this program makes its own.
        name = f"{maker(game)[:6].hex()}-{'open' if published else 'secret'}-{match_id}"
        place = self._folder / f"{name}{suffix}"
        while True:
            with contextlib.suppress(OSError):
                data = place.read_bytes()
                os.utime(place)  # seen lately
                return data
            if name not in self._making:
                break
            await self._making[name].wait()
        if self._renderer.waiting >= MAX_WAITING:
            raise Busy
        done = self._making[name] = trio.Event()
        try:
            with_script = suffix == ".js"
            content = await self._renderer.make(match_page, self._files, match_id, with_script)
            if not isinstance(content, tuple):
                return content
            made = {end: data for end, data in zip((".html", ".js"), content, strict=True) if data}
            await trio.to_thread.run_sync(self._store, self._folder / name, made)
            return made[suffix]
        finally:
            del self._making[name]
            done.set()

    def _store(self, place: Path, files: dict[str, bytes]) -> None:
        """Write a page and its script to the disk; if the disk is full, the next request makes them again."""
        draft = place.with_suffix(".draft")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for suffix, data in files.items():
                draft.write_bytes(data)
                draft.replace(place.with_suffix(suffix))
        except OSError as error:
            log("page not kept", why=str(error))
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        self._made += 1
        if self._made % _PRUNE_EVERY == 1:
            prune(self._folder, self._max_bytes)
