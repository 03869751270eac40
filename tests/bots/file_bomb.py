"""Makes up to twenty thousand empty files in folders inside each other, and crashes if it may make any."""

import contextlib
import os
import shutil
from pathlib import Path

NAME = "warpleague-bomb"
FOLDERS = 20
FILES = 1000


def misbehave(wire):
    for place in (Path(), Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.home()):
        folder = place / f"{NAME}-{os.getpid()}"
        made = 0
        with contextlib.suppress(OSError):
            for _ in range(FOLDERS):
                folder.mkdir()
                for index in range(FILES):
                    (folder / str(index)).touch()
                    made += 1
                folder /= "below"
        shutil.rmtree(place / f"{NAME}-{os.getpid()}", ignore_errors=True)
        if made:
            raise SystemExit(f"made {made} files in {place}")
    wire.play_on()
