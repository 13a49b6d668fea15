# Two commands for a fresh machine: `make demo` and `make test`. Both need Python 3.11 or newer, and make.

PYTHON ?= python3
BIN = .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test check docs bench format clean

help:
	@echo "make demo    set up, and run a whole experiment on a small synthetic corpus: table, report, an explained sentence"
	@echo "make test    set up, and pass all checks: style, types, tests, documentation"
	@echo "make bench   measure speed and memory against named alternatives (minutes)"
	@echo "make docs    build the documentation into docs/_build"
	@echo "make format  put the source into its standard form"
	@echo "make clean   remove what these commands have made"

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "composita needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making .venv"
	@$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing composita with pinned versions (once)"
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation --editable .
	@touch $@

.venv/developing: .venv/installed
	@echo "Installing what the checks need (once)"
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@

demo: .venv/installed
	@echo "Running a whole experiment on a small synthetic corpus, into the folder demo"
	@$(BIN)/python -m composita.demo
	@echo "The command is $(BIN)/composita; docs/start.md goes the same way step by step."

test: .venv/developing
	@echo "Style";         $(BIN)/ruff check . && $(BIN)/ruff format --check --quiet .
	@echo "Types";         $(BIN)/mypy
	@echo "Tests";         $(BIN)/python -m pytest --quiet
	@echo "Documentation"; $(BIN)/sphinx-build -q -W -b html docs docs/_build/html

bench: .venv/developing
	@$(BIN)/python -m benchmarks

docs: .venv/developing
	@$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

format: .venv/developing
	@$(BIN)/ruff check --fix-only --quiet . ; $(BIN)/ruff format .

clean:
	rm -rf .venv demo docs/_build build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
