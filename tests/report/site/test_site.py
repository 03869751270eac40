"""The site of a league: whole at any instant, every link leads somewhere, and nothing is done twice."""

import importlib
import json
import re
import shutil
import sqlite3
import zlib
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs
import numpy as np
import pytest
from tests.report.site.conftest import Inline

from warpleague.cli import TOOLS, Tools, main
from warpleague.games import load_game
from warpleague.league.results.league import open_to_read
from warpleague.league.results.standings import standings
from warpleague.league.season.config import load_config
from warpleague.report.site import charts
from warpleague.report.site import write as writing
from warpleague.report.site.league_page import Listing, choose, language_of, picks

Write = Callable[..., writing.Site]


BOTS = 4  # that play in the cup, each with a page of its own


def pages_of(out: Path) -> list[Path]:
    return sorted(out.rglob("*.html"))


def data_of(index: Path, take_apart: Any) -> dict[str, Any]:
    return json.loads(zlib.decompress(b64decode(take_apart(index.read_bytes()).block("data"))))


def broken_links(out: Path, take_apart: Any) -> list[str]:
    """Links of a site that lead to no file, or to no part of their page that is in it without scripts."""
    found = []
    for page in pages_of(out):
        parts = take_apart(page.read_bytes())
        ids = {attributes["id"] for _, attributes in parts.elements if attributes.get("id")}
        for link in parts.links():
            path, fragment = unquote(urlsplit(link).path), urlsplit(link).fragment
            if (path and not (page.parent / path).resolve().is_file()) or (
                not path and "=" not in fragment and fragment not in ids
            ):
                found.append(f"{page.name}: {link}")
    return found


def test_every_link_leads_somewhere_and_none_outside(
    site: Write, take_apart: Any, leads_outside: Callable[[str], list[str]]
) -> None:
    """All pages are well-formed, their links and files are there, and nothing of another place is named."""
    written = site()
    out = written.index.parent
    assert (written.matches, written.made, written.existing, written.left_out) == (12, 12, 0, 0)
    assert len(pages_of(out)) == 1 + BOTS + 12
    assert broken_links(out, take_apart) == []
    for path in out.rglob("*"):
        if path.is_file():
            assert leads_outside(path.read_text("utf-8")) == []
    for row in data_of(written.index, take_apart)["rows"]:
        assert (out / "matches" / f"{row[1]}.html").is_file() == bool(row[-1])


def test_the_leagues_page_tells_all_of_it(site: Write, take_apart: Any) -> None:
    """Standings, crosstable, seats, times, faults, charts and the season are there without any script."""
    page = take_apart(site().index.read_bytes())
    for word in ("Standings", "Crosstable", "Seats", "Times", "Faults", "Matches", "The season"):
        assert word in page.text
    for word in ("noter <i>&0", "timeout", "crash", "public since", "substitute, 1 strike", "max_turns 12"):
        assert word in page.text
    assert re.search(r"faulted in \d+ of \d+ match(es)? \((crash|timeout): ", page.text)
    assert [tag for tag, _ in page.elements].count("svg") > 4
    assert "i" not in [tag for tag, _ in page.elements]


def test_a_nonce_is_no_constant(site: Write, take_apart: Any, tmp_path: Path) -> None:
    """Linked styles and scripts are allowed by a nonce that differs from page to page."""
    nonces = set()
    for path in pages_of(site().index.parent):
        page = take_apart(path.read_bytes())
        named = {attributes["nonce"] for _, attributes in page.elements if "nonce" in attributes}
        (nonce,) = named
        assert f"'nonce-{nonce}'" in next(a["content"] for t, a in page.elements if a.get("http-equiv"))
        nonces.add(nonce)
    assert len(nonces) == 1 + BOTS + 12


def test_pages_that_are_there_are_kept(site: Write) -> None:
    """Written again, only the league's page is new; after a change of what makes pages, or to a page, they are not."""
    index = site().index
    pages = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in pages_of(index.parent)}
    again = site()
    assert (again.made, again.existing, again.removed) == (0, 12, 0)
    del pages[index]
    assert pages == {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in pages}
    for made, folder in ((0, "bots"), (1, "matches")):
        half = next(path for path in pages if path.parent.name == folder)
        half.write_bytes(b"half a page")
        assert (site().made, half.read_bytes()) == (made, pages[half][1])
    assert site(version="another").made == 12
    assert site(version="another").existing == 12


def test_fewer_replays_leave_no_page_behind(site: Write, take_apart: Any) -> None:
    """Pages no longer wanted go, others of the user's stay, and the page says what is left out and how to get it."""
    out = site().index.parent
    (out / "matches" / "notes.html").write_text("<p>mine</p>")
    fewer = site(replays=3)
    assert (fewer.left_out, fewer.removed, fewer.existing) == (9, 9, 3)
    assert len(list((out / "matches").glob("*.html"))) == 4
    order = (out / "matches" / "order.js").read_text()
    assert order.count('"') == 2 * 3
    text = take_apart(fewer.index.read_bytes()).text
    assert "9 of 12 matches have no replay here" in text
    assert "report --replays all" in text
    assert broken_links(out, take_apart) == []
    assert site(replays=0).removed == 3


@pytest.mark.parametrize("after", [0, 1, 5, 9, 16])
def test_a_site_is_whole_at_any_instant(site: Write, take_apart: Any, tmp_path: Path, after: int) -> None:
    """However far writing came when it was killed, the old page is there and every link of it leads somewhere."""
    out = tmp_path / "site"
    old = site(replays=4).index.read_bytes()
    count = 0

    class Killed(BaseException):
        pass

    def write(path: Path, data: bytes) -> None:
        nonlocal count
        if count == after:
            raise Killed
        count += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    try:
        site(write=write, replays=None, version="another")
    except Killed:
        assert (out / "index.html").read_bytes() == old
    else:
        assert (out / "index.html").read_bytes() != old
    assert broken_links(out, take_apart) == []
    site()
    assert len(pages_of(out)) == 1 + BOTS + 12


def test_pages_follow_the_engine_they_were_made_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine comes from is its package; of a module that is in none, nothing but itself."""
    found = {path.name for path in writing.sources(type(load_game("captains")))}
    assert {"rules.py", "people.py", "boards.toml"} <= found
    (tmp_path / "lone_game.py").write_text("class Lone: pass\n")
    (tmp_path / "another.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert writing.sources(importlib.import_module("lone_game").Lone) == [tmp_path / "lone_game.py"]
    assert writing.sources(int) == []


def test_replays_are_of_faulty_matches_first_then_a_spread() -> None:
    """The first match of each bot's kind of fault, other faulty ones, then a spread over the season."""
    faulty = {at: frozenset({(0, "crash")}) for at in (90, 51, 50)} | {71: frozenset({(1, "timeout")})}

    def numbers(most: int | None) -> list[int]:
        return choose(faulty, 101, most)

    assert numbers(2) == [50, 71]
    assert numbers(4) == [50, 51, 71, 90]
    spread = [n for n in numbers(14) if n not in (50, 51, 71, 90)]
    assert len(spread) == 10
    assert max(after - before for before, after in pairwise(spread)) <= 12
    assert numbers(0) == []
    assert numbers(None) == numbers(101) == list(range(101))


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(b64decode(text)))


def test_a_long_list_is_in_parts(site: Write, take_apart: Any) -> None:
    """A long list is cut into scripts that the page loads when they are wanted; together they have every match."""
    out = site(replays=2, part=5).index.parent
    data = unpacked(take_apart((out / "index.html").read_bytes()).block("data"))
    assert (data["rows"], data["total"]) == ([], 12)
    assert [(first, last) for _, first, last in data["parts"]] == [(1, 5), (6, 10), (11, 12)]
    rows: list[Any] = []
    for place, (name, *_) in enumerate(data["parts"]):
        head, _, text = (out / "assets" / name).read_text("utf-8").partition(" = ")
        assert head == f"globalThis.warpleague.parts[{place}]"
        rows += unpacked(json.loads(text.rstrip(";\n")))
    assert [row[0] for row in rows] == list(range(1, 13))
    assert {row[1]: (row[0] - 1) // 5 for row in rows if row[-1]} == data["replays"]
    site(replays=2, part=50)
    assert not list((out / "assets").glob("part-*"))


# The command


def report(cup: Path, *arguments: object, results: Path | None = None, new_pool: Any = Inline) -> int:
    words = ["league", "report", str(cup), "--results", str(results or cup.parent / "results")]
    return main([*words, *map(str, arguments)], Tools(new_pool=new_pool))


def test_report_writes_beside_the_store(
    cup: Path, site: Write, take_apart: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes into the league's folder, says what it wrote, and ends with the page to open."""
    index = cup.parent / "results" / "cup" / "report" / "index.html"
    assert report(cup, "--replays", "5") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("12 of 12 matches, 5 replays (5 written, 0 there already), ")
    assert "--replays all" in lines[1]
    assert lines[-1] == f"open {index}"
    assert broken_links(index.parent, take_apart) == []
    assert report(cup, "--replays", "all", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["replays"] == {"made": 7, "kept": 5, "left_out": 0}
    assert (told["index"], told["matches"], told["total"]) == (str(index), 12, 12)


def test_who_waits_sees_how_far_it_is(
    cup: Path,
    site: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On standard error, for reports, exports and verification; not where a program reads JSON."""
    monkeypatch.setattr("warpleague.cli.league_common._LOG_LINE_S", 0.0)

    def told() -> list[str]:
        lines = capsys.readouterr().err.splitlines()
        return [line for line in lines if not line.startswith("note: ")]

    assert report(cup, "--replays", "3", "--out", tmp_path / "site") == 0
    shown = told()
    steps = ["reading the results", "computing the standings", "reading the times"]
    assert shown[:4] == [*steps, "computing the ratings over time"]
    assert [line for line in shown if line.startswith("replays")] == [f"replays: {n} of 3" for n in (1, 2, 3)]
    assert shown[-1] == f"pages of bots: {BOTS} of {BOTS}"
    where = ("--results", str(cup.parent / "results"), "--out", str(tmp_path / "exported"))
    for words, what in ((["--format", "csv"], "matches"), (["--format", "jsonl"], "records")):
        assert main(["league", "export", str(cup), *where, *words]) == 0
        assert told() == [f"{what}: {n} of 12" for n in range(1, 13)]
    assert main(["league", "verify", str(cup), *where[:2]], Tools(new_pool=Inline)) == 0
    shown = told()
    assert shown[:12] == [f"records verified: {n} of 12" for n in range(1, 13)]
    assert re.fullmatch(r"entries of the journal compared: (\d+) of \1", shown[12])
    assert main(["league", "export", str(cup), *where, "--json", "--force"]) == 0
    assert report(cup, "--json", "--out", tmp_path / "site") == 0
    assert told() == []


def test_pages_are_made_by_processes_of_their_own(
    cup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without stand-ins the pages come out of referee processes, and `--out` says where to."""
    there = ("--out", tmp_path / "there", "--replays", "2", "--jobs", "1")
    assert report(cup, *there, new_pool=TOOLS.new_pool) == 0
    assert len(pages_of(tmp_path / "there")) == 1 + BOTS + 2


def copied(cup: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A copy of the league's results to change: its folder, and the file of its store."""
    results = tmp_path / "results"
    (results / "cup").mkdir(parents=True)
    store = results / "cup" / "league.sqlite"
    shutil.copy(cup.parent / "results" / "cup" / "league.sqlite", store)
    return results, store


def test_a_league_that_goes_on_can_be_looked_at(
    cup: Path, site: Write, take_apart: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With matches left to play, the page says how far it is, and no page tells a key or the secret."""
    results, store = copied(cup, tmp_path)
    with sqlite3.connect(store) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM match ORDER BY id LIMIT 5")]
        for table in ("record", "match"):
            db.executemany(f"DELETE FROM {table} WHERE id = ?", [(one,) for one in ids])
        (secret,) = db.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
        db.execute("DELETE FROM meta WHERE key = 'published'")
    db.close()
    assert report(cup, results=results) == 0
    assert capsys.readouterr().out.startswith("7 of 12 matches, 7 replays")
    out = results / "cup" / "report"
    assert "7 of 12 matches played (58 %)" in take_apart((out / "index.html").read_bytes()).text
    for path in pages_of(out):
        assert secret not in path.read_text("utf-8")
        if path.parent.name == "bots":
            continue
        told = "secret until the season ends" if path.parent.name == "matches" else "until the last match"
        assert told in take_apart(path.read_bytes()).text


def test_a_record_that_does_not_hold_has_no_replay(
    cup: Path, site: Write, take_apart: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its match is named with what is wrong, the others have theirs, and the exit code is 1."""
    results, store = copied(cup, tmp_path)
    with sqlite3.connect(store) as db:
        (one,) = db.execute("SELECT id FROM match ORDER BY id LIMIT 1").fetchone()
        db.execute("UPDATE record SET zstd = x'00' WHERE id = ?", (one,))
    db.close()
    assert report(cup, results=results) == 1
    out = capsys.readouterr().out
    assert "WRONG" in out
    assert one in out
    folder = results / "cup" / "report"
    assert not (folder / "matches" / f"{one}.html").exists()
    assert broken_links(folder, take_apart) == []
    assert "has no replay" in take_apart((folder / "index.html").read_bytes()).text


def test_mistakes_are_told(cup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No results, no place to write to, no number: exit code 2 and one text."""
    assert report(cup, results=tmp_path) == 2
    assert "nothing has been played yet" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert report(cup, "--out", tmp_path / "file") == 2
    assert "cannot write it" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        report(cup, "--replays", "some")
    assert stopped.value.code == 2
    assert "must be a number, all or none, not 'some'" in capsys.readouterr().err


# Charts


def test_ticks_are_round_and_few() -> None:
    """Steps of 1, 2 or 5 times a power of ten, at most six of them, within the range."""
    assert charts.ticks(1380, 2520) == [1400, 1600, 1800, 2000, 2200, 2400]
    assert charts.ticks(0, 0.5) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert charts.ticks(-3, 3) == [-3, -2, -1, 0, 1, 2, 3]
    assert len(charts.ticks(5, 5)) >= 1


def test_charts_take_what_there_is(take_apart: Any) -> None:
    """Rows without value, interval or finite rating are drawn as far as they go; without any there is no chart."""
    rows = [
        charts.Row("<b>a", 10.0, 8.0, 12.0, text="10 ± 2"),
        charts.Row("b", 20.0, above=18.0, text="> 18"),
        charts.Row("c", None, text="-"),
        charts.Row("d", 3.0, text="3"),
    ]
    page = take_apart(str(charts.intervals(rows, "points")).encode())
    assert [tag for tag, _ in page.elements].count("circle") == 2
    assert "<b>a" in page.text
    assert "b" not in [tag for tag, _ in page.elements]
    assert charts.intervals([charts.Row("c", None)], "points") == ""
    assert charts.history([("a", [1500.0])], [0]) == ""
    lines = [(f"bot{n}", [1500.0, 1500.0 + n]) for n in range(12)]
    drawn = str(charts.history(lines, [0, 5]))
    assert drawn.count("<polyline") == 12
    assert drawn.count('class="line other"') == 2


def test_names_beside_lines_stay_apart_and_within_the_chart() -> None:
    """Ten lines that end at the same place have ten names that do not cover each other, nor what is below."""
    drawn = str(
        charts.history(
            [(f"bot{n}", [1500.0, 1400.0]) for n in range(9)] + [("top", [1500.0, 1900.0])], [0, 5]
        )
    )
    grid = [float(y) for y in re.findall(r'<text class="tick" x="[\d.]+" y="([\d.]+)">', drawn)]
    names = sorted(float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">', drawn))
    assert len(names) == 10
    assert all(high - low > 13 for low, high in pairwise(names))
    assert names[0] > 0
    assert names[-1] < min(grid)


# The front of a league's page: matches to look at, cards of bots, and a picture that is there.


def test_the_matches_to_look_at_are_what_they_are_called(cup: Path) -> None:
    """The best two meet in the first; none has more lines than the longest, none a greater upset; in any blocks."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        columns = league.columns("matches")
        table = standings(league, columns)
        rows = {fixture.number: (fixture.seats, found) for fixture, found in league.results()}
        game = load_game(league.season.game)
    found = {pick.title: pick for pick in picks(columns, table, game)}
    seats, _ = rows[found["Best against second"].number]
    assert {table.names[bot] for bot in seats} == {line.bot for line in table.lines[:2]}
    assert rows[found["Longest"].number][1].lines == max(match.lines for _, match in rows.values())
    assert table.fit is not None
    ratings = table.fit.ratings

    def gap(seats: Any, ranks: Any) -> float:
        one, two = (ratings[bot] or 0.0 for bot in seats)
        return {(1, 2): two - one, (2, 1): one - two}.get(tuple(ranks), -1e9)

    most = max(gap(seats, match.ranks) for seats, match in rows.values())
    if "Greatest upset" in found:
        seats, match = rows[found["Greatest upset"].number]
        assert gap(seats, match.ranks) == pytest.approx(most)
    assert len({pick.match for pick in found.values()}) == len(found)
    blocks = attrs.evolve(columns, block=2)
    assert len(list(blocks.blocks())) > 2
    assert picks(blocks, table, game) == picks(columns, table, game)


def test_matches_to_look_at_get_a_page_first(cup: Path) -> None:
    """They take the place of other faultless matches, and there are no more pages than were asked for."""
    with open_to_read(load_config(cup), cup.parent / "results") as league:
        columns = league.columns("matches")
    listing = Listing(columns, (), np.zeros(len(columns), bool))
    before = [match.number for match in listing.chosen(3)]
    wanted = [number for number in range(1, 13) if number not in before][:2]
    chosen = [match.number for match in listing.chosen(3, wanted)]
    assert set(wanted) < set(chosen)
    assert len(chosen) == 3
    assert [match.number for match in listing.chosen(0, wanted)] == []


def test_the_page_has_a_card_for_each_bot_and_a_board(site: Callable[..., Any], take_apart: Any) -> None:
    """Each bot has its last matches, each of which leads somewhere; the board has cells, and its match a page."""
    index = site(replays=2).index
    page = take_apart(index.read_bytes())
    data = json.loads(zlib.decompress(b64decode(page.block("data"))))
    assert data["picture"]["frames"][0]["scene"][0]["cells"]
    assert len(data["picture"]["names"]) == 2
    classes = [attributes.get("class") or "" for _, attributes in page.elements]
    assert classes.count("card") == 4
    assert sum(name in ("won", "drawn", "lost") for name in classes) == 4 * 6
    linked = {link[8:].partition("#")[0] for link in page.links() if link.startswith("matches/")}
    assert {path.name for path in (index.parent / "matches").glob("*.html")} == linked
    absent = [link for link in page.links() if link.startswith("#match=")]
    assert absent
    assert all(re.fullmatch(r"#match=[0-9a-f]{20}(&number=\d+)?", link) for link in absent)
    assert "4 bots in a round-robin of OrthogonAliens against DiagonAliens: 12 matches." in page.text


@pytest.mark.parametrize(
    ("command", "language"),
    [
        ("python3 -P bot.py", "Python"),
        ("rustc -O main.rs ./bot", "Rust"),
        ("/usr/bin/lua5.4 x", "Lua"),
        ("./bot", ""),
    ],
)
def test_the_language_of_a_bot_is_told_by_its_commands(command: str, language: str) -> None:
    """Where build and run do not tell, the card says nothing."""
    assert language_of(command.split()) == language
