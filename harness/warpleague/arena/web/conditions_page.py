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
        conditions = await in_thread(conditions_of, self._requests.ledger_if_made, config)
        return self._app.page(
            "server_conditions.html.j2",
            found=conditions,
            facts=facts(conditions),
            limits=[(conditions.limits[name], words) for name, words in WORDS.items()],
        )


def facts(conditions: Conditions) -> list[tuple[str, str]]:
    """The conditions in words, for a page and for the terminal."""
    how = config_of(conditions).conditions
    header = {
        "game": conditions.game,
        "rules": conditions.rules,
        "options": conditions.options,
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
        ("players", f"{conditions.players} at a table"),
        ("options", words["options"]),
        ("format", conditions.format),
        ("dice", "each match has its own dice" if conditions.dice == "own" else shared),
        ("clock", words["clock"]),
        ("faults", words["faults"]),
        ("confined", f"level {words['level']}"),
        ("pondering", conditions.pondering),
        ("core", "bots of a match share one core" if conditions.affinity == "core" else "bots use all cores"),
        ("paths", ", ".join(conditions.paths) or "none but those of the system"),
        ("network", ", ".join(conditions.network) or "none"),
        ("bots", ", ".join(conditions.names) or "none yet"),
        ("submissions", conditions.closed or _taken(conditions)),
    ]


def _taken(conditions: Conditions) -> str:
    if conditions.matches is None:
        return "taken; results decide how many matches a new bot plays"
    return f"taken; a new bot makes {conditions.matches:,} more matches"
