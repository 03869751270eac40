"""Organise an arena: its authors, their invitations, and the bots that they submit.

Decisions about its leagues are in `arena_league`, which loads far more.
"""

from __future__ import annotations

import getpass
import json
from typing import TYPE_CHECKING

import attrs

from warpleague.arena.submissions import accounts
from warpleague.arena.submissions.accounts import invitations, invite, revoke_invitation
from warpleague.arena.submissions.ledger import FILE, WORDS, Ledger, journal_words, set_limit
from warpleague.cli.common import print_json
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace


def open_ledger(args: Namespace, *, made: bool = True) -> Ledger:
    """The arena's file; unless `made` it must be there."""
    if not made and not (args.results / FILE).is_file():
        raise BadInput(
            f"{args.results}: there is no arena in this folder; --results names the arena's folder"
        )
    return Ledger.open(args.results)


def user() -> str:
    """Who gives this command, for the audit journal."""
    try:
        return f"{getpass.getuser()} at the command line"
    except (OSError, KeyError):
        return "the command line"


# -- authors ---------------------------------------------------------------------------------------------


def run_author_list(args: Namespace) -> int:
    """List the authors."""
    with open_ledger(args) as ledger:
        authors, teams = accounts.authors(ledger), accounts.members(ledger)
    if args.json:
        hidden = attrs.filters.exclude("member", "member_id")
        print_json(
            [attrs.asdict(author, filter=hidden) | {"members": teams[author.name]} for author in authors]
        )
        return 0
    for author in authors:
        role = "  organiser" if author.organiser else ""
        until = f"  revoked {author.revoked}" if author.revoked else ""
        team = f"  members {', '.join(teams[author.name])}" if teams[author.name] else ""
        print(f"{author.name}  since {author.added}{role}{until}{team}")
    return 0


def run_author_add(args: Namespace) -> int:
    """Add an author."""
    with open_ledger(args) as ledger:
        token = accounts.add_author(ledger, args.name, user(), organiser=args.organiser)
    return _print_token(args, token)


def run_author_renew(args: Namespace) -> int:
    """Give an author a new token."""
    with open_ledger(args) as ledger:
        token = accounts.renew_token(ledger, args.name, user())
    return _print_token(args, token)


def _print_token(args: Namespace, token: str) -> int:
    if args.json:
        print_json({"author": args.name, "token": token})
    else:
        print(f"{args.name}: this token is shown only now; give it to nobody else:\n{token}")
    return 0


def run_author_revoke(args: Namespace) -> int:
    """End the token of an author."""
    with open_ledger(args) as ledger:
        accounts.revoke(ledger, args.name, user())
    if args.json:
        print_json({"author": args.name, "revoked": True})
    else:
        print(f"{args.name}: the token has ended; the bots stay")
    return 0


def run_add_member(args: Namespace) -> int:
    """Give a member of a team a token."""
    with open_ledger(args) as ledger:
        token = accounts.add_member(ledger, args.name, args.member, user())
    if args.json:
        print_json({"author": args.name, "member": args.member, "token": token})
    else:
        print(f"{args.member} of {args.name}: this token is shown only now; give it to nobody else:\n{token}")
    return 0


def run_remove_member(args: Namespace) -> int:
    """End the token of a member."""
    with open_ledger(args) as ledger:
        accounts.remove_member(ledger, args.name, args.member, user())
    if args.json:
        print_json({"author": args.name, "member": args.member, "removed": True})
    else:
        print(f"{args.member}: the token has ended; the bots of {args.name} stay")
    return 0


# -- invitations -----------------------------------------------------------------------------------------


def run_invite(args: Namespace) -> int:
    """Print a link with which people become authors."""
    with open_ledger(args) as ledger:
        secret = invite(ledger, user(), uses=args.uses, days=args.days, note=args.note)
    link = f"{args.to.rstrip('/')}/join/{secret}"
    if args.json:
        print_json(
            {"invitation": int(secret.split("-")[1]), "link": link, "uses": args.uses, "days": args.days}
        )
    else:
        print(f"this link is shown only now; whoever has it can become an author:\n{link}")
    return 0


def run_invitations(args: Namespace) -> int:
    """List the invitations."""
    with open_ledger(args, made=False) as ledger:
        listed = invitations(ledger)
    if args.json:
        print_json([attrs.asdict(invitation) for invitation in listed])
        return 0
    for invitation in listed:
        note = f"  {invitation.note}" if invitation.note else ""
        until = f"  revoked {invitation.revoked}" if invitation.revoked else ""
        print(
            f"{invitation.id}  used {invitation.used} of {invitation.uses}  ends {invitation.ends}{until}{note}"
        )
    return 0


def run_uninvite(args: Namespace) -> int:
    """End an invitation."""
    with open_ledger(args, made=False) as ledger:
        revoke_invitation(ledger, args.number, user())
    if args.json:
        print_json({"invitation": args.number, "revoked": True})
    else:
        print(f"invitation {args.number}: is no longer valid")
    return 0


# -- submissions -----------------------------------------------------------------------------------------


def run_limits(args: Namespace) -> int:
    """Change limits, and print all."""
    changes = []
    for change in args.change:
        key, sign, text = change.partition("=")
        if not sign or not text.isdecimal() or len(text) > 9:
            raise BadInput(f"{change!r}: must be KEY=NUMBER, such as per_day=5")
        changes.append((key, int(text)))
    with open_ledger(args) as ledger:
        for key, number in changes:
            set_limit(ledger, key, number, user())
        limits = attrs.asdict(ledger.limits)
    if args.json:
        print_json(limits)
        return 0
    for key, value in limits.items():
        print(f"{key:<11}{value:>6}  {WORDS[key]}")
    return 0


def run_submissions(args: Namespace) -> int:
    """List the submissions."""
    from warpleague.arena.submissions import versions  # loads what reads bots, for these two

    with open_ledger(args, made=False) as ledger:
        if args.author is not None:
            accounts.author_named(ledger, args.author)
        submissions = versions.submissions(ledger, args.author, args.most)
    if args.json:
        print_json([submission.to_json() for submission in submissions])
        return 0
    for submission in submissions:
        bot = f"{submission.bot} {submission.version}" if submission.bot else "-"
        active = ", active" if submission.active else ""
        why = "" if submission.reason is None else f": {submission.reason}"
        print(
            f"{submission.id}  {submission.received}  {submission.author}  {submission.league}  {bot}  "
            f"{submission.state}{active}{why}"
        )
    return 0


def run_export(args: Namespace) -> int:
    """Write the archives and the list of all submissions."""
    from warpleague.arena.submissions import versions  # loads what reads bots, for these two

    try:
        args.out.mkdir(parents=True, exist_ok=True)
        with open_ledger(args, made=False) as ledger:
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


def run_journal(args: Namespace) -> int:
    """List all actions and who did them."""
    with open_ledger(args, made=False) as ledger:
        entries = ledger.journal(args.most)
    if args.json:
        print_json([attrs.asdict(entry) for entry in entries])
        return 0
    for entry in entries:
        print(f"{entry.at}  {entry.who}: {journal_words(entry)}")
    return 0
