"""Cross-validation for commands: progress, and warnings of many fits shown once."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd

from moreplr._progress import Progress
from moreplr.cli.declaring import Options
from moreplr.cli.problems import note
from moreplr.datasets import Dataset
from moreplr.evaluation import cross_validate_on
from moreplr.model_selection import Split


def cross_validate(
    data: Dataset,
    rankers: dict[str, Any],
    options: Options,
    progress: Progress,
    watch: Callable[[str, Any, Split], None] | None = None,
) -> pd.DataFrame:
    """Scores of each ranker on the same splits; warnings of many fits are shown once."""
    folds, repeats = options.folds, options.repeats
    if folds < 2 or repeats < 1:
        raise ValueError(f"--folds must be 2 or more, --repeats 1 or more: {folds}, {repeats}")
    with warnings.catch_warnings(record=True, action="always", category=UserWarning) as caught:
        try:
            scores = cross_validate_on(
                data,
                rankers,
                n_folds=folds,
                n_repeats=repeats,
                random_state=options.random_state,
                advance=lambda steps, name: progress.advance(steps, f"{data.name}: {name}"),
                watch=watch,
            )
        except ValueError as error:
            raise ValueError(f"{data.name}: {error}") from error
    _repeat_warnings(caught, len(scores))
    scores.insert(0, "data", data.name)
    return scores


def _repeat_warnings(caught: list[Any], fits: int) -> None:
    """Show once what many fits warned of, if it differs in numbers only."""
    seen: Counter[str] = Counter()
    first: dict[str, str] = {}
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            text = " ".join(str(warning.message).split())
            kind = re.sub(r"\d+", "#", text)
            seen[kind] += 1
            first.setdefault(kind, text)
    for kind, count in seen.items():
        note(f"{first[kind]} (such in {min(count, fits)} of {fits} fits)")
