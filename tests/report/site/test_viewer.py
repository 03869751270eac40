"""The viewer's scripts: they decode what Python encoded, in a real JavaScript engine."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from warpleague.match.replay import Replay
from warpleague.report.site.delta import plain
from warpleague.report.site.match_page import Place, compressed_json, page_alone
from warpleague.report.site.page_frame import folder
from warpleague.report.site.write import make_page

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

SHOW = """
const fs = require("fs");
require(process.argv[1]);
const { Film, told, unpackReplay } = globalThis.warpleague;
unpackReplay(fs.readFileSync(0, "utf8")).then(({ frames }) => {
  const viewers = [...frames[0].scene.keys()];
  const seen = viewers.map((viewer) => {
    const film = new Film(frames, viewer);
    const numbers = [...frames.keys()];
    const forth = numbers.map((n) => JSON.stringify(film.at(n)));
    // From here to there and back, as a person does: all ways lead to the same scenes.
    const jumps = numbers.map((n) => (n * 37) % frames.length);
    const steady = jumps.every((n) => JSON.stringify(film.at(n)) === forth[n]);
    const back = numbers.reverse().every((n) => JSON.stringify(film.at(n)) === forth[n]);
    return { steady, back, scenes: forth.map((text) => JSON.parse(text)), told: frames.map((f) => told(f, viewer)) };
  });
  process.stdout.write(JSON.stringify(seen));
});
"""

LATER = """
require(process.argv[1]);
const { Film, later, unpackReplay } = globalThis.warpleague;
const sources = [];
const script = () => ({ addEventListener(kind, heard) { this[kind] = heard; } });
globalThis.document = { createElement: script, head: { append(made) {
  sources.push(made.src);
  if (sources.length === 1) made.error(); // as where the network fails
  else {
    require(process.argv[2]);
    made.load();
  }
} } };
unpackReplay(require("fs").readFileSync(0, "utf8")).then(async ({ frames }) => {
  const load = later(frames, "beside.js", "a nonce");
  const shown = (viewer) => new Film(frames, viewer).at(frames.length - 1);
  const before = frames[0].scene.length;
  const missing = await load().catch((error) => error.message);
  const [kept, again] = [await load(), await load()];
  process.stdout.write(JSON.stringify({
    before, missing, sources, once: kept === again, scenes: [...frames[0].scene.keys()].map(shown),
    record: await globalThis.warpleague.inflate(kept.record),
  }));
});
"""


def node(*arguments: str, data: str = "") -> str:
    done = subprocess.run(
        [NODE or "node", *arguments], input=data, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_viewer_shows_the_scenes_of_the_game(record: bytes, take_apart: Any) -> None:
    """Unpacked and patched by the viewer's own code, every frame of every viewer is the game's scene."""
    replay = Replay(record)
    page = take_apart(page_alone(replay, "x.jsonl"))
    seen = json.loads(node("-e", SHOW, str(folder() / "assets" / "codec.js"), data=page.block("replay")))
    replay = Replay(record)
    states = [replay.first, *(step.state for step in replay)]
    assert len(seen) == 1 + replay.header["players"]
    for viewer, found in zip((None, *range(replay.header["players"])), seen, strict=True):
        assert found["steady"]
        assert found["back"]
        scenes = [plain(replay.game.scene(state, viewer)) for state in states]
        assert found["scenes"] == json.loads(json.dumps(scenes))
        assert len(found["told"]) == len(states)


def test_views_of_seats_are_loaded_when_wanted(record: bytes, tmp_path: Path, take_apart: Any) -> None:
    """A site's page holds what everybody sees; what a seat saw, and the record, come from the file beside it, once."""
    made = make_page(record, Place("league", "export", "0" * 32))
    assert not isinstance(made, str)
    # A page that is made before somebody wants them is the same.
    assert make_page(record, Place("league", "export", "0" * 32), with_script=False) == (made[0], b"")
    beside = tmp_path / "beside.js"
    beside.write_bytes(made[1])
    block = take_apart(made[0]).block("replay")
    told = json.loads(node("-e", LATER, str(folder() / "assets" / "codec.js"), str(beside), data=block))
    assert told["before"] == 1
    assert told["missing"] == "the file beside.js is missing"
    assert told["once"]
    assert len(told["sources"]) == 2  # the one that failed, and the one that came
    replay = Replay(record)
    *_, last = (step.state for step in replay)
    viewers = (None, *range(replay.header["players"]))
    assert told["scenes"] == json.loads(json.dumps([plain(replay.game.scene(last, who)) for who in viewers]))
    assert told["record"].encode() == record


COURSE = """
const assets = process.argv[1];
for (const name of ["codec", "course"]) require(`${assets}/${name}.js`);
const { Course, unpackReplay } = globalThis.warpleague;
unpackReplay(require("fs").readFileSync(0, "utf8")).then(({ frames, seats }) => {
  const [whole, live] = [new Course(seats.length), new Course(seats.length)];
  whole.grow(frames);
  frames.forEach((frame) => live.grow([frame]));
  const facts = ({ turns, turnAt, scores, sides, opening, last }) => ({ turns, turnAt, scores, sides, opening, last });
  const earned = whole.turns.map(({ from, to, seat }) => (seat === null ? 0 : whole.earned(seat, from - 1, to)));
  process.stdout.write(JSON.stringify({ whole: facts(whole), live: facts(live), earned, end: live.scene(live.last) }));
});
"""


def test_a_match_that_grows_becomes_the_same_as_its_replay(record: bytes, take_apart: Any) -> None:
    """Frame by frame or all at once: the same turns, scores and end; a replay opens before the first decision."""
    replay = Replay(record)
    page = take_apart(page_alone(replay, "a.jsonl"))
    found = json.loads(node("-e", COURSE, str(folder() / "assets"), data=page.block("replay")))
    assert found["whole"] == found["live"]
    steps = list(replay)
    assert found["end"] == json.loads(json.dumps(plain(replay.game.scene(steps[-1].state, None))))
    turns = found["whole"]["turns"]
    assert [turn["from"] for turn in turns] == [1, *(turn["to"] + 1 for turn in turns[:-1])]
    assert turns[-1]["to"] == found["whole"]["last"] == len(steps)
    first = next(
        n for n, step in enumerate(steps, 1) if step.data["type"] == "act" and not step.data.get("auto")
    )
    assert found["whole"]["opening"] >= first - 1
    assert len(found["earned"]) == len(turns)


def test_any_value_can_be_unpacked() -> None:
    """What the list of matches is packed in comes out the same, whatever letters are in it."""
    data = {"bots": ["ä", "\u202e", "</script>"], "rows": [[1, None, [0.5, 2]], []]}
    code = """
    require(process.argv[1]);
    const text = require("fs").readFileSync(0, "utf8");
    globalThis.warpleague.unpack(text).then((value) => process.stdout.write(JSON.stringify(value)));
    """
    assert (
        json.loads(node("-e", code, str(folder() / "assets" / "codec.js"), data=compressed_json(data)))
        == data
    )


def test_a_page_that_cannot_be_unpacked_says_so() -> None:
    """Of a page that was cut off, or in too old a browser, the notice tells what is wrong, as text."""
    code = """
    require(process.argv[1]);
    const { failed, unpack } = globalThis.warpleague;
    const shown = [];
    globalThis.document = {
      createElement: (name) => ({ name, setAttribute() {} }),
      querySelector: () => ({ prepend: (made) => shown.push(made) }),
      body: { classList: { add: (name) => shown.push(name) } },
    };
    console.error = () => {};
    unpack("AAAA").catch(failed).then(() => process.stdout.write(JSON.stringify(shown)));
    """
    notice, state = json.loads(node("-e", code, str(folder() / "assets" / "codec.js")))
    assert state == "ready", "nothing is seen before"
    assert notice["name"] == "p"
    assert notice["textContent"].startswith("This browser could not unpack the page: ")


def test_scripts_are_sound() -> None:
    """Every script parses."""
    code = """
    const text = (filename) => require("fs").readFileSync(filename, "utf8");
    for (const filename of process.argv.slice(1)) new (require("vm").Script)(text(filename), { filename });
    process.stdout.write(`${process.argv.length - 1}`);
    """
    scripts = [str(path) for path in (folder() / "assets").iterdir() if path.name.endswith(".js")]
    assert int(node("-e", code, *scripts)) == len(scripts) > 0


def test_kinds_get_steady_and_different_colours() -> None:
    """A kind's colour follows from its name alone, and those of a game differ."""
    code = """
    globalThis.document = {};
    require(process.argv[1]);
    const kinds = ["lava", "ice", "door", "wall", "floor", "key", "monster", "stairs"];
    process.stdout.write(JSON.stringify(kinds.map(globalThis.warpleague.hue)));
    """
    hues = json.loads(node("-e", code, str(folder() / "assets" / "board.js")))
    assert hues == json.loads(node("-e", code, str(folder() / "assets" / "board.js")))
    assert len(set(hues)) == len(hues)
    assert all(0 <= hue < 360 for hue in hues)
