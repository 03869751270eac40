"""Clicks through the pages of a league of each game in real browsers, and lets axe look for what hinders people.

A small league of each game is played and its report written. In each browser, wide and as a phone: a link of the
league's page opens a match; the chart, the list of lines, a seat, the copied link, the record, the next match and the
one before, `#play` and `?embed` do what they say. With --axe instead: on the pages of the leagues, of matches, of
bots and of play, axe finds no violation, in light and in dark colours.

    make clicks     make axe     make axe AXE='--games sheets'
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from browsers import BROWSERS, axe, click, is_ready, page_of, run, server, shoot, started, wait

GAMES = {
    "aliens": ("aliens-greedy", 2, "{ max_turns = 40 }"),
    "captains": ("captains-planner", 3, "{ max_rounds = 8 }"),
    "coasters": ("coasters-hunter", 3, "{ max_rounds = 10 }"),
    "sheets": ("sheets-greedy", 2, "{}"),
}
_AT = "() => document.getElementById('position').textContent.split(' ')[0]"


def make_site(game: str, place: Path) -> Path:
    """The folder with the report of a league of one game, of two matches or more."""
    bot, players, options = GAMES[game]
    bots = Path.cwd() / "bots"
    entries = [
        f'"{bots / bot}"',
        *(f'{{ path = "{bots / "random-python"}", name = "r{n}" }}' for n in (1, 2)),
    ]
    file = place / f"{game}.toml"
    file.write_text(
        f'seed = "pages"\nbots = [{", ".join(entries[:players])}]\n'
        f'[game]\nid = "{game}"\nplayers = {players}\noptions = {options}\n[format]\ndeals = 1\n',
        "utf-8",
    )
    results = ["--results", str(place / "results")]
    run("league", "run", str(file), *results, "--quiet")
    run("league", "report", str(file), *results)
    return place / "results" / game / "report"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def over_http(site: Path) -> tuple[ThreadingHTTPServer, str]:
    """A plain web server of a folder on this machine."""
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    Thread(target=serving.serve_forever, daemon=True).start()
    return serving, f"http://127.0.0.1:{serving.server_port}/"


def is_at(page: Any, told: str) -> None:
    """Wait until the replay shows a line."""
    wait(page, f"() => ({_AT})() === '{told}'")


def go_by_turns(page: Any, last: int) -> None:
    """Arrows lead from turn to turn, with Shift from step to step; who wants no result sees none before the end."""
    turn = "() => document.querySelector('#strip .now').getAttribute('d')"
    click(page, page.query_selector("#forth"))
    first = page.evaluate(turn)
    click(page, page.query_selector("#forth"))
    wait(page, f"() => ({turn})() !== '{first}'")
    at = int(page.evaluate(_AT))
    page.keyboard.press("Shift+ArrowLeft")
    is_at(page, str(at - 1))
    page.keyboard.press("Shift+ArrowRight")
    is_at(page, str(at))
    page.keyboard.press("ArrowLeft")
    wait(page, f"() => ({turn})() === '{first}'")
    click(page, page.query_selector("#quiet"))
    assert not page.is_visible("#outcome")
    assert not page.is_visible("#facts .result")
    page.keyboard.press("End")
    is_at(page, str(last))
    assert page.is_visible("#outcome")
    click(page, page.query_selector("#quiet"))
    page.evaluate("() => { location.hash = 'n=3'; }")  # as a link to a moment does
    is_at(page, "3")


def click_through(page: Any, root: str) -> int:
    """Click through a site; how many things were tried."""
    page.goto(root + "index.html")
    is_ready(page)
    click(page, page.query_selector("#list tbody a"))
    wait(page, "() => document.getElementById('position')?.textContent")
    is_ready(page)
    last = page.evaluate("() => Number(document.getElementById('slider').max)")
    # The middle of the line is the middle of the match: the end of the turn of that step.
    click(page, page.query_selector("#slider"))
    wait(page, f"() => Math.abs(({_AT})() - {last / 2}) <= {last} / 4")
    page.wait_for_timeout(500)  # the list has scrolled to that line
    page.keyboard.press("Home")
    click(page, page.query_selector("#line-3"))
    is_at(page, "3")
    click(page, page.query_selector(".standing"))
    wait(page, "() => document.querySelector('.standing').getAttribute('aria-pressed') === 'true'")
    click(page, page.query_selector("#copy"))
    wait(page, "() => document.getElementById('copy').textContent === 'copied'")
    assert page.url.endswith("#n=3&as=0"), page.url
    if page.context.browser.browser_type.name == "chromium":  # elsewhere the clipboard may not be read
        assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    click(page, page.query_selector("#everything"))
    wait(page, "() => document.querySelector('.standing').getAttribute('aria-pressed') === 'false'")
    go_by_turns(page, last)
    # What is saved is seen where it is made: not every browser tells scripts of its downloads.
    page.evaluate(
        "() => { const made = URL.createObjectURL.bind(URL);"
        " URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved = text)); return made(blob); } }"
    )
    click(page, page.query_selector("#save"))
    wait(page, "() => window.saved")
    lines = page.evaluate("() => window.saved").splitlines()
    assert json.loads(lines[0])["id"] in page.url
    before = page.url.partition("#")[0]
    way = "#after" if page.is_visible("#after") else "#before"
    click(page, page.query_selector(way))
    wait(page, f"() => !location.href.startsWith({before!r})")
    is_ready(page)
    click(page, page.query_selector("#before" if way == "#after" else "#after"))
    wait(page, f"() => location.href.startsWith({before!r})")
    is_ready(page)
    # A link that plays, in a frame of another page.
    page.goto("about:blank")
    page.goto(f"{before}?embed#play&n=1")
    is_ready(page)
    assert not page.is_visible(".top")
    assert not page.is_visible("#log")
    assert page.is_visible("#board")
    wait(page, f"() => ({_AT})() > 1")
    click(page, page.query_selector("#play"))
    assert page.evaluate("() => !document.getElementById('play').classList.contains('playing')")
    return 9


def look(
    browser: Any, game: str, root: str, match: str, bot: str, width: int, out: Path, *, dark: bool
) -> list[str]:
    """What axe finds on the pages of one game: league, match, bot and play."""
    found: list[str] = []
    places = {"league": "index.html", "match": f"matches/{match}#n=60", "bot": f"bots/{bot}"}
    for kind, where in places.items():
        name = f"{game}-{kind}-{width}{'-dark' if dark else ''}"
        with page_of(browser, width, dark=dark, bare=True) as page:
            page.goto(root + where)
            if kind != "bot":  # whose scripts only show times
                is_ready(page)
            shoot(page, out / f"{name}.png", whole=True)
            found += axe(page, name)
    words = ("play", game, "bots/random-python", "--no-browser", "--seed", "axe")
    with server(*words) as (_, address), page_of(browser, width, dark=dark, bare=True) as page:
        page.goto(address)
        wait(page, "() => document.querySelector('#moves button')")
        name = f"{game}-play-{width}{'-dark' if dark else ''}"
        shoot(page, out / f"{name}.png", whole=True)
        found += axe(page, name)
        click(page, page.query_selector("#first-turn"))
        wait(page, "() => document.getElementById('lesson-count').textContent")
        click(page, page.query_selector("#lesson-next"))
        shoot(page, out / f"{name}-first-turn.png")
        found += axe(page, f"{name}-first-turn")
        page.goto(f"{address}docs/{game}")
        found += axe(page, f"{name}-rules")
    return found


def main() -> int:
    """Click, or look; 1 if axe finds something."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--widths", nargs="+", type=int, default=[1440, 390])
    parser.add_argument("--browsers", nargs="+", choices=BROWSERS, default=list(BROWSERS))
    parser.add_argument("--axe", action="store_true", help="let axe look instead, in the first browser")
    parser.add_argument("--out", type=Path, default=Path("dist/pages"), help="where screenshots go")
    args = parser.parse_args()
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        sites = {game: make_site(game, Path(folder)) for game in args.games}
        for name in args.browsers[:1] if args.axe else args.browsers:
            with started(name) as browser:
                for game, site in sites.items():
                    for width in args.widths:
                        # Over a server: from the disk, pages have neither a clipboard nor files that axe may read.
                        serving, root = over_http(site)
                        if args.axe:
                            match, bot = (
                                min(file.name for file in (site / kind).glob("*.html"))
                                for kind in ("matches", "bots")
                            )
                            for dark in (False, True):
                                found += look(browser, game, root, match, bot, width, args.out, dark=dark)
                            told = f"axe has found {len(found)}"
                        else:
                            with page_of(browser, width) as page:
                                told = f"{click_through(page, root)} things do what they say"
                        serving.shutdown()
                        print(f"{name}, {game} at {width} px: {told}", flush=True)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
