"""Check the store of a league, take over other machines' stores, remove what is damaged.

These are the arguments and outputs of `warpleague league verify`, `merge` and `mend`. What they do is in
`warpleague.league`.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import count, league_command, open_league, print_json, say
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from warpleague.league.results.league import League
    from warpleague.league.schedule.formats.strength_test import StrengthTest
    from warpleague.league.season.fixture import Fixture

    Handler = Callable[[argparse.Namespace], int]


def configure_store(action: Callable[[str, str, Handler], argparse.ArgumentParser]) -> None:
    """Add the commands; `action` makes one of a name, what it does, and what runs it."""
    verify = action(
        "verify",
        "check that all results are genuine: execute every record again by the rules, and compare",
        _verify,
    )
    verify.add_argument(
        "--head",
        action="append",
        default=[],
        metavar="HEAD",
        help="a receipt that an earlier run printed: check that the store still has everything up to it; "
        "can be given several times",
    )
    verify.add_argument(
        "--sample",
        type=count(1),
        metavar="N",
        help="execute only N matches again, drawn at random; the journal is checked in full (default: all)",
    )
    verify.add_argument(
        "--seed",
        metavar="TEXT",
        help="draw the same sample as the run that printed this seed (default: a new one each time)",
    )
    merge = action("merge", "add the matches of this league that were played on other machines", _merge)
    merge.add_argument(
        "stores",
        nargs="+",
        type=Path,
        metavar="STORE",
        help="the file league.sqlite of another machine, or its folder",
    )
    merge.add_argument(
        "--trust", action="store_true", help="do not check the records first; only for your own machines"
    )
    mend = action(
        "mend", "remove results that are not genuine, so that the next run plays these matches again", _mend
    )
    for parser in (verify, mend):
        parser.add_argument(
            "--jobs",
            type=count(0),
            metavar="N",
            default=0,
            help="the number of processes at the same time (default: one for each core)",
        )


def _verify(args: argparse.Namespace) -> int:
    """Exit code 1: something does not hold, or the store does not go back to a head that was given."""
    from warpleague.league.play.entering import stage_problems
    from warpleague.league.store.journal import Head
    from warpleague.league.upkeep.verifying import altered, mispaired, random_sample, verify_league

    if args.seed is not None and args.sample is None:
        raise BadInput("--seed: it chooses the matches of --sample N; give both, or none")
    heads = [Head.parse(text) for text in args.head]
    with open_league(args) as league:
        total = 0
        wrong: list[dict[str, Any]] = []

        def tell(number: int | None, match: str | None, problem: str) -> None:
            wrong.append({"number": number, "match": match, "problem": problem})
            if not args.json:
                numbered = f"match {number} ({match})" if number else f"match {match}"
                print(f"WRONG  {'the store' if match is None else numbered}: {problem}")

        fixtures: list[Fixture] | None = None
        sample: dict[str, Any] | None = None
        if args.sample is not None:
            seed = token_hex(4) if args.seed is None else args.seed
            fixtures, stored = random_sample(league, args.sample, seed)
            sample = {"matches": len(fixtures), "of": stored, "seed": seed}
        for fixture, problem in verify_league(league, args.jobs, **args.tools.pool, fixtures=fixtures):
            total += 1
            if problem is not None:
                tell(fixture.number, fixture.id, problem)
            elif total % 1_000 == 0 and sys.stderr.isatty():
                say(f"{counted(total, 'record')} verified")
        good = total - len(wrong)
        known = {row["match"] for row in wrong}
        for number, match, problem in (*altered(league, heads), *mispaired(league), *stage_problems(league)):
            if match is None or match not in known:  # else its record was reported already
                tell(number, match, problem)
        test = _recomputed(league)
        if args.json:
            print_json(
                {
                    "league": league.config.name,
                    **({} if test is None else {"test": test.to_json()}),
                    "records": total,
                    "wrong": wrong,
                    "journal": league.store.journal(),
                    "head": str(league.store.head()),
                    "sample": sample,
                }
            )
        else:
            print(
                f"{good:,} of {counted(total, 'record')} {'holds' if good == 1 else 'hold'}: "
                "executed again, dice, results and tables compared."
            )
            if sample is not None:
                print(
                    f"Only a sample was verified: {sample['matches']:,} of {counted(sample['of'], 'match')}, drawn at "
                    f"random with --seed {shlex.quote(sample['seed'])}."
                )
            _print_journal(league, len(wrong) == total - good, heads)
            if test is not None:
                from warpleague.league.results.faulted import bot_faults
                from warpleague.report.wording.league_words import fault_lines, verdict

                print(f"The test, computed again: {verdict(test, *league.season.names[:2])}")
                faulted = [] if wrong else bot_faults(league)
                print(*(f"{line}.\n" for line in fault_lines(faulted)), sep="", end="")
            if good < total:
                say(f"note: what does not hold can be removed: {league_command(args, 'mend')}")
    return 1 if wrong else 0


def _recomputed(league: League) -> StrengthTest | None:
    """The test of strength, computed from the results of the league, or None for other leagues."""
    if league.season.format.kind != "test":
        return None
    from warpleague.league.results.status import strength_test

    return strength_test(league)


def _print_journal(league: League, whole: bool, heads: list[Any]) -> None:
    from warpleague.league.store.disqualifications import KINDS
    from warpleague.league.store.journal import REMOVED

    store = league.store
    out = store.facts(REMOVED)
    for fact in out:
        print(
            f"note: match {fact.said.get('match')} was removed at {fact.stored}: {fact.said.get('problem')}"
        )
    if not whole:
        return
    matches, decisions = store.journal() - len(store.facts()) - len(out), len(store.facts(*KINDS))
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


def _mend(args: argparse.Namespace) -> int:
    from warpleague.league.season.config import load_config
    from warpleague.league.upkeep.organising import mend

    config = load_config(args.config, without_bots=True)
    out = mend(config, args.results, args.jobs, **args.tools.pool)
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


def _merge(args: argparse.Namespace) -> int:
    from warpleague.league.season.config import load_config
    from warpleague.league.upkeep.organising import merge

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
