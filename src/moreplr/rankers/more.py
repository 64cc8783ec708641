"""MORE: encoder, multi-output regressor and post-hoc layer, composed into a ranker."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from moreplr._types import Array, Positions, Seed, Weights
from moreplr._validation import check_name
from moreplr.aggregation import aggregate
from moreplr.base import CELL_BYTES, BaseRanker, PositionRegressor, chunks
from moreplr.encoders import METHODS, RankEncoder
from moreplr.layers import LAYERS, Layer
from moreplr.regressors import REGRESSORS, SingleTarget, gives_intervals, predict_interval
from moreplr.regressors._fitting import fit_weighted, labels_named

# Bytes for each row and label: position, interval, rank, and temporary arrays.
_OUTPUT_BYTES = 256


class Outputs(NamedTuple):
    """Predictions of a regressor for some rows, in the form that layers decode."""

    positions: Array
    half_widths: Array | None


class MORERanker(BaseRanker):
    """Partial label ranking by multi-output regression (MORE-PLR).

    Rankings are encoded as positions, a multi-output regressor learns them, and a layer turns
    predicted positions into a bucket order. Each part is given by name or as an object.

    Parameters
    ----------
    encoder : {"dense", "standard", "modified", "fractional"} or RankEncoder
        The paper uses "dense" with round-rank, "modified" with the other layers.
    regressor : {"single_target", "chain", "stacking", "native", "svr", "gaussian_process", \
"conformal"} or regressor
        An object of :mod:`moreplr.regressors`, or any scikit-learn regressor, which then
        becomes the base of :class:`moreplr.regressors.SingleTarget`.
    layer : {"round_rank", "prediction_interval", "epsilon", "expected_tau"} or Layer
        May be changed on a fitted ranker, since layers are not fitted.
    positions : {"observed", "expected", "given"}, optional
        How the encoder reads incomplete rankings, see :func:`moreplr.encoders.encode`. By default
        as the encoder has it, which is "observed" for one given by name.
    n_jobs : int, optional
        For a regressor given by name that can use it.
    random_state : int, RandomState instance or None
        For a regressor given by name.

    Attributes
    ----------
    regressor_ : the fitted multi-output regressor
    labels_ : object array (n_labels,)

    References
    ----------
    Thies, Alfaro and Bengs: MORE-PLR, multi-output regression employed for partial label
    ranking.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.8], [1.0]]
    >>> Y = ["tea > water ~ milk", "tea > water ~ milk", "milk > tea", "milk > water ~ tea"]
    >>> ranker = MORERanker(random_state=0).fit(X, Y)
    >>> ranker.predict_text([[0.1], [0.9]])
    ['tea > milk ~ water', 'milk > tea ~ water']
    """

    def __init__(
        self,
        encoder: Any = "dense",
        regressor: Any = "single_target",
        layer: Any = "round_rank",
        *,
        positions: str | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.encoder = encoder
        self.regressor = regressor
        self.layer = layer
        self.positions = positions
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the regressor on encoded rankings.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        encoder, regressor, layer = self._encoder(), self._regressor(), self._layer()
        self._check_intervals(layer, regressor)
        X, Y, weight = self._check_fit(X, y, sample_weight)
        with labels_named(self.labels_):
            self.regressor_ = fit_weighted(regressor, X, encoder.fit_transform(Y), weight)
        return self

    def predict(
        self,
        X: Any,
        *,
        n_buckets: int | None = None,
        top: int | None = None,
        total_order: bool = False,
    ) -> Any:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Without options, the layer makes the buckets. With an option, the labels are sorted by
        predicted position and cut into buckets. The preference for one label over another is 0.5
        plus half the distance of their positions, as a share of the row's range. The cuts with the
        least L1 distance to these preferences are chosen.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_buckets : int, optional
            Predict exactly this many buckets.
        top : int, optional
            Rank only this many labels; all others share the last bucket.
        total_order : bool, default=False
            Predict no ties, except in the last bucket of `top`.
        """
        if n_buckets is None and top is None and not total_order:
            given, X = X, self._check_predict(X)
            ranks = np.empty((X.shape[0], len(self.labels_)))
            for rows in chunks(len(ranks), _OUTPUT_BYTES * ranks.shape[1]):
                ranks[rows] = self.decode(self._outputs(X[rows]))
            return self._output(ranks, given)
        positions = self.predict_positions(X)
        n, k = positions.shape
        ranks = np.empty((n, k))
        for rows in chunks(n, CELL_BYTES * k**2):
            gaps = positions[rows, None, :] - positions[rows, :, None]
            widest = gaps.max(axis=(1, 2), keepdims=True)
            share = np.divide(gaps, widest, out=np.zeros_like(gaps), where=widest > 0)
            ranks[rows] = aggregate(
                0.5 + share / 2,
                "segments",
                n_buckets=n_buckets,
                top=top,
                total_order=total_order,
            )
        return self._output(ranks, X)

    def predict_positions(self, X: Any) -> Array:
        """Predict the positions ŷ that the layer decodes."""
        return self.predict_outputs(X).positions

    def predict_outputs(self, X: Any, *, intervals: bool | None = None) -> Outputs:
        """Predict positions, with half-widths if the layer needs them or `intervals` is true.

        With `intervals=True`, every layer can decode the result, any number of times.
        """
        return self._outputs(self._check_predict(X), intervals)

    def _outputs(self, X: Array, intervals: bool | None = None) -> Outputs:
        layer = self._layer()
        if layer.needs_intervals if intervals is None else intervals:
            self._check_intervals(layer, self.regressor_)
            return Outputs(*predict_interval(self.regressor_, X))
        return Outputs(self.regressor_.predict(X), None)

    def decode(self, outputs: Outputs, layer: Any = None) -> Positions:
        """Turn stored outputs into dense ranks, with this ranker's layer or another.

        Examples
        --------
        A sweep over ε that fits and predicts once:

        >>> from moreplr.layers import EpsilonCloseness
        >>> X, Y = [[0.0], [1.0], [2.0]], [[1, 2, 2], [2, 1, 3], [3, 2, 1]]
        >>> ranker = MORERanker("modified", random_state=0).fit(X, Y)
        >>> outputs = ranker.predict_outputs(X)
        >>> [int(ranker.decode(outputs, EpsilonCloseness(e)).max()) for e in (0.0, 0.99)]
        [3, 1]
        """
        check_is_fitted(self)
        return self._layer(layer).decode(outputs.positions, outputs.half_widths)

    def _encoder(self) -> Any:
        encoder = self.encoder
        if isinstance(encoder, str):
            check_name("encoder", encoder, METHODS)
            encoder = RankEncoder(encoder)
        elif not hasattr(encoder, "fit_transform"):
            raise TypeError(f"encoder must be a name or a RankEncoder, got {encoder!r}")
        if self.positions is not None:
            encoder = clone(encoder).set_params(positions=self.positions)
        return encoder

    def _regressor(self) -> Any:
        regressor = self.regressor
        if isinstance(regressor, str):
            check_name("regressor", regressor, tuple(REGRESSORS))
            known = REGRESSORS[regressor]()
            own = {"n_jobs": self.n_jobs, "random_state": self.random_state}
            return known.set_params(**{k: v for k, v in own.items() if k in known.get_params()})
        if isinstance(regressor, PositionRegressor):
            return clone(regressor)
        return SingleTarget(regressor)

    def _layer(self, layer: Any = None) -> Layer:
        layer = self.layer if layer is None else layer
        if isinstance(layer, str):
            check_name("layer", layer, tuple(LAYERS))
            return LAYERS[layer]()
        if not hasattr(layer, "needs_intervals"):
            raise TypeError(f"layer must be a name or a layer, got {layer!r}")
        return layer

    def _check_intervals(self, layer: Layer, regressor: Any) -> None:
        if layer.needs_intervals and not gives_intervals(regressor):
            raise ValueError(
                f"{type(layer).__name__} needs prediction intervals, and {regressor!r} has "
                "none; wrap it in moreplr.regressors.Conformal, or use forests"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._regressor()).input_tags.allow_nan
        return tags
