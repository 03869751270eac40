"""Makes symbolic and hard links to the file named in its file `secret`, and crashes if it can read one."""

import contextlib
import os
from pathlib import Path


def misbehave(wire):
    secret = Path("secret").read_text()
    for place in (Path(), Path("/tmp"), Path("/dev/shm")):
        for make in (os.symlink, os.link):
            link = place / f"link-{os.getpid()}"
            with contextlib.suppress(OSError):
                make(secret, link)
                try:
                    link.read_bytes()
                finally:
                    link.unlink()
                raise SystemExit(f"read what is not its own through {link}")
    wire.play_on()
