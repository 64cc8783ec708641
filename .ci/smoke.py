"""What an installed wheel must do: fit, save, load and predict, in Python and in the shell."""

import subprocess
import sys
from pathlib import Path

import moreplr
from moreplr.datasets import load

X, Y = load("wine")
ranker = moreplr.RankingForest(20, random_state=0).fit(X[::2], Y[::2])
score = ranker.score(X[1::2], Y[1::2])
assert score > 0.8, score
moreplr.save(ranker, "wine.moreplr")
again = moreplr.load("wine.moreplr")
assert (again.predict(X[:9]) == ranker.predict(X[:9])).all()
X.join(Y.add_prefix("rank_")).to_csv("wine.csv", index=False)
command = [str(Path(sys.executable).with_name("moreplr"))]
subprocess.run(
    [*command, "fit", "wine.csv", "--labels", "rank_*", "--ranker", "tree", "-o", "t.moreplr"],
    check=True,
)
subprocess.run([*command, "predict", "t.moreplr", "wine.csv", "-o", "ranks.csv"], check=True)
assert len(Path("ranks.csv").read_text().splitlines()) == len(X) + 1
print(f"moreplr {moreplr.__version__}: smoke test passed, tau_x {score:.3f}")
