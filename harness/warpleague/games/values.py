"""How games make their values: one object for each action, quick copies of positions, JSON that is made only once.

An action is looked up, hashed and compared far more often than it is made. So each action exists once: equality is
identity, and the referee finds the JSON of an action by the object.

From one question to the next most of a view stays the same. So a game makes a view of parts: `Cache` keeps the JSON of
those that take time, and `template` says how the whole is put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints
from weakref import WeakValueDictionary

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

encoded: Callable[[Any], bytes]
"""The compact JSON, in UTF-8, of dicts with text keys, lists, tuples and scalars."""
decoded: Callable[[bytes], Any]
"""The value that JSON stands for."""

try:
    import msgspec
except ImportError:  # in a bot's folder
    import json

    encoded = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()  # noqa: E731
    decoded = json.loads
else:
    encoded = msgspec.json.Encoder().encode
    decoded = msgspec.json.Decoder().decode


T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
C = TypeVar("C", bound=attrs.AttrsInstance)

_interned: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
"""Every object there is, by its class and the values of its fields; one that nobody keeps goes away."""


class _OneForEachValue(type):
    """Gives back the object that is there already when an equal one is made."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        cached = None if kwargs else _interned.get((cls, *args))
        if cached is not None:
            return cached
        made = super().__call__(*args, **kwargs)
        return _interned.setdefault((cls, *_values(made)), made)


class Interned(metaclass=_OneForEachValue):
    """The base of action classes, which are `attrs.frozen(eq=False)`: equal actions are one object.

    They stay so through `copy`, `deepcopy` and `pickle`.
    """

    __slots__ = ("__weakref__",)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), _values(self)


def _values(interned: Any) -> tuple[Any, ...]:
    return tuple([getattr(interned, field.name) for field in type(interned).__attrs_attrs__])


class Cache(dict[K, V], Generic[K, V]):
    """Caches the result of `make` for each key, made when it is first needed; emptied when it has `most` items."""

    __slots__ = ("_make", "_most")

    def __init__(self, make: Callable[[K], V], most: int = 4096) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, key: K) -> V:
        if len(self) >= self._most:
            self.clear()
        made = self[key] = self._make(key)
        return made


class CacheByIdentity(Generic[K, V]):
    """The same for objects that nobody changes any more: it goes by which object it is, and never compares them."""

    __slots__ = ("_made", "_make", "_most")

    def __init__(self, make: Callable[[K], V], most: int = 256) -> None:
        self._make = make
        self._most = most
        self._made: dict[int, tuple[K, V]] = {}

    def __getitem__(self, key: K) -> V:
        cached = self._made.get(id(key))
        if cached is None:
            if len(self._made) >= self._most:
                self._made.clear()
            # The cache holds the object, too: as long as it is there no other one has its id.
            cached = self._made[id(key)] = key, self._make(key)
        return cached[1]


def template(cls: type[Any]) -> bytes:
    """The JSON object of the attrs class `cls` for `%`, in which the values are left out, in the order of the fields.

    A field of type int takes a number (`%d`), every other one its JSON (`%b`): nothing is faster.
    """
    hints = get_type_hints(cls)
    fields = [
        b'"%b":%b' % (field.name.encode(), b"%d" if hints[field.name] is int else b"%b")
        for field in attrs.fields(cls)
    ]
    return b"{%b}" % b",".join(fields)


def copier(cls: type[C]) -> Callable[[C], C]:
    """A function that copies a value of the attrs class `cls`, some twenty times as fast as `attrs.evolve`.

    Whoever made the copy may change it until it is handed out; from then on nobody does. The function sets the
    fields without calling the class: validators and converters do not run.
    """
    lines = [f"    new.{field.name} = old.{field.name}" for field in attrs.fields(cls)]
    source = "\n".join(["def fresh(old):", "    new = make(cls)", *lines, "    return new"])
    names: dict[str, Any] = {"make": object.__new__, "cls": cls}
    exec(source, names)  # the text is made of field names alone
    function: Callable[[C], C] = names["fresh"]
    return function


def keyer(cls: type[C], **parts: Callable[[Any], Hashable]) -> Callable[[C], Hashable]:
    """A function that gives equal keys to equal values of the attrs class `cls`: a tuple of the fields compared.

    `parts` makes the keys of those fields that cannot be hashed.
    """
    names = [field.name for field in attrs.fields(cls) if field.eq]
    items = [f"parts[{name!r}](old.{name})" if name in parts else f"old.{name}" for name in names]
    function: Callable[[C], Hashable] = eval(f"lambda old: ({', '.join(items)},)", {"parts": parts})
    return function  # the text is made of field names alone


def each(key: Callable[[Any], Hashable]) -> Callable[[Iterable[Any]], Hashable]:
    """For `keyer`: the keys of all items."""
    return lambda items: tuple(map(key, items))


def replaced(row: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    """`row` with `item` at index `at`."""
    changed = list(row)
    changed[at] = item
    return tuple(changed)


def mask(numbers: Iterable[int]) -> int:
    """The set of `numbers` as an integer: bit i stands for number i."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def members(bits: int) -> list[int]:
    """The numbers in the set `bits`, ascending."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


# -- fields ----------------------------------------------------------------------------------------------
# The fields of option classes: each with its default, the values it may have and a text that explains it.


def switch(default: bool, text: str) -> Any:
    """An option that is true or false."""
    return attrs.field(default=default, validator=attrs.validators.instance_of(bool), metadata={"help": text})


def whole(default: int, low: int, high: int, text: str) -> Any:
    """An option that is a whole number from `low` to `high`."""

    def check(_: Any, field: attrs.Attribute[int], value: object) -> None:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{field.name} must be a whole number from {low} to {high}, not {value!r}")

    asked = {"minimum": low, "maximum": high}  # as `in_schema` of warpline.limits, which no game knows
    return attrs.field(default=default, validator=check, metadata={"help": text, "schema": asked})


def choice(default: str | None, values: tuple[str | None, ...], text: str) -> Any:
    """An option that is one of `values`."""
    return attrs.field(default=default, validator=attrs.validators.in_(values), metadata={"help": text})


def free(kind: type, text: str) -> Any:
    """An option of type `kind`, by default None; the game looks at the value itself."""
    optional = attrs.validators.optional(attrs.validators.instance_of(kind))
    return attrs.field(default=None, validator=optional, metadata={"help": text})
