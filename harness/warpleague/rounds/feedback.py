"""Writes an author's feedback on a round: the results, its edit and check, records, and logs of its own matches."""

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
    from warpleague.rounds.playing import RunFolder
    from warpleague.rounds.state import Round, State


def write_feedback(
    config: RoundsConfig,
    state: State,
    run_folder: RunFolder,
    round_: Round,
    author: Author,
    league: League,
    results: Results,
) -> None:
    """Write the folder with an author's feedback on a round that is over, and replace an older one."""
    author_folder = run_folder.author(author.name)
    target = author_folder.feedback(round_.number)
    draft = target.with_name(f".{target.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    part = round_.parts[author.name]
    standing = {
        "round": round_.number,
        "you": part.version,
        "standings": [
            {key: value for key, value in attrs.asdict(line).items() if key in _AUTHOR_KEYS}
            for line in results.curves
            if line.round == round_.number
        ],
        "versions": [
            {key: value for key, value in attrs.asdict(line).items() if key in _VERSION_KEYS}
            for line in results.versions
            if line.played
        ],
    }
    own = [line for line in results.curve(author.name) if line.round == round_.number]
    _write(draft / "standings.json", standing)
    _write(draft / "own.json", attrs.asdict(own[0]))
    _write(draft / "edit.json", None if part.edit is None else attrs.asdict(part.edit))
    _write(draft / "check.json", None if part.check is None else attrs.asdict(part.check))
    output = author_folder.output(round_.number)
    if output.is_file():
        shutil.copyfile(output, draft / "output.txt")
    _records(config, run_folder, round_, author, league, draft)
    if config.shows == "sources":
        for name, other in round_.parts.items():
            if name != author.name and other.version is not None:
                version = state.version(other.version)
                shutil.copytree(
                    run_folder.author(name).bot(version.round), draft / "sources" / name, symlinks=True
                )
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)


_AUTHOR_KEYS = (
    "author",
    "version",
    "new",
    "rank",
    "won",
    "share",
    "rating",
    "error",
    "anchor_share",
    "faults",
)
_VERSION_KEYS = (
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
    config: RoundsConfig, run_folder: RunFolder, round_: Round, author: Author, league: League, folder: Path
) -> None:
    """Write records of matches, spread evenly over the schedule, and the author's logs of these matches."""
    version = round_.parts[author.name].version
    own = None if version is None else league.season.names.index(version)
    (folder / "records").mkdir()
    (folder / "logs").mkdir()

    def visible() -> Iterator[Fixture]:
        for fixture, _ in league.results():
            if config.shows != "own" or own in fixture.seats:
                yield fixture

    matches = list(visible())
    # The author's own matches come first.
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
                log = log_file(run_folder.logs(round_.number), names[seat], fixture.id, seat, kind)
                if log.is_file():
                    shutil.copyfile(log, folder / "logs" / f"{stem}-seat-{seat}.{kind}.txt")


def _spread(matches: list[Fixture], most: int) -> list[Fixture]:
    """At most `most` of these matches, at equal distances."""
    if len(matches) <= most:
        return matches
    return [matches[place * len(matches) // most] for place in range(most)]
