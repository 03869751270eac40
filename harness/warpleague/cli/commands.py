"""The commands of the program: one declaration each, in the order of the help.

To add one, add a `Command` here, and write the function that its `run` names: it is imported when the command runs.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from warpleague.cli.declaration import (
    CLOCK,
    CONFINED,
    DEAL,
    FAULT_RULES,
    FOLDER,
    FORCE,
    GAME,
    GAME_INSTEAD,
    GAME_OPTION,
    JSON,
    KEY,
    LEAGUE,
    LEAGUE_JOBS,
    LEVEL,
    LEVELS,
    LOG,
    PONDERING,
    POSITION,
    QUIET,
    RECORD,
    RESULTS,
    SANDBOX_PATH,
    STOP_ON_FAULT,
    Argument,
    Command,
    Extra,
    Flag,
    OneOf,
    Section,
    count,
    count_or_all,
    duration,
    language,
    listed,
    path,
    port,
    seconds,
    site_path,
    wait,
)
from warpleague.languages import LANGUAGES

EXTRAS: Final = (
    "warpleague.extras.cluster",
    "warpleague.extras.rounds",
    "warpleague.extras.rule_vectors",
    "warpleague.extras.study",
)
"""What can be removed: a module for each, whose `EXTRA` has its commands, and its arguments of other commands."""

# In this table an argument takes as few lines as it needs.
# fmt: off

SUBMIT_WORDS: Final = {
    "status": ("[NUMBER]", "list your submissions, or show one", "warpleague.cli.submit:run_status"),
    "records": ("BOT", "get the records of its last matches", "warpleague.cli.submit:run_records"),
    "log": ("BOT [MATCH]", "print its output in a match", "warpleague.cli.submit:run_log"),
    "watch": ("[NUMBER]", "follow the check, then its matches", "warpleague.cli.submit:run_watch"),
    "trial": ("BOT|NUMBER", "compare it with the version that plays, which it does not replace",
              "warpleague.cli.submit:run_trial"),
    "trials": ("[NUMBER]", "list your trials, or wait for one", "warpleague.cli.submit:run_trials"),
    "activate": ("NUMBER", "let this version play", "warpleague.cli.submit:run_activate"),
    "withdraw": ("BOT", "take it out of the league", "warpleague.cli.submit:run_withdraw"),
}
"""The words of `submit` that ask about earlier submissions: what follows each, what it does, and its function."""

AS_JSON = Flag("--json", "print as JSON")
FINDINGS_JSON = Flag("--json", "print the findings as JSON")
BOT = Argument("bot BOT", "the name of the bot in the league")
REASON = Argument("--reason TEXT", "the reason, in one line, which everybody can read", required=True)
ITS_RESULTS = Argument("--its-results", "stay (default): its matches so far still count; out: they count for "
                       "nobody", choices=("stay", "out"), default="stay")
OF_LEAGUE = (LEAGUE, RESULTS, JSON)

WITHOUT_LUCK = Flag("--without-luck", "also tell the share of points without the luck of the dice, if the game says "
                    "what a position is worth; it is computed from the records the first time")

ADDRESS = (
    Argument("--to URL", "the address of the arena", required=True),
    Argument("--league NAME", "the name of the league, if the arena has several"),
    Argument("--token-file FILE", "the file with your token (default: the environment variable WARPLEAGUE_TOKEN "
             "has the token)", type=path),
    Flag("--plain-http", "allow http:// to another machine: the token is then sent unencrypted; only in a "
         "network that you trust"),
)
LEAGUES = Argument("config LEAGUE", "the file of a league; several are possible", type=path, nargs="+")
AUTHOR = Argument("name NAME", "the name of the author")
MEMBER = Argument("member MEMBER", "the name of the member")
MOST = Argument("--most N", "list at most N (default 100)", type=count(1), default=100)
END_WITH_PARENT = Flag("--end-with-parent", None)
OF_ARENA = (RESULTS, JSON)

ROOT: Final = Command(
    "", "", about="A tournament program for bots that play board games about wormholes.",
    usage="warpleague [--help] [--version] COMMAND ...", after="""\
warpleague help COMMAND explains a command, with examples

exit codes:
  0    done
  1    a check failed, or the program itself failed
  2    bad input
  130  stopped by Ctrl-C
The help of a command names what else they mean.""")
"""The program itself."""

CORE: Final = (
    # play
    Command("play", "play against bots yourself, in the browser or in the terminal",
            "warpleague.cli.play:run_play", group="play",
            about="Play against bots, in the browser or in the terminal; several persons share one device.",
            arguments=(
        GAME,
        Argument("bots BOT", "the folder of a bot to play against (default: the strongest one that comes "
                 "with Warp League)", nargs="*"),
        Argument("--person NAME", "the name of a person who plays; give it once for each person at this "
                 "device (default: one person)", many=True),
        Argument("--seat S", "the seat of a person, counted from 0; once for each --person, in their order "
                 "(default: the first free seats)", type=count(0), many=True),
        Flag("--terminal", "play in the terminal, not in the browser"),
        Flag("--no-browser", "print the address of the page, but do not open it"),
        Argument("--port N", "the port of the page (default: any free one)", type=port, default=0),
        Argument("--hint BOT", "the bot that gives hints (default: the strongest one that comes with Warp "
                 "League)"),
        *DEAL, POSITION,
        Argument("--record RECORD", "write the record of the match to this file, and those of rematches "
                 "beside it (default: in results/play)", type=path),
        FORCE, CLOCK,
        Flag("--timed", "the time limits hold for persons, too (default: persons have no time limit)"),
        *CONFINED,
        Flag("--json", "print the result of each match as JSON"),
    ), examples=(
        "play aliens",
        "play captains bots/captains-planner bots/random-python --seat 1",
        "play sheets --person Ada --person Ben --terminal",
    )),
    Command("match", "play one match between bots", "warpleague.cli.match:run_match", group="play",
            about="Play one match between bots, each named by its folder.", arguments=(
        GAME._replace(nargs="?"),
        Argument("bots BOT", "the folder of a bot; one for each seat, in the order of the seats; BOT@0.1s gives it "
                 "time limits of its own", nargs="*"),
        Argument("--from-folders DIR", "all bots in this folder take part in the match, in the order of the "
                 "names of their folders, after those that are named", type=path),
        GAME_INSTEAD, *DEAL,
        Argument("--record RECORD", "write the record of the match to this file: `replay` shows and verifies "
                 "it, `reproduce` plays it again; a name that ends in .zst or .gz compresses it", type=path),
        POSITION, FORCE, LOG, CLOCK, *FAULT_RULES, *CONFINED, PONDERING,
        Flag("--watch", "show the board and the events during the match; keys pause it, step through it, and "
             "change its speed"),
        Argument("--pace TIME", "with --watch: how long each step is shown (default 0.3s; 0: as fast as the "
                 "bots play)", type=duration(0, 3_600)),
        JSON,
    ), examples=(
        "match aliens my-bot bots/aliens-greedy --seed 1 --record one.jsonl",
        "match captains bots/captains-planner --option max_rounds=20",
    ),
            codes={4: "a bot did not start"}),
    Command("games", "list the games, or describe one", "warpleague.cli.games:run_games", group="play",
            about=("List the games, or describe one: its players, options and actions; or draw the map of a "
                   "match."),
            arguments=(
        Argument("game GAME", "the game to describe (default: list all games)", nargs="?"),
        AS_JSON,
        Flag("--show-galaxy", "draw the map (the galaxy) on which a match of GAME is played"),
        Argument("--seed TEXT", "with --show-galaxy: the seed of the match (default: a random text)"),
        Argument("--players N", "with --show-galaxy: the number of players (default: the fewest)",
                 type=count(1)),
        Argument("--option KEY=VALUE", "with --show-galaxy: an option of the game; can be given several "
                 "times", many=True),
    ), examples=("games", "games captains", "games captains --show-galaxy --seed 1 --players 3"),
            codes={1: "a game cannot be loaded"}),
    Command("brief", "print everything about a game that the author of a bot needs",
            "warpleague.cli.docs:run_brief", group="play",
            about=("Print everything about a game that the author of a bot needs: rules, messages, types, "
                   "clock, points, and how to test."),
            arguments=(
        Argument("game GAME", "the game"),
        Argument("--players N", "how many players a table of the examples has (default: 2)", type=count(1), default=2),
    ), examples=("brief aliens", "brief captains --players 3"),
            prints=True),
    Command("demo", "play a small league of every game", "warpleague.cli.demo:run_demo", group="play",
            about="Play the demo: a small league of every game, each with its report, in about a minute.",
            arguments=(RESULTS,), examples=("demo", "demo --results demo-results"),
            codes={1: "a league of the demo went wrong"}),
    Command("docs", "list the pages of the documentation, or print one", "warpleague.cli.docs:run_docs",
            group="play",
            about="List the pages of the documentation, print one of them, or search all of them for a word.",
            arguments=(
        Argument("page PAGE|WORD", "the page to print, or a word to search for in headings and text (default: list "
                 "all pages)", nargs="?"),
        Flag("--path", "print where the file of the page is; without PAGE, where the folder of all pages is"),
        Flag("--json", "list the pages, or where the word is, as JSON"),
    ), examples=("docs", "docs write-a-bot", "docs move_s", "docs write-a-bot --path"),
            prints=True),

    # improve a bot
    Command("bot", "start a new bot, check whether a bot is ready, list bots", group="improve a bot",
            about="Start a new bot, check whether a bot is ready for a league, list bots."),
    Command("bot check", "play some matches of each game in bot.toml, and say whether the bot is ready for a "
            "league", "warpleague.cli.bot_check:run_check", arguments=(
        FOLDER,
        Argument("--matches N", "play N matches at each table size of each game (default 2)", type=count(1),
                 default=2),
        Argument("--league LEAGUE", "check it for the league of this file, or of this page of an arena "
                 "(https://...): with its time limits and rules, at its tables"),
        Flag("--quick", "take at most a minute: first one match at the smallest and the largest table of "
             "each game, then more"),
        Argument("--game GAME", "only this game; can be given several times (default: all games in bot.toml)",
                 many=True),
        Argument("--players N", "only at tables of N players (default: at tables of every size)",
                 type=count(1)),
        *DEAL, CLOCK, *FAULT_RULES,
        LEVEL._replace(default=None), SANDBOX_PATH, PONDERING,
        Argument("--log DIR", "write the output of the bot, and all messages to and from it, to files in "
                 "this folder", type=path),
        FINDINGS_JSON,
    ), examples=(
        "bot check my-bot",
        "bot check my-bot --quick",
        "bot check my-bot --game aliens --level sandbox",
        "bot check my-bot --league leagues/my-league.toml",
        "bot check my-bot --league https://arena.example.org/l/open",
    ),
            codes={1: "the bot is not ready"}),
    Command("bot new", "make a new folder with a bot that plays at random, to change as you like",
            "warpleague.cli.bot:run_new", arguments=(
        Argument("folder FOLDER", "the new folder; the bot gets its name", type=path),
        Argument("--lang LANGUAGE", f"the programming language: {', '.join(one.word for one in LANGUAGES)} "
                 "(default python)", type=language, default="python"),
        Flag("--with-engine", "also copy the rules and a simulator into the folder, for a bot that tries out "
             "moves; in Python the new bot uses them at once"),
    ), examples=("bot new my-bot", "bot new my-rust-bot --lang rust", "bot new my-searcher --with-engine")),
    Command("bot engine", "copy the rules and the simulator into the folder of a bot, or renew them there",
            "warpleague.cli.bot:run_engine", arguments=(FOLDER,), examples=("bot engine my-bot",)),
    Command("bot list", "list the bots in a folder", "warpleague.cli.bot:run_list", arguments=(
        Argument("folder FOLDER", "the folder in which the folders of bots are (default: the bots that come "
                 "with Warp League)", type=path, nargs="?"),
        AS_JSON,
    ), examples=("bot list", "bot list mybots --json"),
            codes={1: "the manifest of a bot is invalid"}),
    Command("compare", "test whether a bot is better than another", "warpleague.cli.compare:run_compare",
            group="improve a bot",
            usage="warpleague compare [options] NEW OLD --game GAME\n"
                  "       warpleague compare [options] GAME NEW OLD",
            about=("Test whether a bot is better than another, on the same deals, with as few matches as "
                   "possible."),
            arguments=(
        Argument("new NEW", "the folder of the bot that may be better; NEW@0.1s or NEW@60s+0.5s gives it "
                 "time limits of its own: for each decision, or for the whole match with an increment before "
                 "each decision"),
        Argument("old OLD", "the folder of the bot to compare it with"),
        Argument("last LAST", "OLD, if the first word is the game", nargs="*"),
        GAME_INSTEAD,
        Argument("--field BOTS", "the folders of other bots, with commas between them: NEW and OLD do not meet, "
                 "but each plays these bots, on the same deals and in the same seats", type=listed, default=()),
        Argument("--players N", "how many players a match has (default: 2); --field needs one bot less at least",
                 type=count(1)),
        GAME_OPTION,
        Section("test", "Two claims are tested: NEW is better by elo0 Elo, and NEW is better by elo1 Elo. "
                "The test stops as soon as the results speak clearly for one of them: for elo1, NEW is "
                "accepted; for elo0, it is rejected.",
            Argument("--elo0 ELO", "the lower claim (default 0: NEW is as good as OLD)", type=float,
                     default=0.0),
            Argument("--elo1 ELO", "the higher claim (default 20: NEW wins 53 %% of the points); for 100 a test "
                     "takes about 25 times fewer matches", type=float, default=20.0),
            Argument("--alpha P", "how often a NEW that is only elo0 better may be accepted by chance "
                     "(default 0.05)", type=float, default=0.05),
            Argument("--beta P", "how often a NEW that is elo1 better may be rejected by chance (default "
                     "0.05)", type=float, default=0.05),
            Flag("--normalized", "elo0 and elo1 are in normalised Elo, which `warpleague docs compare` "
                 "explains"),
            Argument("--max-matches N", "stop after N matches, even if nothing is decided (default: no "
                     "limit)", type=count(1)),
            Argument("--fixed N", "play N matches, as many whole deals as they make, and do not stop earlier: "
                     "NEW is accepted or rejected if the 95 %% interval excludes equal bots; elo0, elo1, alpha and "
                     "beta do not count", type=count(1)),
            Argument("--seats", "in which seats the bots play the same dice: all bots move on by one seat "
                     "(rotations, default), or every order of the bots (all)", choices=("rotations", "all"),
                     default="rotations"),
            Argument("--seed TEXT", "a text from which all dice follow (default: a random text; the same "
                     "command later goes on with it)"),
        ),
        Argument("--jobs N", "the number of matches at the same time (default: one for each core)",
                 type=count(0)),
        Flag("--in-process", "for bots in Python that you trust: call them in the process that plays the "
             "match, without clocks and limits, on the same deals; the result does not depend on other "
             "programs"),
        LOG, RESULTS, STOP_ON_FAULT, QUIET, JSON, CLOCK, *CONFINED,
    ), examples=(
        "compare bots/mine bots/mine-before --game aliens",
        "compare bots/mine bots/old --game aliens --max-matches 2000",
        "compare sheets bots/mine bots/old --field bots/greedy,bots/lazy",
        "compare aliens bots/mine@0.5s bots/mine@100ms",
        "compare bots/mine bots/mine-before --game aliens --in-process",
    ),
            codes={0: "accepted: the lead of NEW is nearer to `--elo1` than to `--elo0`; with `--fixed`, NEW is "
                      "better",
                   1: "rejected: it is nearer to `--elo0`; with `--fixed`, NEW is worse; or a bot faulted in "
                      "every match, a match is void, or "
                      "`--stop-on-fault` stopped the test",
                   3: "undecided: `--max-matches` was reached, or the interval of `--fixed` holds equal bots"}),
    Command("rate", "find out how strong a bot is, by opponents of known strength", "warpleague.cli.rate:run_rate",
            group="improve a bot",
            about=("Find out how strong a bot is on the scale of the opponents, bots of known strength from random "
                   "play (level 1) to the strongest (level 5). Each deal is against the level that tells most."),
            arguments=(
        Argument("bot BOT", "the folder of the bot; BOT@0.1s gives it time limits of its own"),
        Argument("--game GAME", "the game", required=True),
        Argument("--players N", "how many players a match has (default: 2); beside the bot and its opponent sit bots "
                 "of level 3, and alone at the table the score is compared", type=count(1), default=2),
        Argument("--within ELO", "stop when half the 95 %% interval is this small (default 50)",
                 type=count(1), default=50),
        Argument("--matches N", "stop after N matches", type=count(2), dest="max_matches"),
        Argument("--time TIME", "stop after this time, such as 10m, when the matches that have begun are over",
                 type=duration(0, 1e9, above=True), dest="for_s"),
        Argument("--seed TEXT", "a text from which all dice follow (default: a random text; the same command "
                 "later goes on with it)"),
        Argument("--jobs N", "the number of matches at the same time (default: one for each core)",
                 type=count(0)),
        Flag("--in-process", "for bots in Python that you trust: call them in the process that plays the "
             "match, without clocks and limits"),
        LOG, RESULTS, STOP_ON_FAULT, QUIET, JSON, CLOCK, *CONFINED,
    ), examples=(
        "rate bots/mine --game aliens",
        "rate bots/mine --game aliens --in-process --within 30",
        "rate bots/mine --game sheets --time 10m",
    ),
            codes={1: "the bot faulted in every match; or a match is void, or `--stop-on-fault` stopped it"}),
    Command("replay", "show or verify the record of a match", group="improve a bot",
            about=("Show a recorded match, verify that it holds, make a page of it, or take a position from "
                   "it.")),
    Command("replay show", "print the events of a match, line by line", "warpleague.cli.replay:run_show",
            arguments=(
        RECORD,
        Flag("--boards", "draw the board after every line"),
        Argument("--at N", "stop after line N, and draw the board there", type=count(0)),
        Flag("--step", "step through the match with keys, in a terminal"),
        Argument("--pace TIME", "with --step: continue without keys, and show each line for this time",
                 type=duration(0, 3_600)),
        Argument("--seat S", "show only the knowledge of the bot at seat S, counted from 0", type=count(0)),
        OneOf(
            Argument("--stderr S", "show the standard error of the bot at seat S instead, if logs were "
                     "stored", type=count(0)),
            Argument("--wire S", "show all messages to and from the bot at seat S instead, if logs were "
                     "stored", type=count(0)),
        ),
        Argument("--log DIR", "the folder with the logs (default: `logs` beside the record or beside its "
                 "folder)", type=path),
        Flag("--json", "print each line with its events, as JSON"),
    ), examples=(
        "replay show results/one.jsonl",
        "replay show results/one.jsonl --at 30 --seat 0",
        "replay show results/one.jsonl --step",
        "replay show results/one.jsonl --stderr 0 --log logs",
    ),
            prints=True),
    Command("replay verify", "check that a record is genuine: execute it again by the rules, and compare "
            "everything", "warpleague.cli.replay:run_verify", arguments=(
        Argument("files RECORD", "the record of a match", type=path, nargs="+"),
        KEY,
        Argument("--parent RECORD", "the record from which this match was branched off: check that it starts "
                 "from that position", type=path),
        Flag("--json", "print the outcome as JSON"),
    ), examples=("replay verify results/one.jsonl", "replay verify results/mine/records/*.jsonl --json"),
            codes={1: "a record does not hold"}),
    Command("replay page", "make a page of the match: one file that any browser opens",
            "warpleague.cli.replay:run_page", arguments=(
        RECORD,
        Argument("-o --out FILE", "write the page to this file (default: in this folder, named after the "
                 "record)", type=path),
        FORCE,
        Flag("--json", "print the path of the page as JSON"),
    ), examples=(
        "replay page results/one.jsonl -o one.html",
    )),
    Command("replay position", "write a position of the match to a file; `match --position FILE` plays on "
            "from there", "warpleague.cli.replay:run_position", arguments=(
        RECORD,
        Argument("--at N", "the position after line N (0: the start)", type=count(0), required=True),
        Argument("-o --out FILE", "write the position to this file (default: print it)", type=path),
        FORCE,
    ), examples=("replay position results/one.jsonl --at 30 --out thirty.json",)),
    Command("replay branch", "play on from a position of the match, with another action, other bots or other "
            "dice", "warpleague.cli.match:run_branch", arguments=(
        RECORD,
        Argument("--at N", "play on after line N (0: the start)", type=count(0), required=True),
        Argument("--seat S", "the seat for --action and --redeal (default: the seat to act)", type=count(0)),
        Argument("--action A", "play this action first: its JSON object, or its number in the list of legal "
                 "actions, counted from 0"),
        Flag("--redeal", "draw facts that the seat does not know again at random (default: they stay)"),
        Argument("--bots BOT", "the folders of the bots, one for each seat (default: the bots of the record, "
                 "if the cache has them)", nargs="+", default=()),
        Argument("--move-s TIME", "time limit of all bots for each decision, such as 500ms or 2s (default: "
                 "the clock of the record)", type=seconds),
        Argument("--seed TEXT", "a text from which other dice follow (default: the dice continue as in the "
                 "record)"),
        KEY,
        Argument("-o --out --record FILE", "write the new record to this file (default: in this folder, "
                 "named after the record and N)", type=path, dest="record"),
        FORCE, *CONFINED, JSON,
    ), examples=(
        "replay branch results/one.jsonl --at 30 --action 2",
        "replay branch results/one.jsonl --at 30 --seed other --redeal",
    )),
    Command("reproduce", "play a recorded match again, and compare", "warpleague.cli.match:run_reproduce",
            group="improve a bot",
            about="Play a recorded match again with the same bots, and report the first difference.",
            arguments=(
        RECORD,
        Argument("bots BOT", "the folder of a bot; one for each seat of a bot (default: the bots of the "
                 "record, if the cache has them)", nargs="*"),
        Argument("--level", "how strictly bots are confined (default: as in the record, but at least limits)",
                 choices=LEVELS),
        SANDBOX_PATH, KEY,
        Argument("--record FILE", "write the new record to this file", type=path),
        FORCE,
        Flag("--strict", "compare everything; otherwise the notes, values and talk of bots may differ"),
        Flag("--json", "print the comparison as JSON"),
    ), examples=(
        "reproduce results/one.jsonl",
        "reproduce results/one.jsonl my-new-bot bots/aliens-greedy",
    ),
            codes={1: "the match came out differently"}),
    Command("sim", "answer questions about the rules, for bots that search", "warpleague.cli.sim:run_sim",
            group="improve a bot",
            about=("Answer questions about the rules, for a bot that tries out moves: lines of JSON in, lines "
                   "of JSON out."),
            arguments=(
        Flag("--serve", "answer each line of standard input with a line of standard output, until the input "
             "ends"),
    ), examples=("sim --serve",)),

    # run a league
    Command("league", "play a league, and print its tables", group="run a league",
            about="Run a league, and look at its tables."),
    Command("league run", "play all matches that are not played yet, then print the tables",
            "warpleague.cli.league_run:run_matches", group="play the matches", arguments=(
        *OF_LEAGUE, LEAGUE_JOBS,
        Argument("--from-folders DIR", "all bots in this folder take part in the league, in addition to "
                 "those of the file, each under the name of its folder", type=path),
        Argument("--matches N", "stop after N matches; the next run continues", type=count(1)),
        Argument("--for TIME", "stop after this time, such as 90s, 10m or 2h, as soon as the matches that "
                 "have begun are over", type=duration(0, 1e9, above=True), dest="for_s"),
        Flag("--quiet", "print only left-out bots and the end of the run, no progress and no tables"),
        Argument("--log DIR", "write the output of each bot, and all messages to and from it, to files in "
                 "this folder (default: none; with `logs = true` in the file, RESULTS/NAME/logs)", type=path),
        STOP_ON_FAULT,
        Argument("--beacon VALUE", "the public value that the dice also depend on, if the file names one "
                 "under [season]"),
    ), examples=("league run leagues/mine.toml", "league run leagues/mine.toml --jobs 4 --quiet"),
            codes={1: "a match is void, or `--stop-on-fault` stopped after a fault; the next run continues"}),
    Command("league best", "play only until it is known which bot is the best",
            "warpleague.cli.league_best:run_best", group="play the matches",
            about=("Find the best bot of a league with as few matches as possible: pairs that may still decide who is "
                   "first play, until that is known. The results have a folder of their own, and the same command "
                   "continues."),
            arguments=(
        *OF_LEAGUE, LEAGUE_JOBS,
        Argument("--confidence P", "how sure the answer must be: the probability that another bot is better is at "
                 "most 1 - P (default 0.95)", type=float, default=0.95),
        Argument("--within ELO", "bots that differ by less count as equal: any of them may be named (default 0)",
                 type=float, default=0.0),
        Argument("--max-matches N", "end after N matches, even if nobody is known (default: no limit)",
                 type=count(1)),
        Argument("--matches N", "stop after N matches; the next run continues", type=count(1)),
        Argument("--for TIME", "stop after this time, such as 90s, 10m or 2h, as soon as the matches that "
                 "have begun are over", type=duration(0, 1e9, above=True), dest="for_s"),
        STOP_ON_FAULT, QUIET,
    ), examples=("league best leagues/mine.toml", "league best leagues/mine.toml --within 10 --max-matches 5000"),
            codes={1: "a match is void, or `--stop-on-fault` stopped after a fault; the next run continues",
                   3: "the best is not known yet: `--max-matches`, `--matches` or `--for` ended it"}),
    Command("league prepare", "build all bots of the league, but play nothing",
            "warpleague.cli.league_setup:run_prepare", group="play the matches", arguments=OF_LEAGUE,
            examples=("league prepare leagues/mine.toml",)),
    Command("league commit", "fix the secret of the dice before the first match, and print a hash of it to "
            "publish", "warpleague.cli.league_setup:run_commit", group="play the matches", arguments=(
        *OF_LEAGUE,
        Flag("--entrants", "also fix bots, rules and format, and print a hash of them to publish"),
        Flag("--explain", "with --entrants: also print the text of which that is the hash"),
    ), examples=("league commit leagues/mine.toml", "league commit leagues/mine.toml --entrants")),
    Command("league status", "print who leads, how much is played, and what is missing",
            "warpleague.cli.league:run_status", group="look at the tables", arguments=(
        *OF_LEAGUE,
        Flag("--proofs", "also print the commitments, the secret once it is public, and the receipt"),
    ), examples=("league status leagues/mine.toml", "league status leagues/mine.toml --proofs")),
    Command("league standings", "print the standings: the bots from first to last",
            "warpleague.cli.league:run_standings", group="look at the tables", arguments=(
        LEAGUES, RESULTS, JSON, WITHOUT_LUCK,
        Flag("--together", "one table over several leagues, such as one for each game: bots are matched by name "
             "and version, all games weigh alike, and copies of a program count once"),
    ), examples=("league standings leagues/mine.toml", "league standings leagues/mine.toml --json",
                 "league standings leagues/a.toml leagues/b.toml --together")),
    Command("league crosstable", "print the points of each bot against each other bot",
            "warpleague.cli.league:run_table", group="look at the tables", arguments=OF_LEAGUE,
            examples=("league crosstable leagues/mine.toml",)),
    Command("league bracket", "print the bracket of a knockout, or the rounds of a Swiss",
            "warpleague.cli.league:run_table", group="look at the tables", arguments=OF_LEAGUE,
            examples=("league bracket leagues/mine.toml",)),
    Command("league seats", "print the results by seat", "warpleague.cli.league:run_table",
            group="look at the tables", arguments=OF_LEAGUE,
            examples=("league seats leagues/mine.toml",)),
    Command("league faults", "print the faults by bot and kind", "warpleague.cli.league:run_table",
            group="look at the tables", arguments=OF_LEAGUE,
            examples=("league faults leagues/mine.toml",)),
    Command("league times", "print how much time the bots used", "warpleague.cli.league:run_table",
            group="look at the tables", arguments=(
        *OF_LEAGUE,
        Flag("--workers", "instead: the machines of a cluster that played, how fast they are, and whether the "
             "results of one differ from those of the others"),
    ), examples=("league times leagues/mine.toml", "league times leagues/mine.toml --workers")),
    Command("league services", "print failures, tokens and costs of the services (such as language models) "
            "that bots use", "warpleague.cli.league:run_table", group="look at the tables",
            arguments=OF_LEAGUE, examples=("league services leagues/mine.toml",)),
    Command("league matches", "list all matches, in the order of the schedule",
            "warpleague.cli.league:run_list", group="look at the tables", arguments=(
        *OF_LEAGUE,
        Argument("--bot NAME", "only the matches of this bot"),
    ), examples=("league matches leagues/mine.toml --bot my-bot",),
            prints=True),
    Command("league report", "write pages with tables, charts and replays, which any browser opens",
            "warpleague.cli.league_report:run_report", group="use the results elsewhere", arguments=(
        *OF_LEAGUE,
        Argument("--out DIR", "write to this folder (default: RESULTS/NAME/report)", type=path),
        Argument("--replays N", "write replays of at most N matches; `all` or `none` are possible, too "
                 "(default: 300)", type=count_or_all, default=300),
        Argument("--jobs N", "the number of processes at the same time (default: one for each core)",
                 type=count(0), default=0),
        WITHOUT_LUCK,
    ), examples=("league report leagues/mine.toml --replays all",),
            codes={1: "a page lacks something, such as a record that does not hold"}),
    Command("league export", "write the records of matches to files, or tables of all matches for data tools",
            "warpleague.cli.league_report:run_export", group="use the results elsewhere", arguments=(
        *OF_LEAGUE,
        Argument("--match ID|N", "only this match: its number in the schedule, or the beginning of its id"),
        Argument("--out DIR", "write to this folder (default: RESULTS/NAME/records, or RESULTS/NAME/tables)",
                 type=path),
        Argument("--format", "jsonl (default), zst and gz: the record of each match, plain or compressed; "
                 "csv, excel (CSV for spreadsheets) and parquet: tables of all matches and seats",
                 choices=("jsonl", "zst", "gz", "csv", "excel", "parquet"), default="jsonl"),
        Flag("--decisions", "with csv, excel or parquet: also a table of all decisions, with the view of the bot"),
        Argument("--jobs N", "with --decisions: the number of processes at the same time (default: one for "
                 "each core)", type=count(0), default=0),
        FORCE,
    ), examples=(
        "league export leagues/mine.toml --match 1",
        "league export leagues/mine.toml --format parquet --decisions",
    )),
    Command("league backup", "copy all results to another folder, also while matches are played",
            "warpleague.cli.league_store:run_backup", group="use the results elsewhere", arguments=(
        *OF_LEAGUE,
        Argument("--out DIR", "copy to this folder; it can later be used as the folder of results", type=path,
                 required=True),
    ), examples=("league backup leagues/mine.toml --out /mnt/backup/results",)),
    Command("league verify", "check that all results are genuine: execute every record again by the rules, "
            "and compare", "warpleague.cli.league_store:run_verify", group="check the results", arguments=(
        *OF_LEAGUE,
        Argument("--head HEAD", "a receipt that an earlier run printed: check that the store still has "
                 "everything up to it; can be given several times", many=True),
        Argument("--sample N", "execute only N matches again, drawn at random; the journal is checked in "
                 "full (default: all)", type=count(1)),
        Argument("--seed TEXT", "draw the same sample as the run that printed this seed (default: a new one "
                 "each time)"),
        Argument("--jobs N", "the number of processes at the same time (default: one for each core)",
                 type=count(0), default=0),
    ), examples=(
        "league verify leagues/mine.toml",
        "league verify leagues/mine.toml --head HEAD",
        "league verify leagues/mine.toml --sample 100",
    ),
            codes={1: "a result is not genuine"}),
    Command("league mend", "remove results that are not genuine, so that the next run plays these matches "
            "again", "warpleague.cli.league_store:run_mend", group="check the results", arguments=(
        *OF_LEAGUE,
        Flag("--workers", "also remove all matches of machines that stand out in `league times --workers`"),
        Argument("--jobs N", "the number of processes at the same time (default: one for each core)",
                 type=count(0), default=0),
    ), examples=("league mend leagues/mine.toml",)),
    Command("league merge", "add the matches of this league that were played on other machines",
            "warpleague.cli.league_store:run_merge", group="check the results", arguments=(
        *OF_LEAGUE,
        Argument("stores STORE", "the file league.sqlite of another machine, or its folder", type=path,
                 nargs="+"),
        Flag("--trust", "do not check the records first; only for your own machines"),
    ), examples=("league merge leagues/mine.toml other-machine/results/mine",)),
    Command("league disqualify", "take a bot out of the league, for a reason that everybody can read",
            "warpleague.cli.league_store:run_disqualify", group="decide about bots", arguments=(
        *OF_LEAGUE, BOT,
        Argument("--reason TEXT", "the reason, in one line", required=True),
        ITS_RESULTS,
    ), examples=("league disqualify leagues/mine.toml my-bot --reason \"it is a copy\"",)),
    Command("league reinstate", "let a disqualified bot play again",
            "warpleague.cli.league_store:run_reinstate", group="decide about bots", arguments=(
        *OF_LEAGUE, BOT,
        Argument("--reason TEXT", "the reason, in one line", default="it is reinstated"),
    ), examples=("league reinstate leagues/mine.toml my-bot --reason \"not a copy\"",)),
    Command("publish", "make one archive of a finished league, or of rounds, that anyone can verify",
            "warpleague.cli.publish:run_publish", group="run a league", arguments=(
        Argument("file FILE", "the file of the league or of the rounds, or the folder of a league's results",
                 type=path),
        RESULTS,
        Argument("-o --out ARCHIVE", "write to this file (default: NAME.tar in this folder)", type=path),
        Argument("--sources NAMES", "the bots whose source goes in, with commas between them; * stands for any "
                 "letters (default: only digests)", type=listed),
        Argument("--sign KEY", "sign it with this private key, such as ssh-keygen makes", type=path),
        FORCE, JSON,
    ), examples=("publish leagues/mine.toml", "publish results/mine --sources my-bot -o mine.tar",
                 "publish leagues/mine.toml --sign ~/.ssh/id_ed25519")),
    Command("verify", "execute a published archive again, and tell what holds", "warpleague.cli.publish:run_verify",
            group="run a league", arguments=(
        Argument("archive ARCHIVE", "the archive", type=path),
        Argument("--signer FILE", "the file with the public key of who must have signed it, or with several",
                 type=path),
        Argument("--head HEAD", "a receipt that was given out: check that the league still has everything up to it; "
                 "LEAGUE:HEAD for an archive of several leagues; can be given several times", many=True),
        Argument("--jobs N", "the number of processes at the same time (default, and 0: one for each core)",
                 type=count(0), default=0),
        JSON,
    ), examples=("verify mine.tar", "verify mine.tar --signer publisher.pub"),
            codes={1: "something does not hold"}),

    # arena
    Command("submit", "send a bot to an arena", "warpleague.cli.submit:run_submit", group="arena",
            about=("Send a bot to an arena, and show the findings of its check; or ask the arena about your "
                   "earlier submissions."),
            arguments=(
        Argument("folder BOT", "the folder of the bot; or one of these words, which ask about your earlier "
                 "submissions: " + "; ".join(f"{word} {form}: {what}" for word, (form, what, _) in
                                             SUBMIT_WORDS.items()), type=path),
        Argument("words WORD", "the name or number after such a word", nargs="*"),
        *ADDRESS,
        Flag("--no-wait", "do not wait for the check"),
        Flag("--wait", "wait for the check (which is done anyway), and end with exit code 3, not 1, if it "
             "could not be made"),
        Argument("--max-wait TIME", "wait no longer than this, such as 10m; if the check is not over then, "
                 "the exit code is 3", type=wait),
        Argument("--out FILE", "records: the file to write", type=path),
        Argument("--kind", "log: standard error (default), or the messages to and from the bot",
                 choices=("stderr", "wire"), default="stderr"),
        Argument("--deals N", "trial: play N deals (default: %(default)s)", type=count(1), default=20),
        Argument("--seat N", "log: the seat, if the bot had several", type=count(0)),
        Argument("--matches N", "watch: end after N matches", type=count(1)),
        Flag("--json", "print the submission, or the answer, as JSON"),
    ), examples=(
        "submit my-bot --to https://arena.example.org --token-file token.txt",
        "submit my-bot --to http://127.0.0.1:8000 --league cup --wait --json",
        "submit status --to https://arena.example.org",
        "submit records my-bot --to https://arena.example.org",
        "submit trial my-bot --to https://arena.example.org --deals 40",
    ),
            codes={1: "the bot, or the new version in a trial, was not accepted",
                   3: "undecided: the check or the trial failed, or is not over after `--max-wait`"}),
    Command("serve", "show leagues in the browser while they are played, and take bots that authors submit",
            "warpleague.cli.serve:run_serve", group="arena",
            about=("Show leagues in the browser while they are played, and take bots that authors submit. A league "
                   'takes bots if its file says level = "sandbox" under [rules].'),
            arguments=(
        LEAGUES, RESULTS,
        Argument("--host ADDRESS", "the address to listen at (default 127.0.0.1: only this machine can reach "
                 "the pages; 0.0.0.0: others can, too)", default="127.0.0.1"),
        Argument("--port N", "the port to listen at (default 8000; 0: any free port)", type=port,
                 default=8000),
        Argument("--name NAME", "a host name by which visitors from other machines reach this server; can be "
                 "given several times", many=True),
        Argument("--path PATH", "the path under which visitors see the server, such as /arena/ (default /)",
                 type=site_path, default="/"),
        Flag("--behind-proxy", "visitors come through a proxy on this machine, which gives their address in "
             "X-Forwarded-For"),
        Argument("--title TEXT", "the title of the pages", default="Warp League"),
        Flag("--no-play", "only show pages: `arena play` and `arena check` play matches and check bots"),
        LEAGUE_JOBS,
        Argument("--delay TIME", "show the moves of a match only after this time, such as 30s", type=wait,
                 default=0.0),
        Argument("--pages-mb MB", "disk space for ready pages of each league, in MB (default 500)",
                 type=count(1), default=500),
        Argument("--logs-mb MB", "disk space for the output of bots of each league, in MB; the newest stays "
                 "(default 200; 0: none)", type=count(0), default=200),
    ), examples=(
        "serve leagues/open.toml",
        "serve leagues/open.toml --port 8080 --delay 30s",
        "serve leagues/open.toml --behind-proxy --name arena.example.org",
        "serve leagues/open.toml --path /arena/",
    )),
    Command("arena", "organise an arena: authors, submissions, decisions", group="arena",
            about=("Organise an arena: its authors, the bots that they submit, and your decisions about its "
                   "leagues.")),
    Command("arena play", "play a league and new bots in it, until you stop it (`serve` does this, too)",
            "warpleague.cli.arena_league:run_play", group="run an arena", arguments=(
        LEAGUE, RESULTS, LEAGUE_JOBS,
        Flag("--live", "let `serve` show matches while they are played"),
        Argument("--logs-mb MB", "disk space for the output of bots, in MB; the newest stays (default 200; "
                 "0: none)", type=count(0), default=200),
        END_WITH_PARENT,
    ), examples=("arena play leagues/open.toml --live",)),
    Command("arena check", "check submitted bots, until you stop it", "warpleague.cli.arena_league:run_check",
            group="run an arena", arguments=(
        RESULTS, LEAGUES,
        Flag("--once", "end as soon as nothing is left to check"),
        END_WITH_PARENT,
    ), examples=("arena check leagues/open.toml",)),
    Command("arena play-challenges", "play matches on demand, until you stop it",
            "warpleague.cli.arena_league:run_challenges", group="run an arena", arguments=(
        RESULTS, LEAGUES,
        Flag("--once", "end as soon as none waits"),
        END_WITH_PARENT,
    ), examples=("arena play-challenges leagues/open.toml",)),
    Command("arena challenge", "ask an arena for a match of your bot against others, which rates nobody",
            "warpleague.cli.submit:run_challenge", group="ask for a match", arguments=(
        Argument("bot BOT", "the name of your bot there, or the number of an accepted version of it"),
        Argument("opponents OPPONENT", "the name of a bot of the league, or the number of a version of "
                 "yours; one for each other seat, or fewer", nargs="+"),
        *ADDRESS,
        Flag("--no-wait", "do not wait for the match"),
        Argument("--out FILE", "write the record of the match to this file", type=path),
        Flag("--json", "print the match as JSON"),
    ), examples=(
        "arena challenge my-bot aliens-greedy --to https://arena.example.org",
        "arena challenge 12 7 --to https://arena.example.org",
    ),
            codes={3: "the match could not be played, or is not over after `--max-wait`"}),
    Command("arena author", "add an author, list the authors, renew or end a token",
            group="authors and their submissions",
            examples=("arena author add ada", "arena author list --json")),
    Command("arena author add", "add an author, and print a token, which is shown only now",
            "warpleague.cli.arena:run_author_add", arguments=(
        *OF_ARENA, AUTHOR,
        Flag("--organiser", "this author may also organise the arena, on a page of its own"),
    ), examples=("arena author add ada",)),
    Command("arena author renew", "give an author a new token; the old one is no longer valid",
            "warpleague.cli.arena:run_author_renew", arguments=(*OF_ARENA, AUTHOR),
            examples=("arena author renew ada",)),
    Command("arena author revoke", "make the token of an author invalid; the author's bots stay",
            "warpleague.cli.arena:run_author_revoke", arguments=(*OF_ARENA, AUTHOR),
            examples=("arena author revoke ada",)),
    Command("arena author add-member", "give a member of a team, which is one author, a token of its own, "
            "which is shown only now", "warpleague.cli.arena:run_add_member",
            arguments=(*OF_ARENA, AUTHOR, MEMBER), examples=("arena author add-member ada bob",)),
    Command("arena author remove-member", "end the token of a member of a team",
            "warpleague.cli.arena:run_remove_member", arguments=(*OF_ARENA, AUTHOR, MEMBER),
            examples=("arena author remove-member ada bob",)),
    Command("arena author list", "list the authors", "warpleague.cli.arena:run_author_list",
            arguments=OF_ARENA, examples=("arena author list --json",)),
    Command("arena invite", "print a link with which people make themselves authors",
            "warpleague.cli.arena:run_invite", group="authors and their submissions", arguments=(
        *OF_ARENA,
        Argument("--uses N", "the number of authors (default 1)", type=count(1), default=1),
        Argument("--days N", "the number of days that it is valid (default 14)", type=count(1), default=14),
        Argument("--note TEXT", "a note for organisers, such as the name of a course", default=""),
        Argument("--to URL", "the address of the arena, for the link", default=""),
    ), examples=("arena invite --uses 30 --to https://arena.example.org",)),
    Command("arena invitations", "list the invitations, the newest first",
            "warpleague.cli.arena:run_invitations", group="authors and their submissions",
            arguments=OF_ARENA, examples=("arena invitations --json",)),
    Command("arena uninvite", "end an invitation; the authors who came with it stay",
            "warpleague.cli.arena:run_uninvite", group="authors and their submissions", arguments=(
        *OF_ARENA,
        Argument("number NUMBER", "the number of the invitation", type=count(1)),
    ), examples=("arena uninvite 3",)),
    Command("arena limits", "show the limits for submissions, or change them",
            "warpleague.cli.arena:run_limits", group="authors and their submissions", arguments=(
        *OF_ARENA,
        Argument("change KEY=NUMBER", "a limit and its new value, such as per_day=5 (default: show all)",
                 nargs="*"),
    ), examples=("arena limits", "arena limits per_day=5 build_s=120")),
    Command("arena submissions", "list the submissions, the newest first, and why bots were refused",
            "warpleague.cli.arena:run_submissions", group="authors and their submissions", arguments=(
        *OF_ARENA,
        Argument("--author NAME", "only submissions of this author"),
        MOST,
    ), examples=("arena submissions --author ada",),
            prints=True),
    Command("arena export", "write all submissions to a folder: their archives and a list",
            "warpleague.cli.arena:run_export", group="authors and their submissions", arguments=(
        *OF_ARENA,
        Argument("--out DIR", "the folder, which is created if it is missing", type=path, required=True),
    ), examples=("arena export --out submitted",)),
    Command("arena pause", "let no new matches of a league begin", "warpleague.cli.arena_league:run_pause",
            group="decide about a league", arguments=(*OF_ARENA, LEAGUE),
            examples=("arena pause leagues/open.toml",)),
    Command("arena resume", "continue a paused league", "warpleague.cli.arena_league:run_resume",
            group="decide about a league", arguments=(*OF_ARENA, LEAGUE),
            examples=("arena resume leagues/open.toml",)),
    Command("arena extend", "play more matches: more deals, or a longer ladder; or less, down to what has begun",
            "warpleague.cli.arena_league:run_extend", group="decide about a league", arguments=(
        *OF_ARENA, LEAGUE,
        Argument("--deals N", "the number of deals of each table in all", type=count(1)),
        Argument("--matches N", "the number of matches of the ladder in all", type=count(1)),
        Flag("--yes", "also for more than ten times of today"),
    ), examples=("arena extend leagues/open.toml --deals 4",)),
    Command("arena close", "take no more submissions, and end the season as soon as its matches are played",
            "warpleague.cli.arena_league:run_close", group="decide about a league",
            arguments=(*OF_ARENA, LEAGUE), examples=("arena close leagues/open.toml",)),
    Command("arena disqualify", "take a bot out of a league, for a reason that everybody can read",
            "warpleague.cli.arena_league:run_disqualify", group="decide about a league",
            arguments=(*OF_ARENA, LEAGUE, BOT, REASON, ITS_RESULTS),
            examples=("arena disqualify leagues/open.toml my-bot --reason \"a copy\"",)),
    Command("arena reinstate", "let a disqualified bot play again",
            "warpleague.cli.arena_league:run_reinstate", group="decide about a league",
            arguments=(*OF_ARENA, LEAGUE, BOT, REASON),
            examples=("arena reinstate leagues/open.toml my-bot --reason \"no copy\"",)),
    Command("arena replay", "declare a match void, so that it is played again",
            "warpleague.cli.arena_league:run_replay", group="decide about a league", arguments=(
        *OF_ARENA, LEAGUE,
        Argument("match MATCH", "the id of the match, or its beginning"),
        REASON,
    ), examples=("arena replay leagues/open.toml 0123ab --reason \"no power\"",)),
    Command("arena journal", "list all actions and who did them, the newest first",
            "warpleague.cli.arena:run_journal", group="look back", arguments=(*OF_ARENA, MOST),
            examples=("arena journal --most 20",),
            prints=True),

    # this machine
    Command("doctor", "test this machine: languages, limits and the sandbox",
            "warpleague.cli.doctor:run_doctor", group="this machine",
            about="Test this machine: which languages it runs, and whether limits and sandbox work.",
            arguments=(
        Argument("--level", "test only this level, exit code 1 if it does not work; can be given several "
                 "times (default: test all, exit code 0)", choices=LEVELS, many=True),
        FINDINGS_JSON,
    ), examples=("doctor", "doctor --level sandbox"),
            codes={1: "a level that `--level` names does not hold"}),
    Command("cache", "list the built bots in the cache, or remove some",
            "warpleague.cli.machine:run_cache_list", group="this machine",
            usage="warpleague cache [-h] [--json] COMMAND ...",
            about=("List the built bots in your cache, or remove some. A bot that is needed again is built "
                   "again."),
            arguments=(
        Flag("--json", "print the list as JSON"),
    ), examples=("cache", "cache clean --older-than 30")),
    Command("cache list", "list the built bots, the one used last first",
            "warpleague.cli.machine:run_cache_list", arguments=(
        JSON,
    ), examples=("cache list --json",),
            prints=True),
    Command("cache clean", "remove built bots, except those that a running command uses",
            "warpleague.cli.machine:run_cache_clean", arguments=(
        Argument("bots BOT", "the name of a bot, or the beginning of its digest", nargs="*"),
        Argument("--older-than DAYS", "only those not used for this number of days, or for a time such as "
                 "12h", type=duration(0, 1e6 * 86_400, "d")),
        Flag("--all", "remove all"),
        JSON,
    ), examples=("cache clean --older-than 30", "cache clean my-bot 3f2a"),
            codes={1: "something was kept, since it is in use"}),
    Command("completion", "print a script that lets your shell complete commands",
            "warpleague.cli.machine:run_completion", group="this machine",
            after="bash reads it from ~/.local/share/bash-completion/completions/warpleague,\n"
                  "zsh from a file _warpleague in a folder of its fpath.\n\n",
            about=("Print a script that lets your shell complete commands, options and files of warpleague "
                   "with Tab."),
            arguments=(
        Argument("shell", "your shell", choices=("bash", "zsh", "tcsh")),
    ), examples=("completion bash",),
            prints=True),
)

# fmt: on


@cache
def commands() -> dict[str, Command]:
    """All commands by their names, with those of the extras.

    It is a function, since an extra imports the classes of this table, which must be complete by then.
    """
    table = {command.name: command for command in CORE}
    for module in EXTRAS:
        extra: Extra = import_module(module).EXTRA
        table |= {command.name: command for command in extra.commands}
        for name, more in extra.arguments.items():
            table[name] = table[name]._replace(arguments=(*table[name].arguments, *more))
        for name, lines in extra.examples.items():
            table[name] = table[name]._replace(examples=(*table[name].examples, *lines))
    return table
