"""The reader of positions, options and actions that strangers wrote."""

import copy
import pickle
from typing import Annotated, Any, ClassVar, Literal

import attrs
import pytest

from warpleague.errors import ActionError, PositionError
from warpleague.games.reading import ActionReader, Misfit, Whole, by_hand, distinct, read
from warpleague.games.values import Interned, choice, copier, switch, whole


@attrs.frozen(eq=False)
class Put(Interned):
    """Put stones of a colour on squares."""

    do: ClassVar[str] = "put"
    squares: tuple[tuple[int, int], ...]
    colour: Literal["black", "white"]
    height: Literal[1, 2] | None


@attrs.frozen(eq=False)
class Shout(Interned):
    """Say something."""

    do: ClassVar[str] = "shout"
    text: str


@attrs.frozen
class Options:
    """Options of all kinds."""

    size: int = whole(9, 1, 19, "the size")
    fast: bool = switch(default=False, text="whether it is fast")
    mode: Literal["a", "b"] = choice("a", ("a", "b"), "the mode")


def odd(numbers: list[int]) -> None:
    if any(number % 2 == 0 for number in numbers):
        raise Misfit("must be odd numbers")


@attrs.frozen
class Stone:
    """A stone of a position."""

    at: tuple[int, int]
    colour: Literal["black", "white"]


@attrs.frozen(kw_only=True)
class Stones:
    """A position with fields of all kinds."""

    size: Annotated[int, Whole(1, 9)] = by_hand(9)
    half: int = by_hand(lambda made: made["size"] // 2)
    last: Stone | None = by_hand(None)
    stones: list[Stone] = by_hand([])
    points: dict[Literal["black", "white"], Annotated[list[int], odd]] = by_hand({})
    turns: Annotated[list[str], distinct] = by_hand([])


READER = ActionReader([Put, Shout])
LEGAL = [Put(((1, 2), (3, 4)), "black", 1), Put((), "white", None)]
FORM = {"do": "put", "squares": [[1, 2], [3, 4]], "colour": "black", "height": 1}


def test_an_action_is_read_from_its_class() -> None:
    """Lists become tuples, also inside; equal actions are one object, made anew, by name, copied or pickled."""
    assert READER.parse(FORM, LEGAL) is LEGAL[0] is READER.parse(copy.deepcopy(FORM), LEGAL)
    put = Put((), "black", None)
    assert put is Put(squares=(), colour="black", height=None) is copy.deepcopy(put)
    assert put is pickle.loads(pickle.dumps(put)) is not Put((), "white", None)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"height": 3}, "put: height must be one of 1, 2 or null, not 3"),
        ({"height": True}, "put: height must be one of 1, 2 or null, not true"),
        ({"squares": [[1, 2.0]]}, r"put: squares\[0\]\[1\] must be a whole number, not 2.0"),
        ({"squares": [[1]]}, r"put: squares\[0\] must have 2 items, not 1"),
        ({"colour": "red"}, 'put: colour must be one of black, white, not "red"'),
        ({"colour": ["black"]}, "put: colour must be one of black, white"),
        ({"extra": 1}, "put has exactly the keys do, squares, colour, height, not"),
        (
            {"squares": []},
            r"put \(squares \[\], colour black, height 1\) is not possible now; possible: put \(squares",
        ),
    ],
)
def test_an_action_that_does_not_fit_is_refused_by_field(change: dict[str, Any], text: str) -> None:
    """The error names the field, what it must be and what it is, as JSON."""
    with pytest.raises(ActionError, match=text):
        READER.parse({**FORM, **change}, LEGAL)


def test_text_of_strangers_is_shown_as_plain_ascii() -> None:
    """Control characters do not reach whoever reads the error, and what is huge is cut."""
    with pytest.raises(ActionError) as caught:
        READER.parse({"do": "shout", "text": "\x1b[2J\u202e" + "x" * 999}, LEGAL)
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    with pytest.raises(
        PositionError, match="size: must be a whole number from 1 to 9, not something too large"
    ):
        read(Stones, {"size": 10**5000})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"size": 20}, "^options: size must be a whole number from 1 to 19, not 20$"),
        ({"size": 1.0}, "^options.size: must be a whole number, not 1.0$"),
        ({"fast": 1}, "^options.fast: must be true or false, not 1$"),
        ({"mode": "c"}, '^options.mode: must be one of a, b, not "c"$'),
        ({"sise": 9}, '^options: unknown key "sise"; the keys are size, fast, mode$'),
        ([], r"^options: must be an object with the keys size, fast, mode, not \[\]$"),
    ],
)
def test_options_are_read_with_their_path(given: Any, text: str) -> None:
    """Type, value and key are each named where they do not fit; what is missing has its default."""
    assert read(Options, {"size": 3}, "options") == Options(3)
    with pytest.raises(PositionError, match=text):
        read(Options, given, "options")


def test_what_a_position_made_by_hand_lacks_has_its_default() -> None:
    """It may follow from the fields before it."""
    assert read(Stones, {"size": 4}) == Stones(size=4, half=2, last=None, stones=[], points={}, turns=[])
    stone = {"at": [1, 2], "colour": "black"}
    stones = read(Stones, {"half": 1, "last": stone, "stones": [stone], "points": {"white": [3]}})
    assert stones.last == stones.stones[0] == Stone((1, 2), "black")
    assert (stones.size, stones.half, stones.points) == (9, 1, {"white": [3]})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            None,
            "^position: must be an object with the keys size, half, last, stones, points, turns, not null$",
        ),
        ({"size": 10}, "^size: must be a whole number from 1 to 9, not 10$"),
        ({"stones": [{"at": [1, 2]}]}, r"^stones\[0\].colour: is missing$"),
        ({"stones": [{"at": [1], "colour": "black"}]}, r"^stones\[0\].at: must have 2 items, not 1$"),
        (
            {"stones": {"at": 1}},
            r"^stones: must be a list, each item an object with the keys at, colour, not",
        ),
        ({"last": {"at": [1, "2"], "colour": "black"}}, r'^last.at\[1\]: must be a whole number, not "2"$'),
        ({"last": {"to": 1}}, '^last: unknown key "to"; the keys are at, colour$'),
        ({"last": 5}, "^last: must be an object with the keys at, colour or null, not 5$"),
        ({"points": {"red": [1]}}, '^points: unknown key "red"; the keys are black, white$'),
        ({"points": {"black": [1, 2]}}, "^points.black: must be odd numbers$"),
        ({"turns": ["a", "b", "a"]}, r'^turns\[2\]: "a" is listed twice$'),
    ],
)
def test_a_place_that_does_not_fit_is_named(given: Any, text: str) -> None:
    """The type of the class says what would fit there."""
    with pytest.raises(PositionError, match=text):
        read(Stones, given)


def test_a_copy_may_be_changed() -> None:
    """The original stays as it was."""

    @attrs.define
    class Point:
        x: int
        y: int = 0

    fresh = copier(Point)
    one = Point(1, 2)
    two = fresh(one)
    two.x = 5
    assert (one, two) == (Point(1, 2), Point(5, 2))
