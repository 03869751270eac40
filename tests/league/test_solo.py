"""Solo leagues against the game's own opponent: its score from the engine to the tables."""

import json
import re
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.league.conftest import Cup
from tests.league.inline import InlinePool

from warpleague.cli import main
from warpleague.errors import RecordError
from warpleague.games import load_game
from warpleague.league.play.verifying import verify_league
from warpleague.league.ratings.statistics import differences_to_next, wilson_interval
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import ranked, standings
from warpleague.league.results.tallies import Tally
from warpleague.league.season.config import load_config
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import verify_record
from warpleague.match.scribe import digest_form, digest_of, seal
from warpleague.match.spec import MatchSpec
from warpleague.report.wording.columns import standing_json
from warpline.codec import canonical
from warpline.messages import BotHello


def play(spec: MatchSpec) -> Any:
    """A real solo match, refereed in this process, by a bot that draws lots by its name."""
    referee = Referee(load_game(spec.game), spec)
    lots = Random(spec.seats[0].bot)
    referee.begin()
    referee.connect(0, BotHello(protocol=1))
    while referee.advance() is not Situation.OVER:
        question = json.loads(referee.line)
        answer = {"type": "act", "id": question["id"], "action": lots.randrange(len(question["legal"]))}
        assert referee.answer(json.dumps(answer).encode(), 1_000, None, None) is None
    result = referee.finish()
    assert json.loads(referee.end_line(0))["result"]["rival"] == result.rival
    return result


@pytest.fixture
def solo(cup: Cup) -> Any:
    """A league of two bots and three short deals against the machine captain, played; its file."""
    path = cup.file("a", "b", extra="[rules]\nlevel = 'none'")
    game = '[game]\nid = "captains"\nplayers = 1\noptions = { max_rounds = 8 }\n'
    path.write_text(path.read_text().replace('[game]\nid = "aliens"\n', game))
    cup.play(path, play=play)
    return path


def test_the_rivals_score_reaches_store_record_and_standings(solo: Path, tmp_path: Path) -> None:
    """The score in the store is the one of the record; the standings count wins, margins and differences."""
    with open_to_read(load_config(solo), tmp_path / "results") as league:
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None] * 6
        margins: dict[str, list[float]] = {"a": [], "b": []}
        for fixture, played in league.results():
            summary = verify_record(league.store.record(fixture.id))
            assert summary.rival == played.rival is not None
            assert (played.ranks == (1,)) == (played.scores[0] > played.rival)
            margins[league.season.names[fixture.seats[0]]].append(played.scores[0] - played.rival)
        table = standings(league)
    assert table.rival
    for line in table.lines:
        record = line.record
        assert (record.won + record.lost, record.margins.count) == (3, 3)
        assert record.margins.mean == pytest.approx(sum(margins[line.bot]) / 3)
        data = standing_json(line)
        assert data["margin"] == pytest.approx(record.margins.mean, abs=1e-6)
        assert data["share_low"] <= data["share"] <= data["share_high"]
    first, second = (line.bot for line in table.lines)
    pairs = [one - other for one, other in zip(margins[first], margins[second], strict=True)]
    assert standing_json(table.lines[0])["ahead"] == pytest.approx(sum(pairs) / 3, abs=1e-6)
    assert "ahead" not in standing_json(table.lines[1])


@pytest.mark.parametrize("forged", [99, ...])
def test_a_forged_rival_is_found(solo: Path, tmp_path: Path, forged: object) -> None:
    """A record whose rival was changed or left out does not hold, with digest and seal made to fit."""
    with open_to_read(load_config(solo), tmp_path / "results") as league:
        fixture, _ = next(iter(league.results()))
        *lines, end, _ = league.store.record(fixture.id).splitlines(keepends=True)
    data = {**json.loads(end), "rival": forged}
    data = {key: value for key, value in data.items() if key != "digest" and value is not ...}
    digest = digest_of([*(digest_form(json.loads(line)) for line in lines), digest_form(data)])
    lines.append(canonical({**data, "digest": digest}) + b"\n")
    with pytest.raises(RecordError, match="rival must be"):
        verify_record(b"".join([*lines, seal(lines)]))


def test_a_changed_rival_in_the_store_is_found(solo: Path, tmp_path: Path) -> None:
    """A store whose rival is not the record's is found by verifying the league."""
    with sqlite3.connect(tmp_path / "results" / "cup" / "league.sqlite") as db:
        db.execute("UPDATE match SET rival = 1000")
    db.close()
    with open_to_read(load_config(solo), tmp_path / "results") as league:
        problems = [problem for _, problem in verify_league(league, new_pool=InlinePool)]
    assert problems == ["the result in the store is not the one of its record"] * 6


def test_wins_rank_before_margins() -> None:
    """More wins stand above a greater margin; of equal wins the greater margin is better; equals share."""
    tally = Tally(5, 16.0, 1500.0)
    for bot, scores in enumerate([(1, 99), (11, 12), (10, 12), (1, 99)]):
        for score in scores:
            tally.add((bot,), (1 if score > 10 else 2,), (float(score),), (0,), 10.0)
    lines = ranked(("w", "x", "y", "z", "idle"), tally, None, "elo", solo=True).lines
    assert [(line.rank, line.bot) for line in lines] == [(1, "x"), (2, "w"), (2, "z"), (4, "y"), (5, "idle")]


def test_share_intervals_are_wilsons() -> None:
    """The interval of 18 wins in 30 is the textbook's; none won still leaves room."""
    assert wilson_interval(18, 30) == pytest.approx((0.4232, 0.7541), abs=1e-4)
    assert wilson_interval(0, 30) == pytest.approx((0.0, 0.1135), abs=1e-4)
    assert wilson_interval(30, 30) == pytest.approx((0.8865, 1.0), abs=1e-4)


def test_differences_are_taken_on_common_deals() -> None:
    """Luck of the deal that both bots share cancels out; deals that one has not played do not count."""
    values = [(7, 0, 10.0), (7, 1, 8.0), (9, 1, 107.0), (9, 0, 110.0), (4, 0, 55.0), (5, 2, 1.0), (5, 1, 5.0)]
    first, second = differences_to_next((0, 1, 2), values)
    assert (first.count, first.mean, first.error) == (2, 2.5, 0.5)
    assert (second.count, second.mean, second.error) == (1, 4.0, None)


def test_a_match_tells_the_rivals_score(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`match` has the rival in its table and its JSON, and `replay show` at its end."""
    bot = Path(__file__).parents[2] / "bots" / "random-python"
    record = str(tmp_path / "one.jsonl")
    call = ["match", "captains", str(bot), "--option", "max_rounds=3", "--seed", "s", "--record", record]
    assert main([*call, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rival"] == json.loads(Path(record).read_text().splitlines()[-2])["rival"]
    told = rf"{3 - data['ranks'][0]}\. the game itself, score {data['rival']}\n"
    assert main(["replay", "show", record]) == 0
    assert re.search(told, capsys.readouterr().out)
    assert main(["replay", "verify", record, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rival"] == data["rival"]
    assert main([*call, "--force"]) == 0
    assert "the game itself" in capsys.readouterr().out
