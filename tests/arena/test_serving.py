"""The parts of a server that need no visitors: where it may listen, its bound on the disk, its texts and pages."""

import os
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from tests.arena.harness import LEAGUE, ArenaHarness, InlineRenderer

from warpleague.arena.processes import prune
from warpleague.arena.submissions import accounts
from warpleague.arena.submissions.ledger import Ledger
from warpleague.arena.web.league_feed import LeagueFeed
from warpleague.arena.web.renderer import LeagueFiles, league_page
from warpleague.arena.web.server import Serving, check_address
from warpleague.errors import BadInput
from warpleague.report.site.page_frame import text_of
from warpleague.report.wording.docs import pages


@pytest.mark.parametrize(
    ("host", "names", "behind_proxy", "said"),
    [
        ("0.0.0.0", (), False, "--name is missing"),
        ("0.0.0.0", ("a.example",), False, "nobody has an organiser's token yet"),
        ("::", ("a.example",), False, "nobody has an organiser's token yet"),
        ("127.0.0.1", ("a.example",), True, "nobody has an organiser's token yet"),
        ("arena.example", ("a.example",), False, "must be the number of an address"),
    ],
)
def test_others_are_not_let_in_without_tokens(
    host: str, names: tuple[str, ...], behind_proxy: bool, said: str, tmp_path: Path
) -> None:
    """An address that strangers reach is refused as long as nobody could organise what they do."""
    serving = Serving(paths=(), results=tmp_path, host=host, names=names, behind_proxy=behind_proxy)
    with pytest.raises(BadInput, match=said):
        check_address(serving)
    assert not list(tmp_path.iterdir())


def test_others_are_let_in_with_an_organisers_token(tmp_path: Path) -> None:
    """The token of an author is not enough, nor one that was revoked; this machine's own address needs none."""
    serving = Serving(paths=(), results=tmp_path, host="0.0.0.0", names=("a.example",))
    with Ledger.open(tmp_path) as ledger:
        accounts.add_author(ledger, "ada", "test")
        with pytest.raises(BadInput, match="organiser"):
            check_address(serving)
        accounts.add_author(ledger, "org", "test", organiser=True)
        check_address(serving)
        accounts.revoke(ledger, "org", "test")
        with pytest.raises(BadInput, match="organiser"):
            check_address(serving)
    check_address(Serving(paths=(), results=tmp_path))
    check_address(Serving(paths=(), results=tmp_path, host="::1"))


def test_the_oldest_files_go_first(tmp_path: Path) -> None:
    """A folder is kept within its bound; links are not followed."""
    (tmp_path / "in").mkdir()
    for number in range(8):
        path = tmp_path / ("in" if number % 2 else ".") / f"{number}"
        path.write_bytes(b"x" * 100_000)
        os.utime(path, (1000 + number, 1000 + number))
    outside = tmp_path.parent / "outside"
    outside.write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to(outside)
    assert prune(tmp_path, 10_000_000) == 0
    assert prune(tmp_path, 350_000) == 5
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"5", "6", "7", "link"}
    assert prune(tmp_path / "nowhere", 1) == 0


def test_every_page_of_the_documentation_is_shown() -> None:
    """Links lead to pages that there are; what only a checkout has is no link."""
    for name in pages():
        found = text_of(name)
        assert found is not None
        assert "<script" not in found[1]
        assert "<th></th>" not in found[1]
        for target in (part.partition('"')[0] for part in str(found[1]).split('href="')[1:]):
            assert target.startswith(("/docs/", "#", "https://", "http://", "mailto:")), (name, target)
            if target.startswith("/docs/"):
                assert target[6:].partition("#")[0] in pages()
    assert text_of("nowhere") is None


def test_a_page_comes_soon_after_the_first_match(autojump_clock: trio.abc.Clock, tmp_path: Path) -> None:
    """A look at a league that has not been played yet costs nothing, so the next one need not wait."""
    made = []

    class Renderer:
        async def make(self, function: object, *_: object, **__: object) -> None:
            if function is league_page:
                made.append(trio.current_time())

    renderer: Any = Renderer()
    feed = LeagueFeed(
        "open", LeagueFiles(tmp_path / "open.toml", tmp_path), renderer, delay_s=0.0, pages_mb=1
    )

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed.render_pages, {})
            await trio.testing.wait_all_tasks_blocked()
            feed.stale = True  # as the first match makes it
            await trio.sleep(5)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=autojump_clock)
    assert len(made) == 2
    assert made[1] - made[0] <= 1.5


def test_a_league_says_which_bots_it_waits_for(autojump_clock: trio.abc.Clock, tmp_path: Path) -> None:
    """How many more, and which there are; not as soon as an author's bot is enough."""
    arena = ArenaHarness(tmp_path)
    (tmp_path / "cup.toml").write_text(LEAGUE.replace('"bots/random-python", ', ""))
    renderer: Any = InlineRenderer()
    feed = LeagueFeed(
        "cup", LeagueFiles(tmp_path / "cup.toml", arena.results), renderer, delay_s=0.0, pages_mb=1
    )
    told: list[str] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed.render_pages, {})
            await trio.sleep(5)
            told.append(feed.sentence)
            arena.accepted("ada")
            await trio.sleep(5)
            told.append(feed.sentence)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=autojump_clock)
    arena.close()
    assert told == [
        "No match has been played yet. It waits for 1 more bot: a match needs 2, and there is only aliens-greedy.",
        "No match has been played yet.",
    ]
