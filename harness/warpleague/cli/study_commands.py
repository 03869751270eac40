"""The commands that study recorded matches: `bot rerun`, `replay branch` and `analyse`."""

from __future__ import annotations

from typing import Final

from warpleague.cli.declaration import (
    CONFINED,
    CORES,
    FOLDER,
    FORCE,
    JSON,
    KEY,
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

# fmt: off  (a table: one argument on as few lines as it needs)

ALL_JSON = Flag("--json", "print all results as JSON")

EXTRA: Final = Extra(
    commands=(
        Command(
            "bot rerun",
            "ask a bot the questions of recorded matches again, and list its different decisions",
            "warpleague.cli.rerun:run_rerun",
            arguments=(
                FOLDER,
                Argument(
                    "records RECORD",
                    "the record of a match, a folder of records, or a league file: then all "
                    "its played matches",
                    type=path,
                    nargs="+",
                ),
                Argument(
                    "--seat N",
                    "ask the questions of this seat, counted from 0 (default: of the seats whose "
                    "bot had the same name)",
                    type=count(0),
                ),
                Argument(
                    "--name NAME",
                    "ask the questions of the bot with this name instead; can be given several times",
                    many=True,
                ),
                CORES,
                Argument(
                    "--results DIR",
                    "the folder of all results (default: %(default)s)",
                    type=path,
                    default="results",
                ),
                Argument(
                    "--list N", "list at most N decisions (default %(default)s)", type=count(0), default=20
                ),
                Argument(
                    "--seconds TIME",
                    "stop after this time, but not before the first record is done, and print "
                    "the results so far",
                    type=seconds,
                ),
                *CONFINED,
                ALL_JSON,
            ),
            examples=(
                "bot rerun my-bot results/one.jsonl --seat 0",
                "bot rerun my-bot leagues/mine.toml",
                "bot rerun my-bot results/mine/records --name old-bot --json",
            ),
        ),
        Command(
            "replay branch",
            "play on from a position of the match, with another action, other bots or other dice",
            "warpleague.cli.study:run_branch",
            arguments=(
                RECORD,
                Argument("--at N", "play on after line N (0: the start)", type=count(0), required=True),
                Argument(
                    "--seat S", "the seat for --action and --redeal (default: the seat to act)", type=count(0)
                ),
                Argument(
                    "--action A",
                    "play this action first: its JSON object, or its number in the list of legal "
                    "actions, counted from 0",
                ),
                Flag(
                    "--redeal", "draw facts that the seat does not know again at random (default: they stay)"
                ),
                Argument(
                    "--bots BOT",
                    "the folders of the bots, one for each seat (default: the bots of the record, "
                    "if the cache has them)",
                    nargs="+",
                    default=(),
                ),
                Argument(
                    "--move-s TIME",
                    "time limit of all bots for each decision, such as 500ms or 2s (default: "
                    "the clock of the record)",
                    type=seconds,
                ),
                Argument(
                    "--seed TEXT",
                    "a text from which other dice follow (default: the dice continue as in the record)",
                ),
                KEY,
                Argument(
                    "-o --out --record FILE",
                    "write the new record to this file (default: in this folder, "
                    "named after the record and N)",
                    type=path,
                    dest="record",
                ),
                FORCE,
                *CONFINED,
                JSON,
            ),
            examples=(
                "replay branch results/one.jsonl --at 30 --action 2",
                "replay branch results/one.jsonl --at 30 --seed other --redeal",
            ),
        ),
        Command(
            "analyse",
            "find the mistakes and turning points in the record of a match",
            "warpleague.cli.study:run_analyse",
            group="improve a bot",
            about=(
                "Find the mistakes and turning points of a recorded match: it plays every possible action "
                "to the end many times."
            ),
            arguments=(
                RECORD,
                Argument(
                    "--with BOT",
                    "the folders of the bots that play on: one for all seats, or one for each "
                    "(default: random actions)",
                    nargs="+",
                    default=(),
                    dest="bots",
                ),
                Flag(
                    "--estimates",
                    "do not play on to the end: use the value that the bot at the deciding seat expects",
                ),
                Flag(
                    "--all-known",
                    "keep the facts that the seat did not know (default: they are drawn again at random)",
                ),
                Argument("--seat S", "only the decisions of seat S, counted from 0", type=count(0)),
                Argument(
                    "--line N",
                    "only the decision on line N; can be given several times",
                    type=count(1),
                    many=True,
                ),
                Section(
                    "effort",
                    TIMES,
                    (
                        Argument(
                            "--seconds TIME",
                            "stop after this time, but not before the first result; the same "
                            "command continues later (default 60s; with --playouts: no limit)",
                            type=seconds,
                        ),
                        Argument(
                            "--playouts N",
                            "play on from one action at most N times (default 256): 8, 16, 32, 64 ...",
                            type=count(8),
                        ),
                        Argument(
                            "--actions N",
                            "examine at most N actions of a decision (default 16; 4 with bots)",
                            type=count(2),
                        ),
                        Argument(
                            "--move-s TIME",
                            "time limit of the bots for each decision (default: as in the record)",
                            type=seconds,
                        ),
                        CORES,
                    ),
                ),
                Argument("--seed TEXT", "a text from which all random numbers follow", default="analyse"),
                Argument(
                    "--blunder X",
                    "the least share of the points that a mistake loses (default %(default)s)",
                    type=share,
                    default=0.1,
                ),
                Argument(
                    "-o --out FILE",
                    "write the analysis to this file, for `replay page --analysis FILE` "
                    "(default: to your cache)",
                    type=path,
                ),
                Argument(
                    "--list N",
                    "list at most N mistakes and turning points (default %(default)s)",
                    type=count(0),
                    default=10,
                ),
                Flag("--all", "print a table of all decisions, too"),
                *CONFINED,
                ALL_JSON,
            ),
            examples=(
                "analyse results/one.jsonl",
                "analyse results/one.jsonl --with bots/aliens-greedy --seconds 300",
                "analyse results/one.jsonl --line 31 --playouts 1024 --with my-bot",
            ),
        ),
    )
)
