"""Finds names that people cannot tell apart: they differ in case, in blanks, or in letters that look the same."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_CAPITALS: Final = {
    "A": "АΑ",
    "B": "ВΒ",
    "C": "СϹ",
    "E": "ЕΕ",
    "H": "НΗ",
    "I": "ІΙӀ",
    "J": "Ј",
    "K": "КΚ",
    "M": "МΜ",
    "N": "Ν",
    "O": "ОΟՕ",
    "P": "РΡ",
    "S": "ЅՏ",
    "T": "ТΤ",
    "U": "Ս",
    "V": "Ѵ",
    "W": "Ԝ",
    "X": "ХΧ",
    "Y": "УΥҮ",
    "Z": "Ζ",
}
_SMALL: Final = {
    "a": "аɑα",
    "b": "ьƅ",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еҽ",
    "g": "ɡց",
    "h": "һհ",
    "i": "іιıɩ",
    "j": "јϳ",
    "k": "кκ",
    "l": "ӏ1|ǀ",
    "m": "м",
    "n": "ոп",
    "o": "оοօ0",
    "p": "рρ",
    "q": "ԛզ",
    "r": "г",
    "s": "ѕꜱ",
    "t": "тτ",
    "u": "սυ",
    "v": "νѵ",
    "w": "ԝω",
    "x": "хχ",
    "y": "уγү",
    "z": "ᴢζ",
    "3": "з",
    "6": "б",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212",
}
"""By a character, those of other alphabets that look like it, and digits that look like letters.

The most frequent ones of https://www.unicode.org/reports/tr39.
"""

_UNSEEN: Final = ("Cf", "Cc", "Zs", "Zl", "Zp")
"""Categories of characters that leave nothing to see but a gap, or nothing at all."""


def _table(alike: dict[str, str]) -> dict[int, str]:
    return str.maketrans({char: plain for plain, chars in alike.items() for char in chars})


_PLAIN_CAPITALS: Final = _table(_CAPITALS)
_PLAIN_SMALL: Final = _table(_SMALL)


def first_alike(name: str, names: Iterable[str]) -> str | None:
    """The first of the `names` that people cannot tell from `name`; None if there is none."""
    forms = _forms(name)
    return next((other for other in names if forms & _forms(other)), None)


def foreign(name: str) -> str:
    """The first characters of a name that are not ASCII, each with its name in Unicode; empty without any."""
    chars = dict.fromkeys(char for char in name if not char.isascii())
    return ", ".join(
        f"{char!r} is {unicodedata.name(char, 'a character without a name')}" for char in list(chars)[:3]
    )


def _forms(name: str) -> set[str]:
    """The shape of a name as it may be misread: some capitals look other than their small letters, and I like l."""
    text = unicodedata.normalize("NFKC", name)
    capitals = text.translate(_PLAIN_CAPITALS)
    return {_plain(text), _plain(capitals), _plain(capitals.replace("I", "l"))}


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.casefold()).translate(_PLAIN_SMALL)
    return "".join(char for char in text if unicodedata.category(char) not in _UNSEEN)
