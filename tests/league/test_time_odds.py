"""Time odds: a bot may have a clock of its own, which is part of what it is in tables, ids, records and merges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.league.conftest import Cup
from tests.league.inline import InlinePool

import warpleague.league.play.verifying
from warpleague.errors import ConfigError
from warpleague.games import load_game
from warpleague.league.play.verifying import altered, verify_league
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.match.referee import Referee
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpline.messages import BotHello

ODDS = """
seed = "test"
bots = ["bots/a", { path = "bots/a", clock = { move_s = 0.1 } }, { path = "bots/b", clock = CLOCK, name = "b" }]
[game]
id = "aliens"
options = { max_turns = 10 }
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the league file, the third bot with this clock."""

    def write(clock: str = "{ bank_s = 60.0, increment_s = 0.5 }") -> Path:
        for bot in "ab":
            (tmp_path / "bots" / bot).mkdir(parents=True, exist_ok=True)
        (tmp_path / "odds.toml").write_text(ODDS.replace("CLOCK", clock))
        return tmp_path / "odds.toml"

    return write


@pytest.fixture
def play(cup: Cup, refereed: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def play(path: Path, results: Path | None = None) -> Any:
        with cup.open(path, results) as league:
            return cup.run(league, play=refereed())

    return play


def test_one_bot_plays_with_two_clocks(write: Any, play: Any, tmp_path: Path) -> None:
    """Entered twice it has two names; records tell each seat's own clock, and all of it is verified."""
    path = write()
    assert play(path).complete
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert league.season.names == ("a", "a@0.1s", "b")
        assert league.season.bots[1].clock == TimeControl(move_s=0.1)
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool) if problem] == []
        assert altered(league) == []
        seats = [
            seat
            for fixture, _ in league.results()
            for seat in json.loads(league.store.record(fixture.id).split(b"\n", 1)[0])["seats"]
        ]
        assert {(seat["bot"], json.dumps(seat.get("clock"))) for seat in seats} == {
            ("a", "null"),
            ("a@0.1s", '{"move_s": 0.1, "start_s": 10}'),
            ("b", '{"bank_s": 60, "increment_s": 0.5, "start_s": 10}'),
        }
        digests = {seat["digest"] for seat in seats if seat["bot"] != "b"}
        assert digests == {"digest of a"}


def test_another_clock_is_another_entrant(write: Any, play: Any, tmp_path: Path) -> None:
    """With its clock changed, only the matches of this bot are new; with the old clock the old ones count again."""
    play(write())
    path = write("{ move_s = 0.2 }")
    assert play(path).played == 4
    with open_to_read(load_config(path), tmp_path / "results") as league:
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool) if problem] == []
        assert altered(league) == []
    with open_to_read(load_config(write()), tmp_path / "results") as league:
        assert [change.text for change in league.changed if change.what == "content"] == []
    assert play(write()).played == 0


def test_stores_with_clocks_are_merged(write: Any, play: Any, cup: Cup, tmp_path: Path) -> None:
    """Matches of another machine are taken over where clocks agree; where not, they are of other entrants."""
    path = write()
    play(path, tmp_path / "theirs")
    with cup.open(path) as league:
        assert cup.take_over(league, tmp_path / "theirs" / "odds" / "league.sqlite").added == 6
    assert play(path).played == 0
    with cup.open(write("{ move_s = 0.3 }")) as league:
        assert league.store.count_of(league.schedule) == 2


def test_an_altered_clock_in_a_record_is_found(write: Any, play: Any, cup: Cup) -> None:
    """Where a seat of the schedule has another clock than the record, verify says so."""
    path = write()
    play(path)
    with cup.open(path) as league:
        fixture, _ = next((f, r) for f, r in league.results() if 1 in f.seats)
        record = league.store.record(fixture.id)
        bots = [(league.season.bots[bot].bot, league.season.bots[bot].digest) for bot in fixture.seats]
        key = league.season.key_of(fixture.deal)
        head = {**league.season.conditions, "id": fixture.id}
        told = warpleague.league.play.verifying.problem_of(record, key, head, bots, (), [], None)
    assert told == "its header names other bots, or other clocks of theirs"


def test_the_referee_gives_each_seat_its_own_time() -> None:
    """One seat has a bank, the other a limit for each move; start messages and questions say so."""
    bank = TimeControl(bank_s=60.0, increment_s=2.0)
    spec = MatchSpec(
        id="odds",
        game="aliens",
        options={"max_turns": 10},
        seats=(SeatSpec("a"), SeatSpec("b", clock=bank)),
        key=b"k" * 32,
        clock=TimeControl(move_s=0.5),
    )
    referee = Referee(load_game("aliens"), spec)
    referee.begin()
    clocks = [json.loads(referee.start_line(seat))["clock"] for seat in (0, 1)]
    assert clocks == [{"move_s": 0.5, "start_s": 10.0}, {"bank_s": 60.0, "increment_s": 2.0, "start_s": 10.0}]
    for seat in (0, 1):
        referee.connect(seat, BotHello(protocol=1))
    asked = set()
    while len(asked) < 2:
        referee.advance()
        question = json.loads(referee.line)
        if referee.seat not in asked:
            expected = {"move_s": 0.5} if referee.seat == 0 else {"bank_s": 62.0}
            assert question["clock"] == expected
            assert referee.budget_ns == (500_000_000 if referee.seat == 0 else 62_000_000_000)
            assert referee.charge(1_000_000_000) == (None if referee.seat == 0 else 61_000_000_000)
            asked.add(referee.seat)
        answer = {"type": "act", "id": question["id"], "action": 0}
        assert referee.answer(json.dumps(answer).encode(), 1_000, None, None) is None


@pytest.mark.parametrize(
    ("clock", "told"),
    [
        ("{ }", "set move_s or bank_s"),
        ("{ move_s = 0.0 }", r"bots\[2\].clock.move_s: must be a number above 0"),
        ("{ move_s = 1.0, increment_s = 1.0 }", "is added to a bank, but there is no bank_s"),
        ("{ start_s = 1.0 }", "start_s: unknown key"),
    ],
)
def test_clocks_that_do_not_fit_are_refused(write: Any, clock: str, told: str) -> None:
    """An error names the bot and the key."""
    with pytest.raises(ConfigError, match=told):
        load_config(write(clock))
