# make demo   sets everything up and de-duplicates a generated corpus with known truth
# make test   sets everything up and runs the checks and the tests
# make test-long  fuzzes for long, injects faults at every call, checks the bounds of all kernels: an hour or so
# make check  ruff, mypy (strict), import-linter
# make bench  speed beside the peers, as ratios; writes docs/benchmarks.md
# make docs   the documentation site, into build/site; a warning is an error
# make dist   wheel and source distribution, into dist; both are tried on every Python from 3.11 on that is here
# make experiment NAME=psm_flips  a table or figure of a paper, done again: see experiments/README.md

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache

# Tests of kernels that also run as plain Python: no intrinsics, no wrap-around of uint64.
PLAIN := tests/clusters \
	$(addprefix tests/contracts/test_set_join_contract.py::test_, a_collection_with_itself two_collections \
		spans_and_partitions_never_matter) \
	$(addprefix tests/contracts/test_measured_join_contract.py::test_, a_collection_with_itself two_collections \
		exactly_at_the_threshold_and_just_below) \
	$(addprefix tests/kernels/sets/test_, counts.py rarity.py similarity.py) tests/kernels/sign/test_weigh.py tests/kernels/vectors \
	$(addprefix tests/matches/, sets/test_threshold.py test_verify.py) tests/test_parallel.py \
	tests/features/test_weighting.py

# Tests that also run with every index into an array checked: what kernels have oracles for, and indexes from others.
CHECKED := $(addprefix tests/kernels/, planes sets sign tables text vectors machine/test_emitted.py machine/test_lanes.py \
	machine/test_sort.py) tests/fuzz/test_indexes.py

# The versions that the tests are run with, for every Python from 3.11 on; LOCK= takes the newest that pyproject.toml allows.
LOCK ?= requirements-dev.lock
CONSTRAINTS := $(if $(LOCK),.venv/constraints.txt)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-long lock check bench docs dist experiment clean

demo: .venv/.ready
	$(BIN)/sosie demo -o demo-output --overwrite

test: check
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PLAIN)
	NUMBA_BOUNDSCHECK=1 SOSIE_FUZZ_TRIALS=20 $(BIN)/python -m pytest $(CHECKED)
	$(BIN)/python -m pytest

# Tests that take minutes each are none that hang.
PATIENT := -o faulthandler_timeout=7200

# 4,000 cases of each target, some 10^5; of indexes as many again with checked bounds. Kills are at every call, by strace
# too; 1,000 loads beside 1,000 replacements.
test-long: check
	$(BIN)/python -m tests.fuzz
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.fuzz indexes
	SOSIE_TEST_STEP=1 SOSIE_TEST_REPLACED=1000 $(BIN)/python -m pytest $(PATIENT) tests/jobs/test_faults.py \
		tests/jobs/test_resume.py tests/storage/test_replacing.py
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest $(PATIENT) tests/kernels tests/contracts tests/index tests/matches

# Writes the lock file: the newest versions that fit together, with the hashes of all their files.
lock: .venv/bin/python
	$(PIP) uv
	$(BIN)/uv pip compile pyproject.toml --extra test --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --quiet -o requirements-dev.lock

check: .venv/.ready-test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.ready-bench
	$(BIN)/python -m benchmarks $(BENCH)

docs: .venv/.ready-docs
	$(BIN)/python -m sphinx -W --keep-going -q -E -b html docs build/site
	@echo "Written to build/site/index.html"

dist: .venv/.ready-dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/try_distributions.py dist

experiment: .venv/.ready-experiments
	$(BIN)/python -m experiments.$(NAME) $(OPTIONS)

clean:
	rm -rf .venv .numba_cache build demo-output dist

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Sosie needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python."; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing: install it (Debian: apt-get install python3-venv)."; exit 1; }

# What pip takes as constraints has no hashes: with them, it would want one for this project, too.
.venv/constraints.txt: $(LOCK) | .venv/bin/python
	sed -E '/^ *(--hash|#)/d; s/ *\\$$//' $(LOCK) > $@

.venv/.ready: .venv/bin/python pyproject.toml $(CONSTRAINTS)
	$(PIP) $(addprefix -c ,$(CONSTRAINTS)) -e .
	@touch $@

.venv/.ready-test: .venv/.ready
ifneq ($(LOCK),)
	@$(PIP) --require-hashes --no-deps -r $(LOCK) || { echo "$(LOCK) does not fit this Python: use make LOCK= $(MAKECMDGOALS)"; exit 1; }
endif
	$(PIP) $(addprefix -c ,$(CONSTRAINTS)) -e '.[test]'
	@$(BIN)/python tools/java.py
	@touch $@

# Each of the other extras is installed when it is first needed.
.venv/.ready-%: .venv/.ready
	$(PIP) -e '.[$*]'
	@touch $@
