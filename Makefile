# The two commands: `make repro` and `make test`. Each sets up what it needs of .venv first.

VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Where it is set, each of the many processes of a run or a test would compile our code anew.
export PYTHONDONTWRITEBYTECODE :=
ifdef INFOFAIR_MIRROR
ifeq ($(filter /%,$(firstword $(INFOFAIR_MIRROR))),)
export INFOFAIR_MIRROR := $(CURDIR)/$(INFOFAIR_MIRROR)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help setup recover repro beyond luck report experiment experiments compare figures test slow thorough fuzz faults promises lint format \
  mini verify worker bench peers gpu-check pins sbom vulnerabilities clean

help: ## list every target
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | column -t -s '|'

# -- the environment -------------------------------------------------------------------------------

# The first of these that can make environments is taken; with uv, also one that only uv knows.
VERSIONS := 3.11 3.12 3.13
PYTHONS = $(foreach v,$(VERSIONS),"$$(uv python find --system $(v) 2>/dev/null)" python$(v))
USABLE := import ensurepip, sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(VERSIONS)".split())
PIP := python -m pip --quiet --disable-pip-version-check
# What is pinned, by its sha256 (.ci/pins.py): what has no wheel is built with the pinned setuptools.
INSTALL := $(PIP) install --require-hashes --no-deps --no-build-isolation --use-pep517 --no-compile
# What pip would do on one core, on all.
COMPILE := python -m compileall -qq -j 0 $(VENV)/lib || true
EDITABLE := $(PIP) install --no-index --no-deps --no-build-isolation --editable .
# Where packages need what the pins for Linux and the CPU lack: the index's torch, or another system.
WHOLE := $(PIP) check >/dev/null || $(INSTALL) -r requirements/cuda.txt && $(PIP) check >/dev/null \
  || $(PIP) install --constraint constraints.txt --editable

# Installed once; again only when the requirements or the pins change.
$(VENV)/run: pyproject.toml $(wildcard requirements/*.txt)
	@usable() { "$$1" -c '$(USABLE)' >/dev/null 2>&1; }; \
	if [ -z "$(PYTHON)" ] && usable $(VENV)/bin/python; then exit; fi; \
	for python in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do if usable "$$python"; then \
	  echo "$$python -m venv $(VENV)"; exec "$$python" -m venv --clear $(VENV); fi; done; \
	echo "error: $(if $(PYTHON),$(PYTHON) is no,no) Python 3.11, 3.12 or 3.13 that can make" \
	  "environments. Install one (Debian, Ubuntu: apt install python3.11 python3.11-venv; with uv:" \
	  "uv python install 3.11; or python.org) or name one: make PYTHON=/path/to/python" >&2; exit 1
	$(INSTALL) -r requirements/build.txt
	@$(INSTALL) --no-index -r requirements/torch.txt 2>/dev/null || $(INSTALL) -r requirements/torch.txt
	$(INSTALL) -r requirements/run.txt
	$(EDITABLE)
	@$(WHOLE) '.[study]'
	@$(COMPILE)
	@touch $@

$(VENV)/cluster: $(VENV)/run
	$(INSTALL) -r requirements/cluster.txt
	@$(WHOLE) '.[study,cluster]'
	@$(COMPILE)
	@touch $@

$(VENV)/dev: $(VENV)/run
	$(INSTALL) -r requirements/cluster.txt -r requirements/dev.txt
	@$(WHOLE) '.[study,cluster,oracles,dev]'
	@$(COMPILE)
	@touch $@

setup: $(VENV)/run ## create .venv with what the pipelines need (repro does it first; test adds more)

# -- the pipelines ---------------------------------------------------------------------------------

# dvc, whose stages start at once: PyTorch and its like are loaded once for all of them
DVC := python -m study.commands.quick

# in a browser, if there is a screen; else say where it is
open = if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; \
  then python -m webbrowser "file://$(CURDIR)/$(1)"; else echo "$(CURDIR)/$(1)"; fi

recover: setup ## put right what a killed run or a failing disk left behind (repro does it first)
	@python -m study.commands.recover

repro: recover ## the paper (dvc repro): data, training, metrics, table, figures, page
	$(DVC) repro

beyond: recover ## the comparison (dvc repro beyond/dvc.yaml): every method on equal terms, thresholds, and the paper's generalisations; half an hour to an hour
	$(DVC) repro beyond/dvc.yaml

luck: recover ## more on the paper's table (dvc repro luck/dvc.yaml): many seeds, and what was tried in vain; a quarter to half an hour
	$(DVC) repro luck/dvc.yaml

report: recover ## make the paper's page, and open it or say where it is
	$(DVC) repro page
	@$(call open,reports/index.html)

# results/metrics.json, whether or not anything in it differs
HEADLINE := (.*_(micro_f1|imparity|reduction)|more_than_threshold|levelling_down|simulated|random_split)$$
experiments: setup ## dvc exp show: the headline figures, and of the parameters those that differ
	@dvc exp show --only-changed --keep '$(HEADLINE)' --drop '.*/|.*\.(yaml|toml)$$|Created' --no-pager

experiment: recover ## dvc exp run, whose stages start at once: make experiment SET='alpha=0.5'
	$(DVC) exp run $(foreach set,$(or $(SET),$(error SET='alpha=0.5' or the like is missing)),-S '$(set)')

compare: setup ## the experiments of `dvc exp run -S alpha=…` beside the last commit: what moved, and a page
	@python -m study.commands.compare
	@$(call open,reports/compare.html)

figures: recover ## regenerate the paper's results and say what changed against BASE (a commit; default: HEAD)
	BASE=$(or $(BASE),HEAD) .ci/figures

verify: setup ## run the last commit again from the download on, and compare every committed result; PART=beyond …
	python -m study.commands.verify $(if $(PART),--part '$(PART)')

worker: $(VENV)/cluster ## join the Dask cluster at SCHEDULER=tcp://host:port with a worker per core
	python -m study.commands.worker --scheduler $(or $(SCHEDULER),$(error set SCHEDULER=tcp://host:port))

# -- tests -----------------------------------------------------------------------------------------

test: $(VENV)/dev ## run the tests
	pytest

slow: $(VENV)/dev ## run the slow tests: whole pipelines, kill -9, a cluster, the wheel (minutes)
	pytest -m slow

fuzz: $(VENV)/dev ## 2,000 new cases of bad input per dataset and kind of file (hours)
	INFOFAIR_FUZZ=2000 pytest -m 'slow or not slow' tests/study/test_fuzz.py tests/stages/test_fuzz.py \
	  tests/infofair/auditing/test_table.py

thorough: $(VENV)/dev ## what CI has no time for: thousands of simulated audits, more estimators on Adult (minutes)
	pytest -m thorough

faults: $(VENV)/dev ## break things: twenty kill -9 in each pipeline, full disks, queues, worktrees (an hour)
	INFOFAIR_FAULTS=20 pytest -m 'slow or not slow' tests/whole/test_faults.py tests/whole/test_kills.py \
	  tests/whole/test_dvc.py tests/whole/test_verify.py

promises: $(VENV)/dev ## try every promise of docs/reproducibility.md, and write down there what happened (hours; INFOFAIR_VERIFY='paper beyond luck': more of them)
	INFOFAIR_FAULTS=20 INFOFAIR_FUZZ=2000 pytest -m promise --promises

lint: $(VENV)/dev ## ruff (check and format), mypy, the schema of the workflows, and pip check
	ruff check .
	ruff format --check .
	mypy
	python -m pip check
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: $(VENV)/dev ## let ruff rewrite what it can
	ruff check --fix .
	ruff format .

mini: setup ## all pipelines in miniature, in a temporary copy of the repository
	.ci/miniature

bench: $(VENV)/dev ## speed of the batched pass, its growth, a cluster's cost, and where the time of a cold run goes (half an hour)
	python -m bench.training
	python -m bench.closed_forms
	python -m bench.networks
	python -m bench.framework
	python -m bench.growth
	python -m bench.cluster
	python -m bench.cold

peers: $(VENV)/dev ## time of others' code for the same (FFB, fairret, fairlearn, AIF360), as ratios (10 minutes)
	$(INSTALL) --upgrade --target .peers --requirement bench/peers.txt
	python -m bench.peers

gpu-check: setup ## on a machine with a GPU: are its models the CPU's, how fast, in how much memory (minutes)
	python -m bench.gpu_check --device $(or $(DEVICE),cuda)

# -- what we take from others ----------------------------------------------------------------------

pins: $(VENV)/dev ## requirements/*.txt anew from constraints.txt: the sha256 of every file that an index has
	python .ci/pins.py

sbom: ## a bill of materials of what is pinned: dist/sbom.cdx.json (CycloneDX; needs no network)
	@$(firstword $(wildcard $(VENV)/bin/python) python3) .ci/sbom.py dist/sbom.cdx.json

# strict: a package that the service does not know, or cannot be asked for, was not audited
vulnerabilities: ## known vulnerabilities of what is pinned (pip-audit, in .venv-audit; asks pypi.org)
	@$(firstword $(wildcard $(VENV)/bin/python) python3) -m venv .venv-audit && \
	  .venv-audit/bin/python -m pip install --quiet --require-hashes --no-deps --only-binary :all: \
	  --requirement requirements/audit.txt && \
	  .venv-audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt || \
	  { echo "error: vulnerabilities are listed above, or it was not audited: that needs the network" \
	  "(pypi.org/pypi/<package>/<version>/json); there is no copy of the list here" >&2; exit 1; }

clean: ## remove the environment and the caches of tools (no data, no results)
	rm -rf $(VENV) .venv-audit .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
