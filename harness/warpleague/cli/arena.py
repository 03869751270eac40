"""Organise an arena: its authors, the bots that they submit, and your decisions about its leagues.

If a league is being played, a decision about it takes effect within seconds.
"""

from __future__ import annotations

import json
from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from warpleague.cli.arena_challenge import configure_challenge
from warpleague.cli.arena_play import configure_play
from warpleague.cli.common import RESULTS, add_examples, add_verb, count, print_json
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse
    import threading
    from types import FrameType

    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.league.season.config import LeagueConfig

GROUPS: Final = {
    "run an arena": ("play", "check", "play-challenges"),
    "ask for a match": ("challenge",),
    "authors and their submissions": (
        *("author", "invite", "invitations", "uninvite"),
        *("limits", "submissions", "export"),
    ),
    "decide about a league": ("pause", "resume", "extend", "close", "disqualify", "reinstate", "replay"),
    "look back": ("journal",),
}
"""The commands by the titles under which the help lists them."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague arena`."""
    verbs = parser.add_subparsers(required=True)
    configure_play(verbs)
    _configure_authors(add_verb(verbs, "author", "add an author, list the authors, renew or end a token"))
    _configure_invitations(verbs)
    limits = _verb(verbs, "limits", "show the limits for submissions, or change them", _run_limits)
    limits.add_argument(
        "change",
        nargs="*",
        metavar="KEY=NUMBER",
        help="a limit and its new value, such as per_day=5 (default: show all)",
    )
    add_examples(limits, "arena limits", "arena limits per_day=5 build_s=120")
    listing = _verb(
        verbs,
        "submissions",
        "list the submissions, the newest first, and why bots were refused",
        _run_submissions,
    )
    listing.add_argument("--author", metavar="NAME", help="only submissions of this author")
    listing.add_argument(
        "--most", type=count(1), default=100, metavar="N", help="list at most N (default 100)"
    )
    add_examples(listing, "arena submissions --author ada")
    check = _verb(verbs, "check", "check submitted bots, until you stop it", _run_check)
    check.add_argument(
        "config", type=Path, nargs="+", metavar="LEAGUE", help="the file of a league; several are possible"
    )
    check.add_argument("--once", action="store_true", help="end as soon as nothing is left to check")
    check.add_argument("--end-with-parent", "--tied", action="store_true", help=SUPPRESS)
    add_examples(check, "arena check leagues/open.toml")
    played = _verb(verbs, "play-challenges", "play matches on demand, until you stop it", _run_challenges)
    played.add_argument(
        "config", type=Path, nargs="+", metavar="LEAGUE", help="the file of a league; several are possible"
    )
    played.add_argument("--once", action="store_true", help="end as soon as none waits")
    played.add_argument("--end-with-parent", action="store_true", help=SUPPRESS)
    add_examples(played, "arena play-challenges leagues/open.toml")
    configure_challenge(verbs)
    _configure_decisions(verbs)
    journal = _verb(verbs, "journal", "list all actions and who did them, the newest first", _run_journal)
    journal.add_argument(
        "--most", type=count(1), default=100, metavar="N", help="list at most N (default 100)"
    )
    add_examples(journal, "arena journal --most 20")
    export = _verb(
        verbs, "export", "write all submissions to a folder: their archives and a list", _run_export
    )
    export.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="the folder, which is created if it is missing"
    )
    add_examples(export, "arena export --out submitted")


def _verb(verbs: Any, name: str, what: str, handler: Any) -> argparse.ArgumentParser:
    parser = add_verb(verbs, name, what)
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help="the folder of all results (default: results)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(handler=handler)
    return parser


def _configure_authors(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(required=True)
    add_examples(parser, "arena author add ada", "arena author list --json")
    for name, what in {
        "add": "add an author, and print a token, which is shown only now",
        "renew": "give an author a new token; the old one is no longer valid",
        "revoke": "make the token of an author invalid; the author's bots stay",
    }.items():
        verb = _verb(verbs, name, what, _run_author)
        verb.add_argument("name", metavar="NAME", help="the name of the author")
        if name == "add":
            verb.add_argument(
                "--organiser",
                action="store_true",
                help="this author may also organise the arena, on a page of its own",
            )
        verb.set_defaults(action=name)
        add_examples(verb, f"arena author {name} ada")
    for name, what in {
        "add-member": "give a member of a team, which is one author, a token of its own, which is shown only now",
        "remove-member": "end the token of a member of a team",
    }.items():
        verb = _verb(verbs, name, what, _run_member)
        verb.add_argument("name", metavar="NAME", help="the name of the author")
        verb.add_argument("member", metavar="MEMBER", help="the name of the member")
        verb.set_defaults(action=name)
        add_examples(verb, f"arena author {name} ada bob")
    listing = _verb(verbs, "list", "list the authors", _run_author)
    listing.set_defaults(action="list")
    add_examples(listing, "arena author list --json")


def _configure_decisions(verbs: Any) -> None:
    for name, what in {
        "pause": "let no new matches of a league begin",
        "resume": "continue a paused league",
        "extend": "play more matches: more deals, or a longer ladder",
        "close": "take no more submissions, and end the season as soon as its matches are played",
        "disqualify": "take a bot out of a league, for a reason that everybody can read",
        "reinstate": "let a disqualified bot play again",
        "replay": "declare a match void, so that it is played again",
    }.items():
        verb = _verb(verbs, name, what, _run_decision)
        verb.set_defaults(action=name)
        verb.add_argument("config", type=Path, metavar="LEAGUE", help="the file of the league")
        if name == "extend":
            verb.add_argument(
                "--deals", type=count(1), metavar="N", help="the number of deals of each table in all"
            )
            verb.add_argument(
                "--matches", type=count(1), metavar="N", help="the number of matches of the ladder in all"
            )
        if name in ("disqualify", "reinstate"):
            verb.add_argument("bot", metavar="BOT", help="the name of the bot in the league")
        if name == "replay":
            verb.add_argument("match", metavar="MATCH", help="the id of the match, or its beginning")
        if name in ("disqualify", "reinstate", "replay"):
            verb.add_argument(
                "--reason",
                required=True,
                metavar="TEXT",
                help="the reason, in one line, which everybody can read",
            )
        if name == "disqualify":
            verb.add_argument(
                "--its-results",
                choices=("stay", "out"),
                default="stay",
                help="stay (default): its matches so far still count; out: they count for nobody",
            )
        words = {
            "extend": "--deals 4",
            "disqualify": 'my-bot --reason "a copy"',
            "reinstate": 'my-bot --reason "no copy"',
            "replay": '0123ab --reason "no power"',
        }
        add_examples(verb, f"arena {name} leagues/open.toml {words.get(name, '')}".rstrip())


def _ledger(args: argparse.Namespace, *, made: bool = True) -> Ledger:
    """The arena's file; unless `made` it must be there."""
    from warpleague.arena.submissions.ledger import FILE, Ledger

    if not made and not (args.results / FILE).is_file():
        raise BadInput(
            f"{args.results}: there is no arena in this folder; --results names the arena's folder"
        )
    return Ledger.open(args.results)


def _who() -> str:
    """Who gives this command, for the audit journal."""
    import getpass

    try:
        return f"{getpass.getuser()} at the command line"
    except (OSError, KeyError):
        return "the command line"


def _run_author(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions import accounts

    with _ledger(args) as ledger:
        if args.action == "list":
            known, teams = accounts.authors(ledger), accounts.members(ledger)
            if args.json:
                hidden = attrs.filters.exclude("member", "member_id")
                print_json([attrs.asdict(one, filter=hidden) | {"members": teams[one.name]} for one in known])
            for author in () if args.json else known:
                role = "  organiser" if author.organiser else ""
                until = f"  revoked {author.revoked}" if author.revoked else ""
                team = f"  members {', '.join(teams[author.name])}" if teams[author.name] else ""
                print(f"{author.name}  since {author.added}{role}{until}{team}")
            return 0
        if args.action == "revoke":
            accounts.revoke(ledger, args.name, _who())
            if args.json:
                print_json({"author": args.name, "revoked": True})
            else:
                print(f"{args.name}: the token has ended; the bots stay")
            return 0
        if args.action == "add":
            token = accounts.add_author(ledger, args.name, _who(), organiser=args.organiser)
        else:
            token = accounts.renew_token(ledger, args.name, _who())
    if args.json:
        print_json({"author": args.name, "token": token})
    else:
        print(f"{args.name}: this token is shown only now; give it to nobody else:\n{token}")
    return 0


def _run_member(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions import accounts

    with _ledger(args) as ledger:
        if args.action == "remove-member":
            accounts.remove_member(ledger, args.name, args.member, _who())
            output: dict[str, Any] = {"removed": True}
            text = f"{args.member}: the token has ended; the bots of {args.name} stay"
        else:
            output = {"token": accounts.add_member(ledger, args.name, args.member, _who())}
            text = f"{args.member} of {args.name}: this token is shown only now; give it to nobody else:\n"
            text += output["token"]
    if args.json:
        print_json({"author": args.name, "member": args.member, **output})
    else:
        print(text)
    return 0


def _configure_invitations(verbs: Any) -> None:
    invite = _verb(verbs, "invite", "print a link with which people make themselves authors", _run_invite)
    invite.add_argument(
        "--uses", type=count(1), default=1, metavar="N", help="the number of authors (default 1)"
    )
    invite.add_argument(
        "--days",
        type=count(1),
        default=14,
        metavar="N",
        help="the number of days that it is valid (default 14)",
    )
    invite.add_argument(
        "--note", default="", metavar="TEXT", help="a note for organisers, such as the name of a course"
    )
    invite.add_argument("--to", default="", metavar="URL", help="the address of the arena, for the link")
    add_examples(invite, "arena invite --uses 30 --to https://arena.example.org")
    listing = _verb(verbs, "invitations", "list the invitations, the newest first", _run_invitations)
    add_examples(listing, "arena invitations --json")
    revoke = _verb(verbs, "uninvite", "end an invitation; the authors who came with it stay", _run_uninvite)
    revoke.add_argument("number", type=count(1), metavar="NUMBER", help="the number of the invitation")
    add_examples(revoke, "arena uninvite 3")


def _run_invite(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.accounts import invite

    with _ledger(args) as ledger:
        secret = invite(ledger, _who(), uses=args.uses, days=args.days, note=args.note)
    link = f"{args.to.rstrip('/')}/join/{secret}"
    if args.json:
        print_json(
            {"invitation": int(secret.split("-")[1]), "link": link, "uses": args.uses, "days": args.days}
        )
    else:
        print(f"this link is shown only now; whoever has it can become an author:\n{link}")
    return 0


def _run_invitations(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.accounts import invitations

    with _ledger(args, made=False) as ledger:
        listed = invitations(ledger)
    if args.json:
        print_json([attrs.asdict(one) for one in listed])
    for one in () if args.json else listed:
        note = f"  {one.note}" if one.note else ""
        until = f"  revoked {one.revoked}" if one.revoked else ""
        print(f"{one.id}  used {one.used} of {one.uses}  ends {one.ends}{until}{note}")
    return 0


def _run_uninvite(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.accounts import revoke_invitation

    with _ledger(args, made=False) as ledger:
        revoke_invitation(ledger, args.number, _who())
    if args.json:
        print_json({"invitation": args.number, "revoked": True})
    else:
        print(f"invitation {args.number}: is no longer valid")
    return 0


def _run_limits(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.ledger import WORDS, limits_of, set_limit

    changes = []
    for change in args.change:
        key, sign, text = change.partition("=")
        if not sign or not text.isdecimal() or len(text) > 9:
            raise BadInput(f"{change!r}: must be KEY=NUMBER, such as per_day=5")
        changes.append((key, int(text)))
    with _ledger(args) as ledger:
        for key, number in changes:
            set_limit(ledger, key, number, _who())
        limits = attrs.asdict(limits_of(ledger))
    if args.json:
        print_json(limits)
    for key, value in {}.items() if args.json else limits.items():
        print(f"{key:<11}{value:>6}  {WORDS[key]}")
    return 0


def _run_submissions(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions import versions

    with _ledger(args, made=False) as ledger:
        submissions = versions.submissions(ledger, args.author, args.most)
    if args.json:
        print_json([one.to_json() for one in submissions])
    for one in () if args.json else submissions:
        bot = f"{one.bot} {one.version}" if one.bot else "-"
        active = ", active" if one.active else ""
        why = "" if one.reason is None else f": {one.reason}"
        print(f"{one.id}  {one.received}  {one.author}  {one.league}  {bot}  {one.state}{active}{why}")
    return 0


def _run_check(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.workers import run_checker

    leagues, stopped = _begin(args)
    with _ledger(args) as ledger:
        run_checker(ledger, leagues, stopped.wait, once=args.once)
    return 0


def _run_challenges(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.workers import lower_priority, run_challenges

    leagues, stopped = _begin(args)
    lower_priority()
    with _ledger(args) as ledger:
        run_challenges(ledger, leagues, stopped.wait, once=args.once)
    return 0


def _begin(args: argparse.Namespace) -> tuple[dict[str, LeagueConfig], threading.Event]:
    """The leagues of a process that works for an arena until it is stopped, and what says that it is."""
    import os
    import signal
    import threading

    from warpleague.arena.submissions.entering import check_league

    leagues = _leagues(args.config)
    for config in leagues.values():
        check_league(config)
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stopped.is_set():
            os._exit(130)  # the check goes on from its start the next time
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if args.end_with_parent:
        from warpleague.arena.processes import end_with_parent

        end_with_parent()
    return leagues, stopped


def _leagues(paths: list[Path]) -> dict[str, LeagueConfig]:
    from warpleague.league.season.config import load_config

    leagues = {}
    for path in paths:
        config = load_config(path, without_bots=True)
        if config.name in leagues:
            raise BadInput(f"{path}: name: there is another league called {config.name}")
        leagues[config.name] = config
    return leagues


def _run_decision(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions import entering

    (config,) = _leagues([args.config]).values()
    name, what = config.name, args.action
    given: dict[str, Any] = {}
    with _ledger(args) as ledger:
        match what:
            case "pause" | "resume":
                entering.pause(ledger, name, _who(), on=what == "pause")
                text = "no more matches begin" if what == "pause" else "its matches begin again"
            case "close":
                entering.close(ledger, name, _who())
                text = "takes no more submissions; the season is over when its matches are played"
            case "extend":
                more = {"deals": args.deals, "max_matches": args.matches}
                given = {key: value for key, value in more.items() if value is not None}
                if not given:
                    raise BadInput("extend: by what? --deals N or --matches N")
                entering.extend(ledger, config, _who(), **given)
                text = "extended"
            case _:
                keys = {"disqualify": ("bot", "reason"), "reinstate": ("bot", "reason")}
                given = {key: getattr(args, key) for key in keys.get(what, ("match", "reason"))}
                if what == "disqualify":
                    given["results"] = args.its_results
                entering.ask(ledger, name, what, _who(), **given)
                text = f"{what} {given.get('bot', given.get('match'))}: done when the league is played next"
    if args.json:
        print_json({"league": name, "what": what, **given})
    else:
        print(f"{name}: {text}")
    return 0


def _run_journal(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions.ledger import journal_words

    with _ledger(args, made=False) as ledger:
        entries = ledger.journal(args.most)
    if args.json:
        print_json([attrs.asdict(entry) for entry in entries])
    for entry in () if args.json else entries:
        print(f"{entry.at}  {entry.who}: {journal_words(entry)}")
    return 0


def _run_export(args: argparse.Namespace) -> int:
    from warpleague.arena.submissions import versions

    try:
        args.out.mkdir(parents=True, exist_ok=True)
        with _ledger(args, made=False) as ledger:
            submissions = versions.submissions(ledger, most=1_000_000)
            written = []
            for one in submissions:
                data = versions.stored_archive(ledger, one.id)
                if data is not None:
                    path = args.out / f"{one.league}-{one.bot or 'bot'}-{one.id}.archive"
                    path.write_bytes(data)
                    written.append(str(path))
        text = json.dumps([one.to_json() for one in submissions], indent=2)
        (args.out / "submissions.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{args.out}: cannot write there: {error.strerror}") from None
    if args.json:
        print_json({"submissions": len(submissions), "archives": written})
    else:
        print(
            f"{counted(len(submissions), 'submission')}, {counted(len(written), 'archive')} written to {args.out}"
        )
    return 0
