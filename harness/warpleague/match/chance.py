"""The chance stream: the random numbers of a match, and the keys that they come from.

Engines decide what the numbers mean. Everything here is a pure function of its arguments, simple enough to be
written again in any language; `docs/reproduce.md` publishes test vectors.
"""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpleague.games.api import Rolled, Weights

KEY_BYTES = 32
_RANGE = 1 << 64


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


def deal_key(secret: bytes, deal: int) -> bytes:
    """The 32-byte match key of deal number `deal` (0, 1, ...) of a season."""
    return _derive(f"deal {deal}", secret)


def bot_seed(key: bytes, seat: int) -> str:
    """The hexadecimal seed of the bot in `seat`: it reveals nothing about the dice."""
    return _derive(f"bot {seat}", key).hex()


class ChanceStream:
    """The numbers of one match, in order, from its 32-byte key.

    The i-th number is the first 8 bytes, big-endian, of BLAKE2b(key, i as 8 bytes big-endian, digest size 32).
    """

    __slots__ = ("_counter", "_hash")

    def __init__(self, key: bytes) -> None:
        # A keyed hash object is copied for each number: this costs a third less than a new keyed hash.
        self._hash = blake2b(key=key, digest_size=32)
        self._counter = 0

    @property
    def used(self) -> int:
        """How many numbers have been taken, rejected ones included."""
        return self._counter

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

    def draw(self, weights: Weights) -> int:
        """One draw: uniform below an integer, or the index that a walk along the cumulative weights reaches."""
        if isinstance(weights, int):
            return self.below(weights)
        rest = self.below(sum(weights))
        for index, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return index
        raise AssertionError("a draw below the total lies within some weight")

    def roll(self, draws: tuple[Weights, ...]) -> Rolled:
        """One outcome index for each draw, in order."""
        return tuple([self.draw(weights) for weights in draws])
