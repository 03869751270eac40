"""The options of sheets."""

from __future__ import annotations

import attrs

from warpleague.games.fields import switch


@attrs.frozen
class Options:
    """The options of sheets."""

    shared_discards: bool = switch(
        default=False,
        text="a discarded die that a seat takes stays on offer for the seats after it (sheets T3)",
    )
