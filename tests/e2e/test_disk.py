"""A league whose disk is full: told in one text, nothing lost, and played on once there is space.

The disk is a limit on the size of files, which anyone may set; `make crash` fills a real one where it can.
"""

import contextlib
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = """
name = "full"
seed = "full"
bots = ["{bots}/first-c", {{ path = "{bots}/first-c", name = "twin" }}]
[game]
id = "aliens"
options = {{ max_turns = 8 }}
[format]
deals = 12
[clock]
move_s = 20.0
"""

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="the bots are written in C"),
    pytest.mark.skipif(sys.platform != "linux", reason="a limit on files is told otherwise elsewhere"),
]


@pytest.fixture
def config(tmp_path: Path, bots: Path) -> Path:
    path = tmp_path / "full.toml"
    path.write_text(CONFIG.format(bots=bots), encoding="utf-8")
    return path


def league(
    verb: str, config: Path, results: Path, *more: str, most_kib: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `warpleague league`, with no file growing beyond `most_kib`."""

    def limit() -> None:
        if most_kib is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_kib * 1024, resource.RLIM_INFINITY))

    return subprocess.run(
        [
            *(sys.executable, "-P", "-m", "warpleague", "league", verb, str(config)),
            *("--results", str(results), *more),
        ],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )


def stored(results: Path) -> dict[str, str]:
    with contextlib.closing(sqlite3.connect(results / "full" / "league.sqlite")) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = dict(store.execute("SELECT id, digest FROM match JOIN record USING (id)"))
        assert store.execute("SELECT count(*) FROM match").fetchone() == (len(found),)
    return found


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The text of a command that was refused without a traceback."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("warpleague: ") == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_league_goes_on_when_its_disk_has_space_again(config: Path, tmp_path: Path) -> None:
    """A run that cannot store its results ends with exit code 2 and a way on; resumed, it plays the rest.

    What was begun when the disk was full has other dice then, so the league is whole, but not the same.
    """
    whole, full = tmp_path / "whole", tmp_path / "full-disk"
    assert league("run", config, whole, "--quiet").returncode == 0

    # Results are stored in groups, and on a quick machine all that is left may be one group: a part is stored before.
    assert league("run", config, full, "--quiet", "--matches", "8").returncode == 0
    size_kib = (full / "full" / "league.sqlite").stat().st_size // 1024
    text = told(league("run", config, full, "--quiet", most_kib=size_kib + 8))
    assert "league.sqlite: cannot be used: " in text
    assert "what was stored is safe" in text
    before = stored(full)
    assert 8 <= len(before) < 24
    assert before.items() <= stored(whole).items()
    # Reading needs no more than the 32 KiB that SQLite takes for its index of a log that could not be emptied.
    assert league("standings", config, full, most_kib=32).returncode == 0

    assert league("run", config, full, "--quiet").returncode == 0
    after = stored(full)
    assert before.items() <= after.items()
    assert after.keys() == stored(whole).keys()
    assert league("verify", config, full, "--json").returncode == 0


@pytest.mark.parametrize("most_kib", [0, 36])
def test_a_disk_without_any_space_is_told(config: Path, tmp_path: Path, most_kib: int) -> None:
    """Where not even the store can be made, the command says which file cannot be written; later it can."""
    text = told(league("run", config, tmp_path / "results", "--quiet", most_kib=most_kib))
    assert str(tmp_path / "results" / "full") in text
    assert league("status", config, tmp_path / "results").returncode in (0, 2)
