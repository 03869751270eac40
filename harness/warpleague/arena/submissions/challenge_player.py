"""The process that plays challenges and trials, match by match, at a lower priority than the matches of leagues.

It may be killed at any moment: an interrupted match is played again.
"""

from __future__ import annotations

import os
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.process.log import log, log_error
from warpleague.arena.submissions import challenges, trials, versions
from warpleague.arena.submissions.limits import limits_of
from warpleague.arena.submissions.unpacked import source_folder
from warpleague.errors import BadInput, HarnessFault
from warpleague.league.season.config import BotEntry, LeagueConfig
from warpleague.league.season.entry import folder_of, name_of, seat_in
from warpleague.league.store.database import take_lock
from warpleague.match.chance import match_key
from warpleague.match.zstd import ZstdCompressor
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.checkup import one_core
from warpleague.runner.host import be_nice
from warpleague.runner.play import play_within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpleague.arena.submissions.challenges import Challenge, ChallengeSeat
    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.trials import Trial
    from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec

    Play = Callable[[MatchSpec, float, bool], MatchResult | None]

NICE: Final = 15
"""Added to the niceness of this process, and so of the bots that it starts."""
_POLL_S: Final = 0.5
_PACKED: Final = 3
_MAX_LOG: Final = 1 << 20
"""The most characters stored of each kind of log."""


def run_challenges(
    ledger: Ledger,
    leagues: Mapping[str, LeagueConfig],
    stop: Callable[[float], bool],
    *,
    once: bool = False,
    play: Play = play_within,
) -> None:
    """Play challenges and trials in these leagues (by name) until `stop(seconds)`, which waits, returns true.

    A match of a trial follows each challenge, so that neither waits for all of the other. With `once` it returns when
    none waits. Raises `StoreError` if another process does this here.
    """
    lock = take_lock(ledger.path.with_name("arena.challenges.lock"))
    try:
        challenges.recover(ledger)
        trials.recover(ledger)
        while not stop(0.0):
            challenge = challenges.claim(ledger)
            if challenge is not None:
                _play(ledger, leagues.get(challenge.league), challenge, play)
            trial = trials.claim(ledger)
            if trial is not None:
                _play_trial(ledger, leagues.get(trial.league), trial, play)
            elif challenge is None and (once or stop(_POLL_S)):
                break
    finally:
        os.close(lock)


def lower_priority() -> None:
    """Let the matches of leagues come first: lower the CPU priority of this process and of all that it starts."""
    be_nice(NICE)


def _play(ledger: Ledger, config: LeagueConfig | None, challenge: Challenge, play: Play) -> None:
    """Play a challenge and store how it ended; a failure of this machine ends it, too, and does not count."""
    if config is None:
        challenges.settle(ledger, challenge.id, why=f"there is no longer a league {challenge.league} here")
        return
    try:
        seats = [_seat(ledger, config, seat) for seat in challenge.seats]
        order = list(range(len(seats)))
        secrets.SystemRandom().shuffle(order)
        limit_s = limits_of(ledger).challenge_s
        spec = _spec(config, tuple(seats[place] for place in order), f"challenge {secrets.token_hex(16)}")
        with one_core(config.run.affinity == "core"):
            result = play(spec, float(limit_s), True)
        if result is None:
            challenges.settle(ledger, challenge.id, why=f"it was not over within {limit_s} s")
            return
    except (BadInput, HarnessFault, OSError) as error:
        log_error("match on demand failed", error, number=challenge.id)
        challenges.settle(ledger, challenge.id, why=_reason(ledger, error))
        return
    own = order.index(0)
    challenges.settle(
        ledger,
        challenge.id,
        result=_result(result, order),
        record=ZstdCompressor(level=_PACKED).compress(result.record, ZstdCompressor.FLUSH_FRAME),
        log={"stderr": result.logs[own].stderr[:_MAX_LOG], "wire": result.logs[own].wire[:_MAX_LOG]},
    )
    log("match on demand", league=config.name, number=challenge.id, ranks=list(result.ranks))


def _play_trial(ledger: Ledger, config: LeagueConfig | None, trial: Trial, play: Play) -> None:
    """Play the next match of a trial; if that cannot be, the trial has failed."""
    if config is None:
        trials.fail(ledger, trial.id, f"there is no longer a league {trial.league} here")
        return
    try:
        trial = trials.line_up(ledger, config, trial)
        deal, order = trials.next_match(config, trial)
        seats = tuple(_seat(ledger, config, trial.seats[bot]) for bot in order)
        limit_s = limits_of(ledger).challenge_s
        spec = _spec(config, seats, f"trial {trial.seed} {deal}", f"{len(trial.played)}")
        with one_core(config.run.affinity == "core"):
            result = play(spec, float(limit_s), True)
    except (BadInput, HarnessFault, OSError) as error:
        log_error("match of a trial failed", error, number=trial.id)
        trials.fail(ledger, trial.id, _reason(ledger, error))
        return
    if result is None:
        trials.fail(ledger, trial.id, f"match {len(trial.played) + 1} was not over within {limit_s} s")
        return
    faults = [[fault.kind for fault in seat] for seat in result.faults]
    line = [deal, list(order), list(result.ranks), list(result.scores), result.rival, faults]
    trials.add(ledger, config, trial, line)


def _reason(ledger: Ledger, error: Exception) -> str:
    """The text of an error without the folder of the results."""
    return str(error).replace(f"{ledger.results.resolve()}/", "").replace(f"{ledger.results}/", "")[:500]


def _seat(ledger: Ledger, config: LeagueConfig, seat: ChallengeSeat) -> SeatSpec:
    """The seat of a bot as the league has it, built if need be."""
    if seat.submission is not None:
        version = versions.submission(ledger, seat.submission)
        folder = source_folder(ledger, version)
        entry = BotEntry(path=str(folder.resolve()), name=seat.bot)
    else:
        entry = next(one for one in config.entries if name_of(config, one) == seat.bot)
        folder = folder_of(config, entry)
    bundle = prepare(folder, "sandbox", config.sandbox.paths, (ledger.results,), limits_of(ledger).build_s)
    return seat_in(config, entry, bundle, f"{config.path}: bots")


def _spec(config: LeagueConfig, seats: tuple[SeatSpec, ...], seed: str, which: str = "") -> MatchSpec:
    """The match, with dice that have nothing to do with those of the season; `which` tells those of one seed apart."""
    key = match_key(seed)
    return attrs.evolve(config.conditions, level="sandbox").match(
        id=blake2b(key + which.encode(), digest_size=10).hexdigest(),
        game=config.game.id,
        options=config.game.options,
        seats=seats,
        key=key,
        seed=seed,
        private=True,
    )


def _result(result: MatchResult, order: list[int]) -> dict[str, Any]:
    return {
        "match": result.id,
        "order": order,
        "ranks": list(result.ranks),
        "scores": list(result.scores),
        "rival": result.rival,
        "why": result.why,
        "faults": [[attrs.asdict(fault) for fault in seat] for seat in result.faults],
        "lines": result.lines,
    }
