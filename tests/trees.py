"""Makes trees of folders as a stranger might leave them."""

import os
from pathlib import Path


def nest(top: Path, depth: int) -> None:
    """Put so many folders into `top`, each in the one before it, and a file into the last."""
    folder = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("end", os.O_CREAT, dir_fd=folder))
    os.close(folder)
