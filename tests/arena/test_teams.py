"""Teams, whose members have tokens of their own, and invitations, with which people make themselves authors."""

import json
import re
from pathlib import Path

import pytest
from tests.arena.harness import ArenaHarness

from warpleague.arena.submissions import accounts
from warpleague.arena.submissions.ledger import Ledger
from warpleague.cli import main
from warpleague.errors import BadInput


def authorised(arena: ArenaHarness, token: str) -> int:
    """The status of a request with a token."""
    return arena.client().ask("GET", "/api/author", authorization=f"Bearer {token}").status


def test_members_act_for_their_team_and_leave_one_by_one(arena: ArenaHarness) -> None:
    """The bots are the team's; a token that has ended ends its sessions, and no others."""
    grace = accounts.add_member(arena.ledger, "ada", "grace", "test")
    mary = accounts.add_member(arena.ledger, "ada", "mary", "test")
    arena.tokens |= {"grace": grace, "mary": mary}
    assert accounts.members(arena.ledger) == {"ada": ["grace", "mary"], "bob": [], "olga": []}
    clients = {name: arena.client(name) for name in ("ada", "grace", "mary")}
    found = clients["grace"].upload(arena.bot())
    assert found.status == 303
    assert "<b>received</b>" in clients["mary"].ask("GET", "/submit").text
    said = [entry.details for entry in arena.ledger.journal() if entry.what == "submission received"]
    assert said[0]["member"] == "grace"
    accounts.remove_member(arena.ledger, "ada", "grace", "test")
    assert [authorised(arena, token) for token in (arena.tokens["ada"], grace, mary)] == [200, 401, 200]
    assert "What you submitted" in clients["ada"].ask("GET", "/submit").text
    assert "What you submitted" in clients["mary"].ask("GET", "/submit").text
    assert "What you submitted" not in clients["grace"].ask("GET", "/submit").text
    accounts.revoke(arena.ledger, "ada", "test")
    assert [authorised(arena, token) for token in (arena.tokens["ada"], mary)] == [401, 401]
    with pytest.raises(BadInput, match="has ended"):
        accounts.add_member(arena.ledger, "ada", "eve", "test")
    for name, member in (("nobody", "eve"), ("bob", "e v e"), ("bob", "")):
        with pytest.raises(BadInput):
            accounts.add_member(arena.ledger, name, member, "test")
    with pytest.raises(BadInput, match="no member 'eve'"):
        accounts.remove_member(arena.ledger, "bob", "eve", "test")


def test_an_invited_person_becomes_an_author_once(arena: ArenaHarness) -> None:
    """By a link, with a name of their own choice; a name that is taken costs no use."""
    secret = accounts.invite(arena.ledger, "test")
    visitor = arena.client()
    page = visitor.ask("GET", f"/join/{secret}")
    assert page.status == 200
    assert secret in page.text
    for name in ("ada", "ADA", "", "a b", "x" * 41):
        assert visitor.post("/join", {"invitation": secret, "name": name}).status == 422, name
    answer = visitor.post("/join", {"invitation": secret, "name": "grace"})
    assert answer.status == 200
    found = re.search(r'id="token">(wl-[^<]+)<', answer.text)
    assert found is not None
    assert authorised(arena, found[1]) == 200
    assert not accounts.author_named(arena.ledger, "grace").organiser
    assert visitor.ask("GET", f"/join/{secret}").status == 404
    assert visitor.post("/join", {"invitation": secret, "name": "mary"}).status == 404
    assert secret not in json.dumps([entry.details for entry in arena.ledger.journal()])
    assert arena.ledger.rows("SELECT count(*) FROM invitation WHERE secret = ?", secret.encode()) == [(0,)]


def test_invitations_end(arena: ArenaHarness) -> None:
    """After so many uses or days, and when an organiser says so; what is none is answered in the same way."""
    several = accounts.invite(arena.ledger, "test", uses=2)
    for name in ("a1", "a2"):
        accounts.accept_invitation(arena.ledger, several, name)
    late = accounts.invite(arena.ledger, "test", days=1)
    with arena.ledger.writing() as db:
        db.execute("UPDATE invitation SET ends_s = 1 WHERE id = 2")
    revoked = accounts.invite(arena.ledger, "test", uses=9)
    accounts.revoke_invitation(arena.ledger, 3, "test")
    told = set()
    for secret in (several, late, revoked, "wi-1-" + "x" * 32, "wi-99-" + "x" * 32, "nonsense"):
        with pytest.raises(accounts.NoInvitation) as caught:
            accounts.accept_invitation(arena.ledger, secret, "eve")
        told.add(str(caught.value))
    assert len(told) == 1
    with pytest.raises(BadInput):
        accounts.revoke_invitation(arena.ledger, 3, "test")
    for wrong in ({"uses": 0}, {"uses": 1001}, {"days": 0}, {"days": 366}, {"note": "a\nb"}):
        with pytest.raises(BadInput):
            accounts.invite(arena.ledger, "test", **wrong)


def test_wrong_invitations_are_counted_as_wrong_tokens_are(arena: ArenaHarness) -> None:
    """So that nobody can try many; and another site cannot send the form."""
    secret = accounts.invite(arena.ledger, "test")
    client = arena.client()
    fields = {"invitation": secret, "name": "eve"}
    assert client.post("/join", fields, origin="https://evil.example").status == 403
    for _ in range(20):
        assert client.ask("GET", f"/join/wi-1-{'x' * 32}").status == 404
    assert client.ask("GET", f"/join/{secret}").status == 429
    assert client.post("/join", fields).status == 429


def test_organisers_invite_and_change_teams_on_their_page(arena: ArenaHarness) -> None:
    """With the form of their session; authors who are no organisers cannot."""
    olga, ada = arena.client("olga"), arena.client("ada")
    assert ada.post("/organise/invitation", {"what": "add", "uses": "1", "days": "1"}).status == 403
    answer = olga.post("/organise/invitation", {"what": "add", "uses": "3", "days": "7", "note": "spring"})
    found = re.search(r'id="link">http://127.0.0.1:8000(/join/wi-[^<]+)<', answer.text)
    assert found is not None
    assert ada.ask("GET", found[1]).status == 200
    page = olga.ask("GET", "/organise").text
    assert "(spring)" in page
    assert "used 0 of 3" in page
    assert found[1].rpartition("/")[2] not in page
    assert olga.post("/organise/invitation", {"what": "revoke", "number": "1"}).status == 303
    assert ada.ask("GET", found[1]).status == 404
    answer = olga.post("/organise/author", {"what": "add-member", "name": "ada", "member": "grace"})
    token = re.search(r'id="token">(wl-[^<]+)<', answer.text)
    assert token is not None
    assert authorised(arena, token[1]) == 200
    assert "; members: grace<" in olga.ask("GET", "/organise").text
    fields = {"what": "remove-member", "name": "ada", "member": "grace"}
    assert ada.post("/organise/author", fields).status == 403
    assert olga.post("/organise/author", fields).status == 303
    assert authorised(arena, token[1]) == 401


def test_commands_do_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with JSON."""
    with Ledger.open(tmp_path) as ledger:
        accounts.add_author(ledger, "ada", "test")

    def run(*words: str) -> str:
        assert main(["arena", *words, "--results", str(tmp_path)]) == 0
        return capsys.readouterr().out

    assert "grace of ada: this token is shown only now" in run("author", "add-member", "ada", "grace")
    assert json.loads(run("author", "list", "--json"))[0]["members"] == ["grace"]
    assert "members grace" in run("author", "list")
    assert "the token has ended" in run("author", "remove-member", "ada", "grace")
    told = json.loads(run("invite", "--uses", "2", "--to", "https://arena.example.org/", "--json"))
    assert told["link"].startswith("https://arena.example.org/join/wi-1-")
    assert "used 0 of 2" in run("invitations")
    assert json.loads(run("invitations", "--json"))[0]["uses"] == 2
    assert "is no longer valid" in run("uninvite", "1")
    assert main(["arena", "uninvite", "1", "--results", str(tmp_path)]) == 2
