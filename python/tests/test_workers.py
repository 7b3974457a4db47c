"""Trainings whose simulations other processes do: the same bits, whoever they are and whatever happens to them."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import gradband as gb
from gradband import workers

JOBS: list[dict[str, Any]] = [
    {"problem": "bernoulli-2", "policy": "softelim", "iterations": 6},
    {"problem": "bernoulli-2", "policy": "thompson", "iterations": 4},
    {"problem": gb.Problem("iris").replace(horizon=40), "policy": "soft-ucb", "iterations": 4, "batch_size": 8},
]


def bits(training: gb.Training) -> dict[str, Any]:
    document = training.to_dict()
    del document["seconds"]
    return document


def same(pool: Any) -> None:
    for job in JOBS:
        alone = gb.train(**job, eval_instances=200)
        assert bits(gb.train(**job, eval_instances=200, workers=pool)) == bits(alone), job["policy"]


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        yield pool


def test_processes_have_the_same_bits(pool: Any) -> None:
    same(pool)


def test_executors_and_maps_do_as_well() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        same(executor)
    same(map)


def test_comparisons_and_evaluations_too(pool: Any) -> None:
    alone = gb.compare("bernoulli-2", ["softelim", "thompson"], instances=500)
    together = gb.compare("bernoulli-2", ["softelim", "thompson"], instances=500, workers=pool)
    assert together.rows == alone.rows
    one, other = (gb.evaluate("bernoulli-2", "ucb1", instances=500, workers=w).to_dict() for w in (None, pool))
    assert one["bayes_regret"] == other["bayes_regret"]


def test_a_problem_is_sent_once() -> None:
    rounds: list[tuple[int, int]] = []

    def counting(work: Any, tasks: list[Any]) -> list[Any]:
        rounds.append((len(tasks), sum(problem is not None for _, problem, _ in tasks)))
        return list(map(work, tasks))

    gb.train("bernoulli-2", "softelim", iterations=5, eval_instances=100, workers=counting)
    assert rounds[0][1] == rounds[0][0] and len(rounds) > 5
    assert all(sent == 0 for _, sent in rounds[1:])


def test_who_lost_the_problem_gets_it_again() -> None:
    def forgetful(work: Any, tasks: list[Any]) -> list[Any]:
        workers._known.clear()
        return list(map(work, tasks))

    same(forgetful)


def test_a_round_is_tried_again() -> None:
    calls = 0

    def shaky(work: Any, tasks: list[Any]) -> list[Any]:
        nonlocal calls
        calls += 1
        if calls % 3 == 0:
            raise ConnectionError("a machine went away")
        return list(map(work, tasks))

    same(shaky)
    assert calls > 6


def test_what_workers_raise_comes_back() -> None:
    def broken(work: Any, tasks: list[Any]) -> list[Any]:
        raise ConnectionError("all machines went away")

    with pytest.raises(ConnectionError, match="all machines"):
        gb.train("bernoulli-2", "softelim", iterations=3, workers=broken)
    with pytest.raises(gb.Error, match="threads=") as error:
        gb.train("bernoulli-2", "softelim", workers=2)
    assert error.value.place == "workers"


def test_tasks_of_another_problem_are_refused() -> None:
    task = pickle.dumps(gb.Problem("bernoulli-2"))
    with pytest.raises(gb.Error):
        workers.work((b"digest", task, b"no order"))


def test_a_rule_of_ones_own_is_played_here(pool: Any) -> None:
    def greedy(params: Any, seen: Any) -> Any:
        return seen.means * params["width"]

    rule = gb.Rule(params={"width": (1.0, 0.01, 100.0)}, logits=greedy)
    job: dict[str, Any] = {"problem": "bernoulli-2", "policy": rule, "iterations": 2, "batch_size": 8}
    job["eval_instances"] = 50
    assert bits(gb.train(**job, workers=pool)) == bits(gb.train(**job))
