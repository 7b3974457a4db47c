"""Bandit policies that learn how to explore from a sample of past problems."""

from __future__ import annotations

from ._lib import __version__
from .error import Conflict, Error, UnknownDecision
from .jobs import compare, evaluate, exact, gittins, gradient, run, train
from .policy import Policy, load
from .problem import Problem
from .results import Comparison, Estimate, Evaluation, Exact, Gradient, Point, Training

__all__ = [
    "Comparison",
    "Conflict",
    "Error",
    "Estimate",
    "Evaluation",
    "Exact",
    "Gradient",
    "Point",
    "Policy",
    "Problem",
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
