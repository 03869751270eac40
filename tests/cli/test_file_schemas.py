"""The schemas of the files that users write: they take what the program takes, and refuse what it refuses by a key."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from warpleague.errors import BadInput
from warpleague.extras.rounds.file import load_rounds
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
READERS: dict[str, Callable[[Path], object]] = {
    "bot": lambda path: read_manifest(path.parent),
    "league": load_config,
    "rounds": load_rounds,
}
SHIPPED = {
    "bot": sorted((ROOT / "bots").rglob("bot.toml")) + sorted((ROOT / "rounds").rglob("bot.toml")),
    "league": sorted((ROOT / "leagues").glob("*.toml")),
    "rounds": sorted((ROOT / "rounds").glob("*.toml")),
}
GOOD: dict[str, dict[str, Any]] = {
    "bot": {
        "name": "x",
        "run": ["./x"],
        "games": ["*"],
        "limits": {"tmp_mb": 8},
        "files": {"a": {"sha256": "0" * 64}},
    },
    "league": {
        "bots": ["x", {"path": "y", "name": "y", "clock": {"bank_s": 3, "increment_s": 0}}],
        "game": {"id": "aliens", "options": {"max_turns": 9}},
        "entry": {"leagues": ["a.toml"], "top": 2},
        "format": {"kind": "round-robin", "tables": 5, "until": {"top": 2}, "max_matches": 9},
        "run": {"matches_per_job": "auto", "jobs": 1},
        "rating": {"k": 8, "start": 0.0},
        "season": {"beacon": "a lottery"},
        "rules": {"illegal": "ask-again 3", "strikes": 0},
    },
    "rounds": {
        "game": {"id": "aliens"},
        "authors": [
            {"name": "ann", "start": "bots/random-c", "edit": ["true"], "limits": {"time_s": 1}},
            {"name": "bob", "start": "bots/random-c", "fixed": True},
        ],
        "tables": "all",
        "clock": {"move_s": 1},
    },
}


def schema(name: str) -> Draft202012Validator:
    text = (ROOT / "protocol" / "schema" / f"{name}.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


@pytest.mark.parametrize("name", READERS)
def test_what_is_shipped_fits(name: str) -> None:
    """Every file that comes with Warp League is valid by the schema of its kind."""
    assert SHIPPED[name]
    for path in SHIPPED[name]:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        assert [error.message for error in schema(name).iter_errors(data)] == [], path


@pytest.mark.parametrize(
    ("name", "page", "begins"),
    [
        ("league", "league", 'seed = "a first try"'),
        ("league", "league-reference", 'name = "demo" '),
        ("rounds", "rounds", "rounds = 2 "),
        ("bot", "write-a-bot", 'name = "runner"'),
        ("bot", "write-a-bot", 'name = "swift"'),
    ],
)
def test_the_files_of_the_documentation_fit(name: str, page: str, begins: str) -> None:
    """The files that the pages show are valid: also the one that has every key of a league."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"```toml\n({re.escape(begins)}.*?)```", text, re.DOTALL)
    assert [error.message for error in schema(name).iter_errors(tomllib.loads(block))] == []


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("league", "formt", {}),
        ("league", "bots", "x"),
        ("league", "bots", [{"name": "x"}]),
        ("league", "game", "aliens"),
        ("league", "name", "a b"),
        ("league", "seed", 5),
        ("league", "clock.moves_s", 1),
        ("league", "clock.move_s", "1"),
        ("league", "clock.move_s", -1),
        ("league", "clock.bank_s", 1_000_000),
        ("league", "rules.faults", "forgive"),
        ("league", "rules.illegal", "ask-again 0"),
        ("league", "rules.strikes", -1),
        ("league", "run.jobs", 1.5),
        ("league", "run.matches_per_job", 0),
        ("league", "rating.k", 0),
        ("league", "format.kind", "Swiss"),
        ("league", "format.tables", 100_001),
        ("league", "format.max_matches", 0),
        ("league", "format.until.confidence", 1),
        ("league", "entry.leagues", []),
        ("league", "season.beacon", ""),
        ("rounds", "roundz", 3),
        ("rounds", "previous", -1),
        ("rounds", "shows", "all"),
        ("rounds", "authors", [{"name": "a b", "start": "x", "fixed": True}]),
        ("rounds", "authors", [{"name": "ann", "start": "x", "limits": {"time_s": 0}}]),
        ("rounds", "clock.move_s", 0),
        ("bot", "gmaes", ["aliens"]),
        ("bot", "name", "a b"),
        ("bot", "run", "./x"),
        ("bot", "run", []),
        ("bot", "games", []),
        ("bot", "limits.memory_mb", 8),
        ("bot", "reusable", "yes"),
        ("bot", "files.weights", {"sha256": "12"}),
    ],
)
def test_a_misfit_is_refused_by_both(name: str, key: str, value: object, tmp_path: Path) -> None:
    """What is wrong by its key alone is refused by the schema and by the program, which names the key."""
    data = json.loads(json.dumps(GOOD[name]))
    *tables, last = key.split(".")
    place = data
    for table in tables:
        place = place.setdefault(table, {})
    place[last] = value
    assert not schema(name).is_valid(data)
    with pytest.raises(BadInput) as caught:
        read(name, data, tmp_path)
    assert key.partition(".")[0] in str(caught.value)


def read(name: str, data: dict[str, Any], folder: Path) -> None:
    """Write a file of this kind into the folder, and read it as the program does."""
    path = folder / ("bot.toml" if name == "bot" else "cup.toml")
    path.write_text(toml(data), encoding="utf-8")
    READERS[name](path)


def toml(data: dict[str, Any]) -> str:
    """Plain data as TOML: each key at the top with a value in one line."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in data.items())


def inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in plain data a value stands: the keys that lead to each."""
    if path:
        yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


VALUES = st.one_of(
    st.integers(-2, 2_000_000),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=4),
    st.sampled_from(["all", "auto", "own", "sandbox", "elo", "fault", "skip", "0" * 64, {}, [], ["x"]]),
)


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_the_schema_takes_what_the_program_takes(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is put in place of a value: if the program reads the file, the schema takes it, too."""
    good = json.loads(json.dumps(GOOD[name]))
    *way, last = data.draw(st.sampled_from(list(places(good))))
    place = good
    for step in way:
        place = place[step]
    place[last] = data.draw(VALUES)
    with suppress(BadInput):
        read(name, good, tmp_path_factory.getbasetemp())
        assert [error.message for error in schema(name).iter_errors(good)] == []


@pytest.mark.parametrize("name", READERS)
def test_good_files_are_good(name: str, tmp_path: Path) -> None:
    """The files that the tests change are read, and fit."""
    read(name, GOOD[name], tmp_path)
    assert schema(name).is_valid(GOOD[name])
