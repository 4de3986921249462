# Everything a newcomer needs: `make demo` and `make test` set up a virtual environment by themselves.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.demo-installed

.PHONY: demo test recipes warm fuzz fuzz-readers fuzz-programs lint docs bench clean

$(STAMP): pyproject.toml
	@echo "Installing into $(VENV): pip downloads 260 MB, the tools for tests included, which take 1 GB on disk."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# What trodden itself needs, without the tools for its tests.
$(DEMO): pyproject.toml
	@echo "Installing into $(VENV): pip downloads 165 MB, a compiler for the most part, which take 630 MB on disk."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

demo: $(DEMO)
	$(BIN)/python examples/demo.py

lint: $(STAMP)
	$(BIN)/ruff check src tests recipes bench examples tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# What the documentation derives from the source.
docs: $(STAMP)
	$(BIN)/python -m tools.architecture
	$(BIN)/python -m tools.manual
	$(BIN)/python -m tools.man_pages

# What the toolchain builds on first use, with progress; no test's time limit includes it.
warm: $(STAMP)
	$(BIN)/python -m tests.warm_up

test: $(STAMP) lint warm
	$(BIN)/pytest

# Tests with tools that PyPI does not have; apt fetches them into recipes/work if the machine lacks them.
recipes: $(STAMP) warm
	$(BIN)/pytest recipes

FUZZ_SECONDS ?= 3600

FUZZ = --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

# Each part takes FUZZ_SECONDS; FUZZ_SEED=N repeats what another run has done.
fuzz: fuzz-readers fuzz-programs

# Changed files for all readers.
fuzz-readers: $(STAMP)
	PYTHONPATH=src:. $(BIN)/python -m tests.fuzz $(FUZZ)

# Random programs that count themselves, built and run in many ways.
fuzz-programs: $(STAMP) warm
	PYTHONPATH=src:. $(BIN)/python -m tests.fuzz.counting $(FUZZ)

BENCH := $(VENV)/.bench-installed

$(BENCH): $(STAMP) bench/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ./bench
	touch $@

# All tables of docs/benchmarks.md, or those of PROGRAMS="bzip2 lua"; started again, it continues where it was.
bench: $(BENCH)
	$(BIN)/trodden-bench all $(foreach program,$(PROGRAMS),--program $(program))

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build
