"""Published archives: the same bytes each time, verified anywhere, and each kind of tampering is found."""

import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from tests.league.conftest import SHORT, Cup, Refereed
from tests.league.inline import InlinePool

from warpleague.cli import Tools, main
from warpleague.cli.publish import alike
from warpleague.match.zstd import ZstdCompressor, decompress
from warpleague.runner.bundle.archive import pack
from warpleague.runner.bundle.content import folder_digest

Files: TypeAlias = dict[str, bytes]
Words: TypeAlias = Callable[..., tuple[int, str, str]]
STORE = "leagues/cup/store"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Words:
    """Calls the command line in this process; gives exit code, output and remarks."""

    def call(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words], Tools(new_pool=InlinePool))
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def played(cup: Cup, fake: ModuleType, refereed: Refereed, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a league of two bots that has been played, whose bots have sources."""
    monkeypatch.chdir(cup.folder)
    path = cup.file("a", "b", game=SHORT)
    for bot in ("a", "b"):
        (cup.folder / "bots" / bot / "bot.toml").write_text(
            f'name = "{bot}"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n', "utf-8"
        )
        (cup.folder / "bots" / bot / "bot.py").write_text(f"# {bot}\n", "utf-8")

    def prepare(folder: Path, *_: object, **__: object) -> Any:
        return fake.FakeBundle(folder.name, folder_digest(folder))

    monkeypatch.setattr(fake, "prepare", prepare)
    cup.play_once(path, "published", play=refereed())
    return path


@pytest.fixture
def archive(played: Path, cup: Cup, call: Words) -> Path:
    """The archive of the league, with all sources."""
    assert call("publish", played, "--results", cup.results, "--sources", "*")[0] == 0
    return cup.folder / "cup.tar"


def read(archive: Path) -> Files:
    """The files of an archive, in order."""
    with tarfile.open(archive) as tar:
        found = ((entry.name, tar.extractfile(entry)) for entry in tar if entry.isfile())
        return {name: file.read() for name, file in found if file}


def write(archive: Path, files: Files, *, honest: bool = False) -> None:
    """Write an archive of these files; but for an `honest` one, the digests of its manifest are made to fit."""
    if not honest:
        manifest = json.loads(files["manifest.json"])
        own = ("manifest.json", "manifest.json.sig")
        manifest["files"] = {
            name: sha256(data).hexdigest() for name, data in files.items() if name not in own
        }
        files = {**files, "manifest.json": json.dumps(manifest).encode()}
    with archive.open("wb") as out:
        pack(((name, data, False) for name, data in files.items()), out)


def rows(files: Files, table: str) -> list[Any]:
    """The lines of a table of the store, as JSON; the first are the columns."""
    return [json.loads(line) for line in files[f"{STORE}/{table}.jsonl"].splitlines()]


def put(files: Files, table: str, lines: list[Any]) -> None:
    """Replace a table of the store."""
    files[f"{STORE}/{table}.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()


def change_record(files: Files) -> None:
    """Other dice in a record that can be read."""
    name = next(name for name in files if "/records/" in name)
    text = decompress(files[name], 1 << 20)
    text, changed = re.subn(
        rb'("outcome":\[)(\d)', lambda old: old[1] + b"%d" % ((int(old[2]) + 1) % 6), text
    )
    assert changed
    files[name] = ZstdCompressor().compress(text, ZstdCompressor.FLUSH_FRAME)


def change_row(files: Files) -> None:
    """The other bot wins all matches."""
    columns, *seats = rows(files, "seat")
    rank = columns.index("rank")
    for seat in seats:
        seat[rank] = 3 - seat[rank]
    put(files, "seat", [columns, *seats])


def drop_match(files: Files) -> str:
    """The last match is gone with its record; its id."""
    key, match_id, *_ = rows(files, "match")[-1]
    put(files, "match", rows(files, "match")[:-1])
    put(files, "seat", [row for row in rows(files, "seat") if row[0] != key])
    put(files, "record", [row for row in rows(files, "record") if row[0] != match_id])
    del files[f"leagues/cup/records/{match_id}.jsonl.zst"]
    return str(match_id)


def drop_match_and_entry(files: Files) -> None:
    """The same by somebody who computes the journal again."""
    match_id = drop_match(files)
    columns, *entries = rows(files, "journal")
    link, chain = b"", []
    for _, entry, row, _ in (entry for entry in entries if entry[1] != match_id):
        link = sha256(link + f"{entry} {row}".encode()).digest()
        chain.append([len(chain) + 1, entry, row, {"hex": link.hex()}])
    put(files, "journal", [columns, *chain])
    head = f"{len(chain)}-{link.hex()}"
    put(files, "meta", [[key, head if key == "journal" else value] for key, value in rows(files, "meta")])


def add_match(files: Files) -> None:
    """A match a second time, under another id."""
    for table in ("match", "seat", "record"):
        lines = rows(files, table)
        place = 1 if table == "match" else 0
        last = [line for line in lines if line[place] == lines[-1][place]] if table == "seat" else lines[-1:]
        for line in last:
            copy = list(line)
            if table == "record":
                copy[0] = "0" * 20
            else:
                copy[0] = 99
            if table == "match":
                copy[1], copy[lines[0].index("number")] = "0" * 20, None
            lines.append(copy)
        put(files, table, lines)
    name = max(name for name in files if "/records/" in name)
    files[f"leagues/cup/records/{'0' * 20}.jsonl.zst"] = files[name]


def swap(part: str, old: bytes, new: bytes) -> Callable[[Files], None]:
    """Change a text in the first file whose name ends in `part`."""

    def change(files: Files) -> None:
        name = next(name for name in files if name.endswith(part))
        assert old in files[name]
        files[name] = files[name].replace(old, new)

    return change


def test_the_same_results_give_the_same_archive(archive: Path, cup: Cup, played: Path, call: Words) -> None:
    """By the file or by the folder of the results; it holds, also far from both."""
    assert call("publish", cup.results / "cup", "-o", "again.tar", "--sources", "a,b")[0] == 0
    assert (cup.folder / "again.tar").read_bytes() == archive.read_bytes()
    head = json.loads(read(archive)["manifest.json"])["leagues"][0]["head"]
    code, out, _ = call("verify", archive, "--head", head, "--json")
    told = json.loads(out)
    assert (code, told["holds"]) == (0, True)
    holds = {check["what"] for check in told["checks"] if check["verdict"] == "holds"}
    assert holds >= {
        "files",
        "commitment",
        "entrants",
        "journal",
        "records",
        "matches",
        "standings",
        "source",
        "manifest",
    }
    code, out, _ = call("verify", archive, "--head", f"3-{'0' * 64}")
    assert (code, "WRONG        journal: the store: its journal does not go back" in out) == (1, True)


def test_only_digests_go_in_unless_sources_are_named(played: Path, cup: Cup, call: Words) -> None:
    """What is not there is told; a name that no bot has is refused, and a source that has changed is left out."""
    words = ("publish", played, "--results", cup.results)
    assert call(*words, "--sources", "b")[0] == 0
    code, out, _ = call("verify", "cup.tar")
    assert (code, "not checked  source: a " in out, "holds        source: b " in out) == (0, True, True)
    assert call(*words)[0] == 2  # it is there already
    code, _, err = call(*words, "--force", "--sources", "c")
    assert (code, "no bot is called 'c'" in err) == (2, True)
    (cup.folder / "bots/a/bot.py").write_text("# new\n", "utf-8")
    code, _, err = call(*words, "--force", "--sources", "*")
    assert (code, "a: its folder has other content now" in err) == (0, True)


def test_matches_of_earlier_versions_are_executed_too(
    played: Path, cup: Cup, call: Words, refereed: Refereed
) -> None:
    """They count in no table any more, but were played; one that does not hold is found."""
    (cup.folder / "bots/a/bot.py").write_text("# new\n", "utf-8")
    cup.play(played, play=refereed())
    assert call("publish", played, "--results", cup.results)[0] == 0
    code, out, _ = call("verify", "cup.tar")
    assert (code, "records: 12 of 12 executed" in out, "matches: 6 of 6" in out) == (0, True, True)
    files = read(Path("cup.tar"))
    change_record(files)
    for name in [name for name in files if "/records/" in name]:
        files[name] = next(data for other, data in files.items() if "/records/" in other)
    write(Path("cup.tar"), files)
    code, out, _ = call("verify", "cup.tar")
    assert (code, "WRONG        records: 0 of 12 executed" in out) == (1, True)


def test_a_season_that_is_not_over_is_not_published(cup: Cup, call: Words) -> None:
    """Its secret would be public too early."""
    path = cup.file("a", "b", game=SHORT)
    cup.open(path).store.close()
    code, _, err = call("publish", path, "--results", cup.results, "-o", cup.folder / "x.tar")
    assert (code, "the season is not over" in err) == (2, True)
    assert not (cup.folder / "x.tar").exists()


TAMPERING: dict[str, tuple[Callable[[Files], object], set[str]]] = {
    "a changed record": (change_record, {"records", "journal"}),
    "a changed row": (change_row, {"records", "journal", "standings"}),
    "a dropped match": (drop_match, {"journal", "matches"}),
    "a dropped match and entry": (drop_match_and_entry, {"matches"}),
    "an added match": (add_match, {"journal", "records"}),
    "a swapped source": (swap("bot.py", b"#", b"# x"), {"source"}),
    "other conditions": (swap("league.toml", b"max_turns = 10", b"max_turns = 11"), {"league"}),
    "another format": (swap("league.toml", b"deals = 3", b"deals = 2"), {"entrants"}),
    "other standings": (swap("standings.json", b'"won": ', b'"won": 1'), {"standings"}),
    "another secret": (swap("meta.jsonl", b'"secret","', b'"secret","00'), {"league"}),
    "another commitment": (swap("manifest.json", b'"commitment": "', b'"commitment": "00'), {"manifest"}),
    "another bot": (swap("manifest.json", b'"bot": "a"', b'"bot": "c"'), {"manifest"}),
}


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_is_found(archive: Path, call: Words, kind: str) -> None:
    """Even if all digests of the manifest were made to fit; else each changed file is named, too."""
    change, wrong = TAMPERING[kind]
    files = read(archive)
    change(files)
    for honest in (False, True):
        write(archive, files, honest=honest)
        code, out, _ = call("verify", archive, "--json")
        found = {check["what"] for check in json.loads(out)["checks"] if check["verdict"] == "wrong"}
        assert (code, found >= wrong) == (1, True), found
        assert ("file" in found) == (honest and wrong != {"manifest"})


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_signature_tells_who_published(played: Path, cup: Cup, call: Words) -> None:
    """It is of the manifest, so of all files; a changed one, a forged one, another key and none are found."""
    for name in ("ours", "theirs"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name]
        subprocess.run(words, check=True, cwd=cup.folder)
    assert call("publish", played, "--results", cup.results, "--sign", "ours")[0] == 0
    code, out, _ = call("verify", "cup.tar", "--signer", "ours.pub")
    assert (code, "holds        signature: by ED25519 key SHA256:" in out) == (0, True)
    code, out, _ = call("verify", "cup.tar")
    assert (code, "not checked  signature: it is by ED25519" in out) == (0, True)
    code, out, _ = call("verify", "cup.tar", "--signer", "theirs.pub")
    assert (code, "WRONG        signature: it is by" in out) == (1, True)
    files, archive = read(Path("cup.tar")), Path("changed.tar")
    for name, old, new in (
        ("manifest.json", b'"python": "', b'"python": "9'),
        ("manifest.json.sig", b"\nU1NIU0lH", b"\nU1NIU0lI"),
    ):
        assert old in files[name]
        write(archive, {**files, name: files[name].replace(old, new)}, honest=True)
        code, out, _ = call("verify", archive)
        assert (code, "WRONG        signature: not one of this manifest" in out) == (1, True)
    del files["manifest.json.sig"]
    write(archive, files, honest=True)
    assert call("verify", archive)[0] == 0
    code, out, _ = call("verify", archive, "--signer", "ours.pub")
    assert (code, "WRONG        signature: there is none" in out) == (1, True)
    assert call("publish", played, "--results", cup.results, "--sign", "none", "-o", "x.tar")[0] == 2
    assert not Path("x.tar").exists()


def test_what_is_no_archive_is_refused(archive: Path, call: Words, tmp_path: Path) -> None:
    """Bad input, and nothing is written outside: no file at all, another one, paths that lead out, other formats."""
    files = read(archive)
    bad = tmp_path / "bad.tar"
    assert call("verify", tmp_path / "none.tar")[0] == 2
    bad.write_bytes(b"something else" * 100)
    assert call("verify", bad)[0] == 2
    for name, data in (
        ("../out", b""),
        ("/tmp/out-of-it", b""),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"format": 99}'),
        ("manifest.json", b'{"format": 1, "kind": "league"}'),
        ("manifest.json", files["manifest.json"].replace(b'"rules": 1', b'"rules": 9')),
        ("manifest.json", files["manifest.json"].replace(b'"kind": "league"', b'"kind": "other"')),
    ):
        write(bad, {**files, name: data}, honest=True)
        code, _, err = call("verify", bad)
        assert (code, err.startswith("warpleague: ")) == (2, True), (name, data, err)
    assert not (tmp_path.parent / "out").exists()
    write(bad, {**files, f"{STORE}/match.jsonl": b'["key"]\n'})
    code, out, _ = call("verify", bad)
    assert (
        code,
        "WRONG        league: leagues/cup/store/match.jsonl: line 1: its columns must be" in out,
    ) == (1, True)
    with tarfile.open(bad, "w") as tar:
        link = tarfile.TarInfo("leagues/cup/league.toml")
        link.type, link.linkname = tarfile.SYMTYPE, "../../standings.json"
        tar.addfile(link)
        head = tarfile.TarInfo("manifest.json")
        head.size = len(files["manifest.json"])
        tar.addfile(head, io.BytesIO(files["manifest.json"]))
    code, out, _ = call("verify", bad)
    assert (code, "league.toml: is a link" in out) == (1, True)


def test_figures_may_differ_in_the_last_digit() -> None:
    """Another machine may round the other way; counts, texts and keys are compared as they are."""
    assert alike({"elo": 12.3, "n": [1, None, "a"]}, {"elo": 12.4, "n": [1, None, "a"]})
    for one, other in (
        (12.3, 12.5),
        (1, 2),
        (1, 1.0),
        (True, 1),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        (None, 0),
    ):
        assert not alike(one, other)
