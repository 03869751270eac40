"""Kills the checker of submissions at random moments while bots arrive, and sees that none is lost or doubled.

Every submission must end up settled once; of each bot one version plays; its source can be read; and what the journal
tells agrees. A check that was killed three times may be refused for that, and for nothing else.

    python tests/soak/submissions.py --kills 100
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from warpleague.arena.submissions import entering, tokens, versions
from warpleague.arena.submissions.ledger import Ledger
from warpleague.arena.submissions.limits import set_limit
from warpleague.league.config import load_config
from warpleague.runner.bundle.shipped import shipped_root

LEAGUE = """
bots = ["bots/random-python", "bots/aliens-greedy"]
[game]
id = "aliens"
options = { max_turns = 10 }
[format]
kind = "ladder"
[rules]
level = "sandbox"
"""
_BOTS = 4


def archive(bot: str, version: int) -> bytes:
    """A version of a bot that plays at random."""
    manifest = f'name = "{bot}"\nversion = "{version}"\ngames = ["aliens"]\nrun = ["python3", "bot.py"]\n'
    source = (shipped_root() / "bots" / "random-python" / "bot.py").read_bytes()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as packed:
        for name, data in (("bot.toml", manifest.encode()), ("bot.py", source)):
            head = tarfile.TarInfo(name)
            head.size = len(data)
            packed.addfile(head, io.BytesIO(data))
    return out.getvalue()


def main() -> None:
    """Kill, submit, and look."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", default="submissions")
    args = parser.parse_args()
    rng = Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cup.toml").write_text(LEAGUE)
        config, results = load_config(folder / "cup.toml"), folder / "results"
        ledger = Ledger.open(results)
        tokens.add_author(ledger, "ada", "soak")
        ada = tokens.author_named(ledger, "ada")
        set_limit(ledger, "per_day", 100_000, "soak")
        set_limit(ledger, "bots", _BOTS, "soak")
        command = [sys.executable, "-m", "warpleague", "arena", "check", str(config.path)]
        command += ["--results", str(results)]
        sent = 0
        for kill in range(args.kills):
            while sent - sum(one.is_settled for one in versions.submissions(ledger, most=9999)) < 2:
                sent += 1
                versions.submit(ledger, ada, "cup", archive(f"bot-{sent % _BOTS}", sent))
            process = subprocess.Popen(command)
            if kill % 2:  # half of them where something happens
                while all(one.state != "checking" for one in versions.submissions(ledger, most=5)):
                    time.sleep(0.01)
            time.sleep(rng.uniform(0, 5))
            process.kill()
            process.wait()
        subprocess.run([*command, "--once"], check=True)
        look(ledger, sent)
        assert len(entering.entered(ledger, config).bots) == 2 + len(versions.active(ledger, "cup"))
        ledger.close()


def look(ledger: Ledger, sent: int) -> None:
    """Compare the rows with the journal."""
    found = versions.submissions(ledger, most=9999)
    told = Counter(
        (entry.said["submission"], entry.what)
        for entry in ledger.journal(100_000)
        if entry.what.startswith("submission")
    )
    assert len(found) == sent
    for one in found:
        assert one.is_settled, one
        assert told[one.id, "submission received"] == told[one.id, f"submission {one.state}"] == 1
        assert one.state == "accepted" or "ended the checker" in one.found[-1]["text"], one
        assert (versions.archive(ledger, one.id) is not None) == (one.state == "accepted")
    for bot in {one.bot for one in found if one.bot}:
        newest = max(one.id for one in found if one.bot == bot and one.state == "accepted")
        assert [one.id for one in found if one.bot == bot and one.active] == [newest]
    kept = {int(path.name.partition("-")[0]) for path in (ledger.results / "arena" / "bots").iterdir()}
    assert kept == {one.id for one in found if one.state == "accepted"}
    print(
        f"{sent} submissions, {sum(one.state == 'accepted' for one in found)} accepted: none lost or doubled"
    )


if __name__ == "__main__":
    main()
