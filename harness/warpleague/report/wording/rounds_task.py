"""Writes the task of an author in rounds, and selects the documentation pages for its workspace."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Final

from warpleague.counts import counted
from warpleague.games import GAMES
from warpleague.report.wording.brief import brief_text
from warpleague.report.wording.docs import page_text, pages
from warpleague.runner.checkup import clock_words

if TYPE_CHECKING:
    from warpleague.rounds.file import Author, RoundsConfig

_PAGES: Final = ("write-a-bot", "simulator", "compare", "study", "protocol", "spec")

_OTHERS: Final = {
    "own": "You see only results of the other authors, and records of the matches in which you played.",
    "records": "You also see records of matches in which you did not play.",
    "sources": "You also see records of matches in which you did not play, and the bots of the others: `sources/`.",
}
_FAILED: Final = {
    "last": "your last version that passed plays in its place",
    "forfeit": "you do not play in this round",
}


def task_text(config: RoundsConfig, author: Author, number: int) -> str:
    """The text of TASK.md for `author` before the edit of round `number`, in Markdown."""
    game, limits = config.game, author.limits
    others = ", ".join(other.name for other in config.authors if other.name != author.name)
    feedback = f"rounds/{number:02}"
    task = (
        f"You are the author `{author.name}`. Make the bot in `bot/` stronger at the game {game.id}. This is round "
        f"{number} of {config.rounds}. The other authors are {others}. After each round all bots play each other."
    )
    work = (
        f"Change the files in `bot/`, then end. You have {limits.time_s:g} s, {limits.memory_mb} MiB of memory and "
        f"{counted(limits.processes, 'process')}, and the workspace may have {limits.folder_mb} MiB. If your command "
        "fails or exceeds a limit, all its changes are dropped."
    )
    rules = (
        f"`docs/brief.md` has the rules, the messages and their types; `docs/{game.id}.md` has all details."
    )
    if game.id not in GAMES:
        rules = "`./warpleague games` describes the game."
    fault = "loses the match" if config.rules.faults == "forfeit" else "is a strike"
    opponents = " ".join(["bot", *["bots/random-python"] * (game.players - 1)])
    tests = (
        "`./warpleague compare NEW OLD --game GAME` tests whether a bot is better than another: `docs/compare.md`. "
        "`git log` shows the commits of your earlier rounds."
    )
    steps = (
        f"1. The league checks your bot: it must finish whole matches. If it fails, {_FAILED[config.on_fail]}, and "
        f"in the next round `{feedback}/check.json` says why.",
        f"2. All tables play {counted(config.deals, 'deal')}. Earlier versions of the bots play, too. The secret of "
        "the dice was fixed before you began, so nobody knows them.",
        f"3. In the next round `{feedback}/own.json` says how your version did. `helped` there compares it with your "
        "version before.",
    )
    return f"""# Your task

{_filled(task)}

{_filled(work)}

## The game

{_filled(rules)}

- A table has {game.players} seats. The options of the game are in `start` of each match.
- The clock: {clock_words(config.clock)}. Matches are played at level {config.rules.level}.
- A fault {fault}. `docs/brief.md` lists the faults.

## What is here

| path | what it is |
|---|---|
| `bot/` | your bot; `bot.toml` says how it is run |
| `docs/` | the documentation |
| `engine/` | the rules and a simulator in Python: `docs/simulator.md` |
| `rounds/01/` and so on | feedback on earlier rounds: standings, check, records, logs, output of your edit |
| `./warpleague` | the program that plays the matches |
| all other files | your own notes, which stay from round to round |

{_filled(_OTHERS[config.shows] + " Before each round everything is replaced except `bot/` and your notes.")}

## How to test

```sh
./warpleague bot check bot --game {game.id} --players {game.players} --quick --level none
./warpleague match {game.id} {opponents} --seed 1 --level none
git log --stat
```

{_filled(tests)}

## What happens next

{chr(10).join(_filled(step, "   ") for step in steps)}

To report tokens of language models and their cost, write this to `usage.json`:

```json
{{"input_tokens": 0, "output_tokens": 0, "cost": 0.0}}
```
"""


def task_documents(config: RoundsConfig) -> dict[str, str]:
    """The texts of the folder `docs` of a workspace, by file name."""
    known = pages()
    texts = {f"{name}.md": page_text(known[name]) for name in (*_PAGES, config.game.id) if name in known}
    if config.game.id in GAMES:
        texts["brief.md"] = brief_text(config.game.id)
    return texts


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 110, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
