"""Test this machine: which languages it runs, and whether limits and sandbox work.

`warpleague.runner.doctor` tests the promises; docs/sandbox.md explains them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpleague.cli.common import add_examples, print_json

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `warpleague doctor`."""
    from warpleague.match.spec import LEVELS

    parser.add_argument(
        "--level",
        choices=LEVELS,
        action="append",
        help="test only this level, exit code 1 if it does not work; can be given several times "
        "(default: test all, exit code 0)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_examples(parser, "doctor", "doctor --level sandbox")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Test the levels and print the findings; 1 if a requested level fails its test."""
    from warpleague.match.spec import LEVELS
    from warpleague.runner.doctor import PROMISES, examine, host_facts

    levels = [level for level in LEVELS if not args.level or level in args.level]
    reports = [examine(level, thorough=True) for level in levels]
    facts = host_facts()
    if args.json:
        print_json({"host": facts, "levels": [report.to_json() for report in reports]})
    else:
        from warpleague.report.terminal.doctor import print_findings

        print_findings(facts, reports, PROMISES)
    return 1 if args.level and not all(report.holds for report in reports) else 0
