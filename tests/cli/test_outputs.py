"""The types of what commands print with `--json`; every other test holds what it has printed against them."""

from typing import NotRequired, TypedDict

from jsonschema import Draft202012Validator
from tests.printed import validator

from warpleague.cli.commands import commands
from warpleague.cli.outputs import outputs
from warpline.schema import schema_of


def test_every_command_that_prints_json_has_a_type() -> None:
    """And there is none of a command that does not."""
    printing = {
        name
        for name, command in commands().items()
        if any("--json" in argument.words.split() for argument in command.each_argument())
    }
    assert printing == set(outputs())


class Base(TypedDict):
    """A pair."""

    first: int
    """the first"""


class Pair(Base):
    """With more."""

    second: NotRequired[list[str | None]]


def test_a_typed_dict_is_an_object_with_its_keys() -> None:
    """Those of the classes before it, too, with what is said below them; a key that may be missing is not required."""
    schema = schema_of(Pair)
    pair = schema["$defs"]["Pair"]
    assert pair["properties"]["first"] == {"type": "integer", "description": "the first"}
    assert (pair["description"], pair["required"]) == ("With more.", ["first"])
    check = Draft202012Validator(schema)
    assert check.is_valid({"first": 1, "second": ["x", None]})
    assert not check.is_valid({"second": []})
    assert not check.is_valid({"first": 1, "third": 1})


def test_numbers_are_not_texts() -> None:
    """A rank or a count as text is refused, as is a key that nobody declared."""
    line = {"store": "x", "added": 1, "shared": 2, "differing": []}
    assert validator("league merge").is_valid([line])
    assert not validator("league merge").is_valid([{**line, "added": "1"}])
    assert not validator("league merge").is_valid([{**line, "more": 1}])
