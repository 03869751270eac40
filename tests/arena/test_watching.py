"""The scripts of pages that watch: they find the server again, and lead from match to match."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from warpleague.report.site.page_frame import folder

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

PAGE = """
const log = [], timers = [], sources = [], nodes = {};
const say = (...words) => log.push(words.join(" "));
const node = (value) => ({
  value, href: value, checked: true, textContent: "", addEventListener(kind, heard) { this[kind] = heard; },
});
globalThis.window = globalThis;
globalThis.setTimeout = (call, ms) => timers.push({ call, ms });
globalThis.location = { replace: (to) => say("replaced by", to), assign: (to) => say("goes to", to) };
const body = { dataset: { names: '["ada"]' }, classList: { add() {} } };
globalThis.document = { title: "Now: ada", body, getElementById: (id) => nodes[id] ?? null };
Math.random = () => 1;
globalThis.EventSource = class {
  static CLOSED = 2;
  constructor(address) { Object.assign(this, { address, readyState: 1 }); sources.push(this); }
  close() { this.readyState = 2; say("closed"); }
  tell(message) { this.onmessage({ data: JSON.stringify(message) }); }
  lose(state) { this.readyState = state; this.onerror(); }
};
globalThis.warpleague = {
  MatchPage: class {
    constructor(seats, more) { Object.assign(this, { seats, rests: true, ...more }); }
    clear() { say("clear"); }
    hear(frames) { say("shows", frames.length); this.shown(); }
  },
};
require(process.argv[1]);
"""


def happened(code: str) -> Any:
    """What a script of a test prints as JSON."""
    assets = folder() / "assets"
    words = [NODE or "node", "-e", PAGE + code, str(assets / "news.js"), str(assets / "watch.js")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_page_asks_again_until_the_server_is_there() -> None:
    """After pauses that grow up to a quarter of a minute; news end them; where the browser asks again, it does not."""
    found = happened("""
    const end = globalThis.warpleague.hear("news", (told) => say("told", told.n), () => say("lost"));
    sources[0].tell({ n: 1 });
    sources[0].lose(0); // the browser itself asks again
    const asked = timers.length;
    for (let n = 0; n < 6; n++) { sources.at(-1).lose(2); timers.at(-1).call(); }
    const pauses = timers.map(({ ms }) => ms);
    sources.at(-1).tell({ n: 2 });
    sources.at(-1).lose(2);
    end();
    const before = sources.length;
    timers.at(-1).call();
    const quiet = sources.length === before;
    process.stdout.write(JSON.stringify({ asked, pauses, last: timers.at(-1).ms, quiet, log }));
    """)
    assert found["asked"] == 0
    assert found["pauses"] == [1000, 2000, 4000, 8000, 15000, 15000]
    assert found["last"] == 1000
    assert found["quiet"]
    assert found["log"] == ["told 1", *["lost"] * 7, "told 2", "lost", "closed"]


WATCH = """
Object.assign(nodes, { outcome: node(), news: node("news"), replay: node("replay") });
"""


def test_a_match_that_is_gone_leads_to_its_replay() -> None:
    """Whoever comes too late, or comes back after the end, need not wait for news that never come."""
    found = happened(
        WATCH
        + """
    require(process.argv[2]);
    sources[0].tell({ frames: [], over: true, gone: true });
    process.stdout.write(JSON.stringify({ log, asked: sources.length }));
    """
    )
    assert found == {"log": ["closed", "replaced by replay"], "asked": 1}


@pytest.mark.parametrize(("wanted", "goes"), [("true", ["goes to next"]), ("false", [])])
def test_who_watches_a_bot_goes_on_to_its_next_match(wanted: str, goes: list[str]) -> None:
    """The end names the winner; some seconds later it goes on, once, and only as long as that is wanted."""
    found = happened(
        WATCH
        + f"""
    Object.assign(nodes, {{ next: node("next"), "goes-on": node() }});
    require(process.argv[2]);
    sources[0].tell({{ frames: [1], over: false, reset: true }});
    const early = timers.length;
    sources[0].tell({{ frames: [2, 3], over: true, outcome: "ada wins" }});
    nodes["goes-on"].change();
    nodes["goes-on"].checked = {wanted};
    const [timer] = timers;
    timer.call();
    const told = [nodes.outcome.textContent, nodes.replay.hidden, document.title];
    process.stdout.write(JSON.stringify({{ log, early, timers: timers.length, told }}));
    """
    )
    assert found["early"] == 0
    assert found["timers"] == 1
    assert found["log"] == ["clear", "shows 1", "closed", "shows 2", *goes]
    assert found["told"] == ["ada wins", False, "ada"]
