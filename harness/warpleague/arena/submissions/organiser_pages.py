"""The pages of organisers: authors and their tokens, leagues, disqualifications, limits, the audit journal."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import attrs
from starlette.responses import JSONResponse, RedirectResponse, Response

from warpleague.arena.submissions import entering, invitations, tokens, versions
from warpleague.arena.submissions.checking import sandbox_refusal
from warpleague.arena.submissions.journal_words import decision_words, journal_words
from warpleague.arena.submissions.limits import WORDS, limits_of, set_limit
from warpleague.arena.submissions.requests import Refused, RequestHandler, field, in_thread
from warpleague.errors import StoreError
from warpleague.league.store.disqualifications import disqualified
from warpleague.league.store.store import Store
from warpleague.report.wording.match_words import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.league.season.config import LeagueConfig
    from warpleague.league.season.fixture import LatestMatch

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
        limits = limits_of(ledger)
        leagues = [
            await in_thread(self._league_row, config) for config in self._requests.app.leagues.values()
        ]
        return self._page(
            "organise.html.j2",
            form=session.form,
            authors=tokens.authors(ledger),
            members=tokens.members(ledger),
            invitations=invitations.invitations(ledger)[:50],
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
            "closed": entering.is_closed(ledger, config.name),
            "submitted": [one.bot for one in versions.active(ledger, config.name)],
            "bots": [bot for bot in bots if bot not in out],
            "out": sorted(out),
            "matches": matches,
            "decisions": [(one, decision_words(one)) for one in entering.decisions(ledger, config.name)[:20]],
            "extends": "max_matches" if config.format.kind == "ladder" else "deals",
        }

    async def _author(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        name, who, ledger = field(form, "name"), session.author.name, self._requests.ledger
        match field(form, "what"):
            case "add":
                organiser = form.get("organiser") == "on"
                token = await in_thread(tokens.add_author, ledger, name, who, organiser=organiser)
            case "renew":
                token = await in_thread(tokens.renew_token, ledger, name, who)
            case "revoke":
                await in_thread(tokens.revoke, ledger, name, who)
                return RedirectResponse("/organise", 303)
            case "add-member":
                token = await in_thread(tokens.add_member, ledger, name, field(form, "member"), who)
            case "remove-member":
                await in_thread(tokens.remove_member, ledger, name, field(form, "member"), who)
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
                uses, days = _number(form, "uses"), _number(form, "days")
                secret = await in_thread(invitations.invite, ledger, who, uses=uses, days=days, note=note)
            case "revoke":
                await in_thread(invitations.revoke_invitation, ledger, _number(form, "number"), who)
                return RedirectResponse("/organise", 303)
            case _:
                raise Refused(422, "what: add or revoke.")
        scheme = request.headers.get("x-forwarded-proto", request.url.scheme)
        link = f"{'https' if scheme == 'https' else 'http'}://{request.headers['host']}/join/{secret}"
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
                entering.extend(ledger, config, who, **{key: _number(form, "number")})
            case "disqualify":
                rule = field(form, "results")
                if rule not in _RULES:
                    raise Refused(422, "results: stay or out.")
                answers = {"bot": field(form, "bot"), "reason": field(form, "reason"), "results": rule}
                entering.ask(ledger, name, what, who, **answers)
            case "reinstate":
                entering.ask(ledger, name, what, who, bot=field(form, "bot"), reason=field(form, "reason"))
            case "replay":
                entering.ask(
                    ledger, name, what, who, match=field(form, "match"), reason=field(form, "reason")
                )
            case _:
                raise Refused(422, "what: no such decision.")

    async def _limit(self, request: Request) -> Response:
        session = self._requests.need_organiser(request)
        form = await self._requests.form(request, session)
        key, value = field(form, "key"), _number(form, "value")
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
            "authors": [attrs.asdict(author) for author in tokens.authors(ledger)],
            "submissions": [one.to_json() for one in versions.submissions(ledger, most=1_000_000)],
            "decisions": [attrs.asdict(one) for name in leagues for one in entering.decisions(ledger, name)],
            "journal": [attrs.asdict(entry) for entry in ledger.journal(1_000_000)],
        }


def _match_words(match: LatestMatch) -> str:
    """A match in a list to choose from: its result is not said, since standings may be frozen."""
    at = datetime.fromtimestamp(match.stored_s, UTC).strftime("%m-%d %H:%M:%S")
    return f"{at} {one_line(' – '.join(match.bots))} ({match.id[:10]})"


def _number(form: FormData, name: str) -> int:
    text = field(form, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused(422, f"{name}: a whole number is needed.")
    return int(text)
