"""Kills the processes of leagues at random instants and fills their disk, and checks that nothing comes of it.

Decides what is killed, when, and what must hold afterwards; leaves running leagues to the command line, as a user
would. A run is deterministic in what it draws (`--seed`), not in the instants the operating system makes of it.

Each league is first played undisturbed. Then it is played again under fire, over and over until its share of the
kills is spent, each time in a new folder. A shot hits one of

- the scheduler (SIGKILL), after which nothing of its tree may be left, and the league is resumed;
- the scheduler that is winding down (SIGTERM, then SIGKILL);
- a referee process (SIGKILL), which the run must survive or give up with exit code 1, to be resumed;
- a bot together with its referee, which is stopped first so that it cannot see the death of its bot.

After every death of the scheduler the store is looked at: its pages are sound, every match has its record, no match
that was there has gone, and each has the digest of the undisturbed run. At the end of every league the matches and
the table are the undisturbed run's, and `league verify` executes every record again.

A bot that is killed alone is another thing: nobody can tell it from a bot that killed itself, so it is a `crash`, and
the bot's to answer for. In a last league only bots are killed; there each match must be without fault and
the undisturbed run's, or have a fault of a bot that was shot, and all records must verify.

The disk is a tmpfs of some hundred KiB where root may mount one, else a limit on the size of files: when a run ends
for want of space, with a clear message and no traceback, more is given and the league resumed.
"""

import argparse
import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import host

from warpleague.league.store.store import Store
from warpleague.runner.host import children_of, descendants

BOTS = Path(__file__).resolve().parents[2] / "bots"
CONFIG = """
name = "{name}"
seed = "under fire"
bots = ["{bots}/first-c", "{bots}/random-c", {twins}]
[game]
id = "{game}"
players = {players}
options = {{ {options} }}
[format]
{form}
[clock]
move_s = 60.0
start_s = 60.0
[run]
jobs = 2
"""
SHORT = "max_turns = 12"
LEAGUES = {
    "aliens": ("aliens", 2, SHORT, "deals = {}", 120, 1),
    "captains": ("captains", 2, "", "deals = {}", 20, 1),
    "coasters": ("coasters", 2, "", "deals = {}", 20, 1),
    "sheets": ("sheets", 3, "", "deals = {}", 30, 1),
    "swiss": ("aliens", 2, SHORT, 'kind = "swiss"\nrounds = 4\ndeals = {}', 20, 3),
    "knockout": ("aliens", 2, SHORT, 'kind = "knockout"\ndeals = {}', 40, 4),
    "double-elimination": ("aliens", 2, SHORT, 'kind = "double-elimination"\ndeals = {}', 20, 4),
    "ladder": ("aliens", 2, SHORT, 'kind = "ladder"\nmax_matches = {}', 600, 2),
    "test": ("aliens", 2, SHORT, 'kind = "test"\nelo1 = 2\nmax_matches = {}', 600, 0),
}
"""By name: the game, the size of its tables, options, the format, its deals or matches (for some seconds), and how
many twins of a bot play, too."""

FIRST_DISK_KIB = 160  # doubled whenever it is full
FEW_KILLS = 10
LONGEST_S = 200.0  # a run that takes longer hangs
END_S = 60.0  # how long the kernel may take to end what a killed scheduler leaves


class Broken(Exception):
    """Something did not hold."""


def broken(text: str) -> NoReturn:
    raise Broken(text)


class League:
    """One league file, and what an undisturbed run of it gave."""

    def __init__(self, folder: Path, name: str, scale: float) -> None:
        game, players, options, form, size, twins = LEAGUES[name]
        self.name = name
        self.folder = folder
        self.error = folder / f"{name}.err"
        self.output = folder / f"{name}.out"
        self.config = folder / f"{name}.toml"
        self.config.write_text(
            CONFIG.format(
                name=name,
                bots=BOTS,
                game=game,
                players=players,
                options=options,
                form=form.format(max(1, round(size * scale))),
                twins=", ".join(f'{{ path = "{BOTS}/random-c", name = "twin{i}" }}' for i in range(twins)),
            ),
            encoding="utf-8",
        )
        self.by_results = "kind" in form
        whole = folder / f"{name}-whole"
        begun = time.monotonic()
        self.finish(whole)
        self.played_s = time.monotonic() - begun
        self.matches = self.stored(whole)
        self.table = self.standings(whole)

    def command(self, verb: str, results: Path, *more: str) -> list[str]:
        prefix = [sys.executable, "-P", "-m", "warpleague", "league", verb, str(self.config)]
        return [*prefix, "--results", str(results), *more]

    def start(self, results: Path, limit: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command("run", results, "--quiet"),
            stdout=self.output.open("w"),
            stderr=self.error.open("w"),
            preexec_fn=limit,
        )

    def end_of(self, run: subprocess.Popen[bytes]) -> str:
        """Wait for a run that nobody will touch again; what it said on standard error."""
        try:
            run.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            # Each prints where it hangs.
            for pid in (*host.referees(run.pid), run.pid):
                os.kill(pid, signal.SIGABRT)
            run.wait()
            broken(f"{self.name}: a run hangs\n{self.error.read_text()}")
        return self.error.read_text()

    def call(self, verb: str, results: Path, *more: str) -> str:
        done = subprocess.run(self.command(verb, results, *more), capture_output=True, text=True, check=False)
        if done.returncode:
            broken(f"{self.name}: league {verb}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def finish(self, results: Path) -> None:
        self.call("run", results, "--quiet")

    def standings(self, results: Path) -> Any:
        return json.loads(self.call("standings", results, "--json"))

    def stored(self, results: Path) -> dict[str, tuple[str, str]]:
        """Digest and faults of every stored match, by its id; the store's pages and its two tables are compared."""
        path = results / self.name / "league.sqlite"
        if not path.exists():
            return {}
        with contextlib.closing(sqlite3.connect(path)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'match'").fetchone():
                return {}
            if (found := db.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                broken(f"{self.name}: the store is damaged: {found}")
            torn = db.execute("SELECT (SELECT count(*) FROM match), (SELECT count(*) FROM record)").fetchone()
            joined = db.execute("SELECT count(*) FROM match JOIN record USING (id)").fetchone()[0]
            if torn != (joined, joined):
                broken(f"{self.name}: {torn[0]} matches, {torn[1]} records, {joined} of them belong together")
            faults = "SELECT sum(faults) FROM seat WHERE match = key"
            return {row[0]: row[1:] for row in db.execute(f"SELECT id, digest, ({faults}) FROM match")}

    def begun_in_vain(self, results: Path) -> Counter[str]:
        """How often each match was begun in vain: such a match has other dice."""
        if not (results / self.name / "league.sqlite").exists():
            return Counter()
        with Store.open_to_read(results / self.name) as store:
            return store.attempts()

    def differs(self, results: Path, found: dict[str, tuple[str, str]]) -> list[str]:
        """The matches that are not as undisturbed, without those that follow from other dice."""
        if not found:
            return []  # the store may only be being made
        begun = self.begun_in_vain(results)
        if begun and self.by_results:
            return []  # other results give other pairings
        return [
            match for match, told in found.items() if self.matches.get(match) != told and not begun[match]
        ]

    def check_so_far(self, results: Path, before: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        """The stored matches: all that were there `before`, and none but the undisturbed run's."""
        now = self.stored(results)
        if lost := before.keys() - now.keys():
            broken(f"{self.name}: {len(lost)} matches that had been stored are lost: {sorted(lost)[:3]}")
        for match in self.differs(results, now):
            broken(f"{self.name}: match {match} is {now[match]}, undisturbed it is {self.matches.get(match)}")
        return now

    def check_end(self, results: Path) -> None:
        """After the last run only matches that were begun in vain tell the league from the undisturbed one."""
        found, begun = self.stored(results), self.begun_in_vain(results)
        if len(found) != len(self.matches) or self.differs(results, found):
            broken(f"{self.name}: the matches are not those of the undisturbed run")
        if not begun and self.standings(results) != self.table:
            broken(f"{self.name}: the table is not that of the undisturbed run")
        self.verify(results)

    def verify(self, results: Path) -> None:
        found = json.loads(self.call("verify", results, "--json"))
        if found["records"] != len(self.matches) or found["wrong"]:
            broken(f"{self.name}: verify: {found}")


def shoot(pid: int) -> bool:
    """Kill a process, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def wait_for_the_end(pids: dict[int, int | None]) -> None:
    """Wait until these processes, given with their start times, have gone."""
    deadline = time.monotonic() + END_S
    while left := [pid for pid, began in pids.items() if began is not None and host.began(pid) == began]:
        if time.monotonic() > deadline:
            broken("left running: " + "; ".join(f"{pid} {host.command(pid)}" for pid in left))
        time.sleep(0.005)


class Gun:
    """Draws targets and instants, and counts the hits."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.hits: Counter[str] = Counter()

    def pause(self, run: subprocess.Popen[bytes], most_s: float) -> bool:
        """Wait a random time; whether the run has ended by itself meanwhile."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(self.rng.uniform(0, most_s))
        return run.returncode is not None

    def scheduler(self, run: subprocess.Popen[bytes], kind: str) -> None:
        """Kill a run, and see that its whole tree goes with it."""
        if kind == "winding down":
            run.send_signal(signal.SIGTERM)
            if self.pause(run, 0.1):
                return
        tree = {pid: host.began(pid) for pid in descendants(run.pid)}
        run.kill()
        self.hits[f"scheduler, {kind}" if kind == "winding down" else kind] += 1
        run.wait()
        wait_for_the_end(tree)

    def below(self, run: subprocess.Popen[bytes], kind: str) -> None:
        """Kill a referee, or one of its bots and then, before it can notice, the referee; or a bot alone."""
        pids = host.referees(run.pid)
        if not pids:
            return
        referee = self.rng.choice(pids)
        if kind == "referee":
            self.hits[kind] += shoot(referee)
            return
        if kind == "bot with its referee":
            with contextlib.suppress(ProcessLookupError):
                os.kill(referee, signal.SIGSTOP)
        # A bot's program lies in the cache; what probes the level or has just been forked is no bot.
        cache = os.environ["WARPLEAGUE_CACHE"]
        if bots := sorted(pid for pid in children_of(referee) if host.program(pid).startswith(cache)):
            self.hits[kind] += shoot(self.rng.choice(bots))
        if kind == "bot with its referee":
            shoot(referee)


KINDS = ("scheduler", "scheduler", "winding down", "referee", "bot with its referee", "bot with its referee")


def under_fire(league: League, gun: Gun, kills: int) -> None:
    """Play the league again and again until so many kills have hit."""
    goal = gun.hits.total() + kills
    rounds = 0
    while gun.hits.total() < goal:
        rounds += 1
        results = league.folder / f"{league.name}-torn-{rounds}"
        stored: dict[str, tuple[str, str]] = {}
        complete = False
        while not complete and gun.hits.total() < goal:
            complete = _one_run(league, gun, results, goal)
            stored = league.check_so_far(results, stored)
        league.finish(results)
        league.check_end(results)


def _one_run(league: League, gun: Gun, results: Path, goal: int) -> bool:
    """Start or resume a run and shoot until it is dead or done; whether it is done."""
    with league.start(results) as run:
        # Half of the instants fall into starting up, the others into the matches.
        while gun.hits.total() < goal and not gun.pause(run, gun.rng.choice((0.6, league.played_s / 4))):
            kind = gun.rng.choice(KINDS)
            if kind in ("scheduler", "winding down"):
                gun.scheduler(run, kind)
                break
            gun.below(run, kind)
        error = league.end_of(run)
    if run.returncode not in (0, 1, 130, -signal.SIGKILL, -signal.SIGTERM) or "Traceback" in error:
        broken(f"{league.name}: exit code {run.returncode}\n{error}")
    return run.returncode == 0


def bots_alone(league: League, gun: Gun, kills: int) -> int:
    """Kill only bots; how many matches have the fault of one that was shot."""
    goal = gun.hits["bot alone"] + kills
    rounds = faulty = 0
    while gun.hits["bot alone"] < goal:
        rounds += 1
        results = league.folder / f"{league.name}-bots-{rounds}"
        before = gun.hits["bot alone"]
        with league.start(results) as run:
            while gun.hits["bot alone"] < goal and not gun.pause(run, 0.1):
                gun.below(run, "bot alone")
            error = league.end_of(run)
        if run.returncode:
            broken(f"{league.name}: exit code {run.returncode}\n{error}\n{league.output.read_text()}")
        league.verify(results)
        found = league.stored(results)
        hurt = {match: faults for match, (_, faults) in found.items() if faults}
        whole = {match: told for match, told in found.items() if match not in hurt}
        if found.keys() != league.matches.keys() or league.differs(results, whole):
            broken(f"{league.name}: matches without a dead bot are not those of the undisturbed run")
        kinds = Counter(
            fault["kind"] for faults in hurt.values() for seat in json.loads(faults) for fault in seat
        )
        if kinds.keys() - {"crash", "startup"} or kinds.total() > gun.hits["bot alone"] - before:
            broken(f"{league.name}: {gun.hits['bot alone'] - before} bots shot, faults: {dict(kinds)}")
        faulty += len(hurt)
    return faulty


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[tuple[Callable[[int], Callable[[], None] | None], str]]:
    """Gives a function that sets the size in KiB, of `folder` or else of files, and what it is.

    What the function returns is to be called in the process whose files are to be limited.
    """
    folder.mkdir()
    options = f"size={FIRST_DISK_KIB}k,mode=0777"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:

        def limit(size_kib: int) -> Callable[[], None]:
            return lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (size_kib * 1024, resource.RLIM_INFINITY)
            )

        yield limit, "a limit on the size of files"
        return

    def resize(size_kib: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size_kib}k", str(folder)], check=True)

    try:
        yield resize, "a small tmpfs"
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # whoever still looks at it


def disk_full(league: League, gun: Gun) -> str:
    """Play the league on a disk that is too small, and give a little more each time; what the disk was."""
    with small_disk(league.folder / f"{league.name}-disk") as (resize, what):
        results = league.folder / f"{league.name}-disk"
        size, stored = FIRST_DISK_KIB, dict[str, tuple[str, str]]()
        while True:
            with league.start(results, resize(size)) as run:
                error = league.end_of(run)
            if run.returncode == 0:
                break
            if run.returncode not in (1, 2) or "Traceback" in error or not error.startswith("warpleague: "):
                broken(f"{league.name}: disk full: exit code {run.returncode}\n{error}")
            gun.hits["disk full"] += 1
            size *= 2
            resize(size)
            stored = league.check_so_far(results, stored)
        league.check_end(results)
    return what


def main() -> int:
    """Exit code 0: all held; 1: something did not, told on standard error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--kills", type=int, default=240, help="over all leagues (default %(default)s)")
    parser.add_argument("--leagues", default=",".join(LEAGUES), help="default: %(default)s")
    parser.add_argument("--seed", default="1", help="of targets and instants (default %(default)s)")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the leagues' length (default %(default)s)"
    )
    args = parser.parse_args()
    names = args.leagues.split(",")
    gun = Gun(Random(args.seed))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="warpleague-crash-") as folder:
        os.environ.setdefault("WARPLEAGUE_CACHE", str(Path(folder) / "bots"))
        os.environ["PYTHONFAULTHANDLER"] = "1"
        try:
            leagues = [League(Path(folder), name, args.scale) for name in names]
            # A handful of kills goes to schedulers and referees only.
            share = args.kills // (len(leagues) + (args.kills >= FEW_KILLS))
            for league in leagues:
                before = gun.hits.copy()
                under_fire(league, gun, share)
                what = disk_full(league, gun)
                print(f"{league.name}: {len(league.matches)} matches, {told(gun.hits - before)}", flush=True)
            if args.kills >= FEW_KILLS:
                before = gun.hits.copy()
                faulty = bots_alone(leagues[0], gun, args.kills - share * len(leagues))
                print(
                    f"{leagues[0].name}: {told(gun.hits - before)}: {faulty} matches with a fault for it",
                    flush=True,
                )
        except Broken as error:
            print(f"BROKEN: {error}", file=sys.stderr)
            return 1
    full = gun.hits.pop("disk full")
    print(
        f"{gun.hits.total()} kills and {full} full disks ({what}) survived in {time.monotonic() - begun:.0f} s:"
    )
    print(f"{told(gun.hits)}. Nothing lost, nothing doubled, all records verified, tables as undisturbed.")
    return 0


def told(hits: Counter[str]) -> str:
    """The counts in words."""
    return ", ".join(f"{kind} {count}" for kind, count in sorted(hits.items()))


if __name__ == "__main__":
    sys.exit(main())
