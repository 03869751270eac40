"""Clicks through the pages of an arena in real browsers, and lets axe look for what hinders people.

A server plays a league of bots that take their time. In each browser, wide and as a phone: the home page leads to a
match that is being played and to a result, the page of a league to a bot and to its matches, and an organiser declares
a match void and pauses a league; what does harm does nothing before it asked back. No page is wider than the screen.
With --axe instead: on every kind of page of a server axe finds no violation, in light and in dark colours.

    make clicks     make axe
"""

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from collections.abc import Iterator

from browsers import BROWSERS, WARPLEAGUE, axe, click, is_ready, page_of, shoot, started, wait

_BOT = """
import time
from random import Random

from warpline.client import run


def choose(question):
    time.sleep(0.12)
    return Random(f"{question.seed} {question.id}").randrange(len(question.legal))


run(choose, wants=("legal",))
"""
_WIDTH = "() => document.documentElement.scrollWidth - window.innerWidth"


class Arena:
    """A server with two leagues, one of them for bots of strangers, an organiser's token, and an invitation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        bot = folder / "slow"
        bot.mkdir()
        (bot / "bot.py").write_text(_BOT, "utf-8")
        (bot / "bot.toml").write_text(
            'name = "slow"\nversion = "1"\ngames = ["*"]\nrun = ["python3", "bot.py"]\nauthors = ["Ada"]\n',
            "utf-8",
        )
        bots = '"slow", { path = "slow", name = "slower" }'
        for name, level in (("open", "none"), ("strangers", "sandbox")):
            (folder / f"{name}.toml").write_text(
                f'bots = [{bots}]\n[game]\nid = "coasters"\noptions = {{ max_rounds = 8 }}\n'
                f'[format]\nkind = "ladder"\n[run]\njobs = 1\n[rules]\nlevel = "{level}"\n',
                "utf-8",
            )
        self.token = self.run("arena", "author", "add", "olga", "--organiser").splitlines()[-1].strip()
        self.run("arena", "pause", "strangers.toml")  # it takes bots, and only the other one plays

    def run(self, *words: str, **more: str) -> str:
        """What a command of ours prints in the folder of the arena."""
        command = [str(Path(WARPLEAGUE[0]).absolute()), *words]
        done = subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True, env={**os.environ, **more}
        )
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the leagues."""
        command = [str(Path(WARPLEAGUE[0]).absolute()), "serve", "open.toml", "strangers.toml", "--port", "0"]
        with (self.folder / "log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            assert process.stdout is not None
            self.address = process.stdout.readline().split()[1].rstrip("/")
            yield
        finally:
            process.terminate()
            process.wait(60)

    def log_in(self, page: Any) -> None:
        """Give the organiser's token to the page, by typing."""
        page.goto(f"{self.address}/submit")
        click(page, page.query_selector("[name=token]"))
        page.keyboard.type(self.token)
        click(page, page.query_selector("main button"))
        wait(page, "() => document.querySelector('main a[href=\"/organise\"]')")

    def is_played(self, browser: Any) -> str:
        """The id of a match that was played, once there is one, and the page of its league."""
        with page_of(browser, 1440) as page:
            page.goto(self.address)
            is_ready(page)
            wait(page, "() => document.querySelectorAll('#latest li a').length > 1")
            wait(page, "() => document.querySelector('#leagues .bot')")
            found: str = page.query_selector("#latest li a").get_attribute("href")
            return found.rpartition("/")[2].removesuffix(".html")


def fits(page: Any, name: str) -> None:
    """No page is wider than the screen."""
    over = page.evaluate(_WIDTH)
    assert over <= 0, f"{name} is {over} px too wide"


def click_through(arena: Arena, page: Any, out: Path) -> int:
    """Click through the arena; how many things were tried."""
    home = arena.address + "/"
    page.goto(home)
    is_ready(page)
    wait(page, "() => document.querySelector('#stage-title').textContent.startsWith('Now in')")
    wait(page, "() => document.querySelector('#board').childElementCount > 0")
    fits(page, "home")
    shoot(page, out / "home.png")
    click_when_there(page, "#playing li a")
    wait(page, "() => location.pathname.includes('/live/') || location.pathname.includes('/matches/')")
    wait(page, "() => document.querySelector('#board')?.childElementCount > 0")
    fits(page, "live")
    shoot(page, out / "live.png")
    page.goto(home)
    is_ready(page)
    click_when_there(page, "#latest li a")
    wait(page, "() => location.pathname.includes('/matches/')")
    is_ready(page)
    fits(page, "match")
    page.goto(home)
    is_ready(page)
    click_when_there(page, "#leagues h3 a")
    is_ready(page)
    fits(page, "league")
    click_when_there(page, "#bots .bot")
    wait(page, "() => location.pathname.includes('/bots/')")
    wait(page, "() => document.querySelectorAll('#course circle').length > 0")
    fits(page, "bot")
    shoot(page, out / "bot.png", whole=True)
    click(page, page.query_selector("#against td a"))
    is_ready(page)
    wait(page, "() => document.querySelector('#filter [name=other]').value !== ''")
    return 6 + decide(arena, page, out)


def click_when_there(page: Any, selector: str) -> None:
    """Click the first of what a selector finds; the lists of a page change while one looks."""
    before = page.url
    for _ in range(20):
        wait(page, f"() => document.querySelector({selector!r})")
        with suppress(Exception):  # it was replaced meanwhile
            click(page, page.query_selector(selector))
        for _ in range(50):
            if page.url != before:
                return
            page.wait_for_timeout(100)
    raise AssertionError(f"a click on {selector} leads nowhere")


def decide(arena: Arena, page: Any, out: Path) -> int:
    """What an organiser decides; a league is paused and goes on again."""
    arena.log_in(page)
    click(page, page.query_selector("main a[href='/organise']"))
    void = "form:has(input[value=replay])"
    wait(page, f"() => document.querySelector('{void} option:nth-child(2)')")
    fits(page, "organise")
    shoot(page, out / "organise.png", whole=True)
    page.select_option(f"{void} [name=match]", index=1)
    click(page, page.query_selector(f"{void} [name=reason]"))
    page.keyboard.type("the power failed")
    decided = "() => document.body.innerText.includes('asked to declare match')"
    before = page.evaluate(decided)
    click(page, page.query_selector(f"{void} button"))
    page.wait_for_timeout(300)
    assert page.evaluate(decided) == before, "done without asking back"
    click(page, page.query_selector(f"{void} [type=checkbox]"))
    click(page, page.query_selector(f"{void} button"))
    wait(page, decided)
    for word, told in (("pause", "true"), ("resume", "false")):
        form = f"form:has(input[value={word}]):has(input[value=open]) button"
        page.goto(arena.address + "/organise")
        click(page, page.query_selector(form))
        page.wait_for_timeout(300)
        for _ in range(60):
            page.goto(arena.address + "/l/open/")
            is_ready(page)
            if page.evaluate(f"() => document.body.innerText.includes('The league is paused') === {told}"):
                break
            page.wait_for_timeout(500)
        else:
            raise AssertionError(f"the page of the league does not show: {word}")
    return 4


def look(arena: Arena, browser: Any, match: str, width: int, out: Path, *, dark: bool) -> list[str]:
    """What axe finds on every kind of page of the server."""
    link = arena.run("arena", "invite", "--to", arena.address).split()
    (join,) = [word for word in link if "/join/" in word]
    places = {
        "home": "/",
        "league": "/l/open/",
        "bot": "/l/open/bots/slow",
        "match": f"/l/open/matches/{match}.html",
        "bots": "/bots",
        "authors": "/authors",
        "docs": "/docs/",
        "rules": "/rules/coasters",
        "conditions": "/l/open/conditions",
        "wait": "/l/open/bots/NOBODY/live",
        "notice": "/l/open/bots/NOBODY",
        "login": "/submit",
        "join": join.removeprefix(arena.address),
        "live": "",
        "submit": "/submit",
        "organise": "/organise",
    }
    found: list[str] = []
    for kind, where in places.items():
        name = f"arena-{kind}-{width}{'-dark' if dark else ''}"
        # A page that answers 404 logs an error.
        with page_of(browser, width, dark=dark, bare=True, quiet=kind in ("wait", "notice")) as page:
            if kind in ("submit", "organise"):
                arena.log_in(page)
            if kind == "live":
                page.goto(arena.address)
                click_when_there(page, "#playing li a")
                wait(page, "() => document.querySelector('#board')?.childElementCount > 0")
            else:
                page.goto(arena.address + where)
            if kind in ("home", "league", "match"):
                is_ready(page)
            fits(page, name)
            shoot(page, out / f"{name}.png", whole=True)
            found += axe(page, name)
    return found


def main() -> int:
    """Click, or look; 1 if axe finds something."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--widths", nargs="+", type=int, default=[1440, 390])
    parser.add_argument("--browsers", nargs="+", choices=BROWSERS, default=list(BROWSERS))
    parser.add_argument("--axe", action="store_true", help="let axe look instead, in the first browser")
    parser.add_argument("--out", type=Path, default=Path("dist/pages"), help="where screenshots go")
    args, _ = parser.parse_known_args()
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder))
        with arena.serving():
            for name in args.browsers[:1] if args.axe else args.browsers:
                with started(name) as browser:
                    match = arena.is_played(browser)
                    for width in args.widths:
                        if args.axe:
                            for dark in (False, True):
                                found += look(arena, browser, match, width, args.out, dark=dark)
                            told = f"axe has found {len(found)}"
                        else:
                            with page_of(browser, width) as page:
                                many = click_through(arena, page, args.out / f"arena-{name}-{width}")
                            told = f"{many} things do what they say"
                        print(f"{name}, the arena at {width} px: {told}", flush=True)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
