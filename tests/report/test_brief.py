"""The brief of each game: short enough, complete, and printed by the command and by the server."""

import json
import platform
import re
import shlex
import shutil
from collections.abc import Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from rich.console import Console
from tests.arena.harness import ApiHarness

from warpleague.cli import main
from warpleague.cli.game_engine import describe
from warpleague.games import GAMES, load_game
from warpleague.games.api import CHANCE
from warpleague.games.playout import random_roll
from warpleague.games.scene import Panel, Scene
from warpleague.league.ratings.fit import joint_fit
from warpleague.league.ratings.ranks import rank_sets
from warpleague.league.ratings.statistics import Mean
from warpleague.league.results.luck import WithoutLuck
from warpleague.league.results.standings import Placing, Standings, ranked, with_rank_sets
from warpleague.league.results.tallies import Tally
from warpleague.opponents.scale import scale_of
from warpleague.report.terminal.tables import standings_table
from warpleague.report.wording.brief import HINTS, LEFT_OUT, MAX_BYTES, brief_text, llms_text
from warpleague.report.wording.columns import COLUMNS, Layout, help_lines, shown_columns, standing_json
from warpleague.report.wording.docs import pages
from warpleague.report.wording.match_words import SeatNames, own_outcome
from warpleague.runner.bundle.shipped import shipped_root
from warpleague.text import isolated

PLAYED = [
    ("aliens", 2, {"max_turns": 30}),
    ("captains", 1, {"max_rounds": 12}),
    ("captains", 2, {"max_rounds": 12}),
    ("coasters", 3, {"max_rounds": 12, "colours": 2, "free_colour": True}),
    ("sheets", 2, {}),
    ("sheets", 1, {}),
]
"""Games, players and options that together ask every kind of question."""


MACHINE = f"## This machine\n\n{'It has a library. ' * 80}\n"


@pytest.mark.parametrize("game", GAMES)
def test_a_brief_has_at_most_30_kilobytes(game: str) -> None:
    """At all tables, with a long list of what is on the machine; and what it needs is there."""
    for players in load_game(game).players:
        text = brief_text(game, players, MACHINE)
        assert len(text.encode()) <= MAX_BYTES == 30_000
    for heading in (
        "The game",
        "What surprises",
        "The wire",
        "Types",
        "The clock",
        "Points and strength",
        "How to test",
    ):
        assert f"\n## {heading}\n" in text
    for tool in (
        f"bots/opponents/{game}-5",
        "`warpline`",
        "--in-process",
        "--with-engine",
        f"rate my-bot --game {game}",
    ):
        assert tool in text
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
        text = "".join(brief_text(name, players) for players in {2, min(load_game(name).players)})
        assert [ask for ask in sorted(found) if f"`{ask}`" not in text] == []


@pytest.mark.parametrize("game", GAMES)
def test_what_is_left_out_is_on_the_page(game: str) -> None:
    """The headings that a brief leaves out are there, and their sections are not in the brief."""
    page = pages()[game].path.read_text(encoding="utf-8")
    for heading in LEFT_OUT[game]:
        assert f"# {heading}\n" in page
        assert f"# {heading}\n" not in brief_text(game)


@pytest.mark.parametrize(
    ("game", "players"), [("aliens", 2), ("captains", 1), ("coasters", 3), ("sheets", 3)]
)
def test_the_example_is_of_the_games_own_table(game: str, players: int) -> None:
    """A bot could have read these lines: they are JSON of this protocol, and the answer is an index of the list."""
    lines = [line for line in brief_text(game, players).splitlines() if line.startswith(("> {", "< {"))]
    hello, told, start, ready, question, answer = (json.loads(line[2:]) for line in lines)
    assert (hello["type"], told["type"], ready["type"]) == ("hello", "hello", "ready")
    assert (start["game"], start["seat"], uncut(start["players"])) == (game, 0, players)
    assert question["id"] == answer["id"] > 1
    assert {"state", "legal", "events"} <= set(question)
    assert 0 <= answer["action"] < uncut(question["legal"])


@pytest.mark.parametrize(
    ("game", "players", "short"),
    [
        ("aliens", 2, ["--option", "max_turns=6"]),
        ("captains", 3, ["--option", "max_rounds=2"]),
        ("coasters", 4, ["--option", "max_rounds=2"]),
        ("sheets", 1, []),
    ],
)
def test_each_command_of_a_brief_does_its_work(
    game: str, players: int, short: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which they stand there, with less to play; a comparison of equals decides nothing."""
    monkeypatch.chdir(tmp_path)
    inside = ["--in-process", "--quiet", "--jobs", "1"]
    few = {
        "bot check": short,
        "match": short,
        "rate": ["--matches", "2", *inside],
        "compare": ["--max-matches", "1", *inside, *short],
    }
    (shell,) = re.findall(r"(?s)```sh\n(.*?)```", brief_text(game, players))
    done = dict[str, int]()
    for line in shell.splitlines():
        program, *words = shlex.split(line, comments=True)
        if program == "cp":
            shutil.copytree(words[1], words[2])
            continue
        command = next((name for name in few if " ".join(words).startswith(name)), "")
        done[line] = main([*words, *few.get(command, [])])
        if command in ("bot check", "rate", "compare") and players != 2:
            assert words[words.index("--players") + 1] == str(players)
    assert len(done) == 9
    assert [(line, code) for line, code in done.items() if code != (3 if " compare " in line else 0)] == []


def test_a_brief_says_how_strong_the_levels_are_at_its_table() -> None:
    """Each table has a scale of its own; where a level won every match it is a guess."""
    strengths = ", ".join(f"{elo:.0f}" for elo in scale_of("coasters", 9).elo[1:])
    assert f"at this table {strengths} Elo over random play" in brief_text("coasters", 9)
    assert "at this table about " in brief_text("captains", 2)


@pytest.mark.parametrize("game", GAMES)
def test_a_colon_leads_to_something(game: str) -> None:
    """What ends with a colon stands before a list, a table or an example, though some are left out."""
    for players in {min(load_game(game).players), max(load_game(game).players)}:
        for text, after in pairwise(re.split(r"\n\n+", brief_text(game, players))):
            assert not text.endswith(":") or after.startswith(("```", "- ", "|")), text


def uncut(listed: list[Any]) -> int:
    """How long a list was before it was cut."""
    cut = re.fullmatch(r"and (\d+) more", str(listed[-1]))
    return len(listed) - 1 + int(cut[1]) if cut else len(listed)


def test_places_give_points_by_the_seats_below() -> None:
    """At a table of one there are none."""
    assert "places from the first to the last give 1, 0.667, 0.333, 0." in brief_text("coasters", 4)
    assert "the score counts" in brief_text("sheets", 1)


def test_the_command_prints_the_brief(capsys: pytest.CaptureFixture[str]) -> None:
    """And what bots find on this machine; a game that there is not is refused with the nearest one."""
    assert main(["brief", "aliens"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(brief_text("aliens")[:20_000])
    assert len(printed.encode()) <= MAX_BYTES
    assert f"bots find Python {platform.python_version()} with " in printed
    assert main(["brief", "alens"]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert "did you mean 'aliens'?" in done.err
    assert main(["brief", "aliens", "--players", "3"]) == 2
    assert "aliens is for 2 players, not 3" in capsys.readouterr().err


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


# Names of players in the texts of a game: as the pages put them there.


def test_seats_get_the_names_of_their_players() -> None:
    """Wherever a text says a seat or an owner that there is; other numbers stay. Players of one name have numbers."""
    names = SeatNames(["Ada", "Ben"])
    assert names.say("seat 0 gives owner 1 a point; Seat 1 is out") == "Ada gives Ben a point; Ben is out"
    assert names.say("seat 2, seats 0, seat 10, aseat 0") == "seat 2, seats 0, seat 10, aseat 0"
    assert SeatNames(["Ada", "Ada"]).say("seat 0 and seat 1") == "Ada #0 and Ada #1"


def test_the_one_who_plays_is_told_in_the_second_person() -> None:
    """With the verbs that go with it; what somebody said stays as it was said."""
    names = SeatNames(["Ada", "Ben"], you=0)
    assert names.say("seat 0 passes and gives seat 1 its die") == "You pass and give Ben your die"
    assert names.say("round 2: seat 0's turn begins") == "Round 2: your turn begins"
    assert names.say("seat 1 asks seat 0 for help") == "Ben asks you for help"
    assert names.say("both ships of seat 0 lose their turn") == "Both your ships lose their turn"
    assert names.say("seat 1 says to seat 0: “seat 0 loses”") == "Ben says to you: “seat 0 loses”"
    assert own_outcome(names, 0, (2, 1), (0.0, 1.0), None, "no turn is left") == (
        "You lost: Ben wins, 1 : 0 (no turn is left)"
    )
    assert own_outcome(names, 0, (1, 2), (3.0, 1.0), None, "so it is") == "You won, 3 : 1 (so it is)"
    assert SeatNames(["Ada"]).say("owner 1 gets a point") == "the game itself gets a point"


def test_the_words_of_a_game_for_its_seats_stay_beside_the_names() -> None:
    """In the titles of panels only; a name that looks like a pattern is none."""
    names = SeatNames(["a\\1b", "Ben"], ["Reds", "Blues (old)"])
    scene = Scene("square", (), panels=(Panel("Blues (old)", ("seat 1",)),), caption="Reds begin")
    shown = names.on(scene)
    assert shown.caption == "a\\1b begin"
    assert shown.panels == (Panel("Ben (Blues (old))", ("Ben",)),)


# Each column of the standings is declared once; terminal, page and JSON follow from that.


WIDTHS = (50, 76, 96, 116, 200)


def duels(kind: str = "fit", placed: Sequence[Placing] | None = None) -> Standings:
    """The standings of two bots that met six times, with their leads on shared deals."""
    tally = Tally(2, 16.0, 1500.0)
    for group in range(6):
        tally.add((0, 1), (1, 2) if group % 3 else (2, 1), (float(group), 1.0), (0, 0), group=group)
    fit = joint_fit(tally.outcomes, 2)
    table = ranked(("one", "two"), tally, fit, kind, solo=False, placed=placed)
    lead = Mean()
    lead.add(1.0)
    lead.add(2.0)
    table = attrs.evolve(table, lines=tuple(attrs.evolve(line, lead=lead) for line in table.lines))
    return with_rank_sets(table, rank_sets(fit, range(2))) if kind == "fit" else table


def solo(rival: float | None) -> Standings:
    """The standings of two bots that played alone, with and without an opponent of the game's own."""
    tally = Tally(2, 16.0, 1500.0)
    for score in (10.0, 12.0, 14.0):
        tally.add((0,), (1,), (score,), (0,), rival)
        tally.add((1,), (1,), (score / 2,), (1,), rival)
    table = ranked(("one", "two"), tally, None, "fit", solo=True)
    ahead = Mean()
    ahead.add(4.5)
    ahead.add(5.5)
    return attrs.evolve(table, lines=(attrs.evolve(table.lines[0], ahead=ahead), *table.lines[1:]))


def without_luck(table: Standings) -> Standings:
    """The same with what is left without luck."""
    left = WithoutLuck(Mean(), 2.0)
    for value in (0.25, 0.75, 0.75):
        left.mean.add(value)
    return attrs.evolve(table, lines=tuple(attrs.evolve(line, without_luck=left) for line in table.lines))


KINDS = {
    "fit": duels(),
    "score": duels("score"),
    "cup": duels(placed=[Placing((2.0,), reached="Final"), Placing((1.0,), reached="Round 1")]),
    "swiss": duels(
        placed=[Placing((2.0, 1.0), points=2.0, buchholz=1.0), Placing((1.0, 2.0), None, 1.0, 2.0)]
    ),
    "solo": solo(None),
    "rival": solo(8.0),
    "luck": without_luck(duels()),
}
"""One table for each set of columns."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_column_that_any_terminal_has(kind: str) -> None:
    """A wider terminal shows what a narrower one does, and more; a page shows all of it."""
    names = [
        {column.name for column in shown_columns(COLUMNS, Layout(KINDS[kind], width))} for width in WIDTHS
    ]
    names.append({column.name for column in shown_columns(COLUMNS, Layout(KINDS[kind]))})
    assert all(narrow <= wide for narrow, wide in pairwise(names))
    assert {"rank", "bot", "faults"} <= names[0]


def test_every_column_is_shown_on_some_page() -> None:
    """No column is declared that nobody sees, and no two have the same name."""
    shown = {column.name for table in KINDS.values() for column in shown_columns(COLUMNS, Layout(table))}
    assert sorted(shown) == sorted(column.name for column in COLUMNS)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_helps_are_those_of_the_columns(kind: str) -> None:
    """Each key of a line's JSON belongs to one column; below a table stands what lead, margin and the like mean."""
    line = KINDS[kind].lines[0]
    keys = [key for column in COLUMNS for key in column.json(line)]
    assert len(keys) == len(set(keys))
    assert set(standing_json(line)) == set(keys)
    for width in (*WIDTHS, None):
        layout = Layout(KINDS[kind], width)
        shown = {column.heading for column in shown_columns(COLUMNS, layout)}
        text = "\n".join(help_lines(COLUMNS, layout))
        assert all(f"{name}: " in text for name in shown & {"fit", "LOS", "lead", "wins", "margin", "ahead"})


def test_columns_and_keys_keep_their_order() -> None:
    """In a terminal Elo stands with the ratings, on a page behind the share; JSON begins as it always has."""
    page = [column.heading for column in shown_columns(COLUMNS, Layout(KINDS["fit"]))]
    terminal = [column.heading for column in shown_columns(COLUMNS, Layout(KINDS["fit"], 200))]
    assert page[-3:] == ["share", "Elo", "faults"]
    assert terminal[:7] == ["#", "ranks", "bot", "fit", "± 95 %", "LOS", "Elo"]
    keys = list(standing_json(KINDS["fit"].lines[0]))
    assert keys[:5] == ["rank", "bot", "rating", "rating_half", "rating_above"]
    assert keys[-4:] == ["disqualified", "lead", "lead_half", "rank_set"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_terminal_has_what_ranks(kind: str) -> None:
    """In 60 columns counts give way to it, with names of 14 characters."""
    table = standings_table(
        attrs.evolve(
            KINDS[kind], lines=tuple(attrs.evolve(line, bot="a-bot-of-14-ch") for line in KINDS[kind].lines)
        ),
        "cup",
        60,
    )
    console = Console(width=60, file=StringIO(), legacy_windows=False)
    console.print(table)
    head = console.file.getvalue().splitlines()[2]  # type: ignore[attr-defined]
    shown = [column.heading for column in shown_columns(COLUMNS, Layout(KINDS[kind], 60))]
    assert all(heading in head for heading in (shown if kind == "fit" else shown[:3]))


def test_a_name_from_right_to_left_stays_beside_its_score() -> None:
    """It is isolated on pages; other names stay as they are."""
    assert isolated("\u05d0\u05d1") == "\u2068\u05d0\u05d1\u2069"
    assert isolated("Ada 3") == "Ada 3"
