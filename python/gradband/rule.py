"""A policy of one's own: parameters, and the logits of the arms for many runs at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _lib
from .error import Error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Seen(NamedTuple):
    """What a rule has seen of many runs: arrays of shape (runs, arms), which cannot be written to.

    `pulls` counts every pull at once; `sums` and `means` are those of the rewards, where those that are not known yet count as the
    mean of the others. `round` rounds were played, `horizon` are to be played.
    """

    round: int
    horizon: int
    pulls: NDArray[np.float64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]


#: Of the rules that this process has made, which other processes do not know.
names: set[str] = set()


class Rule:
    """A policy of one's own: an arm is pulled with a probability in proportion to exp(logit).

    `params` gives each parameter where it starts, its least and its largest value. `logits(params, seen)` gives an array of shape
    (runs, arms); `gradient(params, seen)`, if it is given, one such array of derivatives by the name of each parameter, and
    differences of the logits stand in for it if not. Each arm is pulled once before the rule is asked, unless `each_arm_once` is
    False. It trains, compares and plays like any other policy; this process knows it by its `name`.

    >>> import numpy as np
    >>> import gradband as gb
    >>> def bounds(params, seen):
    ...     return (seen.means + params["width"] / np.sqrt(seen.pulls)) / 0.1
    >>> rule = gb.Rule({"width": (1.0, 0.01, 100.0)}, bounds)
    >>> rule.name
    'bounds'
    """

    __slots__ = ("_native", "each_arm_once", "gradient", "logits", "name", "params")

    def __init__(
        self,
        params: Mapping[str, tuple[float, float, float]],
        logits: Callable[[dict[str, float], Seen], ArrayLike],
        gradient: Callable[[dict[str, float], Seen], Mapping[str, ArrayLike]] | None = None,
        *,
        name: str | None = None,
        each_arm_once: bool = True,
    ) -> None:
        self.params = {key: _param(key, value) for key, value in params.items()}
        self.logits, self.gradient, self.each_arm_once = logits, gradient, each_arm_once
        for key, function in [("logits", logits), ("gradient", gradient)]:
            if not callable(function) and (key, function) != ("gradient", None):
                raise Error(f"found {type(function).__name__}, expected a function of parameters and what was seen", key)
        self.name = getattr(logits, "__name__", "rule") if name is None else name
        if not re.fullmatch(r"[A-Za-z_][\w-]*", self.name):
            raise Error(f"found {self.name!r}, expected letters, digits, - and _", "name")
        names.add(self.name)
        parts = [(key, *numbers) for key, numbers in self.params.items()]
        slopes = None if gradient is None else self._slopes
        self._native = _lib.Rule(self.name, parts, each_arm_once, self._logits, slopes)

    @property
    def kind(self) -> str:
        """What results and files call it."""
        return self.name

    def _seen(self, shape: tuple[int, int, int], *columns: bytes) -> Seen:
        import numpy as np

        round, horizon, arms = shape
        return Seen(round, horizon, *(np.frombuffer(column).reshape(-1, arms) for column in columns))

    def _logits(self, numbers: list[float], shape: tuple[int, int, int], *columns: bytes) -> bytes:
        seen = self._seen(shape, *columns)
        return _array("logits", self.logits(dict(zip(self.params, numbers)), seen), seen).tobytes()

    def _slopes(self, numbers: list[float], shape: tuple[int, int, int], *columns: bytes) -> bytes:
        assert self.gradient is not None
        seen = self._seen(shape, *columns)
        given = self.gradient(dict(zip(self.params, numbers)), seen)
        if not isinstance(given, Mapping) or set(given) != set(self.params):
            raise Error(f"found {given!r:.60}, expected an array for each of {', '.join(self.params)}", "gradient")
        return b"".join(_array(f"gradient.{key}", given[key], seen).tobytes() for key in self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.params, self.logits, self.gradient, self.name, self.each_arm_once)

    def __repr__(self) -> str:
        params = ", ".join(f"{key}={start:g} in [{low:g}, {high:g}]" for key, (start, low, high) in self.params.items())
        return f"<Rule {self.name}({params})>"


def _made(params: Any, logits: Any, gradient: Any, name: str, each_arm_once: bool) -> Rule:
    return Rule(params, logits, gradient, name=name, each_arm_once=each_arm_once)


def _param(name: str, value: Any) -> tuple[float, float, float]:
    expected = "expected where it starts, its least and its largest value, such as (1.0, 0.01, 100.0)"
    try:
        start, low, high = (float(x) for x in value)
    except (TypeError, ValueError):
        raise Error(f"found {value!r:.60}, {expected}", f"params.{name}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= start <= high and low < high):
        raise Error(f"found {value!r:.60}, {expected}", f"params.{name}")
    return start, low, high


def _array(place: str, given: ArrayLike, seen: Seen) -> NDArray[np.float64]:
    import numpy as np

    try:
        array = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise Error(f"found {type(given).__name__}, expected an array of numbers", place) from None
    if array.shape != seen.pulls.shape:
        raise Error(f"found the shape {array.shape}, expected (runs, arms): {seen.pulls.shape}", place)
    return array
