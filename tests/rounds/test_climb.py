"""Climbs of programs up the published levels, replicates of whole runs, and their means."""

import json
from pathlib import Path

import pytest
from tests.league.inline import InlinePool
from tests.rounds.conftest import Make, Run, place

from warpleague.cli import Tools, main
from warpleague.extras.rounds.climb import climb_problems
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.replicates import Spread
from warpleague.extras.rounds.run import begun_run
from warpleague.league.ratings.statistics import t95
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config

SHEETS = """
rounds = 1
deals = 1
previous = 0
{more}
[game]
id = "sheets"
[climb]
within = 1000
max_matches = 4
[clock]
move_s = 60
start_s = 60
[rules]
level = "limits"
[run]
jobs = 2
affinity = "none"
[[authors]]
name = "ann"
start = "bots/random-python"
edit = ["./ann.sh"]
[[authors]]
name = "fix"
start = "bots/random-python"
fixed = true
"""
EDIT = """#!/bin/sh
set -eu
echo '{"step": 1}' >transcript.jsonl
echo "# $WARPLEAGUE_REPLICATE" >>bot/bot.py
"""


@pytest.fixture
def climb(tmp_path: Path) -> Path:
    """A file of one round, in which every program climbs."""
    (tmp_path / "ann.sh").write_text(EDIT)
    (tmp_path / "ann.sh").chmod(0o755)
    file = tmp_path / "small.toml"
    file.write_text(SHEETS.format(more=""))
    return file


def test_each_new_program_climbs_once(
    run: Run, climb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot at the start and the new one have a place; it is verified, published, and told to the author.

    A climb of another program, or with other dice than those of its round, does not hold.
    """
    monkeypatch.chdir(tmp_path)
    data = run(climb, "--quiet", "--json").json
    climbs = {line["version"]: line["climb"] for line in data["versions"]}
    assert climbs["fix"] == climbs["ann.0"]  # the same program
    for version in ("ann.0", "ann.1"):
        assert 0 < climbs[version]["matches"] <= 4
        assert (climbs[version]["levels"], climbs[version]["faults"]) == (5, 0)
        assert climbs[version]["levels_beaten"] == 0  # it plays at random
    (ann,) = data["curves"]
    assert ann["climb"] == climbs["ann.1"]
    assert ann["transcripts"] == [f"authors/ann/output/01.{name}" for name in ("txt", "transcript.jsonl")]
    assert (place(tmp_path) / ann["transcripts"][1]).read_text() == '{"step": 1}\n'
    own = json.loads((place(tmp_path) / "authors" / "ann" / "rounds" / "01" / "own.json").read_text())
    assert own["climb"] == ann["climb"]
    assert "0 of 5" in run("results", climb).out
    assert run("verify", climb).code == 0
    assert main(["publish", str(climb)]) == 0
    assert main(["verify", "small.tar"], Tools(new_pool=InlinePool)) == 0
    config = load_rounds(climb)
    run_folder, state = begun_run(config, tmp_path / "results")
    with open_to_read(load_config(run_folder.climb("ann.1")), run_folder.leagues) as league:
        found = list(climb_problems(config, state, "ann.0", league, league))
    assert found == [
        "ann.0 climbed with another content than the version has",
        "the dice of the climb of ann.0 do not follow from the secret of its round",
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('id = "sheets"', 'id = "aliens"\noptions = { max_turns = 2 }', "climb: levels were measured with"),
        ("within = 1000", "within = 0", "climb.within"),
    ],
)
def test_what_cannot_climb_is_refused(run: Run, climb: Path, old: str, new: str, words: str) -> None:
    """Only tables and options at which levels were measured."""
    climb.write_text(climb.read_text().replace(old, new))
    done = run(climb)
    assert (done.code, words in done.err) == (2, True)


def test_replicates_are_runs_with_other_dice(
    run: Run, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own workspaces and its own dice; more may follow; the page and the JSON have the means."""
    monkeypatch.chdir(tmp_path)
    authors = {"ann": 'sed -i "s/^CHOICE = .*/CHOICE = $WARPLEAGUE_REPLICATE/" bot/bot.py', "fix": ""}
    assert run(make(authors, rounds=1), "--quiet").code == 0
    path = make(authors, rounds=1, more="previous = 0\nreplicates = 2")
    one = run(path, "--quiet", "--json", "--replicate", "2").json
    assert one["name"] == "small/replicate-2"
    data = run("results", path, "--json").json
    assert (data["replicates"], data["over"], data["runs"][1]) == (2, 2, one)
    assert len({run["per_round"][0]["secret"] for run in data["runs"]}) == 2
    (mean,) = data["curves"]
    shares = [run["curves"][0]["share"]["mean"] for run in data["runs"]]
    assert mean["share"]["mean"] == pytest.approx(sum(shares) / 2)
    assert (mean["share"]["runs"], mean["levels_beaten"]) == (2, None)
    folder = place(tmp_path)
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert 'href="replicate-1.html"' in page
    assert 'href="../replicate-2/report/index.html"' in page
    assert run("results", path, "--replicate", "3").code == 2
    assert main(["publish", str(path)]) == 0
    assert main(["verify", "small.tar"], Tools(new_pool=InlinePool)) == 0
    bot = folder / "replicate-2" / "authors" / "ann" / "history.git"
    (bot / "HEAD").write_text("no repository")
    done = run("verify", path, "--json")
    assert (done.code, done.json["rounds"], done.json["records_hold"]) == (1, 2, done.json["records"])
    assert done.json["problems"][0].startswith("replicate 2: ann: the repository")


def test_a_mean_over_runs_has_the_interval_of_runs() -> None:
    """Student's t over runs; none of one run; a bound where all have the same share; missing values are left out."""
    assert Spread.of([]) is None
    assert Spread.of([None]) is None
    assert Spread.of([7.0, None]) == Spread(mean=7.0, low=None, high=None, runs=1)
    some = Spread.of([1500.0, 1520.0, 1540.0])
    assert some is not None
    assert some.high == pytest.approx(1520.0 + t95(2) * 20.0 / 3**0.5, abs=1e-4)
    assert some.low == pytest.approx(3040.0 - some.high)
    alike = Spread.of([3.0] * 4, 5)
    assert alike is not None
    assert alike.low is not None
    assert alike.high is not None
    assert 0.0 <= alike.low < alike.mean == 3.0 < alike.high <= 5.0
