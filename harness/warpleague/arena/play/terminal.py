"""Lets persons play in a terminal: it shows the board, the events and a numbered list of moves, and reads choices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import trio
from rich.text import Text

from warpleague.arena.play.sitting import Draft, PersonSeat, Played, Sitting, ask_bot
from warpleague.errors import BadInput
from warpleague.games.first_turn import first_turn
from warpleague.report.terminal.board import Picture
from warpleague.report.terminal.console import BAD, QUIET, make_console
from warpleague.report.wording.match_words import SeatNames
from warpleague.text import safe

if TYPE_CHECKING:
    from rich.console import Console


_HELP: Final = """\
Type the number of a move, or a part of it to list the moves with these words. Or one of these:
  u            take the last choice back, if it was not sent
  h            the choice of a bot
  b            draw the board again
  rules        the rules in a minute
  first        a first turn, step by step
  say 0,2 TEXT send a message to seats 0 and 2, in a game with talk
  resign       leave the match
  ?            this help"""

_PLAYERS: Final = ("Ada", "Ben")
"""The players of the first turn that is shown."""
_SHORT: Final = 24
"""More moves than these are listed only when asked for."""
_CLEAR: Final = 60
"""Lines that push a board out of sight before the device is passed on."""


class _TableEnded(Exception):
    """The input has ended: nobody is there."""


async def play_here(sitting: Sitting, bot: str) -> None:
    """Show the matches of `sitting` in this terminal and take the persons' choices, until nobody wants another one."""
    await _Terminal(sitting, bot).run()


class _Terminal:
    def __init__(self, sitting: Sitting, bot: str) -> None:
        self._sitting = sitting
        self._bot = bot
        self._console: Console = make_console()
        self._seen: dict[int, int] = {}
        self._match = self._ended = 0
        self._last: int | None = None  # the person who sat here last

    async def run(self) -> None:
        """Ask the person to act, until everything is over."""
        count = -1
        while not self._sitting.over:
            count = await self._sitting.news.after(count)
            if not self._sitting.matches:
                continue
            now = self._sitting.now
            if len(self._sitting.matches) != self._match:
                self._match, self._seen, self._last = len(self._sitting.matches), {}, None
                self._welcome()
            person = next((person for person in now.persons.values() if person.draft is not None), None)
            try:
                if person is not None:
                    await self._turn(now, person)
                elif now.result is not None and self._ended != self._match:
                    self._ended = self._match
                    await self._over(now)
            except _TableEnded:
                self._sitting.leave()
                while not self._sitting.over:
                    count = await self._sitting.news.after(count)

    async def _line(self, prompt: str) -> str:
        """A line that is typed."""
        self._console.print(Text(prompt, style="bold"), end="")
        self._console.file.flush()
        line: str = await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        if not line:
            raise _TableEnded
        return line.strip()

    def _print(self, text: object) -> None:
        self._console.print(text)

    def _show(self, draft: Draft) -> None:
        """Draw the board as the person who chooses sees it."""
        self._print(Picture(draft.names.on(draft.game.scene(draft.state, draft.seat))))

    # ------------------------------------------------------------------ how to play

    def _welcome(self) -> None:
        """The game in two lines."""
        game = self._sitting.game
        guide = game.guide()
        if guide is None:
            self._print(Text(f"{game.title}; ? explains what you can type", style="bold"))
            return
        self._print(Text(game.title, style="bold"))
        self._print(f"Goal: {guide.goal}")
        self._print(
            "Type rules for the rules in a minute, first for a first turn, ? for what else you can type."
        )

    def _tell_rules(self) -> None:
        game = self._sitting.game
        guide = game.guide()
        for rule in guide.rules if guide else ():
            self._print(Text(f"- {rule}"))
        self._print(f"All rules: warpleague docs {game.id}")

    def _show_first_turn(self) -> None:
        """The turn of the game's guide, with the board before it and after it."""
        game = self._sitting.game
        guide = game.guide()
        if guide is None:
            raise BadInput(f"{game.id} has no first turn to show")
        moments = first_turn(game, guide)
        names = SeatNames(_PLAYERS, moments[0].scene.roles)
        self._print(f"A first turn, on a board of its own. You are {_PLAYERS[0]}.")
        for number, moment in enumerate(moments, 1):
            if number in (1, len(moments)):
                self._print(Picture(names.on(moment.scene)))
            for line in moment.happened:
                self._print(Text(f"     {names.say(line)}", style=QUIET))
            if moment.phrase:
                self._print(Text(f"{number:3}  {names.say(moment.phrase)}", style="bold"))
            if moment.why:
                self._print(f"     {moment.why}")

    # ------------------------------------------------------------------ a match that is over

    async def _over(self, now: Played) -> None:
        assert now.result is not None
        for number in now.persons:
            self._print_news(now, number)
        self._print(Text(now.told(now.result), style="bold"))
        order = sorted(range(len(now.spec.seats)), key=now.result.ranks.__getitem__)
        for seat in order:
            name = safe(now.spec.seats[seat].bot, keep="")
            self._print(
                Text(f"{now.result.ranks[seat]}. {name} (seat {seat}), score {now.result.scores[seat]:g}")
            )
        answer = await self._line("another match, with the seats changed? [y/N] ")
        if answer.lower() in ("y", "yes"):
            self._sitting.rematch()
        else:
            self._sitting.leave()
        await trio.lowlevel.checkpoint()

    # ------------------------------------------------------------------ a turn

    def _print_news(self, now: Played, number: int) -> None:
        """Print the events since this seat was last shown."""
        frames = now.frames[number]
        for frame in frames[self._seen.get(number, 0) :]:
            for line in frame.words:
                self._print(Text(f"  {line}", style=QUIET))
        self._seen[number] = len(frames)

    async def _turn(self, now: Played, person: PersonSeat) -> None:
        """Ask one person until the choice is sent."""
        number, name = person.number, safe(person.seat.bot, keep="")
        if len(now.persons) > 1 and self._last != number:
            if self._last is not None:
                self._print("\n" * _CLEAR)
            await self._line(f"{name} (seat {number}), it is your turn: press Enter when only you look ")
        self._last = number
        self._print_news(now, number)
        shown: Draft | None = None
        chosen = -1
        listed = ""
        while (draft := person.draft) is not None:
            if (draft, len(draft.chosen)) != (shown, chosen):
                self._show(draft)
                shown, chosen, listed = draft, len(draft.chosen), ""
                self._list(draft, listed)
            word = "" if not draft.complete else ", complete: Enter sends it"
            typed = await self._line(f"{name} (seat {number}){word}> ")
            try:
                await self._obey(person, draft, typed)
            except BadInput as error:
                self._print(Text(str(error), style=BAD))
            await trio.lowlevel.checkpoint()

    def _list(self, draft: Draft, part: str) -> None:
        """The moves whose words have `part` in them, with their numbers from 1."""
        if draft.heading and not part:
            self._print(Text(draft.heading, style="bold"))
        texts = [draft.phrase(action) for action in draft.legal()]
        wanted = part.lower().replace("(", " ").replace(")", " ").split()
        choices = [
            (number, text)
            for number, text in enumerate(texts, 1)
            if all(word in text.lower() for word in wanted)
        ]
        if len(choices) > _SHORT and not part:
            kinds = sorted({text.split()[0] for text in texts})
            self._print(
                f"{len(choices)} moves ({', '.join(kinds)}): type a part of one to list those, such as: {texts[-1]}"
            )
            return
        if not choices:
            self._print(Text(f"no move has {part!r} in it", style=BAD))
        for number, text in choices[: 4 * _SHORT]:
            self._print(Text(f"  {number:4}  {text}"))
        if len(choices) > 4 * _SHORT:
            self._print(f"  and {len(choices) - 4 * _SHORT} more")

    async def _obey(self, person: PersonSeat, draft: Draft, typed: str) -> None:
        """Do what was typed. Raises `BadInput` if that is not possible."""
        word, _, rest = typed.partition(" ")
        if word.isdecimal():
            person.choose(int(word) - 1)
        elif typed == "":
            if draft.complete:
                person.send()
            else:
                self._list(draft, "")
        elif typed == "u":
            person.undo()
        elif typed == "b":
            self._show(draft)
        elif typed == "?":
            self._print(_HELP)
        elif typed == "rules":
            self._tell_rules()
        elif typed == "first":
            self._show_first_turn()
        elif typed == "resign":
            person.resign()
        elif typed == "h":
            hint = await ask_bot(self._bot, person, self._sitting.now.spec.level)
            action = draft.legal()[hint.index]
            self._print(f"{hint.bot} would: {hint.index + 1}  {draft.phrase(action)}")
        elif word == "say":
            to, _, text = rest.partition(" ")
            if not all(seat.isdecimal() for seat in to.split(",")) or not text:
                raise BadInput("say needs seats and a text: say 0,2 TEXT")
            person.say([int(seat) for seat in to.split(",")], text)
        else:
            self._list(draft, typed)
