"""numpy without threads for linear algebra."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_THREADS: Final = "OPENBLAS_NUM_THREADS"


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy, if it is loaded now, start no threads for linear algebra: they wait longer than they work.

    The environment is then as it was before, so bots may start as many as they like.
    """
    known = os.environ.get(_THREADS)
    os.environ[_THREADS] = known or "1"
    try:
        yield
    finally:
        if known is None:
            del os.environ[_THREADS]
