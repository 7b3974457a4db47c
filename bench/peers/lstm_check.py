"""Compares the LSTM's log-probabilities and gradient with JAX (float64, autodiff).

LSTM_CHECK=lstm.json cargo test --release -p gradband --lib lstm -- --ignored peer
python bench/peers/lstm_check.py lstm.json
"""
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
data = json.load(open(sys.argv[1]))
params = {}
for name, shape, start in data["pieces"]:
    flat = np.array(data["params"][start : start + shape[0] * shape[1]])
    params[name] = jnp.array(flat.reshape(shape))
# [runs, (arm, reward, advantage), rounds] -> one array of shape [rounds, runs] each
arms, rewards, advantages = np.array(data["runs"]).transpose(1, 2, 0)


def objective(p):
    hidden = p["w_hh"].shape[1]

    def step(state, seen):
        h, c = state
        arm, reward, advantage = seen
        logits = (jax.nn.leaky_relu(h) @ p["w_out"].T + p["b_out"][:, 0]) / data["temperature"]
        log_p = jnp.take_along_axis(jax.nn.log_softmax(logits), arm[:, None], 1)[:, 0]
        x = jnp.concatenate([p["arm_embedding"][arm], p["reward_embedding"][reward]], 1)
        i, f, g, o = jnp.split(x @ p["w_ih"].T + h @ p["w_hh"].T + p["b"][:, 0], 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), advantage * log_p

    zero = jnp.zeros((arms.shape[1], hidden))
    seen = (jnp.array(arms, int), jnp.array(rewards, int), jnp.array(advantages))
    return jax.lax.scan(step, (zero, zero), seen)[1].sum()


value, gradient = jax.value_and_grad(objective)(params)
theirs = np.concatenate([np.ravel(gradient[name]) for name, _, _ in data["pieces"]])
ours = np.array(data["gradient"])
off = np.linalg.norm(theirs - ours) / np.linalg.norm(theirs)
print(f"objective: ours {data['objective']:.12g}, JAX {float(value):.12g}")
print(f"gradient: {len(ours)} entries, relative distance {off:.2e}")
sys.exit(0 if off < 1e-9 and abs(value - data["objective"]) < 1e-9 * abs(value) else 1)
