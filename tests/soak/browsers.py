"""Starts the Chromium and the Firefox of this machine for the scripts that click, and waits for what a page shows.

Playwright speaks to both; it brings no browser of its own here. `make clicks` and `make axe` install it.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
"""What each is called on a system."""

_OWN_STYLE = "sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA="
"""Of the style `body {}`, which Playwright puts into a page to take a picture, and the page's policy forbids."""

_PATIENCE_MS = 180_000
"""For what Playwright waits for by itself: a busy machine is no fault of a page."""

_PHONE_PX = 460
"""A page that is no wider is that of a phone: it is touched."""

WARPLEAGUE = [".venv/bin/warpleague"]
"""The command of the checkout: these scripts run in an environment of their own."""


@contextmanager
def started(name: str, *, dark: bool = False) -> Iterator[Any]:
    """A browser of this machine, without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("this needs Playwright: run it by `make clicks` or `make axe`")
    found = next(filter(None, map(shutil.which, BROWSERS[name])), None)
    if found is None:
        sys.exit(f"{name} is not installed here; on Debian: apt-get install {BROWSERS[name][0]}")
    with sync_playwright() as playwright:
        if name == "chromium":
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        else:
            # By WebDriver BiDi, which the Firefox of a system speaks; it does not know of emulated colours.
            colours = {"layout.css.prefers-color-scheme.content-override": 0 if dark else 1}
            browser = playwright.firefox.launch(
                executable_path=found, channel="moz-firefox", firefox_user_prefs=colours
            )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_of(
    browser: Any, width: int, *, dark: bool = False, bare: bool = False, quiet: bool = False
) -> Iterator[Any]:
    """A page so many pixels wide, in a context of its own; an error that it logs fails the run, unless it is `quiet`.

    A narrow one is that of a phone, and can be tapped.

    A `bare` page obeys no policy, so that scripts of ours can be put into it.
    """
    chromium = browser.browser_type.name == "chromium"
    more = {"color_scheme": "dark" if dark else "light"} if chromium else {}
    phone = width <= _PHONE_PX
    viewport = {"width": width, "height": 844 if phone else 900}
    context = browser.new_context(viewport=viewport, has_touch=phone, bypass_csp=bare, **more)
    if chromium:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    troubles: list[str] = []

    def heard(trouble: str) -> None:
        if _OWN_STYLE not in trouble:
            troubles.append(trouble)

    page.on("pageerror", lambda error: heard(str(error)))
    page.on("console", lambda told: told.type == "error" and heard(told.text))
    try:
        yield page
    finally:
        context.close()
    assert quiet or not troubles, troubles


@contextmanager
def server(*words: str, told: str = "open ") -> Iterator[tuple[Any, str]]:
    """A command of ours that serves pages, and the address that it tells in a line which begins with `told`."""
    running = subprocess.Popen(
        [*WARPLEAGUE, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert running.stderr is not None
        line = running.stderr.readline()
        assert line.startswith(told), f"the server does not say its address: {line}"
        yield running, line.split()[1]
    finally:
        running.kill()
        running.wait()
        for left in Path("results/play").glob("*.begun"):
            left.unlink()  # the next match with this seed begins anew


def wait(page: Any, ready: str, tries: int = 9000) -> None:
    """Wait until a function is true; the page's policy forbids Playwright's own way of waiting."""
    from playwright.sync_api import Error

    for _ in range(tries):
        try:
            if page.evaluate(ready):
                return
        except Error as error:
            if "context was destroyed" not in str(error) and "navigat" not in str(error):
                raise  # else the page is on its way to another
        page.wait_for_timeout(20)
    raise AssertionError(f"waited in vain for {ready}; the page says: {page.inner_text('main')[:500]}")


def click(page: Any, found: Any) -> bool:
    """Click where a thing is drawn, as a person does: at its middle; False if it is gone meanwhile."""
    # To the middle of the screen: at its end the controls of a replay lie over the page.
    found.evaluate(
        "(made) => made.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' })"
    )
    page.wait_for_timeout(100)  # what was out of sight is laid out only now
    box = found.bounding_box()
    if box is None:
        return False
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return True


def press(page: Any, at: tuple[int, int]) -> None:
    """Tap or click on a point, whichever the width of the page is for."""
    tapped = page.viewport_size["width"] <= _PHONE_PX and page.evaluate("navigator.maxTouchPoints > 0")
    (page.touchscreen.tap if tapped else page.mouse.click)(*at)


def shoot(page: Any, to: Path, *, whole: bool = False) -> None:
    """A picture of a page; nothing is put into the page for it, which its policy would forbid."""
    to.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=to, full_page=whole, caret="initial")


def run(*words: str) -> str:
    """What a command of ours prints; it must succeed."""
    return subprocess.run([*WARPLEAGUE, *words], check=True, capture_output=True, text=True).stdout


def is_ready(page: Any) -> None:
    """Wait until the scripts of a page have shown it."""
    wait(page, "() => document.body.classList.contains('ready')")


def axe(page: Any, name: str) -> list[str]:
    """What axe finds on a page, or on that to which it leads meanwhile, as a live page does when its match is over."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import Error

    for left in (2, 1, 0):
        try:
            results = Axe().run(page)
            break
        except Error as error:
            if "context was destroyed" not in str(error) or left == 0:
                raise
        page.wait_for_load_state()
    return [
        f"{name}: {found['id']}: {found['help']}: {node['html'][:160]}"
        for found in results.response["violations"]
        for node in found["nodes"][:3]
    ]
