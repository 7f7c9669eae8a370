# Everything sets up what it needs: a fresh clone and Python 3.11 or later are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE := examples/surveillance
PROCESSES ?= 2
SOURCES := framework operators planners examples tests

.PHONY: demo test check format bench pictures clean

demo: $(VENV)/.demonstrable
	@$(BIN)/python -m examples.uav.demo $(if $(SECONDS),--seconds $(SECONDS))

test: $(VENV)/.developed
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile

check: $(VENV)/.developed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.developed
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

bench: $(VENV)/.developed
	$(BIN)/python -m tamis.bench.engine

pictures: $(VENV)/.developed
	cd $(EXAMPLE) && ../../$(BIN)/tamis explain --subscriptions subscriptions.jsonl \
		--operators operators.py --event '{}' --planner suborder --graph graph.svg >/dev/null
	$(BIN)/tamis bench planners --quick --figures 5 --plots planners >/dev/null
	folder=$$(mktemp -d) && $(BIN)/python examples/learning/learning.py --folder $$folder && \
		cp $$folder/calls.png examples/learning/ && rm -r $$folder

clean:
	rm -rf $(VENV)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "tamis needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.demonstrable: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo]'
	@touch $(VENV)/.installed $@

$(VENV)/.developed: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(VENV)/.installed $@
