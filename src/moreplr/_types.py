"""Names for the arrays that pass between modules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""Floats of any meaning."""
AnyArray = NDArray[Any]
"""Elements of any type."""
Positions = NDArray[np.float64]
"""Rankings (n_samples, n_labels): smaller is better, equal is tied, NaN is not ranked."""
Weights = ArrayLike | None
"""The type of `sample_weight`: a number for each row."""
Seed = int | np.random.RandomState | None
"""The type of `random_state`."""
Labels = NDArray[Any]
"""Label names (n_labels,), of type object."""
