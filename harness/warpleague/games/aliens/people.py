"""What persons see of aliens: the picture, what to click in it, actions in words, and the rules in a minute."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from warpleague.games.aliens.events import result
from warpleague.games.aliens.geometry import (
    AXES,
    COINS,
    COMPASS,
    COUNT,
    DECLINING,
    HOME,
    JUMP_WAYS,
    SEND_TARGETS,
    SHIPS,
    SIDES,
    SQUARES,
    STARTS,
    STAYING,
    TARGET,
    USES,
    WAYS,
    Action,
    Order,
    Place,
    Send,
)
from warpleague.games.aliens.rules import wins
from warpleague.games.aliens.state import END, JUMP, OPENING_ROLL, ORDER, PLACE, ROLL, SEND, State
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.words import Guide
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence


_LETTERS = "SMCA"
_GLYPHS: Final = ("sun", "moon", "crown", "shield")
_COLUMNS: Final = tuple(str(x) for x in range(1, 11))
_ROWS: Final = tuple(str(y) for y in range(18, 0, -1))


def _steps_to(ends: tuple[int, ...]) -> tuple[int, ...]:
    """For each square how many steps in any direction lead to the nearest of `ends`."""
    far = [COUNT] * COUNT
    reached = list(ends)
    for number in reached:
        far[number] = 0
    for number in reached:  # grows while it is walked through
        for end in TARGET[(number * 6 + 1) * 8 : (number * 6 + 1) * 8 + 8]:
            if end >= 0 and far[end] == COUNT:
                far[end] = far[number] + 1
                reached.append(end)
    return tuple(far)


_FAR: Final = (_steps_to(STARTS[2:]), _steps_to(STARTS[:2]))
"""For each seat: the steps from each square to the enemy's base."""


def _place(number: int) -> tuple[int, int]:
    """Column and row: rows grow downward, y upward."""
    x, y = SQUARES[number]
    return x, 19 - y


def _id(number: int) -> str:
    x, y = SQUARES[number]
    return f"{x},{y}"


_BARE: Final = tuple(
    Cell(*_place(number), "space" if base < 0 else "base", "", None if base < 0 else base, _id(number))
    for number, base in enumerate(HOME)
)
"""The squares without wormholes."""


@lru_cache(maxsize=16)  # once the wormholes are placed they seldom change
def _cells(holes: tuple[int, ...], known: int, viewer: int | None, diagonals: str) -> tuple[Cell, ...]:
    """The squares, with wormholes as `viewer` sees them; `known` are the coins whose value is public."""
    cells = list(_BARE)
    for number, coin in enumerate(holes):
        if coin >= 0:
            public = bool(known >> coin & 1)
            cells[number] = _hole(number, coin, public, public or viewer in (None, coin // 12), diagonals)
    return tuple(cells)


@lru_cache(maxsize=1024)
def _hole(number: int, coin: int, public: bool, seen: bool, diagonals: str) -> Cell:
    """A square with a wormhole, whose value the viewer has `seen` or not."""
    # The letter of the suit, and the value in figures when it is public, else as known to its side only.
    suit, value = divmod(coin, 6)
    shown = str(value) if seen else "?"
    kind = "wormhole" if public else "hidden-wormhole"
    ways = " ".join(WAYS[way] for way in AXES[diagonals][suit])
    glyph = f"coin {_GLYPHS[suit]}"
    return Cell(*_place(number), kind, _LETTERS[suit] + shown, coin // 12, _id(number), glyph, shown, ways)


def _links(state: State) -> tuple[Link, ...]:
    """Where the ship that must jump may go."""
    if state.phase != JUMP or state.cascade is None:
        return ()
    ship = state.cascade[0]
    number = state.ships[ship]
    ends = [_end(state, ship, state.holes[number] % 6, JUMP_WAYS[action]) for action in state.legal]
    return tuple(Link(*_place(number), *_place(end), "jump", ship >> 1) for end in ends)


# A line of a record changes little, so that most of what follows is the same object as in the scene before.


@lru_cache(maxsize=32)
def _pieces(ships: tuple[int, ...], under: int) -> tuple[Piece, ...]:
    """The ships, the one `under` an enemy first: painters draw later pieces on top."""
    return tuple(
        Piece(
            *_place(ships[ship]),
            SHIPS[ship],
            SHIPS[ship][:2].title(),
            ship >> 1,
            id=SHIPS[ship],
            glyph=f"rocket {_GLYPHS[ship]}",
        )
        for ship in sorted(range(len(SHIPS)), key=lambda ship: ship != under)
    )


@lru_cache(maxsize=32)
def _scores(ships: tuple[int, ...]) -> tuple[float, ...]:
    """How far each side has come."""
    return tuple(
        float(_FAR[seat][STARTS[2 * seat]] - min(_FAR[seat][ship] for ship in ships[2 * seat : 2 * seat + 2]))
        for seat in (0, 1)
    )


@lru_cache(maxsize=32)
def _seat_lines(ships: tuple[int, ...], lost: int, unlaid: tuple[int, int]) -> tuple[str, ...]:
    """The coins that each side has yet to lay or, once all lie, how far its ships are from the enemy's base."""
    return tuple(
        counted(unlaid[seat], "coin") + " in hand"
        if sum(unlaid)
        else " · ".join(
            f"{SHIPS[ship].title()} {_FAR[seat][ships[ship]]} to go{', loses a turn' if lost >> ship & 1 else ''}"
            for ship in (2 * seat, 2 * seat + 1)
        )
        for seat in (0, 1)
    )


@lru_cache(maxsize=16)
def _hands(holes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The coins that each side has not laid yet."""
    left = sorted(set(range(COINS)).difference(holes))
    return tuple(coin for coin in left if coin < 12), tuple(coin for coin in left if coin >= 12)


@lru_cache(maxsize=64)
def _side(
    seat: int,
    ships: tuple[int, ...],
    dice: tuple[int, ...],
    lost: int,
    hand: tuple[int, ...],
    seen: bool,
    diagonals: str,
) -> tuple[Panel, tuple[Tray, ...]]:
    """A side's trays and texts beside the board.

    `ships` and `dice` are those of its two ships, -1 for no die; `lost` is the set of those that lose their next turn;
    `seen` says whether the viewer sees the coins in its hand.
    """
    axes = AXES[diagonals]
    lines, rows = [], []
    for number, (at, die) in enumerate(zip(ships, dice, strict=True)):
        ship = 2 * seat + number
        x, y = SQUARES[at]
        leads = "/".join(WAYS[way] for way in axes[ship])
        line = f"{SHIPS[ship].title()} on ({x},{y}), wormholes lead {leads}"
        row = [Item("suit", "", f"suit-{SHIPS[ship]}", _GLYPHS[ship])]
        if die >= 0:
            line += f", die {die}"
            row.append(Item("die", str(die), f"die-{SHIPS[ship]}", f"die-{die}"))
        if lost >> number & 1:
            line += ", loses its next turn"
            row.append(Item("lost", "", f"lost-{SHIPS[ship]}", "hole"))
        lines.append(line)
        if len(row) > 1:
            rows.append(tuple(row))
    trays = [Tray("Dice", tuple(rows), seat)] if rows else []
    if hand and seen:
        lines.append("in hand: " + " ".join(f"{_LETTERS[coin // 6]}{coin % 6}" for coin in hand))
        coins = [
            Item(
                "held-coin",
                str(coin % 6),
                f"coin-{_LETTERS[coin // 6]}{coin % 6}",
                f"coin {_GLYPHS[coin // 6]}",
            )
            for coin in hand
        ]
        trays.append(
            Tray("In hand", tuple(tuple(coins[at : at + 6]) for at in range(0, len(coins), 6)), seat)
        )
    elif hand:
        lines.append(f"in hand: {counted(len(hand), 'coin')}")
        trays.append(Tray("In hand", (tuple(Item("hidden-coin", "?", "", "coin") for _ in hand),), seat))
    return Panel(SIDES[seat], tuple(lines), seat, drawn=1 if hand else 0), tuple(trays)


_GOALS: Final = {False: "by landing on it", True: "when each of its ships has landed on one"}
_LEGENDS: Final = {
    (diagonals, both_ships): (
        ("space", ""),
        ("base", f"base: the other side wins {_GOALS[both_ships]}"),
        ("wormhole", "wormhole, its length in the corner"),
        ("hidden-wormhole", "wormhole whose length only its owner knows"),
        ("ways", "where a wormhole may lead"),
        *(
            (name, f"ship and wormholes of the {name.title()}: {'/'.join(WAYS[way] for way in axes[suit])}")
            for suit, name in enumerate(SHIPS)
        ),
        ("held-coin", "coins in hand"),
        ("hidden-coin", "coins in hand, face down"),
        ("suit", ""),
        ("die", "die of a ship, not used yet"),
        ("lost", "a ship that loses its next turn"),
        ("jump", "where the wormhole may lead"),
    )
    for diagonals, axes in AXES.items()
    for both_ships in (False, True)
}


def _caption(state: State) -> str:
    """One sentence; a side is in the plural, and the name of its player in the singular: the verbs suit both."""
    side = SIDES[state.seat]
    turn = f"Turn {state.turn + 1} of {state.rules.max_turns}"
    if state.phase == END and state.result is not None:
        winner, why = state.result
        text = result(winner if winner >= 0 else None, why)
        return text[0].upper() + text[1:]
    if state.phase in (JUMP, SEND) and state.cascade is not None:
        ship = SHIPS[state.cascade[0]].title()
        jumps = state.phase == JUMP
        return (
            f"{turn}: {ship} must jump" if jumps else f"{turn}: {SIDES[state.actors[0]]} may send {ship} away"
        )
    if state.phase == PLACE:
        return f"{side} must place wormhole {COUNT - state.holes.count(-1) + 1} of {COINS}"
    if state.phase == ORDER:
        return f"{side} may choose who places and who moves first"
    if state.phase == OPENING_ROLL:
        return "The opening roll"
    return f"{turn}: {side} {'must roll' if state.phase == ROLL else 'must use the dice'}"


def _landed_on(state: State) -> int:
    """The ship that an enemy has landed on and that has not been sent away, or -1: it lies under that enemy."""
    if state.phase == SEND and state.cascade is not None:
        return state.cascade[0]
    if state.result is not None and state.result[1] == "base":  # aliens E1: won before the enemy was sent
        first = 2 * state.result[0]
        winners = state.ships[first : first + 2]
        return next((ship for ship in (2 - first, 3 - first) if state.ships[ship] in winners), -1)
    return -1


def scene(state: State, viewer: int | None) -> Scene:
    """The picture of a position as `viewer` sees it; None sees all."""
    diagonals = state.rules.options.diagonals
    hands = _hands(state.holes)
    sides = [
        _side(
            seat,
            state.ships[2 * seat : 2 * seat + 2],
            state.dice if state.seat == seat else (-1, -1),
            state.lost >> 2 * seat & 3,
            hands[seat],
            viewer in (None, seat),
            diagonals,
        )
        for seat in (0, 1)
    ]
    return Scene(
        shape="square",
        cells=_cells(state.holes, state.known, viewer, diagonals),
        pieces=_pieces(state.ships, _landed_on(state)),
        links=_links(state),
        panels=(sides[0][0], sides[1][0]),
        caption=_caption(state),
        trays=sides[0][1] + sides[1][1],
        legend=_LEGENDS[diagonals, state.rules.both_ships],
        columns=_COLUMNS,
        rows=_ROWS,
        scores=_scores(state.ships),
        measure="steps won",
        roles=SIDES,
        seat_lines=_seat_lines(state.ships, state.lost, (len(hands[0]), len(hands[1]))),
        turn=None if state.phase < PLACE else (0 if state.phase == PLACE else state.turn + 1, state.seat),
    )


# -- what is clicked: the ship or the coin, then the square ------------------------------------------------


def targets(state: State, action: Action) -> Sequence[str]:
    """The ids of the scene; none for who begins, and for a die that is declined."""
    if isinstance(action, Place):
        x, y = action.at
        return f"coin-{action.suit[0].upper()}{action.value}", f"{x},{y}"
    if isinstance(action, Send):
        x, y = action.to
        return (f"{x},{y}",)
    if action in JUMP_WAYS:
        assert state.cascade is not None
        ship = state.cascade[0]
        end = _end(state, ship, state.holes[state.ships[ship]] % 6, JUMP_WAYS[action])
        return SHIPS[ship], _id(end)
    ship, way = USES.get(action, (-1, -1))
    if way >= 0:
        return SHIPS[ship], _id(_end(state, ship, state.dice[ship & 1], way))
    return (SHIPS[ship],) if ship >= 0 and way == STAYING else ()


def _end(state: State, ship: int, length: int, way: int) -> int:
    """The square where a ship ends that flies or jumps."""
    return TARGET[(state.ships[ship] * 6 + length) * 8 + way]


# -- words -------------------------------------------------------------------------------------------------


_NAMES: Final = tuple(ship.title() for ship in SHIPS)
_ORDERS: Final = {
    "place": "Place the first wormhole; the other side moves first",
    "move": "Move first; the other side places the first wormhole",
}


def phrase(state: State, action: Action) -> str:
    """`action` as a sentence; it says of wormholes only what the seat that acts knows."""
    if isinstance(action, Order):
        return _ORDERS[action.first]
    if isinstance(action, Place):
        return f"Place {action.suit.title()} {action.value} on ({action.at[0]},{action.at[1]})"
    if action in SEND_TARGETS:
        return _send(state, SEND_TARGETS[action])
    if action in JUMP_WAYS:
        assert state.cascade is not None
        ship, way = state.cascade[0], JUMP_WAYS[action]
        length = state.holes[state.ships[ship]] % 6
        return f"Jump with {_NAMES[ship]} {_flight(state, ship, length, way, jumps=True)}"
    ship, way = USES[action]
    name = _NAMES[ship]
    if way == STAYING:
        hole = state.holes[state.ships[ship]] >= 0
        return f"Let {name} stay on {_at(state.ships[ship])}" + (
            " and activate the wormhole there" if hole else ""
        )
    if way == DECLINING:
        return f"Leave the die of {name} unused"
    return f"Fly {name} {_flight(state, ship, state.dice[ship & 1], way, jumps=False)}"


def heading(state: State, seat: int) -> str:
    """The decision of `seat` as a heading."""
    if state.phase == ORDER:
        return "Choose who begins"
    if state.phase == PLACE:
        return "Place a wormhole: choose a coin and a square"
    if state.phase in (JUMP, SEND):
        assert state.cascade is not None
        name = _NAMES[state.cascade[0]]
        return f"Choose where {name} jumps" if state.phase == JUMP else f"Choose where {name} is sent"
    dice = [f"{_NAMES[2 * seat + number]} {die}" for number, die in enumerate(state.dice) if die >= 0]
    return f"Use a die: {' or '.join(dice)}"


def _at(number: int) -> str:
    x, y = SQUARES[number]
    return f"({x},{y})"


def _flight(state: State, ship: int, length: int, way: int, *, jumps: bool) -> str:
    """How far and where to, and what is there."""
    end = _end(state, ship, length, way)
    there = _met(state, ship, end, jumps=jumps)
    return f"{length} {COMPASS[way]} to {_at(end)}" + (f": {', '.join(there)}" if there else "")


def _met(state: State, ship: int, end: int, *, jumps: bool) -> list[str]:
    """What a ship finds on the square where it lands."""
    seat = ship >> 1
    if wins(state, ship, end):
        return ["an enemy base, where you win"]
    there = [] if HOME[end] < 0 else ["your own base" if HOME[end] == seat else "an enemy base"]
    # A jump that ends on a wormhole does not activate it (aliens T4).
    if state.holes[end] >= 0 and not jumps:
        there.append(_wormhole(state, state.holes[end], seat))
    enemies = [other for other, square in enumerate(state.ships) if square == end and other >> 1 != seat]
    return there + [f"from where you send {_NAMES[other]} away" for other in enemies]


def _send(state: State, end: int) -> str:
    """Where the enemy's ship is sent, and what is there."""
    assert state.cascade is not None
    ship = state.cascade[0]
    seat = 1 - (ship >> 1)
    there = ""
    if HOME[end] >= 0:
        there = ": your base" if HOME[end] == seat else ": its own base"
    elif state.holes[end] >= 0:
        there = f": {_wormhole(state, state.holes[end], seat)}"
    return f"Send {_NAMES[ship]} to {_at(end)}{there}"


def _wormhole(state: State, coin: int, seat: int) -> str:
    """A wormhole as `seat` knows it."""
    suit, value = divmod(coin, 6)
    whose = "your" if suit >> 1 == seat else "an enemy"
    one, other = (COMPASS[way] for way in AXES[state.rules.options.diagonals][suit])
    if not (state.known >> coin & 1 or suit >> 1 == seat):
        return f"{whose} wormhole of unknown length, {one} or {other}"
    return f"{whose} wormhole, {value} {one} or {other}" if value else f"{whose} black hole"


# -- the goal, the rules in a minute, and a first turn -----------------------------------------------------


_FIRST_WORMHOLES: Final = (
    ("suns", ([5, 7], [6, 3], [4, 9], [7, 14], [8, 2], [3, 6])),
    ("moons", ([8, 11], [4, 5], [6, 12], [6, 6], [3, 13], [5, 16])),
    ("crowns", ([6, 10], [7, 4], [3, 8], [3, 10], [9, 12], [4, 18])),
    ("arms", ([5, 11], [2, 8], [4, 15], [7, 3], [4, 13], [5, 9])),
)
"""Of each suit the squares of its coins 0 to 5."""

_GUIDE: Final = Guide(
    goal="Be the first to land one of your two ships on a base of the other side.",
    rules=(
        "First both sides place their wormholes, in turn. Only you know how far yours lead.",
        "In your turn two dice are rolled, one for each of your ships. A ship flies exactly as many squares as its "
        "die shows, straight, in any of eight directions.",
        "A ship that lands on a wormhole must jump: as far as the value of the coin, along its arrows. "
        "Then both sides know this value.",
        "A coin with 0 is a black hole: the ship loses its next turn. A die that shows 0 lets a ship stay, and "
        "use the wormhole under it.",
        "If you land on an enemy ship, you send it to any square without a ship.",
        "You win at once when your ship lands on a base of the other side, by its die or by a jump.",
    ),
    turn=(
        ((3, 2), "The dice are rolled: each ship has its own."),
        (
            {"do": "move", "ship": "moons", "way": "W"},
            "A wormhole of yours is there. You know that it leads 4 squares north or south.",
        ),
        (
            {"do": "move", "ship": "suns", "way": "NW"},
            "A wormhole of the other side is there. How far it leads you learn when you land.",
        ),
        ({"do": "jump", "way": "NE"}, "Where both ways are possible you choose one."),
    ),
    position={
        "options": {"max_turns": 400, "both_ships": False, "diagonals": "normal"},
        "phase": "roll",
        "to_move": 0,
        "turn": 0,
        "ships": {"suns": [10, 1], "moons": [10, 2], "crowns": [1, 17], "arms": [1, 18]},
        "dice": {},
        "lost": [],
        "wormholes": [
            {"at": at, "suit": suit, "value": value, "public": False, "up": "suit"}
            for suit, squares in _FIRST_WORMHOLES
            for value, at in enumerate(squares)
        ],
        "pending": None,
        "result": None,
    },
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
