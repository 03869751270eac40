"""The pages of authors: a form to submit a bot, their submissions and versions, their own records and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, RedirectResponse, Response

from warpleague.arena.submissions import versions
from warpleague.arena.submissions.checking import sandbox_refusal
from warpleague.arena.submissions.entering import closed_to_bots, matches_added, settled
from warpleague.arena.submissions.limits import WORDS, limits_of
from warpleague.arena.submissions.own_records import own_records
from warpleague.arena.submissions.requests import API, UPLOAD, Refused, field, file_of, in_thread
from warpleague.arena.submissions.upload import suffix_of
from warpleague.league.season.bot_check import REPEAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.arena.submissions.requests import RequestHandler
    from warpleague.arena.submissions.tokens import Author
    from warpleague.arena.submissions.versions import Submission
    from warpleague.league.season.config import LeagueConfig

_TYPES = (
    "application/gzip",
    "application/x-gzip",
    "application/zip",
    "application/x-tar",
    "application/octet-stream",
)


class AuthorPages:
    """The pages of authors, and the addresses for `warpleague submit`."""

    def __init__(self, requests: RequestHandler) -> None:
        self._requests = requests
        self._page = requests.app.page

    def routes(self) -> Sequence[Route]:
        """Their routes."""
        route = self._requests.route
        return (
            route("/submit", self._mine),
            route("/submit/login", self._login, "POST"),
            route("/submit/logout", self._logout, "POST"),
            route(UPLOAD, self._upload, "POST"),
            route("/submit/withdraw", self._withdraw, "POST"),
            route("/submit/activate", self._activate, "POST"),
            route("/submit/{number:int}", self._submission),
            route("/submit/{number:int}/archive", self._archive),
            route("/submit/{league}/{bot}/records.zip", self._records),
            route(API, self._api_submit, "POST", api=True),
            route(API, self._api_list, api=True),
            route(API + "/{number:int}", self._api_submission, api=True),
        )

    # ------------------------------------------------------------------ sessions

    async def _login(self, request: Request) -> Response:
        self._requests.check_failures(request)
        form = await self._requests.form(request, None)
        return self._requests.begin(request, self._requests.who_has(request, field(form, "token")))

    async def _logout(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        await self._requests.form(request, session)
        return self._requests.end(session)

    # ------------------------------------------------------------------ pages

    async def _mine(self, request: Request) -> Response:
        session = self._requests.session(request)
        if session is None:
            return self._page("submit_login.html.j2")
        ledger = self._requests.ledger
        found = versions.submissions(ledger, session.author.name)
        leagues = self._requests.app.leagues.values()
        refusals = {config.name: await in_thread(closed_to_bots, ledger, config) for config in leagues}
        added = {
            config.name: await in_thread(matches_added, ledger, config)
            for config in leagues
            if refusals[config.name] is None
        }
        return self._page(
            "submit.html.j2",
            author=session.author,
            form=session.form,
            open=added,
            closed=[why for why in refusals.values() if why],
            sandbox=sandbox_refusal(ledger),
            found=found,
            bots=sorted({(one.league, one.bot) for one in found if one.active}),
            limits=[(WORDS[name], value) for name, value in _shown_limits(ledger)],
        )

    async def _submission(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        found = self._own(request, session.author)
        answer = self._page(
            "submission.html.j2",
            found=found,
            form=session.form,
            mine=found.author == session.author.name,
            repeat=REPEAT,
        )
        if not found.is_settled:
            answer.headers["Refresh"] = "1"
        return answer

    async def _upload(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        self._check_length(request)
        form = await self._requests.form(request, session)
        config = self._requests.league(field(form, "league"))
        data = await file_of(form, "archive").read()
        found = await self._submit(session.author, config, data)
        return RedirectResponse(f"/submit/{found.id}", 303)

    async def _withdraw(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        league, bot = field(form, "league"), field(form, "bot")
        config = self._requests.app.leagues.get(league)
        if config is not None and (why := await in_thread(settled, self._requests.ledger, config)):
            raise Refused(409, f"No bot leaves {league} any more: {why}.")
        await in_thread(versions.withdraw, self._requests.ledger, session.author, league, bot)
        return RedirectResponse("/submit", 303)

    async def _activate(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        number = field(form, "number")
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise Refused(422, "number: must be a number.")
        found = versions.submission(self._requests.ledger, int(number))
        await self._check_open(self._requests.league(found.league))
        await in_thread(versions.activate, self._requests.ledger, session.author, int(number))
        return RedirectResponse("/submit", 303)

    async def _archive(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        found = versions.submission(self._requests.ledger, request.path_params["number"])
        # Nobody but its author, not even an organiser on this page.
        if found.author != session.author.name:
            raise Refused(404, "You have no such submission.")
        data = versions.archive(self._requests.ledger, found.id)
        if data is None:
            raise Refused(404, "The archive of a submission that was refused is not kept.")
        suffix = suffix_of(data)
        return _download(data, f"{found.bot}-{found.id}.{suffix}")

    async def _records(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        bot = request.path_params["bot"]
        config = self._requests.league(request.path_params["league"])
        data = await in_thread(own_records, self._requests.ledger, config, session.author, bot)
        return _download(data, f"{config.name}-records.zip")

    # ------------------------------------------------------------------ for commands

    async def _api_submit(self, request: Request) -> Response:
        author = self._requests.bearer(request)
        if request.headers.get("content-type", "") not in _TYPES:
            raise Refused(415, "Send an archive: application/gzip, application/zip or application/x-tar.")
        self._check_length(request)
        config = self._requests.league(request.query_params.get("league"))
        await self._check_open(config)
        data = await request.body()
        if len(data) != int(request.headers["content-length"]):
            raise Refused(400, "The body is not as long as it said.")
        matches = await in_thread(matches_added, self._requests.ledger, config)
        found = await self._submit(author, config, data)
        return JSONResponse({**_public(found), "matches": matches}, 202)

    async def _api_list(self, request: Request) -> Response:
        author = self._requests.bearer(request)
        return JSONResponse(
            [_public(one) for one in versions.submissions(self._requests.ledger, author.name)]
        )

    async def _api_submission(self, request: Request) -> Response:
        return JSONResponse(_public(self._own(request, self._requests.bearer(request))))

    # ------------------------------------------------------------------ both

    def _own(self, request: Request, author: Author) -> Submission:
        found = versions.submission(self._requests.ledger, request.path_params["number"])
        if found.author != author.name and not author.organiser:
            raise Refused(404, "You have no such submission.")
        return found

    def _check_length(self, request: Request) -> None:
        """Raise `Refused` for a body that is too large, before it is read."""
        max_mb = limits_of(self._requests.ledger).upload_mb
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal()):
            raise Refused(411, "The length of the body must be given.")
        spare = 64 << 10  # the other fields of the form
        if len(length) > 12 or int(length) > (max_mb << 20) + spare:
            raise Refused(413, f"An upload may have {max_mb} MiB.")

    async def _check_open(self, config: LeagueConfig) -> None:
        if why := sandbox_refusal(self._requests.ledger):
            raise Refused(503, why)
        if why := await in_thread(closed_to_bots, self._requests.ledger, config):
            raise Refused(409, why)

    async def _submit(self, author: Author, config: LeagueConfig, data: bytes) -> Submission:
        await self._check_open(config)
        if not data:
            raise Refused(422, "The archive is empty.")
        return await in_thread(versions.submit, self._requests.ledger, author, config.name, data)


def _public(found: Submission) -> dict[str, Any]:
    """The values of a submission that its author gets."""
    return {key: value for key, value in found.to_json().items() if key != "archive"}


def _shown_limits(ledger: Any) -> list[tuple[str, int]]:
    limits = limits_of(ledger)
    return [(name, getattr(limits, name)) for name in WORDS]


def _download(data: bytes, name: str) -> Response:
    safe_name = "".join(
        char if char.isascii() and (char.isalnum() or char in "._+-") else "-" for char in name
    )
    return Response(
        data,
        media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{safe_name}"'},
    )
