"""The page of a match shows an analysis of its own record, in the chart and at each decision, and no other."""

import json
import zlib
from base64 import b64decode
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.report.site.test_viewer import NODE, node

from warpleague.cli import main
from warpleague.extras.study.analyse import (
    FREE,
    Analysis,
    AnalysisFile,
    Sample,
    Setting,
    about,
    places,
    read_analysis,
)
from warpleague.extras.study.report import judged, read_notes
from warpleague.match.replay import Replay
from warpleague.report.site.match_page import Place, compress_replay, compressed_json, page_alone
from warpleague.report.site.page_frame import folder
from warpleague.report.site.write import make_page

CHART = """
globalThis.document = { createElementNS: (space, name) => ({ name, attributes: {},
  setAttribute(key, value) { this.attributes[key] = value; }, append() {}, set textContent(_) {} }) };
const assets = process.argv[1];
for (const name of ["codec", "glyphs", "board", "analysis"]) require(`${assets}/${name}.js`);
const { unpack, worthParts, judgedFacts, nextBlunder } = globalThis.warpleague;
unpack(require("fs").readFileSync(0, "utf8")).then(({ frames }) => process.stdout.write(JSON.stringify({
  parts: worthParts(frames, 40).map((part) => part.attributes),
  facts: frames.map(judgedFacts),
  next: nextBlunder(frames, 0),
})));
"""


@pytest.fixture
def analysis(record: bytes, tmp_path: Path) -> Path:
    """An analysis by which the second decision, made at the last alternative, would have been better."""
    replay = Replay(record)
    found = places(replay)
    assert replay.summary is not None
    header = replay.header
    setting = Setting(replay.summary.digest, header["game"], header["players"], header["options"], "s")
    path = tmp_path / "one.analysis"
    with AnalysisFile(path, about(setting, 2)) as file:
        for place in found[:2]:
            decision = place.decision
            for k in range(64):
                worth = dict.fromkeys(range(decision.legal), 0.25 if place is found[0] else 1.0)
                file.add(Sample(decision.n, k, worth | {FREE: 0.5, decision.played: 0.25}))
    return path


def test_a_page_shows_values_and_blunders(record: bytes, analysis: Path, take_apart: Any) -> None:
    """The frames of judged decisions have their values, in the order of the lines; a blunder is marked."""
    found = read_analysis(analysis, record)
    first, second = (verdict.decision for verdict in found.verdicts)
    assert [verdict.decision for verdict in found.blunders] == [second]
    page = take_apart(page_alone(Replay(record), "x.jsonl", notes=read_notes(analysis, record)))
    shown = frames_of(page.block("replay"))
    judged = {n: frame["judged"] for n, frame in enumerate(shown) if "judged" in frame}
    assert list(judged) == [first.n, second.n]
    assert judged[first.n]["worth"][:2] == [0.5, 0.25]
    assert "blunder" not in judged[first.n]
    assert judged[second.n]["blunder"] is True
    assert dict(judged[second.n]["told"])["lost"].startswith("75.0 %")
    assert b"analysed" in page_alone(Replay(record), "x.jsonl", record, read_notes(analysis, record))


def frames_of(block: str) -> list[dict[str, Any]]:
    """The frames of a packed replay."""
    found: list[dict[str, Any]] = json.loads(zlib.decompress(b64decode(block)))["frames"]
    return found


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_chart_draws_them(record: bytes, analysis: Path) -> None:
    """A line of values with its errors for each seat, and a mark at the blunder, which a key leads to."""
    found = read_analysis(analysis, record)
    first, second = (verdict.decision for verdict in found.verdicts)
    page = frames_of(frames_block(record, found))
    told = json.loads(node("-e", CHART, str(folder() / "assets"), data=compressed_json({"frames": page})))
    kinds = [part["class"].split()[0] for part in told["parts"]]
    seats = len({first.seat, second.seat})
    assert kinds == ["error"] * seats + ["worth"] * seats + ["blunder"]
    assert told["parts"][-1]["d"] == f"M{second.n} 0V40"
    assert f"M{first.n - 1} 20" in told["parts"][seats]["d"]  # the middle: a half
    assert told["next"] == second.n
    assert ["value before", f"50.0 % ± {100 * (found.verdicts[0].before.interval or 0):.1f}"] in told[
        "facts"
    ][first.n]


def frames_block(record: bytes, analysis: Analysis) -> str:
    """The packed replay of a page with an analysis."""
    replay = Replay(record)
    seats = replay.header["players"]
    return compress_replay(
        replay, {"seats": []}, [[] for _ in range(seats)], judged(analysis, ["x"] * seats)
    )[0]


def test_an_analysis_of_another_record_is_refused(
    record: bytes, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a page alone nor one of a league shows an analysis of another record, or a file that is none."""
    path = tmp_path / "match.jsonl"
    path.write_bytes(record)
    out = ("-o", str(tmp_path / "page.html"))
    assert main(["replay", "page", str(path), "--analysis", str(analysis), *out]) == 0
    analysis.write_bytes(analysis.read_bytes().replace(b'"record":"', b'"record":"0'))
    capsys.readouterr()
    assert main(["replay", "page", str(path), "--analysis", str(analysis), "--force", *out]) == 2
    assert "of another record" in capsys.readouterr().err
    wrong = make_page(record, Place("league", "export", "0" * 32), partial(read_notes, analysis))
    assert isinstance(wrong, str)
    assert "of another record" in wrong
    assert main(["replay", "page", str(path), "--analysis", str(path), "--force", *out]) == 2
    assert "this is no analysis" in capsys.readouterr().err


def test_the_site_of_a_solo_league_shows_an_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the match that was analysed shows it, the other does not."""
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "solo.toml"
    bots = '["bots/random-python", "bots/sheets-greedy"]'
    config.write_text(f'bots = {bots}\n\n[game]\nid = "sheets"\n')
    assert main(["league", "run", str(config), "--quiet"]) == 0
    assert main(["league", "export", str(config), "--out", "records"]) == 0
    first, second = sorted((tmp_path / "records").glob("*.jsonl"))
    assert main(["analyse", str(first), "--seconds", "0.01", "--jobs", "1", "--out", "one"]) == 0
    report = ["league", "report", str(config), "--analysis", "one", "--jobs", "1"]
    assert main(report) == 0
    pages = tmp_path / "results" / "solo" / "report" / "matches"
    texts = [(pages / f"{record.stem}.html").read_text() for record in (first, second)]
    assert [">analysed<" in text for text in texts] == [True, False]
