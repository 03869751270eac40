"""The page of one match: alone, well-formed, shut against everything outside."""

import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from warpleague.cli import main
from warpleague.match.replay import Replay
from warpleague.report.site.match_page import page_alone
from warpleague.report.site.page_frame import SCRIPTS, STYLES, asset, folder
from warpleague.report.wording.match_words import conditions, labels, number, outcome

RECORD = Path("some match's record.jsonl")


def policy(page: Any) -> str:
    (found,) = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    return found


def test_a_page_alone_needs_nothing_else(
    record: bytes, take_apart: Any, leads_outside: Callable[[str], list[str]]
) -> None:
    """It is well-formed, loads no file, names no other place, and its policy allows its own style and script only."""
    data = page_alone(Replay(record), str(RECORD))
    page = take_apart(data)
    assert [link for link in page.links() if not link.startswith("#")] == []
    assert leads_outside(data.decode()) == []
    hashes = {
        kind: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for kind, text in page.raw
        if not re.fullmatch(r"[A-Za-z0-9+/=]+", text)
    }
    assert policy(page).startswith("default-src 'none';")
    assert f"script-src {hashes['script']}; style-src {hashes['style']}" in policy(page)
    assert "unsafe" not in policy(page)
    handlers = [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    styled = [tag for tag, attributes in page.elements if "style" in attributes]
    assert (handlers, styled) == ([], [])


def test_a_page_tells_the_match(record: bytes, take_apart: Any) -> None:
    """Result, conditions, faults and the commands to check it are on the page without any script."""
    replay = Replay(record)
    page = take_apart(page_alone(replay, str(RECORD)))
    summary = replay.summary
    assert summary is not None
    for word in (replay.game.title, summary.digest, replay.header["id"], "noter", "seedsite"):
        assert word in page.text
    assert """warpleague replay verify 'some match'"'"'s record.jsonl'""" in page.text
    data = json.loads(zlib.decompress(b64decode(page.block("replay"))))
    faults = [n for n, frame in enumerate(data["frames"]) if "fault" in frame]
    assert faults
    assert {f"#n={n}" for n in faults} <= set(page.links())


def test_hostile_names_stay_text(play: Callable[..., Any], hostile: str, take_apart: Any) -> None:
    """A name made to break out of the page is shown as it is spelled, with what is not to be seen escaped."""
    record, _ = play("aliens", hostile, "{{ 7 * 7 }}")
    data = page_alone(Replay(record), "x.jsonl")
    page = take_apart(data)
    assert '</script><img src=x onerror="alert(1)">\\x1b[2J\\x202egnp.\\x07 & <b>' in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert b"<img" not in data
    assert b"\x1b" not in data
    assert "\u202e" not in data.decode()


def test_replay_page_writes_one_file(
    record: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes the page beside, or where it is told, and prints where."""
    monkeypatch.chdir(tmp_path)
    Path("kept.jsonl").write_bytes(record)
    assert main(["replay", "page", "kept.jsonl"]) == 0
    assert capsys.readouterr().out == "open kept.html\n"
    assert main(["replay", "page", "kept.jsonl", "-o", "sub/other.html", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "match": "ab" * 10,
        "page": "sub/other.html",
        "bytes": Path("sub/other.html").stat().st_size,
    }
    assert Path("kept.html").read_bytes() == Path("sub/other.html").read_bytes()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda record: record[: len(record) // 2], "cut off"),
        (lambda record: record.replace(b'"type":"act"', b'"type":"akt"', 1), "line"),
        (lambda _: b"", "the file is empty"),
        (lambda _: b"\x00\xff not a record\n", "not JSON"),
    ],
)
def test_a_damaged_record_has_no_page(
    record: bytes,
    damage: Callable[[bytes], bytes],
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, one text that names the file, and nothing is written."""
    (tmp_path / "bad.jsonl").write_bytes(damage(record))
    assert main(["replay", "page", str(tmp_path / "bad.jsonl"), "-o", str(tmp_path / "bad.html")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.jsonl" in err
    assert text in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl"]


def test_every_asset_is_used_and_names_no_other_place(leads_outside: Callable[[str], list[str]]) -> None:
    """Styles and scripts are those that pages load, and none of them leads outside or makes markup of text."""
    names = {name for group in (*STYLES.values(), *SCRIPTS.values()) for name in group}
    assert {path.name for path in (folder() / "assets").iterdir()} == names
    for name in names:
        assert leads_outside(asset(name)) == []
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", asset(name))
        # Only the page on which a person plays talks to anybody: to the server that it comes from.
        assert name in ("play.js", "lesson.js") or "fetch(" not in asset(name)


def test_outcomes_are_told_in_a_sentence() -> None:
    """Who won, or shared the first place, or beat the game."""
    assert outcome(["a", "b"], [1, 2], [3.0, 1.5], None, "done") == "a wins, 3 : 1.5 (done)"
    told = outcome(["a", "b", "c"], [1, 1, 1], [1 / 3] * 3, None, "claim")
    assert told == "a, b and c share the first place with 0.33 (claim)"
    assert outcome(["a", "b"], [2, 1], [1.0, 4.0], None, "done") == "b wins, 4 : 1 (done)"
    same = labels(["x", "y", "x", "x"])
    assert same == ["x #0", "y", "x #2", "x #3"]
    told = outcome(same, [3, 2, 1, 4], [50, 52, 57, 0], None, "done")
    assert told == "x #2 wins with 57; y 52, x #0 50, x #3 0 (done)"
    assert outcome(["a"], [1], [12.0], None, "completed") == "a reaches 12 (completed)"
    assert outcome(["a"], [1], [12.0], 9.0, "x") == "a beats the game, 12 to 9 (x)"
    assert outcome(["a"], [2], [12.0], 19.0, "x") == "a does not beat the game, 12 to 19 (x)"
    assert number(1234.5) == "1,234.5"


def test_conditions_are_told_as_a_league_file_has_them() -> None:
    """Options that are set, limits that there are, strikes if any."""
    told = {"game": "aliens", "rules": 1, "faults": "substitute", "strikes": 2, "level": "none"}
    told["options"] = {"both_ships": True, "boards": {"one": 1, "two": 2}, "none": None}
    found = conditions(told, {"move_s": 0.5, "bank_s": None, "increment_s": 0.1})
    assert found["options"] == "both_ships true, boards of one, two"
    assert found["clock"] == "0.5 s a decision, 0.1 s more each decision"
    assert found["faults"] == "substitute, 2 strikes"
    assert conditions({**told, "strikes": 1}, {})["faults"] == "substitute, 1 strike"
