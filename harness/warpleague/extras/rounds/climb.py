"""Climb: which of the published levels each new program surely beats, found out as `warpleague rate` does it.

The dice follow from the secret of the round, which was fixed before the edits: nobody can choose them later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.extras.rounds.file import write_climb
from warpleague.extras.rounds.playing import entry_of
from warpleague.league.ratings.placement import Place
from warpleague.league.results.faulted import bot_faults
from warpleague.league.results.status import placement, status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpleague.extras.rounds.file import RoundsConfig
    from warpleague.extras.rounds.playing import RunFolder
    from warpleague.extras.rounds.state import Round, State
    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig


@attrs.frozen(kw_only=True)
class Climb(Place):
    """How far up the published levels a program got."""

    levels: int
    """how many there are"""
    scale: str
    """the digest of the scale"""
    matches: int
    faults: int
    """the matches in which it faulted"""


def climbers(config: RoundsConfig, state: State, round_: Round) -> list[str]:
    """The versions that climb after a round: those that are new, in the first round the bots at the start, too.

    A program climbs once, under the name of its first version.
    """
    if config.climb is None:
        return []
    first: dict[str, str] = {}
    for version in state.versions:
        first.setdefault(version.digest, version.name)
    rounds = (0, 1) if round_.number == 1 else (round_.number,)
    return [name for name in first.values() if state.version(name).round in rounds]


def league_files(config: RoundsConfig, state: State, run_folder: RunFolder, round_: Round) -> list[Path]:
    """The league files of a round: of its season, and of the climbs after it."""
    return [run_folder.league(round_.number), *map(run_folder.climb, climbers(config, state, round_))]


def climb_league(
    config: RoundsConfig, state: State, run_folder: RunFolder, version: str, league: League
) -> LeagueConfig:
    """Write the league file of a version's climb, whose dice follow from those of the round in `league`."""
    bot = entry_of(config, state, run_folder, version)
    return write_climb(config, run_folder.climb(version), _seed(league), bot)


def read_climb(config: RoundsConfig, run_folder: RunFolder, version: str) -> Climb:
    """The result of a climb that is over. Raises `StoreError` if its store cannot be read."""
    with run_folder.read(run_folder.climb(version)) as league:
        known = placement(league)
        return Climb(
            **attrs.asdict(known.place()),
            levels=len(known.levels),
            scale=config.scale.digest,
            matches=known.matches,
            faults=sum(one.matches for one in bot_faults(league) if one.bot == version),
        )


def climb_problems(
    config: RoundsConfig, state: State, version: str, climb: League, league: League
) -> Iterator[str]:
    """How the league of a climb differs from what the state, the scale and the round in `league` give."""
    name, *others = climb.season.bots
    if (name.bot, name.digest) != (version, state.digest(version)):
        yield f"{version} climbed with another content than the version has"
    scale = config.scale
    if [bot.digest for bot in others] != [level.digest for level in scale.opponents.values()]:
        yield f"{version} climbed against other bots than those of the scale"
    if climb.season.format.levels != scale.elo:
        yield f"{version} climbed with other strengths of levels than the scale has"
    if climb.config.seed != _seed(league):
        yield f"the dice of the climb of {version} do not follow from the secret of its round"
    if not status(climb).complete:
        yield f"matches of the climb of {version} are missing"


def _seed(league: League) -> str:
    return f"climb {league.season.secret.hex()}"
