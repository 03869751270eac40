"""Persons at a table: the same players play one match after the other, and each person sees what its seat may know.

A page or a terminal shows a `Sitting`, and waits for changes by its `Broadcast`.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from warpleague.arena.live import Broadcast, Frame
from warpleague.errors import ActionError, BadInput, BotError
from warpleague.games import load_game
from warpleague.games.api import SPECTATOR
from warpleague.match import greeting
from warpleague.match.setup import first_state, load_options
from warpleague.match.spec import Level, MatchResult, MatchSpec, SeatFault, SeatSpec, Violation
from warpleague.report.wording.match_words import SeatNames, ending, labels, one_line, outcome, own_outcome
from warpleague.runner.bot.inside import InsideSeat
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.bundle.bundle import prepare
from warpleague.runner.bundle.shipped import located
from warpleague.runner.play import play_beside
from warpleague.text import safe
from warpline import codec
from warpline.codec import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpleague.games.api import Event, Game, JsonObject
    from warpleague.games.scene import Scene
    from warpleague.match.referee import Referee


# -- draft -----------------------------------------------------------------------------------------------
# The actions that a person has chosen and not sent yet; they can be taken back, since they revealed nothing.
#
# They are tried on a position that fits the seat's knowledge, so nothing hidden can show. If an action tells
# the seat something new, or another seat must act, or dice must be rolled, the choice is complete. Once sent,
# it cannot be taken back.


class Draft:
    """The actions chosen since a question; `view` is the position that the question showed to `seat`."""

    def __init__(self, game: Game[Any, Any], seat: int, view: JsonObject, names: SeatNames) -> None:
        self.game = game
        self.seat = seat
        self.names = names
        self.chosen: list[JsonObject] = []
        self.phrases: list[str] = []
        """The chosen actions as sentences."""
        self.complete = False
        self.at_once = False
        """Whether a complete choice is sent at once: a single one, and one whose last part has no place on the board,
        as the end of the turn. Else the click that ends a turn of several parts could not be taken back."""
        self._states = [game.determinize(view, seat, Random(0))]

    @property
    def state(self) -> Any:
        """The position after the chosen actions, as far as the seat knows."""
        return self._states[-1]

    def legal(self) -> Sequence[Any]:
        """The actions that can be chosen next; empty when the choice is complete."""
        return () if self.complete else self.game.legal(self.state, self.seat)

    def phrase(self, action: Any) -> str:
        """An action that can be chosen next as a sentence, harmless for a terminal."""
        return safe(self.names.say(self.game.phrase(self.state, action)), keep="")

    @property
    def scene(self) -> Scene:
        """The picture after the chosen actions."""
        return self.names.within(self.game.scene(self.state, self.seat))

    @property
    def heading(self) -> str:
        """A heading for the next choice, harmless for a terminal; empty when the choice is complete."""
        if self.complete:
            return ""
        return safe(self.names.say(self.game.heading(self.state, self.seat)), keep="")

    def outlook(self, action: Any) -> Scene | None:
        """What the seat would see after an action that can be chosen next; None if it would learn something by it."""
        state, learned = self._with(action)
        return None if learned else self.names.within(self.game.scene(state, self.seat))

    def ends_turn(self, action: Any) -> bool:
        """Whether an action that can be chosen next touches nothing in the picture and ends the turn."""
        turn = self.game.scene(self.state, self.seat).turn
        if turn is None or self.game.targets(self.state, action):
            return False
        after, _ = self.game.apply(self.state, action)
        return self.game.scene(after, self.seat).turn != turn

    def choose(self, index: int) -> None:
        """Choose the legal action with this index."""
        action = self.legal()[index]
        self.chosen.append(self.game.action_json(action))
        self.phrases.append(self.phrase(action))
        self.at_once = len(self.chosen) == 1 or not self.game.targets(self.state, action)
        state, learned = self._with(action)
        self._states.append(state)
        self.complete = learned or self.game.actors(state) != (self.seat,)

    def _with(self, action: Any) -> tuple[Any, bool]:
        """The position after an action that can be chosen next, and whether the seat learns something by it."""
        state, learned = self._after(self.state, action)
        # The referee plays a forced move without asking.
        while not learned and self.game.actors(state) == (self.seat,):
            forced = self.game.legal(state, self.seat)
            if len(forced) > 1 or self.game.talk(state, self.seat):
                break
            state, learned = self._after(state, forced[0])
        return state, learned

    def _after(self, state: Any, action: Any) -> tuple[Any, bool]:
        state, events = self.game.apply(state, action)
        return state, any(event.reveals for event in events)

    def undo(self) -> None:
        """Take the last choice back."""
        self.chosen.pop()
        self.phrases.pop()
        self._states.pop()
        self.complete = False

    def resume(self, chosen: Sequence[JsonObject]) -> None:
        """Choose the same again, as far as it is possible."""
        for data in chosen:
            try:
                action = self.game.parse(self.state, self.seat, data)
            except ActionError:
                return
            legal = self.legal()
            if action not in legal:
                return
            self.choose(list(legal).index(action))


# -- the seat of a person --------------------------------------------------------------------------------


RESIGNED = "the person resigned"


class PersonSeat(InsideSeat):
    """A seat whose `draft` a person makes; `changed` is called whenever there is something new to show.

    It knows only the part of the match that the wire sent to it.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        number: int,
        seat: SeatSpec,
        changed: Callable[[], None],
        names: SeatNames,
        *,
        timed: bool = False,
    ) -> None:
        super().__init__(seat, timed=timed)
        self.game = game
        self.names = names
        self.number = number
        self.draft: Draft | None = None
        self.question: JsonObject = {}
        self.deadline = trio.current_time()
        self.start_message: JsonObject = {}
        self.resigned = False
        self._changed = changed
        self._sent: list[JsonObject] = []
        self._resume: list[JsonObject] = []
        self._answered = trio.Event()

    def give_again(self, answers: list[JsonObject]) -> None:
        """Answer like this, as long as it is possible."""
        self._sent = answers

    @property
    def has_answers(self) -> bool:
        """Whether answers are left that were given or chosen before."""
        return bool(self._sent)

    def start(self, line: bytes) -> None:
        """Keep the start message: a hint needs it."""
        self.start_message = json.loads(line)

    async def message(self, line: bytes, left_s: float) -> dict[str, Any] | Violation:
        """The person's action, which may have been chosen together with an earlier one."""
        await trio.lowlevel.checkpoint()
        if self.resigned:
            return Violation("crash", RESIGNED)
        self.question = json.loads(line)
        if self._sent:
            said = self._sent[0].get("do") == "say" and self.question.get("talk")
            if said or self._sent[0] in self.question["legal"]:
                return self._answer(self._sent.pop(0))
            self._sent = []  # something happened in between: the person chooses again
        self.draft = Draft(self.game, self.number, self.question["state"], self.names)
        self.draft.resume(self._resume)
        self._resume = []
        self.deadline = trio.current_time() + left_s
        self._answered = trio.Event()
        self._changed()
        try:
            await self._answered.wait()
        finally:
            self.draft = None
        # A person who has resigned meanwhile sends nothing.
        return self._answer(self._sent.pop(0)) if self._sent else Violation("crash", RESIGNED)

    def _answer(self, action: JsonObject) -> JsonObject:
        return {"type": "act", "id": self.question["id"], "action": action}

    # ------------------------------------------------------------------ actions of the person

    def _asked(self) -> Draft:
        if self.draft is None:
            raise BadInput("it is not your turn")
        return self.draft

    def choose(self, index: int, *, hold: bool = False) -> None:
        """Choose a legal action; a complete choice is sent, unless the person wants to `hold` it."""
        draft = self._asked()
        if not 0 <= index < len(draft.legal()):
            raise BadInput("there is no such move now")
        draft.choose(index)
        if draft.complete and draft.at_once and not hold:
            self.send()
        else:
            self._changed()

    def undo(self) -> None:
        """Take the last choice back that was not sent."""
        draft = self._asked()
        if not draft.chosen:
            raise BadInput("nothing can be taken back: sent choices are part of the match")
        draft.undo()
        self._changed()

    def send(self) -> None:
        """Send the chosen actions."""
        draft = self._asked()
        if not draft.chosen:
            raise BadInput("nothing is chosen yet")
        self._answer_with(draft.chosen)

    def _answer_with(self, actions: list[JsonObject]) -> None:
        self._sent = actions
        self.draft = None
        self._answered.set()
        self._changed()

    def say(self, to: list[int], text: str) -> None:
        """Send a message at once; the chosen actions stay."""
        draft = self._asked()
        message = {"do": "say", "to": to, "text": text}
        if not self.question.get("talk"):
            raise BadInput("no message can be sent now")
        try:
            self.game.parse(
                self.game.determinize(self.question["state"], self.number, Random(0)), self.number, message
            )
        except ActionError as error:
            raise BadInput(str(error)) from None
        self._resume = draft.chosen
        self._answer_with([message])

    def resign(self) -> None:
        """Leave the match, as soon as it is the seat's turn."""
        self.resigned = True
        self._answer_with([])


# -- the matches -----------------------------------------------------------------------------------------


_POLL_S: Final = 0.1


@attrs.frozen
class Kept:
    """The file of a match that is being played: with it, the match can be opened again after a stop."""

    path: Path

    def answers(self, seat: int) -> list[JsonObject]:
        """What the person on `seat` answered so far; nothing if there is no such file, or it is no record."""
        try:
            lines = [json.loads(line) for line in self.path.read_bytes().split(b"\n")[1:-1]]
            acts = [line for line in lines if line["type"] == "act" and line["seat"] == seat]
            return [act["action"] for act in acts if not {"auto", "substituted"} & act.keys()]
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return []

    async def write(self, referee: Referee, persons: Iterable[PersonSeat]) -> None:
        """Write the record as far as it goes, from when the persons have given their earlier answers, until cancelled.

        If it cannot be written, the match goes on without.
        """
        while any(person.has_answers for person in persons):
            await trio.sleep(_POLL_S)
        written = 0
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("wb", buffering=0) as file:
                while True:
                    lines = referee.lines_since(written)
                    file.write(b"".join(lines))
                    written += len(lines)
                    await trio.sleep(_POLL_S)
        await trio.sleep_forever()


@attrs.define
class Played:
    """One match of a sitting: its conditions, the frames that each person has seen, and its result.

    `faults` has the last fault of each seat that has one.
    """

    spec: MatchSpec
    persons: dict[int, PersonSeat]
    frames: dict[int, list[Frame]]
    result: MatchResult | None = None
    faults: dict[int, SeatFault] = attrs.field(factory=dict)

    def told(self, result: MatchResult) -> str:
        """How it ended: to the one person who played, or to all of several."""
        how = (result.ranks, result.scores, result.rival, ending(load_game(self.spec.game), result.why))
        if len(self.persons) > 1:
            return outcome(labels([one_line(seat.bot) for seat in self.spec.seats]), *how)
        ((number, person),) = self.persons.items()
        return safe(own_outcome(person.names, number, *how), keep="")


class Sitting:
    """The matches of a sitting; `spec_of` makes the match with a number from 0, `ended` is called after each.

    With a `timed` clock persons must keep the match's clock as bots must. `kept` says where a match is kept until its
    end: if it is there, the persons' answers in it are given again.
    """

    def __init__(
        self,
        spec_of: Callable[[int], MatchSpec],
        ended: Callable[[MatchSpec, MatchResult], None] | None = None,
        *,
        timed: bool = False,
        kept: Callable[[MatchSpec], Kept] | None = None,
    ) -> None:
        self.news = Broadcast()
        self.matches: list[Played] = []
        self.over = False
        self._spec_of = spec_of
        self._ended = ended
        self._timed = timed
        self._kept = kept
        self._again = trio.Event()
        self._left = False
        first = spec_of(0)
        self.game = load_game(first.game)

    @property
    def now(self) -> Played:
        """The match that is played, or was the last."""
        return self.matches[-1]

    async def run(self) -> None:
        """Play matches until nobody wants another one."""
        while not self._left:
            self._again = trio.Event()
            await self._play(self._spec_of(len(self.matches)))
            self.news.notify()
            await self._again.wait()
        self.over = True
        self.news.notify()

    async def _play(self, spec: MatchSpec) -> None:
        options = load_options(self.game, len(spec.seats), spec.options)
        first = first_state(self.game, len(spec.seats), options, spec.position)
        bots, roles = [seat.bot for seat in spec.seats], self.game.scene(first, SPECTATOR).roles
        persons = {
            number: PersonSeat(
                self.game, number, seat, self.news.notify, SeatNames(bots, roles, number), timed=self._timed
            )
            for number, seat in enumerate(spec.seats)
            if seat.kind == "person"
        }
        played = Played(spec, persons, {number: [] for number in persons})
        self.matches.append(played)

        def observe(state: Any, events: Sequence[Event]) -> None:
            for number, frames in played.frames.items():
                self._see(frames, persons[number], state, events)
            self.news.notify()

        def observe_fault(number: int, fault: SeatFault) -> None:
            played.faults[number] = fault

        observe(first, ())
        kept = self._kept and self._kept(spec)
        if kept:
            for person in persons.values():
                person.give_again(kept.answers(person.number))
        played.result = await play_beside(
            spec,
            observer=observe,
            fault_observer=observe_fault,
            present=persons,
            attendant=(lambda referee: kept.write(referee, persons.values())) if kept else None,
        )
        if kept:
            kept.path.unlink(missing_ok=True)
        if self._ended is not None:
            self._ended(spec, played.result)

    def _see(self, frames: list[Frame], person: PersonSeat, state: Any, events: Sequence[Event]) -> None:
        """Add what a person sees of a step, if that is anything."""
        seen = [data for event in events if (data := event.seen_by(person.number)) is not None]
        words = tuple(safe(person.names.say(self.game.tell(data)), keep="") for data in seen)
        scene = person.names.within(self.game.scene(state, person.number))
        if words or not frames or scene != frames[-1].scene:
            frames.append(Frame(words, scene))

    def rematch(self) -> None:
        """Play another match, once this one has ended."""
        if self.now.result is not None:
            self._again.set()

    def leave(self) -> None:
        """End the sitting; all persons leave the current match."""
        self._left = True
        for person in self.now.persons.values():
            if self.now.result is None:
                person.resign()
        self._again.set()


# -- hints: the move that a bot would choose; it sees only the person's information ----------------------


STRONGEST: Final = {
    "aliens": "bots/opponents/aliens-5",
    "captains": "bots/opponents/captains-5",
    "coasters": "bots/opponents/coasters-5",
    "sheets": "bots/opponents/sheets-5",
}
"""The strongest bot that comes with Warp League, by game."""

THINK_S: Final = 2.0
"""How long it may think, in seconds."""

_READY_S: Final = 10.0


def strongest(game_id: str) -> str:
    """The strongest bot for a game, to play against and to ask for hints; a random one for any other game."""
    return STRONGEST.get(game_id, "bots/random-python")


@attrs.frozen
class Hint:
    """A bot's choice: the index of the legal action."""

    bot: str
    index: int


async def ask_bot(bot: str, person: PersonSeat, level: Level) -> Hint:
    """The next choice of the bot in the folder `bot` in the person's place. Raises `BadInput` if it gives none."""
    draft = person.draft
    if draft is None or draft.complete:
        raise BadInput("there is nothing to choose now")
    game, seat, state = draft.game, draft.seat, draft.state
    legal = [game.action_json(action) for action in draft.legal()]
    question = codec.encode_act(
        1, game.ask(state, seat), None, THINK_S, None, b"[]", game.view_json(state, seat), to_bytes(legal)
    )
    start = {**person.start_message, "clock": {"move_s": THINK_S, "start_s": _READY_S}}
    try:
        bundle = await trio.to_thread.run_sync(prepare, located(Path(bot)), level, ())
        answer = await _answer(bundle.seat(), level, to_bytes(start) + b"\n", question)
    except BotError as error:
        raise BadInput(f"no hint: {error}") from None
    action = answer.get("action")
    if isinstance(action, dict) and action in legal:
        action = legal.index(action)
    if type(action) is not int or not 0 <= action < len(legal):
        raise BadInput(f"no hint: {bundle.name} answered nothing that is possible here")
    return Hint(bundle.name, action)


async def _answer(seat: SeatSpec, level: Level, start: bytes, question: bytes) -> JsonObject:
    """Start a bot, put one question to it, and end it."""
    bot = BotProcess(seat, level)
    answer: Any = {}
    wrong = ""  # raised here, it would come out of the nursery in a group
    async with trio.open_nursery() as nursery:
        bot.attend(nursery)
        try:
            for line, limit_s in (
                (greeting.hello_line(), _READY_S),
                (start, _READY_S),
                (question, 2 * THINK_S),
            ):
                reply = await bot.ask(line, round(limit_s * 1e9))
                if isinstance(reply, Violation):
                    wrong = reply.message
                    break
                try:
                    answer = json.loads(reply.line)
                except (ValueError, RecursionError):
                    wrong = "its answer is not JSON"
                    break
            bot.tell(greeting.quit_line())
        finally:
            await bot.close(0)
            nursery.cancel_scope.cancel()
    if wrong:
        raise BadInput(f"no hint: {seat.bot}: {wrong}")
    return answer if isinstance(answer, dict) else {}
