#!/usr/bin/env bash
# Build sdist and wheel, check both, and try the wheel in empty environments: the oldest Python that
# can be found here with the oldest dependencies that pyproject.toml admits, and the newest with the
# newest.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.venv-release
test -x $tools/bin/python || python3 -m venv $tools
$tools/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
  build twine check-wheel-contents check-manifest
rm -rf dist
# The sdist holds what the repository holds, so that tests and site can be made from it.
$tools/bin/check-manifest
$tools/bin/python -m build
$tools/bin/twine check --strict dist/*
$tools/bin/check-wheel-contents dist/*.whl

# A tag must agree with the version it is put on.
version=$($tools/bin/python -c "import glob; print(glob.glob('dist/*.whl')[0].split('-')[1])")
tag=$(git describe --exact-match --tags --match 'v*' 2>/dev/null || true)
if [ -n "$tag" ] && [ "$tag" != "v$version" ]; then
  echo "the tag $tag is put on version $version" >&2
  exit 1
fi
# Nobody can tell where a package without addresses comes from, or report what is wrong with it.
if ! grep -q '^\[project.urls\]' pyproject.toml; then
  echo "pyproject.toml has no [project.urls]: name Repository, Documentation, Changelog and Issues" >&2
  [ -z "$tag" ]
fi

found=()
for python in python3.11 python3.12 python3.13 python3.14; do
  for path in "$(command -v $python || true)" "$HOME"/.pyenv/versions/"${python#python}".*/bin/python; do
    if [ -x "$path" ] && "$path" -c 'import venv' 2>/dev/null; then
      found+=("$path")
      break
    fi
  done
done
[ ${#found[@]} -gt 0 ] || { echo "no Python from 3.11 on was found" >&2; exit 1; }
try_wheel() {
  local python=$1 constraints=$2 room
  "$python" --version
  room=$(mktemp -d)
  "$python" -m venv "$room/env"
  "$room/env/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" dist/*.whl
  # From an empty folder, so that nothing of the checkout is imported.
  (cd "$room" && env -u PYTHONPATH env/bin/python - < "$OLDPWD/.ci/smoke.py" && env/bin/moreplr demo)
  rm -rf "$room"
}
$tools/bin/python .ci/minimum_versions.py > $tools/minimum.txt
try_wheel "${found[0]}" $tools/minimum.txt
try_wheel "${found[-1]}" /dev/null
echo "dist holds version $version; its wheel works with the oldest and the newest Python here"
