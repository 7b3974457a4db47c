"""`workers=`: simulations that a pool of processes, a cluster or an MPI job does in the place of this process's threads.

A task says which problem (by the digest of its pickle), which policy with which parameters, and which instances; its answer is
a few sums. Any worker may do any task, twice too: results have the same bits as without workers.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _lib
from .error import Error

if TYPE_CHECKING:
    from .problem import Problem

#: Digest, the problem if it is sent along, and what is to be done.
Task = tuple[bytes, bytes | None, bytes]
Map = Callable[[Callable[[Task], bytes | None], list[Task]], Iterable[bytes | None]]

#: How often a round is tried: a machine that goes away takes its tasks along.
TRIES = 3
#: Problems that a worker keeps.
KEPT = 4

_known: dict[bytes, _lib.Worker] = {}


def work(task: Task) -> bytes | None:
    """A worker's side: the answer, or None where the problem is not known here and was not sent along."""
    digest, pickled, order = task
    worker = _known.get(digest)
    if worker is None:
        if pickled is None:
            return None
        problem: Problem = pickle.loads(pickled)
        worker = _lib.Worker(problem._native)
        while len(_known) >= KEPT:
            _known.pop(next(iter(_known)))
        _known[digest] = worker
    return worker.work(order)


def _mapping(workers: Any) -> Map:
    """The map of whatever the user calls workers."""
    if hasattr(workers, "get_executor"):  # A Dask client: its own map returns futures.
        workers = workers.get_executor()
    found = getattr(workers, "map", workers)
    if not callable(found):
        kind = type(workers).__name__
        remedy = "expected a pool, an executor or a function like map; threads= is for the cores of this machine"
        raise Error(f"found {kind}, {remedy}", "workers")
    mapping: Map = found
    return mapping


def _hands(workers: Any) -> int:
    """How many tasks are worth handing out together."""
    for name in ("_processes", "_max_workers", "num_workers"):
        count = getattr(workers, name, None)
        if isinstance(count, int) and count > 0:
            return count
    if hasattr(workers, "scheduler_info"):
        return max(1, len(workers.scheduler_info()["workers"]))
    client = getattr(workers, "_client", None)
    if client is not None and hasattr(client, "scheduler_info"):
        return _hands(client)
    return os.cpu_count() or 1


class Crew:
    """The user's workers as the native part asks them: `hands`, and `play` for a round of tasks."""

    def __init__(self, workers: Any, problem: Problem) -> None:
        self._map = _mapping(workers)
        self.hands = _hands(workers)
        try:
            self._pickled = pickle.dumps(problem, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise Error(f"the problem cannot be pickled for them: {error}", "workers") from error
        self._digest = hashlib.sha256(self._pickled).digest()
        self._sent = False
        #: Bytes that went to workers and came back, round by round.
        self.traffic: list[int] = []

    def play(self, orders: list[bytes]) -> list[bytes]:
        """The answers, in the order of the orders. The problem goes along in the first round, and to whoever lacks it."""
        sent = 0
        answers: list[bytes | None] = [None] * len(orders)
        attached = None if self._sent else self._pickled
        # Each worker may lack the problem once, and then has it.
        for _ in range(self.hands + 2):
            open_ = [i for i, answer in enumerate(answers) if answer is None]
            if not open_:
                break
            tasks: list[Task] = [(self._digest, attached, orders[i]) for i in open_]
            sent += sum(len(order) + len(attached or b"") for _, _, order in tasks)
            for i, answer in zip(open_, self._tried(tasks), strict=True):
                answers[i] = answer
            attached = self._pickled
        self._sent = True
        done = [answer for answer in answers if answer is not None]
        if len(done) != len(orders):
            raise Error("they do not keep the problem that they are sent", "workers")
        self.traffic.append(sent + sum(map(len, done)))
        return done

    def _tried(self, tasks: list[Task]) -> list[bytes | None]:
        for tries in range(1, TRIES + 1):
            try:
                return list(self._map(work, tasks))
            except Error:
                raise
            except Exception:
                if tries == TRIES:
                    raise
        raise AssertionError("unreachable")
