"""The organiser's decisions about bots: who is disqualified, why, and whether its results count.

A decision is an event in the journal of the store; a later one about the same bot replaces it. Nothing
that was stored before is changed: the matches of a disqualified bot remain, with their records. A decision is about
the name of a bot in the league, so a new version of the bot stays disqualified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from warpleague.errors import BadInput, StoreError
from warpleague.league.store.database import SPARE
from warpleague.text import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpleague.league.store.events import Event
    from warpleague.league.store.store import Store

Results = Literal["stay", "out"]
RULES: Final[tuple[Results, ...]] = ("stay", "out")
"""The rule for the results of a disqualified bot.

"stay": the matches it has played count for everyone. "out": no match it played in counts for anyone.
"""

_DISQUALIFIED: Final = "disqualified"
_REINSTATED: Final = "reinstated"
KINDS: Final = (_DISQUALIFIED, _REINSTATED)
"""The kinds of events that are decisions."""

_REASON_LENGTH: Final = 500


@attrs.frozen
class Disqualification:
    """That a bot is disqualified: why, by which rule for its results, and since when (ISO time)."""

    bot: str
    reason: str
    results: Results
    since: str

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return attrs.asdict(self)


def disqualified(store: Store) -> dict[str, Disqualification]:
    """Every bot that is disqualified now, by name; `StoreError` if the store is damaged."""
    return in_force(store, store.events(*KINDS))


def in_force(store: Store, decisions: Iterable[Event]) -> dict[str, Disqualification]:
    """Every bot that is disqualified after these decisions of a store, by name; `StoreError` if it is damaged."""
    by_bot: dict[str, Disqualification] = {}
    for event in decisions:
        texts = [event.details.get(key) for key in ("bot", "reason", "results")]
        bot, reason, results = (text if isinstance(text, str) else "" for text in texts)
        by_bot.pop(bot, None)
        if event.kind == _DISQUALIFIED:
            if not bot or results not in RULES:
                raise StoreError(f"{store.path}: is damaged: its decisions: {event.details}; {SPARE}")
            by_bot[bot] = Disqualification(bot, reason, "out" if results == "out" else "stay", event.stored)
    return by_bot


def disqualify(store: Store, bot: str, reason: str, results: Results) -> Disqualification:
    """Enter into the journal that `bot`, a bot of the last run, is disqualified.

    `BadInput` for a name that no bot has, or a reason that cannot be shown in one line.
    """
    check_disqualify(store, bot, reason)
    digest = next(entrant.digest for entrant in store.bots() or () if entrant.bot == bot)
    store.note(_DISQUALIFIED, {"bot": bot, "digest": digest, "reason": reason, "results": results})
    return disqualified(store)[bot]


def reinstate(store: Store, bot: str, reason: str) -> None:
    """End the disqualification of `bot`. Raises `BadInput` if there is none, or for a bad reason as above."""
    check_reinstate(store, bot, reason)
    store.note(_REINSTATED, {"bot": bot, "reason": reason})


def check_disqualify(store: Store, bot: str, reason: str) -> None:
    """Raise `BadInput` if `disqualify` would."""
    _check_name(bot, [entrant.bot for entrant in store.bots() or ()])
    _check_reason(reason)


def check_reinstate(store: Store, bot: str, reason: str, coming: Iterable[str] = ()) -> None:
    """Raise `BadInput` if `reinstate` would, once the bots `coming` are disqualified, too."""
    known = [*disqualified(store), *coming]
    if not known:
        raise BadInput(f"{bot}: no bot of this league is disqualified")
    _check_name(bot, known)
    _check_reason(reason)


def _check_name(bot: str, known: Sequence[str]) -> None:
    if bot not in known:
        raise BadInput(f"no bot is called {bot!r}; {nearest(bot, known)}")


def _check_reason(reason: str) -> None:
    if not (0 < len(reason) <= _REASON_LENGTH and reason.isprintable() and reason.strip()):
        raise BadInput(f"--reason: must be 1 to {_REASON_LENGTH} printable characters, on one line")
