"""Lets schemathesis try the JSON API of an arena: each operation of its document, with POST, as several authors.

The server is in this process and listens on a port; matches are those of a small league that was played.
"""

import argparse
import socket
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import trio
from tests.arena.harness import ApiHarness

from warpleague.arena.submissions.api import PATH
from warpleague.arena.web.middleware import ConnectionLimits, Connections

LEFT_OUT = (
    # A value may be well formed and still name nothing: whether there is such a match, the schema cannot say.
    "positive_data_acceptance",
    # An unknown key of a query is ignored, and a number of a path is matched before it is read.
    "negative_data_rejection",
)


async def _run(arena: ApiHarness, command: list[str]) -> int:
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    arena.api.hosts = frozenset({address})
    failed, stopped = 0, trio.Event()
    connections = Connections(arena.api, ConnectionLimits())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connections.serve, listener, stopped)
        # After 20 wrong tokens a minute passes without answers, so what is well formed comes first.
        for author, mode in (("ada", "positive"), ("olga", "positive"), (None, "all"), ("ada", "all")):
            print(f"as {author or 'somebody without a token'}, {mode}", flush=True)
            token = [] if author is None else ["--header", f"Authorization: Bearer {arena.tokens[author]}"]
            token += ["--mode", mode]
            done = await trio.run_process(
                [*command, f"http://{address}{PATH}", *token], check=False, stdin=subprocess.DEVNULL
            )
            failed = failed or done.returncode
        stopped.set()
    return failed


def main() -> int:
    """Run schemathesis; its exit code, which is not 0 if an answer breaks the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="schemathesis, in an environment of its own")
    parser.add_argument("--examples", type=int, default=100, help="of each operation (default 100)")
    args = parser.parse_args()
    command = [args.program, "run", "--checks", "all", "--exclude-checks", ",".join(LEFT_OUT)]
    command += ["--max-examples", str(args.examples), "--continue-on-failure", "--no-color"]
    command += ["--suppress-health-check", "all"]
    with tempfile.TemporaryDirectory() as folder:
        arena = ApiHarness(Path(folder))
        try:
            return trio.run(partial(_run, arena, command))
        finally:
            arena.close()


if __name__ == "__main__":
    sys.exit(main())
