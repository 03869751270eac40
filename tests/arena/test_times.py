"""Times on the pages of authors and organisers: local and relative by a script, in UTC without one."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from warpleague.report.site.page_frame import folder, moment

NODE = shutil.which("node")
CODE = """
const nodes = JSON.parse(process.argv[2]).map((dateTime) => ({ dateTime, textContent: "UTC" }));
globalThis.document = { querySelectorAll: () => nodes };
globalThis.setInterval = () => {};
Date.now = () => Date.parse("2026-01-05T12:00:00Z");
require(process.argv[1]);
process.stdout.write(JSON.stringify(nodes.map((node) => node.textContent)));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_script_shows_local_times_and_how_long_ago_they_were() -> None:
    """In the zone of whoever reads it; what is no time stays."""
    times = [
        "2026-01-05T11:59:30+00:00",
        "2026-01-05T11:55:00+00:00",
        "2026-01-05T09:00:00+00:00",
        "2026-01-03T10:00:00+00:00",
        "2026-01-05T14:00:00+00:00",
        "never",
    ]
    words = [NODE or "node", "-e", CODE, str(folder() / "assets" / "times.js"), json.dumps(times)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=60, env={"TZ": "Europe/Berlin"}
    )
    found: list[Any] = json.loads(done.stdout)
    assert found[:2] == ["5 Jan 2026, 12:59 (30 seconds ago)", "5 Jan 2026, 12:55 (5 minutes ago)"]
    assert found[2:5] == [
        "5 Jan 2026, 10:00 (3 hours ago)",
        "3 Jan 2026, 11:00 (2 days ago)",
        "5 Jan 2026, 15:00 (in 2 hours)",
    ]
    assert found[5] == "UTC"


def test_without_scripts_times_are_in_utc() -> None:
    """The ISO form is in the title; nothing in a time can end its element."""
    assert moment("2026-01-05T12:00:00+01:00") == (
        '<time datetime="2026-01-05T12:00:00+01:00" title="2026-01-05T12:00:00+01:00">2026-01-05 11:00 UTC</time>'
    )
    assert "<script" not in moment('"><script>')
