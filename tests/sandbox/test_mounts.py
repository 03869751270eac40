"""What a bot in the sandbox sees of the machine's files."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpleague.cli import main
from warpleague.errors import BadInput, BotError, ConfigError, MissingToolchain
from warpleague.league.play.entering import open_to_run
from warpleague.league.season.config import load_config
from warpleague.match.spec import LEVELS, Conditions, Level, SeatSpec, TimeControl
from warpleague.runner.bundle.bundle import find_bundle, pack_bundle, prepare
from warpleague.runner.bundle.cache import HELD, cached_bundles, remove_bundle
from warpleague.runner.bundle.content import files_of
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.checkup import Checkup, check_bot
from warpleague.runner.confine import mounts
from warpleague.runner.confine.mounts import check_asked, check_granted


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


# Which of the machine's files bots in the sandbox see: what all see, what one asks for, what an organiser shows.


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


# Large files that a bot's manifest links to: what is checked, what the bot sees at each level, what stays out.


MODEL = b"weights " * 1000
DIGEST = hashlib.sha256(MODEL).hexdigest()
SOURCE = """
from pathlib import Path
from warpline.client import run
model = Path(__file__).with_name("data") / "model.bin"
assert model.read_bytes() == b"weights " * 1000
run(lambda question: 0)
"""


@pytest.fixture
def with_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot with a model in its folder, and a cache of its own."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "model.bin").write_bytes(MODEL)
    (folder / "bot.py").write_text(SOURCE)
    write(folder)
    return folder


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everyone can read, and so can a bot at any level."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def write(folder: Path, digest: str = DIGEST, path: str = "", name: str = "data/model.bin") -> None:
    """Write the manifest of a bot with one large file."""
    told = f'sha256 = "{digest}"' + (f', path = "{path}"' if path else "")
    (folder / "bot.toml").write_text(
        f'name = "bot"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n[files]\n"{name}" = {{ {told} }}\n'
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("outside", [False, True])
def test_a_bot_finds_its_model_where_the_manifest_says(
    request: pytest.FixtureRequest, with_model: Path, public: Path, level: Level, outside: bool
) -> None:
    """At every level the file is where its name says, wherever it really is; it was not copied."""
    if level == "sandbox":
        request.getfixturevalue("sandboxed")
    if outside:
        (with_model / "data" / "model.bin").rename(public / "m")
        write(with_model, path=str(public / "m"))
    findings: list[str] = []
    clock = TimeControl(move_s=60, start_s=60)
    how = Checkup(conditions=Conditions(clock=clock, level=level), quick=True, within_s=600)
    assert check_bot(with_model, how, lambda one: findings.append(one.text)), findings
    folder = Path(prepare(with_model, level).cwd)
    assert (folder / "data" / "model.bin").is_symlink()
    assert (folder / "data" / "model.bin").read_bytes() == MODEL


def test_a_model_is_larger_than_a_bundle_may_be(with_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is linked does not count for the size of the bundle, and is read once, until it changes."""
    with pytest.raises(BotError, match="link large files"):
        files_of(with_model, max_mb=0)
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(with_model.parent / "cache"))
    prepare(with_model)
    (known,) = (with_model.parent / "cache" / "files").iterdir()  # written anew whenever the file was read
    first = known.stat().st_ino
    prepare(with_model)
    assert known.stat().st_ino == first
    os.utime(with_model / "data" / "model.bin", (1, 1))
    prepare(with_model)
    assert known.stat().st_ino != first


def test_the_digest_of_a_bot_covers_that_of_its_files(with_model: Path) -> None:
    """Another model is another bot; the same model elsewhere in the same place is the same bot."""
    one = prepare(with_model)
    copy = with_model.with_name("copy")
    shutil.copytree(with_model, copy)
    assert prepare(copy).digest == one.digest
    (with_model / "data" / "model.bin").write_bytes(b"other")
    with pytest.raises(BotError, match=f"not the file that bot.toml means: its SHA-256 is .*, not {DIGEST}"):
        prepare(with_model)
    write(with_model, hashlib.sha256(b"other").hexdigest())
    assert prepare(with_model).digest != one.digest


def test_a_bundle_whose_model_has_gone_is_not_found(with_model: Path) -> None:
    """What was prepared once is checked again when it is looked for."""
    digest = prepare(with_model).digest
    assert find_bundle(digest) is not None
    with pytest.raises(BotError, match="cannot travel to other machines: its large files are linked"):
        pack_bundle(digest)
    (with_model / "data" / "model.bin").unlink()
    with pytest.raises(BotError, match=r"data/model\.bin: cannot read it"):
        find_bundle(digest)


def test_a_model_out_of_the_folder_is_everybodys(with_model: Path, public: Path) -> None:
    """A stranger's manifest gets no file that not everyone may read, even if it knows the digest."""
    (public / "m").write_bytes(MODEL)
    write(with_model, path=str(public / "m"))
    (public / "m").chmod(0o640)
    with pytest.raises(BotError, match="closed to others"):
        prepare(with_model)
    (public / "m").chmod(0o644)
    public.chmod(0o700)
    with pytest.raises(BotError, match="closed to others"):
        prepare(with_model)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs bots as other users")
def test_a_model_that_its_owner_alone_may_read_is_told_before_the_match(with_model: Path) -> None:
    """One submission must not stop a league when its first match begins."""
    (with_model / "data" / "model.bin").chmod(0o600)
    with pytest.raises(BotError, match=r"chmod a\+r"):
        prepare(with_model)


def test_a_model_that_is_no_file_is_not_waited_for(with_model: Path) -> None:
    """A named pipe, a folder and nothing at all are told by their paths."""
    model = with_model / "data" / "model.bin"
    model.unlink()
    with pytest.raises(BotError, match=r"data/model\.bin: cannot read it"):
        prepare(with_model)
    os.mkfifo(model)
    with pytest.raises(BotError, match="is not a file"):
        prepare(with_model)


@pytest.mark.parametrize(
    ("name", "digest", "words"),
    [
        ("../m", DIGEST, "must be the name of a file"),
        ("/m", DIGEST, "must be the name of a file"),
        ("bot.toml", DIGEST, "must be the name of a file"),
        ("m", "abc", "sha256sum prints"),
    ],
)
def test_a_manifest_that_names_no_file_of_its_own(
    with_model: Path, name: str, digest: str, words: str
) -> None:
    """A name leads nowhere else than into the bot's folder; a digest is one."""
    write(with_model, digest, name=name)
    with pytest.raises(BotError, match=words):
        read_manifest(with_model)


def test_a_bundle_goes_with_its_links(with_model: Path) -> None:
    """Removing a bot from the cache removes its links, and never what they lead to."""
    HELD.release()
    folder = Path(prepare(with_model).cwd)
    links = Path(f"{folder}.files")
    assert links.exists()
    HELD.release()
    assert [remove_bundle(entry.path) for entry in cached_bundles()] == [True]
    assert not folder.exists()
    assert not links.exists()
    assert (with_model / "data" / "model.bin").read_bytes() == MODEL
