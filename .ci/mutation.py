"""Change one sign or number of a module at a time, and see whether its tests notice.

    python .ci/mutation.py [--every N] [encoders layers metrics aggregation …]

Names are modules or folders of the package, such as aggregation/_exact. Each change is made in a
copy of the package, in a fork that runs the test file of that module; most take a second or two.
With --every N only each Nth change is made. What survives is printed, but for what
.ci/survivors.txt lists with a reason: changes that make no difference to a user. It ends with an
error where others survive.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[1]
KNOWN = ROOT / ".ci" / "survivors.txt"
NAMES = ["encoders", "layers", "metrics", "aggregation"]
# Kernels of these folders run as plain Python: to compile them for each change would take days.
PLAIN = ("aggregation",)
# A change may make a loop endless: so many times what the tests take without one, and seconds.
PATIENCE, MORE_SECONDS = 5, 20
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Invert: ast.UAdd, ast.Not: None, ast.USub: ast.UAdd,
}  # fmt: skip


def changes(tree: ast.AST) -> Iterator[ast.stmt]:
    """Make each change in turn, give the statement that holds it, and take it back."""
    for holder, node in list(_code(tree)):
        if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
            value = node.value
            node.value = not value if isinstance(value, bool) else value + 1
            yield holder
            node.value = value
        elif isinstance(node, ast.Compare):
            for place, sign in enumerate(node.ops):
                if type(sign) not in SWAPS:
                    continue
                node.ops[place] = SWAPS[type(sign)]()
                yield holder
                node.ops[place] = sign
        elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.UnaryOp)):
            sign = node.op
            if isinstance(sign, ast.Not):
                node.op, operand = ast.UAdd(), node.operand
                node.operand = ast.Call(ast.Name("bool", ast.Load()), [operand], [])
                yield holder
                node.op, node.operand = sign, operand
            elif type(sign) in SWAPS:
                node.op = SWAPS[type(sign)]()
                yield holder
                node.op = sign


def _code(node: ast.AST, holder: ast.stmt | None = None) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """What runs, and the statement it is part of: no annotations, no texts of errors."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "exc", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                inside = child if isinstance(child, ast.stmt) else holder
                if inside is not None:
                    yield inside, child
                yield from _code(child, inside)


def survives(path: Path, text: str, tests: Path, seconds: float = 0.0) -> bool:
    """Whether the tests pass with this text of a module, within these seconds if there are any."""
    path.write_text(text, "utf-8")
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        import pytest

        options = ["-qx", "--import-mode=importlib", "-pno:cacheprovider", "-pno:xdist"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        os._exit(int(pytest.main([*options, "-o", "addopts=", str(tests)])))
    return os.waitpid(child, 0)[1] == 0


def survivors(path: Path, tests: Path, every: int) -> Iterator[str]:
    """Change a module in many places, and give the changed lines that its tests let pass."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    if next(changes(ast.parse(text)), None) is None:
        return
    start = monotonic()
    if not survives(path, text, tests):
        raise SystemExit(f"{tests} fail without any change")
    seconds = PATIENCE * (monotonic() - start) + MORE_SECONDS
    for holder in islice(changes(tree), 0, None, every):
        if survives(path, ast.unparse(tree), tests, seconds):
            line = f"{path.name}: {ast.unparse(holder).splitlines()[0]}"
            yield f"{line}  (line {holder.lineno})"
    path.write_text(text, "utf-8")


def tests_of(module: Path) -> Path:
    """The test file of a module of the package, at the same path under tests/."""
    path = ROOT / "tests" / module.parent / f"test_{module.stem.lstrip('_')}.py"
    if not path.is_file():
        raise SystemExit(f"{module} has no test file {path.relative_to(ROOT)}")
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("names", nargs="*", default=NAMES)
    given = parser.parse_args()
    known = set(KNOWN.read_text("utf-8").splitlines())
    with tempfile.TemporaryDirectory() as room:
        package = Path(room, "src", "moreplr")
        shutil.copytree(
            ROOT / "src" / "moreplr", package, ignore=shutil.ignore_patterns("__pycache__")
        )
        sys.dont_write_bytecode = True  # files change within a second, which it would not notice
        sys.path.insert(0, str(package.parent))
        os.environ["NUMBA_CACHE_DIR"] = str(Path(room, "numba"))
        os.environ["HYPOTHESIS_PROFILE"] = "mutation"
        os.chdir(room)
        # What all forks need is imported once.
        import hypothesis, numba, pandas, pytest, sklearn.base  # noqa: E401, F401, I001

        new = 0
        for name in given.names:
            module = package / name
            paths = sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]
            numba.config.DISABLE_JIT = name.split("/")[0] in PLAIN
            for path in paths:
                if path.name == "__init__.py":
                    continue
                for line in survivors(path, tests_of(path.relative_to(package)), given.every):
                    if line.split("  (line ")[0] not in known:
                        print(line, flush=True)
                        new += 1
    print(f"{new} changes survive that nobody has looked at")
    sys.exit(bool(new))


if __name__ == "__main__":
    main()
