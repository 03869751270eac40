"""Hints for faults: what to do about each kind, and more where the bot's standard error shows the cause."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.match.faults import evidence_lines
from warpleague.runner.bundle.content import BRING_LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.match.spec import SeatSpec
    from warpline.limits import FaultKind

# Who waits for more input has written an answer that stays in a buffer, or reads on: the kernel shows no more.
_FLUSH: Final = (
    "either its answer was not flushed: its output is a pipe, which most languages fill before they send anything, so "
    "flush after every line, print(..., flush=True) in Python, fflush(stdout) in C, $| = 1 in Perl, $stdout.sync = "
    "true in Ruby; or "
)
_READS_ON: Final = "it reads to the end of its input, where it must read line by line and answer each"
_WROTE_NONE: Final = "it wrote none, where start wants ready and each question an answer"
_LOOK: Final = "look for what it waits for: a sleep, a lock, another process, a file or a network"
# The remedy by what a silent bot does instead.
_BY_DOING: Final = {
    "deaf": "it must read its input all the time, a line for each message; " + _LOOK,
    "elsewhere": _LOOK,
    "waits": "if it waits for its input, flush its output after every line and answer each line as it comes; if not, "
    + _LOOK,
}
_ADVICE: Final[dict[FaultKind, str]] = {
    "startup": "it must answer hello with hello and start with ready, one line each, and flush its output",
    "timeout": "look at the question's clock (`time_s` in Python), and answer before it is over",
    "crash": "it must run until it reads quit or its input ends",
    "malformed": "an answer is one JSON object on one line, in UTF-8, without NaN or a key twice; what is for people "
    "goes to standard error",
    "illegal": "answer an index into the list of legal actions, counted from 0, or an action as the rules allow it",
    "flood": "a line from a bot may have at most 65536 bytes; print what is for people to standard error",
    "memory": "use less, or ask for more with memory_mb under [limits] in bot.toml",
    "protocol": "write exactly one line for each question, with the question's id, and nothing else to the output",
    "service": "a bot that uses a service needs it for the check, too; look at what it wrote to standard error",
}
# The remedy where the message of a fault has these words.
_BY_MESSAGE: Final = {
    "to standard error, and no more is read": "write less to standard error: beyond that a bot waits",
    "came without a newline": "a line ends with a newline: println instead of print, \\n at the end in C",
    "a carriage return and no newline": "a line ends with a newline (\\n), or with \\r\\n, never with \\r alone",
    "exited with status 127": "a program that it needs was not found: name one that is installed here, or bring it "
    "along in the bot's folder",
    "exited with status 126": "a program that it needs may not be run: chmod +x makes a file a program, and its first "
    "line names what runs it, such as #!/usr/bin/env python3",
}
_MODULE: Final = re.compile(r"^ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)
_OUT_OF_MEMORY: Final = re.compile(r"^MemoryError|bad_alloc|OutOfMemoryError|out of memory", re.MULTILINE)
_NO_NETWORK: Final = re.compile(
    r"\b(ECONNREFUSED|ENETUNREACH|ENOTFOUND|EAI_AGAIN)\b|Connection refused|(Network|host) is unreachable|getaddrinfo"
    r"|Name or service not known|name resolution|nodename nor servname|no such host|could not resolve host"
    r"|UnknownHostException|failed to lookup address|No route to host",
    re.IGNORECASE,
)
_NO_THREAD: Final = re.compile(
    r"can't start new thread|pthread_create|unable to create (new )?native thread|Resource temporarily unavailable"
    r"|\bEAGAIN\b|failed to spawn thread|fork: retry",
    re.IGNORECASE,
)
_NO_PLACE_TO_WRITE: Final = re.compile(
    r"cannot create temp file for here|No usable temporary directory|Read-only file system|EROFS",
    re.IGNORECASE,
)


def hint(seat: SeatSpec, message: str, detail: Mapping[str, Any]) -> str | None:
    """The remedy for the author of the bot of `seat` after a fault with this message and evidence; None if unknown."""
    stderr = str(detail.get("stderr") or "")
    for words, advice in _BY_MESSAGE.items():
        if words in message:
            return advice
    if detail.get("doing") == "reads":  # who has answered hello does not read to the end
        return _FLUSH + (_READS_ON if "after hello" in message else _WROTE_NONE)
    if str(detail.get("doing")) in _BY_DOING:
        return _BY_DOING[detail["doing"]]
    missing = _MODULE.search(stderr)
    if missing and any((Path(seat.cwd) / name).exists() for name in (f"{missing[1]}.py", missing[1])):
        return (
            "a bot's folder is not searched for modules; to import its own, put before the import: "
            "sys.path.append(str(pathlib.Path(__file__).parent))"
        )
    if missing:
        return (
            f"a bot brings {BRING_LIBRARIES.replace('LIBRARY', missing[1])}, and before the import: "
            "sys.path.append(str(pathlib.Path(__file__).parent / 'vendor'))"
        )
    if "MODULE_NOT_FOUND" in stderr:
        return "node_modules is left out of a bot: bring libraries along in a folder of another name"
    if _OUT_OF_MEMORY.search(stderr):
        limit = f"it may use {seat.memory_mb} MiB of memory"
        return f"{limit}; use less, or ask for more with memory_mb under [limits] in bot.toml"
    if _NO_NETWORK.search(stderr):
        return (
            "at level sandbox, at which most leagues with bots of strangers play, a bot has no network: bring along "
            "what it would load"
        )
    if _NO_THREAD.search(stderr):
        return (
            f"at level sandbox it may have {seat.processes} processes and threads together, and at every level the "
            f"stacks of threads count as memory, of which it may use {seat.memory_mb} MiB; start fewer, or ask for "
            "more with processes and memory_mb under [limits] in bot.toml"
        )
    if _NO_PLACE_TO_WRITE.search(stderr) and not seat.tmp_mb:
        return (
            "at level sandbox a bot has nothing to write to unless it asks for it, with tmp_mb = 16 under [limits] in "
            "bot.toml; bash needs that for here-documents and here-strings, Python for tempfile"
        )
    if detail.get("exit") and (frame := str(detail.get("frame") or "")):
        return f"what ended it is told above; look at its own line first: {frame.splitlines()[0].strip()}"
    return None


def fault_text(seat: SeatSpec, kind: FaultKind, message: str, detail: dict[str, Any]) -> str:
    """A fault of the bot of `seat` with its evidence, and what to do about it."""
    lines = [f"{kind}: {message}", *evidence_lines(detail, 12, message)]
    return "\n".join([*lines, f"  {hint(seat, message, detail) or _ADVICE[kind]}"])
