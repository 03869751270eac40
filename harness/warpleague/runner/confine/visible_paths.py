"""The one list of the machine's files that a bot in the sandbox may see, and the rules for additional paths.

Other paths exist for a bot only if its manifest asks for them or an organiser grants them. `mounts`
mounts these files.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.errors import BadInput, BotError, MissingToolchain
from warpleague.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SYSTEM: Final = ("/usr", "/nix/store", "/gnu/store")
"""Where the system's programs are."""

USR_MERGED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr today, folders of their own on older systems."""

ETC: Final = (
    # The loader, the links by which Debian chooses among programs, the time zone.
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/openssl.cnf"),
    # What runtimes and compilers read there, by the names that Debian and Fedora give it: of languages with a starter,
    # and of others.
    *(path for language in LANGUAGES for path in language.etc),
    *("erlang", "fpc*.cfg", "ghc", "guile", "julia", "octave*", "R", "racket", "sbclrc", "swi-prolog"),
)
"""The files of /etc that every bot sees; `*` stands for anything. None of it tells who uses the machine."""

ASKABLE: Final = ("/opt", *SYSTEM)
"""Below these a manifest may ask for paths: where programs are installed for all users of a machine."""

_PRIVATE: Final = ("/boot", "/dev", "/home", "/proc", "/root", "/run", "/sys", "/tmp", "/var/run", "/var/tmp")
_TAKEN: Final = ("/bot", "/source")  # by what the sandbox itself puts there


@cache
def etc() -> tuple[str, ...]:
    """The files of `ETC` on this machine, as this process first read them: reading takes long."""
    return tuple(str(path) for name in ETC for path in sorted(Path("/etc").glob(name)))


def within(path: str, roots: Iterable[str]) -> bool:
    """Whether `path` is one of `roots` or below it."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def too_wide(place: str) -> bool:
    """Whether `place` may hold somebody's files beside a runtime: a home, what holds one, or a top folder."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    private = (home, os.path.join(home, ".local"))  # noqa: PTH118
    return place.count("/") < 2 or place in private or within(home, [place])


def misfit(path: str) -> str:
    """The error in the form of an additional path; empty if nothing is."""
    if not path.startswith("/") or path != os.path.normpath(path) or "\0" in path:
        return f"{path!r} must be an absolute path, without . and .. in it"
    return ""


def misfit_asked(path: str, askable: Sequence[str] = ASKABLE) -> str:
    """The error in a path that a manifest asks for; empty if nothing is."""
    if text := misfit(path):
        return text
    if path in askable or not within(path, askable):
        return f"{path!r} is not below {' or '.join(askable)}; other paths an organiser can show, in the league file"
    return ""


def check_asked(
    paths: Sequence[str], bot: str, hidden: Sequence[Path] = (), askable: Sequence[str] = ASKABLE
) -> None:
    """Raise an error for a path that the manifest of `bot` asks for and that is not there, or not everybody's.

    A stranger wrote the manifest. So a path must lead, links followed, to where programs are installed (`askable`).
    It and all folders above it must be root's and readable by everyone. `hidden` are as in `check_granted`.
    """
    for path in paths:
        real = os.path.realpath(path)
        if not os.path.exists(real):  # noqa: PTH110
            raise MissingToolchain(f"{bot}: needs {path!r}, which is not there on this machine")
        if text := misfit_asked(real, askable):
            raise BotError(f"{bot}: asks to see {path}, but {text}")
        if too_wide(real) or _overlaps(real, hidden):
            raise BotError(f"{bot}: asks to see {path}, which holds files of the harness, or is among them")
        for place in (Path(real), *Path(real).parents):
            status = place.stat()
            readable = 0o005 if place.is_dir() else 0o004
            if status.st_uid or status.st_mode & readable != readable:
                raise BotError(
                    f"{bot}: asks to see {path}, but {place} does not belong to root, or not everyone may read it"
                )


def _overlaps(path: str, hidden: Sequence[Path]) -> bool:
    """Whether a path is in one of the folders, or holds one."""
    own = [os.path.realpath(place) for place in hidden]
    return within(path, own) or any(within(place, [path]) for place in own)


def check_granted(paths: Sequence[str], where: str, hidden: Sequence[Path] = ()) -> None:
    """Raise `BadInput` for a path of an organiser's that is not there, or that no bot may see.

    `where` names the file or the option that grants it. `hidden` are folders of the harness; no path may be in one of
    them or hold one.
    """
    for path in paths:
        text = misfit(path)
        real = os.path.realpath(path)
        if not text and not os.path.exists(real):  # noqa: PTH110
            text = f"{path} is not there"
        for place in (path, real):
            if not text and (within(place, (*_PRIVATE, *_TAKEN)) or too_wide(place)):
                text = f"{path} may hold what no bot may see; put what bots need into a folder below /opt or /srv"
            if not text and _overlaps(place, hidden):
                text = f"{path} holds files of the harness, or is among them"
        if text:
            raise BadInput(f"{where}: {text}")
