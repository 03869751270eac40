"""Positions of coasters as JSON, and what is wrong with one that somebody wrote by hand.

Of a position made by hand only `players`, `systems` and `ships` are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.errors import OptionsError
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import DELTAS, FACINGS, Place, Systems, galaxy, square_at
from warpleague.games.coasters.rules import next_of, text_misfit, to_misfit
from warpleague.games.coasters.state import Message, Options, State, Table, check
from warpleague.games.reading import Given
from warpleague.games.values import Cache, decoded, encoded, mask, members, replaced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.api import JsonObject

KEYS: Final = (
    "options", "players", "phase", "round", "turn", "seat", "colour", "asked", "systems", "ships", "last", "d6",
    "flux", "halves", "flux_used", "agreed", "refused", "claimed", "eliminated", "retired", "why", "messages",
)  # fmt: skip
_LARGEST: Final = (1 << 53) - 1
_IN_TURN: Final = (st.TURN, st.ALLY, st.CLAIMED)


def message_json(message: Message) -> JsonObject:
    """The JSON form of a message."""
    return {"turn": message.turn, "seat": message.seat, "to": list(message.to), "text": message.text}


_SYSTEMS: Final = Cache[Systems, bytes](
    lambda systems: encoded(
        [None if place is None else {"at": place[:2], "rotation": place[2]} for place in systems]
    ),
    256,
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
_FLUX: Final = tuple(map(encoded, st.FLUX))
_BOOL: Final = (b"false", b"true")


def position_json(state: State, messages: Iterable[Message], more: bytes = b"") -> bytes:
    """The JSON of the position, with these of its messages, and with `more` fields after its own."""
    table = state.table
    facts = table.config
    xy, hits = table.galaxy.xy, table.hits
    ships = [
        b"null" if pose < 0 else _SHIP[xy[pose >> 2], pose & 3, hits[colour]]
        for colour, pose in enumerate(state.ships)
    ]
    talk = [message_json(message) for message in messages]
    return (
        b'{"options":%b,"players":%d,"phase":%b,"round":%d,"turn":%d,"seat":%b,"colour":%b,"asked":%b,'
        b'"systems":%b,"ships":[%b],"last":%b,"d6":%b,"flux":%b,"halves":%d,"flux_used":%b,"agreed":%b,'
        b'"refused":%b,"claimed":%b,"eliminated":%b,"retired":%b,"why":%b,"messages":%b%b}'
    ) % (
        facts.options_json,
        facts.players,
        _PHASES[state.phase],
        table.round,
        table.turn,
        b"null" if state.seat < 0 else b"%d" % state.seat,
        b"null" if state.colour < 0 else b"%d" % state.colour,
        _NUMBERS[state.asked],
        _SYSTEMS[table.systems],
        b",".join(ships),
        _LAST[table.last],
        b"%d" % state.d6 if state.d6 else b"null",
        _FLUX[state.flux] if state.d6 else b"null",
        state.halves,
        _BOOL[state.fluxed],
        _SEATS[state.agreed],
        _SEATS[state.refused],
        _BOOL[state.claimed],
        _NUMBERS[table.eliminated],
        _NUMBERS[table.retired],
        encoded(table.why),
        encoded(talk) if talk else b"[]",
        more,
    )


def to_json(state: State) -> JsonObject:
    """The whole position."""
    data: JsonObject = decoded(position_json(state, state.table.messages))
    return data


def from_json(data: object) -> State:
    """The position that `data` describes; `PositionError` names what is wrong."""
    return _Reader(data).state()


class _Reader:
    """Reads one position; the order of the methods is the order in which the parts depend on each other."""

    def __init__(self, data: object) -> None:
        self.top = Given(data)
        self.data = self.top.fields(*KEYS)

    def state(self) -> State:
        """The position, all parts checked one by one and against each other."""
        get = self.data.get
        self.players = self.data["players"].whole(2, 10)
        self.config = st.config(self.players, self.options())
        self.ships_count = self.config.ships
        self.phase = get("phase", "roll").index(st.PHASES)
        rounds = get("round", 1).whole(1, self.config.options.max_rounds)
        turn = get("turn", 1).whole(1, _LARGEST)
        self.gone()
        self.seat = self.read_seat()
        self.last = self.read_last()
        self.systems = self.read_systems()
        self.colour = self.set_up_colour()
        self.check_laid()
        board = st.UNBUILT if self.phase == st.LAY else galaxy(self.systems)
        poses, hits, occupied = self.read_ships()
        self.choose_colour(poses)
        messages, why = self.read_messages(turn), self.read_why()
        table = Table(
            self.config, self.systems, board, hits, self.alive, self.eliminated, self.retired, rounds, turn,
            self.last, messages, why,
        )  # fmt: skip
        d6, flux, halves, fluxed = self.read_roll()
        agreed, refused = self.read_words()
        claimed = self.read_claimed(poses)
        asked = self.read_asked(agreed | refused)
        return State(
            table, poses, occupied, self.phase, self.seat, self.colour, d6, flux, halves, fluxed, agreed, refused,
            claimed, asked,
        )  # fmt: skip

    def options(self) -> Options:
        given = self.data.get("options", {})
        options = given.options(Options)
        try:
            check(self.players, options)
        except OptionsError as error:
            given.fail(str(error))
        return options

    def seats(self, key: str, allowed: int) -> tuple[int, ...]:
        """A list of distinct seats out of the set `allowed`."""
        given = self.data.get(key, [])
        numbers = given.distinct(0, self.players - 1)
        for item in given.items():
            if not allowed >> item.whole(0, self.players - 1) & 1:
                item.fail(f"must not name seat {item.value}")
        return numbers

    def gone(self) -> None:
        everyone = (1 << self.players) - 1
        self.retired = self.seats("retired", everyone)
        left = everyone & ~mask(self.retired)
        self.eliminated = self.seats("eliminated", left if self.phase > st.DEPLOY else 0)
        self.alive = left & ~mask(self.eliminated)
        if self.phase != st.OVER and not self.alive & self.alive - 1:
            self.top.fail("must have at least two surviving seats unless its phase is over")
        if not self.alive and not self.retired:
            self.data.get("eliminated").fail("must leave a seat: the game ends with the last but one")
        # E5: all others may be out before the survivor has laid its coasters and put down its ships
        self.early = self.phase == st.OVER and not self.eliminated and not self.alive & self.alive - 1

    def read_seat(self) -> int:
        """The seat whose turn it is, by default the first survivor's; -1 at the end, whatever seat is given."""
        given = self.data.get("seat", next(iter(members(self.alive)), 0))
        if self.phase == st.OVER and given.value is None:
            return st.NONE
        seat = given.whole(0, self.players - 1)
        if self.phase == st.OVER:
            return st.NONE
        if not self.alive >> seat & 1:
            given.fail("must be a surviving seat")
        return seat

    def own(self, seat: int) -> range:
        return range(seat, self.ships_count, self.players)

    def read_last(self) -> tuple[int, ...]:
        items = self.data.get("last", [None] * self.players).items(self.players)
        fixed = self.phase <= st.DEPLOY or self.config.options.free_colour
        last = []
        for seat, item in enumerate(items):
            if item.value is None:
                last.append(st.NONE)
                continue
            if fixed:
                item.fail("must be null in the set-up and with free_colour")
            last.append(item.whole(0, self.ships_count - 1))
            if last[-1] not in self.own(seat):
                item.fail(f"must be a colour of seat {seat}")
        return tuple(last)

    def read_systems(self) -> Systems:
        systems: list[Place | None] = []
        taken: set[tuple[int, int]] = set()
        given = self.data["systems"]
        for item in given.items(self.ships_count):
            if item.value is None:
                systems.append(None)
                continue
            at, rotation = item.parts("at", "rotation")
            x, y = at.wholes(-9, 9, 2)
            if (x, y) in taken:
                at.fail("is the place of another coaster")
            taken.add((x, y))
            systems.append((x, y, rotation.whole(0, 3)))
        if taken:
            if (0, 0) not in taken:
                given.fail("must have a coaster at [0, 0], the first one's place")
            reached, pending = {(0, 0)}, [(0, 0)]
            while pending:
                x, y = pending.pop()
                new = {(x + dx, y + dy) for dx, dy in DELTAS} & taken - reached
                reached |= new
                pending += new
            if reached != taken:
                given.fail("must lie side by side in one piece")
        return tuple(systems)

    def set_up_colour(self) -> int:
        """The colour of a set-up decision; -1 in the other phases."""
        if self.phase > st.DEPLOY:
            return st.NONE
        given = self.data.get("colour", self.seat)
        colour = given.whole(0, self.ships_count - 1)
        if colour % self.players != self.seat:
            given.fail(f"must be a colour of seat {self.seat}")
        return colour

    def check_laid(self) -> None:
        for colour, item in enumerate(self.data["systems"].items()):
            laying = self.phase == st.LAY and colour >= self.colour
            if laying and item.value is not None:
                item.fail("must be null: it is not laid yet")
            retired = colour % self.players in self.retired
            if not (laying or self.early or item.value is not None or retired):
                item.fail("must be laid: only retired seats may lack a coaster")

    def read_ships(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        poses, hits, occupied = [], [], 0
        given = self.data["ships"]
        for colour, item in enumerate(given.items(self.ships_count)):
            alive = bool(self.alive >> colour % self.players & 1)
            set_up = self.phase == st.LAY or (self.phase == st.DEPLOY and colour >= self.colour)
            if item.value is None:
                if self.phase == st.DEPLOY and alive and not set_up:
                    item.fail("must be a ship: it was put down already")
                poses.append(st.NONE)
                hits.append(st.HITS if alive and self.phase <= st.DEPLOY else 0)
                continue
            if not alive or set_up:
                item.fail("must be null: there is no such ship now")
            ship = item.fields("at", "facing", "hits")
            at = ship["at"]
            square = square_at(self.systems, *at.wholes(-27, 29, 2))
            if square < 0:
                at.fail(f"is not on a coaster: {at.value}")
            if self.phase == st.DEPLOY and square // 9 != colour:
                at.fail("must be on its own coaster in the set-up")
            if occupied >> square & 1:
                at.fail(f"is the square of another ship: {at.value}")
            occupied |= 1 << square
            poses.append(4 * square + ship["facing"].index(FACINGS))
            hits.append(ship.get("hits", st.HITS).whole(st.HITS if self.phase == st.DEPLOY else 1, st.HITS))
        if self.phase > st.DEPLOY and not self.early:
            for seat in members(self.alive):
                if all(poses[colour] < 0 for colour in self.own(seat)):
                    given.fail(f"must have a ship of seat {seat}: it is neither eliminated nor retired")
        return tuple(poses), tuple(hits), occupied

    def read_messages(self, turn: int) -> tuple[st.Message, ...]:
        messages: list[st.Message] = []
        sent: dict[tuple[int, int], int] = {}
        for item in self.data.get("messages", []).items():
            if not self.config.talks:
                item.fail("must not be: there is no talk in this game")
            message = item.fields("turn", "seat", "to", "text")
            earliest = max(1, turn - self.players, messages[-1].turn if messages else 1)
            when = message["turn"].whole(earliest, turn)
            seat = message["seat"].whole(0, self.players - 1)
            to = message["to"].wholes(0, self.players - 1)
            text = message["text"].value
            if type(text) is not str:
                message["text"].wrong("a text")
            misfit = to_misfit(to, seat, self.players) or text_misfit(text)
            if misfit:
                item.fail(f"does not fit: {misfit}")
            sent[when, seat] = sent.get((when, seat), 0) + 1
            if sent[when, seat] > st.MESSAGES_A_TURN:
                item.fail(f"is one too many: a seat sends at most {st.MESSAGES_A_TURN} a turn")
            messages.append(st.Message(when, seat, to, text))
        return tuple(messages)

    def read_why(self) -> st.Why | None:
        given = self.data.get("why")
        if self.phase != st.OVER:
            if given.value is not None:
                given.fail("must be null while the game goes on")
            return None
        why = st.WHYS[given.index(st.WHYS)]
        # E5: a bot can be out after the end too, and leave fewer than have won
        if why != st.LAST_SHIP and not self.alive & self.alive - 1 and not self.retired:
            given.fail("must be last-ship where one seat is left")
        if (why == st.LAST_SHIP and self.alive & self.alive - 1) or (
            why == st.CLAIM_CONFIRMED and not self.config.talks
        ):
            given.fail(f"must not be {why} here")
        return why

    def choose_colour(self, poses: tuple[int, ...]) -> None:
        """The colour of a turn: the next in order if it is not given, and one with a ship."""
        if self.phase <= st.DEPLOY:
            return
        free = self.config.options.free_colour
        if self.phase == st.CHOOSE and not free:
            self.data.get("phase").fail("must not be colour without the option free_colour")
        given = self.data.get("colour")
        if self.phase in (st.CHOOSE, st.OVER):
            if given.value is not None:
                given.fail(f"must be null in phase {st.PHASES[self.phase]}")
            return
        last = self.last[self.seat]
        if given.value is None:
            self.colour = next_of(self.config, last, poses, self.seat)
        else:
            self.colour = given.whole(0, self.ships_count - 1)
            if self.colour % self.players != self.seat or poses[self.colour] < 0:
                given.fail(f"must be a colour of seat {self.seat} that has a ship")
            if last not in (st.NONE, self.colour):
                self.data["last"].items()[self.seat].fail(f"must be null or {self.colour}, which plays now")
        if not free:
            self.last = replaced(self.last, self.seat, self.colour)

    def read_roll(self) -> tuple[int, int, int, bool]:
        d6, flux, used = self.data.get("d6"), self.data.get("flux"), self.data.get("flux_used", False).flag()
        if self.phase not in _IN_TURN:
            moves = self.data.get("halves", 0).whole(0, 0)
            if d6.value is not None or flux.value is not None or used or moves:
                self.top.fail(f"must have no roll (d6, flux, flux_used) in phase {st.PHASES[self.phase]}")
            return 0, st.NONE, 0, False
        pips, face = d6.whole(1, 6), flux.index(st.FLUX)
        wild_shot = face == st.WILD and self.config.options.wild_shot
        if used and (face == st.TIP or wild_shot):
            self.data["flux_used"].fail(f"must be false: {flux.value} gives no flux action")
        return pips, face, self.data.get("halves", 2 * pips).whole(0, 2 * pips), used

    def read_words(self) -> tuple[int, int]:
        talking = self.phase in _IN_TURN and self.config.talks
        others = self.alive & ~(1 << self.seat) if talking else 0
        agreed = mask(self.seats("agreed", others))
        return agreed, mask(self.seats("refused", others & ~agreed))

    def read_claimed(self, poses: tuple[int, ...]) -> bool:
        given = self.data.get("claimed", self.phase == st.CLAIMED)
        claimed = given.flag()
        allowed = self.phase in _IN_TURN and self.config.talks and st.NONE in poses
        if claimed and not allowed:
            given.fail("must be false: no claim is possible here")
        if self.phase == st.CLAIMED and not claimed:
            given.fail("must be true in phase claim")
        return claimed

    def read_asked(self, answered: int) -> tuple[int, ...]:
        given = self.data.get("asked", [])
        if self.phase not in (st.ALLY, st.CLAIMED):
            return self.seats("asked", 0)
        if not self.config.talks:
            self.data["phase"].fail("must be another: there are no alliances in this game")
        others = self.alive & ~(1 << self.seat)
        asked = self.seats("asked", others & ~answered if self.phase == st.ALLY else others)
        if not asked or (self.phase == st.ALLY and len(asked) > 1):
            given.fail("must name one seat (ally) or all seats still to answer (claim)")
        if self.phase == st.CLAIMED:
            order = sorted(members(others), key=lambda seat: (seat - self.seat) % self.players)
            if list(asked) != order[len(order) - len(asked) :]:
                given.fail(f"must be the end of {order}, the order of the answers")
        return asked
