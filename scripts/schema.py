"""Writes protocol/schema/: the JSON Schema of messages, record lines, games, and the files that users write.

The classes are in `warpline.messages`, `warpleague.match.record`, the games, and the modules that read the files.
`openapi.json` describes an arena's JSON API: it is made of the operations in `warpleague.arena`. `output.json` and
the page `docs/json.md` say what commands print with `--json`: `warpleague.cli.outputs` gives the types. With `--check`
nothing is written; the exit code is 1 when a file is not what it would be.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.arena.submissions.api import document_text
from warpleague.arena.web.server import OPERATIONS
from warpleague.cli.outputs import outputs
from warpleague.extras.rounds.file import RoundsConfig
from warpleague.games import GAMES, load_game
from warpleague.league.season.config import LeagueConfig
from warpleague.match.record import Act, Chance, End, Fault, Header, Seal
from warpleague.match.spec import FORMAT
from warpleague.runner.bundle.manifest import Manifest
from warpline.schema import DIALECT, Definitions, messages_schema, schema_of

if TYPE_CHECKING:
    from warpleague.games.api import Game

FOLDER = Path(__file__).parents[1] / "protocol" / "schema"
PAGE = Path(__file__).parents[1] / "docs" / "json.md"


def game_schema(game: Game[Any, Any]) -> dict[str, Any]:
    """The schema of what only `game` says: `#/$defs/action`, `view`, `setup` and `options`."""
    definitions = Definitions(closed=True)
    roles = {
        "action": definitions.one_of(game.Actions),
        "view": definitions.ref(game.View),
        "setup": definitions.ref(game.Setup),
        "options": definitions.ref(game.Options),
    }
    return {
        "$schema": DIALECT,
        "title": f"Warp League game {game.id}, rules {game.rules_version}: {game.title}",
        "$defs": {**roles, **definitions.schemas},
    }


def record_schema() -> dict[str, Any]:
    """The schema of one line of a record."""
    definitions = Definitions(closed=False, null="refused")
    line = definitions.one_of((Header, Chance, Act, Fault, End, Seal))
    return {
        "$schema": DIALECT,
        "title": f"Warp League record, format {FORMAT}: a line",
        **line,
        "$defs": definitions.schemas,
    }


def file_schema(cls: type, title: str) -> dict[str, Any]:
    """The schema of a TOML file that is read as a `cls`: TOML has no null."""
    return {"title": f"Warp League: {title}", **schema_of(cls, null="refused")}


def output_schema(*, closed: bool = False) -> dict[str, Any]:
    """The schema of what each command prints with `--json`: `properties` has the commands by name."""
    definitions = Definitions(closed=closed)
    commands = {name: definitions.of(kind) for name, kind in sorted(outputs().items())}
    return {
        "$schema": DIALECT,
        "title": "Warp League: what commands print with --json, by command",
        "type": "object",
        "properties": commands,
        "$defs": definitions.schemas,
    }


_PAGE = """# What commands print as JSON

With `--json` a command prints one JSON value. Later versions may add keys; only a new major version may remove a key
or change its meaning. A share is from 0 to 1, and `null` means that a value is not known. Names of times end in their
unit; dates are ISO 8601 in UTC. A key that ends in `_half` is half the 95 % interval of the value before.

`protocol/schema/output.json` has the same as a JSON Schema; both are made of the types of the program. A key with `?`
may be absent.
"""


def output_page() -> str:
    """The page of the documentation that says what commands print as JSON."""
    schema = output_schema()
    lines = [_PAGE, "| command | prints |", "|---|---|"]
    lines += [f"| `{name}` | {_words(kind)} |" for name, kind in schema["properties"].items()]
    for name, kind in sorted(schema["$defs"].items()):
        text = " ".join(kind.get("description", "").split())
        lines += ["", f"## {name}", "", *([text, ""] if text else [])]
        for key, value in kind["properties"].items():
            meaning = " ".join(value.get("description", "").split())
            optional = "" if key in kind["required"] else "?"
            lines.append(f"- `{key}{optional}`: {_words(value)}{f'; {meaning}' if meaning else ''}")
    return "\n".join(lines) + "\n"


def _words(kind: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in kind:
        name = kind["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(map(_words, kind["anyOf"]))
    if "enum" in kind or "const" in kind:
        return " or ".join(f"`{value}`" for value in kind.get("enum", [kind.get("const")]))
    types = kind.get("type", "any value")
    if types == "array":
        if "prefixItems" in kind:
            return f"[{', '.join(map(_words, kind['prefixItems']))}]"
        return f"list of {_inner(kind['items'])}" if "items" in kind else "list"
    if types == "object":
        inner = kind.get("additionalProperties")
        return f"object of {_inner(inner)}" if inner else "object"
    names = {"integer": "whole number", "string": "text", "boolean": "true or false"}
    return " or ".join(names.get(one, one) for one in ([types] if isinstance(types, str) else types))


def _inner(kind: dict[str, Any]) -> str:
    """The type of what is in a list or an object, in words: several in brackets."""
    text = _words(kind)
    return f"({text})" if " or " in text and text != "true or false" else text


def files() -> dict[str, str]:
    """The name and the content of every file of the folder."""
    schemas = {
        "messages": messages_schema(),
        "record": record_schema(),
        "bot": file_schema(Manifest, "bot.toml"),
        "league": file_schema(LeagueConfig, "the file of a league"),
        "rounds": file_schema(RoundsConfig, "the file of rounds"),
        "output": output_schema(),
        **{name: game_schema(load_game(name)) for name in GAMES},
    }
    found = {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }
    return {**found, "openapi.json": document_text(OPERATIONS)}


def stale(folder: Path, wanted: dict[str, str], kind: str = "*.json") -> list[str]:
    """The names of the files of a `kind` in a folder that are missing, different, or of no use any more."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob(kind)}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def main() -> int:
    """Write the files, or check them; the exit code."""
    parser = argparse.ArgumentParser(description="Write protocol/schema/ from the classes it describes.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    check = parser.parse_args().check
    page = renew(PAGE.parent, {PAGE.name: output_page()}, PAGE.name, check=check)
    return max(page, renew(FOLDER, files(), check=check))


def renew(folder: Path, wanted: dict[str, str], kind: str = "*.json", *, check: bool = False) -> int:
    """Make the files of a `kind` in `folder` those that are wanted, or only `check` them; the exit code."""
    names = stale(folder, wanted, kind)
    for name in names:
        path = folder / name
        if check:
            print(f"{path} is stale: run scripts/schema.py", file=sys.stderr)
        elif name in wanted:
            path.write_text(wanted[name], encoding="utf-8")
        else:
            path.unlink()
    return 1 if check and names else 0


if __name__ == "__main__":
    sys.exit(main())
