"""The frames of a match that a page shows during the match: words, and pictures sent as differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from warpleague.report.site.delta import diff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject
    from warpleague.games.scene import Scene

LOG_FRAMES: Final = 60
"""The number of last frames that a newly opened page gets in words."""
MAX_PICTURES: Final = 60
"""When there are more new frames than this, a page gets the pictures of the last ones only."""


@attrs.frozen
class Frame:
    """A position as one viewer sees it, and in words what led to it; `scene` is None if no picture was made."""

    words: tuple[str, ...]
    scene: Scene | None


def new_frames(
    frames: Sequence[Frame], sent: int, shown: Scene | None, before: int = 0, *, all_pictures: bool = False
) -> tuple[list[JsonObject], Scene | None]:
    """The frames from number `sent` on, each as the difference from the scene `shown` before, and the last scene.

    A page that opens (`sent` is 0) gets the last frame as a picture and the frames before it in words; with
    `all_pictures` it gets every picture. `before` is the number of the first of `frames`: older ones were dropped.
    """
    count = before + len(frames)
    first = sent == 0 and count > 1 and not all_pictures
    start = max(sent, count - LOG_FRAMES if first else sent, before)
    new: list[JsonObject] = []
    for number in range(start, count):
        frame = frames[number - before]
        entry: JsonObject = {"told": list(frame.words)}
        pictured = number == count - 1 if first else number >= count - MAX_PICTURES
        if pictured and frame.scene is not None:
            entry["scene"] = diff(shown, frame.scene)
            shown = frame.scene
        new.append(entry)
    return new, shown
