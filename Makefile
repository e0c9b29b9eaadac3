# Everything a person types. Each target sets up its own environment in .venv first.
PYTHON ?= python3.11
UV := 0.13.9
BIN := .venv/bin

.PHONY: help setup up demo test quick lint bench lock clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/ready  ## make .venv and install what requirements.lock pins

.venv/ready: pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "Nightkeeper needs Python 3.11; name yours with make PYTHON=…"; exit 1; }
	@echo "setting up .venv (once; a minute or two) …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -q --disable-pip-version-check uv==$(UV)
	@$(BIN)/uv pip install -q --python $(BIN)/python -r requirements.lock uv==$(UV)
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .
	@touch $@

up: setup  ## start everything and keep it running, until Ctrl-C
	@exec $(BIN)/nightkeeper up

demo: setup  ## close the nights of a sample chat and look at what became of it (DEMO_DATA=file for another chat)
	@$(BIN)/python -m flows.demo $(DEMO_DATA)

test: setup  ## every test
	$(BIN)/pytest -n 2 --dist loadfile

quick: setup  ## the tests that take seconds
	$(BIN)/pytest -n 2 --dist loadfile -m "not slow"

lint: setup  ## formatting, lint, types, and the direction of imports
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup  ## the tables of figures in tests/bench
	$(BIN)/python -m tests.bench

lock: setup  ## pin again after a change in pyproject.toml
	$(BIN)/uv pip compile -q --python-version 3.11 --extra dev pyproject.toml -o requirements.lock

clean:  ## remove the environment and the caches, not your data
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
