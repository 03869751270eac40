"""Says in plain words why a line that was to be a message is no JSON object, so that a beginner finds the cause.

The line itself is not quoted: whoever shows it knows who may see it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

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
