"""InfoFair without any batching: an ordinary module, an ordinary loop, one model.

The oracle of infofair/training, and what bench/ measures it against. It shares with it only the
random streams (initial weights, order of rows, noise) and writes the rest down again, after the
paper and its released code rather than after infofair/methods/.
"""

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infofair.data.prepared import Prepared
from infofair.training.batched import CHUNK
from infofair.training.plan import Training
from infofair.training.streams import KINDS, Streams

CPU = torch.device("cpu")


class Plain(nn.Module):
    """Feature extractor, target predictor, sensitive feature predictor, density ratio estimator."""

    def __init__(self, features: int, hidden: list[int], groups: int, streams: Streams) -> None:
        super().__init__()
        widths = [features, *hidden]
        layers = [nn.Linear(a, b) for a, b in zip(widths, hidden, strict=False)]
        self.extractor = nn.Sequential(*(m for layer in layers for m in (layer, nn.ReLU())))
        self.target = nn.Linear(hidden[-1], 2, bias=False)
        self.sensitive = nn.Linear(hidden[-1], groups, bias=False)
        self.w1 = nn.Linear(hidden[-1], 1, bias=False)
        self.w2 = nn.Linear(groups, 1, bias=False)
        named = {f"layer{i}": layer for i, layer in enumerate(layers)}
        named |= {n: getattr(self, n) for n in ("target", "sensitive", "w1", "w2")}
        sizes = {name: (m.out_features, m.in_features) for name, m in named.items()}
        with torch.no_grad():
            for name, start in streams.initial(sizes).items():
                linear = named[name]
                linear.weight.copy_(start[:, : linear.in_features])
                if linear.bias is not None:
                    linear.bias.copy_(start[:, -1])

    def forward(
        self, X: Tensor, y: Tensor, s: Tensor, noise: Tensor, alpha: float, tau: float
    ) -> dict[str, Tensor]:
        """T, S and D of one minibatch; noise is B × groups."""
        z = self.extractor(X)
        log_q = F.log_softmax(self.sensitive(z), dim=1)
        drawn = F.softmax((log_q + noise) / tau, dim=1)
        true = (s[:, None] == torch.arange(log_q.shape[1])).float()
        ratio_true = self.w1(z) + self.w2(true)
        ratio_drawn = self.w1(z) + self.w2(drawn)
        return {
            "T": F.nll_loss(F.log_softmax(self.target(z), dim=1), y),
            "S": -alpha * F.nll_loss(log_q, s),
            "D": alpha * (ratio_true.mean() + ratio_drawn.mean()) / 2,
        }


def train_plain(
    data: Prepared,
    setting: str,
    seed: int,
    *,
    hidden: list[int],
    training: Training,
    alpha: float = 0.1,
    terms: str = "TSD",
    learning_rate: float = 1e-4,
    temperature: float = 1.0,
    halve_every: int = 50,
) -> tuple[Plain, list[float]]:
    """The trained model and the validation objective of every epoch."""
    parts = {}
    for name, rows in data.split.items():
        columns = (data.X, data.y.astype("int64"), data.groups[setting].astype("int64"))
        parts[name] = tuple(torch.from_numpy(column[rows]) for column in columns)
    X, y, s = parts["train"]
    groups, B = len(data.group_names[setting]), training.batch_size
    streams = KINDS[training.streams](seed, CPU)
    model = Plain(X.shape[1], hidden, groups, streams)
    optimiser = torch.optim.Adam(
        model.parameters(), lr=learning_rate, weight_decay=training.weight_decay, fused=True
    )
    noise_of = streams.noise(setting)
    history: list[float] = []
    best, waited = math.inf, 0
    for epoch in range(training.epochs):
        tau = temperature / 2 ** (epoch // halve_every)
        order = streams.order(len(y))
        whole = len(y) // B * B
        starts = [*range(0, whole, CHUNK * B), whole, len(y)]  # noise is drawn chunk by chunk
        for start, end in pairwise(dict.fromkeys(starts)):
            steps = order[start:end].split(B)
            drawn = noise_of.draw("train", len(steps), groups, len(steps[0]))
            for rows, noise in zip(steps, drawn, strict=True):
                found = model(X[rows], y[rows], s[rows], noise.T, alpha, tau)
                optimiser.zero_grad()
                torch.stack([found[t] for t in terms]).sum().backward()
                optimiser.step()
        with torch.no_grad():
            Xv, yv, sv = parts["validation"]
            noise = noise_of.draw("validation", 1, groups, len(yv))[0]
            found = model(Xv, yv, sv, noise.T, alpha, tau)
            history.append(float(sum(found[t] for t in terms)))
        best, waited = (history[-1], 0) if history[-1] < best else (best, waited + 1)
        if waited == training.patience:
            break
    return model, history


def probabilities(model: Plain, data: Prepared, part: str) -> Tensor:
    with torch.no_grad():
        X = torch.from_numpy(data.X[data.split[part]])
        return model.target(model.extractor(X)).softmax(1)[:, 1]
