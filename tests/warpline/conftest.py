"""What the tests of the wire share: lines as bots might write them, good, bad and nearly good."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from jsonschema import Draft202012Validator

PROTOCOL = Path(__file__).parents[2] / "protocol"

BLANKS = st.sampled_from(["", "", "", "", " ", "\t", "\r", "  \r\t"])
NUMBERS = st.one_of(
    st.integers(-3, 20).map(str),
    st.integers(-(2**54), 2**54).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(
        [
            "-0", "017", "1.0", "1e2", "1E400", "-1e400", "1e-400", "9007199254740991", "9007199254740992",
            "-9007199254740992", "NaN", "Infinity", "-Infinity", "1.", ".5", "+1", "1" * 40, "0.1e1",
        ]
    ),
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(
        ["act", "ready", "hello", "type", "id", "action", "then", "note", "value", "do", "a:b", "", "é", "😀"]
    ),
    st.text(max_size=6),
)
RAW_TEXTS = st.one_of(
    TEXTS.map(lambda text: json.dumps(text, ensure_ascii=False)),
    TEXTS.map(json.dumps),
    st.sampled_from(
        ['"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"',
         '"\\u0000"', '"\\x"', '"\t"', '"', "\"\\", '"typ\\u0065"']
    ),
)  # fmt: skip
SCALARS = st.one_of(NUMBERS, RAW_TEXTS, st.sampled_from(["true", "false", "null", "tru", "None"]))


def _array(items: list[str], blank: str) -> str:
    return "[" + blank + f"{blank},".join(items) + "]"


def _object(pairs: list[tuple[str, str]], blank: str) -> str:
    return (
        "{" + blank + f"{blank},".join(f"{key}{blank}:{blank}{value}" for key, value in pairs) + blank + "}"
    )


VALUES: SearchStrategy[str] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(_array, st.lists(inner, max_size=3), BLANKS),
        st.builds(_object, st.lists(st.tuples(RAW_TEXTS, inner), max_size=3), BLANKS),
    ),
    max_leaves=6,
)
OBJECTS = st.builds(_object, st.lists(st.tuples(RAW_TEXTS, VALUES), max_size=3), BLANKS)
PAIRS = st.one_of(
    st.tuples(st.just('"type"'), st.sampled_from(['"act"', '"act"', '"act"', '"ready"', '"hello"', "1"])),
    st.tuples(st.just('"id"'), NUMBERS),
    st.tuples(st.just('"action"'), st.one_of(NUMBERS, OBJECTS, VALUES)),
    st.tuples(st.just('"then"'), st.one_of(st.builds(_array, st.lists(OBJECTS, max_size=2), BLANKS), VALUES)),
    st.tuples(st.just('"note"'), st.one_of(RAW_TEXTS, VALUES)),
    st.tuples(st.just('"value"'), st.one_of(st.floats(0, 1).map(repr), VALUES)),
    st.tuples(RAW_TEXTS, VALUES),
)
LIKELY = st.tuples(
    st.just(('"type"', '"act"')),
    st.tuples(st.just('"id"'), st.integers(0, 99).map(str)),
    st.tuples(st.just('"action"'), st.one_of(st.integers(0, 99).map(str), OBJECTS)),
).map(list)
MESSAGES = st.builds(
    lambda likely, more, blank: blank + _object(likely + more, blank) + blank,
    st.one_of(LIKELY, LIKELY, st.just([])),
    st.lists(PAIRS, max_size=3),
    BLANKS,
)
EDITS = st.lists(
    st.tuples(
        st.integers(0, 200),
        st.integers(0, 2),
        st.sampled_from(
            [*(bytes([byte]) for byte in b'{}[]":,\\ 0159.-+eE\x00\x1f\t\r\xff\xef\xc3u'), b"", b"\xc3\xa9"]
        ),
    ),
    max_size=3,
)


def _edited(line: str, edits: list[tuple[int, int, bytes]]) -> bytes:
    raw = line.encode("utf-8", "surrogatepass")
    for at, cut, put in edits:
        at %= len(raw) + 1
        raw = raw[:at] + put + raw[at + cut :]
    return raw


LINES: SearchStrategy[bytes] = st.builds(_edited, MESSAGES, st.one_of(st.just([]), EDITS))

JSON_VALUES: SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([1e16, 1e-5, 1e22, 123456789012345680.0, 1e-4, 9.5e-5, -0.0, 5e-324]),
        st.text(max_size=8),
        st.sampled_from(["null", ":1e5", "0e0", ".0000"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="session")
def lines() -> SearchStrategy[bytes]:
    """Bots' lines, about half of them answers in order, the rest broken in one way or several."""
    return LINES


@pytest.fixture(scope="session")
def json_values() -> SearchStrategy[Any]:
    """Plain JSON values, rich in numbers that encoders write differently."""
    return JSON_VALUES


@pytest.fixture(scope="session")
def protocol() -> Path:
    """The folder with the specification, the schemas and the conformance sessions."""
    return PROTOCOL


@pytest.fixture(scope="session")
def complain(protocol: Path) -> Callable[[str, object], list[str]]:
    """What the committed schema of messages says against a message in the direction `referee` or `bot`."""
    schema = json.loads((protocol / "schema" / "messages.json").read_text(encoding="utf-8"))
    validators = {
        side: Draft202012Validator({**schema, "anyOf": [{"$ref": f"#/$defs/{side}"}]})
        for side in ("referee", "bot")
    }
    return lambda side, message: [error.message for error in validators[side].iter_errors(message)]
