"""Change one sign or number of a module at a time, and see whether its tests notice.

    python .ci/mutation.py [encoders layers metrics aggregation]

Each change is made in a copy of the package, in a fork that runs the tests of that module; it
takes seconds, and some minutes where kernels are compiled. What survives is printed, but for what
.ci/survivors.txt lists: changes that were looked at and make no difference to a user. It ends
with an error where others survive.
"""

from __future__ import annotations

import ast
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
KNOWN = ROOT / ".ci" / "survivors.txt"
# A module or folder, and the tests that state what it does.
TARGETS = {
    "encoders": "tests/test_encoders.py",
    "layers": "tests/test_layers.py",
    "metrics": "tests/metrics",
    "aggregation": "tests/aggregation",
}
SECONDS = 300  # a change may make a loop endless
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


def survives(path: Path, text: str, tests: str) -> bool:
    """Whether the tests pass with this text of a module."""
    path.write_text(text, "utf-8")
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        import pytest

        options = ["-qx", "--import-mode=importlib", "-pno:cacheprovider", "-pno:xdist"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        os._exit(int(pytest.main([*options, "-o", "addopts=", str(ROOT / tests)])))
    return os.waitpid(child, 0)[1] == 0


def survivors(path: Path, tests: str, known: set[str]) -> Iterator[str]:
    """Change a module everywhere, and give the changed lines that its tests let pass."""
    text = path.read_text("utf-8")
    if not survives(path, text, tests):
        raise SystemExit(f"{tests} fail without any change")
    tree = ast.parse(text)
    for holder in changes(tree):
        if survives(path, ast.unparse(tree), tests):
            line = f"{path.name}: {ast.unparse(holder).splitlines()[0]}"
            if line not in known:
                yield f"{line}  (line {holder.lineno})"
    path.write_text(text, "utf-8")


def main(names: list[str]) -> None:
    known = set(KNOWN.read_text("utf-8").splitlines())
    with tempfile.TemporaryDirectory() as room:
        copy = Path(room, "src")
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        sys.dont_write_bytecode = True  # files change within a second, which it would not notice
        sys.path.insert(0, str(copy))
        os.environ["NUMBA_CACHE_DIR"] = str(Path(room, "numba"))
        os.chdir(room)
        # What all forks need is imported once.
        import hypothesis, numba, pandas, pytest, sklearn.base  # noqa: E401, F401, I001

        new = 0
        for name in names or TARGETS:
            module = copy / "moreplr" / name
            paths = sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]
            for path in paths:
                for line in survivors(path, TARGETS[name], known):
                    print(line, flush=True)
                    new += 1
    print(f"{new} changes survive that nobody has looked at")
    sys.exit(bool(new))


if __name__ == "__main__":
    main(sys.argv[1:])
