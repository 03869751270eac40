"""Show a recorded match, verify that it holds, make a page of it, or take a position from it.

`warpleague.match.replay` executes a record; `warpleague.report` draws it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpleague.cli.common import (
    add_examples,
    add_force,
    add_verb,
    check_new,
    check_writable,
    count,
    parse_key,
    pause,
    print_json,
    say,
    write_file,
)
from warpleague.errors import BadInput, RecordError
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse

    from warpleague.match.replay import RecordSummary, Replay


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague replay`."""
    verbs = parser.add_subparsers(required=True)
    show = add_verb(verbs, "show", "print the events of a match, line by line")
    show.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    show.add_argument("--boards", action="store_true", help="draw the board after every line")
    show.add_argument("--at", type=count(0), metavar="N", help="stop after line N, and draw the board there")
    show.add_argument("--step", action="store_true", help="step through the match with keys, in a terminal")
    show.add_argument(
        "--pace",
        type=pause,
        metavar="TIME",
        help="with --step: continue without keys, and show each line for this time",
    )
    show.add_argument(
        "--seat",
        type=count(0),
        metavar="S",
        help="show only the knowledge of the bot at seat S, counted from 0",
    )
    logs = show.add_mutually_exclusive_group()
    for kind, text in (
        ("stderr", "the standard error of the bot at seat S"),
        ("wire", "all messages to and from the bot at seat S"),
    ):
        logs.add_argument(
            f"--{kind}", type=count(0), metavar="S", help=f"show {text} instead, if logs were stored"
        )
    show.add_argument(
        "--log",
        type=Path,
        metavar="DIR",
        help="the folder with the logs (default: `logs` beside the record or beside its folder)",
    )
    show.add_argument("--json", action="store_true", help="print each line with its events, as JSON")
    show.set_defaults(handler=run_show)
    add_examples(
        show,
        "replay show results/one.jsonl",
        "replay show results/one.jsonl --at 30 --seat 0",
        "replay show results/one.jsonl --step",
        "replay show results/one.jsonl --stderr 0 --log logs",
    )
    verify = add_verb(
        verbs,
        "verify",
        "check that a record is genuine: execute it again by the rules, and compare everything",
    )
    verify.add_argument("files", type=Path, nargs="+", metavar="RECORD", help="the record of a match")
    verify.add_argument(
        "--key",
        metavar="HEX",
        help="the key of the match, which decides its dice, if the record does not contain it",
    )
    verify.add_argument(
        "--parent",
        type=Path,
        metavar="RECORD",
        help="the record from which this match was branched off: check that it starts from that position",
    )
    verify.add_argument("--json", action="store_true", help="print the outcome as JSON")
    verify.set_defaults(handler=run_verify)
    add_examples(
        verify, "replay verify results/one.jsonl", "replay verify results/mine/records/*.jsonl --json"
    )
    page = add_verb(verbs, "page", "make a page of the match: one file that any browser opens")
    page.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    page.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="FILE",
        help="write the page to this file (default: in this folder, named after the record)",
    )
    page.add_argument(
        "--analysis",
        type=Path,
        metavar="FILE",
        help="show the results of an analysis, too; `warpleague analyse --out FILE` writes this file",
    )
    add_force(page)
    page.add_argument("--json", action="store_true", help="print the path of the page as JSON")
    add_examples(
        page,
        "replay page results/one.jsonl -o one.html",
        "replay page results/one.jsonl --analysis one.analysis",
    )
    page.set_defaults(handler=run_page)
    position = add_verb(
        verbs,
        "position",
        "write a position of the match to a file; `match --position FILE` plays on from there",
    )
    position.add_argument("file", type=Path, metavar="RECORD", help="the record of a match")
    position.add_argument(
        "--at", type=count(0), required=True, metavar="N", help="the position after line N (0: the start)"
    )
    position.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="write the position to this file (default: print it)"
    )
    add_force(position)
    add_examples(position, "replay position results/one.jsonl --at 30 --out thirty.json")
    position.set_defaults(handler=run_position)
    from warpleague.cli.replay_branch import configure_branch

    configure_branch(verbs)


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


def run_verify(args: argparse.Namespace) -> int:
    """Verify each file; 2 if any cannot be read, else 1 if any does not hold."""
    from warpleague.match.branch import check_parent
    from warpleague.match.record import read_compressed, read_record, unreadable
    from warpleague.match.replay import Replay, verify_record

    key = parse_key(args.key)
    reports: list[dict[str, Any]] = []
    code = 0
    for path in args.files:
        try:
            try:
                data = read_compressed(path)
            except OSError as error:
                code = 2
                raise unreadable(path, error) from None
            summary = verify_record(data, key, str(path))
            if args.parent is not None:
                try:
                    check_parent(summary.header, Replay(read_record(args.parent), where=str(args.parent)))
                except RecordError as error:
                    raise RecordError(f"{path}: {error}") from None
        except RecordError as error:
            code = code or 1
            reports.append({"file": str(path), "verified": False, "error": str(error)})
            if not args.json:
                print(f"NOT VERIFIED  {error}")
            continue
        reports.append({"file": str(path), **summary_json(summary)})
        if not args.json:
            dice = "dice follow from the key" if summary.chance == "key" else "dice possible (key unknown)"
            unsealed = "" if summary.sealed else ", no seal: times and details are not covered"
            print(
                f"verified  {path}: {counted(summary.lines, 'line')}, "
                f"{counted(summary.decisions, 'decision')}, {dice}{unsealed}"
            )
            print(f"          digest {summary.digest}")
            if (parent := summary.header.get("parent")) is not None:
                checked = "compared with" if args.parent else "not compared: --parent names its record;"
                print(f"          branches off after line {parent['n']}, {checked} {parent['digest']}")
    if args.json:
        print_json(reports[0] if len(reports) == 1 else reports)
    return code


def run_show(args: argparse.Namespace) -> int:
    """Tell the match; the record is verified on the way."""
    from warpleague.match.record import read_record
    from warpleague.match.replay import Replay
    from warpleague.report.terminal.replay import show_replay, steps_json
    from warpleague.runner.bot.logs import KINDS

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


def _step(args: argparse.Namespace, replay: Replay) -> int:
    import sys

    from warpleague.report.terminal.replay import Stepper

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("--step needs a terminal; without it, all lines are printed")
    Stepper(replay, args.seat).run(args.at or 0, args.pace)
    return 0


def _show_log(args: argparse.Namespace, replay: Replay, seat: int, kind: str) -> int:
    """Print the log of one kind of a seat; the record is not executed."""
    from warpleague.runner.bot.logs import read_log

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


def run_page(args: argparse.Namespace) -> int:
    """Write the page of a match; the record is verified on the way."""
    from warpleague.match.record import bare_name, read_record
    from warpleague.match.replay import Replay
    from warpleague.report.site.match_page import page_alone

    name = bare_name(args.file)
    out = args.out or Path(f"{name}.html")
    record = read_record(args.file)
    replay = Replay(record, where=str(args.file))
    check_new(out, args.force)
    check_writable(out)
    notes = None
    if args.analysis is not None:
        from warpleague.extras.study.report import read_notes

        notes = read_notes(args.analysis, record)
    page = page_alone(replay, str(args.file), record, notes)
    write_file(out, page)
    if args.json:
        print_json({"match": replay.header["id"], "page": str(out), "bytes": len(page)})
    else:
        print(f"open {out}")
    return 0


def run_position(args: argparse.Namespace) -> int:
    """Write the position after a line; the record is verified up to there."""
    import json

    from warpleague.match.record import read_record
    from warpleague.match.replay import Replay

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
