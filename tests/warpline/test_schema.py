"""The schemas: how classes read in them, that the committed files are fresh, and that real matches fit them."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import attrs
import pytest
from jsonschema import Draft202012Validator
from tests.programs import program

from warpleague.games import GAMES, load_game
from warpleague.match.chance import match_key
from warpleague.match.record import unpack
from warpleague.match.referee import Referee, Situation
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpline import limits
from warpline.bounds import in_schema
from warpline.codec import WireError, decode_bot, decode_referee, encode
from warpline.limits import FaultKind
from warpline.messages import BOT_MESSAGES, REFEREE_MESSAGES, BotHello, Natural, Note
from warpline.schema import Definitions, schema_of

ROOT = Path(__file__).parents[2]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@attrs.frozen
class Leaf:
    """A leaf."""

    value: int | None
    """What it is worth."""


@attrs.frozen
class Tree:
    do: ClassVar[str] = "grow"
    name: str = attrs.field(metadata={"help": "what it is called"})
    way: Literal["N", "S"]
    only: Literal["one"]
    colour: Colour
    at: tuple[int, float]
    leaves: tuple[Leaf, ...]
    by_name: dict[str, list[Leaf | bool]]
    anything: Any
    count: Natural
    note: Note | None = None
    trees: list[Tree] = attrs.field(factory=list)
    either: int | str = 3
    share: float = attrs.field(default=0.5, validator=[attrs.validators.gt(0), attrs.validators.le(1)])
    most: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(1)))
    code: str = attrs.field(default="x", metadata=in_schema(pattern="^x+$"))
    path: str = attrs.field(default="", init=False)


NATURAL = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
NOTE = {"type": "string", "maxLength": 16384, "$comment": "at most 16384 bytes of UTF-8"}


def test_every_kind_of_field() -> None:
    """Each kind of annotation reads as the schema that accepts its JSON form, described where it says so."""
    schema = schema_of(Tree)
    Draft202012Validator.check_schema(schema)
    assert schema["$ref"] == "#/$defs/Tree"
    tree = schema["$defs"]["Tree"]
    assert tree["properties"] == {
        "do": {"const": "grow"},
        "name": {"type": "string", "description": "what it is called"},
        "way": {"enum": ["N", "S"]},
        "only": {"const": "one"},
        "colour": {"enum": ["red", "blue"]},
        "at": {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "number"}],
            "items": False,
            "minItems": 2,
            "maxItems": 2,
        },
        "leaves": {"type": "array", "items": {"$ref": "#/$defs/Leaf"}},
        "by_name": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/Leaf"}, {"type": "boolean"}]},
            },
        },
        "anything": {},
        "count": NATURAL,
        "note": {"anyOf": [NOTE, {"type": "null"}]},
        "trees": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        "either": {"type": ["integer", "string"], "default": 3},
        "share": {"type": "number", "default": 0.5, "exclusiveMinimum": 0, "maximum": 1},
        "most": {"type": ["integer", "null"], "minimum": 1},
        "code": {"type": "string", "default": "x", "pattern": "^x+$"},
    }
    assert tree["required"] == [
        "do", "name", "way", "only", "colour", "at", "leaves", "by_name", "anything", "count",
    ]  # fmt: skip
    assert tree["additionalProperties"] is False
    assert schema["$defs"]["Leaf"] == {
        "type": "object",
        "description": "A leaf.",
        "properties": {"value": {"type": ["integer", "null"], "description": "What it is worth."}},
        "required": ["value"],
        "additionalProperties": False,
    }


def test_open_schemas_take_unknown_keys_and_null() -> None:
    """In a message, keys may be unknown and a field with a default may be null."""
    validator = Draft202012Validator(schema_of(BotHello, closed=False, null="absent"))
    good = {"type": "hello", "protocol": 1, "wants": None, "name": None, "reusable": None, "more": {}}
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "protocol": None})


def test_what_has_no_json_form_is_an_error_with_its_place() -> None:
    """So is a third class of one name; the second one is told apart by its module."""

    def named(module: str) -> type:
        twin: type = attrs.make_class("Twin", {}, frozen=True)
        twin.__module__ = module
        return twin

    definitions = Definitions(closed=True)
    assert definitions.ref(named("game.actions")) == {"$ref": "#/$defs/Twin"}
    assert definitions.ref(named("game.view")) == {"$ref": "#/$defs/view.Twin"}
    with pytest.raises(ValueError, match=r"called view\.Twin"):
        definitions.ref(named("other.view"))
    odd = attrs.make_class("Odd", {"what": attrs.field(type=complex)})
    with pytest.raises(TypeError, match=r"Odd\.what: no JSON Schema for <class 'complex'>"):
        schema_of(odd)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The program that writes the schemas."""
    return program(ROOT / "scripts" / "schema.py")


def test_the_committed_schemas_are_fresh() -> None:
    """The files are what the classes say now; if this fails, run scripts/schema.py."""
    command = [sys.executable, str(ROOT / "scripts" / "schema.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")


def test_stale_files_are_named(script: ModuleType, tmp_path: Path) -> None:
    """A file that differs, is missing, or is of no use is stale; writing mends all three."""
    wanted = {"a.json": "a", "b.json": "b", "c.json": "c"}
    for name, text in (("a.json", "a"), ("b.json", "old"), ("d.json", "d")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert script.stale(tmp_path, wanted) == ["b.json", "c.json", "d.json"]
    assert script.renew(tmp_path, wanted, check=True) == 1
    assert script.renew(tmp_path, wanted) == 0
    assert script.stale(tmp_path, wanted) == []


@pytest.mark.parametrize("name", ["messages", "record", "bot", "league", "rounds", *GAMES])
def test_the_committed_schemas_are_schemas(name: str) -> None:
    """Each file is valid JSON Schema 2020-12, and every reference in it leads somewhere."""
    text = (ROOT / "protocol" / "schema" / f"{name}.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    Draft202012Validator.check_schema(schema)
    for part in text.split('"$ref": "#/$defs/')[1:]:
        assert part.partition('"')[0] in schema["$defs"]


@pytest.mark.parametrize(
    ("game_id", "players"),
    [
        (name, players)
        for name in GAMES
        for players in sorted({load_game(name).players[at] for at in (0, -1)})
    ],
)
def test_real_matches_fit(game_id: str, players: int, complain: Callable[[str, object], list[str]]) -> None:
    """In a match of random moves every message fits the schema, with its options, setup, views and actions."""
    schema = json.loads((ROOT / "protocol" / "schema" / f"{game_id}.json").read_text(encoding="utf-8"))
    roles = {
        role: Draft202012Validator({"$ref": f"#/$defs/{role}", "$defs": schema["$defs"]})
        for role in ("action", "view", "setup", "options")
    }

    def fits(role: str, value: object) -> None:
        assert [error.message for error in roles[role].iter_errors(value)] == []

    game = load_game(game_id)
    spec = MatchSpec(
        id="m",
        game=game_id,
        options=attrs.asdict(game.Options()),
        seats=tuple(SeatSpec(bot=f"bot {seat}") for seat in range(players)),
        key=match_key("schema"),
        clock=TimeControl(move_s=1.0, bank_s=5.0),
    )
    referee = Referee(game, spec)
    referee.begin()
    for seat in range(players):
        message = json.loads(referee.start_line(seat))
        assert complain("referee", message) == []
        fits("options", message["options"])
        fits("setup", message["setup"])
        referee.connect(seat, BotHello(1))
    rng = random.Random(players)
    asked = 0
    while referee.advance() is Situation.ASK:
        asked += 1
        message = json.loads(referee.line)
        if asked <= 20 or asked % 40 == 0:
            assert complain("referee", message) == []
            fits("view", message["state"])
            for action in message["legal"][:20]:
                fits("action", action)
        action = rng.randrange(len(message["legal"]))
        reply = {"type": "act", "id": message["id"], "action": action}
        assert referee.answer(json.dumps(reply).encode(), 1000, 1000, 0) is None
        if asked == 400:
            return
    message = json.loads(referee.end_line(0))
    assert complain("referee", message) == []
    rival = {"rival"} if (game_id, players) == ("captains", 1) else set()
    assert message["result"].keys() == {"ranks", "scores", "breakdown", "why"} | rival


def test_lines_of_records_fit() -> None:
    """Each line of the golden records fits the schema of records; a null where a field may be absent does not."""
    text = (ROOT / "protocol" / "schema" / "record.json").read_text(encoding="utf-8")
    schema = Draft202012Validator(json.loads(text))
    records = sorted((ROOT / "tests" / "match" / "golden").rglob("*.jsonl.gz"))
    assert records
    for path in records:
        for number, line in enumerate(unpack(path.read_bytes()).splitlines(), 1):
            assert schema.is_valid(json.loads(line)), f"{path}: line {number}"
    act = {"type": "act", "n": 1, "seat": 0, "ask": "turn", "action": {"do": "pass"}, "ms": [1, None, 0]}
    assert schema.is_valid(act)
    assert not schema.is_valid({**act, "note": None})


# Every example of the specification, executed.


SPEC = (Path(__file__).parents[2] / "protocol" / "SPEC.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\S*) ?(\S*)\n(.*?)^```$", SPEC, re.MULTILINE | re.DOTALL)
REFEREE, BOT, WRONG, PROGRAMS = [], [], [], []
for language, mark, text in FENCES:
    if language == "python":
        PROGRAMS.append(text)
    elif language == "json":
        for line in text.splitlines():
            match mark, line[:2]:
                case ("referee", _) | ("session", "> "):
                    REFEREE.append(line.removeprefix("> "))
                case ("bot", _) | ("session", "< "):
                    BOT.append(line.removeprefix("< "))
                case ("malformed" | "protocol", _):
                    WRONG.append((mark, line))
                case _:
                    raise AssertionError(f"an example without a direction: {line}")


@pytest.mark.parametrize("line", REFEREE)
def test_examples_of_the_referee(line: str, complain: Callable[[str, object], list[str]]) -> None:
    """Each fits the schema, decodes, and is encoded again to the very same line."""
    assert complain("referee", json.loads(line)) == []
    assert encode(decode_referee(line.encode())).decode() == line + "\n"


@pytest.mark.parametrize("line", BOT)
def test_examples_of_the_bot(line: str, complain: Callable[[str, object], list[str]]) -> None:
    """Each fits the schema and decodes strictly to what it says."""
    said = json.loads(line)
    assert complain("bot", said) == []
    meant = json.loads(encode(decode_bot(line.encode())))
    assert {key: meant[key] for key in said} == said


@pytest.mark.parametrize(("kind", "line"), WRONG)
def test_examples_of_what_is_refused(kind: str, line: str) -> None:
    """Each is refused as the kind of fault under which it stands."""
    with pytest.raises(WireError) as caught:
        decode_bot(line.encode())
    assert caught.value.kind == kind


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_example_programs(number: int, protocol: Path, tmp_path: Path) -> None:
    """Each program, run as it stands, plays every session that is for it."""
    program = tmp_path / "bot.py"
    program.write_text(PROGRAMS[number], encoding="utf-8")
    check = [sys.executable, str(protocol / "conformance" / "check.py"), "--", sys.executable, str(program)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout
    assert "one-match: ok" in done.stdout


def test_the_tables_name_what_there_is() -> None:
    """Every field, kind of fault and limit stands in the specification, and an example of every message."""
    for cls in (*REFEREE_MESSAGES.values(), *BOT_MESSAGES.values()):
        for name in cls.__attrs_attrs__:
            assert f"| `{name.name}`" in SPEC
    for kind in FaultKind.__args__:  # type: ignore[attr-defined]
        assert f"| `{kind}` |" in SPEC
    for limit in (limits.MAX_LINE, limits.MAX_DEPTH, limits.NOTE_BYTES, limits.NAME_BYTES):
        assert re.search(rf"\| {limit:,} (bytes|levels)", SPEC)
    assert {json.loads(line)["type"] for line in REFEREE} == REFEREE_MESSAGES.keys()
    assert {json.loads(line)["type"] for line in BOT} == BOT_MESSAGES.keys()
    assert len(PROGRAMS) == 2
