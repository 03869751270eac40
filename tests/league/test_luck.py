"""Standings without luck: what is left is the true strength, surer than before; nobody can choose it afterwards."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.league.conftest import Command, Cup, Refereed

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.league.results.luck import MIN_DEALS, without_luck
from warpleague.league.store.columns import Columns
from warpleague.match.luck import worth_of

GAME = 'id = "coasters"\noptions = { max_rounds = 2 }'


def made_up(rng: Any, deals: int, share: float, weight: float, *, shared: bool = False) -> tuple[Any, Any]:
    """Duels of two bots, and the luck of each: the first bot wins `share`; luck decides as much as `weight` says.

    With `shared` two matches have one deal, in both seat orders, and the first seat has the same luck in both.
    """
    rows = 2 * deals if shared else deals
    dice = rng.uniform(-0.5, 0.5, deals).repeat(2 if shared else 1)
    seats = np.array([[0, 1], [1, 0]] * rows)[:rows]
    mine = np.where(seats[:, 0] == 0, dice, -dice)
    won = rng.random(rows) < np.clip(share + weight * mine, 0, 1)
    ranks = np.where((won == (seats[:, 0] == 0))[:, None], [1, 2], [2, 1])
    deal = rng.integers(0, 1 << 53, deals).repeat(2 if shared else 1)
    ids = np.array([f"{number:020x}".encode() for number in range(rows)])
    group = np.arange(rows) // (2 if shared else 1)
    values = {"number": np.arange(1, rows + 1), "group": group, "seats": seats, "ranks": ranks}
    columns = Columns(2, {**values, "deal": deal, "id": ids, "rival": np.full(rows, np.nan)})
    return columns, {
        one.decode(): (luck, -luck) for one, luck in zip(ids.tolist(), dice.tolist(), strict=True)
    }


@pytest.mark.parametrize("shared", [False, True])
def test_the_mean_stays_and_the_interval_holds(shared: bool) -> None:
    """Over many leagues the mean is the truth, 93 to 97 % of the intervals contain it, and the error is smaller."""
    rng = np.random.default_rng(1)
    found = [without_luck(*made_up(rng, 60, 0.6, 0.8, shared=shared), 2)[0] for _ in range(800)]
    means = np.array([one.mean.mean for one in found])
    assert means.mean() == pytest.approx(0.6, abs=3 * means.std() / len(means) ** 0.5)
    held = np.mean([abs(one.mean.mean - 0.6) <= one.mean.half for one in found])
    assert 0.93 <= held <= 0.97
    gain = float(np.mean([one.gain for one in found]))
    assert gain < 1.1 if shared else gain > 1.15  # shared dice take this luck away themselves


@pytest.mark.parametrize("deals", [MIN_DEALS, 200])
def test_luck_that_decides_nothing_costs_nothing(deals: int) -> None:
    """Where luck has no effect on results, the mean varies at most 1.05 times as much as without the correction."""
    rng = np.random.default_rng(2)
    raw, left = [], []
    for _ in range(1500):
        columns, lucks = made_up(rng, deals, 0.5, 0.0)
        raw.append(np.mean((columns.ranks == 1)[columns.seats == 0]))
        left.append(without_luck(columns, lucks, 2)[0].mean.mean)
    assert np.var(left) <= 1.05 * np.var(raw)


def test_a_deal_does_not_choose_its_own_coefficient() -> None:
    """Another result of one match changes nothing that is taken from the matches of its fold."""
    rng = np.random.default_rng(3)
    columns, lucks = made_up(rng, 80, 0.5, 0.8)
    other = Columns(2, {**columns.values, "ranks": columns.ranks.copy()})
    other.ranks[0] = 3 - other.ranks[0]
    means = [without_luck(one, lucks, 2)[0].mean.mean for one in (columns, other)]
    fold = columns.deal % 5 == columns.deal[0] % 5
    # If all others are of another fold's luck 0, nothing but the result itself is left to differ.
    calm = {
        match: luck if in_fold else (0.0, 0.0)
        for (match, luck), in_fold in zip(lucks.items(), fold.tolist(), strict=True)
    }
    alone = [without_luck(one, calm, 2)[0].mean.mean for one in (columns, other)]
    assert abs(alone[0] - alone[1]) == pytest.approx(1 / 80)
    assert means[0] != means[1]


def test_few_deals_and_dice_without_worth_are_refused() -> None:
    """It is told what is missing."""
    rng = np.random.default_rng(4)
    columns, lucks = made_up(rng, MIN_DEALS - 1, 0.5, 0.8)
    with pytest.raises(BadInput, match=f"need {MIN_DEALS} deals.* there are 59"):
        without_luck(columns, lucks, 2)
    columns, lucks = made_up(rng, 70, 0.5, 0.8)
    with pytest.raises(BadInput, match="says nothing of the dice at tables of 2"):
        without_luck(columns, dict.fromkeys(lucks, (0.0, 0.0)), 2)


def test_alone_at_the_table_there_are_no_shares() -> None:
    """A solo league without an opponent of the game's own has scores only."""
    columns, lucks = made_up(np.random.default_rng(5), 80, 0.5, 0.8)
    ones = {name: columns.values[name][:, :1] for name in ("seats", "ranks")}
    solo = Columns(1, {**columns.values, **ones})
    with pytest.raises(BadInput, match="alone at the table"):
        without_luck(solo, {match: luck[:1] for match, luck in lucks.items()}, 2)


# -- the command -----------------------------------------------------------------------------------------


@pytest.fixture
def duels(cup: Cup, refereed: Refereed) -> Path:
    """A league of short duels of coasters that are really played, on just enough deals."""
    path = cup.file("a", "b", game=GAME, deals=MIN_DEALS // 2, extra='dice = "own"')
    return cup.play_once(path, "duels", play=refereed())[0]


@pytest.fixture
def another_worth(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Lets coasters name another worth function, or none."""
    monkeypatch.syspath_prepend(tmp_path)
    written: set[str] = set()

    def name(module: str, body: str = "VERSION = 1\ndef shares(state): return (0.5, 0.5)\n") -> None:
        if module:
            (tmp_path / f"{module}.py").write_text(body, "utf-8")
            written.add(module)
        monkeypatch.setattr(type(load_game("coasters")), "worth", module)
        worth_of.cache_clear()

    yield name
    for module in written:
        sys.modules.pop(module, None)
    worth_of.cache_clear()


def test_standings_tell_what_is_left_without_luck(cup: Cup, duels: Path, command: Command) -> None:
    """Only where asked; the same with what is kept as with what is computed now, and `verify` computes it again."""
    plain = json.loads(command("standings", duels, "--json")[1])["standings"]
    assert not any("without_luck" in line for line in plain)
    kept = cup.store.with_name("luck.jsonl")
    assert not kept.exists()
    first = command("standings", duels, "--without-luck", "--json")[1]
    written = kept.read_bytes()
    assert len(written.splitlines()) == 1 + MIN_DEALS
    assert command("standings", duels, "--without-luck", "--json")[1] == first
    for line in json.loads(first)["standings"]:
        assert 0 <= line["without_luck"] <= 1
        assert line.keys() >= {"without_luck_half", "without_luck_gain"}
    code, out, _ = command("standings", duels, "--without-luck")
    assert code == 0
    assert "without luck  " in out
    assert "the share of points less the luck of the dice" in out
    assert command("verify", duels)[0] == 0
    assert kept.read_bytes() == written
    for words, there in ((("--without-luck",), True), ((), False)):
        assert command("report", duels, "--replays", "none", *words)[0] == 0
        page = (cup.results / "cup" / "report" / "index.html").read_text("utf-8")
        assert ("without luck" in page) is there


def test_a_luck_that_was_altered_is_told(cup: Cup, duels: Path, command: Command) -> None:
    """`verify` names the match; one that is not computed again is not looked at; nor is what cannot be read hidden."""
    command("standings", duels, "--without-luck")
    kept = cup.store.with_name("luck.jsonl")
    head, first, *rest = kept.read_text("utf-8").splitlines()
    row = json.loads(first)
    row["luck"] = [row["luck"][0] + 0.25, row["luck"][1] - 0.25]
    kept.write_text("\n".join([head, json.dumps(row), *rest]) + "\n", "utf-8")
    code, out, _ = command("verify", duels)
    assert code == 1
    assert f"({row['match']}): its luck in luck.jsonl is " in out
    assert out.count("WRONG") == 1
    row["luck"] = [0.5]
    kept.write_text("\n".join([head, json.dumps(row), *rest]) + "\n", "utf-8")
    assert command("verify", duels)[0] == 1
    assert command("standings", duels, "--without-luck")[0] == 0  # it is computed again
    assert command("verify", duels)[0] == 0
    kept.write_text("nonsense\n", "utf-8")
    code, out, _ = command("verify", duels)
    assert (code, out.count("WRONG  the store: luck.jsonl cannot be read")) == (1, 1)
    assert command("standings", duels, "--without-luck")[0] == 0
    assert command("verify", duels)[0] == 0


def test_the_function_is_that_of_the_commitment(
    cup: Cup, duels: Path, command: Command, another_worth: Any
) -> None:
    """Another function than the one committed to changes no figure: it is refused, and so is none."""
    command("standings", duels, "--without-luck")
    before = command("status", duels, "--json", "--proofs")[1]
    another_worth("kinder")
    code, _, err = command("standings", duels, "--without-luck")
    assert code == 2
    assert "committed to another worth function" in err
    assert command("verify", duels)[0] == 0
    assert command("standings", duels)[0] == 0
    assert command("status", duels, "--json", "--proofs")[1] == before
    another_worth("")
    assert "coasters has no worth function" in command("standings", duels, "--without-luck")[2]
    with cup.read(duels) as league:
        assert league.season.worth is not None  # a league keeps what it committed to


def test_a_league_without_a_function_commits_to_none(
    cup: Cup, command: Command, refereed: Refereed, another_worth: Any
) -> None:
    """A function that the game gets later, when results are known, is not used."""
    another_worth("")
    path = cup.file("a", "b", game=GAME, deals=1)
    cup.play(path, play=refereed())
    another_worth("late")
    cup.play(path, play=refereed())
    code, _, err = command("standings", path, "--without-luck")
    assert code == 2
    assert "names no worth function" in err


def test_a_function_that_fails_is_named_with_its_match(
    cup: Cup, command: Command, refereed: Refereed, another_worth: Any
) -> None:
    """Standings say where, and no result changes."""
    another_worth("broken", "VERSION = 1\ndef shares(state): return (1, 1)\n")
    path = cup.file("a", "b", game=GAME, deals=1)
    cup.play(path, play=refereed())
    plain = command("standings", path)[1]
    code, _, err = command("standings", path, "--without-luck")
    assert code == 2
    assert "of cup: line " in err
    assert "coasters: broken: gives (1.0, 1.0)" in err
    assert command("standings", path)[1] == plain
