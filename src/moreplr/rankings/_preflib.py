"""Files of PrefLib, the library of preferences: .soc, .soi, .toc and .toi.

The letters mean strict (s) or with ties (t), and complete (c) or incomplete (i). A line such as
``5: 2,{1,3}`` means that five voters put the second alternative first, and
tied the first and the third. See preflib.org for the format and for data.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from moreplr._files import existing_file, whole_file
from moreplr._types import Positions, Weights
from moreplr._validation import check_sample_weight
from moreplr.rankings._canonical import check_labels, check_rankings, to_buckets
from moreplr.rankings._cells import clip
from moreplr.rankings._frames import RankedTable
from moreplr.rankings._matrices import has_ties

SUFFIXES = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"ALTERNATIVE NAME (\d+)\s*:(.*)")
_BUCKET = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_ORDER = re.compile(rf"(?:{_BUCKET.pattern})(?:,(?:{_BUCKET.pattern}))*")


def read_preflib(path: str | Path) -> RankedTable:
    """Read rankings from a file of PrefLib.

    Returns
    -------
    RankedTable
        Y has a row for each line and a column for each alternative; `sample_weight` is
        the number of voters of each line. There are no features: X has no columns. Join your
        own, or fit a :class:`moreplr.DummyRanker` to X of one constant column.

    See Also
    --------
    write_preflib : the way back.

    Examples
    --------
    >>> import tempfile
    >>> from moreplr.rankings import read_preflib, to_text, write_preflib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/drinks.toi"
    ...     write_preflib(path, ["tea > milk ~ beer", "tea > milk ~ beer", "beer > tea"])
    ...     table = read_preflib(path)
    >>> to_text(table.Y), table.sample_weight
    (['tea > beer ~ milk', 'beer > tea'], array([2., 1.]))
    """
    path = Path(path)
    kind = _kind(path)
    names: dict[int, str] = {}
    voters = None
    weights: list[float] = []
    rows: list[dict[int, int]] = []
    for number, line in _lines(path):
        where = f"{path}: line {number}"
        if line.startswith("#"):
            named = _NAME.match(line[1:].strip())
            if named:
                names[int(named[1])] = named[2].strip()
            elif line[1:].strip().startswith("NUMBER VOTERS:"):
                voters = line.partition(":")[2].strip()
            continue
        if not names:
            raise ValueError(
                f"{where}: there are no lines such as '# ALTERNATIVE NAME 1: tea' before it; "
                "files from before 2022 have another format, which preflib.org no longer has"
            )
        times, colon, order = line.partition(":")
        if not colon or not times.strip().isdecimal():
            raise ValueError(f"{where}: {clip(line)} does not say how many voters: '3: 1,2'")
        weights.append(float(times))
        rows.append(_order(order, names, kind, where))
    if not rows:
        raise ValueError(f"{path} holds no orders")
    if voters is not None and voters != f"{sum(weights):.0f}":
        warnings.warn(
            f"{path} says {voters} voters, but its lines add up to {sum(weights):.0f}",
            UserWarning,
            stacklevel=2,
        )
    labels = check_labels(names[number] for number in sorted(names))
    Y = pd.DataFrame(rows, columns=sorted(names), dtype=float).set_axis(labels.tolist(), axis=1)
    return RankedTable(pd.DataFrame(index=Y.index), Y, np.array(weights))


def write_preflib(
    path: str | Path,
    Y: Any,
    labels: Iterable[Any] | None = None,
    *,
    sample_weight: Weights = None,
    title: str = "",
) -> None:
    """Write rankings to a file of PrefLib, equal ones as one line.

    Parameters
    ----------
    path : str or path
        Its ending decides what the file may hold: .soc strict and complete orders, .soi incomplete
        ones, .toc ties, .toi both.
    Y : rankings in any form that :func:`check_rankings` accepts
        Rows that rank nothing are left out.
    labels : iterable, optional
    sample_weight : array (n_samples,), optional
        How many voters gave each ranking, whole numbers.
    title : str
    """
    path = Path(path)
    kind = _kind(path)
    positions, names = check_rankings(Y, labels)
    _check_kind(positions, kind, path)
    weight = check_sample_weight(sample_weight, len(positions))
    weight = np.ones(len(positions)) if weight is None else weight
    if (weight != np.round(weight)).any():
        raise ValueError("sample_weight must be whole numbers, as PrefLib counts voters")
    counts: Counter[str] = Counter()
    for row, times in zip(to_buckets(positions, range(1, 1 + len(names))), weight, strict=True):
        if times and row:
            counts[_order_text(row)] += int(times)
    heading = [
        f"FILE NAME: {path.name}",
        f"TITLE: {title}",
        f"DATA TYPE: {kind}",
        f"NUMBER ALTERNATIVES: {len(names)}",
        f"NUMBER VOTERS: {sum(counts.values())}",
        f"NUMBER UNIQUE ORDERS: {len(counts)}",
        *(f"ALTERNATIVE NAME {number}: {name}" for number, name in enumerate(names, start=1)),
    ]
    lines = [f"# {line}" for line in heading]
    lines += [f"{times}: {order}" for order, times in counts.most_common()]
    with whole_file(path) as name:
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _kind(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: PrefLib's files of rankings end in {', '.join(SUFFIXES)}")
    return path.suffix.lower()[1:]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = existing_file(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text, as PrefLib's files are") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, line.strip()


def _order(text: str, names: dict[int, str], kind: str, where: str) -> dict[int, int]:
    text = text.replace(" ", "")
    ranks: dict[int, int] = {}
    if not _ORDER.fullmatch(text):
        raise ValueError(f"{where}: {clip(text)} is not an order such as '2,{{1,3}}'")
    for rank, bucket in enumerate(_BUCKET.finditer(text), start=1):
        numbers = (bucket[1] if bucket[1] is not None else bucket[2]).split(",")
        if len(numbers) > 1 and kind[0] == "s":
            raise ValueError(f"{where}: a tie in a .{kind} file, whose orders are strict")
        for one in numbers:
            if not one.isdecimal() or int(one) not in names:
                raise ValueError(f"{where}: there is no alternative {clip(one)}")
            if int(one) in ranks:
                raise ValueError(f"{where}: alternative {one} is ranked twice")
            ranks[int(one)] = rank
    if kind[2] == "c" and len(ranks) < len(names):
        raise ValueError(
            f"{where}: {len(ranks)} of {len(names)} alternatives in a .{kind} file, whose orders "
            "are complete"
        )
    return ranks


def _order_text(buckets: list[list[int]]) -> str:
    texts = [",".join(map(str, bucket)) for bucket in buckets]
    return ",".join("{" + text + "}" if "," in text else text for text in texts)


def _check_kind(positions: Positions, kind: str, path: Path) -> None:
    ranked = (~np.isnan(positions)).sum(axis=1)
    ties = "t" if has_ties(positions).any() else "s"
    gaps = "i" if ((ranked > 0) & (ranked < positions.shape[1])).any() else "c"
    if (ties == "t" and kind[0] == "s") or (gaps == "i" and kind[2] == "c"):
        raise ValueError(f"{path}: rankings with ties or gaps; name the file .{ties}o{gaps}")
