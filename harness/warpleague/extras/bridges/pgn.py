"""Writes recorded matches of openspiel:chess as PGN, which chess programs read.

python -m warpleague.extras.bridges.pgn RECORD... > matches.pgn
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warpleague.errors import BadInput, WarpLeagueError
from warpleague.match.record import read_record
from warpleague.match.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_GAME: Final = "openspiel:chess"
_WHITE: Final = 1
"""OpenSpiel's seat of the white pieces."""
_ACROSS: Final = 80
_ENDS: Final = {
    "resigned": "normal", "retired": "rules infraction", "move-limit": "adjudication", "completed": "normal",
}  # fmt: skip


def pgn(replay: Replay) -> str:
    """One match as PGN: its tags, its moves in standard algebraic notation, and what the bots expected of them.

    Raises `BadInput` if it is not a match of chess, `RecordError` at the first line of the record that does not hold.
    """
    header = replay.header
    if header["game"].partition("(")[0] != _GAME:
        raise BadInput(f"{replay.where}: a match of {header['game']}; PGN is for {_GAME}")
    state = replay.first
    for step in replay:
        state = step.state
    outcome = replay.summary
    assert outcome is not None
    ranks = outcome.ranks
    white = ranks[_WHITE] - ranks[1 - _WHITE]
    result = "1-0" if white < 0 else "0-1" if white > 0 else "1/2-1/2"
    tags = {
        "Event": f"match {header['id']}",
        "Site": "?",
        "Date": str(header.get("started") or "????.??.??")[:10].replace("-", "."),
        "Round": "?",
        "White": header["seats"][_WHITE]["bot"],
        "Black": header["seats"][1 - _WHITE]["bot"],
        "Result": result,
        "Termination": _ENDS.get(outcome.why, outcome.why),
    }
    first = state.spiel.starting_state_str()
    usual = first.startswith("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w")
    if header["position"] is None and first and not usual:
        tags |= {"SetUp": "1", "FEN": first}
    lines = [f'[{name} "{_escaped(text)}"]' for name, text in tags.items()]
    return "\n".join((*lines, "", *_wrapped([*_moves(state), result]), ""))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _moves(state: Any) -> Iterator[str]:
    """The moves of a finished match with their numbers."""
    spiel = state.rules.spiel.new_initial_state()
    number = 0
    for action in state.spiel.history():
        player = spiel.current_player()
        if player == _WHITE:
            number += 1
            yield f"{number}."
        if player >= 0:
            yield spiel.action_to_string(player, action)
        spiel.apply_action(action)


def _wrapped(words: Sequence[str]) -> list[str]:
    """The words in lines of at most 80 characters."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > _ACROSS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def main(paths: Sequence[str]) -> int:
    """Print the matches of these records; 2 if one cannot be read or is none of chess."""
    if not paths:
        print("usage: python -m warpleague.extras.bridges.pgn RECORD...", file=sys.stderr)
        return 2
    for path in paths:
        try:
            print(pgn(Replay(read_record(Path(path)), where=path)))
        except OSError as error:
            print(f"{path}: cannot be read: {error.strerror}", file=sys.stderr)
            return 2
        except WarpLeagueError as error:
            print(error, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
