"""Branches of recorded matches: the start position, the parent in the header, and their verification."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.errors import ActionError, BadInput, RecordError
from warpleague.games.api import CHANCE, JsonObject
from warpleague.games.values import decoded, encoded
from warpleague.match.setup import players_and_options

if TYPE_CHECKING:
    from warpleague.match.replay import Replay, ReplayStep


@attrs.frozen
class Branch:
    """A position to play from, and the entry in the header about its match."""

    position: JsonObject
    options: JsonObject
    parent: JsonObject


def branch_off(
    replay: Replay,
    n: int,
    *,
    seat: int | None = None,
    action: JsonObject | int | None = None,
    redeal: str | None = None,
    same_dice: bool = True,
) -> Branch:
    """The position after line n = `n` of a record, or after `action` of `seat` there.

    With `redeal`, a text, facts that `seat` does not know are drawn again from that text (`seat`: by default the one
    that must act). With `same_dice` the dice continue as in the parent, roll for roll. `BadInput` says why there is no
    such position, `RecordError` what does not hold in the record.
    """
    game = replay.game
    state: Any = replay.first
    rolls: Counter[str] = Counter()
    for step in replay:  # to its end, since the digest of a parent must hold
        if step.data["n"] <= n:
            state = step.state
            _count(rolls, step)
    summary = replay.summary
    assert summary is not None
    if not 0 <= n <= summary.lines:
        raise BadInput(f"--at {n}: the record's lines are numbered 0 (the start) to {summary.lines}")
    actors = game.actors(state)
    if not actors:
        raise BadInput(f"--at {n}: the game is over there; nothing is left to play")
    acts = actors[0]
    parent: JsonObject = {"digest": summary.digest, "n": n}
    if same_dice and rolls:
        parent["rolls"] = dict(rolls)
    if (action is not None or redeal is not None) and seat is None and acts == CHANCE:
        raise BadInput(
            f"--at {n}: dice are rolled there and no seat acts: take a later line, or name a --seat"
        )
    who = acts if seat is None else seat
    if not (0 <= who < replay.header["players"] or (action is None and redeal is None)):
        raise BadInput(f"--seat {who}: the match has seats 0 to {replay.header['players'] - 1}")
    if redeal is not None:
        parent |= {"seat": who, "redeal": redeal}
    if action is not None:
        if acts != who:
            reason = "dice are rolled" if acts == CHANCE else f"seat {acts} acts"
            raise BadInput(f"--at {n}: seat {who} does not act there: {reason}")
        parent |= {"seat": who, "action": _form(game, state, who, action)}
    state = _onward(replay, state, parent)
    if not game.actors(state):
        raise BadInput(f"--at {n}: the game is over after this action; nothing is left to play")
    position = decoded(encoded(game.to_json(state)))  # with lists for tuples, as a record has it
    return Branch(position, players_and_options(game, position)[1], parent)


def _count(rolls: Counter[str], step: ReplayStep) -> None:
    data = step.data
    if data["type"] == "chance" and "at" in data:
        rolls[data["at"].rpartition("#")[0]] += 1


def _form(game: Any, state: Any, seat: int, action: JsonObject | int) -> JsonObject:
    legal = game.legal(state, seat)
    if isinstance(action, int):
        if not 0 <= action < len(legal):
            raise BadInput(f"--action {action}: there are {len(legal)} legal actions, counted from 0")
        return game.action_json(legal[action])  # type: ignore[no-any-return]
    try:
        return game.action_json(game.parse(state, seat, action))  # type: ignore[no-any-return]
    except ActionError as error:
        raise BadInput(f"--action: {error}") from None


def _onward(replay: Replay, state: Any, parent: JsonObject) -> Any:
    """The position that `parent` tells of, from the one in the parent."""
    game = replay.game
    if "redeal" in parent:
        seat = parent["seat"]
        state = game.determinize(game.view(state, seat), seat, Random(parent["redeal"]))
    if "action" in parent:
        state = game.apply(state, game.parse(state, parent["seat"], parent["action"]))[0]
    return state


def check_parent(header: JsonObject, replay: Replay) -> None:
    """Raise `RecordError` if the match of `header` does not branch off from the record `replay` as it says.

    The position, the count of rolls and the action are made again and compared; redealt cards too, since the record
    gives the text that they were drawn from.
    """
    parent = header.get("parent")
    where = replay.where
    if parent is None:
        raise RecordError("the match has no parent: its header names none")
    if (header["game"], header["players"]) != (replay.header["game"], replay.header["players"]):
        raise RecordError(f"its game is not that of {where}")
    try:
        branch = branch_off(
            replay,
            parent["n"],
            seat=parent.get("seat"),
            action=parent.get("action"),
            redeal=parent.get("redeal"),
            same_dice="rolls" in parent,
        )
    except RecordError:
        raise
    except BadInput as error:
        raise RecordError(f"it cannot branch off from {where}: {error}") from None
    if branch.parent["digest"] != parent["digest"]:
        raise RecordError(
            f"its parent has the digest {parent['digest']}, {where} has {branch.parent['digest']}"
        )
    if branch.parent != parent:
        raise RecordError(f"what it says of its parent is not so in {where}")
    if branch.position != header["position"]:
        raise RecordError(f"its position is not the one after line {parent['n']} of {where}")
