"""Trials: a new version and the one that plays, side by side on equal deals. They rate nobody, and replace nothing.

The deals and seat orders are those of a test of strength (`warpleague compare`), and so are the statistics. A trial
has dice of its own, so that nobody learns those of the season. It is played match by match, beside matches on demand.
"""

from __future__ import annotations

import json
import secrets
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions import challenges, versions
from warpleague.arena.submissions.entering import check_league
from warpleague.arena.submissions.ledger import Ledger, next_waiting
from warpleague.arena.submissions.limits import limits_of
from warpleague.arena.submissions.trial_words import compares, outcome
from warpleague.arena.submissions.versions import NoSubmission, asked_in_a_day, over_quota
from warpleague.errors import BadInput
from warpleague.league.schedule.formats.strength_test import Deal, StrengthTest, Test, make
from warpleague.league.season.config import FormatTable, LeagueConfig
from warpleague.league.season.entry import name_of
from warpleague.league.season.fixture import utc_now
from warpleague.league.season.season import Season
from warpleague.match.spec import SeatSpec
from warpleague.text import counted

if TYPE_CHECKING:
    import sqlite3

    from warpleague.arena.submissions.accounts import Author
    from warpleague.arena.submissions.challenges import ChallengeSeat

DEALS: Final = 20
"""The deals of a trial, if its author does not say how many."""
_MAX_CLAIMS: Final = 3
_MAX_NUMBER: Final = 1 << 62
_COLUMNS: Final = (
    "trial.id, author.name, league, new, old, field, deals, seed, state, asked, ended, why, played, result"
)
_FROM: Final = "FROM trial JOIN author ON author.id = trial.author"


class NoTrial(NoSubmission):
    """An author has no trial with a number."""

    shown = "You have no such trial."


@attrs.frozen
class Trial:
    """A trial: who asked for it, the versions that it compares by their numbers, and how far it is.

    `field` are the other bots at a larger table. `state` is "checking" (the new version is being checked), "waiting",
    "playing", "played", or "failed", which `why` explains. `played` has a line for each match that was played: its
    deal, the bots of its seats (0 the new one, 1 the old one, then the field), ranks, scores, the score of the game's
    own opponent, and the kinds of faults by seat. `result` is the comparison, once all is played.
    """

    id: int
    author: str
    league: str
    new: int
    old: int | None
    field: tuple[ChallengeSeat, ...]
    deals: int
    seed: str
    state: str
    asked: str
    ended: str | None
    why: str | None
    played: tuple[list[Any], ...]
    result: dict[str, Any] | None

    @property
    def compares(self) -> str:
        """Which versions it compares, and on how many deals, in words."""
        return compares(self.new, self.old, self.deals)

    @property
    def outcome(self) -> str:
        """Its result so far, in a sentence."""
        return outcome(self.state, len(self.played), self.why, self.result)

    @property
    def seats(self) -> tuple[ChallengeSeat, ...]:
        """The bots: the new version, the old one, the field. Players do not learn which version they meet."""
        assert self.old is not None
        own = [challenges.ChallengeSeat("trial", number) for number in (self.new, self.old)]
        return (*own, *self.field)


def plan(config: LeagueConfig, deals: int) -> Test:
    """The schedule of a trial in a league; its statistics are those of `warpleague compare --fixed`."""
    bots = 2 if config.game.players <= 2 else config.game.players + 1
    form = FormatTable(kind="test", fixed=1)
    seats = tuple(SeatSpec(bot=str(bot), digest=str(bot)) for bot in range(bots))
    test = make(Season.of(attrs.evolve(config, format=form), seats, b""))
    fixed = attrs.evolve(form, fixed=deals * test.matches_a_deal)
    return make(attrs.evolve(test.season, format=fixed))


def begin(ledger: Ledger, db: sqlite3.Connection, author: Author, submission: int, deals: int) -> int:
    """Enter a trial of a version that is still to be checked; within the transaction that receives it."""
    _check_quota(ledger, author)
    league = db.execute("SELECT league FROM submission WHERE id = ?", (submission,)).fetchone()[0]
    return _enter(ledger, db, author, league, submission, deals, "checking")


def ask(
    ledger: Ledger, config: LeagueConfig, author: Author, new: int, old: int | None = None, deals: int = DEALS
) -> Trial:
    """Ask for a trial of two accepted versions of a bot; without `old`, against the version that plays.

    Durable when this returns. Raises `BadInput` for versions that there are not, and `OverQuota`.
    """
    check_league(config)
    check_size(ledger, config, deals)
    lineup = _lineup(ledger, config, author.name, new, old)
    with ledger.writing() as db:
        _check_quota(ledger, author)
        number = _enter(ledger, db, author, config.name, new, deals, "waiting")
        _set_lineup(db, number, *lineup)
    return trial(ledger, author, number)


def check_size(ledger: Ledger, config: LeagueConfig, deals: int) -> None:
    """Raise `BadInput` for a trial of too many matches."""
    most, each = limits_of(ledger).trial_size, plan(config, 1).matches_a_deal
    if not 1 <= deals <= most // each:
        raise BadInput(
            f"deals: must be from 1 to {most // each}, not {deals}: a deal takes {counted(each, 'match')} here, and a "
            f"trial has {most} at most"
        )


def trial(ledger: Ledger, author: Author, number: int) -> Trial:
    """The trial of an author with this number. Raises `NoTrial` if there is none."""
    rows = (
        ledger.rows(f"SELECT {_COLUMNS} {_FROM} WHERE trial.id = ? AND author = ?", number, author.id)
        if 0 < number < _MAX_NUMBER
        else []
    )
    if not rows:
        raise NoTrial(f"you have no trial {number}")
    return _trial(rows[0])


def trials(ledger: Ledger, author: Author, most: int = 50) -> list[Trial]:
    """The last trials of an author, the newest first."""
    query = f"SELECT {_COLUMNS} {_FROM} WHERE author = ? ORDER BY trial.id DESC LIMIT ?"
    return [_trial(row) for row in ledger.rows(query, author.id, most)]


def of_submission(ledger: Ledger, submission: int) -> int | None:
    """The number of the last trial of a version, or None."""
    rows = ledger.rows("SELECT max(id) FROM trial WHERE new = ?", submission)
    return None if rows[0][0] is None else int(rows[0][0])


def asked_today(ledger: Ledger, author: Author) -> int:
    """How many trials of an author within 24 hours count towards the limit."""
    return asked_in_a_day(ledger, "trial", author)[0]


# ---------------------------------------------------------------------- the steps of the process that plays them


def recover(ledger: Ledger) -> None:
    """Take up the trial of a killed process; one that ended the process too often has failed."""
    with ledger.writing() as db:
        db.execute(
            "UPDATE trial SET state = 'waiting' WHERE state = 'playing' AND claims < ?", (_MAX_CLAIMS,)
        )
        why = f"a match ended the process that played it {_MAX_CLAIMS} times"
        _fail(db, "state = ?", "playing", why)


def claim(ledger: Ledger) -> Trial | None:
    """The trial whose match is next, or None if none waits."""
    if not ledger.rows("SELECT 1 FROM trial WHERE state = 'waiting' LIMIT 1"):
        return None
    with ledger.writing() as db:
        row = next_waiting(db, "trial", "waiting", "asked_s", ledger.now_s())
        if row is None:
            return None
        db.execute("UPDATE trial SET state = 'playing', claims = claims + 1 WHERE id = ?", row)
        return _trial(db.execute(f"SELECT {_COLUMNS} {_FROM} WHERE trial.id = ?", row).fetchone())


def line_up(ledger: Ledger, config: LeagueConfig, now: Trial) -> Trial:
    """The trial with its old version and its field, which are chosen when it begins.

    Raises `BadInput` if there are none.
    """
    if now.old is not None:
        return now
    old, field = _lineup(ledger, config, now.author, now.new, None)
    with ledger.writing() as db:
        _set_lineup(db, now.id, old, field)
    return attrs.evolve(now, old=old, field=tuple(field))


def next_match(config: LeagueConfig, now: Trial) -> tuple[int, tuple[int, ...]]:
    """The deal of the next match, and which bot of `Trial.seats` has each seat."""
    test = plan(config, now.deals)
    deal, place = divmod(len(now.played), test.matches_a_deal)
    return deal, test.group(deal).seats[place]


def add(ledger: Ledger, config: LeagueConfig, now: Trial, line: list[Any]) -> None:
    """Store a match that was played; the last one brings the result."""
    played = (*now.played, line)
    done = len(played) >= now.deals * plan(config, now.deals).matches_a_deal
    with ledger.writing() as db:
        db.execute(
            "UPDATE trial SET state = ?, claims = 0, ended = ?, played = ?, result = ? WHERE id = ?",
            (
                "played" if done else "waiting",
                utc_now() if done else None,
                json.dumps(played),
                json.dumps(compared(config, attrs.evolve(now, played=played))) if done else None,
                now.id,
            ),
        )


def fail(ledger: Ledger, number: int, why: str) -> None:
    """End a trial that cannot be played."""
    with ledger.writing() as db:
        _fail(db, "id = ?", number, why)


def compared(config: LeagueConfig, now: Trial) -> dict[str, Any]:
    """The comparison after all whole deals that were played: what `compare --json` says, faults, and a sentence.

    `difference` is the share of points of the new version less that of the old one, on the same seats of the same
    deals; `error` is half its 95 % interval, None where too few deals tell.
    """
    test = plan(config, now.deals)
    state = StrengthTest.of(test.season)
    for _, lines in groupby(now.played, key=itemgetter(0)):
        matches = [(seats, ranks, scores, rival) for _, seats, ranks, scores, rival, _ in lines]
        if len(matches) == test.matches_a_deal:
            state.add(Deal.of(matches))
    # In a duel the share of one is a half plus half the difference.
    part = 1.0 if state.beside else 2.0
    difference = part * (state.counts.mean - 0.5) if state.counts.deals else 0.0
    error = None if state.half is None else part * state.half
    faults = [
        sum(
            bool(kinds)
            for line in now.played
            for bot, kinds in zip(line[1], line[5], strict=True)
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


# ---------------------------------------------------------------------- rows


def _check_quota(ledger: Ledger, author: Author) -> None:
    most = limits_of(ledger).trials
    count, first_s = asked_in_a_day(ledger, "trial", author)
    if count >= most:
        raise over_quota(ledger, counted(most, "trial"), first_s, "asked for")


def _enter(
    ledger: Ledger, db: sqlite3.Connection, author: Author, league: str, new: int, deals: int, state: str
) -> int:
    row = db.execute(
        "INSERT INTO trial (author, league, new, deals, seed, state, asked, asked_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (author.id, league, new, deals, secrets.token_hex(16), state, utc_now(), ledger.now_s()),
    )
    number = int(row.lastrowid or 0)
    ledger.note(author.name, "trial", number=number, league=league, submission=new, member=author.member)
    return number


def _lineup(
    ledger: Ledger, config: LeagueConfig, author: str, new: int, old: int | None
) -> tuple[int, list[ChallengeSeat]]:
    """The old version, and the field at a larger table. Raises `BadInput` if there is nothing to compare with."""
    mine = {
        one.id: one
        for one in versions.submissions(ledger, author, most=100_000)
        if one.league == config.name and one.state == "accepted" and one.bot is not None
    }
    for number in (new, old):
        if number is not None and number not in mine:
            raise BadInput(f"{number}: you have no accepted version of this number in {config.name}")
    bot = str(mine[new].bot)
    if old is None:
        old = next(
            (one.id for one in mine.values() if one.active and str(one.bot).lower() == bot.lower()), None
        )
    if old is None:
        raise BadInput(f"no version of {bot} plays in {config.name}: there is nothing to compare with")
    if mine[old].digest == mine[new].digest:
        raise BadInput(f"versions {new} and {old} have the same content")
    others = [
        *(challenges.ChallengeSeat(name_of(config, entry), None) for entry in config.entries),
        *(
            challenges.ChallengeSeat(str(one.bot), one.id)
            for one in versions.active(ledger, config.name)
            if one.id not in (new, old) and str(one.bot).lower() != bot.lower()
        ),
    ]
    wanted = config.game.players - 1 if config.game.players > 2 else 0
    if wanted and not others:
        raise BadInput(f"no other bot plays in {config.name}, beside which the versions could sit")
    secrets.SystemRandom().shuffle(others)
    return old, [others[place % len(others)] for place in range(wanted)]


def _set_lineup(db: sqlite3.Connection, number: int, old: int, field: list[ChallengeSeat]) -> None:
    seats = json.dumps([attrs.astuple(seat) for seat in field])
    db.execute("UPDATE trial SET old = ?, field = ? WHERE id = ?", (old, seats, number))


def _fail(db: sqlite3.Connection, where: str, value: object, why: str) -> None:
    db.execute(
        f"UPDATE trial SET state = 'failed', ended = ?, why = ? WHERE {where}", (utc_now(), why[:500], value)
    )


def _trial(row: tuple[Any, ...]) -> Trial:
    number, author, league, new, old, field, deals, seed, state, asked, ended, why, played, result = row
    return Trial(
        number,
        author,
        league,
        new,
        old,
        tuple(challenges.ChallengeSeat(*seat) for seat in json.loads(field)),
        deals,
        seed,
        state,
        asked,
        ended,
        why,
        tuple(json.loads(played)),
        None if result is None else json.loads(result),
    )
