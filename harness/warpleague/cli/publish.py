"""Publish a league or rounds as one archive, and verify such an archive without anything else.

An archive is a plain tar file, always the same for the same results. Its manifest has the digest of each file.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs

from warpleague import __version__
from warpleague.cli.commands import EXTRAS
from warpleague.cli.common import check_new, check_writable, print_json, program, say
from warpleague.cli.league_common import ProgressLines, in_arena, is_silent
from warpleague.errors import BadInput
from warpleague.league.play.publishing import (
    Checked,
    about,
    bots_of,
    check_finished,
    check_league,
    check_rules,
    check_sources,
    league_files,
    open_published,
    source_files,
    sources_of,
)
from warpleague.league.ratings.threads import one_thread
from warpleague.league.results.league import open_to_read
from warpleague.league.season.config import load_config
from warpleague.league.season.season import differences
from warpleague.league.store.journal import Head
from warpleague.league.store.store import Store
from warpleague.runner.bundle.archive import pack, unpack
from warpleague.runner.tree import BadTree, scratch_folder, walk
from warpleague.strict import structure
from warpleague.text import counted, nearest
from warpleague.toml_text import parse_toml, read_text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from warpleague.league.results.league import League
    from warpleague.league.season.config import LeagueConfig

FORMAT: Final = 1
"""The format of archives."""
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.sig"
STANDINGS: Final = "standings.json"
LEAGUES: Final = "leagues"
SOURCES: Final = "sources"
_NAMESPACE: Final = "warpleague"
"""For what a signature is, as ssh-keygen says it: one for another use does not serve here."""
_WORDS: Final = {"holds": "holds", "wrong": "WRONG", "unchecked": "not checked"}
_KEY: Final = re.compile(r"(ssh-|ecdsa-|sk-)\S+ \S+")
_MOST_SHOWN: Final = 10
_MOST_BYTES: Final = 8 << 30
_MOST_FILES: Final = 1_000_000


@attrs.frozen
class Publication:
    """What goes into an archive: leagues, each with its folder of results, and `files` about them.

    `seeded` is whether their file has a seed.
    """

    kind: str
    name: str
    leagues: tuple[tuple[LeagueConfig, Path], ...]
    seeded: bool
    files: dict[str, bytes] = attrs.Factory(dict)


class Publisher(Protocol):
    """What an extra has, as a module, whose results are several leagues and more."""

    def publication(self, file: Path, results: Path) -> Publication:
        """What is published of a file of its own."""

    def check(self, folder: Path, leagues: Path) -> Iterator[Checked]:
        """Check its own files in an unpacked archive; `leagues` has the stores."""


@attrs.frozen(kw_only=True)
class ArchiveManifest:
    """The manifest: what was published, by which versions, and the SHA-256 of each file by its path."""

    format: int
    kind: str
    name: str
    program: str
    python: str
    leagues: tuple[dict[str, Any], ...]
    bots: tuple[dict[str, Any], ...]
    files: dict[str, str]


def _publisher(kind: str) -> Publisher | None:
    """What publishes results of this kind, or None for leagues; `BadInput` if there is nothing."""
    if kind == "league":
        return None
    for module in EXTRAS:
        if (name := import_module(module).EXTRA.publisher.get(kind)) is not None:
            publisher: Publisher = import_module(name)
            return publisher
    raise BadInput(f"{kind!r} is nothing that this program publishes: take the version that made the archive")


# -- publish ---------------------------------------------------------------------------------------------


def run_publish(args: Namespace) -> int:
    """Write the archive."""
    published = _publication(args)
    target: Path = args.out or Path(f"{published.name}.tar")
    check_new(target, args.force)
    check_writable(target)
    draft = target.with_name(f".{target.name}.draft")
    written = _Writing(published, args.sources or (), args.sign)
    try:
        with draft.open("wb") as out:
            pack(written.files(), out)
        draft.replace(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot write it: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    if args.json:
        manifest = attrs.asdict(written.manifest)
        print_json({"archive": str(target), "signed": args.sign is not None, "manifest": manifest})
        return 0
    for remark in written.remarks:
        say(f"note: {remark}")
    given = sum(bot["source"] for bot in written.manifest.bots)
    matches = sum(league["matches"] for league in written.manifest.leagues)
    print(
        f"{target}: {counted(matches, 'match')}, sources of {given} of {counted(len(written.manifest.bots), 'bot')}, "
        f"{'signed' if args.sign else 'not signed'}"
    )
    for league in written.manifest.leagues:
        print(f"Receipt of {league['name']}: {league['head']}")
    print(f"Verify: {shlex.join((*program(), 'verify', str(target)))}")
    return 0


def _publication(args: Namespace) -> Publication:
    file: Path = args.file
    if file.is_dir():
        if not (file / "league.sqlite").is_file():
            raise BadInput(
                f"{file}: has no league.sqlite; name the folder of a league's results, or its file"
            )
        config = load_config(file / "league.toml", without_bots=True)
        with Store.open_to_read(
            file
        ) as store:  # as if it were where its file is: its bots are named from there
            config = attrs.evolve(config, path=file / (store.meta("file") or ""))
        return Publication("league", config.name, ((config, file.parent),), config.seed is not None)
    try:
        keys = parse_toml(read_text(file, str(file)), str(file)) if file.is_file() else {}
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None
    if "authors" in keys and (publisher := _publisher("rounds")) is not None:
        return publisher.publication(file, args.results)
    config = load_config(file, without_bots=True)
    config = in_arena(config, args.results) or config
    return Publication("league", config.name, ((config, args.results),), config.seed is not None)


class _Writing:
    """The files of one archive: `files` gives them in order, and fills `manifest` and `remarks`."""

    def __init__(self, published: Publication, sources: tuple[str, ...], key: Path | None) -> None:
        self._published, self._patterns, self._key = published, sources, key
        self._leagues: list[dict[str, Any]] = []
        self._bots: dict[tuple[str, str], None] = {}
        self._found: dict[str, Path] = {}
        self._digests: dict[str, str] = {}
        self.remarks: list[str] = []
        if published.seeded:
            known = "the dice of other leagues of this seed are known with it"
            self.remarks.append(f"{published.name}: its seed is in the archive: {known}")

    def files(self) -> Iterator[tuple[str, bytes, bool]]:
        """Path, content, and whether it may be run, of each file; the manifest and its signature are the last."""
        for name, data, executable in self._content():
            self._digests[name] = sha256(data).hexdigest()
            yield name, data, executable
        text = _pretty(attrs.asdict(self.manifest))
        yield MANIFEST, text, False
        if self._key is not None:
            yield SIGNATURE, _signed(text, self._key), False

    @property
    def manifest(self) -> ArchiveManifest:
        """The manifest of all files so far."""
        return _manifest(self._published.kind, self._published.name, self._leagues, self._bots, self._digests)

    def _content(self) -> Iterator[tuple[str, bytes, bool]]:
        for name, data in self._published.files.items():
            yield name, data, False
        for config, results in self._published.leagues:
            with open_to_read(config, results) as league:
                check_finished(league)
                self._note(league)
                for name, data in (*[(STANDINGS, _pretty(_standings(league)))], *league_files(league)):
                    yield f"{LEAGUES}/{league.config.name}/{name}", data, False
        for digest, folder in self._sources().items():
            for name, data, executable in source_files(folder):
                yield f"{SOURCES}/{digest}/{name}", data, executable

    def _note(self, league: League) -> None:
        self._leagues.append(about(league))
        self._bots |= dict.fromkeys(bots_of(league))
        self._found |= sources_of(league)

    def _sources(self) -> dict[str, Path]:
        """The folders of the sources that go in, by digest; `BadInput` for a name that no bot has."""
        names = sorted({name for name, _ in self._bots})
        for pattern in self._patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise BadInput(f"--sources: no bot is called {pattern!r}; {nearest(pattern, names)}")
        chosen: dict[str, Path] = {}
        for name, digest in self._bots:
            if not any(fnmatchcase(name, pattern) for pattern in self._patterns):
                continue
            if digest in self._found:
                chosen[digest] = self._found[digest]
            else:
                self.remarks.append(
                    f"{name}: its folder has other content now, or is gone: no source of {digest}"
                )
        return chosen


def _manifest(
    kind: str,
    name: str,
    leagues: list[dict[str, Any]],
    bots: dict[tuple[str, str], None],
    digests: dict[str, str],
) -> ArchiveManifest:
    there = {name.split("/")[1] for name in digests if name.startswith(f"{SOURCES}/")}
    return ArchiveManifest(
        format=FORMAT,
        kind=kind,
        name=name,
        program=__version__,
        python=platform.python_version(),
        leagues=tuple(leagues),
        bots=tuple({"bot": bot, "digest": digest, "source": digest in there} for bot, digest in bots),
        files=digests,
    )


def _pretty(data: object) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def _standings(league: League) -> dict[str, Any]:
    with one_thread():
        from warpleague.report.terminal.tables import standings_json  # loads numpy
    return standings_json(league)


# -- verify ----------------------------------------------------------------------------------------------


def run_verify(args: Namespace) -> int:
    """Exit code 1: something does not hold."""
    if args.signer is not None:
        _keys_of(args.signer)
    lines = ProgressLines(silent=is_silent(args))
    checks: list[Checked] = []
    with scratch_folder() as scratch:
        folder = scratch / "archive"
        _unpack(args.archive, folder)
        manifest = _read_manifest(args.archive, folder)
        for one in _checks(manifest, folder, args):
            clean = attrs.evolve(one, text=one.text.replace(f"{folder}/", "").replace(f"{scratch}/", ""))
            checks.append(clean)
            lines.tell("checks done", len(checks))
            if not args.json:
                print(f"{_WORDS[clean.verdict]:<11}  {clean.what}: {clean.text}")
    wrong = sum(one.verdict == "wrong" for one in checks)
    if args.json:
        rows = [attrs.asdict(one) for one in checks]
        print_json({"archive": str(args.archive), "kind": manifest.kind, "name": manifest.name, "holds": not wrong,
                    "checks": rows})  # fmt: skip
    else:
        unchecked = sum(one.verdict == "unchecked" for one in checks)
        print(
            f"{args.archive}: {f'{wrong:,} wrong' if wrong else 'holds'}; "
            f"{unchecked:,} of {counted(len(checks), 'check')} not possible here"
        )
    return 1 if wrong else 0


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive that a stranger may have made; `BadInput` if it is none, or too large."""
    try:
        with path.open("rb") as file:
            most = os.fstat(file.fileno()).st_size
            if most > _MOST_BYTES:
                raise BadInput(f"{path}: more than {_MOST_BYTES >> 30} GiB")
            unpack(file, folder, most, most_entries=_MOST_FILES)
    except OSError as error:
        if error.filename != str(path):
            raise
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    except BadTree as error:
        advice = "it must be a tar file, not packed further, as warpleague publish writes it"
        raise BadInput(f"{path}: holds {error}; {advice}") from None


def _read_manifest(path: Path, folder: Path) -> ArchiveManifest:
    try:
        data = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise BadInput(
            f"{path}: has no {MANIFEST} that can be read; warpleague publish writes archives"
        ) from None
    number = data.get("format") if isinstance(data, dict) else None
    if number != FORMAT:
        raise BadInput(f"{path}: {MANIFEST}: format {number}; this warpleague reads format {FORMAT}")
    return structure(data, ArchiveManifest, f"{path}: {MANIFEST}")


def _checks(manifest: ArchiveManifest, folder: Path, args: Namespace) -> Iterator[Checked]:
    digests, problems = _digests(folder)
    for name in sorted(digests.keys() | manifest.files.keys()):
        if digests.get(name) != manifest.files.get(name):
            there = "is not in the manifest" if name not in manifest.files else "is not in the archive"
            both = name in digests and name in manifest.files
            problems.append(f"{name}: {'has another digest than in the manifest' if both else there}")
    yield from (Checked("file", "wrong", problem) for problem in problems[:_MOST_SHOWN])
    if len(problems) > _MOST_SHOWN:
        yield Checked("file", "wrong", f"{counted(len(problems) - _MOST_SHOWN, 'more file')} like these")
    if not problems:
        yield Checked("files", "holds", f"{counted(len(digests), 'file')} with the digests of the manifest")
    yield _check_signature(folder, args.signer)
    publisher = _publisher(manifest.kind)
    for known in manifest.leagues:
        check_rules(str(known.get("game")), known.get("rules"))
    names = sorted(path.name for path in (folder / LEAGUES).iterdir()) if (folder / LEAGUES).is_dir() else []
    heads = _heads(args.head, names)
    leagues: list[dict[str, Any]] = []
    bots: dict[tuple[str, str], None] = {}
    stores = folder.parent / "stores" / LEAGUES
    for name in names:
        where = f"{name}: " if publisher is not None else ""
        try:
            with open_published(folder / LEAGUES / name, stores, name) as league:
                leagues.append(about(league))
                bots |= dict.fromkeys(bots_of(league))
                checks = partial(check_league, league, heads[name], args.jobs, **args.tools.pool)
                for one in (*checks(), _check_table(folder / LEAGUES / name / STANDINGS, _standings(league))):
                    yield attrs.evolve(one, text=where + one.text)
        except BadInput as error:
            yield Checked("league", "wrong", where + str(error))
    if publisher is not None:
        yield from publisher.check(folder, stores)
    named: dict[str, list[str]] = {}
    for bot, digest in bots:
        named.setdefault(digest, []).append(bot)
    yield from check_sources(named, folder / SOURCES)
    yield from _check_manifest(manifest, _manifest(manifest.kind, manifest.name, leagues, bots, digests))


def _heads(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[Head]]:
    """The receipts that were given out, by league; `BadInput` for what is none, or of no league of the archive."""
    heads: dict[str, list[Head]] = {name: [] for name in names}
    for text in texts:
        name, colon, head = text.rpartition(":")
        if not colon and len(names) == 1:
            (name,) = names
        if name not in heads:
            advice = (
                nearest(name, names)
                if colon
                else f"write LEAGUE:HEAD, such as {next(iter(names), 'cup')}:{head}"
            )
            raise BadInput(f"--head {text}: the archive has {counted(len(names), 'league')}; {advice}")
        heads[name].append(Head.parse(head))
    return heads


def _digests(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The SHA-256 of each file of an unpacked archive, and what is no file."""
    digests: dict[str, str] = {}
    problems: list[str] = []
    for entry in walk(folder, strict=True):
        if entry.is_file and entry.name not in (MANIFEST, SIGNATURE):
            with (folder / entry.name).open("rb") as file:
                hasher = sha256()
                while piece := file.read(1 << 20):
                    hasher.update(piece)
            digests[entry.name] = hasher.hexdigest()
        elif entry.is_link:
            problems.append(f"{entry.name}: is a link, which no archive has")
    return digests, problems


def _check_manifest(theirs: ArchiveManifest, ours: ArchiveManifest) -> Iterator[Checked]:
    said, found = (
        {
            "name": one.name,
            "leagues": {str(league.get("name")): league for league in one.leagues},
            "bots": {f"{bot.get('bot')} {bot.get('digest')}": bot for bot in one.bots},
        }
        for one in (theirs, ours)
    )
    if theirs.kind == "league" and len(ours.leagues) == 1:
        found["name"] = ours.leagues[0]["name"]
    lines = differences(said, json.loads(json.dumps(found)))
    yield from (Checked("manifest", "wrong", f"does not fit the archive: {line}") for line in lines)
    if not lines:
        yield Checked("manifest", "holds", "what it says of leagues and bots is what the archive has")
    yield Checked(
        "versions", "unchecked", f"made by warpleague {theirs.program} on Python {theirs.python}, it says"
    )


def _check_table(file: Path, now: object) -> Checked:
    """Compare a table in the archive with the same one computed again."""
    try:
        if has(file, now):
            return Checked("standings", "holds", "computed again from the results")
    except (OSError, ValueError, RecursionError):
        return Checked("standings", "wrong", f"{file}: is missing, or no JSON")
    return Checked("standings", "wrong", f"{file}: the results give another table")


def has(file: Path, now: object) -> bool:
    """Whether a file of JSON has what was computed again; raises `OSError` or `ValueError` if it cannot be read."""
    return alike(json.loads(file.read_bytes()), json.loads(json.dumps(now)))


def alike(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; fractions may differ by one unit of the last digit that is written."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if type(one) is float and type(other) is float:
        digits = max(len(repr(value).partition(".")[2]) for value in (one, other))
        return abs(one - other) <= 1.01 * 10.0**-digits
    return type(one) is type(other) and bool(one == other)


# -- signatures ------------------------------------------------------------------------------------------
# By ssh-keygen, which nearly every machine has: no cryptography of our own, and keys that people have already.


def _ssh_keygen(*words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `ssh-keygen -Y`; raises `FileNotFoundError` where it is not installed."""
    return subprocess.run(
        ["ssh-keygen", "-Y", *words, "-n", _NAMESPACE], input=data, capture_output=True, check=False
    )


def _signed(data: bytes, key: Path) -> bytes:
    """The signature of `data` by the private key in a file; `BadInput` if the file or the program does not serve."""
    if not key.is_file():
        raise BadInput(f"--sign {key}: there is no such file; make a key: ssh-keygen -t ed25519 -f {key}")
    with scratch_folder() as scratch:
        file = scratch / MANIFEST
        file.write_bytes(data)
        words = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", _NAMESPACE, str(file)]
        try:  # not without a terminal: a key may have a passphrase
            done = subprocess.run(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            raise BadInput("--sign: needs ssh-keygen: install OpenSSH") from None
        if done.returncode:
            raise BadInput(f"--sign {key}: {_last_line(done.stderr)}")
        return (scratch / SIGNATURE).read_bytes()


def _check_signature(folder: Path, signer: Path | None) -> Checked:
    """Check the signature of the manifest, and that it is by a key in the file `signer`, if that is given."""
    file, data = folder / SIGNATURE, (folder / MANIFEST).read_bytes()
    if not file.is_file():
        if signer is not None:
            return Checked("signature", "wrong", f"there is none, so none by a key of {signer}")
        return Checked("signature", "unchecked", "there is none: anyone may have made this archive")
    try:
        good = _ssh_keygen("check-novalidate", "-s", str(file), data=data)
    except FileNotFoundError:
        if signer is not None:
            raise BadInput("--signer: needs ssh-keygen: install OpenSSH") from None
        return Checked("signature", "unchecked", "ssh-keygen is not installed here: install OpenSSH")
    if good.returncode:
        return Checked(
            "signature", "wrong", f"not one of this manifest: {_last_line(good.stderr or good.stdout)}"
        )
    by = _last_line(good.stdout).partition(" with ")[2]
    if signer is None:
        return Checked("signature", "unchecked", f"it is by {by}; whose key that is, --signer FILE says")
    keys = _keys_of(signer)
    allowed = folder.parent / "allowed"
    allowed.write_text("".join(f"publisher {line}\n" for line in keys), "utf-8")
    done = _ssh_keygen("verify", "-f", str(allowed), "-I", "publisher", "-s", str(file), data=data)
    if done.returncode:
        return Checked("signature", "wrong", f"it is by {by}, which is no key of {signer}")
    return Checked("signature", "holds", f"by {by}, a key of {signer}")


def _keys_of(signer: Path) -> list[str]:
    """The public keys in a file, one for each line; `BadInput` if it has other lines, or none."""
    try:
        keys = [line for line in signer.read_text("utf-8").splitlines() if line.strip() and line[0] != "#"]
    except OSError as error:
        raise BadInput(f"--signer {signer}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        keys = []
    if not keys or not all(_KEY.match(line) for line in keys):
        raise BadInput(
            f"--signer {signer}: has no public keys such as ssh-keygen writes to a file that ends in .pub"
        )
    return keys


def _last_line(output: bytes) -> str:
    return (output.decode(errors="replace").strip().splitlines() or ["ssh-keygen failed"])[-1]
