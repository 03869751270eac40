"""Plays a position of sheets on at random, in place: the order of `rules` and `legal` again, for speed.

Marks are made by the functions of `rules` on sheets of its own. Legal actions are counted part by part, and no list is
joined. The contract suite plays every rollout by the engine, too, and compares the positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.games.api import CHANCE, Rollout
from warpleague.games.sheets.actions import (
    ALL_UNITS,
    REROLL,
    TAKES,
    UNIT_NUMBER,
    WHITE_UNIT,
    Blue,
    Keep,
    Line,
    Red,
    Reroll,
    Take,
    Yellow,
)
from warpleague.games.sheets.geometry import ALL_EDGES, BONUS_ROUNDS, EDGES, ROUNDS
from warpleague.games.sheets.legal import KEEP_LISTS, useful, uses
from warpleague.games.sheets.rules import (
    UNIT_SETS,
    draw_line,
    mark_blue,
    mark_red,
    mark_yellow,
)
from warpleague.games.sheets.score import result
from warpleague.games.sheets.state import NO_DICE, NOBODY, State, fresh_sheet
from warpleague.games.values import members

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import Outcome, Rolled, Weights
    from warpleague.games.sheets.actions import Action
    from warpleague.games.sheets.state import Phase

    Random = Callable[[], float]
    Roll = Callable[[str, tuple[Weights, ...]], Rolled]

_REROLL: Final[tuple[Action, ...]] = (REROLL,)
_PAIRS: Final = {
    hand: tuple(
        [(UNIT_NUMBER[keep.unit], UNIT_NUMBER[keep.discard]) for keep in keeps if isinstance(keep, Keep)]
    )
    for hand, keeps in KEEP_LISTS.items()
}
"""By hand: the units that can be kept and discarded."""


class SheetsRollout(Rollout[State]):
    """The fields are those of `State`; `dice` and `sheets` are lists."""

    __slots__ = (
        "actor", "dice", "hand", "kept", "most", "offered", "phase", "retired", "round", "seat", "shared", "sheets",
        "taken",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self.sheets = [fresh_sheet(sheet) for sheet in state.sheets]
        self.shared, self.round, self.seat = state.shared, state.round, state.seat
        self.phase: Phase = state.phase
        self.actor, self.dice = state.actor, list(state.dice)
        self.hand, self.kept, self.offered, self.taken = state.hand, state.kept, state.offered, state.taken
        self.retired = state.retired
        self.most = -1

    def play(self, random: Random, most: int = -1, roll: Roll | None = None) -> None:
        """See `Rollout.play`."""
        self.most = most
        while self.most and self.actor != NOBODY:
            if self.actor == CHANCE:
                self._roll(random, roll)
            elif self.phase == "keep":
                self._keep(random)
            else:
                self._decide(random)

    # -- dice (T1, C1) -------------------------------------------------------------------------------------

    def _roll(self, random: Random, roll: Roll | None) -> None:
        units = self.hand or self.offered
        count = units.bit_count() + (units & 1)
        if roll is None:
            shown: Sequence[int] = [int(random() * 6) for _ in range(count)]
        else:
            shown = roll(self._address(), (6,) * count)
        if count == len(self.dice):
            self.dice = [number + 1 for number in shown]
        else:
            dice, rest = self.dice, iter(shown)
            if units & 1:
                dice[0] = next(rest) + 1
            for unit in UNIT_SETS[units]:
                dice[unit + 1] = next(rest) + 1
        self.phase = "keep" if self.hand else "take"
        self.actor = self.seat

    def _address(self) -> str:
        """See `rules.address`."""
        part = f"roll {1 + self.kept.bit_count()}" if self.hand else "discarded"
        return f"seat {self.seat} round {self.round} {part}"

    def _below(self, count: int, random: Random) -> int:
        """A number below `count`, each equally likely: a decision, if there is a choice."""
        if count == 1:
            return 0
        self.most -= 1
        return int(random() * count)

    # -- decisions -----------------------------------------------------------------------------------------

    def _keep(self, random: Random) -> None:
        """T1: a pair of units, a reroll or a free line."""
        sheet = self.sheets[self.actor]
        pairs = _PAIRS[self.hand]
        rerolls = 1 if sheet.rerolls else 0
        lines = EDGES - sheet.edges.bit_count() if sheet.free_lines else 0
        number = self._below(len(pairs) + rerolls + lines, random)
        if number >= len(pairs):
            number -= len(pairs) + rerolls
            if number >= 0:
                self._free_line(number)
            else:
                self._reroll()
            return
        keep, discard = pairs[number]
        self.hand &= ~(1 << keep | 1 << discard)
        self.kept |= 1 << keep
        self.offered |= 1 << discard
        if self.hand:
            self.phase, self.actor = "roll", CHANCE
        else:
            self._to_mark(self.kept)

    def _decide(self, random: Random) -> None:
        """One of the other legal actions, which are counted by the canonical order."""
        sheet, phase, dice, round_ = self.sheets[self.actor], self.phase, self.dice, self.round
        if phase == "mark":
            parts = [uses(dice, round_, sheet, unit) for unit in UNIT_SETS[self.kept]]
        elif phase == "use":
            parts = [uses(dice, round_, sheet, self.taken)]
        elif phase == "take":
            parts = [tuple([TAKES[u] for u in UNIT_SETS[self.offered] if useful(dice, round_, sheet, u)])]
            if sheet.rerolls and len(self.sheets) == 1:
                parts.append(_REROLL)
        else:
            parts = []
        listed = 0
        for part in parts:
            listed += len(part)
        lines = EDGES - sheet.edges.bit_count() if sheet.free_lines else 0
        count = listed + lines + (1 if phase in ("take", "lines") else 0)
        number = self._below(count, random)
        if number < listed:
            for part in parts:
                if number < len(part):
                    action = part[number]
                    _APPLY[type(action)](self, action)
                    break
                number -= len(part)
        elif number < listed + lines:
            self._free_line(number - listed)
        elif phase == "lines":
            self._last_lines(self.actor)
        else:
            self._offer(self.offered, self.actor)

    def _free_line(self, number: int) -> None:
        """Draw the missing edge of this number."""
        sheet = self.sheets[self.actor]
        sheet.free_lines -= 1
        draw_line(sheet, members(ALL_EDGES & ~sheet.edges)[number])
        if self.phase == "mark":  # the line may have taken the white pair's last use
            self._to_mark(self.kept)

    def _reroll(self, _: Action = REROLL) -> None:
        self.sheets[self.actor].rerolls -= 1
        self.phase, self.actor = "roll", CHANCE

    def _line(self, action: Line) -> None:
        draw_line(self.sheets[self.actor], action.edge)
        self._marked(WHITE_UNIT)

    def _yellow(self, action: Yellow) -> None:
        mark_yellow(self.sheets[self.actor], action.cell)
        self._marked(UNIT_NUMBER[action.unit])

    def _red(self, action: Red) -> None:
        mark_red(self.sheets[self.actor], action)
        self._marked(UNIT_NUMBER[action.unit])

    def _blue(self, action: Blue) -> None:
        mark_blue(self.sheets[self.actor], action)
        self._marked(UNIT_NUMBER[action.unit])

    def _take(self, action: Take) -> None:
        unit = UNIT_NUMBER[action.unit]
        if not self.shared:
            self.offered &= ~(1 << unit)
        self.phase, self.taken = "use", unit

    def _marked(self, unit: int) -> None:
        """Go on after the acting seat used `unit`."""
        if self.phase == "mark":
            self._to_mark(self.kept & ~(1 << unit))
        else:
            self._offer(self.offered, self.actor)

    # -- who comes next ------------------------------------------------------------------------------------

    def _go(self, phase: Phase, actor: int, offered: int = 0) -> None:
        self.phase, self.actor = phase, actor
        self.hand, self.kept, self.offered, self.taken = 0, 0, offered, -1

    def _to_mark(self, kept: int) -> None:
        """The active seat marks on; units without a use are lost (T2)."""
        seat, dice, round_ = self.seat, self.dice, self.round
        sheet = self.sheets[seat]
        for unit in UNIT_SETS[kept]:
            if not useful(dice, round_, sheet, unit):
                kept &= ~(1 << unit)
        if kept:
            self.phase, self.actor = "mark", seat
            self.hand, self.kept, self.taken = 0, kept, -1
        elif len(self.sheets) == 1:  # sheets T4
            self._go("roll", CHANCE, self.offered)
        else:
            self._offer(self.offered, seat)

    def _offer(self, offered: int, after: int) -> None:
        """The next seat after `after` may take a discarded die (T3); after the last one the next turn comes."""
        players = len(self.sheets)
        if offered and players > 1:
            seat = (after + 1) % players
            while seat != self.seat:
                if seat not in self.retired:
                    self._go("take", seat, offered)
                    return
                seat = (seat + 1) % players
        self._next_turn()

    def _next_turn(self) -> None:
        """The next seat rolls, with its reroll of the round (S5); after the last turn come the last free lines."""
        round_, seat = self.round, self.seat
        while True:
            seat += 1
            if seat == len(self.sheets):
                seat = 0
                round_ += 1
                if round_ > ROUNDS:
                    self._last_lines(-1)
                    return
            if seat not in self.retired:
                break
        if round_ in BONUS_ROUNDS:
            self.sheets[seat].rerolls += 1
        self._go("roll", CHANCE)
        self.round, self.seat, self.hand = round_, seat, ALL_UNITS
        self.dice[:] = NO_DICE

    def _last_lines(self, after: int) -> None:
        """The next seat after `after` that has free lines and a missing edge (T5); if none, all is over."""
        self.dice[:] = NO_DICE
        for seat in range(after + 1, len(self.sheets)):
            sheet = self.sheets[seat]
            if sheet.free_lines and sheet.edges != ALL_EDGES and seat not in self.retired:
                self._go("lines", seat)
                return
        self._go("over", NOBODY)

    # -- what came of it -----------------------------------------------------------------------------------

    def position(self) -> State:
        """See `Rollout.position`."""
        return State(
            tuple(map(fresh_sheet, self.sheets)),
            self.shared,
            self.round,
            self.seat,
            self.phase,
            self.actor,
            tuple(self.dice),
            self.hand,
            self.kept,
            self.offered,
            self.taken,
            self.retired,
        )

    def outcome(self) -> Outcome:
        """See `Rollout.outcome`."""
        return result(self.sheets, self.retired)


_APPLY: Final[dict[type, Callable[[SheetsRollout, Any], None]]] = {
    Line: SheetsRollout._line,
    Yellow: SheetsRollout._yellow,
    Red: SheetsRollout._red,
    Blue: SheetsRollout._blue,
    Take: SheetsRollout._take,
    Reroll: SheetsRollout._reroll,
}
