"""Plays a position of coasters on at random, in place: the rules of `legal`, `rules` and `turns` again, for speed.

A choice is the number of a legal action by the canonical order. The set-up is played by the engine, since it comes
only once. The contract suite plays every rollout by the engine, too, and compares the positions.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from warpleague.games.api import Rollout
from warpleague.games.coasters import rules
from warpleague.games.coasters import state as st
from warpleague.games.coasters.geometry import CENTRE, galaxy
from warpleague.games.coasters.legal import legal
from warpleague.games.coasters.score import result
from warpleague.games.coasters.state import State, Table
from warpleague.games.coasters.turns import next_of
from warpleague.games.values import members

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpleague.games.api import Outcome, Rolled, Weights

    Random = Callable[[], float]
    Roll = Callable[[str, tuple[Weights, ...]], Rolled]


class CoastersRollout(Rollout[State]):
    """The fields are those of `State` and `Table`; `ships` and `hits` are lists."""

    __slots__ = (
        "agreed", "alive", "asked", "claimed", "colour", "config", "d6", "eliminated", "first", "flux", "fluxed",
        "galaxy", "halves", "hits", "last", "most", "occupied", "phase", "refused", "round", "seat", "ships",
        "systems", "turn", "why",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self.most = -1
        self._load(state)

    def _load(self, state: State) -> None:
        self.first = state
        table = state.table
        self.config, self.systems, self.galaxy = table.config, table.systems, table.galaxy
        self.hits, self.alive, self.eliminated = list(table.hits), table.alive, table.eliminated
        self.round, self.turn, self.last, self.why = table.round, table.turn, list(table.last), table.why
        self.ships, self.occupied = list(state.ships), state.occupied
        self.phase, self.seat, self.colour = state.phase, state.seat, state.colour
        self.d6, self.flux, self.halves, self.fluxed = state.d6, state.flux, state.halves, state.fluxed
        self.agreed, self.refused, self.claimed = state.agreed, state.refused, state.claimed
        self.asked = state.asked

    def play(self, random: Random, most: int = -1, roll: Roll | None = None) -> None:
        """See `Rollout.play`."""
        self.most = most
        while self.most and self.phase in (st.LAY, st.DEPLOY):
            actions = legal(self.first, self.seat)
            self._load(rules.apply(self.first, actions[self._below(len(actions), random)])[0])
        while self.most and self.phase != st.OVER:
            phase = self.phase
            if phase == st.TURN:
                self._turn(random)
            elif phase == st.ROLL:
                self._roll(random, roll)
            elif phase == st.CHOOSE:
                own = range(self.seat, self.config.ships, self.config.players)
                colours = [colour for colour in own if self.ships[colour] >= 0]
                self.phase, self.colour = st.ROLL, colours[self._below(len(colours), random)]
            else:
                self._answer(self._below(2, random) == 1)

    def _below(self, count: int, random: Random) -> int:
        """A number below `count`, each equally likely: a decision, if there is a choice."""
        if count == 1:
            return 0
        self.most -= 1
        return int(random() * count)

    def _roll(self, random: Random, roll: Roll | None) -> None:
        """T1: the d6, which counts two halves a pip, and the flux die."""
        if roll is None:
            d6, self.flux = int(random() * 6) + 1, int(random() * 6)
        else:
            pips, self.flux = roll(f"seat {self.seat} round {self.round}", (6, 6))
            d6 = pips + 1
        self.phase, self.d6, self.halves = st.TURN, d6, 2 * d6

    # -- a turn --------------------------------------------------------------------------------------------

    def _turn(self, random: Random) -> None:
        """Decisions of a turn, up to its end or a question to others (T2 to T7, A2, A3)."""
        ships, colour, config, flux = self.ships, self.colour, self.config, self.flux
        double = config.homes[1 << self.seat | self.agreed]  # where each half point counts double (T3)
        while self.most:
            table, pose, halves, occupied = self.galaxy, ships[colour], self.halves, self.occupied
            square = pose >> 2
            steps = turns = 0
            warps: list[int] = []
            if halves:
                if halves > 1 or double >> square // 9 & 1:
                    turns = 2
                if flux != st.TIP:
                    onward = table.step[pose] >> 2
                    if (
                        onward >= 0
                        and not occupied >> onward & 1
                        and (halves > 1 or double >> onward // 9 & 1)
                    ):
                        steps = 1
                    if square % 9 == CENTRE:
                        warps = self._warps(square)
            count = moves = 2 + steps + turns + len(warps)
            swaps: Sequence[int | tuple[int, int]] = ()
            hops: list[int] = []
            aims = digs = 0
            if not self.fluxed and flux != st.TIP:
                swaps, hops, aims, digs = self._flux_choices(pose)
                count += len(swaps) + len(hops) + aims + digs
            fluxes = count - moves
            others = 0
            if config.talks:
                others = self.alive & ~(1 << self.seat | self.agreed | self.refused)
                count += others.bit_count()
                if not self.claimed and st.NONE in ships:
                    count += 1
            self.most -= 1
            number = int(random() * count)
            if number < 2:  # end, fire
                if number:
                    self._fire()
                self._next_turn()
                return
            number -= 2
            if number < steps:
                pose = table.step[pose]
                self.halves = halves - (1 if double >> (pose >> 2) // 9 & 1 else 2)
                self._put(pose)
                continue
            number -= steps
            if number < turns:  # left, right
                ships[colour] = pose & ~3 | pose + (1 if number else 3) & 3
                self.halves = halves - (1 if double >> square // 9 & 1 else 2)
                continue
            number -= turns
            if number < len(warps):
                self.halves = halves - 1
                self._put(4 * (9 * warps[number] + CENTRE) + (pose & 3))
                continue
            number -= len(warps)
            if number < fluxes:
                self.fluxed = True
                if number < len(swaps):
                    self._swap(swaps[number])
                    continue
                number -= len(swaps)
                if number < len(hops):
                    self._put(table.ahead[pose & ~3 | hops[number]] & ~3 | pose & 3)
                    continue
                number -= len(hops)
                if number < aims:
                    ships[colour] = pose & ~3 | number
                else:
                    self._put(table.ahead[pose])
                continue
            number -= fluxes
            if number < others.bit_count():
                self.phase, self.asked = st.ALLY, (members(others)[number],)
            else:
                self._claim()
            return

    def _put(self, pose: int) -> None:
        """The ship whose turn it is comes to an empty square."""
        ships, colour = self.ships, self.colour
        self.occupied = self.occupied ^ 1 << (ships[colour] >> 2) | 1 << (pose >> 2)
        ships[colour] = pose

    def _warps(self, square: int) -> list[int]:
        """The colours of the systems that the ship may warp to from the centre of a system (T4)."""
        homes, occupied = self.config.homes, self.occupied
        systems = homes[1 << self.seat | self.agreed] | homes[~self.alive & len(homes) - 1]
        systems &= self.galaxy.laid
        if not systems >> square // 9 & 1:
            return []
        return [colour for colour in members(systems) if not occupied >> 9 * colour + CENTRE & 1]

    def _flux_choices(self, pose: int) -> tuple[Sequence[int | tuple[int, int]], list[int], int, int]:
        """The flux actions (T6, V2, V3): colours or pairs to swap, ways to hop, how many aims, how many digs."""
        flux, options, occupied = self.flux, self.config.options, self.occupied
        wild = flux == st.WILD
        swaps: Sequence[int | tuple[int, int]] = ()
        hops: list[int] = []
        digs = 0
        if wild and options.wild_shot:
            return swaps, hops, 0, 0
        if wild or flux == st.SWAP:
            if options.system_swap:
                swaps = list(combinations(members(self.galaxy.laid), 2))
            else:
                players, seat = self.config.players, self.seat
                swaps = [c for c, other in enumerate(self.ships) if other >= 0 and c % players != seat]
        if wild or flux == st.HOP:
            hops = [way for way, target in self.galaxy.hops[pose >> 2] if not occupied >> target & 1]
        if wild or flux == st.DIG:
            onward = self.galaxy.ahead[pose] >> 2
            digs = 1 if onward >= 0 and not occupied >> onward & 1 else 0
        return swaps, hops, 4 if wild or flux == st.AIM else 0, digs

    def _swap(self, choice: int | tuple[int, int]) -> None:
        """T6: two ships change places, each keeps its facing; V2: two systems do."""
        if isinstance(choice, int):
            ships, mine = self.ships, self.colour
            a, b = ships[mine], ships[choice]
            ships[mine], ships[choice] = b & ~3 | a & 3, a & ~3 | b & 3
            return
        systems = list(self.systems)
        one, two = systems[choice[0]], systems[choice[1]]
        if one is not None and two is not None:
            systems[choice[0]], systems[choice[1]] = (*two[:2], one[2]), (*one[:2], two[2])
        self.systems = tuple(systems)
        self.galaxy = galaxy(self.systems)

    def _fire(self) -> None:
        """T7, V3, S1: the first ship on the torpedo's way is hit, and perhaps is no more."""
        ships = self.ships
        pose = ships[self.colour]
        wild = self.flux == st.WILD and self.config.options.wild_shot
        mask, squares, _ = self.galaxy.wild_line(pose) if wild else self.galaxy.line(pose)
        if not mask & self.occupied:
            return
        met = next(square for square in squares if self.occupied >> square & 1)
        target = next(hit for hit, other in enumerate(ships) if other >> 2 == met)
        self.hits[target] -= 1
        if self.hits[target]:
            return
        self.occupied ^= 1 << met
        ships[target] = st.NONE
        players = self.config.players
        seat = target % players
        if all(ships[own] < 0 for own in range(seat, self.config.ships, players)):
            self.alive &= ~(1 << seat)
            self.eliminated = (*self.eliminated, seat)

    # -- answers (A2, A3) ----------------------------------------------------------------------------------

    def _claim(self) -> None:
        players, alive = self.config.players, self.alive
        after_me = ((self.seat + step) % players for step in range(1, players))
        self.phase, self.claimed = st.CLAIMED, True
        self.asked = tuple([seat for seat in after_me if alive >> seat & 1])

    def _answer(self, agrees: bool) -> None:
        asked, *rest = self.asked
        if self.phase == st.CLAIMED and agrees:
            self.asked = tuple(rest)
            if not rest:
                self._over(st.CLAIM_CONFIRMED)
            return
        if self.phase == st.ALLY:
            if agrees:
                self.agreed |= 1 << asked
            else:
                self.refused |= 1 << asked
        self.phase, self.asked = st.TURN, ()

    # -- who comes next ------------------------------------------------------------------------------------

    def _next_turn(self) -> None:
        """The next survivor's turn begins, or the game ends (E1, E3)."""
        alive, config = self.alive, self.config
        if not alive & alive - 1:
            self._over(st.LAST_SHIP)
            return
        later = alive >> self.seat + 1 << self.seat + 1
        if not later:
            if self.round + 1 > config.options.max_rounds:
                self._over(st.MAX_ROUNDS)
                return
            self.round += 1
            later = alive
        seat = (later & -later).bit_length() - 1
        self.turn += 1
        colour = st.NONE
        if not config.options.free_colour:
            tags = config.ships > config.players
            colour = next_of(config, self.last[seat], self.ships, seat) if tags else seat
            self.last[seat] = colour
        self._go(st.CHOOSE if colour < 0 else st.ROLL, seat, colour)

    def _go(self, phase: int, seat: int, colour: int) -> None:
        self.phase, self.seat, self.colour = phase, seat, colour
        self.d6, self.flux, self.halves, self.fluxed = 0, st.NONE, 0, False
        self.agreed, self.refused, self.claimed, self.asked = 0, 0, False, ()

    def _over(self, why: st.Why) -> None:
        self.hits = [hit if pose >= 0 else 0 for hit, pose in zip(self.hits, self.ships, strict=True)]
        self.why = why
        self._go(st.OVER, st.NONE, st.NONE)

    # -- what came of it -----------------------------------------------------------------------------------

    def position(self) -> State:
        """See `Rollout.position`."""
        before = self.first.table
        messages = before.messages
        if self.turn != before.turn:  # messages older than one round are forgotten
            messages = tuple([said for said in messages if said.turn >= self.turn - self.config.players])
        table = Table(
            self.config,
            self.systems,
            self.galaxy,
            tuple(self.hits),
            self.alive,
            self.eliminated,
            before.retired,
            self.round,
            self.turn,
            tuple(self.last),
            messages,
            self.why,
        )
        return State(
            table,
            tuple(self.ships),
            self.occupied,
            self.phase,
            self.seat,
            self.colour,
            self.d6,
            self.flux,
            self.halves,
            self.fluxed,
            self.agreed,
            self.refused,
            self.claimed,
            self.asked,
        )

    def outcome(self) -> Outcome:
        """See `Rollout.outcome`."""
        assert self.why is not None
        retired = self.first.table.retired
        return result(self.config.players, self.alive, self.eliminated, retired, self.why)
