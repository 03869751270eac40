"""Matches that are being played, for spectators: what is let through, when, and what nobody may know."""

import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
import trio
from tests.report.site.conftest import patch

from warpleague.arena import live
from warpleague.arena.live import Frame, LiveFolder, new_frames
from warpleague.games import load_game
from warpleague.games.api import SPECTATOR
from warpleague.match.chance import match_key
from warpleague.match.referee import Referee, Situation
from warpleague.match.replay import Replay
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec, TimeControl
from warpleague.report.site.delta import EMPTY, plain
from warpleague.report.wording.match_words import ending
from warpline.messages import BotHello

PLAYERS = {"aliens": 2, "captains": 3, "coasters": 3, "sheets": 2}
SHORT: dict[str, dict[str, Any]] = {
    "aliens": {"max_turns": 12},
    "captains": {"max_rounds": 3},
    "coasters": {"max_rounds": 3},
    "sheets": {},
}


def referee_of(game_id: str) -> Referee:
    """A referee whose match has not begun."""
    game = load_game(game_id)
    spec = MatchSpec(
        id="0123456789abcdef0123",
        game=game_id,
        options=options_json(game.Options(**SHORT[game_id])),
        seats=tuple(SeatSpec(f"bot-{seat}", "1", "x", ("x",)) for seat in range(PLAYERS[game_id])),
        key=match_key("live"),
        seed="live",
        clock=TimeControl(),
    )
    return Referee(game, spec)


def play(referee: Referee, decisions: int, rng: Random) -> bool:
    """Answer so many questions at random; whether the match is over."""
    for _ in range(decisions):
        if referee.advance() is Situation.OVER:
            return True
        question = json.loads(referee.line)
        answer = {"type": "act", "id": question["id"], "action": rng.choice(question["legal"])}
        assert referee.answer(json.dumps(answer).encode(), 1000, None, None) is None
    return False


def written(referee: Referee, path: Path, at_s: float, since: int) -> int:
    """Append what has happened since line `since`, as a feed does; the number of the next line."""
    lines = referee.lines_since(since)
    with path.open("ab") as file:
        file.write(b"@%.2f\n%b" % (at_s, b"".join(lines)))
    return since + len(lines)


@pytest.mark.parametrize("game_id", PLAYERS)
def test_a_spectator_sees_what_every_seat_knows(game_id: str, tmp_path: Path) -> None:
    """Pictures and words are those of one who sits nowhere; a position that a seat only guesses gives the same."""
    referee, rng = referee_of(game_id), Random(1)
    referee.begin()
    for seat in range(PLAYERS[game_id]):
        referee.connect(seat, BotHello(protocol=1, wants=("legal",)))
    path = tmp_path / f"{referee.spec.id}{live.ENDING}"
    folder = LiveFolder(tmp_path)
    line, told, now_s, over = 0, [], 100.0, False
    shown: Any = EMPTY
    scene, sent = None, 0
    while not over and now_s < 160:
        over = play(referee, 5, rng)
        line, now_s = written(referee, path, now_s, line), now_s + 1
        folder.refresh(now_s)
        (match,) = folder.playing()
        trio.run(match.execute)
        assert not match.trouble
        frames, scene = new_frames(list(match.frames), sent, scene, match.before)
        sent = match.before + len(match.frames)
        for frame in frames:
            told += frame["told"]
            if "scene" in frame:
                shown = patch(shown, frame["scene"])
    game = referee.game
    replay = Replay(b"".join(referee.lines_since(0)))
    expected: list[str] = []
    state = replay.first
    for step in replay.follow():
        if step is None:
            break
        state = step.state
        expected += [
            game.tell(data) for event in step.events if (data := event.seen_by(SPECTATOR)) is not None
        ]
    assert match.outcome.endswith(f"({ending(game, game.outcome(state).why)})")
    assert told == expected[len(expected) - len(told) :]
    assert len(told) > 5
    assert shown == json.loads(json.dumps(plain(game.scene(state, SPECTATOR))))
    for seat in range(PLAYERS[game_id]):
        guess = game.determinize(json.loads(json.dumps(game.view(state, seat))), seat, rng)
        assert game.scene(guess, SPECTATOR) == game.scene(state, SPECTATOR)
    folder.close()


def test_what_happened_is_told_late(tmp_path: Path) -> None:
    """With a delay nothing is told before its time: not that a match goes on, no move of it, and not its end."""
    referee = referee_of("sheets")
    referee.begin()
    path = tmp_path / f"{referee.spec.id}{live.ENDING}"
    folder = LiveFolder(tmp_path, delay_s=30)
    line = written(referee, path, 1000.0, 0)
    assert not folder.refresh(1029.0)
    assert folder.playing() == []
    assert folder.refresh(1031.0)
    (match,) = folder.playing()
    count = match.news.count
    path.unlink()
    folder.refresh(1040.0)
    assert not match.over
    assert match.news.count == count
    assert folder.refresh(1071.0)
    assert match.over
    assert folder.playing() == []
    folder.refresh(1200.0)
    assert folder.matches == {}
    assert line > 0


def test_who_watches_a_bot_is_led_from_match_to_match(tmp_path: Path) -> None:
    """First to one that is played, then to those over a moment ago, and never back to one that began before."""
    folder = LiveFolder(tmp_path)
    paths = []
    for number, names in enumerate(["ab", "bc", "cd"]):
        referee = referee_of("sheets")
        seats = tuple(
            attrs.evolve(seat, bot=name) for seat, name in zip(referee.spec.seats, names, strict=True)
        )
        referee = Referee(referee.game, attrs.evolve(referee.spec, id=f"{number:020x}", seats=seats))
        referee.begin()
        paths.append(tmp_path / f"{referee.spec.id}{live.ENDING}")
        written(referee, paths[-1], 10.0 + number, 0)
    folder.refresh(20.0)

    def watched(bot: str, after: str = "") -> str:
        match = folder.match_of(bot, after)
        return "" if match is None else match.id[-1]

    assert [watched(bot) for bot in "abcdx"] == ["0", "0", "1", "2", ""]
    paths[0].unlink()
    paths[2].unlink()
    folder.refresh(21.0)
    assert [watched(bot) for bot in "abcd"] == ["0", "1", "1", "2"]
    assert watched("c", f"{1:020x}") == "2"
    assert watched("c", f"{2:020x}") == ""
    folder.refresh(200.0)
    assert watched("d") == ""
    folder.close()


def test_a_match_that_is_begun_again_is_another_one(tmp_path: Path) -> None:
    """A file that a dead referee left is replaced by a new one; who followed the old one is told that it is over."""
    referee = referee_of("sheets")
    referee.begin()
    path = tmp_path / f"{referee.spec.id}{live.ENDING}"
    folder = LiveFolder(tmp_path)
    written(referee, path, 1.0, 0)
    folder.refresh(2.0)
    (first,) = folder.playing()
    path.rename(tmp_path / "kept")
    written(referee, path, 3.0, 0)
    folder.refresh(4.0)
    folder.refresh(5.0)
    (second,) = folder.playing()
    assert first.over
    assert second is not first
    folder.close()


@pytest.mark.parametrize(
    "data", [b"", b"@", b"@1.0\n", b"@1.0\n{}\n", b"\xff\xfe\n@1.0\n\xff\n", b"@nan\n@x\n{\n"]
)
def test_a_damaged_file_is_no_harm(data: bytes, tmp_path: Path) -> None:
    """What is no match is not shown, or shown as one that cannot be watched."""
    (tmp_path / f"x{live.ENDING}").write_bytes(data)
    folder = LiveFolder(tmp_path)
    folder.refresh(10.0)
    for match in folder.matches.values():
        trio.run(match.execute)
        assert match.frames.maxlen
        assert not match.shown
    assert folder.playing() == []
    folder.close()


def test_the_file_of_a_match_grows_and_goes(autojump_clock: trio.abc.Clock, tmp_path: Path) -> None:
    """A match gets a file when it has lasted a moment; nobody else may read it."""
    referee = referee_of("sheets")
    referee.begin()
    path = tmp_path / "m.part"

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(live.write_on, str(path), referee))
            await trio.sleep(0.4)
            assert not path.exists()
            await trio.sleep(0.2)
            assert path.stat().st_mode & 0o777 == 0o600
            assert path.read_bytes().splitlines(keepends=True)[1:] == referee.lines_since(0)
            play(referee, 2, Random(1))
            nursery.cancel_scope.cancel()

    for seat in range(2):
        referee.connect(seat, BotHello(protocol=1, wants=("legal",)))
    trio.run(main, clock=autojump_clock)
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if not line.startswith(b"@")]
    assert lines == referee.lines_since(0)  # the last moves, too
    live.clear(tmp_path)
    assert not path.exists()


def test_frames_that_are_forgotten_are_not_told() -> None:
    """Who opens a page late is told the last frames, whatever was forgotten before, and sees the last of them."""
    scene = load_game("sheets").scene(
        load_game("sheets").initial(2, load_game("sheets").Options()), SPECTATOR
    )
    frames = [Frame((str(number),), scene) for number in range(200)]
    told, _ = new_frames(frames, 0, None, before=1000)
    assert [frame["told"] for frame in told] == [[str(number)] for number in range(80, 200)]
    assert [at for at, frame in enumerate(told) if "scene" in frame] == list(range(60, 120))
    told, _ = new_frames(frames, 1198, scene, before=1000)
    assert told == [{"told": ["198"], "scene": {}}, {"told": ["199"], "scene": {}}]
