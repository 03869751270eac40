"""Describes the operations of the JSON API, and makes routes of them.

`warpleague.arena.web.openapi` makes the OpenAPI document of the same descriptions, so a route and its description
cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import msgspec
from starlette.responses import Response

from warpleague.arena.submissions.requests import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.routing import Route

    from warpleague.arena.submissions.requests import RequestHandler

    Call = Callable[[Request], Awaitable[Any]]

_encode: Final = msgspec.json.Encoder().encode
_MAX_TEXT: Final = 200


@attrs.frozen
class Query:
    """A value in the query of an address: a whole number from `least` to `most`, or a text, perhaps of some `choices`.

    Without a value in the address it is `usual`.
    """

    name: str
    help: str
    usual: int | str | None = None
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether it is a whole number."""
        return self.most > 0

    def read(self, request: Request) -> Any:
        """The value in a request. Raises `Refused` if it is invalid."""
        text = request.query_params.get(self.name)
        if text is None:
            return self.usual
        if not self.is_number:
            if len(text) > _MAX_TEXT or not text.isprintable():
                raise Refused(422, f"{self.name}: must be a text of at most {_MAX_TEXT} letters.")
            if self.choices and text not in self.choices:
                raise Refused(422, f"{self.name}: must be {' or '.join(self.choices)}.")
            return text
        if not (text.isascii() and text.isdecimal() and len(text) < 19) or not (
            self.least <= int(text) <= self.most
        ):
            raise Refused(422, f"{self.name}: must be a whole number from {self.least} to {self.most}.")
        return int(text)


@attrs.frozen(kw_only=True)
class Operation:
    """The effect of a request to an address, and the answers to it.

    `answer` is the type of the answer: an attrs class, a list of one, or None where the answer is a file of the type
    `media`. `takes` is the type of the body, or the media types of a file. With `token` the request needs the token
    of an author. `errors` are the statuses of refusals, without those that every operation has.
    """

    method: Literal["GET", "POST"]
    path: str
    name: str
    summary: str
    answer: Any = None
    media: str = "application/json"
    status: int = 200
    token: bool = False
    query: tuple[Query, ...] = ()
    takes: Any = None
    errors: tuple[int, ...] = ()

    def values(self, request: Request) -> dict[str, Any]:
        """The values of the query. Raises `Refused` if one is invalid."""
        return {query.name: query.read(request) for query in self.query}

    def route(self, requests: RequestHandler, call: Call) -> Route:
        """The route: `call` returns a value of the type `answer`, or a response."""

        async def handle(request: Request) -> Response:
            if self.token:
                requests.bearer(request)
            response = await call(request)
            return response if isinstance(response, Response) else as_json(response, self.status)

        return requests.route(self.path, handle, self.method, api=True)


def as_json(value: Any, status: int = 200) -> Response:
    """A value of plain data and attrs classes as an answer in JSON."""
    return Response(_encode(value), status, media_type="application/json")


@attrs.frozen
class Error:
    """Why a request was refused."""

    error: str
    """The reason, in one sentence."""
