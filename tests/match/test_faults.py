"""Seats whose bots go out at the same stage of a match rank equal, in the result and when the record is verified."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from warpleague.errors import RecordError
from warpleague.games import load_game
from warpleague.match.faults import evidence_lines, own_frame, with_words
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import verify_record
from warpleague.match.scribe import seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec, Violation
from warpline.codec import canonical
from warpline.messages import BotHello

Spec = Callable[..., MatchSpec]


def take_first(referee: Referee) -> None:
    """Have the seat that is asked take its first legal action."""
    number = json.loads(referee.line)["id"]
    assert referee.answer(b'{"type":"act","id":%d,"action":0}' % number, 1_000_000, None, 0) is None


def play(spec: MatchSpec, absent: Sequence[int]) -> MatchResult:
    """Play a match in which the bots of the seats `absent` do not start; the others take the first action."""
    referee = Referee(load_game(spec.game), spec)
    referee.begin()
    for seat in range(len(spec.seats)):
        if seat in absent:
            referee.fault(seat, Violation("startup", "after hello: exited with status 3"))
        else:
            referee.connect(seat, BotHello(protocol=1, wants=()))
    while referee.advance() is Situation.ASK:
        take_first(referee)
    return referee.finish()


def match_of(spec: Spec, game: str, players: int, **changes: Any) -> MatchSpec:
    """A match of `game` for so many players."""
    rules = load_game(game)
    options = options_json(load_options(rules, players, changes.pop("options", {})))
    seats = tuple(SeatSpec(f"bot-{seat}", "1", f"{seat}") for seat in range(players))
    return spec(game=game, options=options, seats=seats, **changes)


@pytest.mark.parametrize(
    ("game", "players", "absent", "ranks", "scores"),
    [
        ("aliens", 2, [0, 1], (1, 1), (0.5, 0.5)),
        ("captains", 2, [0, 1], (1, 1), (0, 0)),
        ("captains", 3, [0, 1, 2], (1, 1, 1), (0, 0, 0)),
        ("coasters", 4, [0, 1, 2, 3], (1, 1, 1, 1), (0, 0, 0, 0)),
        ("sheets", 3, [0, 1, 2], (1, 1, 1), (0, 0, 0)),
    ],
)
def test_nobody_started_and_nobody_wins(
    spec: Spec, game: str, players: int, absent: list[int], ranks: tuple[int, ...], scores: tuple[float, ...]
) -> None:
    """All share the first place and the points, in every game, and the record holds."""
    result = play(match_of(spec, game, players), absent)
    assert (result.ranks, result.scores) == (ranks, scores)
    assert verify_record(result.record).digest == result.digest


def test_two_of_three_captains_did_not_start(spec: Spec) -> None:
    """They share the last place, whichever seats they have; the one who plays wins."""
    rounds = {"max_rounds": 2}
    for absent, ranks in (([0, 1], (2, 2, 1)), ([0, 2], (2, 1, 2)), ([1, 2], (1, 2, 2))):
        result = play(match_of(spec, "captains", 3, options=rounds), absent)
        assert result.ranks == ranks
        assert verify_record(result.record).ranks == ranks


def test_who_did_not_start_ranks_below_who_went_out_later(spec: Spec) -> None:
    """Another stage is another rank: a fault at the first question is no tie."""
    made = match_of(spec, "captains", 3)
    referee = Referee(load_game("captains"), made)
    referee.begin()
    referee.fault(2, Violation("startup", "after hello: exited with status 3"))
    for seat in (0, 1):
        referee.connect(seat, BotHello(protocol=1, wants=()))
    assert referee.advance() is Situation.ASK
    first = referee.seat
    referee.fault(first, Violation("crash", "exited with status 3"))
    while referee.advance() is Situation.ASK:
        take_first(referee)
    result = referee.finish()
    assert result.ranks == ((2, 1, 3) if first == 0 else (1, 2, 3))
    assert b'"tied"' not in result.record
    assert verify_record(result.record).digest == result.digest


def changed(record: bytes, kind: str, place: int, **fields: Any) -> bytes:
    """The record with other fields, or without those given as None, in one of its lines of a kind; its seal fits."""
    lines = [line for line in record.splitlines(keepends=True) if b'"type":"seal"' not in line]
    at = [n for n, line in enumerate(lines) if json.loads(line)["type"] == kind][place]
    whole = {**json.loads(lines[at]), **fields}
    lines[at] = canonical({key: value for key, value in whole.items() if value is not None}) + b"\n"
    return b"".join([*lines, seal(lines)])


@pytest.mark.parametrize(
    ("place", "fields", "message"),
    [
        (0, {"tied": True}, "no other seat went out at the same stage"),
        (1, {"tied": None}, "tied must be true: another seat went out at the same stage"),
        (1, {"tied": False}, "tied: must be true, not"),
        (1, {"tied": 1}, "tied: must be true, not"),
    ],
)
def test_a_tie_that_is_not_so_is_refused(
    spec: Spec, place: int, fields: dict[str, Any], message: str
) -> None:
    """Whoever writes it into a record does not get the points of another."""
    record = play(match_of(spec, "aliens", 2), [0, 1]).record
    with pytest.raises(RecordError, match=message):
        verify_record(changed(record, "fault", place, **fields))


def test_a_tie_during_the_match_is_refused(spec: Spec) -> None:
    """After the first decision only seats that decide at once can tie."""
    made = match_of(spec, "captains", 3)
    referee = Referee(load_game("captains"), made)
    referee.begin()
    for seat in range(3):
        referee.connect(seat, BotHello(protocol=1, wants=()))
    for _ in range(2):
        for _ in range(4):
            assert referee.advance() is Situation.ASK
            take_first(referee)
        assert referee.advance() is Situation.ASK
        referee.fault(referee.seat, Violation("illegal", "no"))
    while referee.advance() is Situation.ASK:
        take_first(referee)
    record = referee.finish().record
    assert sorted(verify_record(record).ranks) == [1, 2, 3]
    with pytest.raises(RecordError, match="no other seat went out at the same stage"):
        verify_record(changed(record, "fault", 1, tied=True))


# What is shown of a bot's own words: enough of it to find the cause, whatever its language.


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


LIBRARY = "\n".join(f'  File "/usr/lib/python3/x.py", line {n}, in call\n    call({n})' for n in range(50))


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (
            f'{LIBRARY}\n  File "bot.py", line 3, in f\n    load()\n{LIBRARY}',
            '  File "bot.py", line 3, in f\n    load()',
        ),
        (
            '  File "/bot/a.py", line 1, in f\n  File "vendor/b.py", line 2, in g',
            '  File "/bot/a.py", line 1, in f',
        ),
        (
            "    at g (node:fs:5:1)\n    at f (/bot/bot.js:5:3)\n    at bot.js:9:1",
            "    at f (/bot/bot.js:5:3)",
        ),
        ("thread 'main' panicked at src/main.rs:5:9:\nno", "thread 'main' panicked at src/main.rs:5:9:"),
        ("Illegal division by zero at bot.pl line 5.", "Illegal division by zero at bot.pl line 5."),
        (LIBRARY, ""),
    ],
)
def test_the_authors_own_line_is_found_in_the_middle(stderr: str, told: str) -> None:
    """The innermost frame in the bot's folder is kept beside a traceback that is cut, and shown where it is not."""
    assert own_frame(stderr) == told
    lines = evidence_lines({"stderr": LIBRARY, "frame": told}, 4)
    assert lines[6:] == (
        ["  its own line in that:", *(f"    {line}" for line in told.splitlines())] if told else []
    )


@pytest.mark.parametrize("run", ["a", "a.b", "a/", " ", "\t"])
def test_a_long_line_is_searched_once(run: str) -> None:
    """A search from each place of such a line would take hours, and all matches of the referee would wait for it."""
    assert own_frame(run * 500_000) == ""
    assert own_frame(run * 500_000 + "\nat f (bot.js:5:3)") == "at f (bot.js:5:3)"
