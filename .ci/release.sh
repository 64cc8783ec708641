#!/usr/bin/env bash
# Build sdist and wheel, check both, and try the wheel in empty environments: the oldest and the
# newest Python that can be found here, of those that pyproject.toml admits.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.venv-release
test -x $tools/bin/python || python3 -m venv $tools
$tools/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
  build twine check-wheel-contents
rm -rf dist
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
for python in $(printf '%s\n' "${found[0]}" "${found[-1]}" | uniq); do
  "$python" --version
  room=$(mktemp -d)
  "$python" -m venv "$room/env"
  "$room/env/bin/python" -m pip install --quiet --disable-pip-version-check dist/*.whl
  # From an empty folder, so that nothing of the checkout is imported.
  (cd "$room" && env -u PYTHONPATH env/bin/python - < "$OLDPWD/.ci/smoke.py" && env/bin/moreplr demo)
  rm -rf "$room"
done
echo "dist holds version $version; its wheel works with the oldest and newest Python here"
