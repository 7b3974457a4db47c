from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import QUICK, timeless

import gradband as gb


@pytest.fixture(scope="module")
def training() -> gb.Training:
    return gb.train("bernoulli-2", "softelim", **QUICK)


def test_a_training_has_the_keys_of_the_document(training: gb.Training, tmp_path: Path) -> None:
    document = training.to_dict()
    assert all(hasattr(training, key) for key in document)
    assert training.final.bayes_regret.mean == document["final"]["bayes_regret"]["mean"]
    assert list(training.gain.interval) == document["gain_interval"]
    assert training.policy.params == {"w": document["policy"]["params"][0]}
    training.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Trained on bernoulli-2" in page
    shown = training._repr_html_()
    assert "<table" in shown
    assert "<svg" in shown
    assert "softelim" in repr(training)
    # A copy of what was found changes nothing.
    document["gain"]["mean"] = 0
    assert training.to_dict()["gain"]["mean"] != 0


def test_results_travel(training: gb.Training) -> None:
    again = pickle.loads(pickle.dumps(training))
    assert again.to_dict() == training.to_dict()
    assert again.policy == training.policy
    assert again.problem == training.problem
    assert again._repr_html_().count("<svg") == training._repr_html_().count("<svg") == 1


def test_regret_beyond_the_horizon(training: gb.Training) -> None:
    regret = training.beyond([1, 3], instances=400)
    assert list(regret) == [1, 3]
    assert regret[1].mean == training.final.bayes_regret.mean
    assert regret[3].mean > regret[1].mean


def test_differences_are_paired() -> None:
    comparison = gb.compare("bernoulli-2", ["softelim", "thompson", "random"], instances=400)
    best, worst = comparison.rows[0], comparison.rows[-1]
    difference = comparison.difference(worst["policy"], best["policy"])
    assert difference == worst["difference"]
    assert comparison.difference(2, 0) == difference
    assert comparison.difference(0, 2).mean == -difference.mean
    low, high = difference.interval
    assert low < difference.mean < high
    assert "<svg" in comparison._repr_html_()
    assert len(comparison.plot().axes) == 1
    with pytest.raises(gb.Error):
        comparison.difference("softelim", "ucb1")


def test_intervals() -> None:
    low, high = gb.Estimate(2.0, 0.5).interval
    assert (low, high) == pytest.approx((2 - 1.96 * 0.5, 2 + 1.96 * 0.5), abs=1e-3)
    # Student's t with two degrees of freedom.
    low, high = gb.Estimate(0.0, 1.0, 3).interval
    assert high == pytest.approx(4.3027, abs=1e-3)


def test_policies_are_values(tmp_path: Path) -> None:
    for problem, name, size in [("bernoulli-2", "softelim(w=0.7)", 1), ("linear-1", "cosoftelim", 1)]:
        policy = gb.Policy(name, problem)
        again = pickle.loads(pickle.dumps(policy))
        assert again == policy
        assert len(policy.version) == 12
        assert len(policy.params) == size
        policy.save(tmp_path / policy.kind)
        loaded = gb.load(tmp_path / policy.kind)
        assert loaded == policy == gb.load(tmp_path / policy.kind / "policy.json") == gb.Policy(policy.to_dict())
        ours, theirs = (gb.evaluate(problem, each, instances=50).to_dict() for each in (policy, loaded))
        assert timeless(ours) == timeless(theirs)
    assert np.shape(gb.Policy("cosoftelim", "linear-1").params["W"])[1] > 1
    with pytest.raises(AttributeError):
        policy.kind = "exp3"  # type: ignore[misc]


def test_networks_travel_with_their_weights(tmp_path: Path) -> None:
    said: dict[str, Any] = {"iterations": 2, "batch_size": 20, "eval_instances": 50}
    policy = gb.train("bernoulli-2", "lstm(hidden=4,embedding=3)", **said).policy
    assert np.shape(policy.params["w_hh"]) == (16, 4)
    policy.save(tmp_path)
    for again in [pickle.loads(pickle.dumps(policy)), gb.load(tmp_path), gb.Policy(policy.to_dict())]:
        assert again == policy
        assert timeless(gb.evaluate("bernoulli-2", again, instances=50).to_dict()) == timeless(
            gb.evaluate("bernoulli-2", policy, instances=50).to_dict()
        )


def test_a_training_starts_from_a_policy(training: gb.Training) -> None:
    again = gb.train("bernoulli-2", training.policy, **QUICK)
    assert again.initial.params == training.final.params


def test_nothing_is_imported_first() -> None:
    code = "import sys, gradband; print([name for name in ('pandas', 'polars', 'pyarrow', 'matplotlib') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
