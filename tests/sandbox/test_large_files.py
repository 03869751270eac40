"""Large files that a bot's manifest links to: what is checked, what the bot sees at each level, what stays out."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpleague.errors import BotError
from warpleague.match.conditions import Conditions
from warpleague.match.spec import LEVELS, Level, TimeControl
from warpleague.runner.bundle.bundle import find, pack, prepare
from warpleague.runner.bundle.cache import HELD, cached, clear
from warpleague.runner.bundle.content import files_of
from warpleague.runner.bundle.manifest import read_manifest
from warpleague.runner.checkup import Checkup, check_bot

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
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
    request: pytest.FixtureRequest, bot: Path, public: Path, level: Level, outside: bool
) -> None:
    """At every level the file is where its name says, wherever it really is; it was not copied."""
    if level == "sandbox":
        request.getfixturevalue("sandboxed")
    if outside:
        (bot / "data" / "model.bin").rename(public / "m")
        write(bot, path=str(public / "m"))
    findings: list[str] = []
    clock = TimeControl(move_s=60, start_s=60)
    how = Checkup(conditions=Conditions(clock=clock, level=level), quick=True, within_s=600)
    assert check_bot(bot, how, lambda one: findings.append(one.text)), findings
    folder = Path(prepare(bot, level).cwd)
    assert (folder / "data" / "model.bin").is_symlink()
    assert (folder / "data" / "model.bin").read_bytes() == MODEL


def test_a_model_is_larger_than_a_bundle_may_be(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is linked does not count for the size of the bundle, and is read once, until it changes."""
    with pytest.raises(BotError, match="link large files"):
        files_of(bot, max_mb=0)
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(bot.parent / "cache"))
    prepare(bot)
    (known,) = (bot.parent / "cache" / "files").iterdir()  # written anew whenever the file was read
    first = known.stat().st_ino
    prepare(bot)
    assert known.stat().st_ino == first
    os.utime(bot / "data" / "model.bin", (1, 1))
    prepare(bot)
    assert known.stat().st_ino != first


def test_the_digest_of_a_bot_covers_that_of_its_files(bot: Path) -> None:
    """Another model is another bot; the same model elsewhere in the same place is the same bot."""
    one = prepare(bot)
    copy = bot.with_name("copy")
    shutil.copytree(bot, copy)
    assert prepare(copy).digest == one.digest
    (bot / "data" / "model.bin").write_bytes(b"other")
    with pytest.raises(BotError, match=f"not the file that bot.toml means: its SHA-256 is .*, not {DIGEST}"):
        prepare(bot)
    write(bot, hashlib.sha256(b"other").hexdigest())
    assert prepare(bot).digest != one.digest


def test_a_bundle_whose_model_has_gone_is_not_found(bot: Path) -> None:
    """What was prepared once is checked again when it is looked for."""
    digest = prepare(bot).digest
    assert find(digest) is not None
    with pytest.raises(BotError, match="cannot travel to other machines: its large files are linked"):
        pack(digest)
    (bot / "data" / "model.bin").unlink()
    with pytest.raises(BotError, match=r"data/model\.bin: cannot read it"):
        find(digest)


def test_a_model_out_of_the_folder_is_everybodys(bot: Path, public: Path) -> None:
    """A stranger's manifest gets no file that not everyone may read, even if it knows the digest."""
    (public / "m").write_bytes(MODEL)
    write(bot, path=str(public / "m"))
    (public / "m").chmod(0o640)
    with pytest.raises(BotError, match="closed to others"):
        prepare(bot)
    (public / "m").chmod(0o644)
    public.chmod(0o700)
    with pytest.raises(BotError, match="closed to others"):
        prepare(bot)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs bots as other users")
def test_a_model_that_its_owner_alone_may_read_is_told_before_the_match(bot: Path) -> None:
    """One submission must not stop a league when its first match begins."""
    (bot / "data" / "model.bin").chmod(0o600)
    with pytest.raises(BotError, match=r"chmod a\+r"):
        prepare(bot)


def test_a_model_that_is_no_file_is_not_waited_for(bot: Path) -> None:
    """A named pipe, a folder and nothing at all are told by their paths."""
    model = bot / "data" / "model.bin"
    model.unlink()
    with pytest.raises(BotError, match=r"data/model\.bin: cannot read it"):
        prepare(bot)
    os.mkfifo(model)
    with pytest.raises(BotError, match="is not a file"):
        prepare(bot)


@pytest.mark.parametrize(
    ("name", "digest", "words"),
    [
        ("../m", DIGEST, "must be the name of a file"),
        ("/m", DIGEST, "must be the name of a file"),
        ("bot.toml", DIGEST, "must be the name of a file"),
        ("m", "abc", "sha256sum prints"),
    ],
)
def test_a_manifest_that_names_no_file_of_its_own(bot: Path, name: str, digest: str, words: str) -> None:
    """A name leads nowhere else than into the bot's folder; a digest is one."""
    write(bot, digest, name=name)
    with pytest.raises(BotError, match=words):
        read_manifest(bot)


def test_a_bundle_goes_with_its_links(bot: Path) -> None:
    """Removing a bot from the cache removes its links, and never what they lead to."""
    HELD.release()
    folder = Path(prepare(bot).cwd)
    links = Path(f"{folder}.files")
    assert links.exists()
    HELD.release()
    assert [clear(entry) for entry in cached()] == [True]
    assert not folder.exists()
    assert not links.exists()
    assert (bot / "data" / "model.bin").read_bytes() == MODEL
