"""Measures engines alone: random playouts, and the moves of a recorded match once more."""

from __future__ import annotations

import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from warpleague.cli.bench.ground import players_of
from warpleague.cli.bench.rows import Figure
from warpleague.games.api import CHANCE
from warpleague.games.playout import EngineRollout, drawn, rollout
from warpleague.match.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpleague.cli.bench.ground import Ground
    from warpleague.games.api import Game, Rollout


def against_openspiel(ground: Ground) -> list[Figure]:
    """Random-play steps per second of each game, divided by those of OpenSpiel's backgammon, whose engine is C++.

    Without `pyspiel` (the package open_spiel) there is nothing to compare with, and the figures are steps per second.
    """
    with ground.one_core():
        steps = {name: playouts(game, ground.scale)[1] for name, game in ground.games.items()}
        try:
            import pyspiel  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            return [
                Figure(f"{name} (pyspiel is not installed: no ratio)", value, "steps/s")
                for name, value in steps.items()
            ]
        peer = _backgammon(pyspiel.load_game("backgammon"), ground.scale)
    figures = [Figure("OpenSpiel backgammon", peer, "steps/s")]
    for name, value in steps.items():
        figures.append(Figure(name, value / peer, goal=1.0 if name == "captains" else 1.5, most=False))
    return figures


def _backgammon(game: Any, seconds: float) -> float:
    """Steps a second of random play in OpenSpiel, as `playouts` counts them."""
    rng = Random(1)
    steps = 0
    begun = time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            steps += 1
            choices = state.legal_actions()
            state.apply_action(choices[int(rng.random() * len(choices))])
    return steps / spent


def playouts(game: Game[Any, Any], seconds: float) -> tuple[float, float]:
    """Actions and steps (chance included) a second of random play through the engine alone."""
    rng = Random(1)
    options = game.Options()
    actions = steps = 0
    begun = time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        taken, made = playout(game, players_of(game), options, rng)
        actions, steps = actions + taken, steps + made
    return actions / spent, steps / spent


def playout(game: Game[Any, Any], players: int, options: Any, rng: Random) -> tuple[int, int]:
    """One random game through the engine alone; how many actions and how many steps it had."""
    actors, legal, apply, chance = game.actors, game.legal, game.apply, game.chance
    random = rng.random
    state = game.initial(players, options)
    actions = steps = 0
    while who := actors(state):
        steps += 1
        seat = who[0]
        if seat == CHANCE:
            state, _ = apply(state, tuple([drawn(draw, random()) for draw in chance(state)]))
        else:
            choices = legal(state, seat)
            state, _ = apply(state, choices[int(random() * len(choices))])
            actions += 1
    return actions, steps


def rollouts(ground: Ground) -> list[Figure]:
    """Random playouts per second of processor time from the first decision; and how many times those by the engine.

    The two take turns within this run. The engine makes a list of legal actions and a position for each decision.
    """
    figures = []
    with ground.one_core():
        for name, game in ground.games.items():
            rng = Random(1)
            state = game.initial(players_of(game), game.Options())
            while game.actors(state) == (CHANCE,):
                state, _ = game.apply(
                    state, tuple([drawn(draw, rng.random()) for draw in game.chance(state)])
                )
            quick = slow = 0.0
            for _ in range(3):
                slow += _playouts(partial(EngineRollout, game, state), rng, ground.scale / 3)
                quick += _playouts(partial(rollout, game, state), rng, ground.scale / 3)
            figures.append(Figure(name, quick / 3, "playouts/s"))
            goal = 10.0 if name == "captains" else 5.0
            figures.append(Figure(f"{name}, to the engine", quick / slow, goal=goal, most=False))
    return figures


def _playouts(begin: Callable[[], Rollout[Any]], rng: Random, seconds: float) -> float:
    """Playouts per second of processor time."""
    played = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds or not played:
        one = begin()
        one.play(rng.random)
        one.outcome()
        played += 1
    return played / spent


def engine_s(game: Game[Any, Any], record: bytes) -> float:
    """Seconds the engine needs for what it did in a match: the recorded moves again, without wire and record."""
    replay = Replay(record)
    moves: list[Any] = []
    state = replay.first
    for step in replay:
        data = step.data
        if data["type"] == "chance":
            moves.append(tuple(data["outcome"]))
        else:
            moves.append(game.parse(state, data["seat"], data["action"]))
        state = step.state
    actors, legal, apply, chance, talk, ask = (
        game.actors,
        game.legal,
        game.apply,
        game.chance,
        game.talk,
        game.ask,
    )
    state = replay.first
    begun = time.perf_counter()
    for move in moves:
        seat = actors(state)[0]
        if seat == CHANCE:
            chance(state)
        else:
            len(legal(state, seat))
            talk(state, seat)
            ask(state, seat)
        state, _ = apply(state, move)
    return time.perf_counter() - begun
