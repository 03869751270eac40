"""How the bots of a match were confined, as its record keeps it: by what means, on what host, which promises held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from warpleague.games.api import JsonObject

_TEXTS: Final = ("level", "made_by", "host", "pondering")
_LISTS: Final = ("kept", "untried", "paths", "network")


@attrs.frozen
class Confinement:
    """How the bots of a match were confined. What is None is not known: the record does not have it.

    `made_by` names the means, such as bubblewrap; it is empty at level `none`. `kept` are the promises of the level
    that were tested before the match and held, `untried` those that were not tested. `paths` are the additional paths
    of the machine that bots in the sandbox saw, `network` the addresses that some of them
    could reach. `pondering` says whether bots could compute out of turn.
    """

    level: str | None = None
    made_by: str | None = None
    host: str | None = None
    kept: tuple[str, ...] | None = None
    untried: tuple[str, ...] | None = None
    pondering: str | None = None
    paths: tuple[str, ...] | None = None
    network: tuple[str, ...] | None = None

    def to_json(self) -> JsonObject:
        """The `detail` of a record's header."""
        values = {name: getattr(self, name) for name in (*_TEXTS, *_LISTS)}
        return {
            name: list(value) if name in _LISTS else value
            for name, value in values.items()
            if value is not None
        }

    @classmethod
    def from_json(cls, detail: object) -> Confinement:
        """The confinement that the `detail` of a record's header tells; `ValueError` if its form is wrong.

        Fields that this version does not know are left out.
        """
        if not isinstance(detail, dict):
            raise ValueError("detail must be an object")
        for name in _TEXTS:
            if not isinstance(detail.get(name, ""), str):
                raise ValueError(f"detail.{name} must be a text")
        for name in _LISTS:
            texts = detail.get(name, [])
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"detail.{name} must be a list of texts")
        values: dict[str, Any] = {name: detail[name] for name in _TEXTS if name in detail}
        values |= {name: tuple(detail[name]) for name in _LISTS if name in detail}
        return cls(**values)

    @classmethod
    def from_header(cls, header: JsonObject) -> Confinement | None:
        """The same of a record's header, or None if it has no `detail`."""
        return cls.from_json(header["detail"]) if "detail" in header else None

    def short_text(self) -> str:
        """The means; empty if there were none, or if they are not known."""
        return self.made_by or ""

    def long_text(self) -> str:
        """The means, with the filter of system calls, the additional paths and the host."""
        parts = [self.short_text()]
        if "calls" in (self.kept or ()):
            parts.append("system calls filtered by seccomp")
        if self.paths:
            parts.append(f"bots were shown {', '.join(self.paths)}")
        if self.network:
            parts.append(f"bots could reach {', '.join(self.network)}")
        if self.host:
            parts.append(f"on {self.host}")
        return "; ".join(filter(None, parts))
