"""The league of a round: its secret, fixed before anybody edits, its check of bots, and its field."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from warpleague.errors import BadInput, BotError
from warpleague.extras.rounds.file import RoundsConfig, write_round
from warpleague.extras.rounds.state import Check, Finding, Round, State, Version
from warpleague.extras.rounds.workspace import BOT, AuthorFolder
from warpleague.league.play.entering import Commitment, commit
from warpleague.league.results.league import open_to_read
from warpleague.league.season.bot_check import check_for
from warpleague.league.season.config import BotEntry, LeagueConfig, load_config
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.checkup import check_bot

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.league.results.league import League


@attrs.frozen
class RunFolder:
    """The folder of a run: the state, the folders of the authors, and the leagues of the rounds with their stores.

    Leagues of all replicates have different names, so that they can be published together.
    """

    path: Path
    replicate: int = 1

    @classmethod
    def of(cls, config: RoundsConfig, results: Path) -> RunFolder:
        """The folder of a run in `results`."""
        return cls((results / config.name).absolute(), config.replicate)

    @property
    def prefix(self) -> str:
        """What the names of files and leagues of this replicate begin with."""
        return "" if self.replicate == 1 else f"replicate-{self.replicate}-"

    @property
    def state(self) -> Path:
        """The state file."""
        return self.path / "state.json"

    @property
    def lock(self) -> Path:
        """The file that one process at a time locks."""
        return self.path / "rounds.lock"

    @property
    def leagues(self) -> Path:
        """The folder with the files and stores of all rounds' leagues: `--results` of the commands of leagues."""
        return self.path / "leagues"

    @property
    def report(self) -> Path:
        """The page of the run, or the one of all replicates beside the pages of the runs."""
        return self.path / "report" / "index.html"

    def league(self, number: int) -> Path:
        """The league file of a round."""
        return self.leagues / f"{self.prefix}round-{number:02}.toml"

    def climb(self, version: str) -> Path:
        """The league file of the climb of a version."""
        return self.leagues / f"{self.prefix}climb-{version}.toml"

    def logs(self, league: str) -> Path:
        """The logs of the bots in the matches of a league."""
        return self.leagues / league / "logs"

    def read(self, file: Path) -> League:
        """The league of a file in this folder, to read it. Raises `StoreError` if its store cannot be read."""
        return open_to_read(load_config(file), self.leagues)

    def author(self, author: str) -> AuthorFolder:
        """The folders of an author."""
        return AuthorFolder(self.path / "authors" / author)


def commit_secret(config: RoundsConfig, run_folder: RunFolder, number: int) -> Commitment:
    """Fix the secret of a round's league, before its bots are known. A second call returns the same one."""
    run_folder.leagues.mkdir(parents=True, exist_ok=True)
    return commit(write_round(config, run_folder.league(number)), run_folder.leagues)


@attrs.frozen(kw_only=True)
class CheckRequest:
    """A check to run in another process: the league file, the bot's folder, and the seed of the check's dice."""

    league: Path
    bot: Path
    seed: str


def check(request: CheckRequest) -> Check:
    """Check a bot as the league of the round does, with one match. Raises `BadInput` if the level does not hold here.

    The check has no time limit of its own, because a bot would exceed it on a busy machine.
    """
    begun_s = time.monotonic()
    findings: list[Finding] = []
    how = check_for(load_config(request.league, without_bots=True), request.bot, matches=1, seed=request.seed)
    try:
        ready = check_bot(request.bot, how, lambda one: findings.append(Finding(**attrs.asdict(one))))
    except BotError as error:  # there is no folder
        ready = False
        findings.append(Finding(what="bundle", verdict="failed", text=str(error), code="manifest"))
    # Authors know their bot by the folder in their workspace, and nobody needs to know folders of this machine.
    findings = [attrs.evolve(one, text=one.text.replace(str(request.bot), BOT)) for one in findings]
    return Check(ready=ready, findings=tuple(findings), elapsed_s=round(time.monotonic() - begun_s, 3))


def field_of(config: RoundsConfig, state: State, round_: Round) -> tuple[str, ...]:
    """The names of all bots in a round: the versions that play, those before them, and the fixed authors.

    A program plays under one name only: it would tell nothing to play it against itself. If there are fewer programs
    than seats at a table, copies fill the table.
    """
    playing = [part.version for part in round_.parts.values() if part.version is not None]
    before: list[str] = []
    for author in config.editors:
        versions = [version.name for version in state.versions_of(author.name)]
        now = round_.parts[author.name].version
        earlier = versions[: versions.index(now)] if now is not None else versions
        before += earlier[max(len(earlier) - config.previous, 0) :] if config.previous else []
    anchors = [anchor.name for anchor in config.anchors]
    names = (*playing, *before, *anchors)
    first: dict[str, str] = {}
    for name in (*anchors, *playing, *before):  # the anchor of all ratings always plays
        first.setdefault(state.digest(name), name)
    field = set(first.values())
    copies = [name for name in names if name not in field]
    field.update(copies[: max(config.game.players - len(field), 0)])
    return tuple(name for name in names if name in field)


def played_as(state: State, round_: Round, version: str) -> str:
    """The name under which the program of a version played in a round."""
    return next(name for name in round_.field if state.digest(name) == state.digest(version))


def entry_of(config: RoundsConfig, state: State, run_folder: RunFolder, name: str) -> BotEntry:
    """A version, or the bot of a fixed author, as league files name it."""
    version = state.find(name)
    if version is None:
        folder = config.start_of(config.author(name))
    else:
        folder = run_folder.author(version.author).bot(version.round)
    return BotEntry(path=str(folder.resolve()), name=name)


def league_of(config: RoundsConfig, state: State, run_folder: RunFolder, round_: Round) -> LeagueConfig:
    """Write the league file of a round with its field, and read it."""
    if len(round_.field) < config.game.players:
        raise BadInput(
            f"{config.path}: round {round_.number}: a table of {config.game.players} needs as many bots, but only "
            f'{len(round_.field)} are ready; on_fail = "last" lets authors play with their last good version'
        )
    anchor = config.anchors[0].name if config.anchors else None
    bots = [entry_of(config, state, run_folder, name) for name in round_.field]
    return write_round(config, run_folder.league(round_.number), bots, anchor)


def extract_missing_bots(run_folder: RunFolder, versions: tuple[Version, ...]) -> None:
    """Extract the bots whose folders are missing or changed from their commits."""
    for version in versions:
        author_folder = run_folder.author(version.author)
        folder = author_folder.bot(version.round)
        if not folder.is_dir() or folder_digest(folder) != version.digest:
            author_folder.history.extract(version.commit, folder, "bot")
