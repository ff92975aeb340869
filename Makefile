# Everything starts here on a fresh machine: each target makes its own .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The versions hold for what is installed and for what builds it: pip before 25.3 reads the first, later ones the second.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check
TORCH := $(patsubst torch==%,%,$(filter torch==%,$(file < constraints.txt)))

.PHONY: help demo studio judge test test-long test-versions test-tools check check-docs format docs dist clean

help: ## what can be made (this list)
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

demo: $(VENV)/demo.stamp ## the whole job on the packaged sample, into the folder actc-demo
	$(BIN)/actc demo --out actc-demo

studio: $(VENV)/app.stamp ## all of it in your browser, with the packaged graph as the first project, in the folder actc-studio
	$(BIN)/actc studio actc-studio

judge: $(VENV)/app.stamp ## judge the packaged sample on a page of your browser
	test -d actc-session || $(BIN)/actc start actc-session --sample
	$(BIN)/actc annotate actc-session

# Tests that share something dear (a Spark session, say) are a group, and run in one process; tests/conftest.py orders them.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder

test: prepare $(VENV)/dev.stamp ## all tests but the long ones; finds or installs the Chromium and the Java that they need
	$(PYTEST) -m 'not long'

test-long: prepare $(VENV)/dev.stamp ## the long tests: real kills, packages, Spark, every page and notebook of the docs
	$(PYTEST) -m long

test-versions: ## the quick tests on the lowest and the newest versions allowed, on every Python from 3.11 to 3.13 here
	tools/test_versions

test-tools: $(VENV)/dev.stamp ## what Label Studio's SDK and crowd-kit say of what we write for them; Virtuoso
	tools/test_tools

check: check-docs $(VENV)/dev.stamp ## ruff (format, lint), mypy --strict, deno (the same for JavaScript), check-docs, the ceiling of size
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/deno lint src/actc/web
	$(BIN)/deno check src/actc/web
	tools/size

check-docs: $(VENV)/dev.stamp ## are the figures in the docs those of the committed rows? (docs/figures.sql)
	$(BIN)/python docs/check_figures.py

format: $(VENV)/dev.stamp ## let ruff put things right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/dev.stamp ## the docs as a site, into the folder site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Look at it with: python3 -m http.server --directory site"

dist: $(VENV)/dev.stamp ## the wheel and the source archive, checked, into the folder dist
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python -m twine check --strict dist/*

clean: ## remove what make made
	rm -rf $(VENV) .venv-versions .venv-tools dist site actc-demo

# Before anything else, so that a missing Java is not found out after minutes.
.PHONY: prepare
.NOTPARALLEL:
prepare:
	@tools/prepare $(PYTHON)

# An environment without pip is none, and must not look like one the next time.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 2; }

$(VENV)/demo.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[plots]'
	touch $@

$(VENV)/app.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[app,rdf,store]'
	touch $@

# torch comes first: PyKEEN would fetch whatever build it finds.
$(VENV)/dev.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) torch==$(TORCH)
	$(INSTALL) -e '.[dev]'
	touch $@
