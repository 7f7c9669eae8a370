# Everything sets up what it needs: a fresh clone and Python 3.11 or later are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE := examples/surveillance
PROCESSES ?= 2
SOURCES := framework operators planners examples tests
QUICK := $(addprefix tests/framework/,language event catalog statistics index engine result matcher) \
	tests/laws tests/planners
CONSTRAINTS := $(abspath framework/constraints.txt)
KERNELS := $(shell grep -rlE '^@kernel|numeric.kernels import|import .*portable' framework planners --include='*.py')
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
KNOWN = PIP_CONSTRAINT=$(CONSTRAINTS) PIP_BUILD_CONSTRAINT=$(CONSTRAINTS) $(INSTALL)
PYTEST = $(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal

.PHONY: demo test quick slow newest oldest python313 constraints coverage check format bench \
	pictures sizes clean

demo: $(VENV)/.demonstrable
	@$(BIN)/python -m examples.uav.demo $(if $(SECONDS),--seconds $(SECONDS))

test: $(VENV)/.compiled
	$(PYTEST) -m 'not slow'

quick: $(VENV)/.compiled
	HYPOTHESIS_PROFILE=glance $(PYTEST) -m 'not slow and not long' $(QUICK)

slow: $(VENV)/.compiled newest oldest
	$(PYTEST) -m slow
	$(MAKE) bench

# the newest and the lowest versions that pyproject.toml admits, each in a place of its own
newest oldest: $(VENV)/.developed
	$(BIN)/python -m tests.versions $@

python313:
	$(PYTHON) -m tests.versions $@

constraints: $(VENV)/.created
	$(BIN)/python -m tests.versions $@

coverage: $(VENV)/.compiled
	$(PYTEST) -m 'not slow' --cov --cov-report=term

check: $(VENV)/.developed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.developed
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# what takes hours at full size is measured small here: `tamis bench index` and the others do it all
bench: $(VENV)/.developed
	for each in engine forms isolation places phrases facts; do \
		$(BIN)/tamis bench $$each || exit 1; done
	$(BIN)/tamis bench planners --quick
	$(BIN)/tamis bench index --scale 0.01
	$(BIN)/tamis bench spark --quick
	$(BIN)/tamis bench uav --frames 100

sizes: $(VENV)/.developed
	$(BIN)/python -m tests.sizes

pictures: $(VENV)/.developed
	cd $(EXAMPLE) && ../../$(BIN)/tamis explain --subscriptions subscriptions.jsonl \
		--operators operators.py --event '{}' --planner suborder --graph graph.svg >/dev/null
	$(BIN)/tamis bench planners --quick --figures 5 --plots planners >/dev/null
	folder=$$(mktemp -d) && $(BIN)/python examples/learning/learning.py --folder $$folder && \
		cp $$folder/calls.png examples/learning/ && rm -r $$folder
	folder=$$(mktemp -d) && $(BIN)/python -m tests.server.page_pictures --demo --to $$folder && \
		cp $$folder/now-wide.png $$folder/event-wide.png examples/uav/ && rm -r $$folder

clean:
	rm -rf $(VENV)
	find framework operators planners -name '*.nb[ic]' -delete

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "tamis needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml $(CONSTRAINTS)
	$(KNOWN) --editable .
	@touch $@

$(VENV)/.demonstrable: $(VENV)/.created pyproject.toml $(CONSTRAINTS)
	$(KNOWN) --editable '.[demo]'
	@touch $(VENV)/.installed $@

$(VENV)/.developed: $(VENV)/.created pyproject.toml $(CONSTRAINTS)
	$(KNOWN) --editable '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/.compiled: $(VENV)/.developed $(KERNELS)
	$(BIN)/tamis doctor --compile
	@touch $@
