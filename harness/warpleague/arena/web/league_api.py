"""The part of the JSON API that is for everybody: leagues, their conditions, tables, bots, matches and records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
from starlette.responses import Response

from warpleague.arena.submissions.api import Query, operation, operations_of
from warpleague.arena.submissions.conditions import Conditions, conditions_of
from warpleague.arena.submissions.requests import Refused, RequestHandler, in_thread
from warpleague.arena.web.renderer import (
    MAX_WAITING,
    LeaguePage,
    league_table,
    match_record,
    stored_match,
    stored_matches,
)
from warpleague.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.arena.web.app import App
    from warpleague.arena.web.league_feed import LeagueFeed
    from warpleague.league.season.fixture import PlayedMatch

_ID: Final = re.compile(r"[0-9a-f]{20}")
_MAX_MATCHES: Final = 200
_MAX_ENTRY: Final = 1 << 60
TABLES: Final = ("status", "crosstable", "bracket", "seats", "faults", "times", "services")
"""The tables of a league except the standings, as `warpleague league` names them."""


@attrs.frozen(kw_only=True)
class League:
    """A league of the server, and how far it is."""

    league: str
    game: str
    players: int
    """Seats of a match."""
    format: str
    level: str
    sentence: str
    """How it stands, in a sentence."""
    played: int
    """Matches that count and are played."""
    complete: bool
    """Whether all matches are played."""
    published: bool
    """Whether the season is over, and its secret public."""
    playing: int
    """Matches being played now that can be watched."""
    records: bool
    """Whether single matches can be seen now."""


@attrs.frozen(kw_only=True)
class Standing:
    """A line of the standings. It has more keys, depending on the game: those of `warpleague league standings`."""

    rank: int | None
    """The place; null if the bot is disqualified."""
    bot: str
    version: str | None
    """The version that the line is about; null if the bot has none."""
    content: str
    """The digest of the version's content."""
    rating: float | None
    rating_half: float | None
    """Half the 95 % interval of the rating."""
    running_elo: float | None
    """Elo match by match."""
    played: int
    won: int
    drawn: int
    lost: int
    points: float
    faults: int
    forfeits: int
    """Matches in which it was retired for a fault."""
    won_by_forfeit: int
    """Matches that it won in which an opponent was retired for a fault."""
    provisional: bool
    """Whether it has played so little that its place says little."""
    disqualified: dict[str, Any] | None


@attrs.frozen(kw_only=True)
class Standings:
    """The standings of a league."""

    league: str
    matches: int
    tells_apart: float | None
    """How much two bots must differ for the season to tell them apart, in Elo or in the unit that ranks."""
    matches_to_halve: int | None
    """How many more matches would halve that, about."""
    standings: list[Standing]


@attrs.frozen(kw_only=True)
class Form:
    """A match of a bot: won, drawn, lost, or only played where there is nobody to win against."""

    word: Literal["won", "drawn", "lost", "played"]
    match: str
    """The id of the match."""
    number: int
    """Its number in the schedule."""


@attrs.frozen(kw_only=True)
class Bot:
    """A bot of a league. Texts are empty where nothing is known."""

    bot: str
    rank: int | None
    """Its place in the standings; null if it is disqualified."""
    rating: float | None
    rating_half: float | None
    """Half the 95 % interval of the rating."""
    strength: str
    """Its rating or score, in words."""
    version: str
    language: str
    authors: str
    description: str
    form: list[Form]
    """Its last matches, the last one at the end."""


@attrs.frozen(kw_only=True)
class Fault:
    """A fault of a bot in a match."""

    kind: str
    n: int
    """The number of the line in the record."""
    retired: bool
    """Whether the bot was retired from the match for it."""
    message: str


@attrs.frozen(kw_only=True)
class Seat:
    """A seat of a match that was played."""

    bot: str
    content: str
    """The digest of the content of the version that played."""
    rank: int
    score: float
    faults: list[Fault]
    decisions: int
    """How often it was asked."""
    wall_ms: float
    """Milliseconds for all decisions, as its clock counts them."""
    longest_ms: float


@attrs.frozen(kw_only=True)
class Match:
    """A match that was played."""

    match: str
    """Its id."""
    deal: int
    """The number of its deal; matches with the same one may have the same dice."""
    stored: str
    """When it was stored, as an ISO time in UTC."""
    seats: list[Seat]
    rival: float | None
    """The score of the game's own opponent, where it has one."""
    why: str
    """How it ended."""
    lines: int
    """Lines of its record."""
    elapsed_s: float


@attrs.frozen(kw_only=True)
class Matches:
    """A part of the list of matches, the newest first."""

    matches: list[Match]
    before: int | None
    """Ask with this value of `before` for the next part; null if this is the last one."""


@attrs.frozen(kw_only=True)
class Playing:
    """A match that is being played."""

    id: str
    bots: list[str]
    """The names of the bots, by seat."""
    began: int
    """When it began, in seconds since 1970."""


class LeagueApi:
    """Answers requests about the leagues of a server."""

    def __init__(self, app: App, requests: RequestHandler) -> None:
        self._app, self._requests = app, requests
        self._tables: dict[tuple[str, str], tuple[LeaguePage, bytes]] = {}

    def routes(self) -> Sequence[Route]:
        """Its routes."""
        return [one.route(self._requests, self) for one in operations_of(LeagueApi)]

    def _feed(self, request: Request) -> LeagueFeed:
        feed = self._app.feeds.get(request.path_params["league"])
        if feed is None:
            raise Refused(404, "No league of this server has that name.")
        return feed

    # ------------------------------------------------------------------ leagues

    @operation("GET", "/api/leagues", answer=list[League])
    async def leagues(self, request: Request) -> list[League]:  # noqa: ARG002 - as routes call it
        """All leagues of the server."""
        return [self._summary(feed) for feed in self._app.feeds.values()]

    @operation("GET", "/api/leagues/{league}", answer=League)
    async def league(self, request: Request) -> League:
        """A league, and how far it is."""
        return self._summary(self._feed(request))

    def _summary(self, feed: LeagueFeed) -> League:
        config, page = self._app.leagues[feed.name], feed.page
        return League(
            league=feed.name,
            game=config.game.id,
            players=config.game.players,
            format=config.format.kind,
            level=config.rules.level,
            sentence=feed.sentence,
            played=page.played if page else 0,
            complete=bool(page and page.complete),
            published=bool(page and page.published),
            playing=len(feed.playing()),
            records=bool(page and page.open_matches),
        )

    @operation("GET", "/api/leagues/{league}/conditions", answer=Conditions)
    async def conditions(self, request: Request) -> Conditions:
        """All conditions under which bots play and are checked in a league."""
        config = self._app.leagues[self._feed(request).name]
        return await in_thread(conditions_of, self._requests.ledger_if_made, config)

    # ------------------------------------------------------------------ tables

    @operation("GET", "/api/leagues/{league}/standings", answer=Standings)
    async def standings(self, request: Request) -> Response:
        """The standings: the bots from first to last."""
        return await self._made(self._feed(request), "standings")

    @operation(
        "GET",
        "/api/leagues/{league}/tables/{table}",
        answer=Any,
        summary=f"Another table of a league, as `warpleague league TABLE --json` prints it: {', '.join(TABLES)}.",
    )
    async def table(self, request: Request) -> Response:
        """Another table of a league than the standings."""
        name = request.path_params["table"]
        if name not in TABLES:
            raise Refused(404, f"There is no table with this name; there are {', '.join(TABLES)}.")
        return await self._made(self._feed(request), name)

    async def _made(self, feed: LeagueFeed, name: str) -> Response:
        """A table, made at most once for each page of the league."""
        page = feed.page
        if page is None:
            raise Refused(404, feed.sentence)
        made, data = self._tables.get((feed.name, name), (None, b""))
        if made is not page:
            data = await self._rendered(feed, league_table, name)
            self._tables[feed.name, name] = page, data
        return Response(data, media_type="application/json")

    async def _rendered(self, feed: LeagueFeed, function: Any, *arguments: Any) -> bytes:
        if feed.renderer.waiting >= MAX_WAITING:
            raise Refused(503, "The server is busy. Try again a little later.")
        data: bytes | None = await feed.renderer.make(function, feed.files, *arguments)
        if data is None:
            raise Refused(404, "There is nothing of that kind to be seen.")
        return data

    @operation("GET", "/api/leagues/{league}/bots", answer=list[Bot])
    async def bots(self, request: Request) -> list[Bot]:
        """The bots of a league by rank."""
        return [_bot(values) for values in self._bots_of(request)]

    @operation("GET", "/api/leagues/{league}/bots/{bot}", answer=Bot)
    async def bot(self, request: Request) -> Bot:
        """A bot of a league."""
        name = request.path_params["bot"]
        for values in self._bots_of(request):
            if values["bot"] == name:
                return _bot(values)
        raise Refused(404, "No bot of this league has that name.")

    def _bots_of(self, request: Request) -> Sequence[dict[str, Any]]:
        page = self._feed(request).page
        return page.bots if page else ()

    # ------------------------------------------------------------------ matches

    def _open_feed(self, request: Request) -> LeagueFeed:
        """The league, if single matches of it may be seen."""
        feed = self._feed(request)
        if feed.page is not None and not feed.page.open_matches:
            raise Refused(403, "The matches of this league may be seen when the season is over.")
        return feed

    async def _read(self, feed: LeagueFeed, function: Any, *arguments: Any) -> Any:
        try:
            return await in_thread(function, self._app.leagues[feed.name], feed.files.results, *arguments)
        except StoreError as error:
            raise Refused(503, "The matches cannot be read now.") from error

    @operation(
        "GET",
        "/api/leagues/{league}/matches",
        answer=Matches,
        query=(
            Query("most", "how many at most", 50, 1, _MAX_MATCHES),
            Query(
                "before", "where to continue: the value of `before` in the last answer", None, 0, _MAX_ENTRY
            ),
            Query("bot", "only matches of this bot"),
        ),
        errors=(403,),
    )
    async def matches(self, request: Request) -> Matches:
        """Matches that were played, the newest first, also those that no longer count."""
        feed, given = self._open_feed(request), LeagueApi.matches.values(request)
        if feed.page is None:
            return Matches(matches=[], before=None)
        most = given["most"]
        matches = await self._read(feed, stored_matches, most + 1, given["before"], given["bot"])
        more = len(matches) > most
        return Matches(
            matches=[_match(one) for one in matches[:most]], before=matches[most - 1].entry if more else None
        )

    @operation("GET", "/api/leagues/{league}/matches/{match}", answer=Match, errors=(403,))
    async def match(self, request: Request) -> Match:
        """A match that was played."""
        feed, match = self._open_feed(request), request.path_params["match"]
        played = None
        if feed.page is not None and _ID.fullmatch(match):
            played = await self._read(feed, stored_match, match)
        if played is None:
            raise Refused(404, "No match that may be seen has that id.")
        return _match(played)

    @operation(
        "GET", "/api/leagues/{league}/matches/{match}/record", media="application/x-ndjson", errors=(403,)
    )
    async def record(self, request: Request) -> Response:
        """The record of a match that was played, as JSON lines."""
        feed, match = self._open_feed(request), request.path_params["match"]
        if feed.page is None or not _ID.fullmatch(match):
            raise Refused(404, "No match that may be seen has that id.")
        return Response(await self._rendered(feed, match_record, match), media_type=LeagueApi.record.media)

    @operation("GET", "/api/leagues/{league}/playing", answer=list[Playing])
    async def playing(self, request: Request) -> list[Playing]:
        """The matches that are being played and can be watched."""
        return [Playing(**match.to_json()) for match in self._feed(request).playing()]


def _bot(values: dict[str, Any]) -> Bot:
    known = {field.name: values[field.name] for field in attrs.fields(Bot)}
    return Bot(**{**known, "form": [Form(**one) for one in values["form"]]})


def _match(played: PlayedMatch) -> Match:
    result = played.match
    seats = [
        Seat(
            bot=bot,
            content=content,
            rank=result.ranks[seat],
            score=result.scores[seat],
            faults=[Fault(**attrs.asdict(fault)) for fault in result.faults[seat]],
            decisions=result.times[seat].decisions,
            wall_ms=result.times[seat].wall_ms,
            longest_ms=result.times[seat].longest_ms,
        )
        for seat, (bot, content) in enumerate(result.bots)
    ]
    return Match(
        match=result.id,
        deal=result.deal,
        stored=result.stored,
        seats=seats,
        rival=result.rival,
        why=result.why,
        lines=result.lines,
        elapsed_s=result.elapsed_s,
    )
