"""The page on which a person plays: who may use it, what it tells, and whole matches of every game over HTTP."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio
from tests.arena.conftest import Client, Serve
from tests.report.site.conftest import patch

from warpleague.arena.play.sitting import Kept, Sitting
from warpleague.games import load_game
from warpleague.games.api import JsonObject
from warpleague.match.chance import match_key
from warpleague.match.replay import Replay, verify_record
from warpleague.match.setup import options_json
from warpleague.match.spec import MatchSpec, SeatSpec
from warpleague.report.site.delta import EMPTY, plain
from warpleague.report.wording.match_words import SeatNames

SHORT: dict[str, dict[str, Any]] = {
    "aliens": {"max_turns": 12},
    "captains": {"max_rounds": 4},
    "coasters": {"max_rounds": 4},
    "sheets": {},
}


def play_on(client: Client, seed: int = 0) -> None:
    """Choose at random until the match is over."""
    rng = Random(seed)
    while client.state["phase"] != "over":
        if client.state["phase"] == "curtain":
            assert client.do("sit", seat=client.state["curtain"])[0] == 204
            client.until("asked")
        if client.state["phase"] == "asked":
            question = client.state["question"]
            if question["complete"]:
                assert len(question["chosen"]) > 1
                assert client.do("send")[0] == 204
            else:
                assert client.do("act", index=rng.randrange(len(question["actions"])))[0] == 204
        client.until("asked", "curtain", "over")


@pytest.mark.parametrize("game", SHORT)
def test_a_whole_match_of_each_game(serve: Serve, game: str) -> None:
    """A person plays it to its end; the record holds; and the page was told what the seat saw, and no more."""

    async def main() -> None:
        async with serve(game, "Ada", None, options=SHORT[game]) as table:

            def play(client: Client) -> None:
                client.until("asked")
                assert any("scene" in frame for message in client.messages for frame in message["frames"])
                play_on(client)
                assert client.get("")[0] == 200
                status, record = client.get("record/1")
                assert status == 200
                verify_record(record)
                assert json.loads(record.splitlines()[0])["seats"][0]["kind"] == "person"
                assert b"<!doctype html>" in client.get("replay/1")[1]
                check_knowledge(client, record)

            await table.run(play)

    trio.run(main)


def check_knowledge(client: Client, record: bytes) -> None:
    """Compare all that was sent with what the record shows to the seat."""
    replay = Replay(record)
    roles = replay.game.scene(replay.first, 0).roles
    names = SeatNames([seat["bot"] for seat in replay.header["seats"]], roles, you=0)
    seen: list[str] = []
    scenes = {json.dumps(plain(names.within(replay.game.scene(replay.first, 0))), sort_keys=True)}
    for step in replay:
        shown = [data for event in step.events if (data := event.seen_by(0)) is not None]
        seen += [names.say(replay.game.tell(data)) for data in shown]
        scenes.add(json.dumps(plain(names.within(replay.game.scene(step.state, 0))), sort_keys=True))
    # A page that opens late is told the last events only.
    assert client.told == seen[len(seen) - len(client.told) :]
    board: Any = EMPTY
    for message in client.messages:
        for frame in message["frames"]:
            if "scene" in frame:
                board = patch(board, frame["scene"])
                assert json.dumps(board, sort_keys=True) in scenes


@pytest.mark.parametrize("game", SHORT)
def test_a_person_who_knows_nothing_yet_finds_the_rules(serve: Serve, game: str) -> None:
    """The page has the goal, and leads to all rules and to a first turn; each choice has a heading and sentences."""

    async def main() -> None:
        async with serve(game, "Ada", None, options=SHORT[game]) as table:

            def look(client: Client) -> None:
                client.until("asked")
                page = client.get("")[1].decode()
                assert "Goal:" in page
                assert f'href="docs/{game}"' in page
                status, rules = client.get(f"docs/{game}")
                assert status == 200
                assert b'href="reproduce#' in rules  # a link to another page, from beside this one
                assert client.get("docs/reproduce")[0] == 200
                assert client.get("docs/nothing")[0] == 404
                status, turn = client.get("first-turn")
                assert status == 200
                moments = json.loads(turn)
                assert len(moments) > 3
                assert all(moment["scene"]["cells"] for moment in moments)
                question = client.state["question"]
                assert question["heading"][0].isupper()
                assert all(action["text"][0].isupper() for action in question["actions"])

            await table.run(look)

    trio.run(main)


@pytest.mark.parametrize("game", SHORT)
def test_what_a_choice_leads_to_can_be_seen_before(serve: Serve, game: str) -> None:
    """The page shows the picture that the choice then gives, or none where it tells something new."""

    async def main() -> None:
        async with serve(game, "Ada", None, options=SHORT[game]) as table:

            def look(client: Client) -> None:
                client.until("asked")
                for _ in range(6):
                    question = client.state["question"]
                    if question["complete"]:
                        assert client.get("outlook/0")[0] == 404
                        assert client.do("send")[0] == 204
                        client.until("asked")
                        continue
                    status, seen = client.get("outlook/0")
                    assert status == 200
                    assert client.get(f"outlook/{len(question['actions'])}")[0] == 404
                    assert client.do("act", index=0)[0] == 204
                    client.until("asked", "over")
                    after = client.state.get("question", {})
                    if after.get("id") == question["id"] and not after["complete"]:
                        assert json.loads(seen) == after["scene"]

            await table.run(look)

    trio.run(main)


def test_what_ends_the_turn_is_told(serve: Serve) -> None:
    """In coasters a ship may always stop without firing: that alone ends the turn, and touches nothing."""

    async def main() -> None:
        async with serve("coasters", "Ada", None, options=SHORT["coasters"]) as table:

            def look(client: Client) -> None:
                while True:
                    client.until("asked")
                    actions = client.state["question"]["actions"]
                    ends = [action["text"] for action in actions if action["ends"]]
                    if "End your turn without firing" in ends:
                        break
                    assert client.do("act", index=0)[0] == 204
                assert all(action["to"] == [] for action in actions if action["ends"])
                assert not any("Turn to" in text or "Go " in text for text in ends)

            await table.run(look)

    trio.run(main)


def test_nothing_can_be_pressed_before_the_page_knows_the_match(serve: Serve) -> None:
    """A page is drawn before it is told of the match; what is pressed then would be said of no match."""

    async def main() -> None:
        async with serve("sheets", "Ada", None) as table:

            def look(client: Client) -> None:
                page = client.get("")[1].decode()
                for name in ("send", "undo", "hint", "resign"):
                    element = re.search(f'<[^>]* id="{name}"[^>]*>', page)
                    assert element is not None
                    assert " disabled" in element[0]

            await table.run(look)

    trio.run(main)


def test_others_are_refused(serve: Serve) -> None:
    """A request needs the token, this server's name and, to change something, this server's origin."""

    async def main() -> None:
        async with serve("sheets", "Ada", None) as table:

            def ask(client: Client) -> None:
                client.until("asked")
                state = client.state
                port = client.host.partition(":")[2]
                assert client.get("")[0] == 200
                assert client.request("GET", "/")[0] == 404
                assert client.request("GET", "/" + "x" * 32 + "/")[0] == 404
                assert client.get("nowhere")[0] == 404
                assert client.get("assets/../page.py")[0] == 404
                assert client.get("", host=f"rebound.example:{port}")[0] == 421
                assert client.get("", host=None)[0] in (400, 421)
                assert client.get("", sec_fetch_site="cross-site")[0] == 403
                body = {"do": "act", "match": 1, "question": state["question"]["id"], "chosen": 0, "index": 0}

                def post(path: str = client.root + "do", data: Any = body, **headers: str | None) -> int:
                    return client.request("POST", path, data, **headers)[0]

                assert post("/do") == 404
                for origin in (None, "null", "http://rebound.example", f"https://{client.host}"):
                    assert post(origin=origin) == 403
                assert post(content_type="application/x-www-form-urlencoded") == 415
                assert post(content_type="text/plain") == 415
                assert post(data=b"{}" + b" " * 20_000) == 413
                assert post(data=b"{") == post(data=b"[" * 5000) == post(data=[]) == 400
                assert post(data={**body, "index": 10_000}) == post(data={**body, "index": "0"}) == 409
                assert post(data={**body, "index": True}) == post(data={**body, "index": -1}) == 409
                assert post(data={**body, "question": 7}) == post(data={**body, "match": 2}) == 409
                assert post(data={"do": "rebuild", "match": 1}) == 409
                assert client.get("record/1")[0] == client.get("record/2")[0] == 404
                assert post() == 204
                assert post() == 409  # that question is answered

            await table.run(ask)

    trio.run(main)


def test_what_was_not_sent_can_be_taken_back(serve: Serve) -> None:
    """Choices are kept until something new comes of them, and longer if the person wants that."""

    async def main() -> None:
        async with serve("captains", "Ada", None, options=SHORT["captains"]) as table:

            def play(client: Client) -> None:
                client.until("asked")
                first = client.state["question"]
                assert client.do("undo")[0] == 409
                assert client.do("act", index=1)[0] == 204
                client.hear()
                drafted = client.state["question"]
                assert drafted["id"] == first["id"]
                assert drafted["chosen"] == [first["actions"][1]["text"]]
                assert drafted["scene"]["caption"] != ""
                assert client.do("undo")[0] == 204
                client.hear()
                assert client.state["question"] == first
                while not client.state["question"]["complete"]:
                    texts = [action["text"] for action in client.state["question"]["actions"]]
                    end = next((at for at, text in enumerate(texts) if "End your turn" in text), 0)
                    client.do("act", index=end, hold=True)
                    client.hear()
                assert client.state["question"]["actions"] == []
                chosen = client.state["question"]["chosen"]
                assert client.do("send")[0] == 204
                client.until("asked")
                assert client.state["question"]["chosen"] == []
                assert len(chosen) > 1

            await table.run(play)

    trio.run(main)


def test_a_click_on_the_board_that_ends_a_turn_can_be_taken_back(serve: Serve) -> None:
    """The last part of a turn of several waits to be sent; an entry without a place on the board sends by itself."""

    async def main() -> None:
        async with serve("captains", "Ada", None, options=SHORT["captains"]) as table:

            def play(client: Client) -> None:
                client.until("asked")
                while not client.state["question"]["complete"]:
                    actions = client.state["question"]["actions"]
                    placed = next((index for index, action in enumerate(actions) if action["to"]), 0)
                    assert client.do("act", index=placed)[0] == 204
                    client.until("asked", "over")
                whole = client.state["question"]
                assert client.do("undo")[0] == 204
                client.hear()
                assert client.state["question"]["chosen"] == whole["chosen"][:-1]
                ends = [action["ends"] for action in client.state["question"]["actions"]]
                assert client.do("act", index=ends.index(True))[0] == 204
                client.until("asked")
                assert client.state["question"]["id"] > whole["id"]
                assert client.state["question"]["chosen"] == []

            await table.run(play)

    trio.run(main)


def test_a_hint_is_a_bots_choice(serve: Serve) -> None:
    """It is one of the actions that can be chosen now."""

    async def main() -> None:
        async with serve("sheets", "Ada", None, bot="bots/sheets-greedy") as table:

            def play(client: Client) -> None:
                client.until("asked")
                assert client.do("hint")[0] == 204
                client.hear()
                hint = client.state["question"]["hint"]
                assert hint["bot"] == "sheets-greedy"
                assert 0 <= hint["index"] < len(client.state["question"]["actions"])

            await table.run(play)

    trio.run(main)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("print('no JSON', flush=True)", b"its answer is not JSON"),
        ("print('[' * 50_000, flush=True)", b"its answer is not JSON"),
        ("sys.exit(3)", b"exit"),
    ],
)
def test_a_hint_of_a_bot_that_answers_badly_is_none(
    serve: Serve, tmp_path: Path, code: str, told: bytes
) -> None:
    """The person is told why there is none, and goes on."""
    bot = tmp_path / "odd"
    bot.mkdir()
    (bot / "bot.py").write_text(f"import sys\nfor _ in sys.stdin:\n    {code}\n")
    (bot / "bot.toml").write_text('name = "odd"\ngames = ["sheets"]\nrun = ["python3", "bot.py"]\n')

    async def main() -> None:
        async with serve("sheets", "Ada", None, bot=str(bot)) as table:

            def play(client: Client) -> None:
                client.until("asked")
                status, body = client.do("hint")
                assert status == 409
                assert b"no hint: odd: " in body
                assert told in body
                assert client.do("resign")[0] == 204
                client.until("over")
                assert client.do("leave")[0] == 204
                client.until("closed")

            await table.run(play)

    trio.run(main)


def test_resigning_and_a_rematch(serve: Serve) -> None:
    """Who resigns is ranked below; the next match has the seats changed; then the sitting can end."""

    async def main() -> None:
        async with serve("sheets", "Ada", None) as table:

            def play(client: Client) -> None:
                client.until("asked")
                assert client.do("rematch")[0] == 204  # there is nothing to follow yet
                assert client.do("resign")[0] == 204
                state = client.until("over")
                assert state["result"]["ranks"] == [2, 1]
                assert state["result"]["faults"][0] == ["crash: the person resigned"]
                assert (state["seats"][0]["fault"], state["seats"][0]["out"]) == (
                    "crash: the person resigned",
                    True,
                )
                assert "fault" not in state["seats"][1]
                verify_record(client.get("record/1")[1])
                assert client.do("rematch")[0] == 204
                state = client.until("asked")
                assert (state["match"], state["seat"]) == (2, 1)
                assert client.do("leave")[0] == 204
                client.until("closed")

            await table.run(play)

    trio.run(main)


def test_a_curtain_between_two_persons(serve: Serve) -> None:
    """Nothing of a seat is told before its person says to be there; the other's view ends at once."""

    async def main() -> None:
        async with serve("captains", "Ada", "Ben", options=SHORT["captains"]) as table:

            def play(client: Client) -> None:
                state = client.until("curtain")
                assert state["curtain"] == 0
                assert "question" not in state
                assert all(message["frames"] == [] for message in client.messages)
                assert client.do("act", index=0)[0] == 409
                assert client.do("sit", seat=1)[0] == 409
                assert client.do("sit", seat=0)[0] == 204
                assert client.until("asked")["seat"] == 0
                play_on(client)
                curtains = [message for message in client.messages if message["state"]["phase"] == "curtain"]
                assert {message["state"]["curtain"] for message in curtains} == {0, 1}
                assert all(message["frames"] == [] for message in curtains)

            await table.run(play)

    trio.run(main)


def test_a_message_is_sent_at_once(serve: Serve) -> None:
    """In a game with talk a person can say something, and still choose."""

    async def main() -> None:
        async with serve("coasters", "Ada", None, None, options={"max_rounds": 2}) as table:

            def play(client: Client) -> None:
                client.until("asked")
                talk = client.state["question"]["talk"]
                assert talk > 0
                assert client.do("say", to=[0], text="to me")[0] == 409
                assert client.do("say", to=[1, 2], text="")[0] == 409
                assert client.do("say", to="1", text="hello")[0] == 409
                assert client.do("say", to=[1, 2], text="hello")[0] == 204
                client.until("asked")
                assert client.state["question"]["talk"] == talk - 1
                play_on(client)
                assert b'"text":"hello"' in client.get("record/1")[1]

            await table.run(play)

    trio.run(main)


def test_a_match_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """Its record is there from the first move; the same match gives the answers again, and is kept until its end."""
    game = load_game("sheets")
    options = options_json(game.Options())
    spec = MatchSpec(
        "one", "sheets", options, (SeatSpec("Ada", kind="person"),), match_key("one"), seed="one"
    )
    kept = Kept(tmp_path / "play" / "one.begun")

    async def until(fits: Callable[[], bool]) -> None:
        with trio.fail_after(20):
            while not fits():
                await trio.sleep(0.01)

    async def play(choices: int, answered: int) -> list[JsonObject]:
        sitting = Sitting(lambda _: spec, kept=lambda _: kept)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sitting.run)
            await until(lambda: bool(sitting.matches) and sitting.now.persons[0].draft is not None)
            person = sitting.now.persons[0]
            for _ in range(choices):
                await until(lambda: person.draft is not None)
                person.choose(1)
                if person.draft is not None:
                    person.send()
            await until(lambda: len(kept.answers(0)) == answered)
            nursery.cancel_scope.cancel()
        return kept.answers(0)

    assert kept.answers(0) == []
    first = trio.run(play, 2, 2)
    assert trio.run(play, 1, 3)[:2] == first

    async def leave() -> None:
        sitting = Sitting(lambda _: spec, kept=lambda _: kept)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sitting.run)
            await until(lambda: bool(sitting.matches) and sitting.now.persons[0].draft is not None)
            sitting.leave()

    trio.run(leave)
    assert not kept.path.exists()
