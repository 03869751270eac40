"""Reads the TOML and text files that users and strangers wrote: plain files, of bounded size, depth and numbers.

`warpleague.strict` turns the result into values.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

FILE_KB: Final = 1024
"""The largest file that is read unless the caller says otherwise, in KiB."""

MAX_DEPTH: Final = 32
"""Levels of nesting, as on the wire."""

_SHOWN: Final = 80  # characters of a line in an error
_FORMS: Final = (
    (r"[\u201c\u201d\u2018\u2019]", "write straight quotes"),
    (r"^[\w.-]+ *= *(True|False)\b", "write {key} = {lower}"),
    (r"^[\w.-]+ *= *[A-Za-z][\w .*/@+-]*$", 'write a text in quotes: {key} = "{value}"'),
    (r"^[\w.-]+ *= *\.*/[\w ./@+-]*$", 'write a text in quotes: {key} = "{value}"'),
    (r"^[\w.-]+ *= *[\d.]+ *[A-Za-z%]+$", "write the number alone, without a unit"),
    (r"^[\w.-]+ *= *$", "write a value behind the ="),
    (r'^"?[\w.-]+"? *:', "write = between a key and its value, not a colon"),
    (r'= *\[?"[^"]*\\', "write / in paths, not \\: {slashed}"),
    (r"^#!|^//|^/\*|^--", "begin a remark with #"),
    (r'" +"|" *{', "write a comma between the values"),
    (r"^\[\[?[^]]*$", "close the name of the table with ]"),
    (r"^[\w.-]+$", "write KEY = VALUE, or [TABLE]"),
)
"""Common mistakes of beginners in TOML: the form of the line, and what to write instead."""

_MAX_INT: Final = 1 << 63  # TOML's own range


def read_text(path: Path, where: str, most_kb: int = FILE_KB) -> str:
    """The text of the plain file `path`, in UTF-8; `where` opens the text of every error.

    Raises `OSError` if it cannot be opened, `ConfigError` if it is not a plain file, too large or not UTF-8.
    """
    # Not to wait for somebody to write into a named pipe; of a file it changes nothing.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ConfigError(f"{where}: it is not a plain file")
        data = file.read((most_kb << 10) + 1)
    if len(data) > most_kb << 10:
        raise ConfigError(f"{where}: it has more than {most_kb} KiB")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError(f"{where}: it is not UTF-8 text but UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")  # editors on Windows put a mark in front
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: it is not UTF-8 text, byte {error.start}") from None


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables in `text`; `ConfigError` if it is not TOML, or nests or counts further than anyone needs."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: not TOML: {error}{_line(text, str(error))}") from None
    except RecursionError:
        raise ConfigError(f"{where}: not TOML: it nests more than {MAX_DEPTH} levels deep") from None
    except (ValueError, OverflowError):  # Python reads no number of thousands of digits
        raise ConfigError(f"{where}: not TOML: a number has too many digits") from None
    _check(data, where)
    return data


def _line(text: str, error: str) -> str:
    """The line that an error of the parser names, and how to write what was probably meant; empty without one."""
    if text.lstrip().startswith("{"):
        return "; this is JSON, perhaps the record of a match: name a TOML file"
    match = re.search(r"at line (\d+)", error)
    lines = text.splitlines()
    number = int(match[1]) if match else len(lines)
    if not 0 < number <= len(lines):
        return ""
    line = lines[number - 1].strip()
    shown = f"; the line is: {line[:_SHOWN]}{'...' if len(line) > _SHOWN else ''}"
    if remedy := next((remedy for form, remedy in _FORMS if re.search(form, line[:500])), ""):
        key, _, value = (part.strip() for part in line.partition("="))
        return f"{shown}; {remedy.format(key=key, value=value, lower=value.lower(), slashed=_slashed(value))}"
    if "Unclosed array" in error:
        return f"{shown}; end the list with ], and write commas between its values"
    if "Illegal character '\\n'" in error or "Unterminated" in error:
        return f"{shown}; close the quotes"
    if "overwrite" in error or "twice" in error or "already" in error or "mutate" in error:
        return f"{shown}; it is in the file twice: leave one of them out"
    return shown


def _slashed(value: str) -> str:
    return value.replace("\\\\", "/").replace("\\", "/")


def _check(data: dict[str, Any], where: str) -> None:
    level: list[tuple[Any, str]] = [(data, "")]
    for _ in range(MAX_DEPTH):
        deeper: list[tuple[Any, str]] = []
        for value, key in level:
            if isinstance(value, dict):
                deeper += [(item, f"{key}.{name}" if key else name) for name, item in value.items()]
            elif isinstance(value, list):
                deeper += [(item, f"{key}[{number}]") for number, item in enumerate(value)]
            elif isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
                raise ConfigError(f"{where}: {key}: the number has too many digits")
        if not deeper:
            return
        level = deeper
    raise ConfigError(f"{where}: {level[0][1][:40]}...: it nests more than {MAX_DEPTH} levels deep")
