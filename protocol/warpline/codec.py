"""Turns messages into bytes and bytes into messages: strict with what bots write, fast for frequent messages.

`framing` cuts bytes into lines; the referee decides whether a message fits the moment.

A bot's line is decoded by the first of three decoders that accepts it: a regular expression for an index, msgspec
for an action object, and the standard library with cattrs for everything else and for every error. The first two
accept only what the third accepts, and give the same value.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from math import isinf
from typing import Annotated, Any, Final, Literal, NoReturn

import attrs
import msgspec

from warpline.limits import MAX_DEPTH, MAX_INT, MAX_LINE, NOTE_BYTES
from warpline.messages import (
    BOT_MESSAGES,
    REFEREE_MESSAGES,
    Answer,
    BotMessage,
    Failed,
    JsonObject,
    RefereeMessage,
)
from warpline.structure import MisfitError, strict_converter

# -- diagnosis -------------------------------------------------------------------------------------------
# Says in plain words why a line that was to be a message is no JSON object, so that a beginner finds the
# cause.
#
# The line itself is not quoted: whoever shows it knows who may see it.


_NAMES: Final = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
_PYTHON: Final = re.compile(r"(?:True|False|None)\b")
_COMMA: Final = re.compile(r",\s*[}\]]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*\s*:")
_NEAR: Final = 80
"""So far from the place of an error is its cause looked for, in characters."""
_FEW: Final = 3
"""A text in ASCII written as UTF-16 has one NUL for each character: at least this part of its bytes."""

_any_json: Final = json.JSONDecoder().raw_decode


def no_text(line: bytes) -> str | None:
    """Why the bytes of a line cannot be the text of a message, or None."""
    if not line.strip():
        return "an empty line"
    if not line.strip(b"\0"):
        return "NUL bytes where a message must be"
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(0) * _FEW >= len(line):
        return "UTF-16, as it seems, since many of its bytes are 0: write UTF-8"
    if line.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark before the message: write UTF-8 without it"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}, which is 0x{line[error.start]:02x}: write UTF-8"
    return None


def no_json(text: str, message: str, place: int) -> str:
    """Why a text is not JSON, where the parser says `message` about the character at `place`, counted from 0."""
    return f"not JSON: {_cause(text, place) or f'{message} at character {place}'}"


def no_object(value: Any) -> str:
    """Why a JSON value is not a message."""
    kind = _NAMES.get(type(value), "a number")
    twice = ", so it was written as JSON twice" if isinstance(value, str) and value[:1] == "{" else ""
    return f"not a JSON object, but {kind}{twice}"


def _cause(text: str, place: int) -> str | None:
    """The likely mistake behind this text, if it looks like something that often happens."""
    begin = len(text) - len(text.lstrip(" \t\r"))
    if text[begin] != "{":
        return _before(text)
    try:
        _, end = _any_json(text, begin)
    except (ValueError, RecursionError):
        return _inside(text, begin, place)
    rest = text[end:].strip()
    if not rest.strip("\0"):
        return f"NUL bytes after the message, at character {end}: only a newline ends a line"
    if rest.startswith("{"):
        return f"a second message on the same line, at character {end}: a newline must end each"
    return f"text after the message, at character {end}"


def _before(text: str) -> str | None:
    """The mistake if the text does not begin with a brace."""
    brace = text.find("{")
    if brace > 0:
        try:
            _any_json(text, brace)
        except (ValueError, RecursionError):
            pass
        else:
            return f"text before the message, which begins at character {brace}"
    if re.match(r'\s*["\[\d-]', text):
        return None
    return "text where a message must be: print what is for people to standard error"


def _inside(text: str, begin: int, place: int) -> str | None:
    """The mistake if the text begins with a brace, and is no JSON from there on."""
    near, at = text[max(0, place - _NEAR) : place + _NEAR], text[place : place + _NEAR]
    if re.match(r"\{\s*'", text[begin : begin + _NEAR]):
        return (
            "single quotes: JSON has double ones; in Python print json.dumps(message), not the message itself"
        )
    if match := _PYTHON.match(at):
        return f"{match[0]} is how Python writes it: JSON has true, false and null"
    if at.startswith(("//", "/*", "#")):
        return f"a comment at character {place}: JSON has none"
    if place >= len(text.rstrip()) or _unended(text):
        return "the message does not end on its line: write it on one line, without line breaks in it"
    if _COMMA.search(near):
        return "a comma before a closing bracket"
    if at.startswith(("\u201c", "\u201d")):
        return f"typographic quotes at character {place}: JSON has plain double ones"
    if _NAME.match(at):
        return f"a name without double quotes at character {place}"
    if at and at[0] < " ":
        return f"the control character 0x{ord(at[0]):02x} at character {place}: write \\u{ord(at[0]):04x} in a string"
    return None


def _unended(text: str) -> bool:
    """Whether a string begins and does not end."""
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', text)) % 2 == 1


# -- codec -----------------------------------------------------------------------------------------------


WireKind = Literal["malformed", "protocol"]


class WireError(ValueError):
    """A line that is not a message.

    `kind` is `malformed` when it is no JSON object within the limits or a field does not fit, `protocol` when
    its `type` is absent or not one of this direction.
    """

    def __init__(self, kind: WireKind, message: str) -> None:
        super().__init__(message)
        self.kind: WireKind = kind
        self.message = message


# Decoding: an index ------------------------------------------------------------

# At most 15 digits stay below 2**53; 16 and more are left to the strict path. Blanks are written as a space
# here; a run of them is never given back, so matching is linear.
_SPACED: Final = rb' \{ "type" : "act" , "id" : (0|[1-9][0-9]{0,14}) , "action" : (0|[1-9][0-9]{0,14}) \} '
_compact_index: Final = re.compile(_SPACED.replace(b" ", b"")).fullmatch
_index: Final = re.compile(_SPACED.replace(b" ", rb"[ \t\r\n]*+")).fullmatch

# Decoding: action objects ------------------------------------------------------------

_Int = Annotated[int, msgspec.Meta(ge=-MAX_INT, le=MAX_INT)]
# float is in the unions so that 1.0 stays a float: as a plain int msgspec would accept it as 1.
_Scalar = _Int | float | str | bool | None
_Object = dict[str, _Scalar | list[_Scalar]]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_NaturalOrFloat = Annotated[int, msgspec.Meta(ge=0, le=MAX_INT)] | float


class _Typed(msgspec.Struct, forbid_unknown_fields=True):
    """The usual shape of an answer; its types bound nesting, integers and text without a further look."""

    type: Literal["act"]
    id: _NaturalOrFloat
    action: _NaturalOrFloat | _Object
    then: list[_Object] | msgspec.UnsetType | None = msgspec.UNSET
    note: str | msgspec.UnsetType | None = msgspec.UNSET
    value: _Share | msgspec.UnsetType | None = msgspec.UNSET


_typed = msgspec.json.Decoder(_Typed).decode


def _decode_typed(line: bytes) -> Answer | None:
    """The answer that `line` is, or None when only the strict path can tell."""
    try:
        decoded = _typed(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    action, then, note, value = decoded.action, decoded.then, decoded.note, decoded.value
    if type(decoded.id) is not int:
        return None
    keys = 3
    if type(action) is dict:
        keys += len(action)
    elif type(action) is not int:
        return None
    if then is msgspec.UNSET:
        further: tuple[JsonObject, ...] = ()
    else:
        further = tuple(then or ())
        keys += 1 + sum(map(len, further))
    if note is msgspec.UNSET:
        note = None
    else:
        keys += 1
        if note is not None and len(note) * 4 > NOTE_BYTES:
            return None
    if value is msgspec.UNSET:
        value = None
    else:
        keys += 1
    # msgspec keeps the last of equal keys. Each pair has its colon: as many colons as keys, no equal ones.
    if line.count(b":") != keys:
        return None
    return Answer(decoded.id, action, further, note, value)


# Decoding: everything, strictly ------------------------------------------------------------

# Always matches from a quote on, closed or not, and never gives back: linear on any bytes.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS: Final = bytes.maketrans(b"[{]}", b"(())")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_INT_DIGITS: Final = len(str(MAX_INT))


def _refuse(message: str) -> NoReturn:
    raise WireError("malformed", message)


def _check_depth(line: bytes) -> None:
    """Refuse nesting that is too deep before a recursive parser sees it; linear time, no recursion."""
    if line.count(b"{") + line.count(b"[") <= MAX_DEPTH:
        return
    brackets = _STRING.sub(b"", line).translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"()", b"")  # takes away the innermost level, everywhere
        if not brackets:
            return
    _refuse(f"brackets that do not match, or nested deeper than {MAX_DEPTH} levels")


def _int(digits: str) -> int:
    # The length first: converting very long digit strings is not linear.
    if len(digits) <= _INT_DIGITS + 1:
        value = int(digits)
        if -MAX_INT <= value <= MAX_INT:
            return value
    _refuse("an integer of more than 53 bits")


def _float(text: str) -> float:
    value = float(text)
    if isinf(value):
        _refuse("a number out of range")
    return value


def _constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON: a number must be finite")


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                _refuse(f"duplicate key {key[:40]!a}")
            seen.add(key)
    return fields


_strict_json: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant
).decode


def parse_strict(line: bytes) -> JsonObject:
    """The JSON object in `line`, within the protocol's limits. Raises `WireError("malformed")` if it is not one."""
    _check_depth(line)
    try:
        text = line.decode()
        value = _strict_json(text)
    except UnicodeDecodeError:
        _refuse(no_text(line) or "not UTF-8")
    except json.JSONDecodeError as error:
        _refuse(no_text(line) or no_json(text, error.msg, error.pos))
    if type(value) is not dict:
        _refuse(no_object(value))
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            _refuse("a lone surrogate in a string")
    return value


_structure: Final = strict_converter(unknown_keys=True, null="absent").structure


def decode_strict(line: bytes) -> BotMessage:
    """A message of a bot, as `decode_bot` gives it, without the quick ways that usual lines take there."""
    message: BotMessage = _message(parse_strict(line), BOT_MESSAGES, "a bot")
    return message


def _message(value: JsonObject, known: dict[str, Any], speaker: str) -> Any:
    if "type" not in value:
        raise WireError("protocol", 'the message has no type: an answer has "type":"act"')
    name = value["type"]
    cls = known.get(name) if type(name) is str else None
    if cls is None:
        shown = ascii(name[:40]) if type(name) is str else "of its type"
        raise WireError("protocol", f"no message {shown} from {speaker}: expected one of {', '.join(known)}")
    if cls is Answer and value.get("action") is None and value.get("failed") is not None:
        cls = Failed
    try:
        return _structure(value, cls)
    except MisfitError as error:
        raise WireError("malformed", f"{name}: {error}") from None


# All that follows the id in an answer with an index, as most bots write it.
_INDICES: Final = {b"%d}" % index: index for index in range(1000)}


def decode_index(line: bytes, id: int) -> int | None:  # noqa: A002 - the field's name on the wire
    """The index in a bot's `line`, if it only answers the question `id` with an index.

    None says nothing of the line: `decode_bot` tells.
    """
    head = b'{"type":"act","id":%d,"action":' % id
    return _INDICES.get(line[len(head) :]) if line.startswith(head) else None


def decode_bot(line: bytes, note_bytes: int = NOTE_BYTES) -> BotMessage:
    """The message that a bot's `line` (without newline, at most `MAX_LINE` bytes) is; `WireError` if none.

    A note has at most `note_bytes`. Takes time linear in the line, and never recurses deeper than `MAX_DEPTH`,
    whatever the bytes.
    """
    match = _compact_index(line) or _index(line)
    if match is not None:
        number, index = match.groups()
        return Answer(int(number), int(index))
    return _decode_typed(line) or _noted(decode_strict(line), note_bytes)


def _noted(message: BotMessage, note_bytes: int) -> BotMessage:
    """The message, whose note is not too long."""
    note = message.note if isinstance(message, Answer) else None
    if note is not None and len(note.encode()) > note_bytes:
        _refuse(f"act: note: must be a text of at most {note_bytes} bytes of UTF-8")
    return message


def decode_referee(line: bytes) -> RefereeMessage:
    """The message in a referee's `line` (without newline, of any length). Raises `WireError` if it is not one.

    For tools and tests: it trusts the referee to nest sanely and write each key once.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        _refuse(f"not JSON: {error}")
    if type(value) is not dict:
        _refuse("not a JSON object")
    message: RefereeMessage = _message(value, REFEREE_MESSAGES, "a referee")
    return message


# Encoding ------------------------------------------------------------

to_bytes = msgspec.json.Encoder().encode
"""The compact JSON, in UTF-8, of a value made of dicts with text keys, lists, tuples and scalars."""

_sorted_bytes: Final = msgspec.json.Encoder(order="sorted").encode
_DIGITS_TO_0: Final = bytes.maketrans(b"123456789", b"000000000")
_exponent: Final = re.compile(
    rb"(?:^|[\[:,])-?[0-9]++(?:\.[0-9]++)?e"
).search  # digests have 0e, too, but not this
_python_json: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def _nones(value: object) -> int:
    """How many None there are in a value made of dicts, lists, tuples and scalars."""
    if isinstance(value, dict):
        return sum(map(_nones, value.values()))
    return sum(map(_nones, value)) if isinstance(value, (list, tuple)) else value is None


def canonical(value: object) -> bytes:
    """The canonical JSON of `value`: keys sorted by code point, no spaces, UTF-8 unescaped, Python's floats.

    `value` is made of dicts with text keys, lists, tuples and scalars. `ValueError` for numbers that are not
    finite and for lone surrogates.
    """
    encoded = _sorted_bytes(value)
    # msgspec writes otherwise than Python: exponents, numbers below 1e-4, and null for what is not finite.
    # The same bytes inside a string cost a detour, never a difference.
    if (
        b".0000" in encoded
        or (b"null" in encoded and encoded.count(b"null") != _nones(value))
        or (b"0e" in encoded.translate(_DIGITS_TO_0) and _exponent(encoded) is not None)
    ):
        return _python_json(value).encode()
    return encoded


def _plain(value: Any) -> Any:
    """`value` with attrs objects as dicts, without the fields that are None or a default `()`."""
    members = _members(value.__class__)
    if members is None:
        return value
    parts = ((name, getattr(value, name), default) for name, default in members)
    return {
        name: _plain(part) for name, part, default in parts if not (part is None or part == () == default)
    }


@lru_cache
def _members(cls: type) -> tuple[tuple[str, Any], ...] | None:
    """The names and defaults of the fields of an attrs class; None of any other."""
    return tuple((field.name, field.default) for field in attrs.fields(cls)) if attrs.has(cls) else None


def _unbroken(line: bytes) -> bytes:
    """`line` with U+2028 and U+2029, which can only stand in its strings, as escapes.

    Some readers of lines, Node.js's since its version 24, end a line at them: a text of one bot, passed on, would
    break another.
    """
    return line.replace(b"\xe2\x80\xa8", rb"\u2028").replace(b"\xe2\x80\xa9", rb"\u2029")


def encode(message: RefereeMessage | BotMessage) -> bytes:
    """The line, newline included, that `message` is on the wire, without fields that are None."""
    line = to_bytes({"type": message.type, **_plain(message)}) + b"\n"
    return line if line.isascii() else _unbroken(line)


def _seconds(value: float) -> bytes:
    text = b"%.6f" % value
    if text.endswith(b"0"):
        text = text.rstrip(b"0")
        if text.endswith(b"."):
            return text + b"0"
    return text


_cap = lru_cache(maxsize=256)(_seconds)  # a match has one cap, but its bank is never twice the same


@lru_cache(maxsize=1024)
def _ask(ask: str) -> bytes:
    return b',"ask":' + to_bytes(ask)


@lru_cache(maxsize=1024)
def _asked(ask: str, move_s: float | None) -> bytes:
    """The question, and the clock of a bot without a bank."""
    return _ask(ask) + (b"" if move_s is None else b',"clock":{"move_s":%b}' % _seconds(move_s))


@lru_cache(maxsize=1024)
def _bare(ask: str, move_s: float | None) -> bytes:
    """The rest of the line of an `Act` after its id, with only these two fields."""
    line = _asked(ask, move_s) + b"}\n"
    return line if line.isascii() else _unbroken(line)


def encode_bare(id: int, ask: str, move_s: float | None) -> bytes:  # noqa: A002 - the field's name on the wire
    """The line of an `Act` that tells nothing but these."""
    return b'{"type":"act","id":%d%b' % (id, _bare(ask, move_s))


def encode_act(
    id: int,  # noqa: A002 - the field's name on the wire
    ask: str,
    bank_s: float | None = None,
    move_s: float | None = None,
    talk: int | None = None,
    events: bytes | None = None,
    state: bytes | None = None,
    legal: bytes | None = None,
) -> bytes:
    """The line of an `Act`, newline included; what is None is left out.

    `events`, `state` and `legal` are JSON already; trusts its caller that they are, without newlines.
    Seconds, finite, are written with at most six decimals.
    """
    if bank_s is None and talk is None and events is None and state is None and legal is None:
        return encode_bare(id, ask, move_s)
    if bank_s is None:
        asked = _asked(ask, move_s)
    elif move_s is None:
        asked = b'%b,"clock":{"bank_s":%b}' % (_ask(ask), _seconds(bank_s))
    else:
        asked = b'%b,"clock":{"bank_s":%b,"move_s":%b}' % (_ask(ask), _seconds(bank_s), _cap(move_s))
    if talk is None and events is not None and state is not None and legal is not None:
        # As most bots are asked: long texts are copied only once.
        values = id, asked, events, state, legal
        line = b'{"type":"act","id":%d%b,"events":%b,"state":%b,"legal":%b}\n' % values
    else:
        line = b'{"type":"act","id":%d%b%b%b%b%b}\n' % (
            id,
            asked,
            b"" if talk is None else b',"talk":%d' % talk,
            b"" if events is None else b',"events":' + events,
            b"" if state is None else b',"state":' + state,
            b"" if legal is None else b',"legal":' + legal,
        )
    return line if line.isascii() else _unbroken(line)


def with_texts(line: bytes, **texts: str) -> bytes:
    """The line of an `Act` with its fields `text` or `error`, which `encode_act` leaves out: few have them."""
    more = b"".join(b',"%b":%b' % (name.encode(), _unbroken(to_bytes(text))) for name, text in texts.items())
    return line.removesuffix(b"}\n") + more + b"}\n"


# -- framing ---------------------------------------------------------------------------------------------
# Cuts the bytes from the other side into lines.


class LineTooLong(ValueError):
    """A line of more than the allowed bytes; `head` holds the first of them as evidence."""

    def __init__(self, limit: int, head: bytes) -> None:
        super().__init__(f"a line is longer than {limit} bytes")
        self.limit = limit
        self.head = head


class LineBuffer:
    r"""Bytes in, lines out: the cost is O(1) amortised for each byte, however they are cut.

    A line ends with `\n`; a `\r` before it stays part of the line, where it is harmless JSON whitespace. The
    limit counts the bytes before the `\n`. Memory is bounded by the caller: it stops feeding when `next_line`
    raises.
    """

    __slots__ = ("_buffer", "_limit", "_scanned", "_whole")

    HEAD = 256
    """Bytes of a line that is too long that its error keeps."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._whole: bytes | None = None  # the one complete line of a chunk, never copied into _buffer
        self._buffer = bytearray()
        self._scanned = 0  # bytes at the start of _buffer known to hold no newline

    def feed(self, data: bytes) -> None:
        """Take in what was read, cut anywhere."""
        if not self._buffer and self._whole is None:
            # An answer nearly always arrives as one chunk that is exactly one line.
            end = data.find(b"\n")
            if 0 <= end == len(data) - 1:
                self._whole = data[:end]
                return
        elif self._whole is not None:
            self._buffer += self._whole + b"\n"
            self._whole = None
        self._buffer += data

    def next_line(self) -> bytes | None:
        r"""The next complete line without its `\n`, or None; `LineTooLong` when it can only be too long."""
        line = self._whole
        if line is not None:
            self._whole = None
            if len(line) > self._limit:
                # Put it back: a line that is too long stays too long in later calls.
                self._buffer += line + b"\n"
                raise LineTooLong(self._limit, line[: self.HEAD])
            return line
        buffer = self._buffer
        if not buffer:
            return None
        end = buffer.find(b"\n", self._scanned)
        if (end if end >= 0 else len(buffer)) > self._limit:
            raise LineTooLong(self._limit, bytes(buffer[: self.HEAD]))
        if end < 0:
            self._scanned = len(buffer)
            return None
        line = bytes(buffer[:end])
        del buffer[: end + 1]  # a bytearray forgets its head without moving the rest
        self._scanned = 0
        return line

    def __len__(self) -> int:
        """The buffered bytes that were not returned yet, newlines included."""
        return len(self._buffer) + (0 if self._whole is None else len(self._whole) + 1)

    def peek(self, size: int = HEAD) -> bytes:
        """The first buffered bytes, at most `size` of them, as evidence for a fault."""
        if self._whole is not None:
            return (self._whole + b"\n")[:size]
        return bytes(self._buffer[:size])
