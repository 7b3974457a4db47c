"""Waiting for work: progress, exceptions, Ctrl-C, forks."""

from __future__ import annotations

import _thread
import multiprocessing
import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
from conftest import QUICK, timeless

import gradband as gb

LONG: dict[str, Any] = {"iterations": 100_000, "batch_size": 50, "eval_instances": 200}


def test_progress_is_told() -> None:
    told: list[dict[str, Any]] = []
    gb.train("bernoulli-2", "softelim", **LONG, time_limit=1.0, progress=told.append)
    trainings = [each for each in told if each["what"] == "training"]
    assert trainings
    assert [each["done"] for each in trainings] == sorted(each["done"] for each in trainings)
    assert all(each["total"] == LONG["iterations"] and each["unit"] == "iterations" for each in trainings)


def test_an_exception_of_a_callback_comes_back_as_itself() -> None:
    failure = LookupError("mine")

    done: list[int] = []

    def progress(told: dict[str, Any]) -> None:
        done.append(told["done"])
        raise failure

    with pytest.raises(LookupError) as caught:
        gb.train("bernoulli-2", "softelim", **LONG, progress=progress)
    assert caught.value is failure
    assert len(done) == 1 and done[0] < LONG["iterations"]


def test_an_exception_of_a_sampler_comes_back_as_itself() -> None:
    calls = []

    def draw(rng: np.random.Generator, count: int) -> Any:
        calls.append(count)
        if len(calls) > 50:
            raise ZeroDivisionError("mine")
        return rng.random((count, 2))

    problem = gb.Problem.sampled(draw, arms=2, horizon=20)
    with pytest.raises(ZeroDivisionError, match="mine"):
        gb.train(problem, "softelim", **LONG)
    assert len(calls) < 60


def test_ctrl_c_returns_what_was_learned() -> None:
    def interrupt(progress: dict[str, Any]) -> None:
        if progress["what"] == "training" and not sent:
            sent.append(progress["done"])
            _thread.interrupt_main()

    sent: list[int] = []
    with pytest.warns(UserWarning, match="interrupted after"):
        trained = gb.train("bernoulli-2", "softelim", **LONG, progress=interrupt)
    assert trained.stop_reason == "interrupted"
    assert 0 < len(trained.history) < LONG["iterations"]
    assert gb.evaluate("bernoulli-2", trained.policy, instances=100).instances == 100


def test_a_signal_ends_a_training() -> None:
    timer = threading.Timer(0.8, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(UserWarning, match="interrupted after"):
        trained = gb.train("bernoulli-2", "softelim", **LONG)
    assert len(trained.history) < LONG["iterations"]
    assert trained.final.bayes_regret.mean > 0


def test_ctrl_c_is_not_lost_if_there_is_nothing_to_return() -> None:
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gb.evaluate("bernoulli-2", "softelim", instances=50_000_000)


def pulls(seed: int) -> Any:
    return timeless(gb.train("bernoulli-2", "softelim", **QUICK, seed=seed).to_dict())


def test_after_a_fork_nothing_hangs() -> None:
    ours = [pulls(seed) for seed in range(3)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(pulls, range(3)).get(timeout=120) == ours


def test_many_trainings_by_any_map() -> None:
    jobs = [{"problem": gb.Problem("bernoulli-2"), "policy": "softelim", "seed": seed, **QUICK} for seed in range(3)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        done = pool.map_async(gb.run, jobs).get(timeout=120)
    for job, training in zip(jobs, done, strict=True):
        assert timeless(training.to_dict()) == timeless(gb.run(job).to_dict())
        assert "<svg" in training._repr_html_()


def test_threads_train_side_by_side() -> None:
    done: dict[int, Any] = {}
    threads = [threading.Thread(target=lambda i=i: done.update({i: pulls(i)})) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == {i: pulls(i) for i in range(3)}
