"""Whether engines that speak UCI and GTP play as bots: clocks, notes, processor time, resigning, strength, PGN."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspiel
import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/games", "/usr/local/bin"))
RANDOM = str(ROOT / "bots" / "random-python")

needs_stockfish = pytest.mark.skipif(not shutil.which("stockfish", path=PLACES), reason="no stockfish here")
needs_gnugo = pytest.mark.skipif(not shutil.which("gnugo", path=PLACES), reason="no gnugo here")


def warpleague(*words: str, cwd: Path) -> Any:
    """What a command prints as JSON, if it is asked for that."""
    command = [sys.executable, "-m", "warpleague", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout) if "--json" in words else None


def stockfish(folder: Path, name: str, go: str, more: str = "") -> str:
    """A bot folder for Stockfish that thinks so long, with more lines of options."""
    bot = folder / name
    shutil.copytree(ROOT / "bots" / "uci-engine", bot)
    (bot / "bot.toml").write_text((bot / "bot.toml").read_text().replace('"uci-engine"', f'"{name}"'))
    text = (bot / "engine.toml").read_text()
    (bot / "engine.toml").write_text(text.replace('go = "clock"', f"go = {go}") + more)
    return str(bot)


def acts(record: Path, seat: int) -> list[dict[str, Any]]:
    """The decisions of a seat in a record."""
    lines = map(json.loads, record.read_text().splitlines())
    return [line for line in lines if line["type"] == "act" and line["seat"] == seat]


@needs_stockfish
def test_a_chess_engine_plays_within_its_clock(tmp_path: Path) -> None:
    """Stockfish beats a random bot on a bank of seconds without a fault, and its processor time is the bot's."""
    bot = stockfish(tmp_path, "fish", '"clock"')
    told = warpleague(
        *("match", "openspiel:chess", RANDOM, bot, "--bank-s", "3", "--increment-s", "0.02", "--json"),
        *("--seed", "1", "--record", "r.jsonl"),
        cwd=tmp_path,
    )
    assert (told["ranks"], told["faults"]) == ([2, 1], [None, None])
    played = acts(tmp_path / "r.jsonl", 1)
    assert all(
        "centipawns, depth" in act["note"] and 0 <= act["value"] <= 1 for act in played if "note" in act
    )
    wall_ms, cpu_ms = (sum(act["ms"][at] for act in played) for at in (0, 1))
    assert cpu_ms > 0.2 * wall_ms


@needs_stockfish
def test_a_losing_engine_resigns(tmp_path: Path) -> None:
    """An engine that takes every position for lost gives up after as many moves as it is told to."""
    losing = stockfish(tmp_path, "losing", "{ nodes = 50 }")
    path = tmp_path / "losing" / "engine.toml"
    path.write_text(
        path.read_text().replace("centipawns = -1000, moves = 4", "centipawns = 90000, moves = 3")
    )
    told = warpleague(
        *("match", "openspiel:chess", RANDOM, losing, "--option", "resign=true", "--json", "--seed", "1"),
        *("--record", "r.jsonl"),
        cwd=tmp_path,
    )
    assert (told["why"], told["ranks"]) == ("resigned", [1, 2])
    assert len(acts(tmp_path / "r.jsonl", 1)) == 3
    text = subprocess.run(
        [sys.executable, "-m", "warpleague.extras.bridges.pgn", "r.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    ).stdout
    assert '[White "losing"]' in text
    assert text.rstrip().endswith("0-1")


@needs_stockfish
def test_levels_of_stockfish_come_in_their_order(tmp_path: Path) -> None:
    """A gauntlet over drawn openings ranks three levels as they are known to be."""
    levels = {"weak": 0, "middle": 10, "strong": 20}
    for name, skill in levels.items():
        stockfish(tmp_path, name, "{ nodes = 1500 }", f'"Skill Level" = {skill}\n')
    lines = ["e2e4 e7e5", "d2d4 d7d5", "e2e4 c7c5", "c2c4 e7e5"]
    (tmp_path / "openings.toml").write_text(f"lines = {lines}")
    (tmp_path / "l.toml").write_text(
        f"""bots = {list(levels)}
[game]
id = "openspiel:chess"
options = {{ resign = true, move_limit = 160, openings = "openings.toml" }}
[format]
deals = 2
[clock]
move_s = 10
"""
    )
    warpleague("league", "run", "l.toml", "--quiet", cwd=tmp_path)
    table = warpleague("league", "standings", "l.toml", "--json", cwd=tmp_path)
    assert [row["bot"] for row in table["standings"]] == ["strong", "middle", "weak"]
    assert sum(row["faults"] for row in table["standings"]) == 0


@needs_gnugo
def test_a_go_engine_plays(tmp_path: Path) -> None:
    """GNU Go beats a random bot on a small board, without a fault."""
    told = warpleague(
        *("match", "openspiel:go", str(ROOT / "bots" / "gtp-engine"), RANDOM, "--option", "board_size=5"),
        *("--move-s", "10", "--seed", "1", "--json"),
        cwd=tmp_path,
    )
    assert (told["ranks"], told["faults"]) == ([1, 2], [None, None])


def test_pgn_has_the_moves_of_the_match(tmp_path: Path) -> None:
    """The moves of the PGN, played with OpenSpiel alone, lead to the end that its result tells."""
    told = warpleague(
        *("match", "openspiel:chess", RANDOM, RANDOM, "--seed", "4", "--record", "r.jsonl", "--json"),
        cwd=tmp_path,
    )
    text = subprocess.run(
        [sys.executable, "-m", "warpleague.extras.bridges.pgn", "r.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tags, moves = text.split("\n\n", 1)
    state = pyspiel.load_game("chess").new_initial_state()
    *words, result = re.sub(r"\d+\.(?!\S)", "", moves).split()
    for word in words:
        state.apply_action(state.string_to_action(word))
    assert state.is_terminal()
    assert list(state.returns()) == told["scores"]
    assert f'[Result "{result}"]' in tags
    assert result == {0: "1/2-1/2", 1: "1-0", -1: "0-1"}[told["scores"][1]]


def test_pgn_is_for_chess_alone(tmp_path: Path) -> None:
    """A record of another game is refused in one line."""
    warpleague(
        *("match", "openspiel:tic_tac_toe", RANDOM, RANDOM, "--seed", "1", "--record", "r.jsonl", "--json"),
        cwd=tmp_path,
    )
    command = [sys.executable, "-m", "warpleague.extras.bridges.pgn", "r.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "PGN is for openspiel:chess" in done.stderr
