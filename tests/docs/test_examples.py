"""Runs every example in README.md, docs/ and protocol/SPEC.md, in order and as a reader would.

What the examples should say is their pages' business; whether links lead anywhere is test_links.py's. Sybil finds the
blocks. A page is one test, since each of its blocks builds on those before.

A page's blocks share one scratch copy of the repository as working directory, so that one block may write a file
and the next one use it. If EXAMPLES_PYTHON names the interpreter of an environment in which Warp League is installed,
the folder is empty instead, and the examples use that environment: they must not need a checkout
(`make examples-wheel`). By the language a fence names:

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
    <!-- example: status N M -->     its last command ends with exit code N, or M, if chance decides which
"""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from sybil import Document, Example, Region
from sybil.evaluators.doctest import OutputChecker
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "protocol" / "SPEC.md"]
if find_spec("pyspiel") is None:  # `make test-bridges` runs this page where the packages are that it needs
    PAGES.remove(ROOT / "docs" / "bridges.md")
OWN = "EXAMPLES_PYTHON" not in os.environ
"""Whether the examples run in a copy of the checkout and in its environment, or in an empty folder with a wheel."""
PYTHON = Path(os.environ.get("EXAMPLES_PYTHON", sys.executable)).absolute()
SESSION = Path(__file__).with_name("page_session.py")
WITH_TOOLS = (ROOT / "docs" / "add-a-game.md",)
"""Pages that say that one needs pytest and hatchling besides Warp League: those of the tests are lent to them."""
TIMEOUT_S = 240.0
FENCES = RawFencedCodeBlockLexer(re.compile(r"[ \t]*(?P<language>[\w+-]*)(?P<words>[^`\n]*)\n"))
DIRECTIVE = re.compile(r"\s*<!--\s*example:\s*(?P<verb>\w+)\s*(?P<rest>.*?)\s*-->\s*")
NOT_COPIED = (".*", "__pycache__", "results", "target", "dist", "node_modules")
PROMPT = re.compile(r"^(\$|>>>) ", re.MULTILINE)


def blocks(document: Document) -> Iterator[Region]:
    """The parser of a page: its fenced blocks, in order, each with what is to be done with it."""
    end = 0
    for region in sorted(FENCES(document), key=lambda region: region.start):
        if region.start < end:
            continue  # a fence inside a block is shown, not run
        end = region.end
        before = document.text[: region.start].removesuffix("\n").rpartition("\n")[2]
        asked = DIRECTIVE.fullmatch(before)
        region.lexemes["verb"], region.lexemes["argument"] = asked.groups() if asked else ("", "")
        region.parsed = region.lexemes["source"]
        region.evaluator = evaluator(region.lexemes["verb"], region.lexemes["language"])
        yield region


def evaluator(verb: str, language: str) -> Callable[[Example], None]:
    """What is done with a block in a language, by the word of the comment before it."""
    match verb, language:
        case "skip", _:
            return parse
        case "file", _:
            return write
        case "output", _:
            return compare
        case _, ("sh" | "bash"):
            return refuse
        case (("" | "status"), "console"):
            return console
        case "", "python":
            return python
        case "", "pycon":
            return session
        case "", _:
            return parse
    return refuse


def at(example: Example) -> str:
    """Where a block is."""
    return f"{os.path.relpath(example.path, ROOT)}:{example.line + 1}"


def refuse(example: Example) -> None:
    """Fail for a block that cannot be run as it stands."""
    language, verb = example.region.lexemes["language"], example.region.lexemes["verb"]
    if verb:
        raise AssertionError(f"{at(example)}: no such comment for {language}: {verb!r}")
    raise AssertionError(f"{at(example)}: a {language} block is not run: use console")


class Session:
    """The interpreter that all Python blocks of a page share, started when the first of them asks."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def run(self, example: Example, kind: str) -> str:
        """What the block printed; fail if something in it went wrong."""
        if self.process is None:
            self.process = subprocess.Popen(
                [PYTHON, SESSION],
                env=environment(example),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"kind": kind, "source": example.parsed, "page": example.path, "line": example.line}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, f"{at(example)}: ended the interpreter"
        answer = json.loads(line)
        assert not answer["wrong"], f"{at(example)}: {answer['wrong']}"
        return str(answer["printed"])

    def end(self) -> None:
        """End the interpreter, if there is one."""
        if self.process is not None:
            with self.process:
                self.process.kill()


def environment(example: Example) -> dict[str, str]:
    """The variables of what a page starts: its programs come first, and nothing but those of a wheel is found."""
    variables = {
        **os.environ,
        "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    if not OWN:
        variables.pop("PYTHONPATH", None)
        if Path(example.path) in WITH_TOOLS:
            variables["PYTHONPATH"] = sysconfig.get_path("purelib")
    return variables


def python(example: Example) -> None:
    """Execute the code, and keep what it prints for an output block."""
    example.document.printed = example.namespace["session"].run(example, "python")  # type: ignore[attr-defined]


def session(example: Example) -> None:
    """Execute what follows the prompts, and compare what is printed."""
    example.namespace["session"].run(example, "pycon")


def compare(example: Example) -> None:
    """Compare a block with what the python block before it printed."""
    printed = getattr(example.document, "printed", "")
    assert matches(example.parsed, printed), (
        f"{at(example)}: the page says\n{example.parsed}\nprinted was\n{printed}"
    )


def write(example: Example) -> None:
    """Write a block to the file that its comment names."""
    parse(example)
    target = Path(example.region.lexemes["argument"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(example.parsed, encoding="utf-8")


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


def parse(example: Example) -> None:
    """Check the grammar of what is not run."""
    text, words = example.parsed, example.region.lexemes["words"].split()
    match example.region.lexemes["language"]:
        case "json" if words == ["malformed"]:
            pass
        case "json" | "jsonl":
            parse_json(re.sub(r"(?m)^[<>] ", "", text) if words == ["session"] else text)
        case "toml":
            tomllib.loads(text)
        case "" | "text" if not example.region.lexemes["verb"]:
            assert not PROMPT.search(text), f"{at(example)}: a prompt in a block that is not run: use console"
        case "python":
            compile(text, at(example), "exec")


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

    return OutputChecker().check_output(trimmed(promised), trimmed(printed), doctest.ELLIPSIS)


def console(example: Example) -> None:
    """Run a console block's commands in one bash and compare status and output of each."""
    wanted = commands(example.parsed)
    mark = "--- end of command, status"
    script = "".join(f"{command}\nprintf '\\n{mark} %d\\n' $?\n" for command, _ in wanted)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        env=environment(example),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
        encoding="utf-8",
        check=False,
    )
    parts = re.split(rf"\n{mark} (\d+)\n", done.stdout)
    printed, statuses = parts[0::2], parts[1::2]
    assert len(statuses) == len(wanted), f"{at(example)}: bash stopped early\n{done.stdout}"
    last = [int(code) for code in (example.region.lexemes["argument"] or "0").split()]
    for number, ((command, promised), output, status) in enumerate(
        zip(wanted, printed, statuses, strict=False), start=1
    ):
        expected = last if number == len(wanted) else [0]
        assert int(status) in expected, (
            f"{at(example)}: `{command}` ended with {status}, not {' or '.join(map(str, expected))}\n{output}"
        )
        assert not promised.strip() or matches(promised, output), (
            f"{at(example)}: `{command}`: the page says\n{promised}\nprinted was\n{output}"
        )


def page_of(page: Path) -> Document:
    """A page with its examples; a page that does not exist has none."""
    return Document.parse(str(page), blocks) if page.exists() else Document("", str(page))


def run_page(document: Document) -> None:
    """Run the examples of a page in the working directory, and its Python code in one interpreter."""
    document.namespace["session"] = one = Session()
    try:
        for example in document.examples():
            if example.region.lexemes["verb"] == "skip":
                continue
            try:
                example.evaluate()
            except AssertionError:
                raise
            except Exception as error:
                error.add_note(f"in the example at {at(example)}")
                raise
    finally:
        one.end()


DOCUMENTS = {page: page_of(page) for page in PAGES}


def page_name(page: Path) -> str:
    """A page's name in test ids."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if DOCUMENTS[page].regions], ids=page_name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example on the page runs and prints what the page says."""
    folder = tmp_path / "here"
    languages = {region.lexemes["language"] for _, region in DOCUMENTS[page].regions}
    if OWN and languages & {"console", "python", "pycon"}:
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    else:
        folder.mkdir()
    monkeypatch.chdir(folder)
    run_page(DOCUMENTS[page])


SKIPPED = [
    example
    for document in DOCUMENTS.values()
    for example in document.examples()
    if example.region.lexemes["verb"] == "skip"
]


@pytest.mark.parametrize("example", SKIPPED, ids=at)
def test_skipped_example(example: Example) -> None:
    """A block that is not run says why, and is counted."""
    reason = example.region.lexemes["argument"]
    assert len(reason.split()) >= 2, f"{at(example)}: say why it is skipped"
    example.evaluate()
    pytest.skip(reason)
