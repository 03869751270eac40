"""How bots were confined: noted with each match, kept through merges, compared by verify, shown under the tables."""

import io
import json
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from rich.console import Console
from tests.league.conftest import OpenLeague, Refereed, TakeOver, WriteLeague

from warpleague.league.play.running import run_league
from warpleague.league.results.faulted import ConfinedMatches, confined_matches
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.upkeep.verifying import problem_of
from warpleague.match.spec import Confinement, MatchResult, MatchSpec
from warpleague.report.terminal.tables import VIEWS, all_tables, confinement_remark
from warpleague.report.wording.league_words import confinement_lines

HERE = Confinement(
    level="sandbox",
    made_by="bubblewrap 0.11.0; memory capped by cgroup v2",
    host="Linux 6.1 x86_64",
    kept=("descriptors", "calls"),
    untried=("hoard",),
    pondering="off",
)
THERE = attrs.evolve(
    HERE,
    made_by="bubblewrap 0.8.0; memory polled",
    host="Linux 5.4 x86_64",
    kept=("calls",),
    untried=("descriptors", "hoard"),
)


def noting(fake: ModuleType, *found: Confinement | None) -> Callable[[MatchSpec], MatchResult]:
    """Plays like the stand-in; the ways to be confined go round."""
    calls = iter(range(1_000))

    def play(spec: MatchSpec) -> MatchResult:
        return attrs.evolve(fake.play(spec), confinement=found[next(calls) % len(found)])

    return play


def shown(renderable: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=160, highlight=False).print(renderable)
    return out.getvalue()


def test_a_confinement_is_kept_once_and_counted(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """However many matches have the same, the store has one text of it; each match knows which is its own."""
    with open_league(write_league("a", "b")) as league:
        run_league(league, executor=inline, play=noting(fake, HERE, THERE, HERE))
        assert list(league.store.confinements().values()) == [HERE, THERE]
        assert confined_matches(league) == [ConfinedMatches(4, HERE), ConfinedMatches(2, THERE)]
        known = league.store.confinements()
        found = [known[played.confinement or 0] for _, played in league.results()]
        # Played were the first seat orders of the three deals, and then the others.
        assert found[::2] == found[1::2] == [HERE, THERE, HERE]


def test_only_matches_of_the_schedule_count(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor
) -> None:
    """Matches of bots that have left are in the store, but not in what is told."""
    with open_league(write_league("a", "b", "c", deals=1)) as league:
        run_league(league, executor=inline, play=noting(fake, HERE))
    with open_league(write_league("a", "b", deals=1)) as league:
        assert (league.store.count(), confined_matches(league)) == (6, [ConfinedMatches(2, HERE)])


def test_a_merge_carries_it(
    write_league: WriteLeague,
    open_league: OpenLeague,
    refereed: Refereed,
    inline: Executor,
    take_over: TakeOver,
    short: str,
    tmp_path: Path,
) -> None:
    """After a merge each match still says how its bots were confined, whatever numbers the stores gave it."""

    def league_of(*bots: str) -> Path:
        return write_league(*bots, deals=1, game=short)

    with open_league(league_of("a", "b", "c"), tmp_path / "one") as league:
        run_league(league, executor=inline, play=refereed(THERE))
    with open_league(league_of("a", "b", "d"), tmp_path / "two") as league:
        run_league(league, executor=inline, play=refereed(HERE))
    with open_league(league_of("a", "b", "c", "d"), tmp_path / "two") as league:
        assert take_over(league, tmp_path / "one" / "cup").added == 4
        assert confined_matches(league) == [ConfinedMatches(6, HERE), ConfinedMatches(4, THERE)]
        assert league.store.alterations() == []


def test_verify_compares_it_with_the_record(
    write_league: WriteLeague, open_league: OpenLeague, refereed: Refereed, short: str
) -> None:
    """What the store has of it must be what the record's header says."""
    with open_league(write_league("a", "b", deals=1, game=short)) as league:
        fixture = next(iter(league.schedule))
        spec = league.season.spec(fixture.id, fixture.deal, fixture.seats)
        head = {**league.season.conditions, "id": fixture.id}

    def problem(said: Confinement | None, stored: Confinement | None) -> str | None:
        found = refereed(said)(spec)
        result = (found.ranks, found.scores, found.rival, found.why, found.digest, found.lines)
        bots = [(seat.bot, seat.identity) for seat in spec.seats]
        return problem_of(found.record, spec.key, head, bots, result, [[], []], stored)

    text = "how its bots were confined, as the store has it, is not what its record says"
    assert problem(HERE, HERE) is None
    assert problem(HERE, THERE) == text
    assert problem(HERE, None) == text
    assert problem(None, HERE) == text
    assert problem(None, None) is None


def test_one_means_is_one_line() -> None:
    """Where all matches had the same means, one line names them, the filter of system calls and the host included."""
    assert confinement_lines("sandbox", [ConfinedMatches(280, HERE)]) == [
        "Level sandbox in 280 matches: bubblewrap 0.11.0; memory capped by cgroup v2; "
        "system calls filtered by seccomp; on Linux 6.1 x86_64.",
        "Promises of the level that were tested before the matches, and hold: 2; "
        "not tried: hoard (`warpleague doctor` tries all).",
    ]


def test_tables_do_not_speak_of_promises() -> None:
    """Below a table only the means are named: the rest is in the status of the league."""
    (line,) = confinement_lines("sandbox", [ConfinedMatches(280, HERE)], promises=False)
    assert line.startswith("Level sandbox in 280 matches: ")


def test_different_means_are_told_apart() -> None:
    """Different means and hosts have a line each, and a promise that was kept in some matches only is named."""
    lines = confinement_lines("sandbox", [ConfinedMatches(1_200, HERE), ConfinedMatches(80, THERE)])
    assert lines[0] == "Level sandbox in 1,280 matches, by different means, on 2 kinds of host:"
    assert lines[1].startswith("  in 1,200: bubblewrap 0.11.0; memory capped by cgroup v2; ")
    assert lines[2].startswith("  in 80: bubblewrap 0.8.0; memory polled; ")
    assert lines[3] == (
        "Promises of the level that were tested before the matches, and hold: 1; "
        "not tried: descriptors (in 80 matches), hoard (`warpleague doctor` tries all)."
    )


def test_what_is_not_known_is_not_claimed() -> None:
    """Matches for which nothing was noted are told as such; a level without promises names none."""
    assert confinement_lines("none", []) == []
    assert confinement_lines("limits", [ConfinedMatches(3, None)]) == [
        "Level limits: the records do not say how bots were confined."
    ]
    assert confinement_lines("sandbox", [ConfinedMatches(3, None), ConfinedMatches(1, HERE)])[0].startswith(
        "Level sandbox, noted for 1 of 4 matches: bubblewrap"
    )
    bare = Confinement(level="none", made_by="", host="Darwin 24.0 arm64", kept=(), untried=())
    assert confinement_lines("none", [ConfinedMatches(1, bare)]) == [
        "Level none in 1 match: on Darwin 24.0 arm64."
    ]


def test_terminal_codes_do_not_come_through() -> None:
    """What a store says is data, also where it looks like markup."""
    assert "[red]" in shown(
        confinement_remark("limits", [ConfinedMatches(1, attrs.evolve(HERE, made_by="[red]x"))])
    )


def test_it_is_shown_under_the_tables_and_in_status(
    write_league: WriteLeague, open_league: OpenLeague, fake: ModuleType, inline: Executor, tmp_path: Path
) -> None:
    """The end of a run, `standings` and `status` show it; `status --json` has it; before a match there is nothing."""
    path = write_league("a", "b")
    with open_league(path) as league:
        assert "Level" not in shown(VIEWS["standings"].table(league, 100))
        assert VIEWS["status"].data(league)["held"] == []
        run_league(league, executor=inline, play=noting(fake, HERE))
    with open_to_read(load_config(path), tmp_path / "results") as league:
        for text in (
            shown(all_tables(league, 160)),
            shown(VIEWS["standings"].table(league, 160)),
            shown(VIEWS["status"].table(league, 160)),
        ):
            assert "Level limits in 6 matches: bubblewrap 0.11.0; memory capped by cgroup v2" in text
        data = json.loads(json.dumps(VIEWS["status"].data(league)))
        assert (data["level"], data["held"]) == ("limits", [{"matches": 6, "found": HERE.to_json()}])
