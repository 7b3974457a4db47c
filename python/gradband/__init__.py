"""Bandit policies that learn how to explore from a sample of past problems."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._lib import Decision, __version__
from .agent import Agent
from .error import Conflict, Error, UnknownDecision
from .jobs import compare, evaluate, exact, gittins, gradient, run, train
from .policy import Policy, load
from .problem import Problem
from .results import Comparison, Estimate, Evaluation, Exact, Gradient, Point, Training
from .rule import Rule

__all__ = [
    "Agent",
    "Comparison",
    "Conflict",
    "Decision",
    "Error",
    "Estimate",
    "Evaluation",
    "Exact",
    "Gradient",
    "Point",
    "Policy",
    "Problem",
    "Rule",
    "Training",
    "UnknownDecision",
    "__version__",
    "compare",
    "evaluate",
    "exact",
    "gittins",
    "gradient",
    "load",
    "run",
    "train",
]

if TYPE_CHECKING:
    from . import envs as envs
else:

    def __getattr__(name):
        # What needs gymnasium is imported when somebody asks for it.
        if name == "envs":
            return importlib.import_module(".envs", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
