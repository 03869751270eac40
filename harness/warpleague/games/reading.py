"""Reads the JSON of strangers: positions, options and actions, with the place of what does not fit in each error.

Nothing is converted on the way: true is no number, 2.0 is no whole number, a text is no list. Games say which
numbers and words there are; what is well formed but not allowed, they refuse themselves.

This is not the strict converter of `warpline.structure`: bots take the games along without any package but attrs, and
which numbers fit depends on the board.
"""

from __future__ import annotations

import json
import types
import typing
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, Union

import attrs

from warpleague.errors import ActionError, OptionsError, PositionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from warpleague.games.api import JsonObject

T = TypeVar("T")

_SHOWN = 60
"""The most characters of a stranger's value in an error."""
_LISTED = 12
"""The most legal actions of one kind in an error."""
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    None: "null",
    type(None): "null",
}


def shown(value: object) -> str:
    """A value as JSON in ASCII, cut to a length that is fit for a message."""
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, RecursionError):  # a number of thousands of digits, or lists within lists without end
        return "something too large to show"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


# -- positions ---------------------------------------------------------------------------------------------


class Given:
    """A value somebody wrote, and where it stands; each method reads it as one kind of value.

    They raise `PositionError`, which begins with the path from the top. The path is put together only then.
    """

    __slots__ = ("_above", "_step", "value")

    def __init__(self, value: object, step: str | int = "", above: Given | None = None) -> None:
        self.value = value
        self._step = step
        self._above = above

    @property
    def path(self) -> str:
        """Where the value stands, such as `ships[0].at`; empty for the whole."""
        above = self._above.path if self._above else ""
        if isinstance(self._step, int):
            return f"{above}[{self._step}]"
        return f"{above}.{self._step}" if above else self._step

    def fail(self, text: str) -> NoReturn:
        """Refuse the value; `text` follows the path."""
        raise PositionError(f"{self.path or 'position'}: {text}")

    def wrong(self, wanted: str) -> NoReturn:
        """Refuse the value, which is not `wanted`."""
        self.fail(f"must be {wanted}, not {shown(self.value)}")

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        value = self.value
        if type(value) is not int or not low <= value <= high:
            self.wrong(f"a whole number from {low} to {high}")
        return value

    def flag(self) -> bool:
        """True or false."""
        if type(self.value) is not bool:
            self.wrong("true or false")
        return self.value

    def index(self, words: Sequence[str]) -> int:
        """The index of one of `words`."""
        if type(self.value) is not str or self.value not in words:
            self.wrong(f"one of {', '.join(words)}")
        return words.index(self.value)

    def items(self, length: int | None = None) -> list[Given]:
        """The items of a list, of `length` items if that is given."""
        value = self.value
        if type(value) is not list:
            self.wrong("a list")
        if length is not None and len(value) != length:
            self.fail(f"must have {length} items, not {len(value)}")
        return [Given(item, i, self) for i, item in enumerate(value)]

    def wholes(self, low: int, high: int, length: int | None = None) -> tuple[int, ...]:
        """A list of whole numbers from `low` to `high`, `length` of them if that is given."""
        value = self.value
        if type(value) is list and length in (None, len(value)):
            for number in value:
                if type(number) is not int or not low <= number <= high:
                    break
            else:
                return tuple(value)
        return tuple([item.whole(low, high) for item in self.items(length)])

    def distinct(self, low: int, high: int) -> tuple[int, ...]:
        """A list of whole numbers from `low` to `high`, each at most once."""
        numbers: list[int] = []
        for item in self.items():
            number = item.whole(low, high)
            if number in numbers:
                item.fail(f"{number} is listed twice")
            numbers.append(number)
        return tuple(numbers)

    def fields(self, *known: str) -> Fields:
        """An object that has no other keys than `known`."""
        return Fields(self, known)

    def parts(self, *keys: str) -> list[Given]:
        """The values of an object that has exactly these keys, in their order."""
        value = self.value
        if type(value) is dict and value.keys() == {*keys}:
            return [Given(value[key], key, self) for key in keys]
        fields = self.fields(*keys)
        return [fields[key] for key in keys]

    def options(self, cls: type[T]) -> T:
        """An object with options: a `cls`, which is an attrs class with validators."""
        known = json_fields(cls)  # type: ignore[arg-type]
        fields = self.fields(*known)
        for key in fields:
            if misfit := type_misfit(fields[key].value, known[key][0], fields[key].path):
                raise PositionError(misfit)
        try:
            return cls(**{key: fields[key].value for key in fields})
        except (OptionsError, TypeError, ValueError) as error:
            # The validators of attrs tell name, attribute and values; the text comes first.
            self.fail(str(error.args[0]))


class Fields:
    """The fields of an object that somebody wrote."""

    __slots__ = ("_above", "_given")

    def __init__(self, given: Given, known: tuple[str, ...]) -> None:
        value = given.value
        if type(value) is not dict:
            given.wrong(f"an object with the keys {', '.join(known)}")
        for key in value:
            if key not in known:
                given.fail(f"unknown key {shown(key)}; the keys are {', '.join(known)}")
        self._given: JsonObject = value
        self._above = given

    def __contains__(self, key: str) -> bool:
        return key in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __getitem__(self, key: str) -> Given:
        """The field `key`, which must be there."""
        if key not in self._given:
            self.fail(key, "is missing")
        return Given(self._given[key], key, self._above)

    def get(self, key: str, default: object = None) -> Given:
        """The field `key`, or `default` where it is missing."""
        return Given(self._given.get(key, default), key, self._above)

    def fail(self, key: str, text: str) -> NoReturn:
        """Refuse the field `key`, or an item of it such as `ships[0]`."""
        Given(None, key, self._above).fail(text)


# -- types -------------------------------------------------------------------------------------------------


def type_misfit(value: Any, hint: Any, path: str) -> str | None:
    """Where the JSON `value`, which stands at `path`, does not fit the type `hint` of an action or option, or None.

    Knows scalars, literals, tuples and lists, unions of these, and plain dicts. An int fits float, a bool no int.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return None
    if origin in (Union, types.UnionType):
        misfits = [type_misfit(value, arg, path) for arg in args]
        inside = [misfit for misfit in misfits if misfit and not misfit.startswith(f"{path}: must be")]
        return None if None in misfits else inside[0] if inside else _wrong(value, hint, path)
    if origin in (tuple, list) and type(value) is list:
        hints = args if origin is tuple and Ellipsis not in args else (args[0],) * len(value)
        if len(value) != len(hints):
            return f"{path}: must have {len(hints)} items, not {len(value)}"
        parts = enumerate(zip(value, hints, strict=True))
        return next(filter(None, (type_misfit(part, of, f"{path}[{i}]") for i, (part, of) in parts)), None)
    kind = list if origin is tuple else origin or hint
    if kind is Literal:
        fits = any(type(value) is type(arg) and value == arg for arg in args)
    else:
        fits = type(value) in (int, float) if kind is float else type(value) is (kind or type(None))
    return None if fits else _wrong(value, hint, path)


def _wrong(value: object, hint: Any, path: str) -> str:
    return f"{path}: must be {wanted(hint)}, not {shown(value)}"


def wanted(hint: Any) -> str:
    """The type `hint` in words."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(wanted(arg) for arg in args)
    if origin is Literal:
        return args[0] if len(args) == 1 else f"one of {', '.join(map(str, args))}"
    if origin is tuple and Ellipsis not in args:
        return f"a list of {len(args)}: {', '.join(wanted(arg) for arg in args)}"
    if origin in (tuple, list):
        return f"a list, each item {wanted(args[0])}"
    return _NAMES.get(origin or hint, "an object")


@cache
def json_fields(cls: Any) -> dict[str, tuple[Any, bool]]:
    """The type of every field of an attrs class, and whether it must be there."""
    hints = typing.get_type_hints(cls)
    return {field.name: (hints[field.name], field.default is attrs.NOTHING) for field in attrs.fields(cls)}


@cache
def _fields_fit(cls: Any) -> dict[str, Callable[[Any], bool]]:
    return {name: _fits(hint) for name, (hint, _) in json_fields(cls).items()}


def _fits(hint: Any) -> Callable[[Any], bool]:
    """Whether a value fits `hint`, as `type_misfit` has it, but quickly for what most fields of actions are."""
    if hint in (int, str, bool):
        return lambda value: type(value) is hint
    if typing.get_origin(hint) is Literal:
        words = frozenset(word for word in typing.get_args(hint) if type(word) is str)
        if len(words) == len(typing.get_args(hint)):
            return lambda value: type(value) is str and value in words
    if hint == tuple[int, int]:
        return lambda value: type(value) is list and [*map(type, value)] == [int, int]
    return lambda value: type_misfit(value, hint, "") is None


# -- actions -----------------------------------------------------------------------------------------------


class ActionReader:
    """Reads actions of `kinds`, attrs classes with a class variable `do` whose fields are their JSON form."""

    def __init__(self, kinds: Iterable[type]) -> None:
        self._kinds: dict[str, type] = {kind.do: kind for kind in kinds}  # type: ignore[attr-defined]
        self._known: dict[tuple[Any, ...], Any] = {}
        """Actions that were legal once. They come again, and a look-up here is faster than making them."""

    def read(self, data: object, legal: Iterable[Any]) -> Any:
        """The action that `data` describes, legal or not.

        `ActionError` says what in its form is wrong; if it names no kind, which kinds of `legal` there are.
        """
        if type(data) is not dict:
            raise ActionError(
                f'an action is an object such as {{"do": "{_sample(legal)}"}}, not {shown(data)}'
            )
        do = data.get("do")
        if type(do) is not str or do not in self._kinds:
            raise ActionError(f"no action is called {shown(do)}; possible: {possible(legal)}")
        kind = self._kinds[do]
        fits = _fields_fit(kind)
        if len(data) != len(fits) + 1 or not fits.keys() <= data.keys():
            raise ActionError(
                f"{do} has exactly the keys {', '.join(('do', *fits))}, not {shown(list(data))}"
            )
        values = []
        for name, fit in fits.items():
            value = data[name]
            if not fit(value):
                misfit = type_misfit(value, json_fields(kind)[name][0], f"{do}: {name}") or ""
                raise ActionError(misfit.replace(": must", " must", 1))
            values.append(_frozen(value) if type(value) is list else value)
        return self._known.get((kind, *values)) or kind(*values)

    def parse(
        self,
        data: object,
        legal: Sequence[T],
        why: Callable[[T], str] = lambda _: "",
        also: tuple[str, ...] = (),
    ) -> T:
        """The action of `legal` that `data` describes.

        `ActionError` says what in its form is wrong, or why it is not legal, and what would be: `why` gives the
        reason for an action that is well formed, or nothing if there is no more to say; `also` names kinds that
        are possible besides. No legal action means that the seat is not to act.
        """
        if not legal:
            raise ActionError("another seat is to act")
        action: T = self.read(data, legal)
        if action in legal:
            cls: Any = type(action)
            self._known.setdefault((cls, *[getattr(action, name) for name in _fields_fit(cls)]), action)
            return action
        reason = why(action)
        text = f"{brief(action)} is not possible now{reason and ': '}{reason}"
        raise ActionError(f"{text}; possible: {'; '.join((possible(legal, type(action)), *also))}")


def _frozen(value: Any) -> Any:
    """Lists as tuples, also those inside."""
    return tuple([_frozen(part) for part in value]) if type(value) is list else value


def brief(action: Any) -> str:
    """An action in a few words: its name and its values."""
    return f"{action.do} {_values(action)}".rstrip()


def possible(legal: Iterable[Any], kind: type | None = None) -> str:
    """The kinds of the actions `legal`, each once; for `kind`, and where there is only one, with their values."""
    groups: dict[type, list[str]] = {}
    for action in legal:
        groups.setdefault(type(action), []).append(_values(action))
    few = len(groups) == 1 or sum(map(len, groups.values())) <= _LISTED
    return "; ".join(
        _group(cls, values, whole=few or cls is kind or len(values) <= 2) for cls, values in groups.items()
    )


def _group(cls: Any, values: list[str], *, whole: bool) -> str:
    if not whole:
        return f"{cls.do} ({len(values)} ways)"
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return f"{cls.do} {', '.join(values[:_LISTED])}{more}".rstrip()


def _values(action: Any) -> str:
    """The values of an action, with their names if there are several."""
    kind: Any = type(action)
    values = [(name, getattr(action, name)) for name in json_fields(kind)]
    texts = [(name, _plain(value)) for name, value in values]
    if len(texts) > 1:
        return f"({', '.join(f'{name} {text}' for name, text in texts)})"
    return texts[0][1] if texts else ""


def _plain(value: Any) -> str:
    """A word of the game as it is; all else, such as a message, as JSON."""
    is_word = type(value) is str and value.isascii() and value.replace("-", "").isalnum()
    return value if is_word else shown(value)


def _sample(legal: Iterable[Any]) -> str:
    return next(iter(legal)).do  # type: ignore[no-any-return]
