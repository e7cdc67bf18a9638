# The two commands: `make repro` and `make test`. Each sets up .venv first if it has to.

PYTHON ?= python3.11
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
ifdef INFOFAIR_MIRROR
export INFOFAIR_MIRROR := $(abspath $(INFOFAIR_MIRROR))
endif

.DEFAULT_GOAL := help
.PHONY: help setup recover repro frontier honest report compare figures test fuzz faults lint format mini \
  verify worker bench clean

help: ## list every target
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | column -t -s '|'

# Installed once; again only when the pins change.
$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
	  echo "error: $(PYTHON) is not Python 3.11; set it with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,oracles,cluster]'
	@touch $@

setup: $(VENV)/installed ## create .venv with the pinned dependencies

recover: setup ## put right what a killed run or a failing disk left behind (repro does it first)
	@python -m stages.recover

repro: recover ## run the whole pipeline (dvc repro): data, training, metrics
	dvc repro

frontier: recover ## train every method at many strengths and draw the fronts (dvc repro figure_frontier)
	dvc repro figure_frontier

honest: recover ## the paper's comparison on honest data: no leak, random splits, no tiny groups
	dvc repro table_honest

report: recover ## make the report page, and open it or say where it is
	dvc repro report
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then python -m webbrowser "file://$(CURDIR)/reports/index.html"; \
	  else echo "$(CURDIR)/reports/index.html"; fi

compare: setup ## the experiments of `dvc exp run -S alpha=…` beside the last commit
	@python -m stages.compare

figures: recover ## regenerate everything and say what changed against BASE (a commit; default: HEAD)
	BASE=$(or $(BASE),HEAD) .ci/figures

test: setup ## run the tests
	pytest

fuzz: setup ## 2,000 new cases of bad input per dataset and kind of file (a quarter of an hour)
	INFOFAIR_FUZZ=2000 pytest tests/test_fuzz.py

faults: setup ## break things: twenty kill -9, full disks, damaged files, two runs at once (minutes)
	INFOFAIR_FAULTS=20 pytest tests/test_faults.py

lint: setup ## ruff (check and format), mypy, the schema of the workflows, and pip check
	ruff check .
	ruff format --check .
	mypy
	python -m pip check
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: setup ## let ruff rewrite what it can
	ruff check --fix .
	ruff format .

mini: setup ## the whole graph in miniature, in a temporary copy of the repository
	.ci/miniature

verify: setup ## run the last commit again from the download on, and compare every committed result
	python -m stages.verify

worker: setup ## join the Dask cluster at SCHEDULER=tcp://host:port with a worker per core
	python -m stages.workers --scheduler $(SCHEDULER)

bench: setup ## speed of the batched pass, its growth, and where the time of a cold run goes (20 minutes)
	python -m bench.training
	python -m bench.growth
	python -m bench.cold

clean: ## remove the environment and the caches of tools (no data, no results)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
