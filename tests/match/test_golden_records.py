"""Golden records: each holds as it is, and the referee makes it again from its decisions.

They were made by `warpleague match`, such as
`match sheets bots/random-python bots/random-python --seed golden --record FILE`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from warpleague.match.record import read_record
from warpleague.match.replay import Replay, verify_record
from warpleague.match.spec import SeatSpec

GOLDEN = Path(__file__).parent / "golden" / "2"
DIGESTS = {
    "aliens": "045ec873d1b5d42e2f767e1fd527ed0453bb8f6fbc14e2e3885f6db924ab7a34",
    "captains": "9d4c7c1cd3414b7f1616b68cc395a49a5feca3b8b12ceaa5661a810634f38770",
    "coasters": "76dcfe0b2da11fcda497821bf149745807513fc72829a915160af4e7c30e4857",
    "sheets": "2b2a920caa6e2b784c58105b9a1c7b2776c95faf5316b5e035df5276a41d8b71",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_record_holds(name: str) -> None:
    """It verifies against its key, and has the digest it always had."""
    summary = verify_record(read_record(GOLDEN / f"{name}.jsonl.gz"))
    assert (summary.digest, summary.chance, summary.sealed) == (DIGESTS[name], "key", True)
    assert summary.header["format"] == 2


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_match_comes_out_again(name: str, spec: Callable[..., Any], table: Any) -> None:
    """The referee, asked for the match and given its decisions, writes the same digest."""
    replay = Replay(read_record(GOLDEN / f"{name}.jsonl.gz"))
    lines = [msgspec.json.decode(line) for line in replay.lines]
    answers = iter([line["action"] for line in lines if line["type"] == "act" and "auto" not in line])
    header = replay.header
    match = spec(
        id=header["id"],
        game=header["game"],
        options=header["options"],
        seats=tuple(SeatSpec(**seat) for seat in header["seats"]),
        key=replay.key,
        seed=header["seed"],
        level=header["level"],
    )
    bots = [lambda _question: next(answers)] * len(match.seats)
    assert table(match, *bots).play().digest == DIGESTS[name]
