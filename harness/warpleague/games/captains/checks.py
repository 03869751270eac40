"""Whether the parts of a position that was read fit each other: its stage, the ship, the cards, the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.games.captains.dealing import RETIRED
from warpleague.games.captains.rules import AI_DISCARDS, UNTIL_PAIRS, ai_places
from warpleague.games.captains.state import (
    AI_CARDS,
    AI_PLACE,
    BLACKHOLE,
    DEAL,
    DEALT,
    DRAW,
    EMERGE,
    HAND,
    OVER,
    PICKUP_PLANET,
    PICKUP_STATION,
    STAGES,
    START,
    STATION,
    TURN,
    State,
)

if TYPE_CHECKING:
    from warpleague.games.reading import Fields


def check(fields: Fields, state: State) -> None:
    """Whether stage and turn fit the rest."""
    board, stage = state.table, state.stage
    galaxy, seat = board.galaxy, state.seat
    ship = state.ships[seat]
    everyone = len(state.retired) == board.players
    if everyone != (stage == OVER and state.why == RETIRED):
        fields.fail("retired", "every seat is retired exactly when the game is over because of it")
    if stage not in (DEAL, OVER) and seat in state.retired:
        fields.fail("seat", f"seat {seat} is retired and cannot have the turn")
    if stage == OVER and not everyone and state.round != state.last_round:
        fields.fail("stage", "the game is not over before the last round is")
    if board.players > 1 and stage in (AI_PLACE, AI_CARDS):
        fields.fail("stage", f"{STAGES[stage]!r} is of the solo game only")
    if stage == START and ship >= 0:
        fields.fail("stage", f"seat {seat} has started already")
    if stage in (TURN, PICKUP_PLANET, PICKUP_STATION, EMERGE, DRAW, BLACKHOLE) and ship < 0:
        fields.fail("stage", f"seat {seat} has not started: the stage must be 'start'")
    in_hole = stage in (BLACKHOLE, EMERGE)
    if in_hole and not galaxy.blackhole[ship]:
        fields.fail("stage", "the ship is not in a black hole")
    for other, space in enumerate(state.ships):
        leaving = other in state.retired or (in_hole and other == seat)
        if space >= 0 and galaxy.blackhole[space] and not leaving:
            fields.fail(f"ships[{other}]", "a ship leaves the black hole before anything else happens")
    if state.taken and stage != PICKUP_STATION:
        fields.fail("taken", "is of the stage 'pickup-station' only")
    if state.taken.bit_count() > 2:
        fields.fail("taken", "names more than two planets")
    check_focus(fields, state)
    hand = state.cards.hands[seat]
    if stage in (PICKUP_PLANET, DRAW, BLACKHOLE) and not state.cards.left:
        fields.fail("stage", f"{STAGES[stage]!r} needs a card in the deck")
    if stage == DRAW and sum(hand) >= HAND:
        fields.fail("stage", f"'draw' needs a hand of less than {HAND} cards")
    if stage == PICKUP_STATION and not galaxy.beside_station[ship]:
        fields.fail("stage", "the ship is not beside the station")
    if stage in (PICKUP_PLANET, PICKUP_STATION, DRAW) and not state.picked:
        fields.fail("picked", f"must be true in stage {STAGES[stage]!r}: the pick-up of the turn is on")
    if stage == DEAL:
        check_deal(fields, state)


def check_focus(fields: Fields, state: State) -> None:
    """Whether `focus` is what the stage is about."""
    stage, focus = state.stage, state.focus
    if (stage == AI_CARDS or (stage == AI_PLACE and focus >= 0)) and not state.tokens.stacks[1]:
        fields.fail("tokens", "the AI places its first token beside the station before anything else")
    if stage == AI_CARDS:
        most = AI_DISCARDS.get(state.table.plan.options.ai or "", UNTIL_PAIRS)
        if focus != most and not 1 <= focus <= most:
            fields.fail("focus", "must be how many cards the AI discards yet (azimuth: -1)")
        if not state.cards.left:
            fields.fail("stage", "'ai-cards' needs a card in the deck")
    elif stage in (PICKUP_PLANET, DRAW):
        galaxy, ship = state.table.galaxy, state.ships[state.seat]
        if focus < 0 or galaxy.beside_planet[ship] != focus:
            fields.fail("focus", "must be the planet beside the ship")
        if galaxy.beside_station[ship]:
            fields.fail("stage", "beside the station nothing is drawn from the deck")
    elif stage == EMERGE:
        if not 0 <= focus < state.table.planets:
            fields.fail("focus", "must be the planet revealed")
    elif stage == AI_PLACE:
        check_ai_place(fields, state)
    elif focus != STATION:
        fields.fail("focus", f"must be {STATION} in stage {STAGES[stage]!r}")


def check_ai_place(fields: Fields, state: State) -> None:
    """Whether the AI may place a token where the stage says (captains A2, A3)."""
    board, focus = state.table, state.focus
    galaxy, stack = board.galaxy, state.tokens.stacks[1]
    if focus >= board.planets:
        fields.fail("focus", "must be a planet, or -1 for the station")
    if (focus == STATION and stack) or any(galaxy.beside_planet[at] == focus >= 0 for at in stack):
        fields.fail("focus", "the AI has a token there already")
    if not ai_places(state):
        fields.fail("focus", "there is no room for a token of the AI")


def check_deal(fields: Fields, state: State) -> None:
    """While hands are dealt nothing else has happened, and hands are dealt in order (captains C2)."""
    seat = state.seat
    for other, hand in enumerate(state.cards.hands):
        cards, due = sum(hand), DEALT[other]
        if (other < seat and cards != due) or (other > seat and cards) or (other == seat and cards >= due):
            fields.fail(f"hands[{other}]", f"{cards} cards cannot be while seat {seat} is dealt its {due}")
    if (
        any(state.tokens.stacks)
        or any(state.cards.docks)
        or state.round != 1
        or any(cards for pile in state.cards.piles for cards in pile)
    ):
        fields.fail("stage", "'deal' is before the first turn")
