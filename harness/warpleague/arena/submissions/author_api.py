"""The part of the JSON API that needs an author's token: submissions, versions, the author's own records and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import attrs
import msgspec
from starlette.responses import Response

from warpleague.arena.submissions import jobs, on_demand, versions
from warpleague.arena.submissions.api import Query, operation, operations_of
from warpleague.arena.submissions.entering import first_match, matches_added
from warpleague.arena.submissions.jobs import Challenge, Submission, Trial
from warpleague.arena.submissions.receiving import (
    archive_download,
    challenge_record,
    check_length,
    check_may_leave,
    check_open,
    check_own,
    download,
    own_log,
    own_records,
    own_submission,
    receive,
)
from warpleague.arena.submissions.requests import API, Refused, RequestHandler, in_thread
from warpleague.runner.bot.logs import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import Route


T = TypeVar("T")

_ARCHIVES: Final = (
    "application/gzip",
    "application/x-gzip",
    "application/zip",
    "application/x-tar",
    "application/octet-stream",
)
_LEAGUE: Final = Query("league", "the name of the league; it can be left out where the server has only one")
_KIND: Final = Query("kind", " or ".join(KINDS), next(iter(KINDS)), choices=tuple(KINDS))
_MAX_LISTED: Final = 1000
_MAX_DEALS: Final = 10_000


@attrs.frozen(kw_only=True)
class Received(Submission):
    """A submission that was received now."""

    matches: int | None = None
    """How many more matches a new bot makes in the league; null where results decide that."""
    trial: int | None = None
    """The number of its trial, if it was sent for one."""


@attrs.frozen(kw_only=True)
class Author:
    """The author whose token the request has."""

    name: str
    organiser: bool
    added: str
    """When the author was added, as an ISO time."""
    challenges_today: int
    """Matches on demand within the last 24 hours that count towards the limit `challenges`."""
    sent_today: int
    """Submissions within the last 24 hours that count towards the limit `per_day`."""
    limits: dict[str, int]
    """The limits of submissions; `warpleague arena limits` explains them."""


@attrs.frozen(kw_only=True)
class Withdrawn:
    """A bot that plays no more."""

    league: str
    bot: str


@attrs.frozen(kw_only=True)
class Wanted:
    """The match that the author wants."""

    bot: str
    """The name of an own bot that plays, or the number of an accepted version."""
    opponents: list[str] = attrs.Factory(list)
    """Names of bots of the league, or numbers of own versions; if they are too few, they sit there again."""
    league: str | None = None
    """The league; it can be left out where the server has only one."""


@attrs.frozen(kw_only=True)
class WantedTrial:
    """The trial that the author wants."""

    new: int
    """The number of an accepted version."""
    old: int | None = None
    """The number of another accepted version; the one that plays, if it is left out."""
    deals: int = on_demand.DEALS
    league: str | None = None
    """The league; it can be left out where the server has only one."""


class AuthorApi:
    """Answers the requests of commands and programs of authors."""

    def __init__(self, requests: RequestHandler) -> None:
        self._requests = requests

    def routes(self) -> Sequence[Route]:
        """Its routes."""
        return [one.route(self._requests, self) for one in operations_of(AuthorApi)]

    @operation("GET", "/api/author", answer=Author, token=True)
    async def author(self, request: Request) -> Author:
        """Who the token belongs to."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        return Author(
            name=author.name,
            organiser=author.organiser,
            added=author.added,
            challenges_today=jobs.used_today(ledger, jobs.CHALLENGE, author),
            sent_today=jobs.used_today(ledger, jobs.SUBMISSION, author),
            limits=attrs.asdict(ledger.limits),
        )

    @operation(
        "POST",
        API,
        answer=Received,
        status=202,
        token=True,
        query=(
            _LEAGUE,
            Query(
                "trial",
                "the number of deals of a trial against the version that plays; the new version then does not play",
                None,
                1,
                _MAX_DEALS,
            ),
        ),
        takes=_ARCHIVES,
        errors=(409, 415, 507),
    )
    async def submit(self, request: Request) -> Received:
        """Submit a bot: its folder as an archive. The same archive sent again is the same submission."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        if request.headers.get("content-type", "") not in _ARCHIVES:
            raise Refused(415, "Send an archive: application/gzip, application/zip or application/x-tar.")
        check_length(ledger, request)
        given = AuthorApi.submit.values(request)
        config = self._requests.league(given["league"])
        await check_open(ledger, config)
        data = await request.body()
        if len(data) != int(request.headers["content-length"]):
            raise Refused(400, "The body is not as long as its Content-Length.")
        matches = await in_thread(matches_added, ledger, config)
        received = await receive(ledger, author, config, data, given["trial"])
        trial = None if given["trial"] is None else on_demand.trial_of(ledger, received.id)
        return Received(**attrs.asdict(received, recurse=False), matches=matches, trial=trial)

    @operation(
        "GET",
        API,
        answer=list[Submission],
        token=True,
        query=(Query("most", "how many at most", 100, 1, _MAX_LISTED),),
    )
    async def submissions(self, request: Request) -> list[Submission]:
        """The author's last submissions, the newest first, and all versions that play."""
        author = self._requests.bearer(request)
        most = AuthorApi.submissions.values(request)["most"]
        return await in_thread(versions.submissions, self._requests.ledger, author.name, most)

    @operation("GET", API + "/{number:int}", answer=Submission, token=True)
    async def submission(self, request: Request) -> Submission:
        """A submission of the author; an organiser may ask for each."""
        author = self._requests.bearer(request)
        submission = own_submission(self._requests.ledger, author, _number(request))
        return await self._with_matches(submission)

    async def _with_matches(self, submission: Submission) -> Submission:
        """A submission with the facts about its matches."""
        config = self._requests.app.leagues.get(submission.league)
        if config is None or not submission.active:
            return submission
        played, first = await in_thread(first_match, self._requests.ledger, config, submission)
        return attrs.evolve(submission, played=played, first_match=first)

    @operation("GET", API + "/{number:int}/archive", media="application/octet-stream", token=True)
    async def archive(self, request: Request) -> Response:
        """The archive of an accepted version of the author."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        return archive_download(ledger, author, versions.submission(ledger, _number(request)))

    @operation("POST", API + "/{number:int}/activate", answer=Submission, token=True, errors=(409,))
    async def activate(self, request: Request) -> Submission:
        """Let an accepted version play in the place of the one that plays."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        submission = versions.submission(ledger, _number(request))
        check_own(submission, author)
        await check_open(ledger, self._requests.league(submission.league))
        await in_thread(versions.activate, ledger, author, submission.id)
        return await self._with_matches(versions.submission(ledger, submission.id))

    @operation(
        "POST",
        "/api/leagues/{league}/bots/{bot}/withdraw",
        answer=Withdrawn,
        token=True,
        errors=(409,),
    )
    async def withdraw(self, request: Request) -> Withdrawn:
        """Take a bot of the author out of a league."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        league, bot = request.path_params["league"], request.path_params["bot"]
        await check_may_leave(ledger, self._requests.league(league))
        await in_thread(versions.withdraw, ledger, author, league, bot)
        return Withdrawn(league=league, bot=bot)

    @operation(
        "GET",
        "/api/leagues/{league}/bots/{bot}/records.zip",
        media="application/zip",
        token=True,
    )
    async def records(self, request: Request) -> Response:
        """The records of the last 100 matches of a bot of the author, with its output."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        config = self._requests.league(request.path_params["league"])
        data = await in_thread(own_records, ledger, config, author, request.path_params["bot"])
        return download(data, f"{config.name}-records.zip", AuthorApi.records.media)

    @operation(
        "GET",
        "/api/leagues/{league}/bots/{bot}/logs/{match}",
        media="text/plain",
        token=True,
        query=(
            _KIND,
            Query("seat", "the seat, if the bot had several", None, 0, 100),
        ),
    )
    async def log(self, request: Request) -> Response:
        """The standard error of a bot of the author in a match, or its messages."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        config = self._requests.league(request.path_params["league"])
        given = AuthorApi.log.values(request)
        bot, match = request.path_params["bot"], request.path_params["match"]
        data = await in_thread(own_log, ledger, config, author, bot, match, given["seat"], given["kind"])
        return Response(data, media_type=AuthorApi.log.media)

    @operation(
        "POST",
        "/api/challenges",
        answer=Challenge,
        status=202,
        token=True,
        takes=Wanted,
        errors=(415,),
    )
    async def challenge(self, request: Request) -> Challenge:
        """Ask for a match of an own bot against others of a league, or against earlier versions."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        wanted = await _wanted(request, Wanted)
        config = self._requests.league(wanted.league)
        return await in_thread(on_demand.ask_challenge, ledger, config, author, wanted.bot, wanted.opponents)

    @operation(
        "GET",
        "/api/challenges",
        answer=list[Challenge],
        token=True,
        query=(Query("most", "how many at most", 50, 1, _MAX_LISTED),),
    )
    async def challenges(self, request: Request) -> list[Challenge]:
        """The author's last matches on demand, the newest first."""
        author = self._requests.bearer(request)
        most = AuthorApi.challenges.values(request)["most"]
        return on_demand.challenges(self._requests.ledger, author, most)

    @operation("GET", "/api/challenges/{number:int}", answer=Challenge, token=True)
    async def one_challenge(self, request: Request) -> Challenge:
        """A match on demand of the author."""
        author = self._requests.bearer(request)
        return on_demand.challenge(self._requests.ledger, _number(request), author)

    @operation("GET", "/api/challenges/{number:int}/record", media="application/x-ndjson", token=True)
    async def challenge_record(self, request: Request) -> Response:
        """The record of a match on demand of the author, as JSON lines."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        record = await challenge_record(ledger, author, _number(request))
        return Response(record, media_type=AuthorApi.challenge_record.media)

    @operation(
        "GET",
        "/api/challenges/{number:int}/log",
        media="text/plain",
        token=True,
        query=(_KIND,),
    )
    async def challenge_log(self, request: Request) -> Response:
        """The output of the author's own bot in a match on demand, or its messages."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        kind = AuthorApi.challenge_log.values(request)["kind"]
        text = on_demand.log_of(ledger, author, _number(request), kind)
        if text is None:
            raise Refused(404, "No log of this match is stored.")
        return Response(text.encode("utf-8", "backslashreplace"), media_type=AuthorApi.challenge_log.media)

    @operation(
        "POST",
        "/api/trials",
        answer=Trial,
        status=202,
        token=True,
        takes=WantedTrial,
        errors=(415,),
    )
    async def trial(self, request: Request) -> Trial:
        """Ask for a trial: two versions of an own bot side by side on equal deals."""
        author, ledger = self._requests.bearer(request), self._requests.ledger
        wanted = await _wanted(request, WantedTrial)
        config = self._requests.league(wanted.league)
        return await in_thread(
            on_demand.ask_trial, ledger, config, author, wanted.new, wanted.old, wanted.deals
        )

    @operation(
        "GET",
        "/api/trials",
        answer=list[Trial],
        token=True,
        query=(Query("most", "how many at most", 50, 1, _MAX_LISTED),),
    )
    async def trials(self, request: Request) -> list[Trial]:
        """The author's last trials, the newest first."""
        author = self._requests.bearer(request)
        most = AuthorApi.trials.values(request)["most"]
        return on_demand.trials(self._requests.ledger, author, most)

    @operation("GET", "/api/trials/{number:int}", answer=Trial, token=True)
    async def one_trial(self, request: Request) -> Trial:
        """A trial of the author, with the difference between the versions once it was played."""
        author = self._requests.bearer(request)
        return on_demand.trial(self._requests.ledger, _number(request), author)


async def _wanted(request: Request, kind: type[T]) -> T:
    """The object in the body of a request."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "Send an object in JSON: application/json.")
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(422, f"This is not what was expected: {error}") from None


def _number(request: Request) -> int:
    return int(request.path_params["number"])
