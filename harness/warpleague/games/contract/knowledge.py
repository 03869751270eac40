"""Checks that a seat sees what it may know and no more: views, scenes, legal actions, determinized states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from warpleague.errors import ActionError
from warpleague.games.api import CHANCE, SPECTATOR, Event
from warpleague.games.contract.checker import Checker
from warpleague.games.contract.damage import dumps
from warpleague.games.playout import joined, random_move, random_roll

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

_SAID = 24  # legal actions of one decision whose phrases are compared
_LOCKSTEP = 6  # steps two positions that look alike to a seat are played on side by side


class KnowledgeChecker(Checker):
    """The knowledge of each seat in one match."""

    def check_views(self, state: Any) -> None:
        """Check that hidden facts change nothing that a seat sees (non-interference); guessed states fit its view."""
        game = self.game
        for seat in range(self.players) if game.guesses else ():
            self.doing = f" (seat {seat}'s determinized view)"
            view = game.view(state, seat)
            drawn = self.rng.getrandbits(32)
            given = json.loads(json.dumps(view))
            guess = game.determinize(given, seat, self.fresh(drawn))
            self.same(given, view, "determinize changed the view it was given")
            self.demand(
                guess == game.determinize(given, seat, self.fresh(drawn)), "determinize is not repeatable"
            )
            self.same(game.view(guess, seat), view, "the determinized state looks different")
            self.demand(
                game.from_json(json.loads(dumps(game.to_json(guess)))) == guess, "it has no JSON form"
            )
            self.guesses.append(guess != state)
            self.lockstep(state, guess, seat)
            for other in range(self.players):
                self.retire_alike(state, guess, seat, other)
        self.doing = ""

    def fresh(self, seed: int) -> Random:
        """A generator of its own, so that a draw can be repeated."""
        return type(self.rng)(seed)

    def check_siblings(self, state: Any) -> None:
        """Moves of others that tell a seat the same leave it the same view: this finds leaks in `view`."""
        game = self.game
        moves = [random_move(game, state, self.rng) for _ in range(4)]
        ends = [game.apply(state, move) for move in moves]
        for seat in range(self.players):
            if seat in game.actors(state):
                continue
            self.doing = f" (what seat {seat} learns from {moves[0]!r})"
            first, events = ends[0]
            for (other, other_events), move in zip(ends[1:], moves[1:], strict=True):
                if move != moves[0] and self.seen(events, seat) == self.seen(other_events, seat):
                    self.lockstep(first, other, seat)
        self.doing = ""

    @staticmethod
    def seen(events: Iterable[Event], seat: int) -> str:
        """The parts of `events` for `seat`, as canonical JSON."""
        forms = (event.seen_by(seat) for event in events)
        return dumps([form for form in forms if form is not None])

    def lockstep(self, one: Any, two: Any, seat: int) -> None:
        """Positions `seat` cannot tell apart, played on alike, stay so while it learns nothing."""
        game = self.game
        drawn = self.rng.randrange(_LOCKSTEP)
        for step in range(_LOCKSTEP):
            self.same(game.view(two, seat), game.view(one, seat), "two views of one information")
            if step in (0, drawn):  # dear, and hardly ever wrong at one step alone
                self.demand(
                    game.scene(one, seat) == game.scene(two, seat), "scenes differ where views do not"
                )
                self.demand(
                    game.scene(one, SPECTATOR) == game.scene(two, SPECTATOR),
                    f"a spectator's scene shows what seat {seat} does not know",
                )
            actors = game.actors(one)
            others = game.actors(two)
            # Whose turn it is may be hidden, too; a seat knows whether it is its own, and when the game is over.
            known = (seat in actors, not actors) == (seat in others, not others)
            self.demand(known, f"actors {actors} and {others} where views agree")
            if not actors or actors != others:
                return
            move: Any
            if actors[0] == CHANCE:
                draws = self.check_draws(one)
                if draws != game.chance(two):
                    return
                move = twin = random_roll(draws, self.rng)
            else:
                pairs = [self.alike(one, two, seat, actor) for actor in actors]
                if None in pairs:
                    return
                move, twin = (joined(actors, actions) for actions in zip(*pairs, strict=True))
            (one, events), (two, twin_events) = game.apply(one, move), game.apply(two, twin)
            if self.seen(events, seat) != self.seen(twin_events, seat):
                if actors == (seat,):
                    reveals = any(e.reveals for e in events) and any(e.reveals for e in twin_events)
                    self.demand(reveals, f"{move!r} tells seat {seat} something new, but no event `reveals`")
                return

    def alike(self, one: Any, two: Any, seat: int, actor: int) -> tuple[Any, Any] | None:
        """The same random action of `actor` in two positions that `seat` cannot tell apart, if both have it."""
        game = self.game
        legal = game.legal(one, actor)
        pick = self.rng.randrange(len(legal))
        if actor == seat:
            twins = game.legal(two, seat)
            forms = [game.action_json(action) for action in legal]
            self.same([game.action_json(action) for action in twins], forms, "legal actions differ")
            self.same(game.ask(two, seat), game.ask(one, seat), "ask differs")
            self.demand(game.talk(one, seat) == game.talk(two, seat), "talk differs")
            self.same(game.heading(two, seat), game.heading(one, seat), "headings differ")
            for at in self.rng.sample(range(len(legal)), min(_SAID, len(legal))):
                phrases = game.phrase(two, twins[at]), game.phrase(one, legal[at])
                self.same(*phrases, "a phrase tells what the seat does not know")
            return legal[pick], twins[pick]
        try:
            game.parse(two, actor, game.action_json(legal[pick]))
        except ActionError:
            return None
        return legal[pick], legal[pick]

    def retire_alike(self, one: Any, two: Any, seat: int, other: int) -> None:
        """Retiring `other` leaves `seat` the same view of two positions if it tells it the same."""
        (one, events), (two, twin_events) = self.game.retire(one, other), self.game.retire(two, other)
        if self.seen(events, seat) == self.seen(twin_events, seat):
            self.same(
                self.game.view(two, seat), self.game.view(one, seat), f"views after seat {other} retired"
            )
