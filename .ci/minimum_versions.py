"""Print pip constraints for the oldest version that pyproject.toml admits of each dependency."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
for requirement in (requirement for group in groups for requirement in group):
    found = re.fullmatch(r"([\w.-]+)(?:\[[^]]*\])?>=([\d.]+)", requirement)
    if found:
        parts = found[2].split(".")
        print(f"{found[1]}=={'.'.join([*parts, '0'][:max(2, len(parts))])}{'.*' * (len(parts) < 3)}")
