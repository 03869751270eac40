"""Hooks for MkDocs: they add pages from outside docs/, and change links that lead out of the site.

The pages stay as they are read in the repository; what only the site needs happens here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "protocol/SPEC.md": "specification.md",
    "scripts/site/api.md": "python-api.md",
}
"""Pages that do not lie in docs/, by their path in the repository, and where they are in the site."""

VARIABLES = ROOT / "harness/warpleague/report/site/assets/variables.css"
"""The colours and sizes of all our pages."""

STYLE = """
/* Material counts in a root of 20 pixels, our sizes in one of 16. */
[data-md-color-scheme] {
  --md-default-bg-color: var(--paper);
  --md-default-fg-color: var(--ink);
  --md-default-fg-color--light: var(--soft);
  --md-default-fg-color--lightest: var(--line);
  --md-typeset-color: var(--ink);
  --md-typeset-a-color: var(--accent);
  --md-code-bg-color: var(--sunken);
  --md-code-fg-color: var(--ink);
  --md-accent-fg-color: var(--good);
  --md-primary-fg-color: var(--card);
  --md-primary-bg-color: var(--ink);
  --md-primary-bg-color--light: var(--soft);
  --md-footer-bg-color: var(--sunken);
  --md-footer-bg-color--dark: var(--sunken);
  --md-footer-fg-color: var(--ink);
  --md-footer-fg-color--light: var(--soft);
  --md-footer-fg-color--lighter: var(--soft);
  --md-text-font: var(--font);
  --md-code-font: var(--mono);
}
.md-header, .md-tabs { border-bottom: 1px solid var(--line); box-shadow: none; }
.md-typeset { font-size: calc(var(--text) * 0.8); }
.md-typeset h1 { font-size: calc(var(--text-huge) * 0.8); color: var(--ink); font-weight: 650; }
.md-typeset h2 { font-size: calc(var(--text-title) * 0.8); font-weight: 650; }
.md-typeset h3 { font-size: calc(var(--text-lead) * 0.8); font-weight: 650; }
.md-typeset pre > code, .md-typeset table:not([class]) { border-radius: var(--radius); }
.md-grid { max-width: 80rem; } /* room for a line of code */
"""
"""What the theme's own variables are in ours."""

_BRIEFS = """
import json
from warpleague.games import GAMES
from warpleague.report.wording.brief import brief_text, llms_text
print(json.dumps({"llms.txt": llms_text(), **{f"brief/{game}.md": brief_text(game) for game in GAMES}}))
"""
"""Prints the texts for language models by their places. MkDocs has a Python of its own, which cannot run it."""

_FOREIGN = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^>]*>""")
_INSIDE = {site: path for path, site in OUTSIDE.items()}
_LINK = re.compile(r"\[(?P<label>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"(?m)^(?P<fence>\s*`{3,}\w+) .*$")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, and the site's own style."""
    for path, site in OUTSIDE.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "look.css", content=VARIABLES.read_text("utf-8") + STYLE))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Have links between pages lead to their place in the site; those to other files of the repository become text.

    Of a fence's words only the language is left: the others are for the tests of the examples.
    """
    here = page.file.src_uri
    path = PurePosixPath(_INSIDE.get(here, f"docs/{here}"))

    def led(link: re.Match[str]) -> str:
        target = link["target"]
        if re.match(r"[a-z]+:", target):
            return link[0]
        other = os.path.normpath(path.parent / target)
        site = OUTSIDE.get(other) or (other.removeprefix("docs/") if other.startswith("docs/") else None)
        if other == "README.md":
            site = "index.md"
        if site is None or not other.endswith(".md"):
            return link["label"]
        return f"[{link['label']}]({os.path.relpath(site, PurePosixPath(here).parent)}{link['anchor'] or ''})"

    return _FENCE.sub(r"\g<fence>", _LINK.sub(led, markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Refuse a page that would fetch something from elsewhere: the site is to be read without a network."""
    if foreign := _FOREIGN.search(output):
        raise PluginError(f"{page.file.src_uri} fetches something from elsewhere: {foreign[0]}")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Add what language models look for: `llms.txt`, and the brief of each game, as they are printed."""
    python = ROOT / ".venv" / "bin" / "python"
    done = subprocess.run([python, "-c", _BRIEFS], capture_output=True, check=True, text=True)
    for place, text in json.loads(done.stdout).items():
        path = Path(config.site_dir, place)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
