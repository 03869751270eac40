"""Lets a chess engine that speaks UCI play openspiel:chess: `engine.toml` says which one, and how.

The engine runs as a child of this program, so its processor time is the bot's.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from warpline.client import Reply, run

MARGIN_S = 0.05  # kept of each decision for the way there and back
WHITE = 1  # OpenSpiel's seat of the white pieces
PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/bin"))


class Engine:
    """A running engine; `say` writes a line, `until` reads lines up to the one that begins with a word."""

    def __init__(self, config):
        program, *rest = config["command"]
        found = shutil.which(program, path=PLACES)
        if found is None:
            sys.exit(f"engine.toml: command: {program} is not installed here")
        self.process = subprocess.Popen(
            [found, *rest], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.say("uci")
        self.until("uciok")
        for name, value in config.get("options", {}).items():
            text = str(value).lower() if isinstance(value, bool) else value
            self.say(f"setoption name {name} value {text}")
        self.say("ucinewgame")
        self.say("isready")
        self.until("readyok")

    def say(self, line):
        print(line, file=self.process.stdin, flush=True)

    def until(self, word):
        lines = []
        for line in self.process.stdout:
            lines.append(line.split())
            if lines[-1][:1] == [word]:
                return lines
        sys.exit(f"the engine ended with status {self.process.wait()}")


class Player:
    """Puts each question to the engine, and counts how long it has been losing."""

    def __init__(self, config):
        self.config = config
        self.engine = Engine(config)
        self.lost = 0

    def choose(self, question):
        moves = question.state["moves"]
        self.engine.say(f"position startpos{' moves ' if moves else ''}{' '.join(moves)}")
        self.engine.say(f"go {limits(question, self.config.get('go', 'clock'))}")
        *thoughts, best = self.engine.until("bestmove")
        names = [action.get("move") for action in question.legal]
        centipawns, depth = judged(thoughts)
        resign = self.config.get("resign")
        if resign and centipawns is not None:
            self.lost = self.lost + 1 if centipawns <= resign["centipawns"] else 0
            if self.lost >= resign["moves"] and question.options_to("resign"):
                return question.options_to("resign")[0]
        if best[1] not in names:
            sys.exit(f"the engine answers {best[1]}, which is not legal")
        if centipawns is None:
            return names.index(best[1])
        share = 1 / (1 + 10 ** (-max(-4000, min(4000, centipawns)) / 400))
        return Reply(names.index(best[1]), note=f"{centipawns} centipawns, depth {depth}", value=share)


def limits(question, go):
    """The words after `go`: the engine's own limit, or the clock of the match in milliseconds."""
    if isinstance(go, dict):
        return " ".join(f"{name} {value}" for name, value in go.items())
    if question.time_s is None:
        return "movetime 1000"
    left = question.clock.get("bank_s")
    if left is None:
        return f"movetime {millis(question.time_s)}"
    added = millis(question.of.clock.get("increment_s") or 0, 0)
    mine, other = ("w", "b") if question.seat == WHITE else ("b", "w")
    words = f"{mine}time {millis(left)} {other}time {millis(left)} winc {added} binc {added}"
    return words if question.clock.get("move_s") is None else f"{words} movetime {millis(question.time_s)}"


def millis(seconds, margin_s=MARGIN_S):
    """Whole milliseconds of what is left of `seconds` without the margin."""
    return max(1, int(1000 * (seconds - min(margin_s, seconds / 2))))


def judged(thoughts):
    """The last score in centipawns for the side to move, and its depth; None where there is none."""
    for words in reversed(thoughts):
        if words[:1] == ["info"] and "score" in words:
            kind, number = words[words.index("score") + 1 : words.index("score") + 3]
            depth = words[words.index("depth") + 1] if "depth" in words else "?"
            if kind == "mate":
                return (100_000 if int(number) > 0 else -100_000), depth
            return int(number), depth
    return None, "?"


if __name__ == "__main__":
    player = Player(tomllib.loads(Path("engine.toml").read_text(encoding="utf-8")))
    run(player.choose, wants=("state", "legal"))
