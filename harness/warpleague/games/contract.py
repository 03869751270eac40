"""Whether an engine keeps the contract of `warpleague.games.api`: the suite that every game must pass.

What can be checked of any game is checked here; its own tests look at its rules. `tests/games/test_contract.py`
shows that broken engines are caught.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
from random import Random
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import attrs

from warpleague.errors import ActionError, PositionError
from warpleague.games.api import CHANCE, SPECTATOR, Event, Game, Outcome
from warpleague.games.playout import (
    by_seat,
    is_rolled,
    joined,
    random_move,
    random_roll,
)
from warpleague.games.scene import Scene
from warpleague.games.together import InTurn
from warpleague.games.values import encoded
from warpline.structure import MisfitError, strict_converter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Talker: TypeAlias = Callable[[Any, int, Random], dict[str, Any]]

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
_SAID = 24  # legal actions of one decision whose phrases are compared
_LOCKSTEP = 6  # steps two positions that look alike to a seat are played on side by side
_ADDRESS = re.compile(r"[ !\"$-~]{0,60}")
_JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 10**9, 1.0, -0.5, "", "0", "N", "no such thing", "\u2603", [], [0],
    [1, 2], [[1, 1]], {}, {"do": "move"},
)  # fmt: skip
_INT_LIMIT = 1 << 53
_structure: Final = strict_converter().structure


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


class _Run:
    """One match, looked at from all sides; `step` and `doing` say where the check is."""

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

    # -- what engines hand out -----------------------------------------------------------------------------

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

    # -- what a seat may know: views, scenes, legal actions, determinized states ---------------------------

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


# -- JSON: whether a value is plain, and how it can be damaged ---------------------------------------------


def dumps(value: Any) -> str:
    """The canonical JSON text of `value`: keys sorted, no spaces; 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_misfit(value: Any, *, floats: bool, path: str = "$") -> str | None:
    """The part of `value` that is not plain JSON (tuples, keys that are no strings, NaN, huge integers), or None."""
    if value is None or type(value) in (bool, str):
        return None
    if type(value) is int:
        return None if abs(value) < _INT_LIMIT else f"{path}: {value} has more than 53 bits"
    if type(value) is float and floats:
        return None if math.isfinite(value) else f"{path}: {value}"
    if type(value) is list:
        parts = ((f"{path}[{i}]", part) for i, part in enumerate(value))
    elif type(value) is dict:
        strange = next((key for key in value if type(key) is not str), None)
        if strange is not None:
            return f"{path}: key {strange!r} is no string"
        parts = ((f"{path}.{key}", part) for key, part in value.items())
    else:
        return f"{path}: {value!r} of type {type(value).__name__}"
    return next((misfit for at, part in parts if (misfit := json_misfit(part, floats=floats, path=at))), None)


def shape_misfit(value: Any, cls: type) -> str | None:
    """Where plain JSON is not what the attrs class `cls` describes, or None."""
    try:
        _structure(value, cls)
    except MisfitError as error:
        return str(error)
    return None


def mutants(action: dict[str, Any], foreign: list[Any], rng: Random, count: int) -> Iterator[Any]:
    """`count` JSON values made from a legal action: keys lost, added or changed, or other things."""
    for _ in range(count):
        kind = rng.randrange(8)
        data = copy.deepcopy(action)
        if kind == 0:
            yield rng.choice((*_JUNK, [data], json.dumps(data)))
        elif kind == 1 and foreign:
            yield copy.deepcopy(rng.choice(foreign))
        elif kind == 2:
            del data[rng.choice(list(data))]
            yield data
        elif kind == 3:
            data[rng.choice(("", "extra", "ship", "at", "seat"))] = rng.choice(_JUNK)
            yield data
        else:
            _damage(data, rng)
            yield data


def corruptions(position: Any, rng: Random, count: int) -> Iterator[Any]:
    """`count` copies of a position's JSON, each damaged in one or two places."""
    for _ in range(count):
        data = [copy.deepcopy(position)]
        for _ in range(rng.choice((1, 1, 2))):
            _damage(data[0], rng)
        yield data[0]


def _damage(data: Any, rng: Random) -> None:
    """Change one place in a JSON container."""
    places: list[tuple[Any, Any]] = []
    pending = [data]
    while pending:
        part = pending.pop()
        keys = part if isinstance(part, dict) else range(len(part))
        for key in keys:
            places.append((part, key))
            if isinstance(part[key], (dict, list)):
                pending.append(part[key])
    if not places:
        return
    holder, key = rng.choice(places)
    value = holder[key]
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif kind == 2 and type(value) is int:
        holder[key] = value + rng.choice((-2, -1, 1, 2))
    elif kind == 3 and type(value) is int:
        holder[key] = rng.choice((float(value), str(value), bool(value), [value]))
    elif kind == 4:
        other, where = rng.choice(places)
        holder[key] = copy.deepcopy(other[where])
    else:
        holder[key] = copy.deepcopy(rng.choice(_JUNK))
