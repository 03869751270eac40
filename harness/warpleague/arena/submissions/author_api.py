"""The part of the JSON API that needs an author's token: submissions, versions, the author's own records and logs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import attrs
import msgspec
from starlette.responses import Response

from warpleague.arena.submissions import jobs, on_demand, versions
from warpleague.arena.submissions.api import Operation, Query
from warpleague.arena.submissions.entering import first_match, matches_added
from warpleague.arena.submissions.jobs import Challenge, Submission, Trial
from warpleague.arena.submissions.ledger import limits_of
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
    from collections.abc import Awaitable, Callable, Mapping, Sequence

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


ME: Final = Operation(
    method="GET",
    path="/api/author",
    name="author",
    summary="Who the token belongs to.",
    answer=Author,
    token=True,
)
SUBMIT: Final = Operation(
    method="POST",
    path=API,
    name="submit",
    summary="Submit a bot: its folder as an archive. The same archive sent again is the same submission.",
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
    errors=(409, 411, 413, 415, 429, 507),
)
SUBMISSIONS: Final = Operation(
    method="GET",
    path=API,
    name="submissions",
    summary="The author's last submissions, the newest first, and all versions that play.",
    answer=list[Submission],
    token=True,
    query=(Query("most", "how many at most", 100, 1, _MAX_LISTED),),
)
SUBMISSION: Final = Operation(
    method="GET",
    path=API + "/{number:int}",
    name="submission",
    summary="A submission of the author; an organiser may ask for each.",
    answer=Submission,
    token=True,
    errors=(404,),
)
ARCHIVE: Final = Operation(
    method="GET",
    path=API + "/{number:int}/archive",
    name="archive",
    summary="The archive of an accepted version of the author.",
    media="application/octet-stream",
    token=True,
    errors=(404,),
)
ACTIVATE: Final = Operation(
    method="POST",
    path=API + "/{number:int}/activate",
    name="activate",
    summary="Let an accepted version play in the place of the one that plays.",
    answer=Submission,
    token=True,
    errors=(404, 409, 411),
)
WITHDRAW: Final = Operation(
    method="POST",
    path="/api/leagues/{league}/bots/{bot}/withdraw",
    name="withdraw",
    summary="Take a bot of the author out of a league.",
    answer=Withdrawn,
    token=True,
    errors=(404, 409, 411),
)
RECORDS: Final = Operation(
    method="GET",
    path="/api/leagues/{league}/bots/{bot}/records.zip",
    name="records",
    summary="The records of the last 100 matches of a bot of the author, with its output.",
    media="application/zip",
    token=True,
    errors=(404,),
)
LOG: Final = Operation(
    method="GET",
    path="/api/leagues/{league}/bots/{bot}/logs/{match}",
    name="log",
    summary="The standard error of a bot of the author in a match, or its messages.",
    media="text/plain",
    token=True,
    query=(
        _KIND,
        Query("seat", "the seat, if the bot had several", None, 0, 100),
    ),
    errors=(404,),
)
CHALLENGE: Final = Operation(
    method="POST",
    path="/api/challenges",
    name="challenge",
    summary="Ask for a match of an own bot against others of a league, or against earlier versions.",
    answer=Challenge,
    status=202,
    token=True,
    takes=Wanted,
    errors=(404, 411, 413, 415, 429),
)
CHALLENGES: Final = Operation(
    method="GET",
    path="/api/challenges",
    name="challenges",
    summary="The author's last matches on demand, the newest first.",
    answer=list[Challenge],
    token=True,
    query=(Query("most", "how many at most", 50, 1, _MAX_LISTED),),
)
ONE_CHALLENGE: Final = Operation(
    method="GET",
    path="/api/challenges/{number:int}",
    name="one_challenge",
    summary="A match on demand of the author.",
    answer=Challenge,
    token=True,
    errors=(404,),
)
CHALLENGE_RECORD: Final = Operation(
    method="GET",
    path="/api/challenges/{number:int}/record",
    name="challenge_record",
    summary="The record of a match on demand of the author, as JSON lines.",
    media="application/x-ndjson",
    token=True,
    errors=(404,),
)
CHALLENGE_LOG: Final = Operation(
    method="GET",
    path="/api/challenges/{number:int}/log",
    name="challenge_log",
    summary="The output of the author's own bot in a match on demand, or its messages.",
    media="text/plain",
    token=True,
    query=(_KIND,),
    errors=(404,),
)

TRIAL: Final = Operation(
    method="POST",
    path="/api/trials",
    name="trial",
    summary="Ask for a trial: two versions of an own bot side by side on equal deals.",
    answer=Trial,
    status=202,
    token=True,
    takes=WantedTrial,
    errors=(404, 411, 413, 415, 429),
)
TRIALS: Final = Operation(
    method="GET",
    path="/api/trials",
    name="trials",
    summary="The author's last trials, the newest first.",
    answer=list[Trial],
    token=True,
    query=(Query("most", "how many at most", 50, 1, _MAX_LISTED),),
)
ONE_TRIAL: Final = Operation(
    method="GET",
    path="/api/trials/{number:int}",
    name="one_trial",
    summary="A trial of the author, with the difference between the versions once it was played.",
    answer=Trial,
    token=True,
    errors=(404,),
)


class AuthorApi:
    """Answers the requests of commands and programs of authors."""

    def __init__(self, requests: RequestHandler) -> None:
        self._requests = requests

    def routes(self) -> Sequence[Route]:
        """Its routes."""
        calls = self.CALLS.items()
        return [operation.route(self._requests, partial(call, self)) for operation, call in calls]

    async def _author(self, request: Request) -> Author:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        return Author(
            name=author.name,
            organiser=author.organiser,
            added=author.added,
            challenges_today=jobs.used_today(ledger, jobs.CHALLENGE, author),
            sent_today=jobs.used_today(ledger, jobs.SUBMISSION, author),
            limits=attrs.asdict(limits_of(ledger)),
        )

    async def _submit(self, request: Request) -> Received:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        if request.headers.get("content-type", "") not in _ARCHIVES:
            raise Refused(415, "Send an archive: application/gzip, application/zip or application/x-tar.")
        check_length(ledger, request)
        given = SUBMIT.values(request)
        config = self._requests.league(given["league"])
        await check_open(ledger, config)
        data = await request.body()
        if len(data) != int(request.headers["content-length"]):
            raise Refused(400, "The body is not as long as its Content-Length.")
        matches = await in_thread(matches_added, ledger, config)
        received = await receive(ledger, author, config, data, given["trial"])
        trial = None if given["trial"] is None else on_demand.trial_of(ledger, received.id)
        return Received(**attrs.asdict(received, recurse=False), matches=matches, trial=trial)

    async def _submissions(self, request: Request) -> list[Submission]:
        author = self._requests.bearer(request)
        most = SUBMISSIONS.values(request)["most"]
        return await in_thread(versions.submissions, self._requests.ledger, author.name, most)

    async def _submission(self, request: Request) -> Submission:
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

    async def _archive(self, request: Request) -> Response:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        return archive_download(ledger, author, versions.submission(ledger, _number(request)))

    async def _activate(self, request: Request) -> Submission:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        submission = versions.submission(ledger, _number(request))
        check_own(submission, author)
        await check_open(ledger, self._requests.league(submission.league))
        await in_thread(versions.activate, ledger, author, submission.id)
        return await self._with_matches(versions.submission(ledger, submission.id))

    async def _withdraw(self, request: Request) -> Withdrawn:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        league, bot = request.path_params["league"], request.path_params["bot"]
        await check_may_leave(ledger, self._requests.league(league))
        await in_thread(versions.withdraw, ledger, author, league, bot)
        return Withdrawn(league=league, bot=bot)

    async def _records(self, request: Request) -> Response:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        config = self._requests.league(request.path_params["league"])
        data = await in_thread(own_records, ledger, config, author, request.path_params["bot"])
        return download(data, f"{config.name}-records.zip", RECORDS.media)

    async def _log(self, request: Request) -> Response:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        config = self._requests.league(request.path_params["league"])
        given = LOG.values(request)
        bot, match = request.path_params["bot"], request.path_params["match"]
        data = await in_thread(own_log, ledger, config, author, bot, match, given["seat"], given["kind"])
        return Response(data, media_type=LOG.media)

    async def _challenge(self, request: Request) -> Challenge:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        wanted = await _wanted(request, Wanted)
        config = self._requests.league(wanted.league)
        return await in_thread(on_demand.ask_challenge, ledger, config, author, wanted.bot, wanted.opponents)

    async def _challenges(self, request: Request) -> list[Challenge]:
        author = self._requests.bearer(request)
        most = CHALLENGES.values(request)["most"]
        return on_demand.challenges(self._requests.ledger, author, most)

    async def _one_challenge(self, request: Request) -> Challenge:
        author = self._requests.bearer(request)
        return on_demand.challenge(self._requests.ledger, _number(request), author)

    async def _trial(self, request: Request) -> Trial:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        wanted = await _wanted(request, WantedTrial)
        config = self._requests.league(wanted.league)
        return await in_thread(
            on_demand.ask_trial, ledger, config, author, wanted.new, wanted.old, wanted.deals
        )

    async def _trials(self, request: Request) -> list[Trial]:
        author = self._requests.bearer(request)
        most = TRIALS.values(request)["most"]
        return on_demand.trials(self._requests.ledger, author, most)

    async def _one_trial(self, request: Request) -> Trial:
        author = self._requests.bearer(request)
        return on_demand.trial(self._requests.ledger, _number(request), author)

    async def _challenge_record(self, request: Request) -> Response:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        record = await challenge_record(ledger, author, _number(request))
        return Response(record, media_type=CHALLENGE_RECORD.media)

    async def _challenge_log(self, request: Request) -> Response:
        author, ledger = self._requests.bearer(request), self._requests.ledger
        kind = CHALLENGE_LOG.values(request)["kind"]
        text = on_demand.log_of(ledger, author, _number(request), kind)
        if text is None:
            raise Refused(404, "No log of this match is stored.")
        return Response(text.encode("utf-8", "backslashreplace"), media_type=CHALLENGE_LOG.media)

    CALLS: ClassVar[Mapping[Operation, Callable[..., Awaitable[Any]]]] = {
        ME: _author,
        SUBMIT: _submit,
        SUBMISSIONS: _submissions,
        SUBMISSION: _submission,
        ARCHIVE: _archive,
        ACTIVATE: _activate,
        WITHDRAW: _withdraw,
        RECORDS: _records,
        LOG: _log,
        CHALLENGE: _challenge,
        CHALLENGES: _challenges,
        ONE_CHALLENGE: _one_challenge,
        CHALLENGE_RECORD: _challenge_record,
        CHALLENGE_LOG: _challenge_log,
        TRIAL: _trial,
        TRIALS: _trials,
        ONE_TRIAL: _one_trial,
    }


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
