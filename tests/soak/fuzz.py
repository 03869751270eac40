"""Feeds broken input to everything that reads what others wrote: nothing but its own error may come.

Decides the readers, what they are fed and what they may raise; leaves finding and shrinking to Hypothesis. Real files,
records and positions are mutated, since random bytes rarely get past the first check. A position that is accepted must
be fit to play on from.
"""

import argparse
import atexit
import contextlib
import copy
import io
import json
import os
import shutil
import stat
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from warpleague.errors import BadInput, PositionError, RecordError
from warpleague.games import game_ids, load_game
from warpleague.games.playout import random_playout, random_roll
from warpleague.league.season.config import load_config
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import Replay, verify_record
from warpleague.match.scribe import digest_form, digest_of, seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchSpec, SeatSpec
from warpleague.report.site.match_page import page_alone
from warpleague.report.terminal.console import SafeConsole
from warpleague.report.terminal.replay import show_replay, steps_json
from warpleague.runner.bundle.archive import unpack
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.tree import BadTree
from warpline.codec import LineBuffer, LineTooLong, WireError, canonical, decode_bot, decode_referee
from warpline.messages import BotHello

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = Path(tempfile.mkdtemp(prefix="warpleague-fuzz-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 100),
    st.sampled_from([2**31, 2**53, -(2**63), 10**30, 0.5, -0.0, 1e300]),
    st.text(max_size=8),
    st.sampled_from(["", "\0", "../..", "7", "suns", "place", "end"]),
    st.lists(st.integers(-2, 9), max_size=4),
    st.just({}),
    st.just([[]]),
)
CHANGES = st.lists(
    st.tuples(st.integers(0, 2**20), st.sampled_from(["set", "drop", "double", "add", "nudge"]), ODD),
    min_size=1,
    max_size=3,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys or indices."""
    found, stack = [], [value]
    while stack:
        here = stack.pop()
        if isinstance(here, (dict, list)):
            keys: Any = here if isinstance(here, dict) else range(len(here))
            found += [(here, key) for key in keys]
            stack += [here[key] for key in keys]
    return found


def changed(value: Any, changes: list[tuple[int, str, Any]]) -> Any:
    """A copy of a JSON value with some places set, dropped, doubled, added to, or a little off."""
    value = copy.deepcopy(value)
    for where, how, put in changes:
        odd = copy.deepcopy(put)  # the strategy gives the same object again
        spots = places(value)
        if not spots:
            break
        here, key = spots[where % len(spots)]
        if how == "drop":
            del here[key]
        elif how == "double" and isinstance(here, list):
            here.insert(key, copy.deepcopy(here[key]))
        elif how == "add" and isinstance(here, dict):
            here[str(odd)] = odd
        elif how == "nudge" and type(here[key]) is int:
            here[key] += 1 if where % 2 else -1
        else:
            here[key] = odd
    return value


def spliced(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    """Bytes with parts replaced."""
    for start, length, put in cuts:
        at = start % (len(data) + 1)
        data = data[:at] + put + data[at + length :]
    return data


SPLICES = st.lists(
    st.tuples(st.integers(0, 2**20), st.integers(0, 20), st.binary(max_size=6)), min_size=1, max_size=3
)


@cache
def positions() -> list[tuple[str, Any]]:
    """Positions of all games and table sizes, from beginning, middle and end of random matches."""
    found = []
    for game_id in game_ids():
        game = load_game(game_id)
        for players in game.players:
            playout = random_playout(
                game, players, load_options(game, players, {}), Random(players), keep=True
            )
            states = playout.states
            found += [
                (game_id, json.loads(json.dumps(game.to_json(s)))) for s in states[:: len(states) // 4 + 1]
            ]
    return found


@cache
def records() -> list[bytes]:
    """A record of each game, between bots that always answer 0."""
    found = []
    for game_id in game_ids():
        game = load_game(game_id)
        players = max(game.players[0], 2)
        spec = MatchSpec(
            id="fuzz",
            game=game_id,
            options=options_json(load_options(game, players, {})),
            seats=tuple(SeatSpec(bot=f"bot{i}") for i in range(players)),
            key=bytes(32),
        )
        referee = Referee(game, spec, started="2026-01-01T00:00:00+00:00")
        referee.begin()
        for seat in range(players):
            referee.connect(seat, BotHello(protocol=1))
        while referee.advance() is not Situation.OVER:
            line = json.dumps({"type": "act", "id": json.loads(referee.line)["id"], "action": 0}).encode()
            if referee.answer(line, 1_000, None, None) is not None:
                raise AssertionError("0 is always legal")
        found.append(referee.finish().record)
    return found


# The readers ------------------------------------------------------------


def framing(chunks: list[bytes]) -> None:
    buffer = LineBuffer(64)
    try:
        for chunk in chunks:
            buffer.feed(chunk)
            while buffer.next_line() is not None:
                pass
    except LineTooLong:
        pass


LINES = [
    b'{"type":"hello","protocol":1,"name":"x","wants":["state","legal"],"reusable":true}',
    b'{"type":"act","id":17,"action":{"do":"stay","ship":"suns"},"then":[{"do":"x"}],"note":"hm"}',
    b'{"type":"act","id":3,"action":0}',
    b'{"type":"ready"}',
]


def wire(line: bytes, cuts: Any) -> None:
    for decode in (decode_bot, decode_referee):
        with contextlib.suppress(WireError):
            decode(spliced(line, cuts))


def wire_values(line: bytes, changes: Any) -> None:
    with contextlib.suppress(WireError):
        decode_bot(json.dumps(changed(json.loads(line), changes)).encode())


def record_bytes(number: int, cuts: Any) -> None:
    with contextlib.suppress(RecordError):
        verify_record(spliced(records()[number % len(records())], cuts))


def record_values(number: int, where: int, changes: Any) -> None:
    lines = records()[number % len(records())].splitlines(keepends=True)[:-1]  # without its seal
    at = 0 if where % 3 == 0 else where % len(lines)
    try:
        lines[at] = canonical(changed(json.loads(lines[at]), changes)) + b"\n"
    except ValueError:
        return
    with contextlib.suppress(RecordError):
        verify_record(b"".join(lines))


def record_whole(number: int, changes: Any) -> None:
    """A record changed anywhere, its digest and seal made to fit: refused, or fit to be shown in every way."""
    rows = [json.loads(line) for line in records()[number % len(records())].splitlines()[:-1]]
    rows = changed(rows, changes)
    if not rows or not all(isinstance(row, dict) for row in rows):
        return
    try:
        bare = [{key: value for key, value in row.items() if key != "digest"} for row in rows]
        rows[-1]["digest"] = digest_of(map(digest_form, bare))
        lines = [canonical(row) + b"\n" for row in rows]
    except ValueError:
        return  # JSON has no such value
    record = b"".join([*lines, seal(lines)])
    try:
        verify_record(record)
    except RecordError:
        return
    shown = io.StringIO()
    show_replay(Replay(record), boards=False, at=None, seat=None, console=SafeConsole(file=shown, width=99))
    if any(not char.isprintable() and char != "\n" for char in shown.getvalue()):
        raise AssertionError("a character that could steer the terminal was printed")
    json.dumps(steps_json(Replay(record), 0))
    page_alone(Replay(record), "record.jsonl")


MEMBERS = st.lists(
    st.tuples(
        st.sampled_from(
            ["a", "a/b", "a/b/c", "..", "/etc", "a/../..", "l", "l/x", "a/l", "", "n" * 120, "\x1b[2J"]
        ),
        st.sampled_from(
            [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE]
        ),
        st.sampled_from(["", "a", "b", "l", "..", "../..", "/etc/passwd", "a/b", "l/l", "../a", "." * 99]),
        st.integers(0, 2000),
    ),
    max_size=8,
)


def archive(members: list[tuple[str, bytes, str, int]], cuts: Any, spoil: bool) -> None:
    """What a build may leave in its archive: refused, or unpacked into plain files and links within the folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, kind, target, size in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            info.size = size if kind == tarfile.REGTYPE else 0
            with contextlib.suppress(ValueError):  # too long for this format
                tar.addfile(info, io.BytesIO(bytes(info.size)))
    data = spliced(made.getvalue(), cuts) if spoil else made.getvalue()
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        folder = Path(scratch) / "out"
        try:
            unpack(io.BytesIO(data), folder, 1 << 20)
        except BadTree:
            return
        inside = os.path.realpath(folder)
        for path in folder.rglob("*"):
            if not os.path.realpath(path).startswith(inside):
                raise AssertionError(f"{path.name} leads out of the folder")
            if not stat.S_ISREG(path.lstat().st_mode) and not path.is_dir() and not path.is_symlink():
                raise AssertionError(f"{path.name} is neither file, folder nor link")


def position(number: int, changes: Any) -> None:
    game_id, good = positions()[number % len(positions())]
    game, rng = load_game(game_id), Random(number)
    try:
        state = game.from_json(changed(good, changes))
    except PositionError:
        return
    json.dumps(game.to_json(state))
    for _ in range(12):
        actors = game.actors(state)
        if not actors:
            game.outcome(state)
            return
        if actors[0] == -1:
            move: Any = random_roll(game.chance(state), rng)
        else:
            move = rng.choice(list(game.legal(state, actors[0])))
            game.view(state, actors[0])
        state = game.apply(state, move)[0]


@cache
def config_files() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "leagues").glob("*.toml"))]


@cache
def manifests() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "bots").glob("*/bot.toml"))]


@cache
def galaxies() -> list[str]:
    path = ROOT / "harness" / "warpleague" / "games" / "captains" / "boards.toml"
    return [path.read_text(encoding="utf-8")]


def toml(files: Callable[[], list[str]], name: str, read: Callable[[Path], object]) -> Callable[..., None]:
    def check(number: int, changes: Any, cuts: Any) -> None:
        text = files()[number % len(files())]
        try:
            data = tomli_w.dumps(changed(tomllib.loads(text), changes)).encode()
        except (TypeError, ValueError):
            data = spliced(text.encode(), cuts)
        (SCRATCH / name).write_bytes(data)
        with contextlib.suppress(BadInput):
            read(SCRATCH / name)

    return check


def read_galaxy(path: Path) -> None:
    game = load_game("captains")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return
    tables = [table, *(value for value in table.values() if isinstance(value, dict))]
    for raw in tables:
        options = load_options(game, 2, {"galaxy_file": raw})
        game.initial(2, options)


NUMBER = st.integers(0, 999)
TARGETS: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "framing": (framing, (st.lists(st.binary(max_size=80) | st.just(b"x\n"), max_size=6),)),
    "wire bytes": (wire, (st.sampled_from(LINES), SPLICES)),
    "wire values": (wire_values, (st.sampled_from(LINES), CHANGES)),
    "record bytes": (record_bytes, (NUMBER, SPLICES)),
    "record values": (record_values, (NUMBER, NUMBER, CHANGES)),
    "whole records": (record_whole, (NUMBER, CHANGES)),
    "archives": (archive, (MEMBERS, SPLICES, st.booleans())),
    "positions": (position, (NUMBER, CHANGES)),
    "league files": (toml(config_files, "league.toml", load_config), (NUMBER, CHANGES, SPLICES)),
    "bot files": (
        toml(manifests, "bot.toml", lambda path: read_manifest(path.parent)),
        (NUMBER, CHANGES, SPLICES),
    ),
    "galaxy files": (toml(galaxies, "galaxy.toml", read_galaxy), (NUMBER, CHANGES, SPLICES)),
}


def counted(check: Callable[..., None], name: str, counts: dict[str, int]) -> Callable[..., None]:
    """`check` as Hypothesis wants it, counting its calls."""

    def one(values: tuple[Any, ...]) -> None:
        counts[name] += 1
        check(*values)

    return one


def main() -> int:
    """Exit code 0: nothing found; 1: a reader raised what it may not, told with the smallest input found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for all (default %(default)s)")
    parser.add_argument(
        "--turns", type=int, help="so many times 50 inputs for each reader instead: the same on every machine"
    )
    parser.add_argument("--only", help="one of: " + ", ".join(TARGETS))
    parser.add_argument("--seed", type=int, default=None, help="default: the time")
    args = parser.parse_args()
    first = int(time.time()) if args.seed is None else args.seed
    names = [args.only] if args.only else list(TARGETS)
    counts, bad = dict.fromkeys(names, 0), set[str]()
    deadline, turn = time.monotonic() + args.seconds, 0
    for done in count():
        if (done >= args.turns if args.turns else time.monotonic() > deadline) or len(bad) == len(names):
            break
        for name in names:
            until = min(time.monotonic() + args.seconds / len(names) / 8, deadline)
            check, strategies = TARGETS[name]
            for again in count():
                if name in bad or (again if args.turns else time.monotonic() > until):
                    break
                turn += 1
                quick = settings(
                    max_examples=50,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate, Phase.shrink],
                    suppress_health_check=list(HealthCheck),
                    report_multiple_bugs=False,
                )
                try:
                    seed(first + turn)(
                        quick(given(values=st.tuples(*strategies))(counted(check, name, counts)))
                    )()
                except Exception as error:  # noqa: BLE001 - told; the other readers go on
                    bad.add(name)
                    place = error.__traceback__
                    while place is not None and place.tb_next is not None:
                        place = place.tb_next
                    where = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
                    notes = "\n".join(getattr(error, "__notes__", ()))
                    print(
                        f"FOUND by {name}: {type(error).__name__}: {error}\n{where}\n{notes}", file=sys.stderr
                    )
    print(f"seed {first}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
