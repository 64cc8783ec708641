"""Write a recipe for conda-forge of the sdist that `make release` has built: dist/recipe.yaml.

    python .ci/recipe.py URL MAINTAINER [MAINTAINER …]

URL is where the sdist is published; maintainers are named as on GitHub. Version, dependencies and
checksum are those of the sdist and pyproject.toml, so that they cannot drift. Where rattler_build
is installed, which conda-forge builds with, the recipe is rendered, too.
"""

import hashlib
import sys
import tomllib
from pathlib import Path

RECIPE = """\
# yaml-language-server: $schema=https://raw.githubusercontent.com/prefix-dev/recipe-format/main/schema.json
schema_version: 1

context:
  version: "{version}"
  python_min: "{python}"

package:
  name: moreplr
  version: ${{{{ version }}}}

source:
  url: {url}
  sha256: {checksum}

build:
  number: 0
  noarch: python
  script: ${{{{ PYTHON }}}} -m pip install . -vv --no-deps --no-build-isolation
  python:
    entry_points:
{scripts}

requirements:
  host:
    - python ${{{{ python_min }}}}.*
    - pip
{host}
  run:
    - python >=${{{{ python_min }}}}
{run}

tests:
  - python:
      imports:
        - moreplr
      pip_check: true
      python_version:
        - ${{{{ python_min }}}}.*
        - "*"
  - script:
      - moreplr --help
      - moreplr datasets

about:
  summary: {summary}
  license: {license}
  license_file: {license_file}
{links}
extra:
  recipe-maintainers:
{maintainers}
"""


def items(values: list[str], indent: int = 4) -> str:
    """Lines of a YAML list; a requirement has a blank before its version."""
    return "\n".join(f"{' ' * indent}- {value.replace('>=', ' >=', 1)}" for value in values)


def links(urls: dict[str, str]) -> str:
    """Lines of the addresses that pyproject.toml has."""
    names = {"Repository": ("homepage", "repository"), "Documentation": ("documentation",)}
    found = [(field, urls[name]) for name in names if name in urls for field in names[name]]
    return "".join(f"  {field}: {url}\n" for field, url in found)


def render(path: Path) -> str:
    """What came of rendering the recipe: a mistake in it raises here, not at conda-forge."""
    try:
        from rattler_build import Stage0Recipe, VariantConfig
    except ImportError:
        return "not rendered: there is no rattler_build"
    rendered = Stage0Recipe.from_file(str(path)).render(VariantConfig())
    return f"rendered: {', '.join(str(variant.recipe) for variant in rendered)}"


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    root = Path(__file__).parents[1]
    pyproject = tomllib.loads((root / "pyproject.toml").read_text())
    project = pyproject["project"]
    built = sorted((root / "dist").glob("moreplr-*.tar.gz"))
    if len(built) != 1:
        raise SystemExit(f"dist holds {len(built)} sdists, expected one: run `make release`")
    (sdist,) = built
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    recipe = RECIPE.format(
        version=sdist.name.removeprefix("moreplr-").removesuffix(".tar.gz"),
        python=project["requires-python"].removeprefix(">="),
        url=sys.argv[1],
        checksum=hashlib.sha256(sdist.read_bytes()).hexdigest(),
        scripts=items(scripts, 6),
        host=items(pyproject["build-system"]["requires"]),
        run=items(project["dependencies"]),
        summary=project["description"].split(":")[0] + ".",
        license=project["license"],
        license_file=project["license-files"][0],
        links=links(project.get("urls", {})),
        maintainers=items(sys.argv[2:]),
    )
    path = root / "dist" / "recipe.yaml"
    path.write_text(recipe)
    print(f"dist/recipe.yaml is for {sdist.name}; {render(path)}")


if __name__ == "__main__":
    main()
