"""Writes an attrs class, or a TypedDict, as JSON Schema, draft 2020-12.

`scripts/schema.py` decides which classes go into which file. The description of a field is the `help` in its
metadata, or else the string literal below the field in its class; the description of a class is its docstring. What
a field's validator asks is in the schema, too: that of attrs for numbers, and what `in_schema` says in its metadata.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import attrs

from warpline.bounds import Bounds, MaxBytes, Null, Range, keys_of
from warpline.messages import BOT_MESSAGES, REFEREE_MESSAGES, Failed, JsonObject

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TAGS: Final = ("type", "do")
"""Class variables that are part of a value's JSON form, with the class's own value."""

_SCALARS: Final[dict[Any, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    NoneType: "null",
}


_COMPARISONS: Final = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


class Definitions:
    """The `$defs` of one schema: each class is described once, under a name of its own.

    A `closed` schema forbids keys it does not know. `null` is about fields with a default, as in `strict_converter`.
    """

    def __init__(self, *, closed: bool, null: Null = "typed") -> None:
        self.schemas: dict[str, JsonObject] = {}
        self._closed = closed
        self._null = null
        self._names: dict[type, str] = {}

    def ref(self, cls: type) -> JsonObject:
        """A reference to the schema of `cls`, which is described now if it was not yet."""
        name = self._names.get(cls)
        if name is None:
            name = cls.__name__
            if name in self.schemas:  # a view's part may be called like an action
                name = f"{cls.__module__.rpartition('.')[2]}.{name}"
            if name in self.schemas:
                raise ValueError(f"two classes want to be called {name}: {cls} is one of them")
            self._names[cls] = name
            self.schemas[name] = {}  # taken before it is described: a class may contain itself
            self.schemas[name] = self._describe_dict(cls) if is_typeddict(cls) else self._describe(cls)
        return {"$ref": f"#/$defs/{name}"}

    def one_of(self, classes: Iterable[type]) -> JsonObject:
        """The schema of a value of exactly one of `classes`."""
        return {"oneOf": [self.ref(cls) for cls in classes]}

    def any_of(self, classes: Iterable[type]) -> JsonObject:
        """The schema of a value of at least one of `classes`."""
        return {"anyOf": [self.ref(cls) for cls in classes]}

    def _describe_dict(self, cls: Any) -> JsonObject:
        """Of a TypedDict: its keys, with the string literals below them."""
        below = _literals_of_keys(cls)
        properties = {
            name: {**self.of(kind), **_unless_none("description", below.get(name))}
            for name, kind in get_type_hints(cls).items()
        }
        return {
            "type": "object",
            **_unless_none("description", inspect.getdoc(cls)),
            "properties": properties,
            "required": [name for name in properties if name in cls.__required_keys__],
            **({"additionalProperties": False} if self._closed else {}),
        }

    def _describe(self, cls: type) -> JsonObject:
        hints = get_type_hints(cls, include_extras=True)
        below = {name: text for base in reversed(cls.__mro__) for name, text in _literals_below(base).items()}
        properties: JsonObject = {tag: {"const": getattr(cls, tag)} for tag in _TAGS if _is_tagged(cls, tag)}
        required = list(properties)
        for field in keys_of(cls):
            name = field.name
            try:
                schema = self.of(hints[name])
                if field.default is not attrs.NOTHING and self._null == "refused":
                    schema = self.of(_without_none(hints[name]))
            except TypeError as error:
                raise TypeError(f"{cls.__qualname__}.{name}: {error}") from None
            if field.default is attrs.NOTHING:
                required.append(name)
            else:
                if self._null == "absent":
                    schema = _either([schema, {"type": "null"}])
                if isinstance(field.default, (bool, int, float, str, tuple)):
                    schema = {**schema, "default": field.default}
            schema = {**schema, **_asked(field.validator), **field.metadata.get("schema", {})}
            text = field.metadata.get("help") or below.get(name)
            if text:
                schema = {**schema, "description": text}
            properties[name] = schema
        described: JsonObject = {"type": "object"}
        if cls.__doc__:
            described["description"] = inspect.cleandoc(cls.__doc__)
        described["properties"] = properties
        described["required"] = required
        if self._closed:
            described["additionalProperties"] = False
        return described

    def of(self, kind: Any) -> JsonObject:
        """The schema of the values that the type `kind` describes; TypeError if it has no JSON form."""
        if kind in _SCALARS:
            return {"type": _SCALARS[kind]}
        if kind is Any or kind is object:
            return {}
        if is_typeddict(kind) or (isinstance(kind, type) and attrs.has(kind)):
            return self.ref(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        origin: Any = get_origin(kind) or kind
        args = get_args(kind)
        if origin is Annotated:
            return self._annotated(args[0], args[1:])
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
        if origin in (Union, UnionType):
            return _either([self.of(member) for member in args])
        if isinstance(origin, type):
            if issubclass(origin, tuple) and args and args[-1] is not Ellipsis:
                parts = [self.of(part) for part in args]
                size = len(parts)
                return {
                    "type": "array",
                    "prefixItems": parts,
                    "items": False,
                    "minItems": size,
                    "maxItems": size,
                }
            if issubclass(origin, Mapping):
                return {
                    "type": "object",
                    **_unless_any("additionalProperties", self.of(args[1] if args else Any)),
                }
            if issubclass(origin, Collection):
                return {"type": "array", **_unless_any("items", self.of(args[0] if args else Any))}
        raise TypeError(f"no JSON Schema for {kind!r}")

    def _annotated(self, kind: Any, marks: Iterable[Any]) -> JsonObject:
        schema = self.of(kind)
        for mark in marks:
            if isinstance(mark, Range) and mark.open:
                schema |= {"exclusiveMinimum": mark.least, "exclusiveMaximum": mark.greatest}
            elif isinstance(mark, (Bounds, Range)):
                schema |= {"minimum": mark.least, "maximum": mark.greatest}
            elif isinstance(mark, MaxBytes):
                # The schema's own limit counts characters; bytes cannot be said.
                schema |= {"maxLength": mark.size, "$comment": f"at most {mark.size} bytes of UTF-8"}
        return schema


def schema_of(cls: type, *, closed: bool = True, null: Null = "typed") -> JsonObject:
    """A complete schema for the JSON form of the attrs class `cls`; `closed` and `null` as in `Definitions`."""
    definitions = Definitions(closed=closed, null=null)
    return {"$schema": DIALECT, **definitions.ref(cls), "$defs": definitions.schemas}


def messages_schema() -> JsonObject:
    """The schema of all messages: `#/$defs/referee` and `#/$defs/bot` are the two directions."""
    definitions = Definitions(closed=False, null="absent")
    referee = definitions.one_of(REFEREE_MESSAGES.values())
    # An answer may be both by its form: one with an action is an Answer, whatever else it has.
    bot = definitions.any_of((*BOT_MESSAGES.values(), Failed))
    return {
        "$schema": DIALECT,
        "title": "Warp League protocol 1: messages",
        "anyOf": [{"$ref": "#/$defs/referee"}, {"$ref": "#/$defs/bot"}],
        "$defs": {"referee": referee, "bot": bot, **definitions.schemas},
    }


def _without_none(kind: Any) -> Any:
    """A type without None; what is left of a union is one again."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    return Union[tuple(member for member in get_args(kind) if member is not NoneType)]  # noqa: UP007 - made of values


def _is_tagged(cls: type, tag: str) -> bool:
    return isinstance(getattr(cls, tag, None), str) and tag not in attrs.fields_dict(cls)


def _asked(validator: Any) -> JsonObject:
    """What the validators of attrs for numbers (`ge`, `gt`, `le`, `lt`) ask, also in a list or as `optional`."""
    if hasattr(validator, "compare_op"):
        return {_COMPARISONS[validator.compare_op]: validator.bound}
    inner = getattr(validator, "_validators", None) or [getattr(validator, "validator", None)]
    return {keyword: bound for part in inner if part is not None for keyword, bound in _asked(part).items()}


def _unless_none(key: str, value: Any) -> JsonObject:
    return {} if value is None else {key: value}


def _unless_any(key: str, schema: JsonObject) -> JsonObject:
    return {key: schema} if schema else {}


def _either(schemas: Iterable[JsonObject]) -> JsonObject:
    """Any of `schemas`, flattened, each once, simple types together."""
    types: list[str] = []
    others: list[JsonObject] = []
    for schema in (part for whole in schemas for part in whole.get("anyOf", [whole])):
        if schema == {}:
            return {}
        if schema.keys() == {"type"}:
            kinds = schema["type"]
            types += [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind not in types]
        elif schema not in others:
            others.append(schema)
    if types:
        others.append({"type": types[0] if len(types) == 1 else types})
    return others[0] if len(others) == 1 else {"anyOf": others}


def _literals_of_keys(cls: Any) -> dict[str, str]:
    """The same of a TypedDict and of those that it continues: it knows its own keys, but before 3.12 no bases."""
    known = vars(sys.modules[cls.__module__])
    bases = [
        known[base.id]
        for base in _statements(cls.__module__)[cls.__name__].bases
        if isinstance(base, ast.Name)
    ]
    inherited = [_literals_of_keys(base) for base in bases if is_typeddict(base)]
    return {name: text for texts in (*inherited, _literals_below(cls)) for name, text in texts.items()}


def _literals_below(cls: type) -> dict[str, str]:
    """The string literal that follows each annotated field in the class statement of `cls`."""
    statement = _statements(cls.__module__).get(cls.__name__)
    texts: dict[str, str] = {}
    for field, literal in pairwise(statement.body if statement else ()):  # without one it was made by a call
        match field, literal:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                texts[name] = inspect.cleandoc(text)
    return texts


@cache
def _statements(module: str) -> dict[str, ast.ClassDef]:
    """The class statements of a module by name, read once for all its classes; none if its source is not there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError, SyntaxError):
        return {}
    # From the outside inwards, so that of classes with one name the outermost counts.
    return {node.name: node for node in [*ast.walk(tree)][::-1] if isinstance(node, ast.ClassDef)}
