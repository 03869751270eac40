"""Parts of sentences, written in one way: counts, what was meant, and text that cannot steer a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO


# -- counts ----------------------------------------------------------------------------------------------


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: `1 match`, `2 tables`, `1,200 matches`; `many` where English is irregular."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or one + ('es' if one.endswith(('ch', 'sh', 's', 'x')) else 's')}"


def listed(parts: Sequence[str]) -> str:
    """Several things in a sentence: `a`, `a and b`, `a, b and c`; empty for none."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def size_text(size: int) -> str:
    """A number of bytes in kB, MB or GB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1000:.0f} kB"


# -- suggest ---------------------------------------------------------------------------------------------
# Suggests what was meant: the known name that is nearest to an unknown one.


_MAX_KNOWN = 12  # names listed in a message; nobody reads more


def closest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that has most in common with `name`, and at least `likeness` (0 to 1), or None."""
    from difflib import get_close_matches  # only mistakes need it

    return next(iter(get_close_matches(name, list(known), n=1, cutoff=likeness)), None)


def nearest(name: str, known: Iterable[str], none: str = "none is allowed here") -> str:
    """A hint after an unknown `name`: the nearest of the `known` ones, else those (or `none`)."""
    choices = list(known)
    if close := closest(name, choices):
        return f"did you mean {close!r}?"
    more = f" and {len(choices) - _MAX_KNOWN} more" if len(choices) > _MAX_KNOWN else ""
    return f"known: {', '.join(choices[:_MAX_KNOWN])}{more}" if choices else none


def nearest_path(path: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """A hint for a `path` where nothing is: the `known` one with the nearest name; empty if none is near.

    `likeness`, from 0 to 1, is the least that two names must have in common.

    Only the last parts are compared, and those without `.toml`, which all league files have in common.
    """
    choices = {_last(name): name for name in reversed(list(known))}
    close = closest(_last(path), choices, likeness)
    return f"did you mean {choices[close]!r}?" if close else ""


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].removesuffix(".toml")


# -- safe text -------------------------------------------------------------------------------------------
# Text that others wrote, made harmless for a terminal: no character in it can move the cursor or reorder a
# line.
#
# All that the program prints passes `SafeStream` or the console of `warpleague.report.terminal.console`, so
# no command can forget it.


_ASTRAL: Final = 0x10000
_LEFTWARD: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
# Words that are written from right to left, with what is attached to them (`\u05d0-2`), but no comma or full stop.
_LEFTWARD_WORDS: Final = re.compile(rf"[{_LEFTWARD}](?:(?:[\w.+-]| (?=[{_LEFTWARD}]))*[{_LEFTWARD}\w])?")


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with every character escaped that is not printable, apart from those in `keep`."""
    if text.isprintable() or ("\n" in keep and _is_printable(text)):
        return text
    return "".join(char if char.isprintable() or char in keep else f"\\x{ord(char):02x}" for char in text)


def isolated(text: str) -> str:
    """`text`, for a page: where letters are written from right to left, marks keep this direction within it."""
    return f"\u2068{text}\u2069" if _LEFTWARD_WORDS.search(text) else text


def printable(data: bytes) -> str:
    """Bytes as text without control characters (newline and tab stay)."""
    return safe(data.decode("utf-8", "backslashreplace"))


def safe_json(text: str) -> str:
    """JSON `text` with every character that is not printable as a JSON escape: the value stays the same."""
    if _is_printable(text):
        return text
    return re.sub(
        r"[^\n]", lambda match: match[0] if match[0].isprintable() else _json_escape(match[0]), text
    )


def _is_printable(text: str) -> bool:
    """Whether nothing but newlines in `text` is unprintable; long texts would take time one character at a time."""
    return text.replace("\n", "").isprintable()


def _json_escape(char: str) -> str:
    code = ord(char)
    if code < _ASTRAL:
        return f"\\u{code:04x}"
    code -= _ASTRAL
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class SafeStream:
    """A text stream that writes `safe` text to another one, `inner`; in all else it is that stream."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        """Write `text`, with what could steer a terminal escaped."""
        self.inner.write(safe(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class IsolatingStream(SafeStream):
    """A stream to a terminal: words from right to left do not move the numbers beside them to their other side.

    The marks around them take no room. Only for what people read: they must not get into paths and data.
    """

    def write(self, text: str) -> int:
        """Write `text`, which is safe already and may have colours, with such words isolated."""
        self.inner.write(_LEFTWARD_WORDS.sub("\u2068\\g<0>\u2069", text))
        return len(text)
