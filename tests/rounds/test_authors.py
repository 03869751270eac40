"""The authors that come with Warp League: the scripts of the demo, and the one that asks a language model."""

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.model import Model, serving
from tests.rounds.conftest import BOT, ROOT, Run, place, write_rounds

from warpleague.errors import BadInput
from warpleague.runner.doctor import check_level

KEY = "sk-very-s3cret"


@pytest.fixture
def model() -> Iterator[Model]:
    """In round 1 its first program does not run, its second one does; in round 2 it answers without a program."""
    better = f"Of course:\n```python\n{BOT.replace('CHOICE = 0', 'CHOICE = 1')}```\n"
    with serving("```python\nno program\n```", better, "I do not know.", "Nor now.", tokens=100) as server:
        yield server


def test_a_language_model_writes_the_bot_anew(
    run: Run, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the task and what the check finds, its program plays, its tokens count; its key is in no file."""
    try:
        level = check_level("sandbox").level
    except BadInput:
        level = "limits"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shutil.copy(ROOT / "rounds" / "agents" / "model.py", tmp_path / "model.py")
    address = f"127.0.0.1:{model.server_port}"
    own = f'network = ["{address}"]\nvariables = ["OPENAI_API_KEY"]'
    path = write_rounds(tmp_path, {"ann": "true", "anchor": ""}, level=level, ann=own)
    words = f'["python3", "./model.py", "http://{address}/v1", "small"]'
    path.write_text(path.read_text().replace('["./ann.sh"]', words))
    done = run(path, "--json", "--quiet")
    assert done.code == 0, done.err
    first, second = (line for line in done.json["curves"] if line["author"] == "ann")
    output = (place(tmp_path) / "authors" / "ann" / "output" / "01.txt").read_text()
    assert first["problem"] == "", output
    assert (first["version"], second["version"]) == ("ann.1", "ann.1"), output
    assert (first["input_tokens"], first["output_tokens"]) == (2000, 200)
    assert "# Your task" in model.asked[0]["messages"][0]["content"]
    assert "SyntaxError" in model.asked[1]["messages"][-1]["content"]
    assert '"version": "ann.1"' in model.asked[2]["messages"][0]["content"]
    assert model.keys == {f"Bearer {KEY}"}
    for file in place(tmp_path).rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_the_authors_of_the_demo(run: Run, tmp_path: Path) -> None:
    """One improves its bot in each round, one breaks it in round 2 and repairs it, one never changes it.

    All of it comes out: curves, ratings, what authors are told, report and tables; and it holds.
    """
    for name in ("rounds", "bots/aliens-greedy", "bots/random-python"):
        shutil.copytree(ROOT / name, tmp_path / name)
    path = tmp_path / "rounds" / "demo.toml"
    short = 'id = "aliens"\noptions = { max_turns = 12 }'
    path.write_text(path.read_text().replace("deals = 6", "deals = 1").replace('id = "aliens"', short))
    done = run(path, "--json", "--quiet")
    assert done.code == 0, done.err
    data = done.json
    curves = {
        author: [line for line in data["curves"] if line["author"] == author]
        for author in ("steps", "breaks", "idle")
    }
    versions = {author: [line["version"] for line in curve] for author, curve in curves.items()}
    assert versions == {
        "steps": ["steps.1", "steps.2", "steps.3"],
        "breaks": ["breaks.1", "breaks.1", "breaks.3"],
        "idle": ["idle.0"] * 3,
    }
    breaks = curves["breaks"]
    assert [bool(line["problem"]) for line in breaks] == [False, True, False]
    assert [line["helped"] is not None for line in breaks] == [True, False, True]
    assert [line["ready"] for line in breaks] == [True, False, True]
    assert breaks[1]["findings"] == ["fault-startup"]
    assert curves["steps"][1]["helped"]["deals"] == 1
    assert curves["steps"][1]["lines_added"] == 1
    assert {line["begun"] for line in data["curves"]} == {1}
    rated = {line["version"]: line["rating"] for line in data["versions"]}
    assert rated["random"] == 1500  # the anchor
    assert rated["steps.3"] > rated["idle.0"]  # what it began with
    # The three begin with one program, which plays under one name, and has one rating.
    same = {line["version"]: line["same_as"] for line in data["versions"] if line["same_as"]}
    assert same == {"breaks.0": "steps.0", "idle.0": "steps.0"}
    assert rated["breaks.0"] == rated["idle.0"] == rated["steps.0"]
    league = tomllib.loads((tmp_path / "results/demo/leagues/round-01.toml").read_text())
    assert {bot["name"] for bot in league["bots"]} == {"steps.1", "breaks.1", "idle.0", "random"}
    assert curves["steps"][0]["helped"]["deals"] == 1  # against idle.0, which is steps.0
    assert (data["comparisons"], data["better_or_worse_by_chance"]) == (0, 0.0)  # one deal tells nothing
    assert [line["commitment"] != line["secret"] for line in data["per_round"]] == [True] * 3

    # What is over is not done again, and what was stored holds.
    assert run(path, "--json", "--quiet").json == data
    assert run("results", path, "--json").json == data
    assert "steps.3" in run("results", path).out
    verified = run("verify", path, "--json")
    assert (verified.code, verified.json["problems"]) == (0, [])
    assert verified.json["versions"] == len(rated) - 1  # without the anchor
    folder = tmp_path / "results" / "demo"
    told = folder / "authors" / "breaks" / "rounds"
    assert json.loads((told / "02" / "check.json").read_text())["ready"] is False
    assert (told / "01" / "output.txt").is_file()
    records = list((told / "01" / "records").iterdir())
    assert records
    assert all("breaks.1" in record.name for record in records)
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert "Ratings over the rounds" in page
    assert "breaks.3" in page
    (versions_file, *_) = run("tables", path, "--json").json
    assert "steps.3" in Path(versions_file).read_text("utf-8")
    import pyarrow.parquet as pq  # it takes a sixth of a second

    (_, curves_file, _) = run("tables", path, "--json", "--format", "parquet").json
    rows = pq.read_table(curves_file).to_pylist()
    assert [row["version"] for row in rows if row["author"] == "breaks"] == versions["breaks"]
    first, second = (
        (row["helped_verdict"], row["share_low"]) for row in rows if row["version"] == "breaks.1"
    )
    assert first == (breaks[0]["helped"]["verdict"], breaks[0]["share"]["low"])
    assert second[0] is None
    ratings = {line["version"]: line["rating"] for line in data["versions"]}
    gains = {line["author"]: line["gain"] for line in data["authors"]}
    assert gains["steps"] == pytest.approx(ratings["steps.3"] - ratings["steps.0"], abs=0.01)
    assert gains["idle"] is None
    ahead = {(line["author"], line["other"]): line["elo"] for line in data["differences"]}
    assert ahead["steps", "idle"] == pytest.approx(ratings["steps.3"] - ratings["idle.0"], abs=0.01)
    out = run("results", path).out
    assert "not ready" in out
    assert "aliens for 2 players (max_turns = 12" in out
