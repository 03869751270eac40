"""Checks that pandas, polars and DuckDB read the exported tables of a league, and run the examples of the docs.

python scripts/read_tables.py PYTHON     play and export a small league, then read it with that Python, which has
                                         the three packages (`make test-tables` provides it)
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAGUE = """
bots = ["{bots}/random-python", "{bots}/first-c", "{bots}/sheets-greedy"]
missing = "skip"
[game]
id = "sheets"
[format]
deals = 2
"""


def export(folder: Path, python: str) -> int:
    """Play a league in `folder`, export it, and let `python` read it; its exit code."""
    config = folder / "tables.toml"
    config.write_text(LEAGUE.format(bots=ROOT / "bots"), encoding="utf-8")
    league = [sys.executable, "-m", "warpleague", "league"]
    at = [str(config), "--results", str(folder / "results")]
    subprocess.run([*league, "run", *at, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    for kind in ("csv", "parquet"):
        command = [*league, "export", *at, "--format", kind, "--decisions", "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run([python, __file__, "--read", str(folder)], check=False).returncode


def read(folder: Path) -> int:
    """Read every table in every way; 1 if two ways differ."""
    import duckdb
    import pandas as pd
    import polars as pl

    wrong = 0
    for name, key, number in (
        ("matches", "why", "lines"),
        ("seats", "bot", "score"),
        ("decisions", "bot", "ms"),
    ):
        found = {}
        for kind in ("csv", "parquet"):
            path = folder / f"{name}.{kind}"
            frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
            sums = frame.groupby(key)[number].sum()
            found["pandas", kind] = {text: round(float(total), 6) for text, total in sums.items()}
            table = pl.read_csv(path, infer_schema_length=None) if kind == "csv" else pl.read_parquet(path)
            rows = table.group_by(key).agg(pl.col(number).sum()).rows()
            found["polars", kind] = {text: round(float(total), 6) for text, total in rows}
            query = f"SELECT {key}, sum({number}) FROM '{path}' GROUP BY ALL"
            found["duckdb", kind] = {
                text: round(float(total), 6) for text, total in duckdb.sql(query).fetchall()
            }
        same = len({tuple(sorted(sums.items())) for sums in found.values()}) == 1 and found["duckdb", "csv"]
        wrong += not same
        print(f"{name}: {'pandas, polars and DuckDB agree' if same else found}")
    return int(wrong > 0 or not examples(folder))


def examples(folder: Path) -> int:
    """Run the examples of docs/data.md that need one of the three on the tables in `folder`; how many there were."""
    import duckdb

    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- example: skip needs (\w+) -->\n```(\w+)\n(.*?)```", page, re.DOTALL)
    for needed, language, text in found:
        code = text.replace("results/data/tables", str(folder))
        if language == "sql":
            print(duckdb.sql(code))
        else:
            exec(code, {})
        print(f"docs/data.md: the example for {needed} runs")
    return len(found)


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        sys.exit(read(Path(sys.argv[2])))
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(export(Path(scratch), sys.argv[1]))
