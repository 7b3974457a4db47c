"""pull + update through Python, in microseconds: the best of some rounds of many calls.

    python bench/agent.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import gradband as gb

CALLS, ROUNDS = 20_000, 7


def measure(name: str, step: Callable[[int], None]) -> None:
    """Prints the least and the median time of a call."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for t in range(CALLS):
            step(t)
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    print(f"{name:<40} {min(times):7.2f} us   median {statistics.median(times):7.2f}")


def arms() -> None:
    """Ten arms without contexts."""
    agent = gb.Agent("softelim(w=0.5)", problem="bernoulli-10", seed=1, limit=1000)
    pull, update = agent.pull, agent.update

    def step(t: int) -> None:
        update(pull().id, 1.0 if t % 3 == 0 else 0.0)

    measure("softelim, K = 10", step)


def contexts() -> None:
    """Ten arms, twenty features."""
    contexts = {"context_dim": 20, "context_mean": 0.0, "context_cov": 1.0}
    thetas = {"theta_mean": 0.0, "theta_cov": 1.0, "noise_sd": 0.5}
    problem = gb.Problem({"problem": {"kind": "linear", "horizon": 1000, "arms": 10, **contexts, **thetas}})
    x = np.random.default_rng(1).normal(size=(1024, 20))
    for form, rows in [("arrays", list(x)), ("lists", x.tolist())]:
        agent = gb.Agent("soft-ucb", problem=problem, seed=1, limit=1000)
        pull, update = agent.pull, agent.update

        def step(t: int) -> None:
            update(pull(rows[t & 1023]).id, 1.0 if t % 3 == 0 else 0.0)

        measure(f"soft-ucb, K = 10, d = 20, {form}", step)


if __name__ == "__main__":
    arms()
    contexts()
