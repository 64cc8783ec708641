"""Print pip constraints for the oldest version that pyproject.toml admits of each dependency."""

import re
import tomllib
from pathlib import Path

text = Path(__file__).parents[1].joinpath("pyproject.toml").read_text()
project = tomllib.loads(text)["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
seen: set[str] = set()
for requirement in (requirement for group in groups for requirement in group):
    found = re.fullmatch(r"([\w.-]+)(?:\[[^]]*\])?>=([\d.]+)", requirement)
    # What users need comes before what the site needs, which may ask for more of the same package.
    if found and found[1] not in seen:
        name, version = found.groups()
        seen.add(name)
        # 1.26 stands for its newest bug fixes, 8 for 8.0.
        dots = version.count(".")
        print(f"{name}=={version}" + (".0.*", ".*", "")[min(dots, 2)])
