"""Send a bot to an arena, and show the findings of its check; or ask the arena about your earlier submissions."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.arena_client import Arena, NoArena, add_address, path_of, token_of
from warpleague.cli.common import add_examples, count, duration, print_json, say
from warpleague.cli.submission import REFUSED, Submission, read_submission, wait_for
from warpleague.errors import BadInput

if TYPE_CHECKING:
    import argparse


_MANIFEST: Final = "bot.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague submit`."""
    from warpleague.cli.submitted import VERBS

    listed = "; ".join(f"{name} {words}: {what}" for name, (words, what, _) in VERBS.items())
    parser.add_argument(
        "folder",
        type=Path,
        metavar="BOT",
        help="the folder of the bot; or one of these words, which ask about your earlier submissions: "
        + listed,
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="the name or number after such a word")
    add_address(parser)
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the check")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait for the check (which is done anyway), and end with exit code 3, not 1, if it could not be made",
    )
    parser.add_argument(
        "--max-wait",
        type=duration(0, 1e6),
        metavar="TIME",
        help="wait no longer than this, such as 10m; if the check is not over then, the exit code is 3",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="records: the file to write")
    parser.add_argument(
        "--kind",
        choices=("stderr", "wire"),
        default="stderr",
        help="log: standard error (default), or the messages to and from the bot",
    )
    parser.add_argument(
        "--deals", type=count(1), default=20, metavar="N", help="trial: play N deals (default: %(default)s)"
    )
    parser.add_argument("--seat", type=count(0), metavar="N", help="log: the seat, if the bot had several")
    parser.add_argument("--matches", type=count(1), metavar="N", help="watch: end after N matches")
    parser.add_argument("--json", action="store_true", help="print the submission, or the answer, as JSON")
    add_examples(
        parser,
        "submit my-bot --to https://arena.example.org --token-file token.txt",
        "submit my-bot --to http://127.0.0.1:8000 --league cup --wait --json",
        "submit status --to https://arena.example.org",
        "submit records my-bot --to https://arena.example.org",
        "submit trial my-bot --to https://arena.example.org --deals 40",
    )
    parser.set_defaults(handler=run)


@attrs.frozen
class _Conditions:
    """A league's conditions as lines, printed before a bot is sent."""

    game: str
    players: int
    clock: dict[str, Any]
    level: str


def run(args: argparse.Namespace) -> int:
    """Send a bot and wait for its check; 1 if it is not accepted, or the server misbehaves."""
    from warpleague.cli.submitted import VERBS

    verb = VERBS.get(str(args.folder))
    if verb is not None and (args.folder / _MANIFEST).is_file() and not args.words:
        say(
            f"note: {args.folder} is the folder of a bot here, which is sent; in another folder the word asks"
        )
        verb = None
    if verb is None and args.words:
        raise BadInput(f"{' '.join(args.words)}: one bot is sent at a time")
    try:
        return _submit(args) if verb is None else verb[2](args)
    except NoArena as error:
        say(f"warpleague: {error}")
        return REFUSED


def _submit(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.upload import pack_folder
    from warpleague.runner.bundle.shipped import located

    if args.wait and args.no_wait:
        raise BadInput("--wait and --no-wait: leave out one of both")
    arena = Arena(args.to, token_of(args.token_file), plain=args.plain_http)
    data = pack_folder(located(args.folder))
    answer = arena.ask("POST", path_of("submissions", league=args.league or arena.page_league), data)
    now = read_submission(arena, answer)
    if not args.json:
        print(f"submission {now.id} to {now.league}: {len(data) / 1024:.0f} KiB received")
        _print_conditions(arena, now.league)
        if type(matches := answer.get("matches")) is int:
            print(f"a new bot makes {matches:,} more matches there")
    answer = answer if args.no_wait else wait_for(arena, answer, args.max_wait, quiet=args.json)
    now = read_submission(arena, answer)
    if args.json:
        print_json(answer)
    elif now.state == "accepted":
        print(f"{now.bot} {now.version}: accepted; it plays in {now.league} from now on")
        if now.first_match:
            print(f"its first match: {now.first_match}")
    elif now.state == "failed":
        print("not accepted, but not because of the bot: submit it again")
    elif now.settled:
        print("not accepted: mend what failed, then submit it again")
    elif not args.no_wait:
        print(f"not decided yet; go on waiting: warpleague submit watch {now.id} --to {args.to}")
    if now.settled and not args.json:
        _repeat(now, args.folder)
    if args.no_wait:
        return 0
    return now.code if args.wait or not now.settled else min(now.code, REFUSED)


def _print_conditions(arena: Arena, league: str) -> None:
    """Print the clock and the table of a league; an arena of an earlier release does not tell them."""
    from warpleague.match.spec import TimeControl
    from warpleague.runner.checkup import clock_words

    with contextlib.suppress(BadInput, NoArena, TypeError, ValueError):
        how = arena.read(arena.ask("GET", path_of("leagues", league, "conditions")), _Conditions)
        clock = arena.read(how.clock, TimeControl)
        words = f"{clock_words(clock)}; {clock.start_s:g} s to start"
        print(f"{league}: {how.game} with {how.players} players; {words}; level {how.level}")


def _repeat(now: Submission, folder: Path) -> None:
    """Print the command that repeats the check here. It is quoted word by word, since a stranger wrote it."""
    import shlex

    from warpleague.league.season.bot_check import FOLDER, REPEAT

    for finding in now.found:
        if finding.what == REPEAT:
            shown = f"./{folder}" if str(folder).startswith("-") else str(folder)
            with contextlib.suppress(ValueError):  # it is not a command
                words = [shown if word == FOLDER else word for word in shlex.split(finding.text)]
                if words[:3] == ["warpleague", "bot", "check"]:
                    print(f"the same check here: {shlex.join(words)}")
