"""Sends random requests to the JSON API of an arena, and stops at an answer that its document does not name.

The server runs in this process, without a network, so nothing but the program itself can be at fault.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.arena.harness import ApiHarness, api_requests
from tests.arena.test_api import fits

BATCH = 500


def main() -> int:
    """Send requests until the time is over; prints how many were answered with which status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (default 600)")
    end_s = time.monotonic() + parser.parse_args().seconds
    answers: Counter[int] = Counter()
    operations: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,  # its log
        contextlib.redirect_stderr(nowhere),
    ):
        arena = ApiHarness(Path(folder))

        @settings(
            max_examples=BATCH,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def batch(data: st.DataObject) -> None:
            asked = data.draw(api_requests(arena))
            answer = asked.send(arena)
            answers[answer.status] += 1
            operations[asked.operation["operationId"]] += 1
            fits(asked.operation, answer)

        number = 0
        while time.monotonic() < end_s:
            seed(number)(batch)()
            number += 1
        arena.close()
    print(f"{answers.total()} requests of {len(operations)} operations: {dict(sorted(answers.items()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
