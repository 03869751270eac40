"""Runs every example in README.md, docs/ and protocol/SPEC.md, in order and as a reader would.

What the examples should say is their pages' business; whether links lead anywhere is test_links.py's.

A page's blocks share one scratch copy of the repository as working directory, so that one block may write a file
and the next one use it. By the language a fence names:

    python           executed, with empty standard input; all of a page share one namespace, as in one session
    pycon            a session with `>>>` prompts: executed in the same namespace, its output compared
    console          lines that begin with `$ ` go through bash, all of a block through one, with the environment's
                     programs on PATH; lines in between are what the command prints, standard error included (`...`
                     stands for anything; a command without such lines may print what it likes), and every command
                     must succeed. A command that ends in a backslash goes on in the next line.
    toml             parsed
    json, jsonl      parsed, as a whole or line by line; duplicate keys and NaN are errors, as on the wire
    json session     the same, each line after `> ` (the referee's) or `< ` (a bot's)
    json malformed   what the wire refuses, so not parsed: that it is refused, the tests of warpline show; other words
                     after the language are for them, too
    text, none       not run, so lines that begin with a prompt (`$ `, `>>> `) are refused
    sh, bash         refused: commands belong in a console block, where they are run

An HTML comment in the line before a fence changes that for the one block:

    <!-- example: skip REASON -->    it is not run; shows up as a skipped test with that reason
    <!-- example: file PATH -->      it is written to PATH in the working directory (any language; toml, json and
                                     python are parsed, none is run)
    <!-- example: output -->         it is what the python block before it prints (with `...`)
    <!-- example: status N -->       its last command ends with exit code N
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "protocol" / "SPEC.md"]
TIMEOUT_S = 240.0
DIRECTIVE = re.compile(r"<!--\s*example:\s*(?P<verb>\w+)\s*(?P<rest>.*?)\s*-->")
FENCE = re.compile(r"(?P<indent>\s*)(?P<ticks>`{3,}|~{3,})\s*(?P<language>[\w+-]*)(?P<words>[^`]*)")
NOT_COPIED = (".*", "__pycache__", "results", "target", "dist", "node_modules")
REFUSED = ("sh", "bash")
PROMPT = re.compile(r"^(\$|>>>) ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: the page it is on, its first line there (from 1), and what the comment before it asks."""

    page: Path
    line: int
    language: str
    text: str
    verb: str = ""
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order; a page that does not exist has none."""
    if not page.exists():
        return []
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.fullmatch(lines[at].rstrip())
        if fence is None:
            at += 1
            continue
        asked = DIRECTIVE.fullmatch(lines[at - 1].strip()) if at else None
        start = at = at + 1
        while at < len(lines) and not lines[at].strip().startswith(fence["ticks"]):
            at += 1
        indent = len(fence["indent"])
        text = "".join(
            line[indent:] + "\n" if line[:indent].isspace() else line + "\n" for line in lines[start:at]
        )
        language = fence["language"]
        if fence["words"].split() == ["malformed"]:
            language = "malformed"
        elif fence["words"].split() == ["session"]:
            text = re.sub(r"(?m)^[<>] ", "", text)
        verb, argument = (asked["verb"], asked["rest"]) if asked else ("", "")
        found.append(Block(page, start + 1, language, text, verb, argument))
        at += 1
    return found


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object without duplicate keys."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"duplicate key in {[key for key, _ in pairs]}")
    return value


def no_constant(name: str) -> object:
    """NaN and the infinities are no JSON."""
    raise ValueError(f"{name} is no JSON")


def parse_json(text: str) -> None:
    """Parse as one value or, failing that, as one value a line."""
    try:
        json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except ValueError:
        for line in filter(str.strip, text.splitlines()):
            json.loads(line, object_pairs_hook=unique, parse_constant=no_constant)


def parse(block: Block) -> None:
    """Check the grammar of what is not run."""
    match block.language:
        case "json" | "jsonl":
            parse_json(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "" | "text" if not block.verb:
            assert not PROMPT.search(block.text), f"{block}: a prompt in a block that is not run: use console"
        case "python":
            compile(block.text, str(block), "exec")


def commands(text: str) -> list[tuple[str, str]]:
    """A console block's commands, each with the output it promises ("" if none)."""
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif found and not found[-1][1] and found[-1][0][-1].endswith("\\"):
            found[-1][0].append(line.removeprefix("> "))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"a console block begins with a command after `$ `, not with {line!r}")
    return [("\n".join(command), "\n".join(output)) for command, output in found]


def matches(promised: str, printed: str) -> bool:
    """Whether the output is as promised, blanks at line ends and around it aside; `...` stands for anything."""

    def trimmed(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"

    return doctest.OutputChecker().check_output(trimmed(promised), trimmed(printed), doctest.ELLIPSIS)


class Session:
    """What a page's blocks share: the working directory, the namespace and what the last python block printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = types.ModuleType("example")
        self.printed = ""

    def run(self, block: Block) -> None:
        """Do with one block what its language and comment ask; what fails raises AssertionError or the cause."""
        shown = block.verb in ("file", "output")
        assert block.language not in REFUSED or shown, (
            f"{block}: a {block.language} block is not run: use console"
        )
        match block.verb, block.language:
            case "file", _:
                parse(block)
                target = self.folder / block.argument
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
            case "output", _:
                assert matches(block.text, self.printed), (
                    f"{block}: the page says\n{block.text}\nprinted was\n{self.printed}"
                )
            case ("" | "status", "console"):
                self.console(block)
            case "", "python":
                printed = io.StringIO()
                # Blank lines put the code where it is on the page, for tracebacks.
                code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
                with contextlib.redirect_stdout(printed):
                    exec(code, self.module.__dict__)
                self.printed = printed.getvalue()
            case "", "pycon":
                self.pycon(block)
            case "", _:
                parse(block)
            case _:
                raise AssertionError(f"{block}: no such comment for {block.language}: {block.verb!r}")

    def pycon(self, block: Block) -> None:
        """Run a session with prompts; doctest does."""
        names = self.module.__dict__
        test = doctest.DocTestParser().get_doctest(
            block.text, names, str(block), str(block.page), block.line - 1
        )
        report = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        runner.run(test, out=report.write, clear_globs=False)
        names.update(test.globs)
        assert not runner.failures, report.getvalue()

    def console(self, block: Block) -> None:
        """Run a console block's commands in one bash and compare status and output of each."""
        wanted = commands(block.text)
        mark = "--- end of command, status"
        script = "".join(f"{command}\nprintf '\\n{mark} %d\\n' $?\n" for command, _ in wanted)
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            encoding="utf-8",
            check=False,
        )
        parts = re.split(rf"\n{mark} (\d+)\n", done.stdout)
        printed, statuses = parts[0::2], parts[1::2]
        assert len(statuses) == len(wanted), f"{block}: bash stopped early\n{done.stdout}"
        last = int(block.argument) if block.verb == "status" else 0
        for number, ((command, promised), output, status) in enumerate(
            zip(wanted, printed, statuses, strict=False), start=1
        ):
            expected = last if number == len(wanted) else 0
            assert int(status) == expected, (
                f"{block}: `{command}` ended with {status}, not {expected}\n{output}"
            )
            assert not promised.strip() or matches(promised, output), (
                f"{block}: `{command}`: the page says\n{promised}\nprinted was\n{output}"
            )


BLOCKS = {page: blocks(page) for page in PAGES}


def page_name(page: Path) -> str:
    """A page's name in test ids."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCKS[page]], ids=page_name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example on the page runs and prints what the page says."""
    folder = tmp_path / "repository"
    if any(block.language in ("console", "python", "pycon") for block in BLOCKS[page]):
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    else:
        folder.mkdir()
    (folder / "results").mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    session = Session(folder)
    monkeypatch.setitem(sys.modules, session.module.__name__, session.module)
    for block in BLOCKS[page]:
        if block.verb == "skip":
            continue
        try:
            session.run(block)
        except AssertionError:
            raise
        except Exception as error:
            error.add_note(f"in the example at {block}")
            raise


SKIPPED = [block for found in BLOCKS.values() for block in found if block.verb == "skip"]


@pytest.mark.parametrize("block", SKIPPED, ids=str)
def test_skipped_example(block: Block) -> None:
    """A block that is not run says why, and is counted."""
    assert len(block.argument.split()) >= 2, f"{block}: say why it is skipped"
    parse(block)
    pytest.skip(block.argument)
