"""The evidence beside a fault: a bot's own line and standard error, as a record keeps them and as they are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpleague.games.api import JsonObject, Outcome


# -- evidence --------------------------------------------------------------------------------------------


_LINE_BYTES: Final = 1000
_STDERR_CHARS: Final = 1000
"""So much of one line of standard error is shown."""
_TOLD_CHARS: Final = 80
"""So much of a bot's own words stands in the sentence that tells a fault: a table has room for it."""

_BY_THEIR_LINE: Final = frozenset({"startup", "malformed", "protocol", "flood", "timeout", "crash"})
"""The kinds of fault whose cause shows in the bot's line; of an illegal action the message says all."""
_CAUSE: Final = re.compile(
    r"error|exception|panic|fatal|not found|no such|denied|cannot|can't|terminate", re.IGNORECASE
)
_SHELL: Final = (126, 127)
"""The exit codes of a shell that cannot run a program, or cannot find it."""
_OWN_FRAME: Final = re.compile(r"\s*File \"(?![/<]|.*/site-packages/)|\s*File \"/bot/")
"""A frame in the bot's own folder, where it runs: /bot in the sandbox."""
_STACK: Final = re.compile(r"\s|note:|Node\.js |goroutine |Traceback ")


def quote(line: bytes) -> JsonObject:
    """A bot's line as a fault's evidence: its beginning, on one line, and its length in bytes."""
    text = line[:_LINE_BYTES].decode("utf-8", "backslashreplace")
    return {"line": safe(text, keep=""), "line_bytes": len(line)}


WAITS_FOR_INPUT: Final = "it has read all that it was sent, and waits for more"
COMPUTED: Final = "it computed for"
WAITS_ELSEWHERE: Final = "it waited for something other than its input, as a sleep does"
UNREAD: Final = "of its input it has not read"
_BUSY_SHARE: Final = 0.5


def idle_words(computed_ns: int, passed_ns: int, unread_bytes: int, *, reads: bool) -> str:
    """What a bot did instead of answering, as the kernel tells it at the end of its time."""
    if computed_ns > _BUSY_SHARE * passed_ns:
        return f"{COMPUTED} {computed_ns / 1e9:.3f} s"
    if unread_bytes:
        return f"{UNREAD} {counted(unread_bytes, 'byte')}"
    return WAITS_FOR_INPUT if reads else f"{WAITS_ELSEWHERE}, and {COMPUTED} {computed_ns / 1e9:.3f} s"


def with_words(kind: str, message: str, detail: Mapping[str, Any]) -> str:
    """The sentence that tells a fault, with what the bot itself wrote where that shows the cause, shortened.

    That is its line, or the output of it or its shell on standard error before it ended.
    """
    line, stderr = str(detail.get("line") or ""), str(detail.get("stderr") or "")
    if line and kind in _BY_THEIR_LINE:
        return f"{message}; it wrote: {shortened(line)}"
    status = detail.get("exit")
    if status and kind in ("startup", "crash") and (words := _cause(stderr, any_words=status in _SHELL)):
        return f"{message}: {shortened(words)}"
    return message


def _cause(stderr: str, *, any_words: bool) -> str:
    """The last line that names a cause, as Python's tracebacks do at their end; or with `any_words` the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not _STACK.match(line)]
    causes = [number for number, line in enumerate(lines) if _CAUSE.search(line)]
    if not causes:
        return safe(lines[-1], keep="") if lines and any_words else ""
    # Rust tells the place of a panic in one line, and its cause in the next.
    more = lines[causes[-1] + 1 : causes[-1] + 2] if lines[causes[-1]].endswith(":") else []
    return safe(" ".join([lines[causes[-1]], *more]), keep="")


def shortened(text: str, most: int = _TOLD_CHARS) -> str:
    """The beginning of a text, of `most` characters; by default as much as a sentence has room for."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def evidence_lines(detail: Mapping[str, Any], stderr_lines: int, message: str = "") -> list[str]:
    """The bot's own words in a line's detail, in indented lines: illegal answers, its line, standard error.

    Content of `message` is left out. Of standard error, `stderr_lines` at most: some languages name the cause at
    the end of a traceback, others at its beginning.
    """
    lines = []
    for refused in detail.get("again", ()):
        lines.append(f"  asked again, since it was illegal: {refused['message']}")
        lines += evidence_lines(refused, stderr_lines)
    for failed in detail.get("failed", ()):
        lines.append(f"  asked again, since its service failed: {failed['message']}")
    if detail.get("line") and not message.endswith(f"; it wrote: {detail['line']}"):
        lines.append(f"  its line was: {detail['line']}")
    stderr = str(detail.get("stderr") or "").strip()
    if stderr and not message.endswith(f": {stderr}"):
        lines.append("  it wrote to standard error:")
        words = [line for line in stderr.splitlines() if line.strip()]
        words = _in_short(words, stderr_lines)
        lines += [f"    {shortened(line, _STDERR_CHARS)}" for line in words]
    return lines


def _in_short(lines: list[str], most: int) -> list[str]:
    """The first and the last of many lines, and between them the author's own lines of a Python traceback.

    The frame that matters stands in the middle where the bot calls a library: of the frames in the bot's own folder
    the last one is shown, with its program text.
    """
    if len(lines) <= most:
        return lines
    half = most // 2
    shown = {*range(most - half), *range(len(lines) - half, len(lines))}
    own = [number for number, line in enumerate(lines) if _OWN_FRAME.match(line)]
    shown.update(range(own[-1], own[-1] + 2) if own else ())
    found: list[str] = []
    for number in sorted(shown):
        if found and number - 1 not in shown:
            found.append("...")
        found.append(lines[number])
    return found


# -- ties ------------------------------------------------------------------------------------------------
# Seats whose bots go out at the same stage of a match rank equal: the order in which they are judged says
# nothing.
#
# A stage is all that comes before the first question, or one decision that several seats make at once.


class Ties:
    """The seats that went out, those of one stage together."""

    def __init__(self) -> None:
        self._stages: list[list[int]] = []

    @property
    def empty(self) -> bool:
        """Whether no seat went out so far."""
        return not self._stages

    def add(self, seat: int, *, tied: bool) -> None:
        """The bot of `seat` is out; `tied`: at the same stage as the one that went out before it."""
        if tied:
            self._stages[-1].append(seat)
        else:
            self._stages.append([seat])

    def rank(self, outcome: Outcome) -> Outcome:
        """The `outcome` of the game, in which the seats of one stage share the last of their ranks, and their scores.

        Each of them gets the mean of their scores, so that the sum stays the same.
        """
        stages = [seats for seats in self._stages if len(seats) > 1]
        if not stages:
            return outcome
        places = list(outcome.ranks)
        for seats in stages:
            last = max(places[seat] for seat in seats)
            for seat in seats:
                places[seat] = last
        return attrs.evolve(
            outcome,
            ranks=tuple([1 + sum(other < place for other in places) for place in places]),
            scores=_shared(outcome.scores, stages),
            breakdown={part: _shared(values, stages) for part, values in outcome.breakdown.items()},
        )


def _shared(values: Sequence[float], stages: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """The values by seat, where the seats of one stage get the mean of theirs."""
    shares = list(values)
    for seats in stages:
        if len({shares[seat] for seat in seats}) > 1:  # equal ones stay as they are, to the last bit
            mean = sum(shares[seat] for seat in seats) / len(seats)
            for seat in seats:
                shares[seat] = mean
    return tuple(shares)
