"""Ask an arena about bots that were submitted: state, records, logs and matches; or change which version plays."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions.jobs import Trial
from warpleague.cli.arena_client import PAUSE_S, Arena, path_of, token_of
from warpleague.cli.common import print_json, write_file
from warpleague.cli.submission import UNDECIDED, print_findings, read_submission, wait_for
from warpleague.cli.work_progress import WorkProgress
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


_LOOK_S: Final = 1.0
_LISTED: Final = 50


@attrs.frozen
class _Listed:
    """A line of the list of submissions."""

    id: int
    league: str
    state: str
    received: str
    bot: str | None
    version: str | None
    active: bool
    reason: str | None


@attrs.frozen
class _Seat:
    bot: str
    content: str
    rank: int
    score: float


@attrs.frozen
class _Match:
    match: str
    stored: str
    seats: tuple[Any, ...]
    why: str


def _arena(args: argparse.Namespace) -> Arena:
    return Arena(args.to, token_of(args.token_file), plain=args.plain_http)


def _words(args: argparse.Namespace, least: int, most: int, form: str) -> list[str]:
    if not least <= len(args.words) <= most:
        raise BadInput(f"submit {args.folder}: write  warpleague submit {args.folder} {form} --to URL")
    return list(args.words)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise BadInput(f"{text}: must be the number of a submission; warpleague submit status lists them")
    return int(text)


def _status(args: argparse.Namespace) -> int:
    """List the submissions, or show one; of one the exit code tells the state."""
    arena, words = _arena(args), _words(args, 0, 1, "[NUMBER]")
    if words:
        answer = arena.ask("GET", path_of("submissions", _number(words[0])))
        if args.wait:
            answer = wait_for(arena, answer, args.max_wait, quiet=args.json)
        now = read_submission(arena, answer)
        if args.json:
            print_json(answer)
        else:
            _print_line(arena.read(answer, _Listed))
            if not args.wait:
                print_findings(now)
        return now.code
    listed, rows = _submissions(arena)
    if args.league:
        rows = [one for one in rows if one.league == args.league]
        listed = [one for one in listed if one.get("league") == args.league]
    if args.json:
        print_json(listed)
    for one in () if args.json else rows:
        _print_line(one)
    if not rows and not args.json:
        print("nothing was submitted yet")
    return 0


def _submissions(arena: Arena, most: int | None = None) -> tuple[Any, list[_Listed]]:
    """The list of submissions as it came, and the same as rows."""
    listed = arena.ask_any("GET", path_of("submissions", most=most))
    return listed, [arena.read(one, _Listed) for one in (listed if isinstance(listed, list) else [])]


def _print_line(one: _Listed) -> None:
    bot = f"{one.bot} {one.version}" if one.bot else "-"
    plays = ", plays" if one.active else ""
    why = "" if one.reason is None else f": {one.reason}"
    print(f"{one.id}  {one.received}  {one.league}  {bot}  {one.state}{plays}{why}")


def _league_of(arena: Arena, args: argparse.Namespace, bot: str) -> str:
    """The league in which an author has a bot of this name."""
    if args.league or arena.page_league:
        return str(args.league or arena.page_league)
    _, rows = _submissions(arena, 1000)
    leagues = sorted({one.league for one in rows if one.bot == bot and one.state == "accepted"})
    if len(leagues) != 1:
        names = (
            f"it is in {', '.join(leagues)}: choose with --league"
            if leagues
            else "submit status lists what you sent"
        )
        raise BadInput(
            f"{bot}: {'several leagues have' if leagues else 'you have no'} bot of that name; {names}"
        )
    return leagues[0]


def _records(args: argparse.Namespace) -> int:
    """Write the file with the records of a bot's last matches."""
    arena, (bot,) = _arena(args), _words(args, 1, 1, "BOT [--out FILE]")
    league = _league_of(arena, args, bot)
    data = arena.file(path_of("leagues", league, "bots", bot, "records.zip"))
    file = args.out or Path(f"{league}-{bot}-records.zip".replace("/", "-"))
    write_file(file, data)
    if args.json:
        print_json({"league": league, "bot": bot, "file": str(file), "bytes": len(data)})
    else:
        print(f"{file}: records of the last matches of {bot}, {len(data) / 1024:.0f} KiB")
    return 0


def _log(args: argparse.Namespace) -> int:
    """Print what a bot printed in a match: the last one, unless it is named."""
    arena, words = _arena(args), _words(args, 1, 2, "BOT [MATCH]")
    bot = words[0]
    league = _league_of(arena, args, bot)
    match = words[1] if len(words) > 1 else _last_match(arena, league, bot)
    path = path_of("leagues", league, "bots", bot, "logs", match, kind=args.kind, seat=args.seat)
    text = arena.file(path).decode("utf-8", "replace")
    if args.json:
        print_json({"league": league, "bot": bot, "match": match, "kind": args.kind, "text": text})
    else:
        print(text, end="" if text.endswith("\n") else "\n")
    return 0


def _last_match(arena: Arena, league: str, bot: str) -> str:
    matches = _matches(arena, league, bot, 1)
    if not matches:
        raise BadInput(f"{bot} has not played a match in {league} yet")
    return matches[0].match


def _matches(arena: Arena, league: str, bot: str, most: int) -> list[_Match]:
    answer = arena.ask("GET", path_of("leagues", league, "matches", bot=bot, most=most))
    listed = answer.get("matches")
    if not isinstance(listed, list):
        raise arena.no_arena("matches: must be a list")
    return [arena.read(one, _Match) for one in listed]


def _watch(args: argparse.Namespace) -> int:
    """Follow a submission: its check, then its matches as they end, until Ctrl-C or a number of matches."""
    arena, words = _arena(args), _words(args, 0, 1, "[NUMBER]")
    if words:
        number = _number(words[0])
    else:
        _, rows = _submissions(arena, 1)
        if not rows:
            raise BadInput("nothing was submitted yet")
        number = max(one.id for one in rows)
    answer = wait_for(arena, arena.ask("GET", path_of("submissions", number)), args.max_wait, quiet=args.json)
    now = read_submission(arena, answer)
    if args.json:
        print(json.dumps(answer), flush=True)
    else:
        _print_line(arena.read(answer, _Listed))
    if now.state != "accepted" or now.bot is None:
        return now.code
    seen: set[str] = set()
    left = args.matches
    content = answer.get("digest")
    while left is None or left > 0:
        for match in reversed(_matches(arena, now.league, now.bot, _LISTED)):
            seats = [arena.read(seat, _Seat) for seat in match.seats]
            if match.match in seen or not any(seat.content.startswith(str(content)) for seat in seats):
                continue
            seen.add(match.match)
            if left is not None:
                if not left:
                    break
                left -= 1
            _print_match(match, seats, now.bot, as_json=args.json)
        if left is None or left:
            time.sleep(_LOOK_S)
    return 0


def _print_match(match: _Match, seats: list[_Seat], bot: str, *, as_json: bool) -> None:
    if as_json:
        row = {"match": match.match, "stored": match.stored, "why": match.why}
        print(json.dumps({**row, "seats": [attrs.asdict(seat) for seat in seats]}), flush=True)
        return
    bots = " – ".join(seat.bot for seat in seats)
    rank = min(seat.rank for seat in seats if seat.bot == bot)
    shared = sum(seat.rank == 1 for seat in seats) > 1
    word = (
        f"rank {rank}" if len(seats) > 2 or rank > 2 else "lost" if rank > 1 else "drawn" if shared else "won"
    )
    print(f"{match.stored}  {match.match}  {bots}  {word}, {match.why}", flush=True)


def _activate(args: argparse.Namespace) -> int:
    """Let a version play that was accepted before."""
    arena, (text,) = _arena(args), _words(args, 1, 1, "NUMBER")
    answer = arena.ask("POST", path_of("submissions", _number(text), "activate"), b"")
    if args.json:
        print_json(answer)
    else:
        _print_line(arena.read(answer, _Listed))
    return 0


def _withdraw(args: argparse.Namespace) -> int:
    """Take a bot out of a league."""
    arena, (bot,) = _arena(args), _words(args, 1, 1, "BOT")
    league = _league_of(arena, args, bot)
    answer = arena.ask("POST", path_of("leagues", league, "bots", bot, "withdraw"), b"")
    if args.json:
        print_json(answer)
    else:
        print(f"{bot}: plays in {league} no more")
    return 0


def _trial(args: argparse.Namespace) -> int:
    """Send a version for a trial, or name one that was accepted, and wait for the comparison."""
    from warpleague.arena.submissions.upload import pack_folder
    from warpleague.runner.bundle.shipped import located

    arena, (text,) = _arena(args), _words(args, 1, 1, "BOT|NUMBER [--deals N]")
    league = args.league or arena.page_league
    folder = located(Path(text))
    if text.isascii() and text.isdecimal() and not folder.is_dir():
        wanted = {"new": _number(text), "deals": args.deals, "league": league}
        answer = arena.ask(
            "POST", path_of("trials"), json.dumps(wanted).encode(), "application/json", once=True
        )
        return _follow_trial(args, arena, answer)
    answer = arena.ask("POST", path_of("submissions", league=league, trial=args.deals), pack_folder(folder))
    number = answer.get("trial")
    if type(number) is not int:
        raise arena.no_arena(
            "trial: must be its number; the arena may be of an earlier release, and lets it play"
        )
    sent = read_submission(arena, answer)
    if not args.json:
        print(f"submission {sent.id} to {sent.league}, for trial {number}: it does not play")
    if not args.no_wait:
        now = read_submission(arena, wait_for(arena, answer, args.max_wait, quiet=args.json))
        if now.state != "accepted":
            if args.json:
                print_json(arena.ask("GET", path_of("trials", number)))
            return now.code
    return _follow_trial(args, arena, arena.ask("GET", path_of("trials", number)))


def _follow_trial(args: argparse.Namespace, arena: Arena, answer: dict[str, Any]) -> int:
    """Wait for a trial, and print what came of it; the exit code is 3 if it failed or is not over."""
    end_s = float("inf") if args.max_wait is None else time.monotonic() + args.max_wait
    now = arena.read(answer, Trial)
    with WorkProgress() as progress:
        while not args.no_wait and now.state not in ("played", "failed") and time.monotonic() < end_s:
            progress.show(f"trial {now.id}: {counted(now.matches, 'match')} of {counted(now.deals, 'deal')}")
            time.sleep(PAUSE_S)
            answer = arena.ask("GET", path_of("trials", now.id))
            now = arena.read(answer, Trial)
    if args.json:
        print_json(answer)
    else:
        _print_trial(now)
    if now.state == "played" or (args.no_wait and now.state != "failed"):
        return 0
    return UNDECIDED


def _print_trial(now: Trial) -> None:
    print(f"trial {now.id} in {now.league}: {now.compares}")
    state = "" if now.state in ("played", "failed") else f"{now.state}: "
    print(f"  {state}{now.outcome}")


def _trials(args: argparse.Namespace) -> int:
    """List the trials, or show one."""
    arena, words = _arena(args), _words(args, 0, 1, "[NUMBER]")
    if words:
        return _follow_trial(args, arena, arena.ask("GET", path_of("trials", _number(words[0]))))
    listed = arena.ask_any("GET", path_of("trials"))
    if not isinstance(listed, list):
        raise arena.no_arena("trials: must be a list")
    if args.json:
        print_json(listed)
        return 0
    for one in listed:
        _print_trial(arena.read(one, Trial))
    if not listed:
        print("there was no trial yet")
    return 0


VERBS: Final[dict[str, tuple[str, str, Callable[[argparse.Namespace], int]]]] = {
    "status": ("[NUMBER]", "list your submissions, or show one", _status),
    "records": ("BOT", "get the records of its last matches", _records),
    "log": ("BOT [MATCH]", "print its output in a match", _log),
    "watch": ("[NUMBER]", "follow the check, then its matches", _watch),
    "trial": ("BOT|NUMBER", "compare it with the version that plays, which it does not replace", _trial),
    "trials": ("[NUMBER]", "list your trials, or wait for one", _trials),
    "activate": ("NUMBER", "let this version play", _activate),
    "withdraw": ("BOT", "take it out of the league", _withdraw),
}
"""The words that ask about bots that were sent before: what follows each, what it does, and the function."""
