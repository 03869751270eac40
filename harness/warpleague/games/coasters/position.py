"""Positions of coasters as JSON, read and written, what is wrong with a hand-made one, and what each seat sees."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import attrs

from warpleague.errors import OptionsError
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import (
    DELTAS,
    FACINGS,
    Facing,
    Systems,
    arrow_letters,
    galaxy,
    square_at,
)
from warpleague.games.coasters.rules import text_misfit, to_misfit
from warpleague.games.coasters.state import Options, State, check
from warpleague.games.reading import Whole, by_hand, distinct, fail, read, refuse, sized, within
from warpleague.games.values import Cache, decoded, encoded, mask, members, template

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from warpleague.games.api import JsonObject

Index: TypeAlias = Annotated[int, Whole(0, 9)]
"""A seat or a colour."""
Seats: TypeAlias = Annotated[list[Index], distinct]
_Coordinate: TypeAlias = Annotated[int, Whole(-9, 9)]
_IN_TURN: Final = (st.TURN, st.ALLY, st.CLAIMED)


@attrs.frozen
class System:
    """A laid coaster."""

    at: tuple[_Coordinate, _Coordinate]
    """its column and row on the coaster grid; square (3X, 3Y) is its top left corner"""
    rotation: Annotated[int, Whole(0, 3)]
    """quarter turns clockwise, 0 to 3: which table of `setup.arrows` it shows"""


@attrs.frozen
class Ship:
    """A ship."""

    at: tuple[int, int]
    """its column and row on the square grid, rows downward"""
    facing: Facing
    """the direction it faces"""
    hits: Annotated[int, Whole(1, st.HITS)] = by_hand(st.HITS)
    """hit points left: 3 at the start, destroyed at 0"""


@attrs.frozen
class SeenMessage:
    """A message that the viewer sent or received."""

    turn: int
    """the number of the turn or set-up decision in which it was sent"""
    seat: int
    """who sent it"""
    to: list[int]
    """to whom"""
    text: str
    """what it says"""


@attrs.frozen(kw_only=True)
class Position:
    """A whole position. By hand only `players`, `systems` and `ships` are needed."""

    options: dict[str, bool | int] = by_hand({})
    """the options of the game, all of them"""
    players: Annotated[int, Whole(2, 10)]
    """number of seats; colour c belongs to seat c % players"""
    phase: Literal["lay", "deploy", "colour", "roll", "turn", "ally", "claim", "over"] = by_hand("roll")
    """what is to be done: set-up (lay, deploy), choose the colour, roll the dice, act in the turn, answer an
    invocation (ally) or a claim"""
    round: int = by_hand(1)
    """number of the round, from 1"""
    turn: Annotated[int, Whole(1)] = by_hand(1)
    """number of the turn, set-up decisions included, from 1"""
    seat: Index | None = by_hand(st.NONE)
    """whose turn or set-up decision it is, null when the game is over"""
    colour: Index | None = by_hand(st.NONE)
    """the colour it plays, null while it must choose one and when the game is over"""
    asked: Seats = by_hand([])
    """seats that must still answer the question of `seat`, the next one first"""
    systems: list[System | None]
    """by colour: the home system, null if it is not laid"""
    ships: list[Ship | None]
    """by colour: the ship, null if it is not yet there or no more"""
    last: list[Index | None] = by_hand(lambda made: [None] * made["players"])
    """by seat: the colour it used last, null before its first turn and always with `free_colour`; the next is
    the first living one after it"""
    d6: Annotated[int, Whole(1, 6)] | None = by_hand(None)
    """the d6 of this turn, null before the roll"""
    flux: Literal["TIP", "SWAP", "HOP", "AIM", "DIG", "WILD"] | None = by_hand(None)
    """the flux die, null before the roll"""
    halves: int = by_hand(lambda made: 2 * (made["d6"] or 0))
    """movement left, in half points"""
    flux_used: bool = by_hand(False)
    """whether the flux was used in this turn"""
    agreed: Seats = by_hand([])
    """seats that confirmed the alliance in this turn"""
    refused: Seats = by_hand([])
    """seats that refused it in this turn"""
    claimed: bool = by_hand(lambda made: made["phase"] == "claim")
    """whether the claim was made in this turn"""
    eliminated: Seats = by_hand([])
    """seats whose last ship was destroyed, in order"""
    retired: Seats = by_hand([])
    """seats whose bot is out, in order"""
    why: st.Why | None = by_hand(None)
    """why the game is over, null while it goes on"""
    messages: list[SeenMessage] = by_hand([])
    """messages that the viewer sent or received in this turn and in the `players` turns before it"""


# -- writing ---------------------------------------------------------------------------------------------

_POSITION: Final = template(Position).replace(b'"ships":%b', b'"ships":[%b]').removesuffix(b"}") + b"%b}"
_SYSTEMS: Final = Cache[Systems, bytes](
    lambda systems: encoded([place and {"at": place[:2], "rotation": place[2]} for place in systems]), 256
)
_SHIP: Final = Cache[tuple[tuple[int, int], int, int], bytes](
    lambda ship: encoded({"at": ship[0], "facing": FACINGS[ship[1]], "hits": ship[2]})
)
_NUMBERS: Final = Cache[tuple[int, ...], bytes](encoded)
_SEATS: Final = Cache[int, bytes](lambda seats: encoded(members(seats)))
_LAST: Final = Cache[tuple[int, ...], bytes](
    lambda last: encoded([None if colour < 0 else colour for colour in last])
)
_PHASES: Final = tuple(map(encoded, st.PHASES))
_FLUX: Final = tuple(map(encoded, (*st.FLUX, None)))
_INDEX: Final = tuple(map(encoded, (*range(10), None)))
"""Seats, colours and pips; of index -1: null."""
_BOOL: Final = (b"false", b"true")


def position_json(state: State, messages: Iterable[st.Message], more: bytes = b"") -> bytes:
    """The JSON of the position, with these of its messages, and with `more` fields after its own."""
    table = state.table
    xy, hits = table.galaxy.xy, table.hits
    ships = [
        b"null" if pose < 0 else _SHIP[xy[pose >> 2], pose & 3, hits[colour]]
        for colour, pose in enumerate(state.ships)
    ]
    talk = [{"turn": one.turn, "seat": one.seat, "to": one.to, "text": one.text} for one in messages]
    return _POSITION % (
        table.config.options_json, table.config.players, _PHASES[state.phase], table.round, table.turn,
        _INDEX[state.seat], _INDEX[state.colour], _NUMBERS[state.asked], _SYSTEMS[table.systems],
        b",".join(ships), _LAST[table.last], _INDEX[state.d6 or -1], _FLUX[state.flux], state.halves,
        _BOOL[state.fluxed], _SEATS[state.agreed], _SEATS[state.refused], _BOOL[state.claimed],
        _NUMBERS[table.eliminated], _NUMBERS[table.retired], encoded(table.why),
        encoded(talk) if talk else b"[]", more,
    )  # fmt: skip


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(position_json(state, state.table.messages))
    return data


# -- reading ---------------------------------------------------------------------------------------------


def state_of(data: JsonObject) -> State:
    """The state that a position describes, or a view; all of it is there and fits."""
    config, phase = st.config(data["players"], Options(**data["options"])), st.PHASES.index(data["phase"])
    systems = _systems(data["systems"])
    eliminated, retired = tuple(data["eliminated"]), tuple(data["retired"])
    alive = (1 << config.players) - 1 & ~mask(eliminated + retired)
    poses, hits, occupied = [], [], 0
    for colour, ship in enumerate(data["ships"]):
        if ship is None:
            poses.append(st.NONE)
            hits.append(st.HITS if phase <= st.DEPLOY and alive >> colour % config.players & 1 else 0)
        else:
            square = square_at(systems, *ship["at"])
            occupied |= 1 << square
            poses.append(4 * square + FACINGS.index(ship["facing"]))
            hits.append(ship["hits"])
    said = [st.Message(one["turn"], one["seat"], tuple(one["to"]), one["text"]) for one in data["messages"]]
    seat, colour, *last = [
        st.NONE if number is None else number for number in (data["seat"], data["colour"], *data["last"])
    ]
    flux = st.FLUX.index(data["flux"]) if data["flux"] else st.NONE
    table = st.Table(
        config, systems, st.UNBUILT if phase == st.LAY else galaxy(systems), tuple(hits), alive, eliminated,
        retired, data["round"], data["turn"], tuple(last), tuple(said), data["why"],
    )  # fmt: skip
    return st.State(
        table, tuple(poses), occupied, phase, seat, colour, data["d6"] or 0, flux, data["halves"],
        data["flux_used"], mask(data["agreed"]), mask(data["refused"]), data["claimed"], tuple(data["asked"]),
    )  # fmt: skip


def _systems(systems: list[JsonObject | None]) -> Systems:
    return tuple([None if place is None else (*place["at"], place["rotation"]) for place in systems])


def from_json(data: object) -> State:
    """The position that `data` describes; `PositionError` names what is wrong."""
    form = read(Position, data)
    options = read(Options, form.options, "options")
    try:
        check(form.players, options)
    except OptionsError as error:
        fail("options", str(error))
    checker = _Checker(form, st.config(form.players, options))
    checker.check()
    filled = {"seat": checker.seat, "colour": checker.colour, "last": checker.last}
    return state_of({**attrs.asdict(form), **filled})


class _Checker:
    """Checks whether the parts of a position fit each other, and fills in `seat`, `colour` and `last`."""

    def __init__(self, form: Position, config: st.Config) -> None:
        self.form = form
        self.config = config
        self.phase = st.PHASES.index(form.phase)
        self.set_up, self.over = self.phase <= st.DEPLOY, self.phase == st.OVER

    def check(self) -> None:
        """Check everything; the order is that in which the parts depend on each other."""
        within("round", self.form.round, 1, self.config.options.max_rounds)
        self.check_survivors()
        self.check_seat()
        self.check_systems()
        self.check_ships()
        self.check_colour()
        self.check_messages()
        self.check_why()
        self.check_roll()
        self.check_answers()

    def seats(self, path: str, seats: list[int], allowed: int) -> int:
        """The set of `seats`, which must be of the set `allowed`."""
        for i, seat in enumerate(seats):
            refuse(not allowed >> seat & 1, f"{path}[{i}]", f"must not name seat {seat}")
        return mask(seats)

    def own(self, seat: int) -> range:
        return range(seat, self.config.ships, self.config.players)

    def check_survivors(self) -> None:
        form, everyone = self.form, (1 << self.form.players) - 1
        left = everyone & ~self.seats("retired", form.retired, everyone)
        self.alive = left & ~self.seats("eliminated", form.eliminated, 0 if self.set_up else left)
        self.alone = not self.alive & self.alive - 1
        few = self.alone and not self.over
        refuse(few, "", "must have at least two surviving seats unless its phase is over")
        none = not self.alive and not form.retired
        refuse(none, "eliminated", "must leave a seat: the game ends with the last but one")
        # E5: all others may be out before the survivor has laid its coasters and put down its ships
        self.early = self.over and not form.eliminated and self.alone

    def check_seat(self) -> None:
        """The seat, by default the first survivor, whatever it is at the end; in the set-up its colour."""
        form, seat = self.form, self.form.seat
        if seat == st.NONE:
            seat = next(iter(members(self.alive)), 0)
        if seat is not None or not self.over:
            within("seat", seat, 0, form.players - 1)
        self.seat = st.NONE if self.over or seat is None else seat
        refuse(not self.over and not self.alive >> self.seat & 1, "seat", "must be a surviving seat")
        self.colour = form.colour
        if self.set_up:
            self.colour = self.seat if form.colour == st.NONE else form.colour
            within("colour", self.colour, 0, self.config.ships - 1)
            refuse(self.colour not in self.own(self.seat), "colour", f"must be a colour of seat {self.seat}")

    def check_systems(self) -> None:
        systems, taken = self.form.systems, set[tuple[int, int]]()
        sized("systems", systems, self.config.ships)
        for colour, system in enumerate(systems):
            path, laying = f"systems[{colour}]", self.phase == st.LAY and colour >= (self.colour or 0)
            if system is None:
                spared = laying or self.early or colour % self.form.players in self.form.retired
                refuse(not spared, path, "must be laid: only retired seats may lack a coaster")
                continue
            refuse(laying, path, "must be null: it is not laid yet")
            refuse(system.at in taken, f"{path}.at", "is the place of another coaster")
            taken.add(system.at)
        off = taken and (0, 0) not in taken
        refuse(off, "systems", "must have a coaster at [0, 0], the first one's place")
        pending = [(0, 0)]
        while pending:
            x, y = pending.pop()
            beside = {(x + dx, y + dy) for dx, dy in DELTAS} & taken
            taken -= {(x, y), *beside}
            pending += beside
        refuse(taken, "systems", "must lie side by side in one piece")

    def check_ships(self) -> None:
        systems = _systems(attrs.asdict(self.form)["systems"])
        sized("ships", self.form.ships, self.config.ships)
        squares = set()
        for colour, ship in enumerate(self.form.ships):
            path, alive = f"ships[{colour}]", self.alive >> colour % self.form.players & 1
            to_come = self.set_up and (self.phase == st.LAY or colour >= (self.colour or 0))
            if ship is None:
                gone = self.set_up and alive and not to_come
                refuse(gone, path, "must be a ship: it was put down already")
                continue
            refuse(not alive or to_come, path, "must be null: there is no such ship now")
            square = square_at(systems, *ship.at)
            refuse(square < 0, f"{path}.at", f"is not on a coaster: {list(ship.at)}")
            refuse(square in squares, f"{path}.at", f"is the square of another ship: {list(ship.at)}")
            if self.set_up:
                refuse(square // 9 != colour, f"{path}.at", "must be on its own coaster in the set-up")
                within(f"{path}.hits", ship.hits, st.HITS, st.HITS)
            squares.add(square)
        for seat in () if self.set_up or self.early else members(self.alive):
            gone = not any(self.form.ships[colour] for colour in self.own(seat))
            refuse(gone, "ships", f"must have a ship of seat {seat}: it is neither eliminated nor retired")

    def check_colour(self) -> None:
        """The colours used last; in a turn the colour is the next in order if it is not given, and has a ship."""
        form, seat, free = self.form, self.seat, self.config.options.free_colour
        self.last, choosing = [*form.last], self.phase == st.CHOOSE
        sized("last", form.last, form.players)
        for owner, used in enumerate(form.last):
            if used is not None:
                fixed = self.set_up or free
                refuse(fixed, f"last[{owner}]", "must be null in the set-up and with free_colour")
                refuse(used not in self.own(owner), f"last[{owner}]", f"must be a colour of seat {owner}")
        refuse(choosing and not free, "phase", "must not be colour without the option free_colour")
        if self.set_up:
            return
        colour = None if form.colour == st.NONE else form.colour
        if choosing or self.over:
            refuse(colour is not None, "colour", f"must be null in phase {form.phase}")
        else:
            last = form.last[seat]
            own = [one for one in self.own(seat) if form.ships[one]]
            if colour is None:  # the next one in order (V1)
                colour = min(own, key=lambda one: (last is not None and one <= last, one))
            else:
                refuse(colour not in own, "colour", f"must be a colour of seat {seat} that has a ship")
                other = last not in (None, colour)
                refuse(other, f"last[{seat}]", f"must be null or {colour}, which plays now")
            if not free:
                self.last[seat] = colour
        self.colour = colour

    def check_messages(self) -> None:
        turn, players = self.form.turn, self.form.players
        earliest, sent = max(1, turn - players), Counter[tuple[int, int]]()
        for i, message in enumerate(self.form.messages):
            path, key = f"messages[{i}]", (message.turn, message.seat)
            refuse(not self.config.talks, path, "must not be: there is no talk in this game")
            within(f"{path}.turn", message.turn, earliest, turn)
            within(f"{path}.seat", message.seat, 0, players - 1)
            misfit = to_misfit(message.to, message.seat, players) or text_misfit(message.text)
            refuse(misfit, path, f"does not fit: {misfit}")
            earliest = message.turn
            sent[key] += 1
            many = sent[key] > st.MESSAGES_A_TURN
            refuse(many, path, f"is one too many: a seat sends at most {st.MESSAGES_A_TURN} a turn")

    def check_why(self) -> None:
        why = self.form.why
        refuse(why and not self.over, "why", "must be null while the game goes on")
        refuse(self.over and not why, "why", f"must be one of {', '.join(st.WHYS)}, not null")
        # E5: a bot can be out after the end too, and leave fewer than have won
        one = why not in (None, st.LAST_SHIP) and self.alone and not self.form.retired
        refuse(one, "why", "must be last-ship where one seat is left")
        refuse(why == st.LAST_SHIP and not self.alone, "why", f"must not be {why} here")
        refuse(why == st.CLAIM_CONFIRMED and not self.config.talks, "why", f"must not be {why} here")

    def check_roll(self) -> None:
        form = self.form
        if self.phase not in _IN_TURN:
            rolled = form.d6 or form.flux or form.flux_used
            refuse(rolled, "", f"must have no roll (d6, flux, flux_used) in phase {form.phase}")
        else:
            within("d6", form.d6, 1, 6)
            refuse(form.flux is None, "flux", f"must be one of {', '.join(st.FLUX)}, not null")
        within("halves", form.halves, 0, 2 * (form.d6 or 0))
        useless = form.flux == "TIP" or (form.flux == "WILD" and self.config.options.wild_shot)
        refuse(form.flux_used and useless, "flux_used", f"must be false: {form.flux} gives no flux action")

    def check_answers(self) -> None:
        """Who agreed and who refused; the claim and who is asked."""
        form, claim = self.form, self.phase == st.CLAIMED
        talking, asking = self.phase in _IN_TURN and self.config.talks, claim or self.phase == st.ALLY
        others = self.alive & ~(1 << self.seat) if talking else 0
        agreed = self.seats("agreed", form.agreed, others)
        refused = self.seats("refused", form.refused, others & ~agreed)
        can_claim = talking and None in form.ships
        refuse(form.claimed and not can_claim, "claimed", "must be false: no claim is possible here")
        refuse(claim and not form.claimed, "claimed", "must be true in phase claim")
        refuse(asking and not talking, "phase", "must be another: there are no alliances in this game")
        left = others if claim else others & ~(agreed | refused) if asking else 0
        self.seats("asked", form.asked, left)
        wrong = not form.asked or (len(form.asked) > 1 and not claim)
        refuse(asking and wrong, "asked", "must name one seat (ally) or all seats still to answer (claim)")
        order = sorted(members(others), key=lambda seat: (seat - self.seat) % form.players)
        wrong = form.asked != order[len(order) - len(form.asked) :]
        refuse(claim and wrong, "asked", f"must be the end of {order}, the order of the answers")


# -- view ------------------------------------------------------------------------------------------------
# The view of a seat in coasters: all but the messages of others.


@attrs.frozen(kw_only=True)
class View(Position):
    """The view of a seat: all of the position except messages between others."""

    you: int
    """the viewer's seat"""
    messages_left: int
    """how many messages the viewer may still send in this turn"""


@attrs.frozen
class Setup:
    """The fixed part."""

    players: int
    """number of seats"""
    colours: int
    """number of colours in the game; colour c belongs to seat c % players"""
    facings: list[Facing]
    """the directions in the order of one turn to the right each"""
    flux: list[str]
    """the faces of the flux die in the order of the recorded roll"""
    arrows: list[list[list[str]]]
    """by rotation, row and column of a coaster: the directions of the arrows that leave the square"""
    hits: int
    """hit points of a ship"""
    talk: bool
    """whether there are alliances and talk"""


def setup(state: State) -> JsonObject:
    """The static facts, as described by `Setup`."""
    facts = state.table.config
    return {
        "players": facts.players,
        "colours": facts.ships,
        "facings": list(FACINGS),
        "flux": list(st.FLUX),
        "arrows": [[list(row) for row in arrow_letters(rotation)] for rotation in range(4)],
        "hits": st.HITS,
        "talk": facts.talks,
    }


def view(state: State, seat: int) -> JsonObject:
    """Everything `seat` may know, as described by `View` (A1: only talk is hidden)."""
    data: JsonObject = decoded(view_json(state, seat))
    return data


def view_json(state: State, seat: int) -> bytes:
    """The same in its bytes."""
    table = state.table
    heard = [message for message in table.messages if seat == message.seat or seat in message.to]
    return position_json(
        state, heard, b',"you":%d,"messages_left":%d' % (seat, st.messages_left(table, seat))
    )


def determinize(view: JsonObject, seat: int, rng: Random) -> State:
    """A position in which nothing was said that the viewer did not hear: the simplest that fits."""
    return state_of(view)
