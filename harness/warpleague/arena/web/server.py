"""Runs the server: it listens, runs the feeds of its leagues, starts its processes, and ends them cleanly."""

from __future__ import annotations

import contextlib
import ipaddress
import resource
import signal
import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.arena.processes import Subprocess, log
from warpleague.arena.submissions.accounts import authors
from warpleague.arena.submissions.api import document_route, operations_of
from warpleague.arena.submissions.author_api import AuthorApi
from warpleague.arena.submissions.entering import check_league
from warpleague.arena.submissions.ledger import FILE, Ledger
from warpleague.arena.submissions.pages import AuthorPages, OrganiserPages
from warpleague.arena.submissions.requests import BODY_LIMITS, RequestHandler
from warpleague.arena.web.app import App, ConditionsPage
from warpleague.arena.web.league_api import LeagueApi
from warpleague.arena.web.league_feed import LeagueFeed
from warpleague.arena.web.middleware import ConnectionLimits, Connections, RequestLimits, RequestMiddleware
from warpleague.arena.web.renderer import LeagueFiles, Renderer, freeze_time_s
from warpleague.errors import BadInput, ConfigError, StoreError
from warpleague.league.season.config import LeagueConfig, load_config, with_dice
from warpleague.league.season.season import Season
from warpleague.league.store.store import Store
from warpleague.report.wording.league_words import dice_line
from warpleague.runner.bundle.shipped import located
from warpleague.runner.host import check_own_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.routing import BaseRoute


_SPARE_FILES: Final = 128
"""Files that the server can open beside its connections."""
_BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""
_UNREAD_MS: Final = 30_000
"""A connection is dropped when data that was sent stays unread for so long."""


@attrs.frozen(kw_only=True)
class Serving:
    """The settings of a server: leagues of one folder of results, an address, and the server's names (with ports).

    `root` is the path under which visitors see it. `jobs` and `logs_mb` are those of `SchedulerSettings`; with `plays`
    false this server starts no scheduler and no checker. Pages show a match `delay_s` seconds late. When the server is
    stopped, matches may take `patience_s` seconds to end.
    """

    paths: tuple[Path, ...]
    results: Path
    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()
    root: str = "/"
    title: str = "Warp League"
    plays: bool = True
    jobs: int | None = None
    delay_s: float = 0.0
    pages_mb: int = 500
    logs_mb: int = 200
    behind_proxy: bool = False
    patience_s: float = 20.0
    limits: RequestLimits = attrs.Factory(RequestLimits)
    connections: ConnectionLimits = attrs.Factory(ConnectionLimits)


def check_address(serving: Serving) -> None:
    """Raise `BadInput` for an address that others can reach, as long as there is no organiser's token."""
    try:
        loopback = ipaddress.ip_address(serving.host).is_loopback
    except ValueError:
        raise BadInput(
            f"--host {serving.host}: must be the number of an address, such as 127.0.0.1"
        ) from None
    if loopback and not serving.behind_proxy:
        return
    if not serving.names:
        raise BadInput(
            "--name is missing: say by which name visitors call this server, such as --name arena.example.org"
        )
    known = []
    if (serving.results / FILE).exists():
        with Ledger.open(serving.results) as ledger:
            known = [author for author in authors(ledger) if author.organiser and author.revoked is None]
    if not known:
        raise BadInput(
            f"--host {serving.host}: others can reach that address, and nobody has an organiser's token yet; "
            f"make one first: warpleague arena author add NAME --organiser --results {serving.results}"
        )


async def run_server(serving: Serving, ready: Callable[[str], Any] = lambda _address: None) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called with the address of the first page."""
    configs = {}
    for path in serving.paths:
        config = load_config(path, without_bots=True)
        if config.name in configs:
            raise BadInput(f"{path}: there is another league called {config.name}")
        configs[config.name] = config
    check_address(serving)
    configs = {name: _with_dice(config, serving.results) for name, config in configs.items()}
    serving.results.mkdir(parents=True, exist_ok=True)
    files = _open_more_files()
    check_own_limits("none")
    listener = _listening(serving)
    total = max(min(serving.connections.total, files - _SPARE_FILES), 1)
    if total < serving.connections.total:
        why = f"at most {total} connections: `ulimit -n` in the shell that starts it allows more"
        log("limit is low", limit="open files", value=files, why=why)
    renderer = Renderer()
    try:
        feeds = [
            LeagueFeed(
                name,
                LeagueFiles(located(path), serving.results),
                renderer,
                delay_s=serving.delay_s,
                pages_mb=serving.pages_mb,
                freeze_at_s=freeze_time_s(configs[name]),
            )
            for name, path in zip(configs, serving.paths, strict=True)
        ]
        app = App(feeds, configs, serving.results, title=serving.title, submits=True, root=serving.root)
        requests = RequestHandler(app)
        middleware = RequestMiddleware(
            app.app(all_routes(app, requests)),
            bodies=BODY_LIMITS,
            limits=serving.limits,
            behind_proxy=serving.behind_proxy,
            root=serving.root,
        )
        middleware.hosts = _hosts(serving, listener.getsockname()[1])
        connections = Connections(middleware, attrs.evolve(serving.connections, total=total))
        subprocesses = _subprocesses(serving, configs) if serving.plays else []
        app.health = partial(_health, middleware, connections, subprocesses)
        app.prepare()
        with contextlib.closing(requests):
            await _run(serving, connections, listener, subprocesses, app, ready)
    finally:
        listener.close()
        renderer.close()


def _with_dice(config: LeagueConfig, results: Path) -> LeagueConfig:
    """The league with its dice. The log tells the organiser if matches share theirs, or no submissions are taken."""
    begun = None
    with contextlib.suppress(StoreError), Store.open_to_read(results / config.name) as store:
        begun = store.dice()
    config = with_dice(config, begun)
    try:
        check_league(config)
    except ConfigError as error:
        log("takes no bots", league=config.name, note=str(error))
    if config.format.dice == "shared" and (line := dice_line(Season.of(config, (), b""))):
        log("shared dice", league=config.name, note=line)
    return config


def _hosts(serving: Serving, port: int) -> frozenset[str]:
    names = {serving.host, "127.0.0.1", "localhost"} if not serving.names else {*serving.names, "127.0.0.1"}
    names = {f"[{name}]" if ":" in name else name for name in names}
    return frozenset({f"{name}:{port}".lower() for name in names} | {name.lower() for name in serving.names})


def _listening(serving: Serving) -> socket.socket:
    """A socket that listens; it drops a client that does not read its data."""
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MS)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.bind((serving.host, serving.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise BadInput(f"{serving.host} port {serving.port}: cannot listen there: {error.strerror}") from None
    return listener


def _open_more_files() -> int:
    """Raise the limit of open files as far as possible: each connection needs one. Returns the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 65_536 if soft == resource.RLIM_INFINITY else soft


def _subprocesses(serving: Serving, configs: Mapping[str, Any]) -> list[Subprocess]:
    """A scheduler for each league. The checker and the challenge player start as soon as there are authors."""
    results = ("--results", str(serving.results), "--end-with-parent")
    more = ("--live", "--logs-mb", str(serving.logs_mb))
    jobs = () if serving.jobs is None else ("--jobs", str(serving.jobs))
    subprocesses = [
        Subprocess(f"scheduler {name}", ("arena", "play", str(path), *results, *more, *jobs))
        for name, path in zip(configs, serving.paths, strict=True)
    ]
    checked = [
        str(path)
        for config, path in zip(configs.values(), serving.paths, strict=True)
        if config.rules.level == "sandbox"
    ]
    if checked:
        ledger = serving.results / FILE
        subprocesses.append(Subprocess("checker", ("arena", "check", *checked, *results), ledger.exists))
        played = ("arena", "play-challenges", *checked, *results)
        subprocesses.append(Subprocess("challenges", played, ledger.exists))
    return subprocesses


def _health(
    middleware: RequestMiddleware, connections: Connections, subprocesses: list[Subprocess]
) -> dict[str, Any]:
    wanted = {process.name: process.to_json() for process in subprocesses}
    return {
        "well": all(state["gets_on"] for state in wanted.values()),
        "processes": wanted,
        "connections_open": connections.open,
        "requests_open": middleware.open,
        "requests_refused": middleware.refused,
        "memory_bytes": _memory(),
    }


def _memory() -> int:
    """The memory of this process, in bytes."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return 0


async def _run(
    serving: Serving,
    connections: Connections,
    listener: socket.socket,
    subprocesses: list[Subprocess],
    app: App,
    ready: Callable[[str], Any],
) -> None:
    stopped = trio.Event()
    port = listener.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_keep_running, subprocesses, stopped, serving.patience_s)
        async with trio.open_nursery() as answering:
            await answering.start(_wait_for_signal, stopped)
            for feed in app.feeds.values():
                answering.start_soon(feed.run, app.words())
            host = f"[{serving.host}]" if ":" in serving.host else serving.host
            address = f"http://{host}:{port}{serving.root}"
            log("serving", address=address, leagues=list(app.feeds))
            ready(address)
            await connections.serve(listener, stopped)
            answering.cancel_scope.cancel()
    log("ended", process="server")


async def _keep_running(subprocesses: list[Subprocess], stopped: trio.Event, patience_s: float) -> None:
    """Keep the processes running until the server is stopped; they end while it answers its last requests."""
    async with trio.open_nursery() as nursery:
        for process in subprocesses:
            nursery.start_soon(process.keep_running)
        await stopped.wait()
        log("stopping")
        nursery.cancel_scope.cancel()
    async with trio.open_nursery() as nursery:
        for process in subprocesses:
            nursery.start_soon(process.stop, patience_s)


async def _wait_for_signal(
    stopped: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            stopped.set()


# -- routes ----------------------------------------------------------------------------------------------

OPERATIONS: Final = (*operations_of(LeagueApi), *operations_of(AuthorApi))
"""All operations of the JSON API, in the order in which its document has them."""


def all_routes(app: App, requests: RequestHandler) -> list[BaseRoute]:
    """All routes but those of leagues' pages; `requests` handles those of authors, and the caller must close it."""
    return [
        document_route(OPERATIONS),
        *LeagueApi(app, requests).routes(),
        ConditionsPage(app, requests).route(),
        *author_routes(requests),
    ]


def author_routes(requests: RequestHandler) -> list[BaseRoute]:
    """The routes of authors and organisers."""
    return [
        *AuthorApi(requests).routes(),
        *AuthorPages(requests).routes(),
        *OrganiserPages(requests).routes(),
    ]
