"""The rows of the bench: one function for each, whose docstring says what it measures."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import msgspec
import trio
from bigleague import make, make_ladder
from context import PROGRAM, Figure, bare_s, command, fastest_s, players_of
from nullgame import NullGame

from warpleague.errors import BadInput
from warpleague.games.api import CHANCE, Game
from warpleague.games.playout import drawn, rollout
from warpleague.match.referee import Referee
from warpleague.match.replay import verify_record
from warpleague.runner.doctor import check_level
from warpleague.runner.playing import Match

if TYPE_CHECKING:
    from collections.abc import Callable

    from context import Bench

    from warpleague.match.spec import Level, MatchResult, SeatSpec

_WANTS: Final = "-DWANTS"
"""With this flag the bot asks for all that bots get by default."""
_TURNS: Final = 5  # of an engine and the one that it is compared with


def wire(bench: Bench) -> list[Figure]:
    """A decision of two trivial bots in a game with hardly any rules: it measures the wire and the record."""
    with bench.one_core():
        base = bench.pingpong_us()
        us = _decision_us(_matches(bench, NullGame(), bench.seat(), 3))
    return [Figure("null game", us, "µs", us / base, "ping-pong", 2.5)]


def wants(bench: Bench) -> list[Figure]:
    """A decision of bots that get position, events and legal actions, over one of bots that want nothing."""
    figures = []
    with bench.one_core():
        for name, game in bench.games.items():
            none = _decision_us(_matches(bench, game, bench.seat(), 10))
            every = _decision_us(_matches(bench, game, bench.seat(_WANTS), 10))
            figures.append(Figure(name, every, "µs", every / none, "wants []", 1.5))
    return figures


def match(bench: Bench) -> list[Figure]:
    """A decision of a match of a league at level limits on one core, all that a match takes included."""
    figures = []
    for name in bench.games:
        for label, flags in (("wants []", ()), ("default wants", (_WANTS,))):
            bot = bench.bot(*flags)
            with bench.one_core():
                base = bench.pingpong_us()
                more, clear = bench.league_beyond_one_deal(bot, 40, game=name, options={}, jobs=1)
            us = more.seconds * 1e6 / more.decisions if clear else None
            figures.append(Figure(f"{name}, {label}", us, "µs", us and us / base, "ping-pong"))
    return figures


def short(bench: Bench) -> list[Figure]:
    """Matches of 30 decisions a second on all cores, bots reused for the next match or started for each.

    Level sandbox is left out where it does not hold.
    """
    figures = []
    rows: tuple[tuple[Level, bool, int, int], ...] = (
        ("limits", True, 758, 300),
        ("limits", False, 1818, 150),
        ("sandbox", False, 7576, 50),
    )
    for level, reusable, goal, deals in rows:
        try:
            check_level(level)
        except BadInput:
            continue
        base = bench.pingpong_us()
        more, clear = bench.league_beyond_one_deal(bench.bot(reusable=reusable), deals, level=level)
        base = (base + bench.pingpong_us()) / 2
        label = f"{level}, bots {'kept' if reusable else 'restarted'}"
        us = more.seconds * 1e6 / more.matches if clear else None
        figures.append(Figure(label, us and 1e6 / us, "/s", us and us / base, "ping-pong", goal))
        cpu_ms = more.cpu_s * 1000 / more.matches if clear else None
        ratio = cpu_ms and cpu_ms * 1000 / base
        figures.append(Figure(f"{label}, processor time", cpu_ms, "ms", ratio, "ping-pong"))
    return figures


def engines(bench: Bench) -> list[Figure]:
    """Steps a second of random play, over OpenSpiel's backgammon if the package open_spiel is installed."""
    figures = []
    with bench.one_core():
        for name, game in bench.games.items():
            # In turn, so that both see the same of what else the machine does.
            pairs = [
                (_steps(game, bench.scale / _TURNS), _backgammon_steps(bench.scale / _TURNS))
                for _ in range(_TURNS)
            ]
            ratios = [ours / peer for ours, peer in pairs if peer]
            ratio, goal = (median(ratios), 1.0 if name == "captains" else 1.5) if ratios else (None, None)
            over = "backgammon" if ratios else ""
            steps = median(ours for ours, _ in pairs)
            figures.append(Figure(name, steps, "steps/s", ratio, over, goal, at_most=False))
    return figures


def playout(bench: Bench) -> list[Figure]:
    """Random playouts a second of processor time, and how long one takes over an empty loop of 1,000 turns."""
    figures = []
    with bench.one_core():
        loop_s = _loop_s()
        for name, game in bench.games.items():
            rng = Random(1)
            state = game.initial(players_of(game), game.Options())
            while game.actors(state) == (CHANCE,):
                state, _ = game.apply(
                    state, tuple([drawn(draw, rng.random()) for draw in game.chance(state)])
                )
            rate = _playouts(game, state, rng, bench.scale)
            figures.append(Figure(name, rate, "/s", 1 / (rate * loop_s), "raw loop"))
    return figures


def verify(bench: Bench) -> list[Figure]:
    """A decision of a record that is executed again and checked, as `replay verify` does it."""
    figures = []
    with bench.one_core():
        base = bench.pingpong_us()
        for name, game in bench.games.items():
            results = _matches(bench, game, bench.seat(), 5)
            gc.collect()
            begun = time.perf_counter()
            for result in results:
                verify_record(result.record)
            us = (time.perf_counter() - begun) * 1e6 / _decisions(results)
            figures.append(Figure(name, us, "µs", us / base, "ping-pong", 7.7))
    return figures


def start(bench: Bench) -> list[Figure]:
    """Commands that do little, over `python -c pass`: what a user waits for at each of them."""
    bench.league(bench.bot(), 1, level="none")
    calls = {
        "--help": (("--help",), 4.0),
        "games": (("games",), 8.0),
        "league standings (2 matches)": (("league", "standings", *map(str, bench.where)), None),
    }
    figures = []
    with bench.one_core():
        bare = bare_s()
        for label, (words, goal) in calls.items():
            seconds = fastest_s(*PROGRAM, *words, runs=bench.times(5))
            figures.append(Figure(label, seconds, "s", seconds / bare, "python -c pass", goal))
    return figures


def cold(bench: Bench) -> list[Figure]:
    """Pages of a server over a stored league: asked for the first time, when they are made, and a replay again."""
    matches = bench.times(10)
    bench.league(bench.bot(), matches, level="none")
    file, *results = bench.where
    listed = json.loads(command("league", "matches", *bench.where, "--json"))
    league = f"/l/{Path(file).stem}/"
    replays = [f"{league}matches/{match['match']}.html" for match in listed[:matches]]
    with bench.one_core():
        bare = bare_s()
        words = [*PROGRAM, "serve", str(file), *map(str, results), "--no-play", "--port", "0"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            address = f"http://{server.stdout.readline().split('/')[2]}"
            seconds = {
                "league, after the start": _answer_s(address + league),
                "replay, first": median([_answer_s(address + path) for path in replays]),
                "replay, again": median([_answer_s(address + path) for path in replays]),
            }
        finally:
            server.terminate()
            server.wait()
    return [Figure(label, took, "s", took / bare, "python -c pass") for label, took in seconds.items()]


def undercharge(bench: Bench) -> list[Figure]:
    """The share of decisions of a bot that computes 1 ms which are charged with less than half of it."""
    game = next(iter(bench.games.values()))
    charged = []
    with bench.one_core():
        for result in _matches(bench, game, bench.seat(_WANTS, "-DBURN_MS=1"), 5):
            lines = map(msgspec.json.decode, result.record.splitlines())
            charged += [line["ms"][0] for line in lines if "ms" in line]
    return [Figure(f"of {game.id}", 100 * sum(ms < 0.5 for ms in charged) / len(charged), "%", goal=0.1)]


def waiting(bench: Bench) -> list[Figure]:
    """200 matches whose bots wait 1 s at each of 26 decisions; each job finds out how many it plays at a time."""
    bot, deals = bench.bot("-DSLEEP_MS=1000"), bench.times(100)
    run = bench.league(bot, deals, options={"max_rounds": 11}, move_s=10.0, together="auto")
    return [
        Figure(
            f"{2 * deals} matches at limits", run.seconds, "s", run.seconds / 26, "one match's waits", 1.35
        )
    ]


def million(bench: Bench) -> list[Figure]:
    """Standings, status, report and list of 1,000,000 matches of 50 bots that nobody played; the last two once."""
    config = make(bench.folder / "million", bots=50, matches=bench.times(1_000_000))
    with bench.one_core():
        bare = bare_s()
        figures = [_look(config, action, goal, bare) for action, goal in (("standings", 240), ("status", 77))]
        for action, goal, words in (("report", 2308, ("--replays", "none")), ("matches", None, ("--json",))):
            place = (str(config), "--results", str(config.parent))
            seconds, mb = _once(*PROGRAM, "league", action, *place, *words)
            figures.append(Figure(action, seconds, "s", seconds / bare, "python -c pass", goal))
            figures.append(Figure(f"memory of {action}", mb, "MB", goal=300.0))
    shutil.rmtree(config.parent)
    return figures


def bots(bench: Bench) -> list[Figure]:
    """Standings of 159,600 matches of 400 bots (one deal for each pair), and the size of the page of the league."""
    config = make(bench.folder / "bots", bots=400, matches=bench.times(159_600))
    with bench.one_core():
        standings = _look(config, "standings", 231, bare_s())
        command("league", "report", config, "--results", config.parent, "--replays", "none")
    size_mb = (config.parent / "big" / "report" / "index.html").stat().st_size / 1e6
    shutil.rmtree(config.parent)
    return [standings, Figure("page", size_mb, "MB", goal=1.0)]


_LADDERS: Final = (300, 1_000)


def ladder(bench: Bench) -> list[Figure]:
    """A ladder of 300, and one of 1,000 bots, with 100 matches of each bot that nobody played, by processor time."""
    figures: list[Figure] = []
    small: list[float] = []
    with bench.one_core():
        for bots in _LADDERS:
            made = make_ladder(bench.folder / f"ladder {bots}", bots=bots, matches=bench.times(100 * bots))
            looks = [_cpu_s(made.config, action) for action in ("status", "standings")]
            times = [*looks, made.resume_s, made.newcomer_s, made.pairing_s]
            goals = (1.0, None, None, 2.0, 0.005)
            labels = ("status", "standings", "to resume", "a newcomer", "a pairing")
            for place, (label, seconds) in enumerate(zip(labels, times, strict=True)):
                ratio = seconds / small[place] if small and small[place] else None
                goal = (bots / _LADDERS[0]) ** 1.2 if small and label != "standings" else None
                figures.append(
                    Figure(
                        f"{label}, {bots} bots",
                        seconds,
                        "s",
                        ratio,
                        f"{_LADDERS[0]} bots" if small else "",
                        goal,
                    )
                )
            figures += [
                Figure(f"{label} at most", seconds, "s", goal=goal)
                for label, seconds, goal in zip(labels, times, goals, strict=True)
                if small and goal is not None
            ]
            small = times
            shutil.rmtree(made.config.parent)
    return figures


ROWS: Final[dict[str, Callable[[Bench], list[Figure]]]] = {
    "wire": wire,
    "wants": wants,
    "match": match,
    "short": short,
    "engines": engines,
    "playout": playout,
    "verify": verify,
    "start": start,
    "cold": cold,
    "undercharge": undercharge,
    "waiting": waiting,
    "million": million,
    "bots": bots,
    "ladder": ladder,
}
SLOW: Final = ("waiting", "million", "bots", "ladder")
"""Rows that take minutes: measured once, if they are named."""


def _matches(bench: Bench, game: Game[Any, Any], seat: SeatSpec, count: int) -> list[MatchResult]:
    """Whole matches of trivial bots on this core."""

    async def play(number: int) -> MatchResult:
        return await Match(Referee(game, bench.spec(game, seat, number))).play()

    results = []
    for number in range(bench.times(count)):
        gc.collect()
        results.append(trio.run(play, number))
    return results


def _decisions(results: list[MatchResult]) -> int:
    return sum(times.decisions for result in results for times in result.times)


def _decision_us(results: list[MatchResult]) -> float:
    """Microseconds of a decision; what is measured lies between greeting and end."""
    return sum(result.playing_s for result in results) * 1e6 / _decisions(results)


def _steps(game: Game[Any, Any], seconds: float) -> float:
    """Steps (chance included) a second of processor time, of random play through the engine alone."""
    random, options = Random(1).random, game.Options()
    actors, legal, apply, chance = game.actors, game.legal, game.apply, game.chance
    steps = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        state = game.initial(players_of(game), options)
        while who := actors(state):
            steps += 1
            if who[0] == CHANCE:
                state, _ = apply(state, tuple([drawn(draw, random()) for draw in chance(state)]))
            else:
                choices = legal(state, who[0])
                state, _ = apply(state, choices[int(random() * len(choices))])
    return steps / spent


def _backgammon_steps(seconds: float) -> float | None:
    """The same of OpenSpiel's backgammon, whose engine is C++; None without `pyspiel`."""
    try:
        import pyspiel
    except ImportError:
        return None
    random, game = Random(1).random, pyspiel.load_game("backgammon")
    steps = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            steps += 1
            choices = state.legal_actions()
            state.apply_action(choices[int(random() * len(choices))])
    return steps / spent


def _loop_s() -> float:
    """Seconds of processor time of 1,000 turns of an empty loop of Python."""
    begun = time.process_time()
    for _ in range(1_000_000):
        pass
    return (time.process_time() - begun) / 1_000


def _playouts(game: Game[Any, Any], state: Any, rng: Random, seconds: float) -> float:
    played = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds or not played:
        game.outcome(rollout(game, state, rng.random))
        played += 1
    return played / spent


def _answer_s(address: str) -> float:
    """Seconds until a page is there; a note that it is being made, which loads itself again, is none."""
    begun = time.perf_counter()
    while True:
        with urllib.request.urlopen(address) as answer:
            answer.read()
            if answer.headers["Refresh"] is None:
                return time.perf_counter() - begun
        time.sleep(0.01)


def _once(*argv: str) -> tuple[float, float]:
    """Seconds and the most megabytes of one run of a command, or the megabytes of this process if these are more."""
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begun, used.ru_maxrss * 1024 / 1e6


def _cpu_s(config: Path, action: str) -> float:
    """The least processor time of three looks at a league."""
    spent = []
    for _ in range(3):
        argv = [*PROGRAM, "league", action, str(config), "--results", str(config.parent)]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spent.append(used.ru_utime + used.ru_stime)
    return min(spent)


def _look(config: Path, action: str, goal: float, bare: float) -> Figure:
    """The fastest of some looks at a league, over `python -c pass`."""
    seconds = fastest_s(*PROGRAM, "league", action, str(config), "--results", str(config.parent))
    return Figure(action, seconds, "s", seconds / bare, "python -c pass", goal)
