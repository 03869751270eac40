"""The referee as pure code: what it asks, what it makes of answers and faults, what it writes down."""

import json
import re
from itertools import islice
from random import Random
from typing import Any

import pytest

from warpleague.errors import RecordError
from warpleague.games import game_ids, load_game
from warpleague.games.api import CHANCE
from warpleague.league.play.verifying import RecordReader
from warpleague.match.chance import Dice
from warpleague.match.referee import Situation, question_text
from warpleague.match.replay import Replay, verify_record
from warpleague.match.scribe import seal
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import SeatSpec, TimeControl
from warpline.codec import canonical


def lines(result: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.record.splitlines()]


def test_two_runs_have_the_same_digest_whatever_the_times(spec: Any, table: Any) -> None:
    """Times are in the record, but not in the digest."""
    one, other = table(spec()), table(spec())
    other.wall_ns = 7_654_321
    first, second = one.play(), other.play()
    assert first.record != second.record
    assert first.digest == second.digest


def test_decisions_with_one_action_are_not_asked(spec: Any, table: Any) -> None:
    """Every question has a choice; what had none is in the record as played by the referee."""
    played = table(spec())
    result = played.play()
    assert all(len(question["legal"]) > 1 for _, question in played.questions)
    acts = [line for line in lines(result) if line["type"] == "act"]
    assert len(acts) == len(played.questions) + sum(line.get("auto", False) for line in acts)
    assert any(line.get("auto") for line in acts)


def test_ids_count_each_bots_own_questions(spec: Any, table: Any) -> None:
    """A bot cannot see from its ids how often another was asked."""
    played = table(spec())
    played.play()
    for seat in (0, 1):
        ids = [question["id"] for asked, question in played.questions if asked == seat]
        assert ids == list(range(1, len(ids) + 1))


def test_only_what_is_wanted_is_sent(spec: Any, table: Any) -> None:
    """A bot that wants nothing gets a question without state, legal actions and events."""
    played = table(spec(), wants=())
    assert played.play().digest == table(spec()).play().digest
    assert {key for _, question in played.questions for key in question} == {"type", "id", "ask", "clock"}


def test_an_action_object_is_as_good_as_its_index(spec: Any, table: Any) -> None:
    """Objects and indices make the same match."""

    def by_object(question: dict[str, Any]) -> Any:
        return question["legal"][0]

    assert table(spec(), by_object, by_object).play().digest == table(spec()).play().digest


def test_events_reach_a_seat_once_and_only_as_it_may_see_them(spec: Any, table: Any) -> None:
    """The other side's hidden values are in no event and no view."""
    played = table(spec())
    played.play()
    placed = [
        event
        for seat, question in played.questions
        for event in question["events"]
        if event["event"] == "place" and seat == 0
    ]
    assert len(placed) == 24
    assert sum("value" in event and event["value"] is not None for event in placed) == 12


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b'{"type":"act","id":1,"action":99999}', "illegal"),
        (b'{"type":"act","id":2,"action":0}', "protocol"),
        (b'{"type":"act","id":1,"action":-1}', "malformed"),
        (b'{"type":"act","id":1,"action":true}', "malformed"),
        (b'{"type":"act","id":1,"id":1,"action":0}', "malformed"),
        (b'{"type":"act","id":1,"action":{"do":"fly"}}', "illegal"),
        (b'{"type":"ready"}', "protocol"),
        (b"\xff\xfe", "malformed"),
        (b"[" * 10_000, "malformed"),
    ],
)
def test_a_wrong_answer_is_told_by_its_kind(spec: Any, table: Any, answer: bytes, kind: str) -> None:
    """Each way to be wrong has its kind, and the line is kept as evidence."""
    played = table(spec(), lambda _: answer, lambda _: answer)
    result = played.play()
    wrong = next(seat for seat in (0, 1) if result.faults[seat])
    assert result.faults[wrong][0].kind == kind
    assert result.ranks[wrong] == 2
    fault = next(line for line in lines(result) if line["type"] == "fault")
    assert fault["detail"]["line_bytes"] == len(answer)
    assert "\\x" in fault["detail"]["line"] or fault["detail"]["line"] == answer.decode()[:1000]


def test_substitution_plays_on_until_the_strikes_are_used_up(spec: Any, table: Any) -> None:
    """Two strikes are substituted by the first legal action, the third fault forfeits."""
    played = table(spec(faults="substitute", strikes=2), lambda _: 99_999)
    played.bots = (played.bots[0], lambda _: 0)
    result = played.play()
    assert [fault.retired for fault in result.faults[0]] == [False, False, True]
    substituted = [line for line in lines(result) if line.get("substituted")]
    assert len(substituted) == 2
    assert result.ranks == (2, 1)
    verify_record(result.record)


def test_a_late_answer_to_a_substituted_question_is_forgiven_once(spec: Any, table: Any) -> None:
    """After a timeout the late answer is recognised; the same line again is not."""
    from warpleague.match.spec import Violation

    played = table(spec(faults="substitute", strikes=5, note_bytes=4096))
    referee = played.referee
    assert referee.advance() is Situation.ASK
    seat = referee.seat
    referee.fault(seat, Violation("timeout", "too late"), 1)
    while referee.advance() is Situation.ASK and referee.seat != seat:
        question = json.loads(referee.line)
        referee.answer(json.dumps({"type": "act", "id": question["id"], "action": 0}).encode(), 1, 1, 0)
    late = b'{"type":"act","id":1,"action":0,"note":"%b"}' % (b"x" * 2000)
    assert referee.is_late(seat, late)
    assert not referee.is_late(seat, late)


def test_the_bank_is_charged_and_refilled(spec: Any, table: Any) -> None:
    """A decision costs its wall time; the increment comes before the next; the cap holds with a bank or without."""
    capped = table(spec(clock=TimeControl(move_s=0.5)))
    capped.step()
    assert capped.questions[0][1]["clock"] == {"move_s": 0.5}
    assert capped.referee.budget_ns == 500_000_000
    played = table(spec(clock=TimeControl(move_s=2.0, bank_s=1.0, increment_s=0.25)))
    played.wall_ns = 500_000_000
    played.step()
    seat, question = played.questions[0]
    assert question["clock"] == {"bank_s": 1.25, "move_s": 2.0}
    while (played.step() and played.questions[-1][0] != seat) or len(played.questions) < 2:
        pass
    again = [question for asked, question in played.questions if asked == seat][1]
    assert again["clock"]["bank_s"] == pytest.approx(1.0)


def test_the_record_tells_what_a_decision_left_in_the_bank(spec: Any, table: Any) -> None:
    """What is asked or substituted has the bank after it; forced moves have none, nor has a match without a bank."""

    def bot(question: dict[str, Any]) -> Any:
        return 10**6 if question["id"] == 2 else 0

    def play(wall_ns: int, **clock: float) -> Any:
        played = table(spec(clock=TimeControl(**clock), faults="substitute", strikes=1), bot, bot)
        played.wall_ns = wall_ns
        return played, played.play()

    played, result = play(50_000_000, bank_s=1.0, increment_s=0.01)
    charged = [line for line in lines(result) if line["type"] == "act" and "auto" not in line]
    assert len(charged) == len(played.questions)
    for (seat, question), line in zip(played.questions, charged, strict=True):
        spent = 0.0 if line.get("substituted") else 0.05
        left = max(0.0, question["clock"]["bank_s"] - spent)
        assert (line["seat"], line["bank_s"]) == (seat, pytest.approx(left, abs=1e-9))
    assert sum("substituted" in line for line in charged) == 2
    assert sum("bank_s" in line for line in lines(result)) == len(charged) < len(lines(result))
    assert verify_record(result.record).digest == play(1_000_000, bank_s=1.0, increment_s=0.01)[1].digest
    assert not any("bank_s" in line for line in lines(play(1_000_000, move_s=1.0)[1]))


def test_talk_gains_no_time(spec: Any, table: Any) -> None:
    """After a message the same decision goes on: without another increment, with what is left of its own time."""
    options = options_json(load_game("coasters").Options(max_rounds=1))
    seats = tuple(SeatSpec(name, "1", name) for name in "abc")
    clock = TimeControl(move_s=2.0, bank_s=10.0, increment_s=1.0)
    told: list[tuple[int | None, dict[str, float]]] = []

    def talker(question: dict[str, Any]) -> Any:
        told.append((question.get("talk"), question["clock"]))
        left = question.get("talk", 0)
        return {"do": "say", "to": [(played.referee.seat + 1) % 3], "text": "Hello"} if left > 5 else 0

    played = table(spec(game="coasters", options=options, seats=seats, clock=clock), talker, talker, talker)
    played.wall_ns = 900_000_000
    for _ in range(5):
        played.step()
    assert not played.violations
    assert told[:4] == [
        (8, {"bank_s": 11.0, "move_s": 2.0}),
        (7, {"bank_s": 10.1, "move_s": 1.1}),
        (6, {"bank_s": 9.2, "move_s": 0.25}),
        (5, {"bank_s": 8.95, "move_s": 0.25}),
    ]
    assert told[4][1]["move_s"] == 2.0


def test_a_message_after_an_action_is_about_the_next_decision(spec: Any, table: Any) -> None:
    """A message in `then` that follows an action keeps nothing of the new decision's time; one that leads does."""
    options = options_json(load_game("coasters").Options(max_rounds=1))
    seats = tuple(SeatSpec(name, "1", name) for name in "abc")
    clock = TimeControl(move_s=2.0, bank_s=10.0, increment_s=1.0)
    told: list[dict[str, float]] = []

    def talker(question: dict[str, Any]) -> Any:
        if "talk" not in question:
            return 0
        told.append(question["clock"])
        say = {"do": "say", "to": [(played.referee.seat + 1) % 3], "text": "Hello"}
        turn = next(action for action in question["legal"] if action["do"] == "turn")
        orders = [[turn, say], [say, turn], [say, say], [{"do": "end"}]]
        first, *rest = orders[min(len(told), len(orders)) - 1]
        return {"type": "act", "id": question["id"], "action": first, "then": rest}

    position = {
        "players": 3,
        "options": options,
        "systems": [{"at": [x, 0], "rotation": 0} for x in range(3)],
        "ships": [{"at": [3 * x + 1, 1], "facing": "U"} for x in range(3)],
        "phase": "turn", "d6": 6, "flux": "AIM", "halves": 12,
    }  # fmt: skip
    played = table(
        spec(game="coasters", options=options, seats=seats, clock=clock, position=position),
        talker, talker, talker,
    )  # fmt: skip
    played.wall_ns = 500_000_000
    for _ in range(4):
        played.step()
    assert not played.violations
    assert told == [
        {"bank_s": 11.0, "move_s": 2.0},
        {"bank_s": 11.5, "move_s": 2.0},
        {"bank_s": 12.0, "move_s": 2.0},
        {"bank_s": 11.5, "move_s": 1.5},
    ]


def test_messages_between_others_leave_no_trace_on_the_wire(spec: Any, table: Any) -> None:
    """A seat is asked the same questions, with the same ids, times and events, whether or not the others whisper."""
    options = options_json(load_game("coasters").Options(max_rounds=4))
    seats = tuple(SeatSpec(name, "1", name) for name in "abc")
    clock = TimeControl(move_s=2.0, bank_s=10.0, increment_s=0.1)

    def play(whisper: bool) -> tuple[list[dict[str, Any]], Any]:
        def plain(question: dict[str, Any]) -> Any:
            return question["state"]["turn"] * 7 % len(question["legal"])

        def whisperer(question: dict[str, Any]) -> Any:
            if whisper and question["talk"] > 6:
                return {"do": "say", "to": [2 - played.referee.seat], "text": "psst"}
            return plain(question)

        played = table(
            spec(game="coasters", options=options, seats=seats, clock=clock), whisperer, plain, whisperer
        )
        result = played.play()
        assert not played.violations
        verify_record(result.record)
        return [question for seat, question in played.questions if seat == 1], result

    (quiet, one), (whispered, two) = play(False), play(True)
    assert whispered == quiet
    assert b"psst" in two.record
    assert (one.ranks, one.scores) == (two.ranks, two.scores)


def test_an_answer_out_of_turn_costs_the_asked_seats_time(spec: Any, table: Any) -> None:
    """Invoked, or asked to share the victory, a bot answers on its own bank; the asker's stands still meanwhile."""
    options = options_json(load_game("coasters").Options())
    position = {
        "players": 3,
        "options": options,
        "systems": [{"at": [x, 0], "rotation": 0} for x in range(3)],
        "ships": [{"at": [1, 1], "facing": "U"}, {"at": [4, 1], "facing": "U"}, None],
        "eliminated": [2],
        "phase": "turn", "d6": 1, "flux": "TIP",
    }  # fmt: skip

    def asker(question: dict[str, Any]) -> Any:
        legal = question["legal"]
        wanted = {"do": "invoke", "ally": 1}
        return legal.index(wanted if wanted in legal else {"do": "claim"})

    seats = tuple(SeatSpec(name, "1", name) for name in "abc")
    played = table(
        spec(game="coasters", options=options, seats=seats, clock=TimeControl(bank_s=10.0), position=position),
        asker, lambda question: question["legal"].index({"do": "agree"}), lambda _: 0,
    )  # fmt: skip
    played.wall_ns = 500_000_000
    result = played.play()
    asked = [(seat, question["ask"], question["clock"]["bank_s"]) for seat, question in played.questions]
    assert asked == [(0, "turn", 10.0), (1, "ally", 10.0), (0, "turn", 9.5), (1, "claim", 9.5)]
    assert (result.ranks, result.why) == ((1, 1, 3), "claim")


def test_then_plays_on_without_asking(spec: Any, table: Any) -> None:
    """What a bot adds for later is played while it is to act, and dropped once the dice have been rolled."""

    def greedy(question: dict[str, Any]) -> Any:
        rest = [action for action in question["legal"] if action.get("do") in ("move", "stay")]
        ship = rest[0].get("ship") if rest else None
        more = [action for action in rest if action.get("ship") != ship][:1]
        return {"type": "act", "id": question["id"], "action": question["legal"].index(rest[0]) if rest else 0,
                "then": more}  # fmt: skip

    played = table(spec(), greedy, greedy)
    result = played.play()
    assert not played.violations or all(v.kind == "illegal" for v in played.violations)
    assert any(line.get("then") for line in lines(result))
    verify_record(result.record)


def test_a_forced_move_may_be_left_out_of_a_then_list(spec: Any, table: Any) -> None:
    """A bot that plans beyond a forced move may name it or not: both times it is played as forced."""
    options = options_json(load_game("aliens").Options(max_turns=60))
    rng = Random(1)

    def at_random(question: dict[str, Any]) -> Any:
        return rng.randrange(len(question["legal"]))

    acts = [
        line for line in lines(table(spec(options=options), at_random, at_random).play()) if "seat" in line
    ]
    before, forced, after = next(
        three
        for three in zip(acts, acts[1:], acts[2:], strict=False)
        if len({line["seat"] for line in three}) == 1 and three[2]["n"] == three[0]["n"] + 2
        if ["auto" in line for line in three] == [False, True, False]
    )

    def play(then: list[Any]) -> Any:
        script = iter([line for line in acts if "auto" not in line and line is not after])

        def scripted(question: dict[str, Any]) -> Any:
            line = next(script)
            told = {"then": then} if line is before else {}
            return {"type": "act", "id": question["id"], "action": line["action"], **told}

        return table(spec(options=options), scripted, scripted).play()

    for result in (play([forced["action"], after["action"]]), play([after["action"]])):
        assert [line["action"] for line in lines(result) if "seat" in line] == [
            line["action"] for line in acts
        ]
        assert [line["n"] for line in lines(result) if "then" in line] == [after["n"]]
        assert lines(result)[forced["n"]]["auto"] is True


def test_an_illegal_then_is_a_fault_of_its_own(spec: Any, table: Any) -> None:
    """An impossible action in the list is found when its turn comes, and said to be from the list."""

    def liar(question: dict[str, Any]) -> Any:
        then = [{"do": "jump", "way": "N"}] if question["ask"] == "turn" else []
        return {"type": "act", "id": question["id"], "action": 0, "then": then}

    played = table(spec(), liar, liar)
    played.play()
    assert "then" in played.violations[0].message
    assert played.violations[0].detail == {"line": '{"do":"jump","way":"N"}', "line_bytes": 23}


def test_a_note_is_kept(spec: Any, table: Any) -> None:
    """A bot's remark stands in the record, escaped as JSON, and the record verifies."""
    note = 'Grüße "\u2603" \\ \x07'
    played = table(spec(), *[lambda q: {"type": "act", "id": q["id"], "action": 0, "note": note}] * 2)
    result = played.play()
    assert {line["note"] for line in lines(result) if "note" in line} == {note}
    verify_record(result.record)


def test_a_position_is_played_from(spec: Any, table: Any) -> None:
    """A match started from a written-down position continues it."""
    replay = Replay(table(spec()).play().record)
    game = replay.game
    states = (step.state for step in islice(replay, 30, None))
    # Where there is no choice, nobody is asked.
    state = next(
        state
        for state in states
        if (seat := game.actors(state)[0]) != CHANCE and len(game.legal(state, seat)) > 1
    )
    position = json.loads(json.dumps(game.to_json(state)))
    played = table(spec(position=position))
    result = played.play()
    assert lines(result)[0]["position"] == position
    seat, question = played.questions[0]
    assert question["state"] == json.loads(json.dumps(game.view(state, seat)))
    verify_record(result.record)


# Decisions that are asked again after an illegal action, where the match lets bots err.


def erring(times: int) -> Any:
    """A bot that answers each decision with that many illegal actions first, then with the first legal one."""
    wrong = 0

    def choose(question: dict[str, Any]) -> Any:
        nonlocal wrong
        assert ("error" in question) == (wrong > 0)
        if wrong < times:
            wrong += 1
            return 99_999 if wrong % 2 else {"do": "fly"}
        wrong = 0
        return 0

    return choose


def first(question: dict[str, Any]) -> int:
    """The bot that answers index 0 forever."""
    return 0


def acts(result: Any) -> list[dict[str, Any]]:
    return [line for line in lines(result) if line["type"] == "act"]


def resealed(head: bytes, body: list[bytes], at: int, line: dict[str, Any]) -> bytes:
    """A record in which `line` stands at a place of the body, with its right seal."""
    kept = [head, *body[:at], canonical(line) + b"\n", *body[at + 1 :]]
    return b"".join([*kept, seal(kept)])


def test_a_bot_that_errs_within_the_limit_plays_on(spec: Any, table: Any) -> None:
    """No fault; the same decision comes again under the next id, with the reason; the record has what was refused.

    That is evidence only: the digest is that of a match in which nobody erred.
    """
    played = table(spec(again=2), erring(2), first)
    result = played.play()
    assert result.faults == ((), ())
    assert verify_record(result.record).digest == result.digest == table(spec(again=2)).play().digest
    mine = [question for seat, question in played.questions if seat == 0]
    assert [question["id"] for question in mine] == list(range(1, len(mine) + 1))
    once, twice, thrice = mine[:3]
    assert once["legal"] == twice["legal"] == thrice["legal"]
    assert twice["error"].startswith("action 99999 is out of range")
    assert twice["events"] == []
    asked = next(act for act in acts(result) if act["seat"] == 0 and "ms" in act)
    assert [told["message"] for told in asked["detail"]["again"]] == [twice["error"], thrice["error"]]
    assert json.loads(asked["detail"]["again"][1]["line"])["action"] == {"do": "fly"}
    assert asked["ms"] == [3, 1.5, 0], "all answers together"
    assert result.times[0].decisions == len([act for act in acts(result) if act["seat"] == 0 and "ms" in act])


def test_one_error_too_many_is_the_fault(spec: Any, table: Any) -> None:
    """The fault is the last illegal answer's, and its evidence has those before."""
    played = table(spec(again=2), erring(3), first)
    result = played.play()
    (fault,) = result.faults[0]
    assert (fault.kind, fault.retired) == ("illegal", True)
    (violation,) = played.violations
    assert len(violation.detail["again"]) == 2
    verify_record(result.record)


def test_substitution_begins_anew(spec: Any, table: Any) -> None:
    """After a substituted action the next decision may be asked again as often as any."""
    played = table(spec(again=1, faults="substitute", strikes=1_000), lambda _: 99_999, first)
    result = played.play()
    asked = [question for seat, question in played.questions if seat == 0]
    assert len(asked) == 2 * len(result.faults[0]) > 2
    assert len(played.violations) == len(result.faults[0])
    verify_record(result.record)


def test_all_answers_share_the_time_of_the_decision(spec: Any, table: Any) -> None:
    """The time that is told shrinks by what the refused answers took, and so does the bank, once for each."""
    clock = TimeControl(move_s=1.0, bank_s=10.0, increment_s=0.5)
    played = table(spec(again=2, clock=clock), erring(2), first)
    played.wall_ns = 100_000_000
    result = played.play()
    told = [question["clock"] for seat, question in played.questions if seat == 0][:4]
    assert [clock["move_s"] for clock in told] == [1.0, 0.9, 0.8, 1.0]
    assert [clock["bank_s"] for clock in told] == [10.5, 10.4, 10.3, 10.7]
    assert next(act for act in acts(result) if act["seat"] == 0 and "ms" in act)["bank_s"] == 10.2


def test_an_illegal_action_given_ahead_is_asked_for(spec: Any, table: Any) -> None:
    """What does not hold in a `then` list costs one of the times, and the bot is asked in its place."""

    def hasty(question: dict[str, Any]) -> Any:
        if "error" in question:
            assert question["error"].startswith("in the then list: ")
            return 0
        return {"type": "act", "id": question["id"], "action": 0, "then": [{"do": "fly"}]}

    played = table(spec(again=1), hasty, first)
    result = played.play()
    assert result.faults == ((), ())
    assert any("error" in question for _, question in played.questions)
    assert verify_record(result.record).digest == result.digest


@pytest.mark.parametrize("change", ["longer", "no message", "no limit"])
def test_a_record_that_claims_more_is_refused(spec: Any, table: Any, change: str) -> None:
    """A reader may rely on the form of what was refused, and on its length."""
    head, *body = table(spec(again=2), erring(2), first).play().record.splitlines(keepends=True)[:-1]
    at = next(number for number, line in enumerate(body) if b'"again":[' in line)
    line = json.loads(body[at])
    again = line["detail"]["again"]
    if change == "longer":
        again.append(again[0])
    elif change == "no message":
        del again[0]["message"]
    else:
        head = head.replace(b'"again":2,', b"")
    with pytest.raises(RecordError, match=r"again"):
        verify_record(resealed(head, body, at, line))


# Bots that say that a service failed, and what services took for their answers.


def failing(times: int, at: int = 1) -> Any:
    """A bot whose service fails so many times in its decision number `at`; then it answers index 0."""
    left, decisions = times, 0

    def choose(question: dict[str, Any]) -> Any:
        nonlocal left, decisions
        if decisions + 1 == at and left:
            left -= 1
            return {"type": "act", "id": question["id"], "failed": "503\nbusy"}
        decisions += 1
        return 0

    return choose


def test_a_failure_that_is_allowed_costs_nothing(spec: Any, table: Any) -> None:
    """The very same question comes again, with all of its time; the match is the one without failures."""
    clock = TimeControl(move_s=1.0, bank_s=10.0, increment_s=0.5)
    played = table(spec(failures=2, clock=clock), failing(2), first)
    played.wall_ns = 100_000_000
    result = played.play()
    mine = [question for seat, question in played.questions if seat == 0]
    once, twice, thrice = mine[:3]
    assert [question["id"] for question in mine[:3]] == [1, 2, 3]
    assert {**once, "id": 0} == {**twice, "id": 0} == {**thrice, "id": 0}
    assert result.faults == ((), ())
    assert result.digest != table(spec()).play().digest, "what is allowed is a condition of the match"
    assert result.digest == table(spec(failures=2, clock=clock)).play().digest
    act = next(line for line in lines(result) if line.get("seat") == 0 and "ms" in line)
    assert act["detail"]["failed"] == [{"message": "503 busy", "ms": 100}] * 2
    assert (act["bank_s"], act["ms"][0]) == (10.4, 100)
    assert (result.times[0].failures, result.times[1].failures) == (2, 0)
    assert verify_record(result.record).digest == result.digest
    assert RecordReader(result.record).read().result.times == result.times


@pytest.mark.parametrize("allowed", [0, 2])
def test_one_failure_too_many_is_a_fault_of_its_own_kind(spec: Any, table: Any, allowed: int) -> None:
    """It is charged as any other, its evidence has the reason and those before; by default nothing is allowed."""
    result = table(spec(failures=allowed), failing(allowed + 1, at=2), first).play()
    (fault,) = result.faults[0]
    assert (fault.kind, fault.retired, fault.message) == ("service", True, "its service failed: 503 busy")
    assert result.times[0].failures == allowed + 1
    (line,) = (line for line in lines(result) if line["type"] == "fault")
    assert len(line["detail"].get("failed", ())) == allowed
    assert verify_record(result.record).digest == result.digest
    assert RecordReader(result.record).read().result.times == result.times


def test_failures_are_counted_over_the_match(spec: Any, table: Any) -> None:
    """What one decision has used up is gone for the next one."""

    def choose(question: dict[str, Any]) -> Any:
        return {"type": "act", "id": question["id"], "failed": "busy"} if question["id"] % 2 else 0

    result = table(spec(failures=3), choose, first).play()
    assert [fault.kind for fault in result.faults[0]] == ["service"]
    told = [line["detail"]["failed"] for line in lines(result) if "failed" in line.get("detail", ())]
    assert len(told) == 3
    assert verify_record(result.record)


def test_an_answer_with_an_action_is_one(spec: Any, table: Any) -> None:
    """Beside an action `failed` is a field that nobody knows."""

    def choose(question: dict[str, Any]) -> Any:
        return {"type": "act", "id": question["id"], "action": 0, "failed": "busy"}

    assert table(spec(), choose, first).play().faults == ((), ())


def test_tokens_and_cost_are_recorded_and_summed(spec: Any, table: Any) -> None:
    """Of all answers of a decision, the failed ones too; they are in no digest, since they differ each time."""
    usage = {"input_tokens": 10, "output_tokens": 2, "cost": 0.25}

    def choose(question: dict[str, Any]) -> Any:
        told = {"type": "act", "id": question["id"], "usage": {**usage, "retries": 3 * (question["id"] == 1)}}
        return {**told, "failed": "busy"} if question["id"] == 1 else {**told, "action": 0}

    result = table(spec(failures=1), choose, first).play()
    asked = [line for line in lines(result) if line.get("seat") == 0 and "ms" in line]
    assert asked[0]["detail"]["usage"] == {"input_tokens": 20, "output_tokens": 4, "cost": 0.5, "retries": 3}
    assert asked[1]["detail"]["usage"] == {"input_tokens": 10, "output_tokens": 2, "cost": 0.25}
    times = result.times[0]
    answers = len(asked) + 1
    assert (times.input_tokens, times.output_tokens, times.cost, times.retries) == (
        10 * answers,
        2 * answers,
        0.25 * answers,
        3,
    )
    assert result.digest == table(spec(failures=1)).play().digest
    assert RecordReader(result.record).read().result.times == result.times


@pytest.mark.parametrize("change", ["more than allowed", "no message", "bad usage"])
def test_a_record_with_other_failures_is_refused(spec: Any, table: Any, change: str) -> None:
    """A reader may rely on the form of what is told, and on the limit."""
    head, *body = table(spec(failures=2), failing(2), first).play().record.splitlines(keepends=True)[:-1]
    at = next(number for number, line in enumerate(body) if b'"failed":[' in line)
    line = json.loads(body[at])
    if change == "more than allowed":
        head = head.replace(b'"failures":2,', b'"failures":1,')
    elif change == "no message":
        del line["detail"]["failed"][0]["message"]
    else:
        line["detail"]["usage"] = {"input_tokens": -1, "output_tokens": 0, "cost": 0}
    with pytest.raises(RecordError, match=r"failures|failed|usage"):
        verify_record(resealed(head, body, at, line))


# Questions in words: what a bot reads that wants `text`, in every game.


ACTION = re.compile(r"^(\d+)\. (.+)$")


def positions(name: str, number: int = 400) -> Any:
    """States of a random match in which a seat must act, with that seat."""
    game = load_game(name)
    players = max(2, min(game.players))
    state = game.initial(players, load_options(game, players, {}))
    rng, dice = Random(number), Dice(bytes(32))
    for _ in range(number):
        actors = game.actors(state)
        if not actors:
            return
        move: Any
        if actors[0] == CHANCE:
            move = dice.roll(dice.at(game.address(state)), game.chance(state))
        else:
            yield game, state, actors[0]
            legal = game.legal(state, actors[0])
            move = legal[rng.randrange(len(legal))]
        state, _ = game.apply(state, move)


@pytest.mark.parametrize("name", game_ids())
def test_actions_have_their_indices_and_nothing_hidden_shows(name: str) -> None:
    """The last lines number the legal actions; a position guessed from the view reads like the real one."""
    for number, (game, state, seat) in enumerate(positions(name)):
        legal = game.legal(state, seat)
        text = question_text(game, state, seat, legal, ())
        told = [found for line in text.splitlines()[-len(legal) :] if (found := ACTION.match(line))]
        assert [int(found[1]) for found in told] == list(range(len(legal)))
        assert len({found[2] for found in told}) == len(legal), "two actions read alike"
        if number % 10 == 0:
            guess = game.determinize(game.view(state, seat), seat, Random(number))
            assert question_text(game, guess, seat, game.legal(guess, seat), ()) == text


def test_a_bot_that_wants_only_text_gets_only_text(spec: Any, table: Any) -> None:
    """It hears what happened in words, once, and plays the same match as with any other wants."""
    played = table(spec(), wants=("text",))
    assert played.play().digest == table(spec()).play().digest
    texts: list[list[str]] = [[], []]
    for seat, question in played.questions:
        assert question.keys() == {"type", "id", "ask", "clock", "text"}
        texts[seat].append(question["text"])
    for seat in (0, 1):
        assert texts[seat][0].startswith(
            f"You are seat {seat}.\nWhat happened since your last question:\n1. "
        )
        happened = [re.findall(r"^\d+\. .*", text.split("\n\n")[0], re.MULTILINE) for text in texts[seat]]
        assert all(happened[1:])
        assert happened[1] != happened[2]
