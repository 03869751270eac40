"""The engine against a slow one written straight from the rules: legal actions, marks and scores."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from warpleague.games.api import CHANCE
from warpleague.games.sheets import GAME
from warpleague.games.sheets.rules import connections, score_parts
from warpleague.games.sheets.state import Sheet, filled_boxes

TRIANGLE = [[1, 2, 3, 4, 5, 6], [4, 5, 6, 1, 2], [2, 3, 1, 5], [6, 4, 2], [3, 1], [5]]
PLACES = [(row, column) for row, values in enumerate(TRIANGLE) for column in range(len(values))]


def horizontal(row: int, column: int) -> int:
    return row * 6 + column


def vertical(row: int, column: int) -> int:
    return 42 + row * 7 + column


def walls(row: int, column: int) -> list[int]:
    return [
        horizontal(row, column),
        horizontal(row + 1, column),
        vertical(row, column),
        vertical(row, column + 1),
    ]


def is_filled(sheet: dict[str, Any], row: int, column: int) -> bool:
    return all(edge in sheet["edges"] for edge in walls(row, column))


def score(sheet: dict[str, Any]) -> list[int]:
    """Points by E1, counted box by box and pair by pair."""
    single = double = linked = 0
    holes = {divmod(box, 6) for box in sheet["wormholes"]}
    for row in range(6):
        for column in range(6):
            if is_filled(sheet, row, column):
                if (row, column) in holes:
                    double += 2
                else:
                    single += 1
            if (row, column) in holes:
                linked += 3 * ((row + 1, column) in holes) + 3 * ((row, column + 1) in holes)
    return [single, double, linked]


def uses(view: dict[str, Any], sheet: dict[str, Any], unit: str) -> list[dict[str, Any]]:
    """All uses of a unit by T2, S3 and S4."""
    if unit == "white":
        a, b = view["dice"]["white"]
        edges = {*walls(a - 1, b - 1), *walls(b - 1, a - 1)} - set(sheet["edges"])
        return [{"do": "line", "edge": edge} for edge in edges]
    value = view["dice"][unit]
    round_ = view["round"]
    black = unit.startswith("black")
    cross = [(r, c) for r in range(6) for c in range(6) if value in (r + 1, c + 1)]
    found: list[dict[str, Any]] = []
    if unit == "yellow" or black:
        for cell, (row, column) in enumerate(PLACES):
            if TRIANGLE[row][column] == value and cell not in sheet["yellow"]:
                found.append({"do": "yellow", "cell": cell, "unit": unit})
    if (unit == "red" or (black and round_ >= 3)) and value not in sheet["red"]:
        boxes: list[Any] = [r * 6 + c for r, c in cross if not is_filled(sheet, r, c)]
        found += [{"do": "red", "value": value, "box": box, "unit": unit} for box in boxes or [None]]
    if unit == "blue" or (black and round_ >= 5):
        if {"value": value, "crossed": False} in sheet["blue"]:
            free = [r * 6 + c for r, c in cross if r * 6 + c not in sheet["wormholes"]]
            found += [{"do": "blue", "value": value, "box": box, "unit": unit} for box in free]
        elif len(sheet["blue"]) < 7:
            found.append({"do": "blue", "value": value, "box": None, "unit": unit})
    return found


def expected(view: dict[str, Any]) -> list[dict[str, Any]]:
    """All legal actions of the actor, in no order."""
    sheet = view["sheets"][view["actor"]]
    phase = view["phase"]
    found: list[dict[str, Any]] = []
    if phase == "keep":
        found += [
            {"do": "keep", "unit": keep, "discard": discard}
            for keep in view["hand"]
            for discard in view["hand"]
            if keep != discard and discard != "white"
        ]
    if phase == "mark":
        for unit in view["kept"]:
            found += uses(view, sheet, unit)
    if phase == "use":
        found += uses(view, sheet, view["taken"])
    if phase == "take":
        found += [{"do": "take", "unit": unit} for unit in view["offered"] if uses(view, sheet, unit)]
    if sheet["rerolls"] and (phase == "keep" or (phase == "take" and len(view["sheets"]) == 1)):
        found.append({"do": "reroll"})
    if sheet["free_lines"]:
        found += [{"do": "free-line", "edge": edge} for edge in range(84) if edge not in sheet["edges"]]
    if phase in ("take", "lines"):
        found.append({"do": "pass"})
    return found


def lines_done(yellow: list[int]) -> list[int]:
    """The lengths of the completed rows and columns, and 3 for the diagonal."""
    marked = {PLACES[cell] for cell in yellow}
    done = []
    for length in range(1, 7):
        rows = {(6 - length, column) for column in range(length)}
        columns = {(row, 6 - length) for row in range(length)}
        done += [length] * ((rows <= marked) + (columns <= marked))
    return done + [3] * ({(0, 0), (1, 1), (2, 2)} <= marked)


def mark(sheet: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    """The sheet after an action, by S1 to S4."""
    after: dict[str, Any] = json.loads(json.dumps(sheet))
    do = action["do"]
    if do in ("line", "free-line"):
        after["edges"].append(action["edge"])
        after["free_lines"] -= do == "free-line"
    elif do == "yellow":
        before = lines_done(after["yellow"])
        after["yellow"].append(action["cell"])
        new = lines_done(after["yellow"])
        after["rerolls"] += new.count(3) - before.count(3)
        after["free_lines"] += len(new) - new.count(3) - len(before) + before.count(3)
    elif do == "red":
        after["red"].append(action["value"])
        if action["box"] is not None:
            after["edges"] += [
                edge for edge in walls(*divmod(action["box"], 6)) if edge not in after["edges"]
            ]
    elif do == "blue":
        if action["box"] is None:
            after["blue"].append({"value": action["value"], "crossed": False})
        else:
            after["wormholes"].append(action["box"])
            after["blue"][after["blue"].index({"value": action["value"], "crossed": False})]["crossed"] = True
    elif do == "reroll":
        after["rerolls"] -= 1
    for name in ("edges", "wormholes", "yellow", "red"):
        after[name].sort()
    return after


def test_legal_actions_and_marks_are_those_of_the_rules(matches: Any) -> None:
    """At every decision of random matches the legal list, and the sheet after the move, are the reference's."""
    decisions = 0
    for playout in matches(2, seed=7):
        for state, move, after in zip(playout.states, playout.moves, playout.states[1:], strict=False):
            if state.actor == CHANCE:
                continue
            decisions += 1
            view = GAME.view(state, 0)
            legal = [GAME.action_json(action) for action in GAME.legal(state, state.actor)]
            forms = sorted(json.dumps(form, sort_keys=True) for form in legal)
            assert forms == sorted(json.dumps(form, sort_keys=True) for form in expected(view))
            data = GAME.to_json(state)["sheets"][state.actor]
            then = GAME.to_json(after)["sheets"][state.actor]
            if (after.seat, after.round) != (state.seat, state.round) and after.seat == state.actor:
                then["rerolls"] -= after.round in (4, 6, 7)  # sheets S5
            assert then == mark(data, GAME.action_json(move))
    assert decisions > 2000


def test_the_kept_score_is_the_score_counted_anew(matches: Any) -> None:
    """At every position of random matches the incremental score equals a count from the marks alone."""
    for playout in matches(3, seed=8):
        for state in playout.states[::3]:
            for sheet, data in zip(state.sheets, GAME.to_json(state)["sheets"], strict=True):
                assert list(score_parts(sheet)) == score(data)
        for outcome in [playout.outcome]:
            parts = zip(*outcome.breakdown.values(), strict=True)
            assert [sum(own) for own in parts] == list(outcome.scores)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 83)), st.sets(st.integers(0, 35)))
def test_any_marks_are_scored_as_counted(edges: set[int], holes: set[int]) -> None:
    """Filled boxes and connections of arbitrary marks are those found box by box."""
    bits = sum(1 << edge for edge in edges)
    sheet = Sheet(bits, filled_boxes(bits), sum(1 << box for box in holes))
    counted = score({"edges": edges, "wormholes": holes})
    assert list(score_parts(sheet)) == counted
    assert connections(sheet.wormholes) * 3 == counted[2]
