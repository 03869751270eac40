"""Whether the pages of the games keep their promise: each decision that the published rules leave open is a Ruling.

`sources/GAME.md` lists what the published rules of a game say, sentence by sentence and in our words, each with the
rule of our page that has it. "exact" means that our rule says the same; otherwise the page says by a Ruling how we
read the sentence. A sentence "(silent: ...)" stands for a question that the published rules do not answer.
"""

import re
from pathlib import Path

import pytest

from warpleague.games import GAMES

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent.parent / "docs" / "games"
MARK = re.compile(r"\*\*((?:[A-Z]\d+, )*[A-Z]\d+|Retirement)\b|\*\*Ruling (\d+)\*\*|\*\*Ruling\*\*")


def sentences(game: str) -> list[tuple[str, str, str]]:
    """The rows of the list: what the source says, the rule of our page, and the mark."""
    lines = (HERE / "sources" / f"{game}.md").read_text(encoding="utf-8").splitlines()[2:]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert all(len(row) == 3 for row in rows)
    return rows  # type: ignore[return-value]


def rules_and_rulings(game: str) -> tuple[set[str], dict[str, str]]:
    """The rules of the page, and by number of each Ruling the rule within which it stands."""
    page = (PAGES / f"{game}.md").read_text(encoding="utf-8")
    page = page[page.index("\n## ") :]
    rules: set[str] = set()
    rulings: dict[str, str] = {}
    rule = ""
    for found in re.finditer(MARK, page):
        if found[1]:
            names = found[1].split(", ")
            rule = names[0]
            rules.update(names)
        else:
            assert found[2], f"a Ruling without a number follows {rule}"
            assert found[2] not in rulings, f"two are called Ruling {found[2]}"
            rulings[found[2]] = rule
    return rules, rulings


@pytest.mark.parametrize("game", GAMES)
def test_each_sentence_of_the_source_is_exact_or_has_its_ruling(game: str) -> None:
    """The rule exists, and a Ruling that is named stands within it; what is silent is never exact."""
    rules, rulings = rules_and_rulings(game)
    for sentence, rule, mark in sentences(game):
        assert rule in rules, f"{sentence}: no rule is called {rule}"
        if mark == "exact":
            assert not sentence.startswith("(silent"), f"{sentence}: needs a Ruling"
        else:
            number = mark.removeprefix("Ruling ")
            assert rulings.get(number) == rule, f"{sentence}: Ruling {number} is not within {rule}"


@pytest.mark.parametrize("game", GAMES)
def test_each_ruling_of_a_page_is_about_something_in_the_source(game: str) -> None:
    """No Ruling of the page is missing in the list, and their numbers have no gap."""
    _, rulings = rules_and_rulings(game)
    assert {mark for _, _, mark in sentences(game)} - {"exact"} == {f"Ruling {number}" for number in rulings}
    assert sorted(map(int, rulings)) == list(range(1, len(rulings) + 1))
