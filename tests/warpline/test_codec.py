"""What bots may say, what is refused and as which fault, and that it costs linear time."""

import json
from collections.abc import Callable
from time import thread_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from warpline import codec
from warpline.codec import (
    LineBuffer,
    LineTooLong,
    WireError,
    canonical,
    decode_bot,
    decode_referee,
    encode,
    encode_act,
    to_bytes,
)
from warpline.limits import MAX_DEPTH, MAX_INT, MAX_LINE, NOTE_BYTES
from warpline.messages import Act, Answer, BotHello, Clock, End, Fault, Hello, Quit, Ready, Remaining, Start


def outcome(decode: Callable[[bytes], object], line: bytes) -> str:
    """What `decode` makes of `line`, as a text that tells 1 from 1.0 and from true."""
    try:
        return repr(decode(line))
    except WireError as error:
        return f"{error.kind}: {error.message}"


def act(action: str, *more: str, number: str = "1") -> bytes:
    """An answer with raw JSON parts."""
    return f'{{"type":"act","id":{number},"action":{",".join([action, *more])}}}'.encode()


def nested(levels: int) -> str:
    """An answer's action such that the whole line has `levels` levels."""
    return '{"a":' + "[" * (levels - 2) + "]" * (levels - 2) + "}"


GOOD = {
    b'{"type":"act","id":17,"action":0}': Answer(17, 0),
    b' {\t"type" : "act" , "id":\r17,"action":3 } \r': Answer(17, 3),
    b'{"action":0,"id":17,"type":"act"}': Answer(17, 0),
    b'{"type":"act","id":17,"action":0,"mood":{"a":[1,{"b":[]}]}}': Answer(17, 0),
    act('{"do":"place","at":[1,2],"value":null}'): Answer(1, {"do": "place", "at": [1, 2], "value": None}),
    act("4", '"then":[{"do":"stay"},{"do":"end"}]', '"note":"hm"'): Answer(
        1, 4, ({"do": "stay"}, {"do": "end"}), "hm"
    ),
    act("4", '"then":null', '"note":null'): Answer(1, 4),
    act("4", '"value":0.5'): Answer(1, 4, value=0.5),
    act("4", '"value":1', '"note":"hm"'): Answer(1, 4, note="hm", value=1.0),
    act("4", '"value":null'): Answer(1, 4),
    act('{"t":"a:b"}'): Answer(1, {"t": "a:b"}),
    act('{"t":"\\ud83d\\ude00"}'): Answer(1, {"t": "😀"}),
    act('{"n":9007199254740991}'): Answer(1, {"n": MAX_INT}),
    act('{"n":-9007199254740991}'): Answer(1, {"n": -MAX_INT}),
    act("0", number="9007199254740991"): Answer(MAX_INT, 0),
    act("-0"): Answer(1, 0),
    act('{"a":{"b":{"c":1.5}}}'): Answer(1, {"a": {"b": {"c": 1.5}}}),
    act("0", f'"note":"{"é" * 512}"'): Answer(1, 0, note="é" * 512),
    b'{"type":"ready"}': Ready(),
    b'{"type":"hello","protocol":1}': BotHello(1),
    b'{"type":"hello","protocol":2,"name":"x","version":null,"wants":["legal"],"reusable":true}': BotHello(
        2, "x", None, ("legal",), True
    ),
}

MALFORMED = {
    "empty": b"",
    "no JSON": b"Hello, world",
    "no object": b"[1]",
    "two values": b'{"type":"ready"}{"type":"ready"}',
    "a byte order mark": b'\xef\xbb\xbf{"type":"ready"}',
    "UTF-16": '{"type":"ready"}'.encode("utf-16"),
    "bad UTF-8": b'{"type":"ready","x":"\xff"}',
    "an overlong form": b'{"type":"ready","x":"\xc0\x80"}',
    "a surrogate in UTF-8": b'{"type":"ready","x":"\xed\xa0\x80"}',
    "a lone surrogate": act('{"t":"\\ud800"}'),
    "a lone surrogate as a key": b'{"type":"ready","\\udfff":1}',
    "a control character": b'{"type":"ready","x":"\x01"}',
    "a NUL after the end": b'{"type":"ready"}\x00',
    "NaN": b'{"type":"ready","x":NaN}',
    "Infinity": b'{"type":"ready","x":[-Infinity]}',
    "a float out of range": b'{"type":"ready","x":1e400}',
    "a long integer": act('{"n":9007199254740992}'),
    "a long negative integer": act('{"n":-9007199254740992}'),
    "a very long integer": b'{"type":"ready","x":' + b"9" * 60_000 + b"}",
    "a leading zero": act("017"),
    "a leading zero in the id": act("0", number="01"),
    "a trailing comma": act("0,"),
    "duplicate keys": b'{"type":"act","id":1,"id":1,"action":0}',
    "duplicate keys in an action": act('{"do":"a","do":"a"}'),
    "duplicate keys spelled differently": act('{"do":"a","d\\u006f":"a"}'),
    "duplicate keys deep inside": b'{"type":"ready","x":[{"y":{"a":1,"b":2,"a":3}}]}',
    "duplicate keys in then": act("0", '"then":[{"a":1,"a":2}]'),
    "too deep": act(nested(MAX_DEPTH + 1)),
    "true for an id": act("0", number="true"),
    "1.0 for an id": act("0", number="1.0"),
    "a text for an id": act("0", number='"1"'),
    "a negative id": act("0", number="-1"),
    "null for an id": act("0", number="null"),
    "a huge id": act("0", number="9007199254740992"),
    "1.0 for an action": act("1.0"),
    "1e0 for an action": act("1e0"),
    "true for an action": act("true"),
    "null for an action": act("null"),
    "a list for an action": act("[0]"),
    "a text for an action": act('"0"'),
    "a negative action": act("-1"),
    "a huge action": act("9007199254740992"),
    "an index in then": act("0", '"then":[1]'),
    "an object for then": act("0", '"then":{"do":"a"}'),
    "a number for a note": act("0", '"note":1'),
    "a value above 1": act("0", '"value":1.01'),
    "a value below 0": act("0", '"value":-1e-9'),
    "a text for a value": act("0", '"value":"0.5"'),
    "a boolean for a value": act("0", '"value":true'),
    "a long note": act("0", f'"note":"{"x" * (NOTE_BYTES + 1)}"'),
    "a note long in bytes": act("0", f'"note":"{"é" * 512}x"'),
    "no id": b'{"type":"act","action":0}',
    "no action": b'{"type":"act","id":1}',
    "no protocol": b'{"type":"hello"}',
    "an unknown want": b'{"type":"hello","protocol":1,"wants":["stat"]}',
    "a text for wants": b'{"type":"hello","protocol":1,"wants":"state"}',
    "1 for reusable": b'{"type":"hello","protocol":1,"reusable":1}',
    "a long name": b'{"type":"hello","protocol":1,"name":"' + b"x" * 257 + b'"}',
}

PROTOCOL = {
    "no type": b'{"id":1,"action":0}',
    "an unknown type": b'{"type":"move","id":1}',
    "a message of the referee's": b'{"type":"quit"}',
    "a number for a type": b'{"type":1}',
    "null for a type": b'{"type":null}',
    "a list for a type": b'{"type":["act"]}',
    "an empty object": b"{}",
}


@pytest.mark.parametrize("line", GOOD, ids=lambda line: line[:60].decode())
def test_good_lines(line: bytes) -> None:
    """A line in order gives its message, with the exact types of its values."""
    assert repr(decode_bot(line)) == repr(GOOD[line])


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_lines(name: str) -> None:
    """What is no JSON within the limits, or has a field that does not fit, is malformed."""
    with pytest.raises(WireError) as caught:
        decode_bot(MALFORMED[name])
    assert caught.value.kind == "malformed"


def test_a_note_may_be_as_long_as_the_match_allows() -> None:
    """More than is usual where the start message says so, and no byte more than that."""
    message = decode_bot(act("0", f'"note":"{"é" * 1000}"'), 2000)
    assert isinstance(message, Answer)
    assert message.note == "é" * 1000
    with pytest.raises(WireError, match="at most 2000 bytes"):
        decode_bot(act("0", f'"note":"{"é" * 1000}x"'), 2000)


@pytest.mark.parametrize("name", PROTOCOL)
def test_messages_of_no_known_type(name: str) -> None:
    """A JSON object whose type is absent or unknown is against the protocol."""
    with pytest.raises(WireError) as caught:
        decode_bot(PROTOCOL[name])
    assert caught.value.kind == "protocol"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (MALFORMED["true for an id"], "act: id: must be a whole number, not true"),
        (MALFORMED["no action"], "act: action: is required, but missing"),
        (MALFORMED["an index in then"], "act: then[0]: must be an object, not 1"),
        (MALFORMED["duplicate keys in an action"], "duplicate key 'do'"),
        (MALFORMED["bad UTF-8"], "not UTF-8 at byte 21, which is 0xff: write UTF-8"),
        (
            MALFORMED["an unknown want"],
            "hello: wants[0]: must be 'state' or 'legal' or 'events' or 'text', not the text 'stat'",
        ),
        (MALFORMED["a long note"], "act: note: must be a text of at most 1024 bytes of UTF-8"),
    ],
)
def test_errors_say_where(line: bytes, text: str) -> None:
    """The text of a refusal names the field or the byte, and what was expected there."""
    with pytest.raises(WireError) as caught:
        decode_bot(line)
    assert caught.value.message == text


MESSAGE = {"type": "act", "id": 3, "action": 0}
TEXT = json.dumps(MESSAGE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "an empty line"),
        (b" \r", "an empty line"),
        (b"\0\0", "NUL bytes where a message must be"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "a byte order mark before the message"),
        (TEXT.encode("utf-16"), "UTF-16"),
        (TEXT.encode("utf-16-le"), "UTF-16"),
        (b"\0" + TEXT.encode("utf-16-le"), "UTF-16"),  # as it comes behind a newline in UTF-16
        (b'{"type":"act","note":"caf\xe9"}', "which is 0xe9: write UTF-8"),
        (b"Odd engine 1.0 by me", "print what is for people to standard error"),
        (b"bestmove e2e4", "print what is for people to standard error"),
        (b"> " + TEXT.encode(), "text before the message, which begins at character 2"),
        (b"\x1b[0m" + TEXT.encode(), "text before the message, which begins at character 4"),
        (f"{TEXT};".encode(), "text after the message, at character 37"),
        (f"{TEXT}{TEXT}".encode(), "a second message on the same line, at character 37"),
        (f'{TEXT} {{"type":'.encode(), "a second message on the same line, at character 37"),
        (TEXT.encode() + b"\0", "NUL bytes after the message"),
        (str(MESSAGE).encode(), "single quotes"),
        ("{\u201ctype\u201d: 1}".encode(), "typographic quotes"),
        (b'{"type":"act","id":3,"action":None}', "None is how Python writes it"),
        (b'{"type":"hello","reusable":True}', "True is how Python writes it"),
        (b'{type:"act"}', "a name without double quotes at character 1"),
        (b'{"type":"act","id":3,}', "a comma before a closing bracket"),
        (b'{"type":"act","action":{"at":[1,2,]}}', "a comma before a closing bracket"),
        (b'{"type":"act", // the answer', "a comment at character 15"),
        (b'{"type":"act","note":"a\tb"}', "the control character 0x09 at character 23"),
        (b"{", "does not end on its line"),
        (b'{"type": "act",', "does not end on its line"),
        (TEXT[:25].encode(), "does not end on its line"),
        (b'{"type":"act","note":"it is', "does not end on its line"),
        (json.dumps(TEXT).encode(), "not a JSON object, but a string, so it was written as JSON twice"),
        (b"[0]", "not a JSON object, but a list"),
        (b"17", "not a JSON object, but a number"),
        (b"null", "not a JSON object, but null"),
        (b'{"type":"act","value":NaN}', "NaN is not JSON: a number must be finite"),
        (b'{"type"="act"}', "not JSON: Expecting ':' delimiter at character 7"),
        (b'{"note":"' + b"\\" * 60_000 + b"x", "does not end on its line"),
    ],
)
def test_a_beginner_is_told_the_cause(line: bytes, words: str) -> None:
    """What often goes wrong is told in words, whatever the version of Python says about it."""
    with pytest.raises(WireError) as caught:
        decode_bot(line)
    assert words in caught.value.message
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize("prefix", ["", '{"type":"ready","x":'])
def test_the_deepest_nesting_allowed(prefix: str) -> None:
    """32 levels are accepted, on the fast path's shape and elsewhere."""
    line = act(nested(MAX_DEPTH)) if not prefix else (prefix + "[" * 31 + "]" * 31 + "}").encode()
    decode_bot(line)


def test_brackets_in_strings_are_no_nesting() -> None:
    """Brackets inside strings, after escaped quotes too, do not count as levels."""
    text = json.dumps('\\"[[[{{{' * 100)
    assert decode_bot(act("{" + f'"t":{text}' + "}")) == Answer(1, {"t": json.loads(text)})
    shallow = '{"type":"ready","x":[' + ",".join(["[]", '"[\\"["', "{}"] * 300) + "]}"
    assert decode_bot(shallow.encode()) == Ready()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_fast_and_strict_paths_agree(data: Any, lines: SearchStrategy[bytes]) -> None:
    """Whatever the line, the fast paths accept only what the strict one accepts, with the same values."""
    line = data.draw(lines)
    assert outcome(decode_bot, line) == outcome(codec.decode_strict, line)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_is_decoded_is_json(data: Any, lines: SearchStrategy[bytes]) -> None:
    """An accepted line is JSON to the standard library too, and its answer has that value."""
    line = data.draw(lines)
    try:
        message = decode_bot(line)
    except WireError:
        return
    value = json.loads(line)
    assert value["type"] == message.type
    if isinstance(message, Answer):
        assert repr([message.id, message.action]) == repr([value["id"], value["action"]])
        assert list(message.then) == (value.get("then") or [])
        assert message.note == value.get("note")
        assert message.value == value.get("value")


@settings(max_examples=120, deadline=None)
@given(line=st.binary(max_size=80))
def test_bytes_of_any_kind_are_refused_in_order(line: bytes) -> None:
    """Random bytes raise nothing but the one error."""
    assert outcome(decode_bot, line)


SIZE = MAX_LINE
HOSTILE = {
    "open lists": b"[" * SIZE,
    "open objects": b'{"a":' * (SIZE // 5),
    "open actions": b'{"type":"act","id":1,"action":' + b'{"a":' * (SIZE // 6),
    "closed lists": b'{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "closing brackets": b"]" * SIZE,
    "brackets turned round": b"][" * (SIZE // 2),
    "shallow lists": b'{"type":"ready","x":[' + b"[]," * (SIZE // 4) + b"[]]}",
    "blanks": b" " * SIZE,
    "blanks in an answer": b'{"type":"act","id":1,' + b" " * (SIZE - 40) + b'"action":x}',
    "digits": b"9" * SIZE,
    "a long id": b'{"type":"act","id":' + b"1" * (SIZE - 40) + b',"action":0}',
    "a long fraction": b'{"type":"ready","x":0.' + b"1" * (SIZE - 40) + b"}",
    "a long exponent": b'{"type":"ready","x":1e' + b"0" * (SIZE - 40) + b"1}",
    "minus signs": b"-" * SIZE,
    "quotes": b'"' * SIZE,
    "escaped quotes": b'{"' + b'\\"' * (SIZE // 2 - 2) + b"[",
    "an open string after brackets": b"[" * 40 + b'"' + b'\\"' * (SIZE // 2 - 40),
    "backslashes": b'"' + b"\\" * (SIZE - 2),
    "escapes": b'{"type":"ready","x":"' + b"\\u0041" * (SIZE // 6 - 10) + b'"}',
    "colons": b":" * SIZE,
    "NULs": b"\0" * SIZE,
    "bytes that are no UTF-8": b"\xff" * SIZE,
    "many keys": b'{"type":"ready"' + b"".join(b',"%d":0' % n for n in range(6000)) + b"}",
    "equal keys": b'{"a":0' + b',"a":0' * (SIZE // 6 - 4) + b"}",
    "small objects": b'{"type":"act","id":1,"action":0,"then":[{}' + b",{}" * (SIZE // 3 - 20) + b"]}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_cost_linear_time(name: str) -> None:
    """64 KiB of anything are decoded or refused in milliseconds, without a RecursionError."""
    line = HOSTILE[name]
    assert len(line) <= SIZE
    spent = []
    for _ in range(3):  # the best of three: a busy machine may hold up any one of them
        begin = thread_time()
        outcome(decode_bot, line)
        spent.append(thread_time() - begin)
    assert min(spent) < 0.5  # quadratic time on this size is seconds at least


# What is sent ---------------------------------------------------------------------------------------------

START = Start(
    match="m1",
    game="aliens",
    rules=1,
    options={"max_turns": 10},
    seat=1,
    players=("a", "é"),
    seed="00ff",
    clock=Clock(move_s=1.0, bank_s=10.0, increment_s=0.1, start_s=10.0),
    setup={},
)
SENT = [
    Hello(referee="warpleague 0.1.0"),
    START,
    Act(17, "turn", Remaining(9.3, 1.0), 2, ({"event": "x"},), {"s": 1}, ({"do": "stay", "ship": "suns"},)),
    Act(1, "turn"),
    End({"ranks": [1, 2]}, ()),
    Fault("illegal", "no such action"),
    Quit(),
]


@pytest.mark.parametrize("message", SENT, ids=lambda message: type(message).__name__)
def test_referee_messages_survive_the_wire(
    message: Any, complain: Callable[[str, object], list[str]]
) -> None:
    """What the referee encodes is one line, fits the schema, and decodes to the same message."""
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert complain("referee", json.loads(line)) == []
    assert decode_referee(line[:-1]) == message


@pytest.mark.parametrize(
    "message",
    [
        Ready(),
        BotHello(1),
        BotHello(1, "x", "2", (), True),
        Answer(3, 0),
        Answer(3, {"do": "a"}, ({"do": "b"},), "n"),
    ],
    ids=repr,
)
def test_bot_messages_survive_the_wire(message: Any, complain: Callable[[str, object], list[str]]) -> None:
    """What a bot's side encodes fits the schema and decodes to the same message."""
    line = encode(message)
    assert complain("bot", json.loads(line)) == []
    assert decode_bot(line[:-1]) == message


@pytest.mark.parametrize("line", [b"", b"[]", b'{"type":"act"}', b'{"type":"ready"}', b"[" * 100_000])
def test_what_is_no_referee_message(line: bytes) -> None:
    """A line that is no message of the referee's is an error with a kind."""
    with pytest.raises(WireError):
        decode_referee(line)


@given(
    st.integers(0, 10**16),
    st.integers(0, 10**16),
    st.sampled_from([b"", b" ", b"0", b"\r", b"}", b',"then":[]']),
)
def test_an_index_is_decoded_as_any_answer_is(id: int, index: int, more: bytes) -> None:  # noqa: A002
    """The short way to an index finds what the full one does, or nothing; of another form it finds nothing."""
    head = b'{"type":"act","id":%d,"action":' % id
    usual = head + b"%d}" % index
    found = codec.decode_index(usual, id)
    assert found == (index if index < 1000 else None)
    if found is not None and id < 1 << 53:
        assert decode_bot(usual) == Answer(id, found)
    assert codec.decode_index(head + more + b"%d}" % index, id) is None or not more
    assert codec.decode_index(head + b"%d%b}" % (index, more), id) is None or more in (b"", b"0")
    assert codec.decode_index(usual, id + 1) is None


def test_a_question_in_full() -> None:
    """A question has its keys in the documented order, and only the parts that are given."""
    assert encode_act(17, "turn", 9.3, 1.0, None, b"[]", b"{}", b'[{"do":"stay","ship":"suns"}]') == (
        b'{"type":"act","id":17,"ask":"turn","clock":{"bank_s":9.3,"move_s":1.0},"events":[],"state":{},'
        b'"legal":[{"do":"stay","ship":"suns"}]}\n'
    )
    assert encode_act(1, "turn") == b'{"type":"act","id":1,"ask":"turn"}\n'
    assert encode_act(2, 'a"é', move_s=0.5, talk=8) == (
        '{"type":"act","id":2,"ask":"a\\"é","clock":{"move_s":0.5},"talk":8}\n'.encode()
    )


def test_a_line_holds_nothing_that_some_reader_ends_a_line_at() -> None:
    """Line ends of any kind are escaped, in what others said and in the text of a question; letters are not."""
    told = {"event": "said", "text": "a\u2028b\u2029\u2026é"}
    question = encode_act(1, "turn", None, None, 8, to_bytes([told]), to_bytes({"messages": [told]}), b"[]")
    end = encode(End(result={"why": "é"}, events=(told,)))
    for line in (question, end):
        assert len(line.decode().splitlines()) == 1
        assert rb"a\u2028b\u2029" + "\u2026é".encode() in line
    assert decode_referee(question[:-1]) == Act(1, "turn", None, 8, (told,), {"messages": [told]}, ())
    assert decode_referee(end[:-1]) == End({"why": "é"}, (told,))
    text = '1. say "no"\n2. \u2028 or \u2029 \u00e9'
    line = codec.with_texts(codec.encode_act(3, "turn", legal=b"[{}]"), text=text)
    assert json.loads(line) == {"type": "act", "id": 3, "ask": "turn", "legal": [{}], "text": text}
    assert len(line.decode().splitlines()) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (9.3, b"9.3"),
        (10, b"10.0"),
        (0, b"0.0"),
        (100.0, b"100.0"),
        (1e-7, b"0.0"),
        (0.1234567, b"0.123457"),
        (1e9, b"1000000000.0"),
    ],
)
def test_seconds_have_at_most_six_decimals(seconds: float, text: bytes) -> None:
    """Seconds are plain decimals, without exponents and without needless zeros."""
    assert (
        encode_act(1, "t", bank_s=seconds)
        == b'{"type":"act","id":1,"ask":"t","clock":{"bank_s":%b}}\n' % text
    )
    assert (
        encode_act(1, "t", move_s=seconds)
        == b'{"type":"act","id":1,"ask":"t","clock":{"move_s":%b}}\n' % text
    )


seconds = st.none() | st.floats(0, 1e6).map(lambda value: round(value, 6))


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, MAX_INT), st.text(max_size=5), seconds, seconds, st.none() | st.integers(0, 9), st.data()
)
def test_questions_decode_to_what_was_asked(
    number: int, ask: str, bank_s: float | None, move_s: float | None, talk: int | None, data: Any
) -> None:
    """Every combination of parts decodes to the same question."""
    events = data.draw(st.none() | st.lists(st.just({"event": "é"}), max_size=2))
    state = data.draw(st.none() | st.just({"s": [1]}))
    legal = data.draw(st.none() | st.lists(st.just({"do": "x"}), max_size=2))
    parts = (None if part is None else to_bytes(part) for part in (events, state, legal))
    found = decode_referee(encode_act(number, ask, bank_s, move_s, talk, *parts)[:-1])
    clock = None if bank_s is None and move_s is None else Remaining(bank_s, move_s)
    tuples = (None if part is None else tuple(part) for part in (events, legal))
    assert found == Act(number, ask, clock, talk, next(tuples), state, next(tuples))


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_canonical_is_what_python_writes(data: Any, json_values: SearchStrategy[Any]) -> None:
    """Canonical bytes are those of the standard library's encoder, floats included."""
    value = data.draw(json_values)
    expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    assert canonical(value) == expected.encode()


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, "\ud800"])
def test_canonical_refuses_what_has_no_form(value: object) -> None:
    """Numbers that are not finite and lone surrogates have no canonical form."""
    with pytest.raises(ValueError):  # noqa: PT011 - two subclasses
        canonical(value)


# Where lines end, however the bytes are cut, and what is too long.


def drain(buffer: LineBuffer) -> list[bytes]:
    """All complete lines that `buffer` holds."""
    lines = []
    while (line := buffer.next_line()) is not None:
        lines.append(line)
    return lines


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=6),
    st.binary(max_size=5).map(lambda rest: rest.replace(b"\n", b"")),
    st.lists(st.integers(0, 90), max_size=8),
    st.lists(st.booleans(), min_size=10, max_size=10),
)
def test_lines_come_out_as_they_went_in(
    lines: list[bytes], rest: bytes, cuts: list[int], drains: list[bool]
) -> None:
    """Cut anywhere, read at any time: the lines come out whole, in order, and the rest is held."""
    data = b"".join(line + b"\n" for line in lines) + rest
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    buffer = LineBuffer()
    found = []
    for begin, end, now in zip(places, places[1:], drains, strict=False):
        buffer.feed(data[begin:end])
        if now:
            found += drain(buffer)
    found += drain(buffer)
    assert found == lines
    assert len(buffer) == len(rest)
    assert buffer.peek(3) == rest[:3]


def test_where_lines_end() -> None:
    """At newlines alone; chunks are held until they are taken, and lines before one that is too long are delivered."""
    r"""`\r\n` ends a line whose last byte is `\r`, and a lone `\r` ends nothing."""
    buffer = LineBuffer()
    buffer.feed(b"a\r\nb\rc\n")
    assert drain(buffer) == [b"a\r", b"b\rc"]
    buffer = LineBuffer()
    buffer.feed(b"one\n")
    assert (len(buffer), buffer.peek()) == (4, b"one\n")
    buffer.feed(b"two\n")
    assert len(buffer) == 8
    assert drain(buffer) == [b"one", b"two"]
    assert len(buffer) == 0
    buffer = LineBuffer(limit=4)
    buffer.feed(b"one\nlonger\n")
    assert buffer.next_line() == b"one"
    with pytest.raises(LineTooLong, match="longer than 4 bytes"):
        buffer.next_line()
    buffer = LineBuffer(limit=4)
    buffer.feed(b"four")
    assert buffer.next_line() is None
    buffer.feed(b"\n")
    assert buffer.next_line() == b"four"


@pytest.mark.parametrize("cut", [1, 1000, MAX_LINE, MAX_LINE + 1, MAX_LINE + 2])
def test_the_longest_line_and_one_byte_more(cut: int) -> None:
    """A line of 64 KiB is a line; with one byte more it is too long, newline or not, and stays so."""
    longest = b"x" * MAX_LINE
    for data, good in ((longest + b"\n", True), (longest + b"x\n", False), (longest + b"x", False)):
        buffer = LineBuffer()
        buffer.feed(data[:cut])
        buffer.feed(data[cut:])
        if good:
            assert drain(buffer) == [longest]
        else:
            for _ in range(2):
                with pytest.raises(LineTooLong) as caught:
                    buffer.next_line()
                assert caught.value.head == b"x" * LineBuffer.HEAD
                assert caught.value.limit == MAX_LINE


@pytest.mark.parametrize("chunk", [1, 64 * 1024])
def test_cost_is_linear(chunk: int) -> None:
    """64 KiB in single bytes, or as 32768 lines at once, take a fraction of a second."""
    data = b"x" * (MAX_LINE - 1) + b"\n" if chunk == 1 else b"y\n" * (MAX_LINE // 2)
    spent = []
    for _ in range(3):  # the best of three: a busy machine may hold up any one of them
        buffer, found = LineBuffer(), []
        begin = thread_time()
        for at in range(0, len(data), chunk):
            buffer.feed(data[at : at + chunk])
            found += drain(buffer)
        spent.append(thread_time() - begin)
        assert b"".join(line + b"\n" for line in found) == data
    assert min(spent) < 1  # a scan from the start for each byte would take several
