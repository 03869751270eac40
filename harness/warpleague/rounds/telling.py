"""Writes what an author is told of a round: its results, its edit and check, records and logs of its own matches."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.league.upkeep.verifying import published_record
from warpleague.runner.bot.logs import KINDS, log_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpleague.league.results.league import League
    from warpleague.league.season.fixture import Fixture
    from warpleague.rounds.curves import Results
    from warpleague.rounds.file import Author, RoundsConfig
    from warpleague.rounds.playing import Place
    from warpleague.rounds.state import Round, State


def tell(
    config: RoundsConfig,
    state: State,
    place: Place,
    round_: Round,
    author: Author,
    league: League,
    results: Results,
) -> None:
    """Make the folder that tells an author of a round whose matches are all played; one that is there is made anew."""
    desk = place.desk(author.name)
    target = desk.shown(round_.number)
    draft = target.with_name(f".{target.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    part = round_.parts[author.name]
    standing = {
        "round": round_.number,
        "you": part.version,
        "standings": [
            {key: value for key, value in attrs.asdict(line).items() if key in _TOLD}
            for line in results.curves
            if line.round == round_.number
        ],
        "versions": [
            {key: value for key, value in attrs.asdict(line).items() if key in _TOLD_OF_VERSIONS}
            for line in results.versions
            if line.played
        ],
    }
    own = [line for line in results.curve(author.name) if line.round == round_.number]
    _write(draft / "standings.json", standing)
    _write(draft / "own.json", attrs.asdict(own[0]))
    _write(draft / "edit.json", None if part.edit is None else attrs.asdict(part.edit))
    _write(draft / "check.json", None if part.check is None else attrs.asdict(part.check))
    output = desk.output(round_.number)
    if output.is_file():
        shutil.copyfile(output, draft / "output.txt")
    _records(config, place, round_, author, league, draft)
    if config.shows == "sources":
        for name, other in round_.parts.items():
            if name != author.name and other.version is not None:
                version = state.version(other.version)
                shutil.copytree(place.desk(name).bot(version.round), draft / "sources" / name, symlinks=True)
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)


_TOLD = ("author", "version", "new", "rank", "won", "share", "rating", "error", "anchor_share", "faults")
_TOLD_OF_VERSIONS = (
    "version",
    "author",
    "fixed",
    "rating",
    "error",
    "guessed",
    "played",
    "faults",
    "anchor_share",
)


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _records(
    config: RoundsConfig, place: Place, round_: Round, author: Author, league: League, folder: Path
) -> None:
    """Records of matches, spread evenly over the schedule, and the author's own logs of these."""
    version = round_.parts[author.name].version
    own = None if version is None else league.season.names.index(version)
    (folder / "records").mkdir()
    (folder / "logs").mkdir()

    def wanted() -> Iterator[Fixture]:
        for fixture, _ in league.results():
            if config.shows != "own" or own in fixture.seats:
                yield fixture

    matches = list(wanted())
    # The author's own come first, whatever else is shown.
    matches.sort(key=lambda fixture: own not in fixture.seats)
    ours = sum(own in fixture.seats for fixture in matches)
    chosen = _spread(matches[:ours], config.records) + _spread(matches[ours:], config.records)
    for fixture in chosen:
        names = [league.season.names[bot] for bot in fixture.seats]
        stem = f"{fixture.number:05}-{'-'.join(names)}"[:150]
        record = published_record(league, fixture.id, fixture.deal)
        (folder / "records" / f"{stem}.jsonl").write_bytes(record)
        for seat, bot in enumerate(fixture.seats):
            for kind in KINDS if bot == own else ():
                log = log_file(place.logs(round_.number), names[seat], fixture.id, seat, kind)
                if log.is_file():
                    shutil.copyfile(log, folder / "logs" / f"{stem}-seat-{seat}.{kind}.txt")


def _spread(matches: list[Fixture], most: int) -> list[Fixture]:
    """At most so many of these, at equal distances."""
    if len(matches) <= most:
        return matches
    return [matches[place * len(matches) // most] for place in range(most)]
