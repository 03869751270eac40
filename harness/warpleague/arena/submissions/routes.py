"""The addresses of submissions: which request reaches which page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.arena.submissions.author_api import AuthorApi
from warpleague.arena.submissions.author_pages import AuthorPages
from warpleague.arena.submissions.organiser_pages import OrganiserPages

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from warpleague.arena.submissions.requests import RequestHandler


def routes_of(handler: RequestHandler) -> list[BaseRoute]:
    """The routes whose requests `handler` answers."""
    return [
        *AuthorApi(handler).routes(),
        *AuthorPages(handler).routes(),
        *OrganiserPages(handler).routes(),
    ]
