"""Leagues on the workers of a Dask cluster: the option `--cluster` of the commands that play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from warpleague.cli.declaration import Argument, Extra
from warpleague.errors import BadInput

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from warpleague.extras.cluster.executor import ClusterExecutor


class Cluster:
    """The value of the option: the address of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        self._address = address

    def open(self, *what: Any, **more: Any) -> AbstractContextManager[ClusterExecutor]:
        """`executor.cluster` at the address, with these arguments; `BadInput` where Dask is missing."""
        try:
            # Dask takes half a second, and may be missing.
            from warpleague.extras.cluster.executor import cluster
        except ModuleNotFoundError as error:
            if error.name != "distributed":
                raise
            raise BadInput(
                "--cluster: needs Dask in this environment: pip install 'warpleague[cluster]'"
            ) from None
        return cluster(self._address, *what, **more)


# In this table an argument takes as few lines as it needs.
# fmt: off

PLAY = Argument("--cluster ADDRESS", "play on many machines: on the Dask cluster whose scheduler has this "
                "address", type=Cluster)
PREPARE = Argument("--cluster ADDRESS", "also send the bots to the machines of the Dask cluster whose "
                   "scheduler has this address", type=Cluster)

EXTRA: Final = Extra(arguments={"league run": (PLAY,), "compare": (PLAY,), "league prepare": (PREPARE,)})
