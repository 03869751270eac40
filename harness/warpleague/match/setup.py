"""Turns the parts of a match into values: game options from JSON or text, the first state, the id of the match.

It reads no files and no command lines: its callers have parsed them.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import ConfigError, OptionsError, PositionError
from warpleague.match.spec import FORMAT, MatchSpec, TimeControl
from warpleague.text import counted
from warpline.limits import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.games.api import Game, JsonObject
    from warpleague.match.spec import Level, SeatSpec

_MAX_LOADED: Final = 64
_loaded: Final[dict[tuple[Game[Any, Any], int, str], Any]] = {}
"""Options that were in order, by game, players and JSON form as text: those of the next match are often the same."""


def load_options(game: Game[Any, Any], players: int, raw: Mapping[str, Any], where: str = "options") -> Any:
    """The game's `Options` from their JSON form, checked against each other and the number of players.

    Raises `OptionsError`, naming `where` and the option.
    """
    known = game, players, repr(raw)
    if (loaded := _loaded.get(known)) is not None:
        return loaded
    from warpleague.strict import structure  # its packages take long to load: only where options are read

    if players not in game.players:
        raise OptionsError(f"{where}: {game.id} is for {players_text(game)}, not {players!r}")
    try:
        options: Any = structure(dict(raw), game.Options, where)
    except ConfigError as error:
        raise OptionsError(str(error)) from None
    game.check_options(players, options)
    if len(_loaded) >= _MAX_LOADED:
        _loaded.clear()
    _loaded[known] = options
    return options


def options_json(options: Any) -> JsonObject:
    """The complete JSON form of an `Options` value, defaults included."""
    return attrs.asdict(options)


def players_text(game: Game[Any, Any]) -> str:
    """The allowed player counts in words: `2 players`, `2 to 5 players`."""
    counts = game.players
    if len(counts) == 1:
        return counted(counts[0], "player")
    if counts == tuple(range(counts[0], counts[-1] + 1)):
        return f"{counts[0]} to {counts[-1]} players"
    return " or ".join(map(str, counts)) + " players"


def players_and_options(game: Game[Any, Any], position: object) -> tuple[int, JsonObject]:
    """The number of players of a position and its options as JSON. Raises `PositionError` if it is not a position."""
    players, options = game.match_of(game.from_json(position))
    return players, options_json(options)


def first_state(game: Game[Any, Any], players: int, options: Any, position: JsonObject | None) -> Any:
    """The state a match starts from: the game's own, or the given position.

    Raises `PositionError` if the position is none, or one of other options or another number of players.
    """
    if position is None:
        return game.initial(players, options)
    state = game.from_json(position)
    state_players, state_options = game.match_of(state)
    if state_players != players:
        raise PositionError(f"the position is one of {state_players} players, the match has {players}")
    if options_json(state_options) != options_json(options):
        raise PositionError("the position's options are not those of the match")
    if not game.actors(state):
        raise PositionError("the position is one in which the game is over")
    return state


def recorded_spec(
    header: JsonObject, seats: tuple[SeatSpec, ...], key: bytes, level: Level, where: str = "record"
) -> MatchSpec:
    """The match that a record's `header`, whose form was checked, describes: with these bots, at this level.

    `key` is the match's key. Raises `ConfigError`, naming `where`, if its clock is none.
    """
    from warpleague.strict import structure

    seats = tuple(
        attrs.evolve(seat, clock=structure(entry["clock"], TimeControl, f"{where}: clock"))
        if "clock" in entry
        else seat
        for seat, entry in zip(seats, header["seats"], strict=True)
    )
    return MatchSpec(
        id=header["id"],
        game=header["game"],
        options=header["options"],
        seats=seats,
        key=key,
        seed=header["seed"],
        clock=structure(header["clock"], TimeControl, f"{where}: clock"),
        level=level,
        faults=header["faults"],
        strikes=header["strikes"],
        position=header["position"],
        parent=header.get("parent"),
        attempt=header.get("attempt", 0),
        again=header.get("again", 0),
        failures=header.get("failures", 0),
        note_bytes=header.get("note_bytes", NOTE_BYTES),
    )


def match_id(game: Game[Any, Any], spec: MatchSpec) -> str:
    """The id of a single match: 16 hexadecimal digits of a hash over everything that determines it."""
    from warpline.codec import canonical  # loads all messages

    determines = {
        "game": spec.game,
        "rules": game.rules_version,
        "options": spec.options,
        "seats": [seat.digest for seat in spec.seats],
        "clock": attrs.asdict(spec.clock),
        "faults": [spec.faults, spec.strikes],
        "level": spec.level,
        "position": spec.position,
        "format": FORMAT,  # the dice depend on it
        "key": sha256(spec.key).hexdigest(),  # the id of a secret match must not give its dice away
        **({} if spec.parent is None else {"parent": spec.parent}),
        **({"again": spec.again} if spec.again else {}),
        **({"failures": spec.failures} if spec.failures else {}),
        **({} if spec.note_bytes == NOTE_BYTES else {"note_bytes": spec.note_bytes}),
    }
    return sha256(canonical(determines)).hexdigest()[:16]
