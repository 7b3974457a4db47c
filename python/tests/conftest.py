"""What tests share: small data, and the command to compare with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Sizes that take a moment.
QUICK: dict[str, Any] = {"iterations": 5, "batch_size": 50, "eval_instances": 400}
RATES = [[0.05, 0.07], [0.11, 0.09], [0.02, 0.04], [0.08, 0.08], [0.3, 0.1], [0.2, 0.25]]


def command(*args: str) -> dict[str, Any]:
    """What `gradband ARGS --json` prints. GRADBAND says where the binary is; `make python-test` builds one."""
    binary = os.environ.get("GRADBAND", str(ROOT / "target/debug/gradband"))
    done = subprocess.run([binary, *args, "--json"], capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def timeless(document: Any) -> Any:
    """The same without times."""
    if isinstance(document, dict):
        return {key: timeless(value) for key, value in document.items() if key != "seconds"}
    if isinstance(document, list):
        return [timeless(value) for value in document]
    return document


def flags(**said: Any) -> list[str]:
    """Keywords as they are typed."""
    return [part for key, value in said.items() for part in (f"--{key.replace('_', '-')}", str(value))]


@pytest.fixture(autouse=True, scope="session")
def ctrl_c() -> None:
    """Interrupts, also where a shell ignores it for what it runs in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec with a table of past problems."""
    rows = "\n".join(",".join(map(str, row)) for row in RATES)
    (tmp_path / "past.csv").write_text(f"old,new\n{rows}\n")
    path = tmp_path / "past.toml"
    path.write_text(
        '[problem]\nkind = "bernoulli"\nhorizon = 60\n'
        '[problem.prior]\nkind = "table"\npath = "past.csv"\nholdout = 0.5\n'
        '[policy]\nkind = "softelim"\nw = 0.5\n'
    )
    return path
