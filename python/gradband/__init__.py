"""Bandit policies that learn how to explore from a sample of past problems."""

from __future__ import annotations

from ._lib import __version__
from .error import Conflict, Error, UnknownDecision

__all__ = ["Conflict", "Error", "UnknownDecision", "__version__"]
