"""Asks an arena over the network, as `warpleague submit` and other commands do.

The token is read from a file or from the environment: what stands on a command line, others of the machine can read.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

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

    Without a token it requests only public data. With https:// it goes through the proxy of `https_proxy`, unless
    `no_proxy` names the host; plain HTTP goes through none, since that would read the token.
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
        self._proxy = _Proxy.of(self._host, self._port) if self._https else None
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
        # The time limit of a socket is that of one call, so a large body goes in pieces.
        body = None if data is None else io.BytesIO(data)
        if data is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(len(data))}
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                # A server that refuses what is too long says so before it has read all of it.
                connection.request(method, self._root + path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(most)
        except (OSError, HTTPException) as error:
            if getattr(error, "reason", None) == "WRONG_VERSION_NUMBER":  # of TLS
                plain = f"http://{self.address.removeprefix('https://')}"
                raise BadInput(
                    f"{self.address}: the server there speaks without encryption; write {plain}"
                ) from None
            text = getattr(error, "strerror", None) or str(error) or type(error).__name__
            through = "" if self._proxy is None else f" through the proxy {self._proxy.name} (https_proxy)"
            raise HarnessFault(
                f"{self.address}: cannot be asked{through}: {text}; is the address right, and does the arena run "
                "there?"
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
        if self._proxy is not None:
            connection = HTTPSConnection(self._proxy.host, self._proxy.port, timeout=_WAIT_S)
            connection.set_tunnel(self._host, self._port or 443, self._proxy.headers)
            return connection
        kind = HTTPSConnection if self._https else HTTPConnection
        return kind(self._host, self._port, timeout=_WAIT_S)


@attrs.frozen
class _Proxy:
    """A proxy that makes tunnels, and the headers that it wants."""

    host: str
    port: int
    headers: dict[str, str]

    @property
    def name(self) -> str:
        """The address, without a password."""
        return f"{self.host}:{self.port}"

    @classmethod
    def of(cls, host: str, port: int | None) -> _Proxy | None:
        """The proxy of the environment for a host. Raises `BadInput` for one that cannot be used."""
        proxies = getproxies()
        proxy = proxies.get("https") or proxies.get("all")
        if not proxy or proxy_bypass(host if port is None or ":" in host else f"{host}:{port}"):
            return None
        try:
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            name, number = parts.hostname, parts.port or 80
        except ValueError:
            name, number = None, 0
        if not name or parts.scheme != "http":
            raise BadInput(
                "https_proxy: is not the address of an HTTP proxy, such as http://proxy.example.org:3128"
            )
        headers = {}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Proxy-Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        return cls(name, number, headers)


def _known(data: Any, kind: Any) -> Any:
    """The keys of tables that a class has, also of those in its lists; anything else as it is."""
    if isinstance(data, dict) and attrs.has(kind):
        fields = [field for field in attrs.fields(attrs.resolve_types(kind)) if field.name in data]
        return {field.name: _known(data[field.name], field.type) for field in fields}
    if isinstance(data, list) and get_origin(kind) is tuple:
        return [_known(one, get_args(kind)[0]) for one in data]
    return data
