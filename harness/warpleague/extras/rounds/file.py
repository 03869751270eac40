"""Reads the file of rounds: TOML in, one checked `RoundsConfig` out. Writes the league file of a round."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
from attrs.validators import ge, gt, le

from warpleague.errors import BadInput, ConfigError
from warpleague.games import load_game
from warpleague.league.season.config import (
    NAME,
    BotEntry,
    FormatTable,
    GameTable,
    LeagueConfig,
    RatingTable,
    RulesTable,
    RunTable,
    SandboxTable,
    Seating,
    Tables,
    load_config,
    toml_of,
    write_config,
)
from warpleague.league.season.entry import first_alike
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import TimeControl
from warpleague.opponents.scale import Scale, scale_of
from warpleague.runner.bundle.build import CommandLimits
from warpleague.runner.bundle.manifest import MANIFEST
from warpleague.runner.bundle.shipped import located
from warpleague.runner.confine.sandbox import parse_address
from warpleague.strict import structure
from warpleague.text import nearest_path
from warpleague.toml_text import parse_toml, read_text
from warpline.bounds import NO_KEY, in_schema

if TYPE_CHECKING:
    from collections.abc import Sequence


Shows = Literal["own", "records", "sources"]
OnFail = Literal["last", "forfeit"]
OnError = Literal["drop", "keep"]

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}")
"""The name of an author. The name of a version is this name, a dot and a number."""
_OWN_FILES: Final = ("./", "../")
_LEVEL: Final = "sandbox"
"""The level unless the file names one: at others an author can read the secret of the round and the others' bots."""


@attrs.frozen(kw_only=True)
class EditLimits:
    """`[authors.limits]`: the limits of one run of an author's edit command.

    `time_s` counts processor time and the time in which all its processes sleep; by the wall clock it may take five
    times as long. `memory_mb` is the memory of all its processes, `folder_mb` the size of its workspace, and
    `output_mb` the part of its output that is stored.
    """

    time_s: float = attrs.field(default=600.0, validator=[gt(0), le(1e6)])
    memory_mb: int = attrs.field(default=2048, validator=[ge(16), le(1 << 20)])
    processes: int = attrs.field(default=256, validator=[ge(4), le(1 << 16)])
    folder_mb: int = attrs.field(default=256, validator=[ge(1), le(1 << 16)])
    output_mb: int = attrs.field(default=16, validator=[ge(1), le(1 << 12)])

    @property
    def of_command(self) -> CommandLimits:
        """These limits in the form that the runner takes."""
        return CommandLimits(
            seconds=self.time_s, folder_mb=self.folder_mb, memory_mb=self.memory_mb, processes=self.processes
        )


@attrs.frozen(kw_only=True)
class Author:
    """`[[authors]]`: an author, the folder of the bot that it starts with, and the command that edits the bot.

    A word of `edit` that begins with `./` or `../` is a file or folder beside the file of the rounds. At level sandbox
    the command sees these files and `paths`, and reaches the addresses `network` of this machine. `variables` are
    names of environment variables that the command gets. If the command ends with an error, its changes are dropped,
    or with `on_error` "keep" kept. `model` and `effort` say what the author works with. A `fixed` author edits
    nothing: its bot is an anchor.
    """

    name: str = attrs.field(metadata=in_schema(pattern=f"^{_NAME.pattern}$"))
    start: str
    edit: tuple[str, ...] = ()
    limits: EditLimits = EditLimits()
    network: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    on_error: OnError = "drop"
    model: str | None = None
    effort: str | None = None
    fixed: bool = False


@attrs.frozen(kw_only=True)
class ClimbTable:
    """`[climb]`: each new program meets opponents of the published levels, to find out which of them it surely beats.

    It ends when half the 95 % interval of the program's strength is `within` Elo, or after `max_matches`.
    """

    within: float = attrs.field(default=50.0, validator=[gt(0), le(1_000)])
    max_matches: int = attrs.field(default=400, validator=[ge(2), le(1_000_000)])


@attrs.frozen(kw_only=True)
class RoundsConfig:
    """The file of rounds, checked.

    In each of the `rounds`, every table plays `deals` deals with the seat orders `seats`. The field has the current
    version of each author, up to `previous` earlier versions of each, and the bots of fixed authors. `tables` is "all"
    or the number of tables to draw. `shows` says what an author sees of the others: "own" only results, "records" also
    all records, "sources" also their bots. If a bot fails the check, its author plays with the last good version, or
    with `on_fail` "forfeit" not at all. After each round an author's workspace gets at most `records` records of its
    matches. With a `seed`, all dice follow from it, and are not secret. With `climb` the opponents of the published
    levels tell how strong each program is. All of this is repeated from the start in each of the `replicates`, with
    other dice.
    """

    game: GameTable
    authors: tuple[Author, ...]
    name: str = attrs.field(default="", metadata=in_schema(pattern=f"^({NAME.pattern})?$"))
    rounds: int = attrs.field(default=5, validator=[ge(1), le(1_000)])
    deals: int = attrs.field(default=40, validator=[ge(1), le(1_000_000)])
    seats: Seating = "all"
    tables: Tables = "all"
    previous: int = attrs.field(default=1, validator=[ge(0), le(100)])
    shows: Shows = "own"
    on_fail: OnFail = "last"
    records: int = attrs.field(default=20, validator=[ge(0), le(100_000)])
    seed: str | None = None
    replicates: int = attrs.field(default=1, validator=[ge(1), le(1_000)])
    climb: ClimbTable | None = None
    clock: TimeControl = attrs.Factory(lambda: TimeControl(move_s=1.0))
    rules: RulesTable = attrs.Factory(lambda: RulesTable(level=_LEVEL))
    sandbox: SandboxTable = attrs.Factory(SandboxTable)
    run: RunTable = attrs.Factory(RunTable)
    path: Path = attrs.field(default=Path(), metadata=NO_KEY)
    replicate: int = attrs.field(default=1, metadata=NO_KEY)

    @property
    def runs(self) -> tuple[RoundsConfig, ...]:
        """The runs of this file: one for each replicate."""
        more = range(2, self.replicates + 1)
        return (self, *(attrs.evolve(self, name=f"{self.name}/replicate-{k}", replicate=k) for k in more))

    @property
    def scale(self) -> Scale:
        """The published levels of the game at these tables. Raises `BadInput` if there are none."""
        return scale_of(self.game.id, self.game.players or 0)

    @property
    def editors(self) -> tuple[Author, ...]:
        """The authors that edit their bots."""
        return tuple(author for author in self.authors if not author.fixed)

    @property
    def anchors(self) -> tuple[Author, ...]:
        """The fixed authors."""
        return tuple(author for author in self.authors if author.fixed)

    def author(self, name: str) -> Author:
        """The author of this name."""
        return next(author for author in self.authors if author.name == name)

    def start_of(self, author: Author) -> Path:
        """The folder of the bot that an author starts with."""
        return located(Path(author.start), base=self.path.parent)

    def argv_of(self, author: Author) -> tuple[str, ...]:
        """The edit command of an author, with absolute paths. Raises `ConfigError` if a file of it is missing."""
        where = f"{self.path}: authors: {author.name}: edit"
        words = tuple(self._own(word) if word.startswith(_OWN_FILES) else word for word in author.edit)
        for word, given in zip(words, author.edit, strict=True):
            if given.startswith(_OWN_FILES) and not os.path.exists(word):  # noqa: PTH110
                raise ConfigError(
                    f"{where}: there is no {given}; paths are relative to the file of the rounds"
                )
        program = words[0]
        if program in ("python", "python3"):
            return (sys.executable, *words[1:])
        executable = program if os.path.isabs(program) else shutil.which(program)  # noqa: PTH117
        if executable is None:
            raise ConfigError(f"{where}: the program {program!r} is not installed here")
        if not os.access(executable, os.X_OK) or Path(executable).is_dir():
            raise ConfigError(f"{where}: {author.edit[0]} may not be executed: chmod +x it")
        return (os.path.realpath(executable) if executable != program else executable, *words[1:])

    def paths_of(self, author: Author) -> tuple[str, ...]:
        """The paths of this machine that only this author's command sees at level sandbox."""
        own = (self._own(word) for word in author.edit if word.startswith(_OWN_FILES))
        return tuple(sorted({*own, *(self._own(path) for path in author.paths)}))

    def _own(self, word: str) -> str:
        return os.path.abspath(located(Path(word), base=self.path.parent))  # noqa: PTH100

    @property
    def proves_nothing(self) -> str:
        """Why the commitment to a round's secret proves nothing, or empty: authors could know the dice."""
        if self.seed is not None:
            return "All dice follow from the seed in the file"
        level = self.rules.level
        return "" if level == "sandbox" else f"At level {level} authors can read the secret while they edit"

    @property
    def conditions(self) -> dict[str, Any]:
        """The settings that results depend on, as plain data. They must not change during a run."""
        relevant = attrs.evolve(self, rounds=1, run=RunTable(), records=0, replicates=1)
        data = toml_of(relevant)
        if self.climb is not None:
            data["climb"]["scale"] = self.scale.digest
        for author in data["authors"]:
            del author["limits"], author["on_error"]  # they hold for later edits only
        return data


def load_rounds(path: Path, *, elsewhere: bool = False) -> RoundsConfig:
    """Read the file of rounds at `path`. Raises `ConfigError`, which names the file and the key.

    Where the rounds were played `elsewhere`, the files that it names need not be here.
    """
    path = located(path)
    where = str(path)
    try:
        data = parse_toml(read_text(path, where), where)
    except OSError as error:
        near = sorted(map(str, path.parent.glob("*.toml"))) if path.parent.is_dir() else []
        hint = nearest_path(path.name, near)
        raise ConfigError(f"{where}: {error.strerror or error}{f'; {hint}' if hint else ''}") from None
    if "authors" not in data and ("bots" in data or path.name == MANIFEST):
        raise ConfigError(
            f"{where}: has no authors; for a league without them: warpleague league run {where}"
        )
    if isinstance(data.get("rules"), dict):
        data["rules"].setdefault("level", _LEVEL)
    config = structure(data, RoundsConfig, where)
    name = config.name or path.stem
    if not NAME.fullmatch(name):
        raise ConfigError(f"{where}: name: {name!r} must be letters, digits, dots, dashes; it names a folder")
    config = attrs.evolve(config, name=name, game=_game(config, where), path=path)
    _check(config, where)
    if not elsewhere:
        _check_here(config, where)
    return config


def _game(config: RoundsConfig, where: str) -> GameTable:
    try:
        game = load_game(config.game.id)
    except BadInput as error:
        raise ConfigError(f"{where}: game.id: {error}") from error
    several = [players for players in game.players if players > 1]
    players = config.game.players or next(iter(several), 0)
    if players not in several:
        allowed = ", ".join(map(str, several)) or "none"
        raise ConfigError(
            f"{where}: game.players: rounds of {game.id} are for {allowed} players, not {players}"
        )
    options = load_options(game, players, dict(config.game.options), f"{where}: game.options")
    return GameTable(id=game.id, players=players, options=options_json(options))


def _check(config: RoundsConfig, where: str) -> None:
    """Raise `ConfigError` for values of the right type that make no sense."""
    names: list[str] = []
    for index, author in enumerate(config.authors):
        here = f"{where}: authors[{index}]"
        if not _NAME.fullmatch(author.name):
            raise ConfigError(f"{here}.name: {author.name!r} must be 1 to 48 letters, digits, dashes")
        if (other := first_alike(author.name, names)) is not None:
            raise ConfigError(f"{here}.name: {author.name!r} and {other!r} are alike; give one another name")
        names.append(author.name)
        if author.fixed and author.edit:
            raise ConfigError(f"{here}: a fixed author has no edit command; leave out fixed or edit")
        if not author.fixed and not author.edit:
            raise ConfigError(
                f'{here}: has no edit command; write edit = ["./agent.sh"], or fixed = true for an anchor'
            )
        for address in author.network:
            if parse_address(address) is None:
                raise ConfigError(
                    f"{here}.network: {address!r} must be an address of this machine, such as 127.0.0.1:8080"
                )
        for variable in author.variables:
            if not _VARIABLE.fullmatch(variable):
                raise ConfigError(f"{here}.variables: {variable!r} is no name of a variable")
    if not config.editors:
        raise ConfigError(f"{where}: authors: none of them edits its bot; give one an edit command")
    if config.climb is not None:
        try:
            scale = config.scale
        except BadInput as error:
            raise ConfigError(f"{where}: climb: {error}; leave out [climb]") from None
        game = load_game(scale.game)
        usual = options_json(load_options(game, scale.players, {}, where))
        if config.game.options != usual:
            raise ConfigError(
                f"{where}: climb: levels were measured with the default options of {game.id} only"
            )
    if len(config.authors) < config.game.players:
        raise ConfigError(
            f"{where}: authors: a table of {config.game.players} needs as many authors, not {len(config.authors)}"
        )


def _check_here(config: RoundsConfig, where: str) -> None:
    """Raise `ConfigError` for a command or a folder that is not on this machine."""
    for index, author in enumerate(config.authors):
        if author.edit:
            config.argv_of(author)
        if not config.start_of(author).is_dir():
            folder = config.start_of(author)
            raise ConfigError(f"{where}: authors[{index}].start: there is no folder {folder}")


def write_round(
    config: RoundsConfig, target: Path, bots: Sequence[BotEntry] = (), anchor: str | None = None
) -> LeagueConfig:
    """Write the league file of one round, and read it again."""
    format_ = FormatTable(deals=config.deals, seats=config.seats, tables=config.tables, dice="shared")
    return _write_league(config, target, config.seed, bots, format_, RatingTable(anchor=anchor))


def write_climb(config: RoundsConfig, target: Path, seed: str, bot: BotEntry) -> LeagueConfig:
    """Write the league file of one climb, and read it again. Raises `BadInput` if there is no scale."""
    assert config.climb is not None
    scale = config.scale
    others = [
        BotEntry(path=str(located(Path(level.bot)).resolve()), name=name)
        for name, level in scale.opponents.items()
    ]
    format_ = FormatTable(
        kind="placement",
        levels=scale.elo,
        within=config.climb.within,
        max_matches=config.climb.max_matches,
    )
    return _write_league(config, target, seed, [bot, *others], format_, RatingTable())


def _write_league(
    config: RoundsConfig,
    target: Path,
    seed: str | None,
    bots: Sequence[BotEntry],
    format_: FormatTable,
    rating: RatingTable,
) -> LeagueConfig:
    """Write a league file, and read it again. Every command of leagues takes this file."""
    league = LeagueConfig(
        name=target.stem,
        seed=seed,
        bots=tuple(bots),
        game=config.game,
        format=format_,
        clock=config.clock,
        rules=config.rules,
        sandbox=config.sandbox,
        run=config.run,
        rating=rating,
    )
    write_config(league, target, "Written by warpleague rounds.")
    return load_config(target, without_bots=not bots)
