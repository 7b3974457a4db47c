"""Problems as a vector environment of gymnasium, for libraries of reinforcement learning. Needs `gradband[envs]`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from gymnasium.spaces import Box, Discrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError("gradband.envs needs gymnasium: pip install 'gradband[envs]'") from error

from . import _lib
from .error import Error
from .problem import Problem, as_problem


class VectorBandit(VectorEnv[NDArray[np.float64], NDArray[np.int64], NDArray[Any]]):
    """Instances of a problem, side by side: an episode is a run of `horizon` rounds on a new instance.

    An action is an arm. An observation is what a `Rule` sees of a run, in one row: how often each arm was pulled, the mean of its
    rewards (0 before the first), the rounds that are left, and the features of the round if there are any. A policy that is trained on it is
    judged by `gb.evaluate` as a `Rule`. `infos["gap"]` is how much worse the arm was than the best one: its sum is the regret.

    With `evaluated=True` the instances are those that `gb.evaluate` plays with the same seed, in the same order.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, problem: Problem | str, num_envs: int = 1, seed: int = 1, *, evaluated: bool = False) -> None:
        self.problem = as_problem(problem)
        if num_envs < 1:
            raise Error(f"found {num_envs}, expected at least 1", "num_envs")
        self.num_envs, self.evaluated = num_envs, evaluated
        native = self.problem._native
        self.arms, self.horizon = native.arms, native.horizon
        self.dim = native.context_dim or 0
        low = np.concatenate([np.zeros(self.arms), np.full(self.arms, -np.inf), [0.0], np.full(self.dim, -np.inf)])
        high = np.concatenate([np.full(self.arms, np.inf), np.full(self.arms, np.inf), [np.inf], np.full(self.dim, np.inf)])
        self.single_observation_space = Box(low, high, dtype=np.float64)
        self.single_action_space = Discrete(self.arms)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self._episodes = _lib.Episodes(self.problem._native, seed, self.evaluated)
        self._first, self._over = 0, True

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """The next instances; with a seed, the first of that seed."""
        if isinstance(seed, list):
            raise Error("found a list, expected one number: it seeds all environments", "seed")
        if seed is not None:
            self._begin(seed)
        self._batch = self._episodes.draw(self._first, self.num_envs)
        self._first += self.num_envs
        self._round, self._over = 0, False
        self._pulls = np.zeros((self.num_envs, self.arms))
        self._sums = np.zeros((self.num_envs, self.arms))
        return self._observed(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Pulls an arm in each environment. After the last round the next step begins another episode, whatever its actions."""
        nothing, never = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=np.bool_)
        if self._over:
            observed, infos = self.reset()
            return observed, nothing, never, never.copy(), infos
        arms = np.asarray(actions).astype(np.int64, casting="same_kind")
        rewards, gaps = (np.frombuffer(part) for part in self._batch.pull(self._round, arms.tolist()))
        rows = np.arange(self.num_envs)
        self._pulls[rows, arms] += 1.0
        self._sums[rows, arms] += rewards
        self._round += 1
        self._over = self._round == self.horizon
        ended = np.full(self.num_envs, self._over)
        return self._observed(), rewards.copy(), ended, never, {"gap": gaps.copy()}

    def _observed(self) -> NDArray[np.float64]:
        means = self._sums / np.maximum(self._pulls, 1.0)
        left = np.full((self.num_envs, 1), float(self.horizon - self._round))
        parts = [self._pulls, means, left]
        if self.dim:
            # After the last round there is no other: its features stay.
            contexts = self._batch.contexts(min(self._round, self.horizon - 1))
            parts.append(np.frombuffer(contexts).reshape(self.num_envs, self.dim))
        return np.concatenate(parts, axis=1)
