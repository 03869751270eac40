"""Ask an arena for a match of a bot of yours against others: it rates nobody, and has dice of its own."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from warpleague.cli.arena_client import PAUSE_S, Arena, NoArena, add_address, path_of, token_of
from warpleague.cli.common import add_examples, add_verb, print_json, say, write_file
from warpleague.cli.submission import UNDECIDED

if TYPE_CHECKING:
    import argparse


@attrs.frozen
class _Challenge:
    """The parts of a match on demand that the command needs."""

    id: int
    league: str
    state: str
    seats: tuple[Any, ...]
    why: str | None
    result: dict[str, Any] | None


def configure_challenge(verbs: Any) -> None:
    """Add `warpleague arena challenge`."""
    parser = add_verb(
        verbs, "challenge", "ask an arena for a match of your bot against others, which rates nobody"
    )
    parser.add_argument(
        "bot", metavar="BOT", help="the name of your bot there, or the number of an accepted version of it"
    )
    parser.add_argument(
        "opponents",
        nargs="+",
        metavar="OPPONENT",
        help="the name of a bot of the league, or the number of a version of yours; one for each other seat, or fewer",
    )
    add_address(parser)
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the match")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the record of the match to this file")
    parser.add_argument("--json", action="store_true", help="print the match as JSON")
    add_examples(
        parser,
        "arena challenge my-bot aliens-greedy --to https://arena.example.org",
        "arena challenge 12 7 --to https://arena.example.org",
    )
    parser.set_defaults(handler=_run)


def _run(args: argparse.Namespace) -> int:
    """Ask for the match and wait for it; 3 if it could not be played."""
    try:
        return _challenge(args)
    except NoArena as error:
        say(f"warpleague: {error}")
        return 1


def _challenge(args: argparse.Namespace) -> int:
    arena = Arena(args.to, token_of(args.token_file), plain=args.plain_http)
    wanted = {"bot": args.bot, "opponents": args.opponents, "league": args.league or arena.page_league}
    answer = arena.ask(
        "POST", path_of("challenges"), json.dumps(wanted).encode(), "application/json", once=True
    )
    now = arena.read(answer, _Challenge)
    if not args.json:
        print(f"match {now.id} in {now.league}: {' – '.join(_names(now))}")
    while not args.no_wait and now.state in ("waiting", "playing"):
        time.sleep(PAUSE_S)
        answer = arena.ask("GET", path_of("challenges", now.id))
        now = arena.read(answer, _Challenge)
    if now.state == "played" and args.out is not None:
        write_file(args.out, arena.file(path_of("challenges", now.id, "record")))
    if args.json:
        print_json(answer)
    elif now.state == "failed":
        print(f"not played, which does not count: {now.why}")
    elif now.result is not None:
        _print_result(arena, now)
        print(f"record: {args.out}" if args.out else "--out FILE writes its record")
    return UNDECIDED if now.state == "failed" else 0


def _names(now: _Challenge) -> list[str]:
    names = []
    for seat in now.seats:
        given = seat if isinstance(seat, dict) else {}
        number = given.get("submission")
        names.append(f"{given.get('bot')}{'' if number is None else f' ({number})'}")
    return names


def _print_result(arena: Arena, now: _Challenge) -> None:
    names, result = _names(now), now.result or {}
    try:
        rows = zip(result["order"], result["ranks"], result["scores"], result["faults"], strict=True)
        for place, rank, score, faults in rows:
            fault = f", {faults[0]['kind']}: {faults[0]['message']}" if faults else ""
            print(f"{rank}  {names[place]}  score {score:g}{fault}")
        print(f"ended by {result['why']}")
    except (KeyError, TypeError, ValueError, IndexError):
        raise arena.no_arena("result: must have order, ranks, scores and faults") from None
