# Plays the blocks of docs/policies.md: reads their code and a list of cases, and prints the regret of each.
#
# Rewards of 0 and 1 and drawn examples are few enough to go through every history, so that most regrets have no sampling error;
# policies that draw samples of their own, and normal rewards, are simulated.
import copy, json, random, sys
from math import floor, sqrt

exec(open(sys.argv[1], encoding="utf-8").read())

RUNS = 10000


def shaped(numbers, shape):
    if not shape:
        return numbers[0]
    rows = len(numbers) // shape[0]
    return [shaped(numbers[i * rows:(i + 1) * rows], shape[1:]) for i in range(shape[0])]


def named(policy):
    """The parameters of a policy, as in policy.json, by name."""
    found, start = {}, 0
    for name, shape in zip(policy["names"], policy["shape"]):
        size = 1
        for length in shape:
            size *= length
        found[name] = shaped(policy["params"][start:start + size], shape)
        start += size
    return found


class Arms:
    """Bernoulli arms with a few known instances."""

    def __init__(self, problem):
        self.arms, self.n = len(problem["instances"][0]), problem["horizon"]
        self.prior = list(zip(problem["weights"], problem["instances"]))

    def exactly(self, start, choose, update):
        layer, regret = {"": ([weight for weight, _ in self.prior], start)}, 0.0
        for _ in range(self.n):
            after = {}
            for weights, state in layer.values():
                for arm, chance in enumerate(choose(state)):
                    for reward in (0, 1) if chance else ():
                        means = [means[arm] for _, means in self.prior]
                        more = [chance * w * (m if reward else 1 - m) for w, m in zip(weights, means)]
                        regret += sum(w * (max(every) - every[arm]) for w, (_, every) in zip(more, self.prior))
                        following = copy.deepcopy(state)
                        update(following, arm, reward)
                        # Pasts that leave the same behind are the same.
                        key = repr(vars(following))
                        known = after.get(key, ([0.0] * len(more), following))[0]
                        after[key] = ([a + b for a, b in zip(known, more)], following)
            layer = after
        return regret, 0.0

    def sampled(self, start, choose, update):
        def run():
            state, regret = copy.deepcopy(start), 0.0
            means = random.choices([m for _, m in self.prior], [w for w, _ in self.prior])[0]
            for _ in range(self.n):
                arm = choose(state).index(1.0)
                regret += max(means) - means[arm]
                update(state, arm, int(random.random() < means[arm]))
            return regret
        return estimate([run() for _ in range(RUNS)])


def estimate(found):
    mean = sum(found) / len(found)
    return mean, sqrt(sum((x - mean) ** 2 for x in found) / (len(found) - 1) / len(found))


class Kept:
    """What exp3 and lstm keep; the others have Seen."""

    def __init__(self, **kept):
        vars(self).update(kept)


def on_arms(policy, problem):
    world, w, kind = Arms(problem), named(policy), policy["kind"]
    K, n = world.arms, world.n
    seen = lambda choose, play=world.exactly: play(Seen(K, n), choose, Seen.update)
    if kind == "exp3":
        return world.exactly(Kept(S=[0.0] * K), lambda kept: exp3(kept.S, w["w"]),
                             lambda kept, arm, reward: exp3_update(kept.S, w["w"], arm, reward))
    if kind == "lstm":
        def read(kept, arm, reward):
            kept.h, kept.c = lstm_update(w, kept.h, kept.c, arm, reward)
        zeros = [0.0] * len(w["w_out"][0])
        return world.exactly(Kept(h=zeros, c=zeros), lambda kept: lstm(w, kept.h), read)
    if kind == "explore-then-commit":
        low, up = floor(w["h"]), w["h"] - floor(w["h"])
        ends = [seen(lambda state: explore_then_commit(state, low + end))[0] for end in (0, 1)]
        return (1 - up) * ends[0] + up * ends[1], 0.0
    if kind == "bayes-optimal" and w:
        memory = {}
        best = lambda state: beta_optimal(tuple(state.pulls), tuple(state.sums), n - state.t, w["alpha"], w["beta"], memory)[1]
        return seen(lambda state: [float(arm == best(state)) for arm in range(K)])
    if kind == "bayes-optimal":
        best = bayes_optimal(world.prior, (0,) * K, (0,) * K, n, {})[0]
        return n * sum(weight * max(means) for weight, means in world.prior) - best, 0.0
    if kind == "thompson":
        return seen(lambda state: thompson(state, w["alpha"], w["beta"], w["sharpness"]), world.sampled)
    time = policy.get("settings", {}).get("time") == "true"
    return seen({
        "softelim": lambda state: softelim(state, w["w"]),
        "soft-index": lambda state: soft_index(state, *policy["params"]),
        "boltzmann": lambda state: boltzmann(state, w["w"]),
        "epsilon-greedy": lambda state: epsilon_greedy(state, w["epsilon"]),
        "ucb1": ucb1,
        "ucb-v": ucb_v,
        "gittins": lambda state: gittins(state, w["alpha"], w["beta"]),
        "random": lambda state: random_arm(K),
        "dqn": lambda state: dqn(w, state, time),
    }[kind])


class Examples:
    """A labelled table, from which every round draws a row: an arm is a label, and the right one pays 1."""

    def __init__(self, problem, policy):
        self.n, self.arms = problem["horizon"], len(problem["arm_names"])
        scale = [(feature["shift"], feature["factor"]) for feature in problem["features"]]
        self.rows = [([(raw - shift) * factor for raw, (shift, factor) in zip(x, scale)],
                      problem["arm_names"].index(label)) for x, label in problem["rows"]]
        self.d, self.policy, self.w, self.known = len(scale), policy, named(policy), {}
        settings = policy.get("settings", {})
        number = lambda name, default: float(settings[name]) if settings.get(name, "auto") != "auto" else default
        self.ridge, self.sigma = number("ridge", 1.0), number("noise_sd", 0.5)
        self.gamma = self.w.get("gamma", number("gamma", self.sigma ** -2))
        self.hard = settings.get("hard") == "true"
        self.W = self.w.get("W", [[float(i == j) for j in range(self.d)] for i in range(self.d)])
        if policy["kind"] == "mom-thompson":
            pairs = [(x, float(arm == label)) for x, label in self.rows for arm in range(self.arms)]
            self.W = subspace(pairs, int(settings["rank"]))

    def estimates(self, past, row):
        """mu and v of the arms at a row after a past: the number of pulls of each arm at each row."""
        if (past, row) not in self.known:
            arms = [Ridge(self.W, self.ridge) for _ in range(self.arms)]
            for (seen, arm), count in zip(self.pulls(), past):
                for _ in range(count):
                    arms[arm].update(self.rows[seen][0], float(arm == self.rows[seen][1]))
            self.known[past, row] = tuple(zip(*[arm.estimate(self.rows[row][0]) for arm in arms]))
        return self.known[past, row]

    def pulls(self):
        return [(row, arm) for row in range(len(self.rows)) for arm in range(self.arms)]

    def choose(self, past, row):
        mu, v = self.estimates(past, row)
        w = self.w
        return {
            "cosoftelim": lambda: cosoftelim(mu, v, self.gamma),
            "soft-ucb": lambda: (linucb(mu, v, w["alpha"]) if self.hard
                                 else soft_ucb(mu, v, w["alpha"], w["temperature"])),
            "lin-thompson": lambda: lin_thompson(mu, v, self.sigma),
            "mom-thompson": lambda: lin_thompson(mu, v, self.sigma),
            "lin-epsilon-greedy": lambda: lin_epsilon_greedy(mu, w["epsilon"]),
            "linucb": lambda: linucb(mu, v, w["alpha"]),
            "random": lambda: random_arm(self.arms),
        }[self.policy["kind"]]()

    def after(self, past, row, arm):
        place = row * self.arms + arm
        return past[:place] + (past[place] + 1,) + past[place + 1:]

    def exactly(self):
        layer, regret = {(0,) * len(self.pulls()): 1.0}, 0.0
        for _ in range(self.n):
            following = {}
            for past, weight in layer.items():
                for row, (_, label) in enumerate(self.rows):
                    for arm, chance in enumerate(self.choose(past, row)):
                        if chance:
                            share = weight * chance / len(self.rows)
                            regret += share * (arm != label)
                            key = self.after(past, row, arm)
                            following[key] = following.get(key, 0.0) + share
            layer = following
        return regret, 0.0

    def sampled(self):
        def run():
            past, regret = (0,) * len(self.pulls()), 0
            for _ in range(self.n):
                row = random.randrange(len(self.rows))
                arm = self.choose(past, row).index(1.0)
                regret += arm != self.rows[row][1]
                past = self.after(past, row, arm)
            return regret
        return estimate([run() for _ in range(RUNS)])


def on_examples(policy, problem):
    world = Examples(problem, policy)
    if "longest_square" in problem and policy["kind"] == "linucb":
        longest = problem["longest_square"]
        assert all(abs(dot(x, x) - longest) < 1e-6 for x, _ in world.rows)
        alpha = linucb_alpha(world.sigma, world.d, world.n, longest, world.ridge)
        assert abs(alpha - world.w["alpha"]) < 1e-6 * alpha, (alpha, world.w["alpha"])
    return world.sampled() if policy["kind"].endswith("thompson") else world.exactly()


def on_discrete(policy, problem):
    """Finitely many contexts in turn, with normal means and rewards."""
    def run():
        table = [[random.gauss(mean, problem["mean_sd"]) for mean in arm] for arm in problem["means"]]
        contexts, regret, h = len(table[0]), 0.0, named(policy)["h"]
        rounded_h = floor(h) + (random.random() < h - floor(h))
        known = [[0, [0.0, 0.0]] for _ in range(contexts)]
        for t in range(problem["horizon"]):
            means, (rounds, sums) = [arm[t % contexts] for arm in table], known[t % contexts]
            arm = contextual_explore_then_commit(rounds, sums, rounded_h).index(1.0)
            regret += max(means) - means[arm]
            if rounds < 2 * rounded_h:
                sums[arm] += random.gauss(means[arm], problem["noise_sd"])
            known[t % contexts][0] += 1
        return regret
    return estimate([run() for _ in range(RUNS)])


WORLDS = {"arms": on_arms, "examples": on_examples, "discrete": on_discrete}
for case in json.load(open(sys.argv[2], encoding="utf-8")):
    random.seed(1)
    mean, error = WORLDS[case["problem"]["world"]](case["policy"], case["problem"])
    print(json.dumps({"mean": mean, "std_error": error}))
