"""Bandit policies that learn how to explore from a sample of past problems."""

from __future__ import annotations

from ._lib import Decision, __version__
from .agent import Agent
from .error import Conflict, Error, UnknownDecision

__all__ = ["Agent", "Conflict", "Decision", "Error", "UnknownDecision", "__version__"]
