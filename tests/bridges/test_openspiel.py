"""Whether games of OpenSpiel keep the contract of every game, are played and verified, and tell no secrets."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pyspiel
import pytest

from warpleague.errors import ActionError, BadInput, OptionsError, PositionError
from warpleague.extras.bridges.openspiel.rules import fits
from warpleague.games import load_game
from warpleague.games.api import CHANCE
from warpleague.games.contract import check_game
from warpleague.games.playout import random_playout

ROOT = Path(__file__).resolve().parents[2]
RANDOM = str(ROOT / "bots" / "random-python")

PASSING = (
    "tic_tac_toe", "connect_four", "hex", "go(board_size=9)", "chess", "backgammon", "kuhn_poker", "leduc_poker",
    "liars_dice", "gin_rummy", "hearts", "hanabi", "goofspiel", "phantom_ttt", "dark_hex", "pig", "2048",
    "oshi_zumo", "matching_pennies_3p", "goofspiel(imp_info=True,players=3)", "misere(game=tic_tac_toe())",
)  # fmt: skip
if os.environ.get("WARPLEAGUE_LONG"):  # every registered game that fits: `make contract-openspiel`
    PASSING = tuple(kind.short_name for kind in pyspiel.registered_games() if not fits(kind.short_name))


def warpleague(*words: str, cwd: Path, code: int = 0) -> str:
    """What a command prints, in both streams."""
    done = subprocess.run(
        [sys.executable, "-m", "warpleague", *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.mark.parametrize("name", PASSING)
def test_contract(name: str) -> None:
    """Whatever happens at a table of any size, the bridge keeps the contract of every game."""
    game = load_game(f"openspiel:{name}")
    counts = sorted({game.players[0], game.players[-1]})
    check_game(game, players=counts, matches=1, samples=4, hidden=False if game.guesses else None)


@pytest.mark.parametrize("name", ["backgammon", "kuhn_poker", "goofspiel"])
def test_a_match_is_verified_and_reproduced(name: str, tmp_path: Path) -> None:
    """With dice, hidden cards or choices made at once, a record holds and the match can be played again."""
    made = warpleague(
        "match", f"openspiel:{name}", RANDOM, RANDOM, "--seed", "1", "--record", "r.jsonl", cwd=tmp_path
    )
    assert "ended: completed" in made
    assert warpleague("replay", "verify", "r.jsonl", cwd=tmp_path).startswith("verified")
    assert warpleague("reproduce", "r.jsonl", cwd=tmp_path).startswith("reproduced")
    assert "random-python #0 plays" in warpleague("replay", "show", "r.jsonl", cwd=tmp_path)
    warpleague("replay", "page", "r.jsonl", "-o", "r.html", cwd=tmp_path)


def test_a_league_of_a_bridged_game_holds(tmp_path: Path) -> None:
    """A league names the game by its id, with parameters as options, and all its records hold."""
    bots = f'{{ path = "{RANDOM}", name = "a" }}, {{ path = "{RANDOM}", name = "b" }}'
    (tmp_path / "l.toml").write_text(
        f'bots = [{bots}]\n[game]\nid = "openspiel:hex"\noptions = {{ board_size = 4 }}\n'
    )
    warpleague("league", "run", "l.toml", "--quiet", cwd=tmp_path)
    assert "2 of 2 records hold" in warpleague("league", "verify", "l.toml", cwd=tmp_path)
    warpleague("league", "report", "l.toml", cwd=tmp_path)


def test_chips_rank_a_league_of_poker(tmp_path: Path) -> None:
    """Mean scores rank, with their errors, and the rating stays beside them; where all wins are alike it ranks."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "bot.toml").write_text(
        'name = "first"\nrun = ["python3", "bot.py"]\ngames = ["*"]\n'
    )
    (tmp_path / "first" / "bot.py").write_text(
        "from warpline.client import run\n\nrun(lambda question: 0, wants=())\n"
    )
    (tmp_path / "l.toml").write_text(
        f'seed = "chips"\nbots = ["first", "{RANDOM}"]\n[game]\nid = "openspiel:leduc_poker"\n[format]\ndeals = 4\n'
    )
    warpleague("league", "run", "l.toml", "--quiet", cwd=tmp_path)
    lines = json.loads(warpleague("league", "standings", "l.toml", "--json", cwd=tmp_path))["standings"]
    scores = [line["score"] for line in lines]
    assert scores == sorted(scores, reverse=True)
    assert [line["rank"] for line in lines] == [1, 2]
    assert all(line["score_half"] > 0 and line["rating"] is not None for line in lines)
    assert "It ranks" in warpleague("league", "standings", "l.toml", cwd=tmp_path)
    warpleague("league", "report", "l.toml", cwd=tmp_path)
    assert [load_game(f"openspiel:{name}").by_score for name in ("leduc_poker", "chess")] == [True, False]


def test_a_fault_saves_no_chips() -> None:
    """Who is out of a game of chips has lost the most that can be lost, and the other has won it."""
    game, state = dealt("leduc_poker", [(0,), (1,)])
    lost = game.outcome(game.retire(state, 0)[0])
    assert (lost.ranks, lost.scores) == ((2, 1), (-13.0, 13.0))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("backgamon", "backgammon"),
        ("mfg_garnet", "mean field"),
        ("negotiation", "random numbers"),
        ("crossword", "no numbers"),
        ("misere", "misere(game=tic_tac_toe())"),
        ("go(board_size=nine)", "board_size"),
    ],
)
def test_a_game_that_does_not_fit_says_why(name: str, told: str) -> None:
    """The error names the reason, or what was meant."""
    with pytest.raises(BadInput) as caught:
        load_game(f"openspiel:{name}")
    assert told in str(caught.value)


def test_parameters_that_end_openspiel_are_refused() -> None:
    """Hanabi ends its process where cards do not suffice: here the option is refused instead."""
    game = load_game("openspiel:hanabi")
    with pytest.raises(OptionsError, match="OpenSpiel refuses hanabi"):
        game.check_options(5, game.Options(hand_size=50))


def test_draws_have_the_probabilities_of_openspiel() -> None:
    """Equal chances are one whole number, others whole numbers in their proportion."""
    from warpleague.extras.bridges.openspiel.rules import weights

    assert weights([(3, 0.25)] * 4) == 4
    assert weights([(0, 1 / 6), (1, 1 / 3), (2, 0.5)]) == (1, 2, 3)
    odd = weights([(0, 0.1234567891), (1, 0.8765432109)])
    assert isinstance(odd, tuple)
    assert odd[0] / sum(odd) == pytest.approx(0.1234567891, rel=1e-9)


def dealt(name: str, moves: list[Any], **options: Any) -> tuple[Any, Any]:
    """A game and the position after rolls and actions, these by their numbers."""
    game = load_game(f"openspiel:{name}")
    state = game.initial(game.players[0], game.Options(**options))
    for move in moves:
        if isinstance(move, int):
            legal = game.legal(state, game.actors(state)[0])
            move = next(action for action in legal if getattr(action, "action", None) == move)
        state, _ = game.apply(state, move)
    return game, state


def test_a_seat_does_not_see_the_cards_of_the_other() -> None:
    """In Kuhn poker seat 0 sees the same whatever card seat 1 was dealt; seat 1 does not."""
    game, one = dealt("kuhn_poker", [(0,), (0,)])
    _, two = dealt("kuhn_poker", [(0,), (1,)])
    assert one != two
    assert game.view(one, 0) == game.view(two, 0)
    assert game.scene(one, 0) == game.scene(two, 0)
    assert game.view(one, 1) != game.view(two, 1)


def test_a_choice_made_at_once_is_hidden_until_all_have_chosen() -> None:
    """In rock, paper, scissors both are asked at once, and seat 1 sees the same whatever seat 0 has chosen."""
    game = load_game("openspiel:matrix_rps")
    start = game.initial(2, game.Options())
    assert game.together(start) == (0, 1)
    ends = [game.apply(start, action) for action in game.legal(start, 0)]
    assert len(ends) == 3
    assert all(game.view(state, 1) == game.view(start, 1) and not events for state, events in ends)
    over, events = game.apply(ends[0][0], game.legal(start, 1)[1])
    assert [event.data["move"] for event in events if event.data["event"] == "played"] == ["Rock", "Paper"]
    assert game.outcome(over).ranks == (2, 1)


def test_openings_have_a_move_of_each_seat_that_acts_at_once() -> None:
    """They stand in the order of the seats; one that is missing is an error, and so is an unfinished history."""
    line = "[P0]Bid: 1, [P1]Bid: 2"
    game = load_game("openspiel:oshi_zumo")
    state = game.initial(2, game.Options(openings={"lines": [line]}))
    state, _ = game.apply(state, (0,))
    assert game.view(state, 0)["history"] == [1, 2]
    with pytest.raises(OptionsError, match="a move of each seat"):
        game.check_options(2, game.Options(openings={"lines": [line + ", [P0]Bid: 1"]}))
    with pytest.raises(OptionsError, match="resign"):
        game.check_options(2, game.Options(resign=True))
    with pytest.raises(PositionError, match="amid actions that are made at once"):
        game.from_json({**game.to_json(game.initial(2, game.Options())), "history": [1], "turns": 1})


def test_a_game_of_simultaneous_moves_is_studied_like_all_others(tmp_path: Path) -> None:
    """A record of it is put to a bot again, analysed, and played on from the midst of a common decision."""
    at = ("openspiel:oshi_zumo", RANDOM, RANDOM, "--option", "horizon=6", "--seed", "1")
    warpleague("match", *at, "--record", "r.jsonl", cwd=tmp_path)
    assert "0 of 12 decisions differ" in warpleague("bot", "rerun", RANDOM, "r.jsonl", cwd=tmp_path)
    warpleague("analyse", "r.jsonl", cwd=tmp_path)
    for number, more in enumerate((("--at", "3"), ("--at", "4", "--action", "2"), ("--at", "4", "--redeal"))):
        branch = ("replay", "branch", "r.jsonl", *more, "--bots", RANDOM, RANDOM, "-o", f"b{number}.jsonl")
        assert "branches off after line" in warpleague(*branch, cwd=tmp_path)
        assert warpleague("replay", "verify", f"b{number}.jsonl", "--parent", "r.jsonl", cwd=tmp_path)


def test_a_person_can_play_a_game_of_simultaneous_moves(tmp_path: Path) -> None:
    """By the numbers of the actions, until the match is over."""
    played = subprocess.run(
        [sys.executable, "-m", "warpleague", "play", "openspiel:matrix_rps", RANDOM, "--terminal"],
        cwd=tmp_path,
        input="1\n",
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert played.returncode == 0, played.stderr
    assert "ended: completed" in played.stdout


def test_a_game_without_guesses_says_so() -> None:
    """Where OpenSpiel hides something, no position can be made from a view; the error says it in one line."""
    game, state = dealt("kuhn_poker", [(0,), (0,)])
    assert not game.guesses
    with pytest.raises(BadInput, match="no determinize"):
        game.determinize(game.view(state, 0), 0, Random(0))
    assert load_game("openspiel:chess").guesses


def test_an_opening_is_drawn_and_played() -> None:
    """One of the lines is drawn as chance, its moves are in the history, and it counts for nobody's limit."""
    game, state = dealt("chess", [], openings={"lines": ["e2e4 e7e5", "d2d4"]}, move_limit=2)
    assert (game.actors(state), game.chance(state), game.address(state)) == ((CHANCE,), (2,), "opening")
    state, events = game.apply(state, (1,))
    assert [event.data["move"] for event in events] == ["d2d4"]
    assert game.actors(state) == (0,)  # OpenSpiel's seat 1 is White
    assert game.view(state, 0)["moves"] == ["d2d4"]
    for _ in range(2):
        state = game.apply(state, game.legal(state, game.actors(state)[0])[0])[0]
    assert (game.actors(state), game.outcome(state).why) == ((), "move-limit")
    check_game(game, options=game.Options(openings={"lines": ["e2e4 e7e5", "d2d4"]}, move_limit=8), matches=1)


def test_an_opening_that_cannot_be_played_is_refused() -> None:
    """The error names the line, the move, and some that can be played."""
    game = load_game("openspiel:chess")
    with pytest.raises(OptionsError, match=r"lines\[1\]: 'e2e5' is not possible there; possible are a2a3"):
        game.check_options(2, game.Options(openings={"lines": ["e2e4", "e2e5"]}))


def test_a_seat_may_resign_where_the_option_says_so() -> None:
    """To resign is the last action; the other has won, whatever OpenSpiel says of the position."""
    game, state = dealt("chess", [], resign=True)
    state, _ = game.apply(state, game.legal(state, 1)[-1])
    outcome = game.outcome(state)
    assert (outcome.ranks, outcome.why) == ((1, 2), "resigned")
    check_game(game, options=game.Options(resign=True, move_limit=30), matches=1)
    hearts = load_game("openspiel:hearts")
    with pytest.raises(OptionsError, match="two players"):
        hearts.check_options(4, hearts.Options(resign=True))


def test_a_person_cannot_play_what_hides_something(tmp_path: Path) -> None:
    """The command says why in one line, before it opens a page."""
    told = warpleague("play", "openspiel:kuhn_poker", RANDOM, cwd=tmp_path, code=2)
    assert told.count("\n") == 1
    assert "persons cannot play it" in told


def test_chess_moves_are_named_as_engines_name_them() -> None:
    """A move is `e2e4`; the number and the name must fit each other."""
    game = load_game("openspiel:chess")
    state = game.initial(2, game.Options())
    names = [action.move for action in game.legal(state, 1)]
    assert "e2e4" in names
    assert len(names) == 20
    form = game.action_json(game.legal(state, 1)[0])
    assert game.parse(state, 1, form) is game.legal(state, 1)[0]
    with pytest.raises(ActionError, match="is called"):
        game.parse(state, 1, {**form, "move": "e2e5"})


@pytest.mark.parametrize("name", ["go(board_size=9)", "leduc_poker", "hearts"])
def test_results_are_those_of_openspiel(name: str) -> None:
    """The history of a match, played with OpenSpiel alone, has the same returns."""
    game = load_game(f"openspiel:{name}")
    played = random_playout(game, game.players[0], game.Options(), Random(3))
    spiel = pyspiel.load_game(game.setup(played.states[0])["game"]).new_initial_state()
    for action in played.states[-1].spiel.history():
        spiel.apply_action(action)
    assert spiel.is_terminal()
    assert tuple(spiel.returns()) == played.outcome.scores


def test_positions_survive_copies_and_json() -> None:
    """A position that was copied, pickled or written is the same, and has the same future."""
    game, state = dealt("backgammon", [(0,)])
    for again in (
        copy.deepcopy(state),
        pickle.loads(pickle.dumps(state)),
        game.from_json(json.loads(json.dumps(game.to_json(state)))),
    ):
        assert again == state
        assert list(game.legal(again, game.actors(again)[0])) == list(
            game.legal(state, game.actors(state)[0])
        )


def test_without_openspiel_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package and the extra."""
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    from warpleague.extras.bridges.openspiel import load

    with pytest.raises(BadInput, match=r"pip install 'warpleague\[openspiel\]'"):
        load("chess")
