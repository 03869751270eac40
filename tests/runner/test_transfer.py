"""A built bot that is packed and received is the same bot in another cache; what is not a bot is refused."""

import io
import tarfile
from pathlib import Path

import pytest

from warpleague.errors import BotError
from warpleague.runner.bundle import bundle
from warpleague.runner.bundle.bundle import pack, receive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bot"
    (made / "deep").mkdir(parents=True)
    (made / "bot.toml").write_text('name = "far"\ngames = ["aliens"]\nrun = ["./run"]\n')
    (made / "run").write_text("#!/bin/sh\n")
    (made / "run").chmod(0o755)
    (made / "deep" / "data").write_bytes(bytes(range(256)))
    return made


def test_a_bot_arrives_as_it_left(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, contents and the right to run them are the same in the other cache; taking it twice does no harm."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "here"))
    sent = bundle.prepare(folder, "none")
    archive = pack(sent.digest)
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "there"))
    assert bundle.find(sent.digest) is None
    receive(sent.digest, archive)
    receive(sent.digest, archive)
    found = bundle.find(sent.digest)
    assert found is not None
    assert (found.name, found.digest, found.run) == ("far", sent.digest, (f"{found.cwd}/run",))
    assert Path(found.cwd).is_relative_to(tmp_path / "there")
    assert (Path(found.cwd) / "deep" / "data").read_bytes() == bytes(range(256))
    assert (Path(found.cwd) / "run").stat().st_mode & 0o777 == 0o755


def test_what_is_not_here_cannot_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that was never prepared here is named by its digest."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path))
    with pytest.raises(BotError, match="the bot with digest aaaaaaaaaaaa is not in the cache"):
        pack("a" * 64)


def test_an_archive_that_leads_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is received is unpacked as what a stranger's build leaves is: nothing outside the bot's folder."""
    monkeypatch.setenv("WARPLEAGUE_CACHE", str(tmp_path / "cache"))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("../stolen"))
    with pytest.raises(BotError, match="outside the folder"):
        receive("b" * 64, out.getvalue())
    assert not (tmp_path / "stolen").exists()
    assert bundle.find("b" * 64) is None
