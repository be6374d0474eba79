# make demo opens a recorded call; make test runs every check. Both need only Python 3.11 to 3.14, with pip.
PYTHON ?= python3
VENV ?= .venv
# More words for pytest: make test PYTEST_ARGS="-n 2 tests/engine"
PYTEST_ARGS ?=

BIN = $(VENV)/bin
# The Python whose pip fills the environment. An active environment without pip of its own, such as $(VENV), hands
# on to the Python it was made from. Neither ensurepip nor a pip inside $(VENV) is needed.
HOST = $(shell $(PYTHON) -c 'import sys, importlib.util as u; \
	print(sys.executable if u.find_spec("pip") else sys._base_executable)')
PIP = $(HOST) -m pip --python $(BIN)/python --disable-pip-version-check --no-input
INSTALLED = $(VENV)/.installed
LOCKED = $(VENV)/.locked

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench lock clean

help: ## show these targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-8s %s\n", $$1, $$2 }'

demo: $(INSTALLED) ## open the sample call
	$(BIN)/riff-tui demo

test: lint ## run every check, then the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(INSTALLED) ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED) ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED) ## run the benchmarks
	$(BIN)/python -m benchmarks

lock: ## pin all dependencies anew in requirements.lock
	$(HOST) -m venv --clear --without-pip .venv-lock
	$(HOST) -m pip --python .venv-lock/bin/python --disable-pip-version-check --no-input install --quiet 'uv>=0.9'
	.venv-lock/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links --upgrade --quiet \
		--custom-compile-command "make lock" --output-file requirements.lock
	rm -rf .venv-lock

clean: ## remove what these targets made
	rm -rf $(VENV) .venv-lock build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f snapshot_report.html
	find engine riff_tui tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info[:2] < (3, 15) or sys.exit( \
		"riff-tui needs Python 3.11 to 3.14, this is " + sys.version.split()[0] + ": make PYTHON=... chooses another")'
	$(HOST) -m venv --clear --without-pip $(VENV)
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml engine/__init__.py
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
