"""Writes a question as plain text, for bots that want `text`: what happened, the position, the numbered actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpleague.games.words import scene_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.games.api import Game, JsonObject


def question_text(
    game: Game[Any, Any], state: Any, seat: int, legal: Sequence[Any], events: Iterable[JsonObject]
) -> str:
    """The question to `seat` at `state` in words, telling only what the seat may know.

    `events` are those since the last question, as the seat saw them. The number before an action is its index in
    `legal`, so that it may be the answer. A decision that allows messages says so.
    """
    parts = [f"You are seat {seat}."]
    if happened := [game.tell(event) for event in events]:
        parts.append("What happened since your last question:")
        parts += [f"{number}. {line}" for number, line in enumerate(happened, 1)]
    parts += ["", "The position:", *scene_in_words(game.scene(state, seat)), ""]
    if talk := game.talk(state, seat):
        parts.append(f"Before you decide you may send messages, {talk} at most.")
    parts.append(f"Decide ({game.ask(state, seat)}): {game.heading(state, seat)}.")
    parts.append("The number of each legal action, and the action:")
    parts += [f"{index}. {game.phrase(state, action)}" for index, action in enumerate(legal)]
    return "\n".join(parts)
