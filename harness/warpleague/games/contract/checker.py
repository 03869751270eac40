"""The common part of the checks of the contract suite: the match under check, and the report of a breach."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from warpleague.games.api import CHANCE, Event, Game, Outcome
from warpleague.games.contract.damage import dumps, json_misfit, shape_misfit
from warpleague.games.playout import joined, random_roll
from warpleague.games.scene import Scene
from warpleague.games.values import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Talker: TypeAlias = Callable[[Any, int, Random], dict[str, Any]]

_ADDRESS = re.compile(r"[ !\"$-~]{0,60}")


class Checker:
    """One match under scrutiny; `step` and `doing` say where the check is."""

    def __init__(
        self, game: Game[Any, Any], players: int, options: Any, seed: str, talk: Talker | None
    ) -> None:
        self.game = game
        self.players = players
        self.options = options
        self.seed = seed
        self.talk = talk
        self.rng = Random(seed)
        self.step = 0
        self.doing = ""
        self.seen_kinds: set[str] = set()
        self.foreign: list[Any] = []
        self.guesses: list[bool] = []

    def where(self) -> str:
        """Which game, match and step this is about."""
        return f"{self.game.id} with {self.players} players, seed {self.seed}, step {self.step}{self.doing}"

    def fail(self, text: str) -> NoReturn:
        """Report a breach."""
        raise AssertionError(f"{self.where()}: {text}")

    def demand(self, holds: object, text: str) -> None:
        """Report the breach `text` unless `holds`."""
        if not holds:
            self.fail(text)

    def same(self, one: Any, other: Any, what: str) -> None:
        """Demand that two JSON values are the same bytes."""
        a, b = dumps(one), dumps(other)
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            start = max(0, at - 60)
            self.fail(f"{what}:\n  {a[start : at + 60]}\n  {b[start : at + 60]}")

    def random_move(self, state: Any, actors: tuple[int, ...]) -> Any:
        """A random roll or legal actions, the cheap checks on both made."""
        if actors[0] == CHANCE:
            return random_roll(self.check_draws(state), self.rng)
        return joined(actors, [self.random_action(state, seat) for seat in actors])

    def random_action(self, state: Any, actor: int) -> Any:
        """A random legal action of `actor`, now and then a message where there is talk."""
        game = self.game
        if self.talk and game.talk(state, actor) > 0 and self.rng.random() < 0.1:
            return game.parse(state, actor, self.talk(state, actor, self.rng))
        legal = game.legal(state, actor)
        self.demand(len(legal), f"seat {actor} must act but has no legal action")
        action = legal[self.rng.randrange(len(legal))]
        self.demand(type(action) in game.Actions, f"{type(action).__name__} is not one of game.Actions")
        if len(self.foreign) < 200:
            self.foreign.append(game.action_json(action))
        return action

    def check_actors(self, state: Any) -> tuple[int, ...]:
        """The actors: nobody, chance, or seats in ascending order."""
        actors = self.game.actors(state)
        self.demand(isinstance(actors, tuple), f"actors must be a tuple, not {actors!r}")
        if actors not in ((), (CHANCE,)):
            known = all(type(seat) is int and 0 <= seat < self.players for seat in actors)
            ascend = list(actors) == sorted(set(actors))
            self.demand(known and ascend, f"actors {actors!r} are no seats in ascending order")
            one = len(actors) == 1 or self.game.simultaneous
            self.demand(one, f"actors {actors!r} decide at once: the game must say simultaneous = True")
        return actors

    def check_draws(self, state: Any) -> tuple[Any, ...]:
        """The draws: at least one, each a positive number or weights that are not all zero; and their address."""
        address = self.game.address(state)
        self.demand(
            type(address) is str and _ADDRESS.fullmatch(address),
            f"address must be at most 60 printable ASCII characters without '#', not {address!r}",
        )
        draws = self.game.chance(state)
        self.demand(isinstance(draws, tuple) and draws, f"chance must be a tuple with a draw, not {draws!r}")
        for draw in draws:
            if isinstance(draw, int):
                self.demand(type(draw) is int and draw >= 1, f"a draw below {draw}")
            else:
                whole = isinstance(draw, tuple) and all(
                    type(weight) is int and weight >= 0 for weight in draw
                )
                self.demand(whole and sum(draw) > 0, f"weights {draw!r}")
        return draws

    def check_events(self, events: Sequence[Event]) -> None:
        """Event objects at every step; their JSON and text for each new kind, and now and then."""
        for event in events:
            self.demand(isinstance(event, Event), f"{event!r} is no Event")
            self.demand(isinstance(event.data.get("event"), str), f"event without its kind: {event.data!r}")
            kind = event.data["event"]
            if kind in self.seen_kinds and self.rng.random() > 0.05:
                continue
            self.seen_kinds.add(kind)
            if event.seats is not None:
                known = all(type(seat) is int and 0 <= seat < self.players for seat in event.seats)
                self.demand(known, f"event {kind!r} is for seats {event.seats!r}")
            for form in (event.data, event.redacted):
                if form is not None:
                    self.check_json(form, f"event {kind!r}", floats=False)
                    line = self.game.tell(json.loads(json.dumps(form)))
                    self.demand(isinstance(line, str) and line.strip(), f"tell gives {line!r} for {form!r}")
                    self.demand("\n" not in line, f"tell gives several lines for {form!r}")

    def check_json(self, data: Any, what: str, *, floats: bool) -> None:
        """`data` is plain JSON; `what` names it."""
        misfit = json_misfit(data, floats=floats)
        if misfit:
            self.fail(f"{what} is not plain JSON: {misfit}")

    def check_line(self, text: Any, what: str) -> None:
        """`text` is a line that can be printed; `what` names it."""
        line = isinstance(text, str) and text.isprintable() and text == text.strip() != ""
        self.demand(line, f"{what} is no line of text: {text!r}")

    def check_outcome(self, outcome: Outcome, retired: Sequence[int]) -> None:
        """Ranks share and leave gaps; `retired` seats, in their order, are below all others."""
        ranks = outcome.ranks
        self.demand(
            len(ranks) == self.players == len(outcome.scores), f"not one rank and score a seat: {outcome}"
        )
        for rank in ranks:
            # Who loses alone against the game's own opponent is second.
            better = sum(1 for other in ranks if other < rank) or (outcome.rival is not None and rank == 2)
            self.demand(rank == better + 1, f"ranks {ranks} do not share and leave gaps")
        for order, seat in enumerate(retired):
            for other in range(self.players):
                if other not in retired[: order + 1]:
                    above = "retired later" if other in retired else "not retired"
                    ranked = ranks[other] < ranks[seat]
                    self.demand(ranked, f"seat {other}, {above}, must be above retired seat {seat}: {ranks}")
        self.demand(outcome.why and isinstance(outcome.why, str), "an outcome must say why the game ended")
        for name, parts in outcome.breakdown.items():
            self.demand(
                isinstance(name, str) and len(parts) == self.players, f"breakdown {name!r}: {parts!r}"
            )
            self.check_json(list(parts), f"breakdown {name!r}", floats=True)
        self.check_json(list(outcome.scores), "scores", floats=True)
        if outcome.rival is not None:
            self.demand(self.players == 1, f"only a solo game has an opponent of its own: {outcome}")
            beaten = outcome.scores[0] > outcome.rival
            self.demand(beaten or ranks[0] != 1, f"rank 1 is to have beaten the rival: {outcome}")
            self.check_json(outcome.rival, "rival", floats=True)

    def check_pictures(self, state: Any) -> None:
        """Views and scenes of every seat: plain JSON, as documented, drawable."""
        for seat in range(self.players):
            view = self.game.view(state, seat)
            self.check_json(view, f"view of seat {seat}", floats=True)
            misfit = shape_misfit(view, self.game.View)
            if misfit:
                self.fail(f"view of seat {seat} does not fit {self.game.View.__name__}: {misfit}")
            seat_view = self.game.view_json(state, seat)
            self.demand(
                seat_view == encoded(view),
                f"view_json of seat {seat} is not the JSON of its view: {seat_view!r}",
            )
        for viewer in (None, *range(self.players)):
            scene = self.game.scene(state, viewer)
            self.demand(
                isinstance(scene, Scene) and (scene.cells or scene.panels),
                f"scene for {viewer}: nothing to draw",
            )
            places = [(cell.x, cell.y) for cell in scene.cells]
            self.demand(len(set(places)) == len(places), f"scene for {viewer}: two cells in one place")
            items = [item for tray in scene.trays for row in tray.rows for item in row]
            things = (*scene.cells, *scene.pieces, *scene.links, *items)
            ids = [thing.id for thing in things if thing.id]  # type: ignore[attr-defined]
            self.demand(len(set(ids)) == len(ids), f"scene for {viewer}: two things with one id")
            self.demand(len(scene.scores) in (0, self.players), f"scene for {viewer}: scores {scene.scores}")
            if viewer is not None and viewer in self.game.actors(state):
                legal = self.game.legal(state, viewer)
                for action in [legal[at] for at in self.rng.sample(range(len(legal)), min(24, len(legal)))]:
                    unknown = set(self.game.targets(state, action)) - set(ids)
                    self.demand(not unknown, f"targets of {action}: no such things in the scene: {unknown}")
            for piece in scene.pieces:
                self.demand(1 <= len(piece.text) <= 3, f"scene for {viewer}: piece text {piece.text!r}")
