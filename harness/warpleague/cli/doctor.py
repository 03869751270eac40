"""Test this machine: which languages it runs, and whether limits and sandbox work.

`warpleague.runner.doctor` tests the promises; docs/sandbox.md explains them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import print_json
from warpleague.match.spec import LEVELS
from warpleague.report.terminal.doctor import print_findings
from warpleague.runner.doctor import PROMISES, examine, host_facts

if TYPE_CHECKING:
    from argparse import Namespace


def run_doctor(args: Namespace) -> int:
    """Test the levels and print the findings; 1 if a requested level fails its test."""
    levels = [level for level in LEVELS if not args.level or level in args.level]
    reports = [examine(level, thorough=True) for level in levels]
    facts = host_facts()
    if args.json:
        print_json({"host": facts, "levels": [report.to_json() for report in reports]})
    else:
        print_findings(facts, reports, PROMISES)
    return 1 if args.level and not all(report.holds for report in reports) else 0
