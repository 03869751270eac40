"""The file of rounds: what is wrong in it is said with file and key, and nothing is run."""

import json
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.rounds.conftest import Make, Run, write_rounds
from tests.soak.strength import PAIR_VALUES, pair_outcomes

from warpleague.cli import main
from warpleague.errors import ConfigError
from warpleague.extras.rounds.file import load_rounds
from warpleague.extras.rounds.report import chance_lines, helped_text
from warpleague.extras.rounds.results import judged
from warpleague.league.ratings.sprt import DealCounts

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_of_the_demo_is_read() -> None:
    """The demo has three authors that edit, and one that is an anchor."""
    config = load_rounds(ROOT / "rounds" / "demo.toml")
    assert [author.name for author in config.editors] == ["steps", "breaks", "idle"]
    assert [author.name for author in config.anchors] == ["random"]
    assert config.game.players == 2
    assert config.proves_nothing
    program, plan = config.argv_of(config.author("steps"))
    assert Path(program).name == "steps.sh"
    assert Path(plan).is_file()


TWO = {"ann": "true", "bob": ""}


@pytest.mark.parametrize(
    ("rules", "level", "reason"),
    [
        ("", "sandbox", ""),
        ('[rules]\nfaults = "substitute"', "sandbox", ""),
        ('[rules]\nlevel = "limits"', "limits", "level limits"),
    ],
)
def test_rounds_are_confined_unless_told_otherwise(make: Make, rules: str, level: str, reason: str) -> None:
    """Without a word on the level it is sandbox; at others, and with a seed, the commitment proves nothing."""
    path = make(TWO)
    text = path.read_text().replace('[rules]\nlevel = "limits"', rules)
    path.write_text(text)
    assert "seed in the file" in load_rounds(path).proves_nothing
    path.write_text(text.replace('seed = "test"\n', ""))
    config = load_rounds(path)
    assert config.rules.level == level
    assert reason in config.proves_nothing
    assert bool(reason) == bool(config.proves_nothing)


@pytest.mark.parametrize(
    ("authors", "own", "told"),
    [
        (TWO, {"more": "roundz = 3"}, "roundz: unknown key; did you mean 'rounds'?"),
        (TWO, {"more": "previous = -1"}, "previous: must be at least 0"),
        (TWO, {"more": 'shows = "all"'}, "shows: must be 'own' or 'records' or 'sources'"),
        (TWO, {"more": 'on_fail = "stop"'}, "on_fail: must be 'last' or 'forfeit'"),
        (TWO, {"ann": "fixed = true"}, "a fixed author has no edit command"),
        (
            TWO,
            {"ann": 'network = ["example.org:80"]'},
            "authors[0].network: 'example.org:80' must be an address of this machine",
        ),
        (TWO, {"ann": 'variables = ["A B"]'}, "authors[0].variables: 'A B' is no name of a variable"),
        (TWO, {"ann": "limits = { time_s = 0 }"}, "authors[0].limits.time_s: must be above 0"),
        ({"ann": "true", "Ann": "true"}, {}, "are alike"),
        ({"ann": "", "bob": ""}, {}, "none of them edits"),
    ],
)
def test_what_is_wrong_is_named(make: Make, authors: dict[str, str], own: dict[str, str], told: str) -> None:
    """Each error names the key, and what it may be; an author's table by its number."""
    with pytest.raises(ConfigError) as error:
        load_rounds(make(authors, **own))
    assert told in str(error.value)


def test_a_program_that_is_not_there_is_named(make: Make) -> None:
    """The edit command is looked up before anything is run."""
    path = make(TWO)
    path.with_name("ann.sh").unlink()
    with pytest.raises(ConfigError, match=r"authors: ann: edit: there is no ./ann.sh"):
        load_rounds(path)


@pytest.mark.parametrize(
    "words", [("verify",), (), ("look", "small.toml"), ("--demo", "small.toml"), ("none.toml",)]
)
def test_bad_words_exit_with_2(run: Run, words: tuple[str, ...]) -> None:
    """Bad input ends with exit code 2 and one line, not with a traceback."""
    done = run(*words)
    assert done.code == 2
    assert done.err.startswith("warpleague")
    assert "Traceback" not in done.err


def test_results_of_what_has_not_begun(run: Run, make: Make) -> None:
    """Results and verify say how to begin."""
    path = make(TWO)
    for verb in ("results", "verify"):
        done = run(verb, path)
        assert done.code == 2
        assert "have not begun yet" in done.err


def test_a_variable_that_is_not_set(run: Run, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that an author is to get has to be there before anything is run."""
    monkeypatch.delenv("WARPLEAGUE_TEST_KEY", raising=False)
    done = run(make(TWO, ann='variables = ["WARPLEAGUE_TEST_KEY"]'))
    assert done.code == 2
    assert "WARPLEAGUE_TEST_KEY is not set" in done.err


# The words for whether an edit helped claim no more than the deals show.

FEW, NONE = "too few deals to tell", "no difference seen"


@pytest.mark.parametrize(
    ("shares", "word"),
    [
        ([], FEW),
        ([1.0], FEW),
        ([1.0] * 5, FEW),
        ([1.0] * 6, "better"),
        ([0.0] * 6, "worse"),
        ([0.5] * 2, FEW),
        ([0.5] * 40, NONE),
        ([1.0, 0.0], NONE),
        ([1.0, 0.75], NONE),
        ([1.0, 0.75, 1.0, 0.75, 1.0], "better"),
        ([0.0, 0.25, 0.0, 0.25, 0.0], "worse"),
    ],
)
def test_a_word_needs_an_interval_without_no_change(shares: list[float], word: str) -> None:
    """Two of two deals won say nothing; six of six do: of equal bots one wins them all in 3 % of cases."""
    counts = DealCounts()
    for share in shares:
        counts.add(share)
    assert judged(counts)[2] == word


@pytest.mark.parametrize("deals", [2, 5, 10, 40])
@pytest.mark.parametrize(("luck", "drawn"), [(0, 0.0), (0, 0.3), (200, 0.3), (800, 0.3)])
def test_equal_versions_are_better_or_worse_in_one_of_twenty_cases(
    deals: int, luck: float, drawn: float
) -> None:
    """However much the luck of a deal is shared; and the word always agrees with the interval beside it."""
    rng = np.random.default_rng(deals)
    drawn_deals = rng.multinomial(deals, pair_outcomes(0.0, luck, drawn), size=3_000)
    kinds, times = np.unique(drawn_deals, axis=0, return_counts=True)
    words: Counter[str] = Counter()
    for kind, often in zip(kinds.tolist(), times.tolist(), strict=True):
        low, high, word = judged(DealCounts(counts=dict(zip(PAIR_VALUES.tolist(), kind, strict=True))))
        assert low is not None
        assert high is not None
        outside = "better" if low > 0.5 else "worse" if high < 0.5 else None
        assert word in ((outside,) if outside else (FEW, NONE))
        words[word] += often
    wrong = (words["better"] + words["worse"]) / 3_000
    assert wrong < 0.075
    assert deals < 40 or wrong > 0.03


def line(verdict: str, low: float, high: float) -> Any:
    share = (low + high) / 2
    return SimpleNamespace(
        helped=SimpleNamespace(verdict=verdict, share=share, share_low=low, share_high=high, deals=9)
    )


def test_what_is_printed_of_an_edit() -> None:
    """The share, the two ends of its interval, and the word; without an end where there are too few deals."""
    assert helped_text(line("better", 0.501, 0.699)) == "60.0 % (50.1 to 69.9) in 9 deals, better"
    assert helped_text(line(FEW, 0.3, 1.0)) == f"65.0 % (30.0 to 100.0) in 9 deals, {FEW}"
    some: Any = SimpleNamespace(comparisons=12, better_or_worse_by_chance=0.6)
    assert chance_lines(some) == [
        "Of the 12 comparisons with enough deals to tell, chance alone would make about 0.6 better or worse if no "
        "edit changed anything."
    ]


# `--from-folders` takes every bot of a folder into a match or a league.


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder with two bots whose manifests have one name, a link to one more, and a folder that is no bot."""
    write_rounds(tmp_path, {"x": "true"})
    place = tmp_path / "folders"
    for name in ("ann", "bob"):
        shutil.copytree(tmp_path / "start", place / name)
    (place / "cy").symlink_to(ROOT / "bots" / "random-python")
    (place / "notes").mkdir()
    return place


def called(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.startswith(("{", "[")) else out, err


def test_a_league_of_all_bots_of_a_folder(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    """Each plays under the name of its folder; the other commands know the bots from the store."""
    path, results = tmp_path / "league.toml", tmp_path / "results"
    path.write_text(
        '[game]\nid = "aliens"\noptions = { max_turns = 2 }\n[clock]\nmove_s = 60\nstart_s = 60\n'
    )
    words = (path, "--results", results, "--json")
    code, data, _ = called(capsys, "league", "run", *words, "--quiet", "--from-folders", folders)
    assert code == 0
    assert (data["matches"], data["complete"]) == (6, True)
    assert {line["bot"] for line in data["standings"]} == {"ann", "bob", "cy"}
    code, standings, err = called(capsys, "league", "standings", *words)
    assert (code, err) == (0, "")
    assert standings["standings"] == data["standings"]
    assert called(capsys, "league", "verify", *words)[0] == 0


def test_a_match_of_all_bots_of_a_folder(capsys: pytest.CaptureFixture[str], folders: Path) -> None:
    """They sit in the order of the names of their folders, after those that are named."""
    shutil.rmtree(folders / "ann")
    words = ("--option", "max_turns=2", "--move-s", "60", "--start-s", "60", "--seed", "1", "--json")
    code, data, _ = called(capsys, "match", "--game", "aliens", *words, "--from-folders", folders)
    assert (code, data["seats"]) == (0, ["start", "random-python"])


@pytest.mark.parametrize("name", ["none", "notes", "ann"])
def test_folders_without_bots(capsys: pytest.CaptureFixture[str], folders: Path, name: str) -> None:
    """A folder that is not there, has no bots, or is one itself is bad input."""
    code, _, err = called(capsys, "match", "aliens", "--from-folders", folders / name)
    assert code == 2
    assert str(folders / name) in err
