"""A bot in Python that plays inside this process: its `choose` is called, no process is started, and no clock runs.

Its time is processor time, so a result does not depend on other programs. It is for
bots that one trusts: nothing confines them.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from pathlib import Path
from time import process_time_ns
from types import ModuleType
from typing import TYPE_CHECKING, Final

from warpleague.errors import BotError
from warpleague.match.spec import Violation
from warpleague.runner.bot.exchange import Answer
from warpleague.runner.bot.inside import InsideSeat
from warpleague.runner.bot.violations import EVIDENCE_CHARS
from warpline import client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpleague.match.spec import SeatSpec
    from warpleague.runner.bot.waiting import IsLate

_WITHOUT_FOLDER: Final = ("-P", "-I")
"""The options with which Python does not look for modules in the folder of the program."""

_idle: Final[dict[tuple[str, str], list[LoadedBot]]] = {}
"""Reusable bots of this process that wait for their next match, by content and folder."""


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
            else:
                self._run_script()
        except _Taken as taken:
            return taken.program
        finally:
            client.taken_by = before
        raise BotError(
            f"{name} ended without a call of warpline.client.run, so it cannot play in one process"
        )

    def _run_script(self) -> None:
        # Not by runpy: `choose` needs the module of the program after its end, too.
        path = self._folder / self._argv[0]
        self._main.__file__ = str(path)
        exec(compile(path.read_bytes(), str(path), "exec"), vars(self._main))

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let the bot find its own modules, paths, arguments and folder; what it prints goes to standard error."""
        folder, path, argv = os.getcwd(), sys.path[:], sys.argv  # noqa: PTH109 - with each question
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
    """The seat of a bot in Python that plays in this process. What it is charged with is its processor time."""

    def __init__(self, seat: SeatSpec) -> None:
        super().__init__(seat)
        self._key = (seat.digest, seat.cwd)
        self._bot: LoadedBot | None = None

    async def ask(
        self,
        line: bytes,
        budget_ns: int | None,  # noqa: ARG002 - no clock runs
        is_late: IsLate | None = None,  # noqa: ARG002 - no answer is late
    ) -> Answer | Violation:
        """Call the bot; what it raises is a crash."""
        begun_ns = process_time_ns()
        try:
            if self._bot is None:
                waiting = _idle.get(self._key)
                self._bot = waiting.pop() if waiting else LoadedBot(self.seat)
            answer = self._bot.answer(line)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a bot raises ends it
            text = "".join(traceback.format_exception(error))
            return Violation("crash", f"{type(error).__name__}: {error}", {"stderr": text[-EVIDENCE_CHARS:]})
        assert answer is not None
        cpu_ns = process_time_ns() - begun_ns
        return Answer(answer, cpu_ns, cpu_ns, 0)

    async def reply(self, line: bytes, left_s: float) -> Violation:
        """Not called."""
        raise NotImplementedError

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
