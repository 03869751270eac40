"""A sitting: the same players play one match after the other, and each person sees what its seat may know.

A page or a terminal shows it, and waits for changes by its `Broadcast`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import trio

from warpleague.arena.live.broadcast import Broadcast
from warpleague.arena.live.frames import Frame
from warpleague.arena.play.seat import PersonSeat
from warpleague.games import load_game
from warpleague.match.setup import first_state, load_options
from warpleague.runner.play import play_beside
from warpleague.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import Event
    from warpleague.match.spec import MatchResult, MatchSpec, SeatFault


@attrs.define
class Played:
    """One match of a sitting: its conditions, the frames that each person has seen, and its result.

    `faults` has the last fault of each seat that has one.
    """

    spec: MatchSpec
    persons: dict[int, PersonSeat]
    frames: dict[int, list[Frame]]
    result: MatchResult | None = None
    faults: dict[int, SeatFault] = attrs.field(factory=dict)


class Sitting:
    """The matches of a sitting; `spec_of` makes the match with a number from 0, `ended` is called after each.

    With a `timed` clock persons must keep the match's clock as bots must.
    """

    def __init__(
        self,
        spec_of: Callable[[int], MatchSpec],
        ended: Callable[[MatchSpec, MatchResult], None] | None = None,
        *,
        timed: bool = False,
    ) -> None:
        self.news = Broadcast()
        self.matches: list[Played] = []
        self.over = False
        self._spec_of = spec_of
        self._ended = ended
        self._timed = timed
        self._again = trio.Event()
        self._left = False
        first = spec_of(0)
        self.game = load_game(first.game)

    @property
    def now(self) -> Played:
        """The match that is played, or was the last."""
        return self.matches[-1]

    async def run(self) -> None:
        """Play matches until nobody wants another one."""
        while not self._left:
            self._again = trio.Event()
            await self._play(self._spec_of(len(self.matches)))
            self.news.notify()
            await self._again.wait()
        self.over = True
        self.news.notify()

    async def _play(self, spec: MatchSpec) -> None:
        persons = {
            number: PersonSeat(self.game, number, seat, self.news.notify, timed=self._timed)
            for number, seat in enumerate(spec.seats)
            if seat.kind == "person"
        }
        played = Played(spec, persons, {number: [] for number in persons})
        self.matches.append(played)

        def observe(state: Any, events: Sequence[Event]) -> None:
            for number, frames in played.frames.items():
                self._see(frames, number, state, events)
            self.news.notify()

        def observe_fault(number: int, fault: SeatFault) -> None:
            played.faults[number] = fault

        options = load_options(self.game, len(spec.seats), spec.options)
        observe(first_state(self.game, len(spec.seats), options, spec.position), ())
        played.result = await play_beside(
            spec, observer=observe, fault_observer=observe_fault, present=persons
        )
        if self._ended is not None:
            self._ended(spec, played.result)

    def _see(self, frames: list[Frame], number: int, state: Any, events: Sequence[Event]) -> None:
        """Add the view of seat `number` of a step, if it sees anything of it."""
        seen = [data for event in events if (data := event.seen_by(number)) is not None]
        words = tuple(safe(self.game.tell(data), keep="") for data in seen)
        scene = self.game.scene(state, number)
        if words or not frames or scene != frames[-1].scene:
            frames.append(Frame(words, scene))

    def rematch(self) -> None:
        """Play another match, once this one has ended."""
        if self.now.result is not None:
            self._again.set()

    def leave(self) -> None:
        """End the sitting; all persons leave the current match."""
        self._left = True
        for person in self.now.persons.values():
            if self.now.result is None:
                person.resign()
        self._again.set()
