"""Plays a whole match of each game in a real browser by clicks on the board alone, and keeps screenshots.

A place that glows is clicked while there is one; only what has no place on the board, such as the end of a turn, is
clicked in the list. The record of each match must hold. It needs Playwright (pip install playwright), and the Chromium
of the system or the Firefox that `playwright install firefox` brings.

    python tests/soak/clicks.py --out dist/clicks                     all games, 1440 and 390 pixels wide
    python tests/soak/clicks.py --games sheets --widths 390 --dark
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

GAMES = {
    "aliens": ["max_turns=24"],
    "captains": ["max_rounds=6"],
    "coasters": ["max_rounds=8"],
    "sheets": [],
}
_SHOTS = (0, 12, 40)
"""After so many choices a screenshot is taken, and one at the end."""
_MOST = 4000
_HOT = "#stage .hot"


def play(browser: Any, game: str, width: int, out: Path, *, dark: bool, seed: str) -> tuple[int, int, float]:
    """Play one match; how often was clicked on the board and in the list, and how long it took in seconds."""
    name = f"{game}-{width}{'-dark' if dark else ''}"
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "one.jsonl")
        options = [word for option in GAMES[game] for word in ("--option", option)]
        command = [sys.executable, "-m", "warpleague", "play", game, "bots/random-python", "--no-browser"]
        server = subprocess.Popen(
            [*command, "--seed", seed, "--record", str(record), *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stderr is not None
            address = re.match(r"open (\S+)", server.stderr.readline())
            assert address, "the server does not say its address"
            page = browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
            )
            troubles: list[str] = []
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("console", lambda told: told.type == "error" and troubles.append(told.text))
            page.goto(address[1])
            page.select_option("#pace", "0")
            began = time.monotonic()
            counts = _choose_all(
                page, Random(seed), lambda step: page.screenshot(path=out / f"{name}-{step}.png")
            )
            took_s = time.monotonic() - began
            page.screenshot(path=out / f"{name}-end.png", full_page=True)
            assert not troubles, troubles
            page.click("#leave")
            _wait(page, "() => document.getElementById('status').textContent.includes('ended')")
            page.close()
            assert server.wait(20) == 0
            subprocess.run([sys.executable, "-m", "warpleague", "replay", "verify", str(record)], check=True)
        finally:
            server.kill()
    return (*counts, took_s)


def _choose_all(page: Any, rng: Random, shoot: Any) -> tuple[int, int]:
    """Choose until the match is over: on the board where it can be done there."""
    ready = """() => !document.getElementById('over').hidden || !document.getElementById('menu').hidden ||
        (document.body.getAttribute('aria-busy') !== 'true' && document.querySelector('#moves button'))"""
    on_board = in_list = 0
    for step in range(_MOST):
        _wait(page, ready)
        if step in _SHOTS:
            shoot(step)
        if page.is_visible("#over"):
            return on_board, in_list
        if page.is_visible("#menu"):
            found = page.query_selector_all("#menu button")
        else:
            found = page.query_selector_all(_HOT)
            # Now and then what is only in the list: else a turn might never end.
            if found and rng.random() < 0.15 and not page.query_selector("#stage .picked"):
                found = []
        if found:
            on_board += 1
            _click(page, rng.choice(found))
        else:
            in_list += 1
            rng.choice(page.query_selector_all("#moves button")[:9]).click()
    raise AssertionError(f"the match is not over after {_MOST} clicks")


def _wait(page: Any, ready: str) -> None:
    """Wait until a function is true; the page's policy forbids Playwright's own way of waiting."""
    for _ in range(1500):
        if page.evaluate(ready):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"waited in vain for {ready}; the page says: {page.inner_text('main')[:500]}")


def _click(page: Any, found: Any) -> None:
    """Click where a thing is drawn, as a person does: at its middle."""
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def main() -> None:
    """Play the matches that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--widths", nargs="+", type=int, default=[1440, 390])
    parser.add_argument("--browser", choices=("chromium", "firefox"), default="chromium")
    parser.add_argument("--dark", action="store_true", help="in dark colours")
    parser.add_argument("--seed", default="clicks")
    parser.add_argument("--out", type=Path, default=Path("dist/clicks"), help="where screenshots go")
    args = parser.parse_args()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("clicks.py needs Playwright: pip install playwright")
    args.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        system = shutil.which("chromium") if args.browser == "chromium" else None
        flags = ["--no-sandbox"] if args.browser == "chromium" else []
        browser = getattr(playwright, args.browser).launch(executable_path=system, args=flags)
        for game in args.games:
            for width in args.widths:
                on_board, in_list, took_s = play(
                    browser, game, width, args.out, dark=args.dark, seed=args.seed
                )
                print(
                    f"{game} at {width} px: {on_board} clicks on the board, {in_list} in the list, {took_s:.0f} s",
                    flush=True,
                )
        browser.close()
    print(f"screenshots in {args.out}")


if __name__ == "__main__":
    main()
