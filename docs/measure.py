"""Measure the tables of the site: run plans of docs/plans, write docs/measured/PLAN.csv.

`python docs/measure.py choosing incomplete` runs each plan anew, one fit at a time. The scores
are the same on every machine with the same versions; the seconds are CPU time of this one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pandas as pd

from moreplr.experiments import Plan, results, run

HERE = Path(__file__).parent
METHODS = ["ST-RR", "ST-PI", "ST-EPS", "Chain-RR", "Native-RR", "Native-PI", "Native-EPS"]
METHODS += ["RPC", "RPC (optimal)", "Forest", "kNN", "Tree", "Dummy"]


def main(names: list[str]) -> None:
    os.environ.pop("MOREPLR_DATA", None)  # the bundled data, whatever folder is set
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "results.sqlite"
            run(Plan.load(HERE / "plans" / f"{name}.toml"), store, progress=True)
            frame = results(store)
        if (frame["status"] != "ok").any():
            raise SystemExit(f"{name}: some results failed: {set(frame['message'])}")
        path = HERE / "measured" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        TABLES[name](frame).to_csv(path, index=False, lineterminator="\n")
        print(path)


def choosing(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean τ_X of each method and data set, and the CPU seconds of a fold of the largest."""
    seconds = frame.assign(seconds=frame["fit_seconds"] + frame["predict_seconds"])
    largest = seconds.query("problem == 'plr' and dataset == 'digits'")
    table = frame.pivot_table(index="method", columns=["problem", "dataset"], values="tau_x")
    order = [(p, d) for p in ("plr", "lr") for d in ("iris", "wine", "digits")]
    table = best_in_bold(table.loc[METHODS, order])
    table.columns = [f"{dataset} ({problem})" for problem, dataset in order]
    table["seconds"] = largest.groupby("method")["seconds"].mean().map("{:.2f}".format)
    return table.reset_index(names="method")


def incomplete(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean τ_X under each protocol, by the share of missing labels."""
    complete = frame.query("missing == 0")
    both = [complete.assign(protocol=protocol) for protocol in ("honest", "published")]
    frame = pd.concat([frame.query("missing > 0"), *both])
    table = frame.pivot_table(
        index=["protocol", "method"], columns=["dataset", "missing"], values="tau_x"
    )
    # Variants for one protocol were not run on complete rankings: there they are nothing new.
    table = table[table.iloc[:, 1:].notna().any(axis=1)].dropna(thresh=3)
    table = table.groupby(level="protocol", group_keys=False).apply(best_in_bold)
    table.columns = [f"{dataset} {missing:.0%}" for dataset, missing in table.columns]
    return table.reset_index()


def best_in_bold(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers as texts of three digits, the best of each column in bold."""
    digits = table.round(3)
    out = digits.map(lambda value: "" if pd.isna(value) else f"{value:.3f}")
    return out.where(digits != digits.max(), "**" + out + "**")


TABLES = {"choosing": choosing, "incomplete": incomplete}

if __name__ == "__main__":
    main(sys.argv[1:] or list(TABLES))
