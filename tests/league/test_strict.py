"""What the strict converter takes and what it refuses, with which words."""

from typing import Any, Literal

import attrs
import pytest

from warpleague.errors import ConfigError
from warpleague.strict import structure


@attrs.frozen
class Inner:
    turns: int = 3
    level: Literal["low", "high"] = "low"


@attrs.frozen
class Outer:
    name: str
    share: float = 0.5
    quick: bool = False
    note: str | None = None
    many: tuple[int, ...] = ()
    inner: Inner = Inner()
    either: str | Inner = "x"
    size: int | Literal["all"] = "all"
    free: dict[str, Any] = attrs.Factory(dict)
    positive: int = attrs.field(default=1, validator=attrs.validators.ge(1))


def test_good_data_becomes_the_class() -> None:
    """Data of the right types becomes the class, nested classes, unions and tuples included."""
    data = {
        "name": "a",
        "share": 2,
        "many": [1, 2],
        "inner": {"turns": 4},
        "either": {"level": "high"},
        "size": 7,
        "free": {"x": [1, {"y": None}]},
    }
    value = structure(data, Outer, "f.toml")
    assert value == Outer(
        name="a",
        share=2.0,
        many=(1, 2),
        inner=Inner(4),
        either=Inner(level="high"),
        size=7,
        free={"x": [1, {"y": None}]},
    )
    assert isinstance(value.share, float)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"inner": {"turns": "5"}}, "f.toml: inner.turns: must be a whole number, not the text '5'"),
        ({"inner": {"turns": 3.9}}, "f.toml: inner.turns: must be a whole number, not 3.9"),
        ({"inner": {"turns": True}}, "f.toml: inner.turns: must be a whole number, not true"),
        ({"inner": 3}, "f.toml: inner: must be a table, not 3"),
        ({"name": None}, "f.toml: name: must be a text, not null"),
        ({"share": False}, "f.toml: share: must be a number, not false"),
        ({"share": float("nan")}, "f.toml: share: must be a finite number, not nan"),
        ({"share": 10**400}, "f.toml: share: must be a number of fewer digits"),
        (
            {"many": [1.5, 10**5000], "note": 10**5000},
            "f.toml: note: must be a text, not a number of many digits",
        ),
        ({"\x1b[2J": 1}, r"f.toml: '\x1b[2J': unknown key"),
        ({"quick": 1}, "f.toml: quick: must be true or false, not 1"),
        ({"many": "12"}, "f.toml: many: must be a list, not the text '12'"),
        ({"many": [1, 2, "3"]}, "f.toml: many[2]: must be a whole number, not the text '3'"),
        ({"inner": {"level": "hihg"}}, "f.toml: inner.level: must be 'low' or 'high', not the text 'hihg'"),
        ({"size": "some"}, "f.toml: size: must be a whole number or 'all', not the text 'some'"),
        ({"either": {"turns": 2.5}}, "f.toml: either.turns: must be a whole number, not 2.5"),
        ({"innner": {}}, "f.toml: innner: unknown key; did you mean 'inner'?"),
        ({"inner": {"zzz": 1}}, "f.toml: inner.zzz: unknown key; known: turns, level"),
        ({"positive": 0}, "f.toml: positive: must be at least 1, not 0"),
    ],
)
def test_misfits_are_named(change: dict[str, Any], text: str) -> None:
    """A value that does not fit is refused with file, path, and what was wanted."""
    with pytest.raises(ConfigError) as caught:
        structure({"name": "a"} | change, Outer, "f.toml")
    assert text in str(caught.value)


def test_all_misfits_are_told_at_once() -> None:
    """Several misfits give one line each, a missing key among them."""
    with pytest.raises(ConfigError) as caught:
        structure({"share": "x", "many": [None], "inner": {"turn": 1}}, Outer, "f.toml")
    assert str(caught.value).splitlines() == [
        "f.toml: name: is required, but missing",
        "f.toml: share: must be a number, not the text 'x'",
        "f.toml: many[0]: must be a whole number, not null",
        "f.toml: inner.turn: unknown key; did you mean 'turns'?",
    ]
