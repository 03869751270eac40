"""Turns the bot folders of a league file into named, bundled bots.

`warpleague.runner.bundle` builds bundles.
"""

from __future__ import annotations

import os
import shlex
import unicodedata
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from warpleague.errors import BadInput, BotError, ConfigError, EntrantsError, MissingToolchain
from warpleague.match.spec import SeatSpec, TimeControl
from warpleague.runner.bundle.manifest import games_named, plays, read_manifest
from warpleague.runner.bundle.shipped import located, shipped_bots, shipped_root, short_name
from warpleague.text import nearest, nearest_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.league.season.config import BotEntry, LeagueConfig


class Prepared(Protocol):
    """The parts of a bundle that a league needs: its name, the games it plays, and the seat it can take."""

    @property
    def name(self) -> str:
        """The name its manifest gives."""

    @property
    def games(self) -> tuple[str, ...]:
        """The ids of the games it plays."""

    def seat(self) -> SeatSpec:
        """How to run it."""


@attrs.frozen
class Problem:
    """Why a bot cannot take part: the bot's name, or its folder's, what is wrong, and what to do about it."""

    bot: str
    folder: str
    what: str
    todo: str

    @property
    def line(self) -> str:
        """The line about a bot that is left out."""
        return f"{self.bot} is left out: {' '.join(self.what.splitlines()[:1])}"

    def to_json(self) -> dict[str, str]:
        """The same as JSON."""
        return attrs.asdict(self)


@attrs.frozen
class Entries:
    """The bots that take part, in the order of the league file, and one line for each that was left out."""

    bots: tuple[SeatSpec, ...]
    skipped: tuple[str, ...] = ()


def enter_bots(
    config: LeagueConfig, prepare: Callable[[Path], Prepared] | None = None, hidden: tuple[Path, ...] = ()
) -> Entries:
    """Bundle and name the bots of `config`.

    `prepare` makes a bundle of a folder (default: the runner's, at the league's level). `hidden` are folders that no
    bot may ask to see. Every bot is tried. If the
    league says `missing = "skip"`, those that cannot take part are left out: their folder is not there, cannot be
    bundled or built, is of another game, or its name is taken. Else one of them raises what is wrong with it
    (`ConfigError`, `BotError`), several of them `EntrantsError`. Too few bots, and names in the file that no bot has,
    are a `ConfigError`; what is wrong with this machine and not with a bot raises `BadInput` at once.
    """
    if prepare is None:
        from warpleague.runner.bundle import bundle as bundles  # 30 ms, which no look at a league needs

        prepare = partial(
            bundles.prepare, level=config.rules.level, paths=config.sandbox.paths, hidden=hidden
        )
    bots: list[SeatSpec] = []
    errors: list[tuple[Problem, BadInput]] = []
    taken = set[str]()
    for index, entry in enumerate(config.entries):
        try:
            seat = _enter(config, index, entry, prepare)
            forms = _forms(seat.bot)
            if not taken.isdisjoint(forms):
                other = first_alike(seat.bot, (bot.bot for bot in bots))
                assert other is not None
                raise _named_alike(config, other, seat.bot)
        except (ConfigError, BotError) as error:
            placed = error
            if not str(error).startswith(f"{config.path}: "):  # it knows the folder only
                placed = type(error)(f"{config.path}: bots[{index}]: {error}")
            errors.append((_problem(config, index, entry, placed), placed))
        else:
            bots.append(seat)
            taken |= forms
    problems = [problem for problem, _ in errors]
    if errors and config.missing != "skip":
        if len(errors) == 1:
            raise errors[0][1]
        raise _several(config, problems)
    skipped = tuple(problem.line for problem in problems)
    check_names(config, [bot.bot for bot in bots], skipped)
    return Entries(tuple(bots), skipped)


def folder_of(config: LeagueConfig, entry: BotEntry) -> Path:
    """The folder of a bot of the file."""
    try:
        return located(Path(entry.path), base=config.path.parent)
    except OSError:  # it may not be read, or the path is too long
        return config.path.parent / entry.path


def name_of(config: LeagueConfig, entry: BotEntry) -> str:
    """The name of a bot of the file in the league; its folder's if its manifest cannot be read."""
    folder = folder_of(config, entry)
    try:
        return entry.named(read_manifest(folder).name)
    except BadInput:
        return entry.named(folder.name)


def _enter(
    config: LeagueConfig, index: int, entry: BotEntry, prepare: Callable[[Path], Prepared]
) -> SeatSpec:
    """The seat of one bot of the file."""
    where = f"{config.path}: bots[{index}]"
    folder = folder_of(config, entry)
    try:
        if folder.is_file():
            above = os.path.relpath(folder.parent, config.path.parent)
            raise ConfigError(f"{where}: {folder} is a file; a bot is named by its folder: {above!r}")
        if not folder.is_dir():
            raise ConfigError(f"{where}: there is no folder {folder}; {_meant(config, entry, folder)}")
    except OSError as error:
        raise ConfigError(f"{where}: {folder} cannot be read: {error.strerror}") from None
    bundle = prepare(folder)
    if not plays(bundle.games, config.game.id):
        raise BotError(
            f"{where}: {bundle.name} does not play {config.game.id} (its games: {games_named(bundle.games)})"
        )
    return seat_in(config, entry, bundle, where)


def seat_in(config: LeagueConfig, entry: BotEntry, bundle: Prepared, where: str) -> SeatSpec:
    """The seat that a bundle takes in the league: its name there, its own clock, and what it may reach.

    Raises `ConfigError`, which begins with `where`, if its key cannot be read.
    """
    clock = None
    if entry.clock is not None:
        clock = TimeControl(**attrs.asdict(entry.clock), start_s=config.clock.start_s)
    network = config.sandbox.network if entry.network is None else entry.network
    return attrs.evolve(
        bundle.seat(),
        bot=entry.named(bundle.name),
        clock=clock,
        network=network,
        key_file=_key_file(config, entry, where),
    )


def _key_file(config: LeagueConfig, entry: BotEntry, where: str) -> str | None:
    """The absolute path of the file with a bot's key, which can be read and is in no bot's folder."""
    if entry.key_file is None:
        return None
    path = Path(os.path.realpath(config.path.parent / entry.key_file))
    if not os.access(path, os.R_OK) or not path.is_file() or not path.stat().st_size:
        raise ConfigError(f"{where}.key_file: {path} must be a file that can be read and is not empty")
    for other in config.entries:
        if path.is_relative_to(os.path.realpath(folder_of(config, other))):
            raise ConfigError(
                f"{where}.key_file: {path} is in the folder of a bot, and would be copied with it; "
                "keep it elsewhere"
            )
    return str(path)


def _meant(config: LeagueConfig, entry: BotEntry, folder: Path) -> str:
    """A suggestion for a folder that is not there."""
    if os.path.isdir(entry.path):  # noqa: PTH112 - never an error
        there = os.path.relpath(entry.path, config.path.parent)
        return f"paths start at the league file; did you mean {there!r}?"
    above = located(Path(entry.path).parent, base=config.path.parent)
    known = sorted(path.name for path in above.iterdir() if path.is_dir()) if above.is_dir() else []
    if not get_close_matches(folder.name, known, n=1):
        shipped = [str(path.relative_to(shipped_root())) for path in shipped_bots()]
        if meant := nearest_path(folder.name, shipped, likeness=0.8):
            return meant
    if not above.is_dir():
        return f"nor is there {above}"
    return nearest(folder.name, known, f"{above} has no folders")


def _named_alike(config: LeagueConfig, one: str, other: str) -> ConfigError:
    hint = 'give one of them another: { path = "...", name = "..." }'
    if one == other:
        return ConfigError(f"{config.path}: bots: two bots are called {one!r}; {hint}")
    letters = foreign(other) or foreign(one)
    return ConfigError(
        f"{config.path}: bots: the names {one!r} and {other!r} look alike"
        f"{f' ({letters})' if letters else ''}; {hint}"
    )


def _problem(config: LeagueConfig, index: int, entry: BotEntry, error: BadInput) -> Problem:
    """An error about a bot in columns: the place, which the columns tell, is cut off, and the advice set apart."""
    folder = folder_of(config, entry)
    text = str(error)
    for place in (f"{config.path}: bots[{index}]: ", f"{config.path}: bots: ", f"{folder}: ", f"{folder}/"):
        text = "\n".join(line.removeprefix(place) for line in text.split("\n"))
    head, semicolon, advice = text.rpartition("; ")
    if semicolon and "\n" not in text:
        text, todo = head, advice
    elif isinstance(error, MissingToolchain):
        todo = "install it here"
    else:
        shown = short_name(Path(os.path.realpath(folder)))
        todo = f"mend it; to see more: warpleague bot check {shlex.quote(str(shown))}"
    return Problem(entry.named(folder.name), str(folder), text, todo)


def _several(config: LeagueConfig, problems: Sequence[Problem]) -> EntrantsError:
    lines = "".join(f"\n  {problem.bot}: {problem.what}; {problem.todo}" for problem in problems)
    return EntrantsError(
        f"{config.path}: bots: {len(problems)} of {len(config.entries)} cannot take part:{lines}", problems
    )


def check_names(config: LeagueConfig, names: Sequence[str], skipped: Sequence[str] = ()) -> None:
    """Raise `ConfigError` for names used twice, too few bots, and names in the file that no bot has."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise _named_alike(config, name, name)
    left_out = "".join(f"\n  {line}" for line in skipped)
    if len(names) < config.game.players:
        raise ConfigError(
            f"{config.path}: bots: a table of {config.game.players} needs as many bots, not {len(names)}"
            f"{left_out or '; add some to the list'}"
        )
    challengers = enumerate(config.format.challengers)
    wanted = [(f"format.challengers[{index}]", name) for index, name in challengers]
    if config.rating.anchor is not None:
        wanted.append(("rating.anchor", config.rating.anchor))
    for key, name in wanted:
        if name not in names:
            raise ConfigError(
                f"{config.path}: {key}: no bot is called {name!r}; {nearest(name, names)}{left_out}"
            )
    others = len(names) - max(len(config.format.challengers), 1)
    if config.format.kind == "gauntlet" and others < config.game.players - 1:
        raise ConfigError(
            f"{config.path}: format.challengers: a table of {config.game.players} needs "
            f"{config.game.players - 1} bots that are not challengers, not {others}"
        )
    if len(set(config.format.challengers)) < len(config.format.challengers):
        raise ConfigError(f"{config.path}: format.challengers: a bot is named twice")


# -- names that look alike -------------------------------------------------------------------------------
# People cannot tell two names apart that differ in case, in blanks, or in letters that look the same.


_CAPITALS: Final = "AАΑ BВΒ CСϹ EЕΕ HНΗ IІΙӀ JЈ KКΚ MМΜ NΝ OОΟՕ PРΡ SЅՏ TТΤ UՍ VѴ WԜ XХΧ YУΥҮ ZΖ"
_SMALL: Final = (
    "aаɑα bьƅ cсϲ dԁ eеҽ gɡց hһհ iіιıɩ jјϳ kкκ lӏ1|ǀ mм nոп oоοօ0 pрρ qԛզ rг sѕꜱ tтτ uսυ vνѵ wԝω xхχ "
    "yуγү zᴢζ 3з 6б -\u2010\u2011\u2012\u2013\u2014\u2212"
)
"""In each word a character, then those of other alphabets that look like it, and digits that look like letters.

The most frequent ones of https://www.unicode.org/reports/tr39.
"""

_UNSEEN: Final = ("Cf", "Cc", "Zs", "Zl", "Zp")
"""Categories of characters that leave nothing to see but a gap, or nothing at all."""


def _table(alike: str) -> dict[int, str]:
    return str.maketrans({char: word[0] for word in alike.split(" ") for char in word[1:]})


_PLAIN_CAPITALS: Final = _table(_CAPITALS)
_PLAIN_SMALL: Final = _table(_SMALL)


def first_alike(name: str, names: Iterable[str]) -> str | None:
    """The first of the `names` that people cannot tell from `name`; None if there is none."""
    forms = _forms(name)
    return next((other for other in names if forms & _forms(other)), None)


def foreign(name: str) -> str:
    """The first characters of a name that are not ASCII, each with its name in Unicode; empty without any."""
    chars = dict.fromkeys(char for char in name if not char.isascii())
    return ", ".join(
        f"{char!r} is {unicodedata.name(char, 'a character without a name')}" for char in list(chars)[:3]
    )


def _forms(name: str) -> set[str]:
    """The shape of a name as it may be misread: some capitals look other than their small letters, and I like l."""
    text = unicodedata.normalize("NFKC", name)
    capitals = text.translate(_PLAIN_CAPITALS)
    return {_plain(text), _plain(capitals), _plain(capitals.replace("I", "l"))}


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.casefold()).translate(_PLAIN_SMALL)
    return "".join(char for char in text if unicodedata.category(char) not in _UNSEEN)
