"""The program that lets bots in the sandbox reach named addresses: it listens in their networks, and passes on.

It is started alone, so it imports only the standard library. `sandbox` starts one for a referee process, and sends it
one line of JSON for each bot over a socket: the number of process 1 of its sandbox, and the addresses. The answer is
an empty line, or why it cannot be. It ends with that socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import sys

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_NS_GET_USERNS = 0xB701
_PR_SET_PDEATHSIG = 1
_CONNECTIONS = 64
_CHUNK = 1 << 16

Address = tuple[str, int]


def listeners(pid: int, addresses: list[Address]) -> list[socket.socket]:
    """Sockets that listen at `addresses` in the network of process `pid`, made by a child that goes there."""
    # A socket stays in the network in which it was made, wherever it is used. So a child makes it in the network of
    # the sandbox, and the relay itself, which connects to the real address, stays in that of the host.
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        try:
            made = _listen_there(pid, addresses)
            socket.send_fds(theirs, [b"+"], [each.fileno() for each in made])
        except OSError as error:
            theirs.sendall(b"-" + (error.strerror or str(error)).encode())
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        answer, fds, _, _ = socket.recv_fds(ours, 4096, len(addresses))
    os.waitpid(child, 0)
    if answer != b"+":
        raise OSError(answer[1:].decode() or "the process that listens in the sandbox ended")
    return [socket.socket(fileno=fd) for fd in fds]


def _listen_there(pid: int, addresses: list[Address]) -> list[socket.socket]:
    libc = ctypes.CDLL(None, use_errno=True)
    net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    if os.geteuid() != 0:
        # An ordinary user has rights there only inside the user namespace that the network belongs to.
        _enter(libc, fcntl.ioctl(net, _NS_GET_USERNS), _CLONE_NEWUSER)
    _enter(libc, net, _CLONE_NEWNET)
    return [socket.create_server(address, backlog=_CONNECTIONS) for address in addresses]


def _enter(libc: ctypes.CDLL, namespace: int, kind: int) -> None:
    if libc.setns(namespace, kind) != 0:
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


class _Bot:
    """The listening sockets of one bot, and what is connected, until its sandbox ends."""

    def __init__(self, pid: int, addresses: list[Address]) -> None:
        self._end = os.pidfd_open(pid)
        try:
            self._sockets = listeners(pid, addresses)
        except BaseException:
            os.close(self._end)
            raise
        self._tasks: set[asyncio.Task[None]] = set()
        for listener, address in zip(self._sockets, addresses, strict=True):
            listener.setblocking(False)
            self._add(self._accept(listener, address))
        # A socket would keep the network of the sandbox alive.
        asyncio.get_running_loop().add_reader(self._end, self._close)

    def _add(self, work: object) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket, address: Address) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                near, _ = await loop.sock_accept(listener)
            except OSError:  # no descriptor is left for now
                await asyncio.sleep(0.1)
                continue
            if len(self._tasks) > _CONNECTIONS:
                near.close()
            else:
                self._add(_pass_on(near, address))

    def _close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._end)
        os.close(self._end)
        for task in self._tasks:
            task.cancel()
        for listener in self._sockets:
            listener.close()


async def _pass_on(near: socket.socket, address: Address) -> None:
    """Connect to the real address, and carry bytes both ways until both sides have ended."""
    loop = asyncio.get_running_loop()
    with near, socket.socket(socket.AF_INET, socket.SOCK_STREAM) as far, contextlib.suppress(OSError):
        near.setblocking(False)
        far.setblocking(False)
        await loop.sock_connect(far, address)
        await asyncio.gather(_carry(near, far), _carry(far, near))


async def _carry(source: socket.socket, sink: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(source, _CHUNK):
        await loop.sock_sendall(sink, data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


async def _serve(control: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=control)
    while line := await reader.readline():
        asked = json.loads(line)
        try:
            _Bot(asked["pid"], [(host, port) for host, port in asked["addresses"]])  # the loop holds it
            writer.write(b"\n")
        except OSError as error:
            writer.write(" ".join(str(error).split()).encode() + b"\n")


def main() -> None:
    """Serve the referee whose socket is the descriptor that the first argument names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # nobody reads its output
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    asyncio.run(_serve(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
