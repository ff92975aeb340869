# Everything starts here on a fresh machine: each target makes its own .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH := $(patsubst torch==%,%,$(filter torch==%,$(file < constraints.txt)))
ACTC_DATA ?= $(wildcard ../shared/data)
export ACTC_DATA

.PHONY: demo judge test check format clean

demo: $(VENV)/demo.stamp
	$(BIN)/actc demo --out actc-demo

judge: $(VENV)/app.stamp
	test -d actc-session || $(BIN)/actc start actc-session --sample
	$(BIN)/actc annotate actc-session

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n auto

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) dist actc-demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plots]'
	touch $@

$(VENV)/app.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[app]'
	touch $@

# torch comes first: PyKEEN would fetch whatever build it finds.
$(VENV)/dev.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@
