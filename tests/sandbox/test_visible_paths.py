"""Which of the machine's files bots in the sandbox see: what all see, what one asks for, what an organiser shows."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from warpleague.cli import main
from warpleague.errors import BadInput, BotError, ConfigError, MissingToolchain
from warpleague.league.play.entering import open_to_run
from warpleague.league.season.config import load_config
from warpleague.match.spec import SeatSpec
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.confine import mounts
from warpleague.runner.confine.mounts import check_asked, check_granted

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot in Python."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "bot"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text("from warpline.client import run\nrun(lambda question: 0)\n")
    return folder


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that an organiser may show, as far as its place goes."""
    monkeypatch.setattr(mounts, "_PRIVATE", ("/home", "/root", "/proc"))
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "data").write_text("something to see")
    return folder


def ask(bot: Path, *paths: str) -> None:
    """Have the manifest ask for `paths`."""
    manifest = bot / "bot.toml"
    manifest.write_text(manifest.read_text() + f"[sandbox]\npaths = {json.dumps(paths)}\n")


def test_the_documentation_names_all_that_every_bot_sees() -> None:
    """Nothing of /etc, and no folder, is shown without being named on the page about confinement."""
    page = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    assert [name for name in (*mounts.SYSTEM, *mounts.ETC, *mounts.ASKABLE) if f"`{name}`" not in page] == []


def test_nothing_private_is_among_what_every_bot_sees() -> None:
    """What is shown of /etc may be read by everyone, and does not tell who uses the machine."""
    assert not {"passwd", "group", "shadow", "hosts", "hostname", "machine-id"} & set(mounts.ETC)
    for place in mounts.etc():
        assert Path(place).stat().st_mode & 0o004, place


TOOLS = {
    "csharp": ("mcs", "mono"),
    "nim": ("nim", "cc"),
    "go": ("go",),
    "cpp": ("c++",),
    "ruby": ("ruby",),
    "lua": ("lua5.4",),
    "ts": ("tsc", "node"),
    "php": ("php",),
    "ocaml": ("ocamlopt", "cc"),
}


@pytest.mark.parametrize("name", TOOLS)
def test_runtimes_build_and_play_in_the_sandbox(
    sandboxed: None, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Compilers and interpreters, some of which need their files in /etc, build and run a bot there."""
    folder = ROOT / "bots" / f"random-{name}"
    for tool in TOOLS[name]:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}, which is not installed")
    arguments = ["match", "aliens", str(folder), str(folder), "--level", "sandbox", "--seed", "1", "--json"]
    assert main([*arguments, "--move-s", "60", "--start-s", "60"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["faults"], told["why"]) == ([None, None], "base")


@pytest.mark.parametrize(
    "path",
    [
        "opt/x",
        "/opt",
        "/opt/../etc/shadow",
        "/opt/x/",
        "/etc/passwd",
        "/home/somebody",
        "/srv/x",
        "/opt//x",
        "/usr",
    ],
)
def test_a_manifest_asks_only_for_where_programs_are_installed(bot: Path, path: str) -> None:
    """Whatever else a stranger's manifest asks for is refused, by the key."""
    ask(bot, path)
    with pytest.raises(BotError, match="sandbox: paths: "):
        read_manifest(bot)


def test_a_path_that_is_asked_for_and_not_there(bot: Path) -> None:
    """A bot whose runtime is not installed lacks a toolchain, as one whose compiler is not."""
    ask(bot, "/opt/no-such-runtime-anywhere")
    with pytest.raises(MissingToolchain, match="/opt/no-such-runtime-anywhere"):
        prepare(bot)


@pytest.mark.parametrize(
    ("owner", "mode", "fine"), [(0, 0o755, True), (1000, 0o755, False), (0, 0o750, False), (0, 0o711, False)]
)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_path_that_is_asked_for_is_roots_and_everybodys(owner: int, mode: int, fine: bool) -> None:
    """A manifest gets nothing shown that its author could not read anyway, nor what a user put there."""
    with (
        tempfile.TemporaryDirectory() as place
    ):  # not below the folder of the tests, which is closed to others
        tool = Path(place, "tool")
        (tool / "lib").mkdir(parents=True)
        for folder, its_mode in ((Path(place), 0o755), (tool / "lib", 0o755), (tool, mode)):
            folder.chmod(its_mode)
        os.chown(tool, owner, owner)
        if fine:
            check_asked([str(tool / "lib")], "bot", askable=(place,))
        else:
            with pytest.raises(BotError, match="tool does not belong to root, or not everyone may read it"):
                check_asked([str(tool / "lib")], "bot", askable=(place,))


def test_a_link_out_of_the_places_of_programs_is_followed(tmp_path: Path) -> None:
    """What a path leads to is judged, not what it is called."""
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "tool").symlink_to("/etc")
    with pytest.raises(BotError, match=r"asks to see .*tool, but '/etc' is not below"):
        check_asked([str(tmp_path / "opt" / "tool")], "bot", askable=(str(tmp_path / "opt"),))


def test_a_manifest_gets_no_file_of_the_harness(tmp_path: Path) -> None:
    """Results and cached bots below a place of programs are shown to nobody who asks for them."""
    league = tmp_path / "league"
    (league / "results").mkdir(parents=True)
    for path in (league, league / "results"):
        with pytest.raises(BotError, match="files of the harness"):
            check_asked([str(path)], "bot", (league / "results",), askable=(str(tmp_path),))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("tools", "absolute"),
        ("/etc/../home", "absolute"),
        ("/no/such/place", "is not there"),
        ("/", "no bot may see"),
        ("/etc", "no bot may see"),
        ("/home", "no bot may see"),
        ("/proc/self", "no bot may see"),
        ("/dev/null", "no bot may see"),
        ("~", "no bot may see"),
    ],
)
def test_an_organiser_shows_no_private_place(path: str, words: str) -> None:
    """Homes, the system's own file systems and top folders are refused, naming the file or option."""
    with pytest.raises(BadInput, match=words) as caught:
        check_granted([str(Path(path).expanduser())], "--sandbox-path")
    assert str(caught.value).startswith("--sandbox-path: ")


def test_an_organiser_shows_no_file_of_the_harness(shown: Path) -> None:
    """A path that holds results or the cache of bots, or is among them, also by way of a link, is refused."""
    (shown.parent / "link").symlink_to(shown)
    for path, own in (
        (shown, shown / "results"),
        (shown, shown.parent),
        (shown.parent / "link", shown / "x"),
    ):
        with pytest.raises(BadInput, match="files of the harness"):
            check_granted([str(path)], "league.toml: sandbox.paths", [own])
    check_granted([str(shown)], "league.toml: sandbox.paths", [shown.parent / "results"])


def test_a_path_is_mounted_where_it_is_named_and_where_it_is(shown: Path) -> None:
    """What is inside may name itself by either path; what every bot sees is not mounted again."""
    link = shown.parent / "link"
    link.symlink_to(shown)
    args = mounts.mounts(SeatSpec(bot="b", run=("/bin/sh",), cwd="/bots/b", paths=(str(link), "/usr/lib")))
    binds = [tuple(args[at + 1 : at + 3]) for at, arg in enumerate(args) if arg == "--ro-bind"]
    assert (str(shown), str(shown)) in binds
    assert (str(shown), str(link)) in binds
    assert [to for _, to in binds].count("/usr/lib") == 0


def test_a_bot_sees_what_is_shown_to_it_read_only(
    sandboxed: None, shown: Path, run_at: Callable[..., str]
) -> None:
    """The folder is there, cannot be written to, and is there for no bot that it is not shown to."""
    code = f"""
print(open({str(shown / "data")!r}).read())
try: open({str(shown / "new")!r}, "w")
except OSError as error: print(error.strerror)
"""
    assert run_at("sandbox", code, paths=(str(shown),)) == "something to see\nRead-only file system\n"
    assert "FileNotFoundError" in run_at("sandbox", code)


def test_a_league_file_shows_a_path_to_all_its_bots(
    bot: Path, shown: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`[sandbox] paths` reaches every seat; one that is not there is refused with file and key."""
    leagues = tmp_path / "leagues"
    leagues.mkdir()
    league = leagues / "l.toml"
    bots = f'bots = ["{bot}", {{ path = "{bot}", name = "other" }}]\n[game]\nid = "aliens"\n'
    league.write_text(f'{bots}[sandbox]\npaths = ["{shown}"]\n')
    with open_to_run(load_config(league), tmp_path / "results") as opened:
        assert [seat.paths for seat in opened.season.bots] == [(str(shown),)] * 2
    league.write_text(f'{bots}[sandbox]\npaths = ["{shown}/gone"]\n')
    with pytest.raises(BadInput, match=r"l\.toml: sandbox\.paths: .*/gone is not there"):
        open_to_run(load_config(league), tmp_path / "results")
    league.write_text(f"{bots}[sandbox]\npath = []\n")
    with pytest.raises(ConfigError, match="did you mean 'paths'"):
        load_config(league)


@pytest.mark.skipif(
    not os.access("/opt", os.W_OK), reason="only who may write to /opt can have results there"
)
def test_a_bot_that_asks_for_a_leagues_results_cannot_enter(bot: Path, tmp_path: Path) -> None:
    """The folder that a league writes to is hidden from a manifest, also where manifests may ask for paths."""
    league = tmp_path / "l.toml"
    league.write_text(f'bots = ["{bot}"]\n[game]\nid = "sheets"\n')
    with tempfile.TemporaryDirectory(dir="/opt") as results:
        ask(bot, results)
        with pytest.raises(BotError, match="holds files of the harness"):
            open_to_run(load_config(league), Path(results))


def test_the_record_names_what_was_shown(
    sandboxed: None, bot: Path, shown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--sandbox-path` shows a path in a match, and the record's header tells of it beside the level."""
    record = tmp_path / "record.jsonl"
    time = ("--move-s", "60", "--start-s", "60")
    arguments = [
        "match",
        "aliens",
        str(bot),
        str(bot),
        "--level",
        "sandbox",
        "--option",
        "max_turns=2",
        *time,
    ]
    assert main([*arguments, "--sandbox-path", str(shown), "--record", str(record)]) == 0
    assert json.loads(record.read_text().splitlines()[0])["detail"]["paths"] == [str(shown)]
    assert main(["reproduce", str(record), "--sandbox-path", str(shown)]) == 0
    assert main([*arguments, "--sandbox-path", str(shown / "gone")]) == 2
    assert "--sandbox-path: " in capsys.readouterr().err


def test_check_hints_at_the_scratch_space_that_a_shell_needs(
    sandboxed: None, bot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell's long here-string cannot be made where nothing may be written: the key that asks for room is told."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash, which is not installed")
    (bot / "bot.toml").write_text('name = "bot"\ngames = ["aliens"]\nrun = ["bash", "bot.sh"]\n')
    (bot / "bot.sh").write_text("read -r line\nset -e\nread -r word <<<$(printf '%0200000d' 1)\n")
    assert main(["bot", "check", str(bot), "--level", "sandbox"]) == 1
    told = capsys.readouterr().out
    assert "here-document" in told
    assert "tmp_mb = 16 under [limits]" in told
