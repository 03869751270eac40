"""The pages of organisers: authors and their tokens, leagues, disqualifications, limits, the audit journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs
from starlette.responses import JSONResponse, RedirectResponse, Response

from warpleague.arena.submissions import entering, invitations, tokens, versions
from warpleague.arena.submissions.checking import sandbox_refusal
from warpleague.arena.submissions.limits import WORDS, limits_of, set_limit
from warpleague.arena.submissions.requests import Refused, field, in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.arena.submissions.ledger import Entry
    from warpleague.arena.submissions.requests import RequestHandler
    from warpleague.league.season.config import LeagueConfig

_RULES: Final = ("stay", "out")


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
        return self._page(
            "organise.html.j2",
            form=session.form,
            authors=tokens.authors(ledger),
            members=tokens.members(ledger),
            invitations=invitations.invitations(ledger)[:50],
            leagues=[self._league_row(config) for config in self._requests.app.leagues.values()],
            found=versions.submissions(ledger),
            limits=[(name, words, getattr(limits, name)) for name, words in WORDS.items()],
            sandbox=sandbox_refusal(ledger),
            journal=[(entry, journal_words(entry)) for entry in ledger.journal(50)],
        )

    def _league_row(self, config: LeagueConfig) -> dict[str, Any]:
        ledger = self._requests.ledger
        return {
            "name": config.name,
            "paused": entering.is_paused(ledger, config.name),
            "closed": entering.is_closed(ledger, config.name),
            "bots": [one.bot for one in versions.active(ledger, config.name)],
            "decisions": entering.decisions(ledger, config.name)[:20],
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


def journal_words(entry: Entry) -> str:
    """An entry of the audit journal in words, without its time and without who made it."""
    if entry.what != "set":
        more = ", ".join(f"{name} {value}" for name, value in entry.said.items() if value not in (None, ""))
        return f"{entry.what}: {more}" if more else entry.what
    key, value = str(entry.said.get("key", "")), entry.said.get("value")
    what, _, name = key.partition(" ")
    if what == "paused":
        return f"{name} is paused" if value else f"{name} goes on after a pause"
    if what == "closed":
        return f"{name} takes no more submissions"
    if what == "extended" and value:
        numbers = json.loads(str(value))
        return f"{name} is extended: " + ", ".join(
            f"{number:,} {unit.replace('max_', '')} in all" for unit, number in numbers.items()
        )
    if what == "limit" and name in WORDS:
        return f"limit: {value} {WORDS[name]}"
    return f"{key}: {value or 'removed'}"


def _number(form: FormData, name: str) -> int:
    text = field(form, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused(422, f"{name}: a whole number is needed.")
    return int(text)
