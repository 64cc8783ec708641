"""The web page about an evaluation: texts, tables and pictures for the template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

import moreplr
from moreplr._files import write_text
from moreplr._pages import render
from moreplr._pages.pictures import to_svg
from moreplr.evaluation._words import (
    CONSENSUS,
    describe,
    estimates,
    folds,
    pairs_right,
    shown,
    verdict,
)
from moreplr.evaluation._worth import worth_of
from moreplr.rankings import count_buckets, dense_ranks
from moreplr.rankings._cells import count, plain

# The page lists this many features, and counts the rest.
_MOST_FEATURES = 40
_MOST_LETTERS = 60
_LEAST_SCALE = 0.62


def write(evaluation: Any, path: Path, title: str | None) -> Path:
    """Write the page and return where it is."""
    data, unseen = evaluation.data, evaluation.unseen
    means, gain = estimates(evaluation.scores, evaluation.level)
    best = max(means, key=lambda name: means[name].mean)
    text = render(
        "evaluation.html",
        title=title or f"Rankings of {data.name}",
        version=moreplr.__version__,
        name=shown(unseen.name),
        size=describe(data),
        folds=folds(evaluation.scores),
        level=f"{evaluation.level:.0%}",
        right={shown(name): pairs_right(found.mean) for name, found in means.items()},
        gain=gain,
        verdict=None if gain is None else verdict(gain),
        best=shown(best),
        overview=data.overview(),
        rankings=_rankings(data),
        labels=_labels(data),
        features=list(_features(data, unseen.kinds))[:_MOST_FEATURES],
        more=max(data.X.shape[1] - _MOST_FEATURES, 0),
        rankers=_rankers(evaluation.scores, means),
        members=unseen.members,
        rows=len(unseen.ranks),
        worth=worth_of(data, unseen.rows, unseen.ranks),
        pictures=_pictures(unseen, [str(label) for label in data.Y]),
        examples=unseen.examples,
        **_words,
    )
    write_text(path, text)
    return path


def _rankings(data: Any) -> list[tuple[str, str]]:
    """Facts about the rankings, each with its name."""
    Y = data.Y.to_numpy(dtype=float)
    ranked = (~np.isnan(Y)).sum(axis=1)
    several = ranked > 1
    ties = count_buckets(Y) < ranked
    found = [
        ("different rankings", f"{data.card().distinct_rankings:,}"),
        ("rank all labels", _percent((ranked == Y.shape[1]).mean())),
        ("labels ranked, on average", f"{ranked.mean():.1f} of {Y.shape[1]}"),
        ("hold a tie", _percent(ties[several].mean() if several.any() else 0)),
    ]
    if not several.all():
        found.append(("rank fewer than two labels, and teach little", f"{(~several).sum():,}"))
    return found


def _labels(data: Any) -> pd.DataFrame:
    """How often each label beats those that it is ranked with, the best first."""
    ranks = dense_ranks(data.Y.to_numpy(dtype=float))
    ranked = ~np.isnan(ranks)
    others = ranked.sum(axis=1) - 1
    rows = []
    for at, label in enumerate(data.Y):
        seen = ranked[:, at] & (others > 0)
        own, all_ = ranks[seen, at][:, None], ranks[seen]
        tied = (own == all_).sum(axis=1) - 1
        beats = ((own < all_).sum(axis=1) + tied / 2) / others[seen]
        shares = (beats, own[:, 0] == 1, tied > 0) if seen.any() else ([np.nan],) * 3
        rows.append((str(label), ranked[:, at].mean(), *map(np.mean, shares)))
    found = pd.DataFrame(rows, columns=["label", "ranked in", "beats", "first", "tied"])
    return found.sort_values("beats", ascending=False, kind="stable")


def _features(data: Any, kinds: dict[str, str]) -> Iterator[dict[str, Any]]:
    """What each column holds."""
    for name, values in data.X.items():
        known = values.dropna()
        numbers = pd.api.types.is_numeric_dtype(values.dtype)
        if not len(known):
            holds = "nothing"
        elif numbers and not pd.api.types.is_bool_dtype(values.dtype):
            least, half, most = map(plain, (known.min(), known.median(), known.max()))
            holds = f"{least} to {most}, half below {half}"
        elif known.nunique() == len(known) > 1:
            holds = f"such as {clipped(known.iloc[0])}"
        else:
            often = known.astype(str).value_counts(sort=True)
            holds = (
                f"most often {clipped(often.index[0])} ({_percent(often.iloc[0] / len(known))})"
            )
        yield {
            "name": str(name),
            "kind": kinds.get(str(name), "number" if numbers else "text"),
            "gaps": values.isna().mean(),
            "different": known.nunique(),
            "holds": holds,
        }


def _rankers(scores: pd.DataFrame, means: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each ranker, the best first."""
    table = scores.groupby("ranker")[["top_one", "fit_seconds"]].mean()
    return [
        {
            "name": shown(name),
            "tau": means[name],
            "right": pairs_right(means[name].mean),
            "top_one": table.loc[name, "top_one"],
            "seconds": table.loc[name, "fit_seconds"],
        }
        for name in sorted(means, key=lambda name: -means[name].mean)
    ]


def _pictures(unseen: Any, labels: list[str]) -> dict[str, Markup]:
    """SVG of what can be drawn."""
    from moreplr.plotting import (
        ImportancesDisplay,
        LearningCurveDisplay,
        OrderCalibrationDisplay,
        PairsDisplay,
        TieCalibrationDisplay,
    )

    found: dict[str, Any] = {}
    pairs, true = unseen.pairs, unseen.Y
    if pairs is None:
        ranks = unseen.ranks
        pairs = (
            (ranks[:, :, None] < ranks[:, None]) * 1.0,
            (ranks[:, :, None] == ranks[:, None]) * 1.0,
        )
    else:
        gap = true[:, :, None] - true[:, None]
        if (gap < 0).any():
            found["order"] = OrderCalibrationDisplay.from_predictions(true, pairs)
        if (gap[:, *np.triu_indices(len(labels), 1)] == 0).any():
            found["ties"] = TieCalibrationDisplay.from_predictions(true, pairs)
    found["pairs"] = PairsDisplay.from_predictions(pairs[0], pairs[1], labels)
    losses = unseen.losses
    if len(losses):
        names = [clipped(name) for name in unseen.data.X]
        display = ImportancesDisplay(
            losses.mean(axis=0), names, losses.std(axis=0), "τ_X lost when the column is shuffled"
        )
        found["importances"] = display.plot()
        rows, scores = unseen.curve
        if np.isfinite(scores).all():
            found["curve"] = LearningCurveDisplay(rows, scores).plot()
    return {name: _svg(display) for name, display in found.items()}


def _svg(display: Any) -> Markup:
    """A display as SVG. On a phone it shrinks as far as its words can be read, then scrolls."""
    from matplotlib import pyplot

    svg = to_svg(display.figure_)
    pyplot.close(display.figure_)
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]
    return Markup(
        svg.replace("<svg ", f'<svg style="min-width: {_LEAST_SCALE * width:.0f}pt" ', 1)
    )


def clipped(value: Any) -> str:
    """A value as text, cut if it is long."""
    text = plain(value) if isinstance(value, float) else str(value)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


def _percent(share: Any) -> str:
    """A share as text; only nothing is 0% and only all is 100%.

    Examples
    --------
    >>> _percent(0.0), _percent(0.004), _percent(0.996), _percent(0.256)
    ('0%', '<1%', '>99%', '26%')
    """
    if share != share:
        return ""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 < share < 1:
        return ">99%"
    return f"{share:.0%}"


_words = {
    "clipped": clipped,
    "plain": plain,
    "percent": _percent,
    "count": count,
    "consensus": shown(CONSENSUS),
}
