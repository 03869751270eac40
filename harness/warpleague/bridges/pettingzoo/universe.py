"""Every action a built-in game can have, in a fixed order: its place there is its number for trainers.

The numbers are the same for every number of players and all options, but for galaxies of one's own and free text.
"""

from __future__ import annotations

import typing
from functools import cache
from itertools import product
from typing import Any, Final, Literal

from warpleague.errors import BadInput
from warpleague.games import GAMES, load_game
from warpleague.games.reading import json_fields

_SPACES: Final = range(190)
"""Captains: ten boards of nineteen spaces, the station's among them."""
_COLOURS: Final = range(10)
_SYSTEMS: Final = [(x, y) for x in range(-9, 10) for y in range(-9, 10)]
"""Coasters: ten home systems that touch; the first lies at 0, 0."""


@cache
def _domains() -> dict[tuple[str, str], Any]:
    """The values of each field whose type does not tell them, by game and field, or game, action and field."""
    from warpleague.games.aliens.geometry import SQUARES
    from warpleague.games.coasters.geometry import DELTAS
    from warpleague.games.sheets.geometry import BOXES, CELLS, EDGES

    assert len(DELTAS) == 4
    deep = range(-27, 30)  # a system covers three squares by three
    return {
        ("aliens", "value"): range(6),
        ("aliens", "at"): SQUARES,
        ("aliens", "to"): SQUARES,
        ("captains", "planet"): range(10),
        ("captains", "at"): _SPACES,
        ("captains", "to"): _SPACES,
        ("coasters", "lay at"): _SYSTEMS,
        ("coasters", "deploy at"): [(x, y) for x in deep for y in deep],
        ("coasters", "rotation"): range(4),
        ("coasters", "colour"): _COLOURS,
        ("coasters", "with"): _COLOURS,
        ("coasters", "to"): _COLOURS,
        ("coasters", "ally"): _COLOURS,
        ("coasters", "systems"): list(product(_COLOURS, repeat=2)),
        ("sheets", "edge"): range(EDGES),
        ("sheets", "cell"): range(CELLS),
        ("sheets", "value"): range(1, 7),
        ("sheets", "box"): (*range(BOXES), None),
    }


def _values(game: str, do: str, field: str, hint: Any) -> Any:
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    domains = _domains()
    return domains.get((game, f"{do} {field}")) or domains[game, field]


@cache
def universe(game_id: str) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The actions of a built-in game in their order, and the number of each."""
    if game_id not in GAMES:
        raise BadInput(f"{game_id}: only {', '.join(GAMES)} have numbered actions")
    actions: list[Any] = []
    for kind in load_game(game_id).Actions:
        do: str = kind.do  # type: ignore[attr-defined]
        fields = json_fields(kind)
        if do == "say":
            continue
        choices = [_values(game_id, do, name, hint) for name, hint in fields.items()]
        actions += [kind(*values) for values in product(*choices)]
    return tuple(actions), {action: number for number, action in enumerate(actions)}
