"""The vector environment: the instances and rewards that every policy meets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradband as gb

pytest.importorskip("gymnasium")
envs = gb.envs

PROBLEM = gb.Problem("bernoulli-2").replace(horizon=30)


def test_an_episode_is_a_run() -> None:
    env = envs.VectorBandit(PROBLEM, num_envs=7, seed=3)
    observed, infos = env.reset()
    assert observed in env.observation_space and observed.shape == (7, 5) and infos == {}
    for t in range(30):
        actions = np.full(7, t % 2)
        observed, rewards, terminated, truncated, infos = env.step(actions)
        assert observed in env.observation_space
        assert set(rewards) <= {0.0, 1.0} and (infos["gap"] >= 0.0).all()
        assert terminated.all() == (t == 29) and not truncated.any()
    assert (observed[:, :2] == 15).all() and (observed[:, 4] == 0).all()
    observed, rewards, terminated, _, _ = env.step(actions)
    assert (observed[:, :4] == 0.0).all() and (rewards == 0.0).all() and not terminated.any()


def test_seeds_replay() -> None:
    def played(env: Any) -> list[Any]:
        env.reset(seed=5)
        return [env.step(np.zeros(4, dtype=int))[1].tolist() for _ in range(20)]

    env = envs.VectorBandit(PROBLEM, 4)
    assert played(env) == played(env) == played(envs.VectorBandit(PROBLEM, 4))
    other = envs.VectorBandit(PROBLEM, 4, seed=6)
    other.reset()
    assert played(env) != [other.step(np.zeros(4, dtype=int))[1].tolist() for _ in range(20)]


def test_its_regret_is_that_of_evaluate() -> None:
    """The first arm, whatever happens: the same instances, so the same regret."""

    def first(params: dict[str, float], seen: gb.rule.Seen) -> Any:
        return np.where(np.arange(2) == 0, 0.0, -np.inf) + np.zeros_like(seen.means)

    rule = gb.Rule({}, first, each_arm_once=False)
    expected = gb.evaluate(PROBLEM, rule, instances=96, seed=9).to_dict()["bayes_regret"]["mean"]
    env = envs.VectorBandit(PROBLEM, 32, seed=9, evaluated=True)
    regret = 0.0
    for _ in range(3):
        env.reset()
        regret += sum(env.step(np.zeros(32, dtype=int))[4]["gap"].sum() for _ in range(30))
    assert regret / 96 == pytest.approx(expected, rel=1e-9)


def test_contexts_are_observed() -> None:
    env = envs.VectorBandit(gb.Problem("linear-1").replace(horizon=10), 3)
    observed, _ = env.reset()
    later = env.step(np.zeros(3, dtype=int))[0]
    width = 2 * env.arms + 1
    assert observed.shape[1] == width + env.dim and (observed[:, width:] != later[:, width:]).any()
    for _ in range(9):
        assert env.step(np.zeros(3, dtype=int))[0] in env.observation_space


def test_wrong_input_names_its_place() -> None:
    env = envs.VectorBandit(PROBLEM, 2)
    env.reset()
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: envs.VectorBandit(PROBLEM.replace(delay=3)), "problem"),
        (lambda: envs.VectorBandit(PROBLEM, 0), "num_envs"),
        (lambda: env.step(np.array([0, 2])), "actions"),
        (lambda: env.step(np.array([0])), "actions"),
        (lambda: env.reset(seed=[1, 2]), "seed"),
    ]
    for make, place in wrong:
        with pytest.raises(gb.Error) as error:
            make()
        assert error.value.place == place
