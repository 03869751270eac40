"""Rounds as one archive: all leagues, the state and the results are checked together, without the authors' files."""

import json
import shutil
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
from tests.league.inline import InlinePool
from tests.rounds.conftest import Make, Run

from warpleague.cli import Tools, main
from warpleague.runner.bundle.archive import pack


def test_rounds_are_published_with_their_leagues(
    run: Run, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive holds where nothing else is, and a state or results that do not fit the leagues are found."""
    monkeypatch.chdir(tmp_path)
    tools = Tools(new_pool=InlinePool)
    path = make({"ann": "echo '#' >> bot/bot.py", "fix": ""}, rounds=1)
    assert main(["publish", str(path)]) == 2  # nothing has begun
    assert run(path, "--quiet").code == 0
    assert main(["publish", str(path), "--sources", "ann.*"]) == 0
    shutil.rmtree(tmp_path / "results")
    shutil.rmtree(tmp_path / "start")
    path.unlink()
    published = capsys.readouterr().out
    assert main(["verify", "small.tar", "--json"], tools) == 0
    verdicts = {check["what"]: check["verdict"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert {verdicts[what] for what in ("records", "round 1", "results", "standings", "manifest")} == {
        "holds"
    }
    assert (verdicts["edits"], verdicts["usage"]) == ("unchecked", "unchecked")
    receipt = next(
        line for line in published.splitlines() if line.startswith("Receipt of round-01: ")
    ).split()[-1]
    assert main(["verify", "small.tar", "--head", f"round-01:{receipt}"], tools) == 0
    assert main(["verify", "small.tar", "--head", f"round-2:{receipt}"], tools) == 2
    with tarfile.open("small.tar") as tar:
        found = ((entry.name, tar.extractfile(entry)) for entry in tar if entry.isfile())
        files = {name: file.read() for name, file in found if file}
    manifest = json.loads(files["manifest.json"])
    for name, old, new, wrong in (
        ("state.json", b'"commitment": "', b'"commitment": "0', "round 1: its secret is not the one"),
        ("results.json", b'"played": ', b'"played": 1', "results: results.json: the leagues give others"),
        ("rounds.toml", b"deals = 1", b"deals = 2", "rounds: "),
        ("state.json", b'"format"', b'"form"', "rounds: "),
    ):
        data = files[name].replace(old, new)
        manifest["files"][name] = sha256(data).hexdigest()
        told = {**files, name: data, "manifest.json": json.dumps(manifest).encode()}
        with (tmp_path / "bad.tar").open("wb") as out:
            pack(((one, content, False) for one, content in told.items()), out)
        manifest["files"][name] = sha256(files[name]).hexdigest()
        code = main(["verify", "bad.tar"], tools)
        assert (code, wrong.partition(": ")[2] in capsys.readouterr().out) == (1, True), name
