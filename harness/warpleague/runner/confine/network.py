"""Lets a bot in the sandbox reach the addresses that a league names, and nothing else.

A sandbox has a network of its own, without routes. `relay` listens there at the same addresses, and passes on what
comes, so no firewall is needed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import sys
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import HarnessFault
from warpleague.runner.host.processes import ended, spawn

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

_ANSWER_S: Final = 20.0


def parse_address(text: str) -> tuple[str, int] | None:
    """Host and port of an address such as `127.0.0.1:8080`; None if a bot may not be allowed to reach it.

    It must be one of this machine's own (127.0.0.0/8): others have no route in the sandbox.
    """
    host, _, port = text.rpartition(":")
    with contextlib.suppress(ValueError):
        if IPv4Address(host).is_loopback and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16:
            return host, int(port)
    return None


class _Relay:
    """The relay of this process."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_ANSWER_S)
        program = str(Path(__file__).with_name("relay.py"))
        with theirs:
            self._process: subprocess.Popen[bytes] = spawn(
                [sys.executable, "-I", "-S", program, str(theirs.fileno())],
                "/",
                {"PATH": os.defpath},
                [theirs.fileno()],
            )
        atexit.register(self.close)

    def alive(self) -> bool:
        return ended(self._process) is None

    def ask(self, line: bytes) -> str:
        """Its answer: nothing, or why the addresses cannot be reached."""
        self._control.sendall(line)
        answer = b""
        while not answer.endswith(b"\n"):
            if not (data := self._control.recv(4096)):
                raise BrokenPipeError("the relay ended")
            answer += data
        return answer.decode().strip()

    def close(self) -> None:
        if os.getpid() != self._owner:
            return  # a fork that ends must not take it from its parent
        atexit.unregister(self.close)
        self._control.close()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


_relays: Final[dict[int, _Relay]] = {}  # by the process that started it: a fork must not use its parent's


def let_reach(init_pid: int, addresses: Sequence[str]) -> None:
    """Let what runs in the sandbox with this process 1 reach `addresses`; `HarnessFault` if that cannot be."""
    wanted = [parse_address(address) for address in addresses]
    line = json.dumps({"pid": init_pid, "addresses": wanted}).encode() + b"\n"
    own = os.getpid()
    try:
        relay = _relays.get(own)
        if relay is not None and not relay.alive():
            relay.close()
            relay = None
        if relay is None:
            relay = _relays[own] = _Relay()
        problem = relay.ask(line)
    except OSError as error:
        raise HarnessFault(f"the relay to {', '.join(addresses)} does not work: {error}") from error
    if problem:
        raise HarnessFault(f"bots cannot be let reach {', '.join(addresses)}: {problem}")
