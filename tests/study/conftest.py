"""Shares recorded matches of bots that answer by all that they have heard, so that nothing else is asked unnoticed."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpleague.games import load_game
from warpleague.match.chance import match_key
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchResult, MatchSpec, SeatSpec, TimeControl
from warpleague.runner.play import play_match

MakeSeat = Callable[..., SeatSpec]


LISTENER = """
import sys
from hashlib import sha256
from warpline.client import Reply, run

WANTS, THEN, WRONG, OTHER = {wants!r}, {then!r}, {wrong!r}, {other!r}
heard = sha256()

def start(match):
    options = sorted(match.options.items())
    heard.update(repr((match.id, match.game, options, match.seat, match.players, match.seed)).encode())

def choose(q):
    state, legal, events = (getattr(q, name, None) for name in ("state", "legal", "events"))
    heard.update(repr((q.id, q.ask, sorted(q.clock), q.talk, state, legal, events)).encode())
    number = int(heard.hexdigest(), 16)
    if q.id == WRONG:
        return 100_000
    if q.id == OTHER:
        return 1 if legal[1:] else 0
    if legal is None:
        return 0
    if q.talk and number % 3 == 0:
        return dict(do="say", to=[seat for seat in range(len(q.players)) if seat != q.seat], text=f"nr. {{q.id}}")
    if THEN and number % 2 and state is not None:
        return Reply(number % len(legal), then=THEN, value=0.5)
    return number % len(legal)

run(choose, wants=WANTS, on_start=start)
"""


@pytest.fixture(scope="session")
def listener(tmp_path_factory: pytest.TempPathFactory) -> MakeSeat:
    """Makes a seat whose bot chooses by all that it heard; in question `wrong` it faults, in `other` it differs."""
    folder = tmp_path_factory.mktemp("listeners")

    def make(
        name: str,
        *,
        wants: tuple[str, ...] = ("state", "legal", "events"),
        then: list[Any] | None = None,
        wrong: int = 0,
        other: int = 0,
    ) -> SeatSpec:
        path = Path(folder, f"{name}-{len(list(folder.iterdir()))}.py")
        path.write_text(LISTENER.format(wants=wants, then=then or [], wrong=wrong, other=other))
        return SeatSpec(
            bot=name, version="1", digest=name, run=(sys.executable, "-P", str(path)), cwd=str(folder)
        )

    return make


def played(game: str, seats: list[SeatSpec], options: dict[str, Any], **more: Any) -> MatchResult:
    """A match of these seats, played at level none."""
    facts: dict[str, Any] = {
        "id": "test",
        "game": game,
        "options": options_json(load_game(game).Options(**options)),
        "seats": tuple(seats),
        "key": match_key("study"),
        "seed": "study",
        "clock": TimeControl(bank_s=600.0, increment_s=1.0, start_s=60.0),
        "level": "none",
        **more,
    }
    return play_match(MatchSpec(**facts))


def bot_folder(folder: Path, source: str) -> Path:
    """The folder of a new bot for all games, whose program is `source`."""
    folder.mkdir()
    (folder / "bot.py").write_text(source)
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\ngames = ["*"]\nrun = ["python3", "bot.py"]\nreusable = true\n'
    )
    return folder


def interrupted(words: list[str], told: bytes) -> bytes:
    """What a command shows at a terminal where Ctrl-C is pressed once `told` is there; its exit code must be 130."""
    shown, end = pty.openpty()  # Ctrl-C comes from a terminal, to the processes that play, too
    command = [sys.executable, "-P", "-m", "warpleague", *words]
    with subprocess.Popen(command, preexec_fn=lambda: os.login_tty(end)) as run:
        os.close(end)
        text = until(shown, told)
        os.write(shown, b"\x03")
        text += until(shown, None)
        assert run.wait() == 130, text
    os.close(shown)
    assert b"Traceback" not in text
    return text


def until(terminal: int, told: bytes | None) -> bytes:
    """What a terminal shows until `told` is there, or until its program has ended."""
    text = b""
    while told is None or told not in text:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # on Linux a terminal that nobody holds any more is an error, elsewhere an end
            more = b""
        if not more:
            return text
        text += more
    return text
