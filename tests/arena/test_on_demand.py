"""Matches on demand and trials: who may ask for which, how they are played, and what of them an author gets."""

import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from tests.arena.harness import BOT, ApiHarness, ArenaHarness, player, served

from warpleague.arena.submissions import jobs, on_demand, versions
from warpleague.arena.submissions.jobs import OverQuota
from warpleague.arena.submissions.ledger import set_limit
from warpleague.cli import main
from warpleague.errors import BadInput, HarnessFault
from warpleague.league.season.config import load_config
from warpleague.match.record import unpack
from warpleague.match.replay import verify_record
from warpleague.match.spec import MatchResult, MatchSpec

# -- matches on demand -------------------------------------------------------------------------------------


def test_an_own_bot_plays_a_bot_of_the_league(arena: ArenaHarness) -> None:
    """Under the conditions of the league, with dice of its own; the record holds, and names nobody's output."""
    played: list[MatchSpec] = []
    arena.accepted("ada", "mine")
    ada, bob = arena.author("ada"), arena.author("bob")
    numbers = [
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
        for _ in range(8)
    ]
    arena.play_all(player(played))
    assert {spec.clock for spec in played} == {arena.config.clock}
    assert {(spec.game, spec.level, spec.private) for spec in played} == {("aliens", "sandbox", True)}
    assert len({spec.key for spec in played}) == 8
    assert {tuple(seat.bot for seat in spec.seats) for spec in played} == {
        ("mine", "random-python"),
        ("random-python", "mine"),
    }
    for number, spec in zip(numbers, played, strict=True):
        found = on_demand.challenge(arena.ledger, number, ada)
        assert (found.state, found.why) == ("played", None)
        assert found.result is not None
        assert [found.seats[place].bot for place in found.result["order"]] == [
            seat.bot for seat in spec.seats
        ]
        assert on_demand.log_of(arena.ledger, ada, number, "stderr") == "said mine"
        packed = on_demand.record_of(arena.ledger, ada, number)
        assert packed is not None
        verify_record(unpack(packed))
    with pytest.raises(BadInput):
        on_demand.record_of(arena.ledger, bob, numbers[0])


@pytest.mark.parametrize("command", ["check", "play-challenges"])
def test_no_niceness_tells_a_bot_what_it_plays(arena: ArenaHarness, command: str) -> None:
    """Checks and matches on demand are as nice as the matches of a league, which are as nice as the server."""
    words = ["arena", command, str(arena.folder / "cup.toml"), "--results", str(arena.results), "--once"]
    code = "import os, sys; from warpleague.cli import main; main(sys.argv[1:]); print(os.nice(0))"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout == f"{os.nice(0)}\n"


def test_an_earlier_version_is_an_opponent(arena: ArenaHarness) -> None:
    """By its number, and by it alone; a version of another author is none."""
    played: list[MatchSpec] = []
    old, new = arena.accepted("ada", "mine", "1"), arena.accepted("ada", "mine", "2")
    theirs = arena.accepted("bob", "other")
    ada = arena.author("ada")
    found = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", [str(old)])
    assert [seat.submission for seat in found.seats] == [new, old]
    on_demand.ask_challenge(arena.ledger, arena.config, ada, str(old), ["other"])
    arena.play_all(player(played))
    assert sorted(seat.bot for seat in played[0].seats) == ["mine", "mine"]
    assert len({seat.digest for seat in played[0].seats}) == 2
    for bot, opponents in (
        ("mine", [str(theirs)]),
        (str(theirs), ["mine"]),
        ("other", ["mine"]),
        ("mine", ["nobody"]),
        ("mine", []),
        ("mine", ["other", "other"]),
        ("mine", ["9" * 30]),
    ):
        with pytest.raises(BadInput):
            on_demand.ask_challenge(arena.ledger, arena.config, ada, bot, opponents)
    versions.withdraw(arena.ledger, arena.author("bob"), "cup", "other")
    with pytest.raises(BadInput, match="no bot 'other' plays"):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])


def test_there_is_a_budget_for_each_day(arena: ArenaHarness) -> None:
    """A match that could not be played does not count, up to as many again; who asked for less comes first."""
    played: list[MatchSpec] = []
    arena.accepted("ada", "mine")
    arena.accepted("bob", "other")
    ada, bob = arena.author("ada"), arena.author("bob")
    set_limit(arena.ledger, "challenges", 2, "test")
    on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    arena.play_all(player(played, outcome=HarnessFault("the moon is full")))
    (failed,) = on_demand.challenges(arena.ledger, ada)
    assert (failed.state, failed.why) == ("failed", "the moon is full")
    for _ in range(2):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    with pytest.raises(OverQuota, match="2 matches on demand within 24 hours"):
        on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["other"])
    on_demand.ask_challenge(arena.ledger, arena.config, bob, "other", ["mine"])
    first, second = (jobs.claim(arena.ledger, jobs.CHALLENGE) for _ in range(2))
    bobs = [one.id for one in on_demand.challenges(arena.ledger, bob)]
    assert len({first, second} & {*bobs}) == 1
    fails = player(played, outcome=HarnessFault("the moon is full"))
    arena.play_all(fails)
    for _ in range(3):
        on_demand.ask_challenge(arena.ledger, arena.config, bob, "other", ["mine"])
        arena.play_all(fails)
    assert jobs.used_today(arena.ledger, jobs.CHALLENGE, bob) == 0
    with pytest.raises(OverQuota):
        on_demand.ask_challenge(arena.ledger, arena.config, bob, "other", ["mine"])


def test_what_was_being_played_is_played_again(arena: ArenaHarness) -> None:
    """After a kill; but not for ever."""
    played: list[MatchSpec] = []
    arena.accepted("ada", "mine")
    ada = arena.author("ada")
    number = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
    for again in ([], [], [number]):
        assert jobs.claim(arena.ledger, jobs.CHALLENGE) == number
        assert jobs.recover(arena.ledger, jobs.CHALLENGE) == again
    arena.play_all(player(played))
    assert played == []
    assert on_demand.challenge(arena.ledger, number, ada).state == "failed"
    late = on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"]).id
    arena.play_all(player(played, outcome="late"))
    assert on_demand.challenge(arena.ledger, late, ada).why == "it was not over within 300 s"


def test_pages_and_commands_ask_for_matches(arena: ArenaHarness) -> None:
    """With the session's form, and with the token; the result is shown to its author alone."""
    played: list[MatchSpec] = []
    arena.accepted("ada", "mine")
    ada, bob = arena.client("ada"), arena.client("bob")
    fields = {"league": "cup", "bot": "mine", "opponents": "random-python"}
    assert ada.post("/submit/challenge", {**fields, "form": "other"}).status == 403
    assert ada.post("/submit/challenge", fields).status == 303
    assert bob.post("/submit/challenge", fields).status == 422
    arena.play_all(player(played))
    page = ada.ask("GET", "/submit").text
    assert "mine (1) – random-python, <b>played</b>" in page
    assert "You can ask for 19 more today." in page
    (asked,) = on_demand.challenges(arena.ledger, arena.author("ada"))
    record = ada.ask("GET", f"/submit/challenges/{asked.id}/record")
    assert record.status == 200
    verify_record(record.body)
    assert bob.ask("GET", f"/submit/challenges/{asked.id}/record").status == 404
    assert "random-python, <b>" not in bob.ask("GET", "/submit").text


def test_a_command_waits_for_its_match(tmp_path: Path) -> None:
    """The API answers it; what is no challenge is refused."""
    arena = ApiHarness(tmp_path)
    arena.accepted("ada", "mine2")
    kind = {"content_type": "application/json"}
    body = json.dumps({"bot": "mine2", "opponents": ["random-python"], "league": "cup"}).encode()
    assert arena.ask("POST", "/api/challenges", "ada", body, content_type="text/plain").status == 415
    for wrong in (b"", b"{}", b"[1]", b'{"bot": 5}', b'{"bot": "mine2", "opponents": "x"}', b"\xff"):
        assert arena.ask("POST", "/api/challenges", "ada", wrong, **kind).status == 422
    answer = arena.ask("POST", "/api/challenges", "ada", body, **kind)
    assert (answer.status, answer.json["state"]) == (202, "waiting")
    number = answer.json["id"]
    assert arena.ask("GET", f"/api/challenges/{number}/record", "ada").status == 404
    arena.play_all(player([]))
    assert arena.ask("GET", f"/api/challenges/{number}", "ada").json["state"] == "played"
    assert arena.ask("GET", f"/api/challenges/{number}/log", "ada").text == "said mine2"
    assert arena.ask("GET", f"/api/challenges/{number}/record", "ada").status == 200
    for path in ("", "/record", "/log"):
        assert arena.ask("GET", f"/api/challenges/{number}{path}", "bob").status == 404
    assert arena.ask("GET", "/api/challenges", "bob").json == []
    assert arena.ask("GET", "/api/author", "ada").json["challenges_today"] == 2
    arena.close()


# -- trials ------------------------------------------------------------------------------------------------

TABLE_OF_THREE = """
bots = ["bots/random-python"]
[game]
id = "coasters"
players = 3
[rules]
level = "sandbox"
"""


def bot(arena: ArenaHarness, text: str, name: str = "mine", games: str = "aliens") -> bytes:
    """The archive of a version, of which `text` is the content."""
    manifest = BOT.replace('"mine"', f'"{name}"').replace("aliens", games)
    return arena.bot(manifest, **{"notes.txt": text})


def check(arena: ArenaHarness, number: int, name: str = "mine", version: str = "2") -> None:
    """Have a submission checked, by a checker that accepts all; its digest tells its content."""
    assert arena.claim() is not None
    sha256 = arena.submission(number).sha256
    versions.accept(arena.ledger, number, name, version, sha256)


def sent_for_trial(arena: ArenaHarness, text: str, deals: int = 3, league: str = "cup") -> int:
    """A version that was sent for a trial; its number."""
    return arena.submit("ada", bot(arena, text), league, trial_deals=deals)


def digests(arena: ArenaHarness, played: list[MatchSpec]) -> list[str]:
    """The contents that played, the one that played most first."""
    return [
        digest for digest, _ in Counter(seat.digest for spec in played for seat in spec.seats).most_common()
    ]


def test_a_new_version_plays_beside_the_old_one_and_replaces_nothing(arena: ArenaHarness) -> None:
    """Both play each deal in both seats, with the same dice; the old version goes on playing in the league."""
    old = arena.accepted("ada", "mine")
    new = sent_for_trial(arena, "better")
    ada = arena.author("ada")
    (number,) = [one.id for one in on_demand.trials(arena.ledger, ada)]
    assert on_demand.trial(arena.ledger, number, ada).state == "checking"
    check(arena, new)
    assert arena.submission(new).state == "accepted"
    assert arena.active() == [old]
    played: list[MatchSpec] = []
    contents: list[str] = []

    def strength(digest: str) -> float:
        if digest not in contents:
            contents.append(digest)  # the new version has seat 0 in the first match
        return 1.0 if digest == contents[0] else 0.0

    arena.play_all(player(played, strength))
    found = on_demand.trial(arena.ledger, number, ada)
    assert (found.state, found.new, found.old, found.why) == ("played", new, old, None)
    assert len(played) == 6
    assert len({spec.id for spec in played}) == 6
    assert list(Counter(spec.key for spec in played).values()) == [2, 2, 2]
    assert [[seat.digest for seat in spec.seats] for spec in played] == [contents, contents[::-1]] * 3
    assert found.result is not None
    assert (found.result["difference"], found.result["won"], found.result["deals"]) == (1.0, 3, 3)
    assert "100.0 of 100 points more than the old one on 3 deals (6 matches)" in found.result["words"]
    assert arena.active() == [old]
    versions.activate(arena.ledger, ada, new)
    assert arena.active() == [new]


def test_the_difference_has_an_error(arena: ArenaHarness) -> None:
    """Where deals differ, the difference comes with half its 95 % interval, and with faults."""
    arena.accepted("ada", "mine")
    check(arena, sent_for_trial(arena, "as good", deals=12))
    played: list[MatchSpec] = []
    contents: list[str] = []

    def strength(digest: str) -> float:
        if digest not in contents:
            contents.append(digest)
        # The new version wins both matches of each third deal; in all others the bot of the first seat wins.
        match = len(played) - 1
        if match // 2 % 3 == 0:
            return float(digest == contents[0])
        return float(digest == played[-1].seats[0].digest)

    arena.play_all(player(played, strength))
    (found,) = on_demand.trials(arena.ledger, arena.author("ada"))
    assert found.result is not None
    assert found.result["difference"] == pytest.approx(1 / 3)
    assert 0.2 < found.result["error"] < 0.5
    assert (found.result["won"], found.result["level"]) == (4, 8)
    assert found.result["faults"] == {"new": 0, "old": 0}
    assert found.result["words"].startswith("It helped: the new version got 33.3 ± ")


def test_at_a_larger_table_both_sit_beside_the_same_field(tmp_path: Path) -> None:
    """Each takes every seat beside the same bots, on the same deal."""
    arena = ArenaHarness(tmp_path)
    (tmp_path / "three.toml").write_text(TABLE_OF_THREE)
    config = load_config(tmp_path / "three.toml")
    ada, numbers = arena.author("ada"), []
    for version in ("1", "2"):
        numbers.append(versions.submit(arena.ledger, ada, "three", bot(arena, version, games="coasters")).id)
        check(arena, numbers[-1], version=version)
    asked = on_demand.ask_trial(
        arena.ledger, config, ada, numbers[0], deals=2
    )  # the old one, beside the one that plays
    assert (asked.new, asked.old) == tuple(numbers)
    assert [seat.bot for seat in asked.field] == ["random-python"] * 2
    played: list[MatchSpec] = []
    arena.play_all(player(played), config)
    assert len(played) == 12
    for first in (0, 6):
        deal = played[first : first + 6]
        assert len({spec.key for spec in deal}) == 1
        seats: Counter[tuple[int, str]] = Counter()
        for spec in deal:
            for seat, own in enumerate(spec.seats):
                seats[seat, own.digest] += 1
        field = digests(arena, deal)[0]
        assert sorted(count for (_, digest), count in seats.items() if digest != field) == [1] * 6
    found = on_demand.trial(arena.ledger, asked.id, ada)
    assert found.result is not None
    assert (found.result["difference"], found.result["one_way"]) == (0.0, "level")
    assert found.result["words"].startswith("It is open whether it helped: ")
    arena.close()


def test_what_cannot_be_compared(arena: ArenaHarness) -> None:
    """Versions of others, the same content, nothing that plays, too many matches; refused with a reason."""
    theirs = arena.accepted("bob", "other")
    ada = arena.author("ada")
    ask = partial(on_demand.ask_trial, arena.ledger, arena.config, ada)
    with pytest.raises(BadInput, match=f"{theirs}: you have no accepted version of this number in cup"):
        ask(theirs)
    mine = arena.accepted("ada", "mine")
    with pytest.raises(BadInput, match="have the same content"):
        ask(mine)
    with pytest.raises(BadInput, match="must be from 1 to 100, not 101: a deal takes 2 matches here"):
        ask(mine, deals=101)
    versions.withdraw(arena.ledger, ada, "cup", "mine")
    with pytest.raises(BadInput, match="no version of mine plays in cup"):
        ask(mine)
    new = sent_for_trial(arena, "first")
    check(arena, new)
    arena.play_all(player([]))
    (failed,) = on_demand.trials(arena.ledger, ada)
    assert (failed.state, failed.why) == (
        "failed",
        "no version of mine plays in cup: there is nothing to compare with",
    )
    assert on_demand.trials(arena.ledger, arena.author("bob")) == []
    with pytest.raises(jobs.NoJob):
        on_demand.trial(arena.ledger, failed.id, arena.author("bob"))


def test_a_version_that_is_refused_has_no_trial(arena: ArenaHarness) -> None:
    """It failed, with a reason, and does not count towards the limit."""
    arena.accepted("ada", "mine")
    set_limit(arena.ledger, "trials", 1, "test")
    new = sent_for_trial(arena, "broken")
    with pytest.raises(OverQuota, match="the limit is 1 trial within 24 hours"):
        sent_for_trial(arena, "another")
    assert len(versions.submissions(arena.ledger, "ada")) == 2  # nothing of it was received
    assert arena.claim() is not None
    arena.refuse(new, "it does not build")
    (found,) = on_demand.trials(arena.ledger, arena.author("ada"))
    assert (found.state, found.why) == ("failed", "the new version was not accepted")
    sent_for_trial(arena, "another")


def test_a_version_that_is_sent_again_to_play_plays(arena: ArenaHarness) -> None:
    """The same archive is the same submission: its trial ends, and it becomes the active version."""
    arena.accepted("ada", "mine")
    new = sent_for_trial(arena, "better")
    assert versions.submit(arena.ledger, arena.author("ada"), "cup", bot(arena, "better")).id == new
    check(arena, new)
    assert arena.active() == [new]
    (found,) = on_demand.trials(arena.ledger, arena.author("ada"))
    assert (found.state, found.why) == ("failed", "the new version was submitted to play")


def test_it_goes_on_after_a_kill(arena: ArenaHarness) -> None:
    """What was played stays; a match that was begun in vain has other dice, and ends the trial if it always is."""
    arena.accepted("ada", "mine")
    check(arena, sent_for_trial(arena, "better"))
    ada = arena.author("ada")
    played: list[MatchSpec] = []
    plain = player(played)

    def until_killed(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        if len(played) == 3:
            raise KeyboardInterrupt
        return plain(spec, seconds, log)

    with pytest.raises(KeyboardInterrupt):
        arena.play_all(until_killed)
    (now,) = on_demand.trials(arena.ledger, ada)
    assert (now.state, now.matches) == ("playing", 3)
    arena.play_all(player(played))
    (now,) = on_demand.trials(arena.ledger, ada)
    assert now.state == "played"
    assert list(Counter(spec.key for spec in played).values()) == [2, 1, 1, 2]
    check(arena, sent_for_trial(arena, "deadly"))
    for _ in range(3):
        assert jobs.claim(arena.ledger, jobs.TRIAL) is not None
        jobs.recover(arena.ledger, jobs.TRIAL)
    arena.play_all(player([]))
    assert on_demand.trials(arena.ledger, ada)[0].why == "a match ended the process that played it 3 times"


def test_challenges_do_not_wait_for_trials(arena: ArenaHarness) -> None:
    """A match on demand comes after one match of the trial that is being played."""
    arena.accepted("ada", "mine")
    check(arena, sent_for_trial(arena, "better"))
    ada = arena.author("ada")
    played: list[MatchSpec] = []
    plain = player(played)

    def play(spec: MatchSpec, seconds: float, log: bool) -> MatchResult | None:
        if len(played) == 1:
            on_demand.ask_challenge(arena.ledger, arena.config, ada, "mine", ["random-python"])
        return plain(spec, seconds, log)

    arena.play_all(play)
    assert [str(spec.seed).partition(" ")[0] for spec in played] == [
        *("trial", "trial", "challenge", "trial", "trial", "trial", "trial")
    ]


def listed(page: str) -> list[str]:
    """The trials that an author's page lists, without tags."""
    rows = page.partition('<section id="trials">')[2].partition("</section>")[0].split("<li>")[1:]
    return [" ".join(re.sub("<[^>]*>", "", row).split()) for row in rows]


def test_an_author_asks_for_a_trial_on_the_page(arena: ArenaHarness) -> None:
    """Only if the form says so; the pages say what the command says, to the author alone."""
    client = arena.client("ada")
    assert 'name="trial"' not in client.ask("GET", "/submit").text  # no version plays yet
    old = arena.accepted("ada", "mine")
    page = client.ask("GET", "/submit").text
    assert '<input name="trial" type="checkbox" value="yes">' in page
    assert '<input name="deals" type="number" min="1" value="20" ' in page
    assert "You can ask for 4 more today. <a" in page
    new = client.upload(bot(arena, "better"), trial="yes", deals="2").headers["location"]
    assert "version 2 beside the version that plays, 2 deals, <b>checking</b>" in client.ask("GET", new).text
    check(arena, 2)
    trial = 3
    assert arena.active() == [old]
    (row,) = listed(client.ask("GET", "/submit").text)
    assert row.startswith(
        f"{trial} cup: version 2 beside the version that plays, 2 deals, waiting: 0 matches played "
    )
    arena.play_all(player([]))
    page = client.ask("GET", "/submit").text
    assert "You can ask for 3 more today. <a" in page
    (found,) = on_demand.trials(arena.ledger, arena.author("ada"))
    assert found.result is not None
    (row,) = listed(page)
    assert row.startswith(
        f"{trial} cup: version 2 beside version 1, 2 deals, played: {found.result['words']} 20"
    )
    assert found.result["words"] in client.ask("GET", new).text
    assert listed(arena.client("bob").ask("GET", "/submit").text) == []
    # An organiser sees the submission of an author, but no trial.
    assert found.result["words"] not in arena.client("olga").ask("GET", new).text
    # Without the mark the number of deals means nothing, and the version plays.
    assert client.upload(bot(arena, "best"), deals="").status == 303
    best = trial + 1
    check(arena, best)
    assert arena.active() == [best]
    assert len(listed(client.ask("GET", "/submit").text)) == 1


def test_the_page_says_why_a_trial_is_not_played(arena: ArenaHarness) -> None:
    """A trial that failed has its reason; a number of deals that cannot be is refused, and nothing is received."""
    arena.accepted("ada", "mine")
    client = arena.client("ada")
    for deals in ("", "0", "101", "-1", "1e1", "9" * 20):
        answer = client.upload(bot(arena, "broken"), trial="yes", deals=deals)
        assert answer.status == 422, deals
        assert "deals: " in answer.text
    assert len(versions.submissions(arena.ledger, "ada")) == 1
    assert client.upload(bot(arena, "broken"), trial="yes", deals="1").status == 303
    assert arena.claim() is not None
    arena.refuse(2, "it does not build")
    (row,) = listed(client.ask("GET", "/submit").text)
    assert "failed: not played, which does not count: the new version was not accepted" in row


def test_the_api_asks_for_trials(tmp_path: Path) -> None:
    """With the token of the author; a trial is shown to its author alone."""
    arena = ApiHarness(tmp_path)
    old = arena.accepted("ada", "mine2")
    kind = {"content_type": "application/gzip"}
    data = bot(arena, "better", "mine2")
    answer = arena.ask("POST", "/api/submissions?league=cup&trial=2", "ada", data, **kind)
    assert answer.status == 202, answer.text
    new, number = answer.json["id"], answer.json["trial"]
    check(arena, new, "mine2")
    asked = arena.ask("GET", f"/api/trials/{number}", "ada").json
    assert (asked["state"], asked["new"], asked["old"], asked["matches"]) == ("waiting", new, None, 0)
    arena.play_all(player([]))
    found = arena.ask("GET", f"/api/trials/{number}", "ada").json
    assert (found["state"], found["old"], found["matches"]) == ("played", old, 4)
    assert {"difference", "error", "words", "share_new", "share_old", "elo", "faults"} <= found[
        "result"
    ].keys()
    assert not {"seed", "played"} & found.keys()  # the dice of what is still to be played
    assert arena.ask("GET", f"/api/trials/{number}", "bob").status == 404
    assert [one["id"] for one in arena.ask("GET", "/api/trials", "ada").json] == [number, arena.trial]
    assert arena.ask("GET", "/api/trials", "bob").json == []
    body = json.dumps({"new": new, "old": old, "deals": 1, "league": "cup"}).encode()
    again = arena.ask("POST", "/api/trials", "ada", body, content_type="application/json")
    assert (again.status, again.json["state"]) == (202, "waiting")
    for wrong in (
        b"",
        b"{}",
        b'{"new": "x"}',
        json.dumps({"new": new, "deals": 0, "league": "cup"}).encode(),
    ):
        assert arena.ask("POST", "/api/trials", "ada", wrong, content_type="application/json").status == 422
    active = versions.stored_archive(arena.ledger, old)
    assert active is not None
    refused = arena.ask("POST", "/api/submissions?league=cup&trial=2", "ada", active, **kind)
    assert (refused.status, refused.json["error"]) == (
        409,
        f"This is version {old}, which plays: there is nothing to compare.",
    )
    arena.close()


def test_the_command_waits_for_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`submit trial` sends a version, waits for its check and its matches, and prints the difference in a sentence."""
    arena = ApiHarness(tmp_path)
    old = arena.accepted("ada", "mine2")
    folder = tmp_path / "mine2"
    folder.mkdir()
    (folder / "bot.toml").write_text(BOT.replace('"mine"', '"mine2"'))
    (folder / "bot.py").write_text("better")
    stop = threading.Event()

    def work() -> None:
        """Check and play, as the processes of an arena do."""
        while not stop.wait(0.02):
            waiting = arena.claim()
            if waiting is not None:
                versions.accept(arena.ledger, waiting, "mine2", "2", "2" * 64)
            arena.play_all(player([]))

    monkeypatch.setenv("WARPLEAGUE_TOKEN", arena.tokens["ada"])
    with served(arena.answer) as address:
        worker = threading.Thread(target=work)
        worker.start()
        try:
            to = ("--to", f"{address}/l/cup/")
            assert main(["submit", "trial", str(folder), "--deals", "2", *to]) == 0
            out = capsys.readouterr().out
            new, number = old + 1, old + 2
            assert f"for trial {number}: it does not play" in out
            assert f"trial {number} in cup: version {new} beside version {old}, 2 deals" in out
            assert (
                "the new version got 0.0 of 100 points more than the old one on 2 deals (4 matches)." in out
            )
            assert main(["submit", "trial", str(new), "--deals", "1", "--json", *to]) == 0
            found = json.loads(capsys.readouterr().out)
            assert (found["id"], found["state"], found["result"]["deals"]) == (number + 1, "played", 1)
            assert main(["submit", "trials", *to]) == 0
            assert capsys.readouterr().out.count(f"beside version {old}") == 2
            assert main(["submit", "trials", str(number), *to]) == 0
            assert main(["submit", "trials", "77", *to]) == 2
            assert main(["submit", "trial", "77", *to]) == 2
        finally:
            stop.set()
            worker.join()
    arena.close()
