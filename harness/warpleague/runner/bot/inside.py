"""A seat that is played inside this process: it speaks the wire as a bot does, but no process is started for it.

A person's seat is one, a seat whose answers are read from a record, and a bot in Python whose `choose` is called. It
gets the messages that any bot gets, and no more.
"""

# ruff: noqa: ARG002 - a seat stands here where a process stands, and has none

from __future__ import annotations

import json
import math
import os
import runpy
import sys
import time
import traceback
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from pathlib import Path
from time import process_time_ns
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import trio

from warpleague.errors import BotError
from warpleague.match.spec import SeatSpec, Violation
from warpleague.runner.bot.clocks import LoopShare
from warpleague.runner.bot.logs import EVIDENCE_CHARS, BotLog
from warpleague.runner.bot.pipe import Answer, timed_out
from warpline import client
from warpline.codec import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpleague.runner.bot.pipe import IsLate
    from warpline.messages import BotHello


HELLO = b'{"type":"hello","protocol":1,"wants":["state","legal","events"]}'
READY = b'{"type":"ready"}'


class InsideSeat:
    """A seat without a process. `timed` says whether the clock of the match holds for it."""

    def __init__(self, seat: SeatSpec, *, timed: bool = False) -> None:
        self.seat = seat
        self.timed = timed
        self.hello: BotHello | None = None
        self._share = LoopShare()

    async def message(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The message that answers a question, or why there is none; `left_s` is infinite without a clock."""
        raise NotImplementedError

    def start(self, line: bytes) -> None:
        """Store the start message."""

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate | None = None
    ) -> Answer | Violation:
        """Put a line to the seat and take its answer; as of `BotProcess`. Its answers are never late."""
        if line.startswith(b'{"type":"hello"'):
            return Answer(HELLO, 0, None, None)
        if line.startswith(b'{"type":"start"'):
            self.start(line)
            return Answer(READY, 0, None, None)
        begun = time.perf_counter_ns()
        self._share.on_slow()
        left_s = math.inf if budget_ns is None or not self.timed else budget_ns / 1e9
        with trio.move_on_after(left_s):
            message = await self.message(line, left_s)
            if isinstance(message, Violation):
                return message
            return Answer(to_bytes(message), time.perf_counter_ns() - begun, None, None)
        return timed_out(budget_ns or 0, 0)

    def greeted(self, hello: BotHello) -> None:
        """Note the seat's `hello`."""
        self.hello = hello

    def tell(self, line: bytes) -> None:
        """Take a line that needs no answer: the end, a fault, quit."""

    def evidence(self) -> dict[str, Any]:
        """The evidence of a process: none."""
        return {}

    def attend(
        self,
        nursery: trio.Nursery,
        share: LoopShare | None = None,
        log: BotLog | None = None,
        *,
        at_once: bool = True,
    ) -> None:
        """Take part in a match; there is no process to watch."""
        self._share = share or self._share

    def begin_tasks(self) -> None:
        """Do nothing: there is no process to watch."""

    async def close(self, grace_s: float) -> None:
        """Do nothing: there is no process to end."""
        await trio.lowlevel.checkpoint()


class RecordedSeat(InsideSeat):
    """A seat that answers as it did in a record, of which it is given the `lines`: a person cannot be asked again."""

    def __init__(self, seat: SeatSpec, number: int, lines: Iterable[dict[str, Any]]) -> None:
        super().__init__(seat)
        self._lines = [
            line
            for line in lines
            if line.get("seat") == number and not line.keys() & {"auto", "substituted", "then"}
        ]

    async def message(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The next recorded answer or fault; where the record has no more, the match has come apart before."""
        await trio.lowlevel.checkpoint()
        if not self._lines:
            return Violation("crash", "the record has no further answer of this seat")
        recorded = self._lines.pop(0)
        if recorded["type"] == "fault":
            return Violation(recorded["kind"], recorded["detail"]["message"])
        note = {"note": recorded["note"]} if "note" in recorded else {}
        return {"type": "act", "id": json.loads(line)["id"], "action": recorded["action"], **note}


# The options with which Python does not look for modules in the folder of the program.
_WITHOUT_FOLDER: Final = ("-P", "-I")

# Reusable bots of this process that wait for their next match, by content and folder.
_idle: Final[dict[tuple[str, str], list[LoadedBot]]] = {}


class _Taken(BaseException):
    """Ends the program of a bot where it would begin to read the wire."""

    def __init__(self, program: client.Program) -> None:
        self.program = program


def python_command(run: tuple[str, ...]) -> tuple[tuple[str, ...], bool, tuple[str, ...]] | None:
    """The options of Python, whether it runs a module, and the program with its arguments; None if it is no Python."""
    if not run or not Path(run[0]).name.startswith("python"):
        return None
    for place, word in enumerate(run[1:], 1):
        if word == "-m":
            return (run[1:place], True, run[place + 1 :]) if run[place + 1 :] else None
        if not word.startswith("-"):
            return run[1:place], False, run[place:]
        if word not in ("-P", "-I", "-B", "-E", "-O", "-OO", "-s", "-S", "-u"):
            return None
    return None


class LoadedBot:
    """The program of a bot, loaded into this process, with modules, paths and a folder of its own."""

    def __init__(self, seat: SeatSpec) -> None:
        """Load it. `BotError` if it is not in Python, or does not call `warpline.client.run`."""
        command = python_command(seat.run)
        if command is None:
            raise BotError(
                f"{seat.bot} runs {' '.join(seat.run[:3])}: only bots in Python can play in one process"
            )
        options, self._is_module, self._argv = command
        self._folder = Path(seat.cwd).resolve()
        self._main = ModuleType("__main__")
        self._modules: dict[str, ModuleType] = {}
        self._path = list(sys.path)
        if not set(options) & set(_WITHOUT_FOLDER):
            script = self._folder if self._is_module else (self._folder / self._argv[0]).parent
            self._path.insert(0, str(script))
        with self._inside():
            self.program = self._load(seat.bot)

    def _load(self, name: str) -> client.Program:
        def take(program: client.Program) -> None:
            raise _Taken(program)

        before, client.taken_by = client.taken_by, take
        try:
            if self._is_module:
                runpy.run_module(self._argv[0], run_name="__main__", alter_sys=True)
            else:  # not by runpy: `choose` needs the module of the program after its end, too
                path = self._folder / self._argv[0]
                self._main.__file__ = str(path)
                exec(compile(path.read_bytes(), str(path), "exec"), vars(self._main))
        except _Taken as taken:
            return taken.program
        finally:
            client.taken_by = before
        raise BotError(
            f"{name} ended without a call of warpline.client.run, so it cannot play in one process: leave out "
            "--in-process"
        )

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let the bot find its own modules, paths, arguments and folder; what it prints goes to standard error."""
        # Changed back after each call: other bots of this process have modules of the same names, and the harness
        # needs its own paths.
        folder, path, argv = os.getcwd(), sys.path[:], sys.argv
        main, count = sys.modules["__main__"], len(sys.modules)
        sys.path[:], sys.argv = self._path, list(self._argv)
        sys.modules.update(self._modules, __main__=self._main)
        os.chdir(self._folder)
        try:
            with redirect_stdout(sys.stderr):
                yield
        finally:
            os.chdir(folder)
            self._path = sys.path[:]
            sys.path[:], sys.argv = path, argv
            sys.modules["__main__"] = main
            for name in list(islice(sys.modules, count, None)):  # the bot's, and what it has just imported
                if self._owns(sys.modules[name]):
                    self._modules[name] = sys.modules.pop(name)

    def _owns(self, module: ModuleType) -> bool:
        """Whether a module is a file of the bot's: another bot may have one of the same name."""
        file = getattr(module, "__file__", None)
        return file is not None and Path(file).resolve().is_relative_to(self._folder)

    def answer(self, line: bytes) -> bytes | None:
        """The bot's answer to a line of the referee, without the newline."""
        with self._inside():
            answer = self.program.answer(json.loads(line))
        return None if answer is None else answer[:-1]


class PythonSeat(InsideSeat):
    """The seat of a bot in Python that plays in this process, without a clock, for bots that one trusts."""

    # Nothing confines it. It is charged with its processor time, so a result does not depend on other programs.

    def __init__(self, seat: SeatSpec) -> None:
        super().__init__(seat)
        self._key = (seat.digest, seat.cwd)
        self._bot: LoadedBot | None = None

    async def ask(
        self, line: bytes, budget_ns: int | None, is_late: IsLate | None = None
    ) -> Answer | Violation:
        """Call the bot; what it raises is a crash. `BotError` if it is none that can be called."""
        begun_ns = process_time_ns()
        try:
            if self._bot is None:
                waiting = _idle.get(self._key)
                self._bot = waiting.pop() if waiting else LoadedBot(self.seat)
            answer = self._bot.answer(line)
        except BotError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a bot raises ends it
            text = "".join(traceback.format_exception(error))
            return Violation("crash", f"{type(error).__name__}: {error}", {"stderr": text[-EVIDENCE_CHARS:]})
        assert answer is not None
        cpu_ns = process_time_ns() - begun_ns
        return Answer(answer, cpu_ns, cpu_ns, 0)

    def tell(self, line: bytes) -> None:
        """Pass the end on to the bot; after it a reusable one waits for its next match."""
        bot, is_quit = self._bot, line.startswith(b'{"type":"quit"')
        if bot is None:
            return
        if is_quit:
            self._bot = None
            if bot.program.reusable:
                _idle.setdefault(self._key, []).append(bot)
            return
        try:
            bot.answer(line)
        except (Exception, SystemExit):  # noqa: BLE001 - the match is over
            self._bot = None
