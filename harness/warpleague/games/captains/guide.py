"""The goal of captains, its rules in a minute, and a first turn to look at."""

from __future__ import annotations

from typing import Final

from warpleague.games.guide import Guide

_GUIDE: Final = Guide(
    goal="Have the most points at the end: deliver passengers, explore planets, and build wormholes that others use.",
    rules=(
        "In your turn you have 3 energy. A move to the next space costs 1; on the ring around a planet or the "
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
        ({"do": "draw"}, "You draw from the deck until you have four."),
        ({"do": "end"}, "One energy is left, but it cannot be saved."),
    ),
    options={"galaxy": "basic"},
)


def guide() -> Guide:
    """The words and the turn."""
    return _GUIDE
