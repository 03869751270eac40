"""Test vectors of the rules, for who writes them in another language: the option `--vectors` of `sim`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpleague.cli.declaration import FORCE, Argument, Extra, Section, count, path

if TYPE_CHECKING:
    from argparse import Namespace


class Vectors:
    """The value of the option `--vectors`. What makes the vectors is loaded only if the option is given."""

    def __init__(self, game: str) -> None:
        self._game = game

    def make(self, args: Namespace) -> None:
        """Make the vectors, and write them where the other options say."""
        from warpleague.extras.rule_vectors.vectors import write_vectors

        write_vectors(self._game, args.count, args.seed, args.out, force=args.force)


# In this table an argument takes as few lines as it needs.
# fmt: off

EXTRA: Final = Extra(arguments={"sim": (
    Argument("--vectors GAME", "make test vectors of the rules of this game: positions, legal actions, moves, next "
             "positions, events", type=Vectors),
    Section("test vectors", None,
        Argument("--count N", "make N vectors (default: %(default)s)", type=count(1), default=2400),
        Argument("--seed TEXT", "a text from which all matches follow (default: %(default)s)", default="vectors"),
        Argument("--out FILE", "write to this file, compressed if its name ends in .xz (default: standard output)",
                 type=path),
    ),
    FORCE,
)}, examples={"sim": ("sim --vectors sheets --out sheets.jsonl.xz",)})
