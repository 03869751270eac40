"""Numbers with what they count."""

import pytest

from warpleague.text import counted


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("match",), "1 match"),
        (0, ("match",), "0 matches"),
        (12345, ("deal",), "12,345 deals"),
        (2, ("process",), "2 processes"),
        (1, ("reply", "replies"), "1 reply"),
        (3, ("reply", "replies"), "3 replies"),
    ],
)
def test_a_number_stands_with_what_it_counts(number: int, words: tuple[str, ...], said: str) -> None:
    """One is singular, all else plural, with the endings of English."""
    assert counted(number, *words) == said
