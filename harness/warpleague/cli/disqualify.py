"""Disqualify a bot of a league, or reinstate it.

These are the arguments and outputs of `warpleague league disqualify` and `reinstate`. What they do is in
`warpleague.league.store.disqualifications`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.cli.common import league_command, print_json

if TYPE_CHECKING:
    import argparse

DECISIONS: Final = {
    "disqualify": "take a bot out of the league, for a reason that everybody can read",
    "reinstate": "let a disqualified bot play again",
}
"""The help of each command, by its name."""


def configure_decision(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a decision that the other commands of a league do not have."""
    ends = parser.get_default("action") == "reinstate"
    parser.add_argument("bot", metavar="BOT", help="the name of the bot in the league")
    parser.add_argument(
        "--reason",
        required=not ends,
        default="it is reinstated" if ends else None,
        metavar="TEXT",
        help="the reason, in one line",
    )
    if not ends:
        parser.add_argument(
            "--its-results",
            choices=("stay", "out"),
            default="stay",
            help="stay (default): its matches so far still count; out: they count for nobody",
        )


def run_decision(args: argparse.Namespace) -> int:
    """Enter the decision that the action names."""
    from warpleague.league.season.config import load_config
    from warpleague.league.store.store import Store
    from warpleague.league.upkeep.organising import disqualify, reinstate
    from warpleague.report.wording.league_words import decision_lines

    config = load_config(args.config)
    if args.action == "disqualify":
        decision = disqualify(config, args.results, args.bot, args.reason, args.its_results)
        data, lines = decision.to_json(), decision_lines([decision])
    else:
        reinstate(config, args.results, args.bot, args.reason)
        data = {"bot": args.bot, "reason": args.reason}
        lines = [f"{args.bot} is no longer disqualified: {args.reason}"]
    with Store.open_to_read(args.results / config.name) as store:
        head = str(store.head())
    if args.json:
        print_json({"league": config.name, **data, "head": head})
        return 0
    print(*lines, sep="\n")
    print(f"Receipt: {head}")
    print(f"Entered into the journal. What is left to play: {league_command(args, 'run')}")
    return 0
