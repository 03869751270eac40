"""The addresses of submissions: which request reaches which page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.arena.submissions.author_pages import AuthorPages
from warpleague.arena.submissions.organiser_pages import OrganiserPages
from warpleague.arena.submissions.requests import RequestHandler

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from warpleague.arena.submissions.requests import App


def routes(app: App) -> list[BaseRoute]:
    """The routes of the pages of authors and organisers, and of the commands, for as long as the server runs."""
    return routes_of(RequestHandler(app))


def routes_of(handler: RequestHandler) -> list[BaseRoute]:
    """The routes whose requests `handler` answers."""
    return [*AuthorPages(handler).routes(), *OrganiserPages(handler).routes()]
