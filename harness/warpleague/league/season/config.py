"""Reads a league file: TOML in, one checked `LeagueConfig` out.

The bots that it names are read in `entry`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import attrs
import tomli_w
from attrs.validators import ge, gt, le, lt, optional

from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.games import load_game
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import (
    LEVEL,
    STRIKES,
    Conditions,
    FaultPolicy,
    Increment,
    Level,
    Pondering,
    Seconds,
    TimeControl,
)
from warpleague.runner.bundle.manifest import MANIFEST, bots_in
from warpleague.runner.bundle.shipped import located
from warpleague.strict import Time, place_of, structure
from warpleague.text import nearest, nearest_path
from warpleague.toml_text import parse_toml, read_text
from warpline.bounds import NO_KEY, Bounds, in_schema, is_key
from warpline.limits import MAX_NOTE_BYTES, NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence


# -- the tables ------------------------------------------------------------------------------------------
# One class for each table. Its fields are the keys: reader, errors, schema and the stored copy follow from them.


FormatKind = Literal[
    "round-robin", "gauntlet", "swiss", "knockout", "double-elimination", "ladder", "test", "placement"
]
Seating = Literal["all", "rotations", "fixed"]
Dice = Literal["shared", "own"]
# Tables stay in memory, and seating a hundred thousand takes seconds.
Tables = Annotated[int, Bounds(1, 100_000)] | Literal["all"]
MatchesPerJob = Annotated[int, Bounds(1, 1_000)] | Literal["auto"]

TIME_SHARE: Final = 0.1
"""The part of a ladder's time that slow bots take at most, beyond that of the middle bot."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NAME_LENGTH: Final = 64
"""Characters in the name of a bot, at most."""
ILLEGAL: Final = re.compile(r"fault|ask-again [1-9][0-9]{0,2}")
BEACON_LENGTH: Final = 500
"""Characters in the name or the value of a beacon, at most."""

_HERE_ONLY: Final = {"here_only": True}
"""The metadata of a key that belongs to this file and this machine: nothing that is stored or sent has it."""
_IF_SET: Final = {"if_set": True}
"""The metadata of a key of a format that the commitment to the entrants covers only where it is not the default.

A key that is new must have it: a league that does not use the key keeps its commitment.
"""


@attrs.frozen(kw_only=True)
class EntrantClock:
    """The clock of one bot, instead of the league's; only the time to start is the same for all."""

    move_s: Seconds | None = None
    bank_s: Seconds | None = None
    increment_s: Increment | None = None

    @property
    def text(self) -> str:
        """The clock in short, such as `0.1s` or `60s+1s`: each move, or the bank and what is added to it."""
        bank = "" if self.bank_s is None else f"{self.bank_s:g}s"
        bank += "" if self.increment_s is None else f"+{self.increment_s:g}s"
        return "/".join([*([bank] if bank else []), *([] if self.move_s is None else [f"{self.move_s:g}s"])])


@attrs.frozen(kw_only=True)
class BotEntry:
    """A bot of the league: its folder, relative to the league file, the name it plays under, and its own clock.

    `network` are the addresses that it may reach at level sandbox, instead of those under `[sandbox]`. `key_file`,
    relative to the league file, holds a secret for this bot alone, such as the key of a service.
    """

    path: str
    name: str | None = attrs.field(default=None, metadata=in_schema(minLength=1, maxLength=NAME_LENGTH))
    clock: EntrantClock | None = None
    network: tuple[str, ...] | None = None
    key_file: str | None = None

    def named(self, bundle: str) -> str:
        """The name it plays under; `bundle` is the one in its manifest."""
        return self.name or (bundle if self.clock is None else f"{bundle}@{self.clock.text}")


@attrs.frozen(kw_only=True)
class EntryTable:
    """`[entry]`: the files of leagues, finished before, whose `top` best bots take part beside those under `bots`."""

    leagues: tuple[str, ...] = attrs.field(metadata=in_schema(minItems=1))
    top: int = attrs.field(validator=ge(1))


@attrs.frozen(kw_only=True)
class GameTable:
    """`[game]`: which game, at which table size (default: the smallest allowed), with which options."""

    id: str
    players: int = 0
    options: dict[str, Any] = attrs.Factory(dict)


@attrs.frozen(kw_only=True)
class UntilTable:
    """`[format] until`: a league ends when its first `top` places are settled with so much `confidence`.

    The order of two bots need not be clear if they are equal within `within` Elo.
    """

    confidence: float = attrs.field(default=0.95, validator=[ge(0.5), lt(1)])
    top: int = attrs.field(default=1, validator=ge(1))
    within: float = attrs.field(default=0.0, validator=[ge(0), le(1_000)], metadata=_IF_SET)


@attrs.frozen(kw_only=True)
class FormatTable:
    """`[format]`: which tables are played, how many deals each plays, and in which seat orders.

    `tables` is "all" (every set of bots that fits) or a number of tables drawn so that meetings are balanced;
    `challengers` are the bots of a gauntlet that play all others, by default the first bot of the list. `dice` says
    whether all seat orders of a deal share its dice (at tables of one: all bots), or each match has its own; None:
    `dice_of` says which. `rounds` is how many a Swiss has. `seeding` orders the bots of a knockout or a Swiss: by
    the file, by a draw (None: the first for a knockout, the second for a Swiss), or by rating: by the standings of
    the league whose file is `ratings`. Where two in a knockout are level after `deals`, they play up to `extra_deals`
    more, then the better seed goes on.

    A test of strength plays until it is decided whether the first bot is better than the second by `elo1` or by
    `elo0` (in Elo or normalised Elo, `unit`), with these probabilities to err (`alpha`: `elo0` is the truth; `beta`:
    `elo1` is), or until `max_matches` are played. With `fixed` it plays this number of matches and decides nothing
    before the end. A ladder plays until `until` or `max_matches` end it, or without end, and bots that think much
    longer than others take at most the part `time_share` of the time beyond that of the middle bot; a round-robin or
    a gauntlet until `until` ends it, or all is played. A placement plays until half the 95 % interval of the first
    bot's strength is `within` Elo; `levels` are the strengths of the bots after it, which are known. At tables of
    three and more the field stands after these: the bots of all other seats.
    """

    kind: FormatKind = "round-robin"
    deals: int = attrs.field(default=1, validator=[ge(1), le(10_000_000)])
    seats: Seating = "rotations"
    tables: Tables = "all"
    challengers: tuple[str, ...] = ()
    rounds: int = attrs.field(default=0, validator=[ge(0), le(1_000)])
    seeding: Literal["order", "draw", "rating"] | None = None
    ratings: str | None = attrs.field(default=None, metadata=_IF_SET)
    extra_deals: int = attrs.field(default=4, validator=[ge(0), le(1_000)])
    dice: Dice | None = None
    elo0: float = attrs.field(default=0.0, validator=[ge(-1_000), le(1_000)])
    elo1: float = attrs.field(default=20.0, validator=[ge(-1_000), le(1_000)])
    alpha: float = attrs.field(default=0.05, validator=[gt(0), le(0.5)])
    beta: float = attrs.field(default=0.05, validator=[gt(0), le(0.5)])
    unit: Literal["elo", "normalized"] = "elo"
    max_matches: int | None = attrs.field(default=None, validator=optional(ge(1)))
    fixed: int | None = attrs.field(default=None, validator=optional(ge(1)))
    until: UntilTable | None = attrs.field(default=None, metadata=_IF_SET)
    time_share: float = attrs.field(default=TIME_SHARE, validator=[gt(0), le(1)], metadata=_IF_SET)
    levels: tuple[float, ...] = attrs.field(default=(), metadata=_IF_SET)
    within: float = attrs.field(default=50.0, validator=[gt(0), le(1_000)], metadata=_IF_SET)

    @property
    def adaptive(self) -> bool:
        """Whether results choose the matches, or when to stop; a test of strength has an estimate of its own."""
        return self.until is not None or self.kind in ("swiss", "knockout", "double-elimination", "ladder")


def _strikes(rules: RulesTable) -> int:
    return STRIKES if rules.faults == "substitute" else 0


@attrs.frozen(kw_only=True)
class RulesTable:
    """`[rules]`: what happens to a bot at fault, how closely bots are confined, and whether they may ponder."""

    faults: FaultPolicy = "forfeit"
    strikes: int = attrs.field(default=attrs.Factory(_strikes, takes_self=True), validator=ge(0))
    level: Level = LEVEL
    pondering: Pondering = "off"
    illegal: str = attrs.field(default="fault", metadata=in_schema(pattern=f"^({ILLEGAL.pattern})$"))

    @property
    def again(self) -> int:
        """How often a decision is asked again after an illegal action, before that is a fault."""
        return 0 if self.illegal == "fault" else int(self.illegal.removeprefix("ask-again "))


@attrs.frozen(kw_only=True)
class ServiceTable:
    """`[service]`: what happens where a bot answers that a service it uses failed.

    In each match a bot is asked again up to `retries` times. After that the match is void, up to `voids` in a season.
    Both give time, or dice that it knows, to a bot that lies; so nothing is allowed unless the league says so.
    `note_bytes` is how long the note of an answer may be, which has what a model wrote.
    """

    ask_again: int = attrs.field(default=0, validator=[ge(0), le(10_000)])
    void: int = attrs.field(default=0, validator=[ge(0), le(1_000_000)])
    note_bytes: int = attrs.field(default=NOTE_BYTES, validator=[ge(NOTE_BYTES), le(MAX_NOTE_BYTES)])


@attrs.frozen(kw_only=True)
class SandboxTable:
    """`[sandbox]`: the paths of this machine that bots see at level sandbox, beside what all bots see.

    `network` are the addresses of this machine that they can reach, such as `127.0.0.1:8080`.
    """

    paths: tuple[str, ...] = ()
    network: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class RunTable:
    """`[run]`: how many jobs there are (0: one for each usable core), and whether each keeps to one core.

    A job plays `matches_per_job` at a time at most; "auto": as many as leave the core idle. With `logs`, what bots
    print and a wire log are stored.
    """

    jobs: int = attrs.field(default=0, validator=ge(0))
    matches_per_job: MatchesPerJob = 1
    affinity: Literal["core", "none"] = "core"
    logs: bool = False


@attrs.frozen(kw_only=True)
class RatingTable:
    """`[rating]`: how bots are rated.

    `kind` says which rating ranks the table: "fit", the joint fit of all results (of pairs), "plackett-luce", the same
    of whole rankings, or "elo", sequential Elo in schedule order. `anchor` is the bot whose fitted rating is `start`;
    without it the mean is. `prior` is in matches: the fit is made as if each bot had drawn this number against one of
    mean rating. With `seat_advantage` seats are rated beside the bots, with `draw_parameter` a draw is not just half a
    win. `los` says whether the likelihoods of superiority are those of "each" comparison, or corrected for their
    number.
    """

    kind: Literal["fit", "plackett-luce", "elo"] = "fit"
    k: float = attrs.field(default=16.0, validator=[gt(0), le(1_000)])
    start: float = attrs.field(default=1500.0, validator=[ge(-1e6), le(1e6)])
    anchor: str | None = None
    prior: float = attrs.field(default=0.0, validator=[ge(0), le(1_000)])
    seat_advantage: bool = False
    draw_parameter: bool = False
    los: Literal["each", "holm"] = "each"


@attrs.frozen(kw_only=True)
class SeasonTable:
    """`[season]`: what the season's dice come from besides its secret.

    `beacon` says which public value, unknown to all when secret and entrants are committed to, is mixed in.
    """

    beacon: str | None = attrs.field(default=None, metadata=in_schema(minLength=1, maxLength=BEACON_LENGTH))


@attrs.frozen(kw_only=True)
class ArenaTable:
    """`[arena]`: the command that an arena runs when a check, a run, a test or the season has ended.

    From the time `freeze_at` until the season is over, everybody sees the league as it was then, or, with
    `freeze = "hidden"`, without any results. From the time `close_at` on it takes no more submissions, and the season
    ends when its matches are played.
    """

    on_event: tuple[str, ...] = ()
    close_at: Time | None = None
    freeze_at: Time | None = None
    freeze: Literal["frozen", "hidden"] = "frozen"


@attrs.frozen(kw_only=True)
class LeagueConfig:
    """One league file, checked: the game exists, its options are complete, names and numbers make sense.

    `missing` says whether a bot that cannot take part stops the league or is left out. `on_end` is the command that
    `league run` runs when it has ended. Fields stand in the order of the copy that is stored. `path` is the file.
    """

    name: str = attrs.field(default="", metadata=in_schema(pattern=f"^({NAME.pattern})?$"))
    seed: str | None = None
    missing: Literal["error", "skip"] = "error"
    bots: tuple[str | BotEntry, ...] = ()
    entry: EntryTable | None = None
    game: GameTable
    format: FormatTable = FormatTable()
    clock: TimeControl = attrs.Factory(lambda: TimeControl(move_s=1.0))
    rules: RulesTable = RulesTable()
    service: ServiceTable = ServiceTable()
    sandbox: SandboxTable = SandboxTable()
    run: RunTable = RunTable()
    rating: RatingTable = RatingTable()
    season: SeasonTable = SeasonTable()
    on_end: tuple[str, ...] = attrs.field(default=(), metadata=_HERE_ONLY)
    arena: ArenaTable = attrs.field(default=ArenaTable(), metadata=_HERE_ONLY)
    path: Path = attrs.field(default=Path(), metadata=NO_KEY)

    @property
    def entries(self) -> tuple[BotEntry, ...]:
        """The bots in the order of the file."""
        return tuple(BotEntry(path=bot) if isinstance(bot, str) else bot for bot in self.bots)

    @property
    def conditions(self) -> Conditions:
        """The conditions of all matches of the league, and of the check of a bot for it."""
        return Conditions(
            clock=self.clock,
            level=self.rules.level,
            faults=self.rules.faults,
            strikes=self.rules.strikes,
            pondering=self.rules.pondering,
            again=self.rules.again,
            failures=self.service.ask_again,
            note_bytes=self.service.note_bytes,
        )

    def to_toml(self) -> dict[str, Any]:
        """The configuration as it is stored: defaults written out, without commands, absent values, empty tables."""
        return {key: value for key, value in toml_of(self).items() if value != {}}


def toml_of(value: attrs.AttrsInstance) -> dict[str, Any]:
    """A value of an attrs class as TOML data: its keys, but for those of this machine; absent values are left out."""
    data = attrs.asdict(value, filter=lambda field, _: is_key(field) and "here_only" not in field.metadata)
    return _without_none(data)  # type: ignore[no-any-return]


def _without_none(data: Any) -> Any:
    """Plain data without the keys whose value is None, since TOML has no null; tuples become lists."""
    if isinstance(data, dict):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    if isinstance(data, (list, tuple)):
        return [_without_none(value) for value in data]
    return data


def dice_of(config: LeagueConfig, begun: Dice | None = None) -> Dice:
    """Whose dice a league's matches have: as its file says, else as its store has `begun`, else as fits its level.

    At level sandbox, where strangers play, each match has dice of its own: what a bot saw in one match is then of no
    use in another one. A test compares two bots on the same dice at every level.
    """
    own = config.rules.level == "sandbox" and config.format.kind != "test"
    return config.format.dice or begun or ("own" if own else "shared")


def with_dice(config: LeagueConfig, begun: Dice | None = None) -> LeagueConfig:
    """The league with `dice_of` it in its format."""
    return attrs.evolve(config, format=attrs.evolve(config.format, dice=dice_of(config, begun)))


# -- reading and writing ---------------------------------------------------------------------------------


def load_config(path: Path, *, without_bots: bool = False, from_folders: Path | None = None) -> LeagueConfig:
    """The league file at `path`; `ConfigError` or `OptionsError` names file and key of what does not fit.

    A path that begins with `leagues/` may name a file that comes with Warp League (`shipped.located`).
    `without_bots` takes a file that has no bots yet, too. All bots in the folder `from_folders` take part besides
    those of the file, each under the name of its own folder.
    """
    path = located(path)
    where = str(path)
    data = _read_toml(path, where)
    if path.name == MANIFEST or ("run" in data and "games" in data):
        raise ConfigError(
            f"{where}: is the {MANIFEST} of a bot; name the file of a league, whose `bots` name folders"
        )
    return config_of(data, path, without_bots=without_bots, from_folders=from_folders)


def config_of(
    data: dict[str, Any], path: Path, *, without_bots: bool = False, from_folders: Path | None = None
) -> LeagueConfig:
    """What `load_config` returns for a file at `path` with this `data`, which need not be there."""
    where = str(path)
    config = structure(data, LeagueConfig, where, _tables_of_options(data))
    if from_folders is not None:
        entries = (BotEntry(path=str(bot.absolute()), name=bot.name) for bot in bots_in(from_folders))
        config = attrs.evolve(config, bots=(*config.bots, *entries))
    name = config.name or path.stem
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: name: {name!r} must be letters, digits, dots, dashes, such as "
            f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name).strip('-._')[:64] or 'my-league'!r}; it names a folder"
        )
    game = _complete_game(config.game, path)
    config = attrs.evolve(config, name=name, game=game, path=path)
    if not config.bots and not without_bots and config.entry is None:
        raise ConfigError(
            f'{where}: bots: a league needs bots; write bots = ["FOLDER", "FOLDER"] above the first [table]'
        )
    check_config(config, where)
    return config


def _read_toml(path: Path, where: str) -> dict[str, Any]:
    if path.suffix == ".sqlite":
        raise ConfigError(f"{where}: is the store of a league; name the league's TOML file")
    try:
        return parse_toml(read_text(path, where), where)
    except FileNotFoundError:
        near = sorted(map(str, path.parent.glob("*.toml")))
        places = (Path("leagues"), path.parent / "leagues")
        far = [str(file) for place in places for file in sorted(place.glob("*.toml"))]
        folder = os.path.isdir(path.parent)  # noqa: PTH112 - never an error
        none = f"{path.parent} has no .toml files" if folder else "nor its folder"
        hint = nearest_path(path.name, near + far) or nearest("", near or far, none)
        raise ConfigError(f"{where}: there is no such file; {hint}") from None
    except IsADirectoryError:
        raise ConfigError(f"{where}: is a folder; {_in_folder(path)}") from None
    except OSError as error:
        raise ConfigError(f"{where}: cannot be read: {error.strerror or error}") from None


def _in_folder(folder: Path) -> str:
    """The remedy for a folder in place of a league file."""
    if (folder / "league.sqlite").is_file():
        return "it has a league's store; the league's TOML file comes first"
    files = sorted(str(path) for path in folder.glob("*.toml") if path.name != MANIFEST)
    if files:
        return f"name a league's TOML file in it, such as {files[0]}"
    if (folder / MANIFEST).is_file():
        return "it is a bot's; name the league's TOML file, whose `bots` name folders"
    return "name the league's TOML file"


def _tables_of_options(data: dict[str, Any]) -> dict[str, list[tuple[str, ...]]]:
    """The table where the options of the game belong, by their names, if the file says which game it is."""
    table = data.get("game")
    name = table.get("id") if isinstance(table, dict) else table
    if isinstance(name, str):
        with suppress(BadInput):
            return {field.name: [("game", "options")] for field in attrs.fields(load_game(name).Options)}
    return {}


def _complete_game(table: GameTable, path: Path) -> GameTable:
    where = str(path)
    try:
        game = load_game(table.id)
    except BadInput as error:
        raise ConfigError(f"{where}: game.id: {error}") from error
    players = table.players or game.players[0]
    if players not in game.players:
        allowed = ", ".join(map(str, game.players))
        raise ConfigError(f"{where}: game.players: {game.id} is for {allowed} players, not {players}")
    raw = dict(table.options)
    for option in game.file_options & raw.keys():
        if isinstance(raw[option], str):
            raw[option] = _read_toml(path.parent / raw[option], f"{where}: game.options.{option}")
    for key in raw.keys() - {field.name for field in attrs.fields(game.Options)}:
        if place := place_of(key, LeagueConfig, value=raw[key]):
            raise ConfigError(f"{where}: game.options.{key}: unknown key; {place}")
    options = load_options(game, players, raw, f"{where}: game.options")
    return GameTable(id=table.id, players=players, options=options_json(options))


def write_config(config: LeagueConfig, target: Path, *remarks: str) -> None:
    """Write the complete configuration to the file `target`, below these remarks; `StoreError` if it cannot be."""
    text = "".join(f"# {remark}\n" for remark in remarks) + "\n" + tomli_w.dumps(config.to_toml())
    scratch = target.with_suffix(".tmp")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(target)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from None


# -- checks ----------------------------------------------------------------------------------------------
# Checks what the tables of a league file say together: what fits its key alone was checked when it was read.


def check_config(config: LeagueConfig, where: str) -> None:
    """Raise `ConfigError` for what does not go together in a league file called `where`."""
    _check_network(config.sandbox.network, config, f"{where}: sandbox")
    _check_bots(config, where)
    _check_clock(config.clock, f"{where}: clock")
    _check_rules(config.rules, f"{where}: rules")
    _check_here_only(config, where)
    beacon = config.season.beacon
    if beacon is not None and not (0 < len(beacon) <= BEACON_LENGTH and beacon.isprintable()):
        raise ConfigError(f"{where}: season.beacon: must be 1 to {BEACON_LENGTH} printable characters")
    if config.entry is not None and not config.entry.leagues:
        raise ConfigError(f"{where}: entry.leagues: name the file of one league, or of several")
    _check_format(config, where)


def _check_bots(config: LeagueConfig, where: str) -> None:
    for index, entry in enumerate(config.entries):
        here = f"{where}: bots[{index}]"
        _check_network(entry.network or (), config, here)
        # Tables, records and pages show it; unlike a manifest's, it may have blanks and letters of all languages.
        name = entry.name
        if name is not None and not (
            0 < len(name) <= NAME_LENGTH and name.isprintable() and name == name.strip()
        ):
            raise ConfigError(
                f"{here}.name: must be 1 to {NAME_LENGTH} printable characters, without blanks around them"
            )
        if entry.clock is not None:
            _check_clock(entry.clock, f"{here}.clock")


def _check_network(addresses: Sequence[str], config: LeagueConfig, where: str) -> None:
    if addresses:
        from warpleague.runner.confine.sandbox import parse_address  # 8 ms, which few leagues need
    for address in addresses:
        if parse_address(address) is None:
            raise ConfigError(
                f"{where}.network: {address!r} must be an address of this machine with a port, such as "
                '"127.0.0.1:8080"; for a service elsewhere run a proxy here'
            )
    if addresses and config.rules.level != "sandbox":
        raise ConfigError(
            f'{where}.network: needs level = "sandbox" under [rules]: at level {config.rules.level} bots reach every '
            "address"
        )


def _check_clock(clock: TimeControl | EntrantClock, where: str) -> None:
    if clock.move_s is None and clock.bank_s is None:
        raise ConfigError(f"{where}: set move_s or bank_s, else a silent bot stops the league for good")
    if clock.increment_s is not None and clock.bank_s is None:
        raise ConfigError(f"{where}.increment_s: is added to a bank, but there is no bank_s")


def _check_rules(rules: RulesTable, where: str) -> None:
    if rules.strikes and rules.faults == "forfeit":
        raise ConfigError(f'{where}.strikes: only faults = "substitute" has strikes')
    if rules.faults == "substitute" and not rules.strikes:
        raise ConfigError(
            f"{where}.strikes: must be at least 1 to substitute; with 0 the first fault forfeits"
        )
    if not ILLEGAL.fullmatch(rules.illegal):
        raise ConfigError(f'{where}.illegal: must be "fault", or "ask-again N" with N from 1 to 999')


def _check_here_only(config: LeagueConfig, where: str) -> None:
    for key, command in (("on_end", config.on_end), ("arena.on_event", config.arena.on_event)):
        if command and not command[0]:
            raise ConfigError(f'{where}: {key}: must begin with a program, such as ["./notify.sh"]')
        if any("\0" in word for word in command):
            raise ConfigError(f"{where}: {key}: no word of a command can have a NUL")


def _check_format(config: LeagueConfig, where: str) -> None:
    form, players = config.format, config.game.players
    kind = form.kind
    if isinstance(form.tables, int) and players == 1:
        raise ConfigError(
            f'{where}: format.tables: at tables of one all bots play the same deals; leave it at "all", and set deals'
        )
    _check_end(config, where)
    if kind == "test":
        _check_test(config, where)
    if kind == "placement":
        _check_placement(config, where)
    elif form.levels:
        raise ConfigError(f'{where}: format.levels: only kind = "placement" has levels')
    if kind == "swiss":
        _check_swiss(config, where)
    elif form.rounds:
        raise ConfigError(f'{where}: format.rounds: only kind = "swiss" has rounds')
    knockout = kind in ("knockout", "double-elimination")
    if knockout and players != 2:
        raise ConfigError(f"{where}: format.kind: a {kind} needs tables of two; set players under [game]")
    _check_seeding(config, where, seeded=knockout or kind == "swiss")
    if kind == "gauntlet":
        _check_gauntlet(config, where)
    elif form.challengers:
        raise ConfigError(f'{where}: format.challengers: only kind = "gauntlet" has challengers')


def _check_gauntlet(config: LeagueConfig, where: str) -> None:
    if isinstance(config.format.tables, int):
        raise ConfigError(f'{where}: format.tables: a gauntlet plays all its tables; leave it at "all"')
    if config.game.players == 1:
        more = [players for players in load_game(config.game.id).players if players > 1]
        todo = f"write  players = {more[0]}  under [game]" if more else f"{config.game.id} has no such tables"
        raise ConfigError(f"{where}: format.kind: a gauntlet needs tables of two or more; {todo}")


def _check_end(config: LeagueConfig, where: str) -> None:
    kind, players = config.format.kind, config.game.players
    if config.format.until is not None:
        if kind not in ("ladder", "round-robin", "gauntlet"):
            raise ConfigError(f"{where}: format.until: only a ladder, a round-robin and a gauntlet end so")
        if players == 1:
            raise ConfigError(f"{where}: format.until: needs tables of two or more; set players under [game]")
    if config.format.time_share != TIME_SHARE and kind != "ladder":
        raise ConfigError(f"{where}: format.time_share: only a ladder has a share of the time for slow bots")
    if kind == "ladder":
        if players == 1:
            raise ConfigError(
                f"{where}: format.kind: a ladder needs tables of two or more; set players under [game]"
            )
        if config.format.deals != 1 or config.format.tables != "all":
            raise ConfigError(
                f"{where}: format: a ladder chooses its tables and deals; leave out tables and deals"
            )


def _check_seeding(config: LeagueConfig, where: str, *, seeded: bool) -> None:
    form = config.format
    if form.seeding is not None and not seeded:
        raise ConfigError(
            f"{where}: format.seeding: only a Swiss, a knockout and a double elimination have seeds"
        )
    if form.seeding == "rating" and form.ratings is None:
        raise ConfigError(
            f'{where}: format.ratings: seeding = "rating" needs the file of the league whose standings order the '
            'bots, such as ratings = "season.toml"'
        )
    if form.ratings is not None and form.seeding != "rating":
        raise ConfigError(
            f'{where}: format.ratings: only seeding = "rating" goes by the standings of a league'
        )


def _check_swiss(config: LeagueConfig, where: str) -> None:
    if not config.format.rounds:
        raise ConfigError(f"{where}: format.rounds: a Swiss needs a number of rounds, such as 9 for 60 bots")
    if config.format.tables != "all":
        raise ConfigError(f'{where}: format.tables: a Swiss pairs all bots in each round; leave it at "all"')
    if config.game.players == 1:
        raise ConfigError(
            f"{where}: format.kind: a Swiss needs tables of two or more; set players under [game]"
        )


def _check_placement(config: LeagueConfig, where: str) -> None:
    form, bots, field = config.format, len(config.bots), max(config.game.players - 2, 0)
    if form.seats != "rotations" or form.dice == "own":
        raise ConfigError(
            f"{where}: format: in a placement two bots exchange seats on shared dice; leave out seats and dice"
        )
    if form.tables != "all" or form.deals != 1:
        raise ConfigError(f"{where}: format: a placement chooses its deals; leave out tables and deals")
    if len(form.levels) < 2 or list(form.levels) != sorted(form.levels):
        raise ConfigError(
            f"{where}: format.levels: the strengths of two opponents or more, from weak to strong"
        )
    if bots and bots != 1 + len(form.levels) + field:
        but = f"the first and the {field} of the field, which stand last" if field else "the first"
        raise ConfigError(
            f"{where}: format.levels: must have one number for each bot but {but}: {bots - 1 - field}"
        )


def _check_test(config: LeagueConfig, where: str) -> None:
    form, bots, players = config.format, len(config.bots), config.game.players
    pool = bots - 2
    if bots and not (pool >= players - 1 >= 1 or (pool == 0 and players <= 2)):
        need = (
            f"a table of {players} needs at least {players - 1} more bots"
            if players > 1
            else "alone at a table there is no field"
        )
        raise ConfigError(
            f"{where}: bots: a test is of the first bot against the second, and the others are the field: {need}, "
            f"not {pool}"
        )
    if form.dice == "own":
        raise ConfigError(
            f'{where}: format.dice: a test compares bots on the same dice; leave it at "shared"'
        )
    if form.seats == "fixed":
        raise ConfigError(f'{where}: format.seats: a test plays every seat order; "rotations" or "all"')
    if form.tables != "all" or form.deals != 1:
        raise ConfigError(f"{where}: format: a test plays deals until it decides; leave out tables and deals")
    if form.elo0 >= form.elo1:
        raise ConfigError(f"{where}: format.elo1: must be above elo0 ({form.elo0:g}), not {form.elo1:g}")
