"""What is shown of a bot's own words: enough of it to find the cause, whatever its language.

How the words are kept is tested with the referee and the runner.
"""

import pytest

from warpleague.match.faults import evidence_lines, with_words


def test_short_standard_error_is_shown_whole() -> None:
    """What a bot wrote is shown line by line, blank lines aside, after the line that was its fault."""
    lines = evidence_lines({"line": "{}", "stderr": "one\n\ntwo\n"}, 4)
    assert lines == ["  its line was: {}", "  it wrote to standard error:", "    one", "    two"]


def test_long_standard_error_is_shown_from_both_ends() -> None:
    """Of many lines the first and the last are shown: either may name the cause."""
    lines = evidence_lines({"stderr": "\n".join(map(str, range(100)))}, 5)
    assert lines[1:] == ["    0", "    1", "    2", "    ...", "    98", "    99"]


def test_what_the_message_says_is_not_shown_twice() -> None:
    """A short line, and words of one line, stand in the sentence: below it is only what it left out."""
    line = {"line": "hello", "stderr": ""}
    message = with_words("malformed", "not JSON", line)
    assert message == "not JSON; it wrote: hello"
    assert evidence_lines(line, 4, message) == []
    long = {"line": "x" * 100}
    message = with_words("malformed", "not JSON", long)
    assert message.endswith("x...")
    assert evidence_lines(long, 4, message) == [f"  its line was: {'x' * 100}"]


PYTHON = """Traceback (most recent call last):
  File "bot.py", line 1, in <module>
NameError: name 'foo' is not defined
"""
JAVA = """Exception in thread "main" java.lang.NullPointerException: no move
\tat Bot.main(Bot.java:3)
"""
NODE = """/bot/bot.js:1
foo()
^

ReferenceError: foo is not defined
    at Object.<anonymous> (/bot/bot.js:1:1)

Node.js v22.1.0
"""
RUST = """thread 'main' panicked at src/main.rs:2:5:
no move
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
GO = """panic: no move

goroutine 1 [running]:
main.main()
\t/bot/main.go:5 +0x25
exit status 2
"""


@pytest.mark.parametrize(
    ("status", "stderr", "words"),
    [
        (127, "sh: 1: nothing: not found\n", "sh: 1: nothing: not found"),
        (126, "sh: 1: ./bot: Keine Berechtigung\n", "sh: 1: ./bot: Keine Berechtigung"),
        (1, PYTHON, "NameError: name 'foo' is not defined"),
        (1, JAVA, 'Exception in thread "main" java.lang.NullPointerException: no move'),
        (1, NODE, "ReferenceError: foo is not defined"),
        (101, RUST, "thread 'main' panicked at src/main.rs:2:5: no move"),
        (2, GO, "panic: no move"),
        (1, "my turn\nI like this one\n", ""),
        (0, PYTHON, ""),
        (127, "", ""),
    ],
)
def test_a_crash_is_told_with_the_words_that_name_its_cause(status: int, stderr: str, words: str) -> None:
    """The shell's words, or the error of the bot's language; what a bot says while it thinks is no cause."""
    detail = {"exit": status, "stderr": stderr}
    message = f"exited with status {status}"
    assert with_words("crash", message, detail) == message + (words and f": {words}")
