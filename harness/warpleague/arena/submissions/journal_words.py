"""Puts entries of the audit journal and decisions of organisers into sentences, for pages and the terminal."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from warpleague.arena.submissions.limits import WORDS
from warpleague.arena.submissions.workers import SANDBOX
from warpleague.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpleague.arena.submissions.entering import Decision
    from warpleague.arena.submissions.ledger import Entry

_SENTENCES: Final = {
    "member added": "{member} is a member of the team of {author}, with a token of their own",
    "member removed": "{member} is no longer a member of the team of {author}",
    "token renewed": "{author} has a new token, and the old one is no longer valid",
    "token revoked": "{author} can no longer submit bots: the token is revoked",
    "invitation revoked": "invitation {invitation} is no longer valid",
    "submission received": "sent submission {submission} to {league}",
    "submission accepted": "submission {submission} is accepted: {bot} {version} may play in {league}",
    "submission refused": "submission {submission} to {league}{which} is refused: {text}",
    "submission failed": "submission {submission} to {league} could not be checked: {text}",
    "bot withdrawn": "took {bot} out of {league}",
    "version activated": "lets submission {submission} of {bot} play in {league}",
    "match on demand": "asked for match on demand {number} in {league}",
    "trial": "asked for trial {number} of submission {submission} in {league}",
    "disqualify": "asks to disqualify {bot} in {league}: {reason}",
    "reinstate": "asks to let {bot} play again in {league}: {reason}",
    "replay": "asks to declare match {match} of {league} void: {reason}",
    "disqualify done": "disqualification in {league}: {answer}",
    "reinstate done": "return of a bot in {league}: {answer}",
    "replay done": "void match in {league}: {answer}",
    "on_event failed": "the command of {league} for events failed: {why}",
}
_DECISIONS: Final = {
    "disqualify": "disqualify {bot} ({reason})",
    "reinstate": "let {bot} play again ({reason})",
    "replay": "declare match {match} void ({reason})",
}


def journal_words(entry: Entry) -> str:
    """An entry of the audit journal as a sentence that follows the name of who made it."""
    said = entry.said
    match entry.what:
        case "set":
            return _set_words(str(said.get("key", "")), said.get("value"))
        case "author added":
            return f"{said.get('author')} is a new {'organiser' if said.get('organiser') else 'author'}"
        case "session begun":
            return f"signed in as {said['member']} of the team" if said.get("member") else "signed in"
        case "invitation made":
            note = f" ({said['note']})" if said.get("note") else ""
            uses = counted(int(said.get("uses") or 0), "person", "people")
            return f"made invitation {said.get('invitation')}{note} for {uses}, until {str(said.get('ends'))[:10]}"
        case "submission refused" if said.get("bot"):  # one that cannot be read has no name
            said = {**said, "which": f" ({said['bot']} {said.get('version', '')})".replace(" )", ")")}
    words = _SENTENCES.get(entry.what)
    if words is None:
        more = ", ".join(f"{name} {value}" for name, value in said.items() if value not in (None, ""))
        return f"{entry.what}: {more}" if more else entry.what
    return _filled(words, said)


def decision_words(decision: Decision) -> str:
    """A decision of an organiser about a league, as words that follow "asked to"."""
    return _filled(_DECISIONS[decision.what], decision.said)


def _filled(words: str, said: Mapping[str, Any]) -> str:
    """The sentence with the particulars; one that an entry lacks, such as a version without a name, is left out."""
    known = defaultdict(str, {name: value for name, value in said.items() if value is not None})
    return " ".join(words.format_map(known).split()).removesuffix(":")


def _set_words(key: str, value: Any) -> str:
    what, _, name = key.partition(" ")
    if what == "paused":
        return f"{name} is paused" if value else f"{name} continues after a pause"
    if what == "closed":
        return f"{name} takes no more submissions"
    if what == "extended" and value:
        numbers = json.loads(str(value))
        return f"{name} is extended: " + ", ".join(
            f"{number:,} {unit.replace('max_', '')} in all" for unit, number in numbers.items()
        )
    if what == "limit" and name in WORDS:
        return f"the limit is now {value} {WORDS[name]}"
    if key == SANDBOX:
        return (
            "the sandbox of this machine holds" if value == "holds" else f"the sandbox does not hold: {value}"
        )
    return f"{key}: {value or 'removed'}"
