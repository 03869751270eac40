# ruff: noqa: INP001 - a script
"""Checks a program that knows the rules of a game, by the test vectors in `rules/`.

The program speaks the lines of `warpleague sim --serve`: `new`, `load`, `legal`, `apply`, `roll`, `retire`, `dump` and
`free`. The check stops at the first difference. It needs only the standard library.

    python protocol/conformance/check_rules.py [--timeout SECONDS] VECTORS ... -- COMMAND [ARGUMENT ...]

VECTORS is a game such as `aliens`, or a file of vectors, plain or compressed by xz; `-` is standard input.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = Path(__file__).parent / "rules"


class Deviation(Exception):
    """The program gave another answer than the vector has."""


class Program:
    """The program under test; `ask` sends one request and gives the answer."""

    def __init__(self, command: list[str], timeout_s: float) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._timeout_s = timeout_s

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to `request`; `Deviation` if there is none in time, or if it is an error or no JSON object."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(self._timeout_s, process.kill)
        watchdog.start()
        try:
            with contextlib.suppress(BrokenPipeError):  # the missing answer says the same
                process.stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line.endswith(b"\n"):
            raise Deviation(
                f"no answer: the program ended with status {process.wait()}, after {self._timeout_s:g} s at most"
            )
        try:
            answer = json.loads(line)
        except ValueError:
            raise Deviation(f"the answer is no JSON: {short(line.decode(errors='replace'))}") from None
        if not isinstance(answer, dict):
            raise Deviation(f"the answer must be an object, not {short(answer)}")
        if "error" in answer:
            raise Deviation(f"the program refuses: {short(answer['error'])}")
        return answer

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # a request that nobody has read
                pipe.close()


def short(value: Any) -> str:
    """A value as JSON, cut to what can be read in a line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


def difference(expected: Any, got: Any, path: str = "") -> str | None:
    """The first difference between two JSON values, with its place, or None. Whole numbers equal floats: 1 is 1.0."""
    where = f"{path}: " if path else ""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in expected:
            if key not in got:
                return f"{where}{key!r} is missing, expected {short(expected[key])}"
        if more := sorted(got.keys() - expected.keys()):
            return f"{where}{more[0]!r} is too much, got {short(got[more[0]])}"
        return first(difference(expected[key], got[key], f"{path}.{key}".lstrip(".")) for key in expected)
    if isinstance(expected, list) and isinstance(got, list):
        found = first(difference(a, b, f"{path}[{at}]") for at, (a, b) in enumerate(zip(expected, got)))  # noqa: B905
        if found is None and len(expected) != len(got):
            return f"{where}expected a list of {len(expected)}, got {len(got)}: {short(got)}"
        return found
    numbers = all(type(value) in (int, float) for value in (expected, got))
    if (numbers and math.isclose(expected, got, abs_tol=1e-9)) or (
        type(expected) is type(got) and expected == got
    ):
        return None
    return f"{where}expected {short(expected)}, got {short(got)}"


def first(found: Iterator[str | None]) -> str | None:
    """The first that is not None."""
    return next((each for each in found if each is not None), None)


def difference_of_lists(expected: list[Any], got: Any) -> str | None:
    """The first difference between two lists of legal actions: one too few, one too many, or their order."""
    if not isinstance(got, list):
        return f"expected a list, got {short(got)}"
    for have, others, verdict in ((expected, got, "is missing"), (got, expected, "is not legal")):
        texts = {json.dumps(other, sort_keys=True) for other in others}
        for action in have:
            if json.dumps(action, sort_keys=True) not in texts:
                return f"{short(action)} {verdict}; expected {len(expected)} actions, got {len(got)}"
    if found := difference(expected, got):
        return f"the actions are right, but not their order or number: {found}"
    return None


def demand(what: str, found: str | None) -> None:
    """Raise `Deviation` if a difference was found."""
    if found:
        raise Deviation(f"{what}: {found}")


def check(program: Program, vector: dict[str, Any]) -> None:
    """Put one vector to the program, whose table fits; `Deviation` tells the first difference."""
    loaded = program.ask({"do": "load", "position": vector["position"]})
    check_turn("the position", vector["turn"], loaded)
    state = loaded["state"]
    if "legal" in vector:
        legal = program.ask({"do": "legal", "state": state}).get("legal")
        demand("the legal actions", difference_of_lists(vector["legal"], legal))
    if "action" in vector:
        request: dict[str, Any] = {"do": "apply", "action": vector["action"]}
    elif "outcome" in vector:
        request = {"do": "roll", "outcome": vector["outcome"]}
    else:
        request = {"do": "retire", "seat": vector["retire"]}
    played = program.ask({**request, "state": state, "events": True})
    check_turn("the next position", vector["next_turn"], played)
    demand("the events", difference(vector["events"], played.get("events")))
    dumped = program.ask({"do": "dump", "state": played["state"]}).get("position")
    demand("the next position", difference(vector["next"], dumped))
    program.ask({"do": "free", "states": [state, played["state"]]})


def check_turn(what: str, expected: dict[str, Any], answer: dict[str, Any]) -> None:
    """Compare what an answer says of a position: its number, who must act, the decision, the dice or the result."""
    if type(answer.get("state")) is not int:
        raise Deviation(f"{what}: the answer must have a number as state, got {short(answer)}")
    demand(what, difference(expected, {key: answer[key] for key in expected if key in answer}))


def described(vector: dict[str, Any]) -> str:
    """A vector in one line: its table, who acts, and the move."""
    if "action" in vector:
        move = f"seat {vector['turn']['actor']} plays {short(vector['action'])}"
    elif "outcome" in vector:
        move = f"the dice show {vector['outcome']}"
    else:
        move = f"seat {vector['retire']} retires"
    return f"{vector['players']} players, options {json.dumps(vector['options'])}: {move}"


def check_file(name: str, lines: Iterator[str], command: list[str], timeout_s: float) -> bool:
    """Put the vectors of a file to a new process of the program, tell what came of it, and whether all was right."""
    title = json.loads(next(lines))
    program, table, done = Program(command, timeout_s), None, 0
    vector: dict[str, Any] | None = None
    try:
        for line in lines:
            vector = json.loads(line)
            assert vector is not None
            new = {"game": title["game"], "players": vector["players"], "options": vector["options"]}
            if new != table:
                program.ask({"do": "new", **new})
                table = new
            check(program, vector)
            done += 1
    except Deviation as reason:
        assert vector is not None
        print(
            f"{name}: FAILED at line {done + 2}, after {done} right ones\n  {described(vector)}\n  {reason}"
        )
        return False
    finally:
        program.close()
    print(f"{name}: ok, {done} vectors")
    return True


def opened(name: str) -> IO[str]:
    """The lines of the vectors that `name` means."""
    if name == "-":
        return sys.stdin
    path = RULES / f"{name}.jsonl.xz" if name.isidentifier() else Path(name)
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def main(argv: list[str]) -> int:
    """Check the files; the exit code is 1 if there is a difference, 2 if there is no program or no such file."""
    at = argv.index("--") if "--" in argv else len(argv)
    own, command = argv[:at], argv[at + 1 :]
    parser = argparse.ArgumentParser(
        usage="check_rules.py [--timeout SECONDS] VECTORS ... -- COMMAND [ARGUMENT ...]",
        description=f"VECTORS: {', '.join(sorted(path.name.split('.')[0] for path in RULES.iterdir()))}, or a file",
    )
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds an answer may take")
    parser.add_argument("vectors", nargs="+")
    chosen = parser.parse_args(own)
    if not command:
        parser.error("say the program's command after --")
    right = True
    for name in chosen.vectors:
        try:
            with opened(name) as lines:
                right &= check_file(name, lines, command, chosen.timeout)
        except OSError as error:  # no such file, no such command
            parser.error(str(error))
        except (ValueError, KeyError, StopIteration, EOFError, lzma.LZMAError):
            parser.error(f"{name}: these are no vectors, see the README beside this program")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
