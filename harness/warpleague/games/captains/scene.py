"""The picture of a position of captains, and a galaxy as text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from warpleague.games.captains.dealing import Dealing
from warpleague.games.captains.geometry import planets_of, spread
from warpleague.games.captains.score import PARTS, parts
from warpleague.games.captains.state import HAND, OVER, STAGES
from warpleague.games.scene import Cell, Link, Panel, Piece, Scene

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpleague.games.captains.boards import Hex
    from warpleague.games.captains.geometry import Galaxy
    from warpleague.games.captains.state import Position, State

AI_NAME: Final = "AI"
AI_MARK: Final = "x"
_GLYPHS: Final = {
    "blank": ".", "orbit": "o", "nebula": "~", "cannon": "+", "blackhole": "@", "station": "[]", "obstacle": "##",
}  # fmt: skip
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
        cells.append(Cell(x, y, kind, label))
    boards = galaxy.board_set.in_play(galaxy.players)
    lines = [
        f"place {i}: board {boards[board].number} {'AB'[side]}, turned by {turn * 60} degrees"
        for i, (board, side, turn) in enumerate(galaxy.layout.laid)
    ]
    return Scene(
        "hex", tuple(cells), panels=(Panel("Boards", tuple(lines)),), caption=f"galaxy {galaxy.pattern.name}"
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
    """What to draw for `viewer` (None: all hands are shown)."""
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
            cells.append(Cell(x, y, kind, f"W{wild}" if wild else "P" if at in planets else ""))
    retired = tuple(f"seat {seat} is retired" for seat in dealing.retired)
    over = len(retired) == plan.players
    caption = "over before the galaxy was laid: retired" if over else "the galaxy is being laid"
    return Scene("hex", tuple(cells), panels=(Panel("Dealing", retired),), caption=caption)


def _owner_name(state: State, owner: int) -> str:
    if owner >= state.table.players:
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
            pieces.append(Piece(*where[space], kind, text, owner))
            if active and i & 1:
                links.append(Link(*where[stack[i - 1]], *where[space], "wormhole", owner))
    return tuple(pieces), tuple(links)


def _state_scene(state: State, viewer: int | None) -> Scene:
    galaxy, tokens, cards = state.table.galaxy, state.tokens, state.cards
    pieces, links = _tokens(galaxy, tokens.stacks, state.table.players)
    pieces += tuple(
        Piece(*place(galaxy.hexes[ship]), "ship", chr(ord("A") + seat), seat)
        for seat, ship in enumerate(state.ships)
        if ship >= 0
    )
    panels = []
    for owner in range(state.table.owners):
        points = parts(state, owner)
        scored = [f"{name} {n}" for name, n in zip(PARTS, points, strict=True)]
        lines = [", ".join(scored[:2]), ", ".join(scored[2:])]
        if owner < state.table.players:
            hand = cards.hands[owner]
            shown = viewer is None or viewer == owner
            lines.append(f"hand: {_passengers(hand) if shown else f'{sum(hand)} of {HAND} cards'}")
        lines.append(f"delivered: {_passengers(cards.piles[owner])}")
        lines.append(f"tokens placed: {len(tokens.stacks[owner])}")
        if owner in state.retired:
            lines.append("retired")
        title = f"{_owner_name(state, owner)}: {sum(points)} points"
        panels.append(Panel(title, tuple(lines), owner))
    planets = [
        f"{what}: {_planets(number for number in range(len(galaxy.planets)) if tokens.reached >> number & 1 == bit)}"
        for bit, what in ((1, "explored"), (0, "unexplored"))
    ]
    panels.append(Panel("Docks", (_passengers(cards.docks), f"deck: {cards.left} cards")))
    panels.append(Panel("Planets", tuple(planets)))
    if state.stage == OVER:
        caption = f"over after round {state.round}: {state.why}"
    else:
        turn = "" if STAGES[state.stage] == "deal" else f", energy {state.energy}"
        caption = f"round {state.round} of at most {state.last_round}, seat {state.seat}: {STAGES[state.stage]}{turn}"
    return Scene("hex", galaxy_scene(galaxy).cells, pieces, links, tuple(panels), caption)
