"""What a package index shows: the README with links that work there, and the addresses of the project.

Where the project is published is not written down in it. WARPLEAGUE_HOME=https://HOST/OWNER/REPO says it when a
release is built; without it, links to files of the project become plain text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def readme_for_index(text: str, home: str, version: str) -> str:
    """The README with links to files of the project made absolute, or plain text where its `home` is not known.

    What only the tests of its examples read is left out.
    """
    text = re.sub(r"(?m)^<!-- example: .*-->\n", "", text)
    if not home:
        return _LINK.sub(r"\1", text)
    return _LINK.sub(rf"[\1]({home}/blob/v{version}/\2)", text)


def urls(home: str, version: str) -> dict[str, str]:
    """The addresses that an index lists."""
    if not home:
        return {}
    return {
        "Homepage": home,
        "Documentation": f"{home}/blob/v{version}/docs/index.md",
        "Changes": f"{home}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }


class CustomMetadataHook(MetadataHookInterface):
    """The hook that hatchling calls when it reads the declaration."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what is dynamic."""
        home = os.environ.get("WARPLEAGUE_HOME", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text("utf-8")
        version = metadata["version"]
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme_for_index(text, home, version),
        }
        metadata["urls"] = urls(home, version)
