"""The luck of each seat where a single match is shown: in the terminal, and on its page."""

import re
from io import StringIO

import pytest
from rich.console import Console
from tests.match.conftest import Table, make_spec

from warpleague.games import load_game
from warpleague.match.luck import worth_of
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json
from warpleague.report.site.match_page import page_alone
from warpleague.report.terminal.replay import show_replay


@pytest.fixture(scope="module")
def record() -> bytes:
    """A duel of coasters between bots that always answer 0."""
    options = options_json(load_game("coasters").Options(max_rounds=4))
    return Table(make_spec(game="coasters", options=options)).play().record


def shown(record: bytes, seat: int | None = None) -> str:
    """What `replay show` prints."""
    out = StringIO()
    show_replay(Replay(record), boards=False, at=None, seat=seat, console=Console(file=out, width=200))
    return out.getvalue()


def test_a_match_ends_with_the_luck_of_each_seat(record: bytes) -> None:
    """With the line of the roll that did most, in the words of that line; a seat that looks on learns nothing."""
    lines = shown(record).splitlines()
    lucks = [line for line in lines if line.startswith("luck of ")]
    assert [line.partition(":")[0] for line in lucks] == ["luck of left", "luck of right"]
    for line in lucks:
        n, told = re.search(r"the most by line (\d+) \([+-]\d\.\d\d\): (.*)$", line).groups()
        assert any(one.lstrip().startswith(f"{n}  {told}") for one in lines)
    assert "luck of" not in shown(record, seat=0)


def test_a_page_links_to_the_luckiest_roll(record: bytes) -> None:
    """Each seat has its luck in the table of results, and the link shows the step."""
    page = page_alone(Replay(record), "one.jsonl", record).decode()
    links = re.findall(r'<td>([+-]\d\.\d\d), the most \([^)]*\): <a class="luck" href="#n=(\d+)">', page)
    assert len(links) == 2
    rolls = {n for n, line in enumerate(record.splitlines()) if b'"type":"chance"' in line}
    assert {int(n) for _, n in links} <= rolls


def test_without_a_function_there_is_no_luck(record: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the game names none, nor where it fails."""
    for name in ("", "no_such_module"):
        monkeypatch.setattr(type(load_game("coasters")), "worth", name)
        worth_of.cache_clear()
        assert "luck of" not in shown(record)
        assert 'class="luck"' not in page_alone(Replay(record), "one.jsonl", record).decode()
    worth_of.cache_clear()
