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
_LIBRARIES: Final = re.compile(r"(^|/)(site-packages|vendor|node_modules)/|^<")
"""Paths of what an author has not written."""
# Each pattern begins only where a run of its characters does: from all places in one, a bot's line that is nothing but
# such a run would take the square of its length.
_PYTHON_FRAME: Final = re.compile(r"(?<!\s)\s+File \"([^\"]+)\", line \d")
_FRAME: Final = re.compile(r"(?<![\w./-])([\w./-]+\.[a-z]\w{0,4})(?::| line )\d")
"""The same in other languages: a file with an ending, and a line."""
_STACK: Final = re.compile(r"\s|note:|Node\.js |goroutine |Traceback ")


def quote(line: bytes) -> JsonObject:
    """A bot's line as a fault's evidence: its beginning, on one line, and its length in bytes."""
    text = line[:_LINE_BYTES].decode("utf-8", "backslashreplace")
    return {"line": safe(text, keep=""), "line_bytes": len(line)}


_BUSY_SHARE: Final = 0.5


@attrs.frozen
class Silence:
    """What a bot did instead of answering, as the kernel tells it at the end of its time.

    It computed for `computed_ns` of the `passed_ns` that it was charged for, and left `unread_bytes` of its input
    unread; `reads` says whether it waits for more of it, None where that is not known.
    """

    computed_ns: int
    passed_ns: int
    unread_bytes: int
    reads: bool | None

    @property
    def doing(self) -> str:
        """The same in one word, as a fault's detail has it: "computes", "deaf", "reads", "waits" or "elsewhere"."""
        if self.computed_ns > _BUSY_SHARE * self.passed_ns:
            return "computes"
        if self.unread_bytes:
            return "deaf"
        return {True: "reads", False: "elsewhere", None: "waits"}[self.reads]

    @property
    def words(self) -> str:
        """The same in words."""
        computed = f"it computed for {self.computed_ns / 1e9:.3f} s"
        return {
            "computes": computed,
            "deaf": f"of its input it has not read {counted(self.unread_bytes, 'byte')}, and {computed}",
            "reads": "it has read all that it was sent, and waits for more",
            "waits": f"it has read all that it was sent, and waits; {computed}",
            "elsewhere": f"it waited for something other than its input, as a sleep does, and {computed}",
        }[self.doing]

    @property
    def detail(self) -> JsonObject:
        """The same as evidence in a fault's detail."""
        computed_ms = round(self.computed_ns / 1e6, 3)
        return {"doing": self.doing, "computed_ms": computed_ms, "unread_bytes": self.unread_bytes}


def with_words(kind: str, message: str, detail: Mapping[str, Any]) -> str:
    """The sentence that tells a fault, with what the bot itself wrote where that shows the cause, shortened.

    That is its line, or the output of it or its shell on standard error before it ended.
    """
    line, stderr = str(detail.get("line") or ""), str(detail.get("stderr") or "")
    if line and kind in _BY_THEIR_LINE:
        return f"{message}; it wrote: {shortened(line)}"
    status = detail.get("exit")
    # It may go on running without its output, when one of several threads has ended.
    ended = kind in ("startup", "crash") and (status or detail.get("frame"))
    if ended and (words := _cause(stderr, any_words=status in _SHELL)):
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
    """The beginning of a text, of `most` characters at most and whole words if they are short."""
    if len(text) <= most:
        return text
    words = text[: most - 3].rpartition(" ")[0]
    return f"{words} ..." if len(words) > most // 2 else f"{text[: most - 3]}..."


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
        if len(words) > stderr_lines:
            half = stderr_lines // 2
            words = [*words[: stderr_lines - half], "...", *words[-half:]]
        lines += [f"    {shortened(line, _STDERR_CHARS)}" for line in words]
        frame = str(detail.get("frame") or "").splitlines()
        if frame and frame[0].strip() not in map(str.strip, words):
            lines += ["  its own line in that:", *(f"    {line}" for line in frame)]
    return lines


def own_frame(stderr: str) -> str:
    """The author's own line of a traceback, with the program text that Python tells after it; empty if there is none.

    That is the innermost frame in the bot's own folder: Python tells it last, other languages first. It may stand in
    the middle of a long output, where the bot calls a library.
    """
    lines = stderr.splitlines()
    for frame, which in ((_PYTHON_FRAME, -1), (_FRAME, 0)):
        places = [(number, place[1]) for number, line in enumerate(lines) if (place := frame.search(line))]
        own = [number for number, place in places if _is_own(place)]
        if own:
            first, *more = lines[own[which] :][:2] if frame is _PYTHON_FRAME else [lines[own[which]]]
            more = [line for line in more if not frame.search(line)]
            return "\n".join(shortened(line, _STDERR_CHARS) for line in [first, *more])
    return ""


def _is_own(path: str) -> bool:
    # Paths in its folder are told relative to it; in the sandbox it is /bot.
    inside = not path.startswith("/") or path.lstrip("/").startswith("bot/")
    return inside and not _LIBRARIES.search(path)


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
