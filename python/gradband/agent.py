"""A policy in use: one decision at a time, with its exact probability; rewards late, twice or never."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _lib
from ._lib import Decision
from .error import Error
from .policy import Policy, load
from .rule import Rule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .jobs import AnyProblem

    Context = Union[Mapping[str, float], Sequence[float], npt.NDArray[np.floating[Any]]]

__all__ = ["Agent", "Decision"]

After = Literal["continue", "commit", "restart", "stop"]
Status = Literal["applied", "duplicate", "late"]

# Copies explore differently: in a forked process every agent draws another key before it decides again.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lib.forked)


class Agent(_lib.Agent):
    """A policy that plays: `pull` decides, `update` reports a reward. Threads may share it.

    `policy` is a `Policy`, the path of a policy file, or a name as typed (`"softelim(w=0.5)"`) or a `Rule` with the `problem` that
    it is for.
    `arms` are names; those of the problem if they are left out. `floor` is the least probability of an arm. With a `seed`
    everything replays, bit for bit; without, every copy of the agent explores differently. With `wait` (seconds, a `timedelta` or a
    text such as `"24h"`) and `default_reward`, silence means that reward, and time is an argument of every call (`at=time.time()`).
    `after` says what happens after the horizon, `limit` for how many newer decisions a reward is waited for.

    >>> import gradband as gb
    >>> agent = gb.Agent("softelim(w=0.5)", ["red", "green"], problem=gb.Problem("bernoulli-2"), seed=7)
    >>> decision = agent.pull()
    >>> decision.probability
    0.5
    >>> agent.update(decision.id, 1.0)
    'applied'
    """

    __slots__ = ()

    def __new__(
        cls,
        policy: Policy | Rule | str | os.PathLike[str],
        arms: Sequence[str] | None = None,
        *,
        problem: AnyProblem | None = None,
        floor: float | None = None,
        seed: int | None = None,
        wait: float | str | timedelta | None = None,
        default_reward: float | None = None,
        after: After | None = None,
        limit: int | None = None,
    ) -> Agent:
        if (wait is None) != (default_reward is None):
            given, missing = ("default_reward", "wait") if wait is None else ("wait", "default_reward")
            raise Error(f"is missing; it belongs to {given}", missing)
        window = None if wait is None or default_reward is None else (_seconds(wait), default_reward)
        native = _native(policy, problem)
        agent = super().__new__(cls, native, arms, floor, seed, window, after, limit)
        for note in agent._notes():
            warnings.warn(note, stacklevel=2)
        return agent

    def pull_many(
        self,
        contexts: int | Iterable[Context],
        *,
        arms: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        units: Sequence[str] | None = None,
        at: float | None = None,
    ) -> list[Decision]:
        """Many decisions, one after the other: one for each context, or so many without. All are made or none."""
        rows = [None] * contexts if isinstance(contexts, int) else _rows(contexts)
        count = len(rows)
        parts = zip(rows, [arms] * count, _column("ids", ids, count), _column("units", units, count), [at] * count)
        return self._pull_many(list(parts))

    def update_many(
        self, ids: Iterable[str], rewards: Iterable[float], *, at: float | None = None
    ) -> list[str]:
        """Many rewards: "applied", "duplicate", "late", or "unknown" and "conflict" where `update` raises an error.

        A reward that is no number is an error here too. Those before it count; report them again, they count once.
        """
        names = _rows(ids)
        return self._update_many(names, _column("rewards", rewards, len(names)), at)

    def learn(self, rows: Any) -> int:
        """A warm start from the rows of a log; how many had a reward. Nothing is learned if one of them is wrong.

        A row is (arm, reward, context, probability), or has these names: the rows of `log`, dicts, or a DataFrame, in which other
        columns than a log's are the context.
        """
        return self._learn([_row(row) for row in _records(rows)])

    def replace(
        self, policy: Policy | Rule | str | os.PathLike[str], *, problem: AnyProblem | None = None
    ) -> None:
        """Another policy takes over, with all that is known."""
        self._replace(_native(policy, problem))

    def log(self) -> list[dict[str, Any]]:
        """The decisions that are remembered, and what became of them."""
        rows: list[dict[str, Any]] = json.loads(self._log())
        return rows

    def stats(self) -> dict[str, Any]:
        """What the agent has done so far, and what it knows of its arms."""
        stats: dict[str, Any] = json.loads(self._stats())
        return stats

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Agent:
        """The agent that `save` wrote. Without a seed it explores on in another way than the one that was saved."""
        return cls._saved((os.fspath(path), True))

    @classmethod
    def _saved(cls, source: tuple[str, bool]) -> Agent:
        return super().__new__(cls, source, None, None, None, None, None, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._saved, ((self._text(), False),)

    def __repr__(self) -> str:
        stats = self.stats()
        arms = ", ".join(arm["name"] for arm in stats["arms"] if arm["active"])
        return f"<Agent {stats['policy']} {stats['version']} on {arms}: {stats['decisions']} decisions>"


def _seconds(wait: float | str | timedelta) -> float:
    if isinstance(wait, timedelta):
        return wait.total_seconds()
    if not isinstance(wait, str):
        return wait
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    try:
        return float(wait[:-1]) * units[wait[-1:]]
    except (KeyError, ValueError):
        raise Error(f"found '{wait}', expected a time such as 90s, 30m, 24h or 7d", "wait") from None


def _rows(many: Iterable[Any]) -> list[Any]:
    """An array as lists, anything else one by one."""
    if hasattr(many, "tolist"):
        many = many.tolist()
    if isinstance(many, (str, bytes, Mapping)) or not isinstance(many, Iterable):
        raise Error(f"found {type(many).__name__}, expected a list or an array", "contexts")
    return list(many)


def _column(name: str, values: Iterable[Any] | None, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    column = _rows(values)
    if len(column) != count:
        raise Error(f"found {len(column)}, expected {count}", name)
    return column


# What a row of a log is made of; other columns of a table are features.
_PARTS = ("id", "round", "arm", "probability", "version", "context", "reward", "late", "withdrawn")


def _records(rows: Any) -> Iterable[Any]:
    """The rows of a DataFrame as dicts, whichever library made it."""
    if hasattr(rows, "to_dicts"):
        return _unnested(rows.to_dicts())
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return _unnested(rows.to_dict("records"))
    return _rows(rows)


def _unnested(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def record(row: dict[str, Any]) -> dict[str, Any]:
        features = {name: value for name, value in row.items() if name not in _PARTS}
        known = {name: value for name, value in row.items() if name in _PARTS}
        return {**known, "context": features} if features else known

    return [record(row) for row in records]


def _row(row: Any) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        # A table has no other way to say that there is no reward.
        reward = row.get("reward")
        reward = None if reward != reward else reward
        return row.get("arm"), reward, row.get("context"), row.get("probability")
    return tuple(row)


def _native(policy: Any, problem: Any) -> _lib.Policy:
    if isinstance(policy, Rule) or (isinstance(policy, str) and problem is not None):
        policy = Policy(policy, problem)
    elif isinstance(policy, (str, os.PathLike)):
        policy = load(policy)
    if not isinstance(policy, Policy):
        found = type(policy).__name__
        raise Error(f"found {found}, expected a policy, a policy file, or a name with problem=", "policy")
    return policy._native
