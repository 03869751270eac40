"""The colours of words in a terminal; all can be read on white and on black.

They are a module of their own, because a table needs nothing else of what draws boards.
"""

from __future__ import annotations

from typing import Final

QUIET: Final = "color(243)"
GOOD: Final = "color(28)"
WARNING: Final = "color(130)"
BAD: Final = "color(196)"
CODE: Final = "color(30)"
HEAD: Final = "bold color(30)"
