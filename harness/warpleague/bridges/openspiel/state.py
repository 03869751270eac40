"""A position of a game of OpenSpiel: its own state, who is out, and which opening was drawn."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pyspiel

from warpleague.bridges.openspiel.actions import Choices
from warpleague.games.api import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warpleague.bridges.openspiel.rules import Rules


class State:
    """A position. `spiel` is OpenSpiel's own state, which nobody changes once the position was handed out."""

    __slots__ = ("_legal", "moves", "opening", "resigned", "retired", "rules", "spiel", "turns")

    def __init__(
        self,
        rules: Rules,
        spiel: Any,
        moves: tuple[str, ...] = (),
        retired: tuple[int, ...] = (),
        opening: int | None = None,
        turns: int = 0,
        resigned: int | None = None,
    ) -> None:
        self.rules = rules
        self.spiel = spiel
        self.moves = moves
        """The names of all moves, the dice among them; stored only where everybody sees them."""
        self.retired = retired
        """The seats that are out, in the order in which they went."""
        self.opening = opening
        """The line that was drawn; None before that, and without openings."""
        self.turns = turns
        """How many moves the players have made; those of the opening do not count."""
        self.resigned = resigned
        self._legal: dict[int, Choices] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return (
            self.rules is other.rules
            and (self.retired, self.opening, self.resigned) == (other.retired, other.opening, other.resigned)
            and self.spiel.history() == other.spiel.history()
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (
            self.rules,
            self.spiel.history(),
            self.retired,
            self.opening,
            self.turns,
            self.resigned,
        )

    @property
    def pending(self) -> bool:
        """Whether the next step draws an opening."""
        return bool(self.rules.openings) and self.opening is None

    def why_over(self) -> str:
        """Why the game is over, in a word; empty while it goes on."""
        if self.spiel.is_terminal():
            return "completed"
        if self.resigned is not None:
            return "resigned"
        if self.retired and len(self.retired) >= self.rules.players - 1:
            return "retired"
        limit = self.rules.options.move_limit
        return "move-limit" if limit and self.turns >= limit else ""

    def legal(self, seat: int) -> Choices:
        """The actions of `seat`, which is to act."""
        if seat not in self._legal:
            self._legal[seat] = Choices(self.spiel, seat, self.rules.name, resign=self.rules.options.resign)
        return self._legal[seat]

    def movers(self) -> tuple[int, ...]:
        """The seats that OpenSpiel lets move now, whether they are out or not; nobody where chance is to draw."""
        player = self.spiel.current_player()
        if player == pyspiel.PlayerId.SIMULTANEOUS:
            return tuple([seat for seat in range(self.rules.players) if self.spiel.legal_actions(seat)])
        return (player,) if player >= 0 else ()

    def fresh(self) -> State:
        """A copy that its maker may change until it is handed out."""
        return State(
            self.rules, self.spiel.clone(), self.moves, self.retired, self.opening, self.turns, self.resigned
        )

    def advance(self, actions: Iterable[int]) -> list[Event]:
        """Play OpenSpiel's `actions`, which are possible, on a fresh copy; the events of what was played.

        Where seats act at once, there is one action for each seat, in their order. Where something is hidden, only the
        seat that acts is told, and no seat learns of chance.
        """
        events = []
        line = iter(actions)
        for action in line:
            if self.spiel.is_simultaneous_node():
                every = [action, *islice(line, self.rules.players - 1)]
                movers = self.movers()
                events += [self._event_of(seat, every[seat]) for seat in movers]
                self.spiel.apply_actions(every)
                continue
            player = self.spiel.current_player()
            if self.rules.open or player >= 0:
                events.append(self._event_of(player, action))
            self.spiel.apply_action(action)
        return events

    def _event_of(self, player: int, action: int) -> Event:
        """The event of an action that is about to be played; below 0 is chance."""
        name = self.rules.name(self.spiel, player, action)
        seat = None if player < 0 else player
        if self.rules.open:
            self.moves = (*self.moves, name)
        data = {"event": "played", "seat": seat, "action": action, "move": name}
        return Event(data, None if self.rules.open else (player,))

    def joint(self, chosen: Mapping[int, int]) -> list[int]:
        """An action for each seat, as `chosen`; else its first legal one, or 0 where it has none."""
        return [
            chosen[seat] if seat in chosen else next(iter(self.spiel.legal_actions(seat)), 0)
            for seat in range(self.rules.players)
        ]

    def play(self, chosen: Mapping[int, int]) -> list[Event]:
        """Play what the seats that move have chosen, on a fresh copy; the events of it."""
        if self.spiel.is_simultaneous_node():
            self.turns += self.rules.players
            return self.advance(self.joint(chosen))
        self.turns += 1
        player = self.spiel.current_player()
        return self.advance((chosen[player] if player in chosen else self.spiel.legal_actions()[0],))

    def settle(self) -> list[Event]:
        """Play the first legal action for seats that are out, on a fresh copy; the events of what was played."""
        events: list[Event] = []
        while not self.why_over() and (movers := self.movers()) and set(movers) <= set(self.retired):
            events += self.play({})
        return events

    def texts(self, seat: int) -> tuple[str, ...]:
        """OpenSpiel's words for `seat`: its observation and its information state, empty where there is none."""
        observes, knows = self.rules.has
        return (
            _text(self.spiel.observation_string, seat) if observes else "",
            _text(self.spiel.information_state_string, seat) if knows else "",
        )


def _text(describe: Any, seat: int) -> str:
    try:
        return str(describe(seat))
    except (
        pyspiel.SpielError,
        RuntimeError,
    ):  # some games cannot tell before the first deal, or after the end
        return ""


def _again(
    rules: Rules,
    history: list[int],
    retired: tuple[int, ...],
    opening: int | None,
    turns: int,
    resigned: int | None,
) -> State:
    state = State(rules, rules.spiel.new_initial_state(), (), retired, opening, turns, resigned)
    state.advance(history)
    return state
