"""Starts a Dask scheduler and workers as processes on the loopback interface, for tests and measurements.

Each worker has a bot cache of its own, as on a machine of its own.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

START_S = 600.0
"""How long the scheduler may take to start, in seconds: the machine may be busy."""
LOCAL = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
"""The options of a scheduler for this machine, at a port that is free."""


class DaskProcesses:
    """A scheduler and the workers started for it; all are killed at the end. Logs and caches go to `folder`."""

    def __init__(self, folder: Path, options: Sequence[str] = LOCAL) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", *options, "--scheduler-file", str(file))
        deadline_s = time.monotonic() + START_S
        while not (file.exists() and file.stat().st_size):
            assert time.monotonic() < deadline_s, "the scheduler does not start"
            time.sleep(0.01)
        self.address: str = json.loads(file.read_text())["address"]

    def start(self, kind: str, *options: str, **env: str) -> subprocess.Popen[bytes]:
        """Start `dask scheduler` or `dask worker`."""
        number = len(self.processes)
        with (self.folder / f"{kind}{number}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **env},
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self, threads: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """Start a worker whose bot cache is its own."""
        cache = self.folder / f"cache{len(self.processes)}"
        options = ("--nthreads", str(threads), "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        return self.start("worker", self.address, *options, **{"WARPLEAGUE_CACHE": str(cache), **env})

    def said(self, process: subprocess.Popen[bytes]) -> str:
        """What a process has printed so far."""
        number = self.processes.index(process)
        (log,) = self.folder.glob(f"*r{number}.log")
        return log.read_text()

    def end(self) -> None:
        """Kill all, also those that are stopped."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait()
