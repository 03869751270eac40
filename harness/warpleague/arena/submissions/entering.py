"""How versions and an organiser's decisions reach a league: the scheduler reads them between two runs of it.

The league that is played is the league of the file, with the active versions added after the file's own bots. The file
itself is not changed. A match's id covers the names and contents of its bots, so matches among bots that stay count.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import datetime
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions.jobs import SUBMISSION
from warpleague.arena.submissions.ledger import FILE, SANDBOX, Ledger, filled
from warpleague.arena.submissions.upload import source_folder
from warpleague.arena.submissions.versions import versions_in
from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.play import organising
from warpleague.league.schedule.schedule import Schedule
from warpleague.league.season import utc_now
from warpleague.league.season.config import BotEntry, LeagueConfig, check_config
from warpleague.league.season.entry import name_of
from warpleague.league.season.season import Entry, Season
from warpleague.league.store.disqualifications import check_disqualify, check_reinstate, disqualified
from warpleague.league.store.store import Store
from warpleague.match.spec import SeatSpec
from warpleague.runner.host import usable_cores
from warpleague.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.arena.submissions.jobs import Submission

GROWING: Final = ("ladder", "round-robin", "gauntlet")
"""Formats in which a bot may come at any time; in others all bots begin together."""

MAX_GATHERING_S: Final = 60.0
"""New bots wait no longer than this before they enter a league that is being played."""

_STATES: Final = ("paused", "closed")
_LOOKED_AT: Final = 1000
_ID_LETTERS: Final = 6
_SURE: Final = 10
"""An extension to more than so many times of today is asked about."""
_PACE: Final = 20
"""How many matches show how long one takes."""
_DECISIONS: Final = {
    "disqualify": "disqualify {bot} ({reason})",
    "reinstate": "let {bot} play again ({reason})",
    "replay": "declare match {match} void ({reason})",
}


@attrs.frozen
class Decision:
    """A request of an organiser; `done` is the time at which the scheduler did it (ISO), `answer` the result."""

    id: int
    league: str
    what: str
    details: dict[str, Any]
    who: str
    asked: str
    done: str | None
    answer: str | None


def decision_words(decision: Decision) -> str:
    """A decision of an organiser about a league, as words that follow "asked to"."""
    return filled(_DECISIONS[decision.what], decision.details)


def check_league(config: LeagueConfig) -> None:
    """Raise `ConfigError` if a league cannot take bots of strangers."""
    if config.rules.level != "sandbox":
        raise ConfigError(
            f'{config.path}: rules.level: is "{config.rules.level}"; a league that takes submissions needs "sandbox"'
        )


def sandbox_refusal(ledger: Ledger) -> str | None:
    """Why this machine can take no submission, or None if it can or the checker has not tested it yet."""
    answer = ledger.setting(SANDBOX)
    if answer in (None, "holds"):
        return None
    return f"no submissions are taken, since the sandbox does not hold on this machine: {answer}"


def closed_to_bots(ledger: Ledger, config: LeagueConfig) -> str | None:
    """Why a league takes no new bots or versions now, or None if it does."""
    if config.rules.level != "sandbox":
        return f"{config.name} takes no submissions: its bots are not confined in the sandbox"
    if closed_by_time(config):
        why: str | None = f"the time for them ended at {config.arena.close_at}"
    elif is_closed(ledger, config):
        why = "the organiser has closed it"
    else:
        why = entries_closed(ledger, config)
    return None if why is None else f"{config.name} takes no more submissions: {why}"


def entries_closed(ledger: Ledger, config: LeagueConfig) -> str | None:
    """Why entries are closed, so that no bot can come or leave, or None while they are open."""
    store = _store_of(ledger, config.name)
    if store is None:
        return None
    with store:
        if store.published() is not None:
            return "the season is over, and its secret is public"
        if config.season.beacon is not None and store.meta("beacon") is not None:
            return "the value of its beacon is known"
        if config.format.kind not in GROWING and store.count():
            return f"it is a {config.format.kind}, and its matches have begun"
    return None


def _store_of(ledger: Ledger, league: str) -> Store | None:
    """The store of a league, to read; None if nothing was played yet."""
    folder = ledger.results / league
    return Store.open_to_read(folder) if (folder / "league.sqlite").is_file() else None


def _extended(ledger: Ledger, config: LeagueConfig) -> dict[str, Any]:
    """What the organiser extended: values of the league's format by their keys."""
    more: dict[str, Any] = json.loads(ledger.setting(f"extended {config.name}") or "{}")
    return more


def matches_added(ledger: Ledger, config: LeagueConfig) -> int | None:
    """How many matches one bot more makes in a league, before anybody submits it; None where results decide that.

    In a sampled league a few more or less, since chance decides which tables even out those that are there.
    """
    season = _season(ledger, config)
    one = attrs.evolve(season, bots=(*season.bots, SeatSpec(bot=" new", digest="")), history=season.entries)
    if len(one.bots) < one.players:
        return 0
    after = Schedule(one).fixed_total
    if after is None or len(season.bots) < season.players:
        return after
    return after - (Schedule(season).fixed_total or 0)


def _season(ledger: Ledger, config: LeagueConfig) -> Season:
    """The season as it will be played next: with the bots that come, and extended as the organiser decided."""
    bots, history = tuple[SeatSpec, ...](), tuple[Entry, ...]()
    if (store := _store_of(ledger, config.name)) is not None:
        with store:
            bots, history = store.bots() or (), store.history()
    known = {bot.bot for bot in bots}
    active = [version.bot for version in versions_in(ledger, config.name, active=True)]
    coming = [bot for bot in active if bot not in known]
    # Bots of the file that have not been entered yet have no names before they are read.
    coming += [f" {number}" for number in range(len(config.entries) if not bots else 0)]
    season = Season.of(config, (*bots, *(SeatSpec(bot=name, digest=name) for name in coming)), b"")
    extended = attrs.evolve(season.format, **_extended(ledger, config))
    return attrs.evolve(season, history=history, format=extended)


def first_match(ledger: Ledger, config: LeagueConfig, version: Submission) -> tuple[int, str | None]:
    """How many of the last 1,000 matches of its bot an active version played; if none, in words when the first comes.

    Waits for the disk.
    """
    played, lasts = 0, [0.0]
    if version.bot is not None and (store := _store_of(ledger, config.name)) is not None:
        with store:
            for _, seats in store.matches_of(version.bot, _LOOKED_AT):
                played += any(bot == version.bot and of.startswith(str(version.digest)) for bot, of in seats)
            lasts += [match.match.elapsed_s for match in store.last_played(_PACE)]
    if played:
        return played, None
    if is_paused(ledger, config.name):
        return 0, "when the organiser lets the matches of the league begin again"
    if config.format.kind not in GROWING:
        return 0, "when the organiser lets the league begin"
    most_s = MAX_GATHERING_S + max(lasts)
    return 0, f"within about {most_s:.0f} s, when the bots that came meanwhile enter the league"


def waits_for_bots(config: LeagueConfig) -> str:
    """A sentence if a league, as `entered`, has too few bots for a match; else an empty text. Waits for the disk."""
    missing = config.game.players - len(config.entries)
    if missing <= 0:
        return ""
    names = [name_of(config, entry) for entry in config.entries]
    there = f"{'is' if len(names) == 1 else 'are'} only {', '.join(names)}" if names else "is none yet"
    return f"It waits for {counted(missing, 'more bot')}: a match needs {config.game.players}, and there {there}."


# -- the league that is played ---------------------------------------------------------------------------


def active_versions(ledger: Ledger, league: str) -> tuple[Any, ...]:
    """A value that changes whenever the active versions change."""
    return tuple(ledger.rows("SELECT id FROM job WHERE league = ? AND active = 1 ORDER BY id", league))


def league_settings(ledger: Ledger, league: str) -> tuple[Any, ...]:
    """A value that changes whenever an organiser wants the league played in another way: decisions, a pause."""
    asked = ledger.rows("SELECT id FROM decision WHERE league = ? AND done IS NULL ORDER BY id", league)
    words = [ledger.setting(f"{state} {league}") for state in _STATES]
    return (*asked, *words, ledger.setting(f"extended {league}"))


def entered(ledger: Ledger, config: LeagueConfig) -> LeagueConfig:
    """The league with the active versions, and extended as the organiser decided.

    A version that cannot take part after all is left out, and does not hinder the others.
    """
    entries = [
        *config.entries,
        *(
            BotEntry(path=str(source_folder(ledger, version).resolve()), name=version.bot)
            for version in versions_in(ledger, config.name, active=True)
        ),
    ]
    extended = attrs.evolve(config.format, **_extended(ledger, config))
    return attrs.evolve(config, bots=tuple(entries), missing="skip", format=extended)


def league_in_arena(config: LeagueConfig, results: Path) -> LeagueConfig | None:
    """The league as the arena in the folder `results` plays it; None if no arena there has such a league."""
    if not (results / FILE).is_file():
        return None
    with Ledger.open(results) as ledger:
        known = ledger.rows(
            "SELECT 1 FROM job WHERE league = ?1 UNION ALL SELECT 1 FROM decision WHERE league = ?1 "
            "UNION ALL SELECT 1 FROM setting WHERE key IN (?2, ?3, ?4) LIMIT 1",
            config.name,
            *(f"{word} {config.name}" for word in (*_STATES, "extended")),
        )
        return entered(ledger, config) if known else None


def is_paused(ledger: Ledger, league: str) -> bool:
    """Whether no match of the league is to begin now."""
    return ledger.setting(f"paused {league}") is not None


def is_closed(ledger: Ledger, config: LeagueConfig) -> bool:
    """Whether submissions have ended, by the organiser or by the time `close_at` of the league."""
    return closed_by_time(config) or ledger.setting(f"closed {config.name}") is not None


def closed_by_time(config: LeagueConfig) -> bool:
    """Whether the time `close_at` has come."""
    at = config.arena.close_at
    return at is not None and datetime.fromisoformat(at).timestamp() <= time.time()


def may_end(ledger: Ledger, config: LeagueConfig) -> bool:
    """Whether the season ends when its matches are played: no bot can come any more.

    Many send one at the last minute, so what was received in time is checked first.
    """
    if not is_closed(ledger, config):
        return False
    query = "SELECT 1 FROM job WHERE league = ? AND kind = ? AND state IN (?, ?) LIMIT 1"
    return not ledger.rows(query, config.name, SUBMISSION.name, SUBMISSION.waiting, SUBMISSION.running)


# -- decisions of organisers -----------------------------------------------------------------------------


def pause(ledger: Ledger, league: str, who: str, *, on: bool) -> bool:
    """Let no more matches of a league begin, or let them begin again; false if that is so already."""
    if is_paused(ledger, league) == on:
        return False
    ledger.set(f"paused {league}", utc_now() if on else None, who)
    return True


def close(ledger: Ledger, league: str, who: str) -> bool:
    """Take no more submissions, and let the season end when its matches are played; false if that is so already."""
    if ledger.setting(f"closed {league}") is not None:
        return False
    ledger.set(f"closed {league}", utc_now(), who)
    return True


@attrs.frozen
class Extension:
    """What an extension means: `key`, "deals" or "max_matches", and the matches in all, each before and after.

    The matches are None before all bots are there. `days` is how long the further ones take at the pace of the last
    ones on `jobs` processes; None where nobody can know yet.
    """

    key: str
    old: int
    new: int
    matches_before: int | None
    matches_after: int | None
    days: float | None

    def words(self) -> str:
        """The same as a sentence without its end."""
        unit = ("deal of each table", "deals of each table") if self.key == "deals" else ("match", "matches")
        text = f"{counted(self.new, *unit)} in all, not {self.old:,}"
        if self.key == "deals" and self.matches_after is not None:
            text += f": {counted(self.matches_after, 'match')}, not {self.matches_before or 0:,}"
        return text + ("" if self.days is None else f"; the further ones take about {_long(self.days)}")


def _long(days: float) -> str:
    hours = 24 * days
    if hours < 1:
        return f"{max(round(60 * hours), 1)} min"
    return f"{hours:.0f} h" if hours < 48 else f"{days:,.0f} days"


def extend(
    ledger: Ledger, config: LeagueConfig, who: str, key: str, value: int, *, sure: bool = False
) -> Extension:
    """Play `value` deals of each table (`key` "deals"), or so many matches of a ladder ("max_matches"), in all.

    More than now, or less down to what has been dealt. Raises `BadInput` if that cannot be, or for more than ten times
    as much as now unless the organiser is `sure`.
    """
    if (why := entries_closed(ledger, config)) is not None:
        raise BadInput(f"{config.name}: cannot be extended: {why}")
    if key == "max_matches" and config.format.kind != "ladder":
        raise BadInput(f"{config.name}: is not a ladder: extend it with more deals")
    if key == "deals" and config.format.kind not in ("round-robin", "gauntlet"):
        raise BadInput(f"{config.name}: a {config.format.kind} cannot be extended by deals")
    more = _extended(ledger, config)
    old = more.get(key, getattr(config.format, key))
    if old is None:
        raise BadInput(f"{config.name}: {key} is without end; there is nothing to extend")
    more[key] = value
    try:
        extended = attrs.evolve(config, format=attrs.evolve(config.format, **more))
    except ValueError as error:
        raise BadInput(f"{config.name}: {error}") from None
    check_config(extended, str(config.path))
    extension = _extension(ledger, config, key, old, value)
    if value > _SURE * old and not sure:
        raise BadInput(f"{config.name}: {extension.words()}; if you mean it, say so with --yes")
    ledger.set(f"extended {config.name}", json.dumps(more), who)
    return extension


def _extension(ledger: Ledger, config: LeagueConfig, key: str, old: int, new: int) -> Extension:
    """What it means to change `key`; `BadInput` if more than that was dealt already."""
    changed: dict[str, Any] = {key: new}
    season = _season(ledger, config)
    before = Schedule(season).fixed_total if len(season.bots) >= season.players else None
    after = (
        None
        if before is None
        else Schedule(attrs.evolve(season, format=attrs.evolve(season.format, **changed))).fixed_total
    )
    pace_s, last = 0.0, 0
    if (store := _store_of(ledger, config.name)) is not None:
        with store:
            pace_s = fmean([match.match.elapsed_s for match in store.last_played(_PACE)] or [0.0])
            # One deal of all tables comes after the other: the schedule with fewer deals is the beginning of this one.
            last = max((number for number, _ in store.places_in_schedule().values()), default=store.count())
    dealt = -(-last * old // before) if key == "deals" and before else last
    if new == old or new < dealt:
        raise BadInput(
            f"{config.name}: {key} is {old}, of which {dealt} have begun; give another number, {dealt} or more, "
            f"not {new}"
        )
    further = (after or 0) - (before or 0) if key == "deals" else new - old
    jobs = config.run.jobs or len(usable_cores())
    return Extension(
        key, old, new, before, after, max(further, 0) * pace_s / jobs / 86_400 if pace_s else None
    )


def ask(ledger: Ledger, config: LeagueConfig, what: str, who: str, **details: Any) -> Decision:
    """Ask the scheduler to do something that only it can do, since it has the league's store open.

    `what` is "disqualify" (with `bot`, `reason`, `results`), "reinstate" (`bot`, `reason`) or "replay" (`match`,
    `reason`). Raises `BadInput` for what could not be done: whoever asks is told at once, not by the journal.
    """
    league = config.name
    open_ones = decisions(ledger, league, "done IS NULL")
    store = _store_of(ledger, league)
    if store is None:
        raise BadInput(f"nothing has been played yet in {league}")
    with store:
        match what:
            case "disqualify":
                check_disqualify(store, details["bot"], details["reason"])
            case "reinstate":
                coming = [asked.details["bot"] for asked in open_ones if asked.what == "disqualify"]
                check_reinstate(store, details["bot"], details["reason"], coming)
            case _:
                details["match"] = _stored_id(store, league, details["match"])
    with ledger.writing() as db:
        row = db.execute(
            "INSERT INTO decision (league, what, details, who, asked) VALUES (?, ?, ?, ?, ?)",
            (league, what, json.dumps(details), who, utc_now()),
        )
        ledger.note(who, what, league=league, **details)
    return decisions(ledger, league, f"id = {int(row.lastrowid or 0)}")[0]


def _stored_id(store: Store, league: str, begin: str) -> str:
    """The id of the one stored match whose id begins so; `BadInput` if there is none, or more than one."""
    matches = store.matching(begin)
    if len(begin) < _ID_LETTERS or len(matches) > 1:
        raise BadInput(
            f"{begin}: the first letters of a match's id, enough to know it, are needed (at least {_ID_LETTERS})"
        )
    if not matches:
        raise BadInput(f"{begin}: no match of {league} that was played has an id that begins so")
    return str(matches[0])


def decisions(ledger: Ledger, league: str, where: str = "1") -> list[Decision]:
    """The requests to the scheduler, the newest first."""
    rows = ledger.rows(
        f"SELECT id, league, what, details, who, asked, done, answer FROM decision WHERE league = ? AND {where} "
        "ORDER BY id DESC",
        league,
    )
    return [
        Decision(number, league, what, json.loads(details), who, asked, done, answer)
        for number, league, what, details, who, asked, done, answer in rows
    ]


def decide(ledger: Ledger, config: LeagueConfig, results: Path) -> list[Decision]:
    """Carry out the open requests; the league must not be running. Returns each with its answer.

    A request is not carried out twice, even if a scheduler was killed before it could store the answer.
    """
    open_ones = decisions(ledger, config.name, "done IS NULL")[::-1]
    for decision in open_ones:
        try:
            answer = _done(decision, config, results)
        except BadInput as error:
            answer = f"refused: {error}"
        with ledger.writing() as db:
            db.execute(
                "UPDATE decision SET done = ?, answer = ? WHERE id = ?", (utc_now(), answer, decision.id)
            )
            ledger.note("scheduler", f"{decision.what} done", league=config.name, answer=answer)
    last = {decision.id: decision for decision in decisions(ledger, config.name)}
    return [last[decision.id] for decision in open_ones]


def _done(decision: Decision, config: LeagueConfig, results: Path) -> str:
    details = decision.details
    with suppress(StoreError), Store.open_to_read(results / config.name) as store:
        known = disqualified(store).get(details.get("bot", ""))
        match decision.what:
            case "disqualify" if known and (known.reason, known.results) == (
                details["reason"],
                details["results"],
            ):
                return "done"
            case "reinstate" if known is None and details["bot"] in [bot.bot for bot in store.bots() or ()]:
                return "done"
            case "replay":
                return _play_again(details["match"], details["reason"], config, results)
    match decision.what:
        case "disqualify":
            organising.disqualify(config, results, details["bot"], details["reason"], details["results"])
        case "reinstate":
            organising.reinstate(config, results, details["bot"], details["reason"])
        case _:
            raise BadInput(f"nothing has been played yet in {config.name}")
    return "done"


def _play_again(match_id: str, reason: str, config: LeagueConfig, results: Path) -> str:
    """Remove a stored match, so that it is played again."""
    with Store.open_to_write(results / config.name) as store:
        if match_id not in store:
            return (
                "nothing is void: the match is not stored any more; one of this league is still to be played"
            )
        with store.writing():
            store.remove(match_id, f"declared void by the organiser: {reason}")
    for page in (results / config.name / "pages").glob(f"*-{match_id}.*"):
        page.unlink(missing_ok=True)  # of the match that is void: its id will be that of another one
    return "done: it will be played again"
