"""A game of OpenSpiel under the contract of `warpleague.games.api`.

A seat gets the information that OpenSpiel gives it: where everybody sees everything the moves themselves; elsewhere
its own moves, and each change in the texts of its observation and its information state.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import attrs
import pyspiel

from warpleague.errors import ActionError, BadInput, OptionsError
from warpleague.extras.bridges.openspiel.rules import (
    RESIGN,
    SEATED,
    SEATS,
    Choices,
    Play,
    Resign,
    Rules,
    at_once,
    fits,
    is_open,
    load,
    made,
    options_class,
    tried,
    weights,
)
from warpleague.games.api import CHANCE, SPECTATOR, Event, Game, JsonObject, Outcome, Weights, ranked
from warpleague.games.reading import ActionReader, distinct, fail, read, refuse, within
from warpleague.games.scene import Cell, Panel, Scene
from warpleague.match.setup import options_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from random import Random


# -- state -----------------------------------------------------------------------------------------------
# A position of a game of OpenSpiel: its own state, who is out, and which opening was drawn.


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
        parts = (self.rules, self.spiel.history(), self.retired, self.opening, self.turns, self.resigned)
        return _again, parts

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
        seat that acts gets the event, and no seat learns of chance.
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

    def play_for_retired(self) -> list[Event]:
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
    except (pyspiel.SpielError, RuntimeError):  # some games have none before the first deal, or after the end
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


# -- scene -----------------------------------------------------------------------------------------------
# The picture of a game of OpenSpiel, from its text: a board where the text is one, else the text itself.

_MAX_LINES: Final = 60
_MAX_ACROSS: Final = 100


def scene_of(name: str, state: State, viewer: int | None, actors: tuple[int, ...]) -> Scene:
    """The picture for `viewer` (None: everything), and who is to act where everybody knows this."""
    if viewer is None or (viewer == SPECTATOR and state.rules.open):
        texts: tuple[str, ...] = (str(state.spiel),)
    else:
        texts = () if viewer == SPECTATOR else state.texts(viewer)
    text = "\n".join(dict.fromkeys(filter(None, texts)))
    grid = _grid(TEXTS.get(name, str)(text))
    cells = tuple(
        Cell(x, y, "square", "" if mark in ".-_" else mark, id=f"{x},{y}")
        for y, row in enumerate(grid)
        for x, mark in enumerate(row)
    )
    lines = [line.expandtabs()[:_MAX_ACROSS] for line in text.splitlines()[:_MAX_LINES]]
    panels = [] if cells else [Panel("What is seen", tuple(lines or ("nothing",)))]
    seen = viewer is None or state.rules.open
    if seen and actors and actors[0] >= 0:
        panels.append(Panel("Turn", (f"seat {actors[0]}",), owner=actors[0]))
    return Scene("square", cells, panels=tuple(panels))


def _grid(text: str) -> list[str]:
    """The rows of a text that is a board: all of one length, without blanks; none if it is not."""
    rows = text.strip("\n").split("\n")
    fits = len(rows) > 1 and len({len(row) for row in rows}) == 1 and 1 < len(rows[0]) <= 30
    return rows if fits and not any(" " in row or "\t" in row for row in rows) else []


def _chess(text: str) -> str:
    """The board of a position in Forsyth-Edwards notation."""
    board = text.partition(" ")[0]
    for number in range(1, 9):
        board = board.replace(str(number), "." * number)
    return board.replace("/", "\n")


TEXTS: Final[dict[str, Callable[[str], str]]] = {"chess": _chess}
"""The games whose text becomes a board only when it is written otherwise."""


# -- game ------------------------------------------------------------------------------------------------

# ruff: noqa: ARG002 - a method of the contract may need less than it is given


READER = ActionReader((Play, Resign))
_SEEN = ("acts", "over", "observation", "information")
"""The parts of a view whose changes a seat gets."""


@attrs.frozen
class SpielView:
    """The view of a seat: the strings that OpenSpiel gives."""

    seat: int
    acts: bool
    over: bool
    observation: str
    information: str
    retired: list[int]


@attrs.frozen
class OpenView:
    """A position that everybody sees: what OpenSpiel needs to make it again, and its text."""

    players: int
    options: dict[str, Any]
    history: list[int]
    moves: list[str]
    observation: str
    retired: list[int]
    opening: int | None
    turns: int
    resigned: int | None


@attrs.frozen
class _Position:
    """A position as JSON."""

    players: int
    options: dict[str, Any]
    history: tuple[int, ...]
    retired: Annotated[tuple[int, ...], distinct]
    opening: int | None
    turns: int
    resigned: int | None


@attrs.frozen
class SpielSetup:
    """The key with which bots make OpenSpiel's game themselves: its text for `pyspiel.load_game`."""

    game: str
    actions: int


class SpielGame(Game[State, "Play | Resign"]):
    """One game of OpenSpiel; `name` is OpenSpiel's, `fixed` the parameters that are part of its id."""

    Actions: ClassVar[tuple[type, ...]] = (Play, Resign)
    Setup: ClassVar[type] = SpielSetup
    View: ClassVar[type] = SpielView
    file_options: ClassVar[frozenset[str]] = frozenset({"openings"})

    def __init__(self, game_id: str, name: str, fixed: dict[str, Any], kind: Any) -> None:
        default = load(name, fixed)
        known = dict(kind.parameter_specification)
        self.id = game_id  # type: ignore[misc]
        self.title = f"{kind.long_name} (OpenSpiel)"  # type: ignore[misc]
        self.Options = options_class(name, {k: v for k, v in known.items() if k not in fixed})  # type: ignore[misc]
        self._name = name
        self._fixed = fixed
        named = next((key for key in SEATS if key in known), "")
        self._seats = "" if named in fixed or name in SEATED else named
        # Where wins differ in worth, as with the chips of poker, it is their worth that counts.
        self.by_score = default.max_utility() > 1 or default.min_utility() < -1  # type: ignore[misc]
        self.simultaneous = at_once(default)  # type: ignore[misc]
        # 2: a bot that is out loses the most that can be lost; 3: seats that act at once are asked at once.
        self.rules_version = 3 if self.simultaneous else 2 if self.by_score else 1  # type: ignore[misc]
        self.players = self._counts(default.num_players(), kind)  # type: ignore[misc]

    def _counts(self, default: int, kind: Any) -> tuple[int, ...]:
        """The numbers of players that OpenSpiel accepts."""
        if not self._seats:
            return (default,)
        counts = []
        for players in range(kind.min_num_players, kind.max_num_players + 1):
            try:
                self.rules(players, self.Options())
            except OptionsError:
                continue
            counts.append(players)
        return tuple(counts)

    def rules(self, players: int, options: Any) -> Rules:
        """The rules of a match; `OptionsError` if OpenSpiel refuses them."""
        return made(self.id, self._name, self._fixed, self._seats, players, options)

    def check_options(self, players: int, options: Any) -> None:
        """OpenSpiel looks at its parameters itself."""
        self.rules(players, options)

    def initial(self, players: int, options: Any) -> State:
        """OpenSpiel's first state."""
        rules = self.rules(players, options)
        return State(rules, rules.spiel.new_initial_state())

    def match_of(self, state: State) -> tuple[int, Any]:
        """Kept in the rules."""
        return state.rules.players, state.rules.options

    def actors(self, state: State) -> tuple[int, ...]:
        """The seats that move, or chance: also for the choice of an opening."""
        if state.why_over():
            return ()
        if state.pending or state.spiel.is_chance_node():
            return (CHANCE,)
        return tuple([seat for seat in state.movers() if seat not in state.retired])

    def chance(self, state: State) -> tuple[Weights, ...]:
        """The opening, or OpenSpiel's outcomes with their probabilities."""
        if state.pending:
            return (len(state.rules.openings),)
        return (weights(state.spiel.chance_outcomes()),)

    def address(self, state: State) -> str:
        """An opening has an address of its own; the rolls of OpenSpiel come one after the other."""
        return "opening" if state.pending else ""

    def legal(self, state: State, seat: int) -> Sequence[Play | Resign]:
        """In the order of OpenSpiel's numbers; to resign is the last."""
        return state.legal(seat) if seat in self.actors(state) else ()

    def parse(self, state: State, seat: int, data: object) -> Play | Resign:
        """The action with this number and this name."""
        legal = self.legal(state, seat)
        # Most answers are right: the number finds the action without a name for each of the others.
        if type(data) is dict and data.keys() == {"do", "action", "move"} and legal:
            with_number = data["action"]
            if data["do"] == "play" and type(with_number) is int and legal.has(with_number):  # type: ignore[attr-defined]
                action: Play = legal.of(with_number)  # type: ignore[attr-defined]
                if type(data["move"]) is str and data["move"] == action.move:
                    return action
                raise ActionError(f"play: action {with_number} is called {action.move!r}")
        return READER.parse(data, legal)

    def apply(self, state: State, move: Any) -> tuple[State, Sequence[Event]]:
        """The state after an action, actions at once, or an outcome, and after the moves of seats that are out."""
        after = state.fresh()
        if move is RESIGN:
            after.resigned = state.spiel.current_player()
            return after, self._events(state, after, [], {"event": "resigned", "seat": after.resigned})
        if isinstance(move, dict):
            played = after.play({seat: action.action for seat, action in move.items()})
        elif isinstance(move, Play):
            played = after.play({self.actors(state)[0]: move.action})
        elif state.pending:
            after.opening = move[0]
            played = after.advance(state.rules.openings[after.opening])
        else:
            played = after.advance((state.spiel.chance_outcomes()[move[0]][0],))
        return after, self._events(state, after, [*played, *after.play_for_retired()])

    def _events(self, before: State, after: State, played: list[Event], *more: JsonObject) -> list[Event]:
        """The events for each seat: `more`, the move `played`, and new visible facts if some are hidden."""
        events = [*map(Event, more), *played]
        if after.rules.open:
            return events
        for seat in range(after.rules.players):
            old, new = self.view(before, seat), self.view(after, seat)
            changed = {key: new[key] for key in _SEEN if new[key] != old[key]}
            if changed:
                events.append(Event({"event": "seen", "seat": seat, **changed}, (seat,), reveals=True))
        return events

    def ask(self, state: State, seat: int) -> str:
        """There is one kind of decision."""
        return "play"

    def setup(self, state: State) -> JsonObject:
        """OpenSpiel's text of the game, and how many actions it numbers."""
        return {"game": str(state.rules.spiel), "actions": state.rules.spiel.num_distinct_actions()}

    def view(self, state: State, seat: int) -> JsonObject:
        """OpenSpiel's texts for the seat."""
        observation, information = state.texts(seat)
        actors = self.actors(state)
        return {
            "seat": seat,
            "acts": seat in actors,
            "over": not actors,
            "observation": observation,
            "information": information,
            "retired": list(state.retired),
        }

    def retire(self, state: State, seat: int) -> tuple[State, Sequence[Event]]:
        """Of two players the other has won; of more, the seat plays its first legal action from now on."""
        after = state.fresh()
        after.retired = (*state.retired, seat)
        played = [] if after.pending else after.play_for_retired()
        return after, self._events(state, after, played, {"event": "retired", "seat": seat})

    def outcome(self, state: State) -> Outcome:
        """OpenSpiel's returns; who resigned or is out ranks below the others.

        Where the score is what counts, it has lost all that can be lost, so that no bot saves chips by a fault.
        """
        returns = tuple(map(float, state.spiel.returns()))
        ranks = _ranks(returns, state)
        if self.by_score and (lost := {*state.retired, state.resigned} - {None}):
            returns = _forfeited(returns, lost, state.rules.spiel)
        return Outcome(ranks, returns, {}, state.why_over())

    def to_json(self, state: State) -> JsonObject:
        """The history, from which OpenSpiel makes everything else again."""
        return {
            "players": state.rules.players,
            "options": options_json(state.rules.options),
            "history": list(state.spiel.history()),
            "retired": list(state.retired),
            "opening": state.opening,
            "turns": state.turns,
            "resigned": state.resigned,
        }

    def from_json(self, data: object) -> State:
        """A position from its JSON form; each action of the history must be possible where it is played."""
        form = read(_Position, data)
        options: Any = read(self.Options, form.options, "options")
        refuse(form.players not in self.players, "players", f"{self.id} is not for {form.players}")
        try:
            rules = self.rules(form.players, options)
        except OptionsError as error:
            fail("options", str(error))
        if form.opening is not None:
            within("opening", form.opening, 0, len(rules.openings) - 1)
        undrawn = rules.openings and form.opening is None and form.history
        refuse(undrawn, "opening", "no line was drawn, but moves were played")
        state = State(rules, rules.spiel.new_initial_state(), opening=form.opening)
        line = () if form.opening is None else rules.openings[form.opening]
        played = 0
        joint: list[int] = []  # of the seats that act at once, in their order
        for number, action in enumerate(form.history):
            path, spiel = f"history[{number}]", state.spiel
            refuse(spiel.is_terminal(), path, "the game is over before it")
            possible = action in _possible(spiel, len(joint))
            refuse(not possible, path, f"action {action} is not possible there")
            if number < len(line):
                refuse(action != line[number], path, f"the opening has {line[number]} here, not {action}")
            played += not spiel.is_chance_node() and number >= len(line)
            together = spiel.is_simultaneous_node()
            joint = [*joint, action] if together else [action]
            if together and len(joint) < form.players:
                continue
            try:
                state.advance(joint)
            except (pyspiel.SpielError, RuntimeError) as error:
                fail(path, f"OpenSpiel refuses it: {str(error).strip().splitlines()[0]}")
            joint = []
        refuse(joint, "history", "ends amid actions that are made at once")
        refuse(len(form.history) < len(line), "history", "is shorter than the opening")
        within("turns", form.turns, played, played)
        within("retired", form.retired, 0, form.players - 1)
        if form.resigned is not None:
            refuse(not rules.options.resign, "resigned", "nobody can resign without the option")
            within("resigned", form.resigned, 0, form.players - 1)
        state.turns, state.retired, state.resigned = form.turns, form.retired, form.resigned
        if not state.pending:
            state.play_for_retired()
        return state

    def scene(self, state: State, viewer: int | None) -> Scene:
        """A board where OpenSpiel's text is one, else the text."""
        return scene_of(self._name, state, viewer, self.actors(state))

    def tell(self, event: Mapping[str, Any]) -> str:
        """One line for each kind of event."""
        seat = event["seat"]
        match event["event"]:
            case "played" if seat is None:
                return f"drawn: {event['move']}"
            case "played":
                return f"seat {seat} plays {event['move']}"
            case "seen":
                return f"seat {seat} sees more"
            case "resigned":
                return f"seat {seat} resigns"
            case _:
                return f"seat {seat} is out"


class OpenGame(SpielGame):
    """A game in which everybody sees everything, so that a position can be made from what a seat is shown."""

    View: ClassVar[type] = OpenView

    def view(self, state: State, seat: int) -> JsonObject:
        """The position, with the names of its moves and its text."""
        more = {"moves": list(state.moves), "observation": state.texts(seat)[0]}
        return {**self.to_json(state), **more}

    def determinize(self, view: JsonObject, seat: int, rng: Random) -> State:
        """The position itself: there is nothing to guess."""
        return self.from_json(
            {key: value for key, value in view.items() if key not in ("moves", "observation")}
        )


def _possible(spiel: Any, seat: int) -> list[int]:
    """The actions that may come next; where seats act at once, those of `seat`, or 0 where it has none."""
    if spiel.is_chance_node():
        return [action for action, chance in spiel.chance_outcomes() if chance > 0]
    if spiel.is_simultaneous_node():
        return list(spiel.legal_actions(seat)) or [0]
    return list(spiel.legal_actions())


def _forfeited(returns: tuple[float, ...], gone: set[Any], spiel: Any) -> tuple[float, ...]:
    """The returns when the seats `gone` lose the most; in a game of zero sum the others share what these lose more."""
    least = spiel.min_utility()
    lost = sum(returns[seat] - least for seat in gone)
    others = len(returns) - len(gone)
    zero_sum = spiel.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    more = lost / others if zero_sum and others else 0.0
    return tuple([least if seat in gone else value + more for seat, value in enumerate(returns)])


def _ranks(returns: tuple[float, ...], state: State) -> tuple[int, ...]:
    """By returns; the seats that are out rank below all others, and of those that are not, who resigned is last."""
    standings = [(seat != state.resigned, value) for seat, value in enumerate(returns)]
    return ranked(standings, state.retired)


def make(text: str) -> SpielGame:
    """The game that `text` names, such as `go` or `go(board_size=9)`; `BadInput` if there is none that fits."""
    name, bracket, _ = text.partition("(")
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    fixed: dict[str, Any] = {}
    if bracket and name in kinds:
        try:
            fixed = pyspiel.game_parameters_from_string(text)
        except (pyspiel.SpielError, RuntimeError) as error:
            raise BadInput(
                f"openspiel:{text}: OpenSpiel cannot read this: {str(error).splitlines()[0]}"
            ) from None
        fixed.pop("name", None)
        tried(name, fixed)
    else:
        why = fits(name)
        if why:
            raise BadInput(f"openspiel:{name} cannot be played here: {why}")
    kind = OpenGame if is_open(load(name, fixed)) else SpielGame
    return kind(f"openspiel:{text}", name, fixed, kinds[name])
