"""Page tables, which are in no resident set and no limit of a process: the watch counts them as the bot's memory."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpleague.match.spec import SeatSpec
from warpleague.runner.bot.pipe import Answer
from warpleague.runner.bot.process import BotProcess
from warpleague.runner.confine import cgroups

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="page tables are told by Linux only")

LIMIT_MB = 32
PATIENCE_NS = 60_000_000_000
LOOKS = 100

TAKE = """
import mmap, os, time
NORESERVE, NOHUGEPAGE = 0x4000, 15
kept = []
def take(tables, step, size):
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
    while tables > 0:
        kept.append(mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ))
        kept[-1].madvise(NOHUGEPAGE)
        for at in range(0, size, step):
            kept[-1][at]
            tables -= 1
            if tables <= 0: break
"""

HOGS = {
    "one page in each table": "take(20000, 2 << 20, 1 << 40)",
    "two tables for each page": "take(8000, 1 << 30, 1 << 43)",
    "many mappings": "take(20000, 2 << 20, 4 << 20)",
    "children": (
        "for _ in range(4):\n"
        "    told, tell = os.pipe()\n"
        "    if not os.fork(): take(5000, 2 << 20, 1 << 40); os.write(tell, b'x'); time.sleep(600)\n"
        "    os.read(told, 1)\n"
    ),
}
"""Takes more than twice the limit, in tables of 4 KiB each, and next to no memory besides."""


@pytest.fixture
def no_cgroup() -> Iterator[None]:
    """The memory of bots is looked at, as where control groups cannot be made any more."""
    cgroups.memory_states.append(cgroups.CgroupSupport(reason="switched off"))
    yield
    cgroups.memory_states.pop()


@pytest.mark.parametrize("hog", [*HOGS, "honest"])
@pytest.mark.trio
async def test_counts_page_tables_without_a_control_group(
    sandboxed: None, no_cgroup: None, bot_folder: Path, hog: str
) -> None:
    """However they are taken, and by whatever process, tables beyond the limit are found; ordinary ones are not."""
    code = f"{TAKE}\ninput()\n{HOGS.get(hog, '')}\nprint('done', flush=True)\ntime.sleep(600)"
    run = (sys.executable, "-I", "-S", "-c", code)
    bot = BotProcess(SeatSpec(bot="b", run=run, cwd=str(bot_folder), memory_mb=LIMIT_MB), "sandbox")
    try:
        assert isinstance(await bot.ask(b"go\n", PATIENCE_NS), Answer)
        found = any(bot.memory_exceeded() for _ in range(LOOKS))
        assert found == (hog != "honest")
        assert bot.memory.exceeded_mb >= (LIMIT_MB if found else 0)
    finally:
        bot.end()
