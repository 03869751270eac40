"""Every error Warp League raises on purpose; what is not here is a bug and keeps its traceback.

`warpleague.cli` turns them into exit codes.

WarpLeagueError
├── BadInput            the user gave something wrong: exit code 2, no traceback
│   ├── OptionsError        game options that do not fit
│   ├── PositionError       an invalid position file
│   ├── ConfigError         a league or bot file that does not fit
│   │   └── EntrantsError       several bots of a league that cannot take part
│   ├── BotError            a bot folder that cannot be bundled, built or started
│   │   ├── BuildError          its build fails, or takes too much
│   │   └── MissingToolchain    its interpreter or compiler is not installed here
│   ├── RecordError         a record that is damaged or does not verify
│   └── StoreError          a result store that belongs to another league, or is in use
├── ActionError         a bot asked for something its game does not allow: a fault of the bot
└── HarnessFault        the harness or its host failed: the match is void, nobody loses
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class WarpLeagueError(Exception):
    """The root of all errors raised on purpose."""


class BadInput(WarpLeagueError):
    """The user's input cannot be used; the text says where and what to do about it."""


class OptionsError(BadInput):
    """Game options that are unknown, of the wrong type, or do not go together."""


class PositionError(BadInput):
    """A position that cannot be loaded; the text names the field."""


class ConfigError(BadInput):
    """A league or bot file that does not fit; the text names file and key."""


class EntrantsError(ConfigError):
    """Several bots of a league that cannot take part: `problems` has one for each, the text a line."""

    def __init__(self, text: str, problems: Sequence[Any]) -> None:
        super().__init__(text)
        self.problems = tuple(problems)


class BotError(BadInput):
    """A bot folder that cannot be bundled, built or started."""


class BuildError(BotError):
    """A bot whose build fails, or takes too much of anything."""


class MissingToolchain(BotError):
    """A bot whose interpreter or compiler is not installed on this machine."""


class RecordError(BadInput):
    """A record that is damaged; the text names the line."""


class StoreError(BadInput):
    """A result store that cannot be used as asked."""


class ActionError(WarpLeagueError):
    """An action that the rules do not allow now; the text is sent to the bot."""


class HarnessFault(WarpLeagueError):
    """The harness or its host failed; the match is void."""


class ServiceFailed(HarnessFault):
    """A bot's service failed, and the league lets that make the match void."""


def interrupt_behind(error: BaseException) -> KeyboardInterrupt | None:
    """The Ctrl-C that an error of a lock hides, if there is one.

    A wait of `threading` first lets go of its lock. A Ctrl-C at this moment leaves the lock free, and the `with`
    around the wait then fails to free it: this failure is raised, with the Ctrl-C only as its context.
    """
    if isinstance(error, RuntimeError) and "un-acquired lock" in str(error):
        cause = error.__context__
        return cause if isinstance(cause, KeyboardInterrupt) else None
    return None
