"""The scheduler of a league: what stays from one run to the next."""

import json
from pathlib import Path
from typing import Any

import pytest

from warpleague.arena.scheduler import Restarts, Scheduler, SchedulerSettings
from warpleague.league.play.running import RunReport, StopWhen, run_league
from warpleague.match.spec import SeatLog
from warpleague.runner.bundle.shipped import shipped_root


def test_referees_stay_when_bots_enter(tmp_path: Path) -> None:
    """The next run has the same processes; another way to run has new ones; none is left in the end.

    Where no logs are to be kept, those of earlier runs go.
    """
    path = tmp_path / "open.toml"
    root = shipped_root() / "bots"
    bots = [f'{{ path = "{root / "random-python"}", name = "r{number}" }}' for number in range(3)]

    def write(many: int, more: str = "") -> None:
        path.write_text(
            f'bots = [{", ".join(bots[:many])}]\n[game]\nid = "sheets"\nplayers = 2\n'
            f'[format]\nkind = "round-robin"\ndeals = 1\n[rules]\nlevel = "none"\n[run]\njobs = 1\n{more}'
        )

    seen: list[tuple[list[int], int]] = []
    runs = iter([lambda: write(3), lambda: write(3, "affinity = 'none'\n"), lambda: scheduler.stop()])

    def run(*args: Any, **words: Any) -> RunReport:
        report = run_league(*args, **words)
        seen.append((words["executor"].processes(), report.stored))
        next(runs)()
        return report

    scheduler: Scheduler = Scheduler(SchedulerSettings(path, tmp_path / "results", logs_mb=0), run)
    log = tmp_path / "results" / "open" / "logs" / "r0" / "match.stderr.txt"
    log.parent.mkdir(parents=True)
    log.write_text("of an earlier run")
    write(2)
    assert scheduler.run() == 0
    (first, few), (second, more), (third, all_of_them) = seen
    assert json.dumps([few, more, all_of_them]) == "[2, 6, 6]"
    assert first == second != third
    assert not any(Path(f"/proc/{pid}").exists() for pid in {*first, *third})
    assert not log.exists()


def test_logs_stay_within_their_bound_whatever_becomes_of_a_run(tmp_path: Path) -> None:
    """One folder of logs serves all runs; after a problem, such as a full disk, what is there is made to fit first."""
    scheduler, folder = (
        Scheduler(SchedulerSettings(tmp_path / "open.toml", tmp_path, logs_mb=1)),
        tmp_path / "logs",
    )
    logs = scheduler.log_folder(folder)
    assert logs is not None
    assert scheduler.log_folder(folder) is logs
    text = SeatLog.of("x" * 60_000, "")
    for number in range(40):
        logs.keep(f"m{number}", [f"bot-{number % 3}"], [text])
    assert 800_000 < sum(path.stat().st_size for path in folder.glob("*/*")) <= 1_000_000
    logs.problem = "no space left"
    (folder / "bot-0" / "large.stderr.txt").write_bytes(bytes(3_000_000))
    assert scheduler.log_folder(folder) is not logs
    assert sum(path.stat().st_size for path in folder.glob("*/*")) <= 1_000_000


def test_new_bots_wait_for_each_other() -> None:
    """A change of bots that took 0.3 s until the first match waits 30 s for the next one; another change does not."""
    now_s = [1000.0]
    restarts = Restarts(lambda: now_s[0])

    def changed(*standing: object) -> bool:
        return restarts.due((("one",), "file"), standing)

    assert not changed(("one",), "file")
    assert changed(("one", "two"), "file")  # nothing is known of what it costs
    now_s[0] += 0.3
    restarts.began()
    now_s[0] += 29.9
    assert not changed(("one", "three"), "file")
    assert changed(("one",), "another file")
    now_s[0] += 0.2
    assert changed(("one", "three"), "file")


def test_a_command_hears_when_all_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told once, when the season is over; a run that ends for other bots is not told. What fails is logged."""
    path = tmp_path / "open.toml"
    root = shipped_root() / "bots"
    text = f"""
bots = [
    {{ path = "{root / "random-python"}", name = "a" }}, {{ path = "{root / "random-python"}", name = "b" }},
]
[game]
id = "sheets"
players = 2
[rules]
level = "none"
[run]
jobs = 1
[arena]
on_event = ["sh", "-c", "cat >> heard.jsonl; echo wrong; exit 1"]
"""
    path.write_text(text)
    most = [1, None]

    def run(*args: Any, **words: Any) -> RunReport:
        report = run_league(*args, **(words | {"stop_when": StopWhen(matches=most.pop(0))}))
        if most:
            path.write_text(f"{text}# other bots\n")
        else:
            scheduler.stop()
        return report

    scheduler: Scheduler = Scheduler(SchedulerSettings(path, tmp_path / "results", logs_mb=0), run)
    assert scheduler.run() == 0
    (line,) = map(json.loads, (tmp_path / "heard.jsonl").read_text().splitlines())
    assert (line["event"], line["league"], line["stored"], line["complete"]) == ("season", "open", 2, True)
    logged = map(json.loads, capsys.readouterr().err.splitlines())
    (failed,) = [entry["failed"] for entry in logged if entry["event"] == "on_event"]
    assert failed.endswith("ended with exit code 1: wrong")
