"""Files that others wrote are read within bounds: nothing in them ends in a traceback or takes long."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpleague.errors import ConfigError
from warpleague.toml_text import MAX_DEPTH, parse_toml, read_text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = " + "[" * 20_000, "nests more than 32 levels"),
        ("x = " + "[" * 40 + "]" * 40, "nests more than 32 levels"),
        ("x = " + "{a = " * 40 + "1" + "}" * 40, "nests more than 32 levels"),
        (".".join("a" * 5000) + " = 1", "nests more than 32 levels"),
        ("[" + ".".join("a" * 5000) + "]", "nests more than 32 levels"),
        ("x = " + "9" * 5000, "a number has too many digits"),
        ("x = [1, " + "9" * 19 + "]", r"x\[1\]: the number has too many digits"),
        ("[a]\nb = -0x" + "f" * 40, "not TOML"),
        ("[a]\nb = 0x" + "f" * 40, "a.b: the number has too many digits"),
        ("x", "not TOML"),
    ],
)
def test_toml_beyond_all_need_is_refused(text: str, problem: str) -> None:
    """Deep nesting and endless numbers are refused with the file's name, and the key where it is known."""
    with pytest.raises(ConfigError, match=f"^cup.toml: .*{problem}"):
        parse_toml(text, "cup.toml")


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("a = 1\nid = aliens", "id = aliens", 'write a text in quotes: id = "aliens"'),
        ("bots = ../my-bot", "bots = ../my-bot", 'in quotes: bots = "../my-bot"'),
        ("logs = True", "logs = True", "write logs = true"),
        ("id = \u201caliens\u201d", "id = \u201caliens\u201d", "straight quotes"),
        ('"id": "aliens"', '"id": "aliens"', "not a colon"),
        ("move_s = 5s", "move_s = 5s", "without a unit"),
        ("seed =", "seed =", "write a value behind the ="),
        ('path = "..\\my-bot"', 'path = "..\\my-bot"', 'write / in paths, not \\: "../my-bot"'),
        ("// my league", "// my league", "begin a remark with #"),
        ('bots = ["a" "b"]', 'bots = ["a" "b"]', "comma between the values"),
        ('bots = ["a"\n[game]\n', "[game]", "end the list with ]"),
        ('[game\nid = "x"', "[game", "close the name of the table"),
        ('name = "x', 'name = "x', "close the quotes"),
        ("x = 1\nx = 2", "x = 2", "in the file twice"),
        ("[a]\nx = 1\n[a]", "[a]", "in the file twice"),
        ('{"record": 2}', "", "perhaps the record of a match"),
    ],
)
def test_what_beginners_write_is_told_with_its_line_and_the_remedy(text: str, line: str, remedy: str) -> None:
    """Text that is no TOML is refused with the line and how to write what was meant."""
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, "cup.toml")
    assert (f"the line is: {line}" if line else "this is JSON") in str(caught.value)
    assert remedy in str(caught.value)
    assert "\n" not in str(caught.value)


def test_toml_within_the_bounds_is_read() -> None:
    """What people write is read as it is."""
    deep = "x = " + "[" * (MAX_DEPTH - 2) + "1" + "]" * (MAX_DEPTH - 2)
    assert parse_toml(deep, "cup.toml")
    assert parse_toml("x = 9223372036854775807\n[a.b]\nc = nan", "cup.toml")["x"] == 2**63 - 1


@given(st.text(alphabet="ab=[]{}.,\"'#\n 0919eExtrue-:TZ_inf", max_size=60))
def test_any_text_is_toml_or_an_error_of_ours(text: str) -> None:
    """Whatever stands in a file, reading it ends in tables or in `ConfigError`."""
    with contextlib.suppress(ConfigError):
        assert isinstance(parse_toml(text, "x"), dict)


def test_only_plain_files_of_some_size_are_read(tmp_path: Path) -> None:
    """A pipe that nobody writes to, a device without end, and a file that is too long are refused at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    endless = tmp_path / "endless"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        with pytest.raises(ConfigError, match="not a plain file"):
            read_text(path, str(path))
    long = tmp_path / "long"
    long.write_bytes(b"#" * 2049)
    with pytest.raises(ConfigError, match="more than 2 KiB"):
        read_text(long, "long", 2)
    long.write_bytes(b"\xef\xbb\xbfx = 1")
    assert read_text(long, "long") == "x = 1"
