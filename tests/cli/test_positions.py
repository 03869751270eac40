"""`warpleague replay position`, and what no command does to a file that is there already.

What a position may hold is tested with each game.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.match.record import read_record
from warpleague.match.replay import Replay

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.cli.conftest import Run

SHORT = {
    "aliens": ("max_turns=12", 2),
    "captains": ("max_rounds=2", 2),
    "coasters": ("max_rounds=2", 3),
    "sheets": ("shared_discards=true", 2),
}


def known(game: Any, state: Any) -> list[Any]:
    """What everybody is told in a state: who acts, the legal actions, and every seat's view."""
    actors = game.actors(state)
    legal = [] if actors in ((), (CHANCE,)) else list(map(game.action_json, game.legal(state, actors[0])))
    return [actors, legal, [game.view(state, seat) for seat in range(game.match_of(state)[0])]]


@pytest.mark.parametrize("name", SHORT)
def test_a_position_is_played_on_from(run: Run, first: Path, tmp_path: Path, name: str) -> None:
    """A position of any line of a record tells every seat the same as there, and `match --position` takes it."""
    option, players = SHORT[name]
    kept, file = tmp_path / "kept.jsonl", tmp_path / "new" / "position.json"
    bots = [first] * players
    assert run("match", name, *bots, "--seed", 1, "--option", option, "--record", kept).code == 0
    replay, game = Replay(read_record(kept)), load_game(name)
    states = [replay.first, *(step.state for step in replay)]
    going = [n for n, state in enumerate(states) if game.actors(state)]
    for at in (0, 1, going[-1] // 2, going[-1]):
        done = run("replay", "position", kept, "--at", at)
        assert (done.code, done.err) == (0, "")
        assert known(game, game.from_json(done.json)) == known(game, states[at])
    done = run("replay", "position", kept, "--at", going[-1] // 2, "--out", file)
    assert (done.code, done.out) == (0, f"position written to {file}\n")
    assert f"warpleague match {name} BOT BOT" in done.err
    on = tmp_path / "on.jsonl"
    assert run("match", name, *bots, "--position", file, "--record", on).code == 0
    header, first_line, *_ = map(json.loads, on.read_text().splitlines())
    assert header["position"] == json.loads(file.read_text())
    key = option.partition("=")[0]
    assert (
        header["options"][key] == replay.header["options"][key]
    )  # that of the position, though none is given
    assert first_line["n"] == 1
    assert run("replay", "verify", on).code == 0


def test_there_is_no_position_after_the_end(run: Run, record: Path) -> None:
    """The last line ends the game: nothing could be played from there, and later lines do not exist."""
    last = len(record.read_bytes().splitlines()) - 3
    over = run("replay", "position", record, "--at", last)
    assert (over.code, over.out) == (2, "")
    assert f"--at {last}: the game is over there" in over.err
    beyond = run("replay", "position", record, "--at", last + 1)
    assert (beyond.code, f"numbered 0 (the start) to {last}" in beyond.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("match", "aliens", "{bot}", "{bot}", "--option", "max_turns=1", "--record", "{file}"),
        ("reproduce", "{record}", "--record", "{file}"),
        ("replay", "page", "{record}", "--out", "{file}"),
        ("replay", "position", "{record}", "--at", "1", "--out", "{file}"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_file_is_overwritten_only_by_force(
    run: Run, record: Path, first: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A file that is there stays as it is, with exit code 2 and what to do; `--force` overwrites it."""
    file = tmp_path / "mine.txt"
    file.write_text("mine")
    call = [word.format(bot=first, record=record, file=file) for word in words]
    done = run(*call)
    assert (done.code, done.out) == (2, "")
    assert f"{file}: exists already; choose another name, or overwrite it with --force" in done.err
    assert file.read_text() == "mine"
    assert run(*call, "--force").code == 0
    assert file.read_text() != "mine"


def test_a_link_that_leads_nowhere_is_not_replaced_either(run: Run, record: Path, tmp_path: Path) -> None:
    """Whoever made the link meant a file elsewhere."""
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "gone")
    assert run("replay", "position", record, "--at", 1, "--out", link).code == 2
    assert link.is_symlink()


def test_a_device_is_never_replaced(run: Run, record: Path) -> None:
    """Not even by force: for root the file would take the device's place."""
    done = run("replay", "position", record, "--at", 1, "--out", "/dev/null", "--force")
    assert (done.code, "a device or a pipe" in done.err) == (2, True)
