"""Matches on demand and trials: which bots sit where, and what came of it. They rate nobody, and replace nothing.

An author asks for a match on demand of a bot against any bots of a league or earlier versions. A trial plays a new
version and the one that plays side by side on equal deals, match by match: its deals, seat orders and statistics are
those of a test of strength (`warpleague compare`). Both have dice of their own, so that nobody learns those of the
season.
"""

from __future__ import annotations

import json
import secrets
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec

from warpleague.arena.submissions.entering import check_league
from warpleague.arena.submissions.jobs import (
    CHALLENGE,
    TRIAL,
    Challenge,
    ChallengeSeat,
    PlayedTrial,
    Trial,
    TrialMatch,
    Version,
    add,
    close,
    read,
    read_one,
)
from warpleague.arena.submissions.versions import add_trial, versions_in
from warpleague.errors import BadInput
from warpleague.league.schedule.formats.strength_test import Deal, StrengthFormat, StrengthTest
from warpleague.league.season.config import FormatTable, LeagueConfig
from warpleague.league.season.entry import name_of
from warpleague.league.season.season import Season
from warpleague.match.spec import SeatSpec
from warpleague.text import counted, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.arena.submissions.accounts import Author
    from warpleague.arena.submissions.ledger import Ledger

T = TypeVar("T", bound=Trial)

DEALS: Final = 20
"""The deals of a trial, if its author does not say how many."""
_WITH_RECORD: Final = 100
"""So many matches on demand of an author keep their records and logs."""


# -- matches on demand -------------------------------------------------------------------------------------


def ask_challenge(
    ledger: Ledger, config: LeagueConfig, author: Author, bot: str, opponents: Sequence[str]
) -> Challenge:
    """Ask for a match; durable when this returns.

    `bot` is the name of an own bot, or the number of an accepted version. Each opponent is the name of a bot of the
    league, or the number of an own version. Where a table has more seats, opponents sit there again. Raises
    `BadInput` for bots that there are not, and `OverQuota`.
    """
    check_league(config)
    own = _own_seat(ledger, config, author, bot)
    others = [_opponent_seat(ledger, config, author, name) for name in opponents]
    wanted = config.game.players - 1
    if (not others and wanted) or len(others) > wanted:
        raise BadInput(
            f"opponents: {counted(wanted, 'opponent')} at most, and one at least, not {len(others)}"
        )
    seats = [own, *(others[seat % len(others)] for seat in range(wanted))]
    with ledger.writing() as db:
        details = {"seats": [attrs.asdict(seat) for seat in seats]}
        number = add(ledger, db, CHALLENGE, author, config.name, details)
        db.execute(
            "UPDATE job SET data = NULL, log = NULL WHERE kind = 'challenge' AND author = ?1 AND id NOT IN "
            "(SELECT id FROM job WHERE kind = 'challenge' AND author = ?1 ORDER BY id DESC LIMIT ?2)",
            (author.id, _WITH_RECORD),
        )
        ledger.note(author.name, "match on demand", number=number, league=config.name)
    return challenge(ledger, number, author)


def challenge(ledger: Ledger, number: int, author: Author | None = None) -> Challenge:
    """The match on demand with this number, of this author if one is given. Raises `NoJob` if there is none."""
    return msgspec.convert(read_one(ledger, CHALLENGE, number, author), Challenge)


def challenges(ledger: Ledger, author: Author, most: int = 50) -> list[Challenge]:
    """The last matches on demand of an author, the newest first."""
    rows = read(ledger, CHALLENGE, "job.author = ? ORDER BY job.id DESC LIMIT ?", author.id, most)
    return msgspec.convert(rows, list[Challenge])


def record_of(ledger: Ledger, author: Author, number: int) -> bytes | None:
    """The packed record of a match on demand, or None."""
    challenge(ledger, number, author)
    record: bytes | None = ledger.rows("SELECT data FROM job WHERE id = ?", number)[0][0]
    return record


def log_of(ledger: Ledger, author: Author, number: int, kind: str) -> str | None:
    """The output of the author's own bot, or its messages (`kind`, of `KINDS`), or None."""
    challenge(ledger, number, author)
    log = ledger.rows("SELECT log FROM job WHERE id = ?", number)[0][0]
    return None if log is None else str(json.loads(log)[kind])


def finish_challenge(
    ledger: Ledger, number: int, result: dict[str, Any], record: bytes, log: dict[str, str]
) -> None:
    """Store a match that was played: its result, its packed record, and the output of the author's bot."""
    with ledger.writing() as db:
        close(db, CHALLENGE, number, "played", result=json.dumps(result), data=record, log=json.dumps(log))


def _own_seat(ledger: Ledger, config: LeagueConfig, author: Author, text: str) -> ChallengeSeat:
    mine = versions_in(ledger, config.name, author.name)
    if _is_number(text):
        own = next((one for one in mine if one.id == int(text)), None) if len(text) < 18 else None
        if own is None:
            raise BadInput(f"{text}: you have no accepted version of this number in {config.name}")
        return _seat(own)
    active = {one.bot: one for one in mine if one.active}
    if text not in active:
        near = nearest(text, sorted(active), "you have none")
        raise BadInput(f"you have no bot {text!r} that plays in {config.name}; {near}")
    return _seat(active[text])


def _opponent_seat(ledger: Ledger, config: LeagueConfig, author: Author, text: str) -> ChallengeSeat:
    if _is_number(text):
        return _own_seat(ledger, config, author, text)
    active = {one.bot: one for one in versions_in(ledger, config.name, active=True)}
    if text in active:
        return _seat(active[text])
    names = [name_of(config, entry) for entry in config.entries]
    if text not in names:
        raise BadInput(f"no bot {text!r} plays in {config.name}; {nearest(text, [*names, *active])}")
    return ChallengeSeat(bot=text, submission=None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _seat(version: Version) -> ChallengeSeat:
    return ChallengeSeat(bot=version.bot, submission=version.id)


# -- trials ------------------------------------------------------------------------------------------------


def ask_trial(
    ledger: Ledger, config: LeagueConfig, author: Author, new: int, old: int | None = None, deals: int = DEALS
) -> Trial:
    """Ask for a trial of two accepted versions of a bot; without `old`, against the version that plays.

    Durable when this returns. Raises `BadInput` for versions that there are not, and `OverQuota`.
    """
    check_league(config)
    check_size(ledger, config, deals)
    details = {"deals": deals, **_lineup(ledger, config, author.name, new, old)}
    with ledger.writing() as db:
        number = add_trial(ledger, db, author, config.name, new, details)
    return trial(ledger, number, author)


def check_size(ledger: Ledger, config: LeagueConfig, deals: int) -> None:
    """Raise `BadInput` for a trial of too many matches."""
    most, each = ledger.limits.trial_size, _schedule(config, 1).matches_a_deal
    if not 1 <= deals <= most // each:
        raise BadInput(
            f"deals: must be from 1 to {most // each}, not {deals}: a deal takes {counted(each, 'match')} here, and a "
            f"trial has {most} at most"
        )


def trial(ledger: Ledger, number: int, author: Author) -> Trial:
    """The trial of an author with this number. Raises `NoJob` if there is none."""
    return _trial(read_one(ledger, TRIAL, number, author), Trial)


def trials(ledger: Ledger, author: Author, most: int = 50) -> list[Trial]:
    """The last trials of an author, the newest first."""
    rows = read(ledger, TRIAL, "job.author = ? ORDER BY job.id DESC LIMIT ?", author.id, most)
    return [_trial(row, Trial) for row in rows]


def trial_of(ledger: Ledger, submission: int) -> int | None:
    """The number of the last trial of a version, or None."""
    rows = ledger.rows("SELECT max(id) FROM job WHERE kind = 'trial' AND about = ?", submission)
    return None if rows[0][0] is None else int(rows[0][0])


def played_trial(ledger: Ledger, config: LeagueConfig, number: int) -> PlayedTrial:
    """A trial as its player needs it, with its old version and its field, which are chosen when it begins.

    Raises `BadInput` if there are none.
    """
    row = read_one(ledger, TRIAL, number)
    if row["old"] is None:
        details = {key: row[key] for key in ("deals", "seed")}
        details |= _lineup(ledger, config, row["author"], row["new"], None)
        with ledger.writing() as db:
            db.execute("UPDATE job SET details = ? WHERE id = ?", (json.dumps(details), number))
        row |= details
    return _trial(row, PlayedTrial)


def next_match(config: LeagueConfig, now: PlayedTrial) -> tuple[int, tuple[int, ...]]:
    """The deal of the next match, and which bot of `PlayedTrial.seats` has each seat."""
    schedule = _schedule(config, now.deals)
    deal, place = divmod(now.matches, schedule.matches_a_deal)
    return deal, schedule.group(deal).seats[place]


def add_match(ledger: Ledger, config: LeagueConfig, now: PlayedTrial, match: TrialMatch) -> None:
    """Store a match of a trial that was played; the last one brings the result."""
    played = (*now.played, match)
    progress = json.dumps([attrs.asdict(one) for one in played])
    with ledger.writing() as db:
        if len(played) < now.deals * _schedule(config, now.deals).matches_a_deal:
            db.execute(
                "UPDATE job SET state = ?, claims = 0, progress = ? WHERE id = ?",
                (TRIAL.waiting, progress, now.id),
            )
        else:
            result = json.dumps(comparison(config, now.deals, played))
            close(db, TRIAL, now.id, "played", progress=progress, result=result)


def comparison(config: LeagueConfig, deals: int, played: Sequence[TrialMatch]) -> dict[str, Any]:
    """The comparison after all whole deals that were played: what `compare --json` says, faults, and a sentence.

    `difference` is the share of points of the new version less that of the old one, on the same seats of the same
    deals; `error` is half its 95 % interval, None where too few deals tell.
    """
    schedule = _schedule(config, deals)
    state = StrengthTest.of(schedule.season)
    for _, group in groupby(played, key=lambda match: match.deal):
        both = [((match.seats, match.ranks, match.scores, match.rival), match.faults) for match in group]
        if len(both) == schedule.matches_a_deal:
            state.add(Deal.of(*zip(*both, strict=True)))
    difference, error = state.difference, state.difference_half
    faults = [
        sum(
            bool(kinds)
            for match in played
            for bot, kinds in zip(match.seats, match.faults, strict=True)
            if bot == own
        )
        for own in (0, 1)
    ]
    return {
        **({} if not state.counts.deals else state.to_json()),
        "difference": round(difference, 6),
        "error": None if error is None else round(error, 6),
        "faults": {"new": faults[0], "old": faults[1]},
        "words": _sentence(state, difference, error, faults),
    }


def _sentence(state: StrengthTest, difference: float, error: float | None, faults: list[int]) -> str:
    """Whether it helped, in a sentence or two."""
    size = f"on {counted(state.counts.deals, 'deal')} ({counted(state.matches, 'match')})"
    points = f"{100 * abs(difference):.1f}" + ("" if error is None else f" ± {100 * error:.1f}")
    if state.judged > 0:
        verdict = "It helped"
    elif state.judged < 0:
        verdict = "It made the bot weaker"
    else:
        verdict = "It is open whether it helped"
    way = "fewer" if difference < 0 else "more"
    text = f"{verdict}: the new version got {points} of 100 points {way} than the old one {size}."
    if sum(faults):
        text += f" Matches with a fault: {faults[0]} of the new version, {faults[1]} of the old one."
    return text


def _schedule(config: LeagueConfig, deals: int) -> StrengthFormat:
    """The schedule of a trial in a league; its statistics are those of `warpleague compare --fixed`."""
    bots = 2 if config.game.players <= 2 else config.game.players + 1
    form = FormatTable(kind="test", fixed=1)
    seats = tuple(SeatSpec(bot=str(bot), digest=str(bot)) for bot in range(bots))
    test = StrengthFormat(Season.of(attrs.evolve(config, format=form), seats, b""))
    fixed = attrs.evolve(form, fixed=deals * test.matches_a_deal)
    return StrengthFormat(attrs.evolve(test.season, format=fixed))


def _lineup(ledger: Ledger, config: LeagueConfig, author: str, new: int, old: int | None) -> dict[str, Any]:
    """The old version, and the field at a larger table. Raises `BadInput` if there is nothing to compare with."""
    mine = {one.id: one for one in versions_in(ledger, config.name, author)}
    for number in (new, old):
        if number is not None and number not in mine:
            raise BadInput(f"{number}: you have no accepted version of this number in {config.name}")
    bot = mine[new].bot
    active = versions_in(ledger, config.name, active=True)
    if old is None:
        old = next((one.id for one in mine.values() if one.active and one.bot.lower() == bot.lower()), None)
    if old is None:
        raise BadInput(f"no version of {bot} plays in {config.name}: there is nothing to compare with")
    if mine[old].digest == mine[new].digest:
        raise BadInput(f"versions {new} and {old} have the same content")
    others = [
        *(ChallengeSeat(bot=name_of(config, entry), submission=None) for entry in config.entries),
        *(_seat(one) for one in active if one.id != old and one.bot.lower() != bot.lower()),
    ]
    wanted = config.game.players - 1 if config.game.players > 2 else 0
    if wanted and not others:
        raise BadInput(f"no other bot plays in {config.name}, beside which the versions could sit")
    secrets.SystemRandom().shuffle(others)
    field = [others[place % len(others)] for place in range(wanted)]
    return {"old": old, "field": [attrs.asdict(seat) for seat in field]}


def _trial(row: dict[str, Any], cls: type[T]) -> T:
    return msgspec.convert({**row, "matches": len(row["played"])}, cls)
