"""The file of rounds: what is wrong in it is said with file and key, and nothing is run."""

from pathlib import Path

import pytest
from tests.rounds.conftest import Make, Run

from warpleague.errors import ConfigError
from warpleague.extras.rounds.file import load_rounds

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_of_the_demo_is_read() -> None:
    """The demo has three authors that edit, and one that is an anchor."""
    config = load_rounds(ROOT / "rounds" / "demo.toml")
    assert [author.name for author in config.editors] == ["steps", "breaks", "idle"]
    assert [author.name for author in config.anchors] == ["random"]
    assert config.game.players == 2
    program, plan = config.argv_of(config.author("steps"))
    assert Path(program).name == "steps.sh"
    assert Path(plan).is_file()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("roundz = 3", "roundz: unknown key; did you mean 'rounds'?"),
        ("previous = -1", "previous: must be at least 0"),
        ('shows = "all"', "shows: must be 'own' or 'records' or 'sources'"),
        ('on_fail = "stop"', "on_fail: must be 'last' or 'forfeit'"),
    ],
)
def test_a_wrong_key_is_named(make: Make, line: str, told: str) -> None:
    """Each error names the key, and what it may be."""
    with pytest.raises(ConfigError) as error:
        load_rounds(make({"ann": "true", "bob": ""}, more=line))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("fixed = true", "a fixed author has no edit command"),
        (
            'network = ["example.org:80"]',
            "authors[0].network: 'example.org:80' must be an address of this machine",
        ),
        ('variables = ["A B"]', "authors[0].variables: 'A B' is no name of a variable"),
        ("limits = { time_s = 0 }", "authors[0].limits.time_s: must be above 0"),
    ],
)
def test_a_wrong_author_is_named(make: Make, own: str, told: str) -> None:
    """Each error names the author's table by its number."""
    with pytest.raises(ConfigError) as error:
        load_rounds(make({"ann": "true", "bob": ""}, ann=own))
    assert told in str(error.value)


def test_authors_need_names_of_their_own(make: Make) -> None:
    """Versions are called by the names of their authors, so two that look alike are refused."""
    with pytest.raises(ConfigError, match="are alike"):
        load_rounds(make({"ann": "true", "Ann": "true"}))


def test_a_program_that_is_not_there_is_named(make: Make) -> None:
    """The edit command is looked up before anything is run."""
    path = make({"ann": "true", "bob": ""})
    path.with_name("ann.sh").unlink()
    with pytest.raises(ConfigError, match=r"authors: ann: edit: there is no ./ann.sh"):
        load_rounds(path)


def test_somebody_has_to_edit(make: Make) -> None:
    """Fixed authors alone are a league."""
    with pytest.raises(ConfigError, match="none of them edits"):
        load_rounds(make({"ann": "", "bob": ""}))


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
    path = make({"ann": "true", "bob": ""})
    for verb in ("results", "verify"):
        done = run(verb, path)
        assert done.code == 2
        assert "have not begun yet" in done.err


def test_a_variable_that_is_not_set(run: Run, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that an author is to get has to be there before anything is run."""
    monkeypatch.delenv("WARPLEAGUE_TEST_KEY", raising=False)
    done = run(make({"ann": "true", "bob": ""}, ann='variables = ["WARPLEAGUE_TEST_KEY"]'))
    assert done.code == 2
    assert "WARPLEAGUE_TEST_KEY is not set" in done.err
