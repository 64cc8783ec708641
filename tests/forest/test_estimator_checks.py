"""scikit-learn's own checks of an estimator's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr.forest import ForestClassifier, ForestRegressor

_WEIGHTS = "a bootstrap draws rows, not weights: repeating a row changes what is drawn"


def expected_failures(estimator):
    if not estimator.bootstrap:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        ForestRegressor(5),
        ForestRegressor(5, bootstrap=False),
        ForestClassifier(20),
        ForestClassifier(20, bootstrap=False, max_features=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    check(estimator)
