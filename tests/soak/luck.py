"""Draws small leagues from the matches of a large one, and checks what is said of results without the dice.

    python tests/soak/luck.py LEAGUE.toml --results results [--matches 60] [--leagues 4000]

The league must be one of two bots with `dice = "own"`, the more matches the better. The mean luck of the pool is taken
away, so that the truth is known: the mean share of the pool. The exit code is 1 if the intervals cover less than 93 or
more than 97 % of it, if the mean varies more than 1.05 times as much as without the correction, or if it is off.
"""

import argparse
import sys
from pathlib import Path

import attrs
import numpy as np

from warpleague.league.results.league import open_to_read
from warpleague.league.results.luck import lucks_of, without_luck
from warpleague.league.results.tallies import shares
from warpleague.league.season.config import load_config


def main() -> int:
    """Print the figures of one pool."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("league", type=Path)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--matches", type=int, default=60)
    parser.add_argument("--leagues", type=int, default=4000)
    args = parser.parse_args()
    with open_to_read(load_config(args.league, without_bots=True), args.results) as league:
        pool, lucks = league.columns("matches"), lucks_of(league)
    first = pool.seats == 0
    luck = np.array([lucks[one.decode()] for one in pool.id.tolist()])
    z = luck[first].mean() / (luck[first].std() / len(pool) ** 0.5)
    luck -= np.where(first, 1, -1) * luck[first].mean()
    truth = shares(pool)[first].mean()
    rng = np.random.default_rng(1)
    raw, left, held = [], [], 0
    for _ in range(args.leagues):
        some = pool.only(rng.integers(0, len(pool), args.matches))
        drawn = np.array([f"{place:020x}".encode() for place in range(args.matches)])
        fresh = {
            "id": drawn,
            "group": np.arange(args.matches),
            "deal": rng.integers(0, 1 << 53, args.matches),
        }
        places = np.searchsorted(pool.number, some.number)
        some = attrs.evolve(some, values={**some.values, **fresh})
        taken = dict(zip((one.decode() for one in drawn.tolist()), luck[places].tolist(), strict=True))
        mean = without_luck(some, taken, 2)[0].mean
        raw.append(shares(some)[some.seats == 0].mean())
        left.append(mean.mean)
        held += mean.half is not None and abs(mean.mean - truth) <= mean.half
    share, ratio = held / args.leagues, float(np.var(raw) / np.var(left))
    off = (np.mean(left) - truth) / (np.std(left) / args.leagues**0.5)
    print(
        f"{league.config.name}: {len(pool)} matches, share {100 * truth:.1f} %, mean luck z {z:+.2f}; "
        f"leagues of {args.matches}: {100 * share:.1f} % of the intervals hold the truth, the variance is that of "
        f"{ratio:.2f} times as many matches, mean off by {off:+.2f} standard errors"
    )
    return int(not (0.93 <= share <= 0.97 and ratio >= 1 / 1.05 and abs(off) < 4))


if __name__ == "__main__":
    sys.exit(main())
