"""What trainings and measurements found: attributes with the names of the command's JSON, which `to_dict()` is."""

from __future__ import annotations

import copy
import html
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _lib
from .error import Error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .policy import Policy
    from .problem import Problem

#: Without a number of observations an interval is that of many.
_MANY = 1_000_000_000


def _short(policy: str) -> str:
    """For people, who do not read sixteen digits."""
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda number: f"{float(number.group()):.4g}", policy)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, of so many independent observations if that is known."""

    mean: float
    std_error: float
    observations: int | None = field(default=None, compare=False, repr=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval (Student's t)."""
        many = _MANY if self.observations is None else self.observations
        return _lib.interval(self.mean, self.std_error, many)

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.std_error:.4f}"


def _estimate(value: Any, observations: int | None) -> Any:
    """Means with standard errors become estimates, in lists and dicts, too."""
    if isinstance(value, Mapping):
        if set(value) == {"mean", "std_error"} and isinstance(value["mean"], float):
            error = float("inf") if value["std_error"] is None else value["std_error"]
            return Estimate(value["mean"], error, observations)
        return {key: _estimate(inner, observations) for key, inner in value.items()}
    if isinstance(value, list):
        return [_estimate(inner, observations) for inner in value]
    return value


@dataclass(frozen=True)
class Point:
    """A policy of a training, measured."""

    bayes_regret: Estimate
    bayes_reward: Estimate
    instances: int
    params: list[float] = field(default_factory=list)


class Result:
    """Attributes named as the JSON's keys."""

    _document: dict[str, Any]
    seconds: float

    def __init__(self, document: dict[str, Any], observations: int | None = None) -> None:
        self._document = document
        #: Independent ones, for intervals.
        self._observations = observations
        for key, value in document.items():
            if key not in type(self)._own:
                setattr(self, key, _estimate(value, observations))

    #: Keys that the class sets itself.
    _own: frozenset[str] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """What the command prints with `--json`."""
        return copy.deepcopy(self._document)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        header, rows = self._table()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                 for row in [header, *rows])
        return "\n".join([f"<{type(self).__name__}>", *lines])

    def _repr_html_(self) -> str:
        header, rows = self._table()
        cells = [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table>"


class Evaluation(Result):
    """The Bayes regret of one policy."""

    policy: dict[str, Any]
    bayes_regret: Estimate
    bayes_reward: Estimate
    quantiles: dict[str, float]
    instances: int

    def _table(self) -> tuple[list[str], list[list[str]]]:
        name = self._document["policy"]["kind"]
        return ["policy", "Bayes regret", "Bayes reward"], [[name, str(self.bayes_regret), str(self.bayes_reward)]]


class Exact(Result):
    """Bayes regret, reward and gradient without sampling error."""

    policy: dict[str, Any]
    bayes_regret: float
    bayes_reward: float
    gradient: list[float]
    states: int

    def _table(self) -> tuple[list[str], list[list[str]]]:
        row = [self._document["policy"]["kind"], f"{self.bayes_regret:.8f}", f"{self.bayes_reward:.8f}"]
        return ["policy", "Bayes regret", "Bayes reward"], [row]


class Gradient(Result):
    """An estimate of the gradient of the Bayes reward."""

    policy: dict[str, Any]
    mean: list[float]
    std_error: list[float]
    variance_per_instance: list[float]
    policy_runs_per_instance: int
    instances: int

    @property
    def estimates(self) -> list[Estimate]:
        """Each number with its standard error."""
        return [Estimate(m, s, self._observations) for m, s in zip(self.mean, self.std_error, strict=True)]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[str(i), str(estimate)] for i, estimate in enumerate(self.estimates)]
        return ["number", "gradient of the Bayes reward"], rows


class _Reported(Result):
    """A result with a report."""

    def _session(self) -> str:
        raise NotImplementedError

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the report, one HTML page that needs nothing else."""
        page = _lib.page(self._session())
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        except OSError as error:
            raise Error(f"cannot be written: {error.strerror}", str(path)) from None

    def _repr_html_(self) -> str:
        figures = _lib.figures(self._session())
        # Identifiers are unique on a page, and a notebook may show several results.
        own = f"gb{id(self):x}"
        drawn = (re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{own}-", svg) for _, svg in figures[:1])
        return super()._repr_html_() + "".join(drawn)

    def plot(self) -> Figure:
        """The policies' Bayes regret with 95 % intervals, by matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plot() needs matplotlib: pip install 'gradband[plot]'") from None
        bars = self._bars()
        names, estimates = [_short(name) for name, _ in bars], [estimate for _, estimate in bars]
        size = (4 + 0.09 * max(map(len, names)), 0.8 + 0.35 * len(names))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        errors = [estimate.mean - estimate.interval[0] for estimate in estimates]
        places = range(len(names))
        axes.errorbar([estimate.mean for estimate in estimates], places, xerr=errors, fmt="o", capsize=3)
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set_xlabel("Bayes regret")
        return figure

    def _bars(self) -> list[tuple[str, Estimate]]:
        raise NotImplementedError


class Comparison(_Reported):
    """Several policies on the same instances."""

    problem: dict[str, Any]
    #: The policies, the best first.
    rows: list[dict[str, Any]]
    verdict: dict[str, Any]
    sharpened: dict[str, Any] | None
    ground: Any
    observations: int
    instances: int
    seed: int
    version: str

    def __init__(self, document: dict[str, Any], session: str, pairs: tuple[list[str], list[list[Any]]]) -> None:
        super().__init__(document, document["observations"])
        self._report, self._pairs = session, pairs

    def _session(self) -> str:
        return self._report

    def difference(self, a: str | int, b: str | int) -> Estimate:
        """The regret of policy `a` minus that of `b`, paired. Policies are named as in `rows`, or by their row."""
        names, differences = self._pairs
        i, j = (self._place(policy, names) for policy in (a, b))
        estimate: Estimate = _estimate(differences[i][j], self.observations)
        return estimate

    def _place(self, policy: str | int, names: list[str]) -> int:
        if isinstance(policy, int) and 0 <= policy < len(self.rows):
            policy = str(self.rows[policy]["policy"])
        if policy not in names:
            raise Error(f"found {policy!r}, expected one of {', '.join(names)}", "policy")
        return names.index(str(policy))

    def _bars(self) -> list[tuple[str, Estimate]]:
        return [(row["policy"], row["bayes_regret"]) for row in self.rows]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[_short(row["policy"]), str(row["bayes_regret"]), str(row["difference"])] for row in self.rows]
        return ["policy", "Bayes regret", "behind the best"], rows


class Training(_Reported):
    """A training: what was learned, and what it is worth."""

    _own = frozenset({"policy", "problem", "initial", "final", "last"})
    #: The policy that was learned.
    policy: Policy
    #: The problem that it was learned on.
    problem: Problem
    initial: Point
    final: Point
    last: Point
    gain: Estimate
    gain_interval: list[float]
    verdict: dict[str, Any]
    sharpened: dict[str, Any] | None
    ground: Any
    observations: int
    troubles: list[Any]
    tried: list[dict[str, Any]] | None
    learning_rate: float | None
    history: list[dict[str, Any]]
    comparison: list[dict[str, Any]]
    stop_reason: str
    seed: int
    version: str

    def __init__(
        self, document: dict[str, Any], problem: Problem, policy: Policy, source: _lib.Trained | str, command: str
    ) -> None:
        self.tried = None
        super().__init__(document, document["observations"])
        self.problem, self.policy, self._source, self._command = problem, policy, source, command
        for key in ("initial", "final", "last"):
            setattr(self, key, Point(**_estimate(document[key], self.observations)))

    def _session(self) -> str:
        if not isinstance(self._source, str):
            self._source = self._source.session(self._command)
        return self._source

    def beyond(self, multiples: Iterable[float], *, instances: int | None = None) -> dict[float, Estimate]:
        """The Bayes regret of the learned policy over so many times the horizon."""
        from .jobs import evaluate

        def regret(multiple: float) -> Estimate:
            longer = self.problem.replace(horizon=round(multiple * self.problem.horizon))
            return evaluate(longer, self.policy, instances=instances, seed=self.seed).bayes_regret

        return {multiple: regret(multiple) for multiple in multiples}

    def _bars(self) -> list[tuple[str, Estimate]]:
        return [(row["policy"], row["bayes_regret"]) for row in self.comparison]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        roles = ["untuned", "tuned"] + [""] * len(self.comparison)
        rows = [[role, _short(row["policy"]), str(row["bayes_regret"])]
                for role, row in zip(roles, self.comparison, strict=False)]
        return ["", "policy", "Bayes regret"], rows

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._document, self.problem, self.policy, self._session(), self._command)
        return Training, parts
