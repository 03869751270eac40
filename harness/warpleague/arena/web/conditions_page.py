"""The page with all that an author must know of a league before submitting a bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from warpleague.arena.submissions.conditions import Conditions, conditions_of, config_of
from warpleague.arena.submissions.limits import WORDS
from warpleague.arena.submissions.requests import Refused, in_thread
from warpleague.report.wording.match_words import conditions as condition_words

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from warpleague.arena.submissions.requests import RequestHandler
    from warpleague.arena.web.app import App


class ConditionsPage:
    """The page of a league's conditions; commands get the same as JSON."""

    def __init__(self, app: App, requests: RequestHandler) -> None:
        self._app, self._requests = app, requests

    def route(self) -> Route:
        """Its route."""
        return self._requests.route("/l/{league}/conditions", self._show)

    async def _show(self, request: Request) -> Response:
        config = self._app.leagues.get(request.path_params["league"])
        if config is None:
            raise Refused(404, "No league of this server has that name.")
        found = await in_thread(conditions_of, self._requests.ledger_if_made, config)
        return self._app.page(
            "server_conditions.html.j2",
            found=found,
            facts=facts(found),
            limits=[(found.limits[name], words) for name, words in WORDS.items()],
        )


def facts(found: Conditions) -> list[tuple[str, str]]:
    """The conditions in words, for a page and for the terminal."""
    how = config_of(found).conditions
    header = {
        "game": found.game,
        "rules": found.rules,
        "options": found.options,
        "faults": how.faults,
        "strikes": how.strikes,
        "again": how.again,
        "failures": how.failures,
        "level": how.level,
    }
    words = condition_words(header, attrs.asdict(how.clock))
    shared = "all seat orders of a deal have the same dice"
    return [
        ("game", words["game"]),
        ("players", f"{found.players} at a table"),
        ("options", words["options"]),
        ("format", found.format),
        ("dice", "each match has its own dice" if found.dice == "own" else shared),
        ("clock", words["clock"]),
        ("faults", words["faults"]),
        ("confined", f"level {words['level']}"),
        ("pondering", found.pondering),
        ("core", "bots of a match share one core" if found.affinity == "core" else "bots use all cores"),
        ("paths", ", ".join(found.paths) or "none but those of the system"),
        ("network", ", ".join(found.network) or "none"),
        ("bots", ", ".join(found.names) or "none yet"),
        ("submissions", found.closed or _taken(found)),
    ]


def _taken(found: Conditions) -> str:
    if found.matches is None:
        return "taken; results decide how many matches a new bot plays"
    return f"taken; a new bot makes {found.matches:,} more matches"
