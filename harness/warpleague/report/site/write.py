"""Writes a site to the disk: which pages are made again, in which order files are written, what is removed.

A site works at any moment, also when its writing is killed. Files that pages share are named by their content, so
that old and new pages find theirs. Pages of matches are replaced one by one, each as a whole. The league's page,
which links to them, is written last; only then are files removed that no page needs any more. A match's page
contains a hash of what it was made from: the record, and all code that turns records into pages. If that is the
same, the page stays.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
import time
from collections import deque
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague import __version__
from warpleague.errors import BadInput, StoreError
from warpleague.games import load_game
from warpleague.league.play.verifying import published_record
from warpleague.league.referees.pool import Pool, RefereePool
from warpleague.match.replay import Replay
from warpleague.report.site.bot_page import FOLDER as BOTS
from warpleague.report.site.bot_page import BotTables, file_name, pages_on_disk
from warpleague.report.site.league_page import PART, ListedMatch, index_content
from warpleague.report.site.match_page import ORDER, Notes, Place, page_linked
from warpleague.report.site.page_frame import ASSETS, folder, linked, render, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from warpleague.league.results.league import League

MATCHES: Final = "matches"
"""The folder of a site with the pages of its matches."""

_OURS: Final = re.compile(
    r"(page-[0-9a-f]{12}\.css|(script|part)-[0-9a-f]{12}\.js|[0-9a-f]{20}\.(html|js)"
    r"|[A-Za-z0-9._-]{1,40}-[0-9a-f]{8}\.html)(\.draft)?"
)
_STAMP: Final = re.compile(rb'<meta name="stamp" content="([0-9a-f]{32})">')
_HEAD_BYTES: Final = 4096  # the stamp is in the head of a page


@attrs.frozen
class Site:
    """The written pages: the league's page, how many matches it lists, and what became of their pages.

    `problems` are number, id and text for each match whose record does not hold: it has no page.
    """

    index: Path
    matches: int
    total: int | None
    made: int
    existing: int
    left_out: int
    removed: int
    bytes: int
    elapsed_s: float
    problems: tuple[tuple[int, str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "index": str(self.index),
            "matches": self.matches,
            "total": self.total,
            "replays": {"made": self.made, "kept": self.existing, "left_out": self.left_out},
            "removed": self.removed,
            "bytes": self.bytes,
            "elapsed_s": round(self.elapsed_s, 3),
            "problems": [
                {"number": number, "match": match, "problem": problem}
                for number, match, problem in self.problems
            ],
        }


@attrs.frozen
class NotesFile:
    """A file with notes on one match: its content, and a function that reads the notes, given the match's record.

    The function is called in another process, so it can be pickled. It raises `BadInput` if the file is of no use.
    """

    content: bytes
    read: Callable[[bytes], Notes]


@attrs.frozen(kw_only=True)
class SiteSettings:
    """How a site is written."""

    replays: int | None = None
    """How many matches get a page of their own at most; None: all."""
    jobs: int = 0
    """How many processes make pages; 0: one for each core."""
    notes: Mapping[str, NotesFile] = attrs.Factory(dict)
    """Notes on matches, by the digests of their records."""
    part: int = PART
    """A list of more matches is written in parts of so many."""
    version: str = __version__
    """The version of the program: pages made by another one are made again."""
    new_pool: Callable[..., Pool] = RefereePool
    """Makes the pool of processes, as `RefereePool` does."""


def write_site(
    league: League,
    out: Path,
    write: Callable[[Path, bytes], None],
    command: Callable[..., str],
    settings: SiteSettings = SiteSettings(),
    progress: Callable[..., None] = lambda _what, _done=0, _total=0: None,
) -> Site:
    """Write the site of a league into the folder `out`.

    `write` puts a file in its place, whole or not at all. `command(*words)` is a command of ours on this league, as a
    person would type it. `progress` is called with what is being made, and with how many of how many are done where
    that is known.
    """
    begun = time.monotonic()
    with league.store.snapshot():
        content = index_content(league, step=progress)
        listing, table, times = content.listing, content.values["table"], content.values["times"]
        progress("computing the ratings over time")
        bots = BotTables.read(league, listing.columns, table, listing.fault_lines, times.lines)
    names = league.season.names

    def put(name: str, data: bytes) -> None:
        if not (out / ASSETS / name).exists():
            write(out / ASSETS / name, data)

    for name, data in shared().items():
        put(name, data)
    chosen = listing.chosen(settings.replays, [pick.number for pick in content.values["picks"]])
    made, problems = _write_matches(league, chosen, out, write, command, settings, progress)
    pages = {match.id for match in chosen} - {match_id for _, match_id, _ in problems}
    written = itertools.count(1)

    def put_part(name: str, data: bytes) -> None:
        put(name, data)
        progress("parts of the list of matches", next(written), -(-len(listing) // settings.part))

    block, parts = listing.block(names, pages, put_part, content.picture, settings.part)
    _write_bots(bots, names, pages, out, write, progress)
    index = out / "index.html"
    write(index, _index(content.values, block, len(listing), pages, problems, command))
    # Every page that it names is there: those that go are removed afterwards.
    write(out / MATCHES / ORDER, order_script([match.id for match in chosen if match.id in pages]))
    removed = _tidy(out, pages, {*shared(), *parts}, set(map(file_name, names)))
    return Site(
        index=index,
        matches=len(listing),
        total=content.values["status"].matches,
        made=made,
        existing=len(pages) - made,
        left_out=len(listing) - len(chosen),
        removed=removed,
        bytes=sum(path.stat().st_size for path in out.rglob("*") if path.is_file()),
        elapsed_s=time.monotonic() - begun,
        problems=tuple(problems),
    )


def _write_bots(
    bots: BotTables,
    names: Sequence[str],
    pages: set[str],
    out: Path,
    write: Callable[[Path, bytes], None],
    progress: Callable[..., None],
) -> None:
    """Write the pages of bots that have changed; `pages` are the ids of the matches that have one."""
    for done, name in enumerate(names, 1):
        place, data = out / BOTS / file_name(name), _bot(bots.page(name), names, pages)
        if not (place.is_file() and place.read_bytes() == data):
            write(place, data)
        progress("pages of bots", done, len(names))


def _write_matches(
    league: League,
    chosen: Sequence[ListedMatch],
    out: Path,
    write: Callable[[Path, bytes], None],
    command: Callable[..., str],
    settings: SiteSettings,
    progress: Callable[..., None],
) -> tuple[int, list[tuple[int, str, str]]]:
    """How many pages of matches were made, and what is wrong with others: the number and id of each, and a text."""
    made, problems = 0, []
    made_by = maker(league.season.game, settings.version)
    for done, (match, page) in enumerate(_pages(league, chosen, out, command, settings, made_by), 1):
        if isinstance(page, str):
            problems.append((match.number, match.id, page))
        elif page is not None:
            made += 1
            place = _place(out, match)
            write(place.with_suffix(".js"), page[1])
            write(place, page[0])
        progress("replays", done, len(chosen))
    return made, problems


def order_script(ids: list[str]) -> bytes:
    """The script that tells the page of a match which are before and after it."""
    return b"globalThis.warpleagueOrder = " + json.dumps(ids).encode() + b";\n"


def _place(out: Path, match: ListedMatch) -> Path:
    return out / MATCHES / f"{match.id}.html"


def _index(
    values: dict[str, Any],
    block: str,
    matches: int,
    pages: set[str],
    problems: Sequence[tuple[int, str, str]],
    command: Callable[..., str],
) -> bytes:
    """The league's page; `pages` are the ids of the matches that have one."""
    return render(
        "index.html.j2",
        frame=linked("index", "", block),
        stamp="",
        live=None,
        pages=pages,
        home="",
        folder=MATCHES,
        bot_pages=pages_on_disk(values["table"].names, f"{BOTS}/"),
        block=block,
        problems=problems,
        missing=matches - len(pages),
        matches=matches,
        all_command=command("report", "--replays", "all"),
        # The only one of them that is not below `league`.
        serve_command=command("serve", "--no-play").replace(" league serve ", " serve ", 1),
        verify_command=command("verify"),
        run_command=command("run"),
        one_command=command("export", "--match", "ID"),
        **values,
    )


def _bot(values: dict[str, Any], bots: Sequence[str], pages: set[str]) -> bytes:
    """The page of a bot; `pages` are the ids of the matches that have one."""
    return render(
        "bot.html.j2",
        frame=linked("bot", "../", repr([values[name] for name in ("bot", "record", "course", "versions")])),
        stamp="",
        server=None,
        home="../index.html",
        pages=pages,
        folder=f"../{MATCHES}",
        bot_pages=pages_on_disk(bots),
        **values,
    )


# Pages of matches


def _pages(
    league: League,
    chosen: Sequence[ListedMatch],
    out: Path,
    command: Callable[..., str],
    settings: SiteSettings,
    made_by: bytes,
) -> Iterator[tuple[ListedMatch, tuple[bytes, bytes] | str | None]]:
    """Each match with its page and the script beside it, in order.

    It is None where those that are there will do, and a text where none can be made.
    """
    name = league.config.name
    waiting: deque[tuple[ListedMatch, Any]] = deque()
    pool: Pool | None = None
    try:
        for match in chosen:
            try:
                record = published_record(league, match.id, match.deal)
            except StoreError as error:
                waiting.append((match, str(error)))
            else:
                export = command("export", "--match", match.id[:12])
                stamp = blake2b(record, digest_size=16, key=made_by)
                stamp.update(repr((name, export)).encode())
                notes = settings.notes.get(_digest(record)) if settings.notes else None
                if notes is not None:
                    stamp.update(notes.content)
                file, place = _place(out, match), Place(name, export, stamp.hexdigest())
                if _stamp_of(file) == place.stamp and file.with_suffix(".js").is_file():
                    waiting.append((match, None))
                else:
                    pool = pool or settings.new_pool(settings.jobs, "none")
                    read = None if notes is None else notes.read
                    waiting.append((match, pool.submit(make_page, record, place, read)))
            # Bounded: pages and records wait in memory.
            while len(waiting) > 4 * (pool.jobs if pool else 0):
                yield _taken(*waiting.popleft())
        while waiting:
            yield _taken(*waiting.popleft())
    finally:
        if pool is not None:
            pool.shutdown()


def _taken(match: ListedMatch, page: Any) -> tuple[ListedMatch, tuple[bytes, bytes] | str | None]:
    return match, page if page is None or isinstance(page, str) else page.result()


def _digest(record: bytes) -> str:
    """The digest that a record's end line claims; "" where there is none."""
    ends = [line for line in record.splitlines()[-2:] if b'"type":"end"' in line]
    match = re.search(rb'"digest":"([0-9a-f]+)"', b"".join(ends))
    return match[1].decode() if match else ""


def make_page(
    record: bytes,
    place: Place,
    read_notes: Callable[[bytes], Notes] | None = None,
    *,
    with_script: bool = True,
) -> tuple[bytes, bytes] | str:
    """The page of a match of a league and the script beside it, or what is wrong with its record or its notes.

    Unless it comes `with_script`, that is empty.
    """
    try:
        replay = Replay(record)
        notes = None if read_notes is None else read_notes(record)
        return page_linked(replay, place, record, notes, with_script=with_script)
    except BadInput as error:
        return str(error)


def _stamp_of(page: Path) -> str | None:
    """The source of the page at this place; None if there is no such page."""
    try:
        with page.open("rb") as file:
            match = _STAMP.search(file.read(_HEAD_BYTES))
    except OSError:
        return None
    return match[1].decode() if match else None


@cache
def maker(game: str, version: str = __version__) -> bytes:
    """A digest of all that turns a record into a page: this package, and the game's, at this `version`."""
    digest = blake2b(version.encode(), digest_size=32)
    for path in (*_files(Path(str(folder()))), *sources(type(load_game(game)))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def sources(engine: type) -> list[Path]:
    """The files that an engine comes from: the package its class is in, or its module where that is in none."""
    module = inspect.getmodule(engine)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return []
    return _files(Path(file).parent) if module.__package__ else [Path(file)]


def _files(package: Path) -> list[Path]:
    return sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _tidy(out: Path, pages: set[str], assets: set[str], bots: set[str]) -> int:
    """Remove what earlier reports left and no page needs; the number of pages of matches among it.

    `bots` are the names of the files with pages of bots.
    """
    removed = 0
    ours = {page + suffix for page in pages for suffix in (".html", ".js")}
    for place, wanted in ((out / MATCHES, ours), (out / ASSETS, assets), (out / BOTS, bots)):
        if not place.is_dir():
            continue
        for path in place.iterdir():
            name = path.name.removeprefix(".")
            if _OURS.fullmatch(name) and name not in wanted:
                path.unlink(missing_ok=True)
                removed += place.name == MATCHES and name.endswith(".html")
    return removed
