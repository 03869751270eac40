"""Whether an engine keeps the contract of `warpleague.games.api`: the suite that every game must pass.

What can be checked of any game is checked here; its own tests look at its rules. `tests/games/test_contract.py`
shows that broken engines are caught.
"""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.errors import ActionError, PositionError
from warpleague.games.api import CHANCE, Event, Game
from warpleague.games.contract.damage import corruptions, dumps, mutants, shape_misfit
from warpleague.games.contract.knowledge import KnowledgeChecker
from warpleague.games.playout import (
    Playout,
    by_seat,
    is_rolled,
    joined,
    perft,
    random_move,
    random_playout,
)
from warpleague.games.together import InTurn
from warpleague.games.values import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.games.contract.checker import Talker

__all__ = ["Playout", "check_game", "perft", "random_playout"]

_PARSED = 24  # legal actions of one decision that are parsed back
_MUTANTS = 16  # damaged actions tried at one decision
_CORRUPTIONS = 6  # damaged positions tried at one sampled position
_PUSHED = 12  # moves that are played in place from a sampled position
_COPIED = 6  # legal actions of one decision that are copied
_COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


def check_game(
    game: Game[Any, Any],
    *,
    players: int | Iterable[int] | None = None,
    options: Any = None,
    matches: int = 3,
    seed: int = 0,
    max_steps: int = 50_000,
    samples: int = 10,
    hidden: bool | None = None,
    talk: Talker | None = None,
) -> None:
    """Play random matches of `game` and raise `AssertionError` at the first breach of the contract.

    `players` are the numbers of players to try (None: all that the game allows), `options` an instance of
    `game.Options` (None: the defaults), `matches` the matches for each number of players. A match that has
    not ended after `max_steps` moves is a breach. The expensive checks run at about `samples` positions of a
    match, spread over it, the first and the last among them; the cheap ones at every step. `hidden` says
    whether the game has hidden information: True demands that determinized states differ from the truth at
    least once, False that they never do (without `determinize` it is not looked at). `talk` makes the JSON
    form of a free-text action, played now and then where `Game.talk` allows it.

    Of a game that `load_game` has wrapped, since several seats may decide at once, the game itself is checked.

    The message of a breach names game, players, seed, match and step; so does a note added to any exception
    that the engine lets out.
    """
    if isinstance(game, InTurn):
        game = game.game
    if players is None:
        counts: tuple[int, ...] = game.players
    else:
        counts = (players,) if isinstance(players, int) else tuple(players)
    _check_classes(game)
    guesses: list[bool] = []
    for count in counts:
        for match in range(matches):
            run = _Run(
                game, count, game.Options() if options is None else options, f"{seed}/{count}/{match}", talk
            )
            try:
                run.check(max_steps, samples)
            except Exception as error:
                if not isinstance(error, AssertionError):
                    error.add_note(run.where())
                raise
            guesses += run.guesses
    if hidden is not None and guesses and any(guesses) != hidden:
        result = "never differed from the truth" if hidden else "differed from the truth"
        raise AssertionError(f"{game.id}: hidden={hidden}, but determinized states {result}")


def _check_classes(game: Game[Any, Any]) -> None:
    """The static side: ids, classes, documented options."""

    def demand(holds: object, text: str) -> None:
        if not holds:
            raise AssertionError(f"{game.id}: {text}")

    demand(game.players and list(game.players) == sorted(set(game.players)), "players must ascend")
    demand(game.title and game.rules_version >= 1, "title and rules_version must be given")
    for cls in (game.Options, game.View, game.Setup, *game.Actions):
        demand(attrs.has(cls), f"{cls.__name__} must be an attrs class")
        demand(cls.__doc__, f"{cls.__name__} must have a docstring")
    for field in attrs.fields(game.Options):
        demand(field.metadata.get("help"), f"option {field.name} must have metadata 'help'")
        demand(field.default is not attrs.NOTHING, f"option {field.name} must have a default")
    dos = [getattr(cls, "do", None) for cls in game.Actions]
    demand(all(isinstance(do, str) and do for do in dos), "each action class must have a string `do`")
    demand(len(set(dos)) == len(dos), f"action names must be unique: {dos}")


@attrs.define
class _Sample:
    """A position of the match, with its JSON text at the time it was reached."""

    step: int
    state: Any
    text: str


class _Run(KnowledgeChecker):
    """One match, looked at from all sides."""

    # -- the match ---------------------------------------------------------------------------------------

    def check(self, max_steps: int, samples: int) -> None:
        """Play one match, then examine some of its positions."""
        self.game.check_options(self.players, self.options)
        self.check_match_of()
        moves, collected = self.play(max_steps)
        last = collected[-1]
        picked = [collected[0], *self.rng.sample(collected[1:-1], min(samples, len(collected) - 2)), last]
        for sample in picked if len(collected) > 1 else collected:
            self.step, self.doing = sample.step, ""
            self.check_codec(sample, moves)
            self.check_pictures(sample.state)
            self.check_copies(sample.state)
            self.check_push(sample.state)
            if sample is not last:
                self.check_decision(sample.state)
                self.check_views(sample.state)
                self.check_siblings(sample.state)
        for sample in [collected[0], *self.rng.choices(collected[:-1], k=2)]:
            self.step, self.doing = sample.step, " (retiring)"
            self.check_retirement(sample.state, max_steps)
        self.check_replay(moves, collected)
        keys = {self.game.key(sample.state): sample.text for sample in collected}
        for sample in collected:
            self.demand(keys[self.game.key(sample.state)] == sample.text, "two states have the same key")
        for sample in collected:
            self.step, self.doing = sample.step, ""
            if dumps(self.game.to_json(sample.state)) != sample.text:
                self.fail("the state was changed after it was made")

    def play(self, max_steps: int) -> tuple[list[Any], list[_Sample]]:
        """Play to the end with the cheap checks; the moves, and positions ever wider apart, the last too."""
        game = self.game
        state = game.initial(self.players, self.options)
        moves: list[Any] = []
        collected: list[_Sample] = []
        due = 0
        asked = False
        while True:
            self.step = len(moves)
            actors = self.check_actors(state)
            if len(moves) == due or not actors:
                collected.append(_Sample(len(moves), state, dumps(game.to_json(state))))
                due += self.rng.randint(1, 2 + due // 8)
            if not actors:
                self.check_outcome(game.outcome(state), [])
                return moves, collected
            if len(moves) >= max_steps:
                self.fail(f"no end after {max_steps} steps")
            if not asked and actors[0] != CHANCE:
                asked = True
                self.check_setup(state)
            move = self.random_move(state, actors)
            state, events = game.apply(state, move)
            self.check_events(events)
            moves.append(move)

    def check_match_of(self) -> None:
        """A state knows its match: made anew with what it tells, the same game begins."""
        first = self.game.initial(self.players, self.options)
        players, options = self.game.match_of(first)
        self.demand(players == self.players, f"match_of tells {players} players")
        self.game.check_options(players, options)
        again = self.game.initial(players, options)
        same = self.game.to_json(again) == self.game.to_json(first)
        self.demand(same, "the options that match_of tells begin another game")

    def check_setup(self, state: Any) -> None:
        setup = self.game.setup(state)
        self.check_json(setup, "setup", floats=False)
        misfit = shape_misfit(setup, self.game.Setup)
        if misfit:
            self.fail(f"setup does not fit {self.game.Setup.__name__}: {misfit}")

    # -- one position ------------------------------------------------------------------------------------

    def check_codec(self, sample: _Sample, moves: Sequence[Any]) -> None:
        """A position survives JSON with the same future; damaged ones are refused or are playable."""
        game, state = self.game, sample.state
        self.check_json(game.to_json(state), "to_json", floats=True)
        data = json.loads(sample.text)
        before = copy.deepcopy(data)
        again = self.reload(data)
        self.demand(data == before, "from_json changed its argument")
        self.demand(again == state, "from_json(to_json(state)) is not the state")
        self.demand(game.key(again) == game.key(state), "the state has another key once it is loaded")
        self.same(game.to_json(again), before, "to_json of the loaded state")
        for move in moves[sample.step : sample.step + 5]:
            for actor in () if is_rolled(move) else game.actors(again):
                legal = [game.action_json(action) for action in game.legal(state, actor)]
                self.same(
                    [game.action_json(a) for a in game.legal(again, actor)], legal, "legal after loading"
                )
            (state, events), (again, twice) = game.apply(state, move), game.apply(again, move)
            self.demand(again == state, "the loaded state has another future")
            self.demand(list(events) == list(twice), "the loaded state has other events")
        if isinstance(data, dict):
            strange = {**copy.deepcopy(before), "no-such-key": 1}
            self.demand(self.load(strange) is None, "from_json accepts an unknown key")
        for damaged in corruptions(before, self.rng, _CORRUPTIONS):
            loaded = self.load(damaged)
            if loaded is not None:
                self.exercise(loaded, damaged)

    def reload(self, data: Any) -> Any:
        """The state of what `to_json` wrote."""
        try:
            return self.game.from_json(data)
        except PositionError as error:
            self.fail(f"from_json refuses what to_json wrote: {error}\n  {dumps(data)}")

    def load(self, data: Any) -> Any:
        """The state, or None when it is refused as it should be."""
        try:
            return self.game.from_json(data)
        except PositionError as error:
            self.demand(str(error), "a PositionError must say what is wrong")
            return None
        except Exception as error:
            error.add_note(f"from_json let this out for {dumps(data)}")
            raise

    def exercise(self, state: Any, data: Any) -> None:
        """Check that a position accepted by from_json is playable: a few steps, everything asked of it."""
        game = self.game
        doing, self.doing = self.doing, " (playing a damaged position)"
        try:
            for _ in range(12):
                game.to_json(state)
                game.scene(state, None)
                seats = len(game.outcome(state).ranks) if not game.actors(state) else 1
                for seat in range(seats):
                    game.view(state, seat)
                actors = game.actors(state)
                if not actors:
                    break
                if actors[0] == CHANCE:
                    self.check_draws(state)
                else:
                    self.demand(all(game.legal(state, seat) for seat in actors), "no legal action")
                state, _ = game.apply(state, random_move(game, state, self.rng))
        except Exception as error:
            error.add_note(f"from_json accepted {dumps(data)}")
            raise
        self.doing = doing

    def check_copies(self, state: Any) -> None:
        """Copied states and actions are equal to the originals and have the same future."""
        game = self.game
        actors = game.actors(state)
        moves = [random_move(game, state, self.rng) for _ in range(_COPIED if actors else 0)]
        for name, copied in _COPIES.items():
            self.doing = f" (after {name})"
            again = copied(state)
            self.demand(again == state, "the copied state is another")
            self.demand(game.key(again) == game.key(state), "the copied state has another key")
            self.same(game.to_json(again), game.to_json(state), "to_json of the copied state")
            for move in moves:
                twin = copied(move)
                self.demand(twin == move, f"{move!r} is not equal to its copy")
                for action in () if is_rolled(move) else by_seat(actors, move).values():
                    self.demand(
                        hash(copied(action)) == hash(action), f"the copy of {action!r} hashes otherwise"
                    )
                (after, events), (ahead, twin_events) = game.apply(state, move), game.apply(again, twin)
                self.demand(ahead == after, f"the copied state has another future with {move!r}")
                self.demand(
                    list(twin_events) == list(events), f"the copied state has other events with {move!r}"
                )
        self.doing = ""

    def check_push(self, state: Any) -> None:
        """Moves pushed on a copy lead where `apply` leads, with the same events or none; the original stays."""
        game = self.game
        before = dumps(game.to_json(state))
        told, quiet = game.copied(state), game.copied(state)
        after = state
        game.scene(told, None)  # what is cached of a position is not to be that of a later one
        game.view(told, 0)
        for _ in range(_PUSHED):
            actors = game.actors(after)
            if not actors:
                break
            move = random_move(game, after, self.rng)
            after, expected = game.apply(after, move)
            events: list[Event] = []
            told, quiet = game.push(told, move, events), game.push(quiet, move, None)
            self.demand(events == list(expected), f"push tells other events of {move!r} than apply")
            self.demand(told == after, f"push leads to another position by {move!r} than apply")
            self.demand(quiet == after, f"push without events leads to another position by {move!r}")
            for pushed in (told, quiet):
                self.demand(game.actors(pushed) == game.actors(after), f"others act after a pushed {move!r}")
        self.demand(game.scene(told, None) == game.scene(after, None), "a pushed position has another scene")
        self.same(game.view(told, 0), game.view(after, 0), "a pushed position has another view")
        self.demand(dumps(game.to_json(state)) == before, "a copy was pushed, and the original changed")

    def check_decision(self, state: Any) -> None:
        """The dice, or the actions of each seat that must act."""
        actors = self.check_actors(state)
        if actors == (CHANCE,):
            self.check_draws(state)
            return
        for actor in actors:
            self.check_actions(state, actor)

    def check_actions(self, state: Any, actor: int) -> None:
        """Legal actions are distinct, in a fixed order, and exactly what parse accepts."""
        game = self.game
        legal = list(game.legal(state, actor))
        self.demand(len(game.legal(state, actor)) == len(legal), "len of legal is not its length")
        self.demand(list(game.legal(state, actor)) == legal, "legal is not the same when asked again")
        lazy = game.legal(state, actor)
        self.demand([lazy[i] for i in range(len(lazy))] == legal, "legal has another order by index")
        listed = game.legal_json(state, actor, lazy)
        right = encoded([game.action_json(action) for action in legal])
        self.demand(listed is None or listed == right, f"legal_json is not the JSON of legal: {listed!r}")
        ask = game.ask(state, actor)
        self.demand(isinstance(ask, str) and ask and ask.split() == [ask], f"ask must be one word: {ask!r}")
        self.demand(type(game.talk(state, actor)) is int and game.talk(state, actor) >= 0, "talk must count")
        forms = {dumps(game.action_json(action)): action for action in legal}
        self.demand(len(forms) == len(legal), "two legal actions with one JSON form")
        self.demand(len(set(legal)) == len(legal), "two legal actions are equal")
        self.check_words(state, actor, legal)
        for text in self.rng.sample(sorted(forms), min(_PARSED, len(forms))):
            for data in (json.loads(text), dict(reversed(json.loads(text).items()))):
                try:
                    parsed = game.parse(state, actor, data)
                except ActionError as error:
                    self.fail(f"parse refuses the legal action {text}: {error}")
                self.demand(parsed == forms[text], f"parse of {text} gives {parsed!r}")
                self.demand(hash(parsed) == hash(forms[text]), f"equal actions, other hashes: {text}")
            for damaged in mutants(json.loads(text), self.foreign, self.rng, max(1, _MUTANTS // len(forms))):
                self.check_refusal(state, actor, damaged, forms)

    def check_words(self, state: Any, actor: int, legal: Sequence[Any]) -> None:
        """Each legal action is a line of text that no other one has; the decision has a heading."""
        said: dict[str, Any] = {}
        for action in legal:
            text = self.game.phrase(state, action)
            self.check_line(text, f"the phrase of {action!r}")
            self.demand(text not in said, f"{action!r} has the phrase of {said.get(text)!r}: {text}")
            said[text] = action
        self.check_line(self.game.heading(state, actor), "the heading")

    def check_refusal(self, state: Any, actor: int, data: Any, forms: dict[str, Any]) -> None:
        """`data` is refused with a text, or is legal in exactly this form."""
        game = self.game
        text = dumps(data)
        try:
            parsed = game.parse(state, actor, data)
        except ActionError as error:
            self.demand(str(error), f"the ActionError for {text} says nothing")
            self.demand(text not in forms, f"parse refuses the legal action {text}: {error}")
            return
        except Exception as error:
            error.add_note(f"parse let this out for {text}")
            raise
        self.same(game.action_json(parsed), data, "parse changes what it was given")
        if game.talk(state, actor) == 0:
            self.demand(text in forms, f"parse accepts {text}, which is not legal")

    def check_retirement(self, state: Any, max_steps: int) -> None:
        """Bots may drop out at any moment; the others play on to a result that ranks them by the rules."""
        game = self.game
        retired: list[int] = []
        for _ in range(max_steps):
            actors = self.check_actors(state)
            left = [seat for seat in range(self.players) if seat not in retired]
            if not actors:
                self.check_outcome(game.outcome(state), retired)
                if left and self.rng.random() < 0.5:
                    # Bots that fail to start retire one by one, even after the end of the game.
                    late = self.rng.choice(left)
                    state = self.retire(state, late)
                    self.demand(not self.check_actors(state), "a retirement brought a finished game back")
                    outcome = game.outcome(state)
                    if len(left) == 1:  # who drops out last is above those that did before
                        self.check_outcome(outcome, [*retired, late])
                return
            self.demand(not set(actors) & set(retired), f"retired seat among the actors {actors}")
            if left and (not retired or self.rng.random() < 0.01):
                seat = self.rng.choice(left)
                state = self.retire(state, seat)
                retired.append(seat)
            else:
                state, _ = game.apply(state, self.random_move(state, actors))
        self.fail(f"no end after {max_steps} steps")

    def retire(self, state: Any, seat: int) -> Any:
        """The state without `seat`'s bot: announced, drawable, and a position like any other."""
        game = self.game
        before = dumps(game.to_json(state))
        after, events = game.retire(state, seat)
        self.demand(dumps(game.to_json(state)) == before, "retire changed the state it was given")
        retired = {"event": "retired", "seat": seat}
        self.demand(
            any(event.data == retired and event.seats is None for event in events), f"no event {retired}"
        )
        self.check_events(events)
        self.check_pictures(after)
        self.demand(self.reload(json.loads(dumps(game.to_json(after)))) == after, "it loads as another state")
        return after

    def check_replay(self, moves: Sequence[Any], collected: Sequence[_Sample]) -> None:
        """The recorded moves, actions as JSON, lead to the same states again."""
        game = self.game
        state = game.initial(self.players, self.options)
        states = {sample.step: sample.state for sample in collected}
        for self.step, move in enumerate((*moves, None)):
            self.doing = " (replaying)"
            if self.step in states:
                self.demand(state == states[self.step], "replaying the moves gives another state")
            if move is None:
                return
            if not is_rolled(move):
                actors = game.actors(state)
                forms = {seat: dumps(game.action_json(one)) for seat, one in by_seat(actors, move).items()}
                move = joined(actors, [game.parse(state, seat, json.loads(forms[seat])) for seat in actors])
            state, _ = game.apply(state, move)
