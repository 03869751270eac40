"""The second commitment of a season, to its entrants, and the beacon, which comes after both."""

import json
import re
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.league.conftest import Command, Cup, MakeSeason, Refereed
from tests.league.inline import InlinePool, Trusting

from warpleague.cli import main
from warpleague.errors import BadInput, StoreError
from warpleague.games import load_game
from warpleague.league.play.entering import commit, open_to_run
from warpleague.league.play.verifying import altered, verify_league
from warpleague.league.season.config import load_config
from warpleague.league.store.events import commitment_to
from warpleague.match.chance import beacon_secret, deal_key, season_commitment
from warpline.codec import canonical

BEACON = '[season]\nbeacon = "the lottery of 5 December"'


def test_the_commitment_covers_all_that_is_open_to_choice(make_season: MakeSeason) -> None:
    """Names, contents, order, conditions and format change it; secret, versions and how bots are run do not."""
    season = make_season(3, 2)
    base = commitment_to(season)
    what: dict[str, Any] = {
        "bots": [[bot.bot, bot.digest] for bot in season.bots],
        "conditions": season.conditions,
        "format": {**attrs.asdict(season.format), "seeding": "order", "seating": 2},
    }
    for key in ("levels", "ratings", "until", "time_share", "within"):
        del what["format"][key]
    assert base == sha256(canonical(json.loads(json.dumps(what)))).hexdigest()
    first, *rest = season.bots
    for changed in (
        attrs.evolve(season, bots=(attrs.evolve(first, bot="bot0 "), *rest)),
        attrs.evolve(season, bots=(attrs.evolve(first, digest="x"), *rest)),
        attrs.evolve(season, bots=(*rest, first)),
        attrs.evolve(season, bots=tuple(rest)),
        attrs.evolve(season, level="none"),
        attrs.evolve(season, options={"max_turns": 9}),
        attrs.evolve(season, awaits="something"),
        make_season(3, 2, deals=2),
        make_season(3, 2, seats="fixed"),
        make_season(3, 2, dice="own"),
        make_season(3, 2, kind="swiss", rounds=2, seeding="rating", ratings="season.toml"),
        attrs.evolve(season, seeds=("bot1", "bot0", "bot2")),
    ):
        assert commitment_to(changed) != base
    for same in (
        attrs.evolve(season, secret=b"t" * 32),
        attrs.evolve(season, bots=(attrs.evolve(first, version="9", run=("x",)), *rest)),
        attrs.evolve(season, beacon="7"),
    ):
        assert commitment_to(same) == base


def test_each_change_of_entrants_is_a_further_entry(cup: Cup, command: Command) -> None:
    """The commitment is told before a match is played; the same entrants have one entry, others a further one."""
    path = cup.file("a", "b", top="")
    code, out, err = command("run", path, "--json")
    assert code == 0
    first = json.loads(out)["entrants"]
    assert f"commitment to the entrants (SHA-256): {first}" in err
    command("run", path)
    status = json.loads(command("status", path, "--json")[1])
    assert ([line["commitment"] for line in status["entered"]], status["entrants"]) == ([first], first)
    path = cup.file("a", "b", "late", top="")
    code, _, err = command("run", path)
    assert (code, "the entrants or the format have changed since" in err) == (0, True)
    status = json.loads(command("status", path, "--json")[1])
    assert [line["commitment"] for line in status["entered"]] == [first, status["entrants"]]
    assert first in command("status", path, "--proofs")[1]
    assert first not in command("status", path)[1]
    with cup.read(path) as league:
        assert status["entrants"] == commitment_to(league.season)
        assert altered(league) == []
        ((_, old),) = [bot for bot in league.store.history()[0].bots if bot[0] == "a"]
    # An update may change a bot that comes with the program: it is named, with both digests.
    assert "other content" not in err
    (cup.folder / "bots" / "a" / "digest").write_text("0123456789abcdef")
    err = command("run", path)[2]
    assert (
        f"other content than before: a ({old[:12]} before, 0123456789ab now); matches of before do not count"
        in err
    )


def test_both_commitments_follow_from_the_page(cup: Cup, command: Command) -> None:
    """With what docs/reproduce.md says and what everybody knows of a season, they are worked out anew."""
    page = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text("utf-8")
    told: dict[str, Any] = {"json": json, "sha256": sha256}
    for code in re.findall(r"^```python\n((?:FORMAT = |def worth).*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(code, told)
    words = set(re.findall(r'`"?(\w+)', page.partition("- `conditions`")[2].partition("\n\n")[0]))
    for name, game, keys in (
        ("cup", "coasters", {"deals": 3}),
        ("steps", "aliens", {"kind": "ladder", "max_matches": 2, "pairing": 5}),
    ):
        path = cup.file("a", "b", name=name, game=f"id = '{game}'")
        if name == "steps":
            ladder = path.read_text("utf-8").replace("deals = 3", 'kind = "ladder"\nmax_matches = 2')
            path.write_text(ladder, "utf-8")
        made = json.loads(command("commit", path, "--entrants", "--explain", "--json")[1])
        known = json.loads(made["preimage"])
        assert {"clock", "game", "options", "rules"} <= set(known["conditions"]) <= words
        keys["dice"] = known["format"]["dice"]
        if load_game(game).worth:
            function = import_module(load_game(game).worth)
            file = Path(str(function.__file__))
            files = {name: file.with_name(name).read_bytes() for name in (file.name, *function.FILES)}
            keys["worth"] = told["worth"](function.VERSION, files)
        assert keys.get("worth") == known["format"].get("worth")
        assert told["entrants"](known["bots"], known["conditions"], keys) == made["entrants"]
        assert made["preimage"] in command("commit", path, "--entrants", "--explain")[1].splitlines()
        command("run", path)
        status = json.loads(command("status", path, "--json")[1])
        assert (
            sha256(bytes.fromhex(status["secret"])).hexdigest() == status["commitment"] == made["commitment"]
        )
    assert command("commit", path, "--explain")[0] == 2


@pytest.mark.parametrize(
    ("said", "problems"),
    [
        ("replace(said, '\"a\"', '\"x\"')", ["was stored before its", "does not fit what it says"]),
        ("'{}'", ["does not fit what it says"]),
    ],
)
def test_matches_of_bots_that_nobody_entered_are_told(cup: Cup, said: str, problems: list[str]) -> None:
    """A name that was altered in the entry of entrants fits neither its commitment nor the matches that follow."""
    path = cup.file("a", "b")
    cup.play(path)
    with cup.altered() as db:
        db.execute(f"UPDATE fact SET said = {said} WHERE kind = 'entrants'")
    with cup.read(path) as league:
        found = "\n".join(told for _, _, told in altered(league))
    assert all(problem in found for problem in problems)


def test_a_beacon_comes_after_both_commitments(
    cup: Cup, refereed: Refereed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is played before entrants are committed to and the value is known; then neither can change any more."""
    results = cup.results

    def run(*bots: str, beacon: str | None = None, deals: int = 1) -> Any:
        path = cup.file(*bots, deals=deals, game=cup.short, extra=BEACON)
        return open_to_run(load_config(path), results, cup.fake.prepare, beacon)

    for value in (None, "4 8 15"):
        with pytest.raises(StoreError, match="so commit to its entrants first"):
            run("a", "b", beacon=value)
    config = load_config(cup.file("a", "b", deals=1, game=cup.short, extra=BEACON))
    told = commit(config, results, with_entrants=True, prepare=cup.fake.prepare)
    assert (len(told.entrants or ""), told.played) == (64, 0)
    with pytest.raises(StoreError, match=r"waits for its beacon .the lottery of 5 December."):
        run("a", "b")
    with pytest.raises(StoreError, match="so commit to its entrants first"):
        run("a", "renamed", beacon="4 8 15")
    with pytest.raises(BadInput, match="--beacon: must be 1 to"):
        run("a", "b", beacon="4\n8")
    with run("a", "b", beacon="4 8 15") as league:
        season = league.season
        for fixture in league.schedule:
            key = season.spec(fixture.id, fixture.deal, fixture.seats).key
            assert key == deal_key(beacon_secret(season.secret, "4 8 15"), fixture.deal)
        cup.run(league, play=refereed())
    with run("a", "b") as league:
        assert league.season.beacon == "4 8 15"
        assert cup.run(league, play=refereed()).played == 0
        assert [problem for _, problem in verify_league(league, new_pool=InlinePool)] == [None, None]
        assert altered(league) == []
    with pytest.raises(BadInput, match="is '4 8 15', not '4 8 16'; it cannot change"):
        run("a", "b", beacon="4 8 16")
    for bots, deals in ((("a", "b", "c"), 1), (("a", "renamed"), 1), (("a", "b"), 2)):
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            run(*bots, deals=deals)
        with pytest.raises(StoreError, match="its bots and its format cannot change any more"):
            commit(
                load_config(cup.file(*bots, deals=deals, game=cup.short, extra=BEACON)),
                results,
                with_entrants=True,
                prepare=cup.fake.prepare,
            )


def test_a_beacon_is_settled_with_the_conditions(cup: Cup) -> None:
    """Whether there is one, and which, cannot be chosen later; where the file names none, no value is taken."""
    path = cup.file("a", "b")
    with pytest.raises(BadInput, match="the league file names no beacon"):
        open_to_run(load_config(path), cup.results, cup.fake.prepare, "7")
    commit(load_config(path), cup.results)
    cup.file("a", "b", extra=BEACON)
    with pytest.raises(StoreError, match='beacon: was not set, is now "the lottery of 5 December"'):
        commit(load_config(path), cup.results)


def test_the_dice_differ_with_the_beacon_and_ids_too(make_season: MakeSeason) -> None:
    """Another value gives other dice and other matches; without a beacon all is as it always was."""
    season = make_season(3, 2)
    one, two = (attrs.evolve(season, awaits="x", beacon=value) for value in ("1", "2"))
    deal = season.deal((0, 1), 0, 0)
    assert deal == one.deal((0, 1), 0, 0)
    assert len({found.key_of(deal) for found in (season, one, two)}) == 3
    assert len({found.match_id(deal, (0, 1)) for found in (season, one, two)}) == 3
    assert season.key_of(deal) == deal_key(season.secret, deal)
    pairs = [(bot.bot, bot.digest) for bot in season.bots[:2]]
    assert one.id_of(deal, pairs) == one.match_id(deal, (0, 1))


def test_an_old_receipt_is_checked_by_verify(
    command: Command, cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run ends with a receipt; `verify --head` finds it, and exits with 1 once the store was cut before it."""
    path = cup.file("a", "b")
    code, out, _ = command("run", path, "--quiet")
    assert code == 0
    (receipt,) = [line.split()[1] for line in out.splitlines() if line.startswith("Receipt:")]
    assert json.loads(command("status", path, "--json")[1])["head"] == receipt
    assert receipt in command("status", path, "--proofs")[1]
    code, out, _ = command("verify", path, "--head", receipt, new_pool=Trusting)
    assert (code, "It goes back to the head that was given." in out) == (0, True)
    strange = f"{receipt.split('-')[0]}-{'0' * 64}"
    code, out, _ = command("verify", path, "--head", receipt, "--head", strange, new_pool=Trusting)
    assert code == 1
    assert f"WRONG  the store: its journal does not go back to the head {strange}" in out
    code, _, err = command("verify", path, "--head", "nonsense")
    assert (code, "is not the head of a journal" in err) == (2, True)


# `league commit`: the secret is settled, and its commitment told, before there is a match or a bot.


COMMITMENT = "commitment to the season's secret (SHA-256): "


@pytest.fixture
def committed(league_cli: Command) -> Command:
    """Runs `warpleague league commit FILE`, or another action; gives exit code, output and remarks."""
    return lambda path, *arguments, action="commit": league_cli(action, path, *arguments)


def test_a_random_secret_is_settled_once(committed: Command, cup: Cup) -> None:
    """Asked again, before, during and after the run, the same commitment and its time are told; the run uses it."""
    path = cup.file("a", "b", top="")
    code, out, err = committed(path)
    assert code == 0
    assert out.startswith(COMMITMENT)
    assert "0 matches played since" in err
    assert committed(path)[1] == out
    code, _, err = committed(path, action="status")  # there is nothing to look at
    told = (
        f"(commitment {out.removeprefix(COMMITMENT).strip()}), but nothing has been played yet; start with: "
    )
    assert (code, f"{told}warpleague league run {path} --results" in err) == (2, True)
    at = json.loads(committed(path, "--json")[1])["committed"]
    with cup.open(path) as league:
        assert league.store.committed() == at
        assert COMMITMENT + season_commitment(league.season.secret) + "\n" == out
        assert committed(path)[1] == out
        cup.run(league)
    code, again, err = committed(path)
    assert (code, again) == (0, out)
    assert "6 matches played since" in err
    assert json.loads(committed(path, "--json", action="status")[1])["committed"] == at


def test_bots_need_not_be_there_yet(committed: Command, cup: Cup) -> None:
    """A file without bots, or whose bots are no folders yet, can be committed to; they are entered later."""
    path = cup.file(top="")
    told = committed(path)[1]
    assert told.startswith(COMMITMENT)
    assert main(["league", "run", str(path), "--results", str(cup.results)]) == 2
    path.write_text(path.read_text("utf-8").replace("bots = []", 'bots = ["bots/x", "bots/y"]'), "utf-8")
    assert committed(path)[1] == told
    cup.file("x", "y", top="")
    with cup.open(path) as league:
        assert told == f"{COMMITMENT}{league.season.commitment}\n"


def test_a_seed_is_committed_to_as_well(committed: Command, cup: Cup) -> None:
    """With a seed in the file its secret is the one committed to, and that the file gives it away is said."""
    code, out, err = committed(cup.file("a", "b"), "--json")
    told = json.loads(out)
    assert (code, told["played"]) == (0, 0)
    again = json.loads(committed(cup.file("a", "b"), "--json")[1])
    assert again["commitment"] == told["commitment"]
    assert told.keys() == {"league", "commitment", "committed", "entrants", "entered", "played", "store"}
    assert (told["entrants"], told["entered"]) == (None, None)
    assert err == ""
    assert "the secret follows from the seed" in committed(cup.file("a", "b", name="mug"))[2]
