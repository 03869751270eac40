"""Plays a whole match of each game in real browsers by clicks on the board alone, and keeps screenshots.

A place that glows is clicked while there is one; only what has no place on the board, such as the end of a turn, is
clicked in the list. What glows must take clicks: below the pointer must be the thing itself. The record of each match
must hold.

    make clicks                                            all games, 1440 and 390 pixels wide, both browsers
    make clicks CLICKS='--games sheets --widths 390 --browsers firefox'
    .venvs/browsers/bin/python tests/soak/clicks.py --dark
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from browsers import BROWSERS, page_of, run, server, shoot, started, wait

GAMES = {"aliens": ["max_turns=24"], "captains": ["max_rounds=6"], "coasters": ["max_rounds=8"], "sheets": []}
_SHOTS = (0, 12, 40)
"""After so many choices a screenshot is taken, and one at the end."""
_MAX = 4000
_PRESS_MS = 60_000
_END_S = 120
_HOT = "#stage [data-id].hot"
_OWN_POINT = """(made) => {
    made.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const { left, top, width, height } = made.getBoundingClientRect();
    const steps = [0.5, 0.3, 0.7, 0.15, 0.85];
    const points = steps.flatMap((down) => steps.map((right) => [left + right * width, top + down * height]));
    const below = ([x, y]) => document.elementFromPoint(x, y)?.closest('[data-id]');
    return { id: made.dataset.id, at: points.find((point) => below(point) === made), gone: !made.isConnected };
}"""
"""Where a thing is itself below the pointer: at its middle, else where nothing else lies on it."""


def play(browser: Any, game: str, width: int, out: Path, *, dark: bool, seed: str) -> tuple[int, int, float]:
    """Play one match; how often was clicked on the board and in the list, and how long it took in seconds."""
    name = f"{game}-{width}-{browser.browser_type.name}{'-dark' if dark else ''}"
    options = [word for option in GAMES[game] for word in ("--option", option)]
    with tempfile.TemporaryDirectory() as place:
        record = str(Path(place, "one.jsonl"))
        words = ["play", game, "bots/random-python", "--no-browser", "--seed", seed, "--record", record]
        with server(*words, *options) as (running, address), page_of(browser, width, dark=dark) as page:
            page.goto(address)
            page.select_option("#pace", "0")
            began = time.monotonic()
            counts = _choose_all(page, Random(seed), lambda step: shoot(page, out / f"{name}-{step}.png"))
            took_s = time.monotonic() - began
            shoot(page, out / f"{name}-end.png", whole=True)
            page.click("#leave")
            wait(page, "() => document.getElementById('status').textContent.includes('ended')")
            assert running.wait(_END_S) == 0
        run("replay", "verify", record)
    return (*counts, took_s)


def _choose_all(page: Any, rng: Random, shoot: Any) -> tuple[int, int]:
    """Choose until the match is over: on the board where it can be done there."""
    ready = """() => !document.getElementById('over').hidden || !document.getElementById('menu').hidden ||
        (document.body.getAttribute('aria-busy') !== 'true' && document.querySelector('#moves button'))"""
    on_board = in_list = 0
    for step in range(_MAX):
        wait(page, ready)
        if step in _SHOTS:
            shoot(step)
        if page.is_visible("#over"):
            return on_board, in_list
        if page.is_visible("#menu"):
            on_board += _press(rng.choice(page.query_selector_all("#menu button")))
            continue
        found = page.query_selector_all(_HOT)
        # Now and then what is only in the list: else a turn might never end.
        if found and rng.random() < 0.15 and not page.query_selector("#stage .picked"):
            found = []
        if found:
            on_board += _click(page, rng.choice(found))
        else:
            listed = page.query_selector_all("#moves button")[:9]
            if listed:  # else the page has heard of something meanwhile, and tells it first
                in_list += _press(rng.choice(listed))
    raise AssertionError(f"the match is not over after {_MAX} clicks")


def _press(button: Any) -> bool:
    """Click on a button of a list; False if the list is another meanwhile."""
    from playwright.sync_api import Error

    try:
        button.click(timeout=_PRESS_MS)
    except Error as error:
        if "not attached" not in str(error) and "not visible" not in str(error):
            raise
        return False
    return True


def _click(page: Any, hot: Any) -> bool:
    """Click on a thing that glows; False if it is gone meanwhile."""
    target = hot.evaluate(_OWN_POINT)
    if target["gone"]:
        return False
    assert target["at"], f"{target['id']} glows, and takes no clicks"
    page.mouse.click(*target["at"])
    return True


def main() -> None:
    """Play the matches that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--widths", nargs="+", type=int, default=[1440, 390])
    parser.add_argument("--browsers", nargs="+", choices=BROWSERS, default=list(BROWSERS))
    parser.add_argument("--dark", action="store_true", help="in dark colours")
    parser.add_argument("--seed", default="clicks")
    parser.add_argument("--out", type=Path, default=Path("dist/clicks"), help="where screenshots go")
    args = parser.parse_args()
    for name in args.browsers:
        with started(name, dark=args.dark) as browser:
            for game in args.games:
                for width in args.widths:
                    on_board, in_list, took_s = play(
                        browser, game, width, args.out, dark=args.dark, seed=args.seed
                    )
                    told = f"{on_board} clicks on the board, {in_list} in the list, {took_s:.0f} s"
                    print(f"{name}, {game} at {width} px: {told}", flush=True)
    print(f"screenshots in {args.out}")


if __name__ == "__main__":
    main()
