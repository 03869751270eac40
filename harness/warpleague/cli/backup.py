"""Copy the store of a league, and the submissions beside it, while they are in use.

The copying is done in `warpleague.league.store.database`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpleague.cli.common import print_json
from warpleague.errors import BadInput
from warpleague.text import counted

if TYPE_CHECKING:
    import argparse

BESIDE: Final = ("arena.db",)
"""Files beside the leagues that belong to a backup, if there are any: the submissions."""


def configure_backup(parser: argparse.ArgumentParser) -> None:
    """Add what `warpleague league backup` takes besides the arguments of all commands of a league."""
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="copy to this folder; it can later be used as the folder of results",
    )


def run_backup(args: argparse.Namespace) -> int:
    """Copy first what the matches refer to, then the matches."""
    from warpleague.league.season.config import load_config
    from warpleague.league.store.database import back_up
    from warpleague.league.store.store import Store

    name = load_config(args.config, without_bots=True).name
    if args.out.resolve() == args.results.resolve():
        raise BadInput(f"--out {args.out}: is the folder of results itself; a backup goes elsewhere")
    copies = []
    with Store.open_to_read(args.results / name):
        pass  # reports the problem if there is no store
    for path in (*BESIDE, f"{name}/league.sqlite"):
        if (args.results / path).is_file():
            back_up(args.results / path, args.out / path)
            copies.append(args.out / path)
    with Store.open_to_read(args.out / name) as store:
        output = {"league": name, "matches": store.count(), "head": str(store.head())}
        copied = counted(store.count(), "match")
    if args.json:
        print_json({**output, "copies": [str(path) for path in copies]})
        return 0
    print(f"{copied} copied: {', '.join(map(str, copies))}")
    print(f"Receipt: {output['head']}")
    return 0
