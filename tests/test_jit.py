"""Kernels compile where nothing can be cached, and say so once."""

import os
import subprocess
import sys
import textwrap

import pytest

from moreplr._jit import drop_stale

_KERNEL = """
from moreplr._jit import jit

@jit
def double(x):
    return x + x
"""


def run(code, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "moreplr_kernel.py").write_text(_KERNEL)
    return tmp_path


def test_without_a_place_for_the_cache_kernels_still_compile(folder):
    code = """
        import moreplr._jit
        import numba.core.caching as caching
        # as if neither the source's folder nor the user's could be written
        caching.CacheImpl._locator_classes = []
        import moreplr_kernel
        print(moreplr_kernel.double(2))
    """
    assert run(code, folder).stdout == "4\n"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_read_only_source_folder_falls_back_to_the_users_cache(folder):
    folder.chmod(0o555)
    try:
        answer = run(
            "import moreplr_kernel; print(moreplr_kernel.double(2))",
            folder,
            HOME=str(folder),
            PYTHONDONTWRITEBYTECODE="1",
        )
    finally:
        folder.chmod(0o755)
    assert answer.stdout == "4\n"


def test_compiling_is_announced_once_and_loading_is_silent(tmp_path):
    code = """
        from moreplr.forest import _random
        import numpy as np
        counts = np.zeros(3, np.int32)
        _random.draw_counts(np.zeros(1, np.uint64), 3, counts)
        print(counts.sum())
    """
    first, second = (run(code, tmp_path, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout == second.stdout == "3\n"
    assert first.stderr.count("compiling") == 1
    assert second.stderr == ""


def test_kernels_older_than_a_module_that_they_inline_are_compiled_anew(tmp_path):
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    index, helper, kernel = cache / "_kernel.f-1.nbi", tmp_path / "_helper.py", tmp_path / "_k.py"
    index.touch()
    helper.touch()
    kernel.write_text(_KERNEL)
    other = tmp_path / "elsewhere" / "_other.py"
    other.parent.mkdir()
    other.touch()  # no kernel in its folder
    for path, time in ((helper, 100), (kernel, 20), (index, 200), (other, 300)):
        os.utime(path, (time, time))
    drop_stale(tmp_path)
    assert index.exists()
    os.utime(index, (50, 50))
    drop_stale(tmp_path)
    assert not index.exists()
