"""The picture of a position of captains, and a galaxy as text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from warpleague.games.captains.dealing import Dealing
from warpleague.games.captains.geometry import Galaxy, planets_of, spread
from warpleague.games.captains.rules import PARTS, parts
from warpleague.games.captains.state import HAND, OVER, STAGES, Position, State
from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.captains.boards import Hex

AI_NAME: Final = "AI"
AI_MARK: Final = "x"
_GLYPHS: Final = {
    "blank": ".", "orbit": "o", "nebula": "~", "cannon": "+", "blackhole": "@", "station": "[]", "obstacle": "##",
}  # fmt: skip
_PICTURES: Final = {
    "planet": "disc", "nebula": "cloud", "cannon": "cannon", "blackhole": "hole", "wild": "wormhole",
    "station": "station", "obstacle": "rock",
}  # fmt: skip
_MEANINGS: Final = (
    ("blank", ""),
    ("planet", "planet: passengers want to get there"),
    ("star", "planet that nobody has explored"),
    ("station", "station: passengers are picked up beside it"),
    ("obstacle", "obstacle: no ship gets through"),
    ("orbit", "orbit: one move leads to any other space of the same orbit"),
    ("nebula", "nebula: moves from here cost no energy, but onto the cannon"),
    ("wild", "wild wormhole: joined to each player's own pair of its number, for that player"),
    ("cannon", "cannon: shoots ships away"),
    ("blackhole", "black hole: a ship comes out at a planet that is drawn"),
    ("ship", "ship with its seat's letter"),
    ("wormhole", "wormhole with its number: leads to the other of its pair"),
    ("wormhole-inactive", "wormhole without its pair"),
    ("passenger", "passenger with the planet it wants"),
    ("hidden-passenger", "passenger that only its seat knows"),
    ("delivered", "passengers delivered"),
)
_LEGEND: Final = (
    "P0 planet   [] station   ## obstacle   . blank   o orbit   ~ nebula   "
    "W3 wild wormhole   + cannon   @ black hole"
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
        f"place {i}: board {boards[board].number} {'AB'[side]}, turned by {turn * 60} degrees"
        for i, (board, side, turn) in enumerate(galaxy.layout.laid)
    ]
    return Scene(
        "hex",
        tuple(cells),
        panels=(Panel("Boards", tuple(lines)),),
        caption=f"galaxy {galaxy.pattern.name}",
        legend=_MEANINGS,
    )


def galaxy_text(galaxy: Galaxy, *, numbers: bool = False) -> str:
    """A galaxy drawn in plain text, with a legend; `numbers` shows space numbers instead of kinds."""
    scene = galaxy_scene(galaxy)
    left = min(cell.x for cell in scene.cells)
    top = min(cell.y for cell in scene.cells)
    rows: dict[int, dict[int, str]] = {}
    for cell in scene.cells:
        glyph = _GLYPHS.get(cell.kind, "")
        if cell.kind == "planet":
            glyph = cell.label
        elif cell.kind == "wild":
            glyph = cell.label.split()[-1]
        elif numbers and cell.label:
            glyph = cell.label
        rows.setdefault(round((cell.y - top) * 2), {})[round(cell.x - left)] = glyph
    lines = []
    for y in range(max(rows) + 1):
        row = rows.get(y, {})
        lines.append("".join(row.get(x, "").center(4) for x in range(max(row, default=-1) + 1)).rstrip())
    return "\n".join((scene.caption, "", *lines, "", _LEGEND, *scene.panels[0].lines, ""))


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
    retired = tuple(f"seat {seat} is retired" for seat in dealing.retired)
    over = len(retired) == plan.players
    caption = "over before the galaxy was laid: retired" if over else "the galaxy is being laid"
    return Scene("hex", tuple(cells), panels=(Panel("Dealing", retired),), caption=caption, legend=_MEANINGS)


def _owner_name(owner: int, players: int) -> str:
    if owner >= players:
        return f"{AI_NAME} ({AI_MARK})"
    return f"seat {owner} ({chr(ord('A') + owner)})"


def _planets(numbers: Iterable[int]) -> str:
    return " ".join(f"P{number}" for number in numbers) or "none"


def _passengers(counts: tuple[int, ...]) -> str:
    shown = " ".join(f"P{planet}x{cards}" for planet, cards in enumerate(counts) if cards)
    return shown or "none"


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
        lines.append("retired")
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
    line = "retired" if retired else f"hand {sum(hand)} · delivered {sum(pile)} · tokens {placed}"
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
    if state.stage == OVER:
        caption = f"over after round {state.round}: {state.why}"
    else:
        turn = "" if STAGES[state.stage] == "deal" else f", energy {state.energy}"
        caption = f"round {state.round} of at most {state.last_round}, seat {state.seat}: {STAGES[state.stage]}{turn}"
    return Scene(
        "hex",
        _cells(galaxy, tokens.reached),
        pieces + _ships(galaxy, state.ships),
        links,
        (*(panel for panel, _, _ in owned), docks, _explored(len(galaxy.planets), tokens.reached)),
        caption,
        trays=docked + tuple(tray for _, trays, _ in owned for tray in trays),
        legend=_MEANINGS,
        scores=tuple(float(sum(points[seat])) for seat in range(players)),
        seat_lines=tuple([line for _, _, line in owned[:players]]),
        turn=(state.round, state.seat) if 0 <= state.seat < players else None,
    )


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
        Item(kind, f"P{planet}{f'×{count}' if count > 1 else ''}", f"{name}-P{planet}", "card")
        for planet, count in enumerate(counts)
        if count
    )
