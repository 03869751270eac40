"""Print everything about a game that the author of a bot needs: rules, messages, types, clock, and how to test.

`warpleague.report.wording.brief` makes the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, write_out
from warpleague.errors import BadInput
from warpleague.games import GAMES

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague brief`."""
    parser.add_argument("game", metavar="GAME", help="the game")
    add_examples(parser, "brief aliens", "brief captains")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Print the brief as Markdown."""
    from warpleague.report.wording.brief import brief_text
    from warpleague.text import nearest

    if args.game not in GAMES:
        raise BadInput(f"there is no brief of a game called {args.game!r}; {nearest(args.game, GAMES)}")
    write_out(brief_text(args.game))
    return 0
