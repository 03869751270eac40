"""The page of one match: its replay, result, conditions, and how to check it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from warpleague.match.confinement import Confinement
from warpleague.report.site.frames import pack_replay
from warpleague.report.site.page_frame import alone, linked, render
from warpleague.report.site.wording import conditions, number, one_line, outcome

if TYPE_CHECKING:
    from warpleague.match.replay import Replay
    from warpleague.report.site.wording import Facts


def page_alone(replay: Replay, name: str) -> bytes:
    """One page that needs no other file, of the record in the file `name`; `RecordError` if that does not hold."""
    checks = [
        ("Execute the record again, dice included:", _command("replay", "verify", name)),
        ("Play the match again, with the same bots:", _command("reproduce", name)),
    ]
    block, match = _content(replay, checks)
    return render("match.html.j2", frame=alone("match"), match=match, block=block, stamp="")


def page_linked(replay: Replay, *, league: str, home: str, root: str, export: str, stamp: str) -> bytes:
    """The page of a match as a part of a site.

    `home` is the address of the league's page, `root` of the site's folder, both as seen from this page; `export`
    is the command that writes the record. `stamp` is a hash of what the page was made from.
    """
    record = f"{replay.header['id']}.jsonl"
    checks = [
        ("Write the record to a file:", export),
        ("Execute it again, dice included:", _command("replay", "verify", record)),
    ]
    block, match = _content(replay, checks)
    match |= {"league": one_line(league), "home": home}
    return render("match.html.j2", frame=linked("match", root, stamp), match=match, block=block, stamp=stamp)


def _content(replay: Replay, checks: list[tuple[str, str]]) -> tuple[str, dict[str, Any]]:
    """The packed replay, and what the template says of the match; executes the record."""
    header = replay.header
    names = [one_line(seat["bot"]) for seat in header["seats"]]
    clock = _clock(header)
    has_bank = "bank_s" in clock or "increment_s" in clock
    head = {
        "seats": [{"bot": name} for name in names],
        "bank": float(clock.get("bank_s") or 0.0) if has_bank else None,
    }
    faults: list[list[dict[str, Any]]] = [[] for _ in names]
    block, end = pack_replay(replay, head, faults)
    ranks, scores = end["ranks"], end["scores"]
    seats = [
        {
            "seat": seat,
            "bot": name,
            "rank": ranks[seat],
            "score": number(scores[seat]),
            "faults": faults[seat],
        }
        for seat, name in enumerate(names)
    ]
    rival = end.get("rival")
    match = {
        "game": header["game"],
        "title": replay.game.title,
        "names": names,
        "seats": seats,
        "parts": [
            {"name": one_line(part).replace("_", " "), "of": [number(value) for value in values]}
            for part, values in end["breakdown"].items()
        ],
        "rival": None if rival is None else {"score": number(rival), "rank": 2 if ranks[0] == 1 else 1},
        "outcome": outcome(names, ranks, scores, rival, end["why"]),
        "facts": _facts(header, end),
        "checks": checks,
        "home": "",
    }
    return block, match


def _command(*words: str) -> str:
    return one_line(shlex.join(("warpleague", *words)))


def _facts(header: dict[str, Any], end: dict[str, Any]) -> Facts:
    """What a reader may want to know of the conditions."""
    told = conditions(header, _clock(header))
    bots = [f"{seat['bot']} {seat.get('version', '')}".strip() for seat in header["seats"]]
    facts = [
        ("match", header["id"]),
        ("played", header["started"] or "not noted"),
        ("game", told["game"]),
        ("options", told["options"]),
        ("clock", told["clock"]),
        ("faults", told["faults"]),
        ("confined", _level(header, told["level"])),
        ("bots", "; ".join(bots)),
        ("harness", header["harness"]),
        ("digest", end["digest"]),
    ]
    if header["position"] is not None:
        facts.insert(4, ("start", "from a given position"))
    if header["seed"] is not None:
        facts.append(("seed", header["seed"]))
    facts.append(("key", header["key"] or "secret until the season ends"))
    return [(name, one_line(value)) for name, value in facts]


def _clock(header: dict[str, Any]) -> dict[str, Any]:
    return header["clock"] if isinstance(header["clock"], dict) else {}


def _level(header: dict[str, Any], level: str) -> str:
    """The level, and by what means it was kept, where that was noted."""
    confinement = Confinement.from_header(header)
    means = confinement.short_text() if confinement is not None else ""
    return f"level {level}: {means}" if means else f"level {level}"
