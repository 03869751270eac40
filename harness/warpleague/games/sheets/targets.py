"""The clicks that take an action of sheets: the die, then the edge, number, circle or box it is used for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.sheets.actions import Blue, FreeLine, Keep, Line, Red, Reroll, Take, Yellow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.sheets.actions import Action
    from warpleague.games.sheets.state import State


def targets(state: State, action: Action) -> Sequence[str]:
    """The ids of the scene; none for a pass."""
    seat = state.actor
    if isinstance(action, Keep):
        return f"unit-{action.unit}", f"unit-{action.discard}"
    if isinstance(action, Line):
        return "unit-white", f"edge-{seat}-{action.edge}"
    if isinstance(action, FreeLine):
        return (f"edge-{seat}-{action.edge}",)
    if isinstance(action, Yellow):
        return f"unit-{action.unit}", f"yellow-{seat}-{action.cell}"
    if isinstance(action, Red):
        return (f"unit-{action.unit}", f"red-{seat}-{action.value}", *_box(seat, action.box))
    if isinstance(action, Blue):
        blue = state.sheets[seat].blue
        # Written into the next circle, or crossed out where the value stands.
        circle = len(blue) if action.box is None else blue.index(action.value)
        return (f"unit-{action.unit}", f"blue-{seat}-{circle}", *_box(seat, action.box))
    if isinstance(action, Take):
        return (f"unit-{action.unit}",)
    return (f"reroll-{seat}-0",) if isinstance(action, Reroll) else ()


def _box(seat: int, box: int | None) -> Sequence[str]:
    return () if box is None else (f"box-{seat}-{box}",)
