"""Runs the Python blocks of one page in one interpreter, as one session: test_examples.py starts it.

It may be an interpreter in which nothing but Warp League is installed. A line of JSON on standard input asks for a
block: `kind` is "python" or "pycon", `source` its text, `page` the path of the page, and `line` the number of the line
before the first one of the text. A line of JSON on standard output answers with what the block `printed`, and with
what went `wrong`: a traceback, or what a prompt should have printed; empty if nothing did.
"""

import contextlib
import doctest
import io
import json
import os
import sys
import traceback
import types
from typing import Any


def python(asked: dict[str, Any], namespace: dict[str, Any]) -> tuple[str, str]:
    """Execute a block; what it printed, and its traceback."""
    wrong = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            padded = "\n" * asked["line"] + asked["source"]  # a traceback names the line of the page
            exec(compile(padded, asked["page"], "exec", dont_inherit=True), namespace)
        except (Exception, SystemExit):  # noqa: BLE001 - is told where the block is
            wrong = traceback.format_exc()
    return printed.getvalue(), wrong


def session(asked: dict[str, Any], namespace: dict[str, Any]) -> tuple[str, str]:
    """Execute what follows the prompts of a block; nothing, and what they should have printed instead."""
    test = doctest.DocTestParser().get_doctest(asked["source"], {}, "session", asked["page"], asked["line"])
    test.globs = namespace
    wrong: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=wrong.append, clear_globs=False)
    return "", "".join(wrong)


def main() -> None:
    """Answer until there is no further line."""
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    # The blocks themselves have an empty standard input, and what their programs print is no answer.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.path.pop(0)  # the folder of this file
    sys.modules["example"] = module = types.ModuleType("example")
    for line in questions:
        asked = json.loads(line)
        printed, wrong = (python if asked["kind"] == "python" else session)(asked, module.__dict__)
        print(json.dumps({"printed": printed, "wrong": wrong}), file=answers, flush=True)


if __name__ == "__main__":
    main()
