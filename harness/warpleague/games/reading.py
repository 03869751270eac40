"""Reads the JSON of strangers as attrs classes: positions, options and actions. Errors name the place that is wrong.

The types of a class say what fits; `Annotated` adds bounds of numbers, and checks of its own. Nothing is converted on
the way: true is no number, 2.0 is no whole number, a text is no list. Whether parts fit each other, games check by
code, with `refuse` and `within`.

`warpline.structure` is a second such reader: the wire is a package that knows no games, and bots take the games along
without the packages of the wire.
"""

from __future__ import annotations

import json
import types
import typing
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias, TypeVar, Union

import attrs

from warpleague.errors import ActionError, OptionsError, PositionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

T = TypeVar("T")
Read: TypeAlias = "Callable[[Any], Any]"
"""Gives the value that JSON stands for, or raises `Misfit`."""

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


# -- what a class says -----------------------------------------------------------------------------------


@attrs.frozen
class Whole:
    """Annotation of an int: the least and the greatest value."""

    low: int
    high: int = 2**53 - 1


def by_hand(default: Any) -> Any:
    """A field that a position made by hand may lack.

    It is then `default`, or what the function `default` makes of the fields before it.
    """
    return attrs.field(metadata={"by_hand": default})


def distinct(items: Iterable[Any]) -> None:
    """Annotation of a list: each item at most once."""
    seen: list[Any] = []
    for item in items:
        if item in seen:
            raise Misfit(f"{shown(item)} is listed twice", f"[{len(seen)}]")
        seen.append(item)


class Misfit(Exception):
    """What is wrong with a value, and where in it; an annotation that checks a value raises it.

    `kind` is true if the value is of another kind than wanted, so that another type of a union may fit it.
    """

    def __init__(self, text: str, path: str = "", *, kind: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.kind = kind

    def under(self, step: str | int) -> Misfit:
        """The same in the list or object that holds the value at the index or key `step`."""
        step = f"[{step}]" if isinstance(step, int) else step
        self.path = f"{step}.{self.path}" if step and self.path[:1] not in ("", "[") else step + self.path
        return self


def read(cls: type[T], data: object, where: str = "") -> T:
    """The `cls` that `data` describes, which stands at the path `where`; `PositionError` names what does not fit."""
    hint: Any = cls
    try:
        made: T = _reader(hint)(data)
    except Misfit as misfit:
        fail(misfit.under(where).path, misfit.text)
    return made


@cache
def _reader(hint: Any) -> Read:
    """Reads scalars (an int fits float, a bool no int), literals, lists, dicts, attrs classes, and unions of these."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda value: value
    if origin is Annotated:
        return _annotated(hint, *args)
    if origin in (Union, types.UnionType):
        return partial(_one_of, hint, [_reader(arg) for arg in args])
    if attrs.has(hint):
        return partial(_object, hint)
    if origin is dict:
        keys, inner = typing.get_args(args[0]), _reader(args[1])
        return lambda value: {
            key: _part(key, inner, part) for key, part in _object_of(keys, hint, value).items()
        }
    if origin is list or Ellipsis in args:
        make, inner = origin, _reader(args[0])
        return lambda value: make(
            [_part(i, inner, part) for i, part in enumerate(_list_of(None, hint, value))]
        )
    if origin is tuple:
        readers = [_reader(arg) for arg in args]
        return lambda value: tuple(map(_part, count(), readers, _list_of(len(args), hint, value)))
    words = args if origin is Literal else None
    kinds = {*map(type, words)} if words else {int, float} if hint is float else {hint or type(None)}

    def scalar(value: Any) -> Any:
        if type(value) in kinds and (words is None or value in words):  # true is not 1
            return value
        raise _wrong(hint, value)

    return scalar


def _annotated(hint: Any, base: Any, mark: Any) -> Read:
    inner = _reader(base)

    def whole(value: Any) -> Any:
        if type(value) is int and mark.low <= value <= mark.high:
            return value
        raise _wrong(hint, value)

    def checked(value: Any) -> Any:
        made = inner(value)
        mark(made)
        return made

    return whole if isinstance(mark, Whole) else checked


def _one_of(hint: Any, readers: Iterable[Read], value: Any) -> Any:
    for inner in readers:
        try:
            return inner(value)
        except Misfit as misfit:
            if misfit.path or not misfit.kind:
                raise  # this type was meant: what is wrong is inside
    raise _wrong(hint, value)


def _list_of(size: int | None, hint: Any, value: Any) -> list[Any]:
    if type(value) is not list:
        raise _wrong(hint, value)
    if size not in (None, len(value)):
        raise Misfit(f"must have {size} items, not {len(value)}")
    return value


def _object_of(keys: Collection[str], hint: Any, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise _wrong(hint, value)
    if keys:
        for key in value:
            if key not in keys:
                raise Misfit(f"unknown key {shown(key)}; the keys are {', '.join(keys)}")
    return value


def _part(step: str | int, inner: Read, value: Any) -> Any:
    try:
        return inner(value)
    except Misfit as misfit:
        raise misfit.under(step) from None


def _object(cls: Any, value: Any) -> Any:
    fields = _fields(cls)
    given, made, name = _object_of(fields, cls, value), dict[str, Any](), ""
    try:
        for name, (inner, field) in fields.items():
            if name in given:
                made[name] = inner(given[name])
            elif "by_hand" in field.metadata:
                default = field.metadata["by_hand"]
                made[name] = default(made) if callable(default) else default
            elif field.default is attrs.NOTHING:
                raise Misfit("is missing")
    except Misfit as misfit:
        raise misfit.under(name) from None
    try:
        return cls(**made)
    except (OptionsError, TypeError, ValueError) as error:
        # The validators of attrs tell name, attribute and values; the text comes first.
        raise Misfit(str(error.args[0])) from None


@cache
def _fields(cls: Any) -> dict[str, tuple[Read, attrs.Attribute[Any]]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: (_reader(hints[field.name]), field) for field in attrs.fields(cls)}


@cache
def json_fields(cls: Any) -> dict[str, Any]:
    """The type of every field of an attrs class, without annotations."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in attrs.fields(cls)}


def _wrong(hint: Any, value: object) -> Misfit:
    return Misfit(f"must be {_wanted(hint)}, not {shown(value)}", kind=True)


def _wanted(hint: Any) -> str:
    """The type `hint` in words."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        mark = args[1]
        return (
            f"a whole number from {mark.low} to {mark.high}" if isinstance(mark, Whole) else _wanted(args[0])
        )
    if origin in (Union, types.UnionType):
        return " or ".join(_wanted(arg) for arg in args)
    if origin is Literal:
        return args[0] if len(args) == 1 else f"one of {', '.join(map(str, args))}"
    if origin is tuple and Ellipsis not in args:
        return f"a list of {len(args)}: {', '.join(_wanted(arg) for arg in args)}"
    if origin in (tuple, list):
        return f"a list, each item {_wanted(args[0])}"
    if attrs.has(hint):
        return f"an object with the keys {', '.join(json_fields(hint))}"
    return _NAMES.get(origin or hint, "an object")


# -- what a class cannot say -----------------------------------------------------------------------------


def fail(path: str, text: str) -> NoReturn:
    """Refuse what stands at `path`."""
    raise PositionError(f"{path or 'position'}: {text}")


def refuse(wrong: object, path: str, text: str) -> None:
    """Refuse what stands at `path` if something is `wrong`."""
    if wrong:
        fail(path, text)


def within(path: str, value: Any, low: int, high: int, *sizes: int) -> None:
    """Refuse a number that is not from `low` to `high`, or one in a list of as many items (of lists of ...)."""
    if isinstance(value, (list, tuple)):
        if sizes:
            sized(path, value, sizes[0])
        for i, part in enumerate(value):
            within(f"{path}[{i}]", part, low, high, *sizes[1:])
    elif value is None or not low <= value <= high:
        fail(path, f"must be a whole number from {low} to {high}, not {shown(value)}")


def sized(path: str, items: Sequence[Any], size: int) -> None:
    """Refuse a list that has not as many items."""
    refuse(len(items) != size, path, f"must have {size} items, not {len(items)}")


# -- actions ---------------------------------------------------------------------------------------------


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
        fields = _fields(kind)
        if len(data) != len(fields) + 1 or not fields.keys() <= data.keys():
            raise ActionError(
                f"{do} has exactly the keys {', '.join(('do', *fields))}, not {shown(list(data))}"
            )
        values: list[Any] = []
        name = ""
        try:
            for name, (inner, _) in fields.items():
                values.append(
                    inner(data[name])
                )  # not through `_part`: this is called for every action of a bot
        except Misfit as misfit:
            raise ActionError(f"{do}: {misfit.under(name).path} {misfit.text}") from None
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
            self._known.setdefault((cls, *[getattr(action, name) for name in _fields(cls)]), action)
            return action
        reason = why(action)
        text = f"{brief(action)} is not possible now{reason and ': '}{reason}"
        raise ActionError(f"{text}; possible: {'; '.join((possible(legal, type(action)), *also))}")


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
