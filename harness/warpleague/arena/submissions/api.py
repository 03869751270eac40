"""Describes the operations of the JSON API, and makes routes and the OpenAPI document of the same descriptions."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import msgspec
from starlette.responses import Response
from starlette.routing import Route

from warpleague import __version__
from warpleague.arena.submissions.requests import Refused
from warpline.schema import Definitions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from starlette.requests import Request

    from warpleague.arena.submissions.requests import RequestHandler

    Call = Callable[[Any, Request], Awaitable[Any]]

_encode: Final = msgspec.json.Encoder().encode
_MAX_TEXT: Final = 200


@attrs.frozen
class Query:
    """A value in the query of an address: a whole number from `least` to `most`, or a text, perhaps of some `choices`.

    Without a value in the address it is the `default`.
    """

    name: str
    help: str
    default: int | str | None = None
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
            return self.default
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
    """The effect of a request to an address, the answers to it, and the method of a class that makes them.

    `answer` is the type of the answer: an attrs class, a list of one, or None where the answer is a file of the type
    `media`. `takes` is the type of the body, or the media types of a file. With `token` the request needs the token
    of an author. `errors` are the statuses of refusals, without those that every operation has.
    """

    method: Literal["GET", "POST"]
    path: str
    name: str
    summary: str
    call: Call
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

    def route(self, requests: RequestHandler, answerer: object) -> Route:
        """The route: the method of `answerer` returns a value of the type `answer`, or a response."""

        async def handle(request: Request) -> Response:
            if self.token:
                requests.bearer(request)
            response = await self.call(answerer, request)
            return response if isinstance(response, Response) else as_json(response, self.status)

        return requests.route(self.path, handle, self.method, api=True)


def operation(
    method: Literal["GET", "POST"], path: str, *, summary: str = "", **more: Any
) -> Callable[[Call], Operation]:
    """Make an operation of a method: its name is that of the operation, its docstring the summary if none is given."""

    def make(call: Call) -> Operation:
        text = summary or str(call.__doc__)
        return Operation(method=method, path=path, name=call.__name__, summary=text, call=call, **more)

    return make


def operations_of(cls: type) -> list[Operation]:
    """The operations of a class, in their order."""
    return [value for value in vars(cls).values() if isinstance(value, Operation)]


def as_json(value: Any, status: int = 200) -> Response:
    """A value of plain data and attrs classes as an answer in JSON."""
    return Response(_encode(value), status, media_type="application/json")


@attrs.frozen
class Error:
    """Why a request was refused."""

    error: str
    """The reason, in one sentence."""


# -- the OpenAPI document -----------------------------------------------------------------------------------

PATH: Final = "/api/openapi.json"
_ERRORS: Final = {
    400: "The request is broken, or asks for a WebSocket.",
    401: "A token is needed, or this one is not valid.",
    403: "This may not be seen now.",
    404: "Not found.",
    408: "The body took too long; the reason says how fast it must come.",
    409: "Not possible now; the reason says why.",
    411: "The length of the body is missing.",
    413: "The body is too long.",
    414: "The address is too long.",
    415: "The body is of another type.",
    421: "The server has another name.",
    422: "A value cannot be used; the reason says which.",
    429: "Too many requests; ask again later.",
    500: "The server has failed.",
    503: "Not possible for the moment; ask again later.",
    505: "The server speaks HTTP/1.1.",
    507: "The server has no space.",
}
_OF_ALL: Final = (400, 404, 414, 421, 422, 429, 500, 503, 505)
"""What any request may be answered, most of it before an operation is looked for."""
_OF_BODIES: Final = (408, 411, 413)
"""The same for requests that are not for reading."""
_TITLE: Final = "Warp League arena"


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The OpenAPI document of these operations, version 3.1."""
    definitions = Definitions(closed=False, null="absent")
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = operation.path.replace(":int", "")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, definitions)
    error = definitions.ref(Error)
    answer = {"description": "", "content": {"application/json": {"schema": error}}}
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": _TITLE,
            "version": __version__,
            "description": "The content of an arena's pages as JSON, and the actions of authors. "
            "Answers may get more keys in later releases; none goes.",
        },
        "paths": paths,
        "components": {
            "schemas": definitions.schemas,
            "responses": {f"E{status}": {**answer, "description": text} for status, text in _ERRORS.items()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of an author."}
            },
        },
    }
    text = json.dumps(whole).replace("#/$defs/", "#/components/schemas/")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def document_text(operations: Iterable[Operation]) -> str:
    """The document as it stands in its file and is served."""
    return json.dumps(document(operations), indent=1, ensure_ascii=False) + "\n"


def document_route(operations: Sequence[Operation]) -> Route:
    """The route at which the document is served."""
    text = cache(partial(document_text, operations))  # made when it is asked for

    async def serve(request: Request) -> Response:  # noqa: ARG001 - as routes call it
        return Response(text(), media_type="application/json")

    return Route(PATH, serve)


def _operation(operation: Operation, definitions: Definitions) -> dict[str, Any]:
    schema: dict[str, Any]
    good: dict[str, Any] = {"description": operation.summary}
    if operation.answer is None:
        schema = {"type": "string"} | (
            {} if operation.media.startswith("text/") or "json" in operation.media else {"format": "binary"}
        )
        good["content"] = {operation.media: {"schema": schema}}
    else:
        good["content"] = {"application/json": {"schema": definitions.of(operation.answer)}}
    statuses = {*operation.errors, *_OF_ALL, *((401,) if operation.token else ())}
    statuses |= set(_OF_BODIES if operation.method != "GET" else ())
    description: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_in_path(operation.path), *(_in_query(query) for query in operation.query)],
        "responses": {
            str(operation.status): good,
            **{str(status): {"$ref": f"#/components/responses/E{status}"} for status in sorted(statuses)},
        },
        "security": [{"token": []}] if operation.token else [],
    }
    if isinstance(operation.takes, tuple):
        schema = {"schema": {"type": "string", "format": "binary"}}
        description["requestBody"] = {"required": True, "content": dict.fromkeys(operation.takes, schema)}
    elif operation.takes is not None:
        schema = {"schema": definitions.of(operation.takes)}
        description["requestBody"] = {"required": True, "content": {"application/json": schema}}
    return description


def _in_path(path: str) -> Iterator[dict[str, Any]]:
    for part in path.split("/"):
        if part.startswith("{"):
            name, _, kind = part[1:-1].partition(":")
            schema = {"type": "integer", "minimum": 0} if kind else {"type": "string"}
            yield {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(query: Query) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if query.is_number:
        schema = {"type": "integer", "minimum": query.least, "maximum": query.most}
    if query.default is not None:
        schema["default"] = query.default
    return {"name": query.name, "in": "query", "required": False, "description": query.help, "schema": schema}
