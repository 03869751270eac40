"""Holds all that commands print with `--json` in the tests against its schema, which knows every key."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest
from jsonschema import Draft202012Validator

from warpleague import cli
from warpleague.cli import common, declaration, league_common
from warpleague.cli.outputs import outputs
from warpline.schema import Definitions


@cache
def validator(command: str) -> Draft202012Validator:
    """Of what the command prints; a key that its type does not name is refused."""
    definitions = Definitions(closed=True)
    schema = definitions.of(outputs()[command])
    return Draft202012Validator({**schema, "$defs": definitions.schemas})


@pytest.fixture(scope="session", autouse=True)
def printed_json() -> Iterator[None]:
    """A command of this process that prints what its schema refuses fails."""
    running: list[str] = []
    typed = outputs()
    load, text = declaration.load, common.json_text

    def watched(run: str) -> Callable[[Namespace], int]:
        def command(args: Namespace) -> int:
            running.append(args.command.name)
            try:
                return load(run)(args)
            finally:
                running.pop()

        return command

    def checked(data: Any, indent: int | None = 2) -> str:
        if running and running[-1] in typed:
            problems = [
                error.message for error in validator(running[-1]).iter_errors(json.loads(json.dumps(data)))
            ]
            assert problems == [], f"{running[-1]} --json"
        return text(data, indent)

    with (
        patch.object(cli, "load", watched),
        patch.object(common, "json_text", checked),
        patch.object(league_common, "json_text", checked),
    ):
        yield
