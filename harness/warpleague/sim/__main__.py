"""Serves the simulator on standard input and output: `python -m warpleague.sim`, also from a bot's own folder."""

import sys
from functools import partial

from warpleague.sim.serve import serve

if __name__ == "__main__":
    serve(sys.stdin.buffer, partial(print, flush=True))
