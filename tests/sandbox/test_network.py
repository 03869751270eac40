"""Bots in the sandbox that may reach single addresses, and bots with a key of their own."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from warpleague.errors import BadInput, HarnessFault
from warpleague.match.spec import MatchSpec, SeatSpec
from warpleague.runner.confine.sandbox import let_reach, parse_address
from warpleague.runner.play import play_match

REACH = """
import socket
for port in {ports}:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
            link.sendall(b"x" * 100_000)
            link.shutdown(socket.SHUT_WR)
            print(port, link.recv(100).decode())
    except OSError as error:
        print(port, type(error).__name__)
for place in (("192.0.2.1", 80), ("::1", 80)):
    try:
        socket.create_connection(place, timeout=30).close()
    except OSError as error:
        print("elsewhere", type(error).__name__)
"""


@pytest.fixture
def services() -> Iterator[list[int]]:
    """The ports of two servers that say how many bytes they were sent."""

    def serve(server: socket.socket) -> None:
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            with link:
                size = 0
                while data := link.recv(65536):
                    size += len(data)
                link.sendall(f"got {size}".encode())

    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    threads = [threading.Thread(target=serve, args=(server,), daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    yield [server.getsockname()[1] for server in servers]
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.mark.usefixtures("sandboxed")
def test_a_bot_reaches_what_is_named_and_nothing_else(
    run_at: Callable[..., str], services: list[int]
) -> None:
    """The named port answers with all bytes carried, another one of the host refuses, and there is no way out."""
    named, other = services
    found = run_at("sandbox", REACH.format(ports=services), network=(f"127.0.0.1:{named}",))
    assert found.splitlines()[:2] == [f"{named} got 100000", f"{other} ConnectionRefusedError"]
    assert "elsewhere OSError" in found
    assert "got" not in run_at("sandbox", REACH.format(ports=services))
    both = run_at("sandbox", REACH.format(ports=services), network=tuple(f"127.0.0.1:{p}" for p in services))
    assert both.count("got 100000") == 2


@pytest.mark.usefixtures("sandboxed")
def test_what_cannot_be_reached_is_nobodys_fault(run_at: Callable[..., str]) -> None:
    """An address that cannot be given to the bot voids the match; a service that is down is the bot's to see."""
    with pytest.raises(HarnessFault, match=r"127\.0\.0\.1:9"):
        let_reach(1 << 22, ["127.0.0.1:9"])
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert "got" not in run_at("sandbox", REACH.format(ports=[port]), network=(f"127.0.0.1:{port}",))


@pytest.mark.parametrize(
    "text",
    ["8.8.8.8:53", "localhost:80", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", ":80"],
)
def test_only_addresses_of_this_machine_can_be_named(text: str) -> None:
    """Others have no route in a sandbox, and names are looked up nowhere there."""
    assert parse_address(text) is None
    assert parse_address("127.0.0.2:8080") == ("127.0.0.2", 8080)


def test_other_levels_refuse_addresses() -> None:
    """There a bot reaches everything, so it would be a promise that is not kept."""
    seat = SeatSpec(bot="a", run=("/bin/true",), network=("127.0.0.1:8080",))
    with pytest.raises(BadInput, match="level sandbox"):
        play_match(MatchSpec("m", "aliens", {}, (seat, seat), bytes(32), level="limits"))


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_a_bot_is_shown_its_key_and_no_other(run_at: Callable[..., Any], tmp_path: Path, level: str) -> None:
    """Its environment names the file; a bot without a key has no such variable, and in the sandbox no such file."""
    secret = tmp_path / "key"
    secret.write_text("s3cret\n")
    secret.chmod(0o600)
    read = "import os; print(open(os.environ['WARPLEAGUE_KEY_FILE']).read())"
    assert run_at(level, read, key_file=str(secret)).strip() == "s3cret"
    assert "KeyError" in run_at(level, read)
    if level == "sandbox":
        found = run_at(level, f"import os; print(os.path.exists('/key'), os.path.exists({str(secret)!r}))")
        assert found.split() == ["False", "False"]
