"""Puts the names of players into a game's texts about seats, as the pages do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.report.wording.match_words import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.scene import Scene

_SEAT: Final = r"(?:seat|owner) (?P<seat>\d+)"


class SeatNames:
    """The names of the players of a match by seat; `roles` are other words of the game for seats.

    Players with the same name get their seat's number after it.
    """

    def __init__(self, names: Sequence[str], roles: Sequence[str] = ()) -> None:
        self._names = labels(names)
        self._roles = {role.casefold(): name for role, name in zip(roles, self._names, strict=False)}
        any_of = [_SEAT, *(re.escape(role) for role in roles)]
        self._called = re.compile(rf"(?<!\w)(?:{'|'.join(any_of)})(?!\w)", re.IGNORECASE)

    def say(self, text: str) -> str:
        """The text with the names in it."""
        return self._called.sub(self._name, text)

    def _name(self, found: re.Match[str]) -> str:
        if found["seat"] is None:
            return self._roles[found[0].casefold()]
        seat = int(found["seat"])
        return self._names[seat] if seat < len(self._names) else found[0]

    def on(self, scene: Scene) -> Scene:
        """The scene with the names in its caption and panels; the titles of these keep the roles beside the names."""
        panels = [
            attrs.evolve(panel, title=self._title(panel.title), lines=tuple(map(self.say, panel.lines)))
            for panel in scene.panels
        ]
        return attrs.evolve(scene, caption=self.say(scene.caption), panels=tuple(panels))

    def _title(self, title: str) -> str:
        def with_role(found: re.Match[str]) -> str:
            return self._name(found) if found["seat"] else f"{self._name(found)} ({found[0]})"

        return self._called.sub(with_role, title)
