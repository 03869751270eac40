"""Checks what is done with the examples of a page, on pages made for it: what is run, compared, refused and reported.

The real pages are test_examples.py's; that Sybil finds blocks and runs Python is tested where Sybil is.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docs import test_examples as examples


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a page of the given text and run its examples; gives how many there are, the skipped ones included."""
    monkeypatch.chdir(tmp_path)

    def run_text(text: str) -> int:
        page = tmp_path / "page.md"
        page.write_text(text, encoding="utf-8")
        document = examples.page_of(page)
        examples.run_page(document)
        return len(document.regions)

    return run_text


def test_blocks_share_a_namespace_and_a_folder(run: Callable[..., Any]) -> None:
    """A name and a file of one block are there in the next, whatever their languages."""
    page = """
```python
from pathlib import Path
Path("a.txt").write_text("one\\n")
x = 3
```
```console
$ cat a.txt
one
$ cd /; pwd
/
$ pwd
/
```
```pycon
>>> x + 1
4
```
"""
    assert run(page) == 3


def test_ellipsis_stands_for_anything(run: Callable[..., Any]) -> None:
    """`...` matches any output, and a command without output lines may print what it likes."""
    run("```console\n$ printf 'a 17 b\\nc\\n'\na ... b\n...\n$ echo free\n```\n")


def test_words_after_the_language_are_allowed(run: Callable[..., Any]) -> None:
    """A session's lines are parsed without their arrows, and words for other tests change nothing."""
    assert run('```json session\n> {"a": 1}\n< {"a": 2}\n```\n```json referee\n{"a": 1}\n```\n') == 2
    assert run('```json malformed\n{"a": 01}\n```\n') == 1


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```console\n$ echo one\ntwo\n```\n", "page says"),
        ("```console\n$ false\n$ true\n```\n", "ended with 1, not 0"),
        ("<!-- example: status 3 -->\n```console\n$ exit_with() { return 2; }\n$ exit_with\n```\n", "not 3"),
        ("```console\n$ exit 0\n```\n", "stopped early"),
        ("```console\nno command\n```\n", "begins with a command"),
        ("```pycon\n>>> 1\n2\n```\n", "Expected"),
        ("```python\nprint(1)\n```\n<!-- example: output -->\n```text\n2\n```\n", "printed was"),
        ("```json\n{'a': 1}\n```\n", "Expecting"),
        ('```json\n{"a": 1, "a": 2}\n```\n', "duplicate"),
        ('```json\n{"a": NaN}\n```\n', "NaN"),
        ('```json session\n> {"a": 1}\n< {"a": 1\n```\n', "Expecting"),
        ("```toml\na = \n```\n", "Invalid value"),
        ("```sh\nrm\n```\n", "use console"),
        ("```\n$ what\n```\n", "prompt"),
        ("```text\n>>> what\n```\n", "prompt"),
        ("<!-- example: sikp x -->\n```python\n```\n", "no such comment"),
    ],
)
def test_a_wrong_example_fails(run: Callable[..., Any], page: str, message: str) -> None:
    """Each way an example can be wrong is an error that names it."""
    with pytest.raises((AssertionError, ValueError), match=message):
        run(page)


def test_a_traceback_names_the_line_of_the_page(run: Callable[..., Any]) -> None:
    """An exception in a python block points at the line of the page where it was raised."""
    with pytest.raises(AssertionError, match=r'page\.md", line 5(.|\n)*ZeroDivisionError'):
        run("# Title\n\n```python\na = 0\n1 / a\n```\n")


def test_comments(run: Callable[..., Any], tmp_path: Path) -> None:
    """Skipped blocks are not run, files are written, and a block in a list is found and unindented."""
    page = """
<!-- example: skip needs a network -->
```console
$ false
```
- in a list:

  <!-- example: file sub/x.toml -->
  ```toml
  a = 1
  ```
````text
```python
not an example of its own
```
````
"""
    assert run(page) == 3
    assert (tmp_path / "sub/x.toml").read_text() == "a = 1\n"
