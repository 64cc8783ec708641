"""Which encoder, q and ε are best, from the report of the plan `sweeps`.

    python benchmarks/sweep_tables.py [benchmarks/results/sweeps]

Mean τ_X over data sets, by kind of data and share of missing labels, of the three regressors
together; Chain and Native learn from what is there. Values of ε are on the paper's scale, half of
the library's.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd

NAME = re.compile(
    r"(?P<regressor>ST|Chain|Native)-(?P<layer>RR|PI|EPS)(?P<published> \(published\))?"
    r"(?: (?P<name>q|epsilon)=(?P<value>[\d.]+))?(?: encoder=(?P<encoder>\w+))?$"
)
DEFAULTS = {"RR": "dense", "PI": "modified", "EPS": "modified"}


def main(folder: str = "benchmarks/results/sweeps") -> None:
    cells = pd.read_csv(Path(folder, "summary.csv.gz"))
    parts = cells["method"].str.extract(NAME.pattern)
    cells = cells.join(parts)[parts["published"].isna()]
    cells["encoder"] = cells["encoder"].fillna(cells["layer"].map(DEFAULTS))
    cells["value"] = cells["value"].astype(float)
    cells.loc[cells["layer"] == "EPS", "value"] /= 2
    print(f"{cells.groupby('problem')['dataset'].nunique().to_dict()} data sets\n")
    standard = cells[cells["encoder"] == cells["layer"].map(DEFAULTS)]
    for layer, name in (("PI", "q"), ("EPS", "ε")):
        print(f"{name}, in the order of its values\n\n{table(standard, layer, 'value')}\n")
    chosen = {"RR": None, "PI": 1.0, "EPS": 0.03}
    for layer, value in chosen.items():
        some = cells if value is None else cells[cells["value"] == value]
        setting = "" if value is None else f" at {value:g}"
        print(f"encoders with {layer}{setting}\n\n{table(some, layer, 'encoder')}\n")


def table(cells: pd.DataFrame, layer: str, column: str) -> str:
    wide = cells[cells["layer"] == layer].pivot_table(
        "tau_x", column, ["problem", "missing"], aggfunc="mean"
    )
    names = [f"{problem.upper()} {missing:.0%}" for problem, missing in wide.columns]
    lines = [[column, *names], ["---"] * (len(names) + 1)]
    for value, row in zip(wide.index, wide.to_numpy(), strict=True):
        shown = value if isinstance(value, str) else f"{value:g}"
        lines.append([shown, *(f"{one:.3f}" for one in row)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
