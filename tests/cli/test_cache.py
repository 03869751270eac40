"""`warpleague cache`: what it lists, what it removes, and what it never does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpleague.runner.bundle.bundle import find_bundle, prepare
from warpleague.runner.bundle.cache import HELD, LockedBundles, cached_bundles, remove_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import MakeBot, Run

HOLDER = """
import sys
from pathlib import Path
from warpleague.runner.bundle.bundle import prepare
print(prepare(Path(sys.argv[1])).cwd, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own, and a process that uses no bundle yet."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    HELD.release()


def test_lists_what_is_there(run: Run, make_bot: MakeBot, own: Path) -> None:
    """Each bot with its name, version, digest, size and use; an empty cache is none to complain of."""
    assert run("cache").out == f"{own}: 0 bots, 0 kB\n"
    one, two = prepare(make_bot("one")), prepare(make_bot("two", "x = 1"))
    found = run("cache", "--json").json
    assert found["folder"] == str(own)
    assert {bot["name"]: bot["digest"] for bot in found["bots"]} == {
        "one": one.digest[:32],
        "two": two.digest[:32],
    }
    assert all(bot["in_use"] and bot["bytes"] > 0 and bot["version"] == "1" for bot in found["bots"])
    told = run("cache", "list").out
    assert one.digest[:12] in told
    assert "2 bots" in told.splitlines()[-1]
    assert run("cache", "list", "--json").json == run("cache", "--json", "list").json


def test_removes_what_is_named(run: Run, make_bot: MakeBot) -> None:
    """By name, by the beginning of a digest, by age, or all."""
    one, two, three = (prepare(make_bot(name)) for name in ("one", "two", "three"))
    HELD.release()
    old = time.time() - 3 * 86_400
    os.utime(three.cwd, (old, old))
    assert [bot["name"] for bot in run("cache", "clean", "--older-than", 2, "--json").json["removed"]] == [
        "three"
    ]
    assert run("cache", "clean", "one").out.startswith("removed 1 bot, ")
    assert [entry.name for entry in cached_bundles()] == ["two"]
    assert run("cache", "clean", two.digest[:8]).code == 0
    assert cached_bundles() == []
    assert find_bundle(one.digest) is None
    prepare(make_bot("four"))
    HELD.release()
    assert run("cache", "clean", "--all").code == 0
    assert cached_bundles() == []


def test_removes_nothing_by_mistake(run: Run, make_bot: MakeBot) -> None:
    """Without a word on what to remove, or with a wrong one, nothing is removed."""
    prepare(make_bot("one"))
    HELD.release()
    for arguments, words in (
        ((), "say what to remove"),
        (("on",), "did you mean 'one'?"),
        (("one", "--all"), "not both"),
    ):
        done = run("cache", "clean", *arguments)
        assert (done.code, words in done.err, len(cached_bundles())) == (2, True, 1)


def test_keeps_what_another_process_uses(run: Run, make_bot: MakeBot) -> None:
    """As long as a process that has prepared a bot lives, its bundle stays; then it can go."""
    bot = make_bot("one")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(bot)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        folder = Path(holder.stdout.readline().strip())
        done = run("cache", "clean", "--all")
        assert done.code == 1
        assert "kept one" in done.out
        assert (folder / "bot.toml").exists()
        holder.kill()
        holder.wait()
    assert run("cache", "clean", "--all").code == 0
    assert not folder.exists()


def test_many_bundles_are_held_with_few_descriptors(make_bot: MakeBot) -> None:
    """Beyond some number the folder of all of them is locked instead: nothing is removed then."""
    bundles = [prepare(make_bot(name)) for name in ("one", "two", "three")]
    HELD.release()
    held = LockedBundles(most=1)
    assert all(held.hold(Path(bundle.cwd)) for bundle in bundles)
    assert len(held) == 2
    assert [remove_bundle(entry.path) for entry in cached_bundles()] == [False] * 3
    assert all(Path(bundle.cwd).is_dir() for bundle in bundles)
    held.release()


def test_what_is_removed_while_it_is_prepared_is_made_again(make_bot: MakeBot) -> None:
    """Whoever prepares a bot while another removes it has a whole one in the end."""
    bot = make_bot("one")
    with ThreadPoolExecutor(1) as pool:
        for _ in range(20):
            HELD.release()
            removing = pool.submit(lambda: [remove_bundle(entry.path) for entry in cached_bundles()])
            bundle = prepare(bot)
            removing.result()
            assert sorted(os.listdir(bundle.cwd)) == ["bot.py", "bot.toml"]


def test_a_bundle_that_somebody_removed_by_hand_is_made_again(make_bot: MakeBot) -> None:
    """A lock on a folder that is gone holds nothing."""
    bot = make_bot("one")
    folder = Path(prepare(bot).cwd)
    folder.rename(folder.with_name("elsewhere"))
    assert not HELD.hold(folder)
    assert (Path(prepare(bot).cwd) / "bot.py").exists()


def test_what_a_killed_removal_left_goes_with_the_next(run: Run, make_bot: MakeBot) -> None:
    """Half a bundle is never found, and does not stay."""
    folder = Path(prepare(make_bot("one")).cwd)
    left = folder.rename(folder.with_name(folder.name + ".gone"))
    assert cached_bundles() == []
    assert run("cache", "clean", "--all").code == 0
    assert not left.exists()
