"""The pages of authors and organisers: what they show, and what they refuse to whom."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from tests.arena.harness import Answer, ArenaHarness

from warpleague.arena.submissions import accounts, entering, versions
from warpleague.arena.submissions.ledger import Ledger, set_limit
from warpleague.cli import main
from warpleague.errors import BadInput
from warpleague.league.season.config import load_config
from warpleague.runner.bundle.shipped import shipped_root

JSON: Final[dict[str, Any]] = {"content_type": "application/json"}
GZIP: Final[dict[str, Any]] = {"content_type": "application/gzip"}


def send(arena: ArenaHarness, data: bytes = b"x", author: str = "ada", **more: Any) -> Answer:
    """Send an archive as `warpleague submit` does."""
    headers = {"authorization": f"Bearer {arena.tokens[author]}", **GZIP, **more}
    return arena.client().ask("POST", "/api/submissions?league=cup", data, **headers)


def revoked(arena: ArenaHarness) -> Answer:
    accounts.revoke(arena.ledger, "ada", "test")
    return send(arena)


def renewed(arena: ArenaHarness) -> Answer:
    accounts.renew_token(arena.ledger, "ada", "test")
    return send(arena)


def session_after_logout(arena: ArenaHarness) -> Answer:
    client = arena.client("ada")
    cookie = client.cookie
    assert client.post("/submit/logout", {}).status == 303
    client.cookie = cookie
    return client.post("/submit/withdraw", {"league": "cup", "bot": "mine"})


def session_after_revocation(arena: ArenaHarness) -> Answer:
    client = arena.client("ada")
    accounts.revoke(arena.ledger, "ada", "test")
    return client.upload(b"x")


def others_form(arena: ArenaHarness) -> Answer:
    ada, bob = arena.client("ada"), arena.client("bob")
    ada.form = bob.form
    return ada.upload(b"x")


def without_form(arena: ArenaHarness) -> Answer:
    client = arena.client("ada")
    client.form = ""
    return client.post("/submit/withdraw", {"league": "cup", "bot": "mine"})


def guessed_tokens(arena: ArenaHarness) -> Answer:
    client = arena.client()
    for _ in range(20):
        assert client.post("/submit/login", {"token": "wl-1-" + "x" * 32}).status == 401
    return client.post("/submit/login", {"token": arena.tokens["ada"]})


def over_quota(arena: ArenaHarness) -> Answer:
    set_limit(arena.ledger, "per_day", 1, "test")
    assert send(arena, b"one").status == 202
    return send(arena, b"two")


def upload(arena: ArenaHarness, **fields: str) -> Answer:
    return arena.client("ada").upload(b"data", **fields)


def two_files(arena: ArenaHarness) -> Answer:
    client = arena.client("ada")
    part = b'--xyz\r\nContent-Disposition: form-data; name="archive"; filename="a"\r\n\r\nx\r\n'
    body = part + part + b"--xyz--\r\n"
    return client.ask("POST", "/submit/upload", body, content_type="multipart/form-data; boundary=xyz")


def many_fields(arena: ArenaHarness) -> Answer:
    return arena.client("ada").post("/submit/withdraw", {f"f{number}": "x" for number in range(50)})


def large_field(arena: ArenaHarness) -> Answer:
    return upload(arena, bot="x" * 10_000)


def no_boundary(arena: ArenaHarness) -> Answer:
    return arena.client("ada").ask("POST", "/submit/upload", b"x" * 99, content_type="multipart/form-data")


def others(path: str, author: str = "bob") -> Callable[[ArenaHarness], Answer]:
    def ask(arena: ArenaHarness) -> Answer:
        number = arena.accepted("ada")
        return arena.client(author).ask("GET", path.format(number=number))

    return ask


def others_by_api(arena: ArenaHarness) -> Answer:
    path = f"/api/submissions/{arena.accepted('ada')}"
    return arena.client().ask("GET", path, authorization=f"Bearer {arena.tokens['bob']}")


def others_bot(arena: ArenaHarness) -> Answer:
    arena.accepted("ada")
    return arena.client("bob").post("/submit/withdraw", {"league": "cup", "bot": "mine"})


def others_version(arena: ArenaHarness) -> Answer:
    number = arena.accepted("ada")
    return arena.client("bob").post("/submit/activate", {"number": str(number)})


def organise(path: str, author: str = "ada", **fields: str) -> Callable[[ArenaHarness], Answer]:
    return lambda arena: arena.client(author).post(f"/organise/{path}", fields)


def closed(arena: ArenaHarness) -> Answer:
    entering.close(arena.ledger, "cup", "test")
    return send(arena)


def too_late(arena: ArenaHarness) -> Answer:
    arena.accepted("ada")
    arena.end_season()
    return arena.client("ada").post("/submit/withdraw", {"league": "cup", "bot": "mine"})


def without_sandbox(arena: ArenaHarness) -> Answer:
    arena.sandbox("bubblewrap is not installed")
    return send(arena)


def login(token: str, **headers: str | None) -> Callable[[ArenaHarness], Answer]:
    return lambda arena: arena.client().post("/submit/login", {"token": token}, **headers)


def cross_site(arena: ArenaHarness) -> Answer:
    client = arena.client("ada")
    fields = {"league": "cup", "bot": "mine"}
    return client.post("/submit/withdraw", fields, origin="https://evil.example", sec_fetch_site="cross-site")


def cross_site_with_a_token(arena: ArenaHarness) -> Answer:
    """A page elsewhere cannot add this header; if it could, the form's text would be missing."""
    client = arena.client("ada")
    client.form = "x"
    return client.post(
        "/submit/withdraw",
        {"league": "cup", "bot": "mine"},
        origin="https://evil.example",
        authorization="Bearer x",
    )


HOSTILE: Final[dict[str, tuple[Callable[[ArenaHarness], Answer], int, str]]] = {
    "no token": (lambda g: send(g, authorization=None, origin=None), 401, "token is needed"),
    "another scheme": (lambda g: send(g, authorization="Basic YTpi"), 401, "token is needed"),
    "an empty token": (lambda g: send(g, authorization="Bearer "), 401, "token is needed"),
    "a wrong token": (lambda g: send(g, authorization="Bearer wl-1-" + "a" * 32), 401, "not the token"),
    "a token of nobody": (lambda g: send(g, authorization="Bearer wl-99-" + "a" * 32), 401, "not the token"),
    "a token as SQL": (lambda g: send(g, authorization="Bearer ' OR 1=1 --"), 401, "not the token"),
    "a token in other letters": (
        lambda g: send(g, authorization=f"Bearer {g.tokens['ada'].upper()}"),
        401,
        "not the token",
    ),
    "a revoked token": (revoked, 401, "revoked"),
    "a token before it was renewed": (renewed, 401, "not the token"),
    "a session after its end": (session_after_logout, 401, "token first"),
    "a session after the token was revoked": (session_after_revocation, 401, "token first"),
    "a session that is made up": (
        lambda g: g.client().ask("GET", "/submit/1", cookie="warpleague=x"),
        401,
        "first",
    ),
    "tokens tried one by one": (guessed_tokens, 429, "Too many wrong tokens"),
    "a token of a megabyte": (login("x" * (1 << 20)), 413, "16384 bytes"),
    "a login as JSON": (lambda g: g.client().ask("POST", "/submit/login", b"{}", **JSON), 415, "form"),
    "a login from another site": (login("x", origin="https://evil.example"), 403, "another site"),
    "a post from another site": (cross_site, 403, "another site"),
    "a post from another site with a token": (cross_site_with_a_token, 403, "another session"),
    "a form without its text": (without_form, 403, "another session"),
    "the form of another session": (others_form, 403, "another session"),
    "another host": (
        lambda g: g.client().ask("GET", "/submit", host="evil.example"),
        421,
        "unknown host name",
    ),
    "no length": (lambda g: send(g, content_length=None), 411, "length"),
    "a length that is no number": (lambda g: send(g, content_length="1e9"), 411, "length"),
    "a negative length": (lambda g: send(g, content_length="-1"), 411, "length"),
    "a length beyond the limit": (lambda g: send(g, content_length=str(17 << 20)), 413, "16 MiB"),
    "a length beyond all": (lambda g: send(g, content_length="9" * 30), 413, "may have"),
    "two lengths": (lambda g: send(g, content_length="5, 6"), 411, "length"),
    "a body in chunks": (lambda g: send(g, transfer_encoding="chunked"), 411, "length"),
    "a body longer than it said": (
        lambda g: send(g, b"x" * (2 << 20), content_length="3"),
        400,
        "as long as",
    ),
    "an archive of another type": (lambda g: send(g, content_type="text/html"), 415, "Send an archive"),
    "an empty archive": (lambda g: send(g, b""), 422, "empty"),
    "a league that is not there": (lambda g: upload(g, league="../cup"), 404, "which league"),
    "two files": (two_files, 400, "Too many files"),
    "many fields": (many_fields, 400, "Too many fields"),
    "a field of 10 kB": (large_field, 400, "maximum size"),
    "a form without boundary": (no_boundary, 400, "boundary"),
    "too many in a day": (over_quota, 429, "limit"),
    "a closed league": (closed, 409, "closed it"),
    "a bot that leaves when the season is over": (too_late, 409, "the season is over"),
    "a machine without sandbox": (without_sandbox, 503, "bubblewrap is not installed"),
    "another's submission": (others("/submit/{number}"), 404, "no such submission"),
    "another's submission by a command": (others_by_api, 404, "no such submission"),
    "another's source": (others("/submit/{number}/archive"), 404, "no such submission"),
    "another's source, as an organiser": (
        others("/submit/{number}/archive", "olga"),
        404,
        "no such submission",
    ),
    "another's records": (others("/submit/cup/mine/records.zip"), 422, "no bot called"),
    "records by a path": (others("/submit/cup/..%2f..%2fleague/records.zip"), 404, ""),
    "another's bot withdrawn": (others_bot, 422, "no bot called"),
    "another's version made active": (others_version, 422, "no accepted version"),
    "a number beyond all": (lambda g: g.client("ada").ask("GET", "/submit/" + "9" * 40), 404, ""),
    "the organisers' page": (lambda g: g.client("ada").ask("GET", "/organise"), 403, "Only an organiser"),
    "the export": (lambda g: g.client("ada").ask("GET", "/organise/export.json"), 403, "Only an organiser"),
    "an author made by an author": (organise("author", what="add", name="eve"), 403, "Only an organiser"),
    "a pause by an author": (organise("league", what="pause", league="cup"), 403, "Only an organiser"),
    "a limit by an author": (organise("limit", key="per_day", value="9"), 403, "Only an organiser"),
    "an author's name with a tag": (
        organise("author", "olga", what="add", name="<b>"),
        422,
        "letters, digits",
    ),
    "an author's name with a line end": (
        organise("author", "olga", what="add", name="a\r\nSet-Cookie: b"),
        422,
        "on one line",
    ),
    "an author of the same name": (organise("author", "olga", what="add", name="ADA"), 422, "already"),
    "a reason with an escape": (
        organise(
            "league", "olga", what="disqualify", league="cup", bot="b", reason="\x1b[2J", results="stay"
        ),
        422,
        "on one line",
    ),
    "no such decision": (organise("league", "olga", what="rebuild", league="cup"), 422, "no such decision"),
    "a limit below nothing": (organise("limit", "olga", key="per_day", value="-1"), 422, "whole number"),
    "a limit that is none": (organise("limit", "olga", key="format", value="1"), 422, "no limit"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_requests_are_refused(arena: ArenaHarness, name: str) -> None:
    """Each with its status and reason; no path of this machine is told, and nothing is received."""
    ask, status, reason = HOSTILE[name]
    before = len(arena.ledger.journal(1000))
    answer = ask(arena)
    assert answer.status == status
    assert reason in answer.text
    assert str(arena.folder) not in answer.text
    assert "set-cookie" not in answer.headers
    said = [entry.what for entry in arena.ledger.journal(1000)][: -before or None]
    allowed = {
        "session begun",
        "token revoked",
        "token renewed",
        "set",
        "submission received",
        "submission accepted",
    }
    assert set(said) <= allowed


def test_an_upload_that_breaks_off_leaves_nothing(arena: ArenaHarness) -> None:
    """Neither a row nor a charge to the quota, wherever it was cut; sent again it arrives, and only once."""
    data = arena.bot()
    for cut_at in (0, 1, 100, len(data) - 1):
        send(arena, data, cut_at=cut_at)
        assert versions.submissions(arena.ledger) == []
    first, again = send(arena, data), send(arena, data)
    assert (first.status, first.json["state"]) == (202, "received")
    assert again.json["id"] == first.json["id"]
    assert len(versions.submissions(arena.ledger)) == 1


def test_an_author_submits_by_the_form(arena: ArenaHarness) -> None:
    """The page says what becomes of it, with the findings as text; then its author can download it and take it out."""
    client = arena.client("ada")
    data = arena.bot()
    assert client.upload(data).headers["location"] == "/submit/1"
    page = client.ask("GET", "/submit/1")
    assert "its check begins" in page.text
    assert page.headers["refresh"] == "1"
    assert page.headers["cache-control"] == "no-store"
    number = arena.accepted("bob", "other")
    page = arena.client("bob").ask("GET", f"/submit/{number}")
    assert "is accepted" in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert "<script>alert" not in page.text
    assert "refresh" not in page.headers
    assert client.ask("GET", "/submit/1/archive").body == data
    bob = arena.client("bob")
    assert bob.post("/submit/withdraw", {"league": "cup", "bot": "other"}).status == 303
    assert arena.active() == []
    assert "let this version play" in bob.ask("GET", "/submit").text
    assert bob.post("/submit/activate", {"number": str(number)}).status == 303
    assert arena.active() == [number]


def test_an_author_knows_beforehand_how_many_matches_a_bot_makes(arena: ArenaHarness) -> None:
    """The page says it for each league, and so does the answer to a submission, unless results decide it."""
    ladder = arena.config.format
    assert "In cup results decide how many matches" in arena.client("ada").ask("GET", "/submit").text
    round_robin, sampled = (
        attrs.evolve(ladder, kind="round-robin", deals=3),
        attrs.evolve(ladder, kind="round-robin", tables=3),
    )
    for others in range(3):
        added = [
            entering.matches_added(arena.ledger, attrs.evolve(arena.config, format=form))
            for form in (ladder, round_robin, sampled)
        ]
        # One table of two bots more for each bot there is, with three deals in both seat orders.
        assert added[:2] == [None, 6 * (2 + others)]
        assert 0 <= added[2] <= 2 * 4
        arena.accepted("bob", f"other-{others}")
    told = send(arena, arena.bot()).json
    assert (told["state"], told["matches"]) == ("received", None)


def test_sessions_are_for_this_site_only(arena: ArenaHarness) -> None:
    """The cookie is hidden from scripts and not sent along by other sites; the token is stored as a hash."""
    client = arena.client()
    answer = client.post("/submit/login", {"token": arena.tokens["ada"]})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    stored = arena.ledger.path.read_bytes() + arena.ledger.path.with_name("arena.db-wal").read_bytes()
    for secret in (*arena.tokens.values(), client.cookie.partition("=")[2]):
        assert secret.encode() not in stored
    assert arena.ledger.path.stat().st_mode & 0o077 == 0


def test_an_organiser_decides(arena: ArenaHarness) -> None:
    """Authors, pauses, limits, and what the scheduler is asked for; each is in the journal with who it was."""
    arena.accepted("ada")
    client = arena.client("olga")
    page = client.post("/organise/author", {"what": "add", "name": "eve"})
    token = page.text.partition('<code id="token">')[2].partition("<")[0]
    assert accounts.who_has(arena.ledger, token) == accounts.author_named(arena.ledger, "eve")
    for fields in (
        {"what": "pause"},
        {"what": "close"},
    ):
        assert client.post("/organise/league", {"league": "cup", **fields}).status == 303
    early = {"league": "cup", "what": "disqualify", "bot": "mine", "reason": "a copy", "results": "stay"}
    refused = client.post("/organise/league", early)
    assert (refused.status, "nothing has been played yet in cup" in refused.text) == (422, True)
    assert entering.is_paused(arena.ledger, "cup")
    assert arena.app.rendered == ["cup"] * 2
    assert entering.is_closed(arena.ledger, arena.config)
    assert client.post("/organise/limit", {"key": "per_day", "value": "3"}).status == 303
    assert client.post("/organise/author", {"what": "revoke", "name": "eve"}).status == 303
    page = client.ask("GET", "/organise")
    for words in ("cup is paused", "cup takes no more submissions", "the limit is now 3 "):
        assert words in page.text.partition('<h2 id="journal">')[2]
    # Whatever does harm asks back.
    for words in ("revoke", "new token"):
        before, found, _ = page.text.partition(f">{words}</button>")
        assert found
        assert "I am sure" in before.rpartition("<form ")[2]
    # Nothing has been played, so there is no bot and no match to choose.
    assert "declare void" not in page.text
    assert ">disqualify<" not in page.text
    said = [entry.what for entry in arena.ledger.journal() if entry.who == "olga"]
    assert said[:2] == ["token revoked", "set"]
    found = json.loads(client.ask("GET", "/organise/export.json").body)
    assert [one["bot"] for one in found["submissions"]] == ["mine"]
    assert token not in json.dumps(found)


def test_what_plays_is_always_listed(arena: ArenaHarness) -> None:
    """An author's page has the active bot on it, however many versions were refused since."""
    number = arena.accepted("ada")
    author = arena.author("ada")
    with arena.ledger.writing() as db:
        db.executemany(
            "INSERT INTO job (kind, author, league, state, asked, asked_s, details, sha256) "
            "VALUES ('submission', ?, 'cup', 'refused', '', 0, '{\"bytes\": 0}', '')",
            [(author.id,)] * 120,
        )
    found = versions.submissions(arena.ledger, "ada")
    assert len(found) == 100
    assert (found[0].id, found[-1].id) == (number + 120, number)
    assert number not in [one.id for one in versions.submissions(arena.ledger)]


@pytest.mark.usefixtures("sandboxed")
def test_authors_get_their_own_records(arena: ArenaHarness, capsys: pytest.CaptureFixture[str]) -> None:
    """A zip file with the record of each match, and what their own bot printed, not what another one did."""
    from warpleague.league.play.entering import open_to_run
    from warpleague.league.play.running import StopWhen, run_league
    from warpleague.runner.bot.logs import LogFolder
    from warpleague.runner.bundle.content import folder_digest

    number = arena.accepted("ada")
    kept = arena.results / "arena" / "bots"
    kept.mkdir(parents=True)
    folder = kept / f"{number}-{arena.submission(number).sha256[:12]}"
    folder.mkdir()
    source = (shipped_root() / "bots" / "random-python" / "bot.py").read_text()
    (folder / "bot.py").write_text(f"import sys\nprint('my secret', file=sys.stderr)\n{source}")
    (folder / "bot.toml").write_text('name = "mine"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n')
    with arena.ledger.writing() as db:
        db.execute("UPDATE job SET digest = ? WHERE id = ?", (folder_digest(folder), number))
    logs = LogFolder(arena.results / "cup" / "logs")
    with open_to_run(entering.entered(arena.ledger, arena.config), arena.results) as league:
        report = run_league(league, stop_when=StopWhen(matches=4), logs=logs)
        assert report.played == 4
    data = arena.client("ada").ask("GET", "/submit/cup/mine/records.zip").body
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = packed.namelist()
        records = [json.loads(packed.read(name).splitlines()[0]) for name in names if name.endswith(".jsonl")]
        said = [packed.read(name) for name in names if ".stderr" in name]
    assert records
    assert all("mine" in [seat["bot"] for seat in header["seats"]] for header in records)
    assert all("key" not in header or header["key"] is None for header in records)
    assert len(said) == len(records)
    assert all(b"my secret" in text for text in said)
    # An organiser chooses bots and matches from lists.
    match = records[0]["id"]
    page = arena.client("olga").ask("GET", "/organise").text
    assert f'<option value="{match}">' in page
    assert "<option>mine</option>" in page
    assert "Reinstate a bot" not in page  # since none is disqualified
    # The page of a match that is void goes with it, since another match will have its id.
    pages = arena.results / "cup" / "pages"
    pages.mkdir()
    kept, gone = pages / "1-other.html", pages / f"1-{match}.html"
    kept.touch(), gone.touch()
    entering.ask(arena.ledger, arena.config, "replay", "olga", match=match[:8], reason="the power failed")
    assert "waits for the scheduler" in arena.client("olga").ask("GET", "/organise").text
    assert [one.answer for one in entering.decide(arena.ledger, arena.config, arena.results)] == [
        "done: it will be played again"
    ]
    assert [*pages.iterdir()] == [kept]
    # What could not be done is refused when it is asked for, and nothing is entered.
    entries = len(arena.ledger.journal())
    for what, details, told in (
        ("replay", {"match": "0123456789"}, "no match of cup that was played has an id that begins so"),
        ("replay", {"match": "1"}, "the first letters of a match's id"),
        ("disqualify", {"bot": "mien", "results": "out"}, "did you mean 'mine'"),
        ("reinstate", {"bot": "mine"}, "no bot of this league is disqualified"),
    ):
        with pytest.raises(BadInput, match=told):
            entering.ask(arena.ledger, arena.config, what, "olga", reason="a slip", **details)
    assert len(arena.ledger.journal()) == entries
    entering.ask(arena.ledger, arena.config, "disqualify", "olga", bot="mine", reason="a copy", results="out")
    entering.ask(arena.ledger, arena.config, "reinstate", "olga", bot="mine", reason="it was none")
    asked = entering.decisions(arena.ledger, "cup", "done IS NULL")
    assert [entering.decision_words(one) for one in asked] == [
        "let mine play again (it was none)",
        "disqualify mine (a copy)",
    ]
    assert [one.answer for one in entering.decide(arena.ledger, arena.config, arena.results)] == ["done"] * 2
    # Commands see the league as the arena plays it, and leave playing to the arena.
    file, results = str(arena.folder / "cup.toml"), ["--results", str(arena.results)]
    assert main(["league", "status", file, *results]) == 0
    shown = capsys.readouterr()
    assert "3 matches" in shown.out
    assert "has changed since" not in shown.err
    assert main(["league", "run", file, *results]) == 2
    assert "the arena in this folder plays cup" in capsys.readouterr().err
    assert main(["arena", "journal", "--results", str(arena.folder)]) == 2
    assert "there is no arena in this folder" in capsys.readouterr().err
    assert not (arena.folder / "arena.db").exists()


def test_an_extension_says_what_it_means(tmp_path: Path) -> None:
    """Deals and matches before and after; far more is asked about, and it can be taken back to what has begun."""
    file = tmp_path / "cup.toml"
    bots = [str(shipped_root() / "bots" / name) for name in ("random-python", "random-c", "random-perl")]
    text = f"bots = {json.dumps(bots)}\n[game]\nid = 'aliens'\n[format]\ndeals = 2\nseats = 'rotations'\n"
    file.write_text(text + "[rules]\nlevel = 'sandbox'\n")
    config = load_config(file)

    with Ledger.open(tmp_path / "results") as ledger:
        extend = partial(entering.extend, ledger, config, "olga", "deals")
        assert extend(3).words() == "3 deals of each table in all, not 2: 18 matches, not 12"
        with pytest.raises(
            BadInput, match=r"31 deals .* not 3: 186 matches, not 18; if you mean it, .* --yes"
        ):
            extend(31)
        far = extend(1000, sure=True)
        assert (far.old, far.new, far.matches_before, far.matches_after, far.days) == (
            3,
            1000,
            18,
            6000,
            None,
        )
        assert extend(1).matches_after == 6
        with pytest.raises(BadInput, match="deals is 1, of which 0 have begun"):
            extend(1)
        assert entering.entered(ledger, config).format.deals == 1
