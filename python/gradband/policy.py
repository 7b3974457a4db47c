"""Policies: values with parameters that play problems."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _lib
from .error import Error
from .rule import Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .problem import Problem


class Policy:
    """A policy with its parameters, and what it was trained for. Immutable; `policy.json` is its serial form.

    Trainings have one, `gb.load(path)` reads one, and `Policy("softelim(w=0.5)", problem)` makes one by its name.
    """

    __slots__ = ("_native",)
    _native: _lib.Policy

    def __init__(self, source: str | dict[str, Any] | Rule, problem: Problem | str | None = None) -> None:
        if isinstance(source, dict):
            native = _lib.Policy.parse(json.dumps(source))
        elif isinstance(source, (str, Rule)):
            if problem is None:
                raise Error("is missing; a policy by its name belongs to a problem", "problem")
            from .problem import as_problem

            known = as_problem(problem)._native
            if isinstance(source, Rule):
                native = _lib.Policy.ruled(source._native, known)
            else:
                native = _lib.Policy.named(source, known)
        else:
            raise Error(f"found {type(source).__name__}, expected a name or what to_dict() gave", "policy")
        object.__setattr__(self, "_native", native)

    @classmethod
    def _of(cls, native: _lib.Policy) -> Policy:
        made = cls.__new__(cls)
        object.__setattr__(made, "_native", native)
        return made

    @property
    def kind(self) -> str:
        """Its name in the catalogue."""
        return self._native.kind

    @property
    def params(self) -> dict[str, float | NDArray[np.float64]]:
        """Its parameters by name: numbers, and arrays of their shapes."""
        import numpy as np

        names, shapes, numbers = self._native.params()
        params: dict[str, float | NDArray[np.float64]] = {}
        start = 0
        for name, shape in zip(names, shapes, strict=True):
            size = int(np.prod(shape, dtype=int))
            part = numbers[start : start + size]
            start += size
            params[name] = np.array(part, dtype=np.float64).reshape(shape) if shape else part[0]
        return params

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits that change with what it does."""
        return self._native.version

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `policy.json`, and the weights of a network beside it, into a directory, which is made if it is not there."""
        self._native.save(os.fspath(path))

    def to_dict(self) -> dict[str, Any]:
        """The content of `policy.json`; the weights of a network are in it, too."""
        content: dict[str, Any] = json.loads(self._native.json())
        return content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.version == other.version

    def __hash__(self) -> int:
        return hash(self.version)

    def __repr__(self) -> str:
        import numpy as np

        shown = (
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}: {'x'.join(map(str, np.shape(value)))}"
            for name, value in self.params.items()
        )
        return f"<Policy {self.kind}({', '.join(shown)}) {self.version}>"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Policy cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._native.json(),)


def _restore(text: str) -> Policy:
    return Policy._of(_lib.Policy.parse(text))


def load(path: str | os.PathLike[str]) -> Policy:
    """The policy in a directory that `save` or `gradband train -o` wrote, or in the policy file at a path."""
    return Policy._of(_lib.Policy.load(os.fspath(path)))
