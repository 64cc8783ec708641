"""Time τ_X on 20,000 rankings of 26 labels, complete and with gaps.

python benchmarks/metrics.py
"""

from __future__ import annotations

import time

import numpy as np

from moreplr.incomplete import remove_labels
from moreplr.metrics import tau_x_score


def cpu_seconds(true: np.ndarray, predicted: np.ndarray) -> float:
    tau_x_score(true, predicted)
    started = time.process_time()
    tau_x_score(true, predicted)
    return time.process_time() - started


def main() -> None:
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(1, 15, size=(2, 20_000, 26)).astype(float)
    print(f"complete        {cpu_seconds(true, predicted):.3f} s CPU")
    gaps = remove_labels(true, 0.3, random_state=0)
    print(f"30 % missing    {cpu_seconds(gaps, predicted):.3f} s CPU")


if __name__ == "__main__":
    main()
