"""What persons see of captains: the picture, what to click in it, actions in words, and the rules in a minute."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, assert_never

import attrs

from warpleague.games.captains.dealing import Dealing
from warpleague.games.captains.events import ENDINGS, turned
from warpleague.games.captains.geometry import (
    Action,
    AiPlace,
    Cannon,
    Deliver,
    Discard,
    Done,
    Draw,
    Emerge,
    End,
    Galaxy,
    Move,
    Pickup,
    Place,
    Start,
    Take,
    Warp,
    planets_of,
    spread,
)
from warpleague.games.captains.rules import AI, PARTS, parts
from warpleague.games.captains.state import (
    AI_CARDS,
    AI_PLACE,
    BLACKHOLE,
    DEAL,
    DRAW,
    EMERGE,
    ENERGY,
    HAND,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    START,
    TURN,
    Position,
    State,
    pair,
)
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.games.words import Guide
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.games.captains.boards import Hex

AI_NAME: Final = "AI"
AI_MARK: Final = "x"
_PICTURES: Final = {
    "planet": "disc", "nebula": "cloud", "cannon": "cannon", "blackhole": "hole", "wild": "wormhole",
    "station": "station", "obstacle": "rock",
}  # fmt: skip
_MEANINGS: Final = (
    ("blank", ""),
    ("planet", "planet: passengers go there"),
    ("star", "not explored yet"),
    ("station", "station: pick up passengers beside it"),
    ("obstacle", "obstacle: no way through"),
    ("orbit", "orbit: one move to any other space of it"),
    ("nebula", "nebula: moves from here cost no energy, but onto the cannon"),
    ("wild", "wild wormhole: joined to each player's own pair of its number, for that player"),
    ("cannon", "cannon: shoots ships away"),
    ("blackhole", "black hole: a ship comes out at a planet that is drawn"),
    ("ship", "ship with its seat's letter"),
    ("wormhole", "wormhole with its number: leads to the other of its pair"),
    ("wormhole-inactive", "wormhole without its pair"),
    ("passenger", "passenger and its planet"),
    ("hidden-passenger", "passenger that only its seat knows"),
    ("delivered", "passengers delivered"),
)


def place(at: Hex) -> tuple[float, float]:
    """Column and row of a flat-top hex."""
    q, r = at
    return float(q), r + q / 2


def galaxy(state: Position) -> Scene:
    """The galaxy alone, as it was dealt."""
    assert not isinstance(state, Dealing)
    return galaxy_scene(state.table.galaxy)


@lru_cache(maxsize=8)  # every position of a match shows the same one
def galaxy_scene(galaxy: Galaxy) -> Scene:
    """A galaxy without ships or tokens; spaces are labelled with their numbers, planets with theirs."""
    planet_at = {space: number for number, planet in enumerate(galaxy.planets) for space in planet.spaces}
    cells = []
    for space, at in enumerate(galaxy.hexes):
        x, y = place(at)
        kind = galaxy.kinds[space]
        if kind == "planet":
            label = f"P{planet_at[space]}"
        elif kind == "wild":
            label = f"{space} W{galaxy.wild[space]}"
        else:
            label = "" if kind in ("obstacle", "station") else str(space)
        picture = _PICTURES.get(kind, "")
        corner = label if picture and kind != "planet" else ""
        cells.append(Cell(x, y, kind, label, None, f"space-{space}", picture, corner))
    boards = galaxy.board_set.in_play(galaxy.players)
    lines = [
        f"place {i}: side {'AB'[side]} of board {boards[board].number}, {turned(turn)}"
        for i, (board, side, turn) in enumerate(galaxy.layout.laid)
    ]
    return Scene(
        "hex",
        tuple(cells),
        panels=(Panel("Boards", tuple(lines)),),
        caption=f"Galaxy {galaxy.pattern.name}",
        legend=_MEANINGS,
    )


def scene(state: Position, viewer: int | None) -> Scene:
    """The picture for `viewer` (None: all hands are shown)."""
    return _dealing_scene(state) if isinstance(state, Dealing) else _state_scene(state, viewer)


def _dealing_scene(dealing: Dealing) -> Scene:
    """The boards laid so far; spaces have no numbers yet."""
    plan = dealing.plan
    faces = [(plan.station, (0, 0), max(0, dealing.rotation))]
    faces += [
        (plan.boards[board].sides[side], plan.pattern.centres[i], turn)
        for i, (board, side, turn) in enumerate(dealing.laid)
    ]
    cells = []
    for face, centre, turn in faces:
        planets = {at for planet in planets_of(face, centre, turn) for at in planet}
        for at, (kind, wild) in sorted(spread(face, centre, turn).items()):
            x, y = place(at)
            label = f"W{wild}" if wild else "P" if at in planets else ""
            corner = label if wild else ""
            cells.append(Cell(x, y, kind, label, glyph=_PICTURES.get(kind, ""), corner=corner))
    retired = tuple(f"seat {seat} is out of the match" for seat in dealing.retired)
    over = len(retired) == plan.players
    caption = f"Over before the galaxy was laid: {ENDINGS['retired']}" if over else "The galaxy is being laid"
    return Scene("hex", tuple(cells), panels=(Panel("Dealing", retired),), caption=caption, legend=_MEANINGS)


def _owner_name(owner: int, players: int) -> str:
    if owner >= players:
        return f"{AI_NAME} ({AI_MARK})"
    return f"seat {owner} ({chr(ord('A') + owner)})"


def _planets(numbers: Iterable[int]) -> str:
    return " ".join(f"P{number}" for number in numbers) or "none"


def _passengers(counts: tuple[int, ...]) -> str:
    return ", ".join(_for_planet(planet, cards) for planet, cards in enumerate(counts) if cards) or "none"


def _for_planet(planet: int, cards: int) -> str:
    return f"P{planet}×{cards}" if cards > 1 else f"P{planet}"


@lru_cache(maxsize=8)  # few moves place a token
def _tokens(
    galaxy: Galaxy, stacks: tuple[tuple[int, ...], ...], players: int
) -> tuple[tuple[Piece, ...], tuple[Link, ...]]:
    """The wormholes of every owner, and the links between those of a pair."""
    where = [place(at) for at in galaxy.hexes]
    pieces: list[Piece] = []
    links: list[Link] = []
    for owner, stack in enumerate(stacks):
        for i, space in enumerate(stack):
            active = (i ^ 1) < len(stack)
            kind = "wormhole" if active else "wormhole-inactive"
            mark = AI_MARK if owner >= players else chr(ord("a") + owner)
            text = f"{mark}{i // 2 + 1}{'' if active else '?'}"
            token, number = f"token-{owner}-{i}", i // 2 + 1
            pieces.append(
                Piece(*where[space], kind, text, owner, id=token, glyph="wormhole", corner=str(number))
            )
            if active and i & 1:
                ends = (*where[stack[i - 1]], *where[space])
                links.append(Link(*ends, "wormhole", owner, f"pair-{owner}-{number}"))
    return tuple(pieces), tuple(links)


# A line of a record changes little, so that most of what follows is the same object as in the scene before.


@lru_cache(maxsize=32)
def _ships(galaxy: Galaxy, ships: tuple[int, ...]) -> tuple[Piece, ...]:
    """The ships that have started."""
    return tuple(
        Piece(
            *place(galaxy.hexes[ship]),
            "ship",
            chr(ord("A") + seat),
            seat,
            id=f"ship-{seat}",
            glyph="rocket",
            corner=chr(ord("A") + seat),
        )
        for seat, ship in enumerate(ships)
        if ship >= 0
    )


@lru_cache(maxsize=128)
def _owned(
    owner: int,
    players: int,
    points: tuple[int, ...],
    placed: int,
    retired: bool,
    hand: tuple[int, ...],
    seen: bool,
    pile: tuple[int, ...],
) -> tuple[Panel, tuple[Tray, ...], str]:
    """An owner's texts and trays beside the board, the points, hand and what was delivered, and its line as a seat.

    `placed` are its tokens on the board; `seen` says whether the viewer sees its `hand`.
    """
    scored = [f"{name} {n}" for name, n in zip(PARTS, points, strict=True)]
    lines = [", ".join(scored[:2]), ", ".join(scored[2:]), f"tokens placed: {placed}"]
    if retired:
        lines.append("out of the match")
    above = len(lines)
    if owner < players:
        lines.append(f"hand: {_passengers(hand) if seen else f'{sum(hand)} of {HAND} cards'}")
    lines.append(f"delivered: {_passengers(pile)}")
    title = f"{_owner_name(owner, players)}: {counted(sum(points), 'point')}"
    if seen:
        items = tuple(
            Item("passenger", f"P{planet}", f"hand-{owner}-P{planet}{f'-{i}' if i else ''}", "card")
            for planet, count in enumerate(hand)
            for i in range(count)
        )
    else:
        items = tuple(Item("hidden-passenger", "?", f"hand-{owner}-{i}", "card") for i in range(sum(hand)))
    delivered = _counted("delivered", f"pile-{owner}", pile)
    trays = [Tray(name, (row,), owner) for name, row in (("Hand", items), ("Delivered", delivered)) if row]
    line = "out" if retired else f"hand {sum(hand)} · delivered {sum(pile)} · tokens {placed}"
    return Panel(title, tuple(lines), owner, len(lines) - above), tuple(trays), line


@lru_cache(maxsize=32)
def _docked(left: int, docks: tuple[int, ...]) -> tuple[Panel, tuple[Tray, ...]]:
    """The passengers in the Docks, as text and in a tray, and how many cards are in the deck."""
    cards = _counted("passenger", "docks", docks)
    panel = Panel("Docks", (f"deck: {counted(left, 'card')}", _passengers(docks)), drawn=1)
    return panel, (Tray("Docks", (cards,)),) if cards else ()


@lru_cache(maxsize=32)
def _explored(planets: int, reached: int) -> Panel:
    """Which of so many planets are in the set `reached`."""
    lines = [
        f"{what}: {_planets(number for number in range(planets) if reached >> number & 1 == bit)}"
        for bit, what in ((1, "explored"), (0, "unexplored"))
    ]
    return Panel("Planets", tuple(lines), drawn=2)


def _state_scene(state: State, viewer: int | None) -> Scene:
    galaxy, tokens, cards = state.table.galaxy, state.tokens, state.cards
    players = state.table.players
    pieces, links = _tokens(galaxy, tokens.stacks, players)
    points = [parts(state, owner) for owner in range(state.table.owners)]
    owned = [
        _owned(
            owner,
            players,
            points[owner],
            len(tokens.stacks[owner]),
            owner in state.retired,
            cards.hands[owner] if owner < players else (),
            viewer in (None, owner),
            cards.piles[owner],
        )
        for owner in range(state.table.owners)
    ]
    docks, docked = _docked(cards.left, cards.docks)
    return Scene(
        "hex",
        _cells(galaxy, tokens.reached),
        pieces + _ships(galaxy, state.ships),
        links,
        (*(panel for panel, _, _ in owned), docks, _explored(len(galaxy.planets), tokens.reached)),
        _caption(state),
        trays=docked + tuple(tray for _, trays, _ in owned for tray in trays),
        legend=_MEANINGS,
        scores=tuple(float(sum(points[seat])) for seat in range(players)),
        seat_lines=tuple([line for _, _, line in owned[:players]]),
        turn=(state.round, state.seat) if 0 <= state.seat < players else None,
    )


_DOING: Final = {
    START: "seat {0} chooses where to start",
    TURN: "seat {0} has {1} energy left",
    PICKUP_PLANET: "seat {0} picks up passengers at planet {2}, {1} energy left",
    PICKUP_STATION: "seat {0} picks up passengers at the station, {1} energy left",
    EMERGE: "seat {0} comes out of the black hole beside planet {2}",
    AI_PLACE: "seat {0} places a token of the AI",
    DEAL: "seat {0} gets its first passengers",
    DRAW: "seat {0} draws from the deck, {1} energy left",
    BLACKHOLE: "the black hole shows a planet to seat {0}",
    AI_CARDS: "the AI delivers passengers",
}
"""What is done at each stage: 0 is the seat, 1 its energy, 2 the planet it is about."""


def _caption(state: State) -> str:
    if state.stage == OVER:
        assert state.why is not None
        return f"Over after round {state.round}: {ENDINGS[state.why]}"
    doing = _DOING[state.stage].format(state.seat, state.energy, state.focus)
    return f"Round {state.round} of at most {state.last_round}: {doing}"


@lru_cache(maxsize=16)  # it changes when a planet is explored
def _cells(galaxy: Galaxy, reached: int) -> tuple[Cell, ...]:
    """The galaxy, with a star on each planet that is not in the set `reached`."""
    return tuple(
        attrs.evolve(cell, glyph="disc star")
        if cell.kind == "planet" and not reached >> int(cell.label[1:]) & 1
        else cell
        for cell in galaxy_scene(galaxy).cells
    )


def _counted(kind: str, name: str, counts: tuple[int, ...]) -> tuple[Item, ...]:
    """A card for each planet of which there are any, with their number."""
    return tuple(
        Item(kind, _for_planet(planet, count), f"{name}-P{planet}", "card")
        for planet, count in enumerate(counts)
        if count
    )


# -- what is clicked: a space, the ship first where it goes there; or a card -----------------------------


def targets(state: Position, action: Action) -> Sequence[str]:
    """The ids of the scene; none for the beginning and the end of a pick-up, and for the end of a turn."""
    assert isinstance(state, State)
    if isinstance(action, Move | Warp | Cannon):
        return f"ship-{state.seat}", f"space-{action.to}"
    if isinstance(action, Place):
        return f"ship-{state.seat}", f"space-{action.at}"
    if isinstance(action, Start | Emerge | AiPlace):
        return (f"space-{action.at}",)
    if isinstance(action, Deliver | Discard):
        return (f"hand-{state.seat}-P{action.planet}",)
    return (f"docks-P{action.planet}",) if isinstance(action, Take) else ()


# -- words -----------------------------------------------------------------------------------------------


def phrase(state: Position, action: Action) -> str:
    """`action` as a sentence; it says only what the seat that acts knows."""
    assert isinstance(state, State)
    seat = state.seat
    match action:
        case Start(at=at):
            return f"Start on space {at}, with {_token(state, seat)} there"
        case Deliver(planet=planet):
            cards = state.cards.hands[seat][planet]
            return f"Deliver {counted(cards, 'passenger')} to planet {planet}, for {2 * cards} points"
        case Pickup(at="planet"):
            planet = state.table.galaxy.beside_planet[state.ships[seat]]
            return f"Pick up passengers at planet {planet}"
        case Pickup():
            pays = ", which gives the AI a point" if state.table.owners > state.table.players else ""
            return f"Pick up passengers at the station{pays}"
        case Discard(planet=planet):
            return f"Send a passenger for planet {planet} to the Docks"
        case Draw():
            return f"Draw passengers from the deck until you have {HAND}"
        case Take(planet=planet):
            return f"Take a passenger for planet {planet} from the Docks"
        case Done():
            return "End the pick-up"
        case Place(at=at):
            return f"Place {_token(state, seat)} on space {at}{_opens(state, seat)}{_explores(state, at)}"
        case Warp(to=to):
            return f"Warp to space {to}{_pays(state)}{_there(state, to)}"
        case Cannon(to=to):
            return f"Be shot from the cannon to space {to}{_there(state, to)}"
        case Move(to=to):
            free = state.table.galaxy.free[state.ships[seat]] >> to & 1
            return f"Move to space {to}{' for no energy' if free else ''}{_there(state, to)}"
        case Emerge(at=at):
            return f"Come out of the black hole on space {at}"
        case AiPlace(at=at):
            return f"Place {_token(state, AI)} of the AI on space {at}{_opens(state, AI)}"
        case End():
            left = f", {state.energy} energy unused" if state.energy else ""
            return f"End your turn{left}"
        case _:
            assert_never(action)


def heading(state: Position, seat: int) -> str:
    """The decision of the seat as a heading."""
    assert isinstance(state, State)
    if state.stage == START:
        return "Choose where to start, beside the station"
    if state.stage == PICKUP_PLANET:
        return f"Pick up at planet {state.focus}: send passengers away, or draw"
    if state.stage == PICKUP_STATION:
        return "Pick up at the station: take passengers from the Docks"
    if state.stage == EMERGE:
        return f"Choose where to come out, beside planet {state.focus}"
    if state.stage == AI_PLACE:
        return "Choose where the AI places its token"
    return f"Your turn: {state.energy} energy left"


def _token(state: State, owner: int) -> str:
    """The next token of an owner."""
    return f"a token {len(state.tokens.stacks[owner]) // 2 + 1}"


def _opens(state: State, owner: int) -> str:
    """What the second token of a number does."""
    stack = state.tokens.stacks[owner]
    return f": it opens a wormhole to space {stack[-1]}" if len(stack) & 1 else ""


def _explores(state: State, at: int) -> str:
    """The planet that a token on this space explores (captains T4)."""
    planet = state.table.galaxy.beside_planet[at]
    if planet < 0 or state.tokens.reached >> planet & 1:
        return ""
    return f", explores planet {planet}"


def _pays(state: State) -> str:
    """Who gets a point for a warp from the ship's space (captains T5)."""
    here = state.tokens.at.get(state.ships[state.seat])
    if here is None or here[0] == state.seat:
        return ""
    if here[0] >= state.table.players:
        return ", which gives the AI a point"
    return f", which gives seat {here[0]} a point"


def _there(state: State, space: int) -> str:
    """What a ship finds on a space."""
    galaxy = state.table.galaxy
    there = []
    if galaxy.beside_planet[space] >= 0:
        there.append(f"beside planet {galaxy.beside_planet[space]}")
    if galaxy.beside_station[space]:
        there.append("beside the station")
    kind = galaxy.kinds[space]
    if kind == "nebula":
        there.append("a nebula")
    elif kind == "cannon":
        there.append("the cannon")
    elif kind == "blackhole":
        there.append("the black hole")
    elif galaxy.wild[space]:
        there.append(f"a wild wormhole {galaxy.wild[space]}")
    other = pair(state.tokens, space)
    if other >= 0:
        there.append(f"a wormhole to space {other}")
    return f": {', '.join(there)}" if there else ""


# -- the goal, the rules in a minute, and a first turn ---------------------------------------------------

_GUIDE: Final = Guide(
    goal="Have the most points at the end: deliver passengers, explore planets, and build wormholes that others use.",
    rules=(
        f"In your turn you have {ENERGY} energy. A move to the next space costs 1; on the ring around a planet or the "
        "station, a move to any space of the ring costs 1.",
        "Your tokens are numbered 1, 1, 2, 2, and so on. Place the next one where your ship is or beside it. "
        "Two tokens with one number are a wormhole: a ship on one of them may warp to the other, for no energy.",
        "All may use your wormholes. You get a point each time another player does.",
        "The first token beside a planet explores it, for 1 point, and for 3 points after the first six planets.",
        "Once a turn pick up passengers, beside a planet from the deck or beside the station from the Docks. "
        "Each wants to go to the planet on the card. Each that you deliver is worth 2 points.",
        "When all planets are explored three more rounds are played, when the deck is empty one more.",
    ),
    turn=(
        ({"do": "start", "at": 119}, "Your first token lies beside the station, and your ship starts there."),
        ({"do": "move", "to": 103}, "Your passenger wants to go to planet 5, which is two moves away."),
        ({"do": "move", "to": 102}, "The second move brings the ship beside the planet."),
        (
            {"do": "place", "at": 102},
            "The second token 1 opens your first wormhole, and explores the planet for a point.",
        ),
        ({"do": "deliver", "planet": 5}, "Passengers leave beside their planet."),
        ({"do": "pickup", "at": "planet"}, "Once a turn new passengers come on board."),
        ({"do": "draw"}, f"You draw from the deck until you have {HAND}."),
        ({"do": "end"}, "One energy is left, but it cannot be saved."),
    ),
    options={"galaxy": "basic"},
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
