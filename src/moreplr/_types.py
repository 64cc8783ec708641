"""Names for the arrays that pass between modules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Floats of any meaning."""
Positions = NDArray[np.float64]
"""Rankings (n_samples, n_labels): smaller is better, equal is tied, NaN is not ranked."""
Labels = NDArray[Any]
"""Label names (n_labels,), of type object."""
