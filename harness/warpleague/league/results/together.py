"""One table over the leagues of several games: the mean share of points against all other programs.

In each league a program's share is the mean, over all other programs, of its share of points against each. So each
opponent counts once, however often it was met and under however many names it plays. The mean over games ranks.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from warpleague.errors import BadInput
from warpleague.league.ratings.statistics import t95
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.results.league import League
    from warpleague.league.store.columns import Array, Columns
    from warpleague.match.spec import SeatSpec

_DIGITS: Final = 6  # of a share: bots that differ by less share a place


@attrs.frozen(kw_only=True)
class LeagueResults:
    """What one league adds to the table: its name and game, its bots, and the matches that count, with their deals.

    The matches of the `barred`, the numbers of disqualified bots, do not count here.
    """

    league: str
    game: str
    bots: Sequence[SeatSpec]
    columns: Columns
    barred: frozenset[int] = frozenset()

    @classmethod
    def of(cls, league: League) -> LeagueResults:
        """The results of an open league. Raises `BadInput` for a solo league, in which nobody meets anybody."""
        if league.season.players == 1:
            raise BadInput(
                f"{league.config.path}: is a solo league; --together compares bots that play against each other"
            )
        return cls(
            league=league.config.name,
            game=league.season.game,
            bots=league.season.bots,
            columns=league.columns("matches").without(league.barred),
            barred=league.barred,
        )


@attrs.frozen(kw_only=True)
class OpponentShare:
    """A program's mean share of points against each of so many other programs, on so many deals.

    `half` is half its 95 % interval; None where an opponent was met on one deal only, or all deals went alike.
    `variance` is the square of its standard error, and `by_freedom` the sum, over opponents, of the squares of their
    parts of it, each divided by its degrees of freedom (Satterthwaite 1946).
    """

    share: float
    opponents: int
    deals: int
    variance: float | None
    by_freedom: float

    @property
    def half(self) -> float | None:
        """Half the 95 % interval, by Student's t."""
        return _half(self.variance, self.by_freedom)


@attrs.frozen(kw_only=True)
class TogetherLine:
    """A bot over all leagues, by name and version; `copies` are other names of the same programs.

    `rank` and `share` are None if it `lacks` a league, or is `disqualified` in one. `half` is half the 95 % interval
    of the share, None if that in one league has none. `shares` has its share in each league that it played in.
    """

    rank: int | None
    bot: str
    version: str
    copies: tuple[str, ...]
    share: float | None
    half: float | None
    shares: dict[str, OpponentShare]
    lacks: tuple[str, ...]
    disqualified: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Together:
    """The table: first the bots that played in all leagues, then the others by name.

    `weights` has the weight of each league in the mean: all games weigh alike, and so do the leagues of one game.
    """

    leagues: tuple[LeagueResults, ...]
    weights: dict[str, float]
    lines: tuple[TogetherLine, ...]


def together(leagues: Sequence[LeagueResults]) -> Together:
    """Rank the bots of several leagues in one table.

    Raises `BadInput` for fewer than two leagues, for two of one name, if two programs of a league have not met, and if
    no bot played in all of them.
    """
    if len(leagues) < 2:
        raise BadInput("--together: is for two leagues or more; name the files of all of them")
    names = Counter(one.league for one in leagues)
    if (twice := max(names, key=names.__getitem__)) and names[twice] > 1:
        raise BadInput(f"--together: two of the leagues are called {twice}; name each league once")
    games = Counter(one.game for one in leagues)
    weights = {one.league: 1 / (len(games) * games[one.game]) for one in leagues}
    lines = [_line(bots, leagues, weights) for bots in _entrants(leagues)]
    ranked = [line for line in lines if line.share is not None]
    if not ranked:
        raise BadInput(
            f"--together: no bot has played in all {len(leagues)} leagues; a bot is the same if its name and version "
            f"are ({'; '.join(_described(one) for one in leagues)})"
        )
    ranked.sort(key=lambda line: (-(line.share or 0.0), line.bot, line.version))
    shares = [line.share for line in ranked]
    placed = [attrs.evolve(line, rank=shares.index(line.share) + 1) for line in ranked]
    others = sorted((line for line in lines if line.share is None), key=lambda line: (line.bot, line.version))
    return Together(leagues=tuple(leagues), weights=weights, lines=(*placed, *others))


def _described(one: LeagueResults) -> str:
    names = sorted(f"{bot.bot} {bot.version}".strip() for bot in one.bots)
    return f"{one.league}: {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"


@attrs.frozen
class _Entrant:
    """Bots of one program in each league: their names, their version, and the share of the program in each league."""

    names: tuple[str, ...]
    version: str
    shares: dict[str, OpponentShare]
    disqualified: tuple[str, ...]


def _entrants(leagues: Sequence[LeagueResults]) -> Iterable[_Entrant]:
    shares = {one.league: opponent_shares(one) for one in leagues}
    programs: dict[tuple[str, str], dict[str, str]] = {}
    disqualified: dict[tuple[str, str], list[str]] = {}
    for one in leagues:
        for number, bot in enumerate(one.bots):
            key = bot.bot, bot.version
            programs.setdefault(key, {})[one.league] = bot.identity
            if number in one.barred:
                disqualified.setdefault(key, []).append(one.league)
    alike: dict[tuple[object, ...], list[tuple[str, str]]] = {}
    for key, of_league in sorted(programs.items()):
        out = tuple(disqualified.get(key, ()))
        alike.setdefault((tuple(of_league.items()), out), []).append(key)
    for keys in alike.values():
        first = keys[0]
        out = tuple(disqualified.get(first, ()))
        of_bot = {
            league: shares[league][identity]
            for league, identity in programs[first].items()
            if identity in shares[league] and league not in out
        }
        yield _Entrant(tuple(name for name, _ in keys), first[1], of_bot, out)


def _line(entrant: _Entrant, leagues: Sequence[LeagueResults], weights: dict[str, float]) -> TogetherLine:
    lacks = tuple(
        one.league
        for one in leagues
        if one.league not in entrant.shares and one.league not in entrant.disqualified
    )
    share = half = None
    if not lacks and not entrant.disqualified:
        parts = [(weights[league], part) for league, part in entrant.shares.items()]
        share = round(sum(weight * part.share for weight, part in parts), _DIGITS)
        # Leagues have dice of their own, so their errors are independent. One without an error says nothing of it.
        variance = sum(weight**2 * (part.variance or 0.0) for weight, part in parts)
        if all(part.half is not None for _, part in parts):
            half = _half(variance, sum(weight**4 * part.by_freedom for weight, part in parts))
    return TogetherLine(
        rank=None,
        bot=entrant.names[0],
        version=entrant.version,
        copies=entrant.names[1:],
        share=share,
        half=half,
        shares=entrant.shares,
        lacks=lacks,
        disqualified=entrant.disqualified,
    )


def _half(variance: float | None, by_freedom: float) -> float | None:
    if not variance or not by_freedom:
        return None
    return sqrt(variance) * t95(max(int(variance**2 / by_freedom), 1))


def opponent_shares(one: LeagueResults) -> dict[str, OpponentShare]:
    """For each program of a league that played, by its identity, its mean share of points against all others.

    A table of three or more counts as its pairs, a shared place as half a point. The mean over opponents is one over
    strata of equal weight; its error is clustered by deal, by linearization with the correction n / (n - 1) for the n
    deals of each opponent (Cochran 1977, 5A.9 and 9A). Raises `BadInput` if two programs have not met.
    """
    identities = list(dict.fromkeys(bot.identity for bot in one.bots))
    of_bot = np.array([identities.index(bot.identity) for bot in one.bots])
    first, second, points, deal = _meetings(one.columns, of_bot)
    size, pair = len(identities), first * len(identities) + second
    played = np.flatnonzero(np.bincount(first, minlength=size))
    games = np.bincount(pair, minlength=size * size)
    _check_met(one, identities, played.tolist(), games.reshape(size, size))
    mean = np.bincount(pair, points, size * size) / np.maximum(games, 1)
    # Each meeting's part in the deviation of the mean over opponents, with the deals of a pair and of a bot as cells.
    numbers, deal = np.unique(deal, return_inverse=True)
    cells, cell = np.unique(pair * len(numbers) + deal, return_inverse=True)
    cell_pairs = cells // len(numbers)
    deals = np.bincount(cell_pairs, minlength=size * size)
    opponents = max(len(played) - 1, 1)
    off = (points - mean[pair]) / np.maximum(games[pair], 1) / opponents
    off *= np.sqrt(deals[pair] / np.maximum(deals[pair] - 1, 1))
    parts = np.bincount(cell_pairs, np.bincount(cell, off) ** 2, size * size)
    by_freedom = (parts**2 / np.maximum(deals - 1, 1)).reshape(size, size).sum(axis=1)
    own, at = np.unique(first * len(numbers) + deal, return_inverse=True)
    variance = np.bincount(own // len(numbers), np.bincount(at, off) ** 2, size)
    own_deals = np.bincount(own // len(numbers), minlength=size)
    deals, mean = deals.reshape(size, size), mean.reshape(size, size)
    return {
        identities[program]: OpponentShare(
            share=float(mean[program].sum() / opponents),
            opponents=opponents,
            deals=int(own_deals[program]),
            variance=None if (deals[program] == 1).any() else float(variance[program]),
            by_freedom=float(by_freedom[program]),
        )
        for program in played.tolist()
    }


def _meetings(columns: Columns, of_bot: Array) -> tuple[Array, Array, Array, Array]:
    """Each meeting of two seats from both sides: program, opponent, points and deal; without those of one program."""
    programs, ranks = of_bot[columns.seats], columns.ranks
    seats = [(a, b) for a in range(columns.players) for b in range(columns.players) if a != b]
    first, second = (np.concatenate([programs[:, pair[side]] for pair in seats]) for side in (0, 1))
    won = np.concatenate(
        [(1.0 + (ranks[:, a] < ranks[:, b]) - (ranks[:, a] > ranks[:, b])) / 2 for a, b in seats]
    )
    deal = np.tile(columns.deal, len(seats))
    apart = first != second
    return first[apart], second[apart], won[apart], deal[apart]


def _check_met(one: LeagueResults, identities: Sequence[str], played: Sequence[int], games: Array) -> None:
    if not played:
        raise BadInput(f"{one.league}: nothing has been played that counts; warpleague league run plays it")
    names = {bot.identity: bot.bot for bot in reversed(one.bots)}
    apart = [(a, b) for a in played for b in played if a < b and not games[a, b]]
    if apart:
        pair = " and ".join(names[identities[program]] for program in apart[0])
        more = f", as have not {counted(len(apart) - 1, 'other pair')}" if len(apart) > 1 else ""
        raise BadInput(
            f"{one.league}: {pair} have not met{more}; --together compares bots by what they did against all others, "
            "as in a round-robin"
        )
