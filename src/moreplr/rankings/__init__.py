"""Rankings in one canonical form, and conversions to it and from it.

The canonical form of `n` rankings of `k` labels is a float array of shape `(n, k)` of
*positions*: smaller is better, equal is tied, NaN is not ranked. Everything inside the library
trusts this form. :func:`check_rankings` makes it from arrays, frames, texts and buckets; the
other functions make it from what surveys, votes, ratings and measurements give.
"""

from moreplr.rankings._canonical import (
    check_rankings,
    from_buckets,
    from_text,
    to_buckets,
    to_frame,
    to_text,
)
from moreplr.rankings._choices import from_choices, to_choices
from moreplr.rankings._frames import RankedTable
from moreplr.rankings._long import from_long, to_long
from moreplr.rankings._matrices import (
    bucket_matrix,
    count_buckets,
    dense_ranks,
    pair_order_matrix,
)
from moreplr.rankings._preflib import read_preflib, write_preflib
from moreplr.rankings._scores import from_ratings, from_scores, to_scores
from moreplr.rankings._votes import from_votes, to_votes

__all__ = [
    "RankedTable",
    "bucket_matrix",
    "check_rankings",
    "count_buckets",
    "dense_ranks",
    "from_buckets",
    "from_choices",
    "from_long",
    "from_ratings",
    "from_scores",
    "from_text",
    "from_votes",
    "pair_order_matrix",
    "read_preflib",
    "to_buckets",
    "to_choices",
    "to_frame",
    "to_long",
    "to_scores",
    "to_text",
    "to_votes",
    "write_preflib",
]
