"""The dice against published vectors, and against a second implementation written from the words alone."""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from hashlib import blake2b, sha256
from itertools import count
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from warpleague.match.chance import (
    ChanceStream,
    Dice,
    beacon_secret,
    bot_seed,
    deal_key,
    match_key,
    season_commitment,
    season_secret,
)

VECTORS = json.loads((Path(__file__).parents[2] / "protocol" / "conformance" / "chance.json").read_text())


def plain(of: list[int | list[int]]) -> tuple[int | tuple[int, ...], ...]:
    return tuple(tuple(draw) if isinstance(draw, list) else draw for draw in of)


def test_published_keys() -> None:
    """Keys, commitments and bot seeds are those published for other implementations."""
    for vector in VECTORS["match_keys"]:
        assert match_key(vector["seed"]).hex() == vector["key"]
    for season in VECTORS["seasons"]:
        secret = season_secret(season["seed"])
        assert secret.hex() == season["secret"]
        assert season_commitment(secret) == season["commitment"]
        for deal in season["deals"]:
            assert deal_key(secret, deal["deal"]).hex() == deal["key"]
    for vector in VECTORS["beacons"]:
        assert beacon_secret(bytes.fromhex(vector["secret"]), vector["value"]).hex() == vector["result"]
    for vector in VECTORS["bot_seeds"]:
        assert bot_seed(bytes.fromhex(vector["key"]), vector["seat"]) == vector["seed"]


def test_published_addresses() -> None:
    """The numbers of an address, and what a roll there shows, are those published for other implementations."""
    for vector in VECTORS["addresses"]:
        dice = Dice(bytes.fromhex(vector["key"]))
        assert dice.roll(vector["at"], plain(vector["of"])) == tuple(vector["outcome"])
        # A draw below 2^128 shows the number itself.
        assert [str(number) for number in dice.roll(vector["at"], (2**128,) * 5)] == vector["numbers"]


def numbers(key: bytes) -> Iterator[int]:
    """The stream's 64-bit numbers, from the definition."""
    for index in count():
        digest = blake2b(index.to_bytes(8, "big"), key=key, digest_size=32).digest()
        yield int.from_bytes(digest[:8], "big")


rolls = st.lists(
    st.integers(1, 50) | st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any).map(tuple),
    min_size=1,
    max_size=8,
)


def slow_outcome(key: bytes, at: str, place: int, draw: int | tuple[int, ...]) -> int:
    """A draw from the definition, in exact fractions of the interval from 0 to 1."""
    block = blake2b(f"{at} {place // 4}".encode(), key=key, digest_size=64).digest()
    where = Fraction(int.from_bytes(block[16 * (place % 4) :][:16], "big"), 2**128)
    weights = (1,) * draw if isinstance(draw, int) else draw
    return next(i for i in range(len(weights)) if where < Fraction(sum(weights[: i + 1]), sum(weights)))


@given(key=st.binary(min_size=32, max_size=32), addresses=st.lists(st.text("ab# 1", max_size=4)), roll=rolls)
def test_an_address_decides_its_roll_alone(
    key: bytes, addresses: list[str], roll: list[int | tuple[int, ...]]
) -> None:
    """Rolls follow from key and address as defined, in any order; no address comes twice in a match."""
    dice = Dice(key)
    places = [dice.at(address) for address in addresses]
    assert len(set(places)) == len(places)
    for at in reversed(places):
        assert at is not None
        found = Dice(key).roll(at, tuple(roll))
        assert found == tuple(slow_outcome(key, at, place, draw) for place, draw in enumerate(roll))


def test_draws_of_an_address_differ_and_are_even() -> None:
    """Each of six outcomes comes up a sixth of the time, at every place of a roll and over many addresses."""
    dice = Dice(bytes(32))
    shown = [dice.roll(dice.at(f"seat {i}"), (6,) * 9) for i in range(3000)]
    for place in range(9):
        counts = Counter(outcome[place] for outcome in shown)
        assert sum((counts[k] - 500) ** 2 / 500 for k in range(6)) < 25  # chi-squared, 5 degrees: 1 in 7,000
    assert len(set(shown)) > 2990


def test_rejected_numbers_are_used_up() -> None:
    """A number that would favour low remainders is skipped, and counts as used."""
    key = match_key("wormhole")
    n = 2**63 + 1  # rejects nearly half of all numbers
    stream, kept = ChanceStream(key), [value for value, _ in zip(numbers(key), range(40), strict=False)]
    for value in [value for value in kept if value < n][:10]:
        assert stream.below(n) == value


def test_no_dice_follow_from_a_bots_seed() -> None:
    """What a bot is told is another derivation than any key: none of its bytes feeds the stream."""
    key = match_key("wormhole")
    assert bytes.fromhex(bot_seed(key, 0)) != key
    dice = Dice(key).roll("seat 0#1", (2**32,) * 4)
    assert Dice(bytes.fromhex(bot_seed(key, 0))).roll("seat 0#1", (2**32,) * 4) != dice
    assert bot_seed(key, 0) != bot_seed(key, 1)


def test_commitment_is_the_secrets_sha256() -> None:
    """Anyone can check the published hash with a tool at hand."""
    secret = season_secret("x")
    assert season_commitment(secret) == sha256(secret).hexdigest()
