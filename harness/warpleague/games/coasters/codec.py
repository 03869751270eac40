"""Reads and writes whole positions as JSON, and refuses what is no position with the path of the misfit.

Leaves what a single seat sees to `view`. Of a hand-made position only `players`, `systems` and `ships` are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

import attrs

from warpleague.errors import OptionsError, PositionError
from warpleague.games.coasters import state as st
from warpleague.games.coasters.course import next_of
from warpleague.games.coasters.geometry import DELTAS, FACINGS, Place, Systems, galaxy, square_at
from warpleague.games.coasters.options import Options, check
from warpleague.games.coasters.parse import text_misfit, to_misfit
from warpleague.games.coasters.state import State, Table
from warpleague.games.coasters.view import message_json, public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpleague.games.api import JsonObject

_KEYS: Final = (
    "options", "players", "phase", "round", "turn", "seat", "colour", "asked", "systems", "ships", "last", "d6",
    "flux", "halves", "flux_used", "agreed", "refused", "claimed", "eliminated", "retired", "why", "messages",
)  # fmt: skip
_LARGEST: Final = (1 << 53) - 1
_IN_TURN: Final = (st.TURN, st.ALLY, st.CLAIMED)


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data = public(state)
    data["messages"] = [message_json(message) for message in state.table.messages]
    return data


def from_view(view: JsonObject) -> State:
    """A position in which nothing was said that the viewer did not hear."""
    return from_json({key: view[key] for key in _KEYS})


def from_json(data: object) -> State:
    """The position that `data` describes; `PositionError` names what is wrong."""
    return _Reader(data).state()


def _fail(path: str, text: str) -> NoReturn:
    raise PositionError(f"coasters position: {path} {text}")


def _show(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _whole(value: object, path: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        _fail(path, f"must be a whole number from {low} to {high}, not {_show(value)}")
    return value


def _flag(value: object, path: str) -> bool:
    if type(value) is not bool:
        _fail(path, f"must be true or false, not {_show(value)}")
    return value


def _word(value: object, path: str, words: Sequence[str]) -> int:
    if not isinstance(value, str) or value not in words:
        _fail(path, f"must be one of {', '.join(words)}, not {_show(value)}")
    return words.index(value)


def _list(value: object, path: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        _fail(path, f"must be a list{'' if length is None else f' of {length}'}, not {_show(value)}")
    return value


def _object(value: object, path: str, keys: Sequence[str], needed: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(path, f"must be an object, not {_show(value)}")
    for key in value:
        if key not in keys:
            _fail(path, f"has the unknown key {_show(key)}; it may have {', '.join(keys)}")
    for key in needed:
        if key not in value:
            _fail(path, f"lacks the key {key!r}")
    return value


class _Reader:
    """Reads one position; the order of the methods is the order in which the parts depend on each other."""

    def __init__(self, data: object) -> None:
        self.data = _object(data, "$", _KEYS, ("players", "systems", "ships"))

    def state(self) -> State:
        """The position, all parts checked one by one and against each other."""
        get = self.data.get
        self.players = _whole(get("players"), "$.players", 2, 10)
        self.config = st.config(self.players, self.options())
        self.ships_count = self.config.ships
        self.phase = _word(get("phase", "roll"), "$.phase", st.PHASES)
        rounds = _whole(get("round", 1), "$.round", 1, min(self.config.options.max_rounds, _LARGEST))
        turn = _whole(get("turn", 1), "$.turn", 1, _LARGEST)
        self.gone()
        self.seat = self.read_seat()
        self.last = self.read_last()
        self.systems = self.read_systems()
        self.colour = self.set_up_colour()
        self.check_laid()
        board = st.UNBUILT if self.phase == st.LAY else galaxy(self.systems)
        poses, hits, occupied = self.read_ships()
        self.choose_colour(poses)
        table = Table(
            self.config,
            self.systems,
            board,
            hits,
            self.alive,
            self.eliminated,
            self.retired,
            rounds,
            turn,
            self.last,
            self.read_messages(turn),
            self.read_why(),
        )
        d6, flux, halves, fluxed = self.read_roll()
        agreed, refused = self.read_words()
        claimed = self.read_claimed(poses)
        asked = self.read_asked(agreed | refused)
        return State(
            table, poses, occupied, self.phase, self.seat, self.colour, d6, flux, halves, fluxed, agreed, refused,
            claimed, asked,
        )  # fmt: skip

    def options(self) -> Options:
        names = [field.name for field in attrs.fields(Options)]
        given = _object(self.data.get("options", {}), "$.options", names, ())
        try:
            options = Options(**given)
            check(self.players, options)
        except OptionsError as error:
            _fail("$.options", f"do not fit: {error}")
        return options

    def seats(self, key: str, allowed: int) -> tuple[int, ...]:
        """A list of distinct seats out of the set `allowed`."""
        found: list[int] = []
        for index, value in enumerate(_list(self.data.get(key, []), f"$.{key}")):
            seat = _whole(value, f"$.{key}[{index}]", 0, self.players - 1)
            if seat in found:
                _fail(f"$.{key}[{index}]", f"names seat {seat} twice")
            if not allowed >> seat & 1:
                _fail(f"$.{key}[{index}]", f"must not name seat {seat}")
            found.append(seat)
        return tuple(found)

    def gone(self) -> None:
        everyone = (1 << self.players) - 1
        self.retired = self.seats("retired", everyone)
        left = everyone & ~sum(1 << seat for seat in self.retired)
        self.eliminated = self.seats("eliminated", left if self.phase > st.DEPLOY else 0)
        self.alive = left & ~sum(1 << seat for seat in self.eliminated)
        if self.phase != st.OVER and not self.alive & self.alive - 1:
            _fail("$", "must have at least two surviving seats unless its phase is over")
        if not self.alive and not self.retired:
            _fail("$.eliminated", "must leave a seat: the game ends with the last but one")
        # E5: all others may be out before the survivor has laid its coasters and put down its ships
        self.early = self.phase == st.OVER and not self.eliminated and not self.alive & self.alive - 1

    def read_seat(self) -> int:
        """The seat whose turn it is, by default the first survivor's; -1 at the end, whatever seat is given."""
        first = next(iter(st.members(self.alive)), 0)
        given = self.data.get("seat", first)
        if self.phase == st.OVER and given is None:
            return st.NONE
        seat = _whole(given, "$.seat", 0, self.players - 1)
        if self.phase == st.OVER:
            return st.NONE
        if not self.alive >> seat & 1:
            _fail("$.seat", "must be a surviving seat")
        return seat

    def own(self, seat: int) -> range:
        return range(seat, self.ships_count, self.players)

    def read_last(self) -> tuple[int, ...]:
        values = _list(self.data.get("last", [None] * self.players), "$.last", self.players)
        fixed = self.phase <= st.DEPLOY or self.config.options.free_colour
        for seat, value in enumerate(values):
            if value is not None:
                path = f"$.last[{seat}]"
                if fixed:
                    _fail(path, "must be null in the set-up and with free_colour")
                if _whole(value, path, 0, self.ships_count - 1) not in self.own(seat):
                    _fail(path, f"must be a colour of seat {seat}")
        return tuple(st.NONE if value is None else value for value in values)

    def read_systems(self) -> Systems:
        systems: list[Place | None] = []
        taken: set[tuple[int, int]] = set()
        for colour, value in enumerate(_list(self.data["systems"], "$.systems", self.ships_count)):
            path = f"$.systems[{colour}]"
            if value is None:
                systems.append(None)
                continue
            laid = _object(value, path, ("at", "rotation"), ("at", "rotation"))
            x, y = (_whole(part, f"{path}.at", -9, 9) for part in _list(laid["at"], f"{path}.at", 2))
            if (x, y) in taken:
                _fail(f"{path}.at", "is the place of another coaster")
            taken.add((x, y))
            systems.append((x, y, _whole(laid["rotation"], f"{path}.rotation", 0, 3)))
        if taken:
            if (0, 0) not in taken:
                _fail("$.systems", "must have a coaster at [0, 0], the first one's place")
            reached, pending = {(0, 0)}, [(0, 0)]
            while pending:
                x, y = pending.pop()
                new = {(x + dx, y + dy) for dx, dy in DELTAS} & taken - reached
                reached |= new
                pending += new
            if reached != taken:
                _fail("$.systems", "must lie side by side in one piece")
        return tuple(systems)

    def set_up_colour(self) -> int:
        """The colour of a set-up decision; -1 in the other phases."""
        if self.phase > st.DEPLOY:
            return st.NONE
        colour = _whole(self.data.get("colour", self.seat), "$.colour", 0, self.ships_count - 1)
        if colour % self.players != self.seat:
            _fail("$.colour", f"must be a colour of seat {self.seat}")
        return colour

    def check_laid(self) -> None:
        for colour, place in enumerate(self.systems):
            path = f"$.systems[{colour}]"
            laying = self.phase == st.LAY and colour >= self.colour
            if laying and place is not None:
                _fail(path, "must be null: it is not laid yet")
            if not (laying or self.early or place is not None or colour % self.players in self.retired):
                _fail(path, "must be laid: only retired seats may lack a coaster")

    def read_ships(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        poses, hits, occupied = [], [], 0
        for colour, value in enumerate(_list(self.data["ships"], "$.ships", self.ships_count)):
            path = f"$.ships[{colour}]"
            alive = bool(self.alive >> colour % self.players & 1)
            set_up = self.phase == st.LAY or (self.phase == st.DEPLOY and colour >= self.colour)
            if value is None:
                if self.phase == st.DEPLOY and alive and not set_up:
                    _fail(path, "must be a ship: it was put down already")
                poses.append(st.NONE)
                hits.append(st.HITS if alive and self.phase <= st.DEPLOY else 0)
                continue
            if not alive or set_up:
                _fail(path, "must be null: there is no such ship now")
            ship = _object(value, path, ("at", "facing", "hits"), ("at", "facing"))
            x, y = (_whole(part, f"{path}.at", -27, 29) for part in _list(ship["at"], f"{path}.at", 2))
            square = square_at(self.systems, x, y)
            if square < 0:
                _fail(f"{path}.at", f"is not on a coaster: {[x, y]}")
            if self.phase == st.DEPLOY and square // 9 != colour:
                _fail(f"{path}.at", "must be on its own coaster in the set-up")
            if occupied >> square & 1:
                _fail(f"{path}.at", f"is the square of another ship: {[x, y]}")
            occupied |= 1 << square
            poses.append(4 * square + _word(ship["facing"], f"{path}.facing", FACINGS))
            low = st.HITS if self.phase == st.DEPLOY else 1
            hits.append(_whole(ship.get("hits", st.HITS), f"{path}.hits", low, st.HITS))
        if self.phase > st.DEPLOY and not self.early:
            for seat in st.members(self.alive):
                if all(poses[colour] < 0 for colour in self.own(seat)):
                    _fail("$.ships", f"must have a ship of seat {seat}: it is neither eliminated nor retired")
        return tuple(poses), tuple(hits), occupied

    def read_messages(self, turn: int) -> tuple[st.Message, ...]:
        found: list[st.Message] = []
        sent: dict[tuple[int, int], int] = {}
        for index, value in enumerate(_list(self.data.get("messages", []), "$.messages")):
            path = f"$.messages[{index}]"
            keys = ("turn", "seat", "to", "text")
            message = _object(value, path, keys, keys)
            if not self.config.talks:
                _fail(path, "must not be: there is no talk in this game")
            earliest = max(1, turn - self.players, found[-1].turn if found else 1)
            when = _whole(message["turn"], f"{path}.turn", earliest, turn)
            seat = _whole(message["seat"], f"{path}.seat", 0, self.players - 1)
            misfit = to_misfit(message["to"], seat, self.players) or text_misfit(message["text"])
            if misfit:
                _fail(path, f"does not fit: {misfit}")
            sent[when, seat] = sent.get((when, seat), 0) + 1
            if sent[when, seat] > st.MESSAGES_A_TURN:
                _fail(path, f"is one too many: a seat sends at most {st.MESSAGES_A_TURN} a turn")
            found.append(st.Message(when, seat, tuple(message["to"]), message["text"]))
        return tuple(found)

    def read_why(self) -> str:
        value = self.data.get("why")
        if self.phase != st.OVER:
            if value is not None:
                _fail("$.why", "must be null while the game goes on")
            return ""
        whys = (st.LAST_SHIP, st.CLAIM_CONFIRMED, st.MAX_ROUNDS)
        why = whys[_word(value, "$.why", whys)]
        # E5: a bot can be out after the end too, and leave fewer than have won
        if why != st.LAST_SHIP and not self.alive & self.alive - 1 and not self.retired:
            _fail("$.why", "must be last-ship where one seat is left")
        if (why == st.LAST_SHIP and self.alive & self.alive - 1) or (
            why == st.CLAIM_CONFIRMED and not self.config.talks
        ):
            _fail("$.why", f"must not be {why} here")
        return why

    def choose_colour(self, poses: tuple[int, ...]) -> None:
        """The colour of a turn: the next in order if it is not given, and one with a ship."""
        if self.phase <= st.DEPLOY:
            return
        free = self.config.options.free_colour
        if self.phase == st.CHOOSE and not free:
            _fail("$.phase", "must not be colour without the option free_colour")
        given = self.data.get("colour")
        if self.phase in (st.CHOOSE, st.OVER):
            if given is not None:
                _fail("$.colour", f"must be null in phase {st.PHASES[self.phase]}")
            return
        last = self.last[self.seat]
        if given is None:
            self.colour = next_of(self.config, last, poses, self.seat)
        else:
            self.colour = _whole(given, "$.colour", 0, self.ships_count - 1)
            if self.colour % self.players != self.seat or poses[self.colour] < 0:
                _fail("$.colour", f"must be a colour of seat {self.seat} that has a ship")
            if last not in (st.NONE, self.colour):
                _fail(f"$.last[{self.seat}]", f"must be null or {self.colour}, which plays now")
        if not free:
            self.last = (*self.last[: self.seat], self.colour, *self.last[self.seat + 1 :])

    def read_roll(self) -> tuple[int, int, int, bool]:
        d6, flux = self.data.get("d6"), self.data.get("flux")
        halves, used = self.data.get("halves", 0), _flag(self.data.get("flux_used", False), "$.flux_used")
        if self.phase not in _IN_TURN:
            if d6 is not None or flux is not None or used or _whole(halves, "$.halves", 0, 0):
                _fail("$", f"must have no roll (d6, flux, flux_used) in phase {st.PHASES[self.phase]}")
            return 0, st.NONE, 0, False
        pips, face = _whole(d6, "$.d6", 1, 6), _word(flux, "$.flux", st.FLUX)
        wild_shot = face == st.WILD and self.config.options.wild_shot
        if used and (face == st.TIP or wild_shot):
            _fail("$.flux_used", f"must be false: {flux} gives no flux action")
        left = _whole(self.data.get("halves", 2 * pips), "$.halves", 0, 2 * pips)
        return pips, face, left, used

    def read_words(self) -> tuple[int, int]:
        talking = self.phase in _IN_TURN and self.config.talks
        others = self.alive & ~(1 << self.seat) if talking else 0
        agreed = sum(1 << seat for seat in self.seats("agreed", others))
        refused = sum(1 << seat for seat in self.seats("refused", others & ~agreed))
        return agreed, refused

    def read_claimed(self, poses: tuple[int, ...]) -> bool:
        claimed = _flag(self.data.get("claimed", self.phase == st.CLAIMED), "$.claimed")
        allowed = self.phase in _IN_TURN and self.config.talks and st.NONE in poses
        if claimed and not allowed:
            _fail("$.claimed", "must be false: no claim is possible here")
        if self.phase == st.CLAIMED and not claimed:
            _fail("$.claimed", "must be true in phase claim")
        return claimed

    def read_asked(self, answered: int) -> tuple[int, ...]:
        if self.phase not in (st.ALLY, st.CLAIMED):
            return self.seats("asked", 0)
        if not self.config.talks:
            _fail("$.phase", "must be another: there are no alliances in this game")
        others = self.alive & ~(1 << self.seat)
        asked = self.seats("asked", others & ~answered if self.phase == st.ALLY else others)
        if not asked or (self.phase == st.ALLY and len(asked) > 1):
            _fail("$.asked", "must name one seat (ally) or all seats still to answer (claim)")
        if self.phase == st.CLAIMED:
            order = sorted(st.members(others), key=lambda seat: (seat - self.seat) % self.players)
            if list(asked) != order[len(order) - len(asked) :]:
                _fail("$.asked", f"must be the end of {order}, the order of the answers")
        return asked
