"""Where lines end, however the bytes are cut, and what is too long."""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpline.codec import LineBuffer, LineTooLong
from warpline.limits import MAX_LINE


def drain(buffer: LineBuffer) -> list[bytes]:
    """All complete lines that `buffer` holds."""
    lines = []
    while (line := buffer.next_line()) is not None:
        lines.append(line)
    return lines


@settings(max_examples=300, deadline=None)
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


def test_a_carriage_return_stays_in_the_line() -> None:
    r"""`\r\n` ends a line whose last byte is `\r`, and a lone `\r` ends nothing."""
    buffer = LineBuffer()
    buffer.feed(b"a\r\nb\rc\n")
    assert drain(buffer) == [b"a\r", b"b\rc"]


def test_a_second_chunk_before_the_first_line_is_taken() -> None:
    """Two chunks of one line each, fed before either is taken, are two lines; both are held until then."""
    buffer = LineBuffer()
    buffer.feed(b"one\n")
    assert (len(buffer), buffer.peek()) == (4, b"one\n")
    buffer.feed(b"two\n")
    assert len(buffer) == 8
    assert drain(buffer) == [b"one", b"two"]
    assert len(buffer) == 0


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


def test_lines_before_one_that_is_too_long_are_delivered() -> None:
    """What came in order before the flood counts."""
    buffer = LineBuffer(limit=4)
    buffer.feed(b"one\nlonger\n")
    assert buffer.next_line() == b"one"
    with pytest.raises(LineTooLong, match="longer than 4 bytes"):
        buffer.next_line()


def test_an_unfinished_line_of_full_length_waits_for_its_end() -> None:
    """64 KiB without a newline are not yet too long."""
    buffer = LineBuffer(limit=4)
    buffer.feed(b"four")
    assert buffer.next_line() is None
    buffer.feed(b"\n")
    assert buffer.next_line() == b"four"


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
