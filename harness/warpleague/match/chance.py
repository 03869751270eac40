"""The dice of a match: its random numbers, and the keys that they come from.

Engines decide what the numbers mean. Everything here follows from its arguments alone, and is simple enough to be
written again in any language; `docs/reproduce.md` publishes test vectors.
"""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import Rolled, Weights

KEY_BYTES = 32
_RANGE = 1 << 64
_NUMBER_BYTES = 16
"""With 16 bytes the outcomes of a draw below 2^53 differ in likelihood by less than 1 in 2^75."""
_BITS = 8 * _NUMBER_BYTES
_NUMBERS = 4  # of each block


def _derive(data: str, key: bytes = b"") -> bytes:
    return blake2b(data.encode(), key=key, digest_size=KEY_BYTES).digest()


def match_key(text: str) -> bytes:
    """The 32-byte key of a single match whose `--seed` is `text`."""
    return _derive("warpleague match " + text)


def season_secret(text: str) -> bytes:
    """The 32-byte secret of a season whose configured seed is `text`."""
    return _derive("warpleague season " + text)


def season_commitment(secret: bytes) -> str:
    """The hexadecimal SHA-256 of a season's secret, published before the first match."""
    return sha256(secret).hexdigest()


def beacon_secret(secret: bytes, value: str) -> bytes:
    """The 32 bytes all deals come from in a season whose beacon had `value`."""
    return _derive("beacon " + value, secret)


def deal_key(secret: bytes, deal: int, attempt: int = 0) -> bytes:
    """The 32-byte match key of deal number `deal` (0, 1, ...) of a season; a void match has a later `attempt`."""
    return _derive(f"deal {deal} attempt {attempt}" if attempt else f"deal {deal}", secret)


def bot_seed(key: bytes, seat: int) -> str:
    """The hexadecimal seed of the bot in `seat`: it reveals nothing about the dice."""
    return _derive(f"bot {seat}", key).hex()


class Dice:
    """The dice of one match, from its 32-byte key.

    Every roll has an address, `at`: what the game says that it is for, and which roll for that it is. Its numbers
    follow from key and address, not from the rolls before it.
    `rolled` is how many rolls each address had before, in the match that this one branches off from.
    """

    __slots__ = ("_hash", "_key", "_rolls")

    def __init__(self, key: bytes, rolled: Mapping[str, int] | None = None) -> None:
        self._key = key
        self._rolls: dict[str, int] = dict(rolled or {})
        # A keyed hash object is copied for each roll: this costs less than a new keyed hash.
        self._hash = blake2b(key=key, digest_size=_NUMBERS * _NUMBER_BYTES)

    def __reduce__(self) -> tuple[type[Dice], tuple[bytes, dict[str, int]]]:
        # Copies and pickles are made anew, as a hash object cannot be pickled: they roll on alike.
        return type(self), (self._key, self._rolls)

    def at(self, address: str) -> str:
        """The address of the roll that comes now: the game's, and its number there."""
        number = self._rolls[address] = self._rolls.get(address, 0) + 1
        return f"{address}#{number}"

    def roll(self, at: str, draws: tuple[Weights, ...]) -> Rolled:
        """One outcome index for each draw, in order; `at` as the method of this name gave it."""
        numbers = b""
        for block in range(-(-len(draws) // _NUMBERS)):
            hasher = self._hash.copy()
            hasher.update(f"{at} {block}".encode())
            numbers += hasher.digest()
        return _outcome(numbers, draws)


def _outcome(numbers: bytes, draws: tuple[Weights, ...]) -> Rolled:
    """The outcomes of the draws, from `_NUMBER_BYTES` of numbers each."""
    outcome = []
    for place, weights in enumerate(draws):
        start = place * _NUMBER_BYTES
        number = int.from_bytes(numbers[start : start + _NUMBER_BYTES], "big")
        if isinstance(weights, int):
            outcome.append(number * weights >> _BITS)
        else:
            outcome.append(_index_at(number * sum(weights) >> _BITS, weights))
    return tuple(outcome)


def _index_at(rest: int, weights: tuple[int, ...]) -> int:
    """The index that a walk along the cumulative weights reaches after `rest`, which is below their sum."""
    for index, weight in enumerate(weights):
        rest -= weight
        if rest < 0:
            return index
    raise AssertionError("a draw below the total lies within some weight")


class ChanceStream:
    """Numbers in order, from a 32-byte key: what a schedule draws comes from them.

    The i-th number is the first 8 bytes, big-endian, of BLAKE2b(key, i as 8 bytes big-endian, digest size 32).
    """

    __slots__ = ("_counter", "_hash")

    def __init__(self, key: bytes) -> None:
        # A keyed hash object is copied for each number: this costs a third less than a new keyed hash.
        self._hash = blake2b(key=key, digest_size=32)
        self._counter = 0

    def number(self) -> int:
        """The next 64-bit number."""
        hasher = self._hash.copy()
        hasher.update(self._counter.to_bytes(8, "big"))
        self._counter += 1
        return int.from_bytes(hasher.digest()[:8], "big")

    def below(self, n: int) -> int:
        """A uniform draw from 0 to n - 1: numbers that would favour the low remainders are rejected."""
        limit = _RANGE - _RANGE % n
        while True:
            number = self.number()
            if number < limit:
                return number % n
