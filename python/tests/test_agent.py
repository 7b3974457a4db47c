"""Agents: every promise of the deployment guide, from Python."""

from __future__ import annotations

import copy
import json
import os
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradband as gb

ARMS = ["red", "green", "blue"]


def agent(policy: str = "softelim(w=0.5)", arms: list[str] | None = None, **options: Any) -> gb.Agent:
    return gb.Agent(policy, ARMS[:2] if arms is None else arms, problem="bernoulli-2", **options)


def contextual(**options: Any) -> gb.Agent:
    return gb.Agent("soft-ucb", problem="linear-1", **options)


def features() -> int:
    """The number of features of the contextual problem."""
    with pytest.raises(gb.Error, match="looks at") as error:
        contextual().pull()
    return int(error.value.message.split(" features")[0].split()[-1])


def test_a_decision_says_what_was_drawn() -> None:
    chosen = agent(seed=7)
    decision = chosen.pull()
    assert decision.arm in ARMS[:2] and ARMS[decision.index] == decision.arm
    assert decision.probability == 0.5 and decision.round == 0 and decision.until is None
    assert decision.version == chosen.stats()["version"] and len(decision.version) == 12
    assert decision.to_dict()["id"] == decision.id
    assert pickle.loads(pickle.dumps(decision)) == decision
    assert decision != chosen.pull() and len({decision, decision}) == 1
    with pytest.raises(AttributeError):
        decision.arm = "green"  # type: ignore[misc]


def test_a_seed_replays_and_copies_do_not() -> None:
    def played(chosen: gb.Agent) -> list[tuple[str, float]]:
        rows = []
        for t in range(50):
            decision = chosen.pull()
            rows.append((decision.arm, decision.probability))
            chosen.update(decision.id, float(t % 3 == 0))
        return rows

    assert played(agent(seed=3)) == played(agent(seed=3))
    assert agent().pull().id != agent().pull().id


def test_a_reward_counts_once() -> None:
    chosen = agent(seed=1)
    decision = chosen.pull()
    assert chosen.update(decision.id, 1.0) == "applied"
    assert chosen.update(decision.id, 1) == "duplicate"
    with pytest.raises(gb.Conflict) as conflict:
        chosen.update(decision.id, 0.0)
    assert conflict.value.place == "reward" and "1 was reported before" in conflict.value.message
    with pytest.raises(gb.UnknownDecision):
        chosen.update("nobody-1", 1.0)
    assert issubclass(gb.Conflict, gb.Error) and issubclass(gb.UnknownDecision, gb.Error)
    assert chosen.stats()["credited"] == 1 and chosen.stats()["duplicates"] == 1


def test_the_same_id_gets_the_same_answer_and_a_unit_the_same_number() -> None:
    chosen = agent(seed=5)
    first = chosen.pull(id="order-1")
    assert first == chosen.pull(None, None, "order-1") and first.id == "order-1"
    # From then on the policy decides.
    chosen.pull()

    def arm(unit: str) -> str:
        decision = chosen.pull(unit=unit)
        chosen.withdraw(decision.id)
        return decision.arm

    assert len({arm("visitor") for _ in range(20)}) == 1
    assert len({arm(f"visitor {i}") for i in range(20)}) == 2


def test_withdrawn_decisions_never_were() -> None:
    chosen = agent(seed=2)
    before = chosen.probabilities()
    decision = chosen.pull()
    assert chosen.probabilities() != before
    assert chosen.withdraw(decision.id) == "applied" and chosen.withdraw(decision.id) == "duplicate"
    assert chosen.probabilities() == before
    with pytest.raises(gb.Conflict):
        chosen.update(decision.id, 1.0)


def test_probabilities_are_exact_and_floors_act_on_them() -> None:
    with pytest.warns(UserWarning, match="plays 3"):
        chosen = agent(arms=ARMS, floor=0.1, seed=3)
    for _ in range(30):
        expected = chosen.probabilities()
        assert abs(sum(expected.values()) - 1.0) < 1e-12 and min(expected.values()) >= 0.1 - 1e-12
        decision = chosen.pull()
        assert decision.probability == expected[decision.arm]
        chosen.update(decision.id, float(decision.index == 1))
    assert set(chosen.probabilities(arms=["red", "blue"])) == {"red", "blue"}
    assert chosen.pull(arms=["blue"]).arm == "blue"


def test_silence_means_the_default_reward() -> None:
    chosen = agent(seed=1, wait="1m", default_reward=0.0)
    with pytest.raises(gb.Error) as error:
        chosen.pull()
    assert error.value.place == "at"
    first, second = chosen.pull(at=0.0), chosen.pull(at=10)
    assert (first.until, second.until) == (60.0, 70.0)
    assert chosen.update(first.id, 1.0, at=20.0) == "applied"
    assert chosen.stats()["credited"] == 0
    assert chosen.update(second.id, 1.0, at=71.0) == "late"
    stats = chosen.stats()
    assert (stats["credited"], stats["silent"], stats["late"]) == (2, 1, 1)
    chosen.advance(100.0)
    for given, place in [("wait", "default_reward"), ("default_reward", "wait")]:
        with pytest.raises(gb.Error) as error:
            agent(**dict[str, Any]({given: 0.5}))
        assert error.value.place == place
    with pytest.raises(gb.Error, match="90s, 30m, 24h or 7d"):
        agent(wait="soon", default_reward=0.0)


def test_contexts_may_come_in_any_form() -> None:
    d = features()
    x = [0.1 * i for i in range(d)]
    chosen = contextual(seed=4)
    expected = chosen.probabilities(x)
    forms: list[Any] = [tuple(x), np.array(x), np.array(x + x)[::1][:d], np.ma.masked_array(x)]
    for form in forms:
        assert chosen.probabilities(form) == expected
    single = chosen.probabilities(np.array(x, dtype=np.float32))
    assert single == pytest.approx(expected, abs=1e-6)
    assert chosen.probabilities([int(i) for i in range(d)]) == chosen.probabilities(np.arange(d))
    decision = chosen.pull(np.array(x))
    assert chosen.update(decision.id, 1.0) == "applied"
    assert chosen.log()[0]["context"] == pytest.approx(x)


def test_contexts_by_name(tmp_path: Path) -> None:
    path = labelled_policy(tmp_path)
    chosen = gb.Agent(path, seed=1)
    expected = chosen.probabilities([5.0, 1.0])
    assert chosen.probabilities({"size": 1.0, "age": 5.0}) == expected

    class Row:
        def to_dict(self) -> dict[str, float]:
            return {"age": 5.0, "size": 1.0}

    assert chosen.probabilities(Row()) == expected  # type: ignore[arg-type]
    with pytest.raises(gb.Error) as error:
        chosen.pull({"age": 5.0, "sise": 1.0})
    assert error.value.place == "context.sise" and "size" in error.value.message
    with pytest.raises(gb.Error) as error:
        chosen.pull({"age": 5.0})
    assert error.value.place == "context.size"


def labelled_policy(tmp_path: Path) -> Path:
    """A policy file of a contextual policy whose features have names."""
    features = [{"name": "age", "shift": 0.0, "factor": 0.1}, {"name": "size", "shift": 1.0, "factor": 0.5}]
    problem = {"name": "past", "kind": "labelled", "arms": 2, "horizon": 50, "arm_names": ["no", "yes"]}
    problem |= {"context_dim": 2, "features": features, "scale": "minmax", "unit_rewards": True}
    policy = {"kind": "lin-epsilon-greedy", "names": ["epsilon"], "shape": [[]], "params": [0.1]}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"gradband": 1, "policy": policy, "problem": problem}))
    return path


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"context": "abc"}, "context"),
    ({"context": 3.0}, "context"),
    ({"context": ["a", 1.0]}, "context[0]"),
    ({"context": [[1.0], [2.0]]}, "context[0]"),
    ({"context": np.ones((2, 2))}, "context[0]"),
    ({"context": {1: 2.0}}, "context"),
    ({"context": [1.0]}, "context"),
    ({"arms": "red"}, "arms"),
    ({"arms": 3}, "arms"),
    ({"arms": ["red", 3]}, "arms[1]"),
    ({"arms": ["crimson"]}, "arms[0]"),
    ({"arms": []}, "arms"),
    ({"id": 7}, "id"),
    ({"id": ""}, "id"),
    ({"unit": 3.5}, "unit"),
    ({"at": "noon"}, "at"),
    ({"at": float("nan")}, "at"),
]


@pytest.mark.parametrize(("asked", "place"), WRONG)
def test_wrong_pulls_name_their_place(asked: dict[str, Any], place: str) -> None:
    chosen = agent(seed=1)
    with pytest.raises(gb.Error) as error:
        chosen.pull(**asked)
    assert error.value.place == place and error.value.message
    assert chosen.stats()["decisions"] == 0


@pytest.mark.parametrize("reward", ["1", None, float("nan"), float("inf"), 1.5, [1.0]])
def test_wrong_rewards_name_their_place(reward: Any) -> None:
    chosen = agent(seed=1)
    decision = chosen.pull()
    with pytest.raises(gb.Error) as error:
        chosen.update(decision.id, reward)
    assert error.value.place == "reward"
    assert chosen.stats()["credited"] == 0


def test_wrong_agents_name_their_place(tmp_path: Path) -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: agent("softelm"), "policy"),
        (lambda: agent(arms=["a", "a"]), "arms[1]"),
        (lambda: agent(arms=[]), "arms"),
        (lambda: agent(after="explode"), "after"),
        (lambda: agent(floor=0.9).pull(), "floor"),
        (lambda: gb.Agent(3), "policy"),  # type: ignore[arg-type]
    ]
    for make, place in wrong:
        with pytest.raises(gb.Error) as error:
            make()
        assert error.value.place == place
    with pytest.raises(gb.Error, match="absent.json"):
        gb.Agent(tmp_path / "absent.json")


def test_many_at_once() -> None:
    chosen = agent(seed=1)
    decisions = chosen.pull_many(5)
    assert [decision.round for decision in decisions] == [0, 1, 2, 3, 4]
    ids = [decision.id for decision in decisions]
    assert chosen.update_many(ids, np.array([0.0, 1.0, 0.0, 1.0, 1.0])) == ["applied"] * 5
    told = chosen.update_many([ids[0], ids[1], "nobody-1"], [0.0, 0.0, 1.0])
    assert told == ["duplicate", "conflict", "unknown"]
    assert [decision.id for decision in chosen.pull_many(2, ids=["a", "b"])] == ["a", "b"]
    with pytest.raises(gb.Error) as error:
        chosen.update_many(["a"], [1.0, 2.0])
    assert error.value.place == "rewards"


def test_many_are_made_or_none() -> None:
    d, chosen = features(), contextual(seed=1)
    known = chosen.pull([0.0] * d, id="known")
    with pytest.raises(gb.Error) as error:
        chosen.pull_many([[0.0] * d] * 3 + [[1.0]], ids=["known", "new", "newer", "bad"])
    assert error.value.place.startswith("pulls[3]")
    assert chosen.stats()["pending"] == 1
    assert chosen.update(known.id, 1.0) == "applied"
    assert len(chosen.pull_many(np.zeros((4, d)))) == 4


def test_arms_come_and_go() -> None:
    with pytest.warns(UserWarning, match="trained with 2 arms, and plays 3"):
        chosen = agent(arms=ARMS, seed=1)
    chosen.add("black")
    assert set(chosen.probabilities()) == {*ARMS, "black"}
    late = chosen.pull(arms=["red"])
    chosen.retire("red")
    assert "red" not in chosen.probabilities()
    assert chosen.update(late.id, 1.0) == "applied"
    chosen.add("red")
    assert [arm["pulls"] for arm in chosen.stats()["arms"]] == [1, 0, 0, 0]
    with pytest.raises(gb.Error):
        chosen.add("red")


def test_certain_policies_say_so() -> None:
    with pytest.warns(UserWarning, match="certain of its arm"):
        agent("ucb1")


def test_a_policy_takes_over_with_all_that_is_known() -> None:
    chosen = agent(seed=1)
    for _ in range(10):
        chosen.update(chosen.pull().id, 1.0)
    before = chosen.stats()
    chosen.replace("thompson", problem="bernoulli-2")
    after = chosen.stats()
    assert after["arms"] == before["arms"] and after["version"] != before["version"]
    assert chosen.pull().version == after["version"]


def test_rows_of_a_log_warm_an_agent_up() -> None:
    source = agent(seed=1)
    for t in range(20):
        source.update(source.pull().id, float(t % 2))
    source.pull()
    warm = agent(seed=2)
    assert warm.learn(source.log()) == 20
    known = [(arm["pulls"], arm["sum"]) for arm in source.stats()["arms"]]
    assert [(arm["pulls"], arm["sum"]) for arm in warm.stats()["arms"]] == known
    assert warm.learn([("red", 1.0, None, 0.5), ("green", None, None, 0.5)]) == 1
    before = warm.stats()
    with pytest.raises(gb.Error) as error:
        warm.learn([("red", 1.0, None, 0.5), ("crimson", 1.0, None, 0.5)])
    assert error.value.place == "rows[1].arm" and warm.stats() == before
    with pytest.raises(gb.Error) as error:
        warm.learn([{"arm": "red", "reward": 1.0}])
    assert error.value.place == "rows[0].probability"


def test_a_table_warms_an_agent_up(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    chosen = gb.Agent(labelled_policy(tmp_path), seed=1)
    rows = {"arm": ["no", "yes"], "reward": [1.0, float("nan")], "probability": [0.5, 0.5]}
    frame = pandas.DataFrame({**rows, "age": [3.0, 4.0], "size": [1.0, 2.0]})
    assert chosen.learn(frame) == 1
    assert [arm["pulls"] for arm in chosen.stats()["arms"]] == [1, 0]


def test_agents_are_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    chosen = agent(seed=1)
    open_one = chosen.pull()
    chosen.save(path)
    again = gb.Agent.load(path)
    assert isinstance(again, gb.Agent) and again.stats() == chosen.stats()
    assert again.pull() == chosen.pull()
    assert again.update(open_one.id, 1.0) == "applied"
    path.write_text(path.read_text().replace("red", "sad"))
    with pytest.raises(gb.Error, match="damaged"):
        gb.Agent.load(path)


def test_pickles_are_copies_that_explore_differently() -> None:
    copies: list[Callable[[gb.Agent], gb.Agent]] = [lambda a: pickle.loads(pickle.dumps(a)), copy.deepcopy]
    for copied in copies:
        seeded, free = agent(seed=1), agent()
        open_one = free.pull()
        again = copied(free)
        assert isinstance(again, gb.Agent)
        assert again.update(open_one.id, 1.0) == "applied"
        assert again.pull().id.split("-")[0] != free.pull().id.split("-")[0]
        assert copied(seeded).pull() == seeded.pull()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_processes_explore_differently() -> None:
    chosen, seeded = agent(), agent(seed=1)
    open_one = chosen.pull()

    def in_child() -> str:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            status = chosen.update(open_one.id, 1.0)
            os.write(write, f"{chosen.pull().id} {seeded.pull().id} {status}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        return os.read(read, 1000).decode()

    told = [in_child().split() for _ in range(3)]
    nonces = {one.split("-")[0] for one, _, _ in told} | {chosen.pull().id.split("-")[0]}
    assert len(nonces) == 4, told
    assert {seed for _, seed, _ in told} == {seeded.pull().id}
    assert {status for _, _, status in told} == {"applied"}


def test_threads_share_an_agent() -> None:
    """Eight threads, 100,000 pulls and updates each: exact counts."""
    chosen, each, threads = agent(limit=10_000_000), 100_000, 8
    failed: list[BaseException] = []

    def play() -> None:
        try:
            for t in range(each):
                chosen.update(chosen.pull().id, float(t & 1))
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=play) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    stats = chosen.stats()
    assert not failed
    assert stats["decisions"] == stats["credited"] == stats["round"] == threads * each
    assert sum(arm["sum"] for arm in stats["arms"]) == threads * each / 2
    assert stats["pending"] == 0


def test_after_the_horizon() -> None:
    horizon = agent().stats()["horizon"]
    for after, beyond in [("continue", 5), ("restart", 0), (None, 5)]:
        chosen = agent(seed=1, after=after)
        for _ in range(horizon + 5):
            chosen.update(chosen.pull().id, 0.0)
        stats = chosen.stats()
        assert stats["beyond_horizon"] == beyond and stats["round"] == (5 if after == "restart" else horizon + 5)
    chosen = agent(seed=1, after="stop")
    for _ in range(horizon):
        chosen.pull()
    with pytest.raises(gb.Error, match="is over"):
        chosen.pull()


def test_the_clock_is_the_callers() -> None:
    now = time.time()
    chosen = agent(seed=1, wait=3600.0, default_reward=0.0)
    assert chosen.pull(at=now).until == now + 3600.0


def test_an_agent_shows_itself() -> None:
    assert repr(agent()).startswith("<Agent softelim ") and "red, green: 0 decisions" in repr(agent())
    assert repr(agent(seed=1).pull()).startswith("Decision(id=")
