"""The wishes of the bots of a match, and the events that wait for the next question to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from warpleague.games.api import Event


class Audience:
    """The wishes of each seat for its questions (`state`, `legal`, `text`, `events`), and its events, as JSON."""

    __slots__ = ("_inboxes", "_listeners", "bare", "events", "legal", "listening", "state", "text")

    def __init__(self, seats: int) -> None:
        self.state = [False] * seats
        self.legal = [False] * seats
        self.text = [False] * seats
        self.events = [True] * seats
        self.bare = [False] * seats
        """Who wants nothing but the question itself."""
        self.listening = True
        """Whether anyone may want events."""
        self._inboxes: list[list[bytes] | None] = [[] for _ in range(seats)]
        self._listeners = [(seat, inbox) for seat, inbox in enumerate(self._inboxes) if inbox is not None]

    def connect(self, seat: int, wants: Collection[str]) -> None:
        """Note which messages the bot of `seat` wants."""
        self.state[seat] = "state" in wants
        self.legal[seat] = "legal" in wants
        self.text[seat] = "text" in wants
        self.events[seat] = "events" in wants
        if not self.events[seat] and not self.text[seat]:
            self.leave(seat)
            self.bare[seat] = not wants

    def leave(self, seat: int) -> None:
        """Tell `seat` of no events any more."""
        self._inboxes[seat] = None
        self._listeners = [(other, inbox) for other, inbox in self._listeners if other != seat]
        self.listening = bool(self._listeners)

    def tell(self, events: Sequence[Event]) -> None:
        """Keep events for those who want them, in the form that each sees."""
        listeners = self._listeners
        for event in events:
            if event.seats is None:
                form = event.json
                for _, inbox in listeners:
                    inbox.append(form)
                continue
            for seat, inbox in listeners:
                seen = event.json_for(seat)
                if seen is not None:
                    inbox.append(seen)

    def take(self, seat: int) -> bytes | None:
        """The events that wait for `seat`, as a JSON list; None if it gets none."""
        inbox = self._inboxes[seat]
        if inbox is None:
            return None
        events = b"[" + b",".join(inbox) + b"]"
        inbox.clear()
        return events

    def last(self, seat: int) -> Sequence[bytes]:
        """The events that `seat` gets with the end, if it wants events."""
        return (self._inboxes[seat] or ()) if self.events[seat] else ()
