"""The pages and forms of authors and organisers."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import attrs
from starlette.responses import JSONResponse, RedirectResponse, Response

from warpleague.arena.submissions import accounts, entering, jobs, on_demand, versions
from warpleague.arena.submissions.entering import closed_to_bots, matches_added, sandbox_refusal
from warpleague.arena.submissions.ledger import WORDS, journal_words, set_limit
from warpleague.arena.submissions.receiving import (
    archive_download,
    challenge_record,
    check_length,
    check_may_leave,
    check_open,
    download,
    own_records,
    own_submission,
    receive,
)
from warpleague.arena.submissions.requests import (
    UPLOAD,
    Refused,
    RequestHandler,
    field,
    file_of,
    in_thread,
    number_field,
)
from warpleague.errors import StoreError
from warpleague.league.store.disqualifications import disqualified
from warpleague.league.store.store import Store
from warpleague.report.wording.match_words import one_line
from warpleague.runner.findings import REPEAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.fixture import LatestMatch


# -- authors: their submissions and versions, their own records ------------------------------------------


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
        token = await in_thread(accounts.accept_invitation, self._requests.ledger, invitation, name)
        # Shown once, and not in an address, which a browser would remember.
        return self._page("join_token.html.j2", name=name, token=token)

    async def _check_invitation(self, request: Request, invitation: str) -> None:
        """Raise `Refused` for an invitation that is not valid; too many of them are refused as wrong tokens are."""
        self._requests.check_failures(request)
        try:
            await in_thread(accounts.check_invitation, self._requests.ledger, invitation[:200])
        except accounts.NoInvitation as error:
            self._requests.count_failure(request)
            raise Refused(404, f"{str(error).capitalize()}.") from None

    # ------------------------------------------------------------------ pages

    async def _mine(self, request: Request) -> Response:
        session = self._requests.session(request)
        if session is None:
            return self._page("submit_login.html.j2")
        ledger, author = self._requests.ledger, session.author
        limits = ledger.limits
        submissions = versions.submissions(ledger, author.name)
        leagues = self._requests.app.leagues.values()
        refusals = {config.name: await in_thread(closed_to_bots, ledger, config) for config in leagues}
        added = {
            config.name: await in_thread(matches_added, ledger, config)
            for config in leagues
            if refusals[config.name] is None
        }
        return self._page(
            "submit.html.j2",
            author=author,
            form=session.form,
            leagues=list(self._requests.app.leagues),
            open=added,
            closes={config.name: config.arena.close_at for config in leagues},
            closed=[why for why in refusals.values() if why],
            sandbox=sandbox_refusal(ledger),
            found=submissions,
            bots=sorted({(one.league, one.bot) for one in submissions if one.active}),
            limits=[(words, getattr(limits, name)) for name, words in WORDS.items()],
            challenges=on_demand.challenges(ledger, author, 20),
            left=max(0, limits.challenges - jobs.used_today(ledger, jobs.CHALLENGE, author)),
            trials=on_demand.trials(ledger, author, 20),
            trials_left=max(0, limits.trials - jobs.used_today(ledger, jobs.TRIAL, author)),
            deals=on_demand.DEALS,
        )

    async def _submission(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        number = request.path_params["number"]
        submission = own_submission(self._requests.ledger, session.author, number)
        mine = submission.author == session.author.name
        trial = on_demand.trial_of(self._requests.ledger, number) if mine else None
        answer = self._page(
            "submission.html.j2",
            found=submission,
            form=session.form,
            mine=mine,
            trial=None if trial is None else on_demand.trial(self._requests.ledger, trial, session.author),
            repeat=REPEAT,
        )
        if submission.settled is None:
            answer.headers["Refresh"] = "1"
        return answer

    async def _upload(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        ledger = self._requests.ledger
        check_length(ledger, request)
        form = await self._requests.form(request, session)
        config = self._requests.league(field(form, "league"))
        deals = number_field(form, "deals") if form.get("trial") else None
        data = await file_of(form, "archive").read()
        received = await receive(ledger, session.author, config, data, deals)
        return RedirectResponse(f"/submit/{received.id}", 303)

    async def _withdraw(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        league, bot = field(form, "league"), field(form, "bot")
        config = self._requests.app.leagues.get(league)
        if config is not None:
            await check_may_leave(self._requests.ledger, config)
        await in_thread(versions.withdraw, self._requests.ledger, session.author, league, bot)
        return RedirectResponse("/submit", 303)

    async def _activate(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        form = await self._requests.form(request, session)
        number = number_field(form, "number")
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
        await in_thread(on_demand.ask_challenge, ledger, config, session.author, bot, opponents)
        return RedirectResponse("/submit#challenges", 303)

    async def _challenge_record(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        number = request.path_params["number"]
        record = await challenge_record(self._requests.ledger, session.author, number)
        return download(record, f"match-on-demand-{number}.jsonl")

    async def _archive(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        submission = versions.submission(self._requests.ledger, request.path_params["number"])
        return archive_download(self._requests.ledger, session.author, submission)

    async def _records(self, request: Request) -> Response:
        session = self._requests.need_session(request)
        bot = request.path_params["bot"]
        config = self._requests.league(request.path_params["league"])
        data = await in_thread(own_records, self._requests.ledger, config, session.author, bot)
        return download(data, f"{config.name}-records.zip")


# -- organisers: authors and their tokens, leagues, limits, the audit journal ----------------------------


_RULES: Final = ("stay", "out")
_MATCHES: Final = 100
"""The newest matches, of which one can be declared void on the page."""


class OrganiserPages:
    """The page of organisers. What it can do, `warpleague arena` can do, too."""

    def __init__(self, requests: RequestHandler) -> None:
        self._requests = requests
        self._page = requests.app.page

    def routes(self) -> Sequence[Route]:
        """Its routes."""
        route = self._requests.route
        return (
            route("/organise", self._show),
            route("/organise/author", self._author, "POST"),
            route("/organise/invitation", self._invitation, "POST"),
            route("/organise/league", self._league, "POST"),
            route("/organise/limit", self._limit, "POST"),
            route("/organise/export.json", self._export),
        )

    async def _show(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        ledger = self._requests.ledger
        limits = ledger.limits
        leagues = [
            await in_thread(self._league_row, config) for config in self._requests.app.leagues.values()
        ]
        return self._page(
            "organise.html.j2",
            form=session.form,
            authors=accounts.authors(ledger),
            members=accounts.members(ledger),
            invitations=accounts.invitations(ledger)[:50],
            leagues=leagues,
            found=versions.submissions(ledger),
            limits=[(name, words, getattr(limits, name)) for name, words in WORDS.items()],
            sandbox=sandbox_refusal(ledger),
            journal=[(entry, journal_words(entry)) for entry in ledger.journal(50)],
        )

    def _league_row(self, config: LeagueConfig) -> dict[str, Any]:
        """How a league stands, and what can be chosen in its forms. Waits for the disk."""
        ledger = self._requests.ledger
        bots: list[str] = []
        matches: list[tuple[str, str]] = []
        out: set[str] = set()
        # Where nothing has been played yet, there is nothing to choose.
        with suppress(StoreError), Store.open_to_read(ledger.results / config.name) as store:
            bots = [one_line(seat.bot) for seat in store.bots() or ()]
            out = set(disqualified(store))
            matches = [(match.id, _match_words(match)) for match in store.latest(_MATCHES)]
        return {
            "name": config.name,
            "paused": entering.is_paused(ledger, config.name),
            "closed": entering.is_closed(ledger, config),
            "submitted": [one.bot for one in versions.versions_in(ledger, config.name, active=True)],
            "bots": [bot for bot in bots if bot not in out],
            "out": sorted(out),
            "matches": matches,
            "decisions": [
                (one, entering.decision_words(one)) for one in entering.decisions(ledger, config.name)[:20]
            ],
            "extends": "max_matches" if config.format.kind == "ladder" else "deals",
        }

    async def _author(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        name, who, ledger = field(form, "name"), session.author.name, self._requests.ledger
        match field(form, "what"):
            case "add":
                organiser = form.get("organiser") == "on"
                token = await in_thread(accounts.add_author, ledger, name, who, organiser=organiser)
            case "renew":
                token = await in_thread(accounts.renew_token, ledger, name, who)
            case "revoke":
                await in_thread(accounts.revoke, ledger, name, who)
                return RedirectResponse("/organise", 303)
            case "add-member":
                token = await in_thread(accounts.add_member, ledger, name, field(form, "member"), who)
            case "remove-member":
                await in_thread(accounts.remove_member, ledger, name, field(form, "member"), who)
                return RedirectResponse("/organise", 303)
            case _:
                raise Refused(422, "what: add, renew, revoke, add-member or remove-member.")
        # Shown once, and not in an address, which a browser would remember.
        return self._page("organise_token.html.j2", name=name, token=token)

    async def _invitation(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        who, ledger = session.author.name, self._requests.ledger
        match field(form, "what"):
            case "add":
                note = str(form.get("note") or "").strip()
                uses, days = number_field(form, "uses"), number_field(form, "days")
                secret = await in_thread(accounts.invite, ledger, who, uses=uses, days=days, note=note)
            case "revoke":
                await in_thread(accounts.revoke_invitation, ledger, number_field(form, "number"), who)
                return RedirectResponse("/organise", 303)
            case _:
                raise Refused(422, "what: add or revoke.")
        scheme = request.headers.get("x-forwarded-proto", request.url.scheme)
        host, root = request.headers["host"], self._requests.app.root
        link = f"{'https' if scheme == 'https' else 'http'}://{host}{root}join/{secret}"
        return self._page("organise_invitation.html.j2", link=link)

    async def _league(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        config = self._requests.league(field(form, "league"))
        await in_thread(self._decide, config, field(form, "what"), form, session.author.name)
        self._requests.app.render_again(config.name)  # its page says whether it is paused
        return RedirectResponse("/organise", 303)

    def _decide(self, config: LeagueConfig, what: str, form: FormData, who: str) -> None:
        ledger, name = self._requests.ledger, config.name
        match what:
            case "pause" | "resume":
                entering.pause(ledger, name, who, on=what == "pause")
            case "close":
                entering.close(ledger, name, who)
            case "extend":
                key = "max_matches" if config.format.kind == "ladder" else "deals"
                sure = form.get("sure") == "on"
                entering.extend(ledger, config, who, key, number_field(form, "number"), sure=sure)
            case "disqualify":
                rule = field(form, "results")
                if rule not in _RULES:
                    raise Refused(422, "results: stay or out.")
                answers = {"bot": field(form, "bot"), "reason": field(form, "reason"), "results": rule}
                entering.ask(ledger, config, what, who, **answers)
            case "reinstate":
                entering.ask(ledger, config, what, who, bot=field(form, "bot"), reason=field(form, "reason"))
            case "replay":
                entering.ask(
                    ledger, config, what, who, match=field(form, "match"), reason=field(form, "reason")
                )
            case _:
                raise Refused(422, "what: no such decision.")

    async def _limit(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        key, value = field(form, "key"), number_field(form, "value")
        await in_thread(set_limit, self._requests.ledger, key, value, session.author.name)
        return RedirectResponse("/organise", 303)

    async def _export(self, request: Request) -> Response:
        self._requests.need_organiser(request)
        return JSONResponse(await in_thread(self._all), headers={"Content-Disposition": "attachment"})

    def _all(self) -> dict[str, Any]:
        """Everything but tokens and archives."""
        ledger = self._requests.ledger
        leagues = self._requests.app.leagues
        return {
            "authors": [attrs.asdict(author) for author in accounts.authors(ledger)],
            "submissions": [one.to_json() for one in versions.submissions(ledger, most=1_000_000)],
            "decisions": [attrs.asdict(one) for name in leagues for one in entering.decisions(ledger, name)],
            "journal": [attrs.asdict(entry) for entry in ledger.journal(1_000_000)],
        }


def _match_words(match: LatestMatch) -> str:
    """A match in a list to choose from: its result is not said, since standings may be frozen."""
    at = datetime.fromtimestamp(match.stored_s, UTC).strftime("%m-%d %H:%M:%S")
    return f"{at} {one_line(' – '.join(match.bots))} ({match.id[:10]})"
