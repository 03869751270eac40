"""How games make their values: one object for each action.

An action is looked up, hashed and compared far more often than it is made. So each action exists once: equality is
identity, and the referee finds the JSON of an action by the object.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

_interned: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
"""Every object there is, by its class and the values of its fields; one that nobody keeps goes away."""


class _OneForEachValue(type):
    """Gives back the object that is there already when an equal one is made."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
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
