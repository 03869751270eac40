#!/usr/bin/env python3
"""Write the folders of the opponents below bots/opponents: one for each game and level.

python scripts/opponents.py            bring them up to date
python scripts/opponents.py --check    exit code 1 if they are not

A bot is known by what is in its folder. So its version ends with a digest of the program that it runs, which lies in
the package: whoever changes the program makes new bots.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "harness" / "warpleague" / "opponents"
FOLDERS = ROOT / "bots" / "opponents"
VERSION = "1.0"
LEVELS = {2: "weak", 3: "fair", 4: "good", 5: "strong"}
SHARED = ("__main__", "player")


def games() -> list[str]:
    """The games that have opponents."""
    return [
        game for game in ("aliens", "captains", "coasters", "sheets") if (PROGRAM / f"{game}.py").exists()
    ]


def version(game: str) -> str:
    """The version of a game's opponents."""
    digest = sha256()
    for path in sorted(PROGRAM.iterdir()):
        if path.is_file() and (path.stem in SHARED or path.stem.partition("_")[0] == game):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{VERSION}+{digest.hexdigest()[:8]}"


def manifest(game: str, level: int) -> str:
    """The `bot.toml` of a level."""
    return f"""\
# Made by scripts/opponents.py: {LEVELS[level]}, level {level} of 5. The first level is bots/random-python.
name = "{game}-{level}"
version = "{version(game)}"
authors = ["The Warp League authors"]
games = ["{game}"]
run = ["python3", "-P", "-m", "warpleague.opponents", "{game}", "{level}"]
reusable = true
"""


def main() -> int:
    """Write what is not as it should be; with --check only name it."""
    stale = []
    for game in games():
        for level in LEVELS:
            path = FOLDERS / f"{game}-{level}" / "bot.toml"
            text = manifest(game, level)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path)
                if "--check" not in sys.argv[1:]:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        print(f"{len(stale)} opponents are out of date: run python scripts/opponents.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
