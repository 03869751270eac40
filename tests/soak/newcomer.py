"""Goes the way of a new author in a real browser: from the start of a server to watching the own bot play.

An organiser starts the server and makes an author, who gets a token, uploads the Rust starter by the form, sees it
checked, and watches its match live. All of it is timed, and what is waited for is told apart from what the persons do:
each step costs them `--pace` seconds. It needs rustc, the sandbox, and a browser.

    .venvs/browsers/bin/python tests/soak/newcomer.py --times 5
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from browsers import BROWSERS, WARPLEAGUE, started

LEAGUE = """
bots = ["bots/ladder/aliens-5", "bots/ladder/aliens-4"]
[game]
id = "aliens"
[format]
kind = "ladder"
[clock]
move_s = 0.5
[rules]
level = "sandbox"
"""
BOT = "my-rust-bot"
_MAX_S, _MAX_WAITING_S = 120.0, 20.0


class Watch:
    """Tells what is waited for from what persons do, and prints each step with its time."""

    def __init__(self, pace_s: float) -> None:
        self.began = time.monotonic()
        self.waited_s = 0.0
        self.ended_s: float | None = None
        self.pace_s = pace_s

    def does(self, what: str) -> None:
        """A person does something: reads a page, types, clicks."""
        time.sleep(self.pace_s)
        print(f"{self.total_s:7.1f} s  {what}", flush=True)

    def waits(self, what: str, ready: Any, most_s: float = 180) -> Any:
        """Wait until `ready` returns something, and return that."""
        began = time.monotonic()
        while not (found := ready()):
            if time.monotonic() - began > most_s:
                print(f"waited in vain: {what}", flush=True)
                raise AssertionError(f"waited in vain: {what}")
            time.sleep(0.02)
        took_s = time.monotonic() - began
        if self.ended_s is None:
            self.waited_s += took_s
        print(f"{self.total_s:7.1f} s  {what}, after {took_s:.1f} s of waiting", flush=True)
        return found

    def ends(self) -> None:
        """All is done: what follows is no part of the way."""
        self.ended_s = time.monotonic()
        print(f"{self.total_s:.0f} s in all, {self.waited_s:.1f} s of these waiting", flush=True)

    @property
    def total_s(self) -> float:
        """Seconds since the beginning, up to the end."""
        return (self.ended_s or time.monotonic()) - self.began


def go(browser: Any, folder: Path, out: Path, pace_s: float) -> Watch:
    """Go the whole way; what it took."""
    command = [str(Path(word).absolute()) for word in WARPLEAGUE]

    def run(*words: str) -> str:
        return subprocess.run(
            [*command, *words], cwd=folder, check=True, capture_output=True, text=True
        ).stdout

    (folder / "open.toml").write_text(LEAGUE)
    watch = Watch(pace_s)
    token = run("arena", "author", "add", "olga", "--organiser").splitlines()[-1]
    watch.does("the organiser makes a token for herself")
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "serve", "open.toml", "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert server.stdout is not None
        line = watch.waits("the server is there", server.stdout.readline)
        address = next(word for word in line.split() if word.startswith("http")).rstrip("/")
        organiser = browser.new_context().new_page()
        organiser.goto(f"{address}/submit")
        organiser.fill("[name=token]", token)
        watch.does("the organiser gives her token to the page")
        organiser.click("text=go on")
        organiser.click("main >> text=Organise")
        organiser.fill("form[action='/organise/author'] [name=name]", "ada")
        watch.does("the organiser makes an author")
        organiser.click("text=add, and show the token")
        theirs = organiser.inner_text("#token")
        organiser.screenshot(path=out / "token.png")

        run("bot", "new", BOT, "--lang", "rust")
        watch.does("the author makes a bot in Rust")
        shutil.make_archive(str(folder / BOT), "zip", folder, BOT)
        watch.does("the author packs its folder as a zip file")
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(f"{address}/submit")
        page.fill("[name=token]", theirs)
        watch.does("the author gives the token to the page")
        page.click("text=go on")
        page.set_input_files("[name=archive]", str(folder / f"{BOT}.zip"))
        watch.does("the author chooses the file")
        page.screenshot(path=out / "form.png")
        page.click("button:text-is('submit')")
        state = watch.waits("the bot is checked", lambda: _settled(page))
        page.screenshot(path=out / "checked.png")
        assert state == "accepted", page.inner_text("main")
        watch.does("the author reads that it is accepted")
        page.click("#watch")
        watch.waits("moves of its match are seen", lambda: _moves(page))
        page.screenshot(path=out / "live.png")
        match = page.url
        watch.ends()
        assert BOT in page.inner_text("main")
        assert "/live/" in match, f"{match}: that is not the match as it is played"
        print("watched live")
        print(match)
        with suppress(AssertionError):  # the ladder may have asked it but once
            watch.waits("another match of it is seen, without a click", lambda: _other(page, match), 40)
    finally:
        server.terminate()
        server.wait(60)
        print((folder / "log").read_text()[-2000:] if server.returncode else "", end="")
    return watch


def _settled(page: Any) -> str:
    """The state of the submission, once it is settled; the page loads itself anew meanwhile."""
    try:
        state = page.locator("#state").get_attribute("data-state", timeout=2000)
    except Exception:  # noqa: BLE001 - between two pages; Playwright has an error of its own for it
        return ""
    return state if state in ("accepted", "refused", "failed") else ""


def _moves(page: Any) -> bool:
    """Whether moves are seen: the page of a bot waits for a match, and leads to it."""
    # Where a page has led is known only once something was asked of the browser.
    return bool(page.locator("#log li").count() > 2) and "/live/" in page.url


def _other(page: Any, before: str) -> bool:
    """Whether moves of another match are seen."""
    return _moves(page) and page.url != before


def main() -> None:
    """Go the way once."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("dist/newcomer"), help="where screenshots go")
    parser.add_argument("--browser", choices=sorted(BROWSERS), default="chromium")
    parser.add_argument(
        "--times", type=int, default=1, help="how often to go the way, each time from nothing"
    )
    parser.add_argument("--pace", type=float, default=4.0, help="seconds that a person takes for each step")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    good = 0
    for number in range(args.times):
        with tempfile.TemporaryDirectory() as folder, started(args.browser) as browser:
            os.environ["WARPLEAGUE_CACHE"] = str(Path(folder, "cache"))
            try:
                watch = go(browser, Path(folder), args.out, args.pace)
            except AssertionError as error:
                print(f"{number + 1}: {error}", flush=True)
                continue
        good += watch.total_s < _MAX_S and watch.waited_s < _MAX_WAITING_S
    print(f"{good} of {args.times} in time")
    sys.exit(0 if good == args.times else 1)


if __name__ == "__main__":
    main()
