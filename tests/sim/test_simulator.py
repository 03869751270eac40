"""The simulator: the same rules as those of matches, guesses that fit what is known, results that can be repeated."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import warpleague.sim as sim
from warpleague.cli import main
from warpleague.errors import ActionError, BadInput, PositionError
from warpleague.games import GAMES, load_game
from warpleague.match.chance import Dice, match_key
from warpleague.sim.serve import Session, serve

TABLES = [("aliens", 2), ("captains", 1), ("captains", 3), ("coasters", 4), ("sheets", 1), ("sheets", 2)]


def middle(table: sim.Simulator, rng: Random, decisions: int = 12) -> Any:
    """A position in which a seat must act, some decisions after the start."""
    state = table.roll_all(table.start(), rng)
    for _ in range(decisions):
        state = table.play(state, rng.randrange(len(table.legal(state))), rng)
    return state


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_what_is_guessed_looks_the_same_to_the_seat(game: str, players: int) -> None:
    """A determinized position has the view that it was made from, and the same legal actions for that seat."""
    table, rng = sim.Simulator(game, players), Random(1)
    state = middle(table, rng)
    seat = table.actor(state)
    assert seat is not None
    view = table.view(state, seat)
    world = table.determinize(json.loads(json.dumps(view)), seat, rng)
    assert table.view(world, seat) == view
    assert list(table.legal(world)) == list(table.legal(state))
    assert table.dump(table.load(table.dump(state))) == table.dump(state)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_playouts_are_the_same_on_any_number_of_cores(game: str, players: int) -> None:
    """Batches give the same results on one core and on two, and equal positions equal ones: their dice are common."""
    table = sim.Simulator(game, players)
    state = middle(table, Random(2))
    alone = table.playouts([state, state], 3, "seed", jobs=1)
    assert table.playouts([state, state], 3, "seed", jobs=2) == alone
    assert alone[0] == alone[1]
    if players > 1:
        assert all(sum(worth) == pytest.approx(players / 2) for worth in alone[0])


def test_moves_of_every_form_are_the_same() -> None:
    """An index, an object and an action mean the same move; one that is not legal is told so."""
    table = sim.Simulator("aliens", 2, {"max_turns": 60})
    rng = Random(3)
    state = middle(table, rng)
    legal = table.legal(state)
    for number, action in enumerate(legal[:5]):
        assert table.action(state, number) is action
        assert table.action(state, table.json(action)) is action
        assert table.action(state, action) is action
    with pytest.raises(ActionError, match=r"out of range: there are \d+"):
        table.action(state, len(legal))
    last = table.finish(state, rng)
    with pytest.raises(ActionError, match="the game is over"):
        table.action(last, 0)
    assert table.actor(last) is None
    assert table.legal(last) == ()
    assert sorted(table.worth(last)) in ([0, 1], [0.5, 0.5])
    assert table.actor(table.finish(state, rng, most=1)) is not None


def test_a_policy_chooses() -> None:
    """A playout asks it wherever there is something to choose; dice of a text are those of a match with that seed."""
    table, rng = sim.Simulator("sheets", 1), Random(4)
    asked = []

    def first(state: Any, seat: int, legal: Any, rng: Random) -> Any:
        asked.append(seat)
        assert len(legal) > 1
        return legal[0]

    one, other = (
        table.finish(middle(table, Random(5)), rng, policy=first, dice=sim.common_dice("x")) for _ in range(2)
    )
    assert table.dump(one) == table.dump(other)
    assert set(asked) == {0}
    table = sim.Simulator("aliens", 2)
    rolled = table.roll(table.start(), Random(), sim.common_dice("7"))
    match = Dice(match_key("7"))
    draws = table.game.chance(table.start())
    assert rolled == table.step(table.start(), match.roll(match.at(table.game.address(table.start())), draws))


@pytest.mark.parametrize(
    ("game", "players", "options", "told"),
    [
        ("alien", 2, {}, "did you mean 'aliens'"),
        ("aliens", 3, {}, "aliens is for 2 players, not 3"),
        ("aliens", 2, {"turns": 3}, "no option 'turns'; its options are max_turns"),
        ("aliens", 2, {"max_turns": 0}, "max_turns must be a whole number from 1"),
        ("aliens", 2, {"diagonals": "x"}, "diagonals"),
        ("coasters", 4, {"colours": 9}, "needs 36 coasters"),
    ],
)
def test_a_table_that_cannot_be(game: str, players: int, options: dict[str, Any], told: str) -> None:
    """What is wrong with a table is told in words."""
    with pytest.raises(BadInput, match=told):
        sim.Simulator(game, players, options)
    with pytest.raises(PositionError):
        sim.Simulator("aliens", 2).load({"a": 1})


def test_what_a_position_does_not_have_is_refused() -> None:
    """A seat, a view, dice or a result that there is not, and what gives no random numbers."""
    table, rng = sim.Simulator("aliens", 2), Random(6)
    none: Any = None
    two: Any = "2"
    state = middle(table, rng)
    view, seat = table.view(state, 0), table.actor(state)
    calls: list[tuple[type[BadInput], str, Callable[[], object]]] = [
        (BadInput, "seat 9: the seats are 0 to 1", lambda: table.view(state, 9)),
        (BadInput, "seat 7: the seats are 0 to 1", lambda: table.determinize(view, 7, rng)),
        (PositionError, "view: this is none of aliens", lambda: table.determinize({}, 0, rng)),
        (PositionError, f"no dice are rolled here: seat {seat} must act", lambda: table.roll(state, rng)),
        (PositionError, f"the game is not over: seat {seat} must act", lambda: table.worth(state)),
        (PositionError, "the game is not over: dice are rolled", lambda: table.scores(table.start())),
        (BadInput, "must be at least 1", lambda: table.playouts([state], 0, "x")),
        (BadInput, "rng: must be a random.Random, not None", lambda: table.playout(state, none)),
        (BadInput, "rng: must be a random.Random, not None", lambda: table.determinize(view, 0, none)),
        (BadInput, "aliens is for 2 players, not '2'", lambda: sim.Simulator("aliens", two)),
    ]  # fmt: skip
    for kind, text, call in calls:
        with pytest.raises(kind, match=re.escape(text)):
            call()


def test_work_that_fails_in_another_process_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """An exception in a forked process reaches the caller, and its traceback standard error."""

    def fail(item: int) -> int:
        if item:
            raise ValueError("broken")
        return item

    with pytest.raises(RuntimeError, match="has failed"):
        sim.over_cores(fail, [0, 1], 2)
    assert "ValueError: broken" in capfd.readouterr().err
    assert sim.over_cores(lambda item: item + 1, range(5), 3) == [1, 2, 3, 4, 5]


# -- the server ------------------------------------------------------------------------------------------------


def told(*requests: object) -> list[dict[str, Any]]:
    """What the server answers."""
    lines = [request if isinstance(request, bytes) else json.dumps(request).encode() for request in requests]
    answers: list[str] = []
    serve(lines, answers.append)
    return [json.loads(answer) for answer in answers]


@pytest.mark.parametrize("game", GAMES)
def test_the_server_plays_a_game(game: str) -> None:
    """A program that knows no rules plays a game to its end through the server, and every answer fits the engine."""
    players = load_game(game).players[-1]
    new = {"do": "new", "game": game, "players": players, "seed": "1"}
    session = Session()
    found = session.answer(json.dumps(new).encode())
    while found["actor"] is not None:
        chance = found["actor"] == -1
        step = {"do": "roll"} if chance else {"do": "apply", "action": found["actions"] - 1, "roll": True}
        found = session.answer(json.dumps({**step, "state": found["state"]}).encode())
    assert len(found["worth"]) == len(found["scores"]) == players
    assert session.answer(b'{"do":"free"}') == {"states": 0}
    assert told(new, {"do": "playout", "state": 1, "number": 2, "seed": "a"})[1] == {
        "number": 2,
        "worth": [pytest.approx(worth) for worth in mean(game, players)],
    }


def mean(game: str, players: int) -> list[float]:
    """What two playouts from the start are worth, as the server counts them."""
    table = sim.Simulator(game, players)
    both = [
        table.playout(table.start(), Random(f"a {turn}"), dice=sim.common_dice(f"a {turn}"))
        for turn in (0, 1)
    ]
    return [sum(parts) / 2 for parts in zip(*both, strict=True)]


def test_the_server_answers_what_is_wrong() -> None:
    """A request that cannot be answered gets an error that says why, and the session goes on."""
    new = {"do": "new", "game": "aliens", "players": 2, "seed": "1"}
    rolled = {"do": "roll", "state": 1, "outcome": [5, 4, 0, 1]}
    cases: list[tuple[object, str]] = [
        (b"{", "not JSON"),
        (b"5", "a request is an object"),
        ({"do": "fly"}, "nothing is called 'fly'; there are new,"),
        ({"state": 1}, "do is missing"),
        ({"do": "legal"}, "state is missing"),
        ({"do": "legal", "state": "1"}, "state must be a whole number"),
        ({"do": "legal", "state": 77}, "there is no state 77"),
        ({"do": "view", "state": 2, "seat": 2}, "the seats are 0 to 1"),
        ({"do": "apply", "state": 2}, "needs action"),
        ({"do": "apply", "state": 2, "action": 2}, "action 2 is out of range: there are 2 legal actions"),
        ({"do": "apply", "state": 2, "action": 0.5}, "an index or an object"),
        ({"do": "apply", "state": 1, "action": 0}, "dice are rolled"),
        ({"do": "roll", "state": 1, "outcome": [6, 0, 0, 0]}, "below each of [6, 6, 6, 6]"),
        ({"do": "determinize", "view": {}, "seat": 0}, "this is none of aliens"),
        ({"do": "load", "position": {}}, "missing"),
        ({"do": "playout", "state": 2, "number": 0}, "number must be from 1"),
        ({"do": "new", "game": "aliens", "players": 4}, "aliens is for 2 players"),
    ]
    found = told(new, rolled, *(request for request, _ in cases), {"do": "legal", "state": 2, "id": "x"})
    assert found[1] == {"state": 2, "actor": 0, "ask": "order", "actions": 2}
    for (request, text), answer in zip(cases, found[2:-1], strict=True):
        assert text in answer["error"], request
    assert found[-1]["id"] == "x"
    assert len(found[-1]["legal"]) == 2
    assert told({"do": "load", "position": {}})[0]["error"].startswith("there is no table yet")
    assert told(new, rolled, {"do": "free", "states": [1, 9]}, {"do": "free"})[2:] == [
        {"states": 1},
        {"states": 0},
    ]


# -- in a bot's folder -----------------------------------------------------------------------------------------


def bare_python() -> str:
    """A Python that is not the tests' own, new enough for the engine; skips the test where there is none."""
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        found = shutil.which(name, path="/usr/bin:/usr/local/bin")
        probe = "import sys; sys.exit(sys.version_info < (3, 11))"
        if found and not subprocess.run([found, "-S", "-c", probe], check=False).returncode:
            return found
    pytest.skip("needs a Python of the system, 3.11 or newer")


def test_the_engine_in_a_bots_folder_needs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs without any package, with the same rules and dice; only folders that we made are written to."""
    bot = tmp_path / "bot"
    assert main(["bot", "new", str(bot), "--with-engine"]) == 0
    (tmp_path / "outside").mkdir()
    (bot / ".engine.draft").symlink_to(tmp_path / "outside")
    assert main(["bot", "engine", str(bot)]) == 0
    requests = [
        {"do": "new", "game": "captains", "players": 3, "seed": "1"},
        {"do": "apply", "state": 1, "action": 0, "roll": True},
        {"do": "roll", "state": 1},
        {"do": "view", "state": 2, "seat": 1},
        {"do": "playout", "state": 2, "number": 2, "seed": "a"},
    ]
    done = subprocess.run(
        [bare_python(), "-S", "-m", "warpleague.sim"],
        input="\n".join(map(json.dumps, requests)).encode(),
        env={"PYTHONPATH": str(bot / "engine"), "PATH": os.defpath},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert [json.loads(line) for line in done.stdout.splitlines()] == told(*requests)
    (tmp_path / "engine").mkdir()
    (tmp_path / "bot.toml").write_text('name = "x"\ngames = ["*"]\nrun = ["python3", "x.py"]\n')
    assert main(["bot", "engine", str(tmp_path)]) == 2
    assert "was not made by Warp League" in capsys.readouterr().err
    assert list((tmp_path / "engine").iterdir()) == list((tmp_path / "outside").iterdir()) == []


# -- for learners ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_keys_tell_positions_apart(game: str, players: int) -> None:
    """Positions have equal keys exactly if they are equal, what is hidden included; keys can be put into a set."""
    table, rng = sim.Simulator(game, players), Random(6)
    states = []
    state = table.roll_all(table.start(), rng)
    while len(states) < 60 and table.actor(state) is not None:
        states += [state, table.load(table.dump(state))]
        state = table.play(state, rng.randrange(len(table.legal(state))), rng)
    for one in states:
        for other in states:
            assert (table.key(one) == table.key(other)) == (one == other)
    assert len({table.key(state) for state in states}) == len({json.dumps(table.dump(s)) for s in states})


def test_a_key_holds_what_is_hidden() -> None:
    """Two worlds that a seat cannot tell apart have the same view and different keys."""
    table, rng = sim.Simulator("captains", 3), Random(1)
    state = middle(table, rng)
    seat = table.actor(state)
    assert seat is not None
    worlds = [table.determinize(table.view(state, seat), seat, rng) for _ in range(8)]
    assert all(table.view(world, seat) == table.view(state, seat) for world in worlds)
    assert len({table.key(world) for world in worlds}) > 1


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_setup_is_there_without_a_match(game: str, players: int) -> None:
    """It is that of the start message, in Python and through the server; before the board is dealt there is none."""
    table = sim.Simulator(game, players)
    state = table.roll_all(table.start(), Random(1))
    assert table.setup(state) == table.game.setup(state)
    if table.actor(table.start()) == sim.CHANCE:
        with pytest.raises(PositionError, match="roll_all"):
            table.setup(table.start())
    answers = told(
        {"do": "new", "game": game, "players": players, "seed": "1"},
        {"do": "load", "position": table.dump(state)},
        {"do": "setup", "state": 2},
    )
    assert answers[2]["setup"] == table.setup(state)
