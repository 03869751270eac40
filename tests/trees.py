"""Makes trees of folders as a stranger might leave them."""

import os
from pathlib import Path
from typing import Final

DEEP: Final = 1100
"""Beyond the recursion limit of Python and, with the names that `nest` gives, the longest path of the kernel."""


def nest(top: Path) -> None:
    """Put `DEEP` folders into `top`, each in the one before it, and a file into the last."""
    folder = os.open(top, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("deep", dir_fd=folder)
        inner = os.open("deep", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("end", os.O_CREAT, dir_fd=folder))
    os.close(folder)
