"""Look after the store of a league: verify, mend, merge and copy it, and enter decisions about bots."""

from __future__ import annotations

import shlex
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.common import print_json, say
from warpleague.cli.league_common import ProgressLines, is_silent, league_command, open_league
from warpleague.errors import BadInput
from warpleague.league.play.entering import stage_problems
from warpleague.league.play.organising import disqualify, mend, merge, reinstate
from warpleague.league.play.verifying import (
    altered,
    mispaired,
    place_of,
    random_sample,
    scheduled,
    verify_league,
)
from warpleague.league.season.config import LeagueConfig, load_config
from warpleague.league.store.database import back_up
from warpleague.league.store.disqualifications import KINDS
from warpleague.league.store.journal import REMOVED, Head
from warpleague.league.store.store import LUCK, Store
from warpleague.report.wording.league_words import decision_lines, fault_lines, verdict
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.league.results.league import League
    from warpleague.league.schedule.formats.strength_test import StrengthTest
    from warpleague.league.season.fixture import Fixture

_BESIDE: Final = ("arena.db",)
"""Files beside the leagues that belong to a backup, if there are any: the submissions."""


def run_verify(args: Namespace) -> int:
    """Exit code 1: something does not hold, or the store does not go back to a head that was given."""
    if args.seed is not None and args.sample is None:
        raise BadInput("--seed: it chooses the matches of --sample N; give both, or none")
    heads = [Head.parse(text) for text in args.head]
    with open_league(args) as league:
        fixtures, sample = _sample(league, args)
        records, wrong = _verify_records(league, args, fixtures)
        good = records - len(wrong)
        known = {row["match"] for row in wrong}
        lines, entries = ProgressLines(silent=is_silent(args)), league.store.journal()

        def seen(entry: int) -> None:
            lines.tell("entries of the journal compared", entry, entries)

        for number, match, problem in (
            *altered(league, heads, numbers_too=fixtures is None, seen=seen),
            *mispaired(league),
            *stage_problems(league),
            *_wrong_lucks(league, args, fixtures),
        ):
            if match is None or match not in known:  # else its record was reported already
                wrong.append(_reported(args, number, match, problem))
        test = _recomputed(league)
        if args.json:
            print_json(
                {
                    "league": league.config.name,
                    **({} if test is None else {"test": test.to_json()}),
                    "records": records,
                    "wrong": wrong,
                    "journal": league.store.journal(),
                    "head": str(league.store.head()),
                    "sample": sample,
                }
            )
            return 1 if wrong else 0
        print(
            f"{good:,} of {counted(records, 'record')} {'holds' if good == 1 else 'hold'}: "
            "executed again, dice, results and tables compared."
        )
        if sample is not None:
            print(
                f"Only a sample was verified: {sample['matches']:,} of {counted(sample['of'], 'match')}, drawn at "
                f"random with --seed {shlex.quote(sample['seed'])}."
            )
        _print_journal(league, len(wrong) == records - good, heads)
        if test is not None:
            _print_test(league, test, sound=not wrong)
        if good < records:
            say(f"note: what does not hold can be removed: {league_command(args, 'mend')}")
    return 1 if wrong else 0


def _sample(league: League, args: Namespace) -> tuple[list[Fixture] | None, dict[str, Any] | None]:
    """The matches of `--sample` and what is told about them, or None for both."""
    if args.sample is None:
        return None, None
    seed = token_hex(4) if args.seed is None else args.seed
    fixtures, stored = random_sample(league, args.sample, seed)
    return fixtures, {"matches": len(fixtures), "of": stored, "seed": seed}


def _verify_records(
    league: League, args: Namespace, fixtures: list[Fixture] | None
) -> tuple[int, list[dict[str, Any]]]:
    """Execute the records again; how many there are, and what is wrong with some."""
    records = 0
    wrong: list[dict[str, Any]] = []
    lines = ProgressLines(silent=is_silent(args))
    total = league.store.count() if fixtures is None else len(fixtures)
    for fixture, problem in verify_league(league, args.jobs, **args.tools.pool, fixtures=fixtures):
        records += 1
        if problem is not None:
            wrong.append(_reported(args, fixture.number, fixture.id, problem))
        lines.tell("records verified", records, total)
    return records, wrong


def _wrong_lucks(
    league: League, args: Namespace, fixtures: list[Fixture] | None
) -> list[tuple[int | None, str | None, str]]:
    """What is wrong with the luck of matches that is kept, if any is; as `altered` tells it."""
    if not league.store.path.with_name(LUCK).exists():
        return []
    from warpleague.league.results.luck import wrong_lucks  # numpy, which other leagues do without

    ids = None if fixtures is None else [fixture.id for fixture in fixtures]
    wrong = wrong_lucks(league, args.jobs, **args.tools.pool, ids=ids)
    numbers = {one.id: one.number for one in scheduled(league, [match for match, _ in wrong if match])}
    return [(numbers.get(match or ""), match, problem) for match, problem in wrong]


def _reported(args: Namespace, number: int | None, match: str | None, problem: str) -> dict[str, Any]:
    """A problem as JSON; it is printed unless JSON is wanted."""
    if not args.json:
        print(f"WRONG  {place_of(number, match)}: {problem}")
    return {"number": number, "match": match, "problem": problem}


def _recomputed(league: League) -> StrengthTest | None:
    """The test of strength, computed from the results of the league, or None for other leagues."""
    if league.season.format.kind != "test":
        return None
    from warpleague.league.results.status import strength_test  # numpy, which other leagues do without

    return strength_test(league)


def _print_test(league: League, test: StrengthTest, *, sound: bool) -> None:
    from warpleague.league.results.faulted import bot_faults

    print(f"The test, computed again: {verdict(test, *league.season.names[:2])}")
    faulted = bot_faults(league) if sound else []
    print(*(f"{line}.\n" for line in fault_lines(faulted)), sep="", end="")


def _print_journal(league: League, whole: bool, heads: list[Any]) -> None:
    store = league.store
    out = store.events(REMOVED)
    for event in out:
        match, problem = event.details.get("match"), event.details.get("problem")
        print(f"note: match {match} was removed at {event.stored}: {problem}")
    if not whole:
        return
    matches, decisions = store.journal() - len(store.events()) - len(out), len(store.events(*KINDS))
    decided = f" and {counted(decisions, 'decision')}" if decisions else ""
    print(
        f"Nothing was deleted from the store: it has all {counted(matches, 'match')}{decided} of its journal."
    )
    if heads:
        print(
            "It goes back to "
            + ("the head that was" if len(heads) == 1 else "all heads that were")
            + " given."
        )


def run_mend(args: Namespace) -> int:
    """Remove results that are not genuine."""
    config = load_config(args.config, without_bots=True)
    out = mend(config, args.results, args.jobs, workers=args.workers, **args.tools.pool)
    if args.json:
        rows = [{"match": match, "problem": problem} for match, problem in out]
        print_json({"league": config.name, "removed": rows})
        return 0
    for match, problem in out:
        print(f"removed  match {match}: {problem}")
    if out:
        print(f"Entered into the journal. Play them again: {league_command(args, 'run')}")
    else:
        print("Nothing to remove: all matches hold.")
    return 0


def run_merge(args: Namespace) -> int:
    """Add the matches of other machines' stores."""
    config = load_config(args.config, without_bots=True)
    for store in args.stores:
        if store.suffix == ".toml":
            raise BadInput(
                f"{store}: is a TOML file; name a store: league.sqlite, or its folder, such as results/{store.stem}"
            )
    counts = merge(config, args.results, args.stores, trust=args.trust, **args.tools.pool)
    merged = list(zip(args.stores, counts, strict=True))
    if args.json:
        print_json(
            [
                {"store": str(path), "added": m.added, "shared": m.shared, "differing": list(m.differing)}
                for path, m in merged
            ]
        )
        return 0
    for path, m in merged:
        print(
            f"{path}: {counted(m.added, 'match')} taken over, "
            f"{m.shared:,} {'was' if m.shared == 1 else 'were'} here already"
        )
        if m.differing:
            print(
                f"  {len(m.differing):,} of those came out differently there; ours stay: {', '.join(m.differing[:5])}"
            )
    return 0


def run_backup(args: Namespace) -> int:
    """Copy first what the matches refer to, then the matches."""
    name = load_config(args.config, without_bots=True).name
    if args.out.resolve() == args.results.resolve():
        raise BadInput(f"--out {args.out}: is the folder of results itself; a backup goes elsewhere")
    copies = []
    with Store.open_to_read(args.results / name):
        pass  # reports the problem if there is no store
    for path in (*_BESIDE, f"{name}/league.sqlite"):
        if (args.results / path).is_file():
            back_up(args.results / path, args.out / path)
            copies.append(args.out / path)
    with Store.open_to_read(args.out / name) as store:
        output = {"league": name, "matches": store.count(), "head": str(store.head())}
        copied = counted(store.count(), "match")
    if args.json:
        print_json({**output, "copies": [str(path) for path in copies]})
        return 0
    print(f"{copied} copied: {', '.join(map(str, copies))}")
    print(f"Receipt: {output['head']}")
    return 0


def run_disqualify(args: Namespace) -> int:
    """Disqualify a bot."""
    config = load_config(args.config)
    decision = disqualify(config, args.results, args.bot, args.reason, args.its_results)
    return _print_decision(args, config, decision.to_json(), decision_lines([decision]))


def run_reinstate(args: Namespace) -> int:
    """Reinstate a bot."""
    config = load_config(args.config)
    reinstate(config, args.results, args.bot, args.reason)
    text = f"{args.bot} is no longer disqualified: {args.reason}"
    return _print_decision(args, config, {"bot": args.bot, "reason": args.reason}, [text])


def _print_decision(args: Namespace, config: LeagueConfig, data: dict[str, Any], lines: list[str]) -> int:
    with Store.open_to_read(args.results / config.name) as store:
        head = str(store.head())
    if args.json:
        print_json({"league": config.name, **data, "head": head})
        return 0
    print(*lines, sep="\n")
    print(f"Receipt: {head}")
    print(f"Entered into the journal. What is left to play: {league_command(args, 'run')}")
    return 0
