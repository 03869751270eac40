"""A bot ready to be started: the digest of its content, its built copy in the cache, and its command.

The digest names a bundle, so the same content is built once, and a record's digests lead to its bots.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import shutil
import stat
import sys
import tarfile
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.errors import BotError, MissingToolchain
from warpleague.languages import PROGRAMS, SCRIPTS, without_version
from warpleague.match.spec import LEVEL, LEVELS, Level, SeatSpec
from warpleague.runner.bundle.archive import unpack
from warpleague.runner.bundle.build import Build, build_bot
from warpleague.runner.bundle.cache import (
    HELD,
    RECEIVED,
    bundle_folder,
    cache_folder,
    changes_of,
    remove_bundle,
    replace_file,
    seal_copy,
    staging_folder,
)
from warpleague.runner.bundle.content import BRING_LIBRARIES, LEFT_OUT, copy_files, files_of, folder_digest
from warpleague.runner.bundle.manifest import (
    MANIFEST,
    SYSTEM,
    LargeFile,
    Limits,
    Manifest,
    as_words,
    read_manifest,
)
from warpleague.runner.confine.mounts import FILES, check_asked
from warpleague.runner.tree import BadTree, remove_tree
from warpleague.text import nearest, safe

if TYPE_CHECKING:
    from collections.abc import Mapping

# Programs that manifests name, to suggest one that was misspelt.
_KNOWN: Final = (*PROGRAMS, "sh", "bash", "make", "cmake")
_SCRIPTS: Final = {**SCRIPTS, "sh": (".sh",), "bash": (".sh", ".bash")}
_NO_SCRIPT: Final = ("-c", "-m", "-e", "-cp", "-r")  # the next word is not a script of the bot's folder

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@attrs.frozen
class Bundle:
    """A bot ready to run: `run` is its argv with the program resolved, `cwd` the folder to start it in.

    `digest` identifies the content of its folder: the hexadecimal SHA-256 over paths, modes and bytes. `built` says in
    words what was run to build it and how long that took, if that was done now.
    """

    name: str
    version: str
    digest: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    cwd: str
    reusable: bool = False
    limits: Limits = attrs.field(factory=Limits)
    paths: tuple[str, ...] = ()
    built: str = attrs.field(default="", eq=False)

    def seat(self, name: str | None = None) -> SeatSpec:
        """The seat this bot takes in a match, under another name if one is given."""
        return SeatSpec(
            bot=name or self.name,
            version=self.version,
            digest=self.digest,
            run=self.run,
            cwd=self.cwd,
            reusable=self.reusable,
            memory_mb=self.limits.memory_mb,
            processes=self.limits.processes,
            tmp_mb=self.limits.tmp_mb,
            paths=self.paths,
        )


def prepare(
    folder: Path,
    level: Level = LEVEL,
    paths: tuple[str, ...] = (),
    hidden: tuple[Path, ...] = (),
    build_s: float | None = None,
) -> Bundle:
    """The bundle of the bot in `folder`, copied and built in the cache if its digest is new there.

    It is built under `level`, once for each level, so that a bot which is ready in the sandbox was built there, too.
    If a copy was changed since, perhaps by the bot itself, this warns on standard error and makes it again.

    In the sandbox it sees `paths` of this machine, which an organiser has granted, beside those that its manifest asks
    for; these may not hold one of the folders `hidden`, or be in one. `build_s` is how long the build may take, if not
    as long as every build.

    Raises `BotError`, `MissingToolchain` when the program that builds or runs it is not installed, and `BadInput` when
    the bot must be built and the level does not hold here.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    for argv in (manifest.build, manifest.run):
        if argv is not None:
            _require(folder, manifest, argv)
    _require_memory(folder, manifest.limits)
    check_asked(manifest.sandbox.paths, manifest.name, (cache_folder(), *hidden))
    files = check_files(folder, manifest)
    digest = folder_digest(folder, manifest.files)
    place, built = _built(_Source(folder, manifest, digest, level, paths, build_s))
    link_files(place, files)
    return attrs.evolve(_bundle(manifest, digest, place, paths), built=built)


def find_bundle(digest: str, paths: tuple[str, ...] = (), level: Level = LEVEL) -> Bundle | None:
    """The bundle with `digest`, if it was prepared on this machine before; `paths` as in `prepare`.

    If it was built at several levels, the one of `level` is taken. If a copy was changed since it
    was made, this warns and returns None.
    """
    if not _DIGEST.fullmatch(digest):
        return None  # a record may say anything, a path that leads elsewhere too
    built_at = (level, None, *(other for other in LEVELS if other != level))
    places = (bundle_folder(digest, built) for built in built_at)
    folder = next((place for place in places if _is_intact(place, digest[:12]) and HELD.hold(place)), None)
    if folder is None or not (folder / MANIFEST).is_file():
        return None
    manifest = read_manifest(folder)
    check_asked(manifest.sandbox.paths, manifest.name, (cache_folder(),))
    recheck_files(folder, manifest.files)
    return _bundle(manifest, digest, folder, paths)


def missing_from(seat: SeatSpec) -> str | None:
    """The missing part of a bot that was prepared: its folder, its program or its script; None if nothing."""
    interpreter, *words = seat.run
    suffixes = _SCRIPTS.get(without_version(Path(interpreter).name), ("",))
    script = next((word for word in words if word.endswith(suffixes) or word in _NO_SCRIPT), "-")
    needed = [Path(seat.cwd)]
    needed += [Path(interpreter)] if "/" in interpreter else []
    needed += [Path(seat.cwd, script)] if suffixes != ("",) and not script.startswith("-") else []
    return next((str(path) for path in needed if not path.exists()), None)


def _bundle(manifest: Manifest, digest: str, folder: Path, paths: tuple[str, ...]) -> Bundle:
    run = resolve(manifest.run, folder)
    if run is None:
        raise _missing(manifest, manifest.run[0])
    return Bundle(
        name=manifest.name,
        version=manifest.version,
        digest=digest,
        games=manifest.games,
        run=run,
        cwd=str(folder),
        reusable=manifest.reusable,
        limits=manifest.limits,
        paths=_paths(manifest, paths),
    )


def _paths(manifest: Manifest, granted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*manifest.sandbox.paths, *granted}))


@attrs.frozen
class _Source:
    """The folder of a bot that is to be bundled, its manifest and digest, and under which conditions it is built."""

    folder: Path
    manifest: Manifest
    digest: str
    level: Level
    paths: tuple[str, ...]
    build_s: float | None


def _built(source: _Source) -> tuple[Path, str]:
    """The folder in the cache that holds the built bot, and how it was built, if that was done now."""
    report = ""
    target = bundle_folder(source.digest, None if source.manifest.build is None else source.level)
    _is_intact(target, source.manifest.name)
    while not HELD.hold(target):
        try:
            report = _fill(target, source)
        except OSError as error:
            where = f"cannot bundle it in {cache_folder()} (WARPLEAGUE_CACHE names another folder)"
            raise BotError(f"{source.folder}: {where}: {error}") from None
    return target, report


def _is_intact(folder: Path, name: str) -> bool:
    """Whether the copy in `folder` is there as it was made; warns of one that is not, and removes it unless in use."""
    if HELD.has(folder):
        return True
    changed = changes_of(folder)
    if changed and remove_bundle(folder):
        shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        text = f"note: {name}: its copy in the cache is not as it was made, most likely the bot wrote to it: {shown}"
        text += "; it is made again. Matches played meanwhile may depend on each other"
        logging.getLogger(__name__).warning("%s", safe(text))
        return False
    return folder.is_dir()


def _fill(target: Path, source: _Source) -> str:
    """Make `target` the built copy of the bot, unless another process does so first; how it was built."""
    report, folder, manifest = "", source.folder, source.manifest
    with staging_folder(target) as draft:  # two processes must not build the same bot at once
        if target.is_dir():
            return report
        copy, scratch = draft / "bot", draft / "scratch"
        scratch.mkdir(parents=True)
        copy_files(folder, copy, manifest.files)
        if (
            folder_digest(copy, manifest.files) != source.digest
        ):  # or other content would go by its name from now on
            raise BotError(f"{folder}: its content changed while it was bundled")
        if manifest.build is not None:
            argv = (_program(manifest.build[0], copy) or manifest.build[0], *manifest.build[1:])
            shutil.copyfile(copy / MANIFEST, draft / MANIFEST)
            paths = _paths(manifest, source.paths)
            took = build_bot(
                Build(manifest.name, folder, argv, copy, scratch, paths, source.build_s), source.level
            )
            report = safe(f"built in {took.words}: {' '.join(manifest.build)}")
            # What a bot is, its author says, not its build.
            replace_file(draft / MANIFEST, copy / MANIFEST)
        make_links(copy, target.name, manifest.files)
        _check_program(folder, manifest, copy)
        seal_copy(copy, target)
        copy.rename(target)  # whole or not at all
    return report


def _check_program(folder: Path, manifest: Manifest, draft: Path) -> None:
    """Raise `BotError` if what `run` names in the bot's own folder is not there, or may not or cannot be run."""
    program = manifest.run[0]
    if "/" not in program:
        _check_script(folder, manifest, draft)
        return
    if os.access(draft / program, os.X_OK):
        _check_interpreter(folder, manifest, draft)
        return
    if (draft / program).exists():
        raise BotError(f"{folder}: run names {program}, which may not be executed: chmod +x it")
    if gone := LEFT_OUT.intersection(PurePosixPath(program).parts):
        text = f"run names {program}, but a folder called {min(gone)} is left out of a bot"
        hint = f": run python3, with {BRING_LIBRARIES}" if ".venv" in gone else ""
        raise BotError(f"{folder}: {text}{hint}")
    after = "" if manifest.build is None else ", nor does the build make it"
    raise BotError(f"{folder}: run names {program}, which is not in the folder{after}")


def _check_script(folder: Path, manifest: Manifest, draft: Path) -> None:
    """Raise `BotError` if the script that an interpreter is to run is not there: it would name a file of the cache."""
    interpreter, *words = manifest.run
    suffixes = _SCRIPTS.get(without_version(interpreter), ())
    script = next((word for word in words if word.endswith(suffixes) or word in _NO_SCRIPT), "-")
    if not suffixes or script.startswith("-"):
        return
    if script.startswith("/") and not any(map(Path(script).is_relative_to, SYSTEM)):
        raise BotError(
            f"{folder}: run names {script}, which is not in the bot's folder, and cannot come along"
        )
    if (draft / script).exists():
        return
    known = [file.name for file in files_of(draft, manifest.files) if file.name.endswith(suffixes)]
    after = "" if manifest.build is None else ", nor does the build make it"
    hint = nearest(script, known, f"it has no file that ends in {' or '.join(suffixes)}")
    raise BotError(f"{folder}: run names {script}, which is not in the folder{after}; {hint}")


def _check_interpreter(folder: Path, manifest: Manifest, draft: Path) -> None:
    """Raise an error if a script has no first line that names what runs it, or if that is not installed."""
    # The system does not say it: what begins without #! a shell takes for its own.
    program = manifest.run[0]
    if not (draft / program).is_file():
        return
    with (draft / program).open("rb") as file:
        first = file.readline(256)
        binary = b"\0" in first + file.read(256)
    if not first.startswith(b"#!"):
        if binary:
            return
        text = f"the first line of {program} must name what runs it, such as #!/usr/bin/env python3"
        raise BotError(f'{folder}: {text}; or name that in bot.toml: run = ["python3", "{program}"]')
    if first.endswith(b"\r\n"):
        text = f"the first line of {program} has a Windows line end, which becomes part of the interpreter's name"
        raise BotError(f"{folder}: {text}: save the file with Unix line ends")
    words = first[2:].decode(errors="replace").split()
    if words and words[0].startswith("/") and not Path(words[0]).exists():
        text = f"{program} needs {words[0]!r}, which is not installed here; {_install(words[0])}"
        raise MissingToolchain(f"{manifest.name}: {text}")


def _install(program: str) -> str:
    """The remedy for a program that is not installed."""
    name = PurePosixPath(program).name
    known = [each for each in _KNOWN if each != name and (each == "python3" or shutil.which(each))]
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else "install it here"


def _program(name: str, folder: Path) -> str | None:
    """The absolute path of the program `name` of a manifest, or None if it is not installed."""
    if name in ("python", "python3"):
        return sys.executable  # the one that has warpline; also spares a version manager's shim
    if "/" in name:
        return str((folder / name).absolute())
    if (program := shutil.which(name)) is None:
        return None
    # A rustup or pyenv shim must keep its name; other links are resolved once instead of at every start.
    real = os.path.realpath(program)
    return real if os.path.basename(real) == os.path.basename(program) else program


def _require(folder: Path, manifest: Manifest, argv: tuple[str, ...]) -> None:
    """Raise an error if the program of a command is not installed, or the command cannot work in a copy."""
    name = argv[0]
    if "/" not in name and _program(name, Path()) is None:
        if len(name.split()) > 1:
            key = "run" if argv is manifest.run else "build"
            words = as_words(" ".join(argv))
            raise BotError(f"{folder}: {key} must name each word by itself: {key} = {words}")
        raise _missing(manifest, name)
    for place in (os.path.abspath(folder), os.path.realpath(folder)):
        for word in argv[1:]:
            if word.startswith(place + "/"):
                text = f"say {word[len(place) + 1 :]!r}, not {word!r}"
                raise BotError(f"{folder}: the bot is run in a copy of its folder: {text}")


def _missing(manifest: Manifest, name: str) -> MissingToolchain:
    return MissingToolchain(f"{manifest.name}: needs {name!r}, which is not installed here; {_install(name)}")


def _require_memory(folder: Path, limits: Limits) -> None:
    """Raise `BotError` if a bot may take more memory than there is: the kernel would end others for it, too."""
    if limits == Limits() or "SC_PHYS_PAGES" not in os.sysconf_names:
        return  # who asks for nothing plays on the smallest machine
    wanted_mb = limits.memory_mb + 2 * limits.tmp_mb
    there_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if wanted_mb > there_mb:
        raise BotError(
            f"{folder}: the bot needs {wanted_mb} MiB (memory_mb + 2 x tmp_mb), but this machine has {there_mb}; "
            f"memory_mb + 2 x tmp_mb must be at most {there_mb}"
        )


def resolve(argv: tuple[str, ...], folder: Path = Path()) -> tuple[str, ...] | None:
    """The command of a bot in `folder` with its program found on this machine; None if it is not installed."""
    name, *rest = argv
    program = _program(name, folder)
    if program is None:
        return None
    if program == sys.executable and "-P" not in rest:
        # A file of the bot's own must not shadow an installed module, nor the reverse.
        rest = ["-P", *rest]
    return (program, *rest)


# -- large files, which are linked -----------------------------------------------------------------------

# In the cache, a bundle NAME has a folder NAME.files beside it with links to the files themselves. The bundle's own
# links lead there, and are relative. So they work on the host, and also in the sandbox, where `mounts` puts the files
# into a folder of the same name beside the bot's.

_CHUNK: Final = 1 << 20


def check_files(folder: Path, manifest: Manifest) -> dict[str, str]:
    """The real paths of the large files of the bot in `folder`, by name; `BotError` for one that is not right."""
    paths = {}
    for name, file in manifest.files.items():
        place = folder / (file.path or name)
        real = os.path.realpath(place)
        root = os.path.realpath(folder)
        if not real.startswith(root + "/"):
            _require_public(place, real)
        _verify(place, real, file.sha256)
        if os.geteuid() == 0 and not os.stat(real).st_mode & 0o004:
            raise BotError(f"{place}: bots run as another user when root runs the harness: chmod a+r {real}")
        paths[name] = real
    return paths


def recheck_files(bundle: Path, files: Mapping[str, LargeFile]) -> None:
    """Raise `BotError` if a file that a bundle in the cache links to is missing or was replaced."""
    for name, file in files.items():
        place = Path(f"{bundle}{FILES}", name)
        _verify(place, os.path.realpath(place), file.sha256)


def link_files(bundle: Path, files: Mapping[str, str]) -> None:
    """Have the links beside a bundle lead to `files`."""
    for name, real in files.items():
        place = Path(f"{bundle}{FILES}", name)
        if os.path.realpath(place) == real:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{os.getpid()}.draft")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        draft.symlink_to(real)
        draft.replace(place)  # a bot that is just being started finds the one or the other


def make_links(copy: Path, name: str, files: Mapping[str, LargeFile]) -> None:
    """Put the links into the copy that will be the bundle `name`; they lead to the folder beside it."""
    for file in files:
        place = copy / file
        place.parent.mkdir(parents=True, exist_ok=True)
        remove_tree(place)
        place.symlink_to(f"{'../' * (file.count('/') + 1)}{name}{FILES}/{file}")


def _require_public(place: Path, real: str) -> None:
    """Raise `BotError` for a file out of a bot's folder that not everyone may read: a stranger names it."""
    for path in (Path(real), *Path(real).parents):
        with contextlib.suppress(OSError):
            if path.stat().st_mode & (0o001 if path.is_dir() else 0o004):
                continue
            raise BotError(
                f"{place}: it is not in the bot's folder, so everyone must be able to read it, but {path} is closed "
                "to others; move it, or put it into the bot's folder"
            )


def _verify(place: Path, real: str, digest: str) -> None:
    """Raise `BotError` unless the file at `real` has this SHA-256; read once, as long as its stamp is the same."""
    known = cache_folder() / "files" / digest
    try:
        # Not to wait for somebody to write into a named pipe; of a file it changes nothing.
        with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            stamp = _stamp(real, os.fstat(file.fileno()))
            with contextlib.suppress(OSError, ValueError):
                if json.loads(known.read_text(encoding="utf-8")) == stamp:
                    return
            hasher = sha256()
            while data := file.read(_CHUNK):
                hasher.update(data)
            changed = _stamp(real, os.fstat(file.fileno())) != stamp
    except OSError as error:
        raise BotError(f"{place}: cannot read it: {error.strerror or error}") from None
    if changed:
        raise BotError(f"{place}: it changed while it was read")
    if hasher.hexdigest() != digest:
        raise BotError(
            f"{place}: it is not the file that bot.toml means: its SHA-256 is {hasher.hexdigest()}, not {digest}"
        )
    with contextlib.suppress(OSError):  # then it is read again next time
        known.parent.mkdir(parents=True, exist_ok=True)
        draft = known.with_name(f"{digest}.{os.getpid()}")
        draft.write_text(json.dumps(stamp), encoding="utf-8")
        draft.replace(known)


def _stamp(real: str, status: os.stat_result) -> list[str | int]:
    """The stamp of a file, which changes when it is written or replaced."""
    if not stat.S_ISREG(status.st_mode):
        raise BotError(f"{real}: is not a file")
    return [real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


# -- transfer to another machine of the same kind --------------------------------------------------------


MAX_MB: Final = 512  # the largest built bot that travels, in MiB: it crosses the network in one message


def pack_bundle(digest: str, level: Level = LEVEL) -> bytes:
    """The built bot with `digest` as an archive, as built at `level` if it was; it must be in the cache here.

    The same copy gives the same bytes.
    Raises `BotError` if it is not here, or cannot travel.
    """
    bundle = find_bundle(digest, level=level)
    if bundle is None:
        raise BotError(f"the bot with digest {digest[:12]} is not in the cache of this machine")
    if Path(bundle.cwd + FILES).exists():
        raise BotError(f"{bundle.name} cannot travel to other machines: its large files are linked")
    out = io.BytesIO()
    try:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            archive.add(bundle.cwd, ".", filter=_without_owner)
    except OSError as error:
        raise BotError(f"{bundle.name} cannot travel to other machines: {error}") from None
    if out.tell() > MAX_MB << 20:
        raise BotError(f"{bundle.name} cannot travel to other machines: it has more than {MAX_MB} MiB")
    return out.getvalue()


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry of an archive that depends on the content alone, not on when it was last used, nor by whom."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def receive_bundle(digest: str, archive: bytes) -> None:
    """Put the built bot with `digest` into the cache of this machine, unless it is there.

    Raises `BotError` if the archive holds anything but files, folders and links inside the bot's folder.
    """
    target = bundle_folder(digest)
    with staging_folder(target) as draft:
        if find_bundle(digest) is not None:
            return
        draft.mkdir(parents=True, exist_ok=True)
        try:
            unpack(io.BytesIO(archive), draft / "bot", MAX_MB << 20)
        except BadTree as error:
            raise BotError(f"the bot that was sent holds {error}") from None
        seal_copy(draft / "bot", target)
        Path(f"{target}{RECEIVED}").touch()
        (draft / "bot").rename(target)
