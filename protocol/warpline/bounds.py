"""Annotations of types that say which values a field may have: a range of numbers, a length of text."""

from __future__ import annotations

import attrs

from warpline.limits import MAX_INT


@attrs.frozen
class Bounds:
    """Annotation of an integer: the least and the greatest value allowed."""

    least: int = -MAX_INT
    greatest: int = MAX_INT


@attrs.frozen
class Range:
    """Annotation of a number: the least and the greatest value allowed."""

    least: float
    greatest: float


@attrs.frozen
class MaxBytes:
    """Annotation of a text: how many bytes of UTF-8 it may have."""

    size: int
