"""Draw the picture of the README: predicted bucket orders, and the probabilities behind one.

python examples/readme_picture.py docs/_static/readme.png
"""

from __future__ import annotations

import sys

import matplotlib as mpl

from moreplr import RankingForest
from moreplr.datasets import load
from moreplr.plotting import PairsDisplay, RankingDisplay


def main(path: str) -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    X, Y = load("digits")
    forest = RankingForest(random_state=0).fit(X[::2], Y[::2])
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(11, 4), width_ratios=[3, 2], layout="constrained"
    )
    RankingDisplay.from_estimator(forest, X[1:10:2], ax=left)
    left.set_title("Predicted bucket orders of five rows")
    PairsDisplay.from_estimator(forest, X[1:2], ax=right)
    right.set_title("Probabilities behind the first")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
