"""The same trainings on Dask, Ray and MPI, for real; `make test-clusters` installs them and runs this."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import gradband as gb

# About a quarter of a minute on one core, in many short rounds.
LONG: dict[str, Any] = {"problem": "adult", "policy": "soft-ucb", "iterations": 30, "eval_instances": 200}
SHORT: dict[str, Any] = {"problem": "bernoulli-2", "policy": "softelim", "iterations": 10, "eval_instances": 500}


def bits(job: dict[str, Any], workers: Any = None) -> dict[str, Any]:
    document = gb.train(**job, workers=workers).to_dict()
    del document["seconds"]
    return document


def kill_later(pids: list[int], seconds: float) -> threading.Thread:
    """Ends a worker in the middle of the work."""

    def kill() -> None:
        time.sleep(seconds)
        os.kill(pids[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_dask() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert bits(SHORT, client.get_executor()) == bits(SHORT)
            assert bits(SHORT, client) == bits(SHORT)
            pids = list(client.run(os.getpid).values())
            killer = kill_later(pids, 3.0)
            assert bits(LONG, client.get_executor()) == bits(LONG)
            killer.join()
            assert pids[0] not in client.run(os.getpid).values(), "the worker was never killed"


def test_ray() -> None:
    ray = pytest.importorskip("ray")
    from ray.util.multiprocessing import Pool

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        pool = Pool(2, ray_remote_args={"max_restarts": -1, "max_task_retries": -1})
        assert bits(SHORT, pool) == bits(SHORT)
        pids = pool.map(lambda _: os.getpid(), range(8))
        killer = kill_later(pids, 3.0)
        assert bits(LONG, pool) == bits(LONG)
        killer.join()
    finally:
        ray.shutdown()


MPI = """
import sys, json
import gradband as gb
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    with MPIPoolExecutor() as executor:
        document = gb.train(**job, workers=executor).to_dict()
    print("DOCUMENT" + json.dumps(document))
"""


def test_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("there is no mpiexec here")
    import json

    script = tmp_path / "run.py"
    script.write_text(MPI)
    command = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    done = subprocess.run([*command, str(script), json.dumps(SHORT)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout.split("DOCUMENT", 1)[1])
    del document["seconds"]
    assert document == json.loads(json.dumps(bits(SHORT)))
