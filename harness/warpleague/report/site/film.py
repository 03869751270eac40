"""Draws a match, or a part of it, as an animated SVG file that needs nothing else: one picture after the other.

What several pictures have in common is in the file once, and is shown while they are (SMIL: `animate` of
`visibility`). The pictures are those of `picture`, with what changed marked and a sentence that says what happened.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from warpleague.errors import BadInput
from warpleague.report.site.picture import around, draw, heading, heading_parts, joined, rect, svg, text_size
from warpleague.report.wording.match_words import labels, one_line, outcome
from warpleague.report.wording.seat_names import SeatNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.scene import Scene
    from warpleague.match.replay import Replay, ReplayStep
    from warpleague.report.site.picture import Part

MAX_PICTURES: Final = 400
_TOLD_LINES: Final = 3
_LAST_TIMES: Final = 3
"""How many times as long as the others the last picture is shown."""

_BROAD: Final = 0.62
"""The mean width of a letter, by the height of the text."""


@attrs.frozen
class Shot:
    """One picture of a film: the position, what led to it in one sentence, and who did that, if it was one seat."""

    scene: Scene
    told: str
    seat: int | None


def shots(
    replay: Replay, seat: int | None, first: int, last: int, *, by_step: bool = False
) -> tuple[list[str], list[Shot]]:
    """The names of the bots, and the pictures of lines `first` to `last`: one for each turn or, `by_step`, each line.

    They show what the bot at `seat` knew (None: everything). The whole record is verified on the way; `RecordError` if
    it does not hold, `BadInput` if there is nothing to show, or too much.
    """
    names = labels([one_line(player["bot"]) for player in replay.header["seats"]])
    steps = list(replay)
    turns = _turns(replay, steps)
    stops = [
        n
        for n in range(first, last + 1)
        if by_step or n in (first, last) or turns[n] != turns[min(n + 1, len(turns) - 1)]
    ]
    if len(stops) > MAX_PICTURES:
        less = "leave out --steps, or " if by_step else ""
        raise BadInput(
            f"the film would have {len(stops)} pictures, and at most {MAX_PICTURES} are possible: "
            f"{less}choose a part by --from and --to"
        )
    end = msgspec.json.decode(replay.lines[-1])
    result = outcome(names, end["ranks"], end["scores"], end.get("rival"), end["why"])
    made: list[Shot] = []
    told: list[str] = []

    def shoot(n: int, state: Any) -> None:
        scene = replay.game.scene(state, seat)
        owner = turns[n][1] if n else None
        said = _sentence([one_line(SeatNames(names, scene.roles).say(text)) for text in told], names)
        if owner is not None and said and names[owner] not in said:
            said = f"{names[owner]}: {said}"
        if n == len(turns) - 1:
            said = f"{result}. {said}"
        made.append(Shot(scene, said or "The match begins.", owner))
        told.clear()

    wanted = frozenset(stops)
    if 0 in wanted:
        shoot(0, replay.first)
    for n, step in enumerate(steps, 1):
        if first <= n <= last:
            told += _told(replay, step, seat)
        if n in wanted:
            shoot(n, step.state)
    if not any(shot.scene.cells for shot in made):
        raise BadInput("the game draws no board there; `replay show` prints the match as text")
    return names, made


def _turns(replay: Replay, steps: Sequence[ReplayStep]) -> list[tuple[int, int | None]]:
    """For each line the number of its turn and whose it is, as the scene before it says, as in `assets/turns.js`.

    Where a game does not say whose turn it is, a turn is all that one seat does in a row.
    """
    known = [replay.game.scene(replay.first, None).turn]
    actors: list[int | None] = [None]
    for step in steps:
        known.append(replay.game.scene(step.state, None).turn)
        actors.append(step.data.get("seat"))
    if any(known):
        return [known[0] or (0, None), *(turn or (0, None) for turn in known[:-1])]
    after: int | None = None
    for n in range(len(actors) - 1, -1, -1):
        actors[n] = after = after if actors[n] is None else actors[n]
    return [(0, actor) for actor in actors]


def _told(replay: Replay, step: ReplayStep, seat: int | None) -> list[str]:
    """What happened in a line, as far as `seat` saw it."""
    seen = [event.data if seat is None else event.seen_by(seat) for event in step.events]
    return [replay.game.tell(data) for data in seen if data is not None]


def _sentence(told: Sequence[str], names: Sequence[str]) -> str:
    """What was told as one sentence; a bot that goes on is not named again."""
    clauses, whose = [], None
    for text in told:
        name = next((name for name in names if text.startswith(f"{name} ")), None)
        clauses.append(text[len(name) + 1 :] if name and name == whose else text)
        whose = name or whose
    return "; ".join(clauses)


def film(names: Sequence[str], shown: Sequence[Shot], pause_s: float) -> bytes:
    """The SVG of pictures of the bots `names`, each shown for `pause_s` seconds and the last one longer, for ever."""
    befores = [None, *(shot.scene for shot in shown)]
    drawn = [draw(shot.scene, names, before) for shot, before in zip(shown, befores, strict=False)]
    left, top = min(one.box[0] for one in drawn), min(one.box[1] for one in drawn)
    right = max(one.box[0] + one.box[2] for one in drawn)
    bottom = max(one.box[1] + one.box[3] for one in drawn)
    inside = (left, top, right - left, bottom - top)
    size = text_size(inside)
    above = [heading(shot.scene, names) for shot in shown]
    box = around(inside, len(above[0]) + _TOLD_LINES)
    across = int(box[2] / size / _BROAD) - 2
    # Which elements each picture has: bit n stands for picture n.
    marks: dict[tuple[str, ...], dict[str, int]] = {}
    for n, (shot, one) in enumerate(zip(shown, drawn, strict=True)):
        style = "" if shot.seat is None else f" seat-{shot.seat % 10}"
        told = wrap(shot.told, across, max_lines=_TOLD_LINES, placeholder=" …", break_on_hyphens=False)
        lines = [*above[n], *((line, style) for line in told)]
        for path, element in [*heading_parts(lines, box, size), *one.parts]:
            here = marks.setdefault(path, {})
            here[element] = here.get(element, 0) | 1 << n
    times = [round(n / (len(shown) - 1 + _LAST_TIMES), 6) for n in range(len(shown))]
    timing = (
        f'dur="{pause_s * (len(shown) - 1 + _LAST_TIMES):g}s" calcMode="discrete" repeatCount="indefinite"'
        if len(shown) > 1
        else ""
    )
    parts: list[Part] = []
    for path, elements in marks.items():
        groups: dict[int, list[str]] = {}
        for element, mark in elements.items():
            groups.setdefault(mark, []).append(element)
        for mark, alike in groups.items():
            path_now = path if mark + 1 == 1 << len(shown) else (*path, _shown(mark, times, timing))
            parts += [(path_now, element) for element in alike]
    low = box[1] + box[3] - _THICK
    share = [round(box[2] * n / max(1, len(shown) - 1), 1) for n in range(len(shown))]
    grows = f'<animate attributeName="width" values="{_list(share)}" keyTimes="{_list(times)}" {timing}/>'
    progress = rect("progress", box[0], low, 0, _THICK, grows) if timing else ""
    return svg(joined(parts) + progress, box, f"{' – '.join(names)}: a film of {len(shown)} pictures")


_THICK: Final = 4.0
"""The height of the line that shows how far the film is."""


def _shown(mark: int, times: Sequence[float], timing: str) -> str:
    """The opening tag of a group that is seen in the pictures of which `mark` has the bits."""
    words = ["visible" if mark >> n & 1 else "hidden" for n in range(len(times))]
    turns = [n for n in range(len(words)) if n == 0 or words[n] != words[n - 1]]
    values, keys = ";".join(words[n] for n in turns), _list([times[n] for n in turns])
    return (
        f'<g visibility="{words[0]}">'
        f'<animate attributeName="visibility" values="{values}" keyTimes="{keys}" {timing}/>'
    )


def _list(values: Sequence[float]) -> str:
    return ";".join(f"{value:g}" for value in values)
