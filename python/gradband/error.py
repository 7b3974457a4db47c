"""What is wrong, and where."""

from __future__ import annotations


class Error(ValueError):
    """Something that was asked for and cannot be had. `place` says where (a key, a file and line), `message` why."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message, place)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class UnknownDecision(Error):
    """A reward for a decision that an agent never made, or has forgotten."""


class Conflict(Error):
    """A reward for a decision that has another one already, or was withdrawn."""
