"""Plays a match of each game, makes screenshots of its board, and checks the boards of random frames.

    python scripts/screenshots.py OUT [--frames N] [--record GAME=FILE ...]

OUT, outside the repository, gets pictures of the start, middle and end, light and dark, on a desk and on a phone. Then
N frames (300 unless told, 0: none) are checked at 390 pixels: no text below 9 pixels, none over another, and no mark
without an entry in the legend. Needs chromium on this machine; ends with 1 if a check fails.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

TABLES = {
    "aliens": ("aliens-search", "aliens-greedy"),
    "captains": ("captains-planner", "random-python", "captains-planner", "captains-planner"),
    "coasters": ("coasters-hunter", "random-python", "coasters-hunter", "coasters-diplomat"),
    "sheets": ("sheets-greedy", "random-python", "sheets-greedy", "sheets-greedy"),
}
DESK, PHONE, WALL = (1440, 900), (390, 844), (3840, 2160)
LEAST = 9
"""Pixels."""

CHECK = """
<!doctype html><meta charset="utf-8"><title>check</title>
<iframe id="page" src="PAGE#n=0" width="390" height="844"></iframe><pre id="found">nothing</pre>
<script>
const shown = (made) => made.getClientRects().length > 0 && getComputedStyle(made).display !== "none";
const over = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
  && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 2;
async function check() {
  const view = document.getElementById("page").contentWindow;
  const page = view.document;
  const found = [];
  for (const n of FRAMES) {
    view.location.hash = `n=${n}`;
    const shows = () => page.getElementById("position").textContent.split(" ")[0] === String(n);
    for (let tries = 0; tries < 50 && (tries < 4 || !shows()); tries += 1) {
      await new Promise((done) => setTimeout(done, 20));
    }
    for (const motion of page.getAnimations()) motion.finish(); // a piece that still glides is over what it passes
    const texts = [...page.querySelectorAll("#board text, .tray text")].filter(shown);
    for (const text of texts) {
      const size = Number(text.getAttribute("font-size")) * text.getScreenCTM().a;
      if (size < LEAST) found.push([n, "small", text.textContent, size]);
    }
    const boxes = texts.map((text) => [text, text.getBoundingClientRect()]);
    boxes.forEach(([one, box], at) => {
      for (const [other, second] of boxes.slice(at + 1)) {
        if (over(box, second)) found.push([n, "overlap", one.textContent, other.textContent]);
      }
    });
    const told = new Set([...page.querySelectorAll("#legend li")].map((entry) => entry.dataset.key));
    const kinds = page.querySelectorAll("#board [data-kind], .tray [data-kind]");
    const drawn = new Set([...kinds].map((one) => one.dataset.kind));
    const plain = new Set(PLAIN);
    for (const kind of drawn) if (!told.has(kind) && !plain.has(kind)) found.push([n, "not in the legend", kind]);
    for (const [mark, key] of Object.entries({ ".way": "ways", ".ghost": "moved", ".fresh": "fresh" })) {
      if (page.querySelector(`#board ${mark}`) && !told.has(key)) found.push([n, "not in the legend", key]);
    }
    for (const key of told) {
      const there = drawn.has(key) || ["ways", "moved", "fresh", "shot-line", "shot-down"].includes(key);
      if (!there && !page.querySelector(`#board .picture-${key}`)) found.push([n, "in the legend, not there", key]);
    }
    if (!shows()) found.push([n, "not shown"]);
  }
  document.getElementById("found").textContent = JSON.stringify(found);
  document.title = "done";
}
document.getElementById("page").addEventListener("load", () => setTimeout(check, 500), { once: true });
</script>
"""


def main() -> int:
    """Make the pictures, and check frames; 1 if a check finds something."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "out", type=Path, metavar="OUT", help="the folder for the pictures, outside the repository"
    )
    parser.add_argument(
        "--frames", type=int, default=300, help="how many frames to check (default %(default)s)"
    )
    parser.add_argument(
        "--record", action="append", default=[], metavar="GAME=FILE", help="a record to show instead"
    )
    parser.add_argument("--game", action="append", choices=TABLES, help="only this game")
    args = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        parser.error("chromium is not installed")
    if args.out.resolve().is_relative_to(root):
        parser.error("the pictures do not belong into the repository")
    args.out.mkdir(parents=True, exist_ok=True)
    records = dict(pair.split("=", 1) for pair in args.record)
    games = args.game or list(TABLES)
    failed, left = 0, args.frames
    for number, game in enumerate(games):
        page, lines = make_page(root, args.out, game, records.get(game))
        print(f"{game}: {lines} lines, a page of {page.stat().st_size:,} bytes")
        for name, frame in (("start", 0), ("middle", lines // 2), ("end", lines)):
            shoot(browser, page, args.out / f"{game}-{name}.png", frame, DESK)
            shoot(browser, page, args.out / f"{game}-{name}-phone.png", frame, PHONE)
        shoot(browser, page, args.out / f"{game}-dark.png", lines // 2, DESK, dark=True)
        shoot(browser, page, args.out / f"{game}-dark-phone.png", lines // 2, PHONE, dark=True)
        shoot(browser, page, args.out / f"{game}-wall.png", lines // 2, WALL)
        # What a short match cannot give, the games after it do.
        count = min(left // (len(games) - number), lines + 1)
        left -= count
        if count:
            frames = sorted(Random(game).sample(range(lines + 1), count))
            found = check(browser, root, args.out, page, game, frames)
            print(f"{game}: {len(frames)} frames checked, {len(found)} faults")
            for fault in found[:12]:
                print("  line", *fault)
            failed += len(found)
    return 1 if failed else 0


def make_page(root: Path, out: Path, game: str, record: str | None) -> tuple[Path, int]:
    """The page of a match, and how many lines it shows: all but its header, end and seal."""
    file = Path(record) if record else out / f"{game}.jsonl"
    command = [sys.executable, "-m", "warpleague"]
    if not record:
        bots = [str(root / "bots" / bot) for bot in TABLES[game]]
        play = [*command, "match", game, *bots, "--seed", "boards", "--record", str(file), "--force"]
        subprocess.run(play, check=True, capture_output=True)
    page = out / f"{game}.html"
    subprocess.run(
        [*command, "replay", "page", str(file), "-o", str(page), "--force"], check=True, capture_output=True
    )
    return page, sum(b'"type":"' in line for line in file.read_bytes().splitlines()[1:]) - 2


def run(browser: str, *arguments: str) -> str:
    """What chromium prints."""
    switches = ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--allow-file-access-from-files")
    call = [browser, *switches, "--disable-web-security", *arguments]
    return subprocess.run(call, check=True, capture_output=True, text=True, timeout=600).stdout


def shoot(
    browser: str, page: Path, to: Path, frame: int, size: tuple[int, int], *, dark: bool = False
) -> None:
    """One picture of a page; in a frame of its own, since a window cannot be as narrow as a phone."""
    width, height = size
    holder = to.with_suffix(".frame.html")
    address = html.escape(f"{page.name}#n={frame}")
    style = "margin:0;border:0;display:block"
    holder.write_text(
        f'<body style="margin:0"><iframe src="{address}" width={width} height={height} style="{style}"></iframe>'
    )
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    sizes = [f"--window-size={max(500, width)},{height}", "--virtual-time-budget=3000"]
    run(browser, *scheme, *sizes, f"--screenshot={to}", holder.as_uri())
    holder.unlink()


def check(
    browser: str, root: Path, out: Path, page: Path, game: str, frames: list[int]
) -> list[list[object]]:
    """The faults found in the frames: a line number, what is wrong, and with which texts."""
    sys.path.insert(0, str(root / "harness"))
    from warpleague.games import load_game

    engine = load_game(game)
    legend = engine.scene(engine.initial(engine.players[-1], engine.Options()), None).legend
    plain = [name for name, meaning in legend if not meaning] + ["sheet"]
    holder = out / f"{game}.check.html"
    values = {"PAGE": page.name, "FRAMES": frames, "LEAST": LEAST, "PLAIN": plain}
    text = CHECK
    for name, value in values.items():
        text = text.replace(name, value if isinstance(value, str) else json.dumps(value))
    holder.write_text(text)
    budget = f"--virtual-time-budget={150 * len(frames) + 20_000}"
    printed = run(browser, "--window-size=500,900", budget, "--dump-dom", holder.as_uri())
    holder.unlink()
    match = re.search(r'<pre id="found">(.*?)</pre>', printed, re.DOTALL)
    found = html.unescape(match[1]) if match else "nothing"
    if found == "nothing":
        raise SystemExit(f"{game}: the page could not be checked")
    return list(json.loads(found))


if __name__ == "__main__":
    sys.exit(main())
