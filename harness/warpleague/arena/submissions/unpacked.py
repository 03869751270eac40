"""The folders with the source of accepted versions: each is unpacked once from its archive."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Final

from warpleague.arena.submissions import versions
from warpleague.arena.submissions.limits import SubmissionLimits
from warpleague.arena.submissions.upload import unpack_upload
from warpleague.errors import StoreError
from warpleague.runner.bundle.cache import remove

if TYPE_CHECKING:
    from pathlib import Path

    from warpleague.arena.submissions.ledger import Ledger
    from warpleague.arena.submissions.versions import Submission

FOLDER: Final = "arena"
"""The folder beside the ledger for unpacked archives."""
_ANY: Final = SubmissionLimits(folder_mb=256, files=50_000)
"""An accepted archive is unpacked without regard to the present limits."""


def source_folder(ledger: Ledger, submission: Submission, source: Path | None = None) -> Path:
    """The folder with the source of a version. If it is missing, it is made of the archive, or as a copy of `source`.

    Raises `StoreError` if the archive is missing, too.
    """
    target = ledger.results / FOLDER / "bots" / f"{submission.id}-{submission.sha256[:12]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    (ledger.results / FOLDER).chmod(0o700)
    draft = target.with_name(f"{target.name}.{os.getpid()}.draft")
    remove(draft)
    if source is None:
        data = versions.archive(ledger, submission.id)
        if data is None:
            raise StoreError(f"{ledger.path}: the archive of submission {submission.id} is not there")
        unpack_upload(data, draft, _ANY)
    else:
        shutil.copytree(source, draft, symlinks=True)
    with contextlib.suppress(FileExistsError):
        draft.rename(target)  # whole or not at all
    remove(draft)
    return target
