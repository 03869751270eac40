"""The luck of a record: what dice gave each seat, by a game's worth function."""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.match.conftest import Table, make_spec

from warpleague.errors import BadInput
from warpleague.games import load_game
from warpleague.match.luck import MAX_OUTCOMES, SAMPLED, luck_of, luckiest, outcomes, worth_of
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json

COASTERS = load_game("coasters")


@pytest.fixture(scope="module")
def record() -> bytes:
    """A duel of bots that always answer 0."""
    options = options_json(COASTERS.Options(max_rounds=4))
    table = Table(make_spec(game="coasters", options=options))
    while table.step():
        pass
    return table.referee.finish().record


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Lets coasters name a worth function that is written here; gives what writes it."""
    monkeypatch.syspath_prepend(tmp_path)
    written: set[str] = set()

    def write(name: str, body: str, **more: str) -> Any:
        (tmp_path / f"{name}.py").write_text(body, "utf-8")
        written.add(name)
        for file, text in more.items():
            (tmp_path / file).write_text(text, "utf-8")
        monkeypatch.setattr(type(COASTERS), "worth", name)
        worth_of.cache_clear()
        return worth_of("coasters")

    yield write
    for name in written:
        sys.modules.pop(name, None)
    worth_of.cache_clear()


def test_the_luck_of_a_roll_is_its_worth_less_the_mean(record: bytes) -> None:
    """It adds up to nothing over all seats, and over all that could have been rolled."""
    worth = worth_of("coasters")
    assert worth is not None
    lucks = luck_of(Replay(record), worth)
    assert len(lucks) == record.count(b'"type":"chance"') > 4
    assert all(sum(roll.gains) == pytest.approx(0) for roll in lucks)
    lines = record.splitlines()
    for roll in lucks:
        assert b'"type":"chance"' in lines[roll.n]
        (rolled,) = [event.data for event in roll.events]
        assert f'"outcome":[{rolled["d6"] - 1},'.encode() in lines[roll.n]
    assert any(abs(roll.gains[0]) > 0.01 for roll in lucks)


def test_a_mean_is_over_all_that_could_be_rolled(record: bytes, module: Any) -> None:
    """A function that only looks at the d6 gives the number less 3.5, by the seat that rolled."""
    body = "VERSION = 1\ndef shares(state):\n    return (state.d6 / 10, 1 - state.d6 / 10)\n"
    for roll in luck_of(Replay(record), module("by_d6", body)):
        d6 = roll.events[0].data["d6"]
        assert roll.gains == pytest.approx(((d6 - 3.5) / 10, (3.5 - d6) / 10))


def test_weights_count_and_large_rolls_are_sampled() -> None:
    """What has no weight does not come; a sample follows from the match and the address alone."""
    assert dict(outcomes(((1, 0, 3), 2), "id", "x#1")) == {(0, 0): 1, (0, 1): 1, (2, 0): 3, (2, 1): 3}
    assert len(dict(outcomes((10, 10, 10), "id", "x#1"))) == MAX_OUTCOMES
    sample = list(outcomes((10, 10, 11), "id", "x#1"))
    assert len(sample) == SAMPLED
    assert sample == list(outcomes((10, 10, 11), "id", "x#1"))
    assert sample != list(outcomes((10, 10, 11), "id", "x#2"))
    assert sample != list(outcomes((10, 10, 11), "other", "x#1"))
    assert all(first < 10 and last < 11 for (first, _, last), _ in sample)
    assert fmean(last for (_, _, last), _ in sample) == pytest.approx(5, abs=1.2)


def test_the_luckiest_roll_is_the_one_that_did_most(record: bytes, module: Any) -> None:
    """For a lucky seat the best one, for an unlucky one the worst."""
    body = "VERSION = 1\ndef shares(state):\n    return (state.d6 / 10, 1 - state.d6 / 10)\n"
    lucks = luck_of(Replay(record), module("by_d6", body))
    numbers = [roll.events[0].data["d6"] for roll in lucks]
    for seat, sign in ((0, 1), (1, -1)):
        total, most = luckiest(lucks, seat)
        assert total == pytest.approx(sign * sum(number - 3.5 for number in numbers) / 10)
        wanted = max(numbers) if sum(numbers) >= 3.5 * len(numbers) else min(numbers)
        assert most.events[0].data["d6"] == wanted


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def shares(state):\n    return 1 / 0\n", "fails: ZeroDivisionError"),
        ("def shares(state):\n    return (0.5,)\n", "gives (0.5,), not 2 numbers"),
        ("def shares(state):\n    return (0.5, float('nan'))\n", "not 2 numbers"),
        ("def shares(state):\n    return (0.9, 0.9)\n", "with a sum of 1.0"),
        ("def shares(state):\n    return (1.5, -0.5)\n", "lie in [0, 1]"),
        ("def shares(state):\n    return 'no'\n", "fails: ValueError"),
    ],
)
def test_a_function_that_fails_is_named(record: bytes, module: Any, body: str, problem: str) -> None:
    """With the match, the line of the record and the game."""
    worth = module(f"bad{abs(hash(body))}", "VERSION = 1\n" + body)
    with pytest.raises(BadInput) as error:
        luck_of(Replay(record, where="match 7 of cup"), worth)
    first = next(i for i, line in enumerate(record.splitlines()) if b'"type":"chance"' in line)
    assert f"match 7 of cup: line {first}: coasters: bad" in str(error.value)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    "body", ["VERSION = 1\n", "def shares(state): ...\n", "FILES = ('x.bin',)\n", "1 / 0"]
)
def test_a_function_that_cannot_be_loaded_is_named(module: Any, body: str) -> None:
    """It is told of which game, and what is missing."""
    with pytest.raises(BadInput, match=r"coasters: its worth function half\d+ cannot be loaded: "):
        module(f"half{abs(hash(body))}", body)


def test_the_digest_is_that_of_version_and_files(module: Any) -> None:
    """Another version, another source and other data give other digests; the same ones the same."""
    body = "VERSION = {}\nFILES = ('data.txt',)\ndef shares(state): return (0.5, 0.5)\n"
    digests = [
        module("one", body.format(1), **{"data.txt": "a"}).digest,
        module("two", body.format(2), **{"data.txt": "a"}).digest,
        module("three", body.format(1), **{"data.txt": "b"}).digest,
    ]
    assert len(set(digests)) == 3
    worth_of.cache_clear()
    module("one", body.format(1), **{"data.txt": "a"})
    assert worth_of("coasters").digest == digests[0]


def test_an_unknown_game_has_no_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that names none has none."""
    monkeypatch.setattr(type(COASTERS), "worth", "")
    worth_of.cache_clear()
    assert worth_of("coasters") is None
    worth_of.cache_clear()
