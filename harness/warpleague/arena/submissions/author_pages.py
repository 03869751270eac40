"""The pages of authors: a form to submit a bot, their submissions and versions, their own records and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response

from warpleague.arena.submissions import challenges, invitations, trials, versions
from warpleague.arena.submissions.checking import sandbox_refusal
from warpleague.arena.submissions.entering import closed_to_bots, matches_added
from warpleague.arena.submissions.limits import WORDS, limits_of
from warpleague.arena.submissions.own_records import own_records
from warpleague.arena.submissions.receiving import (
    archive_of,
    challenge_record,
    check_length,
    check_not_settled,
    check_open,
    download,
    own_submission,
    receive,
)
from warpleague.arena.submissions.requests import UPLOAD, Refused, field, file_of, in_thread
from warpleague.league.season.bot_check import REPEAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.arena.submissions.requests import RequestHandler


class AuthorPages:
    """The pages of authors."""

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
            route("/join/{invitation}", self._invited),
            route("/join", self._join, "POST"),
            route(UPLOAD, self._upload, "POST"),
            route("/submit/withdraw", self._withdraw, "POST"),
            route("/submit/activate", self._activate, "POST"),
            route("/submit/challenge", self._challenge, "POST"),
            route("/submit/challenges/{number:int}/record", self._challenge_record),
            route("/submit/{number:int}", self._submission),
            route("/submit/{number:int}/archive", self._archive),
            route("/submit/{league}/{bot}/records.zip", self._records),
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

    async def _invited(self, request: Request) -> Response:
        invitation = request.path_params["invitation"]
        await self._check_invitation(request, invitation)
        return self._page("join.html.j2", invitation=invitation)

    async def _join(self, request: Request) -> Response:
        self._requests.check_failures(request)
        form = await self._requests.form(request, None)
        invitation, name = field(form, "invitation"), field(form, "name")
        await self._check_invitation(request, invitation)
        token = await in_thread(invitations.accept, self._requests.ledger, invitation, name)
        # Shown once, and not in an address, which a browser would remember.
        return self._page("join_token.html.j2", name=name, token=token)

    async def _check_invitation(self, request: Request, invitation: str) -> None:
        """Raise `Refused` for an invitation that is not valid; too many of them are refused as wrong tokens are."""
        self._requests.check_failures(request)
        try:
            await in_thread(invitations.check_invitation, self._requests.ledger, invitation[:200])
        except invitations.NoInvitation as error:
            self._requests.count_failure(request)
            raise Refused(404, f"{str(error).capitalize()}.") from None

    # ------------------------------------------------------------------ pages

    async def _mine(self, request: Request) -> Response:
        session = self._requests.session(request)
        if session is None:
            return self._page("submit_login.html.j2")
        ledger = self._requests.ledger
        submissions = versions.submissions(ledger, session.author.name)
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
            leagues=list(self._requests.app.leagues),
            open=added,
            closed=[why for why in refusals.values() if why],
            sandbox=sandbox_refusal(ledger),
            found=submissions,
            bots=sorted({(one.league, one.bot) for one in submissions if one.active}),
            limits=[(WORDS[name], value) for name, value in _shown_limits(ledger)],
            challenges=challenges.challenges(ledger, session.author, 20),
            left=max(0, limits_of(ledger).challenges - challenges.asked_today(ledger, session.author)),
            trials=trials.trials(ledger, session.author, 20),
            trials_left=max(0, limits_of(ledger).trials - trials.asked_today(ledger, session.author)),
            deals=trials.DEALS,
        )

    async def _submission(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        number = request.path_params["number"]
        submission = own_submission(self._requests.ledger, session.author, number)
        mine = submission.author == session.author.name
        trial = trials.of_submission(self._requests.ledger, number) if mine else None
        answer = self._page(
            "submission.html.j2",
            found=submission,
            form=session.form,
            mine=mine,
            trial=None if trial is None else trials.trial(self._requests.ledger, session.author, trial),
            repeat=REPEAT,
        )
        if not submission.is_settled:
            answer.headers["Refresh"] = "1"
        return answer

    async def _upload(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        ledger = self._requests.ledger
        check_length(ledger, request)
        form = await self._requests.form(request, session)
        config = self._requests.league(field(form, "league"))
        deals = _number(form, "deals") if form.get("trial") else None
        data = await file_of(form, "archive").read()
        received = await receive(ledger, session.author, config, data, deals)
        return RedirectResponse(f"/submit/{received.id}", 303)

    async def _withdraw(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        league, bot = field(form, "league"), field(form, "bot")
        config = self._requests.app.leagues.get(league)
        if config is not None:
            await check_not_settled(self._requests.ledger, config)
        await in_thread(versions.withdraw, self._requests.ledger, session.author, league, bot)
        return RedirectResponse("/submit", 303)

    async def _activate(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        number = _number(form, "number")
        submission = versions.submission(self._requests.ledger, number)
        await check_open(self._requests.ledger, self._requests.league(submission.league))
        await in_thread(versions.activate, self._requests.ledger, session.author, number)
        return RedirectResponse("/submit", 303)

    async def _challenge(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        config = self._requests.league(field(form, "league"))
        opponents = field(form, "opponents").replace(",", " ").split()
        ledger, bot = self._requests.ledger, field(form, "bot")
        await in_thread(challenges.ask, ledger, config, session.author, bot, opponents)
        return RedirectResponse("/submit#challenges", 303)

    async def _challenge_record(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        number = request.path_params["number"]
        record = await challenge_record(self._requests.ledger, session.author, number)
        return download(record, f"match-on-demand-{number}.jsonl")

    async def _archive(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        submission = versions.submission(self._requests.ledger, request.path_params["number"])
        return archive_of(self._requests.ledger, session.author, submission)

    async def _records(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        bot = request.path_params["bot"]
        config = self._requests.league(request.path_params["league"])
        data = await in_thread(own_records, self._requests.ledger, config, session.author, bot)
        return download(data, f"{config.name}-records.zip")


def _number(form: FormData, name: str) -> int:
    """A number of a form. Raises `Refused` if it is not a number."""
    text = field(form, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused(422, f"{name}: must be a number.")
    return int(text)


def _shown_limits(ledger: Any) -> list[tuple[str, int]]:
    limits = limits_of(ledger)
    return [(name, getattr(limits, name)) for name in WORDS]
