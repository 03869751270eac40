"""Test this machine: which languages it runs, and whether limits and sandbox work.

`warpleague.runner.doctor` tests the promises; docs/sandbox.md explains them.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

import attrs
from rich.text import Text

from warpleague.cli.common import print_json
from warpleague.languages import LANGUAGES
from warpleague.match.spec import LEVELS
from warpleague.report.terminal.console import make_console, make_table
from warpleague.runner.bundle.offered import Machine, ask_machine
from warpleague.runner.doctor import PROMISES, Report, examine
from warpleague.runner.host import usable_cores
from warpleague.text import counted

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence


# -- printing: one row for each promise, one column for each level ---------------------------------------


# Programs that the levels need, and those of the starters.
_OURS: Final = ("bwrap", "setpriv")
TOOLS: Final = (*(tool for language in LANGUAGES for tool in language.tools), *_OURS)


def host_facts() -> dict[str, Any]:
    """The system, its Python, the user, the cores, and where each of `TOOLS` is."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "user": f"uid {os.geteuid()}" if os.geteuid() else "root",
        "cores": len(usable_cores()),
        "tools": {tool: shutil.which(tool) for tool in TOOLS},
    }


def print_findings(host: Mapping[str, Any], reports: Sequence[Report], offered: Machine | None) -> None:
    """Print the machine, the table of promises, and the reason for each that fails."""
    console = make_console()
    console.print(
        Text(f"{host['system']}, {counted(host['cores'], 'core')}, Python {host['python']}, {host['user']}")
    )
    known = {one.program for one in offered.programs} if offered else set(host["tools"])
    for tool, place in host["tools"].items():
        unseen = "" if tool in known or tool in _OURS or not place else ", which does not run for bots"
        console.print(Text(f"  {tool}: {place or 'not found'}{unseen}"))
    if offered is not None:
        console.print(Text(offered.in_words()))
    table = make_table()
    table.add_column("promise")
    for report in reports:
        table.add_column(report.level, justify="center")
    for name, text in PROMISES.items():
        if any(name in report.promised for report in reports):
            table.add_row(text, *(_cell(report, name) for report in reports))
    console.print(table)
    for report in reports:
        means = f" ({report.made_by})" if report.made_by else ""
        verdict = "holds" if report.holds else "DOES NOT HOLD, and is refused"
        console.print(Text(f"level {report.level}{means}: {verdict}"))
        if report.failure:
            console.print(Text(f"  {report.failure}"))
        for finding in report.findings:
            if not finding.kept:
                console.print(Text(f"  {PROMISES[finding.promise]}: {finding.reason}"))


def _cell(report: Report, name: str) -> str:
    if name not in report.promised:
        return "-"
    if report.failure:
        return "no"
    kept = any(finding.promise == name and finding.kept for finding in report.findings)
    return "kept" if kept else "NOT KEPT"


# -- the command -----------------------------------------------------------------------------------------


def run_doctor(args: Namespace) -> int:
    """Test the levels and print the findings; 1 if a requested level fails its test."""
    levels = [level for level in LEVELS if not args.level or level in args.level]
    reports = [examine(level, thorough=True) for level in levels]
    facts = host_facts()
    # Asked at the strictest level that holds.
    strictest = next((report.level for report in reversed(reports) if report.holds), None)
    offered = None if strictest is None else ask_machine(strictest)
    if args.json:
        bots = offered and {"level": strictest, **attrs.asdict(offered)}
        print_json({"host": facts, "bots": bots, "levels": [report.to_json() for report in reports]})
    else:
        print_findings(facts, reports, offered)
    return 1 if args.level and not all(report.holds for report in reports) else 0
