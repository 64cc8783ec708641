"""The data sets of the paper's table: their sizes and their identifiers on OpenML.

Thies, Alfaro and Bengs: MORE-PLR, multi-output regression employed for partial label ranking,
table of appendix B. Two columns are not in the table: `missing_codes` are the numbers that the
published experiments took for a missing answer, and `fingerprint` is a checksum of the data that
the paper's results come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import pandas as pd


@dataclass(frozen=True)
class Entry:
    """A row of the paper's table."""

    problem: str
    name: str
    openml_id: int | None
    instances: int
    features: int
    labels: int
    missing_codes: tuple[float, ...]
    fingerprint: str


@lru_cache
def entries() -> dict[tuple[str, str], Entry]:
    """All entries by problem and name."""
    with files("moreplr.datasets").joinpath("paper.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    found = {}
    for row in table.to_dict("records"):
        problem, name = row["problem"], row["dataset"]
        found[problem, name] = Entry(
            problem,
            name,
            int(row["openml_id"]) if row["openml_id"] else None,
            int(row["instances"]),
            int(row["features"]),
            int(row["labels"]),
            tuple(map(float, row["missing_codes"].split())),
            row["fingerprint"],
        )
    return found
