"""Lets a go engine that speaks GTP play openspiel:go: `engine.toml` says which one.

The engine runs as a child of this program, so its processor time is the bot's.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from warpline.client import run

PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/bin"))


class Engine:
    """A running engine, and the moves that it knows of."""

    def __init__(self, command):
        program, *rest = command
        found = shutil.which(program, path=PLACES)
        if found is None:
            sys.exit(f"engine.toml: command: {program} is not installed here")
        self.process = subprocess.Popen(
            [found, *rest], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.known = None
        self.ask("name")

    def ask(self, command):
        """What the engine answers; the program ends if it refuses the command."""
        print(command, file=self.process.stdin, flush=True)
        answer = []
        for line in self.process.stdout:
            if line.strip():
                answer.append(line.strip())
            elif answer:
                break
        if not answer or not answer[0].startswith("="):
            sys.exit(f"the engine refuses {command!r}: {' '.join(answer) or 'it has ended'}")
        return " ".join(answer)[1:].strip()

    def follow(self, moves, setup):
        """Bring the engine to the position after `moves`, such as `B e5`."""
        if self.known is None or moves[: len(self.known)] != self.known:
            size = re.search(r"board_size=(\d+)", setup)
            komi = re.search(r"komi=([\d.]+)", setup)
            self.ask(f"boardsize {size[1] if size else 19}")
            self.ask(f"komi {komi[1] if komi else 7.5}")
            self.ask("clear_board")
            self.known = []
        for move in moves[len(self.known) :]:
            self.ask(f"play {move}")
        self.known = list(moves)


def player(engine):
    """A function that puts each question to the engine."""

    def choose(question):
        engine.follow(question.state["moves"], question.setup["game"])
        colour = "BW"[question.seat]
        best = engine.ask(f"genmove {colour}")
        names = [action.get("move", "").upper() for action in question.legal]
        resigning = question.options_to("resign")
        if best.upper() == "RESIGN" and resigning:
            return resigning[0]
        wanted = f"{colour} {best.upper()}"
        if wanted not in names:  # to resign where that is no option, or a repetition that OpenSpiel forbids
            wanted = f"{colour} PASS"
            engine.known = None
        else:
            engine.known.append(question.legal[names.index(wanted)]["move"])
        return names.index(wanted)

    return choose


if __name__ == "__main__":
    config = tomllib.loads(Path("engine.toml").read_text(encoding="utf-8"))
    run(player(Engine(config["command"])), wants=("state", "legal"))
