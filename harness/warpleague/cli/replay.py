"""Show a recorded match, verify that it holds, make a page of it, or take a position from it.

`warpleague.match.replay` executes a record; `warpleague.report` draws it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import (
    check_new,
    check_writable,
    parse_key,
    print_json,
    say,
    write_file,
)
from warpleague.errors import BadInput, RecordError
from warpleague.match.branch import check_parent
from warpleague.match.record import bare_name, read_compressed, read_record, unreadable
from warpleague.match.replay import Replay, verify_record
from warpleague.runner.bot.logs import KINDS, read_log
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from warpleague.match.replay import RecordSummary


def summary_json(summary: RecordSummary) -> dict[str, Any]:
    """A verified record's outcome as JSON."""
    header = summary.header
    return {
        "match": header["id"],
        "game": header["game"],
        "seats": [seat["bot"] for seat in header["seats"]],
        "ranks": list(summary.ranks),
        "scores": list(summary.scores),
        **({} if summary.rival is None else {"rival": summary.rival}),
        "why": summary.why,
        "digest": summary.digest,
        "lines": summary.lines,
        "decisions": summary.decisions,
        "chance": summary.chance,
        "sealed": summary.sealed,
        "verified": True,
        **({"parent": header["parent"]} if "parent" in header else {}),
    }


def run_verify(args: Namespace) -> int:
    """Verify each file; 2 if any cannot be read, else 1 if any does not hold."""
    key = parse_key(args.key)
    reports: list[dict[str, Any]] = []
    code = 0
    for path in args.files:
        try:
            summary = verify_record(_record_of(path), key, str(path))
            if args.parent is not None:
                _check_parent(args.parent, summary, path)
        except RecordError as error:
            code = max(code, 2 if isinstance(error.__cause__, OSError) else 1)
            reports.append({"file": str(path), "verified": False, "error": str(error)})
            if not args.json:
                print(f"NOT VERIFIED  {error}")
            continue
        reports.append({"file": str(path), **summary_json(summary)})
        if not args.json:
            _print_verified(path, summary, args.parent)
    if args.json:
        print_json(reports[0] if len(reports) == 1 else reports)
    return code


def _record_of(path: Path) -> bytes:
    try:
        return read_compressed(path)
    except OSError as error:
        raise unreadable(path, error) from error


def _check_parent(parent: Path, summary: RecordSummary, path: Path) -> None:
    try:
        check_parent(summary.header, Replay(read_record(parent), where=str(parent)))
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def _print_verified(path: Path, summary: RecordSummary, parent: Path | None) -> None:
    dice = "dice follow from the key" if summary.chance == "key" else "dice possible (key unknown)"
    unsealed = "" if summary.sealed else ", no seal: times and details are not covered"
    print(
        f"verified  {path}: {counted(summary.lines, 'line')}, "
        f"{counted(summary.decisions, 'decision')}, {dice}{unsealed}"
    )
    print(f"          digest {summary.digest}")
    if (branched := summary.header.get("parent")) is not None:
        checked = "compared with" if parent else "not compared: --parent names its record;"
        print(f"          branches off after line {branched['n']}, {checked} {branched['digest']}")


def run_show(args: Namespace) -> int:
    """Tell the match; the record is verified on the way."""
    from warpleague.report.terminal.replay import show_replay, steps_json  # rich, which `verify` does without

    replay = Replay(read_record(args.file), where=str(args.file))
    for option in ("seat", *KINDS):
        _check_seat(replay, option, getattr(args, option))
    _check_line(replay, args.at)
    for kind in KINDS:
        if (seat := getattr(args, kind)) is not None:
            return _show_log(args, replay, seat, kind)
    if args.step and not args.json:
        return _step(args, replay)
    if args.json:
        print_json([step for step in steps_json(replay, args.seat) if args.at in (None, step["n"])])
    else:
        show_replay(replay, boards=args.boards, at=args.at, seat=args.seat)
    return 0


def _step(args: Namespace, replay: Replay) -> int:
    from warpleague.report.terminal.replay import Stepper

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("--step needs a terminal; without it, all lines are printed")
    Stepper(replay, args.seat).run(args.at or 0, args.pace)
    return 0


def _show_log(args: Namespace, replay: Replay, seat: int, kind: str) -> int:
    """Print the log of one kind of a seat; the record is not executed."""
    text = read_log(args.file, replay.header, seat, kind, args.log)
    if args.json:
        print_json(
            {
                "match": replay.header["id"],
                "seat": seat,
                "bot": replay.header["seats"][seat]["bot"],
                kind: text,
            }
        )
    elif text:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        say(f"seat {seat} wrote nothing to standard error")
    return 0


def _check_seat(replay: Replay, option: str, seat: int | None) -> None:
    """Raise `BadInput` if the match has no such seat."""
    last = replay.header["players"] - 1
    if seat is not None and seat > last:
        raise BadInput(f"--{option} {seat}: the match has seats 0 to {last}")


def _check_line(replay: Replay, at: int | None) -> None:
    """Raise `BadInput` if the record has no line n = `at`."""
    last = len(replay.lines) - 2
    if at is not None and at > last:
        raise BadInput(f"--at {at}: the record's lines are numbered 0 (the start) to {last}")


def run_page(args: Namespace) -> int:
    """Write the page of a match; the record is verified on the way."""
    from warpleague.report.site.match_page import page_alone  # the templates, which only a page needs

    name = bare_name(args.file)
    out = args.out or Path(f"{name}.html")
    record = read_record(args.file)
    replay = Replay(record, where=str(args.file))
    check_new(out, args.force)
    check_writable(out)
    analysis = getattr(args, "analysis", None)
    notes = None if analysis is None else analysis.notes(record)
    page = page_alone(replay, str(args.file), record, notes)
    write_file(out, page)
    if args.json:
        print_json({"match": replay.header["id"], "page": str(out), "bytes": len(page)})
    else:
        print(f"open {out}")
    return 0


def run_position(args: Namespace) -> int:
    """Write the position after a line; the record is verified up to there."""
    replay = Replay(read_record(args.file), where=str(args.file))
    _check_line(replay, args.at)
    if args.out is not None:
        check_new(args.out, args.force)
        check_writable(args.out)
    state = (
        next((step.state for step in replay if step.data["n"] == args.at), None) if args.at else replay.first
    )
    if not replay.game.actors(state):
        raise BadInput(f"--at {args.at}: the game is over there; nothing is left to play from line {args.at}")
    text = json.dumps(replay.game.to_json(state))
    if args.out is None:
        print(text)
        return 0
    write_file(args.out, text.encode() + b"\n")
    seats = " ".join(["BOT"] * replay.header["players"])
    print(f"position written to {args.out}")
    say(f"play on from there: warpleague match {replay.header['game']} {seats} --position {args.out}")
    return 0
