"""A game of OpenSpiel with its parameters: which games fit, what chance draws, which openings there are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Any, ClassVar, Final, overload

import attrs
import pyspiel

from warpleague.errors import BadInput, OptionsError
from warpleague.games import load_game
from warpleague.games.values import Interned, decoded, encoded, free, switch, whole
from warpleague.text import nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.games.api import Weights


# -- options ---------------------------------------------------------------------------------------------
# The parameters of a game of OpenSpiel as options of Warp League, and the few options that all of them have.

OURS = ("openings", "resign", "move_limit")
SEATS = ("players", "numPlayers", "num_players")
"""The names that OpenSpiel's games have for the number of players: it is the number of bots, and no option."""

SEATED = frozenset({"universal_poker"})
"""Games in which other parameters have to fit the number of players: their ids name these together."""


def options_class(name: str, parameters: dict[str, Any]) -> type:
    """An attrs class with a field for each of `parameters`, the defaults by name, and for each option of ours."""
    members: dict[str, Any] = {"__doc__": f"The parameters of OpenSpiel's {name}.", "__module__": __name__}
    kinds: dict[str, Any] = {}
    for key, default in parameters.items():
        if key in SEATS or not key.isidentifier():
            continue
        kind: Any = type(default) if type(default) in (bool, int, float, str) else None
        if kind is None:  # another game, or what has no default
            members[key], kinds[key] = free(str, f"OpenSpiel's parameter {key}, as it writes it"), str | None
        else:
            text = f"OpenSpiel's parameter {key}"
            members[key], kinds[key] = attrs.field(default=default, metadata={"help": text}), kind
    members["openings"] = free(
        dict, "a TOML file with lines of moves, one of which is drawn and played first"
    )
    members["resign"] = switch(False, "whether a seat may resign, with the action resign")
    members["move_limit"] = whole(0, 0, 99_999, "moves after which the game ends as it stands; 0: no limit")
    kinds |= {"openings": dict[str, Any] | None, "resign": bool, "move_limit": int}
    members["__annotations__"] = kinds
    return attrs.frozen(type("Options", (), members))


def parameters_of(options: Any, fixed: dict[str, Any]) -> dict[str, Any]:
    """The parameters for OpenSpiel: `fixed`, and the options that are not at their defaults."""
    given = dict(fixed)
    for field in attrs.fields(type(options)):
        value = getattr(options, field.name)
        if field.name in OURS or value == field.default:
            continue
        if field.default is None:  # another game
            value = pyspiel.game_parameters_from_string(value)
        given[field.name] = float(value) if type(field.default) is float else value
    return given


# -- actions ---------------------------------------------------------------------------------------------
# The legal actions of a seat in a game of OpenSpiel, with the number and the name that OpenSpiel has for it.


@attrs.frozen(eq=False)
class Play(Interned):
    """Do what OpenSpiel knows by this number; `move` is its name in the position."""

    do: ClassVar[str] = "play"
    action: int
    move: str


@attrs.frozen(eq=False)
class Resign(Interned):
    """Give the game up; only where the option `resign` allows it."""

    do: ClassVar[str] = "resign"


RESIGN = Resign()


def _name(spiel: Any, player: int, action: int) -> str:
    """OpenSpiel's name of an action; its number if that is not a text, as on a board of `hex` with 63 rows."""
    try:
        return str(spiel.action_to_string(player, action))
    except UnicodeDecodeError:
        return f"action {action}"


def _chess_name(spiel: Any, player: int, action: int) -> str:
    """The move as engines write it: `e2e4`, `e7e8q`."""
    if player < 0:
        return _name(spiel, player, action)
    return str(pyspiel.chess.action_to_move(action, spiel.board()).to_lan())


NAMES: dict[str, Callable[[Any, int, int], str]] = {"chess": _chess_name}
"""The games whose moves have another name than OpenSpiel's: that which engines use."""


class Choices(Sequence[Any]):
    """The legal actions of a seat, in the order of OpenSpiel's numbers; each gets its name when it is read."""

    __slots__ = ("_known", "_name", "_numbers", "_resign", "_seat", "_spiel")

    def __init__(self, spiel: Any, seat: int, name: Callable[[Any, int, int], str], *, resign: bool) -> None:
        self._spiel = spiel
        self._seat = seat
        self._name = name
        self._numbers: list[int] = spiel.legal_actions(seat)
        self._resign = resign
        self._known: dict[int, Play] = {}

    def __len__(self) -> int:
        return len(self._numbers) + self._resign

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if self._resign and index == len(self._numbers):
            return RESIGN
        number = self._numbers[index]
        action = self._known.get(number)
        if action is None:
            action = self._known[number] = Play(number, self._name(self._spiel, self._seat, number))
        return action

    def __contains__(self, action: object) -> bool:
        if action is RESIGN:
            return self._resign
        return (
            isinstance(action, Play) and action.action in self._numbers and action is self.of(action.action)
        )

    def has(self, number: int) -> bool:
        """Whether the action with this number is legal."""
        return number in self._numbers

    def of(self, number: int) -> Any:
        """The action with this number, which is legal."""
        return self[self._numbers.index(number)]


# -- rules -----------------------------------------------------------------------------------------------

_PARTS: Final = 10**6
"""Probabilities are taken as fractions of at most this denominator where these are near enough and add up to 1."""
_BROKEN: Final = {"morpion_solitaire": "OpenSpiel 2.0 names its moves after memory that was never set"}
_TRIAL_S: Final = 30
_EPSILON: Final = 4e-16
"""How far a fraction may be from a probability, which OpenSpiel has computed with rounding."""
_FINE: Final = 1 << 52
"""Other probabilities as a number of parts, which is as exact as OpenSpiel's own numbers."""


@attrs.frozen(eq=False)
class Rules:
    """The fixed part of a match; made once for equal matches, so equal ones are one object."""

    id: str
    players: int
    options: Any
    spiel: Any
    """The `pyspiel.Game`."""
    open: bool
    """Whether everybody sees everything."""
    name: Callable[[Any, int, int], str]
    has: tuple[bool, bool]
    """Whether the game tells a seat its observation, and its information state."""
    openings: tuple[tuple[int, ...], ...]
    """Lines of moves, one of which is drawn and played first; none: the game begins as it is."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.id, self.players, encoded(attrs.asdict(self.options)))

    def __deepcopy__(self, memo: object) -> Rules:
        return self

    def __copy__(self) -> Rules:
        return self


def _again(game_id: str, players: int, options: bytes) -> Rules:
    game: Any = load_game(game_id)
    game = game.game if game.simultaneous else game  # without what lets its seats choose in turn
    return game.rules(players, game.Options(**decoded(options)))  # type: ignore[no-any-return]


_TRIAL = """
import json, random, sys, pyspiel
name, parameters = json.load(sys.stdin)
try:
    game = pyspiel.load_game(name, parameters)
    random = random.Random(0)
    for _ in range(3):
        state = game.new_initial_state()
        for _ in range(400):
            if state.is_terminal():
                break
            if state.is_simultaneous_node():
                state.apply_actions([random.choice(state.legal_actions(p)) for p in range(game.num_players())])
            elif state.is_chance_node():
                state.apply_action(random.choice([a for a, chance in state.chance_outcomes() if chance]))
            else:
                state.apply_action(random.choice(state.legal_actions()))
except Exception as error:
    print(str(error).strip().splitlines()[0])
    sys.exit(1)
"""


@lru_cache(maxsize=256)
def _refusal(asked: bytes) -> str:
    """Why OpenSpiel does not take a name and parameters, given as JSON; empty if it does.

    Some matches are tried in a process of its own: some games end theirs where a parameter does not fit.
    """
    command = [sys.executable, "-c", _TRIAL]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, timeout=_TRIAL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it does not end within {_TRIAL_S} s"
    message = done.stdout.decode(errors="replace").strip() or done.stderr.decode(errors="replace").strip()
    return "" if done.returncode == 0 else (message.splitlines() or ["it gives no reason"])[-1][:200]


def tried(name: str, parameters: dict[str, Any]) -> None:
    """Raise `OptionsError` if OpenSpiel does not take the parameters."""
    why = _refusal(encoded([name, parameters])) if parameters else ""
    if why:
        raise OptionsError(f"OpenSpiel refuses {name} with {encoded(parameters).decode()}: {why}")


def load(name: str, parameters: dict[str, Any]) -> Any:
    """OpenSpiel's game; `OptionsError` if it does not fit, or its parameters do not."""
    try:
        game = pyspiel.load_game(name, parameters)
        kind = game.get_type()
    except (pyspiel.SpielError, RuntimeError, TypeError, ValueError) as error:
        text = str(error).strip().splitlines()
        raise OptionsError(
            f"OpenSpiel refuses {name} with {parameters}: {text[0] if text else error!r}"
        ) from None
    why = misfit(kind)
    if why:
        raise OptionsError(f"openspiel:{name} cannot be played here: {why}")
    return game


def is_open(game: Any) -> bool:
    """Whether everybody sees everything in this `pyspiel.Game`; not where choices made at once were put in turn."""
    kind, kinds = game.get_type(), pyspiel.GameType
    return bool(
        kind.information in (kinds.Information.PERFECT_INFORMATION, kinds.Information.ONE_SHOT)
        and not kind.short_name.startswith("turn_based")
    )


def at_once(game: Any) -> bool:
    """Whether players act at once in this `pyspiel.Game`."""
    return bool(game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS)


def misfit(kind: Any) -> str:
    """Why games of this `pyspiel.GameType` cannot be played here; empty if they can."""
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        return "a mean field game has no players who take turns"
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "it draws its own random numbers, so no record of it could be checked"
    if kind.action_structs_only:
        return "its actions have no numbers"
    if kind.short_name in _BROKEN:
        return _BROKEN[kind.short_name]
    if not (kind.provides_observation_string or kind.provides_information_state_string):
        return "it has no text of what a player sees"
    return ""


@lru_cache(maxsize=64)
def _made(game_id: str, name: str, fixed: str, seats: str, players: int, text: bytes, cls: Any) -> Rules:
    options = cls(**decoded(text))
    parameters = parameters_of(options, decoded(fixed.encode()))
    if parameters != decoded(fixed.encode()):
        tried(name, {**parameters, **({seats: players} if seats else {})})
    if seats:
        parameters[seats] = players
    spiel = load(name, parameters)
    if spiel.num_players() != players:
        raise OptionsError(f"{game_id} with {parameters} is for {spiel.num_players()} players, not {players}")
    kind = spiel.get_type()
    has = (kind.provides_observation_string, kind.provides_information_state_string)
    named = NAMES.get(name, _name)
    openings = _openings(spiel, named, options.openings)
    rules = Rules(game_id, players, options, spiel, is_open(spiel), named, has, openings)
    if options.resign and players != 2:
        raise OptionsError(f"resign: only games of two players have it, not one of {players}")
    if options.resign and at_once(spiel):
        raise OptionsError("resign: games in which both players act at once do not have it")
    return rules


def made(game_id: str, name: str, fixed: dict[str, Any], seats: str, players: int, options: Any) -> Rules:
    """The rules of a match; `OptionsError` if OpenSpiel refuses the options or an opening cannot be played."""
    text = encoded(attrs.asdict(options))
    cls: Any = type(options)
    return _made(game_id, name, encoded(fixed).decode(), seats, players, text, cls)


def _openings(spiel: Any, name: Callable[[Any, int, int], str], given: Any) -> tuple[tuple[int, ...], ...]:
    if given is None:
        return ()
    lines = given.get("lines") if given.keys() == {"lines"} else None
    if not isinstance(lines, list) or not lines or not all(isinstance(line, str) for line in lines):
        raise OptionsError(
            'openings: must be lines = ["MOVE MOVE ...", ...], each a text of the names of moves'
        )
    openings = []
    for number, line in enumerate(lines):
        state = spiel.new_initial_state()
        chosen: list[int] = []  # of the seats that act at once, in their order
        for move in _moves(line):
            where = f"openings: lines[{number}]: {move!r}"
            together = state.is_simultaneous_node()
            seat = len(chosen) if together else state.current_player()
            if seat < 0:
                raise OptionsError(f"{where}: nobody is to move there")
            choices = Choices(state, seat, name, resign=False)
            known = {play.move: play.action for play in choices}
            if move not in known:
                some = ", ".join(list(known)[:8])
                raise OptionsError(f"{where} is not possible there; possible are {some} and so on")
            if not together:
                state.apply_action(known[move])
                continue
            chosen.append(known[move])
            if len(chosen) == spiel.num_players():
                state.apply_actions(chosen)
                chosen = []
        if chosen:
            raise OptionsError(f"openings: lines[{number}]: it needs a move of each seat that acts at once")
        if state.is_terminal():
            raise OptionsError(f"openings: lines[{number}]: the game is over after it")
        openings.append(tuple(state.history()))
    return tuple(openings)


def _moves(line: str) -> list[str]:
    """The moves of a line: between commas where it has some, since names may have spaces, else between spaces."""
    return [move.strip() for move in line.split(",")] if "," in line else line.split()


def weights(outcomes: Sequence[tuple[int, float]]) -> Weights:
    """The draw for OpenSpiel's chance outcomes: whole numbers in the proportion of their probabilities."""
    chances = [chance for _, chance in outcomes]
    if min(chances) == max(chances):
        return len(chances)
    return _whole(tuple(chances))


@lru_cache(maxsize=4096)
def _whole(chances: tuple[float, ...]) -> tuple[int, ...]:
    parts = [Fraction(chance).limit_denominator(_PARTS) for chance in chances]
    below = lcm(*(part.denominator for part in parts))
    near = all(abs(float(part) - chance) < _EPSILON for part, chance in zip(parts, chances, strict=True))
    if near and sum(parts) == 1 and below < _FINE:
        return tuple([int(part * below) for part in parts])
    return tuple([round(chance * _FINE) for chance in chances])


def fits(name: str) -> str:
    """Why the registered game `name` cannot be played with its default parameters; empty if it can."""
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        raise BadInput(f"OpenSpiel has no game {name!r}; {nearest(name, sorted(kinds))}")
    if not kinds[name].default_loadable:
        return f"it needs parameters: name them in brackets, as in openspiel:{name}(game=tic_tac_toe())"
    return misfit(kinds[name])
