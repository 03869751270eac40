"""The files for services and containers: what they name exists, and nothing in them runs as root."""

import argparse
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from warpleague.cli import serve

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def parse(words: list[str]) -> argparse.Namespace:
    """What `warpleague serve` understands of its words."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    serve.configure(parser)
    return parser.parse_args(words)


def test_the_unit_starts_a_server() -> None:
    """Its command is understood, it is no root's, and it has more time to end than the server takes."""
    unit = (DEPLOY / "warpleague.service").read_text()
    settings = dict(re.findall(r"(?m)^(\w+)=(.*)$", unit))
    program, command, *words = shlex.split(settings["ExecStart"])
    assert (Path(program).name, command) == ("warpleague", "serve")
    args = parse(words)
    assert str(args.results).startswith("/var/lib/" + settings["StateDirectory"])
    assert settings["User"] != "root"
    assert int(settings["TimeoutStopSec"]) > 2 + 20 + 5 + 5
    assert settings["KillMode"] == "mixed"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say but that the program is not installed."""
    unit = tmp_path / "warpleague.service"
    text = (DEPLOY / "warpleague.service").read_text()
    unit.write_text(text.replace("/opt/warpleague/bin/warpleague", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "warpleague" in line]
    assert (done.returncode, said) == (0, [])


def test_the_image_is_made_of_what_there_is() -> None:
    """What it copies is in the checkout, its command is understood, and the last user is not root."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    steps = [line.partition(" ")[::2] for line in text.splitlines() if line and not line.startswith("#")]
    known = {"ARG", "FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
    assert {name for name, _ in steps} <= known | {"ENTRYPOINT", "CMD"}
    for name, rest in steps:
        if name == "COPY":
            assert (DEPLOY.parent / rest.split()[0]).exists(), rest
    assert [rest for name, rest in steps if name == "USER"] == ["warpleague"]
    said = dict(steps)
    entry = re.findall(r'"([^"]*)"', said["ENTRYPOINT"])
    args = parse([*entry[2:], *re.findall(r'"([^"]*)"', said["CMD"])])
    assert f":{said['EXPOSE']}/health" in said["HEALTHCHECK"]
    assert str(args.port) == said["EXPOSE"]
    assert str(args.results) == said["VOLUME"]
    assert said["STOPSIGNAL"] == "SIGTERM"
