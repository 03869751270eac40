"""Whoever makes matches of a league into a verdict says which bots faulted, in how many matches and by what."""

import io
import json
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from rich.console import Console
from tests.league.conftest import Command, OpenLeague, WriteLeague

from warpleague.league.play.running import StopWhen, run_league
from warpleague.league.results.faulted import BotFaults, FaultCounts, bot_faults
from warpleague.match.spec import MatchResult, MatchSpec, SeatFault
from warpleague.report.terminal.live import LiveWatcher, PlainWatcher
from warpleague.report.terminal.tables import all_tables
from warpleague.report.wording.bracket import bracket_json, bracket_text
from warpleague.report.wording.league_words import fault_lines, fault_sentence

CRASH = SeatFault("crash", 7, True, "killed by SIGSEGV")
CRASHED = "segv faulted in 12 of 12 matches (crash: killed by SIGSEGV)"


def crashing(spec: MatchSpec) -> MatchResult:
    """A match in which the bot segv crashes and loses, and no other bot does."""
    from tests.league.fakes.fakeplay import play

    names = [seat.bot for seat in spec.seats]
    ranks = tuple(2 if name == "segv" else 1 for name in names)
    faults = tuple((CRASH,) if name == "segv" else () for name in names)
    return attrs.evolve(play(spec), ranks=ranks, faults=faults)


@pytest.fixture
def file(write_league: WriteLeague) -> Path:
    return write_league("anna", "bert", "segv")


@pytest.fixture
def played(
    file: Path, command: Command, fake: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str]:
    """A league in which segv lost all its matches by crashes, and what its run printed."""
    code, out, _ = command("run", file, play=crashing)
    assert code == 0
    return file, out


def test_every_look_at_a_league_says_it(played: tuple[Path, str], command: Command) -> None:
    """The run, the standings, the status; and in JSON for the bot, with kind and message."""
    file, out = played
    assert out.count(CRASHED) == 1
    for action in ("standings", "status"):
        assert CRASHED in command(action, file)[1]
    (found,) = json.loads(command("status", file, "--json")[1])["faults"]
    assert found == {
        "bot": "segv",
        "played": 12,
        "faulted": 12,
        "kind": "crash",
        "message": "killed by SIGSEGV",
    }
    lines = {line["bot"]: line for line in json.loads(command("standings", file, "--json")[1])}
    told = ("faults", "faulted", "fault_kind", "fault_message")
    assert [lines["segv"][key] for key in told] == [12, 12, "crash", "killed by SIGSEGV"]
    assert [lines["anna"][key] for key in told] == [0, 0, None, None]
    code, out, _ = command("run", file, "--quiet")
    assert (code, CRASHED in out) == (0, True)
    assert json.loads(command("run", file, "--json", play=crashing)[1])["faults"] == [found]


@pytest.mark.parametrize("width", [40, 70, 90, 120])
def test_it_is_said_in_terminals_of_any_width(
    played: tuple[Path, str], open_league: OpenLeague, width: int, tmp_path: Path
) -> None:
    """Whatever columns the standings have there."""
    console = Console(file=io.StringIO(), width=width)
    with open_league(played[0]) as league:
        console.print(all_tables(league, width))
    assert isinstance(console.file, io.StringIO)
    assert CRASHED in " ".join(console.file.getvalue().split())


@pytest.mark.parametrize("kind", ["knockout", "double-elimination", "swiss"])
def test_a_bracket_says_who_faulted(
    write_league: WriteLeague, open_league: OpenLeague, inline: Executor, kind: str
) -> None:
    """Beside the tie that was decided so, and in JSON with the number of matches."""
    rounds = "\nrounds = 2" if kind == "swiss" else ""
    path = write_league("anna", "bert", "cleo", "segv", extra=f'kind = "{kind}"{rounds}', deals=1)
    with open_league(path) as league:
        run_league(league, executor=inline, play=crashing)
        (row,) = [row for row in bracket_json(league) if "segv" in row["bots"]][:1]
        assert row["faulted"][row["bots"].index("segv")] == 2 * row["deals"] > 0
        assert sum(row["faulted"]) == 2 * row["deals"]
        if kind != "knockout":  # that is drawn as a tree
            assert "(segv faulted)" in bracket_text(league)
        (found,) = bot_faults(league)
        assert (found.bot, found.matches) == ("segv", found.played)


def test_the_progress_says_it_from_the_first_fault_on(
    file: Path, open_league: OpenLeague, inline: Executor
) -> None:
    """Plain lines do at once, however short the run is, and the live view has a line for it."""
    plain, shown = (Console(file=io.StringIO(), width=200, height=40, force_terminal=False) for _ in range(2))
    watcher = PlainWatcher(plain)
    with open_league(file) as league:
        run_league(league, executor=inline, play=crashing, watcher=watcher)
        live = LiveWatcher(shown)
        live.started(league, 18, 18, 1)
        with shown.capture() as captured:
            shown.print(live.frame())
    assert isinstance(plain.file, io.StringIO)
    assert "(crash: killed by SIGSEGV)" in plain.file.getvalue()
    assert CRASHED in captured.get()


def test_a_run_can_stop_at_the_first_fault(
    file: Path, command: Command, open_league: OpenLeague, inline: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With exit code 1, the match and the fault; played matches stay, and the next run continues."""
    code, out, _ = command("run", file, "--stop-on-fault", "--jobs", "1", play=crashing)
    assert code == 1
    (line,) = [line for line in out.splitlines() if line.startswith("Stopped at a fault: match ")]
    assert line.endswith("segv: crash: killed by SIGSEGV; played matches stay.")
    with open_league(file) as league:
        stored = league.store.count()
        assert 0 < stored <= 18
    code, out, _ = command("run", file, "--json", play=crashing)
    data = json.loads(out)
    assert (code, data["complete"], data["stopped_at_fault"]) == (0, True, None)
    assert data["played"] == 18 - stored


def test_of_several_faults_the_first_in_the_schedule_is_told(
    file: Path, open_league: OpenLeague, inline: Executor
) -> None:
    """And of one match the one that came first; a run without a fault tells none."""

    def twice(spec: MatchSpec) -> MatchResult:
        late = SeatFault("timeout", 9, True, "no answer within 1.000 s")
        return attrs.evolve(crashing(spec), faults=((late,), (CRASH,)))

    with open_league(file) as league:
        report = run_league(league, executor=inline, play=twice, stop_when=StopWhen(bot_faults=True), jobs=1)
        assert report.fault is not None
        assert not report.complete
        assert (report.fault.seat, report.fault.fault) == (1, CRASH)
        faulted = [fixture.number for fixture, _ in league.stored()]
        assert report.fault.fixture.number == min(faulted)
        rest = run_league(league, executor=inline, play=crashing)
        assert (rest.fault, rest.complete) == (None, True)


def test_the_sentence() -> None:
    """The most frequent kind with its first message, the others by name; one line, whatever a bot wrote."""
    found = BotFaults("odd\x1b[31m", played=1_500)
    counts = FaultCounts(["odd\x1b[31m"])
    late = SeatFault("timeout", 3, False, "no answer within 1.000 s")
    for faults in ((), (late, late), (attrs.evolve(CRASH, message="exited\nwith " + "x" * 900),)):
        counts.add((0,), (faults,))
    (found,) = counts.most_often_first()
    said = fault_sentence(found)
    assert said == "odd\\x1b[31m faulted in 2 of 3 matches (timeout: no answer within 1.000 s; also crash)"
    one = BotFaults("a", 1, 1)
    one.add((attrs.evolve(CRASH, message="exited\nwith " + "x" * 900),))
    assert fault_sentence(one).startswith("a faulted in 1 of 1 match (crash: exited\\x0awith xxx")
    assert len(fault_sentence(one)) < 250
    many = [BotFaults(f"bot-{n}", 9, 9 - n) for n in range(6)]
    assert fault_lines(many, 3) == [
        "bot-0 faulted in 9 of 9 matches",
        "bot-1 faulted in 8 of 9 matches",
        "4 more bots faulted",
    ]


def test_no_faults_are_not_told(
    file: Path, open_league: OpenLeague, inline: Executor, command: Command
) -> None:
    """A league without a fault says nothing of them above its table of faults."""

    def clean(spec: MatchSpec) -> Any:
        return attrs.evolve(crashing(spec), faults=((), ()))

    with open_league(file) as league:
        run_league(league, executor=inline, play=clean)
        assert bot_faults(league) == []
    assert "faulted" not in command("standings", file)[1]
