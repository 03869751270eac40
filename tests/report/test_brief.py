"""The brief of each game: short enough, complete, and printed by the command and by the server."""

import json
from pathlib import Path
from random import Random

import pytest
from tests.arena.harness import ApiHarness

from warpleague.cli import main
from warpleague.cli.games import describe
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_roll
from warpleague.report.wording.brief import HINTS, LEFT_OUT, MAX_BYTES, brief_text, llms_text
from warpleague.report.wording.docs import pages
from warpleague.runner.bundle.shipped import shipped_root

PLAYED = [
    ("aliens", 2, {"max_turns": 30}),
    ("captains", 1, {"max_rounds": 12}),
    ("captains", 2, {"max_rounds": 12}),
    ("coasters", 3, {"max_rounds": 12, "colours": 2, "free_colour": True}),
    ("sheets", 2, {}),
    ("sheets", 1, {}),
]
"""Games, players and options that together ask every kind of question."""


@pytest.mark.parametrize("game", GAMES)
def test_a_brief_has_at_most_30_kilobytes(game: str) -> None:
    """Its parts are there, too: a heading that it needs and that is gone would be an error."""
    text = brief_text(game)
    assert len(text.encode()) <= MAX_BYTES == 30_000
    for heading in ("The game", "What surprises", "The wire", "Types", "The clock", "How to test"):
        assert f"\n## {heading}\n" in text
    for hint in HINTS[game]:
        assert hint in text


@pytest.mark.parametrize("game", GAMES)
def test_a_brief_has_every_action_and_option(game: str) -> None:
    """With their types and, for options, their meaning."""
    text = brief_text(game)
    actions = describe(load_game(game))["actions"]
    assert len(actions) > 5
    assert [action for action in actions if f'{{do: "{action}"' not in text] == []
    schema = json.loads((shipped_root() / f"protocol/schema/{game}.json").read_bytes())["$defs"]
    for name, option in schema["Options"]["properties"].items():
        assert f"# {name}: {option['description']}" in text
        assert "default" not in option or f"; default {json.dumps(option['default'])}\n" in text
    for name in (*schema["View"]["properties"], *schema["Setup"]["properties"]):
        assert f"{name}: " in text or f"{name}?: " in text


def test_a_brief_has_every_kind_of_question() -> None:
    """Random play of each game is asked nothing that its brief does not name."""
    rng = Random("brief")
    asks: dict[str, set[str]] = {game: set() for game in GAMES}
    for name, players, options in PLAYED:
        game = load_game(name)
        for _ in range(6):
            state = game.initial(players, game.Options(**options))
            while actors := game.actors(state):
                if actors == (CHANCE,):
                    move = random_roll(game.chance(state), rng)
                else:
                    asks[name].add(game.ask(state, actors[0]))
                    move = rng.choice(game.legal(state, actors[0]))
                state, _ = game.apply(state, move)
    assert {game: len(found) for game, found in asks.items()} == {
        "aliens": 5,
        "captains": 5,
        "coasters": 6,
        "sheets": 5,
    }
    for name, found in asks.items():
        assert [ask for ask in sorted(found) if f"`{ask}`" not in brief_text(name)] == []


@pytest.mark.parametrize("game", GAMES)
def test_what_is_left_out_is_on_the_page(game: str) -> None:
    """The headings that a brief leaves out are there, and their sections are not in the brief."""
    page = pages()[game].path.read_text(encoding="utf-8")
    for heading in LEFT_OUT[game]:
        assert f"# {heading}\n" in page
        assert f"# {heading}\n" not in brief_text(game)


def test_the_example_is_the_recorded_session() -> None:
    """Each message of the session stands in the brief, as one line with its direction."""
    session = shipped_root() / "protocol/conformance/bot/one-match.jsonl"
    steps = [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]
    lines = [
        f"{'>' if 'to' in step else '<'} {json.dumps(step['message'], separators=(',', ':'))}"
        for step in steps
        if "message" in step
    ]
    assert len(lines) > 8
    assert "\n".join(["```text", *lines, "```"]) in brief_text("sheets")


def test_the_command_prints_the_brief(capsys: pytest.CaptureFixture[str]) -> None:
    """A game that there is not is refused with the nearest one."""
    assert main(["brief", "aliens"]) == 0
    assert capsys.readouterr().out == brief_text("aliens")
    assert main(["brief", "alens"]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert "did you mean 'aliens'?" in done.err


def test_a_server_has_the_briefs(tmp_path: Path) -> None:
    """`/llms.txt` lists them, and each address that it lists answers; so does the link on a game's page."""
    arena = ApiHarness(tmp_path)
    try:
        listed = arena.ask("GET", "/llms.txt")
        assert (listed.status, listed.body.decode()) == (200, llms_text())
        assert listed.headers["content-type"].startswith("text/plain")
        for game in GAMES:
            assert f"(brief/{game}.md)" in llms_text()
            told = arena.ask("GET", f"/brief/{game}.md")
            assert (told.status, told.body.decode()) == (200, brief_text(game))
            assert told.headers["content-type"].startswith("text/markdown")
            assert f'href="/brief/{game}.md"' in arena.ask("GET", f"/rules/{game}").body.decode()
        assert arena.ask("GET", "/brief/chess.md").status == 404
        assert "/brief/" not in arena.ask("GET", "/docs/league").body.decode()
    finally:
        arena.close()
