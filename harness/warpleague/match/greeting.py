"""The lines around a match: hello, start and ready, a fault's notice, and quit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague import __version__
from warpleague.match.chance import bot_seed
from warpleague.match.faults import quote
from warpleague.match.spec import MatchSpec, Violation
from warpline import codec
from warpline.limits import NOTE_BYTES, PROTOCOL
from warpline.messages import BotHello, BotMessage, Clock, Fault, Hello, Quit, Ready, Start

if TYPE_CHECKING:
    from warpleague.games.api import Game

_USUAL_READY: Final = b'{"type":"ready"}'


def hello_line() -> bytes:
    """The first line any bot is sent."""
    return codec.encode(Hello(referee=f"warpleague {__version__}"))


def judge_hello(line: bytes) -> BotHello | Violation:
    """Judge the line that answers hello."""
    message = _decode(line)
    if isinstance(message, Violation):
        return Violation("startup", f"bad hello: {message.message}", message.detail)
    if not isinstance(message, BotHello):
        return Violation("startup", "the first line must be a hello message", quote(line))
    if message.protocol != PROTOCOL:
        text = f"the bot speaks protocol {message.protocol}; this referee speaks {PROTOCOL}"
        return Violation("startup", text, quote(line))
    return message


def start_line(spec: MatchSpec, game: Game[Any, Any], state: Any, seat: int) -> bytes:
    """The line that begins a match for the bot of `seat`; `state` is the first in which a seat must act."""
    clock = spec.seats[seat].clock or spec.clock
    return codec.encode(
        Start(
            match=spec.id,
            game=spec.game,
            rules=game.rules_version,
            options=spec.options,
            seat=seat,
            players=spec.names[seat] if spec.names else tuple(player.bot for player in spec.seats),
            seed=bot_seed(spec.key, seat),
            clock=Clock(clock.move_s, clock.bank_s, clock.increment_s, clock.start_s),
            setup=game.setup(state),
            note_bytes=None if spec.note_bytes == NOTE_BYTES else spec.note_bytes,
        )
    )


def judge_ready(line: bytes) -> Violation | None:
    """Judge the line that answers start."""
    if line == _USUAL_READY:
        return None
    message = _decode(line)
    if isinstance(message, Violation):
        return Violation("startup", f"bad ready message: {message.message}", message.detail)
    if not isinstance(message, Ready):
        return Violation("startup", "the answer to start must be a ready message", quote(line))
    return None


def fault_line(violation: Violation) -> bytes:
    """The message that tells a bot's own log why it is out."""
    return codec.encode(Fault(kind=violation.kind, message=violation.message))


def quit_line() -> bytes:
    """The last message: the bot is to exit."""
    return codec.encode(Quit())


def _decode(line: bytes) -> BotMessage | Violation:
    try:
        return codec.decode_bot(line)
    except codec.WireError as error:
        return Violation(error.kind, str(error), quote(line))
