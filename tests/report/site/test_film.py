"""The film of a match: one SVG file whose pictures follow each other, for every game."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from warpleague.cli import main
from warpleague.match.replay import Replay
from warpleague.report.site.film import film, shots
from warpleague.report.site.picture import picture
from warpleague.report.wording.match_words import outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def shown_at(root: ET.Element, n: int) -> list[ET.Element]:
    """The elements of a film that its picture number `n` shows."""

    def walk(made: ET.Element) -> Iterator[ET.Element]:
        animation = made.find(f"{SVG}animate[@attributeName='visibility']")
        if animation is not None:
            keys = list(map(float, animation.attrib["keyTimes"].split(";")))
            now = sum(key <= times[n] for key in keys) - 1
            if animation.attrib["values"].split(";")[now] == "hidden":
                return
        yield made
        for child in made:
            yield from walk(child)

    progress = root.find(f"{SVG}rect/{SVG}animate")
    assert progress is not None
    times = list(map(float, progress.attrib["keyTimes"].split(";")))
    return list(walk(root))


def counted(elements: list[ET.Element], *names: str) -> list[int]:
    """How many of the elements have each of the classes."""
    classes = [name for made in elements for name in made.get("class", "").split()]
    return [classes.count(name) for name in names]


def test_each_picture_of_a_film_has_the_whole_position(
    record: bytes, leads_outside: Callable[[str], list[str]]
) -> None:
    """As many cells, pieces, links and items as a picture of that position has, though all share what is alike."""
    replay = Replay(record)
    names, made = shots(replay, None, 0, len(replay.lines) - 2)
    data = film(names, made, 1.5)
    assert leads_outside(data.decode().replace("http://www.w3.org/2000/svg", "")) == []
    root = ET.fromstring(data)
    for n in {0, len(made) // 3, len(made) // 2, len(made) - 1}:
        still = picture(made[n].scene, names)
        kinds = ("cell", "piece", "link", "item", "crossed")
        assert counted(shown_at(root, n), *kinds) == counted(list(ET.fromstring(still).iter()), *kinds)
        assert len(data) < len(still) * len(made) / 2


def test_a_film_says_what_happened_and_how_it_ended(record: bytes) -> None:
    """Each picture has a sentence; the last one begins with the result."""
    replay = Replay(record)
    names, made = shots(replay, None, 0, len(replay.lines) - 2)
    assert made[0].told == "The match begins."
    assert all(shot.told for shot in made)
    end = json.loads(replay.lines[-1])
    result = outcome(names, end["ranks"], end["scores"], end.get("rival"), end["why"])
    assert made[-1].told.startswith(f"{result}. ")
    root = ET.fromstring(film(names, made, 1.0))
    texts = ["".join(one.itertext()) for one in shown_at(root, len(made) - 1)]
    assert any(text and made[-1].told.startswith(text) for text in texts)


def test_a_film_by_steps_has_a_picture_of_each_line(record: bytes) -> None:
    """From the first line that is wanted to the last; by turns it has fewer, and the same first and last."""
    replay = Replay(record)
    _, steps = shots(replay, None, 3, 12, by_step=True)
    _, turns = shots(replay, None, 3, 12)
    assert len(steps) == 10
    assert 2 <= len(turns) <= 10
    assert [turns[0].scene, turns[-1].scene] == [steps[0].scene, steps[-1].scene]


def test_replay_film_writes_what_a_seat_knew(
    play: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes the part that is wanted, for a seat with only what that knew, and says where."""
    record, _ = play("aliens", "one", "<two>")
    path, out = tmp_path / "match.jsonl", tmp_path / "drawn.svg"
    path.write_bytes(record)
    call = ["replay", "film", str(path), "--from", "4", "--to", "8", "--steps", "--pace", "500ms"]
    assert main([*call, "-o", str(out)]) == 0
    told = f"film of lines 4 to 8, 5 pictures, {out.stat().st_size / 1e6:.1f} MB, written to {out}\n"
    assert capsys.readouterr().out == told
    everything = ["".join(one.itertext()) for one in ET.fromstring(out.read_bytes()).iter(f"{SVG}text")]
    assert "?" not in everything
    assert any(text.startswith("<two>") for text in everything)
    call += ["--seat", "0", "-o", str(out), "--json"]
    assert main(call) == 2  # it is there already
    assert main([*call, "--force"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [answer["pictures"], answer["bytes"]] == [5, len(out.read_bytes())]
    # The seat does not know the lengths of the other's wormholes.
    assert "?" in ["".join(one.itertext()) for one in ET.fromstring(out.read_bytes()).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--to", "9999"), "--to 9999: the record's lines are numbered 0"),
        (("--from", "9", "--to", "9"), "--from 9: a film needs lines after its first; it ends with line 9"),
        (("--seat", "2"), "the match has seats 0 to 1"),
        (
            ("--steps",),
            "and at most 9 are possible: leave out --steps, or choose a part by --from and --to",
        ),
    ],
)
def test_what_cannot_be_filmed_makes_no_file(
    play: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    text: str,
) -> None:
    """Exit code 2, one sentence, and no file."""
    monkeypatch.setattr("warpleague.report.site.film.MAX_PICTURES", 9)
    record, _ = play("aliens", "one", "two")
    path = tmp_path / "match.jsonl"
    path.write_bytes(record)
    assert main(["replay", "film", str(path), *words, "-o", str(tmp_path / "x.svg")]) == 2
    assert text in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "x.svg").exists()
