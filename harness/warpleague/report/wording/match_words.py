"""Puts the conditions, scores and outcome of a match into words.

All text that comes from outside is made safe to show here.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.errors import BadInput
from warpleague.match.luck import luck_of, luckiest, worth_of
from warpleague.text import counted, listed, safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpleague.games.api import Game
    from warpleague.games.scene import Scene
    from warpleague.match.luck import RollLuck
    from warpleague.match.replay import Replay


_LIMITS: Final = {"move_s": "a decision", "bank_s": "for the match", "increment_s": "more each decision"}

BUSY_SHARE: Final = 0.1
"""The host counts as busy if a bot waited for a processor for more than this share of its time."""

RIVAL: Final = "the game itself"
"""What plays against a seat alone."""

Rows = list[tuple[str, str]]


def one_line(text: object) -> str:
    """Any text on one line, with nothing in it that is not to be seen."""
    return safe(str(text), keep="")


def number(value: float) -> str:
    """A score as it is read: whole numbers without a point, others with two digits after it at most."""
    return f"{round(value, 2):,.10g}"


def conditions(header: Mapping[str, Any], clock: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of matches, from the keys of a record's header; `clock` may lack limits."""
    limits = [f"{clock[name]:g} s {text}" for name, text in _LIMITS.items() if clock.get(name) is not None]
    options = [
        f"{name} {_option_text(value)}" for name, value in header["options"].items() if value is not None
    ]
    return {
        "game": one_line(f"{header['game']}, rules version {header['rules']}"),
        "options": one_line(", ".join(options) or "none"),
        "clock": ", ".join(limits) or "none",
        "faults": one_line(
            header["faults"] + _strikes(header["strikes"]) + _asked_again(header) + _failures(header)
        ),
        "level": one_line(header["level"]),
    }


def _strikes(count: int) -> str:
    return f", {counted(count, 'strike')}" if count else ""


def _asked_again(header: Mapping[str, Any]) -> str:
    count = header.get("again", 0)
    return f", illegal actions asked again {counted(count, 'time')}" if count else ""


def _failures(header: Mapping[str, Any]) -> str:
    """How often a bot may say that its service failed."""
    parts = [(header.get("failures", 0), "asked again"), (header.get("void", 0), "matches of a bot void")]
    texts = [f"{text} {counted(count, 'time')}" for count, text in parts if count]
    return f", after failures of services {' and '.join(texts)}" if texts else ""


def _option_text(value: object) -> str:
    """The value of an option as a league file has it; a table by its keys only."""
    if isinstance(value, dict):
        return f"of {', '.join(map(str, value))}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def labels(names: Sequence[str]) -> list[str]:
    """The names of the bots of a match, with the seat where several have the same."""
    return [f"{name} #{seat}" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def placing(ranks: Sequence[int], seat: int) -> str:
    """The place of a seat among several as an ordinal, such as `2nd` or `1st, shared`; empty for a seat alone."""
    if len(ranks) == 1:
        return ""
    rank = ranks[seat]
    ending = "th" if 10 < rank < 14 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}" + (", shared" if ranks.count(rank) > 1 else "")


@attrs.frozen
class SeatLuck:
    """The luck of a seat in words: all of it, and the roll that did most: its share, its line n, what was rolled."""

    total: str
    most: str
    n: int
    told: str


def seat_lucks(replay: Replay) -> list[SeatLuck]:
    """The luck of each seat of a record, if its game has a worth function and some roll mattered; else nothing.

    It executes the record. A function that fails is no reason not to show a match.
    """
    lucks: list[RollLuck] = []
    with suppress(BadInput):
        worth = worth_of(replay.game.id)
        lucks = [] if worth is None else luck_of(replay, worth)
    if not any(any(roll.gains) for roll in lucks):
        return []
    words = []
    for seat in range(replay.header["players"]):
        total, most = luckiest(lucks, seat)
        told = "; ".join(replay.game.tell(event.data) for event in most.events)
        words.append(SeatLuck(f"{total:+.2f}", f"{most.gains[seat]:+.2f}", most.n, one_line(told)))
    return words


def outcome(
    names: Sequence[str], ranks: Sequence[int], scores: Sequence[float], rival: float | None, why: str
) -> str:
    """Who has won, in one sentence, the winner first and each score beside its name, and why it ended, in words.

    `names` are those that distinguish the bots of the match.
    """
    order = sorted(range(len(names)), key=lambda seat: ranks[seat])
    first = [names[seat] for seat in order if ranks[seat] == 1]
    if rival is not None:
        verb = "beats the game" if ranks[0] == 1 else "does not beat the game"
        text = f"{names[0]} {verb}, {number(scores[0])} to {number(rival)}"
    elif len(names) == 1:
        text = f"{names[0]} reaches {number(scores[0])}"
    elif len(names) == 2 and len(first) == 1:
        text = f"{first[0]} wins, {' : '.join(number(scores[seat]) for seat in order)}"
    else:
        behind = ", ".join(f"{names[seat]} {number(scores[seat])}" for seat in order if ranks[seat] > 1)
        best = number(scores[order[0]])
        whole = listed(first)
        verb = f"wins with {best}" if len(first) == 1 else f"share the first place with {best}"
        text = f"{whole} {verb}" + (f"; {behind}" if behind else "")
    return f"{text} ({why})"


def own_outcome(
    names: SeatNames, you: int, ranks: Sequence[int], scores: Sequence[float], rival: float | None, why: str
) -> str:
    """The same for who played on seat `you`, and first of all whether that was won; `names` call it `you`."""
    told = names.say(outcome([f"seat {seat}" for seat in range(len(ranks))], ranks, scores, rival, why))
    if ranks[you] == 1 or (len(ranks) == 1 and rival is None):
        return told.replace("You win", "You won", 1)
    return "You lost: " + re.sub(r"^You ", "you ", told)


def ending(game: Game[Any, Any], why: str) -> str:
    """Why a match ended, in words."""
    return one_line(game.endings.get(why, why.replace("-", " ")))


# -- seat names ------------------------------------------------------------------------------------------
# Puts the names of players into a game's texts about seats, as the pages do, and `you` for the one who reads.

_SEAT: Final = r"(?:seat|owner) (?P<seat>\d+)"
_VERB: Final = re.compile(r"(^| and) ([a-z]+s)\b")
_NO_VERBS: Final = {"as", "its", "this"}
_VERBS: Final = {"is": "are", "has": "have", "does": "do", "was": "were"}


def _with_you(found: re.Match[str]) -> str:
    """A verb as it goes with `you`: `passes` is `pass`."""
    verb = found[2]
    if verb not in _NO_VERBS:
        verb = _VERBS.get(verb) or re.sub(r"ies$", "y", re.sub(r"(?<=ss|sh|ch|.o)es$|(?<!ie)s$", "", verb))
    return f"{found[1]} {verb}"


class SeatNames:
    """The names of the players of a match by seat; `roles` are other words of the game for seats.

    Players with the same name get their seat's number after it. The player of seat `you` is called so, in sentences.
    """

    def __init__(self, names: Sequence[str], roles: Sequence[str] = (), you: int | None = None) -> None:
        self._names = labels(names)
        self._roles = {role.casefold(): name for role, name in zip(roles, self._names, strict=False)}
        any_of = [_SEAT, *(re.escape(role) for role in roles)]
        self._called = re.compile(rf"(?<!\w)(?:{'|'.join(any_of)})(?!\w)", re.IGNORECASE)
        own = [rf"(?:seat|owner) {you}", *(re.escape(role) for role in roles[you or 0 :][:1])]
        self._own = "" if you is None else rf"\b(?:{'|'.join(own)})(?!\w)"

    def say(self, text: str) -> str:
        """The text with the names in it; what somebody said (in quotation marks) stays as it is."""
        told, mark, said = text.partition("“")
        if self._own and told:
            told = self._to_you(told)
            told = told[0].upper() + told[1:]
        return self._called.sub(self._name, told) + mark + said

    def _to_you(self, text: str) -> str:
        """The text in the second person: `seat 0 ends its turn` is `you end your turn`."""
        text = re.sub(rf"\b(\w+) of {self._own}", r"your \1", text, flags=re.IGNORECASE)
        text = re.sub(rf"{self._own}'s", "your", text, flags=re.IGNORECASE)
        return re.sub(rf"{self._own}([^:;]*)", self._addressed, text, flags=re.IGNORECASE)

    @staticmethod
    def _addressed(found: re.Match[str]) -> str:
        """A clause about the one who reads, without the words for the seat."""
        return "you" + _VERB.sub(_with_you, found[1]).replace(" its ", " your ")

    def _name(self, found: re.Match[str]) -> str:
        if found["seat"] is None:
            return self._roles[found[0].casefold()]
        seat = int(found["seat"])
        if seat < len(self._names):
            return self._names[seat]
        return RIVAL if found[0].startswith("owner") else found[0]

    def within(self, scene: Scene) -> Scene:
        """The scene with the names in its caption and the lines of its panels."""
        panels = [attrs.evolve(panel, lines=tuple(map(self.say, panel.lines))) for panel in scene.panels]
        return attrs.evolve(scene, caption=self.say(scene.caption), panels=tuple(panels))

    def on(self, scene: Scene) -> Scene:
        """The same with the names in the titles of the panels, too, the roles beside them."""
        scene = self.within(scene)
        panels = [attrs.evolve(panel, title=self._title(panel.title)) for panel in scene.panels]
        return attrs.evolve(scene, panels=tuple(panels))

    def _title(self, title: str) -> str:
        def with_role(found: re.Match[str]) -> str:
            return self._name(found) if found["seat"] else f"{self._name(found)} ({found[0]})"

        return self._called.sub(with_role, title)
