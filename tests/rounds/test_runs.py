"""Rounds with real authors, bots and processes: edit, check and play; and authors that do harm."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.rounds.conftest import Make, Run, place, write_rounds

from warpleague.runner.doctor import with_token

BETTER = 'sed -i "s/^CHOICE = .*/CHOICE = $WARPLEAGUE_ROUND/" bot/bot.py'
BREAKS = f"""
case $WARPLEAGUE_ROUND in
2) echo 'no python' >>bot/bot.py ;;
*) sed -i '/no python/d' bot/bot.py; {BETTER} ;;
esac
"""
IDLE = "echo nothing to do"


def lines(data: dict[str, Any], author: str) -> list[dict[str, Any]]:
    return [line for line in data["curves"] if line["author"] == author]


def test_a_run_goes_on_and_verify_finds_what_was_changed(run: Run, make: Make, tmp_path: Path) -> None:
    """A version, a secret or a field that was changed does not hold; more rounds may follow, but not other ones.

    All ratings refer to the bot of a fixed author, so it must stay what it was in round 1.
    """
    authors = {"ann": BETTER, "bob": ""}
    path = make(authors, rounds=1)
    assert run(path, "--quiet").code == 0
    file = place(tmp_path) / "state.json"
    whole = file.read_text()

    def told(*changes: Callable[[dict[str, Any]], object]) -> str:
        data = json.loads(whole)
        for change in changes:
            change(data)
        file.write_text(json.dumps(data))
        done = run("verify", path)
        assert done.code == 1
        return done.out

    out = told(
        lambda data: data["versions"][1].update(digest="0" * 64),
        lambda data: data["rounds"][0].update(commitment="0" * 64),
    )
    assert "its commit has another content" in out
    assert "its secret is not the one" in out
    assert "its field is not the one" in told(lambda data: data["rounds"][0].update(field=["ann.0", "bob"]))
    file.write_text(whole)
    more = run(make(authors, rounds=2), "--quiet", "--json")
    assert (more.code, more.json["over"]) == (0, 2)
    done = run(make(authors, rounds=2, more="previous = 1"), "--quiet")
    assert done.code == 2
    assert "began with other values of previous" in done.err
    path = make(authors, rounds=3)
    (path.parent / "start" / "bot.py").write_text("CHOICE = 7\n")
    done = run(path, "--quiet")
    assert done.code == 2
    assert "the bot of bob has changed since round 1" in done.err


def test_who_fails_may_have_to_forfeit(run: Run, make: Make) -> None:
    """With on_fail = "forfeit" a bot that is not ready does not play, and its earlier versions do."""
    path = make({"ann": BREAKS, "bob": BETTER}, more='on_fail = "forfeit"')
    data = run(path, "--json", "--quiet").json
    assert [line["version"] for line in lines(data, "ann")] == ["ann.1", None]
    assert [line["won"] for line in data["curves"] if line["round"] == 2] == [False, True]


def test_copies_of_one_program_are_equal(run: Run, make: Make) -> None:
    """Two authors that change nothing have one program: they share the round, and no match of it counts."""
    path = make({"ann": IDLE, "bob": IDLE}, rounds=1)
    data = run(path, "--json", "--quiet").json
    assert [line["rounds_shared"] for line in data["authors"]] == [1, 1]
    assert [(line["played"], line["rating"]) for line in data["versions"]] == [(0, None)] * 2
    (played,) = data["per_round"]
    assert (played["matches"], played["copies"]) == (0, 2)
    assert played["first_seat"]["low"] <= 0.5 <= played["first_seat"]["high"]
    assert "first seat" in run("results", path).out
    assert run("verify", path).code == 0


def test_a_start_that_is_not_ready_is_refused(run: Run, make: Make) -> None:
    """Nothing is played before every author starts with a bot that passes the check."""
    path = make({"ann": IDLE, "bob": ""})
    (path.parent / "start" / "bot.py").write_text("no python at all\n")
    done = run(path, "--quiet")
    assert done.code == 2
    assert "start with a bot that is not ready" in done.err


def test_what_authors_see_and_keep(run: Run, make: Make, tmp_path: Path) -> None:
    """With shows = "sources" the bots of the others are in the workspace; the task and the docs always are.

    A file of the author's own is there in the next round; usage.json is counted and taken away.
    """
    look = "ls rounds/01/sources/bob/bot.py"
    script = f"""
    echo "$WARPLEAGUE_AUTHOR $WARPLEAGUE_ROUND" >>notes.txt
    test ! -e usage.json
    echo '{{"input_tokens": 10, "output_tokens": 2, "cost": 0.5, "effort": "high"}}' >usage.json
    git log --oneline
    test -s TASK.md; test -s docs/brief.md; test -d engine/warpleague
    [ "$WARPLEAGUE_ROUND" = 1 ] || {look}
    """
    path = make(
        {"ann": script, "bob": IDLE}, more='shows = "sources"\nprevious = 0', ann='model = "<b>m</b>"'
    )
    data = run(path, "--json", "--quiet").json
    assert [line["problem"] for line in lines(data, "ann")] == ["", ""]
    author = place(tmp_path) / "authors" / "ann"
    assert "sources/bob/bot.py" in (author / "output" / "02.txt").read_text()
    assert [line["input_tokens"] for line in lines(data, "ann")] == [10, 10]
    ann, bob = data["authors"]
    assert (ann["cost"], ann["told"], ann["models"], ann["efforts"]) == (1.0, 2, ["<b>m</b>"], ["high"])
    assert (bob["cost"], bob["input_tokens"], bob["models"]) == (None, None, [])
    page = (place(tmp_path) / "report" / "index.html").read_text("utf-8")
    assert "<b>m</b>" not in page
    assert "not told" in page
    (transcript,) = lines(data, "ann")[1]["transcripts"]
    assert f'href="../{transcript}"' in page
    assert (place(tmp_path) / transcript).is_file()
    assert (author / "workspace" / "notes.txt").read_text() == "ann 1\nann 2\n"


HARM = {
    "hangs": "sleep 1000",
    "floods": "yes | head -c 50000000",
    "forks": "for _ in $(seq 200); do sleep 1000 & done; {bomb} wait",
    "leaves-a-daemon": "setsid sh -c 'sleep 1000; :' {mark} </dev/null >/dev/null 2>&1 &",
    "removes-all": 'rm -rf -- * .git; cd /; rm -rf -- "$OLDPWD"',
    "plants-hooks": """
        printf '#!/bin/sh\\ntouch {mark}\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
        git config core.fsmonitor 'touch {mark}'
        rm -rf bot TASK.md; ln -s /etc bot; ln -s /etc/passwd TASK.md; mkfifo usage.json
    """,
    "nests-folders": """python3 -c 'import os
for top in (os.environ["HOME"], os.getcwd() + "/notes"):
    os.makedirs(top, exist_ok=True), os.chdir(top)
    for _ in range(1100): os.mkdir("deep"), os.chdir("deep")'
    """,
    "fills-the-disk": "head -c 40000000 /dev/zero >bot/zero",
}
"""What authors do that mean harm."""
TIGHT = "limits = { time_s = 2, folder_mb = 16, output_mb = 1, processes = 40 }"


@pytest.mark.parametrize("level", ["limits", "sandbox"])
def test_harm_is_done_to_nobody(run: Run, tmp_path: Path, level: str, request: pytest.FixtureRequest) -> None:
    """Authors that hang, flood, fork or leave their workspaces play on with what they had; the other one improves.

    With on_error = "keep" the bot of an edit that fails plays, and its error is told; others lose their work.
    """
    if level == "sandbox":
        request.getfixturevalue("sandboxed")
    mark = tmp_path / "hook-ran"
    # At `limits` processes are counted now and then, and thousands would disturb all other programs meanwhile.
    bomb = "bomb() { bomb | bomb & }; bomb;" if level == "sandbox" else ""
    scripts = {
        name: script.replace("{mark}", str(mark)).replace("{bomb}", bomb) for name, script in HARM.items()
    }
    fails = f"{BETTER}; exit 3"
    own = {**dict.fromkeys(HARM, TIGHT), "kept": 'on_error = "keep"'}
    authors = {**scripts, "good": BETTER, "kept": fails, "dropped": fails}
    path = write_rounds(tmp_path, authors, rounds=1, level=level, **own)
    done = run(path, "--json", "--quiet")
    assert done.code == 0, done.err
    data = done.json
    for name in HARM:
        (line,) = lines(data, name)
        assert line["version"] == f"{name}.0"
    assert "took more than" in lines(data, "hangs")[0]["problem"]
    assert lines(data, "fills-the-disk")[0]["problem"]
    assert lines(data, "nests-folders")[0]["problem"].endswith("made folders nested more than 100 deep")
    nests = place(tmp_path) / "authors" / "nests-folders"
    assert not (nests / "scratch").exists()
    assert not (nests / "workspace" / "notes").exists()
    for name, version, problem in (
        ("good", 1, ""),
        ("kept", 1, "edit kept: failed (exit status 3)"),
        ("dropped", 0, "edit dropped: failed (exit status 3)"),
    ):
        (line,) = lines(data, name)
        assert (line["version"], line["problem"]) == (f"{name}.{version}", problem)
    assert not mark.exists()
    flood = place(tmp_path) / "authors" / "floods" / "output" / "01.txt"
    assert flood.stat().st_size < 2 << 20
    verified = run("verify", path, "--json")
    assert (verified.code, verified.json["problems"]) == (0, [])
    assert not with_token(str(tmp_path))
