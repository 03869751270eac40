"""Asks an arena over the network, as `warpleague submit` and other commands do.

The token is read from a file or from the environment: what stands on a command line, others of the machine can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlencode, urlsplit

import attrs

from warpleague.cli.common import say
from warpleague.errors import BadInput, ConfigError, HarnessFault, WarpLeagueError
from warpleague.strict import structure
from warpleague.text import safe

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

TOKEN: Final = "WARPLEAGUE_TOKEN"
PAUSE_S: Final = 0.3
"""The pause between two requests of a command that waits."""
_WAIT_S: Final = 30.0
_TRIES: Final = 5
_MAX_ANSWER: Final = 4 << 20
_MAX_FILE: Final = 256 << 20
_MAX_ERROR: Final = 1000


class NoArena(WarpLeagueError):
    """The server answers, but not as an arena does; the text says which one, and what is wrong."""


class Unknown(BadInput):
    """The arena does not know an address: it is of an earlier release, or has no such thing."""


def token_of(file: Path | None) -> str:
    """The token. Raises `BadInput` if there is none."""
    if file is None:
        text = os.environ.get(TOKEN, "")
        if not text:
            raise BadInput(
                f"a token is needed: put it into a file and name that with --token-file, or into {TOKEN}"
            )
    else:
        try:
            if stat.S_IMODE(file.stat().st_mode) & 0o077:
                say(f"note: {file} can be read by others of this machine: chmod 600 {file}")
            text = file.read_text("utf-8")[:1000]
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{file}: cannot read the token: {getattr(error, 'strerror', error)}") from None
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"{file or TOKEN}: holds no token; a token begins with wl- and has no blanks")
    return token


def path_of(*parts: object, **query: object) -> str:
    """An address of the API, made of these parts; values of the query that are None are left out."""
    path = "/api/" + "/".join(quote(str(part), safe="") for part in parts)
    given = {key: value for key, value in query.items() if value is not None}
    return path + (f"?{urlencode(given)}" if given else "")


class Arena:
    """An arena at an address, asked with a token. Redirections are not followed: they would get the token, too.

    Without a token it requests only public data.
    """

    def __init__(self, address: str, token: str | None, *, plain: bool = False, option: str = "--to") -> None:
        try:
            parts = urlsplit(address if "://" in address else f"https://{address}")
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            raise BadInput(f"{option} {address}: is not an address; it begins with https://") from None
        if parts.scheme not in ("http", "https") or not self._host or parts.username or parts.query:
            raise BadInput(f"{option} {address}: is not an address of an arena; it begins with https://")
        near = self._host in ("localhost", "::1") or self._host.startswith("127.")
        if parts.scheme == "http" and token is not None and not (near or plain):
            raise BadInput(
                f"{option} {address}: the token would be sent unencrypted; use https://, or --plain-http in a network "
                "that you trust"
            )
        self.address = address
        self._token, self._https = token, parts.scheme == "https"
        # A page of a league, as the browser shows its address, stands for the arena.
        self._root, _, self._page = f"{parts.path.rstrip('/')}/".partition("/l/")
        self._root = self._root.rstrip("/")

    @property
    def page_league(self) -> str | None:
        """The name of the league whose page the address is, or None."""
        return self._page.partition("/")[0] or None

    def ask(
        self,
        method: str,
        path: str,
        data: bytes | None = None,
        kind: str = "application/gzip",
        *,
        once: bool = False,
    ) -> dict[str, Any]:
        """The object of an answer in JSON; as `ask_any`."""
        answer = self.ask_any(method, path, data, kind, once=once)
        if not isinstance(answer, dict):
            raise BadInput(f"{self.address}: answers as no arena does (status 200): check the address")
        return answer

    def ask_any(
        self,
        method: str,
        path: str,
        data: bytes | None = None,
        kind: str = "application/gzip",
        *,
        once: bool = False,
    ) -> Any:
        """The JSON of an answer.

        Tried again if the connection breaks, unless `once`: the same archive is the same submission.
        """
        status, body = self._tried(method, path, data, kind, _MAX_ANSWER, 1 if once else _TRIES)
        try:
            answer = json.loads(body)
        except (json.JSONDecodeError, UnicodeDecodeError):
            answer = None
        except (ValueError, RecursionError):
            raise self.no_arena("its answer nests too deep, or has a number of too many digits") from None
        if isinstance(answer, dict) and (status >= 400 or "error" in answer):
            self._refused(status, answer)
        if not isinstance(answer, (dict, list)) or status >= 400:
            raise BadInput(f"{self.address}: answers as no arena does (status {status}): check the address")
        return answer

    def file(self, path: str) -> bytes:
        """The bytes of an answer that is a file."""
        status, body = self._tried("GET", path, None, "", _MAX_FILE)
        if status == 200:
            return body
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        self._refused(status, answer if isinstance(answer, dict) else {})
        raise AssertionError

    def _refused(self, status: int, answer: dict[str, Any]) -> None:
        text = str(answer.get("error", f"status {status}"))[:_MAX_ERROR]
        kind = Unknown if status == 404 else BadInput
        raise kind(f"{self.address}: {safe(text, keep='')}")

    def _tried(
        self, method: str, path: str, data: bytes | None, kind: str, most: int, tries: int = _TRIES
    ) -> tuple[int, bytes]:
        for left in reversed(range(tries)):
            try:
                return self._ask(method, path, data, kind, most)
            except HarnessFault as error:
                if not left:
                    raise BadInput(str(error)) from None
                time.sleep(PAUSE_S)
        raise AssertionError

    def _ask(self, method: str, path: str, data: bytes | None, kind: str, most: int) -> tuple[int, bytes]:
        connection = self._connect()
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if data is not None:
            headers["Content-Type"] = kind
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                # A server that refuses what is too long says so before it has read all of it.
                connection.request(method, self._root + path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(most)
        except (OSError, HTTPException) as error:
            text = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise HarnessFault(
                f"{self.address}: cannot be asked: {text}; is the address right, and does the arena run there?"
            ) from None
        finally:
            connection.close()

    def read(self, answer: Any, cls: type[T]) -> T:
        """An answer as the class says; it may say more than this version knows. Raises `NoArena`."""
        try:
            return structure(_known(answer, cls), cls, "its answer")
        except ConfigError as error:
            raise self.no_arena(str(error).partition("\n")[0]) from None

    def no_arena(self, why: str) -> NoArena:
        """An error about an answer that no arena gives."""
        return NoArena(f"{self.address}: answers as no arena does: {why}")

    def _connect(self) -> HTTPConnection:
        kind = HTTPSConnection if self._https else HTTPConnection
        return kind(self._host, self._port, timeout=_WAIT_S)


def _known(data: Any, kind: Any) -> Any:
    """The keys of tables that a class has, also of those in its lists; anything else as it is."""
    if isinstance(data, dict) and attrs.has(kind):
        hints = get_type_hints(kind)
        fields = [field.name for field in attrs.fields(kind) if field.name in data]
        return {name: _known(data[name], hints[name]) for name in fields}
    if isinstance(data, list) and get_origin(kind) is tuple:
        return [_known(one, get_args(kind)[0]) for one in data]
    return data
