"""Puts together the brief of a game: one text with all that the author of a bot needs.

The parts come from the pages of the documentation (by their headings), from the JSON Schemas and from the referee, so
the brief says the same as these. Only the introductions and the hints are written here.
"""

from __future__ import annotations

import json
import re
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

from warpleague import __version__
from warpleague.games import GAMES, load_game
from warpleague.match.chance import match_key
from warpleague.match.greeting import hello_line
from warpleague.match.referee import Referee
from warpleague.match.setup import load_options, options_json
from warpleague.match.spec import MatchSpec, SeatSpec
from warpleague.opponents.scale import scale_of
from warpleague.report.wording.docs import pages, sections
from warpleague.runner.bundle.shipped import shipped_root
from warpline.limits import PROTOCOL
from warpline.messages import BotHello

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 30_000
"""The longest brief, in bytes of UTF-8."""

_QUESTION: Final = 9  # the number of the question in the example: no longer one of the set-up
_SHOWN: Final = 1  # of a list in the example, which is cut if it is more than one longer

LEFT_OUT: Final = {
    "aliens": ("Options", "Positions", "Bots"),
    "captains": (
        "How the boards are laid",
        "A map",
        "Chance",
        "Options",
        "A galaxy file",
        "Positions",
        "Bots",
    ),
    "coasters": ("Seats", "Positions by hand", "Talk and alliances from Python", "Bots"),
    "sheets": ("Options", "Seats", "Bots"),
}
"""By game: the headings of its page whose sections are not in the brief; options are told with their types."""

SOLO: Final = "Solo"
"""The heading of the rules for one player: only the brief of tables of one has them."""

HINTS: Final = {
    "aliens": (
        "`jump` and `send` may be asked while it is the other side's turn.",
        "An enemy may send a ship onto a square with a wormhole, and the ship then activates it at once.",
        "`place` has up to 1056 legal actions. To save time, leave `legal` out of `wants`, and answer with an object.",
    ),
    "captains": (
        "`unseen` counts the hidden cards in the hands of the others as well as those in the deck.",
        "`moves` of an orbit space name spaces that are not adjacent. A token needs an adjacent space.",
        "The numbers of the spaces differ from match to match. Read them from `setup` every time.",
    ),
    "coasters": (
        "Action 0 of a turn is `end`. A bot that always answers 0 never moves and never fires.",
        "A turn never ends by itself: the bot is asked until it answers `fire` or `end`.",
        "`ally` and `claim` are asked while it is the turn of another seat.",
        "With talk, a decision with one legal action is asked, too: the bot may send a message. `say` is in no list.",
    ),
    "sheets": (
        "Free lines can be used at every decision, so most decisions have `free-line` actions when some are in store.",
        "A seat is asked `take` even if no die is of use to it, if it has another choice than to pass.",
        "The order in which dice are marked may make another die useless.",
    ),
}
"""By game: its surprises for someone who writes a first bot."""

_SURPRISES: Final = (
    "**Forced moves are not asked.** If there is exactly one legal action, the referee plays it, and only the events "
    "say so. A bot that keeps a queue of its own next actions must drop the queue, or remove the actions that were "
    "played for it: compare with `events` or `state` at each question.",
    "`then` in an answer has further actions, as objects. They are played while the same seat is to act and nothing "
    "new was learned. Otherwise the rest is dropped without a fault, and the bot is asked again. An action of `then` "
    "that is reached and is not legal is the fault `illegal`.",
    "`action` is an index into the legal actions of this very question, from 0, or an action object with exactly the "
    "keys given below.",
    "Without `wants` in the hello, each question has `state`, `legal` and `events`. Leave out what you do not read.",
    "`events` has what happened since the last question, the bot's own actions and forced moves included.",
    "The bot's seat can be any: read `seat` in `start`. Options differ between leagues: read `options` in `start`.",
    "In most leagues a single fault costs the match: a bot should always answer with something legal, in time.",
    "Draw random numbers only from `seed` in `start`: a match can then be played again. It does not tell the dice.",
)

_MARKS: Final = "neither mark is on the wire."
"""The end of the page's own example; the brief has a longer one in its place."""
_FENCE_WORDS: Final = re.compile(r"(?m)^(```\w+) .*$")
_FENCED: Final = re.compile(r"(?ms)^```[^\n]*\n.*?^```[ ]*\n")
_VIEWS: Final = re.compile(r'(?ms)^```json\n\{"(?:match|options|q|edges)".*?^```\n\n?')
"""An example of a view or of a part of the setup; the brief has those of its own match."""
_RULING: Final = re.compile(r"\s\(\*\*Ruling \d+\*\*\)")
"""The mark of a decision that says nothing more; the brief does without it."""


def brief_text(game: str, players: int = 2, machine: str = "") -> str:
    """The brief of one of our own games at tables of `players`, in Markdown: at most `MAX_BYTES` long.

    `machine` is its last part, on what bots find on a machine. Raises `KeyError` for another game, and `OptionsError`
    for a size of tables that the game does not have.
    """
    hints = "".join(f"- {hint}\n" for hint in (*_SURPRISES, *HINTS[game]))
    wire = _section("protocol", "The protocol in short").split(_MARKS)[1]
    parts = [
        _introduction(game, players),
        "## The game\n\n" + _game_page(game, players),
        f"## What surprises\n\n{hints}",
        "## The wire\n\nThe bot reads lines of JSON from standard input, and writes lines of JSON to standard output."
        f" These are of a match at a table of {players}, with question {_QUESTION} as the only one. `>` is a line "
        "from the referee, `<` a line from the bot; neither mark is on the wire. Long lists are cut here, and a text "
        "says how many values are left out.\n\n"
        f"```text\n{_session(game, players)}```\n\n" + wire.lstrip(),
        "## Types\n\nThe types of JSON values; a key with `?` may be absent. An action is one object of its list.\n\n"
        f"```text\n{_types('messages', ('Start', 'Act', 'End', 'BotHello', 'Answer'))}```\n\n"
        f"Actions, `state` (View), `setup` (Setup) and `options` (Options) of {game}:\n\n"
        f"```text\n{_types(game)}```\n",
        "## The clock\n\n" + _clock(),
        _testing(game, players),
    ]
    text = "\n".join(parts)
    left_out = []
    for page, heading, what in (
        ("spec", "7 Faults", "faults"),
        ("spec", "4 Questions and answers", "questions and answers"),
        ("write-a-bot", "What goes wrong first", "what goes wrong first"),
    ):
        more = f"\n## {what.capitalize()}\n\n{_section(page, heading)}"
        if len((text + more + machine).encode()) < MAX_BYTES - 200:
            text += more
        else:
            left_out.append(f"{what} (`warpleague docs {page}`)")
    if players > 1 and SOLO in _sections(game):
        left_out.append(f"rules for one player (`warpleague brief {game} --players 1`)")
    if left_out:
        text += f"\nNot in this brief, for its length: {'; '.join(left_out)}.\n"
    return text + (f"\n{machine}" if machine else "")


def llms_text() -> str:
    """The text of `llms.txt` of a server or a site: a description, and the address of each brief."""
    listed = "".join(f"- [{name}](brief/{name}.md): {_opening(name)}\n" for name in GAMES)
    return (
        "# Warp League\n\n> A tournament program for bots that play board games. A bot is a program in any language "
        "that reads and writes lines of JSON.\n\nEach of these texts has all that the author of a bot needs for one "
        f"game: rules, messages, types, clock, and how to test.\n\n## Games\n\n{listed}"
    )


def _introduction(game: str, players: int) -> str:
    seats = "" if players == 2 else f" --players {players}"
    aim = "to rank above the other seats by the rules of the game" if players > 1 else "a high score"
    return (
        f"# How to write a bot for {game}\n\nThis text has all that you need to write a bot for the game {game} of "
        f"Warp League {__version__}. `warpleague brief {game}{seats}` prints it. A bot is a program in any "
        f"language: it gets questions as lines of JSON, and answers each with one legal action. The aim is {aim}."
        "\n\nThis whole bot always plays the first legal action:\n\n"
        + _fence("spec", "The protocol of Warp League, version 1", "python")
        + "\nA bot is a folder with its program and `bot.toml`. `warpleague bot new my-bot` makes one in Python, and "
        f'`--lang` chooses another language.\n\n```toml\nname = "my-bot"\ngames = ["{game}"]\n'
        'run = ["python3", "bot.py"]\n# if you like: version = "1.0"; build = ["sh", "build.sh"], run once before the '
        "first match;\n# reusable = true, if one process plays match after match: say it in the hello, too;\n"
        "# limits.memory_mb = 512 (so many by default)\n```\n"
    )


def _clock() -> str:
    return (
        "Without other limits a command gives 1 s for each decision (`move_s`) and 10 s to start and again to get "
        "ready (`start_s`). A league has its own limits: read `clock` in `start` and in each question. What the bot "
        "and its processes compute, and time that they sleep, is charged; time in which others use the processor is "
        "not. So bound a search by processor time or by a number of nodes, and use a fifth of the time.\n\n"
        + _section("spec", "5 The clock")
    )


def _testing(game: str, players: int) -> str:
    """How points are counted, how to try a bot, and how to learn whether it is good."""
    seats = "" if players == 2 else f" --players {players}"
    others, weak = (
        " ".join([bot] * (players - 1)) for bot in ("bots/random-python", f"bots/opponents/{game}-2")
    )
    field = f" --field {weak.replace(' ', ',')}" if players > 2 else ""
    scale = scale_of(game, players)
    about = "about " if scale.random_is_a_guess else ""
    strengths = ", ".join(f"{elo:.0f}" for elo in scale.elo[1:])
    if players == 1:
        points = "At a table of one, the score counts: it has no points."
    else:
        shares = ", ".join(f"{(players - place) / (players - 1):.3g}" for place in range(1, players + 1))
        points = (
            "Points are the share of the other seats that a bot ranks above; an equal one counts half. At a table of "
            f"{players} the places from the first to the last give {shares}. The score decides nothing but the ranks."
        )
    return (
        f"## Points and strength\n\n{points}\n\nLevel 1 is random play, `bots/random-python`. Levels 2 to 5 are "
        f"`bots/opponents/{game}-2` to `bots/opponents/{game}-5`: at this table {about}{strengths} Elo over random "
        "play. `rate` says at which level a bot is.\n\n"
        "`bot new my-bot --with-engine` copies the rules and a simulator into the folder of a bot in Python that "
        "searches: `warpleague docs simulator`. Bots in Python can import `warpline`:\n\n```python\n"
        "from warpline.client import run\n\n\ndef choose(question):\n"
        "    # question.ask, .state, .legal, .events, .clock as in `act`; .setup, .seat, .options, .seed as in "
        "`start`\n"
        "    return len(question.legal) - 1  # an index, or an action\n\n\n"
        'run(choose, wants=("state", "legal"))  # on_start=f: f(match) is called before `ready`\n```\n\n'
        "## How to test\n\n```sh\n"
        "warpleague bot new my-bot               # a bot that plays at random\n"
        "cp -r my-bot old-bot                    # what you had; now make my-bot better\n"
        f"warpleague bot check my-bot --game {game}{seats} --quick   # does it finish whole matches? exit code 0: "
        "ready\n"
        f"warpleague match {game} my-bot {others}{' ' if others else ''}--seed 1 --record one.jsonl --log logs\n"
        "warpleague replay show one.jsonl        # each move; --stderr 0 and --wire 0 show what seat 0 wrote\n"
        "warpleague reproduce one.jsonl          # does the same match come out?\n"
        f"warpleague rate my-bot --game {game}{seats}   # how strong is it? --in-process is faster, for bots in "
        "Python\n"
        f"warpleague compare my-bot old-bot --game {game}{seats}{field} --elo1 100   # is it better? also takes "
        "--in-process; the default, --elo1 20, may take 25 times as many matches\n"
        f"warpleague games {game}                 # the options\n"
        f"warpleague docs {game}                  # the whole page; also: write-a-bot, spec, simulator, compare\n"
        "```\n\n`warpleague bot list` shows bots to play against, and `warpleague help COMMAND` explains a command.\n"
    )


# ---------------------------------------------------------------------- from the pages


@cache
def _sections(page: str) -> dict[str, tuple[int, str]]:
    return sections(pages()[page])


def _section(page: str, heading: str) -> str:
    return _FENCE_WORDS.sub(r"\1", _sections(page)[heading][1])


def _fence(page: str, heading: str, language: str) -> str:
    """The first example in a language below a heading."""
    return next(
        example[0]
        for example in _FENCED.finditer(_section(page, heading))
        if example[0].startswith(f"```{language}\n")
    )


def _opening(game: str) -> str:
    """The first sentence of the page of a game."""
    first = next(iter(_sections(game).values()))[1]
    return " ".join(first.split()).partition(". ")[0] + "."


def _game_page(game: str, players: int) -> str:
    """The page of the game as far as it is for bots at such a table, each heading one level lower."""
    sections = _sections(game)
    left_out = LEFT_OUT[game] + ((SOLO,) if players > 1 else ())
    if missing := [heading for heading in LEFT_OUT[game] if heading not in sections]:
        raise ValueError(f"docs/games/{game}.md has no heading {missing[0]!r}")
    return "\n".join(
        (f"{'#' * (level + 1)} {heading}\n\n" if level > 1 else "") + _RULING.sub("", _VIEWS.sub("", text))
        for heading, (level, text) in sections.items()
        if heading not in left_out
    )


# ---------------------------------------------------------------------- from the protocol's files


def _session(game: str, players: int) -> str:
    """What the bot of seat 0 reads and writes at the start and at one question, with a mark before each line."""
    rules = load_game(game)
    spec = MatchSpec(
        id="1f4c",
        game=game,
        options=options_json(load_options(rules, players, {})),
        seats=tuple(
            SeatSpec(bot=name) for name in ("my-bot", *(f"other-{seat}" for seat in range(1, players)))
        ),
        key=match_key("brief"),
    )
    referee, rng = Referee(rules, spec), Random("brief")
    referee.begin()
    for seat in range(players):
        referee.connect(seat, BotHello(protocol=PROTOCOL))
    lines = [b"> " + hello_line(), b'< {"type":"hello","protocol":1}']
    lines += [b"> " + referee.start_line(0), b'< {"type":"ready"}']
    while referee.advance():
        question = json.loads(referee.line)
        answer = b'{"type":"act","id":%d,"action":%d}' % (question["id"], rng.randrange(len(referee.legal)))
        if referee.seat == 0 and question["id"] == _QUESTION:
            lines += [b"> " + referee.line, b"< " + answer]
            break
        referee.answer(answer, 0, 0, 0)
    return "".join(f"{line[:1].decode()} {_cut_line(line[2:])}\n" for line in lines)


def _cut_line(line: bytes) -> str:
    return json.dumps(_cut(json.loads(line)), separators=(",", ":"), ensure_ascii=False)


def _cut(value: Any) -> Any:
    """A JSON value with its long lists cut."""
    if isinstance(value, dict):
        return {key: _cut(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) <= _SHOWN + 1:
        return [_cut(part) for part in value]
    return [*map(_cut, value[:_SHOWN]), f"and {len(value) - _SHOWN} more"]


def _types(name: str, wanted: tuple[str, ...] = ()) -> str:
    """The types of a schema, one a line, with those that they name; actions first. `wanted` chooses where to begin."""
    schema = json.loads((shipped_root() / "protocol" / "schema" / f"{name}.json").read_bytes())["$defs"]
    lines = list[str]()
    begin = wanted or (*_named(schema["action"]), "View", "Setup", "Options")
    todo, done = list(begin), set[str]()
    while todo:
        if (type_ := todo.pop(0)) in done:
            continue
        done.add(type_)
        lines.append(f"{type_} = {_type(schema[type_])}\n")
        if type_ == "Options":
            lines += [
                f"  # {key}: {value['description']}{_default(value)}\n"
                for key, value in schema[type_]["properties"].items()
            ]
        todo += _named(schema[type_])
    return "".join(lines)


def _default(option: dict[str, Any]) -> str:
    return f"; default {json.dumps(option['default'])}" if "default" in option else ""


def _named(node: Any) -> Iterator[str]:
    """The names of the types that are in a part of a schema."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        for value in node.values():
            yield from _named(value)
    elif isinstance(node, list):
        for value in node:
            yield from _named(value)


def _type(node: dict[str, Any]) -> str:
    """A part of a schema in short."""
    if "$ref" in node:
        return str(node["$ref"]).rpartition("/")[2]
    if "const" in node:
        return json.dumps(node["const"])
    if "enum" in node:
        return " | ".join(map(json.dumps, node["enum"]))
    for several in ("anyOf", "oneOf"):
        if several in node:
            return " | ".join(map(_type, node[several]))
    kinds = node.get("type", "any")
    return " | ".join(_kind(kind, node) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _kind(kind: str, node: dict[str, Any]) -> str:
    if kind == "object" and "properties" in node:
        required = node.get("required", ())
        keys = (
            f"{key}: {_type(value)}" if key in required else f"{key}?: {_type(value).removesuffix(' | null')}"
            for key, value in node["properties"].items()
        )
        return "{" + ", ".join(keys) + "}"
    if kind == "object" and isinstance(node.get("additionalProperties"), dict):
        return "{key: " + _type(node["additionalProperties"]) + "}"
    if kind == "array" and "prefixItems" in node:
        return "[" + ", ".join(map(_type, node["prefixItems"])) + "]"
    if kind == "array":
        return f"[{_type(node['items'])}, ...]" if "items" in node else "[...]"
    return {"integer": "int", "string": "text", "boolean": "bool"}.get(kind, kind)
