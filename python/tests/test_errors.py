"""Wrong input is refused at its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import RATES
from test_problem import DICT, draw

import gradband as gb

NAN = float("nan")
TABLE = gb.Problem.table
LABELLED = gb.Problem.labelled
P: Any = "bernoulli-2"


def changed(**problem: Any) -> dict[str, Any]:
    return {**DICT, "problem": {**DICT["problem"], **problem}}


def sampled(function: Any, **said: Any) -> object:
    return gb.evaluate(gb.Problem.sampled(function, **{"arms": 2, "horizon": 9, **said}), "random", instances=9)


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("problem", lambda: gb.Problem("bernouli-2")),
    ("problem", lambda: gb.Problem(3)),  # type: ignore[arg-type]
    ("none.toml", lambda: gb.Problem("none.toml")),
    ("problem.horizn", lambda: gb.Problem(changed(horizn=3))),
    ("problem.horizon", lambda: gb.Problem(changed(horizon=0))),
    ("problem.horizon", lambda: gb.Problem(changed(horizon="ten"))),
    ("problem.prior.alpha[0]", lambda: gb.Problem(changed(prior={"kind": "beta", "arms": 2, "alpha": NAN, "beta": 1}))),
    ("problem.prior.beta", lambda: gb.Problem(changed(prior={"kind": "beta", "arms": 2, "alpha": 1, "beta": object()}))),
    ("train.iteration", lambda: gb.Problem({**DICT, "train": {"iteration": 3}})),
    ("data", lambda: TABLE(pd.DataFrame(), horizon=9)),
    ("data", lambda: TABLE([], horizon=9)),
    ("data", lambda: TABLE(np.zeros(3), horizon=9)),
    ("data", lambda: TABLE(3, horizon=9)),
    ("data[1]", lambda: TABLE([[0.1, 0.2], [0.1]], horizon=9)),
    ("data[1]", lambda: TABLE([[0.1, 0.2], 0.3], horizon=9)),
    ("data", lambda: TABLE({"a": [0.1], "b": [0.1, 0.2]}, horizon=9)),
    ("data, line 2, column 2 ('b')", lambda: TABLE({"a": [0.1], "b": ["x"]}, horizon=9)),
    ("data, line 2, column 2 ('b')", lambda: TABLE({"a": [0.1, 0.2], "b": [NAN, 0.1]}, horizon=9)),
    ("data, line 2, column 1 ('a')", lambda: TABLE({"a": [np.inf, 0.2], "b": [0.3, 0.1]}, horizon=9)),
    ("problem.prior.fit", lambda: TABLE(RATES, horizon=9, fit="gamma")),
    ("problem.prior.holdout", lambda: TABLE(RATES, horizon=9, holdout=1.5)),
    ("problem.floor", lambda: TABLE(RATES, horizon=9, floor=0.9)),
    ("problem.delay", lambda: TABLE(RATES, horizon=9, delay=-1)),
    ("none.csv", lambda: TABLE("none.csv", horizon=9)),
    ("X", lambda: LABELLED(np.zeros(3), [1, 2, 3], horizon=9)),
    ("y", lambda: LABELLED(np.zeros((3, 2)), [1, 2], horizon=9)),
    ("y[1]", lambda: LABELLED(np.eye(3), ["a", None, "b"], horizon=9)),
    ("X, line 3, column 2 ('x2')", lambda: LABELLED([[1, 2], [1, "u"]], [0, 1], horizon=9)),
    ("problem.scale", lambda: LABELLED(np.eye(4), [0, 1, 0, 1], horizon=9, scale="log")),
    ("draw", lambda: sampled(3)),
    ("draw", lambda: sampled(draw)),
    ("draw", lambda: sampled(lambda rng, count: [[0.5, 1.5]] * count)),
    ("draw", lambda: sampled(lambda rng, count: [[0.5, NAN]] * count)),
    ("draw", lambda: sampled(lambda rng, count: "abc")),
    ("kind", lambda: sampled(lambda rng, count: np.ones((count, 2)), kind="poisson")),
    ("policy", lambda: gb.train(P, "softelm")),
    ("policy", lambda: gb.train(P, 3)),  # type: ignore[arg-type]
    ("policy", lambda: gb.evaluate("linear-1", "softelim")),
    ("policy.softelim.z", lambda: gb.evaluate(P, "softelim(z=1)")),
    ("policy", lambda: gb.evaluate(P)),
    ("params.w", lambda: gb.evaluate(P, "softelim", params=[NAN])),
    ("params", lambda: gb.evaluate(P, "softelim", params=[1.0, 2.0])),
    ("baseline", lambda: gb.train(P, "softelim", baseline="best")),
    ("iterations", lambda: gb.train(P, "softelim", iterations=2.5)),  # type: ignore[arg-type]
    ("batch_size", lambda: gb.train(P, "softelim", batch_size=-1)),
    ("learning_rate", lambda: gb.train(P, "softelim", learning_rate="fast")),
    ("optimizer", lambda: gb.train(P, "softelim", optimizer=1)),  # type: ignore[arg-type]
    ("seed", lambda: gb.train(P, "softelim", seed=-1)),
    ("threads", lambda: gb.train(P, "softelim", threads=0)),
    ("progress", lambda: gb.train(P, "softelim", progress=3)),  # type: ignore[arg-type]
    ("instances", lambda: gb.evaluate(P, "softelim", instances=0)),
    ("policies", lambda: gb.compare(P, [])),
    ("policies", lambda: gb.compare(P, ["softelm"])),
    ("horizon", lambda: gb.gittins(10**7)),
    ("delays", lambda: gb.Problem(P)._native.replace({"delays": 3})),
    ("job.iteration", lambda: gb.run({"problem": P, "iteration": 3})),
    ("job.problem", lambda: gb.run({})),
]


@pytest.mark.parametrize(("place", "call"), WRONG)
def test_wrong_input_is_refused_at_its_place(place: str, call: Callable[[], object]) -> None:
    with pytest.raises(gb.Error) as caught:
        call()
    assert caught.value.place == place, str(caught.value)
    assert caught.value.message


def test_files_that_are_no_policies(tmp_path: Path) -> None:
    for content in ["", "{}", '{"gradband": 99}', '{"gradband": 1}', "[1,"]:
        path = tmp_path / "policy.json"
        path.write_text(content)
        with pytest.raises(gb.Error) as caught:
            gb.load(path)
        assert caught.value.place.startswith(str(path))


def test_a_policy_for_another_problem() -> None:
    policy = gb.Policy("softelim(w=0.5)", "bernoulli-2")
    with pytest.raises(gb.Error, match="the policy is for 2 arms"):
        gb.evaluate("bernoulli-10", policy)
