"""Plays a position of aliens on at random, in place: the rules of `legal` and `rules` again, for speed.

A choice is the number of a legal action by the canonical order; what a die or a jump reaches is a row of squares. The
contract suite plays every rollout by the engine, too, and compares the positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.games.aliens.actions import ORDERS
from warpleague.games.aliens.geometry import AXES, COUNT, HOME, TARGET
from warpleague.games.aliens.legal import (
    SENDS_WITH_HOLES,
    jump_actions,
    placements,
    send_actions,
    turn_actions,
)
from warpleague.games.aliens.score import result
from warpleague.games.aliens.state import (
    DICE,
    END,
    JUMP,
    NOBODY,
    OPENING_ROLL,
    ORDER,
    PLACE,
    ROLL,
    SEATS,
    SEND,
    TURN,
    State,
)
from warpleague.games.api import Rollout
from warpleague.games.values import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.aliens.actions import Action
    from warpleague.games.aliens.state import Cascade, Result
    from warpleague.games.api import Outcome, Rolled, Weights

    Random = Callable[[], float]
    Roll = Callable[[str, tuple[Weights, ...]], Rolled]

_DECLINED: Final = -1
"""Where a ship ends that declines its die; one that stays ends where it is."""


def _die_ends(row: int) -> tuple[int, ...]:
    """Where a ship may end, by way, whatever stands there (aliens T1, T2)."""
    number, die = divmod(row, 6)
    return tuple([end for end in TARGET[row * 8 : row * 8 + 8] if end >= 0]) if die else (number,)


_DIE_ENDS: Final = tuple([_die_ends(row) for row in range(6 * COUNT)])
"""By square * 6 + die."""


def _jump_ends(key: tuple[str, int, int]) -> tuple[int, ...]:
    """Where the coin on a square sends a ship, by way (aliens T3)."""
    diagonals, coin, number = key
    row = (number * 6 + coin % 6) * 8
    return tuple([TARGET[row + way] for way in AXES[diagonals][coin // 6] if TARGET[row + way] >= 0])


_JUMP_ENDS: Final[Cache[tuple[str, int, int], tuple[int, ...]]] = Cache(_jump_ends, 1 << 14)


class AliensRollout(Rollout[State]):
    """The fields are those of `State`; `ships` and `holes` are lists."""

    __slots__ = (
        "cascade", "coins", "faces", "holes", "known", "lost", "most", "one", "phase", "result", "rules", "seat",
        "ships", "squares", "turn", "two",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self.rules, self.phase, self.seat, self.turn = state.rules, state.phase, state.seat, state.turn
        self.ships, self.holes = list(state.ships), list(state.holes)
        self.one, self.two = state.dice
        self.lost, self.known, self.faces = state.lost, state.known, state.faces
        self.cascade: Cascade | None = state.cascade
        self.result: Result | None = state.result
        self.coins: list[list[int]] = []
        """By seat: the coins that it has not placed; only used in the set-up, as are `squares`, where one may go."""
        self.squares: list[int] = []
        if state.phase <= PLACE:
            hands = [placements(state.holes, seat) for seat in (0, 1)]
            self.coins, self.squares = [list(hand.coins) for hand in hands], list(hands[0].squares)
        self.most = -1

    def play(self, random: Random, most: int = -1, roll: Roll | None = None) -> None:
        """See `Rollout.play`."""
        self.most = most
        if not most:
            return
        while self.most and self.phase != END:
            phase = self.phase
            if phase == TURN:
                self._use_dice(random)
            elif phase == ROLL:
                self._roll(random, roll)
            elif phase == JUMP:
                self._jump(random)
            elif phase == PLACE:
                self._place(random)
            elif phase == SEND:
                self._send(random)
            elif phase == ORDER:
                self._to_place(self.seat if self._below(2, random) == 0 else 1 - self.seat)
            else:
                self._opening_roll(random, roll)
        if self.phase == TURN and not any(self._die_ends()):
            self._next_turn()

    def _below(self, count: int, random: Random) -> int:
        """A number below `count`, each equally likely: a decision, if there is a choice."""
        if count == 1:
            return 0
        self.most -= 1
        return int(random() * count)

    # -- the set-up ----------------------------------------------------------------------------------------

    def _opening_roll(self, random: Random, roll: Roll | None) -> None:
        """P1: the higher sum chooses, ties roll again."""
        dice = [int(random() * 6) for _ in range(4)] if roll is None else roll("opening", (6, 6, 6, 6))
        ours, theirs = dice[0] + dice[1], dice[2] + dice[3]
        if ours != theirs:
            self.phase, self.seat = ORDER, 0 if ours > theirs else 1

    def _to_place(self, seat: int) -> None:
        self.phase, self.seat = PLACE, seat

    def _place(self, random: Random) -> None:
        """P2: a coin is laid; after the last, whoever laid it moves first."""
        seat = self.seat
        coins, squares = self.coins[seat], self.squares
        coin, square = divmod(self._below(len(coins) * len(squares), random), len(squares))
        self.holes[squares.pop(square)] = coins.pop(coin)
        if self.coins[0] or self.coins[1]:
            self._to_place(1 - seat)
        else:
            self.seat, self.turn = 1 - seat, -1
            self._next_turn()

    # -- a turn --------------------------------------------------------------------------------------------

    def _roll(self, random: Random, roll: Roll | None) -> None:
        """T1: a die for each ship that does not lose this turn."""
        seat = self.seat
        loses = self.lost >> 2 * seat & 3
        count = 1 if loses else 2
        if roll is not None:
            dice: Sequence[int] = roll(f"seat {seat} turn {self.turn // 2 + 1}", (6,) * count)
        elif loses:
            dice = (int(random() * 6),)
        else:
            dice = (int(random() * 6), int(random() * 6))
        if loses:
            self.lost &= 0b0011 if seat else 0b1100
            self.one, self.two = (-1, dice[0]) if loses == 1 else (dice[0], -1)
        else:
            self.one, self.two = dice
        self.phase = TURN

    def _die_ends(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where the dice of each ship lead (aliens T1, E1)."""
        ships, first = self.ships, 2 * self.seat
        a, b = ships[first], ships[first + 1]
        one = _DIE_ENDS[a * 6 + self.one] if self.one >= 0 else ()
        if b in one:
            one = tuple([end for end in one if end != b])
        two = _DIE_ENDS[b * 6 + self.two] if self.two >= 0 else ()
        if a in two:
            two = tuple([end for end in two if end != a])
        if self.rules.both_ships:
            enemy = 1 - self.seat
            if one and HOME[a] == enemy:
                one += (_DECLINED,)
            if two and HOME[b] == enemy:
                two += (_DECLINED,)
        return one, two

    def _use_dice(self, random: Random) -> None:
        """Uses of dice, up to the end of the turn or what a ship meets (aliens T1 to T7, E1)."""
        ships, holes, first = self.ships, self.holes, 2 * self.seat
        while self.most:
            one, two = self._die_ends()
            split = len(one)
            count = split + len(two)
            if count > 1:
                self.most -= 1
                number = int(random() * count)
            elif count:
                number = 0
            else:
                self._next_turn()
                return
            if number < split:
                ship, end, self.one = first, one[number], -1
            else:
                ship, end, self.two = first + 1, two[number - split], -1
            if end == _DECLINED:
                continue
            met = end in ships
            if end == ships[ship]:  # T2: it stays
                met = False
            else:
                ships[ship] = end
                if HOME[end] == 1 - self.seat and self._wins(ship):
                    self._end(self.seat)
                    return
            if met:  # T6, T7
                self._must_send((ship, 0, ship, end) if holes[end] >= 0 else (ship, 0, -1, -1))
                return
            if holes[end] >= 0:  # T3
                self._activate((ship, 0, -1, -1))
                return

    def _ends_of_jump(self, ship: int) -> Sequence[int]:
        """Where the ship may jump: not onto its sister (aliens T4)."""
        number, other = self.ships[ship], self.ships[ship ^ 1]
        ends = _JUMP_ENDS[self.rules.options.diagonals, self.holes[number], number]
        return [end for end in ends if end != other] if other in ends else ends

    def _jump(self, random: Random) -> None:
        """T3, T4, T6."""
        assert self.cascade is not None
        ship, ships = self.cascade[0], self.ships
        ends = self._ends_of_jump(ship)
        end = ends[self._below(len(ends), random)]
        met = end in ships
        ships[ship] = end
        if HOME[end] == 1 - (ship >> 1) and self._wins(ship):
            self._end(ship >> 1)
        elif met:
            self._must_send(self.cascade)
        else:
            self._settle(self.cascade)

    def _send(self, random: Random) -> None:
        """T6, T8: the enemy that was landed on goes anywhere."""
        assert self.cascade is not None
        ship, sends, after, at = self.cascade
        ships, holes = self.ships, self.holes
        if sends < SENDS_WITH_HOLES:
            occupied = sorted(set(ships))
            end = self._below(COUNT - len(occupied), random)
            for number in occupied:
                if number <= end:
                    end += 1
        else:
            free = [number for number in range(COUNT) if holes[number] < 0 and number not in ships]
            end = free[self._below(len(free), random)]
        ships[ship] = end
        follow = self._activate if holes[end] >= 0 else self._settle
        follow((ship, min(sends + 1, SENDS_WITH_HOLES), after, at))

    # -- what follows --------------------------------------------------------------------------------------

    def _wins(self, ship: int) -> bool:
        """E1."""
        return not self.rules.both_ships or HOME[self.ships[ship ^ 1]] == 1 - (ship >> 1)

    def _activate(self, cascade: Cascade) -> None:
        """T3: the wormhole under the ship of `cascade`."""
        ship = cascade[0]
        coin = self.holes[self.ships[ship]]
        self.known |= 1 << coin
        self.faces ^= 1 << coin
        if coin % 6 == 0:
            self.lost |= 1 << ship
            self._settle(cascade)
        elif self._ends_of_jump(ship):
            self.phase, self.cascade = JUMP, cascade
        else:
            self._settle(cascade)

    def _must_send(self, cascade: Cascade) -> None:
        """T6."""
        ship, sends, after, at = cascade
        enemy = 2 - (ship & 2)
        if self.ships[enemy] != self.ships[ship]:
            enemy += 1
        self.phase, self.cascade = SEND, (enemy, sends, after, at)

    def _settle(self, cascade: Cascade) -> None:
        """T7: a ship that has not moved since it landed activates at last; else the other die is next."""
        _, sends, after, at = cascade
        if after >= 0 and self.ships[after] == at:
            self._activate((after, sends, -1, -1))
        else:
            self.phase, self.cascade = TURN, None

    def _next_turn(self) -> None:
        """T9, E2."""
        self.one = self.two = -1
        self.cascade = None
        seat, turn, lost = self.seat, self.turn, self.lost
        while True:
            turn += 1
            if turn >= self.rules.max_turns:
                self.phase, self.result = END, (-1, "max-turns")
                break
            seat = 1 - seat
            both = 0b1100 if seat else 0b0011
            if lost & both != both:
                self.phase = ROLL
                break
            lost &= ~both
        self.seat, self.turn, self.lost = seat, turn, lost

    def _end(self, winner: int) -> None:
        self.phase, self.cascade, self.result = END, None, (winner, "base")

    # -- what came of it -----------------------------------------------------------------------------------

    def position(self) -> State:
        """See `Rollout.position`."""
        ships, holes, dice = tuple(self.ships), tuple(self.holes), (self.one, self.two)
        actors, legal = self._decision(ships, holes, dice)
        return State(
            self.rules,
            self.phase,
            self.seat,
            self.turn,
            ships,
            dice,
            self.lost,
            holes,
            self.known,
            self.faces,
            self.cascade,
            self.result,
            actors,
            legal,
        )

    def _decision(
        self, ships: tuple[int, ...], holes: tuple[int, ...], dice: tuple[int, int]
    ) -> tuple[tuple[int, ...], Sequence[Action]]:
        """Who must act, and the legal actions."""
        phase, seat = self.phase, self.seat
        if phase == TURN:
            return SEATS[seat], turn_actions(self.rules, seat, ships, dice)
        if phase in (ROLL, OPENING_ROLL):
            return DICE, ()
        if phase == PLACE:
            return SEATS[seat], placements(holes, seat)
        if phase == ORDER:
            return SEATS[seat], tuple(ORDERS.values())
        if self.cascade is None:
            return NOBODY, ()
        ship, sends, _, _ = self.cascade
        if phase == SEND:
            return SEATS[1 - (ship >> 1)], send_actions(ships, holes, sends)
        number, coin = ships[ship], holes[ships[ship]]
        reach = self.rules.jumps[coin][number]
        return SEATS[ship >> 1], jump_actions(reach, number, coin, ships[ship ^ 1])

    def outcome(self) -> Outcome:
        """See `Rollout.outcome`."""
        assert self.result is not None
        return result(*self.result)
