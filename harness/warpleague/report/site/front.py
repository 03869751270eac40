"""The head of a league's page: a sentence, a picture, the bots as cards, and the matches to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from warpleague.counts import counted
from warpleague.errors import BadInput, RecordError, StoreError
from warpleague.languages import of_program
from warpleague.league.season.entry import folder_of
from warpleague.league.upkeep.verifying import published_record
from warpleague.match.replay import Replay
from warpleague.report.wording.league_words import fit_words, percent, placing_words, rank_words
from warpleague.report.wording.match_words import number, one_line, outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import Game
    from warpleague.league.results.league import League
    from warpleague.league.results.standings import Standing, Standings
    from warpleague.league.results.status import Status
    from warpleague.league.store.columns import Columns

CARDS: Final = 24
"""Bots that have a card; all have a line in the table."""

_FORM: Final = 10  # matches that a card shows
_UPSET: Final = 25.0  # in Elo: a win against a bot that is stronger by less surprises nobody
_KINDS: Final = {
    "round-robin": "a round-robin",
    "gauntlet": "a gauntlet",
    "swiss": "a Swiss",
    "knockout": "a knockout",
    "double-elimination": "a double elimination",
    "ladder": "a ladder",
    "test": "a test of strength",
}


@attrs.frozen
class Pick:
    """A match to look at: why, its number and id, and how it ended in one sentence."""

    title: str
    number: int
    match: str
    deal: int
    text: str


def sentence(league: League, game: Game[Any, Any], now: Status, table: Standings) -> str:
    """The league and its state, as a sentence."""
    kind = _KINDS.get(league.season.format.kind, "a league")
    size = f"{counted(now.stored, 'match')} played so far"
    if now.matches is not None:
        size = (
            counted(now.matches, "match")
            if now.complete
            else f"{now.stored:,} of {counted(now.matches, 'match')} played ({now.percent:.0f} %)"
        )
    text = f"{counted(len(now.bots), 'bot')} in {kind} of {game.title}: {size}."
    if not table.matches or league.season.format.kind == "test":
        return text
    ranked = [line for line in table.lines if line.rank is not None]
    first = [one_line(line.bot) for line in ranked if line.rank == 1]
    if len(first) > 3 or not first:
        return text
    names = " and ".join([", ".join(first[:-1]), first[-1]] if first[:-1] else first)
    verb = "won it" if now.complete else "leads" if len(first) == 1 else "lead"
    if now.complete and len(first) > 1:
        verb = "share the first place"
    return f"{text} {names} {verb}{_by(table, ranked) if len(first) == 1 else ''}."


def _by(table: Standings, ranked: Sequence[Standing]) -> str:
    """How far the first one is ahead of the second."""
    if len(ranked) < 2 or ranked[0].placing is not None:
        return ""
    one, two = ranked[:2]
    if one.fit is None or two.fit is None or one.guessed or two.guessed:
        return ""
    sure = (
        "" if one.likelihood is None else f", likelihood to be the stronger one {100 * one.likelihood:.0f} %"
    )
    return f", {one.fit - two.fit:.0f} Elo before {one_line(two.bot)}{sure}" if table.fit else ""


# Matches to look at


def picks(columns: Columns, table: Standings) -> list[Pick]:
    """The best match, the closest, the longest and the greatest upset: each once, as far as there are any."""
    if not len(columns):
        return []
    places = {
        "Best against second": _of_the_best(columns, table),
        "Closest": _closest(columns),
        "Longest": int(np.argmax(columns.values["lines"])),
        "Greatest upset": _upset(columns, table),
    }
    chosen, seen = [], set[int]()
    for title, at in places.items():
        if at is not None and at not in seen:
            seen.add(at)
            chosen.append(pick(title, columns, table, at))
    if chosen[0].title != "Best against second":
        chosen.insert(0, pick("Last", columns, table, len(columns) - 1))
    return chosen


def pick(title: str, columns: Columns, table: Standings, at: int) -> Pick:
    """The match in row `at` of the columns, which have the parts "results" and "matches"."""
    values = columns.values
    names = [one_line(table.names[bot]) for bot in columns.seats[at].tolist()]
    rival = float(columns.rival[at])
    why = columns.texts[int(values["why"][at])]
    scores = columns.scores[at].tolist()
    ranks = columns.ranks[at].tolist()
    if ranks.count(1) == 1 and len(ranks) > 1:
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        others = " and ".join(
            filter(None, [", ".join(names[seat] for seat in order[1:-1]), names[order[-1]]])
        )
        points = " : ".join(number(scores[seat]) for seat in order)
        text = f"{names[order[0]]} beats {others}, {points} ({one_line(why)})"
    else:
        text = outcome(names, ranks, scores, None if rival != rival else rival, why)
    if title == "Longest":
        text += f", {int(values['lines'][at]):,} lines"
    return Pick(title, int(values["number"][at]), values["id"][at].decode(), int(values["deal"][at]), text)


def _of_the_best(columns: Columns, table: Standings) -> int | None:
    """The last match in which the first two of the table met."""
    if table.solo or len(table.order) < 2:
        return None
    one, two = table.order[:2]
    met = np.flatnonzero((columns.seats == one).any(axis=1) & (columns.seats == two).any(axis=1))
    return int(met[-1]) if len(met) else None


def _closest(columns: Columns) -> int | None:
    """The decided match with the least difference in score, the longest of them; None if all differ alike."""
    place, best, widest = None, (np.inf, 0), 0.0
    begin = 0
    for some in columns.blocks():
        if some.players == 1:
            gaps = np.abs(some.scores[:, 0] - some.rival)
        else:
            scores = np.sort(some.scores, axis=1)
            gaps = scores[:, -1] - scores[:, -2]
        decided = np.flatnonzero(np.isfinite(gaps) & (gaps > 0))
        if len(decided):
            of_decided = gaps[decided]
            least = decided[of_decided == of_decided.min()]
            at = int(least[np.argmax(some.lines[least])])
            widest = max(widest, float(of_decided.max()))
            if (key := (float(gaps[at]), -int(some.lines[at]))) < best:
                place, best = begin + at, key
        begin += len(some)
    return place if best[0] < widest else None


def _upset(columns: Columns, table: Standings) -> int | None:
    """The match whose winner was weaker than the strongest loser by most, by the fit."""
    if table.fit is None or columns.players < 2:
        return None
    ratings = np.array([np.nan if rating is None else rating for rating in table.fit.ratings], dtype=float)
    place, most = None, -np.inf
    begin = 0
    for some in columns.blocks():
        seated, first = ratings[some.seats], some.ranks == 1
        winner = np.where(first, seated, -np.inf).max(axis=1)
        beaten = np.where(first, -np.inf, seated).max(axis=1)
        gaps = np.where(first.sum(axis=1) == 1, beaten - winner, -np.inf)
        gaps = np.where(np.isfinite(gaps), gaps, -np.inf)
        at = int(np.argmax(gaps))
        if gaps[at] > most:
            place, most = begin + at, float(gaps[at])
        begin += len(some)
    return place if most >= _UPSET else None


def picture(league: League, game: Game[Any, Any], pick: Pick) -> dict[str, Any] | None:
    """The last position of a match for the board, with the names of its seats; None if its record does not hold."""
    from warpleague.report.site.delta import diff

    try:
        replay = Replay(published_record(league, pick.match, pick.deal))
        state = replay.first
        for step in replay:
            state = step.state
    except (RecordError, StoreError):
        return None
    names = [one_line(seat["bot"]) for seat in replay.header["seats"]]
    return {"names": names, "frames": [{"scene": [diff(None, game.scene(state, None))]}]}


# Cards


def cards(
    league: League, table: Standings, columns: Columns, most: int | None = CARDS
) -> list[dict[str, Any]]:
    """The first bots of the table: who wrote them in which language, how they stand, and their last matches."""
    changed = {change.bot for change in league.changed}
    seats = {seat.bot: seat for seat in league.season.bots}
    about = {} if len(seats) > CARDS * 4 else _manifests(league)
    rows = []
    for line in table.lines[:most]:
        bot = table.names.index(line.bot)
        manifest = about.get(line.bot, {}) if line.bot not in changed else {}
        rows.append(
            {
                "bot": line.bot,
                "rank": rank_words(line),
                "strength": _strength(line, table),
                "version": one_line(seats[line.bot].version or ""),
                "form": _form(columns, bot),
                "language": manifest.get("language", ""),
                "authors": manifest.get("authors", ""),
                "description": manifest.get("description", ""),
            }
        )
    return rows


def _strength(line: Standing, table: Standings) -> str:
    if line.placing is not None:
        words = placing_words(line)
        return words[0] if line.placing.reached is not None else f"{words[0]} points"
    if table.rival:
        return f"{percent(line.record.won / line.record.played)} won" if line.record.played else ""
    if table.solo or table.by_score:
        return f"score {number(line.record.scores.mean)}" if line.record.played else ""
    fit, error = fit_words(line)
    return fit + (f" ± {error}" if error and not line.guessed else "")


def _form(columns: Columns, bot: int) -> list[dict[str, Any]]:
    """The last matches of a bot, the last one at the end; of several seats it has the best counts."""
    at = np.flatnonzero((columns.seats == bot).any(axis=1))[-_FORM:]
    rows = []
    for place in at.tolist():
        ranks = columns.ranks[place]
        own = int(ranks[columns.seats[place] == bot].min())
        shared = int((ranks == 1).sum()) > 1
        word = "lost" if own != 1 else "drawn" if shared and columns.players > 1 else "won"
        if columns.players == 1 and columns.rival[place] != columns.rival[place]:
            word = "played"
        match = columns.values["id"][place].decode()
        rows.append({"word": word, "match": match, "number": int(columns.values["number"][place])})
    return rows


def _manifests(league: League) -> dict[str, dict[str, str]]:
    """The descriptions in the bots' manifests, by name, where their folders exist."""
    from warpleague.runner.bundle.manifest import read_manifest

    manifests: dict[str, dict[str, str]] = {}
    for entry in league.config.entries:
        try:
            manifest = read_manifest(folder_of(league.config, entry))
        except BadInput:
            continue
        manifests[entry.name or manifest.name] = {
            "language": language_of([*(manifest.build or ()), *manifest.run]),
            "authors": one_line(", ".join(manifest.authors)),
            "description": one_line(manifest.description),
        }
    return manifests


def language_of(words: Sequence[str]) -> str:
    """The language that a manifest's commands are of; empty if they do not tell."""
    known = (of_program(word) for word in words)
    return next((language.name for language in known if language is not None), "")
