"""The commands that study recorded matches, `analyse` and `bot rerun`, and the option `--analysis` of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.cli.declaration import (
    CONFINED,
    CORES,
    FOLDER,
    RECORD,
    TIMES,
    Argument,
    Command,
    Extra,
    Flag,
    Section,
    count,
    path,
    seconds,
    share,
)

if TYPE_CHECKING:
    from warpleague.report.site.match_page import Notes
    from warpleague.report.site.write import NotesFile


class AnalysisPath:
    """The value of the option `--analysis`. What reads it is loaded only if the option is given."""

    def __init__(self, name: str) -> None:
        self._name = name

    def notes(self, record: bytes) -> Notes:
        """What the page of a match shows of it. `BadInput` if it is the analysis of another match."""
        from warpleague.extras.study.report import read_notes

        return read_notes(path(self._name), record)

    def notes_files(self) -> dict[str, NotesFile]:
        """The same for the pages of a league, by the digest of the record that it is about."""
        from warpleague.extras.study.report import notes_files

        return notes_files([path(self._name)])


# In this table an argument takes as few lines as it needs.
# fmt: off

ALL_JSON = Flag("--json", "print all results as JSON")
PAGE = Argument("--analysis FILE", "show the results of an analysis, too; `warpleague analyse --out FILE` writes "
                "this file", type=AnalysisPath)
SITE = Argument("--analysis FILE", "show the results of an analysis on the page of its match; `warpleague analyse "
                "--out FILE` writes this file; can be given several times", type=AnalysisPath, many=True)

EXTRA: Final = Extra(outputs="warpleague.extras.study.report",
                     arguments={"replay page": (PAGE,), "league report": (SITE,)},
                     examples={"replay page": ("replay page results/one.jsonl --analysis one.analysis",)}, commands=(
    Command("bot rerun", "ask a bot the questions of recorded matches again, and list its different "
            "decisions", "warpleague.extras.study.cli:run_rerun", arguments=(
        FOLDER,
        Argument("records RECORD", "the record of a match, a folder of records, or a league file: then all "
                 "its played matches", type=path, nargs="+"),
        Argument("--seat N", "ask the questions of this seat, counted from 0 (default: of the seats whose "
                 "bot had the same name)", type=count(0)),
        Argument("--name NAME", "ask the questions of the bot with this name instead; can be given several "
                 "times", many=True),
        CORES,
        Argument("--results DIR", "the folder of all results (default: %(default)s)", type=path,
                 default="results"),
        Argument("--list N", "list at most N decisions (default %(default)s)", type=count(0), default=20),
        Argument("--seconds TIME", "stop after this time, but not before the first record is done, and print "
                 "the results so far", type=seconds),
        *CONFINED, ALL_JSON,
    ), examples=(
        "bot rerun my-bot results/one.jsonl --seat 0",
        "bot rerun my-bot leagues/mine.toml",
        "bot rerun my-bot results/mine/records --name old-bot --json",
    ), codes={1: "the bot decided differently somewhere, or faulted"}),
    Command("analyse", "find the mistakes and turning points in the record of a match",
            "warpleague.extras.study.cli:run_analyse", group="improve a bot",
            about=("Find the mistakes and turning points of a recorded match: it plays every possible action "
                   "to the end many times."),
            arguments=(
        RECORD,
        Argument("--with BOT", "the folders of the bots that play on: one for all seats, or one for each "
                 "(default: random actions)", nargs="+", default=(), dest="bots"),
        Flag("--estimates", "do not play on to the end: use the value that the bot at the deciding seat "
             "expects"),
        Flag("--all-known", "keep the facts that the seat did not know (default: they are drawn again at "
             "random)"),
        Argument("--seat S", "only the decisions of seat S, counted from 0", type=count(0)),
        Argument("--line N", "only the decision on line N; can be given several times", type=count(1),
                 many=True),
        Section("effort", TIMES,
            Argument("--seconds TIME", "stop after this time, but not before the first result; the same "
                     "command continues later (default 60s; with --playouts: no limit)", type=seconds),
            Argument("--playouts N", "play on from one action at most N times (default 256): 8, 16, 32, 64 "
                     "...", type=count(8)),
            Argument("--actions N", "examine at most N actions of a decision (default 16; 4 with bots)",
                     type=count(2)),
            Argument("--move-s TIME", "time limit of the bots for each decision (default: as in the record)",
                     type=seconds),
            CORES,
        ),
        Argument("--seed TEXT", "a text from which all random numbers follow", default="analyse"),
        Argument("--blunder X", "the least share of the points that a mistake loses (default %(default)s)",
                 type=share, default=0.1),
        Argument("-o --out FILE", "write the analysis to this file, for `replay page --analysis FILE` "
                 "(default: to your cache)", type=path),
        Argument("--list N", "list at most N mistakes and turning points (default %(default)s)",
                 type=count(0), default=10),
        Flag("--all", "print a table of all decisions, too"),
        *CONFINED, ALL_JSON,
    ), examples=(
        "analyse results/one.jsonl",
        "analyse results/one.jsonl --with bots/aliens-greedy --seconds 300",
        "analyse results/one.jsonl --line 31 --playouts 1024 --with my-bot",
    )),
))
