"""Send a bot to an arena, and show what the check there finds.

The token is read from a file or from the environment: what stands on a command line, others of the machine can read.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

import attrs

from warpleague.cli.common import add_examples, print_json, say
from warpleague.errors import BadInput, ConfigError, HarnessFault
from warpleague.safe_text import safe

if TYPE_CHECKING:
    import argparse
    from http.client import HTTPConnection

TOKEN: Final = "WARPLEAGUE_TOKEN"
_ASK_S: Final = 0.3
_WAIT_S: Final = 30.0
_TRIES: Final = 5
_MAX_ANSWER: Final = 4 << 20
_MAX_ERROR: Final = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague submit`."""
    parser.add_argument("folder", type=Path, metavar="BOT", help="the folder of the bot")
    parser.add_argument("--to", required=True, metavar="URL", help="the address of the arena")
    parser.add_argument("--league", metavar="NAME", help="the name of the league, if the arena has several")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"the file with your token (default: the environment variable {TOKEN} has the token)",
    )
    parser.add_argument(
        "--plain-http",
        action="store_true",
        help="allow http:// to another machine: the token is then sent unencrypted; only in a network that you trust",
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the check")
    parser.add_argument("--json", action="store_true", help="print the submission as JSON")
    add_examples(
        parser,
        "submit my-bot --to https://arena.example.org --token-file token.txt",
        "submit my-bot --to http://127.0.0.1:8000 --league cup --json",
    )
    parser.set_defaults(handler=run)


@attrs.frozen
class _Submission:
    """What the command needs of an arena's answer: the submission's number, league, state, findings and bot.

    `settled` is when it was accepted or refused; `bot` and `version` are known once it was unpacked.
    """

    id: int
    league: str
    state: str
    found: tuple[Any, ...]
    settled: str | None
    bot: str | None
    version: str | None


class _NoArena(Exception):
    """The server answers, but not as an arena does; the text says which one, and what is wrong."""


def run(args: argparse.Namespace) -> int:
    """Send a bot and wait for its check; 1 if it is not accepted, or the server misbehaves."""
    try:
        return _submit(args)
    except _NoArena as error:
        say(f"warpleague: {error}")
        return 1


def _submit(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.upload import pack_folder
    from warpleague.runner.bundle.shipped import located

    arena = _Arena(args.to, _token(args.token_file), plain=args.plain_http)
    data = pack_folder(located(args.folder))
    query = f"?league={quote(args.league, safe='')}" if args.league else ""
    found = arena.ask("POST", f"/api/submissions{query}", data)
    now = arena.read(found)
    number = now.id
    if not args.json:
        print(f"submission {number} to {now.league}: {len(data) / 1024:.0f} KiB received")
        if type(matches := found.get("matches")) is int:
            print(f"a new bot makes {matches:,} more matches there")
    shown = 0
    while not args.no_wait:
        shown = _show(now, shown, quiet=args.json)
        if now.settled:
            break
        time.sleep(_ASK_S)
        found = arena.ask("GET", f"/api/submissions/{number}")
        now = arena.read(found)
    if args.json:
        print_json(found)
    elif now.state == "accepted":
        print(f"{now.bot} {now.version}: accepted; it plays in {now.league} from now on")
    elif now.state == "failed":
        print("not accepted, by no fault of the bot: submit it again")
    elif now.settled:
        print("not accepted: mend what failed, then submit it again")
    if now.settled and not args.json:
        _repeat(now, args.folder)
    return 0 if args.no_wait or now.state == "accepted" else 1


def _show(now: _Submission, shown: int, *, quiet: bool) -> int:
    from warpleague.league.season.bot_check import REPEAT
    from warpleague.report.terminal.bots import print_finding

    if not quiet:
        for finding in now.found[shown:]:
            if finding.what != REPEAT:
                print_finding(finding)
    return len(now.found)


def _repeat(now: _Submission, folder: Path) -> None:
    """Print the command that repeats the check here. It is quoted word by word, since a stranger wrote it."""
    import shlex

    from warpleague.league.season.bot_check import FOLDER, REPEAT

    for finding in now.found:
        if finding.what == REPEAT:
            shown = f"./{folder}" if str(folder).startswith("-") else str(folder)
            with contextlib.suppress(ValueError):  # it is no command
                words = [shown if word == FOLDER else word for word in shlex.split(finding.text)]
                if words[:3] == ["warpleague", "bot", "check"]:
                    print(f"the same check here: {shlex.join(words)}")


def _token(file: Path | None) -> str:
    """The token; `BadInput` if there is none."""
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


def _known(data: Any, cls: type[Any]) -> Any:
    """The keys of a table that the class has; anything else as it is."""
    if not isinstance(data, dict):
        return data
    return {field.name: data[field.name] for field in attrs.fields(cls) if field.name in data}


class _Arena:
    """An arena at an address, asked with a token. Redirections are not followed: they would get the token, too."""

    def __init__(self, address: str, token: str, *, plain: bool) -> None:
        try:
            parts = urlsplit(address if "://" in address else f"https://{address}")
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            raise BadInput(f"--to {address}: is no address; it begins with https://") from None
        if parts.scheme not in ("http", "https") or not self._host or parts.username or parts.query:
            raise BadInput(f"--to {address}: is no address of an arena; it begins with https://")
        near = self._host in ("localhost", "::1") or self._host.startswith("127.")
        if parts.scheme == "http" and not (near or plain):
            raise BadInput(
                f"--to {address}: the token would be sent unencrypted; use https://, or --plain-http in a network "
                "that you trust"
            )
        self._address, self._token, self._https = address, token, parts.scheme == "https"
        self._root = parts.path.rstrip("/")

    def ask(self, method: str, path: str, data: bytes | None = None) -> dict[str, Any]:
        """The JSON of an answer. Tried again if the connection breaks: the same archive is the same submission."""
        for left in reversed(range(_TRIES)):
            try:
                return self._ask(method, path, data)
            except HarnessFault as error:
                if not left:
                    raise BadInput(str(error)) from None
                time.sleep(_ASK_S)
        raise AssertionError

    def _ask(self, method: str, path: str, data: bytes | None) -> dict[str, Any]:
        from http.client import HTTPException

        connection = self._connect()
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/gzip"
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                # A server that refuses what is too long says so before it has read all of it.
                connection.request(method, self._root + path, data, headers)
            answer = connection.getresponse()
            status, body = answer.status, answer.read(_MAX_ANSWER)
        except (OSError, HTTPException) as error:
            text = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise HarnessFault(
                f"{self._address}: cannot be asked: {text}; is the address right, and does the arena run there?"
            ) from None
        finally:
            connection.close()
        try:
            found = json.loads(body)
        except (json.JSONDecodeError, UnicodeDecodeError):
            found = None
        except (ValueError, RecursionError):
            raise self._no_arena("its answer nests too deep, or has a number of too many digits") from None
        if not isinstance(found, dict):
            raise BadInput(f"{self._address}: answers as no arena does (status {status}): check the address")
        if status >= 400 or "error" in found:
            text = str(found.get("error", f"status {status}"))[:_MAX_ERROR]
            raise BadInput(f"{self._address}: {safe(text, keep='')}")
        return found

    def read(self, found: dict[str, Any]) -> _Submission:
        """What an answer says of a submission; it may say more than this version knows. Raises `_NoArena`."""
        from warpleague.runner.checkup import Finding
        from warpleague.strict import structure

        try:
            now = structure(_known(found, _Submission), _Submission, "its answer")
            each = enumerate(now.found)
            findings = [
                structure(_known(one, Finding), Finding, f"its answer: found[{n}]") for n, one in each
            ]
            return attrs.evolve(now, found=tuple(findings))
        except ConfigError as error:
            raise self._no_arena(str(error).partition("\n")[0]) from None

    def _no_arena(self, why: str) -> _NoArena:
        return _NoArena(f"{self._address}: answers as no arena does: {why}")

    def _connect(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self._https else HTTPConnection
        return kind(self._host, self._port, timeout=_WAIT_S)
