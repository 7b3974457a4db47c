from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import RATES, timeless

import gradband as gb

DICT: dict[str, Any] = {
    "problem": {"kind": "bernoulli", "horizon": 50, "prior": {"kind": "beta", "arms": 3, "alpha": 1, "beta": 1}}
}


def draw(rng: np.random.Generator, count: int) -> np.ndarray[Any, Any]:
    """One arm in three is good."""
    means = np.full((count, 3), 0.2)
    means[np.arange(count), rng.integers(3, size=count)] = 0.6
    return means


def every_kind(spec: Path) -> list[gb.Problem]:
    rng = np.random.default_rng(1)
    return [
        gb.Problem("bernoulli-2"),
        gb.Problem("iris"),
        gb.Problem(spec),
        gb.Problem(DICT),
        gb.Problem.table(RATES, horizon=40),
        gb.Problem.labelled(rng.normal(size=(40, 3)), rng.integers(2, size=40), horizon=30),
        gb.Problem.sampled(draw, arms=3, horizon=30),
    ]


def test_problems_are_values(spec: Path) -> None:
    problems = every_kind(spec)
    for i, problem in enumerate(problems):
        again = pickle.loads(pickle.dumps(problem))
        assert again == problem
        assert hash(again) == hash(problem)
        assert all(problem != other for other in problems[:i])
        with pytest.raises(AttributeError):
            problem.horizon = 3  # type: ignore[misc]
        longer = problem.replace(horizon=77, floor=0.01)
        assert (longer.horizon, problem.horizon != 77) == (77, True)
        assert longer != problem
        assert pickle.loads(pickle.dumps(longer)) == longer


def test_a_pickle_has_the_data(spec: Path) -> None:
    problem = gb.Problem(spec)
    stored = pickle.dumps(problem)
    (spec.parent / "past.csv").unlink()
    spec.unlink()
    again = pickle.loads(stored)
    said: dict[str, Any] = {"instances": 200, "seed": 3}
    ours, theirs = (gb.evaluate(each, "softelim", **said) for each in (problem, again))
    assert timeless(ours.to_dict()) == timeless(theirs.to_dict())


def test_a_repr_says_what_it_means(spec: Path) -> None:
    text = repr(gb.Problem(spec))
    assert "2 arms, 60 rounds" in text
    assert "your past problems; training draws from 3, evaluation from 3 held-out ones" in text


def test_tables_of_all_kinds_are_one() -> None:
    names = ["old", "new"]
    columns = {name: [row[i] for row in RATES] for i, name in enumerate(names)}
    made = [
        gb.Problem.table(data, horizon=40)
        for data in [
            pd.DataFrame(RATES, columns=names),
            pl.DataFrame(columns),
            pa.table(columns),
            columns,
            {name: np.array(column) for name, column in columns.items()},
            [dict(zip(names, row, strict=True)) for row in RATES],
        ]
    ]
    assert all(problem == made[0] for problem in made)
    assert made[0].arm_names == names
    assert gb.Problem.table(np.array(RATES), horizon=40) == gb.Problem.table(RATES, horizon=40)
    assert gb.Problem.table(RATES, horizon=40).arm_names == ["arm 1", "arm 2"]


def test_a_table_is_that_of_the_spec(spec: Path) -> None:
    table = gb.Problem.table(spec.parent / "past.csv", horizon=60, holdout=0.5)
    ours, theirs = (gb.compare(each, ["thompson"], instances=200).rows for each in (table, gb.Problem(spec)))
    assert ours == theirs


def test_a_table_of_gaussian_rewards() -> None:
    problem = gb.Problem.table([[5.0 * x for x in row] for row in RATES], horizon=30, kind="gaussian", noise_sd=0.5)
    assert gb.evaluate(problem, "random", instances=100).bayes_regret.mean > 0


def test_intervals_know_their_observations(spec: Path) -> None:
    few = gb.evaluate(spec, "random", instances=400).bayes_regret
    # Three past problems are held out: Student's t with two degrees of freedom.
    assert few.interval[1] == pytest.approx(few.mean + 4.3027 * few.std_error, rel=1e-4)


def test_long_tables_have_their_own_names() -> None:
    rows = [(f"c{i // 3}", f"a{i % 3}", 1 + i % 4, 40) for i in range(24)]
    data = pd.DataFrame(rows, columns=["campaign", "creative", "clicks", "views"])
    columns = {"problem": "campaign", "arm": "creative", "successes": "clicks", "trials": "views"}
    problem = gb.Problem.table(data, horizon=50, columns=columns, arms=2)
    assert problem.arms == 2
    assert "past problems have 3 to 3 arms" in repr(problem)


def test_tables_are_joined() -> None:
    def table(a: list[float], b: list[float]) -> gb.Problem:
        return gb.Problem.table({"a": a, "b": b}, horizon=9, holdout=0)

    first, second = (table([x, 0.2], [0.3, 0.1]) for x in (0.1, 0.4))
    both = table([0.1, 0.2, 0.4, 0.2], [0.3, 0.1, 0.3, 0.1])
    assert first | second == both
    assert (first.replace(horizon=20) | second).horizon == 20
    with pytest.raises(gb.Error, match="same columns"):
        first | gb.Problem.table({"a": [0.1, 0.2], "c": [0.1, 0.2]}, horizon=9, holdout=0)
    with pytest.raises(gb.Error, match="joins tables"):
        first | gb.Problem("bernoulli-2")


def test_labels_are_arms() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "right", "left")
    problem = gb.Problem.labelled(pd.DataFrame(X, columns=["p", "q"]), y, horizon=40)
    assert (problem.arm_names, problem.context_dim) == (["left", "right"], 2)
    learned, not_learned = (
        gb.evaluate(problem, name, instances=50).bayes_reward for name in ("lin-thompson", "random")
    )
    assert learned.mean > not_learned.mean + 5


def test_a_sampler_is_a_prior() -> None:
    problem = gb.Problem.sampled(draw, arms=3, horizon=30)
    one, many = (gb.evaluate(problem, "softelim", instances=300, threads=threads) for threads in (1, 4))
    assert timeless(one.to_dict()) == timeless(many.to_dict())
    # Regret of `random` is known: 30 rounds, each 0.4 behind in two of three.
    random = gb.evaluate(problem, "random", instances=2000).bayes_regret
    assert abs(random.mean - 8.0) < 4 * random.std_error
    trained = gb.train(problem, "softelim", iterations=5, batch_size=50, eval_instances=200)
    assert trained.policy.kind == "softelim"


def test_a_sampler_of_gaussian_rewards() -> None:
    problem = gb.Problem.sampled(
        lambda rng, count: rng.normal(5, 1, size=(count, 2)), arms=2, horizon=20, kind="gaussian", noise_sd=0.1
    )
    assert gb.evaluate(problem, "random", instances=200).bayes_reward.mean == pytest.approx(100, abs=2)
