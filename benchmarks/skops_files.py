"""What a file of skops may do to whoever loads it: why `moreplr.save` has a format of its own.

    pip install skops
    python benchmarks/skops_files.py

The files are crafted, and hold only types that skops trusts by default. Each is loaded and used
in a process of its own, under Linux.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
import zipfile

import numpy as np
import skops
import skops.io
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

ROWS = np.arange(60.0).reshape(20, 3)


def miscounted_encoder() -> bytes:
    """It has three categories, and says that it has one output."""
    model = OneHotEncoder(sparse_output=False).fit([["a"], ["b"], ["c"]])
    model._n_features_outs = [1]
    return skops.io.dumps(model)


def far_support_vectors() -> bytes:
    """The support vectors are rows far behind the last."""
    model = SVC(kernel="precomputed").fit(ROWS @ ROWS.T, np.arange(20) % 2)
    model.support_ = model.support_ + np.int32(2**30)
    return skops.io.dumps(model)


def many_zeros() -> bytes:
    """The means of a scaler are a billion zeros, deflated."""
    model = StandardScaler().fit(ROWS)
    model.mean_ = np.zeros(10**9, np.uint8)
    return skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)


FILES = {
    miscounted_encoder: [["c"]] * 200_000,
    far_support_vectors: ROWS @ ROWS.T,
    many_zeros: None,
}


def use(data: bytes, rows: object) -> None:
    """Load the model, call it if there are rows, and say what that takes."""
    before, begin = _peak(), time.perf_counter()
    model = skops.io.loads(data)
    if rows is not None:
        getattr(model, "predict" if hasattr(model, "predict") else "transform")(rows)
    seconds = time.perf_counter() - begin
    print(f"  takes up to {_peak() - before:,.0f} MB and {seconds:.1f} s", flush=True)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    context = multiprocessing.get_context("spawn")
    print("skops", skops.__version__)
    for make, rows in FILES.items():
        data = make()
        print(f"{make.__name__}, a file of {len(data) / 1000:,.0f} kB:", flush=True)
        process = context.Process(target=use, args=[data, rows])
        process.start()
        process.join()
        if process.exitcode:
            print(f"  kills the interpreter: {signal.Signals(-process.exitcode).name}")


if __name__ == "__main__":
    main()
