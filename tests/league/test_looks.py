"""Whoever makes matches of a league into a verdict says which bots faulted, in how many matches and by what."""

import codecs
import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from rich.console import Console
from tests.league.conftest import Command, Cup, Refereed

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.play.running import StopWhen
from warpleague.league.play.verifying import problem_of
from warpleague.league.results.export import TABLES, Column, Table, decisions_of, file_name, table_file
from warpleague.league.results.faulted import (
    BotFaults,
    ConfinedMatches,
    FaultCounts,
    bot_faults,
    confined_matches,
    services,
)
from warpleague.match.replay import Replay
from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatFault, SeatTimes
from warpleague.report.terminal.live import LiveWatcher, PlainWatcher
from warpleague.report.terminal.tables import VIEWS, all_tables, confinement_remark
from warpleague.report.wording.bracket import bracket_json, bracket_text
from warpleague.report.wording.columns import SERVICES, line_json
from warpleague.report.wording.league_words import confinement_lines, fault_lines, fault_sentence

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
def file(cup: Cup) -> Path:
    return cup.file("anna", "bert", "segv")


@pytest.fixture
def played(file: Path, command: Command, cup: Cup, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
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
    lines = {line["bot"]: line for line in json.loads(command("standings", file, "--json")[1])["standings"]}
    told = ("faults", "faulted", "fault_kind", "fault_message")
    assert [lines["segv"][key] for key in told] == [12, 12, "crash", "killed by SIGSEGV"]
    assert [lines["anna"][key] for key in told] == [0, 0, None, None]
    code, out, _ = command("run", file, "--quiet")
    assert (code, CRASHED in out) == (0, True)
    assert json.loads(command("run", file, "--json", play=crashing)[1])["faults"] == [found]


@pytest.mark.parametrize("width", [40, 70, 90, 120])
def test_it_is_said_in_terminals_of_any_width(played: tuple[Path, str], cup: Cup, width: int) -> None:
    """Whatever columns the standings have there."""
    console = Console(file=io.StringIO(), width=width)
    with cup.open(played[0]) as league:
        console.print(all_tables(league, width))
    assert isinstance(console.file, io.StringIO)
    assert CRASHED in " ".join(console.file.getvalue().split())


@pytest.mark.parametrize("kind", ["knockout", "double-elimination", "swiss"])
def test_a_bracket_says_who_faulted(cup: Cup, kind: str) -> None:
    """Beside the tie that was decided so, and in JSON with the number of matches."""
    rounds = "\nrounds = 2" if kind == "swiss" else ""
    path = cup.file("anna", "bert", "cleo", "segv", extra=f'kind = "{kind}"{rounds}', deals=1)
    with cup.open(path) as league:
        cup.run(league, play=crashing)
        (row,) = [row for row in bracket_json(league) if "segv" in row["bots"]][:1]
        assert row["faulted"][row["bots"].index("segv")] == 2 * row["deals"] > 0
        assert sum(row["faulted"]) == 2 * row["deals"]
        if kind != "knockout":  # that is drawn as a tree
            assert "(segv faulted)" in bracket_text(league)
        (found,) = bot_faults(league)
        assert (found.bot, found.matches) == ("segv", found.played)


def test_the_progress_says_it_from_the_first_fault_on(file: Path, cup: Cup) -> None:
    """Plain lines do at once, however short the run is, and the live view has a line for it."""
    plain, shown = (Console(file=io.StringIO(), width=200, height=40, force_terminal=False) for _ in range(2))
    watcher = PlainWatcher(plain)
    with cup.open(file) as league:
        cup.run(league, play=crashing, watcher=watcher)
        live = LiveWatcher(shown)
        live.started(league, 18, 18, 1)
        with shown.capture() as captured:
            shown.print(live.frame())
    assert isinstance(plain.file, io.StringIO)
    assert "(crash: killed by SIGSEGV)" in plain.file.getvalue()
    assert CRASHED in captured.get()


def test_a_run_can_stop_at_the_first_fault(
    file: Path, command: Command, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With exit code 1, the match and the fault; played matches stay, and the next run continues."""
    code, out, _ = command("run", file, "--stop-on-fault", "--jobs", "1", play=crashing)
    assert code == 1
    (line,) = [line for line in out.splitlines() if line.startswith("Stopped at a fault: match ")]
    assert line.endswith("segv: crash: killed by SIGSEGV; played matches stay.")
    with cup.open(file) as league:
        stored = league.store.count()
        assert 0 < stored <= 18
    code, out, _ = command("run", file, "--json", play=crashing)
    data = json.loads(out)
    assert (code, data["complete"], data["stopped_at_fault"]) == (0, True, None)
    assert data["played"] == 18 - stored


def test_of_several_faults_the_first_in_the_schedule_is_told(file: Path, cup: Cup) -> None:
    """And of one match the one that came first; a run without a fault tells none."""

    def twice(spec: MatchSpec) -> MatchResult:
        late = SeatFault("timeout", 9, True, "no answer within 1.000 s")
        return attrs.evolve(crashing(spec), faults=((late,), (CRASH,)))

    with cup.open(file) as league:
        report = cup.run(league, play=twice, stop_when=StopWhen(bot_faults=True), jobs=1)
        assert report.fault is not None
        assert not report.complete
        assert (report.fault.seat, report.fault.fault) == (1, CRASH)
        faulted = [fixture.number for fixture, _ in league.stored()]
        assert report.fault.fixture.number == min(faulted)
        rest = cup.run(league, play=crashing)
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


def test_no_faults_are_not_told(file: Path, cup: Cup, command: Command) -> None:
    """A league without a fault says nothing of them above its table of faults."""

    def clean(spec: MatchSpec) -> Any:
        return attrs.evolve(crashing(spec), faults=((), ()))

    with cup.open(file) as league:
        cup.run(league, play=clean)
        assert bot_faults(league) == []
    assert "faulted" not in command("standings", file)[1]


# How bots were confined: noted with each match, kept through merges, compared by verify, shown under the tables.


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


def noting(cup: Cup, *found: Confinement | None) -> Callable[[MatchSpec], MatchResult]:
    """Plays like the stand-in; the ways to be confined go round."""
    calls = iter(range(1_000))

    def play(spec: MatchSpec) -> MatchResult:
        return attrs.evolve(cup.fake.play(spec), confinement=found[next(calls) % len(found)])

    return play


def shown(renderable: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=160, highlight=False).print(renderable)
    return out.getvalue()


def test_a_confinement_is_kept_once_and_counted(cup: Cup) -> None:
    """However many matches have the same, the store has one text of it; each match knows which is its own."""
    with cup.open(cup.file("a", "b")) as league:
        cup.run(league, play=noting(cup, HERE, THERE, HERE))
        assert list(league.store.confinements().values()) == [HERE, THERE]
        assert confined_matches(league) == [ConfinedMatches(4, HERE), ConfinedMatches(2, THERE)]
        known = league.store.confinements()
        found = [known[played.confinement or 0] for _, played in league.results()]
        # Played were the first seat orders of the three deals, and then the others.
        assert found[::2] == found[1::2] == [HERE, THERE, HERE]


def test_only_matches_of_the_schedule_count(cup: Cup) -> None:
    """Matches of bots that have left are in the store, but not in what is told."""
    cup.play(cup.file("a", "b", "c", deals=1), play=noting(cup, HERE))
    with cup.open(cup.file("a", "b", deals=1)) as league:
        assert (league.store.count(), confined_matches(league)) == (6, [ConfinedMatches(2, HERE)])


def test_a_merge_carries_it(cup: Cup, refereed: Refereed, tmp_path: Path) -> None:
    """After a merge each match still says how its bots were confined, whatever numbers the stores gave it."""

    def league_of(*bots: str) -> Path:
        return cup.file(*bots, deals=1, game=cup.short)

    cup.play(league_of("a", "b", "c"), tmp_path / "one", play=refereed(THERE))
    cup.play(league_of("a", "b", "d"), tmp_path / "two", play=refereed(HERE))
    with cup.open(league_of("a", "b", "c", "d"), tmp_path / "two") as league:
        assert cup.take_over(league, tmp_path / "one" / "cup").added == 4
        assert confined_matches(league) == [ConfinedMatches(6, HERE), ConfinedMatches(4, THERE)]
        assert league.store.alterations() == []


def test_verify_compares_it_with_the_record(cup: Cup, refereed: Refereed) -> None:
    """What the store has of it must be what the record's header says."""
    with cup.open(cup.file("a", "b", deals=1, game=cup.short)) as league:
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
    # Below a table only the means are named: the rest is in the status of the league.
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
    # What a store says is data, also where it looks like markup.
    assert "[red]" in shown(
        confinement_remark("limits", [ConfinedMatches(1, attrs.evolve(HERE, made_by="[red]x"))])
    )


def test_it_is_shown_under_the_tables_and_in_status(cup: Cup) -> None:
    """The end of a run, `standings` and `status` show it; `status --json` has it; before a match there is nothing."""
    path = cup.file("a", "b")
    with cup.open(path) as league:
        assert "Level" not in shown(VIEWS["standings"].table(league, 100))
        assert VIEWS["status"].data(league)["held"] == []
        cup.run(league, play=noting(cup, HERE))
    with cup.read(path) as league:
        for text in (
            shown(all_tables(league, 160)),
            shown(VIEWS["standings"].table(league, 160)),
            shown(VIEWS["status"].table(league, 160)),
        ):
            assert "Level limits in 6 matches: bubblewrap 0.11.0; memory capped by cgroup v2" in text
        data = json.loads(json.dumps(VIEWS["status"].data(league)))
        assert (data["level"], data["held"]) == ("limits", [{"matches": 6, "found": HERE.to_json()}])


# Matches that are void because the service of a bot failed, and the table of services.


VOID = "[service]\nask_again = 2\nvoid = 2"


def failing(cup: Cup, times: int) -> Any:
    """Plays matches in which the service of `a` fails for good, in the first so many of its matches."""
    left = times

    def play(spec: MatchSpec) -> MatchResult:
        nonlocal left
        assert spec.failures == 2
        result: MatchResult = attrs.evolve(cup.fake.play(spec), faults=((),) * len(spec.seats))
        names = [seat.bot for seat in spec.seats]
        if "a" not in names:
            return result
        seat = names.index("a")
        times = list(result.times)
        times[seat] = SeatTimes(5, 2.5, 2.0, 0.1, 1.0, 1, 100, 10, 0.5)
        faults = list(result.faults)
        if left:
            left -= 1
            faults[seat] = (SeatFault("service", 3, True, "its service failed: busy"),)
        return attrs.evolve(result, times=tuple(times), faults=tuple(faults))

    return play


def test_matches_are_void_within_the_limit_of_the_season(cup: Cup) -> None:
    """Two are void and tried again by the next run; the third is charged, also if it comes in another run."""
    path = cup.file("a", "b", extra=VOID)
    with cup.open(path) as league:
        report = cup.run(league, play=failing(cup, 1))
        assert (report.played, len(report.void), report.complete) == (5, 1, False)
        assert "a: its service failed: busy (void match 1 of 2 allowed)" in report.void[0].error
    with cup.open(path) as league:
        report = cup.run(league, play=failing(cup, 1))
        assert (report.played, len(report.void)) == (0, 1)
    with cup.open(path) as league:
        report = cup.run(league, play=failing(cup, 1))
        assert (report.played, len(report.void), report.complete) == (1, 0, True)
    with cup.read(path) as league:
        (line,) = services(league)
        assert line_json(SERVICES, line) == {
            "bot": "a",
            "matches": 6,
            "failures": 6,
            "most_failures": 1,
            "void": 2,
            "retries": 0,
            "input_tokens": 600,
            "output_tokens": 60,
            "cost": 3.0,
        }
        assert league.store.alterations() == []


def test_nothing_is_void_unless_the_league_says_so(cup: Cup) -> None:
    """The fault is charged, and the match counts."""
    path = cup.file("a", "b", extra="[service]\nask_again = 2")
    with cup.open(path) as league:
        report = cup.run(league, play=failing(cup, 9))
        assert (report.played, len(report.void), report.complete) == (6, 0, True)


def test_the_table_of_services(cup: Cup, league_cli: Any) -> None:
    """`league services` prints it, as JSON too; there is none where no bot told of a service."""
    path = cup.file("a", "b", extra=VOID)
    cup.play(path, play=failing(cup, 0))
    code, out, _ = league_cli("services", path)
    assert (code, "Services that bots use" in out, "3.0000" in out) == (0, True, True)
    code, out, _ = league_cli("services", path, "--json")
    assert [line["bot"] for line in json.loads(out)] == ["a"]


# A league as tables for data tools: what is in them, how they are written, and that the docs name every column.


DOCS = Path(__file__).parents[2] / "docs" / "data.md"
GOLDEN = Path(__file__).parents[1] / "match" / "golden" / "2"


@pytest.fixture
def whole(refereed: Refereed, cup: Cup) -> Path:
    """The file of a league of six real matches, which have been played."""
    return cup.play_short(refereed())[0]


@pytest.fixture
def tables(command: Command, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the tables of a league, as CSV and as Parquet."""
    for kind in ("csv", "parquet"):
        assert command("export", whole, "--format", kind, "--decisions", "--out", str(tmp_path))[0] == 0
    return tmp_path


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_docs_name_every_column() -> None:
    """Each table of the page is a table of the program: the same columns and types in the same order."""
    sections = re.split(r"^## ", DOCS.read_text("utf-8"), flags=re.MULTILINE)
    told = {
        section.split("\n")[0]: re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
        for section in sections
    }
    for table in TABLES:
        assert told[table.name] == [(column.name, column.kind) for column in table.columns], table.name


def test_the_tables_agree_with_the_league(command: Command, whole: Path, tables: Path) -> None:
    """Every match has its row, every seat too, with the results that `matches` tells."""
    told = json.loads(command("matches", whole, "--json")[1])
    matches, seats = read(tables / "matches.csv"), read(tables / "seats.csv")
    assert [row["match"] for row in matches] == [row["match"] for row in told]
    assert {row["counts"] for row in matches} == {"true"}
    found = [(row["match"], row["bot"], int(row["rank"]), float(row["score"])) for row in seats]
    assert found == [
        (row["match"], bot, rank, score)
        for row in told
        for bot, rank, score in zip(row["seats"], row["ranks"], row["scores"], strict=True)
    ]
    decisions = read(tables / "decisions.csv")
    assert {row["match"] for row in decisions} == {row["match"] for row in told}
    for row in decisions:
        assert row["choice"] == "" or json.loads(row["legal"])[int(row["choice"])] == json.loads(
            row["action"]
        )


def test_parquet_has_the_same_rows(tables: Path) -> None:
    """Both kinds of files hold the same, and Parquet keeps the types."""
    pq = pytest.importorskip("pyarrow.parquet")
    kinds: dict[str, type] = {"text": str, "json": str, "whole": int, "number": float, "truth": bool}
    for table in TABLES:
        rows: list[dict[str, Any]] = pq.read_table(tables / f"{table.name}.parquet").to_pylist()
        plain = read(tables / f"{table.name}.csv")
        assert len(rows) == len(plain) > 0
        for row, text in zip(rows, plain, strict=True):
            assert list(row) == list(text)
            for column in table.columns:
                value = row[column.name]
                assert (value is None) == (text[column.name] == ""), column.name
                if value is not None:
                    assert isinstance(value, kinds[column.kind])
                    written = str(value).lower() if isinstance(value, bool) else str(value)
                    assert written == text[column.name]


@pytest.mark.parametrize("game", ["aliens", "captains", "coasters", "sheets"])
def test_a_decision_is_what_the_seat_knew(game: str) -> None:
    """State, legal actions and choice of each row are those of the position before its line of the record."""
    path = GOLDEN / f"{game}.jsonl.gz"
    record = gzip.decompress(path.read_bytes())
    replay = Replay(record)
    key = replay.key or b""
    names = [str(seat) for seat in range(replay.header["players"])]
    rows = list(zip(*decisions_of([(record, key, "m", names)]), strict=True))
    before, at = replay.first, 0
    engine = load_game(game)
    for step in replay:
        if step.data["type"] == "act":
            row = dict(zip((column.name for column in TABLES[2].columns), rows[at], strict=True))
            seat = row["seat"]
            assert (row["n"], seat, row["ask"]) == (step.data["n"], step.data["seat"], step.data["ask"])
            assert json.loads(row["state"]) == json.loads(engine.view_json(before, seat))
            legal = [engine.action_json(action) for action in engine.legal(before, seat)]
            assert json.loads(row["legal"]) == legal
            assert row["choice"] is None or legal[row["choice"]] == json.loads(row["action"])
            assert (row["ms"], row["value"]) == (step.data.get("ms", [None])[0], step.data.get("value"))
            assert (row["how"] == "only") == ("auto" in step.data)
            at += 1
        before = step.state
    assert at == len(rows) > 0
    assert replay.summary is not None
    assert {(row[2], row[-2]) for row in rows} <= set(enumerate(replay.summary.ranks))


def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    """What fails in the middle leaves the older file as it was, and nothing beside it."""
    path = tmp_path / "matches.csv"
    path.write_text("older")
    with pytest.raises(TypeError), table_file(path, TABLES[0], "csv") as writer:
        writer.write([(1,) * len(TABLES[0].columns), 2])  # type: ignore[list-item]
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_a_spreadsheet_reads_what_was_written(tmp_path: Path) -> None:
    """Texts are no formulas, digits are not rounded, no cell is too long, and umlauts are known for UTF-8."""
    row: list[Any] = ["m", "1234567890123456", 2, "=HYPERLINK(1)", b"[" + b"1," * 20_000 + b"1]", 1.5]
    kinds: list[Any] = ["text", "text", "whole", "text", "json", "number"]
    table = Table("matches", tuple(Column(f"c{at}", kind) for at, kind in enumerate(kinds)))
    ways: list[Any] = [
        ("excel", "'1234567890123456", "(too long for a spreadsheet: 40,003 characters)"),
        ("csv", row[1], None),
    ]
    for kind, deal, long in ways:
        path = tmp_path / file_name(table, kind)
        with table_file(path, table, kind) as writer:
            writer.write([tuple(row), ("Zürich", None, -1, "+1", b"1", -1.0)])
        assert path.read_bytes().startswith(codecs.BOM_UTF8) == (kind == "excel")
        with path.open(encoding="utf-8-sig", newline="") as file:
            _, first, second = csv.reader(file)
        assert first == ["m", deal, "2", "'=HYPERLINK(1)", long or row[4].decode(), "1.5"]
        assert second == ["Zürich", "", "-1", "'+1", "1", "-1.0"]


def test_bad_requests_say_what_to_do(command: Command, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that do not go together, files that are there, and a missing package end with exit code 2."""
    code, _, err = command("export", whole, "--decisions")
    assert (code, "add --format csv" in err) == (2, True)
    code, _, err = command("export", whole, "--format", "csv", "--match", "1")
    assert (code, "tables are of all matches" in err) == (2, True)
    assert command("export", whole, "--format", "csv")[0] == 0
    code, _, err = command("export", whole, "--format", "csv")
    assert (code, "--force" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = command("export", whole, "--format", "parquet")
    assert (code, "warpleague[parquet]" in err) == (2, True)
    with (
        pytest.raises(BadInput, match="cannot be written"),
        table_file(Path("/dev/null/x"), TABLES[0], "csv"),
    ):
        pass
