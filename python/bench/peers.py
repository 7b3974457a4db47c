"""pull + update of gradband or of a peer, in microseconds of processor time, as JSON lines.

    python peers.py gradband|mabwiser|river|bayesianbandits|vowpalwabbit|contextualbandits

All play the same: ten arms without contexts, ten arms with twenty features, and whole runs of two arms and 200 rounds, each with a
new policy, which is what tuning by simulation is made of. A reward is 1 every third time.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np

Step = Callable[[int], object]

ARMS, DIM, ROUNDS, REPEATS, SECONDS = 10, 20, 200, 7, 0.2
CONTEXTS = np.random.default_rng(1).normal(size=(1024, DIM))


def reward(t: int) -> float:
    return 1.0 if t % 3 == 0 else 0.0


def microseconds(call: Callable[[int], object]) -> float:
    """Processor time of a call: the best of some repeats of as many calls as fill a fraction of a second."""
    calls, took = 1, 0.0
    best = float("inf")
    for _ in range(REPEATS):
        while True:
            start = time.process_time()
            for t in range(calls):
                call(t)
            took = time.process_time() - start
            if took >= SECONDS:
                break
            calls *= 2
        best = min(best, took / calls * 1e6)
    return best


def mabwiser(policy: str, arms: int, dim: int = 0) -> Step:
    from mabwiser.mab import MAB, LearningPolicy

    rules = {"UCB1": LearningPolicy.UCB1, "Thompson": LearningPolicy.ThompsonSampling, "LinUCB": LearningPolicy.LinUCB}
    names = [str(arm) for arm in range(arms)]
    bandit = MAB(names, rules[policy](), seed=1)
    # It wants to be fitted once before it predicts.
    if dim:
        rows = CONTEXTS[:, None, :]
        bandit.fit(names, [0.0] * arms, CONTEXTS[:arms])

        def step(t: int) -> None:
            x = rows[t & 1023]
            bandit.partial_fit([bandit.predict(x)], [reward(t)], x)

        return step
    bandit.fit(names, [0.0] * arms)
    return lambda t: bandit.partial_fit([bandit.predict()], [reward(t)])


def river(policy: str, arms: int, dim: int = 0) -> Step:
    from river import bandit, proba

    names = [str(arm) for arm in range(arms)]
    if policy == "LinUCB":
        rows = [{f"x{i}": float(x) for i, x in enumerate(row)} for row in CONTEXTS]
        linear = bandit.LinUCBDisjoint(alpha=1.0, seed=1)

        def step(t: int) -> None:
            x = rows[t & 1023]
            linear.update(linear.pull(names, context=x), x, reward(t))

        return step
    rule = bandit.UCB(delta=1.0, seed=1) if policy == "UCB" else bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1)
    return lambda t: rule.update(rule.pull(names), reward(t))


def bayesianbandits(policy: str, arms: int, dim: int = 0) -> Step:
    import bayesianbandits as bb

    each = [bb.Arm(arm, learner=bb.NormalRegressor(alpha=1.0, beta=1.0)) for arm in range(arms)]
    if dim:
        chooser = bb.ContextualAgent(each, bb.UpperConfidenceBound(), random_seed=1)
        rows = CONTEXTS[:, None, :]

        def step(t: int) -> None:
            x = rows[t & 1023]
            chooser.pull(x)
            chooser.update(x, np.array([reward(t)]))

        return step
    agent = bb.Agent(each, bb.ThompsonSampling(), random_seed=1)

    def pull(t: int) -> None:
        agent.pull()
        agent.update(np.array([reward(t)]))

    return pull


def vowpalwabbit(policy: str, arms: int, dim: int = 0) -> Step:
    from vowpalwabbit import Workspace

    learner = Workspace(f"--cb_explore {arms} --epsilon 0.1 --quiet --random_seed 1")
    rows = ["| " + " ".join(f"x{i}:{x:.6f}" for i, x in enumerate(row)) for row in CONTEXTS] if dim else ["| x"] * 1024
    draws = np.random.default_rng(2).random(1024).tolist()

    def step(t: int) -> None:
        row, left = rows[t & 1023], draws[t & 1023]
        shares = learner.predict(row)
        for arm, share in enumerate(shares, 1):
            left -= share
            if left < 0.0:
                break
        learner.learn(f"{arm}:{-reward(t)}:{share} {row}")

    return step


def contextualbandits(policy: str, arms: int, dim: int = 0) -> Step:
    from contextualbandits.online import LinUCB

    learner = LinUCB(nchoices=arms, alpha=1.0, random_state=1)
    rows = CONTEXTS[:, None, :]
    learner.fit(CONTEXTS[:arms], np.arange(arms), np.zeros(arms))

    def step(t: int) -> None:
        x = rows[t & 1023]
        learner.partial_fit(x, learner.predict(x), np.array([reward(t)]))

    return step


#: A peer, and its policies without and with contexts. The first one plays whole runs.
PEERS: dict[str, tuple[Callable[..., Step], list[str], list[str]]] = {
    "mabwiser": (mabwiser, ["UCB1", "Thompson"], ["LinUCB"]),
    "river": (river, ["UCB", "Thompson"], ["LinUCB"]),
    "bayesianbandits": (bayesianbandits, ["Thompson"], ["UCB"]),
    "vowpalwabbit": (vowpalwabbit, ["epsilon-greedy"], ["epsilon-greedy"]),
    # It wants features always.
    "contextualbandits": (contextualbandits, [], ["LinUCB"]),
}


def peer(name: str) -> Iterator[tuple[str, str, float]]:
    """Job, policy and microseconds."""
    make, without, with_contexts = PEERS[name]
    for policy in without:
        yield "arms", policy, microseconds(make(policy, ARMS))
    for policy in with_contexts:
        yield "contexts", policy, microseconds(make(policy, ARMS, DIM))
    for policy in without[:1]:

        def run(_: int, policy: str = policy) -> None:
            step = make(policy, 2)
            for t in range(ROUNDS):
                step(t)

        yield "training", policy, microseconds(run) / ROUNDS


def gradband() -> Iterator[tuple[str, str, float]]:
    """Ours: the steps of agent.py, and all that a training takes, evaluation included, over the rounds that it simulates."""
    import agent

    import gradband as gb

    steps: list[tuple[str, Step]] = []
    agent.measure = lambda name, step: steps.append((name, step))
    agent.arms()
    agent.contexts()
    for name, step in steps:
        yield ("contexts" if "d =" in name else "arms"), name, microseconds(step)
    rounds = 100 * 250 * 8 * ROUNDS
    train = lambda _: gb.train("bernoulli-2", "softelim", iterations=100, batch_size=250, runs_per_instance=8, threads=1)
    yield "training", "softelim", microseconds(train) / rounds


def main(name: str) -> None:
    number = importlib.import_module(name).__version__ if name == "gradband" else version(name)
    for job, policy, took in gradband() if name == "gradband" else peer(name):
        row = {"bench": "python", "job": job, "lib": name, "version": number, "variant": policy, "cpu_us": round(took, 4)}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
