"""What a bot in the sandbox sees of the machine's files."""

from pathlib import Path

import pytest

from warpleague.errors import BadInput
from warpleague.match.spec import SeatSpec
from warpleague.runner.confine import mounts


def bound(args: list[str]) -> list[str]:
    """The places that `args` mount from the host."""
    return [args[at + 1] for at, arg in enumerate(args) if arg == "--ro-bind"]


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A runtime outside the system's folders, reached through two links."""
    program = tmp_path / "runtimes" / "lang-1" / "bin" / "lang"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "lang").symlink_to("lang1")
    (tmp_path / "shims" / "lang1").symlink_to(program)
    return tmp_path


def test_shows_the_whole_runtime_and_the_links_to_it(runtime: Path) -> None:
    """The folder above a program's bin is bound; each link on the way exists with its own target."""
    args = mounts.mounts(SeatSpec(bot="b", run=(str(runtime / "shims" / "lang"),), cwd="/bots/b"))
    assert str(runtime / "runtimes" / "lang-1") in bound(args)
    for name, target in (("lang", "lang1"), ("lang1", str(runtime / "runtimes" / "lang-1" / "bin" / "lang"))):
        assert args[args.index(str(runtime / "shims" / name)) - 1] == target


def test_shows_only_the_program_if_its_folder_is_someones_home(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in the bin folder of a home is bound alone, not with the home."""
    home = runtime / "runtimes" / "lang-1"
    monkeypatch.setenv("HOME", str(home))
    mounts.runtime_mounts.cache_clear()
    args = mounts.mounts(SeatSpec(bot="b", run=(str(home / "bin" / "lang"),), cwd="/bots/b"))
    assert str(home / "bin" / "lang") in bound(args)
    assert str(home) not in bound(args)
    mounts.runtime_mounts.cache_clear()


def test_refuses_a_python_that_imports_from_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds more than a bot may see is not shown, and the error names it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    program = tmp_path / "python3"
    program.write_text(f"#!/bin/sh\necho '[\"{tmp_path / 'home'}\"]'\n")
    program.chmod(0o755)
    with pytest.raises(BadInput, match=str(tmp_path / "home")):
        mounts.mounts(SeatSpec(bot="b", run=(str(program),), cwd="/bots/b"))


def test_calls_the_bots_folder_by_its_name_inside() -> None:
    """Paths into the bot's own folder are translated, others are not."""
    assert mounts.inside("/cache/b/main", "/cache/b") == "/bot/main"
    assert mounts.inside("/cache/b", "/cache/b") == "/bot"
    assert mounts.inside("/cache/b2/main", "/cache/b") == "/cache/b2/main"


def test_finds_what_other_users_cannot_read(tmp_path: Path) -> None:
    """The first unreadable file or folder is named; a link is judged by what it leads to, elsewhere."""
    folder = tmp_path / "bot"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "weights").write_text("")
    folder.chmod(0o755)
    (folder / "data").chmod(0o755)
    (folder / "data" / "weights").chmod(0o644)
    assert mounts.unreadable(str(folder)) is None
    (folder / "data" / "weights").chmod(0o600)
    assert mounts.unreadable(str(folder)) == str(folder / "data" / "weights")
    (folder / "data").chmod(0o700)
    assert mounts.unreadable(str(folder)) == str(folder / "data")
