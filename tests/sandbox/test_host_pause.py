"""A host that stands still in the middle of a decision: a suspended machine, a paused container, a stopped referee."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs the processor clocks of other processes"
)

PAUSE_S = 0.7
BOT = """
import json, os, signal, sys, time

def stand_still(*pids):  # all of them, for a while, by the hand of another process
    if not os.fork():
        for pid in pids: os.kill(pid, signal.SIGSTOP)
        time.sleep({pause})
        for pid in reversed(pids): os.kill(pid, signal.SIGCONT)  # the referee never runs while the bot is stopped
        os._exit(0)

def compute(seconds):
    begun = time.process_time()
    while time.process_time() - begun < seconds: pass

referee = os.getppid()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello": print('{{"type":"hello","protocol":1}}', flush=True)
    elif message["type"] == "start": print('{{"type":"ready"}}', flush=True)
    elif message["type"] == "act":
        if message["id"] in (2, 3): {what}
        print('{{"type":"act","id":%d,"action":0}}' % message["id"], flush=True)
    elif message["type"] == "quit": break
"""
PLAY = """
import json, sys
from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import TimeControl, MatchSpec, SeatSpec
from warpleague.runner.play import play_within

if __name__ == "__main__":
    clock = json.loads(sys.argv[2])
    options = options_json(load_options(load_game("aliens"), 2, {"max_turns": 6}))
    seats = tuple(SeatSpec(bot=f"bot{n}", run=(sys.executable, "-P", f"bot{n}.py"), cwd=sys.argv[1]) for n in (0, 1))
    spec = MatchSpec("m", "aliens", options, seats, match_key("m"),
                     clock=TimeControl(start_s=60.0, **clock), level="limits")
    result = play_within(spec, 600.0, starter=start)
    print(json.dumps({"faults": [[str(fault) for fault in seat] for seat in result.faults],
                      "wall_ms": [seat.wall_ms for seat in result.times], "stops": stops}))
"""
USUAL_START = """
from warpleague.runner.playing import start_bot as start
stops = []
"""
STOPS_AT_A_READING = '''
import os, signal, subprocess
from warpleague.runner.bot.child import Child
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.bot.clocks import Stopwatch

# Continues both once the referee has stopped. It is started early: while it starts, a stopped bot would lose time.
CONTINUE = """
read -r referee bot || exit 0
until grep -q '^State:.T' /proc/$referee/status; do sleep 0.01; done
sleep {pause}
kill -CONT $bot $referee
"""
readings, shells, stops = [], [], []

class StoppingStopwatch(Stopwatch):
    def __init__(self, child, halt):
        super().__init__(child, halt)
        self.child = child
        while len(shells) < len({numbers}):
            shells.append(subprocess.Popen(["sh", "-c", CONTINUE], stdin=subprocess.PIPE, text=True))

    def read(self, decision, *args, **more):
        super().read(decision, *args, **more)
        if decision.budget_ns < 1e9:  # a decision, no start
            readings.append(decision)
        if len(readings) in {numbers}[len(stops):]:
            bot, referee = self.child.pid, os.getpid()
            print(referee, bot, file=shells[len(stops)].stdin, flush=True)
            stops.append(len(readings))
            os.kill(bot, signal.SIGSTOP)
            os.kill(referee, signal.SIGSTOP)

def start(referee, seat):
    return BotProcess(referee.spec.seats[seat], referee.spec.level, Child, StoppingStopwatch)
'''
MOVE, BANK = {"move_s": 0.5}, {"bank_s": 0.9}


@pytest.mark.parametrize(
    ("what", "clock"),
    [
        ("stand_still(referee); compute(0.05)", BANK),
        ("stand_still(referee, os.getpid()); compute(0.05)", MOVE),
        ("stand_still(referee, os.getpid()); time.sleep(0.05)", MOVE),
        ("stand_still(referee)", BANK),
    ],
    ids=["referee", "all while computing", "all while sleeping", "referee before it reads"],
)
def test_a_pause_of_the_host_is_nobodys(tmp_path: Path, what: str, clock: dict[str, float]) -> None:
    """Stopped twice for longer than a decision may take, and then going on: no fault, next to no time charged."""
    assert_nothing_charged(tmp_path, what, USUAL_START + PLAY, clock)


@pytest.mark.parametrize(
    ("what", "numbers"),
    [
        *(("compute(0.1)", numbers) for numbers in ((1, 3), (2, 5), (4, 7), (6,))),
        *(("time.sleep(0.1)", numbers) for numbers in ((1, 3), (2, 4), (3,))),
    ],
)
def test_a_pause_between_two_readings_is_nobodys(tmp_path: Path, what: str, numbers: tuple[int, ...]) -> None:
    """Stopped right after the clocks were read, wherever the referee goes from there: no fault either."""
    stops = STOPS_AT_A_READING.format(numbers=numbers, pause=PAUSE_S)
    assert assert_nothing_charged(tmp_path, what, stops + PLAY, MOVE) == len(numbers)


def assert_nothing_charged(tmp_path: Path, what: str, play: str, clock: dict[str, float]) -> int:
    """Play a match in which one bot does `what`: no fault, and little is charged; how often it was stopped."""
    (tmp_path / "bot0.py").write_text(BOT.format(pause=PAUSE_S, what=what))
    (tmp_path / "bot1.py").write_text(BOT.format(pause=0, what="pass"))
    (tmp_path / "play.py").write_text(play)
    command = [sys.executable, str(tmp_path / "play.py"), str(tmp_path), json.dumps(clock)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["faults"] == [[], []]
    assert told["wall_ms"][0] < 500
    assert told["wall_ms"][1] < 500
    return len(told["stops"])
