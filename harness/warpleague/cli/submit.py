"""Send a bot to an arena and show its check, ask about earlier submissions, or ask for a match or a trial."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.arena.submissions.jobs import Challenge, Submission, Trial
from warpleague.cli.arena_client import PAUSE_S, Arena, NoArena, path_of, token_of
from warpleague.cli.commands import SUBMIT_WORDS
from warpleague.cli.common import WorkProgress, print_json, say, write_file
from warpleague.cli.declaration import load
from warpleague.errors import BadInput
from warpleague.runner.findings import FOLDER, REPEAT
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

_MANIFEST: Final = "bot.toml"
_REFUSED: Final = 1
"""The exit code if a bot was not accepted."""
_UNDECIDED: Final = 3
"""The exit code with `--wait` if the check was not possible, but not because of the bot, or is not over yet."""
_LOOK_S: Final = 1.0
_LISTED: Final = 50
_ALL: Final = 1000
"""The most submissions that an arena lists."""


# -- send a bot ------------------------------------------------------------------------------------------


def run_submit(args: Namespace) -> int:
    """Send a bot and wait for its check; 1 if it is not accepted, or the server misbehaves."""
    word = SUBMIT_WORDS.get(str(args.folder))
    if word is not None and (args.folder / _MANIFEST).is_file() and not args.words:
        say(
            f"note: {args.folder} is the folder of a bot here, which is sent; in another folder the word asks"
        )
        word = None
    if word is None and args.words:
        raise BadInput(f"{' '.join(args.words)}: one bot is sent at a time")
    try:
        return _submit(args) if word is None else load(word[2])(args)
    except NoArena as error:
        say(f"warpleague: {error}")
        return _REFUSED


def _submit(args: Namespace) -> int:
    if args.wait and args.no_wait:
        raise BadInput("--wait and --no-wait: leave out one of both")
    arena = Arena(args.to, token_of(args.token_file), plain=args.plain_http)
    data = _archive(args.folder)
    answer = arena.ask("POST", path_of("submissions", league=args.league or arena.page_league), data)
    now = arena.read(answer, Submission)
    if not args.json:
        print(f"submission {now.id} to {now.league}: {max(len(data) / 1024, 1):.0f} KiB received")
        _print_conditions(arena, now.league)
        if type(matches := answer.get("matches")) is int:
            print(f"a new bot makes {matches:,} more matches there")
    answer = answer if args.no_wait else wait_for(arena, answer, args.max_wait, quiet=args.json)
    now = arena.read(answer, Submission)
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
    return _code(now) if args.wait or not now.settled else min(_code(now), _REFUSED)


def _archive(folder: Path) -> bytes:
    """The folder of a bot as the arena takes it."""
    from warpleague.arena.submissions.upload import pack_folder  # the words that only ask do without
    from warpleague.runner.bundle.shipped import located

    return pack_folder(located(folder))


@attrs.frozen
class _Conditions:
    """A league's conditions as lines, printed before a bot is sent."""

    game: str
    players: int
    clock: dict[str, Any]
    level: str
    closes: str | None = None


def _print_conditions(arena: Arena, league: str) -> None:
    """Print the clock and the table of a league; an arena of an earlier release does not tell them."""
    from warpleague.match.spec import TimeControl  # the words that only ask do without

    with contextlib.suppress(BadInput, NoArena, TypeError, ValueError):
        how = arena.read(arena.ask("GET", path_of("leagues", league, "conditions")), _Conditions)
        clock = arena.read(how.clock, TimeControl)
        words = f"{clock.in_words()}; {clock.start_s:g} s to start"
        until = "" if how.closes is None else f"; bots are taken until {how.closes}"
        print(f"{league}: {how.game} with {how.players} players; {words}; level {how.level}{until}")


def _repeat(now: Submission, folder: Path) -> None:
    """Print the command that repeats the check here. It is quoted word by word, since a stranger wrote it."""
    for finding in now.found:
        if finding.what == REPEAT:
            shown = f"./{folder}" if str(folder).startswith("-") else str(folder)
            with contextlib.suppress(ValueError):  # it is not a command
                words = [shown if word == FOLDER else word for word in shlex.split(finding.text)]
                if words[:3] == ["warpleague", "bot", "check"]:
                    print(f"the same check here: {shlex.join(words)}")


def _code(now: Submission) -> int:
    """The exit code that tells the state of a submission, one that `--wait` gives."""
    return {"accepted": 0, "refused": _REFUSED}.get(now.state, _UNDECIDED)


def wait_for(
    arena: Arena, answer: dict[str, Any], max_s: float | None = None, *, quiet: bool = False
) -> dict[str, Any]:
    """Wait until a submission is settled, at most `max_s` seconds, and print its findings as they come, unless quiet.

    The last answer about it.
    """
    end_s = float("inf") if max_s is None else time.monotonic() + max_s
    shown = 0
    while True:
        now = arena.read(answer, Submission)
        shown = 0 if quiet else print_findings(now, shown)
        if now.settled or time.monotonic() >= end_s:
            return answer
        time.sleep(PAUSE_S)
        answer = arena.ask("GET", path_of("submissions", now.id))


def print_findings(now: Submission, shown: int = 0) -> int:
    """Print the findings from this number on; how many there are."""
    from warpleague.cli.bot import print_finding  # rich

    for finding in now.found[shown:]:
        if finding.what != REPEAT:
            print_finding(finding)
    return len(now.found)


# -- ask about what was sent -------------------------------------------------------------------------------


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
    why: str
    seats: tuple[_Seat, ...]


def _arena(args: Namespace) -> Arena:
    return Arena(args.to, token_of(args.token_file), plain=args.plain_http)


def _words(args: Namespace, least: int, most: int, form: str) -> list[str]:
    if not least <= len(args.words) <= most:
        raise BadInput(f"submit {args.folder}: write  warpleague submit {args.folder} {form} --to URL")
    return list(args.words)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 18):
        raise BadInput(f"{text}: must be the number of a submission; warpleague submit status lists them")
    return int(text)


def run_status(args: Namespace) -> int:
    """List the submissions, or show one; of one the exit code tells the state."""
    arena, words = _arena(args), _words(args, 0, 1, "[NUMBER]")
    if words:
        answer = arena.ask("GET", path_of("submissions", _number(words[0])))
        if args.wait:
            answer = wait_for(arena, answer, args.max_wait, quiet=args.json)
        now = arena.read(answer, Submission)
        if args.json:
            print_json(answer)
        else:
            _print_line(now)
            if not args.wait:
                print_findings(now)
        return _code(now)
    listed, rows = _submissions(arena)
    if args.league:
        rows = [one for one in rows if one.league == args.league]
        listed = [one for one in listed if one.get("league") == args.league]
    if args.json:
        print_json(listed)
        return 0
    for row in rows:
        _print_line(row)
    if not rows:
        print("nothing was submitted yet")
    return 0


def _submissions(arena: Arena, most: int | None = None) -> tuple[Any, list[Submission]]:
    """The list of submissions as it came, and the same as rows."""
    listed = arena.ask_any("GET", path_of("submissions", most=most))
    return listed, [arena.read(one, Submission) for one in (listed if isinstance(listed, list) else [])]


def _print_line(one: Submission) -> None:
    bot = f"{one.bot} {one.version}" if one.bot else "-"
    plays = ", plays" if one.active else ""
    why = "" if one.reason is None else f": {one.reason}"
    print(f"{one.id}  {one.received}  {one.league}  {bot}  {one.state}{plays}{why}")


def _league_of(arena: Arena, args: Namespace, bot: str) -> str:
    """The league in which an author has a bot of this name."""
    if args.league or arena.page_league:
        return str(args.league or arena.page_league)
    _, rows = _submissions(arena, _ALL)
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


def run_records(args: Namespace) -> int:
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


def run_log(args: Namespace) -> int:
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


def run_watch(args: Namespace) -> int:
    """Follow a submission: its check, then its matches as they end, until Ctrl-C or a number of matches."""
    arena, words = _arena(args), _words(args, 0, 1, "[NUMBER]")
    if words:
        number = _number(words[0])
    else:
        _, rows = _submissions(arena, _ALL)
        league = args.league or arena.page_league
        sent = [one.id for one in rows if league in (None, one.league)]
        if not sent:
            raise BadInput("nothing was submitted yet")
        number = max(sent)  # versions that play come first in the list, whenever they were sent
    answer = wait_for(arena, arena.ask("GET", path_of("submissions", number)), args.max_wait, quiet=args.json)
    now = arena.read(answer, Submission)
    if args.json:
        print(json.dumps(answer), flush=True)
    else:
        _print_line(now)
    if now.state != "accepted" or now.bot is None:
        return _code(now)
    seen: set[str] = set()
    left = args.matches
    while left is None or left > 0:
        for match in reversed(_matches(arena, now.league, now.bot, _LISTED)):
            own = any(seat.content.startswith(str(now.digest)) for seat in match.seats)
            if match.match in seen or not own:
                continue
            seen.add(match.match)
            if left is not None:
                if not left:
                    break
                left -= 1
            _print_match(match, now.bot, as_json=args.json)
        if left is None or left:
            time.sleep(_LOOK_S)
    return 0


def _print_match(match: _Match, bot: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(attrs.asdict(match)), flush=True)
        return
    seats = match.seats
    bots = " – ".join(seat.bot for seat in seats)
    rank = min(seat.rank for seat in seats if seat.bot == bot)
    shared = sum(seat.rank == 1 for seat in seats) > 1
    word = (
        f"rank {rank}" if len(seats) > 2 or rank > 2 else "lost" if rank > 1 else "drawn" if shared else "won"
    )
    print(f"{match.stored}  {match.match}  {bots}  {word}, {match.why}", flush=True)


def run_activate(args: Namespace) -> int:
    """Let a version play that was accepted before."""
    arena, (text,) = _arena(args), _words(args, 1, 1, "NUMBER")
    answer = arena.ask("POST", path_of("submissions", _number(text), "activate"), b"")
    if args.json:
        print_json(answer)
    else:
        _print_line(arena.read(answer, Submission))
    return 0


def run_withdraw(args: Namespace) -> int:
    """Take a bot out of a league."""
    arena, (bot,) = _arena(args), _words(args, 1, 1, "BOT")
    league = _league_of(arena, args, bot)
    answer = arena.ask("POST", path_of("leagues", league, "bots", bot, "withdraw"), b"")
    if args.json:
        print_json(answer)
    else:
        print(f"{bot}: plays in {league} no more")
    return 0


def run_trial(args: Namespace) -> int:
    """Send a version for a trial, or name one that was accepted, and wait for the comparison."""
    arena, (text,) = _arena(args), _words(args, 1, 1, "BOT|NUMBER [--deals N]")
    league = args.league or arena.page_league
    folder = Path(text)
    if text.isascii() and text.isdecimal() and not folder.is_dir():
        wanted = {"new": _number(text), "deals": args.deals, "league": league}
        answer = arena.ask(
            "POST", path_of("trials"), json.dumps(wanted).encode(), "application/json", once=True
        )
        return _follow_trial(args, arena, answer)
    answer = arena.ask("POST", path_of("submissions", league=league, trial=args.deals), _archive(folder))
    number = answer.get("trial")
    if type(number) is not int:
        raise arena.no_arena("trial: must be its number")
    sent = arena.read(answer, Submission)
    if not args.json:
        print(f"submission {sent.id} to {sent.league}, for trial {number}: it does not play")
    if not args.no_wait:
        now = arena.read(wait_for(arena, answer, args.max_wait, quiet=args.json), Submission)
        if now.state != "accepted":
            if args.json:
                print_json(arena.ask("GET", path_of("trials", number)))
            return _code(now)
    return _follow_trial(args, arena, arena.ask("GET", path_of("trials", number)))


def _follow_trial(args: Namespace, arena: Arena, answer: dict[str, Any]) -> int:
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
    return _UNDECIDED


def _print_trial(now: Trial) -> None:
    print(f"trial {now.id} in {now.league}: {now.compares}")
    state = "" if now.state in ("played", "failed") else f"{now.state}: "
    print(f"  {state}{now.outcome}")


def run_trials(args: Namespace) -> int:
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


# -- ask for a match ---------------------------------------------------------------------------------------


def run_challenge(args: Namespace) -> int:
    """Ask for the match and wait for it; 3 if it could not be played."""
    try:
        return _challenge(args)
    except NoArena as error:
        say(f"warpleague: {error}")
        return 1


def _challenge(args: Namespace) -> int:
    arena = Arena(args.to, token_of(args.token_file), plain=args.plain_http)
    wanted = {"bot": args.bot, "opponents": args.opponents, "league": args.league or arena.page_league}
    answer = arena.ask(
        "POST", path_of("challenges"), json.dumps(wanted).encode(), "application/json", once=True
    )
    now = arena.read(answer, Challenge)
    if not args.json:
        print(f"match {now.id} in {now.league}: {' – '.join(_names(now))}")
    while not args.no_wait and now.state in ("waiting", "playing"):
        time.sleep(PAUSE_S)
        answer = arena.ask("GET", path_of("challenges", now.id))
        now = arena.read(answer, Challenge)
    if now.state == "played" and args.out is not None:
        write_file(args.out, arena.file(path_of("challenges", now.id, "record")))
    if args.json:
        print_json(answer)
    elif now.state == "failed":
        print(f"not played, which does not count: {now.why}")
    elif now.result is not None:
        _print_result(arena, now)
        print(f"record: {args.out}" if args.out else "--out FILE writes its record")
    return _UNDECIDED if now.state == "failed" else 0


def _names(now: Challenge) -> list[str]:
    return [seat.bot if seat.submission is None else f"{seat.bot} ({seat.submission})" for seat in now.seats]


def _print_result(arena: Arena, now: Challenge) -> None:
    names, result = _names(now), now.result or {}
    try:
        rows = zip(result["order"], result["ranks"], result["scores"], result["faults"], strict=True)
        for place, rank, score, faults in rows:
            fault = f", {faults[0]['kind']}: {faults[0]['message']}" if faults else ""
            print(f"{rank}  {names[place]}  score {score:g}{fault}")
        print(f"ended by {result['why']}")
    except (KeyError, TypeError, ValueError, IndexError):
        raise arena.no_arena("result: must have order, ranks, scores and faults") from None
