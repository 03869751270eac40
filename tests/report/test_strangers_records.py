"""A record that verifies can be shown: whatever a stranger wrote into it, every look at it works or refuses it."""

import copy
import io
import json
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.errors import RecordError
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import Replay
from warpleague.match.scribe import digest_form, digest_of, seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import Confinement, MatchSpec, SeatSpec, TimeControl
from warpleague.report.site.match_page import page_alone
from warpleague.report.terminal.console import SafeConsole
from warpleague.report.terminal.replay import show_replay, steps_json
from warpline.codec import canonical
from warpline.messages import BotHello

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([2**53, -(2**63), 10**30, 0.5, -0.0, 1e300]),
    st.sampled_from(["", "\x1b[2J", "\u202e", "startup", "\0", "<script>", "[link=x]"]),
    st.lists(st.integers(-1, 3), max_size=3),
    st.just({}),
    st.just([[]]),
    st.just({"message": 1, "stderr": [], "line": {}, "limit_ms": "x", "exit": []}),
    st.just({"kept": None, "made_by": 3, "host": {}}),
)


@cache
def lines() -> list[bytes]:
    """A match of aliens with a fault that was substituted and one that retired, without its seal."""
    game = load_game("aliens")
    options = options_json(load_options(game, 2, {"max_turns": 12}))
    seats = (SeatSpec("left", "1", "aa"), SeatSpec("right", "1", "bb"))
    spec = MatchSpec(
        id="some",
        game="aliens",
        options=options,
        seats=seats,
        key=match_key("some"),
        seed="some",
        clock=TimeControl(1.0, 20.0, 0.5),
        faults="substitute",
        strikes=1,
    )
    confinement = Confinement("limits", "limits", "Linux", ("memory",), ())
    referee = Referee(game, spec, started="2026-01-01T00:00:00+00:00", confinement=confinement)
    referee.begin()
    for seat in (0, 1):
        referee.start_line(seat)
        referee.connect(seat, BotHello(protocol=1))
    asked = 0
    while referee.advance() is not Situation.OVER:
        asked += 1
        action: Any = 999 if asked in (5, 7, 9) else 0
        answer = {"type": "act", "id": json.loads(referee.line)["id"], "action": action, "note": "hm"}
        trouble = referee.answer(json.dumps(answer).encode(), 1_000_000, 500_000, None)
        if trouble is not None:
            trouble.detail.update(stderr="oh\n", stderr_bytes=3, exit=1)
            referee.fault(referee.seat, trouble)
    return referee.finish((0,)).record.splitlines(keepends=True)[:-1]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in `value` with each of its keys."""
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [*((value, key) for key in keys), *(place for key in keys for place in places(value[key]))]


def sealed_anew(rows: list[Any]) -> bytes:
    """The record of these rows, with a digest and a seal that fit."""
    bare = [{key: value for key, value in row.items() if key != "digest"} for row in rows]
    rows[-1]["digest"] = digest_of(map(digest_form, bare))
    spelled = [canonical(row) + b"\n" for row in rows]
    return b"".join([*spelled, seal(spelled)])


@settings(max_examples=200, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), ODD, st.booleans()), min_size=1, max_size=3
    )
)
def test_what_verifies_can_be_shown(changes: list[tuple[int, int, Any, bool]]) -> None:
    """Odd values anywhere in a record are refused by name, or every look at the record can bear them."""
    rows = [json.loads(line) for line in lines()]
    for row, place, value, drop in changes:
        # Half of the changes go to the header, the faults and the end: there is most to forge.
        telling = [row for row in rows if row["type"] not in ("act", "chance")]
        found = places((telling if row % 2 else rows)[row % len(telling if row % 2 else rows)])
        holder, key = found[place % len(found)]
        if drop and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(value)
        if any("type" not in row for row in rows):
            return
    record = sealed_anew(rows)
    try:
        for _ in Replay(record):
            pass
    except RecordError:
        return
    replay = Replay(record)
    out = io.StringIO()
    show_replay(replay, boards=False, at=None, seat=None, console=SafeConsole(file=out, width=100))
    assert all(char.isprintable() or char == "\n" for char in out.getvalue())
    json.dumps(steps_json(Replay(record), 1))
    page_alone(Replay(record), "some.jsonl")


def test_fields_that_are_not_known_do_no_harm() -> None:
    """Format 1 may gain fields: a record that has more of them verifies here too."""
    rows = [json.loads(line) for line in lines()]
    for row in rows:
        row["later"] = {"than": "this"}
    assert Replay(sealed_anew(rows)).header["later"] == {"than": "this"}
    for _ in Replay(sealed_anew(rows)):
        pass
