"""What an epoch of mil-net is measured against: the same network in PyTorch, or by hand in NumPy where there is no PyTorch.

    net.py BAGS INSTANCES WIDTH     prints a name and the CPU seconds of the second of two epochs

One layer of 64 units, attention of 32, logistic loss, one gradient over all bags (ten bags at a time, which was faster
than one and than all) and one step of Adam with weight decay in the gradient.
"""

import sys
import time

import numpy as np

bags, instances, width = (int(a) for a in sys.argv[1:])
HIDDEN, ATTENTION, TOGETHER = 64, 32, 10
rng = np.random.default_rng(0)
x = rng.standard_normal((bags, instances, width), dtype=np.float32)
y = np.where(np.arange(bags) % 2 == 0, 1, -1).astype(np.float32)


def with_torch(torch):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data, labels = torch.from_numpy(x), torch.from_numpy(y)
    layer, inside = torch.nn.Linear(width, HIDDEN), torch.nn.Linear(HIDDEN, ATTENTION)
    outside, last = torch.nn.Linear(ATTENTION, 1, bias=False), torch.nn.Linear(HIDDEN, 1)
    parameters = [p for m in (layer, inside, outside, last) for p in m.parameters()]
    adam = torch.optim.Adam(parameters, lr=0.001, weight_decay=0.01)
    for _ in range(2):
        started = time.process_time()
        adam.zero_grad()
        for first in range(0, bags, TOGETHER):
            h = torch.relu(layer(data[first : first + TOGETHER]))
            p = torch.softmax(outside(torch.tanh(inside(h))), 1)
            f = last((p * h).sum(1))[:, 0]
            loss = torch.nn.functional.softplus(-labels[first : first + TOGETHER] * f).sum() / bags
            loss.backward()
        adam.step()
        seconds = time.process_time() - started
    return f"PyTorch {torch.__version__}", seconds


def with_numpy():
    draw = lambda *shape: (0.1 * rng.standard_normal(shape)).astype(np.float32)  # noqa: E731
    p = {"W": draw(width, HIDDEN), "c": draw(HIDDEN), "V": draw(HIDDEN, ATTENTION), "v": draw(ATTENTION)}
    p |= {"a": draw(ATTENTION), "w": draw(HIDDEN), "b": draw(1)}
    mean, square = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    for step in (1, 2):
        started = time.process_time()
        g = {k: np.zeros_like(v) for k, v in p.items()}
        for bag in range(bags):
            rows = x[bag]
            h = np.maximum(rows @ p["W"] + p["c"], 0)
            t = np.tanh(h @ p["V"] + p["v"])
            e = t @ p["a"]
            s = np.exp(e - e.max())
            s /= s.sum()
            z = s @ h
            f = p["w"] @ z + p["b"][0]
            df = -y[bag] / (1 + np.exp(y[bag] * f)) / bags
            g["w"] += df * z
            g["b"] += df
            dz = df * p["w"]
            de = s * (h @ dz - z @ dz)
            g["a"] += de @ t
            dt = np.outer(de, p["a"]) * (1 - t * t)
            g["V"] += h.T @ dt
            g["v"] += dt.sum(0)
            dh = (np.outer(s, dz) + dt @ p["V"].T) * (h > 0)
            g["W"] += rows.T @ dh
            g["c"] += dh.sum(0)
        for k in p:
            slope = g[k] + (0.01 * p[k] if k in "WVaw" else 0)
            mean[k] = 0.9 * mean[k] + 0.1 * slope
            square[k] = 0.999 * square[k] + 0.001 * slope**2
            p[k] -= 0.001 * (mean[k] / (1 - 0.9**step)) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
        seconds = time.process_time() - started
    return f"NumPy {np.__version__}", seconds


try:
    import torch
except ImportError:
    torch = None
print(*(with_numpy() if torch is None else with_torch(torch)))
