"""The audit journal as people read it: each entry is a sentence, without the names of its keys."""

import json
from pathlib import Path
from typing import Any

import pytest

from warpleague.arena.submissions import accounts, entering
from warpleague.arena.submissions.ledger import Entry, Ledger, journal_words, set_limit

SAID: dict[str, tuple[dict[str, Any], str]] = {
    "submission received": ({"submission": 3, "league": "cup", "sha256": "ab"}, "sent submission 3 to cup"),
    "submission accepted": (
        {"submission": 3, "league": "cup", "bot": "mine", "version": None, "text": ""},
        "submission 3 is accepted: mine may play in cup",
    ),
    "submission refused": (
        {"submission": 3, "league": "cup", "bot": None, "text": "it is {empty}"},
        "submission 3 to cup is refused: it is {empty}",
    ),
    "submission failed": (
        {"submission": 3, "league": "cup", "text": ""},
        "submission 3 to cup could not be checked",
    ),
    "bot withdrawn": ({"league": "cup", "bot": "mine"}, "took mine out of cup"),
    "version activated": (
        {"submission": 3, "league": "cup", "bot": "mine"},
        "lets submission 3 of mine play in cup",
    ),
    "match on demand": ({"number": 4, "league": "cup"}, "asked for match on demand 4 in cup"),
    "trial": (
        {"number": 2, "league": "cup", "submission": 3, "member": None},
        "asked for trial 2 of submission 3 in cup",
    ),
    "disqualify done": (
        {"league": "cup", "answer": "refused: no such bot"},
        "disqualification in cup: refused: no such bot",
    ),
    "on_event failed": (
        {"league": "cup", "why": "exit code 3"},
        "the command of cup for events failed: exit code 3",
    ),
    "of a later version": ({"league": "cup", "x": ""}, "of a later version: league cup"),
}


@pytest.mark.parametrize("what", SAID)
def test_entries_are_sentences(what: str) -> None:
    """What is missing is left out, and braces in what somebody wrote mean nothing."""
    said, sentence = SAID[what]
    assert journal_words(Entry("2026-01-01T00:00:00+00:00", "ada", what, said)) == sentence


def test_what_organisers_do_is_said_in_sentences(tmp_path: Path) -> None:
    """Authors, members, tokens, invitations, pauses, limits and decisions, as the ledger enters them."""
    with Ledger.open(tmp_path) as ledger:
        accounts.add_author(ledger, "ada", "olga")
        accounts.add_author(ledger, "otto", "olga", organiser=True)
        accounts.add_member(ledger, "ada", "bea", "olga")
        accounts.remove_member(ledger, "ada", "bea", "olga")
        accounts.renew_token(ledger, "ada", "olga")
        accounts.invite(ledger, "olga", uses=2, days=1, note="course")
        accounts.revoke_invitation(ledger, 1, "olga")
        entering.pause(ledger, "cup", "olga", on=True)
        entering.pause(ledger, "cup", "olga", on=False)
        entering.close(ledger, "cup", "olga")
        ledger.set("extended cup", json.dumps({"max_matches": 9000}), "olga")
        set_limit(ledger, "bots", 5, "olga")
        accounts.revoke(ledger, "ada", "olga")
        journal = ledger.journal()[::-1]
    (until,) = [entry.details["ends"][:10] for entry in journal if entry.what == "invitation made"]
    assert [journal_words(entry) for entry in journal] == [
        "ada is a new author",
        "otto is a new organiser",
        "bea is a member of the team of ada, with a token of their own",
        "bea is no longer a member of the team of ada",
        "ada has a new token, and the old one is no longer valid",
        f"made invitation 1 (course) for 2 people, until {until}",
        "invitation 1 is no longer valid",
        "cup is paused",
        "cup continues after a pause",
        "cup takes no more submissions",
        "cup is extended: 9,000 matches in all",
        "the limit is now 5 bots of an author that play in one league",
        "ada can no longer submit bots: the token is revoked",
    ]
