"""What the players of sheets may settle before the game.

Leaves the meaning of each option to the rules.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Options:
    """The options of sheets."""

    shared_discards: bool = attrs.field(
        default=False,
        validator=attrs.validators.instance_of(bool),
        metadata={
            "help": "a discarded die that a seat takes stays on offer for the seats after it (sheets T3)"
        },
    )
