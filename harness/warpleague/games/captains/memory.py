"""Public knowledge of a seat's hand: cards taken in the open, and what drawn cards cannot be.

A hand is the cards known for sure and hidden ones. Each card drawn from the deck fills a slot, which carries
the planets it cannot be: the planet it was drawn at (captains T7) and every planet delivered to since, since a
delivery takes all cards of its planet (captains T6). When a hidden card leaves in the open, it may not be
clear which slot it filled; then the slot stays, with a note that one of certain slots is spent. Hidden cards
are possible exactly when they and the spent ones can be matched to the slots. This is all that a perfect
memory can deduce from the events.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.games.values import Cache, members

if TYPE_CHECKING:
    from collections.abc import Sequence


@attrs.define
class Known:
    """Public knowledge of one hand.

    `sure` counts, by planet, cards taken from the Docks and not yet played. `slots` holds for each card drawn from
    the deck a bit mask of the planets it cannot be. `spent` holds for each such card that has left, but could
    not be pinned to a slot, its planet and a bit mask of the slots it may have filled.
    """

    sure: tuple[int, ...]
    slots: tuple[int, ...] = ()
    spent: tuple[tuple[int, int], ...] = ()

    @property
    def hidden(self) -> int:
        """How many cards of the hand are hidden."""
        return len(self.slots) - len(self.spent)

    def drawn(self, not_planet: int) -> Known:
        """After a hidden card came in; it is not of `not_planet` (-1: it may be of any)."""
        mask = 1 << not_planet if not_planet >= 0 else 0
        return Known(self.sure, (*self.slots, mask), self.spent)

    def taken(self, planet: int) -> Known:
        """After a card of `planet` was taken from the Docks."""
        sure = self.sure
        return Known((*sure[:planet], sure[planet] + 1, *sure[planet + 1 :]), self.slots, self.spent)

    def left(self, planet: int, cards: int, none_remain: bool) -> Known:
        """After `cards` cards of `planet` left in the open; `none_remain` when those were all of them."""
        sure, slots, spent = self.sure, self.slots, self.spent
        open_cards = min(cards, sure[planet])
        if open_cards:
            sure = (*sure[:planet], sure[planet] - open_cards, *sure[planet + 1 :])
        for _ in range(cards - open_cards):
            could = _fitting(slots, planet)
            slots, spent = _settle(slots, (*spent, (planet, could)))
        if none_remain:
            slots, spent = _settle(tuple(mask | 1 << planet for mask in slots), spent)
        return Known(sure, slots, spent)

    def allows(self, hidden: Sequence[int]) -> bool:
        """Whether the hidden cards may be `hidden`, a list of planets; it may hold fewer than there are."""
        slots = self.slots
        fits = [could for _, could in self.spent]
        fits += [_fitting(slots, planet) for planet in hidden]
        filled: dict[int, int] = {}

        def seat(card: int, tried: list[int]) -> bool:  # an augmenting path of a bipartite matching
            for slot in range(len(slots)):
                bit = 1 << slot
                if fits[card] & bit and not tried[0] & bit:
                    tried[0] |= bit
                    if slot not in filled or seat(filled[slot], tried):
                        filled[slot] = card
                        return True
            return False

        return all(seat(card, [0]) for card in range(len(fits)))


def _fitting(slots: tuple[int, ...], planet: int) -> int:
    """Bit mask of the slots that a card of `planet` can fill."""
    fitting, bit = 0, 1
    for mask in slots:
        if not mask >> planet & 1:
            fitting |= bit
        bit <<= 1
    return fitting


_SLOTS: Final[Cache[int, list[int]]] = Cache(members)
"""The slots of a bit mask."""


@lru_cache(maxsize=4096)
def _settle(
    slots: tuple[int, ...], spent: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The same knowledge with spent cards pinned to slots, and both dropped, where that loses nothing.

    Of the slots a spent card may have filled, one that is at most as useful as every other (it excludes all
    that the other does, and no further spent card may have filled it but not the other) can be taken: in any
    matching that uses another the two can be swapped.
    """
    if len(slots) == len(spent):
        return (), ()
    pinned = 0
    while pinned >= 0:
        pinned = -1
        for card, (_, could) in enumerate(spent):
            excluded = wanted = 0
            options = _SLOTS[could]
            for i in options:
                excluded |= slots[i]
            for _, other in spent:
                if could & ~other:
                    wanted |= other
            for i in options:
                if slots[i] == excluded and not wanted >> i & 1:
                    pinned = i
                    break
            if pinned >= 0:
                low = (1 << pinned) - 1
                slots = slots[:pinned] + slots[pinned + 1 :]
                rest = spent[:card] + spent[card + 1 :]
                spent = tuple([(planet, other & low | (other >> 1) & ~low) for planet, other in rest])
                break
    return slots, spent
