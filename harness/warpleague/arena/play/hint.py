"""Hints: asks a bot which move it would choose for a person; the bot sees only the person's information."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.errors import BadInput, BotError
from warpleague.match import greeting
from warpleague.match.spec import Level, SeatSpec, Violation
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.shipped import located
from warpline import codec
from warpline.codec import to_bytes

if TYPE_CHECKING:
    from warpleague.arena.play.seat import PersonSeat
    from warpleague.games.api import JsonObject

STRONGEST: Final = {
    "aliens": "bots/ladder/aliens-5",
    "captains": "bots/ladder/captains-5",
    "coasters": "bots/ladder/coasters-5",
    "sheets": "bots/ladder/sheets-5",
}
"""The strongest bot that comes with Warp League, by game."""

THINK_S: Final = 2.0
"""How long it may think, in seconds."""

_READY_S: Final = 10.0


def strongest(game_id: str) -> str:
    """The strongest bot for a game, to play against and to ask for hints; a random one for any other game."""
    return STRONGEST.get(game_id, "bots/random-python")


@attrs.frozen
class Hint:
    """A bot's choice: the index of the legal action."""

    bot: str
    index: int


async def ask_bot(bot: str, person: PersonSeat, level: Level) -> Hint:
    """The next choice of the bot in the folder `bot` in the person's place. Raises `BadInput` if it gives none."""
    draft = person.draft
    if draft is None or draft.complete:
        raise BadInput("there is nothing to choose now")
    game, seat, state = draft.game, draft.seat, draft.state
    legal = [game.action_json(action) for action in draft.legal()]
    question = codec.encode_act(
        1, game.ask(state, seat), None, THINK_S, None, b"[]", game.view_json(state, seat), to_bytes(legal)
    )
    start = {**person.start_message, "clock": {"move_s": THINK_S, "start_s": _READY_S}}
    try:
        bundle = await trio.to_thread.run_sync(prepare, located(Path(bot)), level, ())
        answer = await _answer(bundle.seat(), level, to_bytes(start) + b"\n", question)
    except BotError as error:
        raise BadInput(f"no hint: {error}") from None
    action = answer.get("action")
    if isinstance(action, dict) and action in legal:
        action = legal.index(action)
    if type(action) is not int or not 0 <= action < len(legal):
        raise BadInput(f"no hint: {bundle.name} answered nothing that is possible here")
    return Hint(bundle.name, action)


async def _answer(seat: SeatSpec, level: Level, start: bytes, question: bytes) -> JsonObject:
    """Start a bot, put one question to it, and end it."""
    bot = BotProcess(seat, level)
    answer: Any = {}
    wrong = ""  # raised here, it would come out of the nursery in a group
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            for line, limit_s in (
                (greeting.hello_line(), _READY_S),
                (start, _READY_S),
                (question, 2 * THINK_S),
            ):
                reply = await bot.ask(line, round(limit_s * 1e9))
                if isinstance(reply, Violation):
                    wrong = reply.message
                    break
                try:
                    answer = json.loads(reply.line)
                except (ValueError, RecursionError):
                    wrong = "its answer is not JSON"
                    break
            bot.tell(greeting.quit_line())
        finally:
            await bot.close(0)
            nursery.cancel_scope.cancel()
    if wrong:
        raise BadInput(f"no hint: {seat.bot}: {wrong}")
    return answer if isinstance(answer, dict) else {}
