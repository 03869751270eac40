"""The `league` commands: what they print, what they return."""

import json
import os
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.league.conftest import Command, Cup, Refereed

from warpleague.cli.league_common import print_json_list
from warpleague.league.store.schema import NUMBERING
from warpleague.match import zstd
from warpleague.match.spec import MatchResult, MatchSpec


@pytest.fixture
def league_file(cup: Cup) -> Path:
    return cup.file("anna", "bert", "cleo", game=cup.short)


@pytest.fixture
def played(command: Command, league_file: Path) -> Path:
    code, _, _ = command("run", league_file, "--quiet")
    assert code == 0
    return league_file


def test_run_prints_tables_and_the_way_on(command: Command, league_file: Path) -> None:
    """A run prints all tables, and the commands that verify and reproduce a match; progress goes to stderr."""
    code, out, err = command("run", league_file)
    assert code == 0
    for title in ("Standings of cup, 18 matches", "Crosstable", "Seats", "Time for a decision", "Faults"):
        assert title in out
    assert "18 matches played in" in out
    assert f"warpleague league verify {league_file} --results" in out
    assert "warpleague reproduce " in out
    assert "cup: aliens, 3 bots; round-robin: 3 tables of 2, 3 deals each, every rotation = 18 matches" in err


@pytest.mark.parametrize(("top", "told"), [("", True), ('seed = "known"', False)])
def test_commitments_are_told_where_there_is_a_secret(
    top: str, told: bool, command: Command, cup: Cup
) -> None:
    """A first run tells both commitments and what they are good for; with a seed in the file nothing is secret."""
    path = cup.file("anna", "bert", top=top)
    _, _, err = command("run", path)
    assert ("commitment to the season's secret (SHA-256): " in err) == told
    assert ("note: who publishes both now can prove later that dice, bots and rules stayed" in err) == told
    _, _, again = command("run", path)
    assert "who publishes both now" not in again


def test_run_json_is_one_object(command: Command, league_file: Path) -> None:
    """With --json, standard output is one JSON object with counts and standings."""
    code, out, _ = command("run", league_file, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["matches"], data["played"], data["complete"], data["failure"]) == (18, 18, True, None)
    assert len(data["standings"]) == 3
    assert len(data["secret"]) == 64


def test_standings_json_has_the_promised_keys(command: Command, played: Path) -> None:
    """`standings --json` prints an object with the keys others rely on."""
    code, out, _ = command("standings", played, "--json")
    told = json.loads(out)
    lines = told["standings"]
    assert code == 0
    assert (told["league"], told["matches"]) == ("cup", 18)
    assert told.keys() >= {"tells_apart", "matches_to_halve"}
    assert [line["rank"] for line in lines] == [1, 1, 3]
    assert {"rank", "bot", "rating", "running_elo", "played", "won", "drawn", "lost", "faults"} <= lines[
        0
    ].keys()
    assert sum(line["played"] for line in lines) == 36


@pytest.mark.parametrize(
    "action", ["status", "standings", "crosstable", "seats", "faults", "times", "matches"]
)
def test_every_table_has_both_forms(command: Command, played: Path, action: str) -> None:
    """Each look at a league prints a table for people, and JSON when asked."""
    code, out, _ = command(action, played)
    assert code == 0
    assert any(bot in out for bot in ("anna", "bert", "cleo")) or action == "seats"
    code, out, _ = command(action, played, "--json")
    assert code == 0
    assert json.loads(out)


def test_status_keeps_the_secret_until_the_end(command: Command, league_file: Path, cup: Cup) -> None:
    """Before the season's end status tells the commitment, after it the secret too."""
    cup.open(league_file).store.close()
    before = json.loads(command("status", league_file, "--json")[1])
    assert (before["stored"], before["complete"], before["secret"]) == (0, False, None)
    command("run", league_file, "--quiet")
    after = json.loads(command("status", league_file, "--json")[1])
    assert (after["stored"], after["complete"], after["commitment"]) == (18, True, before["commitment"])
    assert len(after["secret"]) == 64


def test_status_begins_with_the_answer(command: Command, league_file: Path) -> None:
    """Who leads, how far it is and what is missing; hashes are shown only where they are wanted."""
    command("run", league_file, "--quiet", "--matches", "7")
    told = command("status", league_file)[1]
    first = " ".join(told.partition("\n\n")[0].split())
    assert first.startswith("3 bots in a round-robin of ")
    assert ": 7 of 18 matches played (39 %). " in first
    assert " leads" in first or " lead." in first
    assert first.endswith(" 11 matches are missing.")
    now = json.loads(command("status", league_file, "--json")[1])
    proofs = command("status", league_file, "--proofs")[1]
    for key in ("commitment", "entrants", "head"):
        assert (now[key] in told, now[key] in proofs) == (False, True)
    command("run", league_file, "--quiet")
    now = json.loads(command("status", league_file, "--json")[1])
    told, proofs = command("status", league_file)[1], command("status", league_file, "--proofs")[1]
    assert " No match is missing." in " ".join(told.split())
    assert (now["secret"] in told, now["secret"] in proofs) == (False, True)


def test_matches_can_be_asked_for_by_bot(command: Command, played: Path) -> None:
    """`matches --bot` lists that bot's matches; a bot that is not there is refused with the nearest name."""
    rows = json.loads(command("matches", played, "--bot", "anna", "--json")[1])
    assert len(rows) == 12
    assert all("anna" in row["seats"] for row in rows)
    code, _, err = command("matches", played, "--bot", "ana")
    assert code == 2
    assert "did you mean 'anna'?" in err


def test_matches_are_the_same_with_and_without_numbers(command: Command, league_file: Path) -> None:
    """`matches` lists played and missing matches in order, whether the store has their numbers or not."""
    command("run", league_file, "--quiet", "--matches", "7")
    results = league_file.parent / "results"
    store = next(results.rglob("league.sqlite"))
    with closing(sqlite3.connect(store)) as db, db:  # a hole in the middle, as a void match leaves it
        stored = [row[0] for row in db.execute("SELECT number FROM match ORDER BY number")]
        db.execute("DELETE FROM match WHERE number = ?", (stored.pop(3),))
    listed = command("matches", league_file, "--json")[1]
    rows = json.loads(listed)
    assert [row["number"] for row in rows] == [*range(1, 19)]
    assert [row["number"] for row in rows if row["played"]] == stored
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("DELETE FROM meta WHERE key = ?", (NUMBERING,))
    assert command("matches", league_file, "--json")[1] == listed


def test_lists_are_printed_row_by_row(
    command: Command, played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed piece by piece is the JSON that printing all at once gives, also of an empty list."""
    _, out, _ = command("matches", played, "--json")
    assert out == json.dumps(json.loads(out), indent=2, ensure_ascii=False) + "\n"
    for rows in ([], ["aéb"], [{"x": {"y": [1, []]}}, 2]):
        print_json_list(iter(rows))
        assert capsys.readouterr().out == json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def test_mistakes_are_told_without_traceback(command: Command, league_file: Path) -> None:
    """A wrong file, a league that was not run, a number that is none: exit code 2 and one text."""
    for arguments, text in (
        (("standings", league_file), "nothing has been played yet"),
        (("run", league_file.with_name("cap.toml")), "cup.toml'?"),
    ):
        code, out, err = command(*arguments)
        assert (code, out) == (2, "")
        assert text in err
        assert "Traceback" not in err
    with pytest.raises(SystemExit) as caught:
        command("run", league_file, "--jobs", "-1")
    assert caught.value.code == 2


def test_void_matches_are_exit_code_one(
    command: Command, league_file: Path, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with void matches shows their tracebacks and returns 1; the next run plays them."""
    code, out, err = command("run", league_file, play=cup.fake.play_void)
    assert code == 1
    assert "void (the harness or its host failed); the next run tries them again." in out
    assert "HarnessFault: the moon is full" in err
    assert "in play_void" in err
    assert command("run", league_file, "--quiet")[0] == 0


def test_an_interrupted_run_says_how_to_go_on(command: Command, league_file: Path, cup: Cup) -> None:
    """Interrupted, a run returns 130 and prints the command that goes on."""

    def play(spec: MatchSpec) -> MatchResult:
        os.kill(os.getpid(), signal.SIGINT)
        return cup.fake.play(spec)

    code, out, err = command("run", league_file, "--jobs", "1", play=play)
    assert code == 130
    assert re.search(r"^Go on: .*warpleague league run ", out, re.MULTILINE)
    assert "stopping" in err


def test_export_writes_records(command: Command, played: Path, tmp_path: Path) -> None:
    """`export` writes one match or all, compressed as asked, and prints where."""
    import gzip

    code, out, _ = command("export", played, "--match", "2")
    assert code == 0
    file = Path(out.strip())
    assert file.parent == tmp_path / "results" / "cup" / "records"
    plain = file.read_bytes()
    for form, unpacked in (("gz", gzip.decompress), ("zst", lambda data: zstd.decompress(data, 1 << 28))):
        code, out, _ = command("export", played, "--format", form, "--out", str(tmp_path / form), "--json")
        files = [Path(name) for name in json.loads(out)]
        assert len(files) == 18
        twin = tmp_path / form / f"{file.name}.{form}"
        assert twin in files
        assert unpacked(twin.read_bytes()) == plain


@pytest.fixture
def elsewhere(league_file: Path, cup: Cup, refereed: Refereed, tmp_path: Path) -> Path:
    """The folder in which another machine has played the whole season."""
    cup.play(league_file, tmp_path / "other", play=refereed())
    return tmp_path / "other" / "cup"


def test_what_was_merged_into_a_committed_league_asks_for_a_run(
    command: Command, league_file: Path, elsewhere: Path
) -> None:
    """All stores are looked for first; what was taken over before a run here is counted, and the way on is told."""
    assert command("commit", league_file)[0] == 0
    code, _, err = command("merge", league_file, str(elsewhere), f"{elsewhere}-2")
    assert code == 2  # one of several stores is not there: none is taken over
    assert f"{elsewhere}-2: there is no such store" in err
    assert command("merge", league_file, str(elsewhere))[0] == 0
    code, _, err = command("standings", league_file)
    assert code == 2
    assert "18 matches were taken over" in err
    assert f"warpleague league run {league_file} --results " in err


def test_a_merge_publishes_no_secret(command: Command, league_file: Path, cup: Cup, elsewhere: Path) -> None:
    """`merge` tells how many matches it took over; ours goes on, and its secret stays one until it is over here."""
    longer = cup.file("anna", "bert", "cleo", deals=4, game=cup.short)
    cup.open(longer).store.close()
    code, out, _ = command("merge", longer, str(elsewhere))
    assert (code, "18 matches taken over, 0 were here already" in out) == (0, True)
    told = json.loads(command("status", longer, "--json")[1])
    assert (told["stored"], told["complete"], told["published"], told["secret"]) == (18, False, None, None)


def test_a_longer_season_tells_that_its_secret_is_public(command: Command, played: Path, cup: Cup) -> None:
    """A finished season that is extended says so before it plays on, with `--quiet` too."""
    assert "is public since" not in command("run", played, "--quiet")[2]
    longer = cup.file("anna", "bert", "cleo", deals=4, game=cup.short)
    code, _, err = command("run", longer, "--quiet")
    assert code == 0
    assert "note: the secret of this season is public since" in err


def test_merge_checks_what_it_merges_into(
    command: Command, league_file: Path, cup: Cup, tmp_path: Path
) -> None:
    """Without a store none is made; a file with other conditions than its store's is told what differs."""
    cup.open(league_file, tmp_path / "other").store.close()
    code, _, err = command("merge", league_file, str(tmp_path / "other" / "cup"))
    assert code == 2
    assert "nothing has been played yet; start with: warpleague league run" in err
    assert not cup.results.exists()
    cup.open(league_file).store.close()
    changed = cup.file("anna", "bert", "cleo", extra="[clock]\nmove_s = 9", game=cup.short)
    code, _, err = command("merge", changed, str(tmp_path / "other" / "cup"))
    assert code == 2
    assert "clock.move_s: was 1.0, is now 9.0" in err
