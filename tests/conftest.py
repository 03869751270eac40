"""Shares a cache of built bots with all tests, and gives them surroundings that are the same everywhere."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from warpleague.errors import BadInput
from warpleague.runner.confine import cgroups
from warpleague.runner.doctor import check_level

if find_spec("jsonschema") is not None:  # the environment of the bridges has no such thing
    from tests.printed import printed_json  # noqa: F401 - pytest finds it here

ROOT = Path(__file__).resolve().parents[1]

# The same examples at every run, fewer than usual, however long they take: `make fuzz` looks for new ones.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

PUT_ASIDE = (
    # How output is to look: what a test expects, it sets itself.
    *(
        "TERM",
        "COLUMNS",
        "LINES",
        "FORCE_COLOR",
        "NO_COLOR",
        "COLORTERM",
        "TTY_COMPATIBLE",
        "TTY_INTERACTIVE",
    ),
    *("PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONWARNINGS", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"),
    # Each makes its runtime do more than a program asks for, and say so on standard error.
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "NODE_OPTIONS", "PERL5OPT"),
)
"""Variables by which a user, a shell or a service changes what programs write."""
_MAX_CHARS = 160


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than processors for `-n auto`: half of the time, tests wait for a bot, a disk or a clock."""
    return len(os.sched_getaffinity(0)) + 2 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 2


def pytest_collection_finish() -> None:
    """Spare the garbage collector what collecting thousands of tests has made: all of it stays."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how many tests were skipped for which reason, the most frequent first; `.ci/run` sums these lines up."""
    counts: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", ()):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        counts[" ".join(why.removeprefix("Skipped: ").split())[:_MAX_CHARS]] += 1
    for why, count in counts.most_common():
        terminalreporter.write_line(f"skipped {count}: {why}")


@pytest.fixture(scope="session", autouse=True)
def surroundings() -> Iterator[None]:
    """What whoever started the tests handed down is put aside: how to write, who may read, what to ignore."""
    umask = os.umask(0o022)
    # A shell has what it starts in the background ignore SIGINT, and all that is started from there.
    deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if deaf:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in PUT_ASIDE:
            patch.delenv(name, raising=False)
        patch.setenv("LC_ALL", "C.UTF-8")  # Perl complains of a locale that is not installed
        yield
    if deaf:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(umask)


@pytest.fixture(scope="session", autouse=True)
def bot_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Bundles are built in a folder of the test run's, shared by its workers, never in the user's cache."""
    base = tmp_path_factory.getbasetemp()
    # With several workers each has a folder below the run's.
    folder = (base.parent if base.name.startswith("popen-") else base) / "bot-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPLEAGUE_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def own_groups() -> Callable[[], set[str]]:
    """Names the control groups that this test process has made and not removed."""

    def found() -> set[str]:
        base = cgroups.memory_support().base
        prefix = f"warpleague-{cgroups.groups_owner()}-"
        return {name for name in os.listdir(base) if name.startswith(prefix)} if base else set()

    return found


@pytest.fixture(scope="session")
def bots() -> Path:
    """The folder of the bots that come with the project."""
    return ROOT / "bots"


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skips the test where the sandbox cannot be had, quoting why."""
    try:
        check_level("sandbox")
    except BadInput as error:
        pytest.skip(str(error))
