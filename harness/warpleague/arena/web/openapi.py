"""The OpenAPI document of the JSON API, made of the descriptions of its operations."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response
from starlette.routing import Route

from warpleague import __version__
from warpleague.arena.submissions import author_api
from warpleague.arena.submissions.api import Error, Operation
from warpleague.arena.web import league_api
from warpline.schema import Definitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from warpleague.arena.submissions.api import Query

PATH: Final = "/api/openapi.json"
_ERRORS: Final = {
    401: "A token is needed, or this one is not valid.",
    403: "This may not be seen now.",
    404: "Not found.",
    409: "Not possible now; the reason says why.",
    411: "The length of the body is missing.",
    413: "The body is too long.",
    415: "The body is of another type.",
    422: "A value cannot be used; the reason says which.",
    429: "Too many requests; ask again later.",
    503: "Not possible for the moment; ask again later.",
    507: "The server has no space.",
}
_TITLE: Final = "Warp League arena"


def operations() -> list[Operation]:
    """All operations, in the order in which the document has them."""
    listed = [
        value
        for module in (league_api, author_api)
        for value in vars(module).values()
        if isinstance(value, Operation)
    ]
    return list(dict.fromkeys(listed))


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, version 3.1."""
    definitions = Definitions(closed=False, null="absent")
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations():
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


def text() -> str:
    """The document as it stands in its file and is served."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def route() -> Route:
    """The route at which the document is served."""

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
    statuses = sorted({*operation.errors, 422, 429, 503, *((401,) if operation.token else ())})
    description: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_in_path(operation.path), *(_in_query(query) for query in operation.query)],
        "responses": {
            str(operation.status): good,
            **{str(status): {"$ref": f"#/components/responses/E{status}"} for status in statuses},
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
    if query.usual is not None:
        schema["default"] = query.usual
    return {"name": query.name, "in": "query", "required": False, "description": query.help, "schema": schema}
