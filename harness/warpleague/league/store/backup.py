"""Copies a store while the league may be running: the copy is the store as it was at one moment."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from warpleague.errors import BadInput
from warpleague.league.store.database import clear_errors, harden

if TYPE_CHECKING:
    from pathlib import Path


def back_up(source: Path, target: Path) -> None:
    """Copy the SQLite file `source` to `target`, which appears as a whole or not at all, and is on the disk then.

    Nobody who writes to `source` has to wait. Raises `StoreError` for a source that cannot be read, `BadInput` where
    the copy cannot be written.
    """
    draft = target.with_name(f".{target.name}.draft")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        with (
            clear_errors(source),
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as db,
        ):
            harden(db)
            with closing(sqlite3.connect(draft)) as copy:
                # All pages in one step: one snapshot, however much is written meanwhile.
                db.backup(copy, pages=-1)
                copy.execute("PRAGMA journal_mode = DELETE")
        file = os.open(draft, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
