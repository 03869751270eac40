"""Who takes part in a league: bot folders become named, bundled bots.

Leaves what a bundle is and how it is built to `warpleague.runner.bundle`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from warpleague.errors import BotError, ConfigError, MissingToolchain
from warpleague.runner.shipped import located
from warpleague.strict import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.league.config import LeagueConfig
    from warpleague.match.spec import SeatSpec


class Prepared(Protocol):
    """What is needed of a bundle: its name, the games it plays, and the seat it can take."""

    @property
    def name(self) -> str:
        """The name its manifest gives."""

    @property
    def games(self) -> tuple[str, ...]:
        """The ids of the games it plays."""

    def seat(self) -> SeatSpec:
        """How to run it."""


@attrs.frozen
class Entries:
    """The bots that take part, in the order of the league file, and one line for each that was left out."""

    bots: tuple[SeatSpec, ...]
    skipped: tuple[str, ...] = ()


def enter_bots(config: LeagueConfig, prepare: Callable[[Path], Prepared] | None = None) -> Entries:
    """Bundle and name the bots of `config`.

    `prepare` makes a bundle of a folder (default: the runner's, at the league's level). Bots whose toolchain is
    not installed are left out if the league says `missing_toolchain = "skip"`. Raises `ConfigError` for folders
    that do not exist, names used twice, bots of another game and too few bots, `BotError` for bots that cannot be
    built.
    """
    if prepare is None:
        from warpleague.runner import bundle as bundles

        prepare = partial(bundles.prepare, level=config.rules.level)
    bots: list[SeatSpec] = []
    skipped: list[str] = []
    for index, entry in enumerate(config.entries):
        where = f"{config.path}: bots[{index}]"
        folder = located(Path(entry.path), base=config.path.parent)
        if not folder.is_dir():
            above = folder.parent
            known = sorted(path.name for path in above.iterdir() if path.is_dir()) if above.is_dir() else []
            hint = nearest(
                folder.name, known, f"{above} has no folders" if above.is_dir() else f"nor is there {above}"
            )
            raise ConfigError(f"{where}: there is no folder {folder}; {hint}")
        try:
            bundle = prepare(folder)
        except MissingToolchain as error:
            if config.missing_toolchain == "error":
                raise
            skipped.append(f"{entry.name or folder.name} is left out: {error}")
            continue
        if config.game.id not in bundle.games:
            raise BotError(
                f"{where}: {bundle.name} does not play {config.game.id} (its games: {', '.join(bundle.games)})"
            )
        bots.append(attrs.evolve(bundle.seat(), bot=entry.name or bundle.name))
    check_names(config, [bot.bot for bot in bots], skipped)
    return Entries(tuple(bots), tuple(skipped))


def check_names(config: LeagueConfig, names: Sequence[str], skipped: Sequence[str] = ()) -> None:
    """Raise `ConfigError` for names used twice, too few bots, and names in the file that no bot has."""
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = 'give one of them another: { path = "...", name = "..." }'
            raise ConfigError(f"{config.path}: bots: two bots are called {name!r}; {hint}")
    if len(names) < config.game.players:
        left_out = "".join(f"\n  {line}" for line in skipped)
        raise ConfigError(
            f"{config.path}: bots: a table of {config.game.players} needs as many bots, not {len(names)}{left_out}"
        )
    challengers = enumerate(config.format.challengers)
    wanted = [(f"format.challengers[{index}]", name) for index, name in challengers]
    if config.rating.anchor is not None:
        wanted.append(("rating.anchor", config.rating.anchor))
    for key, name in wanted:
        if name not in names:
            raise ConfigError(f"{config.path}: {key}: no bot is called {name!r}; {nearest(name, names)}")
    others = len(names) - max(len(config.format.challengers), 1)
    if config.format.kind == "gauntlet" and others < config.game.players - 1:
        raise ConfigError(
            f"{config.path}: format.challengers: a table of {config.game.players} needs "
            f"{config.game.players - 1} bots that are not challengers, not {others}"
        )
    if len(set(config.format.challengers)) < len(config.format.challengers):
        raise ConfigError(f"{config.path}: format.challengers: a bot is named twice")
