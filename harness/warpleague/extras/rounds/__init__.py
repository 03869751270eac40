"""Rounds: programs edit bots, the bots are checked, and a season of all versions is played. Here its command."""

from __future__ import annotations

from typing import Final

from warpleague.cli.declaration import QUIET, RESULTS, Argument, Command, Extra, Flag, count

# In this table an argument takes as few lines as it needs.
# fmt: off

EXTRA: Final = Extra(commands=(
    Command("rounds", "let programs edit bots in rounds of edit, check and play",
            "warpleague.extras.rounds.cli:run_rounds_command", group="run a league",
            usage="warpleague rounds [options] FILE\n"
                  "       warpleague rounds results|page|tables|verify [options] FILE",
            about="Let programs edit bots in rounds of edit, check and play, and compare the versions.",
            arguments=(
        Argument("words FILE", "the file of the rounds. A word before it works on the rounds so far: "
                 "`results` prints the tables, `page` writes the page, `tables` writes files for data tools, "
                 "`verify` checks everything", nargs="*"),
        RESULTS,
        Argument("--jobs N", "the number of edits, and of matches, at the same time (default: as the file "
                 "says; 0: one for each core)", type=count(0)),
        Flag("--demo", "run rounds/demo.toml in about a minute: three scripts are the authors, and one of "
             "them improves its bot"),
        Argument("--replicate K", "only this replicate of those in the file (default: all, and their means)",
                 type=count(1)),
        Argument("--format", "with `tables`: the format of the files", choices=("csv", "excel", "parquet"),
                 default="csv"),
        QUIET,
        Flag("--json", "print the results as JSON"),
    ), examples=(
        "rounds --demo",
        "rounds rounds/mine.toml",
        "rounds results rounds/mine.toml --json",
        "rounds verify rounds/mine.toml",
    ), codes={1: "`verify` found something that is not genuine; or the rounds stopped, and say why"}),
), publisher={"rounds": "warpleague.extras.rounds.publish"}, outputs="warpleague.extras.rounds.cli")
