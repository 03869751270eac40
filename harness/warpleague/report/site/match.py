"""The page of one match: its replay, result, conditions, and how to check it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final

from warpleague.match.forms import confinement_of
from warpleague.report.site.frames import CompressedJson, compress_replay
from warpleague.report.site.judged import judged
from warpleague.report.site.page_frame import alone, linked, render
from warpleague.report.wording.analysis_words import by_text
from warpleague.report.wording.match_words import conditions, labels, number, one_line, outcome, placing

if TYPE_CHECKING:
    from warpleague.match.replay import Replay
    from warpleague.report.wording.match_words import Rows
    from warpleague.study.analysis_file import Analysis


ORDER: Final = "order.js"
"""The file beside the pages of a site's matches that lists them in order."""


def page_alone(replay: Replay, name: str, record: bytes = b"", analysis: Analysis | None = None) -> bytes:
    """One page that needs no other file, of the record in the file `name`; `RecordError` if that does not hold.

    The page offers `record`, its text, for download, if it is given, and shows what an `analysis` found.
    """
    checks = [
        ("Execute the record again, dice included:", _command("replay", "verify", name)),
        ("Play the match again, with the same bots:", _command("reproduce", name)),
    ]
    block, match = _content(replay, checks, analysis)
    match |= _offered(record)
    return render("match.html.j2", frame=alone("match"), match=match, block=block, stamp="")


def page_linked(
    replay: Replay,
    *,
    league: str,
    home: str,
    root: str,
    export: str,
    stamp: str,
    record: bytes = b"",
    analysis: Analysis | None = None,
    with_script: bool = True,
) -> tuple[bytes, bytes]:
    """The page of a match as a part of a site, and the script beside it, `ID.js`.

    The script has what the page loads only when it is wanted: what each seat saw, and the record. Where seats see
    different things, it takes a good part of the time. Unless the page comes `with_script`, that is empty.

    `home` is the address of the league's page, `root` of the site's folder, both as seen from this page; `export`
    is the command that writes the record. `stamp` is a hash of what the page was made from. The page offers `record`
    for download, if it is given. Which matches are before and after it, it learns from the file `ORDER` beside it.
    """
    name = f"{replay.header['id']}.jsonl"
    checks = [
        ("Write the record to a file:", export),
        ("Execute it again, dice included:", _command("replay", "verify", name)),
    ]
    views = CompressedJson() if with_script else None
    block, match = _content(replay, checks, analysis, views, seats_see=with_script)
    beside = b""
    if views is not None:
        text = json.dumps({"views": views.text(), "record": _offered(record).get("record", "")})
        beside = b"globalThis.warpleagueMore = " + text.encode() + b";\n"
    more = f"{replay.header['id']}.js"
    match |= {"league": one_line(league), "home": home, "order": ORDER, "more": more}
    page = render("match.html.j2", frame=linked("match", root, stamp), match=match, block=block, stamp=stamp)
    return page, beside


def _content(
    replay: Replay,
    checks: list[tuple[str, str]],
    analysis: Analysis | None,
    views: CompressedJson | None = None,
    *,
    seats_see: bool = True,
) -> tuple[str, dict[str, Any]]:
    """The compressed replay, and what the template says of the match; executes the record."""
    header = replay.header
    names = [one_line(seat["bot"]) for seat in header["seats"]]
    called = labels(names)
    head = {"seats": [{"bot": name, "label": label} for name, label in zip(names, called, strict=True)]}
    faults: list[list[dict[str, Any]]] = [[] for _ in names]
    judgements = None if analysis is None else judged(analysis, called)
    block, end = compress_replay(replay, head, faults, judgements, views, seats_see=seats_see)
    ranks, scores = end["ranks"], end["scores"]
    seats = [
        {
            "seat": seat,
            "label": called[seat],
            "rank": ranks[seat],
            "place": placing(ranks, seat),
            "score": number(scores[seat]),
            "faults": faults[seat],
        }
        for seat in range(len(names))
    ]
    rival = end.get("rival")
    match = {
        "game": header["game"],
        "title": replay.game.title,
        "labels": called,
        "seats": seats,
        "parts": [
            {"name": one_line(part).replace("_", " "), "of": [number(value) for value in values]}
            for part, values in end["breakdown"].items()
        ],
        "rival": None if rival is None else {"score": number(rival), "rank": 2 if ranks[0] == 1 else 1},
        "outcome": outcome(called, ranks, scores, rival, end["why"]),
        "facts": _condition_rows(header, end)
        + ([] if analysis is None else [("analysed", one_line(by_text(analysis)))]),
        "checks": checks,
        "home": "",
        "order": "",
        "file": one_line(f"{header['id']}.jsonl"),
        "record": "",
        "more": "",
    }
    return block, match


def _offered(record: bytes) -> dict[str, str]:
    """The record as a page keeps it for download."""
    block = CompressedJson()
    block.write(record)
    return {"record": block.text()} if record else {}


def _command(*words: str) -> str:
    return one_line(shlex.join(("warpleague", *words)))


def _condition_rows(header: dict[str, Any], end: dict[str, Any]) -> Rows:
    """The conditions as rows for a reader."""
    words = conditions(header, _clock(header))
    bots = [f"{seat['bot']} {seat.get('version', '')}".strip() for seat in header["seats"]]
    rows = [
        ("match", header["id"]),
        ("played", header["started"] or "not noted"),
        ("game", words["game"]),
        ("options", words["options"]),
        ("clock", words["clock"]),
        *[
            ("its own clock", f"{seat['bot']}: {conditions(header, seat['clock'])['clock']}")
            for seat in header["seats"]
            if isinstance(seat.get("clock"), dict)
        ],
        ("faults", words["faults"]),
        ("confined", _level(header, words["level"])),
        ("bots", "; ".join(bots)),
        ("harness", header["harness"]),
        ("digest", end["digest"]),
    ]
    if header["position"] is not None:
        parent = header.get("parent")
        since = (
            f"line {parent['n']} of the match with digest {parent['digest']}"
            if parent
            else "a given position"
        )
        rows.insert(4, ("start", f"from {since}"))
    if header["seed"] is not None:
        rows.append(("seed", header["seed"]))
    rows.append(("key", header["key"] or "secret until the season ends"))
    return [(name, one_line(value)) for name, value in rows]


def _clock(header: dict[str, Any]) -> dict[str, Any]:
    return header["clock"] if isinstance(header["clock"], dict) else {}


def _level(header: dict[str, Any], level: str) -> str:
    """The level, and the means that enforced it, where the record has them."""
    confinement = confinement_of(header)
    means = confinement.short_text() if confinement is not None else ""
    return f"level {level}: {means}" if means else f"level {level}"
