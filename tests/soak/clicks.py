"""Plays a whole match of each game in real browsers by clicks on the board, and keeps screenshots.

What is clicked is what a person sees glow: it is found in the picture of the page. First the board of each table is
loaded, loaded anew and shown in other sizes, and all that glows must take a click each time. Then a match is played:
only what has no place on the board, such as the end of a turn, is clicked in the list. Its record must hold.

    make clicks                                            all games, 1440 and 390 pixels wide, both browsers
    make clicks CLICKS='--games sheets --widths 390 --browsers firefox'
    .venvs/browsers/bin/python tests/soak/clicks.py --dark
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from browsers import BROWSERS, page_of, press, run, server, shoot, started, wait
from glow import glowing

GAMES = {"aliens": ["max_turns=24"], "captains": ["max_rounds=6"], "coasters": ["max_rounds=8"], "sheets": []}
_SHOTS = (0, 12, 40)
"""After so many choices a screenshot is taken, and one at the end."""
_MAX = 4000
_PRESS_MS = 60_000
_END_S = 120
_TABLES = {"aliens": (2,), "captains": (2, 5), "coasters": (2, 6), "sheets": (2, 3, 4)}
"""At how many seats the board of each game is looked at."""
_SIZES = ((1280, 800), (1024, 768), (1920, 1080), (390, 844))
_MOST = 10
_READY = """() => !document.getElementById('over').hidden || !document.getElementById('menu').hidden ||
    (document.body.getAttribute('aria-busy') !== 'true' &&
        document.querySelector('#moves button, #ends button, #send:enabled'))"""
_TOLD = """() => JSON.stringify([document.getElementById('menu').hidden, document.getElementById('chosen').textContent,
    document.getElementById('moves-title').textContent, document.getElementById('moves').textContent,
    [...document.querySelectorAll('main .picked')].map((made) => made.dataset.id)])"""
"""What a click on the board changes, whatever it chooses."""


def look(browser: Any, game: str, players: int, out: Path, *, dark: bool) -> int:
    """Click whatever glows once the board is loaded, loaded anew and in another size; how many clicks it took."""
    clicks = 0
    words = ["play", game, *["bots/random-python"] * (players - 1), "--no-browser", "--seed", "glow"]
    with server(*words) as (_, address), page_of(browser, _SIZES[0][0], dark=dark) as page:
        page.goto(address)
        wait(page, _READY)
        page.evaluate("() => document.getElementById('hold').click()")  # so that a choice can be taken back
        wait(page, "() => !document.getElementById('send').hidden")
        for width, height in _SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for load in (lambda: page.goto(address), page.reload):
                load()
                clicks += _try_all(page)
            shoot(page, out / f"{game}-of-{players}-{width}-{browser.browser_type.name}.png")
        for width, height in _SIZES:
            page.set_viewport_size({"width": width, "height": height})
            clicks += _try_all(page)
    return clicks


def _try_all(page: Any) -> int:
    """Click on things that glow, all if they are few, and take each back; how many there were."""
    wait(page, _READY)
    page.wait_for_timeout(300)  # as long as a person takes to look
    found = glowing(page)
    found = Random(0).sample(found, min(len(found), _MOST))
    assert found, f"nothing glows at {page.viewport_size}"
    top = page.evaluate("scrollY")
    for at in found:
        page.evaluate(
            "(top) => scrollTo({ top, behavior: 'instant' })", top
        )  # the page may have become shorter
        told = page.evaluate(_TOLD)
        _click(page, at)
        wait(page, _READY)
        page.keyboard.press("Escape")
        page.keyboard.press("u")  # a click on the button might scroll the page
        wait(page, f"() => ({_TOLD})() === {json.dumps(told)}", tries=500)
    return len(found)


def play(browser: Any, game: str, width: int, out: Path, *, dark: bool, seed: str) -> tuple[int, int, float]:
    """Play one match; how often was clicked on the board and in the list, and how long it took in seconds."""
    name = f"{game}-{width}-{browser.browser_type.name}{'-dark' if dark else ''}"
    options = [word for option in GAMES[game] for word in ("--option", option)]
    with tempfile.TemporaryDirectory() as place:
        record = str(Path(place, "one.jsonl"))
        words = ["play", game, "bots/random-python", "--no-browser", "--seed", seed, "--record", record]
        with server(*words, *options) as (running, address), page_of(browser, width, dark=dark) as page:
            page.goto(address)
            page.select_option("#speed", "0")
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
    on_board = in_list = 0
    for step in range(_MAX):
        wait(page, _READY)
        if step in _SHOTS:
            shoot(step)
        if page.is_visible("#over"):
            return on_board, in_list
        if page.is_visible("#menu"):
            on_board += _press(rng.choice(page.query_selector_all("#menu button")))
            continue
        if page.is_enabled("#send"):  # a turn of several parts that a click on the board has completed
            in_list += _press(page.query_selector("#send"))
            continue
        found = glowing(page)
        # Now and then what is only in the list: else a turn might never end.
        if not found or (rng.random() < 0.15 and not page.query_selector("main .picked")):
            placeless = _placeless(page)
            assert found or placeless, "what can be chosen has a place on the board, and nothing glows"
            if placeless:
                in_list += _press(rng.choice(placeless))
                continue
        on_board += _click(page, rng.choice(found))
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


def _placeless(page: Any) -> list[Any]:
    """What ends the turn, and the first entries of the list that touch nothing: pointing at one marks nothing."""
    found = page.query_selector_all("#ends button")
    folded = page.is_visible("#counted") and not page.is_visible("#moves button")
    if folded:
        page.click("#counted", timeout=_PRESS_MS)
    for button in page.query_selector_all("#moves button")[:9]:
        button.hover(timeout=_PRESS_MS)
        if not page.query_selector("main .halo.aimed"):
            found.append(button)
    if folded and not found:
        page.click("#counted", timeout=_PRESS_MS)
    return found


def _click(page: Any, at: tuple[int, int]) -> bool:
    """Click where something glows, which must change what is chosen."""
    told = page.evaluate(_TOLD)
    press(page, at)
    try:
        wait(page, f"() => ({_TOLD})() !== {json.dumps(told)}", tries=500)
    except AssertionError:
        shoot(page, Path("dist/clicks/dead.png"))
        raise AssertionError(f"what glows at {at} takes no click, at {page.viewport_size}") from None
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
                for players in _TABLES[game]:
                    clicks = look(browser, game, players, args.out, dark=args.dark)
                    print(f"{name}, {game} of {players}: {clicks} things that glow take a click", flush=True)
                for width in args.widths:
                    on_board, in_list, took_s = play(
                        browser, game, width, args.out, dark=args.dark, seed=args.seed
                    )
                    told = f"{on_board} clicks on the board, {in_list} in the list, {took_s:.0f} s"
                    print(f"{name}, {game} at {width} px: {told}", flush=True)
    print(f"screenshots in {args.out}")


if __name__ == "__main__":
    main()
