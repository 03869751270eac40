"""What the page on clusters says of SSH, Slurm and Kubernetes starts workers that play: stand-ins run its commands."""

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from tests.soak.dask_processes import DaskProcesses
from tests.waiting import PATIENCE_S

# To import it would take each process of the tests a second.
if importlib.util.find_spec("distributed") is None:
    pytest.skip("distributed is not installed", allow_module_level=True)


PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
SSH = """#!/bin/sh
# ssh -n -o BatchMode=yes HOST COMMAND
[ "$4" = nowhere ] && exit 255
exec sh -c "$5"
"""
SBATCH = """#!/bin/sh
# sbatch --export=ALL,NAME=VALUE SCRIPT
export "${1#--export=ALL,}" SLURM_CPUS_PER_TASK=1 SLURM_JOB_ID=7
export SLURM_NTASKS=$(sed -n 's/^#SBATCH --ntasks=//p' "$2")
sh "$2" >job.log 2>&1 &
"""
SRUN = """#!/bin/sh
for _ in $(seq "$SLURM_NTASKS"); do "$@" & done
wait
"""
NPROC = "#!/bin/sh\necho 1\n"
LEAGUE = """
seed = "x"
bots = ["{bots}/random-python", {{ path = "{bots}/random-python", name = "twin" }}]
[game]
id = "aliens"
options = {{ max_turns = 10 }}
[format]
deals = 4
[clock]
move_s = 20.0
start_s = 60.0
"""


def written(name: str) -> str:
    """The file of this name on the page."""
    found = re.search(
        rf"<!-- example: file {re.escape(name)} -->\n```\w+\n(.*?)```\n", PAGE.read_text(), re.DOTALL
    )
    assert found is not None
    return found[1]


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    cluster = DaskProcesses(tmp_path)
    yield cluster
    cluster.end()
    for file in tmp_path.glob("*.pid"):
        for pid in file.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with stand-ins for `ssh`, `sbatch` and `srun`, and a `dask` that notes its process id."""
    folder = tmp_path / "bin"
    folder.mkdir()
    dask = f'#!/bin/sh\necho $$ >>"{tmp_path}/dask.pid"\nexec "{sys.executable}" -m dask "$@"\n'
    stand_ins = {"ssh": SSH, "sbatch": SBATCH, "srun": SRUN, "nproc": NPROC, "dask": dask}
    for name, text in stand_ins.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    cache = str(tmp_path / "cache")
    return {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path),
        "WARPLEAGUE_CACHE": cache,
    }


def test_ssh(dask: DaskProcesses, env: dict[str, str], tmp_path: Path, bots: Path) -> None:
    """A worker on each machine that answers; a line names the other one."""
    (tmp_path / "start-workers.sh").write_text(written("start-workers.sh"))
    (tmp_path / "hosts.txt").write_text("one\nnowhere\ntwo\n")
    command = ["sh", "start-workers.sh", dask.address]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "nowhere: no worker was started\n"
    play(dask, 2, tmp_path, bots)


def test_slurm(dask: DaskProcesses, env: dict[str, str], tmp_path: Path) -> None:
    """A worker for each task of the job."""
    text = written("workers.sbatch").replace("--ntasks=4", "--ntasks=2")  # other tests share this machine
    (tmp_path / "workers.sbatch").write_text(text)
    words = ["sbatch", f"--export=ALL,SCHEDULER={dask.address}", "workers.sbatch"]
    assert f"$ sbatch --export=ALL,SCHEDULER=tcp://login1:8786 {words[2]}" in PAGE.read_text()
    subprocess.run(words, env=env, cwd=tmp_path, check=True)
    wait_for_workers(dask, 2)


def test_kubernetes(tmp_path: Path) -> None:
    """The manifest's parts fit together, and its two commands make a cluster."""
    scheduler, service, worker = yaml.safe_load_all(written("cluster.yaml"))
    for deployment in (scheduler, worker):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["selector"] == scheduler["spec"]["template"]["metadata"]["labels"]
    address = f"tcp://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    first, second = (
        one["spec"]["template"]["spec"]["containers"][0]["command"] for one in (scheduler, worker)
    )
    assert first[first.index("--port") + 1] == str(service["spec"]["ports"][0]["port"])
    assert address in second
    assert (first[:2], second[:2]) == (["dask", "scheduler"], ["dask", "worker"])
    own = {"8786": "0"}  # this machine may have a cluster
    dask = DaskProcesses(tmp_path, [own.get(word, word) for word in first[2:]])
    try:
        own = {address: dask.address, "8": "1"}
        dask.start(*[own.get(word, word) for word in second[1:]])
        wait_for_workers(dask, 1)
    finally:
        dask.end()


def wait_for_workers(dask: DaskProcesses, workers: int) -> None:
    """Wait until so many workers of one thread have come."""
    from distributed import Client

    with Client(dask.address, set_as_default=False, timeout=PATIENCE_S) as client:
        client.wait_for_workers(workers, timeout=PATIENCE_S)
        assert all(len(client.ncores()) == workers and threads == 1 for threads in client.ncores().values())


def play(dask: DaskProcesses, workers: int, folder: Path, bots: Path) -> None:
    """Play a league once so many workers have come."""
    wait_for_workers(dask, workers)
    config = folder / "league.toml"
    config.write_text(LEAGUE.format(bots=bots))
    command = [
        sys.executable,
        "-P",
        "-m",
        "warpleague",
        "league",
        "run",
        str(config),
        "--cluster",
        dask.address,
    ]
    subprocess.run([*command, "--results", str(folder / "results")], check=True, capture_output=True)
