"""One table over several leagues: who is ranked, what copies change, and whether intervals hold."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.league.conftest import Cup

from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.league.results.together import LeagueResults, opponent_shares, together
from warpleague.league.store.columns import Columns
from warpleague.match.spec import SeatSpec

ROWS = list[tuple[int, int, int, bool]]


def results(league: str, bots: dict[str, str], rows: ROWS, game: str = "", **more: Any) -> LeagueResults:
    """A league of matches of two: `bots` are digests by name, rows are two bots, the deal, and if the first won."""
    values = {
        "seats": np.array([row[:2] for row in rows]),
        "ranks": np.array([(1, 2) if won else (2, 1) for *_, won in rows]),
        "deal": np.array([deal for _, _, deal, _ in rows]),
    }
    seats = tuple(SeatSpec(bot=name, version="1", digest=digest) for name, digest in bots.items())
    columns = Columns(players=2, values=values)
    return LeagueResults(league=league, game=game or league, bots=seats, columns=columns, **more)


def beats(names: list[str], winners: dict[tuple[str, str], str], deals: int = 2) -> ROWS:
    """A round-robin; of two bots that are not in `winners` each wins once on a deal. A digit ends a copy's name."""
    rows: ROWS = []
    for one, two in combinations(range(len(names)), 2):
        pair = (names[one].rstrip("0123456789"), names[two].rstrip("0123456789"))
        winner = winners.get(pair)
        for deal in range(deals):
            number = (one * len(names) + two) * deals + deal
            rows.append((one, two, number, winner in (None, pair[0])))
            rows.append((two, one, number, winner != pair[0]))
    return rows


CIRCLE = {
    ("a", "b"): "a",
    ("a", "x"): "x",
    ("b", "x"): "b",
    ("a", "c"): "a",
    ("b", "c"): "b",
    ("c", "x"): "c",
}
"""a loses to x alone, x wins only that."""


def table(copies: int, of_all: bool = True) -> dict[str, tuple[int | None, float | None]]:
    leagues = []
    for number, game in enumerate(("one", "two")):
        names = ["a", "b", "c", "x", *(f"x{copy}" for copy in range(copies if of_all or not number else 0))]
        bots = {name: f"digest of {name[0]}" for name in names}
        leagues.append(results(game, bots, beats(names, CIRCLE)))
    return {line.bot: (line.rank, line.share) for line in together(leagues).lines}


@pytest.mark.parametrize("of_all", [True, False])
def test_twenty_copies_move_nobody(of_all: bool) -> None:
    """Twenty copies of a bot, in all leagues or in one, change neither the place nor the share of any other bot."""
    alone, crowded = table(0), table(20, of_all)
    assert [alone[bot][0] for bot in "abcx"] == [1, 1, 3, 3]
    assert {bot: crowded[bot] for bot in "abcx"} == alone
    assert {crowded[bot][0] for bot in crowded if bot not in "abcx"} <= {None}


def test_games_weigh_alike_and_leagues_share_their_game() -> None:
    """Two leagues of one game weigh as much as one of another, however many matches they have."""
    bots = {"a": "a", "b": "b"}
    won: ROWS = [(0, 1, deal, True) for deal in range(10)]
    lost: ROWS = [(0, 1, deal, False) for deal in range(2)]
    leagues = [results("l", bots, won, "g"), results("m", bots, won, "g"), results("n", bots, lost, "h")]
    found = together(leagues)
    assert found.weights == {"l": 0.25, "m": 0.25, "n": 0.5}
    assert [(line.bot, line.rank, line.share, line.half) for line in found.lines] == [
        ("a", 1, 0.5, None),
        ("b", 1, 0.5, None),
    ]


def test_intervals_hold_the_true_shares() -> None:
    """Matches on one deal share its luck; over two games of three opponents, on four deals each, 93 to 97 % hold."""
    rng = np.random.default_rng(1)
    truth = {"one": np.array([0.8, 0.5, 0.35, 0.6]), "two": np.array([0.4, 0.5, 0.7, 0.3])}
    names = {name: name for name in "abcd"}
    inside = total = 0
    for _ in range(400):
        leagues = []
        for game, strength in truth.items():
            rows: ROWS = []
            for number, (one, two) in enumerate([*combinations(range(4), 2)] * 4):
                share = strength[one] / (strength[one] + strength[two])
                both = rng.random() < 0.5  # the luck of the deal decides both matches
                wins = [bool(rng.random() < share)] * 2 if both else (rng.random(2) < share).tolist()
                rows += [(one, two, number, wins[0]), (two, one, number, not wins[1])]
            leagues.append(results(game, names, rows))
        for bot, line in enumerate(sorted(together(leagues).lines, key=lambda line: line.bot)):
            shares = [np.delete(s[bot] / (s[bot] + s), bot).mean() for s in truth.values()]
            assert line.share is not None
            if line.half is not None:
                inside += abs(line.share - np.mean(shares)) <= line.half
                total += 1
    assert total > 1500
    assert 0.93 <= inside / total <= 0.97


def test_an_opponent_met_on_one_deal_gives_no_interval() -> None:
    """One deal tells nothing of how results scatter, and neither do deals that all went alike."""
    bots = {"a": "a", "b": "b"}
    one = opponent_shares(results("l", bots, [(0, 1, 1, True), (1, 0, 1, True)]))["a"]
    assert (one.share, one.half, one.deals) == (0.5, None, 1)
    two = opponent_shares(results("l", bots, [(0, 1, 1, True), (0, 1, 2, True)]))["a"]
    assert (two.share, two.half, two.deals) == (1.0, None, 2)


def test_a_bot_that_lacks_a_league_or_is_disqualified_has_no_place() -> None:
    """It stands below, with what it did elsewhere."""
    names = ["a", "b", "c"]
    whole = results("l", {name: name for name in names}, beats(names, {}))
    part = results("m", {"a": "a", "b": "b"}, beats(names[:2], {}))
    lines = {line.bot: line for line in together([whole, part]).lines}
    assert (lines["c"].rank, lines["c"].share, lines["c"].lacks) == (None, None, ("m",))
    assert lines["c"].shares["l"].share == 0.5
    out = results("m", {name: name for name in names}, beats(names[:2], {}), barred=frozenset({2}))
    lines = {line.bot: line for line in together([whole, out]).lines}
    assert (lines["c"].rank, lines["c"].lacks, lines["c"].disqualified) == (None, (), ("m",))


def test_what_cannot_be_put_together() -> None:
    """It says which bots have not met, and which bots the leagues have if none is in all of them."""
    one = results("l", {"a": "a", "b": "b"}, beats(["a", "b"], {}))
    other = results("m", {"c": "c", "d": "d"}, beats(["c", "d"], {}))
    with pytest.raises(BadInput, match=r"no bot has played in all 2 leagues.*l: a 1, b 1; m: c 1, d 1"):
        together([one, other])
    apart = results("m", {"a": "a", "b": "b", "c": "c"}, [(0, 1, 1, True), (1, 2, 2, True)])
    with pytest.raises(BadInput, match="m: a and c have not met"):
        together([one, apart])


@pytest.fixture
def leagues(cup: Cup) -> Path:
    """The folder of two leagues of two games, of which cleo plays in the first only, and of a solo league."""
    cup.play(cup.file("anna", "bert", "cleo", name="first", game=cup.short))
    cup.play(cup.file("anna", "bert", name="second", game='id = "captains"\nplayers = 2'))
    cup.play(cup.file("anna", name="solo", game='id = "captains"\nplayers = 1'))
    return cup.folder


def standings(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str, str]:
    """`warpleague league standings` with files of this folder."""
    given = [word if word.startswith("--") else str(folder / word) for word in words]
    code = main(["league", "standings", *given, "--results", str(folder / "results")])
    return code, *capsys.readouterr()


def test_the_command_prints_one_table(leagues: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the shares by league and what a bot lacks; as JSON, too."""
    words = ("first.toml", "second.toml", "--together")
    code, out, _ = standings(capsys, leagues, *words)
    assert code == 0
    assert "Standings of first (aliens), second (captains)" in out
    assert "lacks second" in out
    code, out, _ = standings(capsys, leagues, *words, "--json")
    data = json.loads(out)
    assert code == 0
    assert [line["weight"] for line in data["leagues"]] == [0.5, 0.5]
    assert [line["bot"] for line in data["standings"]][-1] == "cleo"
    ranked = data["standings"][0]
    assert ranked["share"] == pytest.approx(sum(part["share"] for part in ranked["shares"].values()) / 2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("first.toml", "second.toml"), "add --together"),
        (("first.toml", "--together"), "two leagues or more"),
        (("first.toml", "first.toml", "--together"), "two of the leagues are called first"),
        (("first.toml", "none.toml", "--together"), "none.toml: there is no such file"),
        (("first.toml", "bots", "--together"), "bots"),
        (("first.toml", "solo.toml", "--together"), "is a solo league"),
    ],
)
def test_bad_input_of_the_command(
    leagues: Path, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with exit code 2, and says what to do."""
    code, _, err = standings(capsys, leagues, *words)
    assert code == 2
    assert told in err
    assert "Traceback" not in err
