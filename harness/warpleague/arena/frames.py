"""What a page is told of a match that goes on: in words, and as pictures of which only the differences are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from warpleague.report.site.delta import diff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene

LOG: Final = 60
"""How many frames before the present a page is told in words when it opens."""
MOST_PICTURES: Final = 60
"""Of more frames at once a page is told only the last ones' pictures."""


@attrs.frozen
class Frame:
    """A position as one viewer sees it, None where it is too old for a picture, and what led there in words."""

    told: tuple[str, ...]
    scene: Scene | None


def new_frames(
    frames: Sequence[Frame], sent: int, shown: Scene | None, before: int = 0, *, all_pictures: bool = False
) -> tuple[list[JsonObject], Scene | None]:
    """The frames from number `sent` on, as what differs from the scene `shown` before; and the last scene.

    A page that opens gets the last picture, and in words what came before; with `all_pictures` all that there are. The
    first of `frames` has the number `before`: those before it are forgotten.
    """
    count = before + len(frames)
    first = sent == 0 and count > 1 and not all_pictures
    start = max(sent, count - LOG if first else sent, before)
    told: list[JsonObject] = []
    for number in range(start, count):
        frame = frames[number - before]
        entry: JsonObject = {"told": list(frame.told)}
        pictured = number == count - 1 if first else number >= count - MOST_PICTURES
        if pictured and frame.scene is not None:
            entry["scene"] = diff(shown, frame.scene)
            shown = frame.scene
        told.append(entry)
    return told, shown
