"""The order in which the gallery shows its examples."""

ORDER = [
    "first_ten_minutes.py",
    "vacation_destinations.py",
    "algorithm_selection.py",
    "language_models.py",
    "incomplete_rankings.py",
    "uncertainty.py",
    "plots.py",
    "comparing_methods.py",
]


def place(filename: str) -> int:
    """Where a file stands; one that is not named here comes last."""
    return ORDER.index(filename) if filename in ORDER else len(ORDER)
