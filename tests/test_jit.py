"""Kernels compile where nothing can be cached, and say so once."""

import os
import subprocess
import sys
import textwrap

import pytest

from moreplr._jit import jit
from moreplr.forest.kernels import traverse

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
        env={k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "moreplr_kernel.py").write_text(_KERNEL)
    return tmp_path


def test_kernels_let_other_threads_run():
    assert jit(lambda x: x).targetoptions["nogil"]
    assert traverse.add_up.targetoptions["nogil"]


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
        from moreplr.forest.kernels import random
        import numpy as np
        counts = np.zeros(3, np.int32)
        random.draw_counts(np.zeros(1, np.uint64), 3, 3, counts)
        print(counts.sum())
    """
    first, second = (run(code, tmp_path, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.stdout == second.stdout == "3\n"
    assert first.stderr.count("compiling") == 1
    assert second.stderr == ""


def kernels(folder, helper):
    """A kernel that calls a helper of its own folder."""
    (folder / "moreplr_helper.py").write_text(
        f"from moreplr._jit import inlined\n\n@inlined\ndef helper(x):\n    return {helper}\n"
    )
    (folder / "moreplr_kernel.py").write_text(
        "from moreplr._jit import jit\nfrom moreplr_helper import helper\n\n"
        "@jit\ndef kernel(x):\n    return helper(x)\n"
    )


_CALL = """
    from moreplr_kernel import kernel
    print(kernel(2), sum(kernel.stats.cache_hits.values()))
"""


def test_a_kernel_is_compiled_anew_when_a_module_of_its_folder_changes(tmp_path):
    kernels(tmp_path, "x + 1")
    assert [run(_CALL, tmp_path).stdout for _ in range(2)] == ["3 0\n", "3 1\n"]
    kernels(tmp_path, "x + 5")
    assert [run(_CALL, tmp_path).stdout for _ in range(2)] == ["7 0\n", "7 1\n"]


def test_time_stamps_do_not_matter(tmp_path):
    kernels(tmp_path, "x + 1")
    run(_CALL, tmp_path)
    for path in tmp_path.glob("*.py"):
        os.utime(path, (2**32, 2**32))
    assert run(_CALL, tmp_path).stdout == "3 1\n"


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 10])
def test_damaged_files_are_replaced(tmp_path, ending, left):
    kernels(tmp_path, "x + 1")
    run(_CALL, tmp_path)
    for path in tmp_path.glob(f"__pycache__/*.{ending}"):
        path.write_bytes(path.read_bytes()[:left])
    damaged, repaired = (run(_CALL, tmp_path) for _ in range(2))
    assert (damaged.stdout, repaired.stdout) == ("3 0\n", "3 1\n")
    assert damaged.stderr.count("can't read") == 1
    assert repaired.stderr == ""


def test_a_full_disk_is_said_once(tmp_path):
    kernels(tmp_path, "x + 1")
    code = """
        from numba.core import caching

        def full(self, key, data):
            raise OSError(28, "No space left on device")

        caching.IndexDataCacheFile.save = full
        from moreplr_kernel import kernel
        print(kernel(2), kernel(2.0))
    """
    answer = run(code, tmp_path)
    assert answer.stdout == "3 3.0\n"
    assert answer.stderr.count("No space left on device") == 1


def test_an_interrupt_while_compiling_is_not_lost(tmp_path):
    """LLVM calls back when code is ready; numba's callback can raise nothing that gets through."""
    kernels(tmp_path, "x + 1")
    code = """
        from numba.core.codegen import CPUCodeLibrary

        real = CPUCodeLibrary._object_compiled_hook

        def interrupted(module, buffer):
            if not seen:
                seen.append(1)
                raise KeyboardInterrupt
            real(module, buffer)

        seen = [1]
        CPUCodeLibrary._object_compiled_hook = interrupted
        from moreplr_kernel import kernel
        kernel(2.0)
        seen.clear()
        try:
            print(kernel(2))
        except KeyboardInterrupt:
            print("interrupted", kernel(2))
    """
    assert run(code, tmp_path).stdout == "interrupted 3\n"
