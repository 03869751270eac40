"""The picture of a position: one SVG file that needs nothing else, for every game."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from warpleague.cli import main
from warpleague.match.replay import Replay
from warpleague.report.site.picture import picture
from warpleague.report.wording.match_words import labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def texts(data: bytes) -> list[str]:
    """All texts of a picture that are shown, in their order."""
    return ["".join(made.itertext()) for made in ET.fromstring(data).iter(f"{SVG}text")]


def classes(data: bytes) -> list[str]:
    """The classes of all elements of a picture."""
    return [name for made in ET.fromstring(data).iter() for name in made.get("class", "").split()]


def test_a_picture_has_the_scores_and_the_board(
    record: bytes, leads_outside: Callable[[str], list[str]]
) -> None:
    """Every position is well-formed SVG with a line for each bot, each cell, piece and link, and no other address."""
    replay = Replay(record)
    names = labels([seat["bot"][:20] for seat in replay.header["seats"]])
    scenes = [replay.game.scene(state, None) for state in (replay.first, *(step.state for step in replay))]
    for scene in scenes[:: max(1, len(scenes) // 12)]:
        data = picture(scene, names)
        assert leads_outside(data.decode().replace("http://www.w3.org/2000/svg", "")) == []
        for seat, line in enumerate(texts(data)[: len(names)]):
            assert line.startswith(names[seat])
            assert scene.seat_lines == () or line.endswith(scene.seat_lines[seat])
        made = classes(data)
        assert made.count("cell") == len(scene.cells)
        assert made.count("piece") == len(scene.pieces)
        assert made.count("link") == len(scene.links)
        glyphs = {glyph for piece in scene.pieces for glyph in piece.glyph.split()}
        assert {f"picture-{glyph}" for glyph in glyphs} <= set(made)


def test_replay_picture_writes_what_a_seat_knew(
    play: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command draws the position after a line, for a seat with only what that knew, and says where."""
    record, _ = play("aliens", "one", "<two>")
    path, out = tmp_path / "match.jsonl", tmp_path / "drawn.svg"
    path.write_bytes(record)
    assert main(["replay", "picture", str(path), "--at", "20", "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"picture of line 20 written to {out}\n"
    everything = texts(out.read_bytes())
    assert any(text.startswith("<two>") for text in everything)
    call = ["replay", "picture", str(path), "--at", "20", "--seat", "0", "-o", str(out), "--json"]
    assert main(call) == 2  # it is there already
    assert main([*call, "--force"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == len(out.read_bytes())
    # The seat does not know the lengths of the other's wormholes.
    assert "?" not in everything
    assert "?" in texts(out.read_bytes())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--at", "9999"), "the record's lines are numbered 0"),
        (("--seat", "2"), "the match has seats 0 to 1"),
    ],
)
def test_a_position_that_is_not_there_has_no_picture(
    play: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    text: str,
) -> None:
    """Exit code 2, one sentence, and no file."""
    record, _ = play("aliens", "one", "two")
    path = tmp_path / "match.jsonl"
    path.write_bytes(record)
    assert main(["replay", "picture", str(path), *words, "-o", str(tmp_path / "x.svg")]) == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()
