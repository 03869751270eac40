"""What makes two folders the same bot, and what the cache does with them.

What may not be in a folder is tested with the command line.
"""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpleague.errors import BotError
from warpleague.runner.bundle import content
from warpleague.runner.bundle.bundle import find, prepare
from warpleague.runner.bundle.cache import remove
from warpleague.runner.bundle.content import folder_digest
from warpleague.runner.bundle.manifest import read_manifest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot of two files, and a cache of its own."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    (folder / "lib").mkdir(parents=True)
    (folder / "bot.toml").write_text('name = "bot"\ngames = ["aliens"]\nrun = ["python3", "main.py"]\n')
    (folder / "main.py").write_text("import lib.help\n")
    (folder / "lib" / "help.py").write_text("help = 1\n")
    return folder


def with_build(folder: Path, command: str) -> None:
    """Have the bot of `folder` built by a shell command."""
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text() + f'build = ["/bin/sh", "-c", "{command}"]\n')


def test_a_digest_is_its_contents(folder: Path) -> None:
    """A copy elsewhere, with caches and version control beside it, is the same bot."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    for ignored in ("__pycache__", ".git", ".venv"):
        (copy / ignored).mkdir()
        (copy / ignored / "file").write_text("x")
    (copy / "main.pyc").write_bytes(b"x")
    assert folder_digest(copy) == folder_digest(folder)


def test_every_change_makes_another_bot(folder: Path) -> None:
    """Content, names, and the right to execute are all part of a bot's identity."""
    digests = {folder_digest(folder)}
    main = folder / "main.py"
    main.write_text("import lib.help \n")
    digests.add(folder_digest(folder))
    main.chmod(0o755)
    digests.add(folder_digest(folder))
    main.rename(folder / "start.py")
    digests.add(folder_digest(folder))
    (folder / "lib" / "help.py").rename(folder / "help.py")
    digests.add(folder_digest(folder))
    (folder / "empty").touch()
    digests.add(folder_digest(folder))
    assert len(digests) == 6


def test_a_link_inside_is_its_content(folder: Path) -> None:
    """A link to a file of the same folder counts as a copy of it."""
    (folder / "linked.py").symlink_to("main.py")
    linked = folder_digest(folder)
    (folder / "linked.py").unlink()
    shutil.copy(folder / "main.py", folder / "linked.py")
    assert folder_digest(folder) == linked


def test_a_bundle_is_built_once_and_found_again(folder: Path) -> None:
    """The build runs in a copy, once for each content; the digest finds the bundle; the folder stays untouched."""
    log = folder.with_name("log")
    with_build(folder, f"echo built >> '{log}'; touch made")
    assert find(folder_digest(folder)) is None
    one, two = prepare(folder), prepare(folder)
    assert one == two == find(one.digest)
    assert log.read_text() == "built\n"
    assert (Path(one.cwd) / "made").exists()
    assert not (folder / "made").exists()
    (folder / "main.py").write_text("pass\n")
    assert prepare(folder).digest != one.digest
    assert log.read_text() == "built\nbuilt\n"


def test_bundles_are_built_one_at_a_time(folder: Path) -> None:
    """Several that prepare the same bot at once share one build, and leave nothing but the bundle."""
    log = folder.with_name("log")
    with_build(folder, f"echo built >> '{log}'")
    with ThreadPoolExecutor(4) as pool:
        bundles = set(pool.map(prepare, [folder] * 4))
    assert len(bundles) == 1
    assert log.read_text() == "built\n"
    (bundle,) = bundles
    names = {path.name for path in Path(bundle.cwd).parent.iterdir()}
    assert names == {Path(bundle.cwd).name, f"{Path(bundle.cwd).name}.seal"}


def test_a_failed_build_leaves_nothing(folder: Path) -> None:
    """After a failing build there is no bundle, and no draft of one."""
    with_build(folder, "touch half; exit 1")
    with pytest.raises(BotError, match="exit status 1"):
        prepare(folder)
    assert find(folder_digest(folder)) is None
    assert [path for path in folder.with_name("cache").rglob("*") if not path.is_dir()] == []


def test_a_manifests_defaults(folder: Path) -> None:
    """What a manifest leaves out has a modest default."""
    manifest = read_manifest(folder)
    assert (manifest.version, manifest.reusable, manifest.build) == ("0", False, None)
    assert manifest.limits.memory_mb == 512


def test_python_bots_are_shielded_from_their_own_files(folder: Path) -> None:
    """A Python bot runs on this interpreter, without its folder on the module path."""
    run = prepare(folder).run
    assert run[1:] == ("-P", "main.py")
    assert Path(run[0]).is_absolute()


@pytest.mark.parametrize("key", ["run", "build"])
@pytest.mark.parametrize(
    "program",
    ["/proc/self/cwd/bot/python3", "/opt/tool/bin/tool", "../other/main", "lib/../../main", "/usr/../x"],
)
def test_a_manifest_names_no_program_of_the_host(folder: Path, key: str, program: str) -> None:
    """What is neither the bot's own nor a program of the system is refused before anything is run."""
    others = {"run": "python3", "build": "true", key: program}
    lines = [
        'name = "bot"',
        'games = ["aliens"]',
        *(f'{name} = ["{value}"]' for name, value in others.items()),
    ]
    (folder / "bot.toml").write_text("\n".join(lines))
    with pytest.raises(BotError, match=f"{key}: the program .* must be in the bot's folder"):
        prepare(folder, "none")


def test_a_manifest_that_never_ends_or_never_comes(folder: Path) -> None:
    """A device, a named pipe and a file that is too long are refused instead of read."""
    manifest = folder / "bot.toml"
    makers: tuple[Callable[[], object], ...] = (
        lambda: manifest.symlink_to("/dev/zero"),
        lambda: os.mkfifo(manifest),
    )
    for make in makers:
        manifest.unlink()
        make()
        with pytest.raises(BotError, match="is not a plain file"):
            read_manifest(folder)
    manifest.unlink()
    manifest.write_bytes(b"#" * (1 << 17))
    with pytest.raises(BotError, match="more than 64 KiB"):
        read_manifest(folder)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x = " + "[" * 20_000, "not TOML"),
        ('version = "\\u001b[2J"', "version: must be printable"),
        (f'version = "{"1" * 2000}"', "1024 bytes at most"),
        ('authors = ["a\\nb"]', "authors: must be printable"),
    ],
)
def test_a_manifest_that_would_do_harm_where_it_is_read_or_shown(folder: Path, line: str, told: str) -> None:
    """Brackets without end, control characters and long texts are the bot's error, not ours."""
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text() + line + "\n")
    with pytest.raises(BotError, match=told):
        read_manifest(folder)


def test_a_name_that_is_no_text(folder: Path) -> None:
    """A file name that is not UTF-8 is told of."""
    with open(os.fsencode(folder) + b"/\xff", "wb"):
        pass
    with pytest.raises(BotError, match="not UTF-8"):
        folder_digest(folder)


def test_a_folder_that_changes_while_it_is_bundled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content that is not that of the digest never gets into the cache under it."""
    digest = folder_digest(folder)
    (folder / "main.py").write_text("import lib.other\n")
    answers = iter([digest])
    monkeypatch.setattr(
        "warpleague.runner.bundle.bundle.folder_digest",
        lambda place, _: next(answers, None) or folder_digest(place),
    )
    with pytest.raises(BotError, match="changed while it was bundled"):
        prepare(folder)
    assert find(digest) is None


def test_a_file_that_becomes_a_pipe_is_not_waited_for(folder: Path) -> None:
    """What is no longer a file, or gone, when it is read is named; nothing hangs."""
    file = next(file for file in content.files_of(folder) if file.name == "main.py")
    file.path.unlink()
    with pytest.raises(BotError, match=r"main\.py: cannot read it"):
        content.content(file)
    os.mkfifo(file.path)
    with pytest.raises(BotError, match=r"main\.py: is no longer a file"):
        content.content(file)


def test_folders_without_end_and_files_without_number(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders so deep that no path reaches their end, and very many files, are refused in plain words."""
    assert len(content.files_of(folder, max_files=3)) == 3
    (folder / "more").touch()
    with pytest.raises(BotError, match="more than 3 files"):
        content.files_of(folder, max_files=3)
    (folder / "more").unlink()
    monkeypatch.chdir(folder)
    for _ in range(1200):
        Path("deep").mkdir()
        os.chdir("deep")
    with pytest.raises(BotError, match="cannot read it"):
        folder_digest(folder)
    os.chdir(tmp_path)
    remove(folder)


def test_a_digest_that_is_a_path_finds_nothing(folder: Path) -> None:
    """A record may claim any digest: only one that is a digest is looked for."""
    target = Path(prepare(folder).cwd)
    assert find(f"../{target.parent.name}/{target.name}") is None


def test_a_bot_that_may_take_more_memory_than_there_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot chooses its limits; one that could take all of the machine is refused, scratch space included."""
    sizes = {"SC_PHYS_PAGES": 1024, "SC_PAGE_SIZE": 1 << 20}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    manifest = folder / "bot.toml"
    text = manifest.read_text()
    manifest.write_text(text + "[limits]\nmemory_mb = 900\ntmp_mb = 62\n")
    prepare(folder)
    manifest.write_text(text + "[limits]\nmemory_mb = 900\ntmp_mb = 63\n")
    with pytest.raises(BotError, match=r"1026 MiB .*, but this machine has 1024"):
        prepare(folder)


def test_shipped_bots_play_match_after_match() -> None:
    """A start takes more than a short match; only who hands questions on to an engine or a model starts each time."""
    folders = [path.parent for path in (Path(__file__).parents[2] / "bots").rglob("bot.toml")]
    assert len(folders) > 20
    started = {folder.name for folder in folders if not read_manifest(folder).reusable}
    assert started == {"gtp-engine", "uci-engine", "llm"}
