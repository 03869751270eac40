"""The starter for language models, against a service in this process that answers like one."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.model import Model, serving

from warpleague.cli import main

ROOT = Path(__file__).parents[2]
KEY = "sk-very-s3cret"


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as server:
        yield server


def league(folder: Path, model: Model, level: str = "limits", extra: str = "", move_s: float = 60.0) -> Path:
    """A league of the starter and a random bot, in a game of a few decisions."""
    bot = folder / "llm"
    shutil.copytree(ROOT / "bots" / "llm", bot)
    address = f"127.0.0.1:{model.server_port}"
    text = (bot / "model.toml").read_text("utf-8").replace("127.0.0.1:8080", address)
    text = re.sub(r"pause_s = 1\.0", "pause_s = 0.001", text)
    text = text.replace("input = 0.0", "input = 2.0").replace("output = 0.0", "output = 10.0")
    (bot / "model.toml").write_text(text, "utf-8")
    (folder / "key").write_text(KEY + "\n", "utf-8")
    (folder / "key").chmod(0o600)
    network = f', network = ["{address}"]' if level == "sandbox" else ""
    path = folder / "models.toml"
    path.write_text(
        f'bots = [{{ path = "llm", key_file = "key"{network} }}, "{ROOT / "bots" / "random-python"}"]\n'
        '[game]\nid = "aliens"\noptions = { max_turns = 2 }\n'
        f'[format]\nseats = "fixed"\n[clock]\nmove_s = {move_s}\n[rules]\nlevel = "{level}"\n{extra}\n',
        "utf-8",
    )
    return path


def command(capsys: pytest.CaptureFixture[str], path: Path, action: str) -> Any:
    quiet = ["--quiet"] if action == "run" else []
    main(["league", action, str(path), "--results", str(path.parent / "results"), "--json", *quiet])
    return json.loads(capsys.readouterr().out)


def record_of(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    (file,) = command(capsys, path, "export")
    text = Path(file).read_text("utf-8")
    assert KEY not in text
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.usefixtures("sandboxed")
def test_a_model_plays_and_its_tokens_are_summed(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reads the question in words, answers by numbers, is told of a useless reply, and its key stays with it."""
    model.script = [503, "I do not know.", "ANSWER: 1"]
    path = league(tmp_path, model, "sandbox")
    run = command(capsys, path, "run")
    assert (run["played"], run["standings"][0]["faults"] + run["standings"][1]["faults"]) == (1, 0)
    assert model.keys == {f"Bearer {KEY}"}
    first = model.asked[0]["messages"]
    assert "The position:" in first[1]["content"]
    assert "That names no action" in model.asked[2]["messages"][-1]["content"]
    (line,) = command(capsys, path, "services")
    replies = len(model.asked) - 1
    assert (line["bot"], line["input_tokens"], line["output_tokens"]) == ("llm", 100 * replies, 10 * replies)
    assert line["cost"] == pytest.approx(replies * 300 / 1e6)
    acts = [act for act in record_of(path, capsys) if act["type"] == "act" and "note" in act]
    assert acts[0]["note"] == "ANSWER: 1"
    assert acts[0]["detail"]["usage"] == {"cost": 0.0006, "input_tokens": 200, "output_tokens": 20}
    for file in (tmp_path / "results").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_service_that_fails_is_told_and_asked_again(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After its attempts the bot says so, the league asks it again, and nothing is charged."""
    words = "I think. " * 400 + "ANSWER: 1"
    model.script = [503, 503, 503, 503, 401, words]
    path = league(tmp_path, model, extra="[service]\nask_again = 2\nnote_bytes = 4096")
    run = command(capsys, path, "run")
    assert [line["faults"] for line in run["standings"]] == [0, 0]
    header, *lines = record_of(path, capsys)
    act = next(line for line in lines if "failed" in line.get("detail", ()))
    assert (header["note_bytes"], act["note"]) == (4096, words)
    assert [told["message"] for told in act["detail"]["failed"]] == [
        "the model did not answer: HTTP 503 Unwell",
        "the model did not answer: HTTP 401 Unwell",
    ]
    assert command(capsys, path, "services")[0]["failures"] == 2


def test_a_silent_service_costs_no_timeout(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bot keeps to its own clock: it says that the service failed before the referee's time is up."""
    model.script = [0, 0]
    path = league(tmp_path, model, move_s=1.0)
    run = command(capsys, path, "run")
    assert sum(line["faults"] for line in run["standings"]) == 1
    (fault,) = command(capsys, path, "faults")
    assert (fault["bot"], fault["kind"]) == ("llm", "service")
    assert "no reply within" in fault["message"]


def test_a_key_in_the_folder_of_a_bot_is_refused(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be copied and handed on with the bot."""
    path = league(tmp_path, model)
    shutil.move(tmp_path / "key", tmp_path / "llm" / "key")
    path.write_text(path.read_text("utf-8").replace('key_file = "key"', 'key_file = "llm/key"'), "utf-8")
    assert main(["league", "run", str(path), "--results", str(tmp_path / "results")]) == 2
    assert "is in the folder of a bot" in capsys.readouterr().err
