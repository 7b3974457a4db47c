"""Rules of one's own: they train, compare and play like any other policy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradband as gb
from gradband.rule import Seen


def softelim(params: dict[str, float], seen: Seen) -> Any:
    """The built-in policy, from its formula."""
    gaps = seen.means.max(axis=1, keepdims=True) - seen.means
    return -2.0 * gaps**2 * seen.pulls / params["w"] ** 2


def softelim_slopes(params: dict[str, float], seen: Seen) -> Any:
    return {"w": -2.0 / params["w"] * softelim(params, seen)}


def rule(**options: Any) -> gb.Rule:
    return gb.Rule({"w": (1.0, 0.001, 1000.0)}, softelim, name="softelim-again", **options)


PROBLEM = gb.Problem("bernoulli-2").replace(horizon=40)


def regret(problem: gb.Problem, policy: gb.Rule | str) -> tuple[float, float]:
    found = gb.evaluate(problem, policy, instances=2000).to_dict()["bayes_regret"]
    return found["mean"], found["std_error"]


def test_a_rule_has_the_regret_of_the_policy_that_it_repeats() -> None:
    """The same instances, the same draws, the same pulls."""
    assert regret(PROBLEM, rule()) == pytest.approx(regret(PROBLEM, "softelim(w=1)"), rel=1e-9)


@pytest.mark.parametrize("world", [{"delay": 5}, {"floor": 0.05}, {"delay": 3, "floor": 0.02}])
def test_a_rule_plays_in_every_world(world: dict[str, Any]) -> None:
    """Coins differ between single and double precision: 4 standard errors of a difference."""
    problem = PROBLEM.replace(**world)
    (own, error), (built_in, _) = regret(problem, rule()), regret(problem, "softelim(w=1)")
    assert abs(own - built_in) < 4.0 * 2.0**0.5 * error
    assert own > regret(PROBLEM, rule())[0]


def test_gradients_by_differences_are_those_that_are_given() -> None:
    differences = gb.gradient(PROBLEM, rule(), batch_size=500).to_dict()
    given = gb.gradient(PROBLEM, rule(gradient=softelim_slopes), batch_size=500).to_dict()
    built_in = gb.gradient(PROBLEM, "softelim(w=1)", batch_size=500).to_dict()
    assert differences["mean"] == pytest.approx(given["mean"], rel=1e-7)
    assert given["mean"] == pytest.approx(built_in["mean"], rel=1e-3)


def test_bits_do_not_depend_on_threads() -> None:
    def trained(threads: int) -> dict[str, Any]:
        result = gb.train(PROBLEM, rule(), iterations=5, batch_size=200, eval_instances=500, threads=threads)
        content: dict[str, Any] = result.policy.to_dict()["policy"]
        return content

    assert trained(1) == trained(2)


def test_a_rule_trains_compares_and_plays() -> None:
    training = gb.train(PROBLEM, rule(), iterations=30, batch_size=300, eval_instances=1000)
    policy = training.policy
    assert policy.kind == "softelim-again" and 0.05 < policy.params["w"] < 1.0
    comparison = gb.compare(PROBLEM, [policy, rule(), "ucb1"], instances=1000)
    regrets = [row["bayes_regret"].mean for row in comparison.rows]
    assert regrets[0] < regrets[2]
    agent = gb.Agent(policy, seed=1)
    same = gb.Agent(f"softelim(w={policy.params['w']})", problem=PROBLEM, seed=1)
    for t in range(100):
        one, other = agent.pull(), same.pull()
        assert one.arm == other.arm and one.probability == pytest.approx(other.probability, abs=1e-12)
        agent.update(one.id, float(t % 3 == 0))
        same.update(other.id, float(t % 3 == 0))
    again = pickle.loads(pickle.dumps(agent))
    assert again.stats() == agent.stats()


def test_a_rule_may_be_asked_before_every_arm_was_pulled() -> None:
    def greedy(params: dict[str, float], seen: Seen) -> Any:
        assert seen.pulls.shape == seen.means.shape == seen.sums.shape and not seen.pulls.flags.writeable
        assert (seen.pulls.sum(axis=1) == seen.round).all() and seen.horizon == 40
        return np.where(np.arange(2) == 0, 0.0, -np.inf) + np.zeros_like(seen.means)

    first = gb.Rule({}, greedy, each_arm_once=False)
    regret = gb.evaluate(PROBLEM, first, instances=200).to_dict()["bayes_regret"]["mean"]
    assert regret > 0.0


class Mine(Exception):
    pass


def test_exceptions_come_back_as_themselves() -> None:
    def failing(params: dict[str, float], seen: Seen) -> Any:
        if seen.round > 20:
            raise Mine("here")
        return seen.means

    with pytest.raises(Mine, match="here"):
        gb.evaluate(PROBLEM, gb.Rule({}, failing), instances=100)
    with pytest.raises(Mine, match="here"):
        gb.train(PROBLEM, gb.Rule({"x": (0.0, -1.0, 1.0)}, failing), iterations=2)


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (lambda seen: seen.means[:, :1], "logits"),
        (lambda seen: "high", "logits"),
        (lambda seen: None, "logits"),
        (lambda seen: seen.means * np.nan, "policy"),
        (lambda seen: seen.means + np.inf, "policy"),
    ],
)
def test_wrong_logits_name_their_place(answer: Any, place: str) -> None:
    broken = gb.Rule({}, lambda params, seen: answer(seen), name="broken")
    with pytest.raises(gb.Error) as error:
        gb.evaluate(PROBLEM, broken, instances=10)
    assert error.value.place == place


def test_wrong_rules_name_their_place() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: gb.Rule({"w": 1.0}, softelim), "params.w"),  # type: ignore[dict-item]
        (lambda: gb.Rule({"w": (1.0, 2.0, 3.0)}, softelim), "params.w"),
        (lambda: gb.Rule({}, None), "logits"),  # type: ignore[arg-type]
        (lambda: gb.Rule({}, softelim, name="a b"), "name"),
        (lambda: gb.Rule({}, softelim), "name"),
        (lambda: gb.Rule({}, softelim, 3, name="x"), "gradient"),  # type: ignore[arg-type]
    ]
    for make, place in wrong:
        with pytest.raises(gb.Error) as error:
            make()
        assert error.value.place == place


def test_rules_are_pickled() -> None:
    again = pickle.loads(pickle.dumps(rule()))
    assert repr(again) == repr(rule()) == "<Rule softelim-again(w=1 in [0.001, 1000])>"
