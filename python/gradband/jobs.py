"""What is computed: keywords are the command's flags with `_`, results have the keys of its JSON."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _lib
from .error import Error
from .policy import Policy
from .problem import Problem, as_problem
from .results import Comparison, Evaluation, Exact, Gradient, Training
from .rule import Rule
from .rule import names as rules
from .workers import Crew

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What functions take for a problem.
AnyProblem = Problem | str | os.PathLike[str] | Mapping[str, Any]
#: What functions take for a policy: its name with its parameters, or one that was trained or loaded.
AnyPolicy = str | Policy | Rule
#: Called now and then with how far the work is: what, unit, done, total.
Progress = Callable[[dict[str, Any]], object]


def _native(policy: object, key: str = "policy") -> Any:
    """A policy as the native part takes it."""
    if isinstance(policy, str):
        return policy
    native = getattr(policy, "_native", None)
    if native is None:
        found = type(policy).__name__
        raise Error(f"found {found}, expected a name such as 'softelim(w=0.5)' or a gradband.Policy", key)
    return native


def _tell(remarks: list[str]) -> None:
    for remark in remarks:
        text = remark.removeprefix("note: ").replace("--policies ", "policies=")
        warnings.warn(text, stacklevel=3)


def _call(progress: Progress | None) -> Progress | None:
    if progress is not None and not callable(progress):
        raise Error(f"found {type(progress).__name__}, expected a function of a dict", "progress")
    return progress


def _crew(workers: Any, problem: Problem, policies: Sequence[object]) -> Crew | None:
    """The workers, unless a policy is a rule of this process: that is played here."""
    crew = None if workers is None else Crew(workers, problem)
    own = any(isinstance(policy, Rule) or getattr(policy, "kind", None) in rules for policy in policies)
    return None if own else crew


def train(
    problem: AnyProblem,
    policy: AnyPolicy = "auto",
    *,
    params: Any = None,
    gradient: str | None = None,
    baseline: str | None = None,
    runs_per_instance: int | None = None,
    returns: str | None = None,
    batch_size: int | None = None,
    start: str | None = None,
    optimizer: str | None = None,
    learning_rate: float | str | None = None,
    iterations: int | None = None,
    average: str | None = None,
    eval_instances: int | None = None,
    time_limit: float | None = None,
    recipe: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    workers: Any = None,
    progress: Progress | None = None,
) -> Training:
    """Learns a policy, and measures what the learning was worth.

    "auto" is the policy that the problem's spec names; if it names none, every class that applies and is quick to
    train is tried, and the best is handed out. Ctrl-C returns what was learned so far, with a warning. `workers` is a pool,
    an executor or a function like `map` (multiprocessing, Dask, Ray, MPI): it does the simulating, with the same result.
    """
    opened = as_problem(problem)
    said = {
        "params": params, "gradient": gradient, "baseline": baseline, "runs_per_instance": runs_per_instance,
        "returns": returns, "batch_size": batch_size, "start": start, "optimizer": optimizer,
        "learning_rate": learning_rate, "iterations": iterations, "average": average,
        "eval_instances": eval_instances, "time_limit": time_limit, "recipe": recipe, "seed": seed,
        "threads": threads, "workers": _crew(workers, opened, [policy]),
    }  # fmt: skip
    named = None if policy == "auto" and opened._native.names_policy() else _native(policy)
    done = _lib.train(opened._native, named, said, _call(progress))
    document = json.loads(done.json())
    if document["stop_reason"] == "interrupted":
        count = len(document["history"])
        warnings.warn(f"interrupted after {count} iterations; this is what was learned so far", stacklevel=2)
    else:
        _tell(done.remarks())
    shown = ", ".join(f"{key}={value!r}" for key, value in said.items() if value is not None and key not in ("threads", "workers"))
    command = f"gradband.train({opened.name!r}, {policy if isinstance(policy, str) else policy.kind!r}, {shown})"
    return Training(document, opened, Policy._of(done.policy()), done, command)


def evaluate(
    problem: AnyProblem,
    policy: AnyPolicy | None = None,
    *,
    params: Any = None,
    instances: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    workers: Any = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures the Bayes regret of a policy; of the one that the problem's spec names, if none is given."""
    opened = as_problem(problem)
    said = {"params": params, "instances": instances, "seed": seed, "threads": threads}
    said["workers"] = _crew(workers, opened, [policy])
    named = None if policy is None else _native(policy)
    text, observations, remarks = _lib.evaluate(opened._native, named, said, _call(progress))
    _tell(remarks)
    return Evaluation(json.loads(text), observations)


def compare(
    problem: AnyProblem,
    policies: Sequence[AnyPolicy] | str | None = None,
    *,
    instances: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    workers: Any = None,
    progress: Progress | None = None,
) -> Comparison:
    """Measures several policies on the same instances: those given, or all that apply and need no long preparation.

    The first that is a `Policy`, not a name, is the one that the verdict is about.
    """
    listed = [policies] if isinstance(policies, (str, Policy)) else policies
    if listed is not None and not isinstance(listed, Sequence):
        raise Error(f"found {type(listed).__name__}, expected a list of policies", "policies")
    if listed is not None and not listed:
        raise Error("is empty; expected at least one policy", "policies")
    names = None if listed is None else [_native(each, "policies") for each in listed if isinstance(each, str)]
    tuned = [_native(each, "policies") for each in listed or [] if not isinstance(each, str)]
    opened = as_problem(problem)
    said: dict[str, Any] = {"instances": instances, "seed": seed, "threads": threads}
    said["workers"] = _crew(workers, opened, listed or [])
    document, session, pairs, remarks = _lib.compare(opened._native, names, tuned, said, _call(progress))
    _tell(remarks)
    return Comparison(json.loads(document), session, json.loads(pairs))


def gradient(
    problem: AnyProblem,
    policy: AnyPolicy,
    *,
    params: Any = None,
    baseline: str | None = None,
    runs_per_instance: int | None = None,
    returns: str | None = None,
    batch_size: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Gradient:
    """Estimates the gradient of the Bayes reward at a policy's parameters."""
    said = {
        "params": params, "baseline": baseline, "runs_per_instance": runs_per_instance, "returns": returns,
        "batch_size": batch_size, "seed": seed, "threads": threads,
    }  # fmt: skip
    native = as_problem(problem)._native
    text, observations, remarks = _lib.gradient(native, _native(policy), said, _call(progress))
    _tell(remarks)
    return Gradient(json.loads(text), observations)


def exact(
    problem: AnyProblem,
    policy: AnyPolicy | None = None,
    *,
    params: Any = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Exact:
    """Bayes regret, reward and gradient without sampling error: Bernoulli rewards, few arms."""
    said = {"params": params, "threads": threads}
    named = None if policy is None else _native(policy)
    text, remarks = _lib.exact(as_problem(problem)._native, named, said, _call(progress))
    _tell(remarks)
    return Exact(json.loads(text))


def gittins(
    horizon: int, *, threads: int | None = None, progress: Progress | None = None
) -> NDArray[np.float32]:
    """The Gittins indices of a Beta(1, 1) arm in a run of `horizon` rounds, by its successes and failures so far.

    An array of shape (horizon, horizon); NaN where no round is left.
    """
    import numpy as np

    size, indices = _lib.gittins({"horizon": horizon, "threads": threads}, _call(progress))
    return np.array(indices, dtype=np.float32).reshape(size, size)


def run(job: Mapping[str, Any]) -> Training:
    """`train(**job)`: many trainings by any map, `pool.map(gb.run, jobs)`."""
    if not isinstance(job, Mapping):
        raise Error(f"found {type(job).__name__}, expected a dict of what train takes", "job")
    unknown = sorted(set(job) - set(train.__annotations__) - {"return"})
    if unknown:
        raise Error(f"unknown name {unknown[0]!r}; train takes no such argument", f"job.{unknown[0]}")
    if "problem" not in job:
        raise Error("is missing; a job has one at least", "job.problem")
    return train(**job)
