"""Plays thousands of short matches through one referee pool, and looks for what grows.

Decides what is played and what must stay flat; leaves playing to the league and its runner. All goes through one
scheduler (this process), one pool and the same referees, in rounds: in each, a league of every game is opened, played
and closed. The bots wait between their matches, or are started for each one, or leave in the middle of it.

The first rounds fill most of the caches. From then on the resident sets of scheduler and referees may grow by
little; the open files of all of them by two, and the processes between two rounds not at all, above what the first
half of the rounds saw: how many files a waiting bot needs depends on its last match. In the end, nothing is left.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import attrs
import host

from warpleague.league.play.entering import open_to_run
from warpleague.league.play.running import run_league
from warpleague.league.referees.pool import RefereePool
from warpleague.league.season.config import load_config
from warpleague.runner.bundle import cache
from warpleague.runner.host import descendants, own_counts

BOTS = Path(__file__).resolve().parents[2] / "bots"
CONFIG = """
name = "{name}"
seed = "{name}"
bots = ["{bots}/first-c", "{bots}/random-c", "{folder}/fresh", "{folder}/quitter"]
[game]
id = "{game}"
options = {{ {options} }}
[format]
deals = {deals}
[clock]
move_s = 60.0
start_s = 60.0
"""
PER_DEAL = 12  # four bots: six pairs, two seat orders
GAMES = {
    "aliens": ("max_turns = 12", 0.85),
    "captains": ("", 0.05),
    "coasters": ("", 0.05),
    "sheets": ("", 0.05),
}
"""By id: options that make a game short, and its share of the matches."""

WARM_ROUNDS = 3
SPARE_FILES = 2  # a referee may be ending a bot at that moment; a file left by each match would be many more
GROWTH = 1.05  # of the resident set, after the warm rounds ...
GROWTH_KIB = (
    8192  # ... and this much more: engines keep each event they have told once, and there are finitely many
)


@attrs.frozen
class Sample:
    """What this process and its referees hold between two rounds; memory in KiB."""

    matches: int
    scheduler_kib: int
    referee_kib: tuple[int, ...]
    files: tuple[int, ...]
    processes: int

    def told(self) -> str:
        referees = ", ".join(f"{kib / 1024:.1f}" for kib in self.referee_kib)
        return (
            f"{self.matches:>7,} matches   scheduler {self.scheduler_kib / 1024:.1f} MiB   referees {referees} MiB"
            f"   open files {'+'.join(map(str, self.files))}   processes {self.processes}"
        )


def take_sample(pool: RefereePool, matches: int) -> Sample:
    pids = sorted(pool.processes())
    return Sample(
        matches=matches,
        scheduler_kib=host.resident_kib(os.getpid()),
        referee_kib=tuple(map(host.resident_kib, pids)),
        files=(host.descriptors(os.getpid()), *map(host.descriptors, pids)),
        processes=len(descendants(os.getpid())),
    )


def make_bots(folder: Path) -> None:
    """Two relatives of first-c: one that is started anew for each match, and one that leaves at a decision."""
    source = (BOTS / "first-c" / "bot.c").read_text(encoding="utf-8")
    manifest = (BOTS / "first-c" / "bot.toml").read_text(encoding="utf-8").replace("reusable = true", "")
    quits = source.replace("            printf(", "            if (id == 3) return 3; else printf(", 1)
    for name, code in (("fresh", source.replace(',\\"reusable\\":true', "")), ("quitter", quits)):
        (folder / name).mkdir()
        (folder / name / "bot.c").write_text(code, encoding="utf-8")
        (folder / name / "bot.toml").write_text(manifest.replace('"first-c"', f'"{name}"'), encoding="utf-8")


def play_round(folder: Path, number: int, matches: int, pool: RefereePool) -> tuple[int, int]:
    """Play one league of every game; how many matches that were, and in how many a bot left."""
    played = left = 0
    for game, (options, share) in GAMES.items():
        name = f"soak-{number}-{game}"
        path = folder / f"{name}.toml"
        deals = max(1, round(matches * share / PER_DEAL))
        path.write_text(
            CONFIG.format(name=name, bots=BOTS, folder=folder, game=game, options=options, deals=deals),
            encoding="utf-8",
        )
        with open_to_run(load_config(path), folder / "results") as league:
            report = run_league(league, executor=pool, jobs=pool.jobs)
            if not report.complete or report.void:
                raise RuntimeError(f"{name}: {report}")
            played += report.played
            left += sum(any(found.faults) for _, found in league.results())
    return played, left


def complaints(samples: list[Sample]) -> list[str]:
    """What grew: memory since the warm rounds, open files and processes since the first half of all rounds."""
    warm, last = samples[min(WARM_ROUNDS, len(samples) - 1) - 1], samples[-1]
    first = samples[: max(min(WARM_ROUNDS, len(samples) - 1), len(samples) // 2)] or samples
    memory = {"scheduler": (warm.scheduler_kib, last.scheduler_kib)}
    memory |= {
        f"referee {i}": kib for i, kib in enumerate(zip(warm.referee_kib, last.referee_kib, strict=True), 1)
    }
    found = [
        f"memory of {who}: {before} KiB, then {after} KiB"
        for who, (before, after) in memory.items()
        if after > before * GROWTH + GROWTH_KIB
    ]
    files = tuple(map(max, zip(*(sample.files for sample in first), strict=True)))
    if any(after > before + SPARE_FILES for before, after in zip(files, last.files, strict=True)):
        found.append(f"open files: at most {files}, then {last.files}")
    if last.processes > (most := max(sample.processes for sample in first)):
        found.append(f"processes: at most {most}, then {last.processes}")
    return found


def main() -> int:
    """Exit code 0: all stayed flat; 1: something did not, told on standard error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--matches", type=int, default=20_000, help="about so many (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=10, help="leagues of each game (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="referees (default %(default)s)")
    args = parser.parse_args()
    begun = time.monotonic()
    own_counts()  # opens a file for good
    files = host.descriptors(os.getpid())
    samples: list[Sample] = []
    seen: dict[int, int | None] = {}
    matches = left = 0
    with tempfile.TemporaryDirectory(prefix="warpleague-soak-") as name:
        folder = Path(name)
        os.environ.setdefault("WARPLEAGUE_CACHE", str(folder / "cache"))
        make_bots(folder)
        with RefereePool(args.jobs) as pool:
            referees = sorted(pool.processes())
            for number in range(1, args.rounds + 1):
                played, faulty = play_round(folder, number, args.matches // args.rounds, pool)
                matches, left = matches + played, left + faulty
                samples.append(take_sample(pool, matches))
                seen |= {pid: host.began(pid) for pid in descendants(os.getpid())}
                print(samples[-1].told(), flush=True)
            found = complaints(samples)
            if sorted(pool.processes()) != referees:
                found.append("a referee died")
    elapsed_s = time.monotonic() - begun
    # The last word is the kernel's: it ends what dies with the referees.
    deadline = time.monotonic() + 60
    while alive := [pid for pid, began in seen.items() if began is not None and host.began(pid) == began]:
        if time.monotonic() > deadline:
            found += [f"left running: {pid} {host.command(pid)}" for pid in alive]
            break
        time.sleep(0.01)
    # A bundle in use stays open as long as this process lives, however many matches it plays.
    if (now := host.descriptors(os.getpid()) - len(cache.HELD)) > files:
        found.append(f"the scheduler had {files} open files before, {now} after")
    rate = matches / elapsed_s
    print(f"{matches:,} matches ({left:,} with a bot that left) in {elapsed_s:.0f} s, {rate:.0f} a second")
    if not found:
        print("Flat: memory, open files and processes; nothing left running.")
    for complaint in found:
        print(f"NOT FLAT: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
