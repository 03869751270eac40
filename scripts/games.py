"""Writes what `warpleague games` says about our own games, so that it need not load them.

With `--check` nothing is written; the exit code is 1 when the file is not what it would be.
"""

from __future__ import annotations

import argparse
import json
import sys

from warpleague.cli.game_engine import describe
from warpleague.cli.games import LISTED
from warpleague.games import GAMES, load_game


def wanted() -> str:
    """The content of the file."""
    told = [describe(load_game(name)) for name in GAMES]
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the file, or check it; the exit code."""
    parser = argparse.ArgumentParser(description="Write what is said about our own games.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is stale")
    text = wanted()
    if LISTED.is_file() and LISTED.read_text(encoding="utf-8") == text:
        return 0
    if parser.parse_args().check:
        print(f"{LISTED} is stale: run scripts/games.py", file=sys.stderr)
        return 1
    LISTED.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
