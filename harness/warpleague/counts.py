"""The one way to write a number with what it counts: no sentence says `1 matches`."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: `1 match`, `2 tables`, `1,200 matches`; `many` where English is irregular."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or one + ('es' if one.endswith(('ch', 'sh', 's', 'x')) else 's')}"
