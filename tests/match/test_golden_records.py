"""Golden records of both formats: each holds as it is, and the referee makes it again from its decisions.

Those of format 1 were written by a version that wrote no other. Those of format 2 were made by `warpleague match`,
such as `match sheets bots/random-python bots/random-python --seed golden --record FILE`. The two of captains are of
version 1 of its rules; `captains-2` is of version 2.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from warpleague.match.record import read_record
from warpleague.match.replay import Replay, verify_record
from warpleague.match.spec import SeatSpec

GOLDEN = Path(__file__).parent / "golden"
DIGESTS = {
    "1/aliens": "1a0ae6d151c5edf01780779462bf74dcd36356ef46fb098b24075061a30e8396",
    "1/captains": "f0a7567e7a47f4d71a5974659430ae3212b1c84e1c290bd4a3ed2d4345698f8f",
    "1/coasters": "cc079e72778a1d1e1d25e52665d9dd735fe8d77a9d161f6be5a4699907ede0ef",
    "1/sheets": "2959174063f429d4f678d98860ccfc09d0312963a9cd41a7e032a17cf2e63654",
    "2/aliens": "045ec873d1b5d42e2f767e1fd527ed0453bb8f6fbc14e2e3885f6db924ab7a34",
    "2/captains": "89ec5cf269375777a858022471bcf47467c27101c58b9d9a8a51b27ad8b761c2",
    "2/captains-2": "9d4c7c1cd3414b7f1616b68cc395a49a5feca3b8b12ceaa5661a810634f38770",
    "2/coasters": "76dcfe0b2da11fcda497821bf149745807513fc72829a915160af4e7c30e4857",
    "2/sheets": "2b2a920caa6e2b784c58105b9a1c7b2776c95faf5316b5e035df5276a41d8b71",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_record_holds(name: str) -> None:
    """It verifies against its key, in the format of its folder, and has the digest it always had."""
    summary = verify_record(read_record(GOLDEN / f"{name}.jsonl.gz"))
    assert (summary.digest, summary.chance, summary.sealed) == (DIGESTS[name], "key", True)
    assert summary.header["format"] == int(name[0])


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_match_comes_out_again(name: str, spec: Callable[..., Any], table: Any) -> None:
    """The referee, asked for a match of the record's format and given its decisions, writes the same digest."""
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
        format=header["format"],
        rules=header["rules"],
    )
    bots = [lambda _question: next(answers)] * len(match.seats)
    assert table(match, *bots).play().digest == DIGESTS[name]
