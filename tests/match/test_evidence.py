"""What is shown of a bot's own words: enough of it to find the cause, whatever its language.

How the words are kept is tested with the referee and the runner.
"""

from __future__ import annotations

from warpleague.match.evidence import evidence_lines


def test_short_standard_error_is_shown_whole() -> None:
    """What a bot wrote is shown line by line, blank lines aside, after the line that was its fault."""
    lines = evidence_lines({"line": "{}", "stderr": "one\n\ntwo\n"}, 4)
    assert lines == ["  its line was: {}", "  it wrote to standard error:", "    one", "    two"]


def test_long_standard_error_is_shown_from_both_ends() -> None:
    """Of many lines the first and the last are shown: either may name the cause."""
    lines = evidence_lines({"stderr": "\n".join(map(str, range(100)))}, 5)
    assert lines[1:] == ["    0", "    1", "    2", "    ...", "    98", "    99"]
