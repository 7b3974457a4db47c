"""Documents are those of the command, bit for bit, but for times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import QUICK, command, flags, timeless

import gradband as gb

CONTEXTUAL = {"iterations": 2, "batch_size": 8, "eval_instances": 20, "start": "identity"}
TRAININGS: list[tuple[str, str, dict[str, Any]]] = [
    *(("bernoulli-2", name, QUICK) for name in ["softelim", "exp3", "boltzmann", "epsilon-greedy"]),
    ("bernoulli-2", "soft-index", {**QUICK, "baseline": "self", "seed": 7}),
    ("bernoulli-2", "lstm(hidden=4,embedding=3)", {**QUICK, "baseline": "self"}),
    *(("bernoulli-10", name, QUICK) for name in ["softelim", "exp3", "boltzmann", "epsilon-greedy"]),
    ("bernoulli-10", "soft-index", {**QUICK, "optimizer": "yogi", "returns": "realized"}),
    ("bernoulli-10", "thompson(sharpen=tuned)", {**QUICK, "learning_rate": 0.5}),
    ("linear-1", "cosoftelim", CONTEXTUAL),
]


@pytest.mark.parametrize(("problem", "policy", "said"), TRAININGS)
def test_train(problem: str, policy: str, said: dict[str, Any]) -> None:
    theirs = command("train", problem, "--policy", policy, *flags(**said))
    ours = gb.train(problem, policy, **said)
    assert timeless(ours.to_dict()) == timeless(theirs)
    if said is CONTEXTUAL:
        return  # Takes long, because of its comparators.
    # Any number of threads.
    assert timeless(gb.train(problem, policy, **said, threads=3).to_dict()) == timeless(theirs)


def test_a_policy_that_nobody_names(spec: Path) -> None:
    theirs = command("train", "bernoulli-2", "--policy", "auto", *flags(iterations=3, eval_instances=200))
    assert timeless(gb.train("bernoulli-2", iterations=3, eval_instances=200).to_dict()) == timeless(theirs)
    # The spec names one.
    theirs = command("train", str(spec), *flags(**QUICK))
    assert timeless(gb.train(spec, **QUICK).to_dict()) == timeless(theirs)


def test_measurements(spec: Path) -> None:
    for problem in ["bernoulli-2", str(spec)]:
        theirs = command("compare", problem, *flags(instances=300, policies="softelim,thompson,ucb1,random"))
        ours = gb.compare(problem, ["softelim", "thompson,ucb1", "random"], instances=300)
        assert timeless(ours.to_dict()) == timeless(theirs)
    theirs = command("compare", "bernoulli-2", *flags(instances=100, seed=3))
    assert timeless(gb.compare("bernoulli-2", instances=100, seed=3).to_dict()) == timeless(theirs)
    said = {"policy": "softelim", "params": "0.5"}
    theirs = command("evaluate", "bernoulli-2", *flags(**said, instances=300))
    for params in ["0.5", [0.5], {"w": 0.5}]:
        evaluation = gb.evaluate("bernoulli-2", "softelim", params=params, instances=300)
        assert timeless(evaluation.to_dict()) == timeless(theirs)
    theirs = command("exact", str(spec), *flags(**said))
    assert timeless(gb.exact(spec, "softelim(w=0.5)").to_dict()) == timeless(theirs)
    theirs = command("gradient", "bernoulli-2", *flags(**said, batch_size=100, baseline="opt"))
    gradient = gb.gradient("bernoulli-2", "softelim", params=0.5, batch_size=100, baseline="opt")
    assert timeless(gradient.to_dict()) == timeless(theirs)


def test_gittins() -> None:
    indices = gb.gittins(20)
    assert indices.shape == (20, 20)
    assert float(indices[0, 0]) == pytest.approx(command("gittins", "--horizon", "20")["start"], abs=1e-7)
    # With one round left an index is the posterior mean.
    assert indices[12, 7] == pytest.approx(13 / 21)
    assert bool(indices[12:, 8:].max() != indices[12:, 8:].max())  # All NaN.


def test_a_saved_policy_is_that_of_the_command(tmp_path: Path) -> None:
    command("train", "bernoulli-2", "--policy", "softelim", *flags(**QUICK), "-o", str(tmp_path / "theirs"))
    gb.train("bernoulli-2", "softelim", **QUICK).policy.save(tmp_path / "ours")
    ours, theirs = ((tmp_path / name / "policy.json").read_text() for name in ("ours", "theirs"))
    assert ours == theirs
