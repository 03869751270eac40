"""The starter for language models, against a service in this process that answers like one."""

import json
import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.model import NO_SUCH_KEY, Model, serving

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
    assert line["retries"] == 2
    assert line["cost"] == pytest.approx(replies * 300 / 1e6)
    acts = [act for act in record_of(path, capsys) if act["type"] == "act" and "note" in act]
    assert acts[0]["note"] == "[asked again: HTTP 503 Unwell; named no action] ANSWER: 1"
    assert acts[0]["detail"]["usage"] == {
        "cost": 0.0006,
        "input_tokens": 200,
        "output_tokens": 20,
        "retries": 2,
    }
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
        "the model did not answer: HTTP 503 Unwell (4 times)",
        "the model did not answer: HTTP 401 Unwell",
    ]
    assert command(capsys, path, "services")[0]["failures"] == 2


def test_a_reply_that_is_cut_off_or_refused_says_why(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No number of the prose is played for it; the reason of the service is told."""
    cut_off = {"finish_reason": "length", "message": {"content": "I will not play 1. ANSWER: 1"}}
    nothing = {"finish_reason": "length", "message": {"content": None}}
    model.script = [cut_off, "ANSWER: 0", nothing, nothing, nothing, nothing, NO_SUCH_KEY]
    path = league(tmp_path, model, extra="[service]\nask_again = 1")
    command(capsys, path, "run")
    lines = record_of(path, capsys)
    notes = [line["note"] for line in lines if line["type"] == "act" and "note" in line]
    assert notes == ["[asked again: cut off by its token limit] ANSWER: 0"]
    (fault,) = command(capsys, path, "faults")
    assert fault["message"].endswith("the model did not answer: HTTP 400 Not with this model.")
    assert "cut off by its token limit (4 times)" in json.dumps(lines)


def test_only_an_explicit_answer_names_an_action() -> None:
    """A part of something else is no answer: it would play what the model did not name."""
    answered = runpy.run_path(str(ROOT / "bots" / "llm" / "bot.py"))["answered"]
    for text in (
        "ANSWER: 3",
        "answer: **3**",
        "I think 4.\n**ANSWER:** `3`.",
        "3",
        " 3. ",
        "Answer\uff1a 3",
        "ANSWER: action 3",
        "ANSWER: 1\nNo, better:\nANSWER: 3",
        "ANSWER: 3\nIt wins.",
        "<think>ANSWER: 1</think>\nANSWER:\n3",
        "ANSWER: #3",
    ):
        assert answered(text, 5) == 3, text
    for text in (
        "ANSWER: -1",
        "ANSWER: 1,034",
        "ANSWER: 0 or 1",
        "ANSWER: 0-1",
        "ANSWER: 1.0",
        "ANSWER: 0/1",
        "ANSWER: 5",
        "",
        "ANSWER:",
        "ANSWER: action 0 (to 3, 1)",
        "ANSWER: number 0, because 1 loses",
        "I would not play 1.\nFINAL ANSWER: none of these",
        "I play 1",
        "1\nor 2",
        "ANSWER\uff1a 0 \u56e0\u4e3a 1",
        "<think>ANSWER: 1",
        "ANSWER: 1 ANSWER: no",
        "1st",
    ):
        assert answered(text, 5) is None, text


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
