"""Problems: samples of past problems that a policy is tuned to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import _data, _lib
from .error import Error

if TYPE_CHECKING:
    import numpy as np

    Draw = Callable[[np.random.Generator, int], Any]


class _Drawing:
    """What the native part calls for an instance: the user's `draw` with a generator of the instance's own."""

    def __init__(self, draw: Draw, arms: int, unit: bool) -> None:
        self.draw, self.arms, self.unit = draw, arms, unit

    def means(self, seed: int, count: int) -> Any:
        import numpy as np

        rng = np.random.Generator(np.random.PCG64(seed))
        try:
            means = np.asarray(self.draw(rng, count), dtype=np.float64)
        except (TypeError, ValueError) as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # The user's own.
            raise Error(f"what it returned is no array of numbers: {error}", "draw") from None
        if means.shape != (count, self.arms):
            raise Error(f"found an array of shape {means.shape}, expected ({count}, {self.arms})", "draw")
        if not np.isfinite(means).all():
            raise Error("found a mean that is not finite", "draw")
        if self.unit and not ((means >= 0) & (means <= 1)).all():
            raise Error("found a mean outside [0, 1], where bernoulli rewards have theirs", "draw")
        return means

    def __call__(self, seed: int) -> list[float]:
        means: list[float] = self.means(seed, 1)[0].tolist()
        return means


class Problem:
    """A sample of past problems. Immutable; equal to another of the same content; can be pickled with its data.

    `Problem("bernoulli-2")` is built in, `Problem("my.toml")` a spec, `Problem({...})` the spec as a dict.
    """

    __slots__ = ("_changes", "_native", "_sampled")
    _native: _lib.Problem
    _changes: dict[str, Any]
    _sampled: tuple[Any, ...] | None

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        if isinstance(source, Mapping):
            native = _lib.Problem.spec(dict(source))
        elif isinstance(source, (str, os.PathLike)):
            native = _lib.Problem.open(os.fspath(source))
        else:
            found = type(source).__name__
            raise Error(f"found {found}, expected a name, the path of a spec, or a dict", "problem")
        self._set(native)

    def _set(self, native: _lib.Problem, changes: dict[str, Any] | None = None, sampled: Any = None) -> None:
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_changes", changes or {})
        object.__setattr__(self, "_sampled", sampled)

    @classmethod
    def _of(cls, native: _lib.Problem, changes: dict[str, Any] | None = None, sampled: Any = None) -> Problem:
        made = cls.__new__(cls)
        made._set(native, changes, sampled)
        return made

    @classmethod
    def table(
        cls,
        data: Any,
        *,
        horizon: int | Mapping[str, Any],
        kind: str = "bernoulli",
        columns: Mapping[str, str] | None = None,
        arms: int | None = None,
        fit: str = "beta",
        holdout: float = 0.3,
        delay: int | Mapping[str, Any] = 0,
        floor: float = 0.0,
        noise_sd: float | None = None,
    ) -> Problem:
        """Past problems: a row for each and a column for each arm, or a row for each problem and arm.

        `data` is a frame (pandas, polars, pyarrow), a 2-d array, a dict of columns, a list of rows, or the path of a CSV.
        `columns` says which columns are which, such as `{"problem": "campaign", "arm": "creative"}`; `arms` makes arms
        exchangeable. `fit` is how the prior over arms is found: "beta", "flat", or "normal", which gaussian rewards have
        anyway.
        """
        content, called = _data.table(data)
        said = None if columns is None else dict(columns)
        prior: dict[str, Any] = {"kind": "table", "path": called, "columns": said}
        usual = fit == "beta" and kind == "gaussian"
        prior |= {"arms": arms, "fit": None if usual else fit, "holdout": holdout}
        spec = {"kind": kind, "horizon": horizon, "delay": delay, "floor": floor, "noise_sd": noise_sd}
        return cls._of(_lib.Problem.spec({"problem": {**spec, "prior": prior}}, content, called))

    @classmethod
    def labelled(
        cls, X: Any, y: Any, *, horizon: int | Mapping[str, Any], scale: str = "minmax", holdout: float = 0.0
    ) -> Problem:
        """Labelled rows: a context is a row of `X`, an arm a class, the reward 1 for the class in `y`."""
        content = _data.labelled(X, y)
        spec = {"kind": "classification", "data": "X", "horizon": horizon, "scale": scale, "holdout": holdout}
        return cls._of(_lib.Problem.spec({"problem": spec}, content, "X"))

    @classmethod
    def sampled(
        cls, draw: Draw, *, arms: int, horizon: int, kind: str = "bernoulli", noise_sd: float | None = None
    ) -> Problem:
        """A simulator of one's own: `draw(rng, count)` returns the arms' means of `count` instances, an array (count, arms).

        `rng` is a numpy Generator that belongs to the instances, so that results depend on the seed alone. Every
        instance is drawn by a call of its own: `count` is 1 in simulations.
        """
        if not callable(draw):
            raise Error(f"found {type(draw).__name__}, expected a function draw(rng, count)", "draw")
        for name, value in (("arms", arms), ("horizon", horizon)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise Error(f"found {value!r}, expected a whole number", name)
        drawing = _Drawing(draw, arms, kind == "bernoulli")
        drawing.means(0, 2)
        native = _lib.Problem.sampled(drawing, arms, horizon, kind, noise_sd)
        return cls._of(native, sampled=(draw, arms, horizon, kind, noise_sd))

    def replace(
        self,
        *,
        horizon: int | Mapping[str, Any] | None = None,
        delay: int | Mapping[str, Any] | None = None,
        batch: int | None = None,
        floor: float | None = None,
    ) -> Problem:
        """The same problem with another horizon, delay, batch or floor."""
        said = {"horizon": horizon, "delay": delay, "batch": batch, "floor": floor}
        said = {key: value for key, value in said.items() if value is not None}
        return self._of(self._native.replace(said), {**self._changes, **said}, self._sampled)

    def __or__(self, other: object) -> Problem:
        """The past problems of two tables with the same columns, together; everything else is as in the first."""
        if not isinstance(other, Problem):
            return NotImplemented
        return self._of(self._native.union(other._native), self._changes)

    @property
    def name(self) -> str:
        """Its name, or what its spec is called."""
        return self._native.name

    @property
    def kind(self) -> str:
        """Its kind of rewards or contexts, as a spec names it."""
        return self._native.kind

    @property
    def arms(self) -> int:
        """The number of arms."""
        return self._native.arms

    @property
    def horizon(self) -> int:
        """The number of rounds of a run."""
        return self._native.horizon

    @property
    def arm_names(self) -> list[str] | None:
        """What the arms are called, if they have names."""
        return self._native.arm_names

    @property
    def context_dim(self) -> int | None:
        """The number of features, if there are contexts."""
        return self._native.context_dim

    @property
    def notes(self) -> list[str]:
        """What there is to know about its data, such as which features are constant."""
        return self._native.notes()

    @property
    def meaning(self) -> list[str]:
        """What it means, in sentences, as `gradband check` says it."""
        return self._native.meaning()

    def to_dict(self) -> dict[str, Any]:
        """The keys that a spec has for it, defaults included."""
        keys: dict[str, Any] = json.loads(self._native.keys())
        return keys

    def _content(self) -> tuple[Any, ...]:
        return (*self._native.content(), self._sampled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._native.content())

    def __repr__(self) -> str:
        return "\n".join([f"<Problem {self._native!r}>", *self.meaning])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Problem cannot be changed; replace({name}=...) makes another")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._native.state(), self._sampled, self._changes)


def _restore(state: Any, sampled: tuple[Any, ...] | None, changes: dict[str, Any]) -> Problem:
    if sampled is not None:
        draw, arms, horizon, kind, noise_sd = sampled
        problem = Problem.sampled(draw, arms=arms, horizon=horizon, kind=kind, noise_sd=noise_sd)
    else:
        name, spec = state
        native = _lib.Problem.open(name) if spec is None else _lib.Problem.restore(spec[0], name, spec[1])
        problem = Problem._of(native)
    return problem.replace(**changes) if changes else problem


def as_problem(problem: Problem | str | os.PathLike[str] | Mapping[str, Any]) -> Problem:
    """What functions take for a problem."""
    return problem if isinstance(problem, Problem) else Problem(problem)
