"""Stand-ins for the runner, importable in referee processes: bundles without bots, matches without play."""

import json
import os
import signal
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import attrs
import trio

from warpleague.errors import HarnessFault, MissingToolchain
from warpleague.games import load_game
from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import RunWatcher, run_league
from warpleague.league.season.config import load_config
from warpleague.match.referee import Referee, Situation
from warpleague.match.spec import Confinement, MatchResult, MatchSpec, SeatFault, SeatSpec, SeatTimes
from warpline.messages import BotHello


@attrs.frozen
class FakeBundle:
    name: str
    digest: str
    games: tuple[str, ...] = ("aliens", "captains", "coasters", "toy")

    def seat(self) -> SeatSpec:
        return SeatSpec(bot=self.name, version="1", digest=self.digest)


def prepare(folder: Path, level: str = "limits", **_: object) -> FakeBundle:
    """A bundle whose digest is its folder's file `digest`, or made of its name."""
    if "exotic" in folder.name:
        raise MissingToolchain("exotic: no compiler here")
    file = folder / "digest"
    return FakeBundle(folder.name, file.read_text() if file.exists() else f"digest of {folder.name}")


def play(spec: MatchSpec) -> MatchResult:
    """A result that follows from the spec alone; ties, faults and all."""
    luck = blake2b(spec.key + spec.id.encode(), digest_size=16).digest()
    values = [luck[seat] % 5 for seat in range(len(spec.seats))]
    ranks = tuple(1 + sum(other > value for other in values) for value in values)
    fault = SeatFault(kind="timeout", n=3, retired=True, message="too slow")
    faults = tuple((fault,) if luck[8 + seat] < 20 else () for seat in range(len(values)))
    times = tuple(
        SeatTimes(decisions=5, wall_ms=2.5, cpu_ms=2.0, wait_ms=0.1, longest_ms=value) for value in values
    )
    record = json.dumps({"type": "match", "id": spec.id, "ranks": ranks}).encode() + b"\n"
    scores = tuple(float(value) for value in values)
    return MatchResult(spec.id, ranks, scores, "completed", luck.hex(), faults, times, record, lines=1)


def play_refereed(spec: MatchSpec, confinement: Confinement | None = None) -> MatchResult:
    """A real match, whose record holds, between bots that always answer 0.

    `confinement` is what the record's header says of how the bots were confined.
    """
    referee = Referee(
        load_game(spec.game), spec, started="2026-01-01T00:00:00+00:00", confinement=confinement
    )
    referee.begin()
    for seat in range(len(spec.seats)):
        referee.connect(seat, BotHello(protocol=1))
    while referee.advance() is not Situation.OVER:
        answer = {"type": "act", "id": json.loads(referee.line)["id"], "action": 0}
        assert referee.answer(json.dumps(answer).encode(), 1_000, None, None) is None
    return referee.finish()


def play_void(spec: MatchSpec) -> MatchResult:
    """Fails when the third bot meets the first one in this order."""
    if spec.seats[0].bot[0] == "c" and spec.seats[1].bot[0] == "a":
        raise HarnessFault("the moon is full")
    return play(spec)


def play_deadly(spec: MatchSpec) -> MatchResult:
    """Kills its referee the first time a match with `a` in the first seat is tried; a file remembers."""
    memory = Path(os.environ["DEADLY"]) / spec.id
    if spec.seats[0].bot == "a" and not memory.exists():
        memory.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return play(spec)


def play_always_deadly(spec: MatchSpec) -> MatchResult:
    os.kill(os.getpid(), signal.SIGKILL)
    return play(spec)


def note_end() -> None:
    """Leaves a file for each process that was told to end its bots."""
    (Path(os.environ["ENDED"]) / str(os.getpid())).touch()


class Stop(RunWatcher):
    """Stops a run after some matches."""

    def __init__(self, matches: int) -> None:
        self.left = matches

    def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


class Teller(RunWatcher):
    """Prints the id of each match once it is stored."""

    def finished(self, fixture: Any, result: Any) -> None:  # noqa: ARG002
        print(fixture.id, flush=True)


def main() -> None:
    """Run the league file argv[1] into argv[2], telling of each stored match; argv[3] names what plays."""
    how = globals()[sys.argv[3]] if len(sys.argv) > 3 else play
    with open_to_run(load_config(Path(sys.argv[1])), Path(sys.argv[2]), prepare) as league:
        run_league(league, play=how, watcher=Teller())


_here = 0


async def meet(others: int) -> int:
    """Returns once so many are here at a time, in one process; its id."""
    global _here
    _here += 1
    while _here < others:
        await trio.sleep(0.001)
    return os.getpid()


async def die() -> None:
    """Kills its referee."""
    os.kill(os.getpid(), signal.SIGKILL)
