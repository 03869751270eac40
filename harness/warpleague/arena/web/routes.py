"""All addresses of a server except those of its leagues' pages: authors, organisers, and the JSON API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.arena.submissions.routes import routes_of
from warpleague.arena.web import openapi
from warpleague.arena.web.conditions_page import ConditionsPage
from warpleague.arena.web.league_api import LeagueApi

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from warpleague.arena.submissions.requests import RequestHandler
    from warpleague.arena.web.app import App


def all_routes(app: App, requests: RequestHandler) -> list[BaseRoute]:
    """The routes; `requests` handles those of authors, and must be closed by the caller."""
    return [
        openapi.route(),
        *LeagueApi(app, requests).routes(),
        ConditionsPage(app, requests).route(),
        *routes_of(requests),
    ]
